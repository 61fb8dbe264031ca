"""The file that counts refs: what the contract of stores does not reach."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aforesaid.storage.sqlite import open_store
from aforesaid.storage.sqlite.connection import open_writable
from aforesaid.storage.sqlite.issued import Issued
from aforesaid.storage.sqlite.removal import store_files

if TYPE_CHECKING:
    from pathlib import Path


def make(folder: Path, *, writable: bool = True) -> Issued:
    return Issued(str(folder / "refs.db"), str(folder / "lock"), writable=writable, timeout_ms=50)


def test_processes_count_together(tmp_path: Path) -> None:
    one, other = make(tmp_path), make(tmp_path)
    assert [one.count("a", 2), other.count("a", 3), one.count("a"), one.count("b", 1)] == [0, 2, 5, 0]
    one.close()
    other.close()
    assert make(tmp_path).count("a", 1) == 5


def test_asking_makes_no_file(tmp_path: Path) -> None:
    assert make(tmp_path).count("a") == 0
    assert not (tmp_path / "refs.db").exists()


def test_a_store_that_cannot_be_written_counts_none(tmp_path: Path) -> None:
    assert make(tmp_path, writable=False).count("a", 2) == 0
    make(tmp_path).count("a", 2)
    frozen = make(tmp_path, writable=False)
    assert (frozen.count("a", 7), frozen.count("a")) == (2, 2)


def test_who_has_to_wait_too_long_counts_none(tmp_path: Path) -> None:
    one = make(tmp_path)
    one.count("a", 2)
    holder = open_writable(str(tmp_path / "refs.db"), 50)
    holder.connection.execute("BEGIN IMMEDIATE")
    assert one.count("a", 3) == 2
    holder.connection.execute("ROLLBACK")
    holder.close()
    assert one.count("a", 3) == 2


def test_a_damaged_file_begins_anew(tmp_path: Path) -> None:
    make(tmp_path).count("a", 2)
    (tmp_path / "refs.db").write_bytes(b"no database" * 1000)
    assert make(tmp_path).count("a", 2) == 0


def test_it_goes_with_the_store(tmp_path: Path) -> None:
    store = open_store(str(tmp_path / "store"))
    store.count_refs("a", 1)
    assert str(tmp_path / "store" / "refs.db") in store_files(str(tmp_path / "store"))
    store.close()
