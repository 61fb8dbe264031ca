"""Floor 5: the automatic pipeline, from the latest request to framed evidence.

`engine` calls `retrieve` with a snapshot of one session; it reads, never writes, and knows neither files nor SQL. Read
`retrieve` first: it names each step once, in order.
"""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from aforesaid import contextual, evidence, lineage, ranking
from aforesaid.allowance import FULL, allow
from aforesaid.answers import NO_WEIGHTS, Candidate, Coverage, Diagnostics, Matched, Query, Retrieval, Weight
from aforesaid.branches import cover, find_branch
from aforesaid.errors import ExactSearchFailed, TextSearchFailed
from aforesaid.language.endings import ENDINGS
from aforesaid.matching import Probe
from aforesaid.privacy.egress import find_replacements, is_due
from aforesaid.query import read_query
from aforesaid.text import digest

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from aforesaid.allowance import Allowance
    from aforesaid.answers import Ranked, Relevance, RetrievalStatus, Semantic, Weights
    from aforesaid.fusion import Fused
    from aforesaid.model import Branch, Span, StoredEntry
    from aforesaid.moments import Time
    from aforesaid.ports import SimilarityPort, Snapshot
    from aforesaid.privacy.judge import Judge
    from aforesaid.withholding import Judged

TERM_POOL = 80
"""Rows that the full-text search hands over, best bm25 first: several times as many as come back by default."""
CONTEXT_POOL = 64
"""The same of contextual ranking, which needs fewer: what makes a row relevant is counted before the pool is cut."""
LITERAL_POOL = 200
"""Rows that each literal search hands over: latest on the branch first."""
LITERALS_POOL = 1600
"""Rows that all literal searches of a request hand over together, each an equal share."""


class RetrievalOptions(Struct, frozen=True, kw_only=True):
    """What steers a retrieval.

    Attributes:
        exact: search identifiers and phrases literally (`retrieval.exact`).
        fts: search terms in the full-text index (`retrieval.fts`).
        contextual: order what holds no name or phrase by its place among relevant neighbours (`retrieval.ranking`).
        admitting: let relevant neighbours bring up rows in which nothing was verified. For measurement only: no
            configuration says so, for it breaks the match rule.
        working: ask beside the request for what the agent is working on (`retrieval.query`).
        sparing: spend less of the tokens the more the model sees (`retrieval.sparing`).
        max_results: at most so many hits (`retrieval.maxResults`, 1 to 100).
        max_tokens: at most so many estimated tokens of evidence (`context.maxRetrievedHistoryTokens`).
        redacting: replace secrets in what is quoted, where the store holds any (`privacy.redactSecrets`).
    """

    exact: bool = True
    fts: bool = True
    contextual: bool = False
    admitting: bool = False
    working: bool = False
    sparing: bool = True
    max_results: int = 12
    max_tokens: int = 16_000
    redacting: bool = True


