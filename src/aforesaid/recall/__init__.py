"""Floor 5: explicit search. A user or a tool asks on purpose, pages through everything, and is told what was searched.

`engine` calls `recall` with a store and a question. Read `recall` first. Automatic retrieval (`retrieval`) is another
function: it asks for little, within a budget, and only for what the model no longer sees. Here every entry that matches
is found, exactly once, whatever the pages' size: entries are put in their order from what is known without their texts,
and the texts are read in that order until the page is full. `docs/recall.md` gives the rules.

Modules: `views` says what of a session is searched, `order` in which order, `pages` where a page ends and the next one
begins.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from msgspec import Struct

from aforesaid.branches import cover
from aforesaid.errors import BadArgument
from aforesaid.inquiry import DERIVED, MOST_HITS, Found, Reach, RecallPage
from aforesaid.patterns import read_pattern
from aforesaid.recall.order import Budget, Hit, Order, search
from aforesaid.recall.pages import Point, follow, mark, name_content, name_question
from aforesaid.recall.views import stale, view_session
from aforesaid.refs import REF_LINE, Ref, write_ref
from aforesaid.windows import choose_windows, join_windows

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from aforesaid.inquiry import Outline, Question
    from aforesaid.model import Session, Source
    from aforesaid.patterns import Pattern
    from aforesaid.ports import Snapshot, StorePort
    from aforesaid.privacy.judge import Judge
    from aforesaid.recall.views import View
    from aforesaid.refs import Issuer

    ReadLine = Callable[[str, Source], bytes | None]

SNIPPET = 400
"""Characters of a snippet."""
PATTERN_BUDGET = "pattern-budget"
"""The pattern took too long for some texts, or for all of them together."""
POLICY = "privacy-policy"
"""A privacy policy is in force for who asks. It is told whether or not anything was withheld: else a search, letter by
letter, would read what it withholds."""
TERMS_DROPPED = "terms-dropped"
"""Of very many alternative terms only the first were looked for."""


class RecallOptions(Struct, frozen=True, kw_only=True):
    """What steers a search.

    Attributes:
        limit: hits of a page, 1 to `MOST_HITS`.
        issuer: who seals refs and cursors.
        reasons: why the sessions may not be what their transcripts are, as far as the caller knows.
    """

    limit: int
    issuer: Issuer
    reasons: tuple[str, ...] = ()


def recall(
    store: StorePort,
    session: Session,
    question: Question,
    *,
    leaf: str | None = None,
    cursor: str | None = None,
    options: RecallOptions,
    judge: Judge | None = None,
    read_line: ReadLine,
) -> RecallPage:
    """One page of what answers a question in one session.

    Args:
        store: holds the session.
        session: where to search.
        question: what is searched for.
        leaf: id of the entry whose branch counts; None takes the session's last entry.
        cursor: `next` of the page before; None begins.
        options: size of the page, and who asks.
        judge: says what may be handed out; None: there is no privacy policy.
        read_line: gives the raw line of an entry of a transcript (see `withholding.Gate`).

    Raises:
        LeafUnknown: the session has no such entry.
        BadArgument: a wrong limit, pattern or cursor.
        StaleCursor: what the cursor leads through has changed.
        PrivacyFailed: the policy could not be applied.
    """
    if not 1 <= options.limit <= MOST_HITS:
        raise BadArgument(f"a limit of {options.limit} is out of range", f"use 1 to {MOST_HITS}")
    pattern = read_pattern(question.text, question.mode, question.match)
    asked = name_question(question, session.key, leaf)
    point = follow(cursor, asked, options.issuer)
    with store.read(session.key) as snapshot:
        view = view_session(snapshot, question.scope, leaf, point)
        outlines = snapshot.outlines(view.spans, question.filter)
        content = name_content(outlines)
        if point is not None and point.content != content:
            raise stale()
        budget = Budget(limited=question.mode == "regex")
        order = Order(question, pattern, session.file)
        after = None if point is None else point.after
        admits = _gate(snapshot, outlines, judge, read_line)
        hits, stopped = search(
            snapshot, view, outlines, order, after=after, limit=options.limit, budget=budget, admits=admits
        )
        found = tuple(
            _found(hit, snapshot, view, pattern=pattern, question=question, issuer=options.issuer)
            for hit in hits[: options.limit]
        )
    end = hits[options.limit - 1].key if len(hits) > options.limit else stopped
    page_end = None if end is None else Point(content=content, leaf=view.leaf, last=view.last, after=end)
    reasons = (*options.reasons, POLICY) if judge is not None and not judge.open else options.reasons
    coverage = _cover(session, pattern, budget, reasons)
    return RecallPage(
        status="complete" if coverage.complete else "partial",
        hits=found,
        next=None if page_end is None else mark(page_end, asked, options.issuer),
        coverage=coverage,
    )


def _gate(
    snapshot: Snapshot, outlines: Sequence[Outline], judge: Judge | None, read_line: ReadLine
) -> Callable[[Outline], bool]:
    """What says of an entry whether it may be handed out; entries of the same text go together."""
    if judge is None or judge.open:
        return lambda _: True
    from aforesaid.withholding import Gate  # late: only a policy needs it

    gate = Gate(snapshot, judge, partial(read_line, snapshot.session.file))
    equal: dict[bytes, list[int]] = {}
    for outline in outlines:
        equal.setdefault(outline.digest, []).append(outline.row)
    return lambda outline: gate.admits(equal[outline.digest])


def _found(
    hit: Hit, snapshot: Snapshot, view: View, *, pattern: Pattern | None, question: Question, issuer: Issuer
) -> Found:
    """A hit as the caller sees it."""
    entry = hit.outline
    header = snapshot.session.header
    (stored,) = snapshot.entries((entry.row,))
    on_branch = view.branch.of(entry.row) is not None
    leaf = view.leaf if question.scope == "current-branch" else None
    line = stored.source.sha256[:REF_LINE]
    ref = Ref(session=snapshot.session.key, entry=entry.id, line=line, scope=question.scope, leaf=leaf)
    return Found(
        ref=write_ref(ref, issuer),
        entry_id=entry.id,
        session_id=header.session_id,
        host=header.host,
        role=entry.role,
        timestamp=entry.timestamp,
        branch="active" if on_branch else "other",
        in_context=view.context.of(entry.row) is not None,
        derived=DERIVED.get(entry.kind) or ("compaction" if entry.role == "summary" else None),
        score=hit.score,
        snippet=_snippet(stored.text, pattern),
        matched=hit.matched,
    )


def _snippet(text: str, pattern: Pattern | None) -> str:
    """The text around what matched; verbatim, between grapheme clusters."""
    return join_windows(choose_windows(text, pattern or _NOTHING, limit=SNIPPET))


class _Nothing:
    """Nothing that was looked for: the beginning of a text is shown."""

    @staticmethod
    def places(text: str) -> tuple[()]:  # noqa: ARG004 - what a finder is asked
        return ()


_NOTHING = _Nothing()


def _cover(session: Session, pattern: Pattern | None, budget: Budget, reasons: tuple[str, ...]) -> Reach:
    found = dict.fromkeys((*cover(session).reasons, *reasons))
    if budget.spent or budget.undecided:
        found[PATTERN_BUDGET] = None
    if pattern is not None and pattern.dropped:
        found[TERMS_DROPPED] = None
    return Reach(complete=not found, stale_sessions=int("stale" in reasons), reasons=tuple(found))
