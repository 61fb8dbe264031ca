"""Rollouts of Codex that are read at once and as they grow: what their tests share."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING

from tests.codex import meta

from aforesaid.model import Checkpoint, Entry, Flaw
from aforesaid.transcripts.codex import CodexTranscripts

if TYPE_CHECKING:
    from pathlib import Path

    from tests import codex

    from aforesaid.transcripts.codex_reading import CodexReading

READER = CodexTranscripts()
LONG = "msg_01a22a3d-7657-73d1-b28f-bfce59a91752"


def lines_of(*rows: codex.Row | bytes) -> bytes:
    return b"".join((row if isinstance(row, bytes) else json.dumps(row).encode()) + b"\n" for row in rows)


def reading(*rows: codex.Row | bytes, since: Checkpoint | None = None) -> tuple[CodexReading, list[Entry | Flaw]]:
    pass_ = READER.read(io.BytesIO(lines_of(*rows)), "/sessions/2026/11/30/rollout-stem.jsonl", since)
    return pass_, list(pass_)


def entries(*rows: codex.Row | bytes, noted: tuple[str, ...] = ()) -> list[Entry]:
    """The entries of a rollout that begins with a header, read at once and as it grows."""
    _, found = reading(meta(), *rows)
    point, pieces = None, []
    for end in range(1, len(rows) + 2):
        part, more = reading(*[meta(), *rows][:end], since=point)
        point = part.checkpoint
        pieces += more
    assert pieces == found
    assert tuple(item.reason for item in found if isinstance(item, Flaw)) == noted
    return [entry for entry in found if isinstance(entry, Entry)]


def one(row: codex.Row) -> Entry:
    (entry,) = entries(row)
    return entry


def text(words: str) -> codex.Row:
    return {"type": "input_text", "text": words}


def path(found: list[Entry]) -> list[str]:
    by_id = {entry.id: entry for entry in found}
    ids: list[str] = []
    here: str | None = found[-1].id
    while here is not None:
        ids.append(here)
        here = by_id[here].parent
    return ids[::-1]


def whole(file: Path) -> tuple[CodexReading, list[Entry | Flaw]]:
    with file.open("rb") as source:
        pass_ = READER.read(source, str(file), None)
        return pass_, list(pass_)
