"""The SQLite store as files: full, locked, read-only or not there."""

from __future__ import annotations

import random
from contextlib import closing
from typing import TYPE_CHECKING

import apsw
import pytest
from tests.fakes.entries import described

from aforesaid.errors import (
    StoreBusy,
    StoreError,
    StoreFull,
    StoreReadOnly,
)
from aforesaid.indexing import sync
from aforesaid.storage.sqlite import SqliteStore, open_store

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

from tests.unit.storage.filled import EVERYTHING, READER, folder, put, store, transcript

__all__ = ["folder", "store"]


def test_a_locked_session_is_busy_after_the_timeout(store: SqliteStore, folder: Path) -> None:
    other = open_store(str(folder), busy_timeout_ms=50)
    saved = put(store)
    with store.write("/f"):
        with pytest.raises(StoreBusy), other.write("/f"):
            pass
        with pytest.raises(StoreBusy):
            other.remove(saved.key)
        assert other.by_file("/f") == saved
        put(other, "/g")
    put(other, "/f", "beta")
    other.close()


def test_a_store_that_reached_its_limit_is_full_and_stays_readable(folder: Path, tmp_path: Path) -> None:
    file = transcript(tmp_path, 50)
    store = open_store(str(folder), max_bytes=400_000)
    first = sync(store, READER, str(file)).session
    assert first is not None
    dice = random.Random(2)
    with file.open("a") as target:
        target.writelines(f"more{n}\te49\t{n} {dice.randbytes(10_000).hex()}\n" for n in range(40))
    with pytest.raises(StoreFull):
        sync(store, READER, str(file))
    assert store.by_file(str(file)) == first
    assert store.status().bytes < 500_000
    with store.read(first.key) as snapshot:
        assert snapshot.count_terms(["word1"], EVERYTHING) > 0
    store.close()


class _FullDisk(apsw.VFS):
    """A file system on which nothing more can be written once `full` is set."""

    full = False

    def __init__(self) -> None:
        super().__init__("fulldisk", "", maxpathname=4096)

    def xOpen(self, name, flags):  # type: ignore[no-untyped-def]  # noqa: N802
        return _FullFile("", name, flags)


class _FullFile(apsw.VFSFile):
    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        if _FullDisk.full:
            raise apsw.FullError("the disk is full")
        super().xWrite(data, offset)


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[_FullDisk]]:
    vfs = _FullDisk()
    plain = apsw.Connection

    def connect(path: str, flags: int) -> apsw.Connection:
        return plain(path, flags=flags, vfs="fulldisk")

    monkeypatch.setattr("aforesaid.storage.sqlite.connection.apsw.Connection", connect)
    yield _FullDisk
    _FullDisk.full = False
    del vfs


def test_a_full_disk_is_named_and_leaves_the_old_state(disk: type[_FullDisk], folder: Path, tmp_path: Path) -> None:
    file = transcript(tmp_path, 50)
    store = open_store(str(folder))
    first = sync(store, READER, str(file)).session
    assert first is not None
    with file.open("a") as target:
        target.write("more\te49\tone more\n")
    disk.full = True
    with pytest.raises(StoreFull) as failure:
        sync(store, READER, str(file))
    assert failure.value.code == "store-full"
    assert store.by_file(str(file)) == first
    disk.full = False
    assert sync(store, READER, str(file)).added == 1
    store.close()


def test_a_read_only_store_still_reads(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = open_store(str(folder))
    saved = put(store)
    monkeypatch.setattr("aforesaid.storage.sqlite.store._may_write", lambda _: False)
    for live in (True, False):
        # With and without a process that has the files open for writing.
        if not live:
            store.close()
        reader = open_store(str(folder))
        assert not reader.writable
        assert reader.by_file("/f") == saved
        assert reader.sessions() == (saved,)
        assert reader.status().writable is False
        with reader.read(saved.key) as snapshot:
            assert snapshot.find_literals(["alpha"], EVERYTHING, 5)[0] == (1,)
            assert snapshot.count_terms(["alpha"], tuple((row, row) for row in range(1, 400, 2))) == 1
        with pytest.raises(StoreReadOnly), reader.write("/f"):
            pass
        with pytest.raises(StoreReadOnly):
            reader.remove(saved.key)
        reader.close()


def test_a_read_only_store_without_a_catalogue_lists_the_sessions(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_store(str(folder))
    saved = put(store)
    store.close()
    (folder / "catalogue.db").unlink()
    monkeypatch.setattr("aforesaid.storage.sqlite.store._may_write", lambda _: False)
    reader = open_store(str(folder))
    assert reader.sessions() == reader.by_id("s") == (saved,)
    reader.close()


def test_a_read_only_store_that_nobody_ever_wrote_has_a_status(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.mkdir()
    monkeypatch.setattr("aforesaid.storage.sqlite.store._may_write", lambda _: False)
    store = open_store(str(folder))
    status = store.status()
    assert (status.writable, status.sessions, status.bytes) == (False, 0, 0)
    store.close()


def test_a_look_at_a_store_that_is_not_there_makes_nothing(folder: Path) -> None:
    store = open_store(str(folder))
    status = store.status()
    assert (status.writable, status.sessions, status.bytes, status.damaged) == (True, 0, 0, ())
    assert not [*store.sessions(), *store.by_id("s"), *store.withheld(), *store.manifests.latest(None, 9)]
    assert store.by_file("/f") is store.by_key("0" * 32) is None
    assert store.learn_words(()) == store.count_refs("service") == 0
    with closing(open_store(str(folder))) as other:
        assert store.secret() == store.secret() != other.secret()
    assert not store.tend("/f")
    assert not store.forgetting.pending
    assert not store.forgetting.refuses("/f")
    store.manifests.forget("k")
    store.close()
    assert not folder.exists()
    folder.mkdir()  # somebody else's, with nothing of ours in it
    with closing(open_store(str(folder))) as store:
        assert (store.sessions(), store.status().bytes, len(store.secret())) == ((), 0, 32)
    assert not list(folder.iterdir())


def test_who_looked_before_the_store_was_made_sees_it_then(folder: Path) -> None:
    with closing(open_store(str(folder))) as early, closing(open_store(str(folder))) as store:
        assert early.sessions() == ()
        passing = early.secret()
        with store.write("/f") as writer:
            writer.commit(described("/f"))
        assert [session.file for session in early.sessions()] == ["/f"]
        assert early.secret() == store.secret() != passing


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(StoreError):
        open_store(str(tmp_path / "file" / "store"))
