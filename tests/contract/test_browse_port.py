"""`ports.BrowsePort`, and what a store says of itself, over every implementation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.contract.test_store_port import EVERYTHING, both, put, store
from tests.fakes.entries import chain, entry, spans_within, trees

from aforesaid.inquiry import KINDS, ROLES, Filter

if TYPE_CHECKING:
    from aforesaid.model import Entry
    from aforesaid.ports import StorePort

__all__ = ["store"]

NAMED = st.sampled_from(
    ["a", "src/app.py", "app.py", "./app.py", "/x/src/app.py", "p.py", "", "C:\\x\\src\\app.py", "\\"]
)


@settings(max_examples=150)
@given(st.data(), trees(), st.integers(1, 7))
def test_both_list_the_same_entries(data: st.DataObject, entries: tuple[Entry, ...], size: int) -> None:
    wanted = Filter(
        roles=tuple(data.draw(st.lists(st.sampled_from(ROLES), max_size=2))),
        kinds=tuple(data.draw(st.lists(st.sampled_from(KINDS), max_size=2))),
        tool=data.draw(st.none() | st.sampled_from([name for item in entries for name in item.tools] or ["x"])),
        file=data.draw(st.none() | st.sampled_from([name for item in entries for name in item.files] or ["x"])),
        after=data.draw(st.none() | st.just("2026-11-30T00:02:00.000Z")),
        before=data.draw(st.none() | st.just("2026-11-30T00:04:00.000Z")),
        summaries=data.draw(st.booleans()),
        withheld=data.draw(st.booleans()),
    )
    spans = data.draw(spans_within(len(entries)) | st.just(EVERYTHING))
    with both(entries, size) as (fake, real):
        assert real.outlines(spans, wanted) == fake.outlines(spans, wanted)
        rows = data.draw(st.lists(st.integers(-1, len(entries) + 2)))
        assert real.texts(rows) == fake.texts(rows)


@settings(max_examples=100)
@given(NAMED, NAMED)
def test_a_file_is_named_by_its_last_parts(path: str, wanted: str) -> None:
    with both([entry("e1", None, "text", files=(path,))]) as (fake, real):
        assert real.outlines(EVERYTHING, Filter(file=wanted)) == fake.outlines(EVERYTHING, Filter(file=wanted))


def test_entries_without_a_text_are_not_listed(store: StorePort) -> None:
    saved = put(store, [entry("a", None, "text"), entry("b", "a"), entry("c", "b", ""), entry("d", "c", "x" * 500)])
    with store.read(saved.key) as snapshot:
        assert [outline.id for outline in snapshot.outlines(EVERYTHING, Filter())] == ["a", "d"]
        assert snapshot.texts((4, 2, 1, 3)) == ("x" * 500, "", "text", "")
        assert snapshot.outlines((), Filter()) == ()


def test_more_spans_than_a_statement_holds(store: StorePort) -> None:
    saved = put(store, chain(*(f"text {number}" for number in range(400))))
    spans = tuple((row, row) for row in range(1, 401, 2))
    with store.read(saved.key) as snapshot:
        assert [outline.row for outline in snapshot.outlines(spans, Filter())] == list(range(1, 401, 2))


@pytest.mark.parametrize("summaries", [True, False])
def test_summaries_come_only_if_they_are_wanted(store: StorePort, summaries: bool) -> None:
    saved = put(
        store,
        [
            entry("a", None, "said"),
            entry("b", "a", "summed up", kind="compaction", role="summary", automatic=False),
            entry("c", "b", "left", kind="branch-summary", role="summary", automatic=False),
            entry("d", "c", "kept away", role="shell", automatic=False),
        ],
    )
    with store.read(saved.key) as snapshot:
        listed = {outline.id for outline in snapshot.outlines(EVERYTHING, Filter(summaries=summaries))}
        of_model = {
            outline.id for outline in snapshot.outlines(EVERYTHING, Filter(summaries=summaries, withheld=False))
        }
    assert listed == ({"a", "b", "c", "d"} if summaries else {"a", "d"})
    assert of_model == listed - {"d"}


def test_a_store_keeps_its_secret(store: StorePort) -> None:
    assert len(store.secret()) == 32
    assert store.secret() == store.secret()


def test_a_session_is_found_by_its_key(store: StorePort) -> None:
    saved = put(store, chain("one"))
    assert store.by_key(saved.key) == saved
    for key in ("0" * 32, "", "../catalogue", "x" * 32):
        assert store.by_key(key) is None
