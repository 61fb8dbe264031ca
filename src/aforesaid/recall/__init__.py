"""Floor 5: explicit search. A user or a tool asks on purpose, pages through everything, and is told what was searched.

`engine` calls `recall` with a store, the sessions of a scope and a question. Read `recall` first. Automatic retrieval
(`retrieval`) is another function: it asks for little, within a budget, and only for what the model no longer sees. Here
every entry that matches is found, exactly once, whatever the pages' size: entries that the index of words does not rule
out are put in their order from what is known without their texts, and the texts are read in that order until the page
is full. `docs/recall.md` has the rules.

Modules: `scopes` says which sessions are searched, `views` and `candidates` what of each, `order` in which order, with
`topics` for contextual ranking, `pages` where a page ends and the next one begins, `hits` what a hit looks like.
"""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack
from time import perf_counter
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct
from msgspec.structs import replace

from aforesaid.branches import TERMS_DROPPED, TOLD, UNSURE
from aforesaid.clues import find_clues
from aforesaid.errors import BadArgument, StoreError
from aforesaid.inquiry import MOST_HITS, Reach, RecallPage
from aforesaid.patterns import read_pattern
from aforesaid.recall.candidates import FEW, ask_late, ask_latest, ask_named, ask_weighed, take
from aforesaid.recall.hits import Searched, make_found, open_gate
from aforesaid.recall.order import SECONDS, Budget, Order, search
from aforesaid.recall.pages import Point, follow, mark, name_content, name_question
from aforesaid.recall.replaced import REDACTED
from aforesaid.recall.topics import PART
from aforesaid.recall.views import stale, view_other, view_session

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from aforesaid.inquiry import Alternatives, Outline, Question
    from aforesaid.model import Session, Span
    from aforesaid.patterns import Pattern
    from aforesaid.ports import Snapshot, StorePort
    from aforesaid.privacy.judge import Judge
    from aforesaid.recall.candidates import Candidates
    from aforesaid.recall.hits import ReadLine
    from aforesaid.recall.order import Hit, Key
    from aforesaid.recall.scopes import Selection
    from aforesaid.recall.topics import Weighed
    from aforesaid.recall.views import View
    from aforesaid.refs import Issuer

PATTERN_BUDGET = "pattern-budget"
"""The pattern took too long for some texts, or for all of them together."""
POLICY = "privacy-policy"
"""A privacy policy is in force for who asks. It is told whether or not anything was withheld: else a search, letter by
letter, would read what it withholds."""
NOT_OPENED = "sessions-not-opened"
"""Sessions of the scope that the following pages are about have not been searched yet."""
_PATIENCE = 1.5
"""Seconds after which a search without a hit hands out a page without one."""


class _Propose(Protocol):
    """Gives the rows of a session, or of some spans of it, that may match; None: any may."""

    def __call__(self, spans: Sequence[Span] = ...) -> Sequence[int] | None: ...


class RecallOptions(Struct, frozen=True, kw_only=True):
    """What steers a search.

    Attributes:
        limit: hits of a page, 1 to `MOST_HITS`.
        issuer: who seals refs and cursors.
        redacting: replace secrets in snippets, where the store holds any (`privacy.redactSecrets`).
        contextual: order hits as automatic retrieval does with contextual ranking (`retrieval.ranking`).
    """

    limit: int
    issuer: Issuer
    redacting: bool = True
    contextual: bool = False


class _Asked(Struct, frozen=True, kw_only=True):
    """One call."""

    store: StorePort
    selection: Selection
    question: Question
    pattern: Pattern | None
    alternatives: Alternatives
    order: Order
    leaf: str | None
    options: RecallOptions
    judge: Callable[[Session], Judge | None]
    read_line: ReadLine

    @property
    def of_one_word(self) -> bool:
        """Whether a single item is looked for, which automatic retrieval takes for a topic."""
        topics, pattern = self.order.topics, self.pattern
        return topics is not None and topics.best == PART and pattern is not None and len(pattern.items) == 1


