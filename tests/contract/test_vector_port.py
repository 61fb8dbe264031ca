"""`ports.VectorPort` over every implementation."""

from __future__ import annotations

import shutil
import tempfile
from array import array
from contextlib import contextmanager
from itertools import pairwise
from math import hypot
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.contract.stores import FILE, put, store
from tests.fakes.entries import chain
from tests.fakes.store import FakeVectors

from aforesaid.embedding import Covered, Held, Passage, Profile
from aforesaid.passages import hash_of
from aforesaid.storage.sqlite import open_store
from aforesaid.storage.sqlite.vector_blocks import BLOCK
from aforesaid.storage.sqlite.vectors import MemoryVectors

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aforesaid.ports import StorePort, VectorPort

__all__ = ["store"]

KEY = "0" * 32
ONE = Profile(provider="p", model="m", dimensions=3)
OTHER = Profile(provider="p", model="m", dimensions=2)
COVERED = Covered(low=1, high=9, generation=3, tail=b"t", excluded=2)


def passage(row: int, start: int = 0, text: str | None = None) -> Passage:
    words = f"text {row} {start}" if text is None else text
    return Passage(row=row, start=start, end=start + len(words), hash=hash_of(words))


def vector(of: Passage, profile: Profile = ONE) -> bytes:
    numbers = [float(of.row + number) for number in range(profile.dimensions)]
    return array("f", [number / hypot(*numbers) for number in numbers]).tobytes()


def fill(vectors: VectorPort, *passages: Passage, profile: Profile = ONE, covered: Covered = COVERED) -> None:
    vectors.add(profile, passages, [vector(one, profile) for one in passages], covered)


def listed(held: Held) -> list[Passage]:
    return [held.passage(place) for place in range(len(held.rows))]


def parts(held: Held, profile: Profile) -> list[tuple[int, int, int, bytes, bytes]]:
    size = profile.dimensions * 4
    return sorted(
        (one.row, one.start, one.end, one.hash, held.vectors[place * size : (place + 1) * size])
        for place, one in enumerate(listed(held))
    )


@contextmanager
def implementations() -> Iterator[list[VectorPort]]:
    folder = tempfile.mkdtemp()
    opened = open_store(folder)
    try:
        yield [FakeVectors(), MemoryVectors(), opened.vectors(KEY)]
    finally:
        opened.close()
        shutil.rmtree(folder)


def test_a_session_without_vectors_says_so(store: StorePort) -> None:
    vectors = store.vectors(KEY)
    assert vectors.version(ONE) == b""
    assert vectors.covered(ONE) is None
    assert listed(vectors.load(ONE)) == []
    assert vectors.profiles() == ()
    vectors.trim(ONE, 3)
    vectors.forget([1])
    vectors.discard()
    assert vectors.version(ONE) == b""


def test_what_was_added_comes_back_in_row_order(store: StorePort) -> None:
    vectors = store.vectors(KEY)
    later = [passage(5), passage(5, 10), passage(7)]
    earlier = [passage(2), passage(3)]
    fill(vectors, *later)
    before = vectors.version(ONE)
    fill(vectors, *earlier)
    assert before
    assert vectors.version(ONE) not in (before, b"")
    held = vectors.load(ONE)
    assert listed(held) == [*earlier, *later]
    assert held.vectors == b"".join(vector(one) for one in (*earlier, *later))
    assert vectors.load(ONE, vectors=False).vectors == b""
    assert listed(vectors.load(ONE, vectors=False)) == [*earlier, *later]
    assert vectors.covered(ONE) == COVERED


def test_profiles_stand_side_by_side(store: StorePort) -> None:
    vectors = store.vectors(KEY)
    fill(vectors, passage(1), passage(2))
    fill(vectors, passage(1), profile=OTHER)
    remote = Profile(provider="p", model="m", dimensions=3, destination="remote")
    assert vectors.load(remote).rows == array("I")
    vectors.keep(ONE, [], COVERED)
    assert vectors.profiles() == ((OTHER, 1),)
    assert listed(vectors.load(OTHER)) == [passage(1)]


