"""Floor 4: the lexical relevance of rows in their place on the branch: contextual ranking of the third tier.

`retrieval` hands in what the full-text search weighed and gets the rows that are worth reading, best first. A reply
is about what its prompt asked, and a prompt about what is answered, so each row takes from its neighbours; but only
rows that hold something of the query themselves are ever returned (spec 1, step 7). Pure. The weights were chosen on
the development parts of the evaluation sets; `docs/ranking.md` shows what each is worth.
"""

from __future__ import annotations

import sys
from functools import lru_cache
from heapq import nlargest
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from aforesaid.answers import Query, Relevance
from aforesaid.language import is_grammar
from aforesaid.language.endings import beginning_of
from aforesaid.language.speakers import speakers_in
from aforesaid.text import is_unspaced, words

if TYPE_CHECKING:
    from array import array
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from typing import Any

    from aforesaid.answers import Matched, Weight, Weights
    from aforesaid.language.speakers import Speaker
    from aforesaid.lineage import Places
    from aforesaid.model import Role

# Shares of the neighbours' own scores that a row takes.
NEXT: Final = 0.7
PREVIOUS: Final = 0.4
FAR: Final = 0.2  # of the second neighbour on each side
REACH: Final = 2
"""Places to each side of a row from which it takes something."""
ALL_BESIDE: Final = 1.0 + NEXT + PREVIOUS + 2 * FAR
"""No row comes to more times the highest score of all."""
ANSWER_NEXT: Final = 0.4  # an assistant's row takes nothing from the prompt before it

_NONE: Final[Mapping[int, float]] = {}
MOST_ASIDES: Final = 64
"""Words of a request that are looked at for asides and pairs."""
MOST_READ: Final = 4_000
"""Characters of a request that are read for who is asked about."""
_NOBODY: Final[frozenset[Role]] = frozenset()
_SPOKEN: Final[dict[Speaker, frozenset[Role]]] = {
    "user": frozenset({"user"}),
    "assistant": frozenset({"assistant", "tool_call"}),
}
MOST_PAIRS: Final = 16
"""Pairs of words that count."""
MOST_ABSENT: Final = 3
"""Topics of a request that are found nowhere, from which on a single one that is found says nothing."""


def roots_of(terms: Iterable[str]) -> dict[str, str]:
    """The beginnings that the forms of those terms share that are single words with other forms, by term."""
    roots: dict[str, str] = {}
    for term in terms:
        listed = words(term)
        root = beginning_of(listed[0]) if len(listed) == 1 else None
        if root is not None:
            roots[term] = root
    return roots


def asides(request: str, terms: Iterable[str]) -> tuple[str, ...]:
    """Roots of words of a request that are no topics of it but say something: what was done, when, how often.

    They order rows that a topic has brought up. They bring up none.
    """
    known = {word for term in terms for word in words(term)}
    found = dict.fromkeys(word for word in words(request)[:MOST_ASIDES] if word not in known and not is_grammar(word))
    return tuple(dict.fromkeys(beginning_of(word) or word for word in found if len(word) > 2))


def read_leftovers(request: str) -> Query:
    """A request without a topic as a query for what is left of it: all its words that do not only join others.

    Nothing that is handed out comes from here: such a request is answered for measurement alone.
    """
    said = (word for word in words(request)[:MOST_ASIDES] if len(word) > 2 and not is_grammar(word))
    terms = tuple(dict.fromkeys(said))
    return Query(keywords=terms, terms=terms)


def pairs_of(request: str) -> tuple[tuple[str, str], ...]:
    """The roots of words that follow each other in a request, words that only join left out.

    What stands side by side there and in a text as well is more likely the same thing.
    """
    said = [word for word in words(request)[:MOST_ASIDES] if len(word) > 2 and not is_grammar(word)]
    spaced = [beginning_of(word) or word for word in said if not is_unspaced(word[0])]
    pairs = dict.fromkeys(pair for pair in pairwise(spaced) if not _overlap(*pair))
    return tuple(pairs)[:MOST_PAIRS]


def asked_of(request: str) -> frozenset[Role]:
    """The roles whose words or doings a request asks for, whoever makes it being the user; mostly none."""
    asked = _NOBODY
    for speaker in speakers_in(words(request[:MOST_READ])):
        asked |= _SPOKEN[speaker]
    return asked


