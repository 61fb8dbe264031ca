"""Floor 6: the JSON of one line of a Pi file as typed rows.

`pi` decodes with these. Fields that nobody needs (thinking, images, usage) are skipped by the parser without being
built. Rows of an unexpected shape go through a slower, forgiving way: any JSON object is a row.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from aforesaid.transcripts import objects
from aforesaid.transcripts.objects import text_or_none


class Block(msgspec.Struct, kw_only=True):
    """A block of a message's content: text, toolCall, or something that is not searched."""

    type: str | None = None
    text: str | None = None
    id: str | None = None
    name: str | None = None
    arguments: Any = None


class Message(msgspec.Struct, kw_only=True):
    """What stands under `message`, for all roles."""

    role: str | None = None
    content: str | list[Block] | None = None
    timestamp: Any = None
    toolName: str | None = None  # noqa: N815 - names of the format
    toolCallId: str | None = None  # noqa: N815
    command: str | None = None
    output: str | None = None
    exitCode: Any = None  # noqa: N815
    cancelled: Any = None
    isError: Any = None  # noqa: N815
    excludeFromContext: Any = None  # noqa: N815
    nestedCalls: Any = None  # noqa: N815


class Row(msgspec.Struct, kw_only=True):
    """A line, for all types. `parentId` is UNSET where the line has none."""

    type: str = ""
    id: Any = None
    parentId: Any = msgspec.UNSET  # noqa: N815
    timestamp: Any = None
    message: Message | None = None
    summary: Any = None
    firstKeptEntryId: Any = None  # noqa: N815
    firstKeptEntryIndex: Any = None  # noqa: N815
    content: str | list[Block] | None = None
    targetId: Any = None  # noqa: N815
    replacement: Any = None
    label: Any = None
    name: Any = None
    version: Any = None
    cwd: Any = None
    parentSession: Any = None  # noqa: N815
    branchedFrom: Any = None  # noqa: N815


_DECODER: Final = msgspec.json.Decoder(Row)


def decode(data: bytes) -> Row | str:
    """The row of a line, or the reason why there is none: `invalid-utf8`, `invalid-json`, `not-an-object`."""
    return objects.decode(data, _DECODER, _forgive)


def blocks(content: str | list[Block] | None) -> list[Block]:
    """The blocks of a content; a plain text is one text block."""
    if isinstance(content, str):
        return [Block(type="text", text=content)]
    return content or []


def _forgive(value: dict[str, Any]) -> Row:
    """The row of an object with fields of another type."""
    fields = objects.fields_of(value, Row)
    fields["type"] = text_or_none(value.get("type")) or ""
    fields["content"] = _content(value.get("content"))
    message = value.get("message")
    fields["message"] = _message(message) if isinstance(message, dict) else None
    return Row(**fields)


def _message(value: dict[str, Any]) -> Message:
    fields = {name: value.get(name) for name in Message.__struct_fields__}
    for name in ("role", "toolName", "toolCallId", "command", "output"):
        fields[name] = text_or_none(fields[name])
    return Message(**fields | {"content": _content(value.get("content"))})


def _content(value: object) -> str | list[Block] | None:
    if isinstance(value, str):
        return value
    if not isinstance(value, list):
        return None
    return [
        Block(
            type=text_or_none(block.get("type")),
            text=text_or_none(block.get("text")),
            id=text_or_none(block.get("id")),
            name=text_or_none(block.get("name")),
            arguments=block.get("arguments"),
        )
        for block in value
        if isinstance(block, dict)
    ]
