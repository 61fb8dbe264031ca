from __future__ import annotations

import pytest
from tests.fakes.store import FakeStore

from aforesaid.model import Header, Session
from aforesaid.recall import scopes
from aforesaid.recall.scopes import Selection, arrange


def session(name: str, entries: int = 400, family: str | None = None) -> Session:
    header = Header(host="pi", session_id=name)
    return Session(key=name, file=f"/{name}", header=header, entries=entries, family=family or name)


def arranged(
    sessions: list[Session], own: Session | None = None, keys: frozenset[str] | None = None
) -> list[list[str]]:
    selection = Selection(own=own, arrangement=arrange(FakeStore(), own, sessions), keys=keys)
    found: list[list[str]] = []
    start, more = 0, True
    while more:
        batch = selection.batch(start, 0)
        again = selection.batch(start, batch.end)
        assert again == batch
        found.append([one.key for one in batch.sessions])
        start, more = batch.end, batch.more
    return found


def test_small_sessions_are_searched_many_at_a_time_and_families_stay_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(scopes, "SESSIONS", 3)
    listed = [session("a"), session("b", family="f"), session("c"), session("d", family="f"), session("e")]
    assert arranged(listed) == [["a", "b", "d"], ["c", "e"]]
    assert arranged(listed, listed[4]) == [["e", "a"], ["b", "d", "c"]]
    assert arranged([]) == [[]]
    assert arranged(listed, keys=frozenset("acde")) == [["a", "d", "c"], ["e"]]
    assert arranged(listed, listed[4], frozenset("be")) == [["e", "b"]]


def test_what_is_learned_between_two_pages_leaves_a_batch_where_it_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scopes, "SESSIONS", 2)
    arrangement = arrange(FakeStore(), None, [session(name) for name in "abcdef"])
    first = Selection(own=None, arrangement=arrangement, keys=frozenset("abdf")).batch(0, 0)
    assert ([one.key for one in first.sessions], first.more) == (["a", "b"], True)
    for keys in ("adf", "bf", "f", ""):
        later = Selection(own=None, arrangement=arrangement, keys=frozenset(keys))
        assert {one.key for one in later.batch(0, first.end).sessions} == set("ab") & set(keys)
        assert later.batch(0, first.end).more == ("f" in keys)
        assert {one.key for one in later.batch(first.end, 0).sessions} == set(keys) - set("ab")
    everything = Selection(own=None, arrangement=arrangement)
    assert [one.key for one in everything.batch(0, first.end).sessions] == ["a", "b", "c"]


def test_of_large_sessions_fewer_are_searched_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scopes, "FEW", 2)
    monkeypatch.setattr(scopes, "MANY_ENTRIES", 1000)
    listed = [session("a", 900), session("b", 900), session("c", 90), session("d", 10), session("e", 900)]
    assert arranged(listed) == [["a", "b"], ["c", "d", "e"]]
    assert arranged([*listed, session("f", 1)]) == [["a", "b"], ["c", "d", "e"], ["f"]]


@pytest.mark.parametrize("entries", [1, 5000])
def test_how_long_the_own_session_is_moves_no_other(monkeypatch: pytest.MonkeyPatch, entries: int) -> None:
    monkeypatch.setattr(scopes, "FEW", 2)
    monkeypatch.setattr(scopes, "MANY_ENTRIES", 1000)
    own = session("own", entries)
    assert arranged([session("a"), own, session("b"), session("c")], own) == [["own", "a", "b"], ["c"]]
