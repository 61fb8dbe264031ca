"""The Python API: finding sessions, failing open, and what it refuses."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw
import pytest
from tests import claude_code as cc
from tests import pi

import aforesaid
from aforesaid import Engine
from aforesaid.answers import Coverage
from aforesaid.errors import (
    BadArgument,
    NoSessions,
    NotATranscript,
    PathMissing,
    SessionAmbiguous,
    SessionNotFound,
    StoreBusy,
)
from aforesaid.hosts import wire

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with Engine.open(tmp_path / "store") as opened:
        yield opened


def session(folder: Path, id_: str = "one", name: str | None = None) -> Path:
    rows = pi.conversation(["the walnut table", "noted"])
    end = pi.compaction("cccccccc", rows[-1]["id"], "cccccccc", minute=9)
    return pi.write(folder / f"{name or id_}.jsonl", [pi.header(id_), *rows, end])


def test_every_public_name_can_be_imported() -> None:
    for name in aforesaid.__all__:
        assert getattr(aforesaid, name) is not None
    with pytest.raises(AttributeError):
        _ = aforesaid.nothing


def test_the_store_is_made_when_something_is_first_written_to_it(tmp_path: Path) -> None:
    with Engine.open(tmp_path / "store") as engine:
        assert engine.status().sessions == 0
        assert engine.sessions() == ()
        assert not engine.has_store()
        assert not list(tmp_path.iterdir())
        engine.index(session(tmp_path, "one"))
        assert engine.has_store()
    assert (tmp_path / "store").exists()


def test_a_session_is_found_by_path_or_id(engine: Engine, tmp_path: Path) -> None:
    file = session(tmp_path, "one")
    engine.index(file)
    by_id = engine.retrieve(session="one", query="the walnut")
    assert by_id.hits == engine.retrieve(session=file, query="the walnut").hits
    assert len(by_id.hits) == 1


def test_sessions_of_two_hosts_are_found_in_one_folder_and_an_empty_one_may_be_passed_over(
    engine: Engine, tmp_path: Path
) -> None:
    session(tmp_path, "one")
    cc.write(tmp_path / "two.jsonl", [cc.message("a", None, "the oak chair")])
    empty = tmp_path / "empty"
    empty.mkdir()
    (empty / "notes.jsonl").write_text('{"note":1}\n')
    with pytest.raises(NoSessions):
        engine.index(tmp_path, empty)
    found = engine.index(tmp_path, empty, lenient=True).sessions
    assert [done.session and done.session.header.host for done in found] == ["pi", "claude-code"]
    assert engine.index(empty, lenient=True).sessions == ()
    assert [done.file for done in engine.index(tmp_path, host="claude-code").sessions] == [str(tmp_path / "two.jsonl")]


def test_unknown_and_ambiguous_sessions_are_wrong_arguments(engine: Engine, tmp_path: Path) -> None:
    with pytest.raises(SessionNotFound):
        engine.retrieve(session="nothing")
    with pytest.raises(PathMissing):
        engine.retrieve(session=tmp_path / "nothing.jsonl")
    engine.index(session(tmp_path, "one", "a"), session(tmp_path, "one", "b"))
    with pytest.raises(SessionAmbiguous):
        engine.retrieve(session="one")


def test_a_retrieval_has_the_members_of_its_document(engine: Engine, tmp_path: Path) -> None:
    def snake(name: str) -> str:
        return re.sub("[A-Z]", lambda letter: "_" + letter.group().lower(), name)

    def same(value: Any, member: Any) -> None:
        if isinstance(member, dict) and not isinstance(value, dict):
            for name, inner in member.items():
                same(getattr(value, snake(name)), inner)
        elif isinstance(member, list):
            assert len(value) == len(member)
            for one, inner in zip(value, member, strict=True):
                same(one, inner)
        elif isinstance(member, float):
            assert value == pytest.approx(member, abs=0.001)
        else:
            assert value == member

    found = engine.retrieve(session=session(tmp_path), query="the walnut")
    document = wire.retrieval(found)
    assert len(document["hits"]) == 1
    same(found, {name: document[name] for name in ("status", "query", "hits")})
    document["diagnostics"].pop("semantic")
    same(found.diagnostics, document["diagnostics"])


def test_a_file_that_the_store_does_not_know_is_not_said_to_be_missing(engine: Engine, tmp_path: Path) -> None:
    file = session(tmp_path)
    for ask in (lambda: engine.expand(session=file, entries=["a0000000"]), lambda: engine.rebuild(session=file)):
        with pytest.raises(SessionNotFound, match=r"does not know .*aforesaid index"):
            ask()
    (tmp_path / "folder.jsonl").mkdir()
    with pytest.raises(NotATranscript, match="is no file"):
        engine.retrieve(session=tmp_path / "folder.jsonl")


def test_a_vanished_transcript_is_served_from_the_store_and_that_is_said(engine: Engine, tmp_path: Path) -> None:
    file = session(tmp_path)
    engine.index(file)
    file.unlink()
    for reference in (str(file), "one"):
        answer = engine.retrieve(session=reference, query="the walnut")
        assert len(answer.hits) == 1
        assert answer.diagnostics.coverage.reasons == ("source-missing",)


def test_indexing_refuses_what_leads_nowhere(engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "other.jsonl").write_text('{"a": 1}\n')
    with pytest.raises(PathMissing):
        engine.index(tmp_path / "nothing")
    with pytest.raises(NoSessions):
        engine.index(tmp_path / "empty")
    with pytest.raises(NotATranscript):
        engine.index(tmp_path / "other.jsonl")
    with pytest.raises(BadArgument):
        engine.index(session(tmp_path), host="nobody")
    assert engine.sessions() == ()


def test_a_folder_gives_its_transcripts_and_leaves_other_files_alone(engine: Engine, tmp_path: Path) -> None:
    inner = tmp_path / "in" / "side"
    inner.mkdir(parents=True)
    session(inner, "two")
    (inner / "other.jsonl").write_text('{"a": 1}\n')
    (inner / "notes.txt").write_text("x")
    steps: list[tuple[int, int]] = []
    report = engine.index(tmp_path / "in", host="pi", progress=lambda done, total: steps.append((done, total)))
    assert [entry.status for entry in report.sessions] == ["added"]
    assert steps[-1][0] == steps[-1][1] > 0


def test_sessions_are_listed_by_project(engine: Engine, tmp_path: Path) -> None:
    engine.index(session(tmp_path))
    assert [known.header.session_id for known in engine.sessions(host="pi")] == ["one"]
    assert engine.sessions(project=tmp_path) == ()
    assert len(engine.sessions(project="/home/dev/project")) == 1


def test_rebuilding_reads_everything_again(engine: Engine, tmp_path: Path) -> None:
    file = session(tmp_path)
    engine.index(file)
    assert [report.status for report in engine.rebuild().sessions] == ["rebuilt"]
    assert [report.status for report in engine.rebuild(session="one").sessions] == ["rebuilt"]
    file.unlink()
    (report,) = engine.rebuild(session=file).sessions
    assert (report.status, report.error_code) == ("failed", "path-missing")
    assert len(engine.sessions()) == 1


def test_a_busy_store_fails_the_retrieval_and_never_the_caller(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = session(tmp_path)

    def busy(*_: Any) -> None:
        raise StoreBusy("another process writes", "try again")

    monkeypatch.setattr(engine._store, "by_file", busy)
    answer = engine.retrieve(session=file, query="the walnut")
    assert (answer.status, answer.hits, answer.diagnostics.warnings) == ("failed", (), ("store-busy",))


def test_a_store_that_cannot_be_made_fails_the_retrieval_too(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with Engine.open(tmp_path / "file" / "store") as engine:
        answer = engine.retrieve(session=session(tmp_path), query="the walnut")
    assert answer.status == "failed"
    assert answer.diagnostics.warnings[0].startswith("store-")


def test_a_store_that_cannot_be_written_serves_what_it_holds(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = session(tmp_path)
    engine.index(file)
    monkeypatch.setattr(engine._store, "writable", False)
    monkeypatch.setattr(Engine, "_open_again", lambda _: False)
    assert engine.retrieve(session=file, query="the walnut").diagnostics.coverage.complete
    with file.open("a") as grown:
        grown.write("{}\n")
    answer = engine.retrieve(session=file, query="the walnut")
    assert (len(answer.hits), answer.diagnostics.coverage.reasons) == (1, ("stale",))
    failed = engine.retrieve(session=session(tmp_path, "two"), query="the walnut")
    assert (failed.status, failed.diagnostics.warnings) == ("failed", ("store-read-only",))


def test_a_known_session_that_is_being_written_anew_is_no_wrong_argument(engine: Engine, tmp_path: Path) -> None:
    file = session(tmp_path)
    engine.index(file)
    file.write_bytes(b"")
    assert engine.retrieve(session=file, query="the walnut").status == "complete"


def test_evidence_is_what_stands_in_the_file_whatever_was_done_to_it(engine: Engine, tmp_path: Path) -> None:
    texts = [f"walnut_{number} " + "filler " * 40 for number in range(60)]
    rows = pi.conversation(texts)
    rows.append(pi.compaction("cccccccc", rows[-1]["id"], "cccccccc", minute=90))
    file = pi.write(tmp_path / "long.jsonl", [pi.header("long"), *rows])
    engine.index(file)
    # Of the same length, in the middle, and the file grows as well: for a sync this is an append.
    changed = file.read_bytes().replace(b"walnut_30 ", b"hazels_30 ")
    file.write_bytes(changed + b'{"type":"usage","id":"dddddddd","parentId":"cccccccc"}\n')
    assert engine.retrieve(session=file, query="`walnut_30`").hits == ()
    assert len(engine.retrieve(session=file, query="`hazels_30`").hits) == 1


@pytest.mark.skipif(os.name == "nt", reason="links need rights on Windows")
def test_a_link_to_a_transcript_that_is_indexed_anyway_is_no_second_session(engine: Engine, tmp_path: Path) -> None:
    for folder in ("in", "out"):
        (tmp_path / folder).mkdir()
    file, away = session(tmp_path / "in", "one"), session(tmp_path / "out", "two")
    for name, target in (("a", file), ("z", Path("one.jsonl")), ("b", away), ("c", away), ("d", tmp_path / "none")):
        (tmp_path / "in" / f"{name}.jsonl").symlink_to(target)
    (tmp_path / "way").symlink_to(tmp_path / "in", target_is_directory=True)
    names = [Path(one.file).name for one in engine.index(tmp_path / "in").sessions]
    assert names == ["b.jsonl", "one.jsonl"], "one way to each"
    assert [Path(one.file).name for one in engine.index(tmp_path / "way").sessions] == names
    assert len(engine.index(tmp_path / "in" / "z.jsonl", file).sessions) == 1
    assert engine.index(tmp_path / "in" / "z.jsonl").sessions[0].status == "added", (
        "named alone it is what is asked for"
    )


def test_a_pipe_is_never_waited_for(engine: Engine, tmp_path: Path) -> None:
    if not hasattr(os, "mkfifo"):
        return
    session(tmp_path)
    os.mkfifo(tmp_path / "pipe.jsonl")
    assert [report.status for report in engine.index(tmp_path).sessions] == ["added"]
    with pytest.raises(NotATranscript):
        engine.index(tmp_path / "pipe.jsonl")


def test_relative_paths_and_the_working_directory_do_not_matter(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = session(tmp_path)
    engine.index(file)
    monkeypatch.chdir(tmp_path)
    assert engine.index(f".{os.sep}{file.name}").sessions[0].status == "unchanged"


BROKEN_INDEX = "search_data SET block = x'ff' WHERE id > 10"


def harm(engine: Engine, change: str) -> None:
    """Overwrites what stands in a table of the only session's file."""
    (known,) = engine.sessions()
    path = Path(engine.status().location, "sessions", f"{known.key}.db")
    engine._store.close()
    engine._opened = None
    connection = apsw.Connection(str(path))
    connection.execute(f"UPDATE {change}")
    connection.close()


