"""What compactions took from the model's view, for each host's shape of a compaction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests import claude_code, codex, pi
from tests.schemas import check

from aforesaid import Engine
from aforesaid.errors import BadArgument, LeafUnknown, PrivacyUnreadable
from aforesaid.hosts import wire
from aforesaid.query import read_query
from aforesaid.query.items import read_items

if TYPE_CHECKING:
    from pathlib import Path

    from aforesaid import LostPart, LostReport

FOLDER = "/home/dev/project"
SAID = (
    f"The port of parse_port is 58213, see {FOLDER}/src/db.py and docs/gone.md",
    "I saw E0042 in apply_schema, parse_port and commit 7cf71da0278cffee, at https://example.com/x",
    "bash\ncommand: pytest -q tests/unit",
    "then src/db.py, parse_port, kept_name",
)


def ask(folder: Path, rows: list[Any], **more: Any) -> LostReport:
    file = pi.write(folder / "one.jsonl", rows)
    settings = more.pop("settings", {})
    with Engine.open(folder / "store", settings=settings) as engine:
        return engine.lost(session=file, **more)


def listed(part: LostPart) -> list[tuple[str, str, int]]:
    return [(one.item, one.last_entry_id, one.count) for one in part.items]


def survival(part: LostPart) -> dict[str, tuple[int, int]]:
    return {of.kind: (of.before, of.visible) for of in part.survival if of.before}


def session(summary: str = "db.py and kept_name matter") -> list[Any]:
    rows = pi.conversation(SAID)
    last = pi.compaction("c0000000", rows[-1]["id"], "nothing", summary, 9)
    return [pi.header(cwd=FOLDER), *rows, last]


def test_items_are_listed_newest_first_with_their_last_entry(tmp_path: Path) -> None:
    (part,) = ask(tmp_path, session()).compactions
    assert (part.entry_id, part.timestamp, part.lost_entries) == ("c0000000", pi.stamp(9), 4)
    assert listed(part) == [
        ("parse_port", "e0000003", 3),
        ("src/db.py", "e0000003", 2),
        ("pytest -q tests/unit", "e0000002", 1),
        ("tests/unit", "e0000002", 1),
        ("https://example.com/x", "e0000001", 1),
        ("7cf71da0278cffee", "e0000001", 1),
        ("apply_schema", "e0000001", 1),
        ("E0042", "e0000001", 1),
        ("docs/gone.md", "e0000000", 1),
        ("58213", "e0000000", 1),
    ]
    assert survival(part) == {
        "path": (3, 0), "command": (1, 0), "number": (1, 0), "identifier": (3, 1), "error": (1, 0), "hash": (1, 0),
        "url": (1, 0),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("summary", "kind", "visible"),
    [
        ("see src/db.py", "path", 1),
        (f"see {FOLDER}/src/db.py:12", "path", 1),
        ("see lib/src/db.py", "path", 1),
        ("see other_src/db.py", "path", 0),
        ("the port 58213", "number", 1),
        ("about 58,213 rows", "number", 1),
        ("commit 7cf71da", "hash", 1),
        ("commit 7cf71db", "hash", 0),
        ("run `pytest -q tests/unit`", "command", 1),
        ("run `pytest tests/unit`", "command", 0),
        ("got E0042", "error", 1),
        ("parse_port_x", "identifier", 0),
        ("(parse_port)", "identifier", 1),
    ],
)
def test_what_the_summary_says_is_still_visible(tmp_path: Path, summary: str, kind: str, visible: int) -> None:
    (part,) = ask(tmp_path, session(summary)).compactions
    assert survival(part)[kind][1] == visible


def test_each_compaction_counts_what_it_took_itself(tmp_path: Path) -> None:
    first = pi.conversation(SAID[:2])
    cut = pi.compaction("c0000000", "e0000001", "e0000001", "only old_name stayed", 5)
    second = pi.conversation(["new_name", "other_name"], 6, "f", "c0000000")
    again = pi.compaction("d0000000", "f0000001", "f0000001", "nothing", 9)
    rows = [pi.header(), *first, cut, *second, again]
    report = ask(tmp_path, rows)
    one, two = report.compactions
    assert [part.entry_id for part in report.compactions] == ["c0000000", "d0000000"]
    assert (one.lost_entries, two.lost_entries) == (1, 2)
    assert {item for item, _, _ in listed(one)} == {
        "58213",
        "src/db.py",
        "docs/gone.md",
    }
    # What was still visible after the first one went with the second; old_name was never said but in a summary.
    assert [item for item, _, _ in listed(two)] == [
        "new_name", "https://example.com/x", "7cf71da0278cffee", "parse_port", "apply_schema", "E0042",
    ]  # fmt: skip
    assert ask(tmp_path, rows, compaction=2).compactions == (two,)
    assert ask(tmp_path, rows, leaf="f0000000").compactions == (one,)
    for number in (0, 3, -1):
        with pytest.raises(BadArgument, match="there is no compaction"):
            ask(tmp_path, rows, compaction=number)
    with pytest.raises(LeafUnknown):
        ask(tmp_path, rows, leaf="e9")


def test_without_a_compaction_nothing_is_lost(tmp_path: Path) -> None:
    assert ask(tmp_path, [pi.header(), *pi.conversation(SAID)]).compactions == ()
    with pytest.raises(BadArgument, match="there is no compaction 1; nothing was compacted"):
        ask(tmp_path, [pi.header(), *pi.conversation(SAID)], compaction=1)


def test_claude_code_has_its_summary_in_the_row_behind_the_boundary(tmp_path: Path) -> None:
    rows = [
        claude_code.message("u1", None, SAID[0]),
        claude_code.call("a1", "u1", "s1", command="npm run build:all"),
        claude_code.result("r1", "a1", SAID[1]),
        claude_code.boundary("b1", "r1", minute=3),
        claude_code.summary("m1", "b1", "It was about parse_port."),
        claude_code.message("u2", "m1", "go on with apply_schema"),
    ]
    (part,) = ask(tmp_path, rows).compactions
    assert (part.entry_id, part.lost_entries) == ("b1", 3)
    assert survival(part)["identifier"] == (2, 1)
    assert survival(part)["command"] == (1, 0)
    assert "apply_schema" in {one.item for one in part.items}, "what is said later does not count"


def test_codex_keeps_what_the_user_said(tmp_path: Path) -> None:
    kept = codex.user("please use kept_name", id="k")
    rows = [
        codex.meta(),
        kept,
        codex.call("c1", "shell_command", {"command": "cargo test --workspace"}),
        codex.output("c1", f"{SAID[1]} kept_name"),
        codex.compacted([kept], "It was about apply_schema.", minute=4),
        codex.assistant("parse_port"),
    ]
    (part,) = ask(tmp_path, rows).compactions
    assert part.lost_entries == 2
    assert survival(part)["identifier"] == (4, 2)
    assert "cargo test --workspace" in {one.item for one in part.items}


def test_what_the_policy_withholds_is_not_listed(tmp_path: Path) -> None:
    rows = pi.conversation([f"[aforesaid:sensitive]hidden_name[/aforesaid:sensitive] {SAID[0]}", "open_name"])
    rows = [pi.header(), *rows, pi.compaction("c0000000", "e0000001", "nothing", "x", 9)]
    on = {"privacy.enabled": True, "privacy.localProviders": ["here"]}
    (part,) = ask(tmp_path, rows, settings=on).compactions
    assert (listed(part), part.lost_entries) == ([("open_name", "e0000001", 1)], 1)
    (part,) = ask(tmp_path, rows, settings=on, provider="here").compactions
    assert "hidden_name" in {one.item for one in part.items}


def test_secrets_are_replaced_where_the_store_holds_them(tmp_path: Path) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    rows = pi.conversation([f"GITHUB_TOKEN={secret}", "x_name"])
    rows = [pi.header(), *rows, pi.compaction("c0000000", "e0000001", "nothing", "x", 9)]
    raw = {"privacy.redactIndex": False}
    assert secret not in str(ask(tmp_path, rows, settings=raw))
    assert secret in str(ask(tmp_path, rows, settings={**raw, "privacy.redactSecrets": False}))


def test_paths_are_shortened_on_demand(tmp_path: Path) -> None:
    rows = pi.conversation(["/home/dev/other/a.py", "x"])
    rows = [pi.header(), *rows, pi.compaction("c0000000", "e0000001", "nothing", "x", 9)]
    (part,) = ask(tmp_path, rows, settings={"privacy.shortenPaths": True}).compactions
    assert listed(part)[0][0] == "~/other/a.py"


def test_an_unreadable_policy_hands_out_nothing(tmp_path: Path) -> None:
    (tmp_path / "named.json").write_text('{"privacy": {"enabled": "yes"}}')
    file = pi.write(tmp_path / "one.jsonl", session())
    with Engine.open(tmp_path / "store", tmp_path / "named.json") as engine, pytest.raises(PrivacyUnreadable):
        engine.lost(session=file)


def test_a_report_has_the_members_of_the_contract_in_its_order(tmp_path: Path) -> None:
    document = check("lost", wire.encode(wire.lost(ask(tmp_path, session()))))
    (part,) = document["compactions"]
    assert list(part) == ["entryId", "timestamp", "lostEntries", "survival", "items"]
    assert list(part["survival"]) == ["path", "command", "number", "identifier", "error", "hash", "url"]
    assert list(part["items"][0]) == ["item", "kind", "lastEntryId", "count"]


@pytest.mark.data
def test_real_summaries_keep_as_little_as_was_measured_before(data: Path, tmp_path: Path) -> None:
    """Measured before, on 60: 9 % of the paths, 6 % of the commands, 7 % of the identifiers, 1 % of the numbers."""
    shares: dict[str, list[float]] = {}
    with Engine.open(tmp_path / "store") as engine:
        for file in sorted((data / "transcripts").glob("*/long-*.jsonl")):
            report = engine.lost(session=file)
            for part in report.compactions if "opaque-summary" not in report.reasons else ():
                for kind, (before, visible) in survival(part).items():
                    shares.setdefault(kind, []).append(visible / before)
    means = {kind: sum(found) / len(found) for kind, found in shares.items()}
    assert len(shares["path"]) == 28
    assert 0.06 < means["path"] < 0.14, means
    assert 0.03 < means["command"] < 0.12, means
    assert 0.04 < means["identifier"] < 0.11, means
    assert 0.0 < means["number"] < 0.02, means


@pytest.mark.parametrize("text", SAID)
def test_the_extractor_is_the_one_of_the_query(text: str) -> None:
    """The names of a text are those that a request has which quotes it; each is one name if it is asked for."""
    items = read_items(text)
    assert items
    quoted = read_query(f"```\n{text}\n```").identifiers
    assert set(quoted) == {item for item, kind in items.items() if kind not in {"command", "number"}}
    for item in items:
        assert read_query(f"what about `{item}`?").identifiers == (item,)


def test_what_is_listed_is_found_by_a_request_that_names_it(tmp_path: Path) -> None:
    file = pi.write(tmp_path / "one.jsonl", session())
    with Engine.open(tmp_path / "store") as engine:
        (part,) = engine.lost(session=file).compactions
        assert len(part.items) > 8
        for one in part.items:
            best = engine.retrieve(session=file, query=f"what about `{one.item}`?").hits[0]
            assert best.ranked.tier == "identifier"
            assert one.item in best.ranked.matched.identifiers


def edit(id_: str, parent: str, **arguments: Any) -> Any:
    return claude_code.call(id_, parent, f"s{id_}", "edit_file", **arguments)


def test_names_of_arguments_are_never_lost(tmp_path: Path) -> None:
    two = {"old_string": "max_connections: 58213\nnew_string: told\npool_size: 5", "new_string": "see old_mode"}
    rows = [
        claude_code.message("u1", None, "begin"),
        edit("a1", "u1", file_path="src/db.py", **two),
        edit("a2", "a1", file_path="src/other.py", **two, edits=[{"inner_key": "some_value"}] * 2, run_in_background=1),
        edit("a3", "a2", file_path="src/db.py", old_string="inner_key: 3", new_string="file_path"),
        edit("a4", "a3", file_path="src/db.py", old_string="x", new_string="settings\nidle_timeout: 8"),
        claude_code.result("r4", "a4", "done"),
        claude_code.boundary("b1", "r4", minute=3),
        claude_code.summary("m1", "b1", "nothing"),
    ]
    file = claude_code.write(tmp_path / "s.jsonl", rows)
    with Engine.open(tmp_path / "store") as engine:
        (part,) = engine.lost(session=file).compactions
    lost = {one.item: (one.last_entry_id, one.count) for one in part.items}
    assert not {"old_string", "new_string"} & lost.keys()
    # What stands in values stays: names of settings, and even the name of an argument where it is a value.
    assert lost["max_connections"] == ("a2", 2)
    assert lost["old_mode"] == ("a2", 2)
    assert lost["some_value"] == ("a2", 1)
    assert lost["inner_key"] == ("a3", 2)
    assert lost["file_path"] == ("a3", 1)
    assert lost["idle_timeout"] == ("a4", 1)
    assert lost["run_in_background"] == ("a2", 1), "one call alone does not tell it from a setting"
    assert lost["src/db.py"] == ("a4", 3)
    assert survival(part)["identifier"][0] == sum(one.kind == "identifier" for one in part.items)


def test_what_a_conversation_says_like_a_call_is_read_as_it_is(tmp_path: Path) -> None:
    rows = pi.conversation(["edit_file\nfile_path: src/db.py\nold_string: x"] * 4)
    last = pi.compaction("c0000000", rows[-1]["id"], "nothing", "nothing", 9)
    (part,) = ask(tmp_path, [pi.header(), *rows, last]).compactions
    assert {"edit_file", "file_path", "old_string"} <= {one.item for one in part.items}


def test_the_calls_that_are_still_seen_tell_what_an_argument_is(tmp_path: Path) -> None:
    rows = [
        codex.meta(),
        codex.user("begin"),
        codex.call("c1", "exec_command", {"cmd": "cargo test --workspace", "yield_time_ms": 1000, "own_mode": "x"}),
        codex.output("c1", "done"),
        codex.compacted([codex.user("kept", id="k")], "nothing", minute=4),
    ]
    alone = codex.write(tmp_path / "one.jsonl", rows)
    rows.insert(4, codex.call("c2", "exec_command", {"cmd": "cargo clippy", "yield_time_ms": 1000}))
    both = codex.write(tmp_path / "two.jsonl", rows)
    with Engine.open(tmp_path / "store") as engine:
        few, more = ({one.item for one in engine.lost(session=file).compactions[0].items} for file in (alone, both))
    assert few == {"exec_command", "cargo test --workspace", "yield_time_ms", "own_mode"}
    assert more == {"exec_command", "cargo test --workspace", "cargo clippy", "own_mode"}


def test_how_a_result_ended_is_no_finding_where_we_say_it_ourselves(tmp_path: Path) -> None:
    failed = claude_code.result("r1", "a1", "parse_lamp failed")
    failed["message"]["content"][0]["is_error"] = True
    said = claude_code.result("r2", "a2", "the field\nis_error: true\nstands in lamp.json")
    rows = [
        claude_code.message("u1", None, "begin"),
        claude_code.call("a1", "u1", "s1", "bash", command="run"),
        failed,
        claude_code.call("a2", "r1", "s2", "bash", command="run"),
        claude_code.boundary("b1", "a2", minute=3),
        claude_code.summary("m1", "b1", "nothing"),
    ]
    ours = claude_code.write(tmp_path / "ours.jsonl", rows)
    theirs = claude_code.write(
        tmp_path / "theirs.jsonl", [*rows[:4], said, {**rows[4], "logicalParentUuid": "r2"}, rows[5]]
    )
    call = pi.message("e1", "e0", "", "toolResult")
    call["message"] |= {"content": [{"type": "text", "text": "parse_lamp failed"}], "isError": True}
    of_pi = [pi.header(), pi.message("e0", None, "begin"), call, pi.compaction("c0", "e1", "nothing", "nothing", 9)]
    with Engine.open(tmp_path / "store") as engine:
        parts = [
            engine.lost(session=file).compactions[0] for file in (ours, pi.write(tmp_path / "pi.jsonl", of_pi), theirs)
        ]
    listed_items = [{one.item for one in part.items} for part in parts]
    assert listed_items[:2] == [{"parse_lamp"}, {"parse_lamp"}]
    assert {"is_error", "lamp.json"} <= listed_items[2], "what a tool printed is its own"
