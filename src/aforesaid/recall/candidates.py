"""Which entries of a session a search looks at, and no more of each than its place in the order takes.

`recall` makes one for each session and hands it to `order.search`. Most entries are never asked for more than their
standing: their texts are not proposed, or the page is full before their turn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

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
    """

    standings: Sequence[Standing]
    outlines: Callable[[Sequence[int]], Sequence[Outline]]


def ask_late(snapshot: BrowsePort, spans: Sequence[Span], wanted: Filter, proposed: Sequence[int] | None) -> Candidates:
    """Those of a session that are proposed and pass the filter, each read when it is needed."""
    if proposed is not None and len(proposed) <= _FEW:
        return take(snapshot.outlines(spans, wanted, proposed) if proposed else (), None)
    return Candidates(
        standings=snapshot.standings(spans, wanted, proposed),
        outlines=lambda rows: snapshot.outlines(spans, wanted, rows),
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
