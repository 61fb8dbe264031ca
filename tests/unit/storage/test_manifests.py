"""The file of manifests: its bounds, damage, other processes, and stores that cannot be written."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

import pytest

from aforesaid.errors import StoreBusy, StoreTooNew
from aforesaid.storage.sqlite import manifests, open_store
from aforesaid.storage.sqlite.connection import open_writable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from aforesaid.storage.sqlite.store import SqliteStore


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    opened = open_store(str(tmp_path), busy_timeout_ms=50)
    yield opened
    opened.close()


def keep(store: SqliteStore, record: str, at: float = 1.0, most: int = 100) -> bool:
    return store.manifests.keep("s", record, at=at, most=most)


def kept(store: SqliteStore) -> list[str]:
    return [record for _, record in store.manifests.latest(None, 100)]


def test_all_records_together_are_bounded_in_bytes(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(manifests, "MOST_BYTES", 100)
    for number in range(10):
        keep(store, f"{number}" * 30)
    assert kept(store) == ["9" * 30, "8" * 30, "7" * 30]
    keep(store, "x" * 200)
    assert kept(store) == []
    keep(store, "y" * 100)
    assert kept(store) == ["y" * 100]


def test_only_its_user_reads_the_file(store: SqliteStore, tmp_path: Path) -> None:
    keep(store, "one")
    if os.name == "posix":
        assert stat.S_IMODE((tmp_path / "manifests.db").stat().st_mode) == 0o600


def test_nothing_is_made_where_nothing_is_kept(store: SqliteStore, tmp_path: Path) -> None:
    store.remove("s")
    assert not (tmp_path / "manifests.db").exists()


def test_a_damaged_file_is_begun_anew(store: SqliteStore, tmp_path: Path) -> None:
    keep(store, "one")
    store.close()
    (tmp_path / "manifests.db").write_bytes(b"this is no database, whatever its name says" * 400)
    again = open_store(str(tmp_path))
    assert kept(again) == []
    assert keep(again, "two")
    assert kept(again) == ["two"]
    again.close()


def test_a_file_of_a_newer_version_is_left_alone(store: SqliteStore, tmp_path: Path) -> None:
    database = open_writable(str(tmp_path / "manifests.db"), 50)
    database.connection.pragma("user_version", 7)
    database.close()
    with pytest.raises(StoreTooNew):
        keep(store, "one")


def test_another_process_in_the_way_is_said(store: SqliteStore, tmp_path: Path) -> None:
    keep(store, "one")
    other = open_writable(str(tmp_path / "manifests.db"), 50)
    other.connection.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreBusy):
        keep(store, "two")
    other.connection.execute("ROLLBACK")
    other.close()
    assert keep(store, "three")
    assert kept(store) == ["three", "one"]


def test_a_file_that_was_replaced_is_opened_again(store: SqliteStore, tmp_path: Path) -> None:
    keep(store, "one")
    for file in tmp_path.glob("manifests.db*"):
        file.unlink()
    assert keep(store, "two")
    assert kept(store) == ["two"]


def test_a_store_that_cannot_be_written_keeps_nothing_and_says_what_it_has(
    store: SqliteStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(store, "one")
    store.close()
    monkeypatch.setattr("aforesaid.storage.sqlite.store._may_write", lambda _: False)
    reading = open_store(str(tmp_path))
    assert keep(reading, "two") is False
    assert kept(reading) == ["one"]
    reading.close()
    (tmp_path / "manifests.db").write_bytes(b"no database" * 1000)
    reading = open_store(str(tmp_path))
    assert kept(reading) == []
    reading.close()
    (tmp_path / "manifests.db").unlink()
    reading = open_store(str(tmp_path))
    assert kept(reading) == []
    reading.close()
