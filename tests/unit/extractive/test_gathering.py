"""What the index says of exchanges: the same with numpy and without it."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aforesaid.answers import NO_WEIGHTS, Weights
from aforesaid.extractive.gathering import SECOND, gather, gather_arrays, gather_singly

if TYPE_CHECKING:
    from collections.abc import Sequence


def make_weights(scores: dict[int, float]) -> Weights:
    rows = sorted(scores)
    return Weights(
        rows=array("q", rows),
        scores=array("d", [scores[row] for row in rows]),
        roles=bytes(len(rows)),
        names=("user",),
    )


def test_the_best_entry_counts_and_a_part_of_the_second_best() -> None:
    weights = make_weights({1: 2.0, 2: 5.0, 3: 3.0, 4: 1.0, 6: 9.0})
    places = array("q", [-1, 1, 1, 1, 0, 2, -1])
    assert list(gather(weights, places, 4)) == [1.0, 5.0 + SECOND * 3.0, 0.0, 0.0]


def test_two_entries_that_are_worth_the_same_both_count() -> None:
    assert list(gather(make_weights({0: 2.0, 1: 2.0}), array("q", [0, 0]), 1)) == [2.0 + SECOND * 2.0]


@given(
    scores=st.dictionaries(st.integers(0, 40), st.sampled_from([0.1, 0.25, 1.0, 1.1, 7.3]) | st.floats(0.001, 50)),
    places=st.lists(st.integers(-1, 9), min_size=41, max_size=41),
)
def test_all_rows_at_once_give_the_same_to_the_last_bit(scores: dict[int, float], places: Sequence[int]) -> None:
    numpy = pytest.importorskip("numpy")
    weights, where = make_weights(scores), array("q", places)
    singly = gather_singly(weights, where, 10)
    if scores:
        assert gather_arrays(numpy, weights, where, 10) == singly
    assert gather(weights, where, 10) == singly


def test_nothing_found_is_worth_nothing() -> None:
    assert list(gather(NO_WEIGHTS, array("q", [-1]), 3)) == [0.0, 0.0, 0.0]
    assert list(gather(NO_WEIGHTS, array("q"), 0)) == []
