"""Posting lists in memory: when they are made, that they are exact, and that they stay within their bounds."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.fakes.entries import chain, described

from aforesaid.storage.sqlite import open_store, postings, shard
from aforesaid.storage.sqlite.postings import Postings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import apsw

    from aforesaid.storage.sqlite.snapshot import ShardSnapshot

WORDS = ("alpha", "beta", "gamma", "delta")
TEXTS = tuple(
    " ".join(WORDS[number * factor % 4] for factor in range(1, 2 + number % 5)) + " tail" * (number % 3)
    for number in range(300)
)
EVERYTHING = ((1, 300),)


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ShardSnapshot]:
    store = open_store(str(tmp_path_factory.mktemp("postings")))
    with store.write("/f") as writer:
        writer.append(chain(*TEXTS))
        key = writer.commit(described("/f")).key
    with store.read(key) as found:
        yield found
    store.close()


@pytest.fixture
def connection(snapshot: ShardSnapshot) -> apsw.Connection:
    return snapshot._connection


@pytest.fixture
def lists() -> Postings:
    return Postings()


def test_a_query_is_answered_from_memory_when_it_is_asked_for_the_second_time(
    connection: apsw.Connection, lists: Postings
) -> None:
    assert lists.ask(connection, 1, ('"alpha"', '"beta"')) is None
    assert lists.latest(1, ('"alpha"', '"beta"')) is None
    again = lists.ask(connection, 1, ('"alpha"', '"beta"'))
    assert again is not None
    assert lists.latest(1, ('"alpha"', '"beta"')) is again
    assert lists.latest(2, ('"alpha"', '"beta"')) is None
    assert lists.latest(1, ('"beta"', '"alpha"')) is None


def test_a_query_with_a_word_that_is_new_is_left_to_sqlite(connection: apsw.Connection, lists: Postings) -> None:
    for _ in range(2):
        lists.ask(connection, 1, ('"alpha"',))
    assert lists.ask(connection, 1, ('"alpha"', '"beta"')) is None
    assert lists.ask(connection, 1, ('"alpha"', '"beta"')) is not None


def test_another_generation_begins_anew(connection: apsw.Connection, lists: Postings) -> None:
    for _ in range(2):
        lists.ask(connection, 1, ('"alpha"',))
    assert lists.ask(connection, 2, ('"alpha"',)) is None


@settings(max_examples=60)
@given(
    st.permutations([*WORDS, "tail", "nowhere", "alpha beta"]),
    st.integers(1, 7),
    st.integers(1, 320),
    st.lists(st.integers(1, 310), min_size=2, max_size=8, unique=True),
)
def test_scores_are_those_of_sqlite_to_the_last_bit(
    snapshot: ShardSnapshot, words: list[str], many: int, limit: int, cuts: list[int]
) -> None:
    connection, lists = snapshot._connection, Postings()
    phrases = tuple(f'"{word}"' for word in words[:many])
    lists.ask(connection, 1, phrases)
    scores = lists.ask(connection, 1, phrases)
    assert scores is not None
    ordered = sorted(cuts)
    spans = tuple(zip(ordered[::2], ordered[1::2], strict=False))
    ranked = "SELECT rowid, bm25(search) AS score FROM search WHERE search MATCH ? ORDER BY score, rowid"
    inside = [
        (row, score)
        for row, score in connection.execute(ranked, (" OR ".join(phrases),))
        if any(first <= row <= last for first, last in spans)
    ]
    best = scores.best(spans, limit, decimals=9)
    assert best == inside[: len(best)]
    assert len(best) >= min(limit, len(inside))
    if len(best) < len(inside):
        assert round(inside[len(best)][1], 9) > round(inside[limit - 1][1], 9)
    assert scores.count(spans) == len(inside)


def test_without_numpy_sqlite_searches(
    connection: apsw.Connection, lists: Postings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "numpy", None)
    for _ in range(3):
        assert lists.ask(connection, 1, ('"alpha"',)) is None


def test_lists_that_do_not_fit_are_not_made_again_and_again(
    connection: apsw.Connection, lists: Postings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postings, "KEPT", 10)
    lists.ask(connection, 1, ('"alpha"',))
    assert lists.ask(connection, 1, ('"alpha"',)) is not None
    for _ in range(3):
        assert lists.ask(connection, 1, ('"beta"',)) is None


def test_the_list_that_was_used_longest_ago_goes_first(
    connection: apsw.Connection, lists: Postings, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = {
        word: connection.execute("SELECT count(*) FROM search WHERE search MATCH ?", (f'"{word}"',)).get
        for word in ("alpha", "beta", "gamma")
    }
    monkeypatch.setattr(postings, "KEPT", sizes["alpha"] + max(sizes["beta"], sizes["gamma"]))
    for word in ("alpha", "beta", "alpha", "gamma"):
        for _ in range(2):
            lists.ask(connection, 1, (f'"{word}"',))
    assert list(lists._lists) == ['"alpha"', '"gamma"']


def test_only_so_many_words_are_remembered(
    connection: apsw.Connection, lists: Postings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postings, "NOTED", 2)
    for word in ("alpha", "beta", "gamma"):
        assert lists.ask(connection, 1, (f'"{word}"',)) is None
    assert lists.ask(connection, 1, ('"alpha"',)) is None
    assert lists.ask(connection, 1, ('"gamma"',)) is not None


def test_branches_are_remembered_in_a_bounded_number(connection: apsw.Connection, lists: Postings) -> None:
    lists.ask(connection, 1, ('"alpha"',))
    scores = lists.ask(connection, 1, ('"alpha"',))
    assert scores is not None
    whole = scores.count(EVERYTHING)
    assert whole == sum(scores.count(((row, row),)) for row in range(1, 301))
    assert len(lists._masks) <= 4


def test_an_empty_session_has_no_scores(tmp_path: Path) -> None:
    store = open_store(str(tmp_path))
    with store.write("/f") as writer:
        key = writer.commit(described("/f")).key
    with store.read(key) as empty:
        for _ in range(3):
            assert empty.find_terms(["alpha"], EVERYTHING, 5) == ()
            assert empty.count_terms(["alpha"], EVERYTHING) == 0
    store.close()


def test_entries_in_memory_are_bounded_and_stay_what_they_are(
    snapshot: ShardSnapshot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shard, "CHARACTERS_KEPT", 500)
    for rows in (range(1, 100), range(50, 120), range(299, 302), [3, 1, 2], range(1, 301)):
        found = snapshot.entries(list(rows))
        assert [one.row for one in found] == [row for row in rows if row <= 300]
        assert [one.text for one in found] == [TEXTS[row - 1] for row in rows if row <= 300]
        kept = snapshot._shard.recent._entries.values()
        assert sum(len(one.text) for one in kept) <= 500


def test_arrays_are_used_once_lists_are_kept_and_only_where_numpy_is_installed(
    connection: apsw.Connection, lists: Postings, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert lists.numpy() is None
    lists.lists(connection, 1, ('"alpha"',))
    assert lists.numpy() is None
    lists.lists(connection, 1, ('"alpha"',))
    assert lists.numpy() is not None
    monkeypatch.setitem(sys.modules, "numpy", None)
    assert lists.numpy() is None
    monkeypatch.undo()
    assert lists.numpy() is None, "what is missing is not looked for again"


def test_pairs_of_words_come_from_memory_and_count_towards_what_is_kept(
    connection: apsw.Connection, lists: Postings, monkeypatch: pytest.MonkeyPatch
) -> None:
    pair = 'NEAR("alpha" * "beta" *, 3)'
    first, again, third = (lists.pairs(connection, 1, (pair,)) for _ in range(3))
    assert first == again == third
    assert len(first[0]) > 0
    monkeypatch.setattr(postings, "KEPT", 0)
    assert lists.pairs(connection, 1, (pair,)) == first
    monkeypatch.undo()
    assert lists.numpy() is None, "nothing is kept any more"
