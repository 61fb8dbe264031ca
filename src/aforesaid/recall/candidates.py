"""Which entries of a session a search looks at, and no more of each than its place in the order takes.

`recall` makes one for each session and hands it to `order.search`. Most entries are never asked for more than their
standing: their texts are not proposed, or the page is full before their turn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from aforesaid.inquiry import Filter, Outline, Standing
    from aforesaid.model import Span
    from aforesaid.ports import BrowsePort

_FEW = 16
"""Entries that are rather read at once than in two steps."""


class Candidates(Struct, frozen=True, kw_only=True):
    """The entries of one session that are looked at.

    Attributes:
        standings: what their order depends on, by row.
        outlines: gives the rest of some of them, by row.
        ask: gives in their place those of some rows that have a weight.
        others: gives further ones that come after all of these in the order.
    """

    standings: Sequence[Standing]
    outlines: Callable[[Sequence[int]], Sequence[Outline]]
    ask: Callable[[Sequence[int]], Sequence[Standing]] | None = None
    others: Callable[[], Sequence[Standing]] = tuple


def ask_late(snapshot: BrowsePort, spans: Sequence[Span], wanted: Filter, proposed: Sequence[int] | None) -> Candidates:
    """Those of a session that are proposed and pass the filter, each read when it is needed."""
    if proposed is not None and len(proposed) <= _FEW:
        return take(snapshot.outlines(spans, wanted, proposed) if proposed else (), None)
    return Candidates(
        standings=snapshot.standings(spans, wanted, proposed),
        outlines=lambda rows: snapshot.outlines(spans, wanted, rows),
    )


def ask_weighed(
    snapshot: BrowsePort,
    spans: Sequence[Span],
    wanted: Filter,
    weighed: Collection[int],
    propose: Callable[[], Sequence[int] | None],
) -> Candidates:
    """Those that pass the filter, first the ones that have a weight; each is looked for when its turn comes.

    Args:
        snapshot: of the session.
        spans: rows that count.
        wanted: the filter.
        weighed: rows that have a weight.
        propose: gives the rows that may match; None: any may.
    """

    def rest() -> Sequence[Standing]:
        return [one for one in snapshot.standings(spans, wanted, propose()) if one[0] not in weighed]

    return Candidates(
        standings=(),
        ask=lambda rows: snapshot.standings(spans, wanted, rows) if rows else (),
        outlines=lambda rows: snapshot.outlines(spans, wanted, rows),
        others=rest,
    )


def take(outlines: Sequence[Outline], proposed: Sequence[int] | None) -> Candidates:
    """Those of a list that are proposed."""
    if proposed is not None:
        rows = frozenset(proposed)
        outlines = [outline for outline in outlines if outline.row in rows]
    by_row = {outline.row: outline for outline in outlines}
    return Candidates(
        standings=[(outline.row, outline.role, outline.tokens) for outline in outlines],
        outlines=lambda rows: [by_row[row] for row in rows],
    )
