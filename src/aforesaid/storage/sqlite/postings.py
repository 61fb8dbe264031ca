"""Posting lists of one session that stay in memory, for a process that asks again.

`search` asks here first. What comes back is what SQLite would compute, to the last bit: FTS5 sums its bm25 over the
phrases in the order of the query, and a list holds one phrase's addend for every row of the session, so adding lists in
that order gives the same floats (a contract test compares both ways). A process that asks once never gets here: a list
costs more to make than the search that it replaces, so a phrase gets one when it is asked for the second time.

A list outlives the rows that are added to its session. It holds how often the phrase stands in each row; what a new
row holds is counted in `growth`, and the addends, which change with every row, are computed again as FTS5 computes
them. Whether they are what it computes is tried on each list when it is made; one that differs serves its generation
only (`docs/decisions/0027-lists-that-grow.md`).
"""

from __future__ import annotations

from array import array
from math import log
from typing import TYPE_CHECKING

from aforesaid.storage.sqlite.growth import Corpus, parse, read_words

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    import apsw

    from aforesaid.model import Span
    from aforesaid.storage.sqlite.growth import RowWords

KEPT = 500_000
"""Postings of a session that stay in memory, thirty-two bytes each; the list that was used longest ago goes first."""
NOTED = 4096
"""Phrases without a list that are remembered, to notice the second time."""
BEHIND = 512
"""Rows that a list may lack; after more of them it is read anew."""
FRESH = 32
"""Rows whose words are remembered for lists that lack them."""

List = tuple["array[int]", "array[float]"]
"""The rows that hold a phrase, ascending, and the bm25 of each, as FTS5 signs it."""

_LAST = "SELECT max(row) FROM entry"
_ROWS = "SELECT rowid FROM search WHERE search MATCH ?"
_SCORES = "SELECT rowid, bm25(search) FROM search WHERE search MATCH ?"
DISTANCE = 3
"""Words that may stand between two that are near each other."""
K1, B = 1.2, 0.75
"""The constants of FTS5's bm25."""


