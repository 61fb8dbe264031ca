"""The order of hits, and reading texts in that order until a page is full.

Where all entries that match hold the same items and the documented ranking orders them, an entry's place is known
before its text is read: the most important texts come first, and the others are never read. Otherwise texts are read in
the order that they would have at best, until no other can come before the hits. Either way the order is total and does
not depend on the size of a page: tier, score, then newest, then id (`docs/ranking.md`).
"""

from __future__ import annotations

from bisect import insort
from itertools import groupby, islice
from math import ceil, fsum
from operator import itemgetter
from time import perf_counter
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from aforesaid import ranking
from aforesaid.query import read_query
from aforesaid.recall.candidates import AT_ONCE
from aforesaid.recall.topics import LONGEST, OTHER, PART, read_topics

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import TypeVar

    from aforesaid.inquiry import Outline, Question, Standing
    from aforesaid.patterns import Pattern
    from aforesaid.ports import BrowsePort, Snapshot
    from aforesaid.recall.candidates import Candidates
    from aforesaid.recall.topics import Promised, Weighed
    from aforesaid.recall.views import View

    Item = TypeVar("Item")
    Ranked = tuple[float, Standing]
    """A score, and the entry that has it."""

Key = tuple[int, float, str, str, str]
"""Sorts hits, best first: tier (0 where there is only one), score downwards, timestamp downwards, entry id, the store's
key of the session. Where everything is listed, the row downwards stands in place of the id. It stands in cursors, which
models are given, and so has no path."""

SECONDS: Final = 2.0
"""Longest time that a regular expression may take for one page."""
_FIRST_BATCH: Final = 16
_LARGEST_BATCH: Final = 256
"""Texts that are read at a time."""
_NO_TIME: Final = "\x7f"
_MOST_ROWS: Final = 10**12
_NEAR: Final = 0.001
"""More than rounding changes a score."""
_HIGHEST: Final = float("inf")
_BEHIND: Final = (2 * _MOST_ROWS, 2 * _MOST_ROWS, 0)
"""A span behind all rows."""


class Budget:
    """The time that a pattern may take.

    Attributes:
        undecided: texts for which it took too long.
        spent: whether the search was stopped.
    """

    def __init__(self, *, limited: bool, seconds: float = SECONDS) -> None:
        self.undecided = 0
        self.spent = False
        self._end = perf_counter() + seconds if limited else None

    def over(self) -> bool:
        """Whether the time is over."""
        if self._end is not None and perf_counter() > self._end:
            self.spent = True
        return self.spent


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


def search(
    snapshot: Snapshot,
    view: View,
    candidates: Candidates,
    order: Order,
    *,
    weighed: Weighed | None = None,
    after: Key | None,
    bound: Key | None = None,
    limit: int,
    budget: Budget,
    admits: Callable[[Outline], bool],
) -> tuple[list[Hit], Key | None]:
    """The first hits of a session, best first.

    Args:
        snapshot: where the texts are.
        view: what is known of the session.
        candidates: the entries that are looked at.
        order: scores and sorts them.
        weighed: what contextual ranking knows of the session; None where it has no part.
        after: only hits behind this place.
        bound: no hits behind this place: other sessions have enough that come before.
        limit: at most one hit more than this: then there is another page.
        budget: the time that there is.
        admits: says of an entry that matches whether it may be handed out.

    Returns:
        The hits, and the place up to which it was searched if the time was over before the page was full.
    """
    pattern = order.pattern
    stretch = _Stretch(snapshot.session.key, candidates, order, after, bound)
    if weighed is not None and pattern is not None:
        promised = _promise(order, weighed, candidates, view, stretch)
        reader = _Reader(snapshot, view, stretch, pattern, weighed)
        return reader.read(promised, limit=limit, admits=admits), None
    items = () if pattern is None else pattern.items
    ranked = sorted(_rank(stretch, view, items, bound), key=itemgetter(0), reverse=True)
    if pattern is None:
        listed = (hit for batch in stretch.batches(ranked) for hit in batch)
        return list(islice((hit for hit in listed if admits(hit.outline)), limit + 1)), None
    if pattern.ordered:
        return _read_in_order(snapshot, stretch.batches(ranked), pattern, limit=limit, budget=budget, admits=admits)
    reader = _Reader(snapshot, view, stretch, pattern, None)
    return reader.read((((0, score), standing[0]) for score, standing in ranked), limit=limit, admits=admits), None


