"""Floor 8: what the user of a host is told about a session, as text: the answers to `/context` in Pi.

`sessions` calls `tell` with what the service and the host know. The text is shown on this machine only: it may quote
evidence, and no host may send it to a model. JSON for machines is in `wire`.
"""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from aforesaid import __version__
from aforesaid.errors import BadArgument

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from aforesaid.answers import Diagnostics, Evidence, Retrieval
    from aforesaid.config import Config
    from aforesaid.extractive.values import HistoryView
    from aforesaid.model import Tally
    from aforesaid.planning.values import ManifestItem, Plan
    from aforesaid.reports import StoreStatus

_EXCERPT: Final = 300
"""Characters of an excerpt that are shown."""
_LISTED: Final = 20
"""Items of a manifest that are listed, unless all are asked for."""
_WHY: Final = {
    "whole": "all of the conversation that Pi would send went out",
    "over-soft-limit": "the conversation alone was over the soft limit, so older turns were left out",
    "over-hard-limit": "the conversation alone is over the hard limit, so nothing was added",
    "observer": "`context.mode` is `observer`, so nothing was changed",
}
"""What the reasons of plans mean."""
_HIDDEN: Final[dict[int, str | None]] = {
    **dict.fromkeys((*range(0x20), 0x7F, *range(0x80, 0xA0), 0x2028, 0x2029), " "),
    **dict.fromkeys((*range(0x202A, 0x202F), *range(0x2066, 0x206A))),
}
"""What a terminal would act on: control characters become blanks, marks that turn the direction of writing go."""


class Prefix(Struct, frozen=True, kw_only=True):
    """Which share of the previous request the next one began with: as it was sent, and as the host alone would have."""

    sent: float
    native: float


class HostFacts(Struct, frozen=True, kw_only=True, rename="camel"):
    """What only the host knows of itself; a host leaves out what it does not measure.

    Attributes:
        calls: model calls that it asked about, or answered itself.
        outcome: what became of the last one.
        handler_ms: how long each of the latest ones was held up.
        first_call_ms: how long the first one was held up in all, with what was waited for before its event.
        factory_ms, start_ms: how long loading the adapter, and the start of the session, held the host up.
        prefix: of the latest calls.
        starts: how often the service was started.
        trouble: what went wrong last, or empty.
        used_tokens: what the host counts in the model's context, if it knows.
    """

    calls: int = 0
    outcome: str = "none"
    handler_ms: tuple[float, ...] = ()
    first_call_ms: float | None = None
    factory_ms: float = 0.0
    start_ms: float = 0.0
    prefix: tuple[Prefix, ...] = ()
    starts: int = 0
    trouble: str = ""
    used_tokens: int | None = None


class Known(Struct, frozen=True, kw_only=True):
    """Everything that an answer may be about.

    Attributes:
        session: the open session.
        entries: how many of its entries the model sees natively.
        last: the last plan for it, or None.
        facts: what the host says.
        config: what counts now.
        store: asks for the state of the store; may raise `StoreError`.
        withheld: asks for the counts of what the privacy policy withheld.
        view: the history view of the last plan; None if none was wanted.
    """

    session: str
    entries: int
    last: Plan | None
    facts: HostFacts
    config: Config
    store: Callable[[], StoreStatus]
    withheld: Callable[[], Sequence[Tally]] = tuple
    view: HistoryView | None = None


def tell(topic: str, known: Known) -> str:
    """The answer to a topic.

    Raises:
        BadArgument: there is no such topic.
        StoreError: the topic needs the store, which cannot be read.
    """
    lines = TOPICS.get(topic)
    if lines is None:
        raise BadArgument(f"there is no topic {topic}", f"choose one of {', '.join(TOPICS)}")
    return "\n".join(lines(known))


