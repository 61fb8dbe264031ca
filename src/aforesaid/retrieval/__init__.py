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
from aforesaid.answers import Coverage, Diagnostics, Matched, Query, Retrieval
from aforesaid.branches import TERMS_DROPPED, cover, find_branch
from aforesaid.errors import ExactSearchFailed
from aforesaid.language.endings import endings_after
from aforesaid.matching import Probe
from aforesaid.privacy.egress import find_replacements, is_due
from aforesaid.query import read_query
from aforesaid.retrieval.candidates import Found, Near, find_similar, gate, search, without_stale
from aforesaid.text import digest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aforesaid.allowance import Allowance
    from aforesaid.answers import Evidence, Ranked, RetrievalStatus, Semantic
    from aforesaid.model import Branch, Role, Span
    from aforesaid.moments import Time
    from aforesaid.ports import SimilarityPort, Snapshot
    from aforesaid.privacy.judge import Judge
    from aforesaid.retrieval.options import RetrievalOptions
    from aforesaid.withholding import Judged

_NOBODY: frozenset[Role] = frozenset()


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
    query = _read(request, options)
    work = _read_work(snapshot, branch, request, query, options)
    asked = [] if query.empty else [(request, query)]
    coverage = _uncovered(cover(snapshot.session), (TERMS_DROPPED,) if query.cut else ())
    if not (asked or work) or not (options.exact or options.fts or similar):
        status: RetrievalStatus = "disabled" if asked or work else "no-query"
        return Retrieval(
            session=snapshot.session,
            status=status,
            query=query,
            hits=(),
            diagnostics=_blank(coverage, options, started, similar),
        )
    known = _known(snapshot, branch, options)
    near = None if similar is None else Near(port=similar, admits=gate(snapshot, judge))
    looks = [
        _look(snapshot, one, words, request=request, branch=branch, options=options, near=near, known=known)
        for words, one in (*asked, *work)
    ]
    if any(look.found.exact_failed for look in looks):
        blank = _blank(coverage, options, started, similar)
        failure = (ExactSearchFailed.code,)
        diagnostics = replace(blank, warnings=failure, coverage=_uncovered(coverage, failure))
        return Retrieval(session=snapshot.session, status="failed", query=query, hits=(), diagnostics=diagnostics)
    look = looks[0] if not work else _mix(looks)
    found, hidden = look.found, look.hidden
    distinct = ranking.deduplicate(hidden)
    judged = _withhold(snapshot, hidden, distinct, branch, judge)
    allowed = judged.cleared.values if judged else distinct
    partners = (
        _bring_partners(snapshot, allowed, looks[0].probe, branch=branch, request=request, options=options)
        if asked
        else ()
    )
    if partners:
        hidden = (*hidden, *partners)
        distinct = ranking.deduplicate(hidden)
        judged = _withhold(snapshot, hidden, distinct, branch, judge)
        allowed = judged.cleared.values if judged else distinct
    allowance = _allow(snapshot, branch, options) if allowed else FULL
    most = allowance.tokens(options.max_tokens)
    arranged = _arrange(allowed, request, known, allowance.characters, options)
    hits, left_out = evidence.select(
        arranged.rows,
        looks[0].probe,
        max_results=options.max_results,
        max_tokens=most,
        max_characters=arranged.characters,
        known=arranged.known,
        session_id=None,
        replacing=find_replacements if is_due(snapshot.session, options.redacting) else None,
        beside=looks[-1].probe if work else None,
    )
    hits = _finish(hits, snapshot.session.header.session_id, mixed=bool(work))
    visible = found.in_context + look.ranked - len(look.hidden)
    diagnostics = Diagnostics(
        candidate_count=len(found.candidates) + len(partners) + found.in_context,
        eligible_count=len(hidden),
        duplicate_count=len(hidden) - len(distinct),
        in_context_count=visible,
        alternate_branch_candidates=found.off_branch,
        privacy_excluded_count=len(judged.withheld) if judged else 0,
        planner_excluded_count=left_out,
        silenced_count=look.silenced,
        selected_tokens=sum(hit.tokens for hit in hits),
        max_tokens=options.max_tokens,
        allowed_tokens=most if allowed else None,
        max_results=options.max_results,
        duration_ms=(perf_counter() - started) * 1000,
        semantic=None if similar is None else _report(similar, looks, hidden),
        coverage=_uncovered(coverage, found.warnings),
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


def _finish(hits: Sequence[Evidence], session_id: str, *, mixed: bool) -> tuple[Evidence, ...]:
    """The hits with their session; those of two rankings as tiers want it, now that it is settled which they are."""
    named = tuple(replace(hit, session_id=session_id) for hit in hits)
    if not mixed:
        return named
    from aforesaid.working import by_tier  # late: see `_read_work`

    return by_tier(named)


def _bring_partners(
    snapshot: Snapshot,
    allowed: Sequence[Ranked],
    probe: Probe,
    *,
    branch: Branch,
    request: str,
    options: RetrievalOptions,
) -> tuple[Ranked, ...]:
    """The other halves of calls and results, in the places that nothing needs which matched for itself."""
    room = options.max_results - len(allowed)
    if room <= 0 or not options.contextual or all(row.tier == "other" for row in allowed):
        return ()
    from aforesaid.retrieval.partners import bring_partners  # late: only names and phrases bring any

    partners = bring_partners(snapshot, allowed, branch, probe, room)
    return _hide_visible(snapshot, partners, branch, request) if partners else ()


class _Arranged(Struct, frozen=True, kw_only=True):
    """Rows in the order in which they are framed, what `evidence.select` takes as known, and characters of each."""

    rows: Sequence[Ranked]
    known: frozenset[str] | None
    characters: int


def _arrange(
    allowed: Sequence[Ranked], request: str, known: frozenset[str] | None, characters: int, options: RetrievalOptions
) -> _Arranged:
    """Where something is to be done rather than answered, more different rows follow the best, each a bit narrower."""
    if known is None and allowed and options.contextual:
        from aforesaid.variety import NARROWER, is_question, vary  # late: not needed before the first SQL

        if not is_question(request):
            rows = vary(allowed, options.max_results)
            return _Arranged(rows=rows, known=frozenset(), characters=int(characters * NARROWER))
    return _Arranged(rows=allowed, known=known, characters=characters)


def _report(similar: SimilarityPort, looks: Sequence[_Look], hidden: Sequence[Ranked]) -> Semantic:
    """What the vector search did."""
    alone = [row.matched for row in hidden if row.candidate.admitted]
    admitted = sum(not (one.identifiers or one.phrases or one.terms) for one in alone)
    return similar.report(admitted=admitted, stale=max(look.found.stale for look in looks))


class _Look(Struct, frozen=True, kw_only=True):
    """What one query brought up: rows that the model does not see, best first; of `ranked` ones with a match.

    Of others, so many as are `silenced`, it does not see the text either, but they match by accident.
    """

    found: Found
    probe: Probe
    ranked: int
    hidden: tuple[Ranked, ...]
    silenced: int = 0


def _look(
    snapshot: Snapshot,
    query: Query,
    words: str,
    *,
    request: str,
    branch: Branch,
    options: RetrievalOptions,
    near: Near | None,
    known: frozenset[str] | None,
) -> _Look:
    """Searches for the query of some words, verifies and ranks what was found, leaves out what the model sees."""
    fused = None if near is None else find_similar(near, words, branch)
    found = search(snapshot, query, branch, words, options=options, fused=fused)
    if fused is not None:
        found = without_stale(found, fused)
    probe = _probe(query, options)
    time = _read_time(words) if options.contextual else None
    # Who asks says so in the request; the work around it is nobody's question.
    asked = contextual.asked_of(request) if options.contextual and words == request else _NOBODY
    ranked = _verify_and_rank(found, query, probe, time, known=known, asked=asked, options=options)
    dated = time is not None and bool(time.days)
    silenced = 0
    certain = dated or options.answering or contextual.convinces([row.matched for row in ranked], query)
    if options.contextual and not certain:
        # Where a word stands by accident, what is similar is so by the same accident. Where none does, vectors decide.
        accidents = tuple(row for row in ranked if row.matched.terms)
        silenced = len(_hide_visible(snapshot, accidents, branch, request)) if accidents else 0
        ranked = () if accidents else tuple(row for row in ranked if row.candidate.admitted)
    if fused is not None and not options.answering and query.named:
        ranked = _only_named(ranked)
    hidden = _hide_visible(snapshot, ranked, branch, request)
    return _Look(found=found, probe=probe, ranked=len(ranked), hidden=hidden, silenced=silenced)


def _read(request: str, options: RetrievalOptions) -> Query:
    """The query of a request."""
    query = read_query(request)
    return contextual.read_leftovers(request) if options.answering and query.empty else query


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


def _known(snapshot: Snapshot, branch: Branch, options: RetrievalOptions) -> frozenset[str] | None:
    """The names that the model sees, if the work is asked for."""
    if not options.working:
        return None
    from aforesaid.working import collect_names  # late: see `_read_work`

    return collect_names(snapshot, branch)


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
        silenced=max(look.silenced for look in looks),
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


def _probe(query: Query, options: RetrievalOptions) -> Probe:
    """What is looked for in each text."""
    literals = (query.identifiers, query.phrases) if options.exact else ((), ())
    if not options.contextual:
        return Probe(*literals, query.terms)
    return Probe(*literals, query.terms, contextual.roots_of(query.terms), endings_after)


def _verify_and_rank(
    found: Found,
    query: Query,
    probe: Probe,
    time: Time | None,
    *,
    known: frozenset[str] | None,
    asked: frozenset[Role],
    options: RetrievalOptions,
) -> tuple[Ranked, ...]:
    """Looks in each text for what was asked, and orders the rows in which something really stands."""
    verified = []
    for candidate in found.candidates:
        identifiers, phrases, terms = probe.matched(candidate.entry.text)
        verified.append((candidate, Matched(identifiers=identifiers, phrases=phrases, terms=terms)))
    return ranking.rank(
        verified,
        query,
        found.length,
        time,
        admitting=options.admitting,
        bare=options.bare,
        known=known,
        asked=asked,
    )


def _hide_visible(snapshot: Snapshot, ranked: Sequence[Ranked], branch: Branch, request: str) -> tuple[Ranked, ...]:
    """Leaves out rows whose (normalised) text the model sees in another entry, or has just been sent."""
    wanted = {row.candidate.entry.digest for row in ranked}
    said = {digest(request): request}
    if any(row.candidate.entry.redacted for row in ranked):
        from aforesaid.privacy.secrets import redact  # late: few sessions hold a secret

        shown = redact(request).text
        said[digest(shown)] = shown
    visible = snapshot.digests(tuple(wanted), branch.context) | said.keys()
    alike = tuple(row for row in ranked if row.candidate.entry.digest in visible)
    if any(row.matched.literals for row in alike):
        from aforesaid.retrieval.spelling import leave_others  # late: seldom is a name verified in what is visible

        alike = leave_others(snapshot, alike, branch, said)
    gone = {row.candidate.entry.row for row in alike}
    return tuple(row for row in ranked if row.candidate.entry.row not in gone)


def _uncovered(coverage: Coverage, failures: tuple[str, ...]) -> Coverage:
    """What was searched, where some searches failed."""
    return Coverage(complete=False, reasons=(*coverage.reasons, *failures)) if failures else coverage


def _blank(
    coverage: Coverage, options: RetrievalOptions, started: float, similar: SimilarityPort | None
) -> Diagnostics:
    return Diagnostics(
        semantic=None if similar is None else similar.report(admitted=0, stale=0),
        max_tokens=options.max_tokens,
        max_results=options.max_results,
        duration_ms=(perf_counter() - started) * 1000,
        coverage=coverage,
    )
