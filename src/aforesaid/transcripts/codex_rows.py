"""Floor 6: the JSON of one line of a Codex rollout as typed rows.

`codex` decodes with these. Fields that nobody needs (encrypted reasoning, images, usage, the state of the world) are
skipped by the parser without being built. Rows of an unexpected shape go through a slower, forgiving way.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from aforesaid.transcripts import objects
from aforesaid.transcripts.objects import text_or_none


class Piece(msgspec.Struct, kw_only=True):
    """A piece of a content: input_text, output_text, input_image and so on."""

    type: str | None = None
    text: str | None = None


class Notes(msgspec.Struct, kw_only=True):
    """What newer versions say of a message: where each piece of its content comes from."""

    content_item_kinds: list[str] | None = None


class Item(msgspec.Struct, kw_only=True):
    """The payload of a `response_item`, and an item of a `replacement_history`."""

    type: str = ""
    role: str | None = None
    id: str | None = None
    content: str | list[Piece] | None = None
    internal_chat_message_metadata_passthrough: Notes | None = None
    name: str | None = None
    namespace: str | None = None
    arguments: Any = None
    input: Any = None
    action: Any = None
    call_id: str | None = None
    output: Any = None
    revised_prompt: Any = None
    encrypted_content: Any = None


class Base(msgspec.Struct, kw_only=True):
    """Where the history of a fork stands: in another rollout, up to an ordinal."""

    thread_id: str
    end_ordinal_exclusive: int


class Payload(Item, kw_only=True):
    """The payload of any row."""

    message: Any = None
    replacement_history: list[Item] | None = None
    num_turns: Any = None
    timestamp: Any = None
    cwd: Any = None
    cli_version: Any = None
    source: Any = None
    parent_thread_id: Any = None
    forked_from_id: Any = None
    history_base: Base | None = None


class Marks(msgspec.Struct, kw_only=True):
    """What newer versions say of a row beside its payload."""

    compaction_output: Any = None


class Row(msgspec.Struct, kw_only=True):
    """A line."""

    type: str = ""
    timestamp: Any = None
    ordinal: int | None = None
    metadata: Marks | None = None
    payload: Payload | None = None


_DECODER: Final = msgspec.json.Decoder(Row)


def decode(data: bytes) -> Row | str:
    """The row of a line, or the reason why there is none: `invalid-utf8`, `invalid-json`, `not-an-object`."""
    return objects.decode(data, _DECODER, _forgive)


def ends_compaction(row: Row) -> bool:
    """Whether a row is what the model wrote when it was asked for the summary of a compaction."""
    return row.metadata is not None and row.metadata.compaction_output is True


def pieces(content: str | list[Piece] | None) -> list[Piece]:
    """The pieces of a content; a plain text is one piece of text."""
    if isinstance(content, str):
        return [Piece(type="input_text", text=content)]
    return content or []


def content(value: object) -> str | list[Piece] | None:
    """A content as it should be, of whatever stands in its place."""
    if isinstance(value, str):
        return value
    if not isinstance(value, list):
        return None
    found = (part for part in value if isinstance(part, dict))
    return [Piece(type=text_or_none(part.get("type")), text=text_or_none(part.get("text"))) for part in found]


def _forgive(value: dict[str, Any]) -> Row:
    """The row of an object with fields of another type."""
    payload, ordinal, marks = value.get("payload"), value.get("ordinal"), value.get("metadata")
    return Row(
        type=text_or_none(value.get("type")) or "",
        timestamp=value.get("timestamp"),
        ordinal=ordinal if isinstance(ordinal, int) and not isinstance(ordinal, bool) else None,
        metadata=Marks(compaction_output=marks.get("compaction_output")) if isinstance(marks, dict) else None,
        payload=Payload(**_payload(payload)) if isinstance(payload, dict) else None,
    )


def _payload(value: dict[str, Any]) -> dict[str, Any]:
    fields = _item(value, Payload)
    history, base = value.get("replacement_history"), value.get("history_base")
    fields["replacement_history"] = fields["history_base"] = None
    if isinstance(history, list):
        fields["replacement_history"] = [Item(**_item(item, Item)) for item in history if isinstance(item, dict)]
    if isinstance(base, dict):
        thread, end = base.get("thread_id"), base.get("end_ordinal_exclusive")
        if isinstance(thread, str) and isinstance(end, int):
            fields["history_base"] = Base(thread_id=thread, end_ordinal_exclusive=end)
    return fields


def _item(value: dict[str, Any], kind: type[Item]) -> dict[str, Any]:
    fields = objects.fields_of(value, kind)
    for name in ("role", "id", "name", "namespace", "call_id"):
        fields[name] = text_or_none(value.get(name))
    fields["type"] = text_or_none(value.get("type")) or ""
    fields["content"] = content(value.get("content"))
    notes = value.get("internal_chat_message_metadata_passthrough")
    kinds = notes.get("content_item_kinds") if isinstance(notes, dict) else None
    if not isinstance(kinds, list) or not all(isinstance(kind, str) for kind in kinds):
        kinds = None
    fields["internal_chat_message_metadata_passthrough"] = Notes(content_item_kinds=kinds)
    return fields
