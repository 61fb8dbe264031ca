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
from aforesaid.embedding import Held
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


def stand_out(similarity: float, every: Sequence[float]) -> float:
    spread = pstdev(every)
    return (similarity - fmean(every)) / spread if spread > 1e-4 else 0.0


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
        found = matrix.nearest(array("f", query).tobytes(), spans, limit, floor, admits)
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
    for matrix in (NumpyMatrix(given, SIZE, numpy), ArrayMatrix(given, SIZE)):
        alone = matrix.nearest(query, [(1, 60)], 2, -1.0)
        assert [one.row for one in alone] == [50, 55]
        assert alone[0].standing > 7
        assert alone[1].standing < 1
        among_equals = matrix.nearest(query, [(50, 50), (99, 99)], 2, -1.0)
        assert [one.standing for one in among_equals] == [0.0, 0.0]


def test_many_stretches_are_picked_from_the_whole_product() -> None:
    rows = list(range(1, 401))
    given = held(rows, [unit([1.0, row / 400, *[0.0] * 6]) for row in rows])
    spans = [(row, row) for row in range(1, 401, 2)]
    query = array("f", unit([0.0, 1.0, *[0.0] * 6])).tobytes()
    for matrix in (NumpyMatrix(given, SIZE, numpy), ArrayMatrix(given, SIZE)):
        assert [one.row for one in matrix.nearest(query, spans, 3, -1.0)] == [399, 397, 395]


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
        one = NumpyMatrix(given, 64, numpy).nearest(query, [(1, 3)], 3, -1.0)
        assert one == ArrayMatrix(given, 64).nearest(query, [(1, 3)], 3, -1.0)


def test_nothing_is_nearest_to_nothing() -> None:
    empty = held([], [])
    for matrix in (NumpyMatrix(empty, SIZE, numpy), ArrayMatrix(empty, SIZE)):
        assert matrix.nearest(array("f", [1.0] * SIZE).tobytes(), [(1, 5)], 3, -1.0) == ()
        assert matrix.nearest(array("f", [1.0] * SIZE).tobytes(), [], 3, -1.0) == ()