def _status(known: Known) -> Iterator[str]:
    facts, last = known.facts, _retrieval(known)
    yield f"aforesaid {__version__}, {_plural(facts.calls, 'model call')}, the last one: {facts.outcome}"
    yield f"session: {known.session}; the model sees {_plural(known.entries, 'entry', 'entries')} natively"
    if last is None:
        yield "nothing was asked yet"
    else:
        counts = last.diagnostics
        yield (
            f"last request: {last.status}, {_plural(len(_sent(known)), 'evidence message')} of "
            f"{counts.candidate_count} candidates, {counts.selected_tokens:,} of {counts.max_tokens:,} tokens, "
            f"{counts.duration_ms:.1f} ms"
        )
    yield "`/context retrieved` shows what was found, `/context health` whether all is well"


def _retrieved(known: Known) -> Iterator[str]:
    last = _retrieval(known)
    if last is None:
        yield f"nothing was retrieved: {known.facts.outcome}"
        return
    counts = last.diagnostics
    yield (
        f"{last.status}: {_plural(len(last.hits), 'hit')} of {counts.candidate_count} candidates, "
        f"{counts.selected_tokens:,} of {counts.max_tokens:,} tokens; {counts.duration_ms:.1f} ms to retrieve, "
        f"{known.facts.handler_ms[-1] if known.facts.handler_ms else 0.0:.1f} ms in all"
    )
    yield (
        f"left out: {counts.in_context_count} in the context, {counts.duplicate_count} duplicates, "
        f"{counts.alternate_branch_candidates} of other branches, {counts.planner_excluded_count} by the plan"
        f"{_spared(counts)}, "
        f"{counts.privacy_excluded_count} by the policy"
    )
    if counts.semantic is not None and counts.semantic.reason is not None:
        yield f"vectors were not used: {counts.semantic.reason}"
    if counts.warnings:
        yield f"warnings: {', '.join(counts.warnings)}"
    if not counts.coverage.complete:
        yield f"not everything could be searched: {', '.join(counts.coverage.reasons)}"
    elif counts.coverage.reasons:
        yield f"everything was searched; to note: {', '.join(counts.coverage.reasons)}"
    sent = _sent(known)
    for number, hit in enumerate(last.hits, 1):
        yield from _hit(number, hit, sent=hit.ranked.candidate.entry.id in sent)


def _hit(number: int, hit: Evidence, *, sent: bool) -> Iterator[str]:
    entry = hit.ranked.candidate.entry
    date = f"{entry.timestamp[:10]} {entry.timestamp[11:19]} UTC" if entry.timestamp else "unknown date"
    yield ""
    yield (
        f"{number}. {_shown(entry.id)}  {entry.role}  {date}  score {hit.ranked.score:.2f}  "
        f"{_plural(hit.tokens, 'token')}  {hit.ranked.reason}"
        f"{'' if sent else '  (left out)'}"
    )
    text = _shown(hit.excerpt)
    yield f"   {text[:_EXCERPT]}{'…' if len(text) > _EXCERPT else ''}"


def _manifest(known: Known) -> Iterator[str]:
    plan = known.last
    if plan is None:
        yield f"nothing was planned: {known.facts.outcome}"
        return
    manifest, limits = plan.manifest, plan.manifest.limits
    yield f"{plan.status} ({plan.reason}) for {_shown(manifest.model or 'an unknown model')}"
    yield (
        f"window {limits.window:,} tokens: {limits.reserve:,} for the answer, target {limits.target:,}, "
        f"soft limit {limits.soft:,}, hard limit {limits.hard:,}"
    )
    for label, items in (("included", manifest.included), ("left out", manifest.excluded)):
        yield f"{label}: {_by_kind(items)}"
    yield f"retrieved: {', '.join(map(_shown, manifest.retrieved_event_ids)) or 'nothing'}"
    yield f"digest of the messages: {manifest.messages_sha256}"
    if manifest.sampled:
        yield "the lists are samples: there were too many items"


def _by_kind(items: Sequence[ManifestItem]) -> str:
    kinds = dict.fromkeys(item.kind for item in items)
    parts = []
    for kind in kinds:
        tokens = [item.tokens for item in items if item.kind == kind]
        parts.append(f"{len(tokens):,} {kind} ({sum(tokens):,} tokens)")
    return ", ".join(parts) or "nothing"


