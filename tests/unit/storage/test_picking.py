"""What the index of words is asked about single sessions, and for how long an answer holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.fakes.entries import chain, described, entry

from aforesaid.clues import find_clues
from aforesaid.patterns import read_pattern
from aforesaid.storage.sqlite import open_store, proposals
from aforesaid.storage.sqlite.picking import Hint
from aforesaid.storage.sqlite.words import WordIndex

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from aforesaid.inquiry import Alternatives
    from aforesaid.model import Session
    from aforesaid.storage.sqlite import SqliteStore

WHOLE = ((1, 10),)


def put(store: SqliteStore, file: str, *texts: str) -> Session:
    with store.write(file) as writer:
        known = writer.session.entries if writer.session else 0
        writer.append(chain(*texts, prefix=f"{known}-"))
        return writer.commit(described(file))


def part(text: str) -> Alternatives:
    return find_clues(read_pattern(text, "phrase", "all"))


def propose(store: SqliteStore, session: Session, text: str) -> tuple[int, ...] | None:
    with store.read(session.key) as snapshot:
        return snapshot.propose(part(text), WHOLE)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    opened = open_store(str(tmp_path / "store"))
    yield opened
    opened.close()


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The sessions about which the file was asked."""
    found: list[str] = []
    fitting = WordIndex.fitting

    def watched(index: WordIndex, key: str, *rest: object) -> tuple[str, ...] | None:
        found.append(key)
        return fitting(index, key, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(WordIndex, "fitting", watched)
    return found


def test_what_a_clue_stands_for_is_looked_up_once_for_all_sessions_that_were_compared(
    store: SqliteStore, asked: list[str]
) -> None:
    sessions = [put(store, f"/{name}", f"the {name}walnuttree grows", "an oak") for name in "abc"]
    store.learn_words(sessions)
    assert store.may_hold(sessions, part("alnutt")) == {session.key for session in sessions}
    assert [propose(store, session, "alnutt") for session in sessions] == [(1,)] * 3
    assert asked == [sessions[0].key]


def test_a_session_that_has_grown_since_is_not_answered_from_memory(store: SqliteStore) -> None:
    sessions = [put(store, f"/{name}", f"the {name}walnuttree grows", "an oak") for name in "ab"]
    store.learn_words(sessions)
    assert store.may_hold(sessions, part("alnutt"))
    assert propose(store, sessions[0], "alnutt") == (1,)
    put(store, "/a", "a chestwalnuttx")
    assert propose(store, sessions[0], "alnutt") is None
    assert propose(store, sessions[1], "alnutt") == (1,)


def test_an_index_that_was_begun_anew_is_asked_again(store: SqliteStore) -> None:
    sessions = [put(store, f"/{name}", f"the {name}walnuttree grows", "an oak") for name in "ab"]
    store.learn_words(sessions)
    assert store.may_hold(sessions, part("alnutt"))
    store.forget_words()
    store.words.learn(sessions[1].key, lambda: store._read_words(sessions[1].key))
    # Its list lacks the words of the first session now, of which it knew when they were compared.
    assert propose(store, sessions[1], "alnutt") == (1,)
    assert propose(store, sessions[0], "alnutt") is None
    assert propose(store, sessions[1], "alnutt") == (1,)


def test_a_session_that_nobody_compared_is_looked_up_by_itself(store: SqliteStore, asked: list[str]) -> None:
    session = put(store, "/a", "the walnuttree grows", "an oak")
    assert propose(store, session, "alnutt") is None
    store.learn_words([session])
    store._picking = None
    assert propose(store, session, "alnutt") == (1,)
    assert asked == [session.key]


def test_texts_outside_the_full_text_index_are_always_proposed(store: SqliteStore) -> None:
    fed = put(store, "/a", "a walnut tree", "an oak")
    with store.write("/b") as writer:
        writer.append([*chain("a walnut tree"), entry("b", "e1", "an oak", automatic=False)])
        unfed = writer.commit(described("/b"))
    summary = entry("s", "e1", "an oak", kind="compaction", role="summary", automatic=False)
    with store.write("/c") as writer:
        writer.append([*chain("a walnut tree"), summary])
        derived = writer.commit(described("/c"))
    for _ in range(2):
        assert [propose(store, one, "a walnut tree") for one in (fed, unfed, derived)] == [(1,), (1, 2), (1, 2)]
        store.learn_words([fed, unfed, derived])
    known = store.words.known()
    told = [(known[one.key].fed, known[one.key].said) for one in (fed, unfed, derived)]
    assert told == [(True, True), (False, False), (False, True)]
    for one, rest in ((fed, ()), (unfed, (2,)), (derived, ())):
        with store.read(one.key) as snapshot:
            assert snapshot.propose(part("a walnut tree"), WHOLE, derived=False) == (1, *rest)
            assert snapshot.unindexed(derived=False) == rest
            assert snapshot.unindexed() == ((2,) if one is derived else rest)


def test_an_index_that_cannot_be_read_is_only_missed(store: SqliteStore, tmp_path: Path) -> None:
    session = put(store, "/a", "the walnuttree grows", "an oak")
    store.learn_words([session])
    picker = store._picker
    standing = picker.compare([session])
    (tmp_path / "store" / "words.db").unlink()
    (tmp_path / "store" / "words.db").mkdir()
    hint = Hint(picker, session.key, standing.known[session.key])
    assert hint.fitting(part("alnutt")[0][0]) is None
    picker._standing = None
    assert picker.hint(session.key, b"", 1) is None


def test_a_large_session_is_asked_for_its_own_words_where_the_index_does_not_know_it(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    with store.write("/a") as writer:
        writer.append([*chain("the walnuttree grows", "an oak", "Chestwalnut"), entry("s", "e3", "s", automatic=False)])
        session = writer.commit(described("/a"))
    assert propose(store, session, "walnut") is None
    monkeypatch.setattr(proposals, "LARGE", 4)
    for _ in range(2):
        assert propose(store, session, "alnut") == (1, 3, 4)
        assert propose(store, session, "stwaln") == (3, 4)
        assert propose(store, session, "zebra") == (4,)
        assert propose(store, session, "alnut.") == (3, 4)
    put(store, "/a", "a zebrawood")
    assert propose(store, session, "zebra") == (4, 5)
    monkeypatch.setattr(proposals, "MOST_WORDS", 1)
    assert propose(store, session, "alnut") is None


def test_which_sessions_hold_a_word_is_put_together_once_while_nothing_changes(store: SqliteStore) -> None:
    first, second = put(store, "/a.jsonl", "the walnut tree"), put(store, "/b.jsonl", "an oak")
    sessions = store.sessions()
    store.learn_words(sessions)
    found = store.may_hold(sessions, part("walnut"))
    assert found == {first.key}
    assert store.may_hold(sessions, part("oak")) == {second.key}
    assert store.may_hold(sessions, part("walnut")) is found
    for number in range(20):
        assert store.may_hold(sessions, part(f"word{number}")) == frozenset()
    again = store.may_hold(sessions, part("walnut"))
    assert (again == found, again is found) == (True, False), "only so many are remembered"
    put(store, "/b.jsonl", "a walnut too")
    sessions = store.sessions()
    assert store.may_hold(sessions, part("walnut")) == {first.key, second.key}
    store.learn_words(sessions)
    assert store.may_hold(sessions, part("walnut")) == {first.key, second.key}
    assert store.may_hold(sessions, part("walnut")) == {first.key, second.key}
    assert store.may_hold(sessions, part("oak")) == {second.key}
