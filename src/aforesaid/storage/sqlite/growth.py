"""Rows that are added to a session: what the full-text index says of them, without asking it again about all others.

`postings` keeps lists of the rows that hold a phrase, and adds to them here. `Corpus` holds the figures that bm25 is
computed from, `RowWords` the tokens of one row in the places where FTS5 has them. Both are what SQLite's tokenizer
`ascii` and its docsize table say, which a contract test compares; knows nothing of lists and generations.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from functools import lru_cache
from typing import TYPE_CHECKING

from aforesaid.storage.sqlite.records import FED, PACKED, to_text, unsqueeze
from aforesaid.text import feed

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    import apsw

    Phrase = tuple[tuple[bytes, ...], bool]

LONGEST = 1_000_000
"""Characters of a text that are cut into words here at most; after a longer one the lists are read anew."""

_LAST = "SELECT max(row) FROM entry"
_SIZES = "SELECT id, sz FROM search_docsize WHERE id > ? ORDER BY id"
_TEXT = f"SELECT text, flags & {PACKED} FROM entry WHERE row = ? AND flags & {FED}"

_TOKEN_BYTES = 32_768
"""Bytes after which FTS5 cuts a token."""
_COLUMN = 1 << 32
"""Between the places of two columns, as in FTS5: nothing stands near anything in another one."""
_CLEAN = bytes(
    (byte + 32 if 65 <= byte <= 90 else byte) if byte >= 128 or chr(byte).isalnum() else 32 for byte in range(256)
)


class Corpus:
    """How many tokens each row of the full-text index has.

    Attributes:
        last: rows up to this one are counted.
        lengths: tokens by row, 0 where a row is not in the index.
        rows: how many rows are in it, those without a token too.
        tokens: how many tokens they have together.
    """

    __slots__ = ("_indexed", "last", "lengths", "tokens")

    def __init__(self) -> None:
        self.last = 0
        self.lengths = array("d", (0.0,))
        self.tokens = 0
        self._indexed = array("q")

    @property
    def rows(self) -> int:
        """How many rows are in the full-text index."""
        return len(self._indexed)

    def catch_up(self, connection: apsw.Connection) -> None:
        """Counts what was added.

        Raises:
            apsw.Error: the index cannot be read.
        """
        last: int = connection.execute(_LAST).get or 0
        if last <= self.last:
            return
        self.lengths.extend((0.0,) * (last - self.last))
        pairs: list[Any] = connection.execute(_SIZES, (self.last,)).fetchall()
        for row, sizes in pairs:
            length = _total(sizes)
            self.lengths[row] = length
            self.tokens += length
            self._indexed.append(row)
        self.last = last

    def take_back(self, last: int) -> None:
        """Forgets rows that were never committed: those beyond the last one."""
        if self.last > last:
            while self._indexed and self._indexed[-1] > last:
                self.tokens -= int(self.lengths[self._indexed.pop()])
            del self.lengths[last + 1 :]
            self.last = last

    def until(self, last: int) -> tuple[int, int]:
        """How many of the rows up to one are in the index, and how many tokens they have together."""
        if last >= self.last:
            return self.rows, self.tokens
        return bisect_right(self._indexed, last), int(sum(self.lengths[: last + 1]))

    def fed(self, after: int) -> list[int]:
        """The rows beyond one that have tokens."""
        new = self._indexed[bisect_right(self._indexed, after) :]
        return [row for row in new if self.lengths[row]]


class RowWords:
    """The tokens of one row."""

    __slots__ = ("_ordered", "_places")

    def __init__(self, text: str) -> None:
        """Takes the text of an entry that is in the index."""
        places: dict[bytes, list[int]] = {}
        for column, fed in enumerate(feed(text)):
            found = fed.encode("utf-8", "surrogatepass").translate(_CLEAN).split(b" ")
            for place, token in enumerate(filter(None, found), column * _COLUMN):
                places.setdefault(token[:_TOKEN_BYTES], []).append(place)
        self._places = places
        self._ordered: list[bytes] | None = None

    def count(self, phrase: Phrase) -> int:
        """How often a phrase stands in the row."""
        tokens, open_ended = phrase
        starts = self._of(tokens[0], open_ended and len(tokens) == 1)
        if len(tokens) == 1 or not starts:
            return len(starts)
        held = set(starts)
        for offset, token in enumerate(tokens[1:], 1):
            held &= {place - offset for place in self._of(token, open_ended and offset == len(tokens) - 1)}
        return len(held)

    def holds_near(self, first: Phrase, second: Phrase, distance: int) -> bool:
        """Whether two phrases of one token stand with at most so many tokens between them."""
        others = self._of(second[0][0], second[1])
        if not others:
            return False
        return any(abs(place - other) <= distance + 1 for place in self._of(first[0][0], first[1]) for other in others)

    def _of(self, token: bytes, open_ended: bool) -> Sequence[int]:
        """The places of a token, or of all that begin so."""
        if not open_ended:
            return self._places.get(token, ())
        if self._ordered is None:
            self._ordered = sorted(self._places)
        found: list[int] = []
        at = bisect_left(self._ordered, token)
        while at < len(self._ordered) and self._ordered[at].startswith(token):
            found += self._places[self._ordered[at]]
            at += 1
        return found


def read_words(connection: apsw.Connection, row: int) -> RowWords | None:
    """The tokens of a row that is in the index; None if its text is too long to be cut here.

    Raises:
        apsw.Error: the row cannot be read.
    """
    columns: Any = connection.execute(_TEXT, (row,)).fetchone()
    if columns is None:
        return None
    data, packed = columns
    text = to_text(unsqueeze(data) if packed else data)
    return RowWords(text) if len(text) <= LONGEST else None


@lru_cache(maxsize=4096)
def parse(written: str) -> tuple[Phrase, ...]:
    """The phrases of an expression of FTS5 as `search` writes them: one phrase, or two near each other."""
    found = []
    for quoted, star in re.findall(r'"([^"]*)"(\*?)', written):
        data = quoted.encode("utf-8", "surrogatepass").translate(_CLEAN)
        found.append((tuple([token[:_TOKEN_BYTES] for token in data.split(b" ") if token]), bool(star)))
    return tuple(found)


def _total(sizes: bytes) -> int:
    """The sum of the varints of SQLite in some bytes."""
    total = value = 0
    for byte in sizes:
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            total += value
            value = 0
    return total