def retrieve(
    snapshot: Snapshot,
    *,
    leaf: str | None = None,
    request: str | None = None,
    context_entries: Sequence[str] | None = None,
    context: Sequence[Span] | None = None,
    dropped: Sequence[str] = (),
    options: RetrievalOptions,
    judge: Judge | None = None,
    similar: SimilarityPort | None = None,
) -> Retrieval:
    """Brings back the entries of a branch that the request needs and the model no longer sees.

    Args:
        snapshot: the session.
        leaf: id of the branch's leaf; None takes the session's last entry.
        request: the request's text; None takes the latest real user message of the branch.
        context_entries: ids of the entries that the model sees, from a host that knows; None derives them.
        context: the same as rows, where they are known already.
        dropped: ids of entries that a plan leaves out of what the model sees; unknown ones have no effect.
        options: limits and switches.
        judge: says what may be handed out; None: there is no privacy policy.
        similar: the vector search; None: there is none.

    Raises:
        LeafUnknown, EntryUnknown: the session has no entry with a given id.
        PrivacyFailed: the policy could not be applied.
    """
    started = perf_counter()
    branch = find_branch(snapshot, leaf, context_entries, context)
    if dropped:
        gone = [row for row in snapshot.rows(dropped) if row is not None]
        branch = lineage.divide(branch.leaf, branch.spans, lineage.without(branch.context, gone))
    if request is None:
        branch, request = _latest_request(snapshot, branch)
    query = read_query(request)
    work = _read_work(snapshot, branch, request, query, options)
    asked = [] if query.empty else [(request, query)]
    if not (asked or work) or not (options.exact or options.fts or similar):
        status: RetrievalStatus = "disabled" if asked or work else "no-query"
        return Retrieval(
            session=snapshot.session,
            status=status,
            query=query,
            hits=(),
            diagnostics=_blank(snapshot, options, started, similar),
        )
    near = None if similar is None else _Near(port=similar, admits=_gate(snapshot, judge))
    looks = [
        _look(snapshot, one, words, request=request, branch=branch, options=options, near=near)
        for words, one in (*asked, *work)
    ]
    if any(look.found.exact_failed for look in looks):
        blank = _blank(snapshot, options, started, similar)
        failure = (ExactSearchFailed.code,)
        diagnostics = replace(blank, warnings=failure, coverage=_uncovered(blank.coverage, failure))
        return Retrieval(session=snapshot.session, status="failed", query=query, hits=(), diagnostics=diagnostics)
    look = looks[0] if not work else _mix(looks)
    found, hidden = look.found, look.hidden
    distinct = ranking.deduplicate(hidden)
    judged = _withhold(snapshot, hidden, distinct, branch, judge)
    allowed = judged.cleared.values if judged else distinct
    allowance = _allow(snapshot, branch, options) if allowed else FULL
    hits, left_out = evidence.select(
        allowed,
        looks[0].probe,
        max_results=options.max_results,
        max_tokens=allowance.tokens(options.max_tokens),
        max_characters=allowance.characters,
        by_lines=options.working,
        session_id=None,
        replacing=find_replacements if is_due(snapshot.session, options.redacting) else None,
        beside=looks[-1].probe if work else None,
    )
    hits = tuple(replace(hit, session_id=snapshot.session.header.session_id) for hit in hits)
    visible = found.in_context + look.ranked - len(hidden)
    diagnostics = Diagnostics(
        candidate_count=len(found.candidates) + found.in_context,
        eligible_count=len(hidden),
        duplicate_count=len(hidden) - len(distinct),
        in_context_count=visible,
        alternate_branch_candidates=found.off_branch,
        privacy_excluded_count=len(judged.withheld) if judged else 0,
        planner_excluded_count=left_out,
        selected_tokens=sum(hit.tokens for hit in hits),
        max_tokens=options.max_tokens,
        max_results=options.max_results,
        duration_ms=(perf_counter() - started) * 1000,
        semantic=None if similar is None else _report(similar, looks, hidden),
        coverage=_uncovered(cover(snapshot.session), found.warnings),
        warnings=found.warnings,
    )
    return Retrieval(
        session=snapshot.session,
        status="complete",
        query=query,
        hits=judged.classify(hits) if judged else hits,
        diagnostics=diagnostics,
        withheld=judged.withheld if judged else (),
    )


class _Near(Struct, frozen=True, kw_only=True):
    """The vector search, and which of the rows that it finds may be handed out."""

    port: SimilarityPort
    admits: Callable[[int], bool] | None


def _gate(snapshot: Snapshot, judge: Judge | None) -> Callable[[int], bool] | None:
    """Says of a row whether the privacy policy lets it go, so that none that it does not let go takes a place."""
    if judge is None or judge.open:
        return None
    from aforesaid.withholding import Gate  # late: only a policy needs it

    gate = Gate(snapshot, judge, lambda _: b"")
    return lambda row: gate.admits((row,))


def _report(similar: SimilarityPort, looks: Sequence[_Look], hidden: Sequence[Ranked]) -> Semantic:
    """What the vector search did."""
    matched = [row.matched for row in hidden]
    admitted = sum(not (one.identifiers or one.phrases or one.terms) for one in matched)
    return similar.report(admitted=admitted, stale=max(look.found.stale for look in looks))


class _Look(Struct, frozen=True, kw_only=True):
    """What one query brought up: rows that the model does not see, best first; of `ranked` ones with a match."""

    found: _Found
    probe: Probe
    ranked: int
    hidden: tuple[Ranked, ...]


