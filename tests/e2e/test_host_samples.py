"""Real sessions of Claude Code and Codex, and made ones: all rows are there, lost words come back, visible ones do not.

The labels of the rediscovery set say, by other means, what the model saw at a prompt; context and lost part must agree.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import pytest
from tests.conftest import DATA, ROOT
from tests.e2e.test_samples import COMPACTED as PI_COMPACTED
from tests.e2e.test_samples import content, inside, rare_names

from aforesaid import Engine
from aforesaid.branches import find_branch
from aforesaid.errors import StaleSource
from aforesaid.matching import Literal
from aforesaid.query import read_query

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from aforesaid.model import StoredEntry

HOSTS = ("claude-code", "codex")
COMPACTION = re.compile(rb'"compact_boundary"|"type":"compacted"|"history_base"')
SAMPLES = [path for host in HOSTS for path in sorted((DATA / "transcripts" / host).glob("*.jsonl"))]
COMPACTED = [path for path in SAMPLES if COMPACTION.search(path.read_bytes())]
every_sample = pytest.mark.parametrize("file", SAMPLES, ids=lambda path: f"{path.parent.name}-{path.stem[:32]}")
every_compacted = pytest.mark.parametrize("file", COMPACTED, ids=lambda path: f"{path.parent.name}-{path.stem[:32]}")


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with Engine.open(tmp_path_factory.mktemp("store")) as opened:
        yield opened


def rows_of(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_bytes().splitlines() if line.strip()]


def stored(engine: Engine, file: Path) -> tuple[StoredEntry, ...]:
    session = engine._find(str(file))
    with engine._store.read(session.key) as snapshot:
        return snapshot.entries(range(1, session.entries + 1))


def scan_claude_code(file: Path) -> tuple[list[str], dict[str, set[str]]]:
    """By a plain scan of the file: the ids of its rows, and of those to note for each reason."""
    rows = [row for row in rows_of(file) if "uuid" in row]
    ids = [row["uuid"] for row in rows]
    parents = {row["uuid"]: row["parentUuid"] or row.get("logicalParentUuid") for row in rows}
    return ids, {"unknown-parent": {id_ for id_, parent in parents.items() if parent and parent not in set(ids)}}


def scan_codex(file: Path) -> tuple[list[str], dict[str, set[str]]]:
    """The same of a rollout, with the rows of the one that it goes on from."""
    ids: list[str] = []
    opaque: set[str] = set()
    for number, row in enumerate(rows_of(file), 1):
        payload = row["payload"]
        if base := payload.get("history_base"):
            (origin,) = file.parent.glob(f"*{base['thread_id']}.jsonl")
            inherited, _ = scan_codex(origin)
            ids += [f"{id_}@{base['thread_id']}" if id_.startswith("L") else id_ for id_ in inherited]
        if row["type"] not in {"response_item", "compacted"}:
            continue
        ids.append(payload["id"] if len(payload.get("id") or "") >= 20 else f"L{number}")
        if any(item["type"] == "compaction" for item in payload.get("replacement_history") or ()):
            opaque.add(f"L{number}")
    return ids, {"opaque-summary": opaque}


SCANS = {"claude-code": scan_claude_code, "codex": scan_codex}


@pytest.mark.data
@every_sample
def test_every_row_of_a_sample_is_an_entry_and_only_what_the_format_does_not_tell_is_noted(
    engine: Engine, file: Path
) -> None:
    (report,) = engine.index(file, rebuild=True).sessions
    assert report.session is not None
    ids, noted = SCANS[file.parent.name](file)
    entries = stored(engine, file)
    assert [entry.id for entry in entries if entry.kind != "label"] == ids
    lines = {entry.id: entry.source.line for entry in entries}
    for reason, some in noted.items():
        assert {flaw.line for flaw in report.flaws if flaw.reason == reason} == {lines[id_] for id_ in some}
    assert {flaw.reason for flaw in report.flaws} <= set(noted)
    assert engine.index(file).sessions[0].status == "unchanged"


@pytest.mark.data
@pytest.mark.parametrize("file", [path for path in SAMPLES if path.parent.name == "codex"], ids=lambda path: path.stem)
def test_requests_are_the_messages_that_the_program_tells_of_as_the_users(engine: Engine, file: Path) -> None:
    engine.index(file)
    told = [
        row["payload"]["message"]
        for row in rows_of(file)
        if row["type"] == "event_msg" and row["payload"]["type"] == "user_message"
    ]
    requests = [entry.text for entry in stored(engine, file) if entry.request]
    assert requests
    if "made" not in file.name:  # that version tells of them in another way
        assert requests == told


@pytest.mark.data
@every_sample
def test_nothing_but_abandoned_rows_stands_beside_the_branch(engine: Engine, file: Path) -> None:
    branch, _ = content(engine, file)
    off = [entry for entry in stored(engine, file) if entry.text and not inside(entry.row, branch.spans)]
    expected = ["second prompt bananas", "FAKE REPLY 1 to: second prompt bananas"] if "branched" in file.name else []
    assert [entry.text for entry in off] == expected


@pytest.mark.data
@every_sample
def test_words_of_the_host_are_in_no_entry(engine: Engine, file: Path) -> None:
    engine.index(file)
    for entry in stored(engine, file):
        if entry.role in {"user", "custom", "shell"}:
            for tag in ("<command-name>", "<local-command-stdout>", "<task-notification>", "<bash-stdout>"):
                assert not entry.text.startswith(tag)
            assert "EVIDENCE-UserPromptSubmit" not in entry.text


@pytest.mark.data
@every_compacted
def test_a_rare_name_from_before_the_compaction_brings_its_entry_back_first(engine: Engine, file: Path) -> None:
    branch, entries = content(engine, file)
    names = rare_names(entries, branch)
    assert names
    for name, holders in list(names.items())[:: max(1, len(names) // 40)]:
        found = engine.retrieve(session=file, query=f"what did we say about `{name}`?")
        assert found.hits, name
        best = found.hits[0]
        assert best.ranked.candidate.entry.id in holders, name
        assert name in best.excerpt
        assert Literal(name).found_in(best.ranked.candidate.entry.text)


@pytest.mark.data
@pytest.mark.parametrize(
    "file",
    [*COMPACTED, *(path for path in PI_COMPACTED if path.is_relative_to(DATA))],
    ids=lambda path: f"{path.parent.name}-{path.stem[:32]}",
)
def test_right_after_each_compaction_what_stood_before_it_is_found_by_a_rare_name(engine: Engine, file: Path) -> None:
    engine.index(file)
    asked = 0
    with engine._store.read(engine._find(str(file)).key) as snapshot:
        cuts = [mark.row for mark in snapshot.tree().marks if mark.compaction is not None]
        for before, cut in zip([0, *cuts], cuts, strict=False):
            (compaction,) = snapshot.entries((cut,))
            branch = find_branch(snapshot, compaction.id, None)
            rows = [row for first, last in branch.spans for row in range(first, last + 1)]
            names = rare_names(snapshot.entries(rows), branch)
            held = {entry.id for entry in snapshot.entries(range(before + 1, cut))}
            # A compaction right behind another one may have removed nothing that has a name.
            new = [name for name, holders in names.items() if holders & held] or list(names)
            assert new, compaction.id
            for name in new[:: max(1, len(new) // 3)]:
                found = engine.retrieve(session=file, leaf=compaction.id, query=f"what did we say about `{name}`?")
                assert found.hits[0].entry_id in names[name], (compaction.id, name)
                asked += 1
    assert asked >= len(cuts) > 0


@pytest.mark.data
@every_compacted
def test_a_request_about_the_kept_tail_brings_back_nothing_that_is_still_in_context(engine: Engine, file: Path) -> None:
    branch, entries = content(engine, file)
    visible = [entry for entry in entries if inside(entry.row, branch.context) and entry.text]
    texts = {" ".join(entry.text.casefold().split()) for entry in visible}
    for entry in visible[-25:]:
        request = entry.text[:400]
        if read_query(request).empty:
            continue
        for hit in engine.retrieve(session=file, query=request).hits:
            found = hit.ranked.candidate.entry
            assert inside(found.row, branch.eligible)
            assert " ".join(found.text.casefold().split()) not in texts


def labels(host: str) -> dict[str, list[dict[str, Any]]]:
    """The labelled prompts after real compactions, by file."""
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for name, key in (("dev.json", "questions"), ("silence.json", "prompts")):
        for label in json.loads((DATA / "rediscovery" / name).read_bytes())[key]:
            if label["host"] == host and not label.get("simulated"):
                found[label["file"]].append(label)
    return found


@pytest.mark.data
@pytest.mark.parametrize("host", [*HOSTS, "pi"])
def test_context_and_lost_part_at_each_labelled_prompt_are_those_of_the_labels(engine: Engine, host: str) -> None:
    compared = 0
    for name, some in labels(host).items():
        file = DATA / "transcripts" / host / name
        engine.index(file)
        entries = [entry for entry in stored(engine, file) if entry.text]
        with engine._store.read(engine._find(str(file)).key) as snapshot:
            for label in some:
                branch = find_branch(snapshot, label["prompt"]["id"], None)
                first, last = label["visible"]["lines"]
                ids = set(label["visible"]["ids"])
                visible = {e.id for e in entries if e.id in ids or first <= e.source.line <= last}
                lost = {e.id for e in entries if e.source.line < label["lost_before_line"]} - visible
                assert {e.id for e in entries if inside(e.row, branch.context)} == visible, label["prompt"]
                assert {e.id for e in entries if inside(e.row, branch.eligible)} == lost, label["prompt"]
                compared += 1
    assert compared > 20


LINEAR = [
    ROOT / "examples" / "claude-code" / "made-compacted.jsonl",
    next((ROOT / "examples" / "codex").glob("made-rollout-*T02-16-*.jsonl")),
]


@pytest.mark.parametrize(
    ("file", "step"),
    [
        *((file, 3) for file in LINEAR),
        *(pytest.param(file, 599, marks=pytest.mark.data) for file in SAMPLES if file.name.startswith("long")),
    ],
    ids=lambda value: f"{value.parent.name}-{value.stem[:32]}" if hasattr(value, "stem") else str(value),
)
@pytest.mark.parametrize("whole", [True, False], ids=["lost altogether", "cut"])
def test_a_damaged_line_costs_the_branch_nothing_but_itself(tmp_path: Path, file: Path, step: int, whole: bool) -> None:
    lines = file.read_bytes().split(b"\n")[:-1]
    copy = tmp_path / file.name
    with Engine.open(tmp_path / "store") as engine:
        copy.write_bytes(b"\n".join(lines) + b"\n")
        _, entries = content(engine, copy)
        expected = {entry.source.line: entry.text for entry in entries if entry.text}
        for number in range(step, len(lines) + 1, step):
            damaged = b"lost" if whole else lines[number - 1][: len(lines[number - 1]) // 2]
            copy.write_bytes(b"\n".join([*lines[: number - 1], damaged, *lines[number:]]) + b"\n")
            _, entries = content(engine, copy)
            left = {entry.source.line: entry.text for entry in entries if entry.text}
            assert left == {line: text for line, text in expected.items() if line != number}, number


def test_a_made_fork_knows_its_origin_and_shares_its_rows(tmp_path: Path) -> None:
    made = ROOT / "examples" / "claude-code"
    with Engine.open(tmp_path / "store") as engine:
        engine.index(made)
        origin, fork = (engine._find(str(made / f"made-{name}.jsonl")) for name in ("branched", "forked"))
        assert fork.header.parent == origin.header.session_id
        assert (origin.shared, fork.shared) == (0, 28)
        assert fork.entries == 32


def test_what_a_fork_copied_comes_once_though_it_names_no_origin(tmp_path: Path) -> None:
    from tests import claude_code as cc

    rows = [cc.message("u1", None, "the walnut table"), cc.reply("u2", "u1", "an oak chair")]
    copies = [row | {"sessionId": "another"} for row in rows]
    cc.write(tmp_path / "one.jsonl", [*rows, cc.message("u3", "u2", "the walnut lamp")])
    cc.write(
        tmp_path / "another.jsonl", [*copies, cc.message("u4", "u2", "the walnut shelf") | {"sessionId": "another"}]
    )
    with Engine.open(tmp_path / "store") as engine:
        engine.index(tmp_path)
        assert {engine._find(str(file)).header.parent for file in tmp_path.glob("*.jsonl")} == {None}
        found = engine.recall("walnut", scope="host-wide", limit=12)
        assert sorted(hit.entry_id for hit in found.hits) == ["u1", "u3", "u4"]
        assert (found.coverage.complete, found.coverage.reasons) == (True, ())
        # Which one was first the format does not tell, and what only the other one holds is not of this lineage.
        for name in ("one", "another"):
            page = engine.recall("walnut", session=tmp_path / f"{name}.jsonl", scope="current-lineage")
            assert len(page.hits) == 2
            assert (page.status, page.coverage.reasons) == ("partial", ("ancestor-unknown",))
            assert (page.coverage.complete, page.coverage.eligible_sessions) == (False, 2)
        alone = engine.retrieve(session=tmp_path / "another.jsonl", query="walnut")
        assert alone.diagnostics.coverage.complete


def not_told(host: str) -> tuple[list[Any], tuple[str, ...], bool]:
    """A transcript that leaves much unsaid, the reasons that coverage names, and whether all was searched."""
    from tests import claude_code as cc
    from tests import codex, pi

    if host == "pi":
        cut = pi.compaction("c", "b", "b")
        del cut["firstKeptEntryId"]
        rows = [pi.message("a", None, "x"), pi.message("b", "gone", "the walnut table"), cut]
        return rows, ("missing-header", "unknown-parent", "unknown-view"), False
    if host == "claude-code":
        copy = [cc.message("u1", None, "the walnut table") | {"sessionId": "old"}, cc.message("u2", "u1", "x")]
        return [*copy, cc.boundary("B", "gone"), cc.summary("S", "B")], ("unknown-origin", "unknown-parent"), False
    if host == "codex":
        rows = [codex.meta(), codex.meta("old"), codex.user("the walnut table"), codex.user("y"), codex.rolled_back(1)]
        return [*rows, codex.compacted(None)], ("unknown-origin", "unknown-turns", "unknown-view"), False
    sealed = codex.compacted([codex.item("compaction", encrypted_content="x")])
    return (
        [codex.meta(), codex.meta("old"), codex.user("the walnut table"), sealed],
        (
            "opaque-summary",
            "unknown-origin",
        ),
        True,
    )


@pytest.mark.parametrize("host", ["pi", "claude-code", "codex", "codex, sealed"])
def test_what_a_format_does_not_tell_shows_in_the_coverage_of_every_answer(tmp_path: Path, host: str) -> None:
    from tests import pi

    rows, reasons, complete = not_told(host)
    file = pi.write(tmp_path / "s.jsonl", rows)
    with Engine.open(tmp_path / "store") as engine:
        found = engine.retrieve(session=file, query="walnut")
        page = engine.recall("walnut", session=file)
        assert [hit.entry_id for hit in page.hits]
        for coverage in (found.diagnostics.coverage, page.coverage):
            assert (coverage.complete, tuple(sorted(coverage.reasons))) == (complete, reasons)
        assert page.status == ("complete" if complete else "partial")
        assert set(reasons) <= set(engine.lost(session=file).reasons)


def test_a_made_fork_of_codex_holds_the_history_that_stands_in_its_origin(tmp_path: Path) -> None:
    for file in (ROOT / "examples" / "codex").glob("*.jsonl"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    origin, fork = sorted(tmp_path.glob("made-*.jsonl"))
    with Engine.open(tmp_path / "store") as engine:
        engine.index(tmp_path)
        known = engine._find(str(fork))
        assert known.header.parent == engine._find(str(origin)).header.session_id
        assert (known.entries, known.shared) == (23, 19)
        with engine._store.read(known.key) as snapshot:
            entries = snapshot.entries(range(1, 24))
            branch = find_branch(snapshot, None)
        assert {entry.source.file for entry in entries} == {str(origin), None}
        assert all(entry.source.file is None for entry in entries[19:])
        assert branch.spans == ((1, 23),)
        # What the origin's compaction dropped comes back in the fork, with the origin's line as its source.
        asked = 'which hits had "row 1 zebra"?'
        hit = engine.retrieve(session=fork, query=asked).hits[0]
        assert hit.ranked.candidate.entry.role == "tool_result"
        where = hit.ranked.candidate.entry.source
        assert where.file == str(origin)
        line = origin.read_bytes()[where.offset : where.offset + where.length]
        assert b"row 1 zebra-42" in line
        assert sha256(line).digest() == where.sha256
        found = engine.recall("row 1 zebra-42", session=fork).hits[0]
        shown = engine.expand(found.ref).entries
        assert all(entry.verified for entry in shown)
        assert any("row 1 zebra-42" in entry.text for entry in shown)
        # A changed origin is noticed before evidence goes out.
        assert engine.index(fork).sessions[0].status == "unchanged"
        origin.write_bytes(origin.read_bytes().replace(b"row 1 zebra-42", b"row 1 zebra-43"))
        with pytest.raises(StaleSource):
            engine.expand(found.ref)
        hit = engine.retrieve(session=fork, query=asked).hits[0]
        assert "row 1 zebra-43" in hit.excerpt
        # Without its origin it is what its own file holds.
        origin.unlink()
        (report,) = engine.index(fork, rebuild=True).sessions
        assert [flaw.reason for flaw in report.flaws] == ["origin-missing"]
        assert report.session is not None
        assert report.session.entries == 4
        coverage = engine.retrieve(session=fork, query="zebra-43").diagnostics.coverage
        assert (coverage.complete, coverage.reasons) == (False, ("origin-missing",))


@pytest.mark.data
@pytest.mark.parametrize("host", HOSTS)
def test_what_the_labels_call_needed_stands_in_lost_entries_under_the_labels_ids(engine: Engine, host: str) -> None:
    found = 0
    for question in json.loads((DATA / "rediscovery" / "dev.json").read_bytes())["questions"]:
        if question["host"] != host:
            continue
        file = DATA / "transcripts" / host / question["file"]
        engine.index(file)
        with engine._store.read(engine._find(str(file)).key) as snapshot:
            rows = snapshot.rows(tuple(question["gold"]))
            assert None not in rows
            branch = find_branch(snapshot, question["prompt"]["id"], None)
            for row, needed in zip(rows, question["gold"].values(), strict=True):
                assert row is not None
                (entry,) = snapshot.entries((row,))
                assert any(question["needed"][number]["item"] in entry.text for number in needed)
                assert question["simulated"] or inside(row, branch.eligible)
                found += 1
    assert found > 100


def test_results_that_were_emptied_come_back_and_others_do_not(tmp_path: Path) -> None:
    from tests import claude_code as cc

    rows = [cc.message("a", None, "look at both"), cc.call("c1", "a", "m"), cc.call("c2", "c1", "m")]
    rows += [cc.result("r1", "c1", "the walnut table"), cc.result("r2", "c2", "the oak chair")]
    rows += [cc.cleared("M", "r2", ["c1"]), cc.reply("b", "M", "seen")]
    file = cc.write(tmp_path / "s.jsonl", rows)
    with Engine.open(tmp_path / "store") as engine:
        assert engine.retrieve(session=file, query="the oak").hits == ()
        (hit,) = engine.retrieve(session=file, query="the walnut").hits
        assert (hit.ranked.candidate.entry.id, hit.excerpt) == ("r1", "the walnut table")
        cc.write(file, [*rows, cc.boundary("B", "b"), cc.summary("S", "B")])
        assert len(engine.retrieve(session=file, query="the walnut, the oak").hits) == 2


def test_the_answer_that_a_compaction_of_codex_asked_for_comes_back_on_request_only(tmp_path: Path) -> None:
    made = next((ROOT / "examples" / "codex").glob("made-rollout-*T02-16-*.jsonl"))
    with Engine.open(tmp_path / "store") as engine:
        engine.index(made)
        answer = engine.retrieve(session=made, query="what did the `FAKE SUMMARY` say?")
        assert all(hit.ranked.candidate.entry.id != "L37" for hit in answer.hits)
        assert not engine.recall("FAKE SUMMARY", session=made, mode="phrase", scope="current-session").hits
        found = engine.recall("FAKE SUMMARY", session=made, mode="phrase", scope="current-session", summaries=True)
        assert [(hit.entry_id, hit.role, hit.derived) for hit in found.hits][-1] == ("L37", "summary", "compaction")
        assert {hit.role for hit in found.hits} == {"summary"}
