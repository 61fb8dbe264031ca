"""Floor 6: the messages that Pi sends for a session, from the lines of its file.

`engine` asks for them where no host hands in its own list. Facts of the format: Pi's `buildSessionProjection`,
`sessionEntryToContextMessages` and `convertToLlm`. Pi's adapter uses `read_message` on what Pi hands in. The file is
only ever read.
"""

from __future__ import annotations

import json
from hashlib import sha256
from math import inf
from typing import TYPE_CHECKING, Any, Final

import msgspec

from aforesaid.frames import strip_frames
from aforesaid.planning.messages import count_content, make_message
from aforesaid.planning.values import NativeContext
from aforesaid.transcripts.objects import integer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import BinaryIO

    from aforesaid.model import StoredEntry
    from aforesaid.planning.values import Message, MessageKind

Record = dict[str, Any]

_SUMMARIES: Final = {
    "compactionSummary": (
        "The conversation history before this point was compacted into the following summary:\n\n<summary>\n",
        "\n</summary>",
    ),
    "branchSummary": (
        "The following is a summary of a branch that this conversation came back from:\n\n<summary>\n",
        "</summary>",
    ),
}
"""What Pi writes around the text of a summary."""


class PiContext:
    """`planning.values.ContextPort` for Pi's session files."""

    def context(
        self, source: BinaryIO, entries: Sequence[StoredEntry], edits: Mapping[int, StoredEntry], compaction: int | None
    ) -> NativeContext | None:
        """What Pi sends: the summary of the latest compaction first, then what it kept and what followed."""
        at = next((place for place, entry in enumerate(entries) if entry.row == compaction), -1)
        ordered = entries if at < 0 else (entries[at], *entries[:at], *entries[at + 1 :])
        messages: list[Message] = []
        overhead = 0
        for place, entry in enumerate(ordered):
            # Older compactions that lie among what was kept show nothing, nor does a damaged line; what was forgotten
            # is not brought back from the file.
            silent = entry.kind == "gap" or entry.forgotten
            if silent or (entry.kind == "compaction" and entry.row != compaction):
                continue
            record = _read_line(source, entry)
            edit = _read_line(source, edits[entry.row]) if entry.row in edits else {}
            if record is None or edit is None:
                return None
            try:
                for message in _edit(_show(record), edit):
                    if message.get("role") != "system":
                        found = read_message(message, entry.id)
                        messages += () if found is None else (found,)
                    elif not 0 < place <= at:
                        overhead += _count_system(message)
            except RecursionError:
                return None  # nested hundreds of levels deep: nothing that anybody sends
        return NativeContext(messages=tuple(messages), overhead=overhead)


def read_message(message: Record, entry_id: str | None = None) -> Message | None:
    """One of Pi's own messages (`AgentMessage`) as it is sent to a model; None if Pi does not send it.

    System messages are none: they count as overhead.

    Args:
        message: as JSON.
        entry_id: the entry that it comes from.
    """
    role = _text(message.get("role"))
    content = message.get("content")
    if role == "user":
        kind: MessageKind = "message" if _is_evidence(content) else "request"
        return make_message(role="user", kind=kind, content=_present(content), entry_id=entry_id)
    if role == "assistant":
        calls = tuple([_text(block.get("id")) for block in _blocks(content) if block.get("type") == "toolCall"])
        return make_message(
            role="assistant", kind="message", content=_present(content), entry_id=entry_id, calls=calls
        )  # fmt: skip
    if role == "toolResult":
        answers = _text(message.get("toolCallId"))
        return make_message(
            role="toolResult", kind="result", content=_present(content), entry_id=entry_id, answers=answers
        )
    if role in {"custom", "hookMessage"}:
        shown = [{"type": "text", "text": content}] if isinstance(content, str) else _present(content)
        return make_message(role="user", kind="message", content=shown, entry_id=entry_id)
    if role == "bashExecution":
        if message.get("excludeFromContext"):
            return None
        shown = [{"type": "text", "text": _ran(message)}]
        return make_message(role="user", kind="message", content=shown, entry_id=entry_id)
    if role in _SUMMARIES:
        prefix, suffix = _SUMMARIES[role]
        shown = [{"type": "text", "text": f"{prefix}{_text(message.get('summary'))}{suffix}"}]
        return make_message(role="user", kind="summary", content=shown, entry_id=entry_id)
    return None