def _included(known: Known) -> Iterator[str]:
    return _items(known, () if known.last is None else known.last.manifest.included, _LISTED)


def _excluded(known: Known) -> Iterator[str]:
    return _items(known, () if known.last is None else known.last.manifest.excluded, _LISTED)


def _all_excluded(known: Known) -> Iterator[str]:
    return _items(known, () if known.last is None else known.last.manifest.excluded, None)


def _items(known: Known, items: Sequence[ManifestItem], most: int | None) -> Iterator[str]:
    """The last ones of a list of the manifest: those that stand nearest to the request."""
    if known.last is None:
        yield f"nothing was planned: {known.facts.outcome}"
        return
    yield _by_kind(items)
    shown = items if most is None else items[-most:]
    if len(shown) < len(items):
        yield f"  the last {len(shown)} of {len(items):,}:"
    for item in shown:
        score = "" if item.score is None else f"  score {item.score:.2f}"
        yield (
            f"  {item.kind}  {_shown(item.entry_id or '-')}  {_plural(item.tokens, 'token')}  {item.classification}  "
            f"{item.group_id}  {_shown(item.reason)}{score}"
        )


def _explain(known: Known) -> Iterator[str]:
    plan, found = known.last, _retrieval(known)
    if plan is None or found is None:
        yield f"Pi's own messages went out: {known.facts.outcome}"
        return
    query = found.query
    asked = (
        ("names", query.identifiers),
        ("phrases", query.phrases),
        ("topics", (*query.technologies, *query.keywords)),
    )
    for label, terms in asked:
        if terms:
            yield f"{label} in the request: {', '.join(map(_shown, terms))}"
    if query.empty:
        yield "the request names no topic, so nothing was searched"
        return
    counts = found.diagnostics
    yield f"{counts.candidate_count} entries of this branch were looked at, {counts.eligible_count} matched"
    if counts.silenced_count:
        yield f"{counts.silenced_count} besides share a word with the request, too little to count"
    yield (
        f"{counts.in_context_count} the model still sees, {counts.duplicate_count} say the same as another, "
        f"{counts.privacy_excluded_count} the policy withholds, {counts.planner_excluded_count} did not fit"
        f"{_spared(counts)}"
    )
    yield f"{_plural(len(_sent(known)), 'message')} went before the request; {_WHY.get(plan.reason, plan.reason)}"


def _spared(counts: Diagnostics) -> str:
    """What `retrieval.sparing` leaves of the tokens, in brackets; nothing if it leaves all."""
    if counts.allowed_tokens is None or counts.allowed_tokens >= counts.max_tokens:
        return ""
    return f" ({counts.allowed_tokens:,} tokens were allowed: retrieval.sparing)"


def _tokens(known: Known) -> Iterator[str]:
    plan = known.last
    if plan is None:
        yield f"nothing was planned: {known.facts.outcome}"
        return
    limits, found = plan.manifest.limits, plan.retrieval
    added = 0 if found is None else found.diagnostics.selected_tokens
    yield f"Pi alone: {plan.native_tokens:,} tokens; as planned: {plan.tokens:,}, of that {added:,} evidence"
    yield f"limits: target {limits.target:,}, soft {limits.soft:,}, hard {limits.hard:,}, window {limits.window:,}"
    if found is not None:
        counts = found.diagnostics
        yield f"evidence may have {counts.max_tokens:,} tokens{_spared(counts)} and {counts.max_results} messages"
    if known.facts.used_tokens is not None:
        yield f"the host counts {known.facts.used_tokens:,} tokens in the context"
    yield "everything else is estimated"


