"""Builds Pi transcripts for tests, a line an entry, and says by brute force what Pi would send of them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

Row = dict[str, Any]


def header(id_: str = "11111111-2222-7333-8444-555555555555", **more: object) -> Row:
    return {"type": "session", "version": 3, "id": id_, "timestamp": stamp(0), "cwd": "/home/dev/project", **more}


def stamp(minute: int) -> str:
    return f"2026-11-30T{minute // 60 % 24:02}:{minute % 60:02}:00.000Z"


def message(id_: str, parent: str | None, text: str, role: str = "user", minute: int = 0) -> Row:
    content: Row = {"role": role, "content": [{"type": "text", "text": text}]}
    if role == "toolResult":
        content |= {"toolCallId": f"call-{id_}", "toolName": "bash", "isError": False}
    return {"type": "message", "id": id_, "parentId": parent, "timestamp": stamp(minute), "message": content}


def compaction(id_: str, parent: str | None, first_kept: str, summary: str = "a summary", minute: int = 0) -> Row:
    return {
        "type": "compaction", "id": id_, "parentId": parent, "timestamp": stamp(minute), "summary": summary,
        "firstKeptEntryId": first_kept, "tokensBefore": 1000,
    }  # fmt: skip


def context_edit(id_: str, parent: str | None, target: str, replacement: str | None, minute: int = 0) -> Row:
    content = None if replacement is None else {"content": replacement}
    return {
        "type": "context_edit", "id": id_, "parentId": parent, "timestamp": stamp(minute), "targetId": target,
        "replacement": content,
    }  # fmt: skip


def conversation(
    texts: Sequence[str], first_minute: int = 0, prefix: str = "e", parent: str | None = None
) -> list[Row]:
    """Messages in a line, user and assistant in turn."""
    rows: list[Row] = []
    for number, text in enumerate(texts):
        role = "assistant" if number % 2 else "user"
        rows.append(message(f"{prefix}{number:07}", parent, text, role, first_minute + number))
        parent = rows[-1]["id"]
    return rows


def write(file: Path, rows: Sequence[Row | bytes]) -> Path:
    """Writes rows as JSON lines; bytes are written as they are, with a line end."""
    lines = [row if isinstance(row, bytes) else json.dumps(row).encode() for row in rows]
    file.write_bytes(b"".join(line + b"\n" for line in lines))
    return file


def path_of(rows: Sequence[Row], leaf: str) -> list[Row]:
    """The ancestors of a leaf, root first."""
    by_id = {row["id"]: row for row in rows if row["type"] != "session"}
    path: list[Row] = []
    row = by_id.get(leaf)
    while row is not None:
        path.append(row)
        row = by_id.get(row["parentId"])
    return path[::-1]


def gone_from_view(rows: Sequence[Row], leaf: str) -> list[Row]:
    """The entries of a branch whose own words the model does not see, written as Pi's session manager does it."""
    path = path_of(rows, leaf)
    seen = path
    for at, row in enumerate(path):
        if row["type"] == "compaction":
            ids = [earlier["id"] for earlier in path[:at]]
            start = ids.index(row["firstKeptEntryId"]) if row["firstKeptEntryId"] in ids else at
            seen = [row, *path[start:at], *path[at + 1 :]]
    latest = {row["targetId"]: row for row in seen if row["type"] == "context_edit"}
    edited = {row["id"] for row in path if row["id"] in latest and _changes(latest[row["id"]], row)}
    visible = {row["id"] for row in seen} - edited
    return [row for row in path if row["id"] not in visible]


def _changes(edit: Row, row: Row) -> bool:
    """Whether Pi shows an entry otherwise after an edit: a replacement is put into messages that have a content."""
    if edit["replacement"] is None:
        return True
    return row["type"] == "custom_message" or (row["type"] == "message" and "content" in row["message"])


def ran(id_: str, parent: str | None, command: str, minute: int = 0, output: str = "") -> Row:
    """A command that the user ran."""
    said = {"role": "bashExecution", "command": command, "output": output, "exitCode": 0}
    return {"type": "message", "id": id_, "parentId": parent, "timestamp": stamp(minute), "message": said}


def text_of(row: Row) -> str:
    """The text of a message with a single text block, or of a command without an output; else empty."""
    said = row.get("message", {})
    return str(said["content"][0]["text"] if "content" in said else said.get("command", ""))
