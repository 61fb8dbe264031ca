"""Sessions whose file of the store is damaged, empty or gone: what is said of them, and that none comes back."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from tests import pi

from aforesaid import Engine
from aforesaid.config import Config
from aforesaid.errors import SessionForgotten, SessionNotFound
from aforesaid.storage.sqlite import open_store
from aforesaid.storage.sqlite.catalogue import Catalogue
from aforesaid.storage.sqlite.layout import key_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from aforesaid.inquiry import Reach, Scope

GARBAGE = b"no database at all" * 1000


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path, Path]:
    """Three indexed sessions, each with its transcript in a folder of its own; two of one project."""
    made = []
    for name in "abc":
        (tmp_path / name).mkdir()
        rows = [pi.header(name, cwd="/p/other" if name == "c" else "/p/one")]
        rows += [pi.message(f"{name}1", None, f"walnut {name}name"), pi.message(f"{name}2", f"{name}1", "hazel")]
        made.append(pi.write(tmp_path / name / f"{name}.jsonl", rows))
    with opened(tmp_path) as engine:
        engine.index(*made)
    return made[0], made[1], made[2]


def opened(folder: Path) -> Engine:
    return Engine.open(folder / "store", Config.load(settings=["historyTools.allowProjectScope=true"]))


def damage(folder: Path, transcript: Path, how: str, *, catalogue: bool = False) -> str:
    """Damages a session's file, and says its key."""
    key = key_of(str(transcript))
    file = folder / "store" / "sessions" / f"{key}.db"
    for companion in ("-wal", "-shm"):
        file.with_name(file.name + companion).unlink(missing_ok=True)
    if how == "gone":
        file.unlink()
    else:
        file.write_bytes(b"" if how == "empty" else GARBAGE)
    if catalogue:
        for left in (folder / "store").glob("catalogue.db*"):
            left.unlink()
    return key


def listed(folder: Path) -> frozenset[str]:
    """The keys of the store's list of sessions."""
    store = open_store(str(folder / "store"))
    keys = store._catalogue.keys()
    store.close()
    return keys


def reach(engine: Engine, scope: Scope = "host-wide", session: Path | None = None) -> Reach:
    return engine.recall("walnut", scope=scope, session=session).coverage


@pytest.mark.parametrize("how", ["garbage", "empty", "gone"])
def test_what_cannot_be_read_counts_as_not_searched_and_is_named_and_derived_again(
    tmp_path: Path, files: tuple[Path, Path, Path], how: str
) -> None:
    key = damage(tmp_path, files[1], how)
    for _ in range(2):
        with opened(tmp_path) as engine:
            for _ in range(2):
                told = reach(engine)
                assert (told.complete, told.reasons) == (False, ("store-corrupt",))
                assert (told.indexed_sessions, told.eligible_sessions) == (2, 3)
            assert engine.status().damaged == (key,)
            assert engine.status().sessions == 2
    with opened(tmp_path) as engine:
        engine.rebuild()
        assert reach(engine).complete
        assert reach(engine).eligible_sessions == 3
        assert engine.status().damaged == ()


def test_damage_is_told_where_the_list_is_lost_too(tmp_path: Path, files: tuple[Path, Path, Path]) -> None:
    key = damage(tmp_path, files[1], "garbage", catalogue=True)
    for _ in range(2):
        with opened(tmp_path) as engine:
            for scope, own, count in (("host-wide", None, 3), ("project", files[0], 2), ("project", files[2], 2)):
                told = reach(engine, scope, own)  # type: ignore[arg-type]
                assert (told.complete, told.reasons) == (False, ("store-corrupt",))
                assert (told.indexed_sessions, told.eligible_sessions) == (count - 1, count), "it may be of any project"
            assert engine.status().damaged == (key,)
    with opened(tmp_path) as engine:
        engine.index(files[1])
        assert reach(engine).complete


@pytest.mark.parametrize("how", ["intact", "garbage", "empty"])
@pytest.mark.parametrize("transcript", [True, False])
def test_a_file_is_searched_or_missed_where_the_list_is_lost_and_the_transcript_gone(
    tmp_path: Path, files: tuple[Path, Path, Path], how: str, transcript: bool
) -> None:
    key = key_of(str(files[1]))
    if how != "intact":
        damage(tmp_path, files[1], how)
    for left in (tmp_path / "store").glob("catalogue.db*"):
        left.unlink()
    if not transcript:
        files[1].unlink()
    for _ in range(2):
        with opened(tmp_path) as engine:
            for scope, own, count in (("host-wide", None, 3), ("project", files[0], 2)):
                page = engine.recall("walnut", scope=scope, session=own, limit=9)  # type: ignore[arg-type]
                told = page.coverage
                found = {hit.session_id for hit in page.hits}
                if how == "intact":
                    assert "b" in found
                    assert told.reasons == (() if transcript else ("source-missing",))
                    assert (told.indexed_sessions, told.eligible_sessions) == (count, count)
                else:
                    assert "b" not in found
                    assert (told.complete, told.reasons) == (False, ("store-corrupt",))
                    assert (told.indexed_sessions, told.eligible_sessions) == (count - 1, count)
            assert engine.status().damaged == (() if how == "intact" else (key,))
    if transcript:
        with opened(tmp_path) as engine:
            engine.index(files[1])
            assert reach(engine).complete
            assert engine.status().damaged == ()