@pytest.mark.parametrize("damage", [BROKEN_INDEX, "entry SET text = x'ff', flags = flags | 8"])
def test_damage_that_a_search_finds_is_mended_within_the_same_call(engine: Engine, tmp_path: Path, damage: str) -> None:
    file = session(tmp_path)
    expected = engine.retrieve(session=file, query='"walnut table"').hits
    assert len(expected) == 1
    harm(engine, damage)
    found = engine.retrieve(session=file, query='"walnut table"')
    assert (found.status, found.hits, found.diagnostics.coverage.complete) == ("complete", expected, True)
    assert found.diagnostics.coverage.reasons == ("store-rebuilt",)
    assert engine.status().damaged == ()
    assert engine.retrieve(session=file, query='"walnut table"').diagnostics.coverage.reasons == ()


def test_damage_that_cannot_be_mended_is_said_in_the_coverage(engine: Engine, tmp_path: Path) -> None:
    file = session(tmp_path)
    engine.index(file)
    harm(engine, BROKEN_INDEX)
    file.unlink()
    found = engine.retrieve(session="one", query='"walnut table"')
    coverage = found.diagnostics.coverage
    assert (found.status, coverage.complete) == ("failed", False)
    assert "exact-search-failed" in coverage.reasons


def test_an_empty_folder_is_no_store() -> None:
    with pytest.raises(BadArgument, match="empty"):
        Engine.open("").status()


