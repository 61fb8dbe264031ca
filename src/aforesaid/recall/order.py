"""The order of hits: where an entry stands that holds some items.

Scores are those of automatic retrieval (`docs/ranking.md`); the order is total and does not depend on the size of a
page: tier, score, then newest, then id. `reading` asks here before and after texts are read.
"""

from __future__ import annotations

from math import ceil, fsum
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from aforesaid import ranking
from aforesaid.query import read_query
from aforesaid.recall.topics import LONGEST, read_topics

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aforesaid.inquiry import Outline, Question, Standing
    from aforesaid.patterns import Pattern
    from aforesaid.recall.views import View

    Ranked = tuple[float, Standing]
    """A score, and the entry that has it."""

Key = tuple[int, float, str, str, str]
"""Sorts hits, best first: tier (0 where there is only one), score downwards, timestamp downwards, entry id, the store's
key of the session. Where everything is listed, the row downwards stands in place of the id. It stands in cursors, which
models are given, and so has no path."""

_NO_TIME: Final = "\x7f"
_MOST_ROWS: Final = 10**12
_NEAR: Final = 0.001
"""More than rounding changes a score."""
_BEHIND: Final = (2 * _MOST_ROWS, 2 * _MOST_ROWS, 0)
"""A span behind all rows."""


class Hit(Struct, frozen=True, kw_only=True):
    """An entry that matches.

    Attributes:
        key: its place in the order.
        outline: what is known of it without its text.
        score: sum of the addends of `answers.PART_NAMES`.
        matched: the items that it holds.
    """

    key: Key
    outline: Outline
    score: float
    matched: tuple[str, ...]


class Order:
    """Scores entries as automatic retrieval does.

    With the documented ranking literal terms count as names, phrases and patterns as phrases. With the contextual one
    that is so where automatic retrieval would look for nothing; else the question is what it would be there.
    """

    def __init__(self, question: Question, pattern: Pattern | None, *, contextual: bool = False) -> None:
        """Takes what is asked, and by which ranking."""
        self.pattern = pattern
        self.topics = read_topics(question) if contextual and pattern is not None else None
        names = pattern is not None and not pattern.phrase and len(question.text) <= LONGEST
        query = (self.topics.query if self.topics is not None else read_query(question.text)) if names else None
        self._weights: list[tuple[frozenset[str], float]] = []
        if query is not None:
            weights = (ranking.SAME_FILE, ranking.SAME_SYMBOL, ranking.SAME_ERROR)
            same = map(frozenset, (query.files, query.symbols, query.errors))
            self._weights = list(zip(same, weights, strict=True))

    def worth(self, matched: Sequence[str], *, part: bool = False) -> tuple[float, ...]:
        """The addends that depend on what matched.

        Args:
            matched: the items.
            part: whether they count as no names or phrases (`topics.PART`).
        """
        if self.pattern is None:
            return ()
        base = 0.0 if part else ranking.PHRASE if self.pattern.phrase else ranking.IDENTIFIER
        more = 0.0 if self.pattern.phrase else ranking.extra_terms(len(matched))
        same = (weight * len(items.intersection(matched)) for items, weight in self._weights)
        return base, more, *same

    def rank(
        self,
        standings: Sequence[Standing],
        view: View,
        matched: Sequence[str],
        *,
        least: float | None = None,
        part: bool = False,
    ) -> list[Ranked]:
        """The scores of entries that hold the same items, with the entries, in the given order.

        Args:
            standings: of the entries, by row.
            view: what is known of their session.
            matched: what they hold.
            least: entries with a lower score may be left out.
            part: as for `worth`.
        """
        worth = self.worth(matched, part=part)
        if not worth:
            return [(0.0, standing) for standing in standings]
        authority, cost, full = ranking.AUTHORITY, ranking.cost, ranking.RECENCY
        length, latest = max(1, view.branch.length - 1), max(1, view.last - 1)
        off, on = fsum(worth), fsum((*worth, ranking.BRANCH))
        lowest = -1.0 if least is None else least - _NEAR
        spans = iter(view.branch.spans)
        first, last, before = next(spans, _BEHIND)
        found: list[Ranked] = []
        for standing in standings:
            row, role, tokens = standing
            while row > last:
                first, last, before = next(spans, _BEHIND)
            if row < first:
                base, recency = off, full * (row - 1) / latest
            else:
                base, recency = on, full * (before + row - first) / length
            stands = authority.get(role, 0.0)
            if base + stands + recency < lowest:  # what a text costs only lowers it
                continue
            # As `ranking.stand`, without calls for each of thousands of entries. The addends have four decimals each,
            # so no order of adding them can change the fourth.
            found.append((round(base + (stands + round(recency, 4) + cost(tokens)), 4), standing))
        return found

    def first_row(self, view: View, matched: Sequence[str], least: float) -> int:
        """A row before which no entry that holds some items has a score, whoever says it.

        Args:
            view: what is known of the session.
            matched: the items.
            least: the score.
        """
        worth = self.worth(matched)
        if not worth:
            return 1
        most = max(ranking.AUTHORITY.values())
        missing = least - _NEAR - fsum(worth) - most
        length, latest = max(1, view.branch.length - 1), max(1, view.last - 1)
        # Off the branch any row may stand; on it the rows of a span stand behind each other.
        found = [1 + ceil(missing * latest / ranking.RECENCY)]
        missing -= ranking.BRANCH
        places = ceil(missing * length / ranking.RECENCY)
        found += [
            max(first, first + places - before)
            for first, last, before in view.branch.spans
            if last - first + before >= places
        ]
        return max(1, min(found))

    def key(self, outline: Outline, tier: int, score: float, session: str) -> Key:
        """Where an entry of a session stands."""
        time = _backwards(outline.timestamp)
        if self.pattern is None:
            return 0, 0.0, time, f"{_MOST_ROWS - outline.row:013}", session
        return tier, -score, time, outline.id, session


def _backwards(timestamp: str | None) -> str:
    """A text that sorts the other way round; none at all last."""
    return _NO_TIME if timestamp is None else timestamp.translate(_MIRROR) + _NO_TIME


_MIRROR: Final = {code: 126 - code for code in range(127)}
