"""Builds rollouts of Codex for tests, a line an item, as the program writes them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tests.pi import stamp, write

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "THREAD",
    "Row",
    "assistant",
    "call",
    "compacted",
    "event",
    "item",
    "message",
    "meta",
    "output",
    "row",
    "user",
]
__all__ += ["rolled_back", "write"]

Row = dict[str, Any]

THREAD = "01a22a3d-6be8-7893-8fa1-dccc7a299b79"


def row(type_: str, payload: Any, minute: int = 0, **more: Any) -> Row:
    """A line."""
    return {"timestamp": stamp(minute), **more, "type": type_, "payload": payload}


def meta(id_: str = THREAD, **more: Any) -> Row:
    """The header."""
    return row(
        "session_meta",
        {"id": id_, "timestamp": stamp(0), "cwd": "/home/dev/project", "cli_version": "0.171.0", "source": "cli",
         "base_instructions": {"text": "instructions of the program"}, **more},
    )  # fmt: skip


def item(type_: str, minute: int = 0, **payload: Any) -> Row:
    """An item of the model's history."""
    return row("response_item", {"type": type_, **payload}, minute)


def message(role: str, content: Any, minute: int = 0, *, kinds: list[str] | None = None, **more: Any) -> Row:
    """A message; kinds say where each piece of its content comes from."""
    kind = "output_text" if role == "assistant" else "input_text"
    pieces = [{"type": kind, "text": content}] if isinstance(content, str) else content
    if kinds is not None:
        more["internal_chat_message_metadata_passthrough"] = {"turn_id": "t", "content_item_kinds": kinds}
    return item("message", minute, role=role, content=pieces, **more)


def user(content: Any, minute: int = 0, **more: Any) -> Row:
    """What stands as the user's, whoever wrote it."""
    return message("user", content, minute, **more)


def assistant(content: Any, minute: int = 0, **more: Any) -> Row:
    """What the model said."""
    return message("assistant", content, minute, **more)


def call(id_: str, tool: str, arguments: Any, **more: Any) -> Row:
    """A call; its arguments are JSON in a text."""
    given = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return item("function_call", name=tool, arguments=given, call_id=id_, **more)


def output(id_: str, printed: Any, type_: str = "function_call_output", **more: Any) -> Row:
    """What a call brought."""
    return item(type_, call_id=id_, output=printed, **more)


def compacted(history: Sequence[Row] | None, message: str = "", minute: int = 0) -> Row:
    """A compaction, and the items that it left."""
    payload: Row = {"message": message}
    if history is not None:
        payload["replacement_history"] = [line.get("payload", line) for line in history]
    return row("compacted", payload, minute)


def event(type_: str, **payload: Any) -> Row:
    """What the program tells of its work."""
    return row("event_msg", {"type": type_, **payload})


def rolled_back(turns: Any) -> Row:
    """The user took turns back."""
    return event("thread_rolled_back", num_turns=turns)