class _Page(Struct, kw_only=True):
    """What a call has found so far."""

    hits: list[tuple[Hit, Searched]]
    end: Point | None
    more: bool = False
    undecided: bool = False
    policy: bool = False
    unreadable: dict[str, str]


def recall(
    store: StorePort,
    selection: Selection,
    question: Question,
    *,
    leaf: str | None = None,
    cursor: str | None = None,
    options: RecallOptions,
    judge: Callable[[Session], Judge | None],
    read_line: ReadLine,
) -> RecallPage:
    """One page of what answers a question.

    Args:
        store: holds the sessions.
        selection: the sessions of the question's scope.
        question: what is searched for.
        leaf: id of the entry of the own session whose branch counts; None takes the session's last entry.
        cursor: `next` of the page before; None begins.
        options: size of the page, and who asks.
        judge: gives who says what of a session may be handed out; None: there is no privacy policy.
        read_line: gives the raw line of an entry of a transcript (see `withholding.Gate`).

    Raises:
        LeafUnknown: the own session has no such entry.
        BadArgument: a wrong limit or pattern.
        RefInvalid: the cursor belongs to another question.
        StaleCursor: what the cursor leads through has changed.
        PrivacyFailed: the policy could not be applied.
    """
    if not 1 <= options.limit <= MOST_HITS:
        raise BadArgument(f"a limit of {options.limit} is out of range", f"use 1 to {MOST_HITS}")
    pattern = read_pattern(question.text, question.mode, question.match)
    own = selection.own
    name = name_question(question, own.key if own is not None else "", contextual=options.contextual)
    point = follow(cursor, name, options.issuer)
    sessions = selection.arrangement.name
    if point is not None and point.sessions != sessions:
        raise stale()
    asked = _Asked(
        store=store, selection=selection, question=question, pattern=pattern, alternatives=find_clues(pattern),
        order=Order(question, pattern, contextual=options.contextual), leaf=leaf, options=options, judge=judge,
        read_line=read_line,
    )  # fmt: skip
    started = perf_counter()
    point = point or Point(sessions=sessions)
    page = _Page(hits=[], end=None, unreadable={})
    with ExitStack() as opened:
        while True:
            _search_batch(asked, point, page, opened)
            if page.hits or page.end is None or perf_counter() > started + _PATIENCE:
                break
            point = page.end
            opened.close()
        issuer = options.issuer
        if issuer.lasts and page.hits:
            issuer = replace(issuer, given=store.count_refs(issuer.name, len(page.hits)))
        found = tuple(
            make_found(hit, where, question, issuer, place=place, redacting=options.redacting, pairing=not page.policy)
            for place, (hit, where) in enumerate(page.hits)
        )
    coverage = _cover(asked, page)
    return RecallPage(
        status="complete" if coverage.complete else "partial",
        hits=found,
        next=None if page.end is None else mark(page.end, name, options.issuer),
        coverage=coverage,
    )


def _search_batch(asked: _Asked, point: Point, page: _Page, opened: ExitStack) -> None:
    """Searches the sessions that belong together from a point on, and says in the page where it ended."""
    together = asked.selection.batch(point.start, point.end)
    batch = together.sessions
    page.more = together.more
    point = replace(point, end=together.end)
    limit = asked.options.limit
    hits: list[tuple[Hit, Searched]] = []
    stops: list[Key] = []
    copies: set[tuple[object, ...]] = set()
    families = Counter(session.family for session in batch)
    shared = {family for family, members in families.items() if members > 1 or (not family and len(batch) > 1)}
    end = point
    bound: Key | None = None
    entries = sum([session.entries for session in batch])
    failed: dict[str, StoreError] = {}
    for session, snapshot, view, weighed in _look(asked, point, batch, opened, failed):
        try:
            shares = copies if session.family in shared else None
            opening = _open(asked, point, snapshot, view, weighed=weighed, copies=shares)
        except StoreError as error:
            failed[session.key] = error
            continue
        end = opening.end or end
        page.policy = page.policy or opening.policy
        where = Searched(snapshot=snapshot, view=view, pattern=asked.pattern)
        share = (1 + session.entries) / (len(batch) + entries)
        budget = Budget(limited=asked.question.mode == "regex", seconds=SECONDS * share)
        found, stopped = search(
            snapshot, view, opening.candidates, asked.order, weighed=weighed, after=point.after,
            bound=bound, limit=limit, budget=budget, admits=opening.admits,
        )  # fmt: skip
        hits += [(hit, where) for hit in found]
        if len(hits) > limit:
            bound = sorted([hit.key for hit, _ in hits])[limit]
        page.undecided = page.undecided or bool(budget.undecided) or budget.spent
        if stopped is not None:
            stops.append(stopped)
    if failed and point.start == 0 and len(batch) == 1 and not together.more:
        raise next(iter(failed.values()))
    page.unreadable.update({one.key: failed[one.key].code for one in batch if one.key in failed})
    page.hits, page.end = _end(hits, stops, end, limit, more=together.more)