def _rank(stretch: _Stretch, view: View, items: Sequence[str], bound: Key | None) -> list[Ranked]:
    """The entries with the most that they may come to, but for those that come behind the end anyway.

    If the last rows are all that is left, and few of them may come before the end, nothing asks which of them match.
    """
    order, candidates, least = stretch.order, stretch.candidates, None if bound is None else -bound[1]
    if candidates.since is not None and candidates.proposed is not None and candidates.narrow is not None:
        first = 1 if least is None else order.first_row(view, items, least)
        latest = None if least is None else candidates.since(first)
        ranked = None if latest is None else order.rank(latest, view, items, least=least)
        if ranked is not None:
            proposed = candidates.proposed(first) if len(ranked) > AT_ONCE else None
            rows = None if proposed is None else frozenset(proposed)
            return ranked if rows is None else [one for one in ranked if one[1][0] in rows]
        stretch.candidates = candidates.narrow(first)
    return order.rank(stretch.candidates.standings, view, items, least=least)


def _promise(
    order: Order, weighed: Weighed, candidates: Candidates, view: View, stretch: _Stretch
) -> Iterator[Promised]:
    """Entries with the best that they may come to, best first; what automatic retrieval would not find comes last."""
    standings = candidates.standings
    if candidates.ask is not None:  # asking who speaks takes longer than to see who cannot come before the end
        best = weighed.promise_all(stretch.least(OTHER))
        standings = candidates.ask([row for most, row in best if not stretch.begins_behind(*most)])
    found, parts = weighed.promise(standings)
    wanted = [one for one in found if not stretch.begins_behind(*one[0])]
    wanted.sort(key=lambda one: (one[0][0], -one[0][1]))
    yield from wanted
    if not stretch.begins_behind(PART, _HIGHEST):
        yield from _promise_parts(order, [*parts, *candidates.others()], view, stretch)


def _promise_parts(order: Order, parts: Sequence[Standing], view: View, stretch: _Stretch) -> Iterator[Promised]:
    """The same of those that come last, by the documented sum; they are not ranked before their turn."""
    pattern = order.pattern
    if pattern is None:
        return
    # Where all items have to be there, the promise is what it comes to, and what stands before the page is known.
    ordered = pattern.ordered
    ranked = order.rank(parts, view, pattern.items, part=True)
    for score, standing in sorted(ranked, key=itemgetter(0), reverse=True):
        if not (ordered and stretch.ends_before(PART, score)):
            yield (PART, score), standing[0]


class _Stretch:
    """The part of a session's order that a page may come from."""

    def __init__(
        self, session: str, candidates: Candidates, order: Order, after: Key | None, bound: Key | None
    ) -> None:
        self.order = order
        self.candidates = candidates
        self._session = session
        self._after = after
        self._bound = bound

    def hit(self, outline: Outline, score: float, matched: tuple[str, ...] = (), tier: int = 0) -> Hit | None:
        """An entry at its place, or None if that is outside."""
        key = self.order.key(outline, tier, score, self._session)
        if (self._after is not None and key <= self._after) or (self._bound is not None and key > self._bound):
            return None
        return Hit(key=key, outline=outline, score=score, matched=matched)

    def least(self, tier: int) -> float:
        """The score below which everything in a tier is behind the end."""
        if self._bound is None or tier < self._bound[0]:
            return -_HIGHEST
        return -self._bound[1] if tier == self._bound[0] else _HIGHEST

    def begins_behind(self, tier: int, score: float) -> bool:
        """Whether everything with a score in a tier, or less, is behind the end."""
        return self._bound is not None and (tier, -score) > self._bound[:2]

    def ends_before(self, tier: int, score: float) -> bool:
        """Whether everything with a score in a tier, or more, is before the beginning."""
        return self._after is not None and (tier, -score) < self._after[:2]

    def batches(self, ranked: Sequence[Ranked]) -> Iterator[list[Hit]]:
        """The entries in order, some at a time; those with the same score are never divided.

        Most are never asked for, so that their outlines are read and their places worked out late.
        """
        size = _FIRST_BATCH
        together: dict[int, float] = {}
        for score, equal in groupby(ranked, key=itemgetter(0)):
            if self.ends_before(0, score):
                continue
            if self.begins_behind(0, score):
                break
            together.update((standing[0], score) for _, standing in equal)
            if len(together) >= size:
                yield self._placed(together)
                size = min(4 * size, _LARGEST_BATCH)
                together = {}
        if together:
            yield self._placed(together)

    def _placed(self, scores: Mapping[int, float]) -> list[Hit]:
        outlines = self.candidates.outlines(list(scores))
        hits = [hit for outline in outlines if (hit := self.hit(outline, scores[outline.row])) is not None]
        hits.sort(key=_place)
        return hits


