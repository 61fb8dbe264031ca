"""The SQLite store as files: damage is named and repaired."""

from __future__ import annotations

import random
from contextlib import contextmanager
from typing import TYPE_CHECKING

import apsw
import pytest

from aforesaid.errors import (
    ExactSearchFailed,
    StoreCorrupt,
    TextSearchFailed,
)
from aforesaid.indexing import sync
from aforesaid.storage.sqlite import SqliteStore, open_store
from aforesaid.storage.sqlite.connection import PAGE
from aforesaid.storage.sqlite.store import key_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

from tests.unit.storage.filled import EVERYTHING, READER, folder, names, put, store, transcript

__all__ = ["folder", "store"]


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


def emptied(folder: Path) -> Path:
    """A store of one session of which nothing is left but an empty file."""
    store = open_store(str(folder))
    saved = put(store)
    store.close()
    file = folder / "sessions" / f"{saved.key}.db"
    for left in (*file.parent.glob(f"{saved.key}.db-*"), *folder.glob("catalogue.db*")):
        left.unlink()
    file.write_bytes(b"")
    return file


@pytest.mark.parametrize("writable", [True, False])
def test_an_emptied_file_is_damage_though_nothing_else_knows_of_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch, writable: bool
) -> None:
    file = emptied(folder)
    if not writable:
        monkeypatch.setattr("aforesaid.storage.sqlite.store._may_write", lambda _: False)
    store = open_store(str(folder))
    assert store.writable is writable
    for _ in range(2):
        assert store.sessions() == ()
        assert [(one.key, one.session) for one in store.unreadable()] == [(file.stem, None)]
        with pytest.raises(StoreCorrupt, match="is empty"):
            store.by_file("/f")
        with pytest.raises(StoreCorrupt, match="is empty"), store.read(file.stem):
            pass
    assert not list(file.parent.glob("*.damaged")), "whoever writes it next needs to unlink nothing"
    if writable:
        put(store)
        assert (len(store.sessions()), store.unreadable()) == (1, ())
    store.close()


def test_a_file_that_somebody_has_just_made_is_not_an_emptied_one(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = emptied(folder)
    store = open_store(str(folder))

    @contextmanager
    def wait(path: str, **named: object) -> Iterator[None]:
        if named["exclusive"]:  # which is had once the maker is done
            apsw.Connection(str(file)).pragma("journal_mode", "wal")
        yield

    monkeypatch.setattr("aforesaid.storage.sqlite.files.folder_lock", wait)
    assert store.by_file("/f") is None
    assert store.unreadable() == ()
    store.close()
