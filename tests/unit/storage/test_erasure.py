"""Erasing from SQLite files: the marks' own file, what is opened, what is refused."""

from __future__ import annotations

import os
import stat
from contextlib import closing
from typing import TYPE_CHECKING

import apsw
import pytest
from tests.fakes.entries import chain, described, entry

from aforesaid.errors import SessionForgotten, StoreBusy, StoreCorrupt, StoreError, StoreReadOnly, StoreTooNew
from aforesaid.forgetting import Selector, forget
from aforesaid.storage.sqlite import SqliteStore, erasure, migrations, open_store
from aforesaid.storage.sqlite.store import key_of
from aforesaid.tombstones import Burial

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from aforesaid.model import Session

A, B = "/sessions/a", "/sessions/b"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "store"


@pytest.fixture
def store(folder: Path) -> Iterator[SqliteStore]:
    opened = open_store(str(folder), busy_timeout_ms=100)
    yield opened
    opened.close()


def put(store: SqliteStore, file: str, *texts: str) -> Session:
    with store.write(file) as writer:
        writer.append(chain(*texts, prefix=f"{file[-1]}"))
        return writer.commit(described(file, session_id=file))


def bury(store: SqliteStore, *texts: str, files: tuple[str, ...] = ()) -> None:
    """Marks entries that say these texts, and sessions."""
    marker = store.forgetting.marker(lasting=True)
    marks = {marker.words(entry("x", None, text)) for text in texts} | {marker.file(file) for file in files}
    store.forgetting.bury(Burial(marks=frozenset(marks)))


def test_every_table_of_a_session_is_one_that_can_be_forgotten(store: SqliteStore, folder: Path) -> None:
    """A new table with words in it has to be emptied by `erasure` too; then its name may stand there."""
    put(store, A, "alpha")
    database = apsw.Connection(str(folder / "sessions" / f"{key_of(A)}.db"))
    names = {name for (name,) in database.execute("SELECT name FROM pragma_table_list WHERE schema = 'main'")}
    shadows = {f"search_{part}" for part in ("data", "idx", "docsize", "config")}
    assert names - shadows - {"sqlite_schema", "sqlite_sequence"} == erasure.TABLES
    database.close()


def test_without_anything_forgotten_there_is_no_file_and_nothing_to_do(store: SqliteStore, folder: Path) -> None:
    put(store, A, "alpha")
    grave = store.forgetting
    assert grave.erase() == ((), 0)
    assert not grave.pending
    assert not grave.refuses(A)
    assert grave.marker(lasting=False).file(A) != grave.marker(lasting=False).file(A)
    assert not (folder / "forgotten.db").exists()


def test_the_file_is_the_owners_and_holds_no_words(store: SqliteStore, folder: Path) -> None:
    put(store, A, "alpha zqcanary")
    bury(store, "alpha zqcanary", files=(B,))
    path = folder / "forgotten.db"
    if os.name == "posix":
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    everything = b"".join(found.read_bytes() for found in folder.glob("forgotten.db*"))
    for piece in (b"zqcanary", B.encode(), key_of(B).encode(), bytes.fromhex(key_of(B))):
        assert piece not in everything
    marker = store.forgetting.marker(lasting=True)
    assert marker.file(B) == store.forgetting.marker(lasting=False).file(B), "the key is kept"
    assert marker.file(B) in everything


def test_progress_is_told_in_bytes(store: SqliteStore) -> None:
    put(store, A, "alpha")
    put(store, B, "beta")
    bury(store, "alpha")
    told: list[tuple[int, int]] = []
    store.forgetting.erase(lambda done, total: told.append((done, total)))
    assert len(told) == 2
    assert told[0][0] < told[1][0] == told[1][1]


def test_a_session_without_forgotten_words_is_not_rewritten(store: SqliteStore, folder: Path) -> None:
    put(store, A, "alpha")
    kept = put(store, B, "beta")
    store.close()
    path = folder / "sessions" / f"{key_of(B)}.db"
    before = path.read_bytes()
    again = open_store(str(folder))
    bury(again, "alpha")
    ((done,), discarded) = again.forgetting.erase()
    assert (done.file, discarded) == (A, 0)
    assert again.by_file(B) == kept
    again.close()
    assert path.read_bytes() == before


