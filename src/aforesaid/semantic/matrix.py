"""Floor 5: the vectors of one session in memory, and which of them are nearest to a request.

With numpy the product runs over slices of one matrix; without it over columns of an array, for requests of hashed
features have few numbers that are not zero. Both give the same rows: what a product of float32 proposes is computed
again in double precision and rounded, and ties are broken by row. Pure.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from heapq import nlargest
from itertools import repeat
from math import sqrt
from operator import add, itemgetter, mul
from sys import byteorder
from typing import TYPE_CHECKING, Any, Final, Protocol

from msgspec import Struct
from msgspec.structs import replace

from aforesaid.embedding import HASH_BYTES, PEERS, Similar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from aforesaid.embedding import Held, Usual
    from aforesaid.model import Span

DIGITS: Final = 6
"""Decimals of a similarity."""
_MOST_SLICES: Final = 64
"""Of more stretches the whole product is taken and the rows are picked from it."""
_SPARE: Final = 16
_COLUMNS: Final = 8
"""Columns for each of the highest scores: so many that few columns hold two of them."""
_SHALLOW: Final = 20
"""Scores of a column, with fewer of which nothing is saved."""
_LEAST: Final = 1e-8
"""Of similarities that hardly differ none stands out: a variance."""


class Matrix(Protocol):
    """The vectors of one session and profile."""

    @property
    def count(self) -> int:
        """How many vectors there are."""
        ...

    @property
    def size(self) -> int:
        """Bytes in memory, about."""
        ...

    def nearest(
        self,
        query: bytes,
        spans: Sequence[Span],
        limit: int,
        floor: float,
        admits: Callable[[int], bool] | None = None,
        *,
        usual: Usual | None = None,
    ) -> tuple[Similar, ...]:
        """The rows within spans whose best passage is most similar to a query, at least `floor`, best first.

        Of rows of one similarity the later comes first. Rows that are not admitted do not count towards the limit.
        With `usual` each tells how far it stands out from the other passages within the spans, and from `PEERS` more
        that have what is usual: that is a leave-one-out score whose mean and variance are shrunk towards the model's.
        """
        ...


def make_matrix(held: Held, dimensions: int) -> Matrix:
    """The fastest matrix that this system can have."""
    try:
        import numpy  # late: only semantic search needs it, and it is an extra
    except ImportError:
        return ArrayMatrix(held, dimensions)
    return NumpyMatrix(held, dimensions, numpy)


class NumpyMatrix:
    """A matrix of float32."""

    def __init__(self, held: Held, dimensions: int, numpy: Any) -> None:
        """Takes vectors and the module `numpy`."""
        self._numpy = numpy
        self._held = replace(held, vectors=b"")
        rows = numpy.array(held.rows, dtype="u4")
        # A copy: numpy's own memory lies in large pages where a system has them, and is read a tenth faster.
        vectors = numpy.array(numpy.frombuffer(held.vectors, dtype="<f4")).reshape(len(held.rows), dimensions)
        if len(rows) > 1 and bool((rows[1:] < rows[:-1]).any()):
            self._order = numpy.argsort(rows, kind="stable")
            rows, vectors = rows[self._order], vectors[self._order]
        else:
            self._order = None
        self._rows, self._vectors = rows, vectors
        self._single = not bool((rows[1:] == rows[:-1]).any())

    @property
    def count(self) -> int:
        """How many vectors there are."""
        return len(self._rows)

    @property
    def size(self) -> int:
        """Bytes in memory."""
        return int(self._vectors.nbytes) + 64 * self.count

    def nearest(
        self,
        query: bytes,
        spans: Sequence[Span],
        limit: int,
        floor: float,
        admits: Callable[[int], bool] | None = None,
        *,
        usual: Usual | None = None,
    ) -> tuple[Similar, ...]:
        """See `Matrix`."""
        numpy = self._numpy
        vector = numpy.frombuffer(query, dtype="<f4")
        scores, starts, shifts = self._scores(vector, spans)
        # Where rows have several passages, some of the best are of one row.
        wide = min(len(scores), limit + (0 if self._single else limit // 2) + _SPARE)
        exact = vector.astype("f8")
        while wide:
            places = self._highest(scores, wide)
            if starts is not None:
                places = places + shifts[numpy.searchsorted(starts, places, side="right") - 1]
            similar = numpy.einsum("ij,j->i", self._vectors[places].astype("f8"), exact).round(DIGITS)
            found, ended = _choose(
                zip(similar.tolist(), self._rows[places].tolist(), places.tolist(), strict=True), limit, floor, admits
            )
            if ended or wide == len(scores):
                return self._told(found, self._peers(scores, usual) if found and usual is not None else None)
            wide = min(len(scores), wide * 4)
        return ()

    def _told(self, found: list[tuple[float, int]], peers: _Peers | None) -> tuple[Similar, ...]:
        """What was found, by similarity and place in the matrix, as others see it."""
        similarities = [similarity for similarity, _ in found]
        places = [place for _, place in found]
        if self._order is not None:
            places = self._order[places].tolist()
        standings = repeat(0.0, len(found)) if peers is None else peers.standings(self._numpy.array(similarities))
        told = zip(places, similarities, standings, strict=True)
        return tuple([_similar(self._held, place, similarity, standing) for place, similarity, standing in told])

    def _highest(self, scores: Any, count: int) -> Any:
        """Places of the highest scores, in no order.

        The scores stand in columns, and in as many columns as are wanted the highest is no lower than some bound: then
        so are at least as many scores. Seldom many more are, and the selection is made among those: a small part of
        the time that it takes among all.
        """
        numpy = self._numpy
        depth = len(scores) // (_COLUMNS * count)
        if depth < _SHALLOW:
            return numpy.argpartition(scores, len(scores) - count)[len(scores) - count :]
        columns = len(scores) // depth
        tops = scores[: depth * columns].reshape(depth, columns).max(axis=0)
        bound = numpy.partition(tops, columns - count)[columns - count]
        places = numpy.flatnonzero(scores >= bound)
        return places[numpy.argpartition(scores[places], len(places) - count)[len(places) - count :]]

    def _peers(self, scores: Any, usual: Usual) -> _Peers:
        """What all products say together; they are used up."""
        numpy = self._numpy
        numpy.subtract(scores, numpy.float32(usual.middle), out=scores)
        above = float(scores.sum())
        # Not a product: each waits for all cores, which takes longer than such a short sum.
        squares = float(numpy.square(scores, out=scores).sum())
        return _Peers(usual=usual, count=len(scores), above=above, squares=squares)

    def _scores(self, vector: Any, spans: Sequence[Span]) -> tuple[Any, Any, Any]:
        """The products within spans, and how places among them lead back to places of the matrix.

        Returns:
            The products; where each stretch begins among them, and what to add to a place in it. None, None: they are
            all, in their order.
        """
        numpy = self._numpy
        edges = numpy.searchsorted(self._rows, numpy.array([(first, last + 1) for first, last in spans]).reshape(-1))
        slices = [(first, last) for first, last in edges.reshape(-1, 2).tolist() if first < last]
        if slices == [(0, len(self._rows))]:
            return self._vectors @ vector, None, None
        lengths = [last - first for first, last in slices]
        starts = numpy.cumsum([0, *lengths])
        scores = numpy.empty(int(starts[-1]), dtype="f4")
        low, high = (min(slices)[0], max(slices)[1]) if slices else (0, 0)
        # Each product waits for all cores once: one over a little too much is faster than several.
        whole = (
            self._vectors[low:high] @ vector if 2 * len(scores) >= high - low or len(slices) > _MOST_SLICES else None
        )
        at = 0
        for (first, last), length in zip(slices, lengths, strict=True):
            if whole is None:
                numpy.matmul(self._vectors[first:last], vector, out=scores[at : at + length])
            else:
                scores[at : at + length] = whole[first - low : last - low]
            at += length
        shifts = numpy.array([first for first, _ in slices], dtype="i8") - starts[:-1]
        return scores, starts[:-1], shifts


class ArrayMatrix:
    """The same without numpy."""

    def __init__(self, held: Held, dimensions: int) -> None:
        """Takes vectors."""
        self._held = held
        self._dimensions = dimensions
        self._order = sorted(range(len(held.rows)), key=held.rows.__getitem__)
        self._rows = array("I", [held.rows[place] for place in self._order])
        values = to_floats(held.vectors)
        if self._order != list(range(len(self._order))):
            ordered = array("f")
            for place in self._order:
                ordered += values[place * dimensions : (place + 1) * dimensions]
            values = ordered
        self._values = values

    @property
    def count(self) -> int:
        """How many vectors there are."""
        return len(self._rows)

    @property
    def size(self) -> int:
        """Bytes in memory."""
        return len(self._held.vectors) * 2

    def nearest(
        self,
        query: bytes,
        spans: Sequence[Span],
        limit: int,
        floor: float,
        admits: Callable[[int], bool] | None = None,
        *,
        usual: Usual | None = None,
    ) -> tuple[Similar, ...]:
        """See `Matrix`."""
        vector = to_floats(query)
        scored: list[tuple[float, int, int]] = []
        every: list[float] = []
        for first, last in spans:
            low, high = bisect_left(self._rows, first), bisect_right(self._rows, last)
            scores = self._scores(vector, low, high)
            every += scores
            scored += [
                (round(score, DIGITS), self._rows[place], place)
                for place, score in enumerate(scores, low)
                if score >= floor - 1e-6
            ]
        wide = min(len(scored), limit + limit // 2 + _SPARE)
        while wide:
            found, ended = _choose(nlargest(wide, scored), limit, floor, admits)
            if ended or wide == len(scored):
                peers = _gather(every, usual) if found and usual is not None else None
                return tuple(
                    _similar(self._held, self._order[place], similarity, peers.standing(similarity) if peers else 0.0)
                    for similarity, place in found
                )
            wide = min(len(scored), wide * 4)
        return ()

    def _scores(self, vector: array[float], low: int, high: int) -> list[float]:
        """The products of the vectors from one place up to another."""
        count = high - low
        values = self._values[low * self._dimensions : high * self._dimensions]
        used = [place for place, value in enumerate(vector) if value]
        if len(used) * 4 > self._dimensions:
            size = self._dimensions
            return [sum(map(mul, values[at : at + size], vector)) for at in range(0, count * size, size)]
        scores = [0.0] * count
        for place in used:
            scores = list(map(add, scores, map(mul, values[place :: self._dimensions], repeat(vector[place]))))
        return scores


_place = itemgetter(2)
_similarity_and_row = itemgetter(0, 1)


def _choose(
    scored: Iterable[tuple[float, int, int]], limit: int, floor: float, admits: Callable[[int], bool] | None
) -> tuple[list[tuple[float, int]], bool]:
    """Of (similarity, row, place) the best place of each row, best first, and whether more could not change that."""
    found: list[tuple[float, int]] = []
    rows: set[int] = set()
    # The later row first, and of one row the first passage. Two stable sorts are faster than one with a key of three.
    ordered = sorted(scored, key=_place)
    ordered.sort(reverse=True, key=_similarity_and_row)
    for similarity, row, place in ordered:
        if similarity < floor:
            return found, True
        if row in rows:
            continue
        rows.add(row)
        if admits is None or admits(row):
            found.append((similarity, place))
            if len(found) == limit:
                return found, True
    return found, False


class _Peers(Struct, frozen=True, kw_only=True):
    """What tells how far one passage stands out from the others.

    Attributes:
        usual: of the model.
        count: passages, that one among them.
        above: sum of what they have more than the usual middle.
        squares: sum of the squares of that.
    """

    usual: Usual
    count: int
    above: float
    squares: float

    def standing(self, similarity: float) -> float:
        """Deviations that a passage lies above the mean of the others and of `PEERS` that are as usual."""
        own = similarity - self.usual.middle
        mean, variance = leave_out(own, self.above, self.squares, self.count, self.usual.spread)
        return round((own - mean) / sqrt(variance), 2) if variance > _LEAST else 0.0

    def standings(self, similarities: Any) -> list[float]:
        """The same of an array of them; numpy's numbers are Python's, but it rounds otherwise."""
        own = similarities - self.usual.middle
        mean, variance = leave_out(own, self.above, self.squares, self.count, self.usual.spread)
        told = zip((own - mean).tolist(), variance.tolist(), strict=True)
        return [round(beyond / sqrt(spread), 2) if spread > _LEAST else 0.0 for beyond, spread in told]


def leave_out(own: Any, above: Any, squares: Any, count: int, spread: float) -> tuple[Any, Any]:
    """Mean and variance of all but one passage and of `PEERS` that are as usual, counted from the usual middle.

    With itself among them no passage of n could lie more than sqrt(n - 1) deviations above the mean, and one of three
    could not even lie two.

    Args:
        own: what the one has more than the usual middle; a number, or an array of the same shape as the next two.
        above: sum of the same over all passages, the one among them.
        squares: sum of the squares of that.
        count: passages, the one among them.
        spread: the usual one.
    """
    others = count - 1 + PEERS
    mean = (above - own) / others
    return mean, (squares - own * own + PEERS * spread * spread) / others - mean * mean


def _gather(scores: Sequence[float], usual: Usual) -> _Peers:
    above = [score - usual.middle for score in scores]
    return _Peers(usual=usual, count=len(above), above=sum(above), squares=sum(map(mul, above, above)))


def _similar(held: Held, place: int, similarity: float, standing: float) -> Similar:
    return Similar(
        row=held.rows[place],
        similarity=similarity,
        start=held.starts[place],
        end=held.ends[place],
        hash=held.hashes[place * HASH_BYTES : (place + 1) * HASH_BYTES],
        standing=standing,
    )


def to_floats(data: bytes) -> array[float]:
    """Little-endian float32 as numbers."""
    values = array("f")
    values.frombytes(data)
    if byteorder != "little":
        values.byteswap()
    return values