def _look(
    snapshot: Snapshot,
    query: Query,
    words: str,
    *,
    request: str,
    branch: Branch,
    options: RetrievalOptions,
    near: _Near | None,
) -> _Look:
    """Searches for the query of some words, verifies and ranks what was found, leaves out what the model sees."""
    fused = None if near is None else _find_similar(near, words, branch)
    found = _search(snapshot, query, branch, words, options=options, fused=fused)
    if fused is not None:
        found = _without_stale(found, fused)
    probe = _probe(query, options)
    time = _read_time(words) if options.contextual else None
    ranked = _verify_and_rank(found, query, probe, time, options)
    dated = time is not None and bool(time.days)
    if options.contextual and not (dated or contextual.convinces([row.matched for row in ranked], query)):
        # Where a word stands by accident, what is similar is so by the same accident. Where none does, vectors decide.
        accident = any(row.matched.terms for row in ranked)
        ranked = () if accident else tuple(row for row in ranked if row.candidate.admitted)
    if fused is not None and (query.identifiers or query.phrases):
        ranked = _only_named(ranked)
    return _Look(found=found, probe=probe, ranked=len(ranked), hidden=_hide_visible(snapshot, ranked, branch, request))


def _read_time(words: str) -> Time | None:
    """What a request says of time."""
    from aforesaid.moments import read_time  # late: not needed before the first SQL

    return read_time(words)


def _read_work(
    snapshot: Snapshot, branch: Branch, request: str, query: Query, options: RetrievalOptions
) -> tuple[tuple[str, Query], ...]:
    """The text and the query of the work around a request, if it is asked for and there is any."""
    if not options.working:
        return ()
    from aforesaid.working import read_working  # late: few ask for it

    work = read_working(snapshot, branch, request, query)
    return () if work is None else (work,)


def _mix(looks: Sequence[_Look]) -> _Look:
    """What the request and the work around it brought up, or the work alone, as one; a row counts once."""
    from aforesaid.working import mix  # late: see `_read_work`

    work = looks[-1]
    marked = tuple(replace(row, working=True) for row in work.hidden)
    if len(looks) == 1:
        return replace(work, hidden=marked)
    latest = looks[0]
    rows = {candidate.entry.row: candidate for look in reversed(looks) for candidate in look.found.candidates}
    seen = max(look.ranked - len(look.hidden) for look in looks)
    hidden = mix(latest.hidden, marked)
    return _Look(
        found=replace(
            latest.found,
            candidates=tuple(rows.values()),
            in_context=max(look.found.in_context for look in looks),
            off_branch=max(look.found.off_branch for look in looks),
            warnings=tuple(dict.fromkeys(code for look in looks for code in look.found.warnings)),
        ),
        probe=latest.probe,
        ranked=len(hidden) + seen,
        hidden=hidden,
    )


def _allow(snapshot: Snapshot, branch: Branch, options: RetrievalOptions) -> Allowance:
    """How much may be spent on evidence beside what the model sees."""
    return allow(snapshot.count_tokens(branch.context), working=options.working) if options.sparing else FULL


def _withhold(
    snapshot: Snapshot, ranked: Sequence[Ranked], distinct: Sequence[Ranked], branch: Branch, judge: Judge | None
) -> Judged | None:
    """What the privacy policy says of rows; None if there is none."""
    if judge is None:
        return None
    from aforesaid.withholding import withhold  # late: only a policy needs it

    return withhold(snapshot, ranked, distinct, branch, judge)


class _Found(Struct, frozen=True, kw_only=True):
    """What the searches gave, before anything was verified in the texts."""

    candidates: tuple[Candidate, ...] = ()
    length: int = 0
    in_context: int = 0
    off_branch: int = 0
    exact_failed: bool = False
    warnings: tuple[str, ...] = ()
    stale: int = 0


def _latest_request(snapshot: Snapshot, branch: Branch) -> tuple[Branch, str]:
    """The text of the latest real user message; it is never evidence for itself."""
    entry = snapshot.latest_request(branch.spans)
    if entry is None:
        return branch, ""
    return replace(branch, eligible=lineage.without(branch.eligible, [entry.row])), entry.text


def _only_named(ranked: tuple[Ranked, ...]) -> tuple[Ranked, ...]:
    """The rows of a request that names something: if that stands nowhere, what is only similar is something else."""
    if any(row.matched.identifiers or row.matched.phrases for row in ranked):
        return ranked
    return tuple(row for row in ranked if row.matched.terms)