def _look(
    asked: _Asked, point: Point, batch: Sequence[Session], opened: ExitStack, failed: dict[str, StoreError]
) -> list[tuple[Session, Snapshot, View, Weighed | None]]:
    """Opens sessions, and asks each what the order of its entries depends on.

    The same is done to all of them before the next: a processor that does one thing dozens of times is half as long at
    it as one that fetches everything anew for every session.

    Args:
        asked: the call.
        point: where the page begins.
        batch: the sessions.
        opened: closes them.
        failed: takes those that cannot be read, by key.
    """
    topics, own, filter_ = asked.order.topics, asked.selection.own, asked.question.filter
    read: list[tuple[Session, Snapshot]] = []
    for session in batch:
        try:
            read.append((session, opened.enter_context(asked.store.read(session.key))))
        except StoreError as error:
            failed[session.key] = error
    viewed: list[tuple[Session, Snapshot, View]] = []
    for session, snapshot in read:
        try:
            if own is not None and session.key == own.key:
                view = view_session(snapshot, asked.question.scope, asked.leaf, point if point.content else None)
            else:
                view = view_other(snapshot, asked.question.scope)
        except StoreError as error:
            failed[session.key] = error
        else:
            viewed.append((session, snapshot, view))
    if topics is None:
        return [(*one, None) for one in viewed]
    found: list[tuple[Session, Snapshot, View, Weighed | None]] = []
    for session, snapshot, view in viewed:
        try:
            found.append((session, snapshot, view, topics.weigh(snapshot, view, filter_)))
        except StoreError as error:
            failed[session.key] = error
    return found


class _Opening(Struct, frozen=True, kw_only=True):
    """One session that is about to be searched.

    Attributes:
        candidates: its entries that are looked at.
        admits: says of an entry that matches whether it may be handed out.
        policy: whether a privacy policy is in force for it.
        end: where the page would end, if this is the own session.
    """

    candidates: Candidates
    admits: Callable[[Outline], bool]
    policy: bool
    end: Point | None = None


