"""Floor 4: which rows stand on a branch, and which of them the model still sees.

`retrieval` hands in a session's `Tree` and a leaf and gets a `Branch`. All is arithmetic on spans of rows, so the
cost depends on the number of forks and not on the length of the session. Pure; knows no host: readers have already said
in `Compaction` and `Edit` what their host does to the view.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Final

from aforesaid.model import NO_DIGEST, Branch, Projection

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from aforesaid.model import Compaction, Edit, Mark, Role, Run, Span, Tree


class Places:
    """Where rows stand on a branch: 0 for the root, counted in entries."""

    def __init__(self, spans: Sequence[Span]) -> None:
        """Takes the spans of a branch, root first."""
        before = 0
        starts: list[tuple[int, int, int]] = []
        for first, last in spans:
            starts.append((first, last, before))
            before += last - first + 1
        starts.sort()
        self._spans = starts
        self._firsts = [first for first, _, _ in starts]
        self._placed: list[tuple[int, int, int]] | None = None
        self.length = before

    @property
    def spans(self) -> Sequence[tuple[int, int, int]]:
        """First row, last row and place of the first one, by row."""
        return self._spans

    def of(self, row: int) -> int | None:
        """The place of a row, or None if it is not on the branch."""
        index = bisect_right(self._firsts, row) - 1
        if index < 0:
            return None
        first, last, before = self._spans[index]
        return before + row - first if row <= last else None

    def around(self, place: int, reach: int) -> list[int]:
        """The rows at a place of the branch and at those beside it, in their order; -1 where there is none.

        Args:
            place: one that a row stands at.
            reach: how many are wanted to each side.
        """
        if self._placed is None:
            self._placed = sorted([(before, before + last - first, first) for first, last, before in self._spans])
        index = bisect_right(self._placed, place, key=_first_of) - 1
        low, high, first = self._placed[index]
        if low <= place - reach and place + reach <= high:
            return list(range(first + place - reach - low, first + place + reach - low + 1))
        found: list[int] = []
        for at in range(place - reach, place + reach + 1):
            index = bisect_right(self._placed, at, key=_first_of) - 1
            low, high, first = self._placed[index]
            found.append(first + at - low if index >= 0 and at <= high else -1)
        return found


def _first_of(span: tuple[int, int, int]) -> int:
    return span[0]


def family_of_line(id_: str, sha256: bytes) -> str:
    """A name that sessions share which begin with the same entry; ids that only count lines say nothing.

    Empty for such an entry without a digest: lines that were forgotten are not the same because of that.
    """
    if id_[:1] == "L" and id_[1:].isdigit():
        return "" if sha256 == NO_DIGEST else sha256.hex()
    return id_


def trace(runs: Sequence[Run], leaf: int | None) -> tuple[Span, ...]:
    """The rows from a root to the leaf, root first, as spans.

    A run that comes up twice means that the parents of a damaged file go in a circle; the walk ends there.
    """
    firsts = [run.first for run in runs]
    spans: list[Span] = []
    visited: set[int] = set()
    row = leaf
    while row is not None:
        index = bisect_right(firsts, row) - 1
        if index < 0 or row > runs[index].last or index in visited:
            break
        visited.add(index)
        spans.append((runs[index].first, row))
        row = runs[index].parent
    spans.reverse()
    return merge(spans)


def follow(runs: Sequence[Run], row: int) -> int:
    """The end of the branch that goes on from a row: along its run, then along the latest run that hangs on its end."""
    firsts = [run.first for run in runs]
    later = {run.parent: run.first for run in runs}
    visited: set[int] = set()
    while True:
        index = bisect_right(firsts, row) - 1
        if index < 0 or index in visited:
            return row
        visited.add(index)
        row = max(row, runs[index].last)
        if row not in later:
            return row
        row = later[row]


def merge(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Joins spans that follow each other without a gap; the order stays."""
    merged: list[Span] = []
    for first, last in spans:
        if merged and merged[-1][1] + 1 == first:
            merged[-1] = (merged[-1][0], last)
        else:
            merged.append((first, last))
    return tuple(merged)


def named_ids(tree: Tree, spans: Sequence[Span]) -> tuple[str, ...]:
    """The ids that the marks on a branch name; `see` wants their rows."""
    places = Places(spans)
    found: dict[str, None] = {}
    for mark in tree.marks:
        if places.of(mark.row) is None:
            continue
        if mark.edit is not None:
            found.update(dict.fromkeys(mark.edit.targets))
        if mark.compaction is not None:
            if mark.compaction.kept_from is not None:
                found[mark.compaction.kept_from] = None
            found.update(dict.fromkeys(mark.compaction.kept))
    return tuple(found)


def replaced_ids(tree: Tree, spans: Sequence[Span]) -> tuple[str, ...]:
    """The ids whose content the edits on a branch replace; `see` wants to know which of their rows stay as they are."""
    places = Places(spans)
    edits = [mark.edit for mark in tree.marks if mark.edit is not None and places.of(mark.row) is not None]
    return tuple(dict.fromkeys([id_ for edit in edits if edit.replaced for id_ in edit.targets]))


def has_effect(edit: Edit, role: Role) -> bool:
    """Whether a host shows an entry of this role otherwise after an edit. Leaving out works on all."""
    return not edit.replaced or role not in UNCHANGED


