"""Lists that cannot grow are read anew, and what is counted of rows can be taken back."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest
from tests.fakes.entries import chain, described

from aforesaid.storage.sqlite import growth, open_store, postings
from aforesaid.storage.sqlite.growth import Corpus, RowWords, parse, read_words

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from aforesaid.storage.sqlite.snapshot import ShardSnapshot
    from aforesaid.storage.sqlite.store import SqliteStore

FILE = "/f"
SAID = ["a port and a proxy", "the proxy of the port", "apples", "a port"]
EVERYTHING = ((1, 1000),)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    opened = open_store(str(tmp_path))
    yield opened
    opened.close()


def add(store: SqliteStore, said: list[str], before: int = 0) -> str:
    with store.write(FILE) as writer:
        writer.append(chain(*([""] * before), *said)[before:])
        return writer.commit(described(FILE)).key


def weigh(snapshot: Any) -> tuple[list[int], list[float]]:
    weights = snapshot.weigh_terms(["port"], ["prox"], EVERYTHING, [("port", "prox")])
    return weights.rows.tolist(), weights.scores.tolist()


def lists(snapshot: Any) -> dict[str, Any]:
    return dict(snapshot._shard.postings._lists)


def asked_twice(store: SqliteStore, key: str) -> None:
    with store.read(key) as snapshot:
        weigh(snapshot)
        weigh(snapshot)
        assert len(lists(snapshot)) == 3


def both_ways(snapshot: ShardSnapshot) -> None:
    shard = snapshot._shard
    found, grown = weigh(snapshot), shard.postings
    shard.postings = postings.Postings()
    assert found == weigh(snapshot)
    shard.postings = grown


@pytest.mark.parametrize("numpy", [True, False])
def test_lists_outlive_rows_that_are_added_with_numpy_and_without(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch, numpy: bool
) -> None:
    if not numpy:
        monkeypatch.setitem(sys.modules, "numpy", None)
    key = add(store, SAID)
    asked_twice(store, key)
    with store.read(key) as snapshot:
        before = lists(snapshot)
    add(store, ["one more proxy with a port", "pears", "portion"], len(SAID))
    with store.read(key) as snapshot:
        both_ways(snapshot)
        assert {phrase: id(held) for phrase, held in lists(snapshot).items()} == {
            phrase: id(held) for phrase, held in before.items()
        }
        assert [row for row, _ in zip(*weigh(snapshot), strict=True)] == [1, 2, 4, 5]


@pytest.mark.parametrize(("place", "name", "value"), [(postings, "BEHIND", 1), (growth, "LONGEST", 3)])
def test_lists_that_lack_too_much_are_read_anew(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch, place: Any, name: str, value: int
) -> None:
    key = add(store, SAID)
    asked_twice(store, key)
    monkeypatch.setattr(place, name, value)
    with store.read(key) as snapshot:
        before = lists(snapshot)
    add(store, ["one more proxy with a port", "a port"], len(SAID))
    store.tend(FILE)
    with store.read(key) as snapshot:
        both_ways(snapshot)
        assert all(lists(snapshot)[phrase] is not held for phrase, held in before.items())


def test_a_list_that_the_formula_does_not_give_serves_its_generation_only(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postings, "K1", 1.2000000001)
    key = add(store, SAID)
    asked_twice(store, key)
    with store.read(key) as snapshot:
        assert not any(held.grows for phrase, held in lists(snapshot).items() if "NEAR" not in phrase)
        both_ways(snapshot)
    add(store, ["one more proxy with a port"], len(SAID))
    with store.read(key) as snapshot:
        both_ways(snapshot)


def test_tending_brings_lists_up_to_date_before_many_rows_are_remembered(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postings, "FRESH", 1)
    key = add(store, SAID)
    asked_twice(store, key)
    add(store, ["a proxy", "a port", "pears"], len(SAID))
    store.tend(FILE)
    with store.read(key) as snapshot:
        assert {held.upto for held in lists(snapshot).values()} == {7}
        assert snapshot._shard.postings._fresh == {}
        both_ways(snapshot)


def test_tending_reads_entries_ahead_until_enough_is_in_memory(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    from aforesaid.storage.sqlite import snapshot as reading

    key = add(store, [f"text number {number}" for number in range(50)])
    monkeypatch.setattr(reading, "AHEAD", 20)
    assert [store.tend(FILE) for _ in range(4)] == [True, True, False, False]
    with store.read(key) as snapshot:
        assert len(snapshot._shard.recent._entries) == 50
    monkeypatch.setattr(reading, "CHARACTERS_AHEAD", 10)
    add(store, ["one more"], 50)
    assert not store.tend(FILE)


def test_what_is_counted_of_rows_can_be_taken_back(store: SqliteStore) -> None:
    key = add(store, [*SAID, " ", "Größe"])
    with store.read(key) as snapshot:
        connection = snapshot._connection
        corpus = Corpus()
        corpus.catch_up(connection)
        whole = corpus.rows, corpus.tokens, list(corpus.lengths)
        assert corpus.fed(3) == [4, 6]
        corpus.take_back(3)
        assert (corpus.rows, corpus.last, corpus.fed(0)) == (3, 3, [1, 2, 3])
        corpus.take_back(9)
        corpus.catch_up(connection)
        assert (corpus.rows, corpus.tokens, list(corpus.lengths)) == whole
        assert read_words(connection, 7) is None


def test_long_rows_have_lengths_of_several_bytes(store: SqliteStore) -> None:
    key = add(store, ["word " * 20_000])
    with store.read(key) as snapshot:
        corpus = Corpus()
        corpus.catch_up(snapshot._connection)
        assert corpus.tokens == 20_000


def test_phrases_stand_within_one_column_only() -> None:
    row = RowWords("getPort near the gate")
    assert row.count(*parse('"get port"')) == 1  # its parts stand side by side in the second column
    assert row.count(*parse('"gate get"')) == 0
    assert row.count(*parse('"g"*')) == 3
    assert row.count(*parse('"near the g"*')) == 1
    one, other = parse('NEAR("gate"* "get"*, 3)')
    assert row.holds_near(one, other, 3)  # getPort and gate, in the first one
    one, other = parse('NEAR("port"* "gate"*, 3)')
    assert not row.holds_near(one, other, 3)
    assert not row.holds_near(one, ((b"nowhere",), True), 3)
