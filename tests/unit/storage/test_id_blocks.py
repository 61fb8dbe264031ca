"""Blocks of ids answer as a dictionary would, whatever was added in whatever portions."""

from __future__ import annotations

import sys
import zlib

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.words import any_text

from aforesaid.storage.sqlite import id_blocks
from aforesaid.storage.sqlite.records import to_id


def database() -> apsw.Connection:
    connection = apsw.Connection(":memory:")
    connection.execute(
        "CREATE TABLE entry(row INTEGER PRIMARY KEY, id BLOB);"
        " CREATE TABLE id_block(place INTEGER PRIMARY KEY, keys BLOB NOT NULL)"
    )
    return connection


def fill(connection: apsw.Connection, blocks: id_blocks.Blocks, ids: list[str], first: int) -> id_blocks.Blocks:
    rows = {id_: row for row, id_ in enumerate(ids, first)}
    connection.executemany("INSERT INTO entry VALUES (?, ?)", ((row, to_id(id_)) for id_, row in rows.items()))
    return id_blocks.add(connection, blocks, rows)


@settings(deadline=None)
@given(st.lists(any_text, unique=True, max_size=30), st.lists(st.integers(0, 30), max_size=4), any_text)
def test_every_id_leads_to_its_row_and_no_other_does(ids: list[str], cuts: list[int], other: str) -> None:
    connection = database()
    blocks: id_blocks.Blocks = ()
    for start, end in zip([0, *sorted(cuts)], [*sorted(cuts), 30], strict=True):
        blocks = fill(connection, blocks, ids[start:end], start + 1)
    for known in (blocks, id_blocks.load(connection)):
        assert [id_blocks.find(connection, known, id_) for id_ in ids] == list(range(1, len(ids) + 1))
        assert id_blocks.find(connection, known, other) == (ids.index(other) + 1 if other in ids else None)


def test_blocks_stay_few_and_an_append_writes_the_last_one_only() -> None:
    connection = database()
    blocks: id_blocks.Blocks = ()
    blocks = fill(connection, blocks, [f"a{n}" for n in range(8000)], 1)
    for number in range(100):
        before = connection.execute("SELECT place, keys FROM id_block").fetchall()
        blocks = fill(connection, blocks, [f"b{number}-{n}" for n in range(10)], 8001 + 10 * number)
        assert before[0] == connection.execute("SELECT place, keys FROM id_block").fetchone()
    lengths = [len(block) for block in blocks]
    assert sum(lengths) == 9000
    assert lengths[0] == 8000
    assert len(lengths) <= 4
    assert list(id_blocks.load(connection)) == list(blocks)
    assert id_blocks.find(connection, blocks, "b99-9") == 9000


def test_ids_with_one_hash_are_told_apart_by_the_entries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zlib, "crc32", lambda data: 7)
    connection = database()
    blocks = fill(connection, (), ["a", "b", "c"], 1)
    blocks = fill(connection, blocks, [f"d{n}" for n in range(300)], 4)
    assert [id_blocks.find(connection, blocks, id_) for id_ in ("a", "c", "d299", "e")] == [1, 3, 303, None]


def test_blocks_are_the_same_bytes_on_every_system(monkeypatch: pytest.MonkeyPatch) -> None:
    connection = database()
    blocks = fill(connection, (), [f"a{n}" for n in range(200)], 1)
    here = connection.execute("SELECT keys FROM id_block").get
    keys = [int.from_bytes(here[at : at + 8], "little") for at in range(0, len(here), 8)]
    assert keys == sorted(keys)
    assert {key & 0xFFFFFFFF for key in keys} == set(range(1, 201))
    other = "big" if sys.byteorder == "little" else "little"
    monkeypatch.setattr(sys, "byteorder", other)
    swapped = id_blocks._pack(blocks[0])
    assert swapped != here
    assert id_blocks._unpack(swapped) == blocks[0]


def test_a_block_of_another_length_is_no_block() -> None:
    connection = database()
    connection.execute("INSERT INTO id_block VALUES (0, x'0102')")
    with pytest.raises(ValueError, match="multiple"):
        id_blocks.load(connection)


def test_blocks_are_made_of_entries_that_stand_there() -> None:
    connection = database()
    connection.executemany("INSERT INTO entry VALUES (?, ?)", [(row, to_id(f"e{row}")) for row in range(1, 600)])
    id_blocks.build(connection)
    blocks = id_blocks.load(connection)
    assert [id_blocks.find(connection, blocks, f"e{row}") for row in (1, 300, 599, 600)] == [1, 300, 599, None]


def test_a_few_ids_are_not_written_and_found_all_the_same() -> None:
    connection = database()
    blocks: id_blocks.Blocks = ()
    ids: list[str] = []
    written = 0
    for start in range(0, 2000, 10):
        more = [f"e{n}" for n in range(start, start + 10)]
        ids += more
        changes = connection.total_changes()
        blocks = fill(connection, blocks, more, start + 1)
        written += connection.total_changes() - changes > len(more)
        read = id_blocks.load(connection)
        assert sum(map(len, read)) == sum(map(len, blocks)) == len(ids)
        assert [id_blocks.find(connection, read, id_) for id_ in (ids[0], ids[-1], "none")] == [1, len(ids), None]
    assert 5 < written < 30


def test_a_short_block_of_an_older_file_is_no_obstacle() -> None:
    connection = database()
    blocks = fill(connection, (), [f"a{n}" for n in range(200)], 1)
    connection.executemany("INSERT INTO entry VALUES (?, ?)", [(200 + n, to_id(f"b{n}")) for n in range(1, 21)])
    short = id_blocks.load(connection)[1]
    connection.execute("INSERT INTO id_block VALUES (1, ?)", (id_blocks._pack(short),))
    blocks = id_blocks.load(connection)
    for start in (221, 231, 241, 351):
        blocks = fill(connection, blocks, [f"c{n}" for n in range(start, start + (110 if start == 241 else 10))], start)
        for known in (blocks, id_blocks.load(connection)):
            found = [id_blocks.find(connection, known, id_) for id_ in ("a7", "b20", "c221", f"c{start}", "c999")]
            assert found == [8, 220, 221, start, None]