def _read_line(source: BinaryIO, entry: StoredEntry) -> Record | None:
    """The object of an entry's line, or None if something else stands there now."""
    source.seek(entry.source.offset)
    line = source.read(entry.source.length)
    if sha256(line).digest() != entry.source.sha256:
        return None
    line = line.removeprefix(b"\xef\xbb\xbf")
    try:
        record = msgspec.json.decode(line)
    except (msgspec.DecodeError, RecursionError):
        # Lone surrogates and huge numbers; no JSON can carry what is no number.
        try:
            record = json.loads(line, parse_int=_finite, parse_float=_finite, parse_constant=lambda _: None)
        except (ValueError, RecursionError):
            return None
    return record if isinstance(record, dict) else None


def _finite(digits: str) -> float | None:
    """A number; None for one that is too large: Pi writes what its JavaScript reads of it as null."""
    number = integer(digits) if digits.lstrip("-").isdecimal() else float(digits)
    return number if abs(number) < inf else None


def _show(record: Record) -> list[Record]:
    """The messages that a line contributes, before any edit (`sessionEntryToContextMessages`)."""
    match record.get("type"):
        case "message" if isinstance(record.get("message"), dict):
            return [record["message"]]
        case "custom_message":
            return [{"role": "custom", "content": record.get("content")}]
        case "branch_summary" if record.get("summary"):
            return [{"role": "branchSummary", "summary": record["summary"]}]
        case "compaction":
            system = record.get("systemMessage")
            return [
                *([system] if isinstance(system, dict) else []),
                {"role": "compactionSummary", "summary": record.get("summary")},
            ]
    return []


def _edit(messages: list[Record], edit: Record) -> list[Record]:
    """The messages with a context edit applied (`projectContextEntry`), one that has an effect (`lineage`)."""
    if not edit:
        return messages
    replacement = edit.get("replacement")
    if not isinstance(replacement, dict):
        return []
    content = replacement.get("content")
    shown: list[Record] = []
    for message in messages:
        role = _text(message.get("role"))
        if role in {"assistant", "toolResult"} and isinstance(content, str):
            shown.append({**message, "content": [{"type": "text", "text": content}]})
        else:
            shown.append(message if role == "system" else {**message, "content": content})
    return shown


def _is_evidence(content: object) -> bool:
    """Whether a message holds nothing but our own evidence: then it is nobody's request."""
    texts = [content] if isinstance(content, str) else [_text(block.get("text")) for block in _blocks(content)]
    return any(text.strip() for text in texts) and not any(strip_frames(text).strip() for text in texts)


def _ran(message: Record) -> str:
    """A shell command of the user, as Pi tells the model (`bashExecutionToText`)."""
    output = _text(message.get("output"))
    said = f"Ran `{_text(message.get('command'))}`\n" + (f"```\n{output}\n```" if output else "(no output)")
    code = message.get("exitCode")
    if message.get("cancelled"):
        said += "\n\n(command cancelled)"
    elif code is not None and code != 0:
        said += f"\n\nCommand exited with code {code}"
    if message.get("truncated") and message.get("fullOutputPath"):
        said += f"\n\n[Output truncated. Full output: {message['fullOutputPath']}]"
    return said


def _count_system(message: Record) -> int:
    sections = message.get("sections")
    parts = [*sections.values()] if isinstance(sections, dict) else []
    tools = message.get("toolsAdded")
    return sum(map(count_content, (message.get("content"), *parts, *(tools if isinstance(tools, list) else ()))))


def _blocks(content: object) -> list[Record]:
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def _present(content: object) -> object:
    return [] if content is None else content


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