def test_the_words_of_a_file_that_was_emptied_are_derived_again_by_the_next_sync_of_its_session(
    tmp_path: Path, files: tuple[Path, Path, Path]
) -> None:
    damage(tmp_path, files[1], "empty", catalogue=True)
    with opened(tmp_path) as engine:
        page = engine.recall("walnut", session=files[1])
        assert [hit.entry_id for hit in page.hits] == ["b1"]
        assert reach(engine).complete


def test_a_file_that_is_just_being_made_is_no_damage(tmp_path: Path, files: tuple[Path, Path, Path]) -> None:
    store = open_store(str(tmp_path / "store"))
    with store.write(str(tmp_path / "new.jsonl")), opened(tmp_path) as engine:
        assert reach(engine).complete
        assert engine.status().damaged == ()
    with opened(tmp_path) as engine:
        assert reach(engine).complete, "nothing came of it"
        assert engine.status().damaged == ()
    store.close()


@pytest.mark.parametrize("how", ["garbage", "gone"])
def test_another_project_lacks_nothing(tmp_path: Path, files: tuple[Path, Path, Path], how: str) -> None:
    damage(tmp_path, files[1], how)
    with opened(tmp_path) as engine:
        assert reach(engine, "project", files[2]).complete
        told = reach(engine, "project", files[0])
        assert (told.complete, told.indexed_sessions, told.eligible_sessions) == (False, 1, 2)


@pytest.mark.parametrize("catalogue", [False, True])
def test_none_is_counted_twice_where_its_transcript_stands_beside_others(tmp_path: Path, catalogue: bool) -> None:
    made = [pi.write(tmp_path / f"{name}.jsonl", [pi.header(name), *pi.conversation(["walnut"])]) for name in "abc"]
    with opened(tmp_path) as engine:
        engine.index(*made)
    damage(tmp_path, made[1], "garbage" if catalogue else "gone", catalogue=catalogue)
    with opened(tmp_path) as engine:
        assert reach(engine).reasons == ("store-corrupt",)
        assert reach(engine).eligible_sessions == 3
        pi.write(tmp_path / "d.jsonl", [pi.header("d"), *pi.conversation(["walnut"])])
        assert set(reach(engine).reasons) == {"store-corrupt", "not-indexed"}
        assert reach(engine).eligible_sessions == 4


