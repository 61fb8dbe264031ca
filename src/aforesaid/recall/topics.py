"""What contextual ranking says of the hits of an explicit search: at best, before a text is read, and in the end.

`order` asks. The question is read as a request, so that a hit has the tier, the parts and the score that automatic
retrieval would give the same entry for it. What a text adds is known when it is read; what it may add at most is known
before, from the full-text index and from what stands beside the text. Pure.
"""

from __future__ import annotations

from math import fsum, inf
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from aforesaid import contextual, ranking
from aforesaid.answers import Matched, Query, Relevance
from aforesaid.inquiry import ROLES
from aforesaid.language.endings import endings_after
from aforesaid.matching import Literal, Probe
from aforesaid.model import TOOL_ROLES
from aforesaid.moments import read_time
from aforesaid.query import read_query
from aforesaid.text import tokens

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from aforesaid.answers import Tier
    from aforesaid.inquiry import Filter, Outline, Question, Standing
    from aforesaid.model import Role
    from aforesaid.ports import BrowsePort
    from aforesaid.recall.views import View

LONGEST: Final = 2000
"""Characters of a query that is read as a request; a longer one is nothing that anybody asks for."""
TIERS: Final[dict[Tier, int]] = {"identifier": 0, "phrase": 1, "other": 2}
OTHER: Final = TIERS["other"]
PART: Final = 3
"""The tier of what automatic retrieval would not have found: a term is only a part of a word there, is a word that it
looks for nowhere, or the text is not in its index."""
_NEAR: Final = 0.001
"""More than rounding changes a score."""

if TYPE_CHECKING:
    Promised = tuple[tuple[int, float], int]
    """The best tier that an entry may have, the most that its score may be there, and its row."""


class _Read(Struct, frozen=True, kw_only=True, gc=False):
    """What of an entry its score depends on, its text among it."""

    role: Role
    tokens: int
    timestamp: str | None
    text: str


class Topics:
    """A question as automatic retrieval would read it."""

    def __init__(self, words: str, query: Query) -> None:
        """Takes what is asked.

        Args:
            words: the request.
            query: its items.
        """
        self.query = query
        self.time = read_time(words)
        self.sought = contextual.sought(words, query)
        self.probe = Probe(
            query.identifiers, query.phrases, query.terms, contextual.roots_of(query.terms), endings_after
        )
        literals = (*query.identifiers, *query.phrases)
        self.best = PART
        if literals:
            self.best = TIERS["identifier" if query.identifiers else "phrase"]
        # What an index with these words does not bring up holds none of them.
        weighed = {tokens(term) for term in query.terms}
        self.sure = all(literal.tokens and tokens(literal.needle) in weighed for literal in map(Literal, literals))
        self.asked = contextual.asked_of(words)
        self.factors = {role: ranking.most_contextually(role, query, self.time, self.asked) for role in ROLES}
        self.same = fsum(
            (
                ranking.SAME_FILE * len(query.files),
                ranking.SAME_SYMBOL * len(query.symbols),
                ranking.SAME_ERROR * len(query.errors),
                ranking.extra_terms(len({*literals, *query.terms})),
                ranking.IDENTIFIER if query.identifiers else ranking.PHRASE,
                _NEAR,
            )
        )

    def weigh(self, snapshot: BrowsePort, view: View, wanted: Filter) -> Weighed:
        """What the full-text index says of a session up to its last row that counts, for entries that pass a filter.

        Raises:
            StoreError: it could not be asked.
        """
        terms, roots, near = self.sought
        own = snapshot.weigh_all(terms, roots, near, last=view.last)
        beside = frozenset(snapshot.unindexed(derived=wanted.summaries) if self.best < PART else ())
        return Weighed(self, own, beside, view)


def read_topics(question: Question) -> Topics | None:
    """What automatic retrieval would look for; None where it would look for nothing.

    A phrase is read as if it stood in quotation marks. A regular expression names no words.
    """
    text = question.text
    if question.mode == "regex" or len(text) > LONGEST:
        return None
    if question.mode == "literal":
        query = read_query(text)
    else:
        text = f'"{text}"'
        query = read_query(text)
        if query.phrases != (question.text,):
            terms = (question.text,) if tokens(question.text) else ()
            query = Query(phrases=(question.text,), terms=terms)
    return None if query.empty else Topics(text, query)


