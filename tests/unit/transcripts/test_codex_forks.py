"""Rollouts of Codex: what one says of its session, and forks whose history stands in another file."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import pytest
from tests import codex
from tests.codex import THREAD, assistant, call, compacted, meta, output, rolled_back, user

from aforesaid.model import Entry, Flaw
from aforesaid.transcripts import codex_origins
from aforesaid.transcripts.codex_reading import MOST_ORIGINS

if TYPE_CHECKING:
    from pathlib import Path
from tests.unit.transcripts.rollouts import LONG, READER, entries, path, reading, whole

# --- what a rollout says of its session -----------------------------------------------------------------------------


def test_the_header_of_another_thread_behind_the_first_one_tells_of_a_copy_without_its_origin() -> None:
    rows = [meta("other"), user("x"), meta("third"), meta()]
    (entry,) = entries(*rows, noted=("unknown-origin",))
    assert entry.id == "L3"
    assert len(entries(meta(), user("x"))) == 1
    _, found = reading(meta(forked_from_id="other"), *rows)
    assert [type(item) for item in found] == [Entry]


def test_the_header_is_no_entry_and_tells_the_session() -> None:
    pass_, found = reading(meta())
    header = pass_.header
    assert found == []
    assert (header.host, header.session_id, header.version) == ("codex", THREAD, 171)
    assert (header.cwd, header.started, header.parent) == ("/home/dev/project", "2026-11-30T00:00:00.000Z", None)


@pytest.mark.parametrize(("version", "number"), [("1.2.3", 1002), ("0.9", 9), ("", 0), ("0.x.1", 0), ("7", 0), (5, 0)])
def test_versions_are_one_number(version: Any, number: int) -> None:
    assert reading(meta(cli_version=version))[0].header.version == number


def test_a_copied_fork_names_its_origin() -> None:
    header = reading(meta("fork", forked_from_id=THREAD), meta(), user("x"))[0].header
    assert (header.session_id, header.parent, header.relation) == ("fork", THREAD, "fork")


@pytest.mark.parametrize(
    "more",
    [
        {"source": {"subagent": {"thread_spawn": {"parent_thread_id": THREAD, "depth": 1}}}},
        {"parent_thread_id": THREAD},
    ],
)
def test_a_subagent_is_a_session_of_its_own_with_a_parent(more: codex.Row) -> None:
    header = reading(meta("agent", **more))[0].header
    assert (header.session_id, header.parent, header.relation) == ("agent", THREAD, "subagent")


def test_a_fork_of_a_subagent_is_a_fork() -> None:
    header = reading(meta("b", forked_from_id="a", parent_thread_id=THREAD))[0].header
    assert (header.parent, header.relation) == ("a", "fork")
    assert reading(meta("b"))[0].header.relation == "fork"


@pytest.mark.parametrize("source", [{"subagent": "review"}, {"subagent": {"thread_spawn": 5}}, [], 5])
def test_other_sources_name_no_parent(source: Any) -> None:
    assert reading(meta(source=source))[0].header.parent is None


def test_a_rollout_without_a_header_is_named_after_its_file() -> None:
    pass_, found = reading(user("x"))
    assert found[0] == Flaw(line=1, byte=0, reason="missing-header", lost=False)
    assert [entry.id for entry in found[1:] if isinstance(entry, Entry)] == ["L1"]
    assert pass_.header.session_id == "rollout-stem"


# --- histories in other files ---------------------------------------------------------------------------------------


def rollout(folder: Path, thread: str, *rows: codex.Row, ordinal: int | None = 0) -> Path:
    """Writes a rollout where Codex would; with ordinals that begin at the given one."""
    folder.mkdir(parents=True, exist_ok=True)
    given = [row if ordinal is None else {**row, "ordinal": ordinal + at} for at, row in enumerate(rows)]
    return codex.write(folder / f"rollout-2026-11-30T02-16-38-{thread}.jsonl", given)


def base(thread: str, end: int) -> codex.Row:
    return {"history_base": {"thread_id": thread, "end_ordinal_exclusive": end, "end_byte_offset": 1}}


@pytest.mark.parametrize("ordinal", [0, None])
@pytest.mark.parametrize("where", ["sessions/2026/11/29", "sessions/2026/11/30", "archived_sessions"])
def test_a_fork_begins_with_the_history_in_its_origin(tmp_path: Path, where: str, ordinal: int | None) -> None:
    rows = [meta("origin"), user("one", id=LONG), assistant("two"), call("c", "exec", {}), user("not forked")]
    origin = rollout(tmp_path / where, "origin", *rows, ordinal=ordinal)
    own = [meta("fork", **base("origin", 4)), output("c", "out"), compacted([user("one", id=LONG)])]
    fork = rollout(tmp_path / "sessions" / "2026" / "11" / "30", "fork", *own, ordinal=4)
    pass_, found = whole(fork)
    assert [(entry.id, entry.parent) for entry in found if isinstance(entry, Entry)] == [
        (LONG, None),
        ("L3@origin", LONG),
        ("L4@origin", "L3@origin"),
        ("L2", "L4@origin"),
        ("L3", "L2"),
    ]
    assert len(found) == 5
    inherited, own_one = found[1], found[3]
    assert isinstance(inherited, Entry)
    assert isinstance(own_one, Entry)
    assert (inherited.source.file, inherited.source.line) == (str(origin), 3)
    where_ = inherited.source
    line = origin.read_bytes()[where_.offset : where_.offset + where_.length]
    assert sha256(line).digest() == where_.sha256
    assert own_one.source.file is None
    assert own_one.tools == ("exec",)  # the call stands in the origin
    assert (pass_.header.parent, pass_.header.session_id) == ("origin", "fork")
    assert pass_.checkpoint.offset == fork.stat().st_size


def test_a_fork_of_a_fork_and_turns_taken_back_over_its_beginning(tmp_path: Path) -> None:
    folder = tmp_path / "sessions"
    rollout(folder, "a", meta("a"), user("one"), assistant("1"), user("two"), assistant("2"))
    rollout(folder, "b", meta("b", **base("a", 5)), user("three"), user("beyond"), ordinal=5)
    fork = rollout(folder, "c", meta("c", **base("b", 7)), rolled_back(2), user("four"), ordinal=7)
    found = [entry for entry in whole(fork)[1] if isinstance(entry, Entry)]
    assert [entry.id for entry in found] == ["L2@a", "L3@a", "L4@a", "L5@a", "L2@b", "L2", "L3"]
    assert path(found) == ["L2@a", "L3@a", "L2", "L3"]


def test_an_appended_fork_does_not_read_its_origin_again(tmp_path: Path) -> None:
    rollout(tmp_path, "a", meta("a"), user("one"))
    rows = [meta("b", **base("a", 2)), user("two")]
    fork = rollout(tmp_path, "b", *rows, ordinal=2)
    first, _ = whole(fork)
    rollout(tmp_path, "b", *rows, user("three"), ordinal=2)
    with fork.open("rb") as source:
        more = list(READER.read(source, str(fork), first.checkpoint))
    assert [(entry.id, entry.parent) for entry in more if isinstance(entry, Entry)] == [("L3", "L2")]


def test_ordinals_of_rows_of_an_unexpected_shape_count(tmp_path: Path) -> None:
    odd = [user("one"), user("two")]
    for row in odd:
        row["payload"]["name"] = 5
    rollout(tmp_path, "a", meta("a"), odd[0], assistant("x"), assistant("x"), ordinal=10)
    fork = rollout(tmp_path, "b", meta("b", **base("a", 12)), user("mine"), ordinal=12)
    assert [item.id for item in whole(fork)[1]] == ["L2@a", "L2"]
    rollout(tmp_path, "a", meta("a"), odd[0], odd[1], ordinal=10)
    assert [item.id for item in whole(fork)[1]] == ["L2@a", "L2"]


@pytest.mark.parametrize("thread", ["gone", "", "../../etc/x", "b", "*"])
def test_a_history_that_cannot_be_found_is_named(tmp_path: Path, thread: str) -> None:
    fork = rollout(tmp_path / "sessions", "b", meta("b", **base(thread, 5)), user("mine"))
    _, found = whole(fork)
    assert [(item.reason, item.line, item.lost) for item in found if isinstance(item, Flaw)] == [
        ("origin-missing", 1, True)
    ]
    assert [item.id for item in found if isinstance(item, Entry)] == ["L2"]


def test_a_history_that_may_not_be_read_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fork = rollout(tmp_path, "b", meta("b", **base("a", 5)), user("mine"))
    monkeypatch.setattr(codex_origins, "find", lambda *_: str(tmp_path))
    assert [item.reason for item in whole(fork)[1] if isinstance(item, Flaw)] == ["origin-missing"]


def test_circles_of_forks_end(tmp_path: Path) -> None:
    rollout(tmp_path, "a", meta("a", **base("b", 9)), user("one"))
    fork = rollout(tmp_path, "b", meta("b", **base("a", 9)), user("two"), ordinal=9)
    _, found = whole(fork)
    assert [item.reason for item in found if isinstance(item, Flaw)] == ["origin-missing"]
    assert [item.id for item in found if isinstance(item, Entry)] == ["L2@a", "L2"]


def test_very_long_chains_of_forks_end(tmp_path: Path) -> None:
    rollout(tmp_path, "t0", meta("t0"), user("0"))
    for number in range(1, MOST_ORIGINS + 5):
        more = base(f"t{number - 1}", 2 * number)
        fork = rollout(tmp_path, f"t{number}", meta(f"t{number}", **more), user(str(number)), ordinal=2 * number)
    _, found = whole(fork)
    assert [item.reason for item in found if isinstance(item, Flaw)] == ["origin-missing"]
    assert len(found) == MOST_ORIGINS + 2


def test_damage_in_an_origin_is_told_at_the_forks_beginning(tmp_path: Path) -> None:
    origin = rollout(tmp_path, "a", meta("a"), user("one"))
    origin.write_bytes(origin.read_bytes() + b"garbage\n" + json.dumps(user("two") | {"ordinal": 3}).encode()[:-5])
    fork = rollout(tmp_path, "b", meta("b", **base("a", 9)), user("mine"), ordinal=9)
    _, found = whole(fork)
    assert [item.id for item in found if isinstance(item, Entry)] == ["L2@a", "L2"]
    assert [(item.reason, item.line, item.byte) for item in found if isinstance(item, Flaw)] == [("invalid-json", 1, 0)]
