"""Spans against plain sets: whatever the tree, the same rows come out."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from tests.fakes.entries import spans_within

from aforesaid import lineage
from aforesaid.model import NO_DIGEST, Compaction, Edit, Mark, Run, Tree

Spans = list[tuple[int, int]]


def rows_of(spans: Spans | tuple[tuple[int, int], ...]) -> list[int]:
    return [row for first, last in spans for row in range(first, last + 1)]


def runs_of(parents: list[int | None]) -> tuple[Run, ...]:
    """Rows are numbered from 1; `parents[i]` is the parent of row i + 1."""
    runs: list[Run] = []
    for row, parent in enumerate(parents, 1):
        if runs and parent == row - 1:
            runs[-1] = Run(first=runs[-1].first, last=row, parent=runs[-1].parent)
        else:
            runs.append(Run(first=row, last=row, parent=parent))
    return tuple(runs)


def ancestors(parents: list[int | None], leaf: int) -> list[int]:
    path: list[int] = []
    row: int | None = leaf
    while row is not None and row not in path:
        path.append(row)
        row = parents[row - 1]
    return path[::-1]


@st.composite
def trees(draw: st.DrawFn) -> tuple[list[int | None], int]:
    size = draw(st.integers(1, 30))
    parents: list[int | None] = []
    for row in range(1, size + 1):
        earlier = (
            st.none() if row == 1 else st.one_of(st.just(row - 1), st.just(row - 1), st.integers(1, row - 1), st.none())
        )
        parents.append(draw(earlier))
    return parents, draw(st.integers(1, size))


disjoint_spans = st.lists(st.integers(1, 40), unique=True, max_size=25).map(
    lambda rows: list(lineage.merge([(row, row) for row in rows]))
)
any_spans = st.lists(
    st.tuples(st.integers(1, 40), st.integers(0, 8)).map(lambda pair: (pair[0], sum(pair))), max_size=8
)


@given(trees())
def test_a_branch_is_the_ancestors_of_its_leaf_root_first(tree: tuple[list[int | None], int]) -> None:
    parents, leaf = tree
    assert rows_of(lineage.trace(runs_of(parents), leaf)) == ancestors(parents, leaf)


@given(disjoint_spans, any_spans)
def test_subtracting_and_intersecting_keep_the_order_of_the_branch(spans: Spans, others: Spans) -> None:
    outside = set(rows_of(others))
    assert rows_of(lineage.subtract(spans, others)) == [row for row in rows_of(spans) if row not in outside]
    assert rows_of(lineage.intersect(spans, others)) == [row for row in rows_of(spans) if row in outside]


@given(disjoint_spans)
def test_places_count_entries_from_the_root(spans: Spans) -> None:
    places = lineage.Places(spans)
    assert [places.of(row) for row in rows_of(spans)] == list(range(places.length))
    assert all(places.of(row) is None for row in range(60) if row not in rows_of(spans))


def test_a_circle_of_parents_ends_the_walk() -> None:
    runs = (Run(first=1, last=2, parent=4), Run(first=3, last=4, parent=2))
    assert rows_of(lineage.trace(runs, 4)) == [1, 2, 3, 4]


def test_rows_between_runs_and_behind_the_end_belong_to_no_branch() -> None:
    runs = (Run(first=2, last=3, parent=None),)
    assert lineage.trace(runs, 1) == ()
    assert lineage.trace(runs, 9) == ()
    assert lineage.trace(runs, None) == ()


@st.composite
def marked_trees(draw: st.DrawFn) -> tuple[list[int | None], int, dict[int, Mark]]:
    parents, leaf = draw(trees())
    marks: dict[int, Mark] = {}
    for row in draw(st.lists(st.integers(1, len(parents)), unique=True, max_size=6)):
        any_id = st.integers(1, len(parents) + 2).map(str)
        compaction = st.builds(
            Compaction, kept_from=st.none() | any_id, kept=st.lists(any_id, max_size=3, unique=True).map(tuple)
        )
        others = st.lists(any_id, max_size=2).map(tuple)
        edit = st.builds(Edit, target=any_id, replaced=st.booleans(), others=others)
        if draw(st.booleans()):
            marks[row] = Mark(row=row, compaction=draw(compaction))
        else:
            marks[row] = Mark(row=row, edit=draw(edit))
    return parents, leaf, marks


def seen_by_the_model(path: list[int], marks: dict[int, Mark], fixed: frozenset[int]) -> set[int]:
    """Written the way Pi does it: latest compaction, first kept entry, the rest, then the edits that are left."""
    at = max((index for index, row in enumerate(path) if row in marks and marks[row].compaction), default=None)
    seen = list(path)
    if at is not None:
        compaction = marks[path[at]].compaction
        assert compaction is not None
        before = path[:at]
        kept = [str(row) for row in before]
        start = kept.index(compaction.kept_from) if compaction.kept_from in kept else at
        seen = [row for row in before[:start] if str(row) in compaction.kept] + before[start:] + path[at:]
    edits = [marks[row].edit for row in sorted(seen) if row in marks]
    latest = {int(target): edit for edit in edits if edit for target in (edit.target, *edit.others)}
    return set(seen) - {row for row, edit in latest.items() if not edit.replaced or row not in fixed}


@given(marked_trees(), st.frozensets(st.integers(1, 30)))
def test_the_context_is_what_a_host_would_send(
    drawn: tuple[list[int | None], int, dict[int, Mark]], fixed: frozenset[int]
) -> None:
    parents, leaf, marks = drawn
    tree = Tree(runs=runs_of(parents), marks=tuple(marks[row] for row in sorted(marks)), tail=len(parents))
    rows = {str(row): row for row in range(1, len(parents) + 1)}
    branch = lineage.see(tree, leaf, rows, fixed)
    path = ancestors(parents, leaf)
    seen = seen_by_the_model(path, marks, fixed)
    assert rows_of(branch.spans) == path
    assert rows_of(branch.context) == sorted(seen)
    assert rows_of(branch.eligible) == [row for row in path if row not in seen]


@given(marked_trees())
def test_every_id_that_matters_is_asked_for(drawn: tuple[list[int | None], int, dict[int, Mark]]) -> None:
    parents, leaf, marks = drawn
    tree = Tree(runs=runs_of(parents), marks=tuple(marks[row] for row in sorted(marks)), tail=len(parents))
    rows = {str(row): row for row in range(1, len(parents) + 1)}
    asked = set(lineage.named_ids(tree, lineage.trace(tree.runs, leaf)))
    assert lineage.see(tree, leaf, {id_: row for id_, row in rows.items() if id_ in asked}) == lineage.see(
        tree, leaf, rows
    )
    replaced = {int(id_) for id_ in lineage.replaced_ids(tree, lineage.trace(tree.runs, leaf))}
    every = range(1, len(parents) + 1)
    assert lineage.see(tree, leaf, rows, every) == lineage.see(tree, leaf, rows, replaced)


@given(spans_within(25), st.integers(1, 3))
def test_the_rows_beside_a_place_are_those_that_have_the_places_beside_it(
    spans: tuple[tuple[int, int], ...], reach: int
) -> None:
    places = lineage.Places(spans)
    rows = {place: row for row in range(30) if (place := places.of(row)) is not None}
    for place in rows:
        expected = [rows.get(at, -1) for at in range(place - reach, place + reach + 1)]
        assert places.around(place, reach) == expected


def test_a_host_that_knows_its_context_overrides_the_derived_one() -> None:
    branch = lineage.divide(5, ((1, 3), (5, 5)), [(4, 4), (3, 3), (9, 9)])
    assert branch.context == ((3, 3),)
    assert branch.eligible == ((1, 2), (5, 5))


def test_a_family_has_the_name_of_its_first_entry_or_of_that_entrys_line() -> None:
    assert lineage.family_of_line("e1", b"\x01" * 32) == lineage.family_of_line("e1", NO_DIGEST) == "e1"
    assert lineage.family_of_line("L1", b"\x01" * 32) == "01" * 32
    assert lineage.family_of_line("L1", NO_DIGEST) == ""
    assert lineage.family_of_line("Lx", NO_DIGEST) == "Lx"
