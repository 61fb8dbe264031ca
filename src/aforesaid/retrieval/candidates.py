"""Floor 5: the rows that the searches of one query bring up, with what each search says of them.

`retrieval` hands in a query, a branch and, where there are vectors, the vector search; it gets candidates in which
nothing was verified yet. The filters of branch and context hold inside every search, before any limit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from aforesaid import contextual, lineage
from aforesaid.answers import NO_WEIGHTS, Candidate, Weight
from aforesaid.errors import ExactSearchFailed, TextSearchFailed

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from aforesaid.answers import Query, Relevance, Weights
    from aforesaid.fusion import Fused
    from aforesaid.model import Branch, StoredEntry
    from aforesaid.ports import SimilarityPort, Snapshot
    from aforesaid.privacy.judge import Judge
    from aforesaid.retrieval.options import RetrievalOptions

TERM_POOL = 80
"""Rows that the full-text search hands over, best bm25 first: several times as many as come back by default."""
CONTEXT_POOL = 64
"""The same of contextual ranking, which needs fewer: what makes a row relevant is counted before the pool is cut."""
WIDE_POOL = 300
"""The same where nothing keeps silence (`RetrievalOptions.answering`): the widest that the design has figures of."""
LITERAL_POOL = 200
"""Rows that each literal search hands over: latest on the branch first."""
LITERALS_POOL = 1600
"""Rows that all literal searches of a request hand over together, each an equal share."""


class Near(Struct, frozen=True, kw_only=True):
    """The vector search, and which of the rows that it finds may be handed out."""

    port: SimilarityPort
    admits: Callable[[int], bool] | None


class Found(Struct, frozen=True, kw_only=True):
    """What the searches gave, before anything was verified in the texts."""

    candidates: tuple[Candidate, ...] = ()
    length: int = 0
    in_context: int = 0
    off_branch: int = 0
    exact_failed: bool = False
    warnings: tuple[str, ...] = ()
    stale: int = 0


def gate(snapshot: Snapshot, judge: Judge | None) -> Callable[[int], bool] | None:
    """What says of a row whether the privacy policy lets it go, so that none that it does not let go takes a place."""
    if judge is None or judge.open:
        return None
    from aforesaid.withholding import Gate  # late: only a policy needs it

    found = Gate(snapshot, judge, lambda _: b"")
    return lambda row: found.admits((row,))


def find_similar(near: Near, words: str, branch: Branch) -> Fused:
    """The rows of the branch that are similar to a request, and what they are worth."""
    from aforesaid.fusion import fuse  # late: only vectors need it

    beside = lineage.subtract(branch.spans, branch.eligible)
    found = near.port.find(words, branch.eligible, beside, near.admits)
    return fuse(found, near.port.scale, lineage.Places(branch.eligible))


def without_stale(found: Found, fused: Fused) -> Found:
    """Takes what vectors of other texts are worth from the candidates."""
    from aforesaid.fusion import still_says, without_vector  # late: as above

    kept: list[Candidate] = []
    stale = 0
    for candidate in found.candidates:
        passage = fused.passages.get(candidate.entry.row)
        if passage is None or still_says(candidate.entry, passage):
            kept.append(candidate)
            continue
        stale += 1
        relevance = None if candidate.relevance is None else without_vector(candidate.relevance)
        kept.append(replace(candidate, relevance=relevance, semantic=0.0, passage=None, admitted=False))
    return replace(found, candidates=tuple(kept), stale=stale)


def search(
    snapshot: Snapshot, query: Query, branch: Branch, request: str, *, options: RetrievalOptions, fused: Fused | None
) -> Found:
    """Asks every generator and merges what they found by row; rows off the branch are dropped and counted."""
    rows: dict[int, None] = {}
    order: dict[int, int] = {}
    relevance: dict[int, Relevance] = {}
    warnings: tuple[str, ...] = ()
    in_context = 0
    if options.exact:
        try:
            needles = (*query.identifiers, *query.phrases)
            share = min(LITERAL_POOL, LITERALS_POOL // max(1, len(needles)))
            for literal_rows in snapshot.find_literals(needles, branch.eligible, share):
                rows.update(dict.fromkeys(literal_rows))
        except ExactSearchFailed:
            return Found(exact_failed=True)
    if options.fts:
        try:
            if options.contextual:
                weights = _weigh(snapshot, query, branch, request)
                relevance = _order(snapshot, weights, branch, fused, literal=rows, options=options)
            else:
                found = snapshot.find_terms(query.terms, branch.eligible, TERM_POOL)
                order = {term_row.row: place for place, term_row in enumerate(found)}
            in_context = snapshot.count_terms(query.terms, branch.context)
        except TextSearchFailed:
            warnings = (TextSearchFailed.code,)
        else:
            rows.update(dict.fromkeys((*order, *relevance)))
    if fused is not None:
        if options.contextual and not relevance:
            relevance = _order(snapshot, None, branch, fused, literal=rows, options=options)
        rows.update(dict.fromkeys((*relevance, *(() if options.contextual else fused.passages))))
    places = lineage.Places(branch.spans)
    on_branch = {row: place for row in rows if (place := places.of(row)) is not None}
    return Found(
        candidates=tuple(
            _candidate(entry, on_branch[entry.row], order.get(entry.row), relevance.get(entry.row), fused)
            for entry in snapshot.entries(tuple(on_branch))
        ),
        length=places.length,
        in_context=in_context,
        off_branch=len(rows) - len(on_branch),
        warnings=warnings,
    )


def _candidate(
    entry: StoredEntry, position: int, order: int | None, relevance: Relevance | None, fused: Fused | None
) -> Candidate:
    """An eligible row with what each search says of it."""
    if fused is None or entry.row not in fused.passages:
        return Candidate(entry=entry, position=position, order=order, relevance=relevance)
    from aforesaid.fusion import DOCUMENTED  # late: only vectors need it

    passage = fused.passages[entry.row]
    return Candidate(
        entry=entry,
        position=position,
        order=order,
        relevance=relevance,
        semantic=DOCUMENTED * fused.worth[entry.row],
        passage=(passage.start, passage.end),
        admitted=entry.row in fused.admitted,
    )


def _weigh(snapshot: Snapshot, query: Query, branch: Branch, request: str) -> Weights:
    """The rows that hold something of the topics, or of the words beside them."""
    terms, beginnings, pairs = contextual.sought(request, query)
    return snapshot.weigh_terms(terms, beginnings, branch.spans, pairs)


def _order(
    snapshot: Snapshot,
    weights: Weights | None,
    branch: Branch,
    fused: Fused | None,
    *,
    literal: Collection[int],
    options: RetrievalOptions,
) -> dict[int, Relevance]:
    """The rows that are most relevant in their place on the branch, best first."""
    admitting = options.admitting and weights is not None
    weights = NO_WEIGHTS if weights is None else weights
    others: tuple[Weight, ...] = ()
    semantic: dict[int, float] = {}
    if fused is not None:
        from aforesaid.fusion import RELEVANCE  # late: as above

        best = max(weights.scores, default=0.0) or RELEVANCE
        alone = snapshot.entries(sorted(fused.admitted.difference(weights.rows)))
        others = tuple(Weight(row=entry.row, score=0.0, role=entry.role) for entry in alone)
        semantic = {row: best * worth for row, worth in fused.worth.items()}
    if admitting:
        others = _all_others(snapshot, weights, branch)
    places, eligible = lineage.Places(branch.spans), lineage.Places(branch.eligible)
    pool = WIDE_POOL if options.answering else CONTEXT_POOL
    return contextual.order(weights, places, eligible, pool, semantic=semantic, literal=literal, others=others)


def _all_others(snapshot: Snapshot, weights: Weights, branch: Branch) -> tuple[Weight, ...]:
    """The eligible rows that hold nothing."""
    from aforesaid.inquiry import Filter  # late: nothing but a measurement needs it

    known = set(weights.rows)
    outlines = snapshot.outlines(branch.eligible, Filter())
    return tuple(Weight(row=one.row, score=0.0, role=one.role) for one in outlines if one.row not in known)
