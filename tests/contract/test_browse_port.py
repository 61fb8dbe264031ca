"""`ports.BrowsePort`, and what a store says of itself, over every implementation."""

from __future__ import annotations

import shutil
import tempfile
from typing import TYPE_CHECKING
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.contract.stores import EVERYTHING, both, put, store
from tests.fakes.entries import chain, described, entry, spans_within, trees
from tests.fakes.store import FakeStore
from tests.words import any_text

from aforesaid.clues import find_clues
from aforesaid.inquiry import KINDS, ROLES, Filter
from aforesaid.patterns import read_pattern
from aforesaid.storage.sqlite import browse, open_store

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from aforesaid.model import Entry, Session
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
        assert real.standings(spans, wanted) == fake.standings(spans, wanted)
        only = data.draw(st.lists(st.integers(1, len(entries) + 2), unique=True))
        assert real.outlines(spans, wanted, only) == fake.outlines(spans, wanted, only)
        assert real.standings(spans, wanted, only) == fake.standings(spans, wanted, only)
        rows = data.draw(st.lists(st.integers(-1, len(entries) + 2)))
        assert real.texts(rows) == fake.texts(rows)
        if data.draw(st.booleans()):
            real.tree()  # what is known of the session already is used
        assert real.trunk() == fake.trunk() == real.trunk()


@settings(max_examples=100)
@given(st.data(), trees(), st.sampled_from([1, 3, 32]))
def test_the_last_rows_are_the_same_whatever_was_asked_before(
    data: st.DataObject, entries: tuple[Entry, ...], kept: int
) -> None:
    filters = (Filter(), Filter(roles=("user",)), Filter(summaries=True))
    asked = data.draw(st.lists(st.tuples(st.integers(1, len(entries) + 1), st.sampled_from(filters)), max_size=8))
    with both(entries) as (fake, real), patch.object(browse, "LAST", kept):
        for first, wanted in asked:
            spans = ((first, len(entries)),)
            assert real.standings(spans, wanted) == fake.standings(spans, wanted)


@settings(max_examples=100)
@given(NAMED, NAMED)
def test_a_file_is_named_by_its_last_parts(path: str, wanted: str) -> None:
    with both([entry("e1", None, "text", files=(path,))]) as (fake, real):
        assert real.outlines(EVERYTHING, Filter(file=wanted)) == fake.outlines(EVERYTHING, Filter(file=wanted))


@settings(max_examples=400)
@given(st.data(), st.lists(any_text, min_size=1, max_size=6), st.booleans())
def test_every_row_that_holds_a_needle_is_proposed(data: st.DataObject, texts: list[str], any_: bool) -> None:
    text = data.draw(st.sampled_from([text for text in texts if text.strip()] or ["x"]))
    start = data.draw(st.integers(0, len(text) - 1))
    needle = text[start : data.draw(st.integers(start + 1, len(text)))]
    query = f"{needle} elsewhere" if any_ else needle
    pattern = read_pattern(query, "literal" if any_ else "phrase", "any")
    if pattern is None:
        return
    # Every third is kept from automatic retrieval, and so is not in the full-text index.
    entries = [entry(f"e{number}", None, held, automatic=number % 3 > 0) for number, held in enumerate(texts)]
    spans = data.draw(spans_within(len(entries)) | st.just(EVERYTHING))
    with both(entries) as (fake, real):
        for snapshot in (fake, real):
            inside = {outline.row for outline in snapshot.outlines(spans, Filter())}
            expected = {row for row, held in enumerate(texts, 1) if row in inside and pattern.matched(held)}
            found = snapshot.propose(find_clues(pattern), spans)
            assert found is None or expected <= set(found)
            assert found is None or list(found) == sorted(set(found))


def test_only_rows_with_the_words_are_proposed(store: StorePort) -> None:
    texts = ("the walnut table", "PG_PORT_5433x", "数据库的端口", "perché no", "PG_PORT_77", "")
    kept = entry("kept", None, "kept away", role="shell", automatic=False)
    saved = put(store, [*chain(*texts), kept])

    def proposed(query: str, match: str = "all", spans: Sequence[tuple[int, int]] = EVERYTHING) -> tuple[int, ...]:
        with store.read(saved.key) as snapshot:
            found = snapshot.propose(find_clues(read_pattern(query, "literal", match)), spans)  # type: ignore[arg-type]
        assert found is not None
        return tuple(row for row in found if row != 7)

    assert proposed("PORT_5433") == (2,)
    assert proposed("PG_PORT_") == (2, 5)
    assert proposed("PG_PORT_", spans=((3, 7),)) == (5,)
    assert proposed("PG_PORT_", spans=()) == ()
    assert proposed("x_nowhere") == ()
    assert proposed("据库") == (3,)
    assert proposed("-walnut 数据库", "any") == (1, 3)
    with store.read(saved.key) as snapshot:
        assert snapshot.propose(((),), EVERYTHING) is None
        assert snapshot.propose((), EVERYTHING) in ((), (7,))


def test_an_index_of_other_words_proposes_nothing(tmp_path: Path) -> None:
    store = open_store(str(tmp_path))
    saved = put(store, chain("PG_PORT_5433"))
    with store.write(saved.file) as writer:
        writer._shard.database.connection.execute("UPDATE shard SET projection = 0")  # type: ignore[attr-defined]
        writer._shard.database.connection.execute("COMMIT")  # type: ignore[attr-defined]
    clues = find_clues(read_pattern("x_nowhere", "literal", "all"))
    with store.read(saved.key) as snapshot:
        assert snapshot.propose(clues, EVERYTHING) is None
    with store.write(saved.file) as writer:
        writer.append(chain("more", "again")[1:])
        writer.commit(described(saved.file))
    with store.read(saved.key) as snapshot:
        assert snapshot.propose(clues, EVERYTHING) == ()
    store.close()


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


