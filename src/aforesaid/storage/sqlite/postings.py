"""Posting lists of one session that stay in memory, for a process that asks again.

`search` asks here first. What comes back is what SQLite would compute, to the last bit: FTS5 sums its bm25 over the
phrases in the order of the query, and a list holds one phrase's addend for every row of the session, so adding lists in
that order gives the same floats (a contract test compares both ways). A process that asks once never gets here: a list
costs more to make than the search that it replaces, so a phrase gets one when it is asked for the second time.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    import apsw

    from aforesaid.model import Span

KEPT = 500_000
"""Postings of a session that stay in memory, sixteen bytes each; the list that was used longest ago goes first."""
NOTED = 4096
"""Phrases without a list that are remembered, to notice the second time."""

List = tuple["array[int]", "array[float]"]
"""The rows that hold a phrase, ascending, and the bm25 of each, as FTS5 signs it."""

_LAST = "SELECT max(row) FROM entry"
_ROWS = "SELECT rowid FROM search WHERE search MATCH ?"
_SCORES = "SELECT rowid, bm25(search) FROM search WHERE search MATCH ?"


class Scores:
    """The bm25 of every row of a session for one query, best first; 0.0 where nothing stands.

    Made by `Postings`; valid for the generation that it was made in.
    """

    __slots__ = ("_masks", "_numpy", "_scores")

    def __init__(self, numpy: Any, scores: Any, masks: dict[tuple[Span, ...], Any]) -> None:
        self._numpy = numpy
        self._scores = scores
        self._masks = masks

    def best(self, spans: Sequence[Span], limit: int, *, decimals: int) -> list[tuple[int, float]]:
        """The best rows within the spans with their scores, best first, and all that equal the last one.

        Args:
            spans: rows that count.
            limit: how many are wanted.
            decimals: scores that agree in so many are equal.
        """
        numpy = self._numpy
        inside = self._within(spans)
        rows = inside[self._scores[inside] < 0.0]
        scores = self._scores[rows]
        if len(rows) > limit:
            last = numpy.partition(scores, limit - 1)[limit - 1]
            near = scores <= last + 2 * 10.0**-decimals
            rows, scores = rows[near], scores[near]
        order = numpy.lexsort((rows, scores))
        return list(zip(rows[order].tolist(), scores[order].tolist(), strict=True))

    def count(self, spans: Sequence[Span]) -> int:
        """How many rows within the spans hold one of the phrases."""
        return int(self._numpy.count_nonzero(self._scores[self._within(spans)]))

    def _within(self, spans: Sequence[Span]) -> Any:
        """The rows of the spans that the session has, ascending."""
        key = tuple(spans)
        found = self._masks.get(key)
        if found is None:
            numpy = self._numpy
            inside = numpy.zeros(len(self._scores), dtype=bool)
            for first, last in key:
                inside[first : last + 1] = True
            while len(self._masks) > 3:  # a branch and its context, of two leaves
                del self._masks[next(iter(self._masks))]
            self._masks[key] = found = numpy.flatnonzero(inside)
        return found


class Postings:
    """The lists of one open session file."""

    __slots__ = ("_asked", "_generation", "_held", "_latest", "_lists", "_masks", "_worth")

    def __init__(self) -> None:
        self._generation = -1
        self._forget()

    def _forget(self) -> None:
        self._asked: dict[str, None] = {}
        self._lists: dict[str, List] = {}
        self._held = 0  # postings in them
        self._masks: dict[tuple[Span, ...], Any] = {}
        self._latest: tuple[tuple[str, ...], Scores] | None = None
        self._worth = True

    def ask(self, connection: apsw.Connection, generation: int, phrases: tuple[str, ...]) -> Scores | None:
        """The scores of a query, or None if SQLite shall search.

        Args:
            connection: to the session, in a read transaction.
            generation: of the session in this transaction; with another one everything here is forgotten.
            phrases: of the query, in the syntax of FTS5, each once.

        Raises:
            apsw.Error: the index cannot be read.
        """
        self._turn(generation)
        known = self.latest(generation, phrases)
        if known is not None:
            return known
        again = all(phrase in self._lists or phrase in self._asked for phrase in phrases)
        self._note(phrases)
        if not again or not self._worth:
            return None
        try:
            import numpy  # late: an extra, and only worth its start for a process that stays
        except ImportError:
            self._worth = False
            return None
        scores = numpy.zeros(1 + (connection.execute(_LAST).get or 0))
        taken = 0
        for phrase in phrases:
            rows, addends = self._list(connection, phrase)
            if rows:
                scores[numpy.frombuffer(rows, dtype=numpy.int64)] += numpy.frombuffer(addends)
            taken += len(rows)
        self._worth = self._trim() >= taken
        self._latest = (phrases, Scores(numpy, scores, self._masks))
        return self._latest[1]

    def lists(self, connection: apsw.Connection, generation: int, phrases: Sequence[str]) -> list[List]:
        """The list of each phrase; those that are asked for the second time are kept.

        Raises:
            apsw.Error: the index cannot be read.
        """
        self._turn(generation)
        again = {phrase for phrase in phrases if phrase in self._asked}
        self._note(phrases)
        found = [self._list(connection, phrase, keep=phrase in again) for phrase in phrases]
        self._trim()
        return found

    def pairs(self, connection: apsw.Connection, generation: int, pairs: Sequence[str]) -> list[array[int]]:
        """The rows in which each pair of words stands near each other; those asked for the second time are kept.

        Raises:
            apsw.Error: the index cannot be read.
        """
        self._turn(generation)
        again = {pair for pair in pairs if pair in self._asked}
        self._note(tuple(pairs))
        found: list[array[int]] = []
        for pair in pairs:
            rows = self._take(pair)
            if rows is None:
                rows = array("q", [row for (row,) in connection.execute(_ROWS, (pair,))]), array("d")
            if pair in again:
                self._put(pair, rows)
            found.append(rows[0])
        self._trim()
        return found

    def numpy(self) -> Any:
        """The module, once lists are kept, for then the process stays; None if it is not installed."""
        if not self._lists or not self._worth:
            return None
        try:
            import numpy  # late: an extra, and only worth its start for a process that stays
        except ImportError:
            self._worth = False
            return None
        return numpy

    def latest(self, generation: int, phrases: tuple[str, ...]) -> Scores | None:
        """The scores of a query that was the last one to be asked, if they were computed here."""
        if self._latest is not None and self._generation == generation and self._latest[0] == phrases:
            return self._latest[1]
        return None

    def _note(self, phrases: Sequence[str]) -> None:
        self._asked.update(dict.fromkeys(phrases))
        while len(self._asked) > NOTED:
            del self._asked[next(iter(self._asked))]

    def _list(self, connection: apsw.Connection, phrase: str, *, keep: bool = True) -> List:
        """The list of a phrase, from memory or from the index."""
        found = self._take(phrase)
        if found is None:
            found = array("q"), array("d")
            pairs: list[Any] = connection.execute(_SCORES, (phrase,)).fetchall()
            if pairs:
                rows, addends = zip(*pairs, strict=True)
                found = array("q", rows), array("d", addends)
        if keep:
            self._put(phrase, found)
        return found

    def _take(self, phrase: str) -> List | None:
        found = self._lists.pop(phrase, None)
        if found is not None:
            self._held -= len(found[0])
        return found

    def _put(self, phrase: str, found: List) -> None:
        """Keeps a list behind the others: it was used last."""
        self._lists[phrase] = found
        self._held += len(found[0])

    def _turn(self, generation: int) -> None:
        if generation != self._generation:
            self._forget()
            self._generation = generation

    def _trim(self) -> int:
        """Drops lists until the rest may stay; returns how many postings that are."""
        while self._held > KEPT:
            self._take(next(iter(self._lists)))
        return self._held
