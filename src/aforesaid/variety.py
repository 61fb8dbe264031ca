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
from aforesaid.novelty import names_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aforesaid.answers import Ranked

HEAD: Final = 3
"""One of so many places keeps its row: the first third."""
READ: Final = 6000
"""Characters of the beginning of a call or result whose names count."""
NAMES: Final = 1.5
"""Times ln(1 + names) of what words and neighbours are worth."""
NARROWER: Final = 0.8
"""Of the characters of an excerpt, so that all places can be filled."""
_RELEVANCE: Final = 10.0  # what `ranking` multiplies relevance by
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
    """The same rows; behind the first of them those of the third tier follow by what they hold that others do not.

    A name of a call or result counts one, shared among all rows of the tier that hold it: what stands everywhere is
    told by the first row, and is no reason for another.

    Args:
        ranked: rows, best first, tier by tier.
        places: how many will come back.
    """
    head = -(-places // HEAD)
    if len(ranked) <= head + 1:
        return tuple(ranked)
    names = {
        place: names_of(row.candidate.entry.text[:READ])
        for place, row in enumerate(ranked)
        if row.tier == "other" and row.candidate.relevance is not None and row.candidate.entry.role in TOOL_ROLES
    }
    holders = Counter(name for held in names.values() for name in held)
    worth = [
        row.score + _more(row, fsum(1 / holders[name] for name in names.get(place, ())))
        for place, row in enumerate(ranked)
    ]
    first = next((place for place, row in enumerate(ranked) if row.tier == "other"), len(ranked))
    behind = sorted(range(max(head, first), len(ranked)), key=lambda place: (-worth[place], place))
    return (*ranked[: max(head, first)], *(ranked[place] for place in behind))


def _more(row: Ranked, names: float) -> float:
    """What so many names add to the score of a row."""
    relevance = row.candidate.relevance
    if relevance is None or not names:
        return 0.0
    return NAMES * _RELEVANCE * (relevance.own + relevance.neighbours + relevance.semantic) * log1p(names)
