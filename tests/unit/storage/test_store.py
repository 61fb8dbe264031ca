"""The SQLite store as files: what lies where, what is repaired, and what failures look like."""

from __future__ import annotations

import os
import random
import shutil
import stat
from contextlib import closing
from typing import TYPE_CHECKING, Any

import apsw
import pytest
from tests.fakes.entries import chain, described, entry
from tests.fakes.reader import PlainTranscripts

from aforesaid.errors import (
    AforesaidError,
    ExactSearchFailed,
    StoreBusy,
    StoreCorrupt,
    StoreError,
    StoreFull,
    StoreReadOnly,
    TextSearchFailed,
)
from aforesaid.indexing import sync
from aforesaid.storage.sqlite import SqliteStore, files, open_store
from aforesaid.storage.sqlite.catalogue import Catalogue
from aforesaid.storage.sqlite.connection import CACHE_KIB, PAGE
from aforesaid.storage.sqlite.store import KEPT_OPEN, key_of
from aforesaid.storage.sqlite.writer import SPENDING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from aforesaid.model import Session

READER = PlainTranscripts()
EVERYTHING = ((1, 10_000),)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "store"


@pytest.fixture
def store(folder: Path) -> Iterator[SqliteStore]:
    opened = open_store(str(folder), busy_timeout_ms=200)
    yield opened
    opened.close()


def put(store: SqliteStore, file: str = "/f", *texts: str) -> Session:
    with store.write(file) as writer:
        known = writer.session.entries if writer.session else 0
        writer.append(chain(*(texts or ("alpha",)), prefix=f"{known}-"))
        return writer.commit(described(file))


def transcript(folder: Path, entries: int = 300) -> Path:
    words = random.Random(1)
    lines = [
        f"e{n}\t{f'e{n - 1}' if n else '-'}\t{' '.join(f'word{words.randrange(200)}' for _ in range(40))}"
        for n in range(entries)
    ]
    file = folder / "session.txt"
    file.write_text("\n".join(["#s\t", *lines]) + "\n")
    return file


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.rglob("*") if path.is_file()}


# --- files ----------------------------------------------------------------------------------------------------------


def test_a_session_is_one_file_named_after_the_path_of_its_transcript(store: SqliteStore, folder: Path) -> None:
    saved = put(store)
    assert saved.key == key_of("/f")
    store.close()
    assert names(folder) == {"lock", "catalogue.db", f"{saved.key}.db"}


@pytest.mark.skipif(os.name == "nt", reason="paths look different there")
def test_keys_are_the_same_in_every_process_and_version() -> None:
    assert key_of("/home/dev/é.jsonl") == "0c9a2002b053b8ad884dc52a16742ce6"
    assert key_of("/home/dev/\udc80.jsonl") != key_of("/home/dev/?.jsonl")


@pytest.mark.skipif(os.name == "nt", reason="Windows has no modes")
def test_folders_and_files_are_the_users_own_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        store = open_store(str(tmp_path / "a" / "store"))
        with store.write("/f") as writer:
            writer.append(chain("alpha"))
            writer.commit(described("/f"))
            modes = {path: stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "a" / "store").rglob("*")}
        store.close()
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a" / "store").stat().st_mode) == 0o700
    assert {mode for path, mode in modes.items() if path.is_dir()} == {0o700}
    assert {mode for path, mode in modes.items() if path.is_file()} == {0o600}
    assert len(modes) > 4


def test_removing_a_session_unlinks_all_its_files(store: SqliteStore, folder: Path) -> None:
    saved = put(store)
    store.remove(saved.key)
    assert not list((folder / "sessions").iterdir())


def test_few_files_stay_open(store: SqliteStore, folder: Path) -> None:
    for number in range(KEPT_OPEN + 5):
        put(store, f"/f{number}")
    logs = [path for path in (folder / "sessions").iterdir() if path.name.endswith("-wal")]
    assert len(logs) == KEPT_OPEN
    store.close()
    assert not [path for path in (folder / "sessions").iterdir() if not path.name.endswith(".db")]


def test_a_closed_store_says_so(store: SqliteStore) -> None:
    saved = put(store)
    with store.read(saved.key) as snapshot:
        store.close()
        assert snapshot.count_terms(["alpha"], EVERYTHING) == 1
    with pytest.raises(StoreError, match="closed"):
        store.by_file("/f")
    with pytest.raises(StoreError, match="closed"), store.write("/f"):
        pass


