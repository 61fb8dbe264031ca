"""Which vectors are nearest: the same rows with numpy and without, filters before the limit."""

from __future__ import annotations

import sys
from array import array
from itertools import pairwise
from math import fsum
from statistics import fmean, pstdev
from typing import TYPE_CHECKING

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aforesaid.embedders.feature_hash import FeatureHash
from aforesaid.embedding import PEERS, Held, Usual
from aforesaid.semantic.matrix import ArrayMatrix, NumpyMatrix, make_matrix

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from aforesaid.model import Span

SIZE = 8


def held(rows: Sequence[int], vectors: Sequence[Sequence[float]]) -> Held:
    return Held(
        rows=array("I", rows),
        starts=array("I", range(len(rows))),
        ends=array("I", range(1, len(rows) + 1)),
        hashes=b"".join(bytes([place % 256]) * 16 for place in range(len(rows))),
        vectors=b"".join(array("f", vector).tobytes() for vector in vectors),
    )


def expect(
    given: Held, query: bytes, spans: Sequence[Span], limit: int, floor: float, admits: Callable[[int], bool] | None
) -> list[tuple[int, float]]:
    """By brute force: filter, then sort, then the limit."""
    vector = array("f", query)
    best: dict[int, float] = {}
    for place, row in enumerate(given.rows):
        if not any(first <= row <= last for first, last in spans) or not (admits is None or admits(row)):
            continue
        values = array("f", given.vectors[place * SIZE * 4 : (place + 1) * SIZE * 4])
        similarity = round(fsum(a * b for a, b in zip(values, vector, strict=True)), 6)
        best[row] = max(best.get(row, -2.0), similarity)
    ordered = sorted(best.items(), key=lambda one: (-one[1], -one[0]))
    return [one for one in ordered if one[1] >= floor][:limit]


def similarities(given: Held, query: Sequence[float], spans: Sequence[Span]) -> list[float]:
    vectors = array("f", given.vectors)
    return [
        fsum(a * b for a, b in zip(vectors[place * SIZE : (place + 1) * SIZE], query, strict=True))
        for place, row in enumerate(given.rows)
        if any(first <= row <= last for first, last in spans)
    ]


USUAL = Usual(middle=0.1, spread=0.2)


