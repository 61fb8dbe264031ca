"""Texts that are packed later than they were stored."""

from __future__ import annotations

from typing import TYPE_CHECKING

import apsw
import pytest
from tests.fakes.reader import PlainTranscripts

from aforesaid.indexing import sync
from aforesaid.storage.sqlite import open_store, packing
from aforesaid.storage.sqlite.records import PACKED
from aforesaid.storage.sqlite.store import SqliteStore, key_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

READER = PlainTranscripts()
LONG = "der Port ist 8443, 端口是8443, порт 8443, the port is 8443; " * 6


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "session.txt"
    lines = [f"e{n}\t{f'e{n - 1}' if n > 1 else '-'}\t{n} {LONG}\n" for n in range(1, 101)]
    file.write_text("".join(lines), encoding="utf-8")
    return file


@pytest.fixture
def store(tmp_path: Path, file: Path) -> Iterator[SqliteStore]:
    store = open_store(str(tmp_path / "store"))
    sync(store, READER, str(file), redacting=False)
    yield store
    store.close()


def append(store: SqliteStore, file: Path, first: int, count: int) -> None:
    with file.open("a", encoding="utf-8") as target:
        for number in range(first, first + count):
            target.write(f"e{number}\te{number - 1}\t{number} {LONG}\n")
    assert sync(store, READER, str(file), redacting=False).added == count


def plain(tmp_path: Path, file: Path) -> tuple[list[int], int | None]:
    """The rows of long texts that are not packed, and what the file says of the first of them."""
    connection = apsw.Connection(str(tmp_path / "store" / "sessions" / f"{key_of(str(file))}.db"))
    rows = [row for (row,) in connection.execute(f"SELECT row FROM entry WHERE NOT flags & {PACKED} ORDER BY row")]
    unpacked = connection.execute("SELECT unpacked FROM shard").get
    connection.close()
    return rows, unpacked


def texts(store: SqliteStore, file: Path, count: int) -> bool:
    with store.read(key_of(str(file))) as snapshot:
        entries = snapshot.entries(range(1, count + 1))
    return [entry.text for entry in entries] == [f"{number} {LONG}".rstrip("\n") for number in range(1, count + 1)]


def test_a_session_that_is_new_or_grew_much_is_packed_at_once(store: SqliteStore, tmp_path: Path, file: Path) -> None:
    append(store, file, 101, packing.AT_ONCE + 1)
    assert plain(tmp_path, file) == ([], None)
    assert texts(store, file, 101 + packing.AT_ONCE)


def test_a_few_texts_stay_as_they_are_until_a_moment_in_which_nobody_waits(
    store: SqliteStore, tmp_path: Path, file: Path
) -> None:
    append(store, file, 101, 3)
    append(store, file, 104, 2)
    assert plain(tmp_path, file) == ([101, 102, 103, 104, 105], 101)
    assert texts(store, file, 105)
    generation = store.by_file(str(file)).generation  # type: ignore[union-attr]
    store.tend(str(file))
    assert plain(tmp_path, file) == ([], None)
    assert texts(store, file, 105)
    assert store.by_file(str(file)).generation == generation  # type: ignore[union-attr]
    store.tend(str(file))
    append(store, file, 106, 1)
    assert plain(tmp_path, file) == ([106], 106)


def test_another_process_packs_what_one_has_left(store: SqliteStore, tmp_path: Path, file: Path) -> None:
    append(store, file, 101, 3)
    other = open_store(str(tmp_path / "store"))
    assert other.by_file(str(file)) is not None
    other.tend(str(file))
    other.close()
    assert plain(tmp_path, file) == ([], None)
    append(store, file, 104, 1)
    assert plain(tmp_path, file) == ([104], 104)
    assert texts(store, file, 104)


def test_where_nobody_ever_tends_many_are_packed_by_an_append(
    store: SqliteStore, tmp_path: Path, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packing, "WAITING", 8)
    append(store, file, 101, 4)
    append(store, file, 105, 4)
    assert len(plain(tmp_path, file)[0]) == 8
    append(store, file, 109, 4)
    assert plain(tmp_path, file) == ([], None)
    assert texts(store, file, 112)


def test_a_rewritten_session_has_nothing_waiting(store: SqliteStore, tmp_path: Path, file: Path) -> None:
    append(store, file, 101, 3)
    sync(store, READER, str(file), rebuild=True, redacting=False)
    assert plain(tmp_path, file) == ([], None)
    assert texts(store, file, 103)
