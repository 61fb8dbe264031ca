"""`ports.StorePort`, over every implementation: sessions, transactions, previews and counts."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace
from tests.fakes.entries import chain, described, entry

from aforesaid.errors import StoreError
from aforesaid.model import Checkpoint, Flaw, Header, Run, Tally

if TYPE_CHECKING:
    from aforesaid.model import Level
    from aforesaid.ports import Snapshot, StorePort
from tests.contract.stores import EVERYTHING, FILE, put, store

__all__ = ["store"]


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


# --- search ---------------------------------------------------------------------------------------------------------


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