def test_an_edit_takes_only_what_is_not_there_any_more(store: StorePort) -> None:
    vectors = store.vectors(KEY)
    fill(vectors, passage(1, text="a"), passage(2, text="b"), passage(3, text="c"))
    now = [passage(1, text="a"), passage(4, 7, text="c"), passage(5, text="new")]
    assert vectors.keep(ONE, now, COVERED) == 1
    held = vectors.load(ONE)
    assert listed(held) == now[:2]
    assert held.vectors == vector(passage(1)) + vector(passage(3))


def test_forgotten_rows_go_from_all_profiles(store: StorePort) -> None:
    vectors = store.vectors(KEY)
    fill(vectors, passage(1), passage(2), passage(2, 9), passage(3))
    fill(vectors, passage(2), profile=OTHER)
    before = vectors.version(ONE)
    vectors.forget([2, 99])
    assert listed(vectors.load(ONE)) == [passage(1), passage(3)]
    assert listed(vectors.load(OTHER)) == []
    assert vectors.version(ONE) != before
    vectors.discard()
    assert vectors.version(ONE) == b""
    fill(vectors, passage(8))
    assert listed(vectors.load(ONE)) == [passage(8)]


def test_removing_a_session_removes_its_vectors(store: StorePort) -> None:
    key = put(store, chain("one")).key
    fill(store.vectors(key), passage(1))
    store.remove(key)
    if not isinstance(store.vectors(key), FakeVectors):
        assert store.vectors(key).profiles() == ()
    assert store.by_file(FILE) is None


ROWS = st.integers(0, 200)
STEPS = st.one_of(
    st.tuples(st.just("add"), st.lists(ROWS, max_size=BLOCK + 5)),
    st.tuples(st.just("keep"), st.lists(ROWS, max_size=90)),
    st.tuples(st.just("trim"), st.lists(ROWS, min_size=1, max_size=1)),
    st.tuples(st.just("forget"), st.lists(ROWS, max_size=30)),
)


@settings(max_examples=60)
@given(st.lists(st.tuples(STEPS, st.booleans()), max_size=8))
def test_all_hold_the_same_whatever_is_done(steps: list[tuple[tuple[str, list[int]], bool]]) -> None:
    with implementations() as (fake, *others):
        held: set[tuple[Profile, int]] = set()
        for (step, numbers), first in steps:
            profile = ONE if first else OTHER
            rows = sorted({*numbers})
            new = [row for row in rows if (profile, row) not in held]
            for one in (fake, *others):
                if step == "add":
                    fill(one, *map(passage, new), profile=profile)
                elif step == "keep":
                    one.keep(profile, [passage(row) for row in rows], COVERED)
                elif step == "trim":
                    one.trim(profile, rows[0])
                else:
                    one.forget(rows)
            held = {(wanted, row) for wanted in (ONE, OTHER) for row in fake.load(wanted, vectors=False).rows}
            for wanted in (ONE, OTHER):
                for other in others:
                    assert parts(other.load(wanted), wanted) == parts(fake.load(wanted), wanted)
                    assert other.covered(wanted) == fake.covered(wanted)
            assert [one.profiles() for one in others] == [fake.profiles()] * len(others)


def test_entries_that_come_one_by_one_fill_blocks(tmp_path: object) -> None:
    with implementations() as (_, memory, real):
        for vectors in (memory, real):
            for row in range(1, 3 * BLOCK + 2):
                fill(vectors, passage(row))
            held = vectors.load(ONE)
            assert all(before < after for before, after in pairwise(held.rows))
            assert len(held.rows) == 3 * BLOCK + 1
            connection = vectors._annex.open().connection  # type: ignore[attr-defined]
            assert connection.execute("SELECT count(*) FROM block").get == 4


@pytest.mark.parametrize("count", [0, 1, BLOCK, BLOCK + 1, 5 * BLOCK])
def test_blocks_of_any_number(count: int) -> None:
    with implementations() as everyone:
        for vectors in everyone:
            fill(vectors, *[passage(row) for row in range(1, count + 1)])
            assert list(vectors.load(ONE).rows) == list(range(1, count + 1))
