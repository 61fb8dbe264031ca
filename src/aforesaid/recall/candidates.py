"""Which entries of a session a search looks at, and no more of each than its place in the order takes.

`opening` makes one for each session, and `reading` reads what it needs of it. Most entries are never asked for more
than their standing: their texts are not proposed, or the page is full before their turn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from aforesaid.inquiry import Filter, Outline, Standing
    from aforesaid.model import Span
    from aforesaid.ports import BrowsePort

FEW = 16
"""Entries that are rather read at once than in two steps."""
AT_ONCE = 6
"""Texts that are rather read than asked of the index."""
_SHORT = 64
"""Rows whose standing is rather read than asked of the index."""


class Candidates(Struct, frozen=True, kw_only=True):
    """The entries of one session that are looked at.

    Attributes:
        standings: what their order depends on, by row.
        outlines: gives the rest of some of them, by row.
        ask: gives in their place those of some rows that have a weight.
        others: gives further ones that come after all of these in the order.
        since: gives, in place of all of these, all from a row on, whether or not they may match; None if they are many.
        proposed: gives the rows from a row on that may match; None: any may.
        narrow: gives the entries of those.
    """

    standings: Sequence[Standing]
    outlines: Callable[[Sequence[int]], Sequence[Outline]]
    ask: Callable[[Sequence[int]], Sequence[Standing]] | None = None
    others: Callable[[], Sequence[Standing]] = tuple
    since: Callable[[int], Sequence[Standing] | None] | None = None
    proposed: Callable[[int], Sequence[int] | None] | None = None
    narrow: Callable[[int], Candidates] | None = None


def ask_late(snapshot: BrowsePort, spans: Sequence[Span], wanted: Filter, proposed: Sequence[int] | None) -> Candidates:
    """Those of a session that are proposed and pass the filter, each read when it is needed."""
    if proposed is not None and len(proposed) <= FEW:
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

    A few of them are read at once, which takes no longer than to ask who speaks there.

    Args:
        snapshot: of the session.
        spans: rows that count.
        wanted: the filter.
        weighed: rows that have a weight.
        propose: gives the rows that may match; None: any may.
    """
    known: dict[int, Outline] = {}

    def ask(rows: Sequence[int]) -> Sequence[Standing]:
        if len(rows) > AT_ONCE:
            return snapshot.standings(spans, wanted, rows)
        first = snapshot.outlines(spans, wanted, rows) if rows else ()
        known.update({outline.row: outline for outline in first})
        return [(outline.row, outline.role, outline.tokens) for outline in first]

    def rest() -> Sequence[Standing]:
        return [one for one in snapshot.standings(spans, wanted, propose()) if one[0] not in weighed]

    return Candidates(standings=(), ask=ask, outlines=_look_up(snapshot, spans, wanted, known), others=rest)


def ask_named(
    snapshot: BrowsePort,
    spans: Sequence[Span],
    wanted: Filter,
    weighed: Collection[int],
    propose: Callable[[], Sequence[int] | None],
) -> Candidates:
    """Those that pass the filter, first the few that have a weight, which are read at once.

    Args:
        snapshot: of the session.
        spans: rows that count.
        wanted: the filter.
        weighed: the rows that have a weight; all others come after them in the order.
        propose: gives the rows that may match; None: any may.
    """
    first = snapshot.outlines(spans, wanted, sorted(weighed)) if weighed else ()
    by_row = {outline.row: outline for outline in first}

    def rest() -> Sequence[Standing]:
        rows = propose()
        if rows is not None:
            rows = [row for row in rows if row not in weighed]
        if rows == []:
            return ()
        return [one for one in snapshot.standings(spans, wanted, rows) if one[0] not in weighed]

    return Candidates(
        standings=[(outline.row, outline.role, outline.tokens) for outline in first],
        outlines=_look_up(snapshot, spans, wanted, by_row),
        others=rest,
    )


def _look_up(
    snapshot: BrowsePort, spans: Sequence[Span], wanted: Filter, known: Mapping[int, Outline]
) -> Callable[[Sequence[int]], Sequence[Outline]]:
    """Gives outlines of which some are known already."""

    def read(rows: Sequence[int]) -> Sequence[Outline]:
        missing = [row for row in rows if row not in known]
        more = {outline.row: outline for outline in snapshot.outlines(spans, wanted, missing)} if missing else {}
        return [known[row] if row in known else more[row] for row in rows if row in known or row in more]

    return read


def ask_latest(
    snapshot: BrowsePort,
    spans: Sequence[Span],
    wanted: Filter,
    propose: Callable[[Sequence[Span]], Sequence[int] | None],
) -> Candidates:
    """Those that pass the filter, where the documented order may need no more than the last rows.

    Args:
        snapshot: of the session.
        spans: rows that count.
        wanted: the filter.
        propose: gives the rows of some spans that may match; None: any may.
    """

    def cut(row: int) -> Sequence[Span]:
        return spans if row <= 1 else tuple([(max(first, row), last) for first, last in spans if last >= row])

    def since(row: int) -> Sequence[Standing] | None:
        rows = cut(row)
        return None if sum([last - first + 1 for first, last in rows]) > _SHORT else snapshot.standings(rows, wanted)

    def narrow(row: int) -> Candidates:
        rows = cut(row)
        found = propose(rows)
        if row <= 1 or found is None or len(found) <= AT_ONCE:
            return ask_late(snapshot, rows, wanted, found)
        # Most of them cannot come before the end, which is known without their texts.
        return Candidates(standings=snapshot.standings(rows, wanted, found), outlines=read)

    def read(rows: Sequence[int]) -> Sequence[Outline]:
        return snapshot.outlines(spans, wanted, rows)

    return Candidates(standings=(), outlines=read, since=since, proposed=lambda row: propose(cut(row)), narrow=narrow)


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