def _place(hit: Hit) -> Key:
    return hit.key


def _read_in_order(
    snapshot: BrowsePort,
    batches: Iterable[Sequence[Hit]],
    pattern: Pattern,
    *,
    limit: int,
    budget: Budget,
    admits: Callable[[Outline], bool],
) -> tuple[list[Hit], Key | None]:
    """Reads texts until there are enough that match."""
    hits: list[Hit] = []
    for batch in batches:
        texts = snapshot.texts([hit.outline.row for hit in batch])
        for hit, text in zip(batch, texts, strict=True):
            matched = pattern.matched(text)
            if matched is None:
                budget.undecided += 1
            elif matched and admits(hit.outline):
                hits.append(replace(hit, matched=matched))
                if len(hits) > limit:
                    return hits, None
            if budget.over():
                return hits, hit.key
    return hits, None


class _Reader:
    """Reads texts, those first that would come first at best, until no other can come before the hits.

    Which items an entry holds, and so its score, is known only when its text is read.
    """

    def __init__(
        self, snapshot: BrowsePort, view: View, stretch: _Stretch, pattern: Pattern, weighed: Weighed | None
    ) -> None:
        self._snapshot = snapshot
        self._view = view
        self._stretch = stretch
        self._pattern = pattern
        self._weighed = weighed

    def read(self, promised: Iterable[Promised], *, limit: int, admits: Callable[[Outline], bool]) -> list[Hit]:
        """The first hits, best first, at most one more than the limit."""
        hits: list[Hit] = []
        stretch = self._stretch
        for batch in _batches(promised):
            tier, most = batch[0][0]
            if stretch.begins_behind(tier, most) or (len(hits) > limit and (tier, -most) > hits[limit].key[:2]):
                break
            matching: dict[int, tuple[str, tuple[str, ...]]] = {}
            rows = [row for _, row in batch]
            for row, text in zip(rows, self._snapshot.texts(rows), strict=True):
                matched = self._pattern.matched(text)
                if matched:
                    matching[row] = text, matched
            for outline in stretch.candidates.outlines(list(matching)) if matching else ():
                hit = self._place(outline, *matching[outline.row])
                behind = len(hits) > limit and hit is not None and hit.key > hits[limit].key
                if hit is not None and not behind and admits(outline):
                    insort(hits, hit, key=_place)
                    del hits[limit + 1 :]
        return hits

    def _place(self, outline: Outline, text: str, matched: tuple[str, ...]) -> Hit | None:
        """An entry that matches at its place, or None if that is not wanted."""
        found = None if self._weighed is None else self._weighed.score(outline, text)
        if found is not None:
            tier, addends = found
            return self._stretch.hit(outline, round(fsum(addends), 4), matched, tier)
        standing, part = (outline.row, outline.role, outline.tokens), self._weighed is not None
        ((score, _),) = self._stretch.order.rank((standing,), self._view, matched, part=part)
        return self._stretch.hit(outline, score, matched, PART if part else 0)


def _batches(items: Iterable[Item]) -> Iterator[Sequence[Item]]:
    """Items in growing batches: the first few often fill the page."""
    rest, size = iter(items), _FIRST_BATCH
    while batch := list(islice(rest, size)):
        yield batch
        size = min(4 * size, _LARGEST_BATCH)
