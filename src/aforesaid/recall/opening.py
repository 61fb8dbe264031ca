"""Opening the sessions that are searched together, and saying which entries of each are looked at.

`recall` asks for a batch of sessions, then for each in turn; `reading` reads what comes out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from msgspec import Struct
from msgspec.structs import replace

from aforesaid.errors import StoreError
from aforesaid.recall.candidates import FEW, ask_late, ask_latest, ask_named, ask_weighed, take
from aforesaid.recall.hits import open_gate
from aforesaid.recall.pages import name_content
from aforesaid.recall.topics import PART
from aforesaid.recall.views import stale, view_other, view_session

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import ExitStack

    from aforesaid.inquiry import Alternatives, Outline, Question
    from aforesaid.model import Session, Span
    from aforesaid.patterns import Pattern
    from aforesaid.ports import Snapshot, StorePort
    from aforesaid.privacy.judge import Judge
    from aforesaid.recall import RecallOptions
    from aforesaid.recall.candidates import Candidates
    from aforesaid.recall.hits import ReadLine
    from aforesaid.recall.order import Order
    from aforesaid.recall.pages import Point
    from aforesaid.recall.scopes import Selection
    from aforesaid.recall.topics import Weighed
    from aforesaid.recall.views import View

    Looked = tuple[Session, Snapshot, View, Weighed | None]
    """A session that is open, what of it is searched, and what contextual ranking knows of it."""


class _Propose(Protocol):
    """Gives the rows of a session, or of some spans of it, that may match; None: any may."""

    def __call__(self, spans: Sequence[Span] = ...) -> Sequence[int] | None: ...


class Asked(Struct, frozen=True, kw_only=True):
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


def look(
    asked: Asked, point: Point, batch: Sequence[Session], opened: ExitStack, failed: dict[str, StoreError]
) -> list[Looked]:
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
    found: list[Looked] = []
    for session, snapshot, view in viewed:
        try:
            found.append((session, snapshot, view, topics.weigh(snapshot, view, filter_)))
        except StoreError as error:
            failed[session.key] = error
    return found


class Opening(Struct, frozen=True, kw_only=True):
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


def open_session(
    asked: Asked,
    point: Point,
    snapshot: Snapshot,
    view: View,
    *,
    weighed: Weighed | None,
    copies: set[tuple[object, ...]] | None,
) -> Opening:
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
            return Opening(candidates=candidates, admits=open_gate(snapshot, (), judge, asked.read_line), policy=policy)
    proposed = propose()
    if outlines is None and (policy or copies is not None):
        outlines = snapshot.outlines(view.spans, filter_, None if policy else proposed)
    if outlines is not None and copies is not None:
        outlines = _without_copies(outlines, copies)
    return Opening(
        candidates=ask_late(snapshot, view.spans, filter_, proposed) if outlines is None else take(outlines, proposed),
        admits=open_gate(snapshot, outlines or (), judge, asked.read_line),
        policy=policy,
        end=end,
    )


def _ask(
    asked: Asked,
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


def _without_copies(outlines: Sequence[Outline], copies: set[tuple[object, ...]]) -> tuple[Outline, ...]:
    """The entries that no session before has."""
    kept: list[Outline] = []
    for outline in outlines:
        name = (outline.id, outline.timestamp, outline.role, outline.digest)
        if name not in copies:
            kept.append(outline)
            copies.add(name)
    return tuple(kept)
