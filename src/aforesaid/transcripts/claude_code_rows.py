"""Floor 6: the JSON of one line of a Claude Code file as typed rows.

`claude_code` decodes with these. Fields that nobody needs (thinking, images, usage, structured copies of results) are
skipped by the parser without being built. Rows of an unexpected shape go through a slower, forgiving way.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from aforesaid.transcripts import objects
from aforesaid.transcripts.objects import text_or_none


class Block(msgspec.Struct, kw_only=True):
    """A block of a message's content: text, tool_use, tool_result, or something that is not searched."""

    type: str | None = None
    text: str | None = None
    id: str | None = None
    name: str | None = None
    input: Any = None
    tool_use_id: str | None = None
    is_error: Any = None
    content: str | list[Block] | None = None


class Message(msgspec.Struct, kw_only=True):
    """What stands under `message`."""

    id: str | None = None
    model: str | None = None
    content: str | list[Block] | None = None


class Attachment(msgspec.Struct, kw_only=True, rename="camel"):
    """What stands under `attachment`; all but queued prompts is the host's own."""

    type: str | None = None
    prompt: str | list[Block] | None = None
    command_mode: str | None = None


class Row(msgspec.Struct, kw_only=True, rename="camel"):
    """A line, for all types and versions."""

    type: str = ""
    uuid: Any = None
    parent_uuid: Any = None
    logical_parent_uuid: Any = None
    subtype: Any = None
    message: Message | None = None
    attachment: Attachment | None = None
    timestamp: Any = None
    session_id: Any = None
    request_session_id: Any = None
    forked_from: Any = None
    agent_id: Any = None
    is_sidechain: Any = None
    is_meta: Any = None
    is_compact_summary: Any = None
    is_visible_in_transcript_only: Any = None
    is_api_error_message: Any = None
    compact_metadata: Any = None
    microcompact_metadata: Any = None
    origin: Any = None
    prompt_source: Any = None
    version: Any = None
    cwd: Any = None
    custom_title: Any = None
    summary: Any = None
    leaf_uuid: Any = None


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
    message, attachment = value.get("message"), value.get("attachment")
    fields["message"] = fields["attachment"] = None
    if isinstance(message, dict):
        id_, model = text_or_none(message.get("id")), text_or_none(message.get("model"))
        fields["message"] = Message(id=id_, model=model, content=_content(message.get("content")))
    if isinstance(attachment, dict):
        fields["attachment"] = Attachment(
            type=text_or_none(attachment.get("type")),
            prompt=_content(attachment.get("prompt")),
            command_mode=text_or_none(attachment.get("commandMode")),
        )
    return Row(**fields)


def _content(value: object, depth: int = 2) -> str | list[Block] | None:
    """A content as it should be; results hold blocks that hold no further ones."""
    if isinstance(value, str):
        return value
    if not isinstance(value, list) or not depth:
        return None
    return [
        Block(
            type=text_or_none(block.get("type")),
            text=text_or_none(block.get("text")),
            id=text_or_none(block.get("id")),
            name=text_or_none(block.get("name")),
            input=block.get("input"),
            tool_use_id=text_or_none(block.get("tool_use_id")),
            is_error=block.get("is_error"),
            content=_content(block.get("content"), depth - 1),
        )
        for block in value
        if isinstance(block, dict)
    ]