def _open(
    asked: _Asked,
    point: Point,
    snapshot: Snapshot,
    view: View,
    *,
    weighed: Weighed | None,
    copies: set[tuple[object, ...]] | None,
) -> _Opening:
    """What of a session is searched.

    Entries are listed as a whole only where something depends on all of them: what a cursor is bound to, copies in
    sessions of the same family, and whether a policy withholds a text that stands there more than once.

    Raises:
        StoreError: it cannot be read.
        StaleCursor: it is not what it was on the page before.
    """
    session, own, filter_ = snapshot.session, asked.selection.own, asked.question.filter
    end: Point | None = None
    outlines: Sequence[Outline] | None = None
    if own is not None and session.key == own.key:
        outlines = snapshot.outlines(view.spans, filter_)
        content = name_content(outlines, {} if weighed is None else weighed.own)
        if point.content not in (b"", content):
            raise stale()
        end = replace(point, content=content, leaf=view.leaf, last=view.last, after=None)

    def propose(spans: Sequence[Span] = view.spans) -> Sequence[int] | None:
        if asked.alternatives == ((),):
            return None
        proposed = snapshot.propose(asked.alternatives, spans, derived=filter_.summaries)
        # A common word fills the page soon, in the order that is known anyway.
        rows = session.entries if spans is view.spans else sum([last - first + 1 for first, last in spans])
        return None if proposed is not None and 2 * len(proposed) > rows else proposed

    judge = asked.judge(session)
    policy = judge is not None and not judge.open
    if outlines is None and not policy and copies is None:
        candidates = _ask(asked, snapshot, view, weighed, propose)
        if candidates is not None:
            return _Opening(
                candidates=candidates, admits=open_gate(snapshot, (), judge, asked.read_line), policy=policy
            )
    proposed = propose()
    if outlines is None and (policy or copies is not None):
        outlines = snapshot.outlines(view.spans, filter_, None if policy else proposed)
    if outlines is not None and copies is not None:
        outlines = _without_copies(outlines, copies)
    return _Opening(
        candidates=ask_late(snapshot, view.spans, filter_, proposed) if outlines is None else take(outlines, proposed),
        admits=open_gate(snapshot, outlines or (), judge, asked.read_line),
        policy=policy,
        end=end,
    )


def _ask(
    asked: _Asked,
    snapshot: Snapshot,
    view: View,
    weighed: Weighed | None,
    propose: _Propose,
) -> Candidates | None:
    """The entries of a session where the index need not be asked for them first; None where it has to be."""
    spans, filter_ = view.spans, asked.question.filter
    if weighed is None:
        # A pattern has only so much time, which it must not spend on texts that cannot match.
        late = asked.pattern is not None and asked.question.mode != "regex"
        return ask_latest(snapshot, spans, filter_, propose) if late else None
    if asked.of_one_word:
        return ask_weighed(snapshot, spans, filter_, weighed.own.keys(), propose)
    if weighed.tells and len(weighed.own) <= FEW:
        return ask_named(snapshot, spans, filter_, weighed.own.keys(), propose)
    return None


def _end(
    hits: list[tuple[Hit, Searched]], stops: Sequence[Key], end: Point, limit: int, *, more: bool
) -> tuple[list[tuple[Hit, Searched]], Point | None]:
    """The hits of a page, and where the next one begins.

    A session that was stopped may hold hits behind the place where it was; so nothing behind it is handed out yet.
    """
    hits.sort(key=lambda found: found[0].key)
    bound = min(stops, default=None)
    if bound is not None:
        hits = [found for found in hits if found[0].key <= bound]
    after = hits[limit - 1][0].key if len(hits) > limit else bound
    if after is not None:
        return hits[:limit], end.move(after)
    return hits, end.step() if more else None


def _without_copies(outlines: Sequence[Outline], copies: set[tuple[object, ...]]) -> tuple[Outline, ...]:
    """The entries that no session before has."""
    kept: list[Outline] = []
    for outline in outlines:
        name = (outline.id, outline.timestamp, outline.role, outline.digest)
        if name not in copies:
            kept.append(outline)
            copies.add(name)
    return tuple(kept)


def _cover(asked: _Asked, page: _Page) -> Reach:
    selection = asked.selection
    found = dict.fromkeys((*selection.reasons, *page.unreadable.values()))
    if page.undecided:
        found[PATTERN_BUDGET] = None
    if asked.pattern is not None and asked.pattern.dropped:
        found[TERMS_DROPPED] = None
    if page.policy:
        found[POLICY] = None
    if page.end is not None and page.more:
        found[NOT_OPENED] = None
    told = {*TOLD, REDACTED}
    if asked.question.scope != "current-branch":
        told |= UNSURE  # whole sessions are searched, whatever hangs on what
    return Reach(
        complete=found.keys() <= told,
        indexed_sessions=selection.known - len(page.unreadable),
        eligible_sessions=max(selection.eligible, selection.known),
        stale_sessions=selection.stale,
        reasons=tuple(found),
    )
