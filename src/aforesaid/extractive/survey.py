"""Floor 5: which bundles are lost, and which of them matter for a request.

`composition` makes a view of what `look` returns, and the classifier is asked about the same bundles. It reads the
session, never writes, and decides nothing about bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from aforesaid import contextual, lineage
from aforesaid.branches import cover, find_branch
from aforesaid.errors import TextSearchFailed
from aforesaid.extractive.gathering import gather
from aforesaid.extractive.ranges import Node, choose_pool
from aforesaid.extractive.sources import said_parts
from aforesaid.extractive.values import Candidate, Quoted
from aforesaid.extractive.vectors import Comparison, read_bag
from aforesaid.privacy.egress import is_due, redact_entry
from aforesaid.query import read_query
from aforesaid.text import digest
from aforesaid.working import read_working

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from aforesaid.answers import Coverage, Query
    from aforesaid.extractive.shelf import Shelf
    from aforesaid.extractive.values import Exchange, ViewOptions
    from aforesaid.extractive.vectors import Bag, Bags
    from aforesaid.model import Branch, Span, StoredEntry
    from aforesaid.ports import Snapshot

# What the addends of a score are worth at most; `docs/view.md` gives the formulas and what they were chosen on.
RELEVANCE: Final = 40.0
INDEX: Final = 60.0
WORK: Final = 30.0
RECENCY: Final = 4.0
ROLES: Final = 2.0
SALIENCE: Final = 3.0
REDUNDANCY: Final = 15.0

COVERED: Final = 0.1
"""Which part of a request an exchange has to hold at the least, each word by how rare it is."""
MOST_TOPICS: Final = 12
"""Of the work that are looked for, the first ones: each is a search."""


class Asked(Struct, frozen=True, kw_only=True):
    """What a view is made for.

    Attributes:
        leaf: id of the branch's leaf; None takes the session's last entry.
        request: the request's text; None takes the latest real user message of the branch.
        context_entries: ids of the entries that the model sees, from a host that knows; None derives them.
        context: the same as rows, where they are known already.
        dropped: ids of entries that a plan leaves out of what the model sees.
    """

    leaf: str | None = None
    request: str | None = None
    context_entries: Sequence[str] | None = None
    context: Sequence[Span] | None = None
    dropped: Sequence[str] = ()


class Survey(Struct, frozen=True, kw_only=True):
    """What was found.

    Attributes:
        branch: where.
        exchanges: all that are lost, oldest first.
        candidates: the pool, oldest first, without salience and redundancy.
        bags: of the candidates, by place.
        request: its text.
        query: what it asks for.
        silent: whether it names nothing that could be looked for, nor the work.
        visible: digests of texts that the model sees, among those of the pool.
        coverage: what was looked at.
        warnings: stable codes.
    """

    branch: Branch
    exchanges: tuple[Exchange, ...]
    candidates: tuple[Candidate, ...]
    bags: Mapping[int, Bag]
    request: str
    query: Query
    silent: bool
    visible: frozenset[bytes]
    coverage: Coverage
    warnings: tuple[str, ...] = ()


def look(snapshot: Snapshot, shelf: Shelf, bags: Bags, asked: Asked, *, options: ViewOptions) -> Survey:
    """Looks for the bundles of a branch that matter for a request.

    Args:
        snapshot: the session.
        shelf: what is known of it.
        bags: what is known of texts.
        asked: for what.
        options: limits.

    Raises:
        LeafUnknown, EntryUnknown: the session has no entry with a given id.
    """
    shelf.refresh(snapshot)
    branch = _find_branch(snapshot, asked)
    request, own = asked.request, None
    if request is None:
        latest = snapshot.latest_request(branch.spans)
        request, own = ("", None) if latest is None else (latest.text, latest.row)
    query = read_query(request)
    exchanges = shelf.exchanges(branch, own)
    work = read_working(snapshot, branch, request, query) if options.working and exchanges else None
    blank = Survey(
        branch=branch, exchanges=exchanges, candidates=(), bags={}, request=request, query=query,
        silent=query.empty and work is None, visible=frozenset(), coverage=cover(snapshot.session),
    )  # fmt: skip
    if blank.silent or not exchanges:
        return blank
    index, warnings = _weigh(snapshot, shelf, query, request, branch)
    asks = [_Ask(words=query.terms, index=index)]
    if work is not None:
        text, wanted = work[0], replace(work[1], terms=work[1].terms[:MOST_TOPICS])
        weighed, warnings = _weigh(snapshot, shelf, wanted, text, branch)
        asks.append(_Ask(words=wanted.terms, index=weighed))
    node = Node(start=0, end=len(exchanges))
    if options.within is not None:
        first, end = options.within
        node = Node(start=max(0, first), end=min(end, len(exchanges)))
    pool = choose_pool(node, () if options.sampled else _join(asks), options.max_candidates)
    read = Reader(snapshot, options)
    every = read.entries([row for place in pool for row in exchanges[place].rows])
    entries = {place: read.entries(exchanges[place].rows) for place in pool}
    visible = snapshot.digests(tuple({entry.digest for entry in every}), branch.context) | {digest(request)}
    sources = {place: tuple(map(read.source, some)) for place, some in entries.items()}
    candidates, compared = _score(shelf, _Pool(sources=sources, visible=visible), asks, bags)
    return replace(blank, candidates=candidates, bags=compared, visible=visible, warnings=warnings)


class _Ask(Struct, frozen=True, kw_only=True):
    """What is looked for: the request, or the work; its words, and what the index says of each exchange for it."""

    words: tuple[str, ...]
    index: Sequence[float]


class _Pool(Struct, frozen=True, kw_only=True):
    """The exchanges that are compared: their sources by place, and texts that are seen."""

    sources: Mapping[int, tuple[Quoted, ...]]
    visible: frozenset[bytes]


class Reader:
    """Reads sources, each once."""

    def __init__(self, snapshot: Snapshot, options: ViewOptions) -> None:
        """Takes the session, and what is done to what is quoted."""
        self._snapshot = snapshot
        self._due = is_due(snapshot.session, options.redacting)
        self._shorten = options.shorten
        self._known: dict[int, StoredEntry] = {}
        self._quoted: dict[int, Quoted] = {}

    def entries(self, rows: Sequence[int]) -> tuple[StoredEntry, ...]:
        """The entries of some rows, in their order."""
        missing = [row for row in rows if row not in self._known]
        if missing:
            self._known.update((entry.row, entry) for entry in self._snapshot.entries(missing))
        return tuple(self._known[row] for row in rows if row in self._known)

    def sources(self, rows: Sequence[int]) -> tuple[Quoted, ...]:
        """Those of some rows that say something."""
        return tuple(source for entry in self.entries(rows) if (source := self.source(entry)).parts)

    def source(self, entry: StoredEntry) -> Quoted:
        """An entry with its parts as they may be quoted."""
        found = self._quoted.get(entry.row)
        if found is None:
            parts = said_parts(redact_entry(entry) if self._due else entry)
            if self._shorten is not None:
                parts = tuple(map(self._shorten, parts))
            found = Quoted(entry=entry, parts=parts)
            self._quoted[entry.row] = found
        return found


def _find_branch(snapshot: Snapshot, asked: Asked) -> Branch:
    """The branch, without what a plan drops in what the model sees of it."""
    branch = find_branch(snapshot, asked.leaf, asked.context_entries, asked.context)
    if not asked.dropped:
        return branch
    gone = [row for row in snapshot.rows(asked.dropped) if row is not None]
    return lineage.divide(branch.leaf, branch.spans, lineage.without(branch.context, gone))


def _weigh(
    snapshot: Snapshot, shelf: Shelf, query: Query, request: str, branch: Branch
) -> tuple[Sequence[float], tuple[str, ...]]:
    """What the index says of each exchange, 0 where nothing of the request stands in it."""
    roots = contextual.roots_of(query.terms)
    plain = tuple(term for term in query.terms if term not in roots)
    try:
        weights = snapshot.weigh_terms(
            plain, (*roots.values(), *contextual.asides(request, query.terms)), branch.eligible
        )
    except TextSearchFailed:
        return [0.0] * shelf.length, (TextSearchFailed.code,)
    return gather(weights, shelf.places, shelf.length), ()


def _join(asks: Sequence[_Ask]) -> Sequence[float]:
    """What the index says of each exchange for the request and the work together."""
    if len(asks) == 1:
        return asks[0].index
    request, work = asks
    first, second = 1 / (max(request.index) or 1.0), WORK / (RELEVANCE + INDEX) / (max(work.index) or 1.0)
    return [first * one + second * other for one, other in zip(request.index, work.index, strict=True)]


class _Judge:
    """What the exchanges of a pool are worth for one thing that is looked for."""

    def __init__(self, ask: _Ask, bags: Mapping[int, Bag]) -> None:
        comparison = Comparison(read_bag(ask.words), tuple(bags.values()))
        self._index = ask.index
        self._cosines = {place: comparison.cosine(bag) for place, bag in bags.items()}
        self._closest = max(self._cosines.values(), default=0.0) or 1.0
        self._heaviest = max(ask.index, default=0.0) or 1.0
        self.relevant = {
            place for place, bag in bags.items() if self._cosines[place] and comparison.covered(bag) >= COVERED
        }

    def relevance(self, place: int) -> float:
        """Its words, as a share of what stands nearest."""
        return RELEVANCE * self._cosines[place] / self._closest

    def index(self, place: int) -> float:
        """What the index says of it, as a share of the heaviest."""
        return INDEX * self._index[place] / self._heaviest


def _score(shelf: Shelf, pool: _Pool, asks: Sequence[_Ask], bags: Bags) -> tuple[tuple[Candidate, ...], dict[int, Bag]]:
    """The pool with its scores, and the bags of its texts."""
    compared = {
        place: bags.get(
            tuple([source.entry.digest for source in some]), [part for source in some for part in source.parts]
        )
        for place, some in pool.sources.items()
    }
    request, *works = (_Judge(ask, compared) for ask in asks)
    relevant = request.relevant.union(*(work.relevant for work in works))
    candidates: list[Candidate] = []
    for place, some in pool.sources.items():
        own = tuple(source for source in some if source.parts and source.entry.digest not in pool.visible)
        addends = (
            request.relevance(place),
            request.index(place),
            sum(WORK / (RELEVANCE + INDEX) * (work.relevance(place) + work.index(place)) for work in works),
            RECENCY * place / max(1, shelf.length - 1),
            ROLES if len({source.entry.role for source in own}) > 1 else 0.0,
            0.0,
            0.0,
        )
        candidates.append(
            Candidate(
                place=place,
                own=own,
                addends=tuple(round(addend, 4) for addend in addends),
                relevant=place in relevant,
                key=shelf.key_of(place),
                fate="irrelevant" if place not in relevant else "no-room" if own else "in-context",
            )
        )
    return tuple(candidates), compared
