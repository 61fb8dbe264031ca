from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests import pi
from tests.fakes.store import FakeStore

from aforesaid import Engine
from aforesaid.errors import StoreCorrupt
from aforesaid.model import Header, Session
from aforesaid.recall import scopes
from aforesaid.recall.scopes import Selection, arrange

if TYPE_CHECKING:
    from pathlib import Path


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


def transcript(folder: Path, name: str, *texts: str, minute: int = 0, parent: str | None = None) -> Path:
    """A session whose entries have the ids a1, a2 …, as any other's may have."""
    rows = [
        pi.message(f"a{number}", f"a{number - 1}" if number > 1 else None, text, minute=minute + number)
        for number, text in enumerate(texts, 1)
    ]
    more = {} if parent is None else {"parentSession": parent}
    return pi.write(folder / f"{name}.jsonl", [pi.header(name, **more), *rows])


def reasons(engine: Engine, file: Path) -> tuple[str, ...]:
    return engine.recall("walnut", session=file, scope="current-lineage").coverage.reasons


@pytest.mark.parametrize(
    ("texts", "minute", "told"),
    [
        (("a walnut table", "another end"), 0, ("ancestor-unknown",)),
        (("another beginning", "a walnut chair"), 0, ("ancestor-unknown",)),
        (("an oak table", "an oak chair"), 0, ()),
        (("a walnut table", "a walnut chair"), 30, ()),
        (("a walnut chair", "a walnut table"), 0, ()),
    ],
)
def test_another_session_is_a_possible_ancestor_by_what_it_says_and_not_by_ids(
    tmp_path: Path, texts: tuple[str, ...], minute: int, told: tuple[str, ...]
) -> None:
    own = transcript(tmp_path, "own", "a walnut table", "a walnut chair")
    transcript(tmp_path, "other", *texts, minute=minute)
    with Engine.open(tmp_path / "store") as engine:
        engine.index(tmp_path)
        assert {one.family for one in engine.sessions()} == {"a1"}
        assert reasons(engine, own) == told


def test_one_that_names_its_origin_is_no_ancestor(tmp_path: Path) -> None:
    own = transcript(tmp_path, "own", "a walnut table", "a walnut chair")
    transcript(tmp_path, "fork", "a walnut table", "a walnut shelf", parent=str(own))
    with Engine.open(tmp_path / "store") as engine:
        engine.index(tmp_path)
        assert reasons(engine, own) == ()


def test_one_that_cannot_be_read_may_be_the_ancestor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = transcript(tmp_path, "own", "a walnut table")
    other = transcript(tmp_path, "other", "an oak table")
    with Engine.open(tmp_path / "store") as engine:
        engine.index(tmp_path)
        assert reasons(engine, own) == ()
        read = engine._store.read
        lost = engine._find(str(other)).key

        def failing(key: str) -> object:
            if key == lost:
                raise StoreCorrupt("x", "y")
            return read(key)

        monkeypatch.setattr(engine._store, "read", failing)
        assert reasons(engine, own) == ("ancestor-unknown",)
