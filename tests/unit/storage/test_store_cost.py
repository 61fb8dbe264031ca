"""The SQLite store as files: what is written and read, and no more."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import apsw
import pytest
from tests.fakes.entries import described, entry

from aforesaid.errors import (
    AforesaidError,
    StoreError,
    StoreFull,
)
from aforesaid.indexing import sync
from aforesaid.inquiry import Filter
from aforesaid.storage.sqlite import SqliteStore, open_store
from aforesaid.storage.sqlite.connection import CACHE_KIB
from aforesaid.storage.sqlite.store import key_of
from aforesaid.storage.sqlite.writer import SPENDING

if TYPE_CHECKING:
    from pathlib import Path

from tests.unit.storage.filled import READER, folder, put, store, transcript

__all__ = ["folder", "store"]


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


def test_no_statement_is_compiled_anew_for_another_value(tmp_path: Path, folder: Path) -> None:
    file = transcript(tmp_path, 200)
    compiled: dict[str, int] = {}

    def count(event: dict[str, Any]) -> None:
        compiled[event["sql"]] = event["stmt_status"]["SQLITE_STMTSTATUS_REPREPARE"]

    apsw.connection_hooks.append(lambda connection: connection.trace_v2(apsw.SQLITE_TRACE_PROFILE, count))
    try:
        store = open_store(str(folder))
        sync(store, READER, str(file))
        store.close()
        store = open_store(str(folder))
        with store.read(key_of(str(file))) as snapshot:
            for word in ("text", "number", "one", "two", "three"):
                snapshot.find_terms((word,), ((1, 200),), 5)
                snapshot.weigh_all((word,), (), last=200)
            for row in range(1, 20):
                snapshot.outlines(((1, 200),), Filter(), (row,))
                snapshot.entries((row,))
        store.close()
    finally:
        apsw.connection_hooks.pop()
    assert any("search_idx" in sql for sql in compiled), "FTS5 looked for words"
    assert not any(compiled.values())


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
