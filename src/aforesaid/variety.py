"""Floor 4: which rows follow the best ones where a request wants something done.

Who asks a question reads the first hits. Who has work done needs, after them, names that are not in sight: paths,
identifiers, addresses, of as many kinds as fit. `retrieval` hands in what may come back, best first, and the request.
Pure; no row is added or left out, and tiers stay. `docs/ranking.md` gives the rule, decision 35 what was tried.
"""

from __future__ import annotations

from collections import Counter
from math import fsum, log1p
from typing import TYPE_CHECKING, Final

from aforesaid.model import TOOL_ROLES
from aforesaid.novelty import remembered_names_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aforesaid.answers import Ranked, Relevance
    from aforesaid.model import StoredEntry

HEAD: Final = 3
"""One of so many places keeps its row: the first third."""
READ: Final = 6000
"""Characters of the beginning of a call or result whose names count."""
NAMES: Final = 1.5
"""Times ln(1 + names) of what words and neighbours are worth."""
NARROWER: Final = 0.8
"""Of the characters of an excerpt, so that all places can be filled."""
RELEVANCE: Final = 10.0
"""What `ranking` multiplies relevance by (a test compares: siblings do not import each other)."""
_QUESTION: Final = frozenset("?\uff1f\u061f\u2047\u2048\u2049\u203d\u1367\u2e2e")
"""Question marks of all scripts that have one of their own."""


def is_question(request: str) -> bool:
    """Whether a request ends as a question: behind its last letter or digit stands a question mark."""
    for character in reversed(request):
        if character in _QUESTION:
            return True
        if character.isalnum():
            return False
    return False


def vary(ranked: Sequence[Ranked], places: int) -> tuple[Ranked, ...]:
    """The same rows; behind the first of them, those that are relevant follow by what they hold that others do not.

    A name of a call or result counts one, shared among all rows that hold it: what stands everywhere is told by the
    first row, and is no reason for another. Rows of the upper tiers, and the other halves of pairs, keep their places.

    Args:
        ranked: rows, best first, tier by tier.
        places: how many will come back.
    """
    head = -(-places // HEAD)
    relevant = {
        place: row.candidate.relevance
        for place, row in enumerate(ranked)
        if row.tier == "other" and row.candidate.relevance is not None
    }
    behind = [place for place in relevant if place >= head]
    if len(behind) < 2:
        return tuple(ranked)
    names = {place: _names(ranked[place].candidate.entry) for place in relevant}
    holders: Counter[str] = Counter()
    for held in names.values():
        holders.update(held)
    shares = {name: 1 / count for name, count in holders.items()}
    worth = {
        place: ranked[place].score + _more(relevant[place], fsum(map(shares.__getitem__, names[place])))
        for place in behind
    }
    varied = list(ranked)
    for place, source in zip(behind, sorted(behind, key=lambda place: (-worth[place], place)), strict=True):
        varied[place] = ranked[source]
    return tuple(varied)


def _names(entry: StoredEntry) -> frozenset[str]:
    """The names of a call or result; none of what is said."""
    return remembered_names_of(entry.text[:READ]) if entry.role in TOOL_ROLES else frozenset()


def _more(relevance: Relevance, names: float) -> float:
    """What so many names add to the score of a row."""
    return NAMES * RELEVANCE * (relevance.own + relevance.neighbours + relevance.semantic) * log1p(names)
