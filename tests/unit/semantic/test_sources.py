"""Keeping vectors equal to entries: what is asked of the model, what stays, where an interrupted run goes on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.contract.stores import FILE, put
from tests.fakes.entries import chain, described, entry
from tests.fakes.store import FakeStore

from aforesaid.embedders.feature_hash import FeatureHash
from aforesaid.embedding import Vectors
from aforesaid.passages import LENGTH, hash_of
from aforesaid.semantic.sources import CHANGED, ROWS_AT_ONCE, Clearing, Made, Maker, make_vectors
from aforesaid.storage.sqlite.memory import MemoryStore
from aforesaid.testing import cleared

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aforesaid.embedding import Purpose
    from aforesaid.model import Cleared, Entry
    from aforesaid.ports import StorePort

HASHED = FeatureHash(16)


class Model:
    """Counts what it is asked."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.calls = 0
        self.fails_at: int | None = None

    def embed(self, texts: Cleared[str], purpose: Purpose) -> Vectors:
        assert purpose == "source"
        self.calls += 1
        if self.fails_at is not None and self.calls >= self.fails_at:
            return Vectors(reason="embedding-timeout")
        self.texts += texts.values
        return Vectors(values=tuple(HASHED.vector(text).tobytes() for text in texts.values))


def maker(store: StorePort, model: Model, key: str, *, most: int = 1000, batch: int = 10) -> Maker:
    return Maker(
        read=lambda: store.read(key),
        vectors=store.vectors(key),
        profile=HASHED.profile,
        embed=model.embed,
        clear=Clearing(lambda texts: cleared(*texts)),
        most=most,
        batch=batch,
    )


def stored(store: StorePort, key: str) -> list[tuple[int, str]]:
    """Row and text of each passage that has a vector, by what the store says of the row now."""
    held = store.vectors(key).load(HASHED.profile)
    found = []
    with store.read(key) as snapshot:
        for place in range(len(held.rows)):
            passage = held.passage(place)
            text = snapshot.entries((passage.row,))[0].text[passage.start : passage.end]
            assert passage.hash == hash_of(text)
            assert held.vectors[place * 64 : (place + 1) * 64] == HASHED.vector(text).tobytes()
            found.append((passage.row, text))
    return found


def wanted(store: StorePort, key: str, most: int = 1000) -> list[tuple[int, str]]:
    with store.read(key) as snapshot:
        rows = range(max(1, snapshot.session.entries - most + 1), snapshot.session.entries + 1)
        return [
            (one.row, one.text)
            for one in snapshot.entries(rows)
            if one.automatic and one.text.strip() and len(one.text) <= LENGTH
        ]


@pytest.fixture(params=[FakeStore, MemoryStore])
def store(request: pytest.FixtureRequest) -> StorePort:
    made: StorePort = request.param()
    return made


TEXTS = [f"words number {number}" for number in range(200)]


def test_every_entry_that_may_come_back_gets_vectors_once(store: StorePort) -> None:
    entries = [
        *chain("alpha", "beta"),
        entry("s", "e2", "a summary", automatic=False),
        entry("b", "s", "  \n"),
        entry("l", "b", "x" * (LENGTH + 5)),
    ]
    key, model = put(store, entries).key, Model()
    made = make_vectors(maker(store, model, key))
    assert made == Made(vectors=4, complete=True)
    assert sorted(model.texts) == sorted(["alpha", "beta", "x" * LENGTH, "x" * 5])
    again = make_vectors(maker(store, model, key))
    assert again == Made(complete=True)
    assert len(model.texts) == 4


def test_an_append_asks_for_what_is_new_only(store: StorePort) -> None:
    key, model = put(store, chain(*TEXTS[:100])).key, Model()
    make_vectors(maker(store, model, key))
    with store.write(FILE) as writer:
        writer.append([entry("n1", "e100", "new one"), entry("n2", "n1", "new two")])
        writer.commit(described(FILE))
    model.texts.clear()
    assert make_vectors(maker(store, model, key)).vectors == 2
    assert model.texts == ["new one", "new two"]
    assert sorted(stored(store, key)) == wanted(store, key)


def test_the_newest_come_first_and_an_interrupted_run_goes_on(store: StorePort) -> None:
    key, model = put(store, chain(*TEXTS)).key, Model()
    model.fails_at = ROWS_AT_ONCE // 10 + 3
    made = make_vectors(maker(store, model, key))
    assert made.complete is False
    assert made.reason == "embedding-timeout"
    assert [row for row, _ in stored(store, key)] == list(range(200 - ROWS_AT_ONCE + 1, 201))
    model.fails_at = None
    model.texts.clear()
    steps: list[tuple[int, int]] = []
    made = make_vectors(maker(store, model, key), progress=lambda done, total: steps.append((done, total)))
    assert made.complete
    assert made.vectors == len(model.texts) == 200 - ROWS_AT_ONCE
    assert steps[-1] == (200 - ROWS_AT_ONCE, 200)
    assert sorted(stored(store, key)) == wanted(store, key)


@pytest.mark.parametrize("seconds", [0.0, None])
def test_a_run_ends_when_its_time_is_up_or_when_it_is_told(store: StorePort, seconds: float | None) -> None:
    key, model = put(store, chain(*TEXTS)).key, Model()
    made = make_vectors(maker(store, model, key), seconds=seconds, stopped=lambda: seconds is None)
    assert made == Made(complete=False)
    assert model.calls == 0


