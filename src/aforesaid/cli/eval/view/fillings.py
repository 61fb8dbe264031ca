"""Floor 9: ways to fill a view: the product's, three plain ones, and the best that whole bundles could do.

All choose among the same bundles, quote the same sources and keep to the same account of bytes. `view` and `sampled`
are the product's own functions; `newest` and `tfidf` know nothing of it but bundles and bytes.
"""

from __future__ import annotations

import os
from collections import Counter
from itertools import combinations
from math import log, sqrt
from time import perf_counter
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from aforesaid.branches import find_branch
from aforesaid.errors import BadArgument
from aforesaid.extractive.composition import compose
from aforesaid.extractive.sheet import Sheet
from aforesaid.extractive.shelf import Shelf
from aforesaid.extractive.survey import Asked, Reader, look
from aforesaid.extractive.values import ViewOptions
from aforesaid.extractive.vectors import Bags
from aforesaid.storage.sqlite import open_store
from aforesaid.text import tokens
from aforesaid.working import collect_work

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from aforesaid.cli.eval.view.goals import Moment
    from aforesaid.extractive.values import Quoted
    from aforesaid.ports import Snapshot

    Progress = Callable[[int, int], None]

SIZES: Final = (32_768, 8_192)
"""Bytes of the views that are filled; the first is judged, the others are for information."""
LATEST: Final = ":latest"
"""Behind the name of a way that is asked with the request alone, without the work beside it."""
WAYS: Final = ("view", "newest", "tfidf", "sampled", *(f"{way}{LATEST}" for way in ("view", "tfidf", "sampled")))
CEILING: Final = "ceiling"
_EXHAUSTIVE: Final = 12
"""Bundles up to which every choice is tried for the ceiling; beyond, the best gain for each byte is taken."""


class Filled(Struct, frozen=True, kw_only=True):
    """What a way of filling reached at a moment.

    Attributes:
        share: of the goals of the moment.
        bytes: of the view.
        ms: time that it took.
        pooled: whether the product's pool holds all that was lost, so that there was nothing to sample.
    """

    share: float
    bytes: int
    ms: float
    pooled: bool = False


class Held:
    """What is known of one session from question to question."""

    def __init__(self) -> None:
        self.shelf = Shelf()
        self.bags = Bags()
        self.counts: dict[tuple[int, ...], Counter[str]] = {}


Found = dict[str, dict[int, list[Filled]]]
"""By way, then by size, one a moment."""


