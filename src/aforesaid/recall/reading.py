"""Reading texts in the order that hits would have, until a page is full.

Where all entries that match hold the same items and the documented ranking orders them, an entry's place is known
before its text is read: the most important texts come first, and the others are never read. Otherwise texts are read in
the order that they would have at best, until no other can come before the hits. `recall` asks for one session after the
other; nothing here opens one.
"""

from __future__ import annotations

from bisect import insort
from itertools import groupby, islice
from math import fsum
from operator import itemgetter
from time import perf_counter
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from aforesaid.recall.candidates import AT_ONCE
from aforesaid.recall.order import Hit
from aforesaid.recall.topics import OTHER, PART

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import TypeVar

    from aforesaid.inquiry import Outline, Standing
    from aforesaid.patterns import Pattern
    from aforesaid.ports import BrowsePort, Snapshot
    from aforesaid.recall.candidates import Candidates
    from aforesaid.recall.order import Key, Order, Ranked
    from aforesaid.recall.topics import Promised, Weighed
    from aforesaid.recall.views import View

    Item = TypeVar("Item")

SECONDS: Final = 2.0
"""Longest time that a regular expression may take for one page."""
_FIRST_BATCH: Final = 16
_LARGEST_BATCH: Final = 256
"""Texts that are read at a time."""
_HIGHEST: Final = float("inf")


class Budget:
    """The time that a pattern may take.

    Attributes:
        limited: whether there is an end to it.
        undecided: texts for which it took too long.
        spent: whether the search was stopped.
    """

    def __init__(self, *, limited: bool, seconds: float = SECONDS) -> None:
        self.limited = limited
        self.undecided = 0
        self.spent = False
        self._end = perf_counter() + seconds if limited else None

    def over(self) -> bool:
        """Whether the time is over."""
        if self._end is not None and perf_counter() > self._end:
            self.spent = True
        return self.spent


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
    if pattern.ordered and budget.limited:
        return _read_in_time(snapshot, stretch.batches(ranked), pattern, limit=limit, budget=budget, admits=admits)
    if pattern.ordered:
        return _read_in_order(snapshot, stretch, ranked, pattern, limit=limit, admits=admits), None
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
        """The entries in order, some at a time.

        Most are never asked for, so that their outlines are read and their places worked out late.
        """
        return map(self.placed, self.portions(ranked))

    def portions(self, ranked: Sequence[Ranked]) -> Iterator[dict[int, float]]:
        """The scores by row, best first, some at a time; entries with the same score are never divided."""
        size = _FIRST_BATCH
        together: dict[int, float] = {}
        for score, equal in groupby(ranked, key=itemgetter(0)):
            if self.ends_before(0, score):
                continue
            if self.begins_behind(0, score):
                break
            together.update((standing[0], score) for _, standing in equal)
            if len(together) >= size:
                yield together
                size = min(4 * size, _LARGEST_BATCH)
                together = {}
        if together:
            yield together

    def placed(self, scores: Mapping[int, float]) -> list[Hit]:
        """Entries in order, by their scores."""
        outlines = self.candidates.outlines(list(scores))
        hits = [hit for outline in outlines if (hit := self.hit(outline, scores[outline.row])) is not None]
        hits.sort(key=_place)
        return hits


def _place(hit: Hit) -> Key:
    return hit.key


def _read_in_order(
    snapshot: BrowsePort,
    stretch: _Stretch,
    ranked: Sequence[Ranked],
    pattern: Pattern,
    *,
    limit: int,
    admits: Callable[[Outline], bool],
) -> list[Hit]:
    """Reads texts until there are enough that match; nothing else is read of those that do not."""
    hits: list[Hit] = []
    for portion in stretch.portions(ranked):
        rows = list(portion)
        texts = zip(rows, snapshot.texts(rows), strict=True)
        matching = {row: matched for row, text in texts if (matched := pattern.matched(text))}
        for hit in stretch.placed({row: portion[row] for row in matching}) if matching else ():
            if admits(hit.outline):
                hits.append(replace(hit, matched=matching[hit.outline.row]))
                if len(hits) > limit:
                    return hits
    return hits


def _read_in_time(
    snapshot: BrowsePort,
    batches: Iterable[Sequence[Hit]],
    pattern: Pattern,
    *,
    limit: int,
    budget: Budget,
    admits: Callable[[Outline], bool],
) -> tuple[list[Hit], Key | None]:
    """The same as long as there is time, and the place that was reached then."""
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