def test_only_the_latest_entries_have_vectors(store: StorePort) -> None:
    key, model = put(store, chain(*TEXTS[:50])).key, Model()
    make_vectors(maker(store, model, key, most=20))
    assert [row for row, _ in stored(store, key)] == list(range(31, 51))
    with store.write(FILE) as writer:
        writer.append([entry(f"n{number}", None, f"new {number}") for number in range(5)])
        writer.commit(described(FILE))
    make_vectors(maker(store, model, key, most=20))
    assert [row for row, _ in stored(store, key)] == list(range(36, 56))
    # More than all of it is new.
    with store.write(FILE) as writer:
        writer.append([entry(f"m{number}", None, f"more {number}") for number in range(100)])
        writer.commit(described(FILE))
    model.texts.clear()
    make_vectors(maker(store, model, key, most=20))
    assert [row for row, _ in stored(store, key)] == list(range(136, 156))
    assert len(model.texts) == 20


def test_a_session_that_was_read_anew_without_change_asks_for_nothing(store: StorePort) -> None:
    key, model = put(store, chain(*TEXTS)).key, Model()
    make_vectors(maker(store, model, key))
    anew(store, chain(*TEXTS))
    model.texts.clear()
    make_vectors(maker(store, model, key))
    make_vectors(maker(store, model, key), thorough=True)
    assert model.texts == []
    assert sorted(stored(store, key)) == wanted(store, key)


def anew(store: StorePort, entries: Sequence[Entry]) -> None:
    with store.write(FILE) as writer:
        writer.clear()
        writer.append(entries)
        writer.commit(described(FILE))


def test_an_edit_takes_what_is_gone_and_makes_what_is_new(store: StorePort) -> None:
    key, model = put(store, chain(*TEXTS)).key, Model()
    make_vectors(maker(store, model, key))
    changed = [*TEXTS[:50], "another text", *TEXTS[51:], "one at the end"]
    anew(store, chain(*changed))
    model.texts.clear()
    make_vectors(maker(store, model, key), thorough=True)
    assert sorted(model.texts) == ["another text", "one at the end"]
    assert sorted(stored(store, key)) == wanted(store, key)


def test_a_shorter_session_is_noticed_by_itself(store: StorePort) -> None:
    key, model = put(store, chain(*TEXTS)).key, Model()
    make_vectors(maker(store, model, key))
    anew(store, chain(*TEXTS[:30]))
    model.texts.clear()
    make_vectors(maker(store, model, key))
    assert model.texts == []
    assert sorted(stored(store, key)) == wanted(store, key)


def test_a_thorough_run_that_is_interrupted_makes_nothing_twice(store: StorePort) -> None:
    key, model = put(store, chain(*TEXTS)).key, Model()
    make_vectors(maker(store, model, key))
    make_vectors(maker(store, model, key), thorough=True, stopped=lambda: True)
    model.texts.clear()
    assert make_vectors(maker(store, model, key)).complete
    assert model.texts == []
    assert sorted(stored(store, key)) == wanted(store, key)


def test_a_session_that_shrinks_meanwhile_ends_the_run(store: StorePort) -> None:
    key, model = put(store, chain(*TEXTS)).key, Model()
    shrunk: list[int] = []

    def stopped() -> bool:
        if not shrunk:
            shrunk.append(1)
            anew(store, chain("one"))
        return False

    made = make_vectors(maker(store, model, key), stopped=stopped)
    assert made == Made(complete=False, reason=CHANGED)
    assert make_vectors(maker(store, model, key)).complete
    assert sorted(stored(store, key)) == wanted(store, key)


def test_profiles_do_not_touch_each_other(store: StorePort) -> None:
    key, model = put(store, chain(*TEXTS[:5])).key, Model()
    make_vectors(maker(store, model, key))
    before = store.vectors(key).load(HASHED.profile)
    other = FeatureHash(32)

    def embed(texts: Cleared[str], purpose: Purpose) -> Vectors:
        return Vectors(values=tuple(other.vector(text).tobytes() for text in texts.values))

    from msgspec.structs import replace

    make_vectors(replace(maker(store, model, key), profile=other.profile, embed=embed))
    assert store.vectors(key).load(HASHED.profile) == before
    assert [count for _, count in store.vectors(key).profiles()] == [5, 5]


@settings(max_examples=40)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["append", "anew", "interrupted", "thorough", "plain"]),
            st.lists(st.sampled_from(["a b", "c", "", "long " * 300, "日本語"]), min_size=1, max_size=90),
        ),
        max_size=6,
    ),
    st.sampled_from([7, 40, 1000]),
)
def test_whatever_happens_a_thorough_run_puts_it_right(steps: list[tuple[str, list[str]]], most: int) -> None:
    store, model = MemoryStore(), Model()
    key = put(store, chain("first")).key
    number = 0
    for step, texts in steps:
        if step in ("append", "anew"):
            with store.write(FILE) as writer:
                if step == "anew":
                    writer.clear()
                entries = []
                for text in texts:
                    number += 1
                    entries.append(entry(f"x{number}", None, text))
                writer.append(entries)
                writer.commit(described(FILE))
        stops = iter([False, True])
        make_vectors(
            maker(store, model, key, most=most),
            thorough=step == "thorough",
            stopped=(lambda: next(stops, True)) if step == "interrupted" else (lambda: False),  # noqa: B023
        )
    make_vectors(maker(store, model, key, most=most), thorough=True)
    found = stored(store, key)
    assert set(wanted(store, key, most)) <= set(found)
    with store.read(key) as snapshot:
        lowest = max(1, snapshot.session.entries - most + 1)
    assert all(row >= lowest for row, _ in found)
    assert len(found) == len({(row, text) for row, text in found}) or any("long" in text for _, text in found)
