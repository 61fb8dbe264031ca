"""`aforesaid lost` as people see it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.schemas import check

from aforesaid.lost import LostItem, LostPart, LostReport, Survival

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.unit.cli.conftest import Done, FakeEngine

    from aforesaid.query.items import ItemKind


FOUND: dict[ItemKind, tuple[int, int]] = {
    "path": (40, 10), "command": (0, 0), "number": (2, 0), "identifier": (3, 3), "error": (0, 0), "hash": (0, 0),
    "url": (1, 0),
}  # fmt: skip


def part(*items: LostItem) -> LostPart:
    survival = tuple(Survival(kind=kind, before=of[0], visible=of[1]) for kind, of in FOUND.items())
    return LostPart(entry_id="c1", timestamp=None, lost_entries=1, survival=survival, items=items)


def item(text: str) -> LostItem:
    return LostItem(item=text, kind="path", last_entry_id="e7", count=2)


def test_counts_and_the_newest_items_are_shown(fake: FakeEngine, command: Callable[..., Done]) -> None:
    fake.answer = LostReport(compactions=(part(*map(item, ["a\x1b.py", *"bcdefghijklmnopqrstuvwxyz"])), part()))
    done = command("lost", "--session=s.jsonl")
    lines = done.out.splitlines()
    assert lines[0] == "1  compaction c1  unknown date: 1 entry left the view"
    assert lines[1:4] == [
        "   kind         before  visible",
        "   path             40       10  25 %",
        "   command           0        0",
    ]
    assert "   path       a\u241b.py  (2 entries, last e7)" in lines
    assert "   and 6 older ones; -v shows them" in lines
    assert "2  compaction c1  unknown date: 1 entry left the view" in lines
    assert len(command("lost", "--session=s.jsonl", "-v").out.splitlines()) == len(lines) + 5
    assert fake.calls[0] == ("lost", (), {"session": "s.jsonl", "leaf": None, "compaction": None, "provider": None})


def test_one_compaction_keeps_its_number(fake: FakeEngine, command: Callable[..., Done]) -> None:
    fake.answer = LostReport(compactions=(part(),), reasons=("opaque-summary",))
    done = command("lost", "--session=s.jsonl", "--compaction=4", "--leaf=e1", "--provider=here")
    assert done.out.startswith("4  compaction c1")
    assert done.err == "warning: the answer may not be complete: opaque-summary\n"
    fake.answer = LostReport(compactions=(part(),), reasons=("store-rebuilt",))
    assert command("lost", "--session", "s").err.endswith("was damaged, and has been derived again\n")
    assert fake.calls[0][2] == {"session": "s.jsonl", "leaf": "e1", "compaction": 4, "provider": "here"}


def test_nothing_compacted_is_said(fake: FakeEngine, command: Callable[..., Done]) -> None:
    fake.answer = LostReport(compactions=())
    assert command("lost", "--session=s.jsonl").out == "Nothing was compacted on this branch.\n"
    assert check("lost", command("lost", "--session=s.jsonl", "--json").out)["compactions"] == []
