"""`ports.StorePort`, over every implementation: the tree of a session, and its entries."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.fakes.entries import chain, described, entry, spans_within, trees

from aforesaid.lineage import trace
from aforesaid.model import Compaction, Edit, Run
from aforesaid.text import digest
from aforesaid.tokens import estimate

if TYPE_CHECKING:
    from aforesaid.model import Entry
    from aforesaid.ports import StorePort
from tests.contract.stores import EVERYTHING, FILE, both, put, store

__all__ = ["store"]


# --- the tree -------------------------------------------------------------------------------------------------------


def test_a_line_of_entries_is_one_run_however_it_was_appended(store: StorePort) -> None:
    put(store, chain("1", "2", "3"), size=2)
    saved = put(store, [entry("e4", "e3")])
    with store.read(saved.key) as snapshot:
        assert snapshot.tree().runs == (Run(first=1, last=4, parent=None),)
        assert snapshot.tree().tail == 4


def test_forks_roots_and_marks_are_told(store: StorePort) -> None:
    compaction, edit = Compaction(kept_from="a", kept=("b",)), Edit(target="a", replaced=True)
    saved = put(
        store,
        [
            entry("a"),
            entry("b", "a"),
            entry("c", "a"),
            entry("d", "c", compaction=compaction),
            entry("r", None, edit=edit),
        ],
    )
    with store.read(saved.key) as snapshot:
        tree = snapshot.tree()
    assert [(run.first, run.last, run.parent) for run in tree.runs] == [(1, 2, None), (3, 4, 1), (5, 5, None)]
    assert [(mark.row, mark.compaction, mark.edit) for mark in tree.marks] == [(4, compaction, None), (5, None, edit)]


def test_a_parent_may_come_later_in_the_transaction(store: StorePort) -> None:
    saved = put(store, [entry("a", "c"), entry("b", "a"), entry("c")], size=1)
    with store.read(saved.key) as snapshot:
        runs = snapshot.tree().runs
    assert [(run.first, run.last, run.parent) for run in runs] == [(1, 2, 3), (3, 3, None)]
    assert trace(runs, 2) == ((3, 3), (1, 2))


def test_circles_hang_nothing(store: StorePort) -> None:
    saved = put(store, [entry("a", "b"), entry("b", "a"), entry("c", "c")])
    with store.read(saved.key) as snapshot:
        runs = snapshot.tree().runs
    assert {row for first, last in trace(runs, 2) for row in range(first, last + 1)} == {1, 2}
    assert trace(runs, 3) == ((3, 3),)


def test_the_tail_may_be_an_earlier_row_until_another_is_added(store: StorePort) -> None:
    entries = chain("1", "2", "3")
    with store.write(FILE) as writer:
        writer.append(entries)
        saved = writer.commit(described(FILE), tail="e2")
    put(store, [])
    with store.read(saved.key) as snapshot:
        assert snapshot.tree().tail == 2
    put(store, [entry("e4", "e2")])
    with store.read(saved.key) as snapshot:
        assert snapshot.tree().tail == 4


# --- entries --------------------------------------------------------------------------------------------------------


@settings(max_examples=100)
@given(trees(), st.integers(1, 5))
def test_entries_come_back_as_they_were_with_what_was_derived(entries: tuple[Entry, ...], size: int) -> None:
    with both(entries, size) as (fake, real):
        rows = [*range(len(entries) + 2), 1, 1]
        assert real.entries(rows) == fake.entries(rows)
        assert real.tree() == fake.tree()
        ids = [one.id for one in entries]
        assert real.rows([*ids, "missing"]) == fake.rows([*ids, "missing"])
        assert real.session == replace(fake.session, key=real.session.key)


def test_texts_of_any_characters_and_sizes_come_back(store: StorePort) -> None:
    texts = ["", "\x00", "\ud800 and \udfff", "🎉" * 40_000, "a\r\nb", "e\u0301"]
    saved = put(store, [entry("a", None, *texts), entry("b", None, ""), entry("c")])
    with store.read(saved.key) as snapshot:
        first, second, third = snapshot.entries([1, 2, 3])
    assert first.text == "\n".join(texts)
    assert first.parts == tuple(map(len, texts))
    assert (second.text, second.parts, third.text, third.parts) == ("", (0,), "", ())


def test_rows_are_numbers_in_file_order_from_one(store: StorePort) -> None:
    saved = put(store, [entry("z"), entry("a"), entry("m")], size=2)
    with store.read(saved.key) as snapshot:
        assert [found.id for found in snapshot.entries([1, 2, 3])] == ["z", "a", "m"]
        assert snapshot.entries([0, 4, -1]) == ()


def test_the_latest_request_is_the_last_one_in_branch_order(store: StorePort) -> None:
    saved = put(store, [entry("a", None, "x", request=True), entry("b", "a", "y", request=True), entry("c", "b", "z")])
    with store.read(saved.key) as snapshot:
        latest = [snapshot.latest_request(spans) for spans in (((1, 3),), ((2, 3), (1, 1)), ((3, 3),), ())]
    assert [found and found.id for found in latest] == ["b", "a", None, None]


def test_tokens_are_those_of_the_texts_within_the_spans(store: StorePort) -> None:
    saved = put(store, [entry("a", None, "one"), entry("b", "a", ""), entry("c", "b", "two and three")])
    with store.read(saved.key) as snapshot:
        counted = [snapshot.count_tokens(spans) for spans in (((1, 3),), ((3, 3), (1, 1)), ((2, 2),), ((7, 9),), ())]
    whole = estimate("one") + estimate("two and three")
    assert counted == [whole, whole, 0, 0, 0]


@settings(max_examples=50)
@given(trees(), st.data())
def test_digests_and_requests_are_looked_for_within_the_spans_only(
    entries: tuple[Entry, ...], data: st.DataObject
) -> None:
    spans = data.draw(spans_within(len(entries)))
    wanted = (*(digest(one.text) for one in entries), b"?" * 16)
    with both(entries) as (fake, real):
        assert real.digests(wanted, spans) == fake.digests(wanted, spans)
        assert real.latest_request(spans) == fake.latest_request(spans)
        assert real.count_tokens(spans) == fake.count_tokens(spans)


def test_words_near_each_other_weigh_more_in_any_order_with_three_others_between_at_most(store: StorePort) -> None:
    texts = ("retry budget", "budget of the next retry", "retry x x x x budget", "retry", "budgets, retried")
    saved = put(store, [entry(f"e{place}", None, text) for place, text in enumerate(texts)])
    with store.read(saved.key) as snapshot:
        for _ in range(3):  # what is asked again comes from memory
            plain = snapshot.weigh_terms((), ("retr", "budg"), EVERYTHING)
            more = snapshot.weigh_terms((), ("retr", "budg"), EVERYTHING, [("retr", "budg"), ("retr", "tea")])
    gains = {one.row: round(other.score - one.score, 6) for one, other in zip(plain, more, strict=True)}
    expected = round(0.3 * math.log(1 + (5 - 3 + 0.5) / (3 + 0.5)), 6)
    assert gains == {1: expected, 2: expected, 3: 0.0, 4: 0.0, 5: expected}
