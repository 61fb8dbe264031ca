"""Floor 9: conversations as transcripts that the product's own reader reads: Pi session files of format 3."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aforesaid.cli.eval.questions import Conversation, Turn

_NO_TIME = "2000-01-01T00:00:00.000Z"


def write(conversation: Conversation, folder: str) -> str:
    """Writes a conversation with its branches. Returns the file's path.

    Entry ids are those of the turns. Turns without a time get that of the turn before.
    """
    file = os.path.join(folder, f"{conversation.name}.jsonl")
    stamp = _NO_TIME
    rows: list[dict[str, Any]] = [
        {"type": "session", "version": 3, "id": conversation.name, "timestamp": stamp, "cwd": "/evaluation"}
    ]
    before: Turn | None = None
    for turn in conversation.turns:
        stamp = turn.timestamp or stamp
        parent = turn.parent or (before.id if before else None)
        rows.append({"id": turn.id, "parentId": parent, "timestamp": stamp, **_said(turn, before)})
        before = turn
    with open(file, "w", encoding="utf-8", newline="\n") as target:
        target.writelines(json.dumps(row) + "\n" for row in rows)
    return file


def _said(turn: Turn, before: Turn | None) -> dict[str, Any]:
    """The members of a row that depend on who speaks; a result answers the call before it."""
    if turn.role == "summary":
        return {
            "type": "compaction", "summary": turn.text, "firstKeptEntryId": turn.kept_from, "tokensBefore": 100_000,
        }  # fmt: skip
    content: list[dict[str, Any]] = [{"type": "text", "text": turn.text}]
    message: dict[str, Any] = {"role": turn.role, "content": content}
    if turn.role == "tool_call":
        call = {"type": "toolCall", "id": _call(turn), "name": turn.tool, "arguments": dict(turn.arguments)}
        message = {"role": "assistant", "content": [call]}
    elif turn.role == "tool_result":
        assert before is not None  # noqa: S101 - a result stands behind its call
        message = {
            "role": "toolResult", "toolCallId": _call(before), "toolName": before.tool, "content": content,
            "isError": False,
        }  # fmt: skip
    return {"type": "message", "message": message}


def _call(turn: Turn) -> str:
    return f"call-{turn.id}"
