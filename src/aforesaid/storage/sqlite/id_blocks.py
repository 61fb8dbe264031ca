"""The row of each entry id of a session, in sorted blocks that an append seldom touches.

Ids are as good as random, so an index over them costs every appended entry a page of its own. Here an id is 8 bytes, a
hash and its row, and all ids of a session stand in a few sorted arrays, each more than twice as long as the next one.
The last, short array is in no table: it is made of the latest rows, so that most appends write none. `writer` looks up
and adds, `snapshot` looks up; the table `entry` has the last word on what a hash only suggests. Measured in
`docs/decisions/0020-indexing-speed.md`.
"""

from __future__ import annotations

import sys
import zlib
from array import array
from bisect import bisect_left
from typing import TYPE_CHECKING

from aforesaid.storage.sqlite.records import to_id

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import apsw

    Blocks = tuple[array[int], ...]

YOUNG = 128
"""Ids of the block that is not written: it is merged with whatever comes next, and made anew from so many rows."""

_ROW_BITS = 32
_ROW = (1 << _ROW_BITS) - 1
_ITEM = "Q"  # eight bytes on every system

_LOAD = "SELECT keys FROM id_block ORDER BY place"
_SAVE = "INSERT OR REPLACE INTO id_block(place, keys) VALUES (?, ?)"
_DROP = "DELETE FROM id_block WHERE place >= ?"
_ID = "SELECT id FROM entry WHERE row = ?"
_SINCE = "SELECT id, row FROM entry WHERE row > ?"


def load(database: apsw.Connection) -> Blocks:
    """The blocks of a session, longest first.

    Raises:
        ValueError: nobody wrote such a block.
    """
    blocks = tuple([_unpack(keys) for (keys,) in database.execute(_LOAD)])
    # Rows are numbered without gaps, and the blocks hold the first of them.
    latest = sorted([_key(id_, row) for id_, row in database.execute(_SINCE, (sum(map(len, blocks)),))])
    return (*blocks, array(_ITEM, latest)) if latest else blocks


def find(database: apsw.Connection, blocks: Blocks, id_: str) -> int | None:
    """The row of an entry id, or None if the session has none."""
    wanted = to_id(id_)
    low = zlib.crc32(wanted) << _ROW_BITS
    for block in blocks:
        place = bisect_left(block, low)
        while place < len(block) and block[place] <= low | _ROW:
            row = block[place] & _ROW
            if database.execute(_ID, (row,)).get == wanted:
                return row
            place += 1
    return None


def add(database: apsw.Connection, blocks: Blocks, rows: Mapping[str, int]) -> Blocks:
    """Adds the rows of new ids within the caller's transaction. Returns the blocks as they are then."""
    return _add(database, blocks, ((to_id(id_), row) for id_, row in rows.items()))


def build(database: apsw.Connection) -> None:
    """Makes the blocks of a session whose entries stand there already."""
    _add(database, (), database.execute(_SINCE, (0,)))


def _add(database: apsw.Connection, blocks: Blocks, rows: Iterable[tuple[bytes, int]]) -> Blocks:
    keys = [_key(id_, row) for id_, row in rows]
    if not keys:
        return blocks
    kept = len(blocks)
    while kept and (len(blocks[kept - 1]) <= YOUNG or len(blocks[kept - 1]) <= 2 * len(keys)):
        kept -= 1
        keys += blocks[kept]
    keys.sort()
    block = array(_ITEM, keys)
    if len(block) > YOUNG:
        if len(blocks) > kept + 1:
            database.execute(_DROP, (kept + 1,))
        database.execute(_SAVE, (kept, _pack(block)))
    return (*blocks[:kept], block)


def _key(id_: bytes, row: int) -> int:
    return zlib.crc32(id_) << _ROW_BITS | row


def _pack(block: array[int]) -> bytes:
    if sys.byteorder == "big":
        block = block[:]
        block.byteswap()
    return block.tobytes()


def _unpack(keys: bytes) -> array[int]:
    block = array(_ITEM)
    block.frombytes(keys)
    if sys.byteorder == "big":
        block.byteswap()
    return block
