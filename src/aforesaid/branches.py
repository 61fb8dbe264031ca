"""Between floors 4 and 5: what the functions of floor 5 ask of one session before they look for anything.

`retrieval`, `recall`, `expansion` and `lost` call it with a snapshot. It reads the session's shape, never its texts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aforesaid import lineage
from aforesaid.answers import Coverage
from aforesaid.errors import EntryUnknown, LeafUnknown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aforesaid.model import Branch, Projection, Session, Span, Tree
    from aforesaid.ports import EntryPort


def find_branch(
    snapshot: EntryPort,
    leaf: str | None,
    context_entries: Sequence[str] | None = None,
    context: Sequence[Span] | None = None,
) -> Branch:
    """The branch of a leaf and what the model still sees of it.

    Args:
        snapshot: the session.
        leaf: id of the leaf; None takes the session's last entry.
        context_entries: ids of the entries that the model sees, from a host that knows; None derives them.
        context: the same as rows, where they are known already.

    Raises:
        LeafUnknown, EntryUnknown: the session has no entry with a given id.
    """
    tree = snapshot.tree()
    row = tree.tail
    if leaf is not None:
        (row,) = snapshot.rows([leaf])
        if row is None:
            raise LeafUnknown(f"the session has no entry {leaf!r}", "leave --leaf out to take the session's last entry")
    spans = lineage.trace(tree.runs, row)
    if context is not None:
        return lineage.divide(row, spans, context)
    if context_entries is not None:
        seen = sorted(known_rows(snapshot, context_entries))
        return lineage.divide(row, spans, lineage.merge([(visible, visible) for visible in seen]))
    return see_from(snapshot, row)


def see_from(snapshot: EntryPort, row: int | None) -> Branch:
    """The branch of a row and what the model saw of it then, as its host derives it."""
    tree = snapshot.tree()
    known = _seen.find(tree, row)
    if known is not None:
        return known
    branch = lineage.see(tree, row, *_look_up(snapshot, tree, lineage.trace(tree.runs, row)))
    _seen.keep(tree, row, branch)
    return branch


def project(snapshot: EntryPort, spans: tuple[Span, ...]) -> Projection:
    """What a host makes its context of a branch of, edited rows included."""
    tree = snapshot.tree()
    return lineage.project(tree, spans, *_look_up(snapshot, tree, spans))


def _look_up(snapshot: EntryPort, tree: Tree, spans: Sequence[Span]) -> tuple[dict[str, int], frozenset[int]]:
    """The rows of the ids that the marks of a branch name, and those of them that no replacement changes."""
    ids = lineage.named_ids(tree, spans)
    rows = {id_: found for id_, found in zip(ids, snapshot.rows(ids), strict=True) if found is not None}
    targets = [rows[id_] for id_ in lineage.replaced_ids(tree, spans) if id_ in rows]
    entries = snapshot.entries(targets) if targets else ()
    return rows, frozenset([entry.row for entry in entries if entry.role in lineage.UNCHANGED])


class _Seen:
    """The latest branches by tree and row. A snapshot hands out the same tree as long as its session stays the same."""

    def __init__(self) -> None:
        self._latest: tuple[tuple[Tree, int | None, Branch], ...] = ()

    def find(self, tree: Tree, row: int | None) -> Branch | None:
        """The branch of a row, if it is remembered for this very tree: an equal one may be another session's."""
        return next((branch for other, leaf, branch in self._latest if other is tree and leaf == row), None)

    def keep(self, tree: Tree, row: int | None, branch: Branch) -> None:
        """Remembers a branch; threads may lose what another one has remembered, which is computed again."""
        self._latest = ((tree, row, branch), *self._latest[: _REMEMBERED - 1])


_REMEMBERED = 4
_seen = _Seen()


def known_rows(snapshot: EntryPort, ids: Sequence[str]) -> tuple[int, ...]:
    """The rows of ids that a caller knows.

    Raises:
        EntryUnknown: the session has no entry with one of them. With a wrong one among the ids of a context, visible
            entries would come back as if they were gone.
    """
    rows = snapshot.rows(ids)
    for id_, row in zip(ids, rows, strict=True):
        if row is None:
            raise EntryUnknown(f"the session has no entry {id_!r}", "give the ids of entries of this session")
    return tuple(row for row in rows if row is not None)


def cover(session: Session) -> Coverage:
    """What of a session's transcript could be searched, and what its format does not tell.

    Where a parent is missing, its whole branch may be; what is only told of leaves nothing unsearched. A session that
    names its origin after all has no unknown one.
    """
    unsearched = {flaw.reason for flaw in session.flaws if flaw.lost or flaw.reason in UNSURE}
    told = {flaw.reason for flaw in session.flaws if flaw.reason in TOLD}
    if session.header.parent is not None:
        told.discard("unknown-origin")
    return Coverage(complete=not unsearched, reasons=tuple(sorted(unsearched | told)))


UNSURE = frozenset({"unknown-parent", "unknown-turns", "unknown-view"})
"""Reasons for which what is on a branch, or in view, is a guess; every row of the session is there all the same."""
TERMS_DROPPED = "terms-dropped"
"""Of very much that was asked for, only the first items were looked for."""
REBUILT = "store-rebuilt"
"""What was stored of the session was found damaged, and has been derived again from its transcript."""
TOLD = frozenset({"missing-header", "opaque-summary", "unknown-origin", "unknown-version", REBUILT})
"""Reasons that say what is not known or was done, and leave nothing unsearched."""


def tell(coverage: Coverage, reasons: Sequence[str]) -> Coverage:
    """A coverage with more reasons, each once; it stays complete if all of them are only told."""
    complete = coverage.complete and TOLD.issuperset(reasons)
    return Coverage(complete=complete, reasons=tuple(dict.fromkeys((*coverage.reasons, *reasons))))
