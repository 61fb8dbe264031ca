"""Older files become current ones, newer ones are refused, and older projections are read again."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any

import apsw
import pytest
from tests.fakes.entries import chain, described
from tests.fakes.reader import PlainTranscripts

from aforesaid.errors import StoreReadOnly, StoreTooNew
from aforesaid.indexing import sync
from aforesaid.storage.sqlite import migrations, open_store
from aforesaid.storage.sqlite.store import SqliteStore, key_of

if TYPE_CHECKING:
    from pathlib import Path

READER = PlainTranscripts()
TEXT = "#s\t\na\t-\talpha\nb\ta\tbeta\n"


def shard_of(store: Path, file: Path) -> Path:
    return store / "sessions" / f"{key_of(str(file))}.db"


def execute(path: Path, *statements: str) -> None:
    connection = apsw.Connection(str(path))
    for statement in statements:
        connection.execute(statement)
    connection.close()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "session.txt"
    path.write_text(TEXT)
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "store"


@pytest.fixture
def stored(folder: Path, file: Path) -> Path:
    """A store that holds the session, closed."""
    store = open_store(str(folder))
    sync(store, READER, str(file))
    store.close()
    return folder


def test_a_shard_of_a_prototype_is_made_anew_by_the_next_sync(folder: Path, file: Path) -> None:
    (folder / "sessions").mkdir(parents=True)
    execute(
        shard_of(folder, file),
        "PRAGMA journal_mode = WAL",
        "CREATE TABLE entry(number INTEGER PRIMARY KEY, words TEXT)",
        "CREATE INDEX words ON entry(words)",
        "CREATE VIRTUAL TABLE search USING fts5(words)",
        "INSERT INTO entry VALUES (1, 'alpha')",
        "INSERT INTO search VALUES ('alpha')",
    )
    store = open_store(str(folder))
    assert store.by_file(str(file)) is None
    assert store.sessions() == ()
    assert sync(store, READER, str(file)).added == 2
    with store.read(key_of(str(file))) as snapshot:
        assert snapshot.count_terms(["alpha"], ((1, 9),)) == 1
    store.close()


def _add_column(database: apsw.Connection) -> None:
    database.execute("ALTER TABLE shard ADD COLUMN colour TEXT DEFAULT 'blue'")


def test_an_older_schema_is_migrated_step_by_step_and_keeps_its_data(
    stored: Path, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(migrations, "SHARD", (*migrations.SHARD, _add_column, lambda _: None))
    store = open_store(str(stored))
    session = store.by_file(str(file))
    assert session is not None
    assert session.entries == 2
    assert sync(store, READER, str(file)).status == "unchanged"
    assert store.status().schema == len(migrations.SHARD)
    store.close()
    connection = apsw.Connection(str(shard_of(stored, file)))
    assert connection.pragma("user_version") == len(migrations.SHARD)
    assert connection.execute("SELECT colour FROM shard").get == "blue"
    connection.close()


def test_a_session_with_an_index_of_ids_gets_blocks_of_them(folder: Path, file: Path) -> None:
    store = open_store(str(folder))
    sync(store, READER, str(file))
    store.close()
    execute(
        shard_of(folder, file),
        "DROP TABLE id_block",
        "ALTER TABLE shard DROP COLUMN unindexed",
        "ALTER TABLE shard DROP COLUMN unpacked",
        "CREATE UNIQUE INDEX entry_id ON entry(id)",
        "PRAGMA user_version = 1",
    )
    store = open_store(str(folder))
    with store.read(key_of(str(file))) as snapshot:
        assert snapshot.rows(["a", "b", "c"]) == (1, 2, None)
    file.write_text(TEXT + "c\tb\tgamma\n")
    assert sync(store, READER, str(file)).status == "updated"
    with store.read(key_of(str(file))) as snapshot:
        assert snapshot.rows(["a", "b", "c"]) == (1, 2, 3)
    store.close()
    connection = apsw.Connection(str(shard_of(folder, file)))
    assert connection.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'entry_id'").get == 0
    connection.close()


def test_a_session_of_the_second_version_goes_on(folder: Path, file: Path) -> None:
    store = open_store(str(folder))
    sync(store, READER, str(file))
    store.close()
    path = shard_of(folder, file)
    connection = apsw.Connection(str(path))
    keys = b"".join(key.to_bytes(8, "little") for key in _keys_of(connection))
    connection.execute("INSERT INTO id_block VALUES (0, ?)", (keys,))
    connection.execute(
        "ALTER TABLE shard DROP COLUMN unindexed; ALTER TABLE shard DROP COLUMN unpacked; PRAGMA user_version = 2"
    )
    connection.close()
    store = open_store(str(folder))
    file.write_text(TEXT + "c\tb\tgamma\nd\ta\tdelta\n")
    assert sync(store, READER, str(file)).status == "updated"
    with store.read(key_of(str(file))) as snapshot:
        assert snapshot.rows(["a", "b", "c", "d", "e"]) == (1, 2, 3, 4, None)
        assert [(run.first, run.last, run.parent) for run in snapshot.tree().runs] == [(1, 3, None), (4, 4, 1)]
    store.close()


def test_a_session_of_the_third_version_goes_on(folder: Path, file: Path) -> None:
    store = open_store(str(folder))
    sync(store, READER, str(file))
    store.close()
    execute(shard_of(folder, file), "ALTER TABLE shard DROP COLUMN unindexed", "PRAGMA user_version = 3")
    store = open_store(str(folder))
    with store.read(key_of(str(file))) as snapshot:
        assert [term.row for term in snapshot.find_terms(["beta"], [(1, 2)], 9)] == [2]
    file.write_text(TEXT + "c\tb\tgamma\n")
    assert sync(store, READER, str(file)).status == "updated"
    with store.read(key_of(str(file))) as snapshot:
        assert [term.row for term in snapshot.find_terms(["gamma"], [(1, 3)], 9)] == [3]
    store.close()


def _keys_of(connection: apsw.Connection) -> list[int]:
    rows: list[Any] = connection.execute("SELECT id, row FROM entry").fetchall()
    return sorted([zlib.crc32(id_) << 32 | row for id_, row in rows])


def test_a_migration_that_fails_leaves_the_old_state(stored: Path, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(database: apsw.Connection) -> None:
        _add_column(database)
        raise apsw.FullError("disk full")

    with monkeypatch.context() as patch:
        patch.setattr(migrations, "SHARD", (*migrations.SHARD, fail))
        store = open_store(str(stored))
        with pytest.raises(Exception, match="disk full"):
            store.by_file(str(file))
        store.close()
    store = open_store(str(stored))
    assert sync(store, READER, str(file)).status == "unchanged"
    store.close()


def test_an_older_schema_that_cannot_be_written_is_refused(
    stored: Path, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(migrations, "SHARD", (*migrations.SHARD, _add_column))
    monkeypatch.setattr("aforesaid.storage.sqlite.store._may_write", lambda _: False)
    store = open_store(str(stored))
    with pytest.raises(StoreReadOnly):
        store.by_file(str(file))
    store.close()


@pytest.mark.parametrize("which", ["shard", "catalogue"])
def test_a_store_from_the_future_is_refused(stored: Path, file: Path, which: str) -> None:
    path = shard_of(stored, file) if which == "shard" else stored / "catalogue.db"
    execute(path, f"PRAGMA user_version = {len(migrations.SHARD) + 1}")
    for writable in (True, False):
        store = open_store(str(stored)) if writable else _read_only(stored)
        if writable:
            with pytest.raises(StoreTooNew, match="update aforesaid"):
                sync(store, READER, str(file), rebuild=which == "shard")
        with pytest.raises(StoreTooNew, match="update aforesaid"):
            store.by_file(str(file)) if which == "shard" else store.sessions()
        store.close()


def _read_only(folder: Path) -> SqliteStore:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("aforesaid.storage.sqlite.store._may_write", lambda _: False)
        return open_store(str(folder))


@pytest.mark.parametrize("version", [0x0100_0002, 0x0001_0002, 0x0000_0702, 0x0000_00FF, 0x0000_0080, -1])
def test_one_wrong_byte_in_the_version_is_damage(stored: Path, file: Path, version: int) -> None:
    assert len(migrations.SHARD) == 4
    execute(shard_of(stored, file), f"PRAGMA user_version = {version}")
    store = open_store(str(stored))
    assert sync(store, READER, str(file)).error_code == "store-corrupt"
    store.close()


@pytest.mark.parametrize("version", [5, 99, 999, 9_999])
def test_a_number_that_a_newer_program_may_have_is_not_damage(stored: Path, file: Path, version: int) -> None:
    execute(shard_of(stored, file), f"PRAGMA user_version = {version}")
    store = open_store(str(stored))
    with pytest.raises(StoreTooNew):
        sync(store, READER, str(file))
    store.close()


def test_a_version_that_no_program_has_is_damage_and_not_the_future(stored: Path, file: Path) -> None:
    execute(shard_of(stored, file), "PRAGMA user_version = 1234567890")
    store = open_store(str(stored))
    assert sync(store, READER, str(file)).error_code == "store-corrupt"
    store.close()


def test_an_older_projection_is_read_again_and_serves_until_then(stored: Path, file: Path) -> None:
    execute(shard_of(stored, file), "UPDATE shard SET projection = 0")
    store = open_store(str(stored))
    with store.read(key_of(str(file))) as snapshot:
        assert snapshot.count_terms(["alpha"], ((1, 9),)) == 1
    text = file.read_text()
    file.unlink()
    assert store.by_file(str(file)) is not None
    file.write_text(text)
    report = sync(store, READER, str(file))
    assert (report.status, report.added, report.removed) == ("rebuilt", 2, 2)
    assert sync(store, READER, str(file)).status == "unchanged"
    store.close()


def test_upgrading_a_current_file_does_nothing() -> None:
    connection = apsw.Connection(":memory:")
    migrations.upgrade(connection, migrations.CATALOGUE, "x")
    connection.execute("INSERT INTO session VALUES ('k', x'', 1, x'', x'', NULL, 1, x'')")
    migrations.upgrade(connection, migrations.CATALOGUE, "x")
    assert connection.execute("SELECT count(*) FROM session").get == 1


def test_the_two_writers_of_one_session_agree_on_its_tables(folder: Path) -> None:
    first, second = open_store(str(folder)), open_store(str(folder))
    for number, store in enumerate((first, second, first)):
        with store.write("/f") as writer:
            writer.append(chain("alpha", prefix=f"p{number}"))
            writer.commit(described("/f"))
    assert first.by_file("/f") == second.by_file("/f")
    first.close()
    second.close()