def sought(request: str, query: Query) -> tuple[tuple[str, ...], tuple[str, ...], tuple[tuple[str, str], ...]]:
    """What the full-text search weighs for a request: terms, beginnings of words, and pairs of those."""
    roots = roots_of(query.terms)
    plain = tuple(term for term in query.terms if term not in roots)
    return plain, (*roots.values(), *asides(request, query.terms)), pairs_of(request)


def convinces(matches: Sequence[Matched], query: Query) -> bool:
    """Whether what was verified in the rows is more than an accident of one word.

    It is one if no name or phrase stands in any row, not even written another way, no row holds more than a single
    topic, and the request has either named something all the same, or at least `MOST_ABSENT` topics that stand in none
    of the rows: a request about things of which nobody ever spoke shares a word with every long session.
    """
    named = {*query.identifiers, *query.phrases}
    if any(one.identifiers or one.phrases or len(one.terms) > 1 or not named.isdisjoint(one.terms) for one in matches):
        return True
    if query.named:
        return False
    return len(set(query.terms).difference(*(one.terms for one in matches))) < MOST_ABSENT


def _overlap(first: str, second: str) -> bool:
    return first.startswith(second) or second.startswith(first)


def order(
    weights: Weights,
    places: Places,
    eligible: Places,
    limit: int,
    *,
    semantic: Mapping[int, float] = _NONE,
    literal: Collection[int] = (),
    others: Sequence[Weight] = (),
) -> dict[int, Relevance]:
    """The most relevant rows, best first; of equal ones the later on the branch.

    Args:
        weights: rows of the branch with what they hold themselves.
        places: of the rows on the branch.
        eligible: the part of the branch whose rows may come back; the others still count as neighbours.
        limit: how many rows are wanted.
        semantic: what rows are worth by their vectors, as scores of `weights`.
        literal: rows that are wanted whatever they are worth, because a name or phrase stands in them.
        others: rows that hold nothing and may come back all the same.
    """
    numpy = sys.modules.get("numpy")  # where it is loaded already, it counts the same to the last bit
    if numpy is None:
        return order_singly((*weights, *others), places, eligible, limit, semantic=semantic, literal=literal)
    arrays = _Arrays(numpy, weights, others, semantic)
    return order_arrays(arrays, places, eligible, limit, literal=literal)


def order_singly(
    weights: Sequence[Weight],
    places: Places,
    eligible: Places,
    limit: int,
    *,
    semantic: Mapping[int, float],
    literal: Collection[int],
) -> dict[int, Relevance]:
    """`order`, a row at a time."""
    scores = {place: weight for weight in weights if (place := places.of(weight.row)) is not None}
    sums = {place: weight.score for place, weight in scores.items()}
    for row, worth in semantic.items():
        at = places.of(row)
        if at is not None:
            sums[at] = sums.get(at, 0.0) + worth
    found: list[tuple[float, int, int, Relevance]] = []
    for place, weight in scores.items():
        if eligible.of(weight.row) is None:
            continue
        near = beside(sums, place, weight.role)
        by_vector = semantic.get(weight.row, 0.0)
        relevance = Relevance(own=weight.score, neighbours=near, semantic=by_vector)
        found.append((weight.score + by_vector + near, place, weight.row, relevance))
    best = {row: relevance for _, _, row, relevance in nlargest(limit, found, key=lambda one: one[:2])}
    return best | {row: relevance for _, _, row, relevance in found if row in literal}


def beside(scores: Mapping[int, float], place: int, role: str) -> float:
    """What the row at a place of the branch takes from its neighbours.

    Args:
        scores: of the rows themselves, by place.
        place: of the row.
        role: of the row.
    """
    own = scores.get
    if role == "assistant":
        near = ANSWER_NEXT * own(place + 1, 0.0)
    else:
        near = NEXT * own(place + 1, 0.0) + PREVIOUS * own(place - 1, 0.0)
    return near + FAR * (own(place + 2, 0.0) + own(place - 2, 0.0))


def at_most(scores: Mapping[int, float], places: Places) -> list[tuple[float, int]]:
    """For each row the most that it comes to with its neighbours, whoever speaks there: what `beside` gives to a user.

    Args:
        scores: of the rows themselves, by row, ascending.
        places: of the rows on the branch; a row that is not there has no neighbours.
    """
    sums = [0.0] * (places.length + 4)  # two places beyond each end
    stand: list[tuple[float, int, int]] = []
    spans = iter((*places.spans, _NOWHERE))
    first, last, before = next(spans)
    for row, score in scores.items():
        while row > last:
            first, last, before = next(spans)
        place = before + row - first + 2 if row >= first else 0
        if place:
            sums[place] = score
        stand.append((score, row, place))
    return [
        (
            score + NEXT * sums[at + 1] + PREVIOUS * sums[at - 1] + FAR * (sums[at + 2] + sums[at - 2])
            if at
            else score,
            row,
        )
        for score, row, at in stand
    ]