class _Held:
    """A list in memory.

    Attributes:
        rows: that hold the phrase, or the pair, ascending.
        counts: how often each does; None if that is not known, or not asked for.
        addends: what each adds in the generation `of`.
        of: -1 while they stand to be computed.
        upto: rows up to this one were looked at.
        grows: whether rows that come later can be added.
    """

    __slots__ = ("addends", "counts", "grows", "of", "rows", "upto")

    def __init__(self, rows: array[int], addends: array[float], of: int) -> None:
        self.rows = rows
        self.addends = addends
        self.of = of
        self.counts: array[float] | None = None
        self.upto = 0
        self.grows = False

    def take_back(self, last: int) -> None:
        """Forgets rows that were never committed."""
        while self.rows and self.rows[-1] > last:
            self.rows.pop()
            if self.counts is not None:
                self.counts.pop()
        self.upto, self.of = last, -1


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

    __slots__ = (
        "_asked",
        "_bare",
        "_corpus",
        "_fresh",
        "_generation",
        "_held",
        "_latest",
        "_lists",
        "_masks",
        "_worth",
    )

    def __init__(self) -> None:
        self._generation = -1
        self._bare = False  # numpy turned out not to be installed
        self._forget()

    def _forget(self) -> None:
        self._asked: dict[str, None] = {}
        self._lists: dict[str, _Held] = {}
        self._held = 0  # postings in them
        self._corpus = Corpus()
        self._fresh: dict[int, RowWords | None] = {}
        self._worth = True
        self._move(self._generation)

    def _move(self, generation: int) -> None:
        """Goes over to another generation with all lists."""
        self._generation = generation
        self._masks: dict[tuple[Span, ...], Any] = {}
        self._latest: tuple[tuple[str, ...], Scores] | None = None

    def carry(self, before: int, after: int) -> None:
        """Keeps the lists of a generation for the next one, to which rows were only added."""
        if self._generation == before != after:
            self._move(after)

    def take_back(self, before: int, after: int, last: int) -> None:
        """Undoes `carry`: the generation never came, and rows beyond the last one do not exist."""
        if self._generation == after != before:
            self._move(before)
            for found in self._lists.values():
                if found.upto > last:
                    self._held -= len(found.rows)
                    found.take_back(last)
                    self._held += len(found.rows)
            self._corpus.take_back(last)
            for row in [row for row in self._fresh if row > last]:
                del self._fresh[row]

    def learn(self, connection: apsw.Connection, generation: int) -> None:
        """Looks at rows that were added, for a moment in which nobody waits.

        Args:
            connection: to the session, in a read transaction.
            generation: of the session in this transaction.

        Raises:
            apsw.Error: the index cannot be read.
        """
        if generation != self._generation or not self._lists:
            return
        self._corpus.catch_up(connection)
        behind = min(found.upto for found in self._lists.values() if found.grows) if self._grown() else 0
        for row in self._corpus.fed(behind) if behind and self._corpus.last - behind <= BEHIND else ():
            self._words(connection, row)
        if len(self._fresh) > FRESH:
            for phrase in tuple(self._lists):
                self._catch_up(connection, phrase, self._lists[phrase])
            self._fresh.clear()

    def _grown(self) -> bool:
        return any(found.grows for found in self._lists.values())

    def ask(self, connection: apsw.Connection, generation: int, phrases: tuple[str, ...]) -> Scores | None:
        """The scores of a query, or None if SQLite shall search.

        Args:
            connection: to the session, in a read transaction.
            generation: of the session in this transaction; with one that no `carry` led to everything is forgotten.
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
        numpy = self._load_numpy()
        if numpy is None:
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
        """The list of each phrase; kept are those that are asked for the second time, and all once any list is kept.

        Raises:
            apsw.Error: the index cannot be read.
        """
        self._turn(generation)
        keep = self._known_again(phrases)
        found = [self._list(connection, phrase, keep=phrase in keep) for phrase in phrases]
        self._trim()
        return found

    def corpus(self, connection: apsw.Connection, generation: int) -> Corpus:
        """The figures that bm25 is computed from, as they are in this generation.

        Raises:
            apsw.Error: the index cannot be read.
        """
        self._turn(generation)
        self._corpus.catch_up(connection)
        return self._corpus

    def pairs(self, connection: apsw.Connection, generation: int, pairs: Sequence[str]) -> list[array[int]]:
        """The rows in which each pair of words stands near each other; kept as `lists` are.

        Raises:
            apsw.Error: the index cannot be read.
        """
        self._turn(generation)
        keep = self._known_again(pairs)
        found: list[array[int]] = []
        for pair in pairs:
            held = self._take(connection, pair)
            if held is None:
                rows = array("q", [row for (row,) in connection.execute(_ROWS, (pair,))])
                held = _Held(rows, array("d"), self._generation)
                if pair in keep:
                    self._corpus.catch_up(connection)
                    held.upto, held.grows = self._corpus.last, True
            if pair in keep:
                self._put(pair, held)
            found.append(held.rows)
        self._trim()
        return found

    def numpy(self) -> Any:
        """The module, once lists are kept, for then the process stays; None if it is not installed."""
        return self._load_numpy() if self._lists and self._worth else None

    def _load_numpy(self) -> Any:
        if self._bare:
            return None
        try:
            import numpy  # late: an extra, and only worth its start for a process that stays
        except ImportError:
            self._bare, self._worth = True, False
            return None
        return numpy

    def latest(self, generation: int, phrases: tuple[str, ...]) -> Scores | None:
        """The scores of a query that was the last one to be asked, if they were computed here."""
        if self._latest is not None and self._generation == generation and self._latest[0] == phrases:
            return self._latest[1]
        return None

    def _known_again(self, phrases: Sequence[str]) -> set[str]:
        """Those whose lists are worth keeping: a process that keeps any stays, and asks for the same words again."""
        again = set(phrases) if self._lists else {phrase for phrase in phrases if phrase in self._asked}
        self._note(phrases)
        return again

    def _note(self, phrases: Sequence[str]) -> None:
        self._asked.update(dict.fromkeys(phrases))
        while len(self._asked) > NOTED:
            del self._asked[next(iter(self._asked))]

    def _list(self, connection: apsw.Connection, phrase: str, *, keep: bool = True) -> List:
        """The list of a phrase, from memory or from the index."""
        found = self._take(connection, phrase)
        if found is None:
            found = _Held(array("q"), array("d"), self._generation)
            pairs: list[Any] = connection.execute(_SCORES, (phrase,)).fetchall()
            if pairs:
                rows, addends = zip(*pairs, strict=True)
                found.rows, found.addends = array("q", rows), array("d", addends)
            if keep:
                self._count(connection, found)
        if keep:
            self._put(phrase, found)
        return found.rows, found.addends

    def _count(self, connection: apsw.Connection, found: _Held) -> None:
        """Works out from the bm25 of each row how often the phrase stands there, and tries whether that gives it."""
        corpus = self._corpus
        corpus.catch_up(connection)
        found.upto = corpus.last
        found.counts = array("d")
        if found.rows:
            idf, average = self._idf(len(found.rows)), corpus.tokens / corpus.rows
            numpy = self._load_numpy()
            if numpy is None:
                for row, addend in zip(found.rows, found.addends, strict=True):
                    norm = K1 * (1 - B + B * corpus.lengths[row] / average)
                    found.counts.append(float(round(-addend * norm / (idf * (K1 + 1.0) + addend))))
            else:
                lengths = numpy.frombuffer(corpus.lengths)[numpy.frombuffer(found.rows, dtype=numpy.int64)]
                addends = numpy.frombuffer(found.addends)
                norms = K1 * (1 - B + B * lengths / average)
                counts = numpy.rint(-addends * norms / (idf * (K1 + 1.0) + addends))
                found.counts.frombytes(counts.tobytes())
        found.grows = self._weigh(found).tobytes() == found.addends.tobytes()  # arrays of floats compare slowly

    def _weigh(self, found: _Held) -> array[float]:
        """What each row of a list adds, as FTS5 computes it: see `fts5Bm25Function` in SQLite's `fts5_aux.c`."""
        corpus, counts = self._corpus, found.counts
        if not found.rows or counts is None:
            return array("d")
        idf, average = self._idf(len(found.rows)), corpus.tokens / corpus.rows
        numpy = self._load_numpy()
        if numpy is None:
            weights = [
                -(idf * (count * (K1 + 1.0) / (count + K1 * (1 - B + B * corpus.lengths[row] / average))))
                for row, count in zip(found.rows, counts, strict=True)
            ]
            return array("d", weights)
        lengths = numpy.frombuffer(corpus.lengths)[numpy.frombuffer(found.rows, dtype=numpy.int64)]
        many = numpy.frombuffer(counts)
        weighed = -(idf * (many * (K1 + 1.0) / (many + K1 * (1 - B + B * lengths / average))))
        return array("d", weighed.tobytes())

    def _idf(self, rows: int) -> float:
        """How rare FTS5 takes a phrase to be that stands in so many rows."""
        idf = log((self._corpus.rows - rows + 0.5) / (rows + 0.5))
        return idf if idf > 0.0 else 1e-6

    def _take(self, connection: apsw.Connection, phrase: str) -> _Held | None:
        """Takes a list out, as it is in this generation; None if it has to be read."""
        found = self._lists.pop(phrase, None)
        if found is None:
            return None
        self._held -= len(found.rows)
        if found.of == self._generation:
            return found
        self._corpus.catch_up(connection)
        if not self._add_rows(connection, phrase, found):
            return None
        if found.counts is not None:
            found.addends = self._weigh(found)
        found.of = self._generation
        return found

    def _catch_up(self, connection: apsw.Connection, phrase: str, found: _Held) -> None:
        """Adds to a list that stays where it is; what cannot be added to goes."""
        self._held -= len(found.rows)
        if found.of == self._generation or self._add_rows(connection, phrase, found):
            self._held += len(found.rows)
        else:
            del self._lists[phrase]

    def _add_rows(self, connection: apsw.Connection, phrase: str, found: _Held) -> bool:
        """Adds the rows that came since to a list; False if it cannot be done."""
        if not found.grows or self._corpus.last - found.upto > BEHIND:
            return False
        parsed = parse(phrase)
        for row in self._corpus.fed(found.upto):
            words = self._words(connection, row)
            if words is None:
                return False
            if found.counts is None:
                if words.holds_near(parsed[0], parsed[-1], DISTANCE):
                    found.rows.append(row)
            elif count := words.count(parsed[0]):
                found.rows.append(row)
                found.counts.append(count)
        found.upto = self._corpus.last
        return True

    def _words(self, connection: apsw.Connection, row: int) -> RowWords | None:
        if row not in self._fresh:
            self._fresh[row] = read_words(connection, row)
        return self._fresh[row]

    def _put(self, phrase: str, found: _Held) -> None:
        """Keeps a list behind the others: it was used last."""
        self._lists[phrase] = found
        self._held += len(found.rows)

    def _turn(self, generation: int) -> None:
        if generation != self._generation:
            self._generation = generation
            self._forget()

    def _trim(self) -> int:
        """Drops lists until the rest may stay; returns how many postings that are."""
        while self._held > KEPT:
            oldest = next(iter(self._lists))
            self._held -= len(self._lists.pop(oldest).rows)
        return self._held