@pytest.mark.parametrize("reference", ["", "  "])
def test_a_session_without_a_name_is_said_to_be_empty(tmp_path: Path, reference: str) -> None:
    with Engine.open(tmp_path / "store") as engine, pytest.raises(BadArgument, match="the session is empty"):
        engine.retrieve(session=reference)


@pytest.mark.parametrize(
    "request_text",
    [
        " ".join([*(f"`absent_{number}`" for number in range(33)), "`orchard_key`"]),
        f"{'gateway ' * 1100}`orchard_key` {'proxy ' * 1900}",
        f"{'ok ' * 3500}`orchard_key` {'ok ' * 3500}",
    ],
    ids=["behind the last name that counts", "in the middle", "nothing else"],
)
def test_a_name_that_was_not_looked_for_is_told_in_the_coverage(tmp_path: Path, request_text: str) -> None:
    lost = pi.conversation(["the `orchard_key` is 4", "noted"])
    rows = [pi.header(), *lost, pi.compaction("c0000000", lost[-1]["id"], "nothing", "x", 20)]
    file = pi.write(tmp_path / "one.jsonl", [*rows, *pi.conversation(["on", "ok"], 21, "f", "c0000000")])
    with Engine.open(tmp_path / "store") as engine:
        found = engine.retrieve(session=file, query=request_text)
        whole = engine.retrieve(session=file, query="what is `orchard_key`?")
    assert found.hits == ()
    assert found.diagnostics.coverage == Coverage(complete=False, reasons=("terms-dropped",))
    assert ([hit.entry_id for hit in whole.hits], whole.diagnostics.coverage) == (["e0000000"], Coverage())


@pytest.mark.parametrize(
    ("request_text", "entries"),
    [
        ("what is response.status?", ["0"]),
        ("what did -name do?", ["2"]),
        ("what is in /run?", ["4"]),
        ("what about error.message?", []),
        ("do/it/now", []),
        ("why did job.stop ruin the walnut?", ["6"]),
        ("why did `job.stop` ruin the walnut?", []),
    ],
)
def test_a_guess_is_found_literally_and_silences_nothing(
    engine: Engine, tmp_path: Path, request_text: str, entries: list[str]
) -> None:
    said = [
        "the response.status was 503",
        "do it now",
        "we use find -name here",
        "an error message me",
        "in /run it is",
    ]
    rows = pi.conversation([*said, "and /running too", "the walnut table"])
    end = pi.compaction("cccccccc", rows[-1]["id"], "cccccccc", minute=9)
    engine.index(pi.write(tmp_path / "one.jsonl", [pi.header("one"), *rows, end]))
    found = engine.retrieve(session="one", query=request_text)
    assert [hit.ranked.candidate.entry.id for hit in found.hits] == [rows[int(place)]["id"] for place in entries]
    assert found.status == "complete"