_NOWHERE: Final = (1 << 60, 1 << 60, 0)


class _Arrays:
    """What `order` gets, as arrays of numpy."""

    def __init__(self, numpy: Any, weights: Weights, others: Sequence[Weight], semantic: Mapping[int, float]) -> None:
        self.numpy = numpy
        self.rows = _join(numpy, weights.rows, [one.row for one in others], numpy.int64)
        self.own = _join(numpy, weights.scores, [one.score for one in others], numpy.float64)
        answers = numpy.frombuffer(weights.roles or b"", numpy.uint8) == weights.names.index("assistant")
        self.answers = _join(numpy, answers.tobytes(), [one.role == "assistant" for one in others], numpy.bool_)
        self.semantic = semantic

    def by_vector(self, rows: Any) -> Any:
        """What each row is worth by its vector."""
        numpy, semantic = self.numpy, self.semantic
        if not semantic:
            return numpy.zeros(len(rows))
        return numpy.array([semantic.get(row, 0.0) for row in rows.tolist()])


@lru_cache(maxsize=4)  # of the branch and of its eligible part, while the session stays
def _spread(numpy: Any, spans: tuple[tuple[int, int, int], ...]) -> Any:
    """The place of each row, -1 for those that have none; the last one stands for all rows behind."""
    spread = numpy.full(max((last for _, last, _ in spans), default=0) + 2, -1, numpy.int64)
    for first, last, before in spans:
        spread[first : last + 1] = numpy.arange(before, before + last - first + 1)
    return spread


def _stand(numpy: Any, places: Places, rows: Any) -> Any:
    """The place of each of some rows, -1 for those that have none."""
    spread = _spread(numpy, tuple(places.spans))
    return spread[numpy.minimum(rows, len(spread) - 1)]


def order_arrays(
    arrays: _Arrays, places: Places, eligible: Places, limit: int, *, literal: Collection[int]
) -> dict[int, Relevance]:
    """`order`, all rows at once."""
    numpy = arrays.numpy
    sums = numpy.zeros(places.length + 4)  # two places beyond each end, where nothing stands
    stand = _stand(numpy, places, arrays.rows)
    on_branch = stand >= 0
    sums[stand[on_branch] + 2] = arrays.own[on_branch]
    for row, value in arrays.semantic.items():
        place = places.of(row)
        if place is not None:
            sums[place + 2] += value
    wanted = on_branch & (_stand(numpy, eligible, arrays.rows) >= 0)
    rows, own = arrays.rows[wanted], arrays.own[wanted]
    worth = arrays.by_vector(rows)
    at = stand[wanted] + 2
    asked = NEXT * sums[at + 1] + PREVIOUS * sums[at - 1]
    near = numpy.where(arrays.answers[wanted], ANSWER_NEXT * sums[at + 1], asked)
    near += FAR * (sums[at + 2] + sums[at - 2])
    total = own + worth + near
    chosen = numpy.arange(len(rows))
    if len(rows) > limit:
        least = numpy.partition(total, len(rows) - limit)[len(rows) - limit]
        chosen = numpy.flatnonzero(total >= least)
    chosen = chosen[numpy.lexsort((-at[chosen], -total[chosen]))][:limit]
    if literal:
        named = numpy.isin(rows, numpy.fromiter(literal, numpy.int64, len(literal)))
        chosen = numpy.concatenate([chosen, numpy.flatnonzero(named)])
    columns = (part[chosen].tolist() for part in (rows, own, near, worth))
    return {
        row: Relevance(own=score, neighbours=beside, semantic=vector)
        for row, score, beside, vector in zip(*columns, strict=True)
    }


def _join(numpy: Any, buffer: array[int] | array[float] | bytes, more: Sequence[float], kind: Any) -> Any:
    """The items of a buffer and some more; numpy refuses empty buffers."""
    first = numpy.frombuffer(buffer, kind) if buffer else numpy.empty(0, kind)
    return numpy.concatenate([first, numpy.array(more, kind)]) if more else first
