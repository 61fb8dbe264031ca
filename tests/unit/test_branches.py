"""The branch of a row is worked out once for a tree, and again for every other one."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from tests.pi import compaction, header, message, write

from aforesaid import branches
from aforesaid.branches import see_from
from aforesaid.engine import Engine
from aforesaid.model import Compaction, Mark, Run, Tree

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pytest

    from aforesaid.model import Branch
    from aforesaid.ports import EntryPort


def see(shape: Shape, row: int) -> Branch:
    return see_from(cast("EntryPort", shape), row)


class Shape:
    """As much of a snapshot as has to do with branches."""

    def __init__(self, kept_from: int) -> None:
        self.held = make_tree()
        self.kept_from = kept_from
        self.asked = 0

    def tree(self) -> Tree:
        return self.held

    def rows(self, ids: Sequence[str]) -> tuple[int | None, ...]:
        self.asked += 1
        return tuple(self.kept_from if id_ == "kept" else None for id_ in ids)


def make_tree() -> Tree:
    return Tree(
        runs=(Run(first=1, last=9, parent=None),),
        marks=(Mark(row=8, compaction=Compaction(kept_from="kept")),),
        tail=9,
    )


def test_a_branch_is_worked_out_once_for_a_tree() -> None:
    shape = Shape(6)
    first = see(shape, 9)
    assert first.context == ((6, 9),)
    assert see(shape, 9) is first
    assert shape.asked == 1
    assert see(shape, 7).context == ((1, 7),)
    assert see(shape, 9) is first


def test_an_equal_tree_of_another_session_has_branches_of_its_own() -> None:
    one, other = Shape(6), Shape(4)
    assert one.held == other.held
    for _ in range(2):
        assert see(one, 9).context == ((6, 9),)
        assert see(other, 9).context == ((4, 9),)


def test_few_branches_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(branches, "_seen", branches._Seen())
    shapes = [Shape(6) for _ in range(9)]
    for shape in shapes:
        see(shape, 9)
    assert len(branches._seen._latest) == branches._REMEMBERED
    see(shapes[-1], 9)
    see(shapes[0], 9)
    assert (shapes[-1].asked, shapes[0].asked) == (1, 2)


def test_a_file_that_was_rewritten_or_forgotten_in_part_shows_what_it_holds_now(tmp_path: Path) -> None:
    file = tmp_path / "session.jsonl"

    def rows(first_kept: str, word: str) -> list[dict[str, object]]:
        return [
            header(),
            message("aaaaaaaa", None, f"the port of the café is {word}"),
            message("bbbbbbbb", "aaaaaaaa", "the port of the café – perhaps 4712", "assistant", 1),
            message("cccccccc", "bbbbbbbb", "something else", minute=2),
            compaction("dddddddd", "cccccccc", first_kept, minute=3),
        ]

    with Engine.open(tmp_path / "store") as engine:

        def found() -> list[tuple[str, str]]:
            answer = engine.retrieve(session=file, query="which port has the café?")
            return [(hit.entry_id, hit.excerpt) for hit in answer.hits]

        write(file, rows("cccccccc", "4711"))
        assert {id_ for id_, _ in found()} == {"aaaaaaaa", "bbbbbbbb"} == {id_ for id_, _ in found()}
        write(file, rows("bbbbbbbb", "4711"))
        assert found() == [("aaaaaaaa", "the port of the café is 4711")]
        write(file, rows("bbbbbbbb", "9999"))
        assert found() == [("aaaaaaaa", "the port of the café is 9999")]
        write(file, rows("cccccccc", "9999"))
        assert {id_ for id_, _ in found()} == {"aaaaaaaa", "bbbbbbbb"}
        engine.forget(session=file, entries=["aaaaaaaa"])
        assert {id_ for id_, _ in found()} == {"bbbbbbbb"}
        engine.forget(session=file, entries=["bbbbbbbb"])
        assert found() == []