def test_an_interrupted_forgetting_brings_nothing_back_and_is_finished(
    tmp_path: Path, files: tuple[Path, Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(catalogue: Catalogue, key: str) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, opened(tmp_path) as engine:
        patched.setattr(Catalogue, "forget", die)
        with pytest.raises(KeyboardInterrupt):
            engine.forget(session=files[1])
    assert not (tmp_path / "store" / "sessions" / f"{key_of(str(files[1]))}.db").exists()
    with opened(tmp_path) as engine:
        for _ in range(2):
            assert reach(engine).complete
            assert reach(engine).eligible_sessions == 2
            assert {one.header.session_id for one in engine.sessions()} == {"a", "c"}
            assert engine.status().damaged == ()
            engine.rebuild()
            engine.index(files[1])
    assert key_of(str(files[1])) in listed(tmp_path), "which is what the next call is for"
    with opened(tmp_path) as engine:
        done = engine.forget(verify=True)
        assert done.verification is not None
        assert not done.verification.leftovers
    assert listed(tmp_path) == {key_of(str(files[0])), key_of(str(files[2]))}, "its path and its name stood there"


def test_an_emptied_file_stops_no_forgetting(tmp_path: Path, files: tuple[Path, Path, Path]) -> None:
    damage(tmp_path, files[1], "empty")
    damage(tmp_path, files[2], "gone")
    with opened(tmp_path) as engine:
        done = engine.forget(text="aname", verify=True)
        assert [(one.session_id, one.entries) for one in done.sessions] == [("a", 1)]
        assert done.verification is not None
        assert not done.verification.leftovers
        assert reach(engine).complete, "whoever cannot read them cannot say what they hold: they are off the list"


def test_a_session_that_comes_while_the_list_is_made_is_not_lost(
    tmp_path: Path, files: tuple[Path, Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_store(str(tmp_path / "store"))
    keys, logged = store._present()
    before = keys - {key_of(str(files[2]))}
    monkeypatch.setattr(store, "_present", lambda: (before, logged))
    assert len(store.sessions()) == 2
    assert store.unreadable() == ()
    os.unlink(store._path(key_of(str(files[2]))))  # noqa: PTH108
    assert [one.key for one in store.unreadable()] == [key_of(str(files[2]))]
    store.close()


@pytest.mark.parametrize("how", ["garbage", "empty", "gone"])
@pytest.mark.parametrize("named", ["path", "id"])
@pytest.mark.parametrize("ask", ["retrieve", "view", "recall", "index", "rebuild"])
def test_what_is_derived_again_is_said_once(
    tmp_path: Path, files: tuple[Path, Path, Path], how: str, named: str, ask: str
) -> None:
    damage(tmp_path, files[1], how)
    session: str | Path = files[1] if named == "path" or ask == "index" else "b"
    with opened(tmp_path) as engine:
        calls: dict[str, Callable[[], object]] = {
            "retrieve": lambda: engine.retrieve(session=session, query="walnut").diagnostics.coverage.reasons,
            "view": lambda: engine.view(session=session).diagnostics.coverage.reasons,
            "recall": lambda: reach(engine, "current-session", session).reasons,  # type: ignore[arg-type]
            "index": lambda: [(one.status, one.error_code) for one in engine.index(session).sessions],
            "rebuild": lambda: [one.status for one in engine.rebuild(session=session).sessions],
        }
        told, first = calls[ask], calls[ask]()
        assert first == {"index": [("rebuilt", "store-corrupt")], "rebuild": first}.get(ask, ("store-rebuilt",))
        assert engine.status().damaged == ()
        assert told() == {"index": [("unchanged", None)], "rebuild": ["rebuilt"]}.get(ask, ())


def test_a_file_that_goes_while_a_service_holds_it_is_missed_at_the_next_question(
    tmp_path: Path, files: tuple[Path, Path, Path]
) -> None:
    with opened(tmp_path) as engine:
        assert engine.retrieve(session=files[1], query="walnut").diagnostics.coverage.reasons == ()
        damage(tmp_path, files[1], "gone")
        with files[1].open("ab") as more:
            more.write(b'{"type":"usage","id":"dddddddd","parentId":"b2"}\n')
        assert engine.retrieve(session=files[1], query="walnut").diagnostics.coverage.reasons == ("store-rebuilt",)
        assert engine.retrieve(session=files[1], query="walnut").diagnostics.coverage.reasons == ()


def test_without_its_transcript_what_is_gone_is_said_to_be(tmp_path: Path, files: tuple[Path, Path, Path]) -> None:
    damage(tmp_path, files[1], "gone")
    files[1].unlink()
    with opened(tmp_path) as engine:
        for session in (files[1], "b"):
            found = engine.retrieve(session=session, query="walnut")
            assert (found.status, found.diagnostics.warnings) == ("failed", ("store-corrupt",))
        with pytest.raises(SessionNotFound):
            engine.retrieve(session="nobody", query="walnut")


@pytest.mark.parametrize("interrupted", [False, True])
def test_what_was_forgotten_is_missed_by_nobody(
    tmp_path: Path, files: tuple[Path, Path, Path], monkeypatch: pytest.MonkeyPatch, interrupted: bool
) -> None:
    with monkeypatch.context() as patched, opened(tmp_path) as engine:
        if interrupted:
            patched.setattr(Catalogue, "forget", lambda *_: None)
        engine.forget(session=files[1])
    assert (key_of(str(files[1])) in listed(tmp_path)) is interrupted
    with opened(tmp_path) as engine:
        found = engine.retrieve(session=files[1], query="walnut")
        assert (found.status, found.diagnostics.warnings) == ("disabled", ("session-forgotten",))
        (report,) = engine.index(files[1]).sessions
        assert (report.status, report.error_code, report.session) == ("unchanged", "session-forgotten", None)
        assert engine.status().damaged == ()
        for session in (files[1], "b"):
            with pytest.raises((SessionForgotten, SessionNotFound)):
                engine.rebuild(session=session)


@pytest.mark.parametrize("how", ["garbage", "gone"])
def test_a_fork_whose_origin_cannot_be_read_is_searched_without_it(
    tmp_path: Path, files: tuple[Path, Path, Path], how: str
) -> None:
    rows = [pi.header("fork", cwd="/p/one", parentSession=str(files[1])), pi.message("f1", None, "walnut")]
    fork = pi.write(tmp_path / "fork.jsonl", rows)
    with opened(tmp_path) as engine:
        engine.index(fork)
    damage(tmp_path, files[1], how)
    with opened(tmp_path) as engine:
        assert reach(engine, "current-lineage", fork).reasons == ("ancestor-missing",)


@pytest.mark.skipif(os.name == "nt", reason="Windows may refuse to make one")
def test_a_folder_in_the_place_of_a_file_is_called_one(tmp_path: Path, files: tuple[Path, Path, Path]) -> None:
    damage(tmp_path, files[1], "gone")
    folder = tmp_path / "store" / "sessions" / f"{key_of(str(files[1]))}.db"
    folder.mkdir()
    with opened(tmp_path) as engine:
        reports = engine.index(*files).sessions
        assert [(one.status, one.error_code) for one in reports] == [
            ("unchanged", None),
            ("failed", "store-failed"),
            ("unchanged", None),
        ]
        assert "is a folder where a file of the store belongs" in str(reports[1].error)
        assert engine.retrieve(session=files[1], query="walnut").diagnostics.warnings == ("store-failed",)
    folder.rmdir()
    with opened(tmp_path) as engine:
        assert engine.index(files[1]).sessions[0].status == "rebuilt"