def test_every_row_is_looked_at(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(erasure, "_ROWS", 1)
    put(store, A, "alpha", "beta", "gamma")
    bury(store, "alpha", "gamma")
    ((done,), _) = store.forgetting.erase()
    assert done.entries == 2
    bury(store, files=(A,))
    ((done,), _) = store.forgetting.erase()
    assert (done.whole, done.entries) == (True, 1)


def test_a_file_to_which_nothing_was_ever_committed_is_removed(store: SqliteStore, folder: Path) -> None:
    with store.write(A) as writer:
        writer.append(chain("alpha"))
    assert (folder / "sessions" / f"{key_of(A)}.db").exists()
    bury(store, "beta")
    assert store.forgetting.erase() == ((), 0)
    assert not list((folder / "sessions").iterdir())


def test_a_file_of_a_newer_version_stops_the_erasure_and_it_stays_due(store: SqliteStore, folder: Path) -> None:
    put(store, A, "alpha")
    store.close()
    database = apsw.Connection(str(folder / "sessions" / f"{key_of(A)}.db"))
    database.pragma("user_version", 99)
    database.close()
    again = open_store(str(folder))
    bury(again, "alpha")
    with pytest.raises(StoreTooNew):
        again.forgetting.erase()
    assert again.forgetting.pending
    again.close()


def test_an_older_file_is_upgraded_and_erased(
    store: SqliteStore, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(store, A, "alpha", "beta")
    store.close()
    monkeypatch.setattr(migrations, "SHARD", (*migrations.SHARD, lambda _: None))
    again = open_store(str(folder))
    bury(again, "alpha")
    ((done,), _) = again.forgetting.erase()
    assert done.entries == 1
    again.close()


def test_a_file_that_cannot_be_unlinked_is_left_empty(
    store: SqliteStore, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(store, A, "alpha zqcanary")
    bury(store, files=(A,))

    def refuse(*_: object) -> None:
        raise StoreReadOnly("somebody has it open", "wait")

    with monkeypatch.context() as patched:
        patched.setattr(SqliteStore, "remove", refuse)
        ((done,), _) = store.forgetting.erase()
    assert (done.whole, done.entries) == (True, 1)
    assert store.by_file(A) is None
    assert store.sessions() == ()
    for path in folder.rglob("*"):
        assert path.is_dir() or b"zqcanary" not in path.read_bytes()
    assert list((folder / "sessions").glob("*.db"))
    assert store.forgetting.erase() == ((), 0)
    assert not list((folder / "sessions").glob("*.db"))


def test_a_session_that_is_recognised_at_its_commit_leaves_nothing(store: SqliteStore, folder: Path) -> None:
    marker = store.forgetting.marker(lasting=True)
    store.forgetting.bury(Burial(marks=frozenset({marker.session("pi", A)})))
    with pytest.raises(SessionForgotten), store.write(A) as writer:  # noqa: PT012 - the last line raises
        assert writer.session is None
        assert writer.clear() == 0
        for batch in range(40):
            writer.append(chain(*(f"zqcanary {n} {'x' * 900}" for n in range(500)), prefix=f"{batch}-"))
        assert writer.known(["0-1", "no"]) == {"0-1"}
        writer.commit(described(A, session_id=A))
    for path in folder.rglob("*"):
        assert path.is_dir() or b"zqcanary" not in path.read_bytes()
    assert not list((folder / "sessions").iterdir())
    assert store.forgetting.refuses(A), "the next sync need not read it"
    with pytest.raises(SessionForgotten), store.write(A):
        raise AssertionError


def test_a_store_that_cannot_be_written_forgets_nothing_and_can_be_verified(
    store: SqliteStore, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(store, A, "alpha")
    bury(store, "beta")
    store.forgetting.erase()
    store.close()
    closed = open_store(str(folder))
    closed.writable = False
    closed.graveyard._annex.writable = False
    for action in (closed.forgetting.erase, lambda: closed.forgetting.bury(Burial())):
        with pytest.raises(StoreReadOnly):
            action()
    with pytest.raises(StoreReadOnly):
        closed.forgetting.marker(lasting=True)
    assert closed.forgetting.marker(lasting=False).file(A)
    checked = closed.forgetting.verify("alpha", ())
    assert [left.where for left in checked.leftovers]
    assert closed.forgetting.verify("gamma", ()).leftovers == ()
    closed.close()


@pytest.mark.parametrize("content", [b"", None])
def test_a_file_for_which_the_disk_had_no_room_means_that_nothing_was_forgotten(
    store: SqliteStore, folder: Path, content: bytes | None
) -> None:
    put(store, A, "alpha")
    store.close()
    if content is None:
        with closing(apsw.Connection(str(folder / "forgotten.db"))) as begun:
            begun.pragma("journal_mode", "wal")
    else:
        (folder / "forgotten.db").write_bytes(content)
    read = open_store(str(folder))
    read.writable = False
    read.graveyard._annex.writable = False
    if content is None:  # it has a first page: somebody may be about to write the marks
        with pytest.raises(StoreError, match="never finished"):
            read.graveyard.tombstones()
    else:
        assert read.graveyard.tombstones() is None
        assert not read.status().erasing
        assert not read.forgetting.refuses(A)
        assert read.forgetting.marker(lasting=False).file(A)
    read.close()
    again = open_store(str(folder))
    assert again.by_file(A) is not None
    bury(again, files=(A,))
    again.forgetting.erase()
    assert again.sessions() == ()
    again.close()


def test_marks_that_cannot_be_written_are_not_half_written(store: SqliteStore) -> None:
    bury(store, "alpha")
    store.forgetting.erase()
    other = apsw.Connection(store.graveyard.path)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreBusy):
        bury(store, "beta")
    other.execute("ROLLBACK")
    assert not store.forgetting.pending
    other.execute("CREATE TRIGGER no BEFORE INSERT ON pending BEGIN SELECT raise(ABORT, 'no'); END")
    with pytest.raises(StoreError):
        bury(store, "gamma")
    assert other.execute("SELECT count(*) FROM mark").get == 1
    other.close()


def test_a_file_that_went_away_is_noticed(store: SqliteStore, folder: Path) -> None:
    bury(store, "alpha")
    grave = store.graveyard
    assert grave.tombstones() is not None
    for path in folder.glob("forgotten.db*"):
        path.unlink()
    assert grave.tombstones() is None
    assert grave.pending() == ()
    grave._annex.writable = False
    with pytest.raises(StoreError, match="gone"):
        grave.marker()


def test_a_folder_that_refuses_is_named(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "no")

    monkeypatch.setattr("aforesaid.storage.sqlite.annex.open_writable", refuse)
    with pytest.raises(StoreReadOnly):
        store.forgetting.marker(lasting=True)


def test_a_file_of_a_newer_version_is_not_touched(store: SqliteStore, folder: Path) -> None:
    bury(store, "alpha")
    store.close()
    database = apsw.Connection(str(folder / "forgotten.db"))
    database.pragma("user_version", 99)
    database.close()
    again = open_store(str(folder))
    with pytest.raises(StoreTooNew), again.write(A):
        raise AssertionError
    again.close()


def test_many_marks_are_looked_up(store: SqliteStore) -> None:
    texts = [f"text {n}" for n in range(1500)]
    bury(store, *texts[::2])
    with store.write(A) as writer:
        writer.append(chain(*texts))
        session = writer.commit(described(A))
    with store.read(session.key) as snapshot:
        assert [found.text for found in snapshot.entries(range(1, 1501))] == ["", *texts[1::2]] or [
            found.text == "" for found in snapshot.entries(range(1, 1501))
        ] == [n % 2 == 0 for n in range(1500)]


def test_damaged_sessions_are_passed_over_by_a_preview_and_removed_by_an_erasure(
    store: SqliteStore, folder: Path
) -> None:
    put(store, A, "alpha", "beta")
    put(store, B, "alpha", "gamma")
    store.close()
    path = folder / "sessions" / f"{key_of(A)}.db"
    data = bytearray(path.read_bytes())
    data[8192:] = b"\xff" * (len(data) - 8192)
    path.write_bytes(data)
    again = open_store(str(folder))
    preview = forget(again, Selector(text="alpha"), now="2027", dry_run=True)
    assert [one.file for one in preview.sessions] == [B]
    done = forget(again, Selector(text="alpha"), now="2027", verify=True)
    assert ([one.file for one in done.sessions], done.discarded) == ([B], 1)
    assert not path.exists()
    assert not list((folder / "sessions").glob("*.damaged"))
    again.close()


@pytest.mark.parametrize("by", ["date", "project", "session"])
def test_a_damaged_session_goes_by_whatever_it_was_named(store: SqliteStore, folder: Path, by: str) -> None:
    chosen = put(store, A, "alpha", "beta")
    store.close()
    path = folder / "sessions" / f"{key_of(A)}.db"
    path.write_bytes(path.read_bytes()[:8192] + b"\xff" * 99_999)
    again = open_store(str(folder))
    selector = {
        "date": Selector(before="2027"),
        "project": Selector(sessions=(chosen,), project="/home/dev"),
        "session": Selector(sessions=(chosen,)),
    }[by]
    with pytest.raises(StoreCorrupt):
        forget(again, Selector(sessions=(chosen,), entries=("a1",)), now="2027")
    done = forget(again, selector, now="2027", verify=True)
    assert done.discarded == 1
    assert not path.exists()
    assert again.forgetting.refuses(A) is (by != "date")
    again.close()


def test_the_status_tells_of_an_erasure_that_is_due(store: SqliteStore) -> None:
    assert not store.status().erasing
    bury(store, "alpha")
    assert store.status().erasing
    store.forgetting.erase()
    assert not store.status().erasing


def test_records_of_planned_calls_go_with_their_session(
    store: SqliteStore, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = put(store, A, "alpha")
    store.manifests.keep(session.key, '{"entries":["a1"]}', at=0.0, most=9)
    bury(store, files=(A,))

    def refuse(*_: object) -> None:
        raise StoreReadOnly("somebody has it open", "wait")

    monkeypatch.setattr(SqliteStore, "remove", refuse)
    store.forgetting.erase()
    assert store.manifests.latest(None, 9) == ()


def test_a_damaged_catalogue_does_not_stop_an_erasure(store: SqliteStore, folder: Path) -> None:
    put(store, A, "alpha")
    store.close()
    data = bytearray((folder / "catalogue.db").read_bytes())
    data[100:] = b"\xff" * (len(data) - 100)
    (folder / "catalogue.db").write_bytes(data)
    again = open_store(str(folder))
    bury(again, "alpha")
    assert len(again.forgetting.erase()[0]) == 1
    assert not again.forgetting.pending
    assert [session.file for session in again.sessions()] == [A]
    again.close()
