"""Builds Claude Code transcripts for tests, a row a content block, as the program writes them."""

from __future__ import annotations

from typing import Any

from tests.pi import stamp, write

__all__ = [
    "SESSION",
    "Row",
    "boundary",
    "call",
    "cleared",
    "message",
    "note",
    "progress",
    "reply",
    "result",
    "row",
    "write",
]

Row = dict[str, Any]

SESSION = "11111111-2222-4333-8444-555555555555"


def row(id_: str, parent: str | None, type_: str = "user", minute: int = 0, **more: Any) -> Row:
    """A row with a uuid."""
    return {
        "parentUuid": parent, "isSidechain": False, "userType": "external", "cwd": "/home/dev/project",
        "sessionId": SESSION, "version": "2.1.332", "gitBranch": "main", "type": type_, **more, "uuid": id_,
        "timestamp": stamp(minute),
    }  # fmt: skip


def message(id_: str, parent: str | None, content: Any, minute: int = 0, **more: Any) -> Row:
    """What stands as the user's, whoever wrote it."""
    return row(id_, parent, "user", minute, message={"role": "user", "content": content}, **more)


def reply(id_: str, parent: str | None, content: Any, step: str | None = None, minute: int = 0, **more: Any) -> Row:
    """A block of the assistant's; blocks of one message name the same step."""
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    inner = {"id": step or f"msg_{id_}", "role": "assistant", "model": "claude-opus-5-5", "content": blocks}
    return row(id_, parent, "assistant", minute, message=inner, **more)


def call(id_: str, parent: str | None, step: str, tool: str = "Bash", minute: int = 0, **arguments: Any) -> Row:
    """A call; its id is `toolu_` and the row's."""
    block = {"type": "tool_use", "id": f"toolu_{id_}", "name": tool, "input": arguments}
    return reply(id_, parent, [block], step, minute)


def result(id_: str, caller: str, content: Any, minute: int = 0, *, parent: str | None = None, **more: Any) -> Row:
    """The result of the call in the row `caller`, which is its parent unless another is given."""
    block = {"type": "tool_result", "tool_use_id": f"toolu_{caller}", "content": content}
    return message(
        id_, parent or caller, [block], minute, toolUseResult={"copy": "of it"}, sourceToolAssistantUUID=caller, **more
    )


def progress(id_: str, parent: str | None, minute: int = 0) -> Row:
    """What a tool or a hook tells while it runs."""
    return row(id_, parent, "progress", minute, data={"type": "bash_progress", "output": "progress words"})


def boundary(id_: str, logical: str | None, metadata: Row | None = None, minute: int = 0) -> Row:
    """Where a compaction happened."""
    return row(
        id_, None, "system", minute, subtype="compact_boundary", logicalParentUuid=logical,
        content="Conversation compacted", compactMetadata={"trigger": "auto", "preTokens": 1, **(metadata or {})},
    )  # fmt: skip


def cleared(id_: str, parent: str | None, callers: list[str], minute: int = 0) -> Row:
    """Where the program emptied the results of some calls to make room."""
    metadata = {"trigger": "auto", "tokensSaved": 1, "compactedToolIds": [f"toolu_{caller}" for caller in callers]}
    return row(
        id_, parent, "system", minute, subtype="microcompact_boundary", content="Context microcompacted",
        microcompactMetadata=metadata,
    )  # fmt: skip


def summary(id_: str, parent: str | None, text: str = "a summary", minute: int = 0) -> Row:
    """What the model reads instead of what stood before."""
    return message(id_, parent, text, minute, isCompactSummary=True, isVisibleInTranscriptOnly=True)


def note(type_: str, **more: Any) -> Row:
    """A row without a uuid."""
    return {"type": type_, **more, "sessionId": SESSION}
