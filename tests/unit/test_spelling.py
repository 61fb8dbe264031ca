"""Equal texts that differ in case: a name that the model sees in another spelling only is still brought back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests import pi

from aforesaid import Engine, retrieval
from aforesaid.errors import ExactSearchFailed
from aforesaid.retrieval import spelling
from aforesaid.storage.sqlite.snapshot import ShardSnapshot

if TYPE_CHECKING:
    from pathlib import Path


def ask(folder: Path, lost: list[str], visible: list[str], request: str, **settings: object) -> list[str]:
    rows = [pi.header()]
    last: str | None = None
    for at, text in enumerate(lost):
        rows.append(pi.message(f"a000000{at}", last, text, "toolResult"))
        last = f"a000000{at}"
    rows.append(pi.compaction("c0000000", str(last), "nothing"))
    last = "c0000000"
    for at, text in enumerate(visible):
        rows.append(pi.message(f"b000000{at}", last, text, "toolResult"))
        last = f"b000000{at}"
    file = pi.write(folder / "one.jsonl", rows)
    with Engine.open(folder / "store", settings=settings) as engine:
        return [hit.entry_id for hit in engine.retrieve(session=file, query=request).hits]


LOST = ["export FOO_BAR=1"]


def test_a_name_whose_text_is_visible_in_another_spelling_comes_back(tmp_path: Path) -> None:
    assert ask(tmp_path, LOST, ["EXPORT foo_BAR=1"], "where is `FOO_BAR`?") == ["a0000000"]


@pytest.mark.parametrize("visible", ["export FOO_BAR=1", "EXPORT  FOO_BAR=1"])
def test_a_name_that_the_equal_text_holds_as_well_is_in_context(tmp_path: Path, visible: str) -> None:
    assert ask(tmp_path, LOST, ["EXPORT foo_BAR=1", visible], "where is `FOO_BAR`?") == []


def test_a_name_in_another_visible_text_is_not_that_text(tmp_path: Path) -> None:
    assert ask(tmp_path, LOST, ["EXPORT foo_BAR=1", "set FOO_BAR"], "where is `FOO_BAR`?") == ["a0000000"]


def test_both_spellings_that_were_asked_for_come_back_once_each(tmp_path: Path) -> None:
    lost = ["export FOO_BAR=1", "export foo_bar=1", "Export FOO_BAR=1"]
    found = ask(tmp_path, lost, [], "compare `FOO_BAR` with `foo_bar`")
    assert sorted(found) == ["a0000001", "a0000002"]


def test_topics_are_the_same_in_any_case(tmp_path: Path) -> None:
    assert ask(tmp_path, ["the walnut table is dark"], ["The Walnut table is dark"], "which walnut table?") == []


def test_what_was_just_sent_is_no_hit_unless_a_name_is_spelled_otherwise_in_it(tmp_path: Path) -> None:
    assert ask(tmp_path, ["use `FOO_BAR` now"], [], "use `FOO_BAR` now") == []
    assert ask(tmp_path, ["Use `FOO_BAR` now"], [], "use `FOO_BAR` now") == []


def test_a_name_that_many_visible_rows_hold_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spelling, "MOST", 1)
    assert ask(tmp_path, LOST, ["EXPORT foo_BAR=1", "set FOO_BAR"], "where is `FOO_BAR`?") == []


def test_where_names_cannot_be_looked_up_equal_texts_are_in_context(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise ExactSearchFailed("no", "again")

    real = retrieval._hide_visible

    def hide(*given: object) -> object:
        with monkeypatch.context() as patched:
            patched.setattr(ShardSnapshot, "find_literals", fail)
            return real(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(retrieval, "_hide_visible", hide)
    assert ask(tmp_path, LOST, ["EXPORT foo_BAR=1"], "where is `FOO_BAR`?") == []
