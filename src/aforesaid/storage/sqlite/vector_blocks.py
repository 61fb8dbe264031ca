"""The blocks in which the vectors of a session stand: columns of rows, places, hashes and float32 numbers.

`vectors` opens the files and makes `Blocks` of a connection within a transaction; everything here is about the blocks
of one profile. A block holds some dozens of vectors, so that 50,000 of them are read with some hundred rows. Nothing
here knows files, versions, or what has been looked at.
"""

from __future__ import annotations

from array import array
from sys import byteorder
from typing import TYPE_CHECKING, Final

import apsw

from aforesaid.embedding import HASH_BYTES, Held

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    from aforesaid.embedding import Passage
    from aforesaid.model import Span

BLOCK: Final = 64
"""Vectors of a block at most."""

_LATEST = (
    "SELECT number, last, count, rows, starts, ends, hashes, vectors FROM block WHERE profile = ?"
    " ORDER BY first DESC LIMIT 1"
)
_ALL = "SELECT rows, starts, ends, hashes, {vectors} FROM block WHERE profile = ? ORDER BY first, number"
_INSERT = (
    "INSERT INTO block(profile, first, last, count, rows, starts, ends, hashes, vectors)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_DROP = "DELETE FROM block WHERE number = ?"
_EMPTY = "DELETE FROM block WHERE profile = ?"
_BEFORE = "DELETE FROM block WHERE profile = ? AND last < ?"
_TOUCHED = (
    "SELECT number, rows, starts, ends, hashes, vectors FROM block WHERE profile = ? AND first <= ? AND last >= ?"
)

_BELOW_TWO: Final = bytes(byte for byte in range(256) if byte & 0x7F < 0x40)
"""The last bytes of little-endian float32 numbers between -2 and 2: a vector of length 1 has no others.

IEEE 754: sign, eight bits of exponent, 23 of fraction; from 2.0 on the first bit of the exponent is set, as in
infinities and in what is no number."""

Columns = tuple[bytes, ...]
"""Rows, starts, ends, hashes and vectors of some passages."""


class Blocks:
    """The blocks of one profile in a database."""

    def __init__(self, connection: apsw.Connection, number: int, dimensions: int) -> None:
        """Takes a connection within a transaction, the profile's number and the length of its vectors."""
        self._connection = connection
        self._number = number
        self._dimensions = dimensions
        self._widths = (4, 4, 4, HASH_BYTES, dimensions * 4)

    def load(self, *, vectors: bool = True) -> Held:
        """Everything that they hold, by row.

        Raises:
            apsw.CorruptError: the columns of a block do not fit each other, or hold no vectors of length 1.
        """
        statement = _ALL.format(vectors="vectors" if vectors else "x''")
        blocks: list[Any] = self._connection.execute(statement, (self._number,)).fetchall()
        return join(blocks, self._dimensions if vectors else 0)

    def add(self, passages: Sequence[Passage], vectors: Sequence[bytes]) -> None:
        """Adds vectors; what grows by an entry at a time fills blocks all the same."""
        if not passages:
            return
        added = _columns(passages, vectors)
        latest = self._connection.execute(_LATEST, (self._number,)).fetchone()
        if latest is not None and latest[1] <= passages[0].row and latest[2] + len(passages) <= BLOCK:
            self._connection.execute(_DROP, (latest[0],))
            added = tuple(before + after for before, after in zip(latest[3:], added, strict=True))
        self._insert(added)

    def keep(self, passages: Sequence[Passage]) -> int:
        """Leaves only the vectors of these passages, told by their hashes. Returns how many went."""
        held, size = self.load(), self._dimensions * 4
        known = {
            held.hashes[place * HASH_BYTES : (place + 1) * HASH_BYTES]: held.vectors[place * size : (place + 1) * size]
            for place in range(len(held.rows))
        }
        kept = [passage for passage in passages if passage.hash in known]
        self._connection.execute(_EMPTY, (self._number,))
        self._insert(_columns(kept, [known[passage.hash] for passage in kept]))
        return len(held.rows) - len(kept)

    def trim(self, low: int) -> None:
        """Takes away the rows before `low`."""
        self._connection.execute(_BEFORE, (self._number, low))
        self.remove(lambda row: row < low, (0, low))

    def remove(self, goes: Callable[[int], bool], within: Span) -> None:
        """Takes rows out of the blocks that reach into a range of rows."""
        touched: list[Any] = self._connection.execute(_TOUCHED, (self._number, within[1], within[0])).fetchall()
        for block, *columns in touched:
            rows = _unpack(columns[0])
            places = [place for place, row in enumerate(rows) if not goes(row)]
            if len(places) == len(rows):
                continue
            self._connection.execute(_DROP, (block,))
            self._insert(
                tuple(
                    b"".join([column[place * width : (place + 1) * width] for place in places])
                    for column, width in zip(columns, self._widths, strict=True)
                )
            )

    def _insert(self, columns: Columns) -> None:
        """Writes passages as blocks."""
        rows = _unpack(columns[0])
        for first in range(0, len(rows), BLOCK):
            last = min(first + BLOCK, len(rows))
            parts = [column[first * width : last * width] for column, width in zip(columns, self._widths, strict=True)]
            self._connection.execute(_INSERT, (self._number, rows[first], rows[last - 1], last - first, *parts))


def join(blocks: Sequence[Any], dimensions: int) -> Held:
    """The columns of some blocks as one.

    Raises:
        apsw.CorruptError: they do not fit each other, or a number of a vector is not between -2 and 2.
    """
    for block in blocks:
        if not all(isinstance(column, bytes) for column in block) or block[-1][3::4].translate(None, _BELOW_TWO):
            raise apsw.CorruptError("a block holds what is no vector of length 1")
    rows, starts, ends, hashes, vectors = (
        (b"".join(column) for column in zip(*blocks, strict=True)) if blocks else ((b"",) * 5)
    )
    count = len(rows) // 4
    if not (
        len(rows) == len(starts) == len(ends) == count * 4
        and len(hashes) == count * HASH_BYTES
        and len(vectors) == count * 4 * dimensions
    ):
        raise apsw.CorruptError("the columns of a block differ in length")
    return Held(rows=_unpack(rows), starts=_unpack(starts), ends=_unpack(ends), hashes=hashes, vectors=vectors)


def _columns(passages: Sequence[Passage], vectors: Iterable[bytes]) -> Columns:
    return (
        _pack([passage.row for passage in passages]),
        _pack([passage.start for passage in passages]),
        _pack([passage.end for passage in passages]),
        b"".join([passage.hash for passage in passages]),
        b"".join(vectors),
    )


def _pack(numbers: Sequence[int]) -> bytes:
    """Unsigned numbers of four bytes, little-endian."""
    packed = array("I", numbers)
    if byteorder != "little":
        packed.byteswap()
    return packed.tobytes()


def _unpack(data: bytes) -> array[int]:
    numbers = array("I")
    numbers.frombytes(data)
    if byteorder != "little":
        numbers.byteswap()
    return numbers