@settings(max_examples=80)
@given(st.data(), st.lists(trees(), min_size=1, max_size=3))
def test_no_session_that_holds_a_needle_is_left_out(data: st.DataObject, sessions: list[tuple[Entry, ...]]) -> None:
    texts = sorted({item.text for entries in sessions for item in entries if item.text.strip()})
    needles = [""]
    if texts:
        text = data.draw(st.sampled_from(texts))
        start = data.draw(st.integers(0, len(text) - 1))
        needles.append(text[start : data.draw(st.integers(start + 1, len(text)))])
    needles.append(data.draw(st.sampled_from(["alpha", "lph", "a_ray", "rsePo", "据", "据库", "->", "nowhere"])))
    folder = tempfile.mkdtemp()
    real, fake = open_store(folder), FakeStore()
    try:
        for opened in (real, fake):
            saved = [put(opened, entries, f"/s/{number}.jsonl") for number, entries in enumerate(sessions)]
            # Some are known as they are, some as they were, some not at all.
            opened.learn_words(saved[: data.draw(st.integers(0, len(saved)))])
            if data.draw(st.booleans()):
                entries = (*sessions[0], entry("added", None, "alpha is added"))
                saved[0] = put_anew(opened, entries, "/s/0.jsonl")
                sessions[0] = entries
            for needle in needles:
                found = opened.may_hold(saved, find_clues(read_pattern(needle, "phrase", "all")))
                holding = {
                    session.key
                    for session, entries in zip(saved, sessions, strict=True)
                    if any(needle in item.text for item in entries)
                }
                assert holding <= found
    finally:
        real.close()
        shutil.rmtree(folder)


def put_anew(store: StorePort, entries: Sequence[Entry], file: str) -> Session:
    with store.write(file) as writer:
        writer.clear()
        writer.append(entries)
        return writer.commit(described(file))


def test_sessions_are_picked_by_their_words(tmp_path: Path) -> None:
    store = open_store(str(tmp_path))
    texts = ("the walnut table", "PG_PORT_5433x", "数据库的端口", "perché no", "walnuts")
    saved = [put(store, chain(text), f"/s/{number}.jsonl") for number, text in enumerate(texts)]
    summed = [
        entry("a", None, "x"),
        entry("b", "a", "hidden walnut", kind="compaction", role="summary", automatic=False),
    ]
    saved.append(put(store, summed, "/s/5.jsonl"))
    saved.append(put(store, chain("w" * 40_000), "/s/6.jsonl"))

    def picked(query: str, match: str = "all", mode: str = "literal") -> set[int]:
        found = store.may_hold(saved, find_clues(read_pattern(query, mode, match)))  # type: ignore[arg-type]
        return {number for number, session in enumerate(saved) if session.key in found}

    everything = set(range(7))
    assert picked("walnut") == everything, "nothing is known yet"
    assert store.learn_words(saved) == 7
    assert store.learn_words(saved) == 0
    # The last one has a word that SQLite cuts; it may hold anything.
    assert picked("walnut") == {0, 4, 5, 6}
    assert picked("alnut") == {0, 4, 5, 6}
    assert picked("walnut table") == {0, 6}
    assert picked("walnut 据库", "any") == {0, 2, 4, 5, 6}
    assert picked("ORT_5433") == {1, 6}
    assert picked("erch") == {3, 6}
    assert picked("nowhere") == {6}
    assert picked("wal.*", mode="regex") == everything
    assert picked("...") == everything
    saved[0] = put_anew(store, chain("other"), "/s/0.jsonl")
    assert picked("nowhere") == {0, 6}, "what has changed may hold anything"
    store.learn_words(saved)
    assert picked("walnut") == {4, 5, 6}
    store.close()


@pytest.mark.parametrize("damage", [b"", b"no database" * 1000])
def test_a_damaged_index_of_words_is_begun_anew(tmp_path: Path, damage: bytes) -> None:
    store = open_store(str(tmp_path))
    saved = [put(store, chain("walnut"), "/s/0.jsonl")]
    store.learn_words(saved)
    store.close()
    (tmp_path / "words.db").write_bytes(damage)
    store = open_store(str(tmp_path))
    assert store.may_hold(saved, find_clues(read_pattern("x", "literal", "all"))) == {saved[0].key}
    assert store.learn_words(saved) == 1
    assert store.may_hold(saved, find_clues(read_pattern("x", "literal", "all"))) == frozenset()
    store.close()


def test_what_is_removed_leaves_no_words(tmp_path: Path) -> None:
    store = open_store(str(tmp_path))
    saved = [put(store, chain(text), f"/s/{number}.jsonl") for number, text in enumerate(("walnut", "unforgettable"))]
    store.learn_words(saved)
    other = open_store(str(tmp_path))
    assert len(other.may_hold(saved, find_clues(read_pattern("walnut", "literal", "all")))) == 1
    store.remove(saved[1].key)
    assert not [file for file in tmp_path.rglob("*") if file.is_file() and b"unforgettable" in file.read_bytes()]
    assert other.may_hold(saved[:1], find_clues(read_pattern("x", "literal", "all"))) == {saved[0].key}
    assert other.learn_words(saved[:1]) == 1
    other.close()
    store.close()
