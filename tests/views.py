"""Made-up sessions of which the beginning is lost, and sources, for tests of the history view."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aforesaid import Engine
from aforesaid.extractive.values import Quoted
from tests import pi
from tests.values import make_entry

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from aforesaid import HistoryView

PORT = "which port did we choose for the gateway?"


def quoted(row: int, *parts: str, id_: str | None = None, role: str = "user") -> Quoted:
    text = "\n".join(parts)
    entry = make_entry(text, row=row, id=id_ or f"e{row:07}", role=role, parts=tuple(map(len, parts)))
    return Quoted(entry=entry, parts=parts)


def lost_session(texts: Sequence[str], question: str = PORT, **header: Any) -> list[Any]:
    """A conversation, a compaction that keeps none of it, and a question."""
    rows = pi.conversation(texts)
    cut = pi.compaction("cccccccc", rows[-1]["id"], "nothing", minute=len(texts))
    return [pi.header(**header), *rows, cut, pi.message("q0000000", "cccccccc", question, minute=len(texts) + 1)]


def look(folder: Path, rows: list[Any], **more: Any) -> HistoryView:
    """The view of a session in a store."""
    folder.mkdir(exist_ok=True)
    file = pi.write(folder / "one.jsonl", rows)
    settings = more.pop("settings", {})
    with Engine.open(folder / "store", settings=settings) as engine:
        return engine.view(session=file, **more)


def talk(*exchanges: tuple[str, str]) -> list[str]:
    return [text for exchange in exchanges for text in exchange]
