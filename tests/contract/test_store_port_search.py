"""`ports.StorePort`, over every implementation: what is found, in which order, and that nothing makes it raise."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.fakes.entries import chain, described, entry, spans_within, trees
from tests.words import any_text

from aforesaid.lineage import trace
from aforesaid.matching import Folded, Literal, Term
from aforesaid.text import words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aforesaid.model import Entry
    from aforesaid.ports import StorePort
from tests.contract.stores import EVERYTHING, FILE, both, put, store

__all__ = ["store"]


_QUERIES = st.lists(
    st.sampled_from(["alpha", "beta", "gamma ray", "parse port", "数据", "数", "perche", "->", "port", "alpha beta"])
    | any_text,
    max_size=4,
)


@settings(max_examples=200)
@given(trees(), _QUERIES, st.integers(0, 6), st.data())
def test_sqlite_finds_the_same_rows_in_the_same_order_with_the_same_scores(
    entries: tuple[Entry, ...], queries: list[str], limit: int, data: st.DataObject
) -> None:
    spans = data.draw(spans_within(len(entries)) | st.just(EVERYTHING))
    with both(entries) as (fake, real):
        for _ in range(3):  # what is asked again may come from memory
            assert real.find_terms(queries, spans, limit) == fake.find_terms(queries, spans, limit)
            assert real.count_terms(queries, spans) == fake.count_terms(queries, spans)
        roots = data.draw(st.lists(st.sampled_from(["alp", "bet", "po", "数"]), max_size=2))
        near = data.draw(st.lists(st.sampled_from([("alp", "bet"), ("gam", "ray"), ("port", "alpha")]), max_size=3))
        for _ in range(3):
            assert real.weigh_terms(queries, roots, spans, near) == fake.weigh_terms(queries, roots, spans, near)
        for last in {len(entries), data.draw(st.integers(0, len(entries)))}:
            for _ in range(2):
                assert real.weigh_all(queries, roots, near, last=last) == fake.weigh_all(
                    queries, roots, near, last=last
                )
        assert real.unindexed() == fake.unindexed()
        for query in queries:
            assert real.find_literals([query], spans, limit)[0] == fake.find_literals([query], spans, limit)[0]


@settings(max_examples=200)
@given(st.lists(any_text, min_size=1, max_size=6), st.data())
def test_a_needle_cut_from_a_text_is_found_in_every_text_that_holds_it(texts: list[str], data: st.DataObject) -> None:
    text = data.draw(st.sampled_from(texts))
    start = data.draw(st.integers(0, len(text)))
    needle = text[start : start + data.draw(st.integers(1, 12))]
    # A needle that ends within a character (か before its voicing mark) is no literal that a request could mean.
    assume(needle and not any(needle + mark in held for held in texts for mark in _MARKS))
    with both(chain(*texts)) as (_, real):
        found = real.find_literals([needle], EVERYTHING, 100)[0]
    assert sorted(found) == [row for row, held in enumerate(texts, 1) if Literal(needle).found_in(held)]


_MARKS = ("\u3099", "\u0301", "\u11ab", "\u1161", "\uff9e")


def _composed(text: str) -> str:
    """Without loose accents: `text.feed` takes them for the end of a word when it looks for parts of names."""
    return re.sub("[\u0300-\u036f]", "", unicodedata.normalize("NFC", text))


@settings(max_examples=200)
@given(st.lists(any_text.map(_composed), min_size=1, max_size=6), any_text)
def test_every_word_of_a_text_finds_it_and_every_hit_is_verified(texts: list[str], other: str) -> None:
    asked = {word for text in (*texts, other) for word in words(text)}
    with both(chain(*texts)) as (_, real):
        for word in sorted(asked):
            found = {item.row for item in real.find_terms([word], EVERYTHING, 100)}
            assert found >= {row for row, text in enumerate(texts, 1) if word in words(text)}
            assert found <= {row for row, text in enumerate(texts, 1) if Term(word).found_in(Folded(text))}


@pytest.mark.parametrize("entries", [[], [entry("a"), entry("b", "a", "hidden alpha", automatic=False)]])
def test_a_session_without_searchable_rows_finds_nothing(store: StorePort, entries: list[Entry]) -> None:
    saved = put(store, entries)
    with store.read(saved.key) as snapshot:
        assert snapshot.find_terms(["alpha"], EVERYTHING, 5) == ()
        assert snapshot.count_terms(["alpha"], EVERYTHING) == 0
        assert snapshot.find_literals(["alpha"], EVERYTHING, 5)[0] == ()
        assert snapshot.find_literals(["->"], EVERYTHING, 5)[0] == ()


def test_what_was_asked_before_is_answered_anew_after_every_change(store: StorePort) -> None:
    put(store, chain("alpha beta", "alpha", "gamma"))
    for texts in (["alpha beta", "alpha", "gamma", "alpha"], ["beta", "x", "alpha alpha"], ["y"]):
        with store.write(FILE) as writer:
            writer.clear()
            writer.append(chain(*texts))
            saved = writer.commit(described(FILE))
        with store.read(saved.key) as snapshot:
            rows = {row for row, text in enumerate(texts, 1) if "alpha" in text or "beta" in text}
            for _ in range(3):
                found = snapshot.find_terms(["alpha", "beta"], EVERYTHING, 9)
                assert {item.row for item in found} == rows
                assert snapshot.count_terms(["alpha", "beta"], EVERYTHING) == len(rows)
                assert [one.text for one in snapshot.entries(range(1, 9))] == texts


def test_rows_outside_the_spans_never_displace_rows_inside(store: StorePort) -> None:
    saved = put(
        store, chain(*["alpha -> alpha"] * 300, "alpha with many other words beside -> it", *["alpha ->"] * 300)
    )
    with store.read(saved.key) as snapshot:
        spans = ((301, 301),)
        assert [found.row for found in snapshot.find_terms(["alpha"], spans, 1)] == [301]
        assert snapshot.find_literals(["alpha"], spans, 1)[0] == (301,)
        assert snapshot.find_literals(["->"], spans, 1)[0] == (301,)
        assert snapshot.count_terms(["alpha"], spans) == 1


def test_literals_come_latest_on_the_branch_first_whatever_the_row_order(store: StorePort) -> None:
    saved = put(store, chain(*["alpha ->"] * 6))
    with store.read(saved.key) as snapshot:
        for needle in ("alpha", "->"):
            assert snapshot.find_literals([needle], ((5, 6), (1, 2)), 9)[0] == (2, 1, 6, 5)
            assert snapshot.find_literals([needle], ((5, 6), (1, 2)), 3)[0] == (2, 1, 6)
            assert snapshot.find_literals([needle], (), 3)[0] == ()


def test_unverified_proposals_do_not_count_towards_the_limit(store: StorePort) -> None:
    saved = put(store, chain("the foo-bar", *["foo bar", "Foo-bar", "foo_bar"] * 50))
    with store.read(saved.key) as snapshot:
        assert snapshot.find_literals(["foo-bar"], EVERYTHING, 1)[0] == (1,)


@pytest.mark.parametrize("limit", [1, 2, 3, 5, 149, 150, 151])
def test_ties_are_broken_by_time_and_id_even_at_the_limit(store: StorePort, limit: int) -> None:
    at = "2026-11-30T00:00:{:02}.000Z".format
    entries = [
        entry(f"id{(7 * number) % 150:03}", None, "alpha beta", timestamp=at(number % 7) if number % 3 else None)
        for number in range(150)
    ]
    saved = put(store, entries)
    expected = sorted(sorted(entries, key=lambda one: one.id), key=lambda one: one.timestamp or "", reverse=True)
    with store.read(saved.key) as snapshot:
        for _ in range(3):
            found = snapshot.find_terms(["alpha"], EVERYTHING, limit)
            ids = [one.id for one in snapshot.entries([item.row for item in found])]
            assert ids == [one.id for one in expected][:limit]


@settings(max_examples=50)
@given(trees(), _QUERIES, st.randoms(use_true_random=False))
def test_the_order_of_insertion_does_not_change_what_is_found(
    entries: tuple[Entry, ...], queries: list[str], random: object
) -> None:
    shuffled = list(entries)
    random.shuffle(shuffled)  # type: ignore[attr-defined]

    def found(ordered: Sequence[Entry]) -> list[tuple[str, float]]:
        with both(ordered) as (_, real):
            rows = real.find_terms(queries, EVERYTHING, 50)
            return [(one.id, item.score) for item in rows for one in real.entries([item.row])]

    assert found(entries) == found(shuffled)


@settings(max_examples=60)
@given(trees(), st.data())
def test_no_row_of_a_sibling_branch_is_ever_found(entries: tuple[Entry, ...], data: st.DataObject) -> None:
    if not entries:
        return
    leaf = data.draw(st.sampled_from(range(1, len(entries) + 1)))
    with both(entries) as (_, real):
        spans = trace(real.tree().runs, leaf)
        by_id = {one.id: one for one in entries}
        walk, at = {entries[leaf - 1].id}, entries[leaf - 1].parent
        while at is not None and at not in walk:
            walk.add(at)
            at = by_id[at].parent
        rows = [item.row for item in real.find_terms(["alpha", "beta", "port"], spans, 50)]
        rows += [row for needle in ("alpha", "->") for row in real.find_literals([needle], spans, 50)[0]]
        assert {one.id for one in real.entries(rows)} <= walk


_HARD = [
    "",
    "\x00",
    "a\x00b",
    '"',
    '""',
    "'",
    "*",
    "a*",
    "(",
    "a OR b",
    "NEAR(a b)",
    "body:a",
    "{body parts}:a",
    "-a",
    "^a",
    "\ud800",
    "\udfff\ud800",
    "a\ud800b",
    "\u200b",
    "e\u0301",
    "\u0301",
    "ㅎ",
    "数",
    "DEC-0054",
    "POL-358",
    "a" * 40_000,
    "a" * 40_000 + "b",
    "数据" * 3_000,
    "word " * 4_000,
    "x" * 100_000,
    "-> " * 30_000,
    "\ud800" * 100_000,
]


@pytest.mark.parametrize("text", _HARD, ids=lambda text: ascii(text[:8]) + str(len(text)))
def test_no_text_whatever_makes_a_search_raise(store: StorePort, text: str) -> None:
    saved = put(store, chain(f"before {text} after", text, "a", "数据"))
    with store.read(saved.key) as snapshot:
        literal = snapshot.find_literals([text], EVERYTHING, 10)[0]
        terms = [item.row for item in snapshot.find_terms([text], EVERYTHING, 10)]
        assert snapshot.count_terms([text], EVERYTHING) == len(terms)
    if text:
        assert set(literal) == {row for row, held in _held(text) if Literal(text).found_in(held)}
    if Term(text).tokens:
        assert {1, 2} <= set(terms)
    else:
        assert terms == []


def _held(text: str) -> list[tuple[int, str]]:
    return [(1, f"before {text} after"), (2, text), (3, "a"), (4, "数据")]


def test_many_terms_are_one_query(store: StorePort) -> None:
    saved = put(store, chain("alpha 17 beta", "nothing"))
    with store.read(saved.key) as snapshot:
        found = snapshot.find_terms([f"{number}" for number in range(2_000)], EVERYTHING, 5)
    assert [item.row for item in found] == [1]


def test_terms_with_the_same_tokens_count_once(store: StorePort) -> None:
    saved = put(store, chain("alpha one", "two", "three"))
    with store.read(saved.key) as snapshot:
        once = snapshot.find_terms(["alpha"], EVERYTHING, 5)
        assert snapshot.find_terms(["alpha", "Alpha", "(alpha)"], EVERYTHING, 5) == once