UNCHANGED: Final[frozenset[Role]] = frozenset({"shell", "summary"})
"""Roles that no replacement changes: what a user ran and what a summary says stand in other fields than the content,
which is what is replaced (Pi's `projectContextEntry`; no other host replaces any)."""


def see(tree: Tree, leaf: int | None, rows: Mapping[str, int], fixed: Collection[int] = ()) -> Branch:
    """The branch of a leaf, divided into what the model still sees and what it does not.

    The latest compaction on the branch counts: the model sees what that one kept, and everything after it. Of what it
    sees, entries with a context edit have lost their own words and count as gone; edits that were compacted away have
    no effect. This is Pi's `buildSessionProjection`, in words that fit the other hosts too.

    Args:
        tree: the session's shape.
        leaf: row of the leaf; None for an empty session.
        rows: rows of the ids that `named_ids` listed, as far as the session has them.
        fixed: rows of the ids that `replaced_ids` listed whose roles are `UNCHANGED`.
    """
    spans = trace(tree.runs, leaf)
    shown = project(tree, spans, rows, fixed)
    return divide(leaf, spans, without(shown.spans, [row for row, _ in shown.edits]))


def project(tree: Tree, spans: tuple[Span, ...], rows: Mapping[str, int], fixed: Collection[int] = ()) -> Projection:
    """What a host makes its context of: the rows of a branch that it still shows, edited ones included.

    Args:
        tree: the session's shape.
        spans: the branch, as `trace` gave it.
        rows: rows of the ids that `named_ids` listed, as far as the session has them.
        fixed: as for `see`.
    """
    places = Places(spans)
    latest = _latest_compaction(tree.marks, places)
    seen = spans if latest is None else _kept(*latest[1:], rows, spans, places)
    visible = Places(seen)
    edits = {
        rows[target]: (mark.row, mark.edit.replaced)
        for mark in tree.marks
        if mark.edit is not None and visible.of(mark.row) is not None
        for target in mark.edit.targets
        if target in rows
    }
    # The latest edit of an entry counts, also one that changes nothing.
    changed = [(row, change) for row, (change, replaced) in edits.items() if not replaced or row not in fixed]
    return Projection(spans=seen, compaction=None if latest is None else latest[0], edits=tuple(sorted(changed)))


def divide(leaf: int | None, spans: tuple[Span, ...], context: Sequence[Span]) -> Branch:
    """The branch with a given context; rows of the context that are not on the branch are ignored."""
    on_branch = intersect(spans, context)
    return Branch(
        leaf=leaf,
        spans=spans,
        context=merge(sorted(on_branch)),
        eligible=subtract(spans, on_branch),
    )


def _latest_compaction(marks: Sequence[Mark], places: Places) -> tuple[int, int, Compaction] | None:
    """Row and place of the last compaction on the branch, and what it left; None if there is none."""
    found = [
        (mark.row, place, mark.compaction)
        for mark in marks
        if mark.compaction is not None and (place := places.of(mark.row)) is not None
    ]
    return max(found, key=lambda latest: latest[1]) if found else None


def _kept(
    at: int, compaction: Compaction, rows: Mapping[str, int], spans: tuple[Span, ...], places: Places
) -> tuple[Span, ...]:
    """What a compaction leaves visible of a branch."""
    first_kept = None if compaction.kept_from is None else rows.get(compaction.kept_from)
    kept_from = None if first_kept is None else places.of(first_kept)
    stretch = _from_place(spans, at if kept_from is None else min(kept_from, at))
    singles = [(rows[id_], rows[id_]) for id_ in compaction.kept if id_ in rows]
    return subtract(intersect(spans, singles), stretch) + stretch


def _from_place(spans: Sequence[Span], place: int) -> tuple[Span, ...]:
    """The rest of a branch from a place on."""
    rest: list[Span] = []
    before = 0
    for first, last in spans:
        length = last - first + 1
        if before + length > place:
            rest.append((first + max(0, place - before), last))
        before += length
    return tuple(rest)


def without(spans: Sequence[Span], rows: Iterable[int]) -> tuple[Span, ...]:
    """The spans without single rows."""
    return subtract(spans, [(row, row) for row in rows])


def subtract(spans: Sequence[Span], removed: Sequence[Span]) -> tuple[Span, ...]:
    """The rows of `spans`, in their order, that are in none of `removed` (which may be in any order)."""
    holes = _disjoint(removed)
    lasts = [last for _, last in holes]
    left: list[Span] = []
    for first, last in spans:
        start = first
        for hole_first, hole_last in holes[bisect_right(lasts, first - 1) :]:
            if hole_first > last:
                break
            if start < hole_first:
                left.append((start, hole_first - 1))
            start = hole_last + 1
        if start <= last:
            left.append((start, last))
    return tuple(left)


def intersect(spans: Sequence[Span], others: Sequence[Span]) -> tuple[Span, ...]:
    """The rows of `spans`, in their order, that are in some of `others` (which may be in any order)."""
    return subtract(spans, subtract(_disjoint(spans), others))


def _disjoint(spans: Sequence[Span]) -> list[Span]:
    """The same rows in ascending order, overlaps joined."""
    joined: list[Span] = []
    for first, last in sorted(spans):
        if joined and first <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(last, joined[-1][1]))
        else:
            joined.append((first, last))
    return joined