def _health(known: Known) -> Iterator[str]:
    facts, store = known.facts, known.store()
    yield f"service: version {__version__}, started {_plural(facts.starts, 'time')}"
    if facts.trouble:
        yield f"last trouble: {_shown(facts.trouble)}"
    if facts.handler_ms:
        ordered = sorted(facts.handler_ms)
        yield (
            f"model calls were held up for {median(ordered):.1f} ms, p95 {ordered[len(ordered) * 95 // 100]:.1f} ms, "
            f"slowest {ordered[-1]:.1f} ms, of {_plural(len(ordered), 'call')}"
        )
    if facts.first_call_ms is not None:
        yield f"the first model call was held up for {facts.first_call_ms:.1f} ms in all"
    yield f"the start was held up for {facts.factory_ms:.1f} ms by loading and {facts.start_ms:.1f} ms by the session"
    if facts.prefix:
        sent, native = (median(getattr(share, name) for share in facts.prefix) for name in ("sent", "native"))
        yield (
            f"prompt cache: the next request begins with {sent:.1%} of the one before (without aforesaid "
            f"{native:.1%}), median of {_plural(len(facts.prefix), 'call')}"
        )
    access = "" if store.writable else " (read-only)"
    yield f"store: {store.location}{access}, {_plural(store.sessions, 'session')}, {store.entries:,} entries"
    yield f"damaged: {_plural(len(store.damaged), 'session')}" if store.damaged else "damaged: none"
    for warning in known.config.warnings:
        yield f"configuration: {_shown(warning)}"


def _config(known: Known) -> Iterator[str]:
    changed = [setting for setting in known.config.settings if setting.source != "default"]
    yield "settings that are not the default:" if changed else "all settings are the default"
    for setting in changed:
        yield f"  {setting.key} = {_shown(str(setting.value))}  ({_shown(setting.source)})"


def _privacy(known: Known) -> Iterator[str]:
    from aforesaid.hosts import wire_upkeep  # late, both: few ask for it
    from aforesaid.hosts.standing import describe

    yield from map(_shown, describe(wire_upkeep.privacy(known.config, known.withheld())))


def _view(known: Known) -> Iterator[str]:
    made = known.view
    if made is None:
        yield "no history view was wanted (`memory.enabled`, `memory.extractive.enabled`)"
        return
    counts = made.diagnostics
    yield (
        f"{counts.reason}: {_plural(counts.selected, 'bundle')} of {counts.total:,} lost ones, {made.bytes:,} bytes, "
        f"{_plural(made.tokens, 'token')}; {counts.selection}; {counts.duration_ms:.1f} ms"
    )
    yield (
        f"{counts.pool} compared, {counts.relevant} relevant; left out: {counts.no_room} for want of room, "
        f"{counts.too_large} larger than a view, {counts.private} by the policy, {counts.in_context} that the model "
        f"sees; {_plural(counts.carried, 'entry', 'entries')} that evidence carries"
    )
    if counts.warnings:
        yield f"warnings: {', '.join(counts.warnings)}"
    if not counts.coverage.complete:
        yield f"not everything could be looked at: {', '.join(counts.coverage.reasons)}"
    for candidate in made.candidates[:_LISTED]:
        ids = f"{_shown(candidate.own[0].entry.id)}..{_shown(candidate.own[-1].entry.id)}" if candidate.own else "-"
        yield f"  {candidate.score:7.2f}  {candidate.fate}  {ids}"


TOPICS: Final[Mapping[str, Callable[[Known], Iterator[str]]]] = {
    "status": _status,
    "retrieved": _retrieved,
    "manifest": _manifest,
    "included": _included,
    "excluded": _excluded,
    "excluded all": _all_excluded,
    "explain": _explain,
    "tokens": _tokens,
    "health": _health,
    "config": _config,
    "privacy": _privacy,
    "view": _view,
}
"""What can be asked, and who answers."""


def _retrieval(known: Known) -> Retrieval | None:
    return None if known.last is None else known.last.retrieval


def _sent(known: Known) -> tuple[str, ...]:
    """Ids of the entries whose evidence went out."""
    sent = known.last is not None and known.last.status == "planned"
    return known.last.manifest.retrieved_event_ids if sent and known.last is not None else ()


def _shown(text: str) -> str:
    """A text on one line, without what a terminal would act on."""
    return " ".join(text.translate(_HIDDEN).encode("utf-8", "backslashreplace").decode("utf-8").split())


def _plural(number: int, one: str, many: str | None = None) -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"