class Weighed:
    """One session as contextual ranking sees it for a question."""

    def __init__(self, topics: Topics, own: Mapping[int, float], beside: frozenset[int], view: View) -> None:
        """Takes what is known of it.

        Args:
            topics: what is asked.
            own: bm25 of its rows.
            beside: rows that have a text and no bm25.
            view: what is searched of it.
        """
        self.own = own
        self._topics = topics
        self._beside = beside
        self._view = view
        self._whole: list[tuple[float, int]] | None = None

    @property
    def tells(self) -> bool:
        """Whether names or phrases are asked for, and stand in no row without a weight (but as parts of words)."""
        return self._topics.best < PART and self._topics.sure and not self._beside

    def promise(self, standings: Sequence[Standing]) -> tuple[list[Promised], list[Standing]]:
        """The best that entries may come to, and the entries that automatic retrieval would not find (`PART`)."""
        topics, own, other = self._topics, self.own.get, OTHER
        found: list[Promised] = []
        parts: list[Standing] = []
        for standing in standings:
            row, role, cost = standing
            weight = own(row)
            if topics.best < PART and (weight is not None or self._may_be_beside(row)):
                found.append(((topics.best, self._most(row, role, cost, weight)), row))
            elif weight is None:
                parts.append(standing)
            else:
                most = topics.factors[role] * (weight + self._near(row, role))
                found.append(((other, most + _NEAR), row))
        return found, parts

    @property
    def highest(self) -> float:
        """What no row with a weight comes to more than, whoever speaks there, where no name or phrase is asked for."""
        return max(self._topics.factors.values()) * max([whole for whole, _ in self._wholes()], default=0.0)

    def _wholes(self) -> list[tuple[float, int]]:
        """The most that each row with a weight comes to, and the row."""
        if self._whole is None:
            self._whole = contextual.at_most(self.own, self._view.branch)
        return self._whole

    def promise_all(self, least: float = -inf) -> list[Promised]:
        """The same for every row with a weight, whoever speaks there, where no name or phrase is asked for.

        Args:
            least: entries that come to less may be left out.
        """
        most, lowest = max(self._topics.factors.values()), least - 2 * _NEAR
        if most * contextual.ALL_BESIDE * max(self.own.values(), default=0.0) < lowest:
            return []
        return [((OTHER, most * whole + _NEAR), row) for whole, row in self._wholes() if most * whole >= lowest]

    def _most(self, row: int, role: Role, cost: int, weight: float | None) -> float:
        """The most that an entry with a name or phrase may come to."""
        score = self._topics.same + fsum((ranking.BRANCH, *ranking.stand(role, cost, *self._place(row))))
        if weight is not None:
            score += ranking.LITERAL_RELEVANCE * weight
            score += ranking.NAMES_BESIDE_LITERALS[1] if role in TOOL_ROLES else 0.0
        return score

    def _near(self, row: int, role: Role) -> float:
        """What a row takes from its neighbours on the branch."""
        branch = self._view.branch
        place = branch.of(row)
        if place is None:
            return 0.0
        own, reach = self.own, contextual.REACH
        near = zip(range(place - reach, place + reach + 1), branch.around(place, reach), strict=True)
        return contextual.beside({at: own[held] for at, held in near if held in own}, place, role)

    def score(self, outline: Outline, text: str) -> tuple[int, tuple[float, ...]] | None:
        """The tier and the addends of an entry whose text is known; None if that is `PART`."""
        topics, row = self._topics, outline.row
        identifiers, phrases, terms = topics.probe.matched(text)
        if not (identifiers or phrases or terms):
            return None
        own, literal = self.own.get(row), bool(identifiers or phrases)
        if own is None and not (literal and self._may_be_beside(row)):
            return None
        near = 0.0 if literal else self._near(row, outline.role)
        found = None if own is None else Relevance(own=own, neighbours=near)
        entry = _Read(role=outline.role, tokens=outline.tokens, timestamp=outline.timestamp, text=text)
        matched = Matched(identifiers=identifiers, phrases=phrases, terms=terms)
        on_branch = self._view.branch.of(row) is not None
        tier, addends, _ = ranking.add_up(
            entry, matched, topics.query, self._place(row), found, time=topics.time, asked=topics.asked,
            branch=ranking.BRANCH if on_branch else 0.0,
        )  # fmt: skip
        return TIERS[tier], addends

    def _may_be_beside(self, row: int) -> bool:
        """Whether a row without bm25 may hold a name or phrase."""
        return row in self._beside or not self._topics.sure

    def _place(self, row: int) -> tuple[int, int]:
        """Where a row stands, and among how many; off the branch among all rows."""
        place = self._view.branch.of(row)
        return (row - 1, self._view.last) if place is None else (place, self._view.branch.length)
