"""Floor 5: explicit search. A user or a tool asks on purpose, pages through everything, and is told what was searched.

`engine` calls `recall` with a store, the sessions of a scope and a question. Read `recall` first. Automatic retrieval
(`retrieval`) is another function: it asks for little, within a budget, and only for what the model no longer sees. Here
every entry that matches is found, exactly once, whatever the pages' size: entries that the index of words does not rule
out are put in their order from what is known without their texts, and the texts are read in that order until the page
is full. `docs/recall.md` has the rules.

Modules: `scopes` says which sessions are searched, `opening` opens them, `views` and `candidates` say what of each is
looked at, `order` in which order, with `topics` for contextual ranking, `reading` reads it, `pages` says where a page
ends and the next one begins, `hits` what a hit looks like.
"""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from aforesaid.branches import TERMS_DROPPED, TOLD, UNSURE
from aforesaid.clues import find_clues
from aforesaid.errors import BadArgument, StoreError
from aforesaid.inquiry import MOST_HITS, Reach, RecallPage
from aforesaid.patterns import read_pattern
from aforesaid.recall.hits import Searched, make_found
from aforesaid.recall.opening import Asked, look, open_session
from aforesaid.recall.order import Order
from aforesaid.recall.pages import Left, Point, follow, mark, name_question
from aforesaid.recall.reading import SECONDS, Budget, search
from aforesaid.recall.replaced import REDACTED
from aforesaid.recall.topics import OTHER
from aforesaid.recall.views import stale

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from aforesaid.inquiry import Question
    from aforesaid.model import Session
    from aforesaid.ports import StorePort
    from aforesaid.privacy.judge import Judge
    from aforesaid.recall.hits import ReadLine
    from aforesaid.recall.opening import Looked
    from aforesaid.recall.order import Hit, Key
    from aforesaid.recall.scopes import Selection
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
_LIKELY = 0.75
"""Of the best that a session may come to, so much is mostly reached in it or in another."""


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


class _Page(Struct, kw_only=True):
    """What a call has found so far."""

    hits: list[tuple[Hit, Searched]]
    end: Point | None
    more: bool = False
    undecided: bool = False
    policy: bool = False
    left: Left = Left()


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
    asked = Asked(
        store=store, selection=selection, question=question, pattern=pattern, alternatives=find_clues(pattern),
        order=Order(question, pattern, contextual=options.contextual), leaf=leaf, options=options, judge=judge,
        read_line=read_line,
    )  # fmt: skip
    started = perf_counter()
    point = point or Point(sessions=sessions)
    page = _Page(hits=[], end=None)
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


def _search_batch(asked: Asked, point: Point, page: _Page, opened: ExitStack) -> None:
    """Searches the sessions that belong together from a point on, and says in the page where it ended."""
    together = asked.selection.batch(point.start, point.end)
    batch, limit = together.sessions, asked.options.limit
    page.more = together.more
    point = replace(point, end=together.end)
    families = Counter(session.family for session in batch)
    shared = {family for family, members in families.items() if members > 1 or (not family and len(batch) > 1)}
    failed: dict[str, StoreError] = {}
    looked = look(asked, point, batch, opened, failed)
    guess: Key | None = None
    if asked.of_one_word and not shared:
        # What comes first at best is read first, so that most of the others need not be asked for more.
        looked.sort(key=_highest, reverse=True)
        guess = _guess(looked, limit) if point.after is None else None
    search_all = partial(_search_all, asked, point, looked=looked, shared=shared, page=page, failed=failed)
    found = search_all(bound=guess)
    if guess is not None and len(found.hits) <= limit:
        found = search_all(bound=None)
    if failed and point.start == 0 and len(batch) == 1 and not together.more:
        raise next(iter(failed.values()))
    codes = {one.key: failed[one.key].code for one in batch if one.key in failed}
    page.left = point.left.add(codes, undecided=page.undecided, policy=page.policy)
    end = replace(found.end or point, left=page.left)
    page.hits, page.end = _end(found.hits, found.stops, end, limit, more=together.more)


class _Found(Struct, kw_only=True):
    """What was found in some sessions.

    Attributes:
        hits: with where they are.
        stops: how far sessions were searched that took too long.
        end: where the page would end, if the own session is among them.
    """

    hits: list[tuple[Hit, Searched]]
    stops: list[Key]
    end: Point | None = None


def _search_all(
    asked: Asked,
    point: Point,
    *,
    looked: Sequence[Looked],
    shared: Collection[str],
    page: _Page,
    failed: dict[str, StoreError],
    bound: Key | None,
) -> _Found:
    """The first hits of some sessions, each after the other.

    Args:
        asked: the call.
        point: where the page begins.
        looked: the sessions.
        shared: families that more than one of them belongs to.
        page: is told of policies and of patterns that took too long.
        failed: takes those that cannot be read, by key.
        bound: no hits behind this place are wanted.
    """
    limit, copies = asked.options.limit, set[tuple[object, ...]]()
    entries = sum([session.entries for session, *_ in looked])
    result = _Found(hits=[], stops=[])
    for session, snapshot, view, weighed in looked:
        share = (1 + session.entries) / (len(looked) + entries)
        budget = Budget(limited=asked.question.mode == "regex", seconds=SECONDS * share)
        try:
            shares = copies if session.family in shared else None
            opening = open_session(asked, point, snapshot, view, weighed=weighed, copies=shares)
            found, stopped = search(
                snapshot, view, opening.candidates, asked.order, weighed=weighed, after=point.after,
                bound=bound, limit=limit, budget=budget, admits=opening.admits,
            )  # fmt: skip
        except StoreError as error:
            failed[session.key] = error
            continue
        result.end = opening.end or result.end
        page.policy = page.policy or opening.policy
        where = Searched(snapshot=snapshot, view=view, pattern=asked.pattern)
        result.hits += [(hit, where) for hit in found]
        if len(result.hits) > limit:
            bound = sorted([hit.key for hit, _ in result.hits])[limit]
        page.undecided = page.undecided or bool(budget.undecided) or budget.spent
        if stopped is not None:
            result.stops.append(stopped)
    return result


def _highest(looked: Looked) -> float:
    return 0.0 if looked[3] is None else looked[3].highest


def _guess(looked: Sequence[Looked], limit: int) -> Key | None:
    """A place that the page most likely ends before, from what sessions come to at best, which are in that order.

    If enough is found before it, what stands behind it need not be looked at; if not, it is no end.
    """
    if len(looked) <= limit:
        return None
    return OTHER, -_LIKELY * _highest(looked[limit]), "", "", ""


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


def _cover(asked: Asked, page: _Page) -> Reach:
    selection, left = asked.selection, page.left
    found = dict.fromkeys((*selection.reasons, *left.codes))
    if left.undecided:
        found[PATTERN_BUDGET] = None
    if asked.pattern is not None and asked.pattern.dropped:
        found[TERMS_DROPPED] = None
    if left.policy:
        found[POLICY] = None
    if page.end is not None and page.more:
        found[NOT_OPENED] = None
    told = {*TOLD, REDACTED}
    if asked.question.scope != "current-branch":
        told |= UNSURE  # whole sessions are searched, whatever hangs on what
    return Reach(
        complete=found.keys() <= told,
        indexed_sessions=selection.known - left.unread,
        eligible_sessions=max(selection.eligible, selection.known),
        stale_sessions=selection.stale,
        reasons=tuple(found),
    )
