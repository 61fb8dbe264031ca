"""The file of vectors: damage, other processes, read-only stores, and what is left of what was forgotten."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from array import array
from contextlib import closing
from time import perf_counter
from typing import TYPE_CHECKING, Any

import apsw
import pytest
from tests.conftest import ROOT
from tests.contract.test_vector_port import COVERED, KEY, ONE, fill, listed, passage, vector
from tests.rights import bound_by_modes

from aforesaid.embedding import Profile
from aforesaid.errors import StoreCorrupt, StoreError, StoreTooNew
from aforesaid.passages import CHUNKING
from aforesaid.storage.sqlite import open_store, vectors
from aforesaid.storage.sqlite.connection import open_writable
from aforesaid.storage.sqlite.removal import store_files

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from aforesaid.embedding import Passage
    from aforesaid.storage.sqlite.store import SqliteStore

CUTTING = "aforesaid.storage.sqlite.vectors.CHUNKING"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    opened = open_store(str(tmp_path / "store"), busy_timeout_ms=50)
    yield opened
    opened.close()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "store" / "vectors" / f"{KEY}.db"


def damage(file: Path, store: SqliteStore) -> None:
    store.close()
    data = bytearray(file.read_bytes())
    data[: len(data) // 2] = b"\xff" * (len(data) // 2)
    file.write_bytes(data)


def test_only_its_user_reads_the_file(store: SqliteStore, file: Path) -> None:
    fill(store.vectors(KEY), passage(1))
    if os.name == "posix":
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_nothing_is_made_where_nothing_is_kept(store: SqliteStore, file: Path) -> None:
    store.vectors(KEY).load(ONE)
    store.vectors(KEY).discard()
    store.status()
    assert not file.parent.exists()


def test_whoever_reads_a_damaged_file_is_told_and_whoever_writes_begins_it_anew(tmp_path: Path, file: Path) -> None:
    folder = str(tmp_path / "store")
    first = open_store(folder)
    fill(first.vectors(KEY), *[passage(row) for row in range(1, 200)])
    damage(file, first)
    second = open_store(folder)
    with pytest.raises(StoreError):
        second.vectors(KEY).load(ONE)
    fill(second.vectors(KEY), passage(7))
    assert listed(second.vectors(KEY).load(ONE)) == [passage(7)]
    second.close()


def test_columns_that_do_not_fit_each_other_are_damage(store: SqliteStore, file: Path) -> None:
    fill(store.vectors(KEY), passage(1), passage(2))
    store.close()
    database = open_writable(str(file), 50)
    database.connection.execute("UPDATE block SET starts = x'00'")
    database.close()
    again = open_store(str(file.parent.parent))
    with pytest.raises(StoreCorrupt):
        again.vectors(KEY).load(ONE)
    again.close()


@pytest.mark.parametrize(
    "change",
    [
        lambda numbers: [float("nan")] * len(numbers),
        lambda numbers: [*numbers[:-1], float("-inf")],
        lambda numbers: [1e38] * len(numbers),
        lambda numbers: [number * 100 for number in numbers],
        lambda numbers: [*numbers[:-1], -2.0],
        None,
    ],
)
def test_numbers_of_no_vector_of_length_one_are_damage(store: SqliteStore, file: Path, change: Any) -> None:
    fill(store.vectors(KEY), passage(1), passage(2))
    store.close()
    database = open_writable(str(file), 50)
    held = database.connection.execute("SELECT vectors FROM block").get
    changed = "x" * len(held) if change is None else array("f", change(array("f", held))).tobytes()
    database.connection.execute("UPDATE block SET vectors = ?", (changed,))
    database.close()
    again = open_store(str(file.parent.parent))
    with pytest.raises(StoreCorrupt):
        again.vectors(KEY).load(ONE)
    fill(again.vectors(KEY), passage(7))
    assert listed(again.vectors(KEY).load(ONE)) == [passage(7)]
    again.close()


def test_a_file_of_a_newer_version_is_left_alone(store: SqliteStore, file: Path) -> None:
    fill(store.vectors(KEY), passage(1))
    store.close()
    database = open_writable(str(file), 50)
    database.connection.pragma("user_version", 9)
    database.close()
    again = open_store(str(file.parent.parent))
    with pytest.raises(StoreTooNew):
        again.vectors(KEY).load(ONE)
    again.close()


def test_a_store_that_cannot_be_written_is_read(store: SqliteStore, file: Path) -> None:
    fill(store.vectors(KEY), passage(1))
    store.close()
    folder = file.parent.parent
    folder.chmod(0o500)

    def read() -> tuple[bool, list[Passage]]:
        with closing(open_store(str(folder))) as again:
            return again.writable, listed(again.vectors(KEY).load(ONE))

    try:
        assert bound_by_modes(read) == (False, [passage(1)])
    finally:
        folder.chmod(0o700)


def test_a_reader_takes_no_part_in_writing(tmp_path: Path, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = str(tmp_path / "store")
    writer = open_store(folder)
    fill(writer.vectors(KEY), passage(1))
    reader = open_store(folder)
    reader.writable = False
    found = reader.vectors(KEY)
    assert listed(found.load(ONE)) == [passage(1)]
    found.add(ONE, [passage(2)], [vector(passage(2))], COVERED)
    assert listed(found.load(ONE)) == [passage(1)]
    reader.close()
    writer.close()


def test_another_process_sees_what_was_added_and_what_is_gone(store: SqliteStore, tmp_path: Path) -> None:
    mine, other = store.vectors(KEY), open_store(str(tmp_path / "store"))
    fill(mine, passage(1))
    assert listed(other.vectors(KEY).load(ONE)) == [passage(1)]
    version = other.vectors(KEY).version(ONE)
    mine.discard()
    fill(mine, passage(1))
    assert other.vectors(KEY).version(ONE) not in (b"", version)
    other.close()


def test_nothing_of_a_forgotten_vector_is_left_on_the_disk(store: SqliteStore, file: Path) -> None:
    passages = [passage(row) for row in range(1, 300)]
    fill(store.vectors(KEY), *passages)
    secret = vector(passages[149])
    everything = b"".join(path.read_bytes() for path in file.parent.iterdir())
    assert secret in everything
    assert passages[149].hash in everything
    store.vectors(KEY).forget([150])
    everything = b"".join(path.read_bytes() for path in file.parent.iterdir())
    assert secret not in everything
    assert passages[149].hash not in everything
    assert len(store.vectors(KEY).load(ONE).rows) == 298
    store.vectors(KEY).discard()
    assert not any(path.name.endswith(".db") for path in file.parent.iterdir())


def test_the_store_counts_vectors_and_their_bytes(store: SqliteStore) -> None:
    before = store.status().bytes
    fill(store.vectors(KEY), passage(1), passage(2))
    fill(store.vectors("1" * 32), passage(1))
    fill(store.vectors("1" * 32), passage(1), profile=Profile(provider="p", model="m", dimensions=2))
    found = store.status()
    assert [(one.model, one.dimensions, one.sessions, one.vectors) for one in found.vectors] == [
        ("m", 2, 1, 1),
        ("m", 3, 2, 3),
    ]
    assert found.bytes > before


def test_a_damaged_file_counts_nothing(store: SqliteStore, file: Path, tmp_path: Path) -> None:
    fill(store.vectors(KEY), *[passage(row) for row in range(1, 200)])
    damage(file, store)
    again = open_store(str(tmp_path / "store"))
    assert again.status().vectors == ()
    again.close()


def test_a_whole_store_is_its_vectors_too(store: SqliteStore, file: Path) -> None:
    fill(store.vectors(KEY), passage(1))
    listed_files = store_files(str(file.parent.parent))
    assert str(file) in listed_files
    assert str(file.parent) in listed_files


def test_few_files_stay_open(store: SqliteStore) -> None:
    for number in range(40):
        fill(store.vectors(f"{number:032x}"), passage(number))
    assert len(store._vectors) <= 16
    assert listed(store.vectors(f"{3:032x}").load(ONE)) == [passage(3)]


def test_vectors_load_far_faster_than_text() -> None:
    # The target is 20; a tenth of it is enough to notice that somebody parses numbers again.
    from json import dumps, loads

    profile = Profile(provider="p", model="m", dimensions=256)
    memory = vectors.MemoryVectors()
    row = array("f", [number / 1000 for number in range(256)]).tobytes()
    passages = [passage(number) for number in range(1, 3001)]
    memory.add(profile, passages, [row] * 3000, COVERED)
    text = dumps([list(array("f", row))] * 3000)
    blobs = texts = float("inf")
    for _ in range(3):
        started = perf_counter()
        memory.load(profile)
        blobs = min(blobs, perf_counter() - started)
        started = perf_counter()
        loads(text)
        texts = min(texts, perf_counter() - started)
    assert texts / blobs > 2


def test_a_writer_that_dies_leaves_what_was_before(tmp_path: Path, store: SqliteStore) -> None:
    fill(store.vectors(KEY), passage(1))
    code = (
        "import os, sys\n"
        "from aforesaid.storage.sqlite import open_store, vectors\n"
        "from tests.contract.test_vector_port import KEY, fill, passage\n"
        "vectors._cover = lambda *_: os._exit(9)\n"
        f"fill(open_store({str(tmp_path / 'store')!r}).vectors(KEY), passage(2))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False, env={**os.environ, "PYTHONPATH": _paths()})
    assert done.returncode == 9
    assert listed(store.vectors(KEY).load(ONE)) == [passage(1)]


def _paths() -> str:
    return os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])


def test_an_older_file_is_migrated_and_keeps_its_vectors(
    store: SqliteStore, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(store.vectors(KEY), *[passage(row) for row in range(1, 150)])
    before = store.vectors(KEY).load(ONE)
    store.close()

    def add_column(database: apsw.Connection) -> None:
        database.execute("ALTER TABLE profile ADD COLUMN note TEXT NOT NULL DEFAULT 'none'")

    monkeypatch.setattr(vectors, "STEPS", (*vectors.STEPS, add_column))
    with closing(open_store(str(tmp_path / "store"), busy_timeout_ms=50)) as newer:
        assert newer.vectors(KEY).load(ONE) == before
        fill(newer.vectors(KEY), passage(150))
        assert len(newer.vectors(KEY).load(ONE).rows) == 150
    with closing(apsw.Connection(str(file))) as connection:
        assert connection.pragma("user_version") == len(vectors.STEPS)
        assert connection.execute("SELECT DISTINCT note FROM profile").get == "none"


def test_a_migration_that_fails_leaves_the_vectors_as_they_were(
    store: SqliteStore, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(store.vectors(KEY), passage(1))
    before = store.vectors(KEY).load(ONE)
    store.close()
    steps = vectors.STEPS

    def fail(database: apsw.Connection) -> None:
        database.execute("DELETE FROM block")
        raise apsw.FullError("the disk is full")

    monkeypatch.setattr(vectors, "STEPS", (*steps, fail))
    with closing(open_store(str(tmp_path / "store"), busy_timeout_ms=50)) as newer, pytest.raises(StoreError):
        newer.vectors(KEY).load(ONE)
    monkeypatch.setattr(vectors, "STEPS", steps)
    with closing(open_store(str(tmp_path / "store"), busy_timeout_ms=50)) as again:
        assert again.vectors(KEY).load(ONE) == before


def test_vectors_of_passages_that_were_cut_otherwise_stand_apart(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(store.vectors(KEY), passage(1))
    monkeypatch.setattr(CUTTING, "another-cutting-v2")
    assert len(store.vectors(KEY).load(ONE).rows) == 0
    assert store.vectors(KEY).covered(ONE) is None
    fill(store.vectors(KEY), passage(2), passage(3))
    monkeypatch.setattr(CUTTING, CHUNKING)
    assert list(store.vectors(KEY).load(ONE).rows) == [1]