def stand_out(similarity: float, every: Sequence[float]) -> float:
    """Beside the others and 30 that are as usual: half of them a deviation below the middle, half of them above."""
    others = sorted(every, key=lambda other: abs(other - similarity))[1:]
    others += [USUAL.middle - USUAL.spread, USUAL.middle + USUAL.spread] * (PEERS // 2)
    return (similarity - fmean(others)) / pstdev(others)


def unit(values: Sequence[float]) -> list[float]:
    length = fsum(value * value for value in values) ** 0.5 or 1.0
    return [value / length for value in values]


# Few different numbers, so that there are ties.
VECTORS = st.lists(st.sampled_from([-1.0, 0.0, 0.0, 0.5, 1.0]), min_size=SIZE, max_size=SIZE).map(unit)
PASSAGES = st.lists(st.tuples(st.integers(1, 30), VECTORS), max_size=60)


@settings(max_examples=200)
@given(st.data(), PASSAGES, VECTORS)
def test_filters_hold_before_the_limit_with_numpy_and_without(
    data: st.DataObject, passages: list[tuple[int, list[float]]], query: list[float]
) -> None:
    if data.draw(st.booleans()):
        passages = sorted(passages, key=lambda one: one[0])
    given = held([row for row, _ in passages], [vector for _, vector in passages])
    cuts = sorted(data.draw(st.lists(st.integers(1, 31), max_size=8, unique=True)))
    spans = data.draw(st.permutations([(first, second - 1) for first, second in list(pairwise(cuts))[::2]]))
    limit = data.draw(st.integers(1, 8))
    floor = data.draw(st.sampled_from([-2.0, 0.0, 0.3]))
    refused = data.draw(st.frozensets(st.integers(1, 30), max_size=10))
    admits = data.draw(st.sampled_from([None, lambda row: row not in refused]))
    wanted = expect(given, array("f", query).tobytes(), spans, limit, floor, admits)
    for matrix in (NumpyMatrix(given, SIZE, numpy), ArrayMatrix(given, SIZE)):
        assert matrix.count == len(passages)
        plain = matrix.nearest(array("f", query).tobytes(), spans, limit, floor, admits)
        assert [one.standing for one in plain] == [0.0] * len(plain)
        found = matrix.nearest(array("f", query).tobytes(), spans, limit, floor, admits, usual=USUAL)
        assert [(one.row, one.similarity) for one in found] == wanted
        every = similarities(given, query, spans)
        for one in found:
            assert one.standing == pytest.approx(stand_out(one.similarity, every), abs=0.02)
            # The passage that is told is one of the row.
            assert passages[one.start][0] == one.row
            assert one.hash == bytes([one.start % 256]) * 16
            assert one.end == one.start + 1


def test_what_stands_out_does_so_among_the_rows_that_may_come_back() -> None:
    rows = list(range(1, 101))
    given = held(rows, [unit([1.0, 0.9 if row in (50, 99) else row % 7 / 70, *[0.0] * 6]) for row in rows])
    query = array("f", unit([0.0, 1.0, *[0.0] * 6])).tobytes()
    usual = Usual(middle=0.05, spread=0.03)
    for matrix in (NumpyMatrix(given, SIZE, numpy), ArrayMatrix(given, SIZE)):
        alone = matrix.nearest(query, [(1, 60)], 2, -1.0, usual=usual)
        assert [one.row for one in alone] == [50, 55]
        assert alone[0].standing > 15
        assert alone[1].standing < 1
        # Beside its like it stands out less.
        (besides, *_) = matrix.nearest(query, [(1, 60), (99, 99)], 2, -1.0, usual=usual)
        assert 4 < besides.standing < alone[0].standing - 5


@pytest.mark.parametrize("count", [1, 2, 3, 12, 20, 120])
def test_one_of_few_can_stand_out_as_well_as_one_of_many(count: int) -> None:
    given = held(
        range(1, count + 1),
        [unit([1.0, 0.6 if row == 1 else 0.05 + row % 5 / 100, *[0.0] * 6]) for row in range(1, count + 1)],
    )
    query = array("f", unit([0.0, 1.0, *[0.0] * 6])).tobytes()
    usual = Usual(middle=0.05, spread=0.08)
    for matrix in (NumpyMatrix(given, SIZE, numpy), ArrayMatrix(given, SIZE)):
        first, *others = matrix.nearest(query, [(1, count)], count, -1.0, usual=usual)
        assert first.row == 1
        assert first.standing > 5
        assert all(abs(one.standing) < 1 for one in others)


@pytest.mark.parametrize("count", [2, 3, 12])
def test_few_that_are_all_alike_stand_out_from_what_is_usual_only_as_far_as_few_can(count: int) -> None:
    given = held(range(1, count + 1), [unit([1.0, 0.5, *[0.0] * 6])] * count)
    query = array("f", unit([0.0, 1.0, *[0.0] * 6])).tobytes()
    usual = Usual(middle=0.05, spread=0.08)
    for matrix in (NumpyMatrix(given, SIZE, numpy), ArrayMatrix(given, SIZE)):
        standings = {one.standing for one in matrix.nearest(query, [(1, count)], count, -1.0, usual=usual)}
        assert len(standings) == 1
        # The more there are, the less each is worth: of twelve that are alike none is brought up.
        (standing,) = standings
        assert standing == pytest.approx({2: 3.64, 3: 3.02, 12: 1.54}[count], abs=0.02)


def test_of_similarities_that_hardly_differ_none_stands_out() -> None:
    given = held([1, 2], [unit([1.0, 0.5, *[0.0] * 6])] * 2)
    query = array("f", unit([0.0, 1.0, *[0.0] * 6])).tobytes()
    usual = Usual(middle=0.447214, spread=0.0)
    for matrix in (NumpyMatrix(given, SIZE, numpy), ArrayMatrix(given, SIZE)):
        assert [one.standing for one in matrix.nearest(query, [(1, 2)], 2, -1.0, usual=usual)] == [0.0, 0.0]


def test_many_stretches_are_picked_from_the_whole_product() -> None:
    rows = list(range(1, 401))
    given = held(rows, [unit([1.0, row / 400, *[0.0] * 6]) for row in rows])
    spans = [(row, row) for row in range(1, 401, 2)]
    query = array("f", unit([0.0, 1.0, *[0.0] * 6])).tobytes()
    for matrix in (NumpyMatrix(given, SIZE, numpy), ArrayMatrix(given, SIZE)):
        assert [one.row for one in matrix.nearest(query, spans, 3, -1.0)] == [399, 397, 395]


@pytest.mark.parametrize("values", [30_000, 100, 2, 1])
def test_the_highest_of_very_many_are_those_of_a_sort(values: int) -> None:
    # From some 15,000 scores on they are not selected among all; with few values most are equal.
    count = 20_011
    scores = (numpy.arange(count) * 7_919 % count % values).astype("f4")
    matrix = NumpyMatrix(held([1], [unit([1.0] * SIZE)]), SIZE, numpy)
    for wanted in (1, 96, 100, 400, count):
        places = matrix._highest(scores, wanted)
        assert len(set(places.tolist())) == wanted
        assert numpy.sort(scores[places]).tolist() == numpy.sort(scores)[count - wanted :].tolist()


def test_the_nearest_of_very_many_rows_are_those_of_a_sort() -> None:
    rows = range(1, 20_001)
    given = held(rows, [unit([1.0, (row * 7_919 % 20_011) / 400_000, *[0.0] * 6]) for row in rows])
    query, spans = array("f", unit([1.0, 0.3, *[0.0] * 6])).tobytes(), [(1, 9_000), (9_500, 20_000)]
    found = NumpyMatrix(given, SIZE, numpy).nearest(query, spans, 80, -1.0, usual=USUAL)
    assert [(one.row, one.similarity) for one in found] == expect(given, query, spans, 80, -1.0, None)
    assert found == ArrayMatrix(given, SIZE).nearest(query, spans, 80, -1.0, usual=USUAL)


def test_many_refused_rows_do_not_starve_the_others() -> None:
    rows = list(range(1, 1001))
    given = held(rows, [unit([1.0, row / 1000, *[0.0] * 6]) for row in rows])
    query = array("f", unit([0.0, 1.0, *[0.0] * 6])).tobytes()
    for matrix in (NumpyMatrix(given, SIZE, numpy), ArrayMatrix(given, SIZE)):
        found = matrix.nearest(query, [(1, 1000)], 5, -1.0, lambda row: row <= 10)
        assert [one.row for one in found] == [10, 9, 8, 7, 6]


def test_long_passages_of_one_row_do_not_starve_the_others() -> None:
    rows = [1] * 500 + [2, 3]
    given = held(rows, [unit([1.0, 1.0, *[0.0] * 6])] * 500 + [unit([1.0, 0.5, *[0.0] * 6])] * 2)
    query = array("f", unit([0.0, 1.0, *[0.0] * 6])).tobytes()
    for matrix in (NumpyMatrix(given, SIZE, numpy), ArrayMatrix(given, SIZE)):
        assert [one.row for one in matrix.nearest(query, [(1, 9)], 3, -1.0)] == [1, 3, 2]


def test_without_numpy_there_is_an_array(monkeypatch: pytest.MonkeyPatch) -> None:
    given = held([1], [unit([1.0] * SIZE)])
    assert isinstance(make_matrix(given, SIZE), NumpyMatrix)
    assert make_matrix(given, SIZE).size > 0
    monkeypatch.setitem(sys.modules, "numpy", None)
    made = make_matrix(given, SIZE)
    assert isinstance(made, ArrayMatrix)
    assert made.size > 0


def test_dense_and_sparse_requests_agree_without_numpy() -> None:
    hashed = FeatureHash(64)
    texts = ["database migration failed", "the button is blue", "restart the server"]
    given = Held(
        rows=array("I", [1, 2, 3]),
        starts=array("I", [0] * 3),
        ends=array("I", [1] * 3),
        hashes=bytes(48),
        vectors=b"".join(hashed.vector(text).tobytes() for text in texts),
    )
    dense = array("f", unit([1.0 + place / 64 for place in range(64)])).tobytes()
    for query in (hashed.vector("migrating the database").tobytes(), dense):
        one = NumpyMatrix(given, 64, numpy).nearest(query, [(1, 3)], 3, -1.0, usual=USUAL)
        assert one == ArrayMatrix(given, 64).nearest(query, [(1, 3)], 3, -1.0, usual=USUAL)


def test_nothing_is_nearest_to_nothing() -> None:
    empty = held([], [])
    for matrix in (NumpyMatrix(empty, SIZE, numpy), ArrayMatrix(empty, SIZE)):
        assert matrix.nearest(array("f", [1.0] * SIZE).tobytes(), [(1, 5)], 3, -1.0) == ()
        assert matrix.nearest(array("f", [1.0] * SIZE).tobytes(), [], 3, -1.0) == ()
