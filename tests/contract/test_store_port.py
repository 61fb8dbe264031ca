"""`ports.StorePort`, over every implementation: what a caller may rely on, whatever the store is made of."""

from __future__ import annotations

import math
import re
import shutil
import tempfile
import unicodedata
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.fakes.entries import batches, chain, described, entry, spans_within, trees
from tests.fakes.store import FakeStore
from tests.words import any_text

from aforesaid.errors import StoreError
from aforesaid.lineage import trace
from aforesaid.matching import Folded, Literal, Term
from aforesaid.model import Checkpoint, Compaction, Edit, Flaw, Header, Run, Tally
from aforesaid.storage.sqlite import open_store
from aforesaid.storage.sqlite.memory import MemoryStore
from aforesaid.text import digest, words
from aforesaid.tokens import estimate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from aforesaid.model import Entry, Level, Session
    from aforesaid.ports import Snapshot, StorePort

FILE = "/home/dev/sessions/a.jsonl"
EVERYTHING = ((1, 1_000_000),)


@pytest.fixture(params=["fake", "memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[StorePort]:
    makers: dict[str, Callable[[], StorePort]] = {
        "fake": FakeStore, "memory": MemoryStore, "sqlite": lambda: open_store(str(tmp_path / "store"))
    }  # fmt: skip
    opened = makers[request.param]()
    yield opened
    opened.close()


def put(store: StorePort, entries: Sequence[Entry], file: str = FILE, *, size: int = 1000, **more: object) -> Session:
    """Stores a session in one transaction, `size` entries at a time."""
    with store.write(file) as writer:
        for batch in batches(entries, size):
            writer.append(batch)
        return writer.commit(described(file, **more))  # type: ignore[arg-type]


@contextmanager
def both(entries: Sequence[Entry], size: int = 1000) -> Iterator[tuple[Snapshot, Snapshot]]:
    """The same session in memory and in SQLite."""
    folder = tempfile.mkdtemp()
    fake, real = FakeStore(), open_store(folder)
    try:
        with fake.read(put(fake, entries, size=size).key) as one, real.read(put(real, entries, size=size).key) as two:
            yield one, two
    finally:
        real.close()
        shutil.rmtree(folder)


def seen(snapshot: Snapshot) -> object:
    """What a reader sees of a session, but for what only its commit says."""
    session = replace(snapshot.session, checkpoint=Checkpoint(), header=Header(host="", session_id=""))
    entries = snapshot.entries(range(1, session.entries + 1))
    found = snapshot.find_literals(["port"], EVERYTHING, 10), snapshot.find_terms(["walnut", "port"], EVERYTHING, 10)
    return session, snapshot.tree(), entries, found, snapshot.count_terms(["port"], EVERYTHING)


def test_a_preview_is_what_a_reader_sees_after_the_commit_and_stays_nowhere(store: StorePort) -> None:
    talk = chain("the walnut table", "a port", "another port")
    first = put(store, talk[:2])
    with store.read(first.key) as snapshot:
        before = seen(snapshot)
    with store.write(FILE) as writer:
        writer.append(talk[2:])
        with writer.preview() as snapshot:
            ahead = seen(snapshot)
    with store.read(first.key) as snapshot:
        assert seen(snapshot) == before
    with store.write(FILE) as writer:
        writer.append(talk[2:])
        writer.commit(described(FILE))
    with store.read(first.key) as snapshot:
        assert seen(snapshot) == ahead != before


def test_a_preview_of_other_rows_leaves_nothing_to_the_rows_that_come(store: StorePort) -> None:
    talk = chain("the walnut table", "a port", "another port")
    first = put(store, talk[:2])
    with store.write(FILE) as writer:
        writer.append([replace(talk[2], id="other", parts=("no such thing",))])
        with writer.preview() as snapshot:
            assert snapshot.entries((3,))[0].text == "no such thing"
            assert snapshot.rows(["other"]) == (3,)
    with store.write(FILE) as writer:
        writer.append(talk[2:])
        writer.commit(described(FILE))
    with store.read(first.key) as snapshot:
        assert snapshot.entries((3,))[0].text == "another port"
        assert snapshot.rows(["other"]) == (None,)


def test_what_weighs_rows_knows_those_that_were_only_added(store: StorePort) -> None:
    talk = chain("the walnut table", "a port", "another port", "the port of the table")

    def weighed(snapshot: Snapshot) -> object:
        found = snapshot.weigh_terms(["port"], ["tabl"], EVERYTHING, ())
        return found.rows, found.scores, [found.names[role] for role in found.roles]

    first = put(store, talk[:2])
    for count in (3, 4):
        with store.read(first.key) as snapshot:
            weighed(snapshot)
        with store.write(FILE) as writer:
            writer.append(talk[count - 1 : count])
            with writer.preview() as snapshot:
                ahead = weighed(snapshot)
        with store.write(FILE) as writer:
            writer.append(talk[count - 1 : count])
            writer.commit(described(FILE))
        with store.read(first.key) as snapshot:
            assert weighed(snapshot) == ahead
        other = put(store, talk[:count], f"{FILE}.{count}")
        with store.read(other.key) as snapshot:
            assert weighed(snapshot) == ahead


def test_there_is_no_preview_of_a_session_that_was_never_there(store: StorePort) -> None:
    with store.write(FILE) as writer:
        writer.append(chain("a port"))
        with pytest.raises(StoreError), writer.preview():
            pass


def test_tending_changes_nothing_that_a_reader_sees(store: StorePort) -> None:
    store.tend(FILE)
    first = put(store, chain("the walnut table", "a port"))
    with store.read(first.key) as snapshot:
        before = seen(snapshot)
    store.tend(FILE)
    with store.read(first.key) as snapshot:
        assert seen(snapshot) == before


# --- sessions -------------------------------------------------------------------------------------------------------


def test_a_new_store_is_empty(store: StorePort) -> None:
    assert store.sessions() == ()
    assert store.by_file(FILE) is None
    assert store.by_id("s") == ()
    assert store.status().sessions == 0


def test_a_committed_session_is_found_by_file_id_host_and_folder(store: StorePort) -> None:
    saved = put(store, chain("one"))
    assert store.by_file(FILE) == saved
    assert store.by_id("s") == (saved,)
    assert store.sessions() == store.sessions(host="pi") == (saved,)
    assert store.sessions(host="codex") == store.by_id("t") == ()
    assert store.status().sessions == 1
    assert store.status().entries == 1


def test_the_store_counts_rows_requests_and_finds_the_newest_time_and_the_last_name(store: StorePort) -> None:
    saved = put(
        store,
        [
            entry("a", None, "x", timestamp="2026-11-30T00:00:05.000Z", request=True),
            entry("b", "a", "y", timestamp="2026-11-30T00:00:09.000Z", request=True),
            entry("n", "b", kind="label", label="first name"),
            entry("m", "n", kind="label", label="second name", timestamp="2026-11-30T00:00:07.000Z"),
            entry("l", "m", kind="label", label="a label", target="a"),
        ],
    )
    assert (saved.entries, saved.requests, saved.name, saved.updated) == (
        5,
        2,
        "second name",
        "2026-11-30T00:00:09.000Z",
    )


def test_whatever_a_session_says_of_itself_comes_back(store: StorePort) -> None:
    flaws = tuple(Flaw(line=n, byte=n, reason="invalid-json", id="\ud800", parent="ü") for n in range(3))
    header = Header(host="pi", session_id="\udfff", version=3, cwd="/é\udc80", started="x", parent="/p")
    point = Checkpoint(
        offset=9, line=2, head=b"\x00h", tail=b"t", size=9, mtime_ns=2**62, inode=2**63 - 1, parser=4, state="\ud800{}"
    )
    saved = put(store, [], header=header, flaws=flaws, flaw_count=3, shared=0, checkpoint=point)
    assert (saved.header, saved.flaws, saved.checkpoint) == (header, flaws, point)
    assert store.by_file(FILE) == saved
    assert store.by_id("\udfff") == (saved,)


def test_what_was_seen_last_is_known_without_looking(store: StorePort) -> None:
    assert store.recent(FILE) is None
    saved = put(store, chain("one"))
    assert store.recent(FILE) == saved
    assert store.by_file(FILE) == store.recent(FILE) == saved


def test_a_writer_tells_the_lines_of_entries_from_before_and_from_its_own_transaction(store: StorePort) -> None:
    first, second = chain("one", "two")
    put(store, [first])
    with store.write(FILE) as writer:
        writer.append([second])
        assert writer.lines(["e2", "nothing", "e1"]) == (second.source.sha256, None, first.source.sha256)


def test_sessions_are_listed_newest_first_and_then_by_file(store: StorePort) -> None:
    at = "2026-11-30T00:00:0{}.000Z".format
    put(store, [entry("a", timestamp=at(1))], "/2")
    put(store, [entry("a", timestamp=at(1))], "/1")
    put(store, [entry("a", timestamp=at(2))], "/3")
    put(store, [entry("a")], "/4")
    assert [session.file for session in store.sessions()] == ["/3", "/1", "/2", "/4"]
    assert [session.file for session in store.by_id("s")] == ["/1", "/2", "/3", "/4"]


def test_the_same_entry_ids_in_two_sessions_are_two_entries(store: StorePort) -> None:
    one, two = put(store, chain("one word"), "/1"), put(store, chain("another word"), "/2")
    assert one.key != two.key
    with store.read(one.key) as first, store.read(two.key) as second:
        assert first.entries([1])[0].text == "one word"
        assert second.entries([1])[0].text == "another word"


def test_a_removed_session_is_gone_and_can_be_made_again(store: StorePort) -> None:
    saved = put(store, chain("one"))
    store.remove(saved.key)
    assert store.by_file(FILE) is None
    assert store.sessions() == ()
    with pytest.raises(StoreError), store.read(saved.key):
        pass
    store.remove(saved.key)
    again = put(store, chain("two"))
    with store.read(again.key) as snapshot:
        assert [found.text for found in snapshot.entries([1, 2])] == ["two"]


def test_reading_an_unknown_session_is_refused(store: StorePort) -> None:
    with pytest.raises(StoreError), store.read("0" * 32):
        pass


# --- transactions ---------------------------------------------------------------------------------------------------


def test_nothing_is_visible_before_the_commit(store: StorePort) -> None:
    saved = put(store, chain("one"))
    with store.write(FILE) as writer:
        assert writer.session == saved
        writer.append([entry("e2", "e1", "two")])
        assert store.by_file(FILE) == saved
        with store.read(saved.key) as snapshot:
            assert snapshot.rows(["e2"]) == (None,)
            assert snapshot.count_terms(["two"], EVERYTHING) == 0
        writer.commit(described(FILE))
    with store.read(saved.key) as snapshot:
        assert snapshot.rows(["e2"]) == (2,)


def test_leaving_without_a_commit_changes_nothing(store: StorePort) -> None:
    saved = put(store, chain("one"))
    with store.write(FILE) as writer:
        writer.clear()
        writer.append([entry("x", None, "two")])
    with suppress(ZeroDivisionError), store.write(FILE) as writer:
        writer.append([entry("y", None, "three")])
        raise ZeroDivisionError
    with store.write("/new") as writer:
        assert writer.session is None
        writer.append([entry("z")])
    assert store.sessions() == (saved,)
    assert store.by_file("/new") is None
    with store.read(saved.key) as snapshot:
        assert [found.id for found in snapshot.entries(range(1, 9))] == ["e1"]


def test_a_snapshot_keeps_its_moment_while_syncs_go_on(store: StorePort) -> None:
    saved = put(store, chain("one", "two"))
    with store.read(saved.key) as snapshot:
        with store.write(FILE) as writer:
            writer.clear()
            writer.append([entry("x", None, "three")])
            writer.commit(described(FILE))
        assert snapshot.session == saved
        assert [found.text for found in snapshot.entries([1, 2])] == ["one", "two"]
        assert snapshot.tree().runs == (Run(first=1, last=2, parent=None),)
        assert snapshot.count_terms(["one"], EVERYTHING) == 1
        assert snapshot.count_terms(["three"], EVERYTHING) == 0
    with store.read(saved.key) as snapshot:
        assert snapshot.count_terms(["one"], EVERYTHING) == 0
        assert snapshot.count_terms(["three"], EVERYTHING) == 1


def test_clearing_tells_how_many_rows_there_were(store: StorePort) -> None:
    put(store, chain("one", "two"))
    with store.write(FILE) as writer:
        assert writer.clear() == 2
        assert writer.known(["e1"]) == frozenset()
        writer.append([entry("e1", None, "one again")])
        done = writer.commit(described(FILE))
    assert done.entries == 1


def test_known_includes_what_this_transaction_added(store: StorePort) -> None:
    put(store, chain("one"))
    with store.write(FILE) as writer:
        writer.append([entry("\ud800", "e1")])
        assert writer.known(["e1", "\ud800", "e2", ""]) == {"e1", "\ud800"}


def test_the_generation_grows_with_what_changed_and_stays_with_what_did_not(store: StorePort) -> None:
    first = put(store, chain("one"))
    moved = put(store, [], checkpoint=Checkpoint(offset=99, parser=1))
    assert (first.generation, moved.generation) == (1, 1)
    assert moved.checkpoint.offset == 99
    flawed = put(store, [], flaws=(Flaw(line=1, byte=0, reason="invalid-json"),), flaw_count=1)
    grown = put(store, [entry("e2", "e1")])
    assert (flawed.generation, grown.generation) == (2, 3)


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


# --- search ---------------------------------------------------------------------------------------------------------

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


def test_what_was_withheld_is_counted_by_reason_and_class(store: StorePort) -> None:
    assert store.withheld() == ()
    store.count_withheld([tally("privacy-path", "sensitive", 2), tally("privacy-marker", "local-only", 1)])
    store.count_withheld([tally("privacy-path", "sensitive", 3), tally("privacy-path", "internal", 1)])
    store.count_withheld([])
    assert store.withheld() == (
        tally("privacy-marker", "local-only", 1),
        tally("privacy-path", "internal", 1),
        tally("privacy-path", "sensitive", 5),
    )


def tally(reason: str, classification: Level, count: int) -> Tally:
    return Tally(reason=reason, classification=classification, count=count)


def test_refs_are_counted_by_their_issuer(store: StorePort) -> None:
    counts = [store.count_refs("a"), store.count_refs("a", 3), store.count_refs("b", 1), store.count_refs("a", 1)]
    assert counts == [0, 0, 0, 3]
    assert (store.count_refs("a"), store.count_refs("b")) == (4, 1)
