from __future__ import annotations

import pytest
from tests.fakes.store import FakeStore

from aforesaid.model import Header, Session
from aforesaid.recall import scopes
from aforesaid.recall.scopes import arrange


def session(name: str, entries: int = 400, family: str | None = None) -> Session:
    header = Header(host="pi", session_id=name)
    return Session(key=name, file=f"/{name}", header=header, entries=entries, family=family or name)


def arranged(sessions: list[Session], own: Session | None = None) -> list[list[str]]:
    return [[one.key for one in batch] for batch in arrange(FakeStore(), own, sessions)]


def test_small_sessions_are_searched_many_at_a_time_and_families_stay_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(scopes, "SESSIONS", 3)
    listed = [session("a"), session("b", family="f"), session("c"), session("d", family="f"), session("e")]
    assert arranged(listed) == [["a", "b", "d"], ["c", "e"]]
    assert arranged(listed, listed[4]) == [["e", "a"], ["b", "d", "c"]]
    assert arranged([]) == []


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