def test_a_store_whose_folder_was_deleted_begins_anew(store: SqliteStore, folder: Path) -> None:
    put(store)
    shutil.rmtree(folder)
    assert store.by_file("/f") is None
    assert store.sessions() == ()
    put(store)
    assert len(store.sessions()) == 1


def test_a_session_removed_by_another_process_is_not_written_into_a_lost_file(folder: Path) -> None:
    first, second = open_store(str(folder)), open_store(str(folder))
    saved = put(first)
    second.remove(saved.key)
    assert first.by_file("/f") is None
    put(second, "/f", "beta")
    put(first, "/f", "gamma")
    with second.read(saved.key) as snapshot:
        assert [found.text for found in snapshot.entries([1, 2, 3])] == ["beta", "gamma"]
    first.close()
    second.close()
    third = open_store(str(folder))
    with third.read(saved.key) as snapshot:
        assert [found.text for found in snapshot.entries([1, 2, 3])] == ["beta", "gamma"]
    third.close()


def test_a_snapshot_outlives_the_removal_of_its_session(folder: Path) -> None:
    first, second = open_store(str(folder)), open_store(str(folder))
    saved = put(first)
    with first.read(saved.key) as snapshot:
        second.remove(saved.key)
        put(second, "/f", "beta")
        assert [found.text for found in snapshot.entries([1])] == ["alpha"]
    with first.read(saved.key) as snapshot:
        assert [found.text for found in snapshot.entries([1])] == ["beta"]
    first.close()
    second.close()


def test_two_snapshots_of_one_session_can_be_open_at_once(store: SqliteStore) -> None:
    saved = put(store)
    with store.read(saved.key) as older:
        put(store, "/f", "beta")
        with store.read(saved.key) as newer:
            assert older.count_terms(["beta"], EVERYTHING) == 0
            assert newer.count_terms(["beta"], EVERYTHING) == 1


# --- the catalogue --------------------------------------------------------------------------------------------------


