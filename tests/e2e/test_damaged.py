"""What the samples lack: damaged lines, edits, retain-none, several roots, old formats, no header."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests import pi

from aforesaid import Engine, SyncReport

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with Engine.open(tmp_path / "store") as opened:
        yield opened


def index(engine: Engine, file: Path) -> SyncReport:
    (report,) = engine.index(file).sessions
    return report


def found(engine: Engine, file: Path, query: str) -> list[str]:
    return [hit.ranked.candidate.entry.id for hit in engine.retrieve(session=file, query=query).hits]


def ended(rows: Sequence[pi.Row | bytes], last: str) -> list[pi.Row | bytes]:
    """A session of these rows that is compacted whole at its end."""
    return [pi.header(), *rows, pi.compaction("cccccccc", last, "cccccccc", minute=50)]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"type":"message","id":"bbbbbbbb","parentId":"aaaaaaaa","mess', "invalid-json"),
        (b'{"type":"message","id":"bbbbbbbb","parentId":"aaaaaaaa","x":"\xff\xfe"', "invalid-utf8"),
        (b"complete garbage", "invalid-json"),
        (b"[1]", "not-an-object"),
        (b'{"type":"message","id":"bbbbbbbb","parentId":"aaaaaaaa","x":"' + b"y" * (64 << 20) + b'"}', "too-long"),
    ],
    ids=["cut", "no UTF-8", "garbage", "no object", "64 MB"],
)
def test_a_damaged_line_costs_itself_and_the_rest_stays_reachable(
    engine: Engine, tmp_path: Path, line: bytes, reason: str
) -> None:
    before = pi.message("aaaaaaaa", None, "the walnut table", minute=1)
    behind = pi.message("dddddddd", "bbbbbbbb", "the oak chair", minute=3)
    file = pi.write(tmp_path / "s.jsonl", ended([before, line, behind], "dddddddd"))
    report = index(engine, file)
    lost = [flaw for flaw in report.flaws if flaw.lost]
    assert [(flaw.line, flaw.reason) for flaw in lost] == [(3, reason)]
    assert file.read_bytes()[lost[0].byte :].startswith(line[:60])
    assert found(engine, file, "walnut") == ["aaaaaaaa"]
    assert found(engine, file, "oak") == ["dddddddd"]
    assert not engine.retrieve(session=file, query="walnut").diagnostics.coverage.complete


def test_a_duplicate_id_costs_the_second_line(engine: Engine, tmp_path: Path) -> None:
    rows = [pi.message("aaaaaaaa", None, "walnut one"), pi.message("aaaaaaaa", None, "walnut two", minute=1)]
    file = pi.write(tmp_path / "s.jsonl", ended(rows, "aaaaaaaa"))
    assert [(flaw.line, flaw.reason) for flaw in index(engine, file).flaws] == [(3, "duplicate-id")]
    (hit,) = engine.retrieve(session=file, query="walnut").hits
    assert hit.excerpt == "walnut one"


def test_an_unknown_parent_is_noted_and_its_branch_is_read(engine: Engine, tmp_path: Path) -> None:
    rows = [pi.message("aaaaaaaa", None, "walnut root"), pi.message("bbbbbbbb", "nowhere", "oak root", minute=1)]
    file = pi.write(tmp_path / "s.jsonl", ended(rows, "bbbbbbbb"))
    (flaw,) = index(engine, file).flaws
    assert (flaw.line, flaw.reason, flaw.lost) == (3, "unknown-parent", False)
    assert found(engine, file, "oak") == ["bbbbbbbb"]
    assert found(engine, file, "walnut") == []
    coverage = engine.retrieve(session=file, query="walnut").diagnostics.coverage
    assert (coverage.complete, coverage.reasons) == (False, ("unknown-parent",))
    for scope, complete in (("current-branch", False), ("current-session", True), ("host-wide", True)):
        page = engine.recall("walnut", session=file, scope=scope)  # type: ignore[arg-type]
        assert (page.coverage.complete, page.coverage.reasons) == (complete, ("unknown-parent",)), scope


def test_a_missing_header_is_noted(engine: Engine, tmp_path: Path) -> None:
    rows = [pi.message("aaaaaaaa", None, "walnut table"), pi.compaction("cccccccc", "aaaaaaaa", "cccccccc")]
    file = pi.write(tmp_path / "headless.jsonl", rows)
    report = index(engine, file)
    assert [(flaw.line, flaw.byte, flaw.reason) for flaw in report.flaws] == [(1, 0, "missing-header")]
    assert found(engine, file, "walnut") == ["aaaaaaaa"]
    assert [session.header.session_id for session in engine.sessions()] == ["headless"]


def test_a_truncated_tail_is_noted_until_it_is_written(engine: Engine, tmp_path: Path) -> None:
    file = pi.write(tmp_path / "s.jsonl", [pi.header(), pi.message("aaaaaaaa", None, "walnut")])
    whole = file.read_bytes()
    file.write_bytes(whole[:-10])
    assert [flaw.reason for flaw in index(engine, file).flaws] == ["truncated-tail"]
    assert index(engine, file).session is not None
    file.write_bytes(whole)
    report = index(engine, file)
    assert (report.added, report.flaws) == (1, ())
    assert report.session is not None
    assert report.session.flaws == ()


def test_several_roots_are_several_branches(engine: Engine, tmp_path: Path) -> None:
    rows = [pi.message("aaaaaaaa", None, "walnut root"), pi.message("bbbbbbbb", None, "walnut too", minute=1)]
    file = pi.write(tmp_path / "s.jsonl", ended(rows, "bbbbbbbb"))
    assert index(engine, file).flaws == ()
    assert found(engine, file, "walnut") == ["bbbbbbbb"]


def test_a_compaction_that_retains_nothing_makes_everything_eligible(engine: Engine, tmp_path: Path) -> None:
    file = pi.write(tmp_path / "s.jsonl", ended(pi.conversation(["walnut", "oak"]), "e0000001"))
    assert sorted(found(engine, file, "walnut oak")) == ["e0000000", "e0000001"]


def test_the_words_of_an_edited_entry_are_gone_until_the_edit_is(engine: Engine, tmp_path: Path) -> None:
    rows = pi.conversation(["the walnut table", "the oak chair", "the pine shelf"])
    rows.append(pi.context_edit("dddddddd", "e0000002", "e0000000", None, minute=5))
    rows.append(pi.context_edit("eeeeeeee", "dddddddd", "e0000001", "shortened", minute=6))
    file = pi.write(tmp_path / "s.jsonl", [pi.header(), *rows])
    assert found(engine, file, "walnut") == ["e0000000"]
    assert found(engine, file, "oak") == ["e0000001"]
    assert found(engine, file, "pine") == []


@pytest.mark.parametrize("version", [1, 2])
def test_old_formats_are_read(engine: Engine, tmp_path: Path, version: int) -> None:
    message = {
        "type": "message",
        "timestamp": pi.stamp(1),
        "message": {"role": "hookMessage", "content": "the walnut hook"},
    }
    kept = {"type": "message", "timestamp": pi.stamp(2), "message": {"role": "user", "content": "the oak chair"}}
    end = {"type": "compaction", "timestamp": pi.stamp(3), "summary": "s"}
    rows: list[pi.Row | bytes]
    if version == 1:
        rows = [message, kept, end | {"firstKeptEntryIndex": 2}]
    else:
        rows = [
            message | {"id": "aaaaaaaa", "parentId": None},
            kept | {"id": "bbbbbbbb", "parentId": "aaaaaaaa"},
            end | {"id": "cccccccc", "parentId": "bbbbbbbb", "firstKeptEntryId": "bbbbbbbb"},
        ]
    file = pi.write(tmp_path / "s.jsonl", [pi.header(version=version), *rows])
    assert index(engine, file).flaws == ()
    assert found(engine, file, "walnut") == ["L2" if version == 1 else "aaaaaaaa"]
    assert found(engine, file, "oak") == []


def test_a_fork_and_its_parent_are_one_piece_of_evidence(engine: Engine, tmp_path: Path) -> None:
    rows = pi.conversation(["the walnut table", "the oak chair"])
    parent = pi.write(tmp_path / "a-parent.jsonl", [pi.header("parent"), *rows])
    more = [pi.compaction("cccccccc", "e0000001", "cccccccc", minute=9)]
    fork = pi.write(tmp_path / "b-fork.jsonl", [pi.header("fork", parentSession=str(parent)), *rows, *more])
    engine.index(tmp_path)
    assert sorted(found(engine, fork, "walnut oak")) == ["e0000000", "e0000001"]
    shared = {session.header.session_id: session.shared for session in engine.sessions()}
    assert shared == {"parent": 0, "fork": 2}


def test_transcripts_are_never_changed(engine: Engine, tmp_path: Path) -> None:
    file = pi.write(tmp_path / "s.jsonl", ended(pi.conversation(["walnut"]), "e0000000"))
    before = (file.read_bytes(), file.stat().st_mtime_ns, sorted(tmp_path.iterdir()))
    index(engine, file)
    found(engine, file, "walnut")
    assert (file.read_bytes(), file.stat().st_mtime_ns) == before[:2]
    assert {path.name for path in tmp_path.iterdir()} == {"s.jsonl", "store"}
