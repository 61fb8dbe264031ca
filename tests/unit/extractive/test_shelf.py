"""The exchanges of a session, kept while it grows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests import pi

from aforesaid import Engine
from aforesaid.branches import find_branch
from aforesaid.extractive.shelf import Shelf

if TYPE_CHECKING:
    from pathlib import Path

    from aforesaid.extractive.values import Exchange


class Growing:
    """A session that is written on, with one shelf that stays."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "one.jsonl"
        self.shelf = Shelf()
        self._engine = Engine.open(folder / "store")

    def forget(self, text: str) -> None:
        self._engine.forget(text=text)

    def look(self, rows: list[Any], leaf: str | None = None, without: str | None = None) -> tuple[Exchange, ...]:
        """The exchanges after the file holds these rows; a fresh shelf says the same."""
        pi.write(self.file, rows)
        (session,) = self._engine.index(self.file).sessions
        assert session.error is None
        found = self._engine._store.by_file(str(self.file))
        assert found is not None
        with self._engine._store.read(found.key) as snapshot:
            branch = find_branch(snapshot, leaf)
            own = None if without is None else snapshot.rows([without])[0]
            self.shelf.refresh(snapshot)
            kept = self.shelf.exchanges(branch, own)
            fresh = Shelf()
            fresh.refresh(snapshot)
            assert kept == fresh.exchanges(branch, own)
            assert [self.shelf.key_of(place) for place in range(len(kept))] == [
                fresh.key_of(place) for place in range(len(kept))
            ]
            assert list(self.shelf.places) == list(fresh.places)[: len(self.shelf.places)]
            assert all(place == -1 for place in list(fresh.places)[len(self.shelf.places) :])
        return kept

    def close(self) -> None:
        self._engine.close()


def test_exchanges_are_not_made_again_while_only_what_the_model_sees_grows(tmp_path: Path) -> None:
    grown = Growing(tmp_path)
    talk = pi.conversation(["first", "answer", "second", "answer too"])
    cut = pi.compaction("cccccccc", talk[-1]["id"], "nothing")
    rows = [pi.header(), *talk, cut]
    before = grown.look(rows)
    assert len(before) == 2
    rows.append(pi.message("q0000000", "cccccccc", "third"))
    assert grown.look(rows) is before
    rows.append(pi.message("q0000001", "q0000000", "an answer", "assistant"))
    assert grown.look(rows, without="q0000000") is before, "a request that the model sees was no source anyway"
    rows.append(pi.compaction("dddddddd", "q0000001", "nothing"))
    after = grown.look(rows)
    assert after[:2] == before
    assert len(after) == 3
    assert grown.look(rows, leaf="q0000001") == before, "another leaf sees something else"
    assert len(grown.look(rows, without="q0000000")[-1].rows) == 1, "a request that is lost is no source of itself"
    grown.close()


def test_a_session_that_was_rewritten_has_other_exchanges(tmp_path: Path) -> None:
    grown = Growing(tmp_path)
    for first in ("first", "another first"):
        talk = pi.conversation([first, "answer"])
        grown.look([pi.header(), *talk, pi.compaction("cccccccc", talk[-1]["id"], "nothing")])
    talk = pi.conversation(["first"])
    assert len(grown.look([pi.header(), *talk, pi.compaction("cccccccc", talk[-1]["id"], "nothing")])) == 1
    assert grown.look([pi.header(), *talk]) == ()
    grown.close()


def test_what_was_forgotten_between_others_is_in_no_exchange(tmp_path: Path) -> None:
    grown = Growing(tmp_path)
    talk = pi.conversation([f"{'question' if n % 2 == 0 else 'answer'} {n:03}" for n in range(100)])
    rows = [pi.header(), *talk, pi.compaction("cccccccc", talk[-1]["id"], "nothing")]
    assert sum(len(exchange.rows) for exchange in grown.look(rows)) == 100
    grown.forget("question 042")
    assert sum(len(exchange.rows) for exchange in grown.look(rows)) == 99
    rows.append(pi.message("q0000000", "cccccccc", "another question"))
    grown.forget("answer 055")
    assert sum(len(exchange.rows) for exchange in grown.look(rows)) == 98
    grown.close()