def test_what_the_catalogue_missed_is_put_right(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = open_store(str(folder))
    put(store, "/old")
    with monkeypatch.context() as patch:
        patch.setattr(Catalogue, "put", lambda *_: None)
        grown = put(store, "/old")
        new = put(store, "/new")
    assert store.sessions() == (new, grown)
    # The write-ahead logs are still there, as after a crash between the two commits.
    other = open_store(str(folder))
    assert other.sessions() == (new, grown)
    other.close()
    store.close()
    store = open_store(str(folder))
    assert store.sessions() == (new, grown)
    assert Catalogue.by_id(store._catalogue, "s") == {grown.key: grown, new.key: new}
    store.close()


@pytest.mark.parametrize("damage", ["gone", "garbage", "zeroed tables"])
def test_a_lost_catalogue_is_filled_again_from_the_sessions(folder: Path, damage: str) -> None:
    store = open_store(str(folder))
    saved = {put(store, "/a"), put(store, "/b")}
    store.close()
    path = folder / "catalogue.db"
    if damage == "gone":
        path.unlink()
    elif damage == "garbage":
        path.write_bytes(b"no database at all" * 1000)
    else:
        path.write_bytes(path.read_bytes()[:4096] + bytes(path.stat().st_size - 4096))
    store = open_store(str(folder))
    assert set(store.sessions()) == saved
    assert set(store.by_id("s")) == saved
    store.remove(key_of("/a"))
    assert [session.file for session in store.sessions()] == ["/b"]
    put(store, "/c")
    assert len(store.sessions()) == 2
    store.close()


def test_a_session_whose_file_was_deleted_is_not_listed(store: SqliteStore, folder: Path) -> None:
    saved = put(store)
    store.close()
    (folder / "sessions" / f"{saved.key}.db").unlink()
    again = open_store(str(folder))
    assert again.sessions() == again.by_id("s") == ()
    again.close()


def test_a_catalogue_that_cannot_be_written_fails_no_sync(
    store: SqliteStore, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise StoreFull("no space", "free some")

    with monkeypatch.context() as patch:
        patch.setattr(Catalogue, "put", full)
        saved = put(store)
        assert store.sessions() == (saved,)
    store.close()
    again = open_store(str(folder))
    assert Catalogue.everything(again._catalogue) == {saved.key: saved}
    again.close()


def test_the_list_of_sessions_is_made_anew_only_when_something_changed(store: SqliteStore, folder: Path) -> None:
    first, second = put(store, "/a"), put(store, "/b")
    listed = store.sessions()
    assert listed == (first, second)
    assert store.sessions() is listed
    with store.read(first.key):
        assert store.sessions() is listed, "an open file changes nothing"
    other = open_store(str(folder))
    third = put(other, "/c")
    assert store.sessions() == (first, second, third)
    with other.write("/a") as writer:
        writer.append([entry("more", None, "text")])
        grown = writer.commit(described("/a"))
    assert store.sessions() == (grown, second, third)
    assert store.sessions(host="other") == ()
    other.remove(second.key)
    assert store.sessions() == (grown, third)
    (folder / "sessions" / f"{grown.key}.db").unlink()
    assert store.sessions() == (third,)
    listed = store.sessions()
    assert store.sessions() is listed
    other.close()


def test_the_list_says_what_the_files_say_where_the_catalogue_is_behind(
    store: SqliteStore, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = put(store, "/a")
    assert store.sessions() == (first,)
    other = open_store(str(folder))
    with monkeypatch.context() as patch:
        patch.setattr(Catalogue, "put", lambda *_: None)
        with other.write("/a") as writer:
            writer.append([entry("more", None, "text")])
            grown = writer.commit(described("/a"))
        second = put(other, "/b")
        assert store.sessions() == (grown, second)
        listed = store.sessions()
        assert store.sessions() is listed
    other.close()


def test_many_files_stay_open_only_while_they_hold_little(
    store: SqliteStore, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "KEPT_ANYWAY", 2)
    monkeypatch.setattr(files, "KEPT_BYTES", 1)
    for number in range(6):
        put(store, f"/f{number}")
    logs = [path for path in (folder / "sessions").iterdir() if path.name.endswith("-wal")]
    assert len(logs) == 2


# --- failures -------------------------------------------------------------------------------------------------------


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
    assert store.secret() != store.secret()
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
        with store.write("/f") as writer:
            writer.commit(described("/f"))
        assert [session.file for session in early.sessions()] == ["/f"]
        assert early.secret() == store.secret() == early.secret()


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(StoreError):
        open_store(str(tmp_path / "file" / "store"))


# --- damage ---------------------------------------------------------------------------------------------------------


def exercise(store: SqliteStore, file: Path) -> set[str]:
    """Everything that reads a session; the codes of what failed."""
    failed: set[str] = set()
    try:
        session = store.by_file(str(file))
        if session is None:
            return {"none"}
        with store.read(session.key) as snapshot:
            snapshot.tree()
            snapshot.rows([f"e{number}" for number in range(session.entries)])
            entries = snapshot.entries(range(1, session.entries + 1))
            snapshot.digests([one.digest for one in entries], EVERYTHING)
            snapshot.latest_request(EVERYTHING)
            words = [f"word{number}" for number in range(200)]
            for search in (
                lambda: snapshot.find_literals(["word3"], EVERYTHING, 10_000)[0],
                lambda: snapshot.find_literals(["->"], EVERYTHING, 10_000)[0],
                lambda: snapshot.find_terms(words, EVERYTHING, 10_000),
                lambda: snapshot.count_terms(words, EVERYTHING),
            ):
                try:
                    search()
                except (ExactSearchFailed, TextSearchFailed) as error:
                    failed.add(error.code)
    except StoreCorrupt as error:
        failed.add(error.code)
    return failed


@pytest.mark.parametrize("seed", range(40))
def test_garbage_anywhere_is_named_and_the_next_sync_makes_it_good(tmp_path: Path, folder: Path, seed: int) -> None:
    dice = random.Random(seed)
    file = transcript(tmp_path)
    store = open_store(str(folder))
    sync(store, READER, str(file))
    store.close()
    path = folder / "sessions" / f"{key_of(str(file))}.db"
    size = path.stat().st_size
    with path.open("r+b") as target:
        if seed % 4 == 3:
            target.truncate(dice.randrange(size))
        else:
            target.seek(4096 * dice.randrange(size // 4096))
            target.write((dice.randbytes(4096), bytes(4096), dice.randbytes(64))[seed % 4])
    store = open_store(str(folder))
    failed = exercise(store, file)
    if failed:
        assert store.status().damaged == (key_of(str(file)),)
    store.close()
    # Another process, so that nothing is known but what lies in the folder.
    store = open_store(str(folder))
    report = sync(store, READER, str(file))
    if failed:
        assert (report.status, report.error_code) == ("rebuilt", "store-corrupt")
        assert exercise(store, file) == set()
        assert report.session is not None
        assert report.session.entries == 300
    assert store.status().damaged == ()
    assert len(store.sessions()) == 1
    store.close()


def test_damage_found_while_writing_is_repaired_within_the_same_sync(tmp_path: Path, folder: Path) -> None:
    file = transcript(tmp_path)
    store = open_store(str(folder))
    sync(store, READER, str(file))
    store.close()
    path = folder / "sessions" / f"{key_of(str(file))}.db"
    connection = apsw.Connection(str(path))
    page = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'id_block'").get
    connection.close()
    with path.open("r+b") as target:
        target.seek(PAGE * (page - 1))
        target.write(b"\xff" * PAGE)
    with file.open("a") as target:
        target.write("more\te299\tone more\n")
    store = open_store(str(folder))
    report = sync(store, READER, str(file))
    assert (report.status, report.error_code, report.added) == ("rebuilt", "store-corrupt", 301)
    assert sync(store, READER, str(file)).status == "unchanged"
    store.close()


def test_a_damaged_session_can_be_removed(tmp_path: Path, folder: Path) -> None:
    store = open_store(str(folder))
    saved = put(store)
    store.close()
    (folder / "sessions" / f"{saved.key}.db").write_bytes(b"\xff" * 10_000)
    store = open_store(str(folder))
    with pytest.raises(StoreCorrupt):
        store.by_file("/f")
    assert len(store.sessions()) == 1
    store.remove(saved.key)
    assert store.by_file("/f") is None
    assert store.sessions() == ()
    store.close()
    assert names(folder) == {"lock", "catalogue.db"}


def test_damage_in_one_session_leaves_the_others_alone(folder: Path) -> None:
    store = open_store(str(folder))
    bad, good = put(store, "/bad"), put(store, "/good")
    store.close()
    (folder / "sessions" / f"{bad.key}.db").write_bytes(b"\xff" * 10_000)
    (folder / "catalogue.db").unlink()
    store = open_store(str(folder))
    assert store.sessions() == (good,)
    assert store.status().damaged == (bad.key,)
    store.close()


def test_values_that_nobody_wrote_are_damage_even_where_sqlite_finds_none(folder: Path) -> None:
    store = open_store(str(folder))
    saved = put(store)
    store.close()
    path = folder / "sessions" / f"{saved.key}.db"
    connection = apsw.Connection(str(path))
    connection.execute("UPDATE entry SET kind = 99, flags = flags | 8")
    connection.close()
    store = open_store(str(folder))
    with store.read(saved.key) as snapshot:
        with pytest.raises(StoreCorrupt):
            snapshot.entries([1])
        with pytest.raises(ExactSearchFailed):
            snapshot.find_literals(["alpha"], EVERYTHING, 5)[0]
    with pytest.raises(StoreCorrupt):
        store.by_file("/f")
    store.close()


# --- cost -----------------------------------------------------------------------------------------------------------


def test_an_append_writes_what_was_appended_and_not_the_session(tmp_path: Path, folder: Path) -> None:
    file = transcript(tmp_path, 3_000)
    store = open_store(str(folder))
    sync(store, READER, str(file))
    with file.open("a") as target:
        target.writelines(f"n{n}\te2999\tappended text number {n}\n" for n in range(10))
    assert store.by_file(str(file)) is not None  # opens it again
    shard = store._kept(key_of(str(file)))
    assert shard is not None
    store._release(shard)
    before = shard.database.connection.total_changes()
    report = sync(store, READER, str(file))
    changed = shard.database.connection.total_changes() - before
    store.close()
    assert report.added == 10
    # A row, its posting list and its length each, the runs, the session, and what the full-text table merges.
    assert changed < 10 * 8


def test_a_connection_that_wrote_much_is_not_used_again(tmp_path: Path, folder: Path) -> None:
    store = open_store(str(folder))
    small, large = tmp_path / "small.txt", transcript(tmp_path, SPENDING)
    small.write_text("#s\t\na\t-\tone\n")
    for file, kept in ((small, True), (large, False)):
        sync(store, READER, str(file))
        assert (store._kept(key_of(str(file))) is not None) is kept
    store.close()


def test_folders_among_the_session_files_are_none(folder: Path) -> None:
    store = open_store(str(folder))
    saved = put(store)
    (folder / "sessions" / f"{'a' * 32}.db").mkdir()
    (folder / "sessions" / "backup").mkdir()
    assert store.sessions() == (saved,)
    assert (store.status().sessions, store.status().damaged) == (1, ())
    store.close()


def test_a_failed_write_is_want_of_room_even_while_reading() -> None:
    from aforesaid.storage.sqlite.failures import store_error

    error: Any = apsw.IOError("disk I/O error")
    error.extendedresult = apsw.SQLITE_IOERR_SHMSIZE
    full = store_error(error, "path")
    assert isinstance(full, StoreFull)
    assert "ulimit -f" in full.hint
    error.extendedresult = apsw.SQLITE_IOERR_READ
    assert not isinstance(store_error(error, "path"), StoreFull)


def test_every_failure_of_the_store_is_one_of_ours() -> None:
    kinds = [kind for kind in vars(apsw).values() if isinstance(kind, type) and issubclass(kind, apsw.Error)]
    from aforesaid.storage.sqlite.failures import store_error

    assert len(kinds) > 20
    for kind in kinds:
        for writing in (True, False):
            error = store_error(kind("x"), "path", writing=writing)
            assert isinstance(error, AforesaidError)
            assert isinstance(error, StoreError)
    assert isinstance(store_error(apsw.IOError("x"), "path", writing=True), StoreFull)
    assert not isinstance(store_error(apsw.IOError("x"), "path"), StoreFull)


def test_entries_of_an_unwritable_kind_fail_loudly(store: SqliteStore) -> None:
    with pytest.raises(KeyError), store.write("/f") as writer:
        writer.append([entry("a", None, "x", kind="unheard of")])
    assert store.by_file("/f") is None


def test_what_was_read_stays_known_while_rows_are_only_added(tmp_path: Path) -> None:
    store = open_store(str(tmp_path / "store"))
    saved = put(store, "/f", "one", "two")
    with store.read(saved.key) as snapshot:
        first = snapshot.entries([1, 2])
    with store.write("/f") as writer:
        writer.append([entry("e9", "e2", "three")])
        grown = writer.commit(described("/f"))
    assert grown.generation > saved.generation
    with store.read(saved.key) as snapshot:
        again = snapshot.entries([1, 2, 3])
        assert [found.text for found in again] == ["one", "two", "three"]
        assert again[0] is first[0]
    with store.write("/f") as writer:
        writer.clear()
        writer.append([entry("e1", None, "other")])
        writer.commit(described("/f"))
    with store.read(saved.key) as snapshot:
        assert [found.text for found in snapshot.entries([1, 2])] == ["other"]
    store.close()


def test_a_file_that_is_opened_to_be_read_is_set_up_before_it_is_used_again(store: SqliteStore, folder: Path) -> None:
    session = put(store)
    store.close()
    again = open_store(str(folder))
    cache = "cache_size"
    with again.read(session.key) as snapshot:
        assert snapshot._connection.pragma(cache) != -CACHE_KIB
    with again.read(session.key) as snapshot:
        assert snapshot._connection.pragma(cache) == -CACHE_KIB
        assert snapshot._connection.pragma("secure_delete") == 2  # fast
        assert snapshot._connection.pragma("synchronous") == 1  # normal
    again.close()


def test_reading_leaves_no_log_behind(store: SqliteStore, folder: Path) -> None:
    session = put(store)
    store.close()
    again = open_store(str(folder))
    with again.read(session.key):
        pass
    again.close()
    assert [file.name for file in (folder / "sessions").iterdir()] == [f"{session.key}.db"]


def test_rows_are_selected_one_by_one_as_many_are(store: SqliteStore) -> None:
    session = put(store, "/f", *(f"text {number}" for number in range(40)))
    few, many = (3, 1, 3, 99, 16), tuple(range(30, 0, -1))
    for rows in (few, many):
        with store.read(session.key) as snapshot:
            assert snapshot.texts(rows) == tuple([f"text {row - 1}" if row <= 40 else "" for row in rows])
            assert [entry.row for entry in snapshot.entries(rows)] == [row for row in rows if row <= 40]
