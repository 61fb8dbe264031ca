"""What of one session is searched: its rows, and what is known of them from its tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from aforesaid import lineage
from aforesaid.branches import find_branch
from aforesaid.errors import StaleCursor
from aforesaid.lineage import Places

if TYPE_CHECKING:
    from aforesaid.inquiry import Scope
    from aforesaid.model import Span
    from aforesaid.ports import Snapshot
    from aforesaid.recall.pages import Point


class View(Struct, frozen=True, kw_only=True):
    """What is searched of a session.

    Attributes:
        spans: the rows.
        branch: where rows stand on the active branch.
        context: rows that the model still sees.
        leaf: row of the active branch's leaf; None in an empty session.
        last: last row of the session that counts.
    """

    spans: tuple[Span, ...]
    branch: Places
    context: Places
    leaf: int | None
    last: int


def view_session(snapshot: Snapshot, scope: Scope, leaf: str | None, point: Point | None) -> View:
    """The part of a session that a scope is about, as it was when the first page was made.

    A host goes on writing while somebody pages. What was appended since does not count: the branch ends where it ended.

    Raises:
        LeafUnknown: the session has no such entry.
        StaleCursor: the branch that the first page was about is not the active one any more.
    """
    branch = find_branch(snapshot, leaf)
    spans, at, last = branch.spans, branch.leaf, snapshot.session.entries
    if point is not None:
        last = point.last
        if point.leaf is not None and Places(spans).of(point.leaf) is None:
            raise stale()
        at = point.leaf
        spans = lineage.trace(snapshot.tree().runs, at)
    everything = ((1, last),) if last else ()
    return View(
        spans=spans if scope == "current-branch" else everything,
        branch=Places(spans),
        context=Places(branch.context),
        leaf=at,
        last=last,
    )


def view_other(snapshot: Snapshot, scope: Scope) -> View:
    """All of another session. What was written after a fork stands on none of the fork's branches."""
    last = snapshot.session.entries
    branch = snapshot.trunk() if scope != "current-lineage" else ()
    return View(spans=((1, last),) if last else (), branch=Places(branch), context=Places(()), leaf=None, last=last)


def stale() -> StaleCursor:
    """What is raised where the pages do not fit together any more."""
    return StaleCursor("the history has changed since the page before", "search again without the cursor")