class Desk:
    """One moment laid out: the bundles that may be chosen, and how a view of some of them is counted."""

    def __init__(self, snapshot: Snapshot, held: Held, moment: Moment) -> None:
        """Takes the session, what is known of it, and the question."""
        self._snapshot = snapshot
        self._shelf = shelf = held.shelf
        self._bags = held.bags
        self._held = held
        self._moment = moment
        self._options = ViewOptions()
        self._read = Reader(snapshot, self._options)
        shelf.refresh(snapshot)
        self._branch = find_branch(snapshot, moment.leaf, moment.context)
        self._exchanges = shelf.exchanges(self._branch)
        self._bundles: dict[int, tuple[Quoted, ...]] = {}

    def bundle(self, place: int) -> tuple[Quoted, ...]:
        """The sources of a bundle."""
        if place not in self._bundles:
            exchange = self._exchanges[place]
            self._bundles[place] = self._read.sources((*exchange.before, *exchange.rows))
        return self._bundles[place]

    def fill(self, way: str, size: int) -> Filled:
        """A view of so many bytes, filled in a way."""
        started = perf_counter()
        way, working = way.removesuffix(LATEST), not way.endswith(LATEST)
        if way in {"view", "sampled"}:
            rows, used = self._product(size, sampled=way == "sampled", working=working)
        elif way == CEILING:
            rows, used = self._best(size)
        else:
            order = range(len(self._exchanges) - 1, -1, -1) if way == "newest" else self._by_cosine(working=working)
            rows, used = self._take(order, size)
        ms = (perf_counter() - started) * 1000
        goals = self._moment.goals
        share = sum(bool(goal.rows & rows) for goal in goals) / len(goals)
        pooled = len(self._exchanges) <= self._options.max_candidates
        return Filled(share=share, bytes=used, ms=ms, pooled=pooled)

    def _product(self, size: int, *, sampled: bool, working: bool) -> tuple[set[int], int]:
        moment = self._moment
        options = ViewOptions(max_bytes=size, sampled=sampled, working=working)
        asked = Asked(leaf=moment.leaf, request=moment.query, context_entries=moment.context)
        survey = look(self._snapshot, self._shelf, self._bags, asked, options=options)
        made = compose(self._snapshot, self._shelf, survey, options)
        return {row for row in self._snapshot.rows(made.entry_ids) if row is not None}, made.bytes

    def _sheet(self, size: int) -> Sheet:
        session_id = self._snapshot.session.header.session_id
        return Sheet(session_id, max(1, len(self._exchanges)), ((),), "baseline", size)

    def _take(self, order: Iterable[int], size: int) -> tuple[set[int], int]:
        """Bundles one after another, those that do not fit left out."""
        sheet = self._sheet(size)
        for place in order:
            bundle = self.bundle(place)
            if bundle and not sheet.overflows(bundle) and sheet.fits(bundle):
                sheet.add(bundle)
        return {source.entry.row for source in sheet.sources(int)}, sheet.size

    def _by_cosine(self, *, working: bool) -> list[int]:
        """All bundles by the TF-IDF cosine of the whole bundle, as textbooks have it."""
        query = self._moment.query
        if working:
            query = f"{query}\n{collect_work(self._snapshot, self._branch)}"
        counts = [self._count(place) for place in range(len(self._exchanges))]
        frequency: Counter[str] = Counter()
        for one in counts:
            frequency.update(one.keys())
        idf = {word: log(len(counts) / n) for word, n in frequency.items()}
        asked = {word: n * idf[word] for word, n in Counter(tokens(query)).items() if word in idf}
        scores = [_cosine(asked, one, idf) for one in counts]
        found = [place for place, score in enumerate(scores) if score > 0]
        return sorted(found, key=lambda place: (-scores[place], -place))

    def _count(self, place: int) -> Counter[str]:
        rows = (*self._exchanges[place].before, *self._exchanges[place].rows)
        if rows not in self._held.counts:
            text = "\n".join(part for source in self.bundle(place) for part in source.parts)
            self._held.counts[rows] = Counter(tokens(text))
        return self._held.counts[rows]

    def _best(self, size: int) -> tuple[set[int], int]:
        """What whole bundles can hold of the goals."""
        holding = [
            place
            for place in range(len(self._exchanges))
            if any(row in goal.rows for row in self._exchanges[place].rows for goal in self._moment.goals)
        ]
        if len(holding) <= _EXHAUSTIVE:
            best: tuple[int, set[int], int] = (0, set(), 0)
            for number in range(len(holding), 0, -1):
                for some in combinations(holding, number):
                    best = max(best, self._worth(some, size), key=lambda one: one[0])
            return best[1], best[2]
        chosen: tuple[int, ...] = ()
        while True:
            goals, rows, used = self._worth(chosen, size)
            tried = [(self._worth((*chosen, place), size), place) for place in holding if place not in chosen]
            gains = [((one[0] - goals) / max(1, one[2] - used), place) for one, place in tried if one[0] > goals]
            if not gains:
                return rows, used
            chosen = (*chosen, max(gains)[1])

    def _worth(self, chosen: Sequence[int], size: int) -> tuple[int, set[int], int]:
        """How many goals some bundles hold, their rows and their bytes; none if they do not fit together."""
        sheet = self._sheet(size)
        for place in chosen:
            if not sheet.fits(self.bundle(place)):
                return 0, set(), 0
            sheet.add(self.bundle(place))
        rows = {source.entry.row for source in sheet.sources(int)}
        return sum(bool(goal.rows & rows) for goal in self._moment.goals), rows, sheet.size


def _cosine(asked: Mapping[str, float], counts: Mapping[str, int], idf: Mapping[str, float]) -> float:
    dot = sum(weight * counts[word] * idf[word] for word, weight in asked.items() if word in counts)
    length = sqrt(sum((n * idf[word]) ** 2 for word, n in counts.items()))
    return dot / length if dot else 0.0


def run(
    chosen: Sequence[str], sets: Mapping[str, Sequence[Moment]], folder: str, progress: Progress | None = None
) -> dict[str, Found]:
    """Fills a view of each size at each moment in each way, and the best one beside them.

    Args:
        chosen: names out of `WAYS`.
        sets: the questions by the names of their sets.
        folder: holds the store.
        progress: called with moments done and in all.

    Raises:
        BadArgument: there is no such way.
    """
    unknown = [name for name in chosen if name not in WAYS]
    if unknown:
        raise BadArgument(f"there is no arm {unknown[0]}", f"choose from {', '.join(WAYS)}")
    answers: dict[str, Found] = {}
    held: dict[str, Held] = {}
    done, total = 0, sum(map(len, sets.values()))
    store = open_store(os.path.join(folder, "store"))
    try:
        for name, moments in sets.items():
            found: Found = {way: {size: [] for size in SIZES} for way in (*chosen, CEILING)}
            answers[name] = found
            for moment in moments:
                with store.read(moment.key) as snapshot:
                    desk = Desk(snapshot, held.setdefault(moment.key, Held()), moment)
                    for way, sizes in found.items():
                        for size, filled in sizes.items():
                            filled.append(desk.fill(way, size))
                done += 1
                if progress is not None:
                    progress(done, total)
    finally:
        store.close()
    return answers
