"""`ports.ManifestPort`, over every implementation: what a caller may rely on, whatever the store is made of."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fakes.store import FakeManifests, FakeStore

from aforesaid.storage.sqlite import open_store
from aforesaid.storage.sqlite.memory import MemoryStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from aforesaid.ports import StorePort


@pytest.fixture(params=["fake", "sqlite", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[StorePort]:
    made: dict[str, Callable[[], StorePort]] = {"fake": FakeStore, "memory": MemoryStore}
    opened = made.get(request.param, lambda: open_store(str(tmp_path / "store")))()
    yield opened
    opened.close()


def test_the_latest_records_come_back_newest_first(store: StorePort) -> None:
    assert store.manifests.latest(None, 10) == ()
    for number in range(5):
        assert store.manifests.keep(f"s{number % 2}", f"record {number}", at=1000.5 + number, most=100)
    assert store.manifests.latest(None, 2) == ((1004.5, "record 4"), (1003.5, "record 3"))
    assert store.manifests.latest("s1", 10) == ((1003.5, "record 3"), (1001.5, "record 1"))
    assert store.manifests.latest("s1", 0) == store.manifests.latest("nobody", 10) == ()


@pytest.mark.parametrize("most", [0, 1, 3])
def test_older_records_go_when_there_are_too_many(most: int, store: StorePort) -> None:
    for number in range(5):
        store.manifests.keep(f"s{number}", f"record {number}", at=float(number), most=most)
    assert [record for _, record in store.manifests.latest(None, 10)] == ["record 4", "record 3", "record 2"][:most]


def test_a_session_that_is_removed_takes_its_records_with_it(store: StorePort) -> None:
    store.manifests.keep("a", "one", at=1.0, most=10)
    store.manifests.keep("b", "two", at=2.0, most=10)
    store.remove("a")
    assert store.manifests.latest(None, 10) == ((2.0, "two"),)


def test_the_latest_record_of_a_session_is_amended_if_it_is_the_one_that_is_meant(store: StorePort) -> None:
    assert not store.manifests.amend("a", "one", "new")
    store.manifests.keep("a", "one", at=1.0, most=10)
    store.manifests.keep("a", "two", at=2.0, most=10)
    store.manifests.keep("b", "three", at=3.0, most=10)
    assert not store.manifests.amend("a", "one", "new"), "an earlier one stays"
    assert not store.manifests.amend("b", "two", "new"), "so does that of another session"
    assert store.manifests.latest(None, 10) == ((3.0, "three"), (2.0, "two"), (1.0, "one"))
    assert store.manifests.amend("a", "two", "new")
    assert store.manifests.latest(None, 10) == ((3.0, "three"), (2.0, "new"), (1.0, "one"))


@given(steps=st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 4)), max_size=12))
def test_both_implementations_agree(steps: list[tuple[str, int]], tmp_path_factory: pytest.TempPathFactory) -> None:
    fake, real = FakeManifests(), open_store(str(tmp_path_factory.mktemp("store")))
    for number, (session, most) in enumerate(steps):
        for manifests in (fake, real.manifests):
            manifests.keep(session, f"record {number}", at=float(number), most=most)
        for asked in ("a", "b", None):
            assert real.manifests.latest(asked, 3) == fake.latest(asked, 3)
    real.close()