def _find_similar(near: _Near, words: str, branch: Branch) -> Fused:
    """The rows of the branch that are similar to a request, and what they are worth."""
    from aforesaid.fusion import fuse  # late: only vectors need it

    beside = lineage.subtract(branch.spans, branch.eligible)
    found = near.port.find(words, branch.eligible, beside, near.admits)
    return fuse(found, near.port.scale, lineage.Places(branch.eligible))


def _without_stale(found: _Found, fused: Fused) -> _Found:
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


def _search(
    snapshot: Snapshot, query: Query, branch: Branch, request: str, *, options: RetrievalOptions, fused: Fused | None
) -> _Found:
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
            return _Found(exact_failed=True)
    if options.fts:
        try:
            if options.contextual:
                weights = _weigh(snapshot, query, branch, request)
                relevance = _order(snapshot, weights, branch, fused, literal=rows, admitting=options.admitting)
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
            relevance = _order(snapshot, None, branch, fused, literal=rows, admitting=False)
        rows.update(dict.fromkeys((*relevance, *(() if options.contextual else fused.passages))))
    places = lineage.Places(branch.spans)
    on_branch = {row: place for row in rows if (place := places.of(row)) is not None}
    return _Found(
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
    roots = contextual.roots_of(query.terms)
    plain = tuple(term for term in query.terms if term not in roots)
    beginnings = (*roots.values(), *contextual.asides(request, query.terms))
    return snapshot.weigh_terms(plain, beginnings, branch.spans, contextual.pairs_of(request))


def _order(
    snapshot: Snapshot,
    weights: Weights | None,
    branch: Branch,
    fused: Fused | None,
    *,
    literal: Collection[int],
    admitting: bool,
) -> dict[int, Relevance]:
    """The rows that are most relevant in their place on the branch, best first."""
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
    return contextual.order(weights, places, eligible, CONTEXT_POOL, semantic=semantic, literal=literal, others=others)


def _all_others(snapshot: Snapshot, weights: Weights, branch: Branch) -> tuple[Weight, ...]:
    """The eligible rows that hold nothing."""
    from aforesaid.inquiry import Filter  # late: nothing but a measurement needs it

    known = set(weights.rows)
    outlines = snapshot.outlines(branch.eligible, Filter())
    return tuple(Weight(row=one.row, score=0.0, role=one.role) for one in outlines if one.row not in known)


def _probe(query: Query, options: RetrievalOptions) -> Probe:
    """What is looked for in each text."""
    literals = (query.identifiers, query.phrases) if options.exact else ((), ())
    if not options.contextual:
        return Probe(*literals, query.terms)
    return Probe(*literals, query.terms, contextual.roots_of(query.terms), ENDINGS)


def _verify_and_rank(
    found: _Found, query: Query, probe: Probe, time: Time | None, options: RetrievalOptions
) -> tuple[Ranked, ...]:
    """Looks in each text for what was asked, and orders the rows in which something really stands."""
    verified = []
    for candidate in found.candidates:
        identifiers, phrases, terms = probe.matched(candidate.entry.text)
        verified.append((candidate, Matched(identifiers=identifiers, phrases=phrases, terms=terms)))
    return ranking.rank(verified, query, found.length, time, admitting=options.admitting, working=options.working)


def _hide_visible(snapshot: Snapshot, ranked: Sequence[Ranked], branch: Branch, request: str) -> tuple[Ranked, ...]:
    """Leaves out rows whose (normalised) text the model sees in another entry, or has just been sent."""
    wanted = {row.candidate.entry.digest for row in ranked}
    visible = snapshot.digests(tuple(wanted), branch.context) | {digest(request)}
    if any(row.candidate.entry.redacted for row in ranked):
        from aforesaid.privacy.secrets import redact  # late: few sessions hold a secret

        visible |= {digest(redact(request).text)}
    return tuple(row for row in ranked if row.candidate.entry.digest not in visible)


def _uncovered(coverage: Coverage, failures: tuple[str, ...]) -> Coverage:
    """What was searched, where some searches failed."""
    return Coverage(complete=False, reasons=(*coverage.reasons, *failures)) if failures else coverage


def _blank(
    snapshot: Snapshot, options: RetrievalOptions, started: float, similar: SimilarityPort | None
) -> Diagnostics:
    return Diagnostics(
        semantic=None if similar is None else similar.report(admitted=0, stale=0),
        max_tokens=options.max_tokens,
        max_results=options.max_results,
        duration_ms=(perf_counter() - started) * 1000,
        coverage=cover(snapshot.session),
    )
