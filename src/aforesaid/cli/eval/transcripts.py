"""Floor 9: conversations as transcripts that the product's own reader reads: Pi session files of format 3."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aforesaid.cli.eval.questions import Conversation

_NO_TIME = "2000-01-01T00:00:00.000Z"


def write(conversation: Conversation, folder: str) -> str:
    """Writes a conversation as one branch. Returns the file's path.

    Entry ids are those of the turns. Turns without a time get that of the turn before.
    """
    file = os.path.join(folder, f"{conversation.name}.jsonl")
    stamp = _NO_TIME
    rows: list[dict[str, Any]] = [
        {"type": "session", "version": 3, "id": conversation.name, "timestamp": stamp, "cwd": "/evaluation"}
    ]
    parent = None
    for turn in conversation.turns:
        stamp = turn.timestamp or stamp
        content = [{"type": "text", "text": turn.text}]
        rows.append(
            {
                "type": "message", "id": turn.id, "parentId": parent, "timestamp": stamp,
                "message": {"role": turn.role, "content": content},
            }
        )  # fmt: skip
        parent = turn.id
    with open(file, "w", encoding="utf-8", newline="\n") as target:
        target.writelines(json.dumps(row) + "\n" for row in rows)
    return file
