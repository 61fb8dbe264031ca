"""Floor 6: Pi's session files, format versions 1, 2 and 3.

`indexing` reads a file, or the new part of it, and gets entries and flaws. Every line that is a JSON object becomes one
entry, so that parent chains stay whole. Which ids are double or unknown is for indexing to find out. The file is only
ever read. Facts of the format: Pi's session manager (`migrateV1ToV2`, `sessionEntryToContextMessages`).
"""

from __future__ import annotations

import os
import re
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

import msgspec

from aforesaid.evidence import strip_frames
from aforesaid.model import Checkpoint, Compaction, Edit, Entry, Flaw, Header, Source
from aforesaid.transcripts import calls, pi_rows
from aforesaid.transcripts.lines import split
from aforesaid.transcripts.times import canonical

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

    from aforesaid.model import Role
    from aforesaid.transcripts.lines import Line
    from aforesaid.transcripts.pi_rows import Message, Row

_PI_TYPES: Final = frozenset(
    {
        "message", "compaction", "branch_summary", "custom", "custom_message", "label", "model_change",
        "thinking_level_change", "session_info", "usage", "context_edit",
    }
)  # fmt: skip
_FOREIGN_KEYS: Final = (b'"parentUuid"', b'"sessionId"', b'"payload"')
_SAVED: Final = re.compile(rb'"(id|parentId)"\s*:\s*(?:"([^"\\]{1,200})"|null)')
_NEWEST: Final = 3


class PiTranscripts:
    """Reads Pi's session files."""

    host = "pi"
    parser = 1

    def detect(self, head: bytes) -> bool:
        """Whether the first object that can be read is a header or an entry of Pi's."""
        for line in head.removeprefix(b"\xef\xbb\xbf").splitlines()[:50]:
            try:
                row = msgspec.json.decode(line)
            except (msgspec.DecodeError, RecursionError):
                continue
            if not isinstance(row, dict):
                continue
            if row.get("type") == "session":
                return isinstance(row.get("id"), str) and "payload" not in row
            return row.get("type") in _PI_TYPES and not any(key in line for key in _FOREIGN_KEYS)
        return False

    def read(self, source: BinaryIO, file: str, since: Checkpoint | None) -> PiReading:
        """Reads from the beginning, or from where `since` ended."""
        return PiReading(source, file, since or Checkpoint())


class _State(msgspec.Struct, kw_only=True):
    """What has to be known of the part that was read before; kept as JSON in the checkpoint.

    Attributes:
        header: the session's header as it is known so far.
        begun: whether an object has been read (the first one should be the header).
        previous: id of the last entry: the parent where none is written.
        skipped: numbers of the lines that are no objects, in format 1, where compactions count objects.
    """

    header: Header
    begun: bool = False
    previous: str | None = None
    skipped: list[int] = []


class PiReading:
    """One pass over the new part of a file; see `ports.Reading`."""

    def __init__(self, source: BinaryIO, file: str, since: Checkpoint) -> None:
        """Takes the open file and where an earlier pass ended."""
        self._source = source
        self._checkpoint = since
        if since.state:
            self._state = msgspec.json.decode(since.state, type=_State)
        else:
            stem = os.path.splitext(os.path.basename(file))[0]
            self._state = _State(header=Header(host=PiTranscripts.host, session_id=stem))

    @property
    def header(self) -> Header:
        """The session's header; complete only after the iteration."""
        return self._state.header

    @property
    def checkpoint(self) -> Checkpoint:
        """Where this pass ended."""
        state = msgspec.json.encode(self._state).decode()
        return Checkpoint(offset=self._offset, line=self._line, parser=PiTranscripts.parser, state=state)

    def __iter__(self) -> Iterator[Entry | Flaw]:
        """Entries and flaws in file order."""
        self._offset, self._line = self._checkpoint.offset, self._checkpoint.line
        # A complete last object without a line end was consumed; what follows now is the rest of that line.
        inside = self._line > 0 and not self._ends_a_line(self._offset)
        for line in split(self._source, offset=self._offset, number=self._line + (not inside)):
            blank = not line.data.strip() and not line.too_long
            found: Entry | Flaw | None = None if blank else self._read(line)
            if found is not None and not line.ended and isinstance(found, Flaw) and found.lost:
                yield Flaw(line=line.number, byte=line.offset, reason="truncated-tail")
                return
            if not self._state.begun and not blank and not (isinstance(found, Flaw) and found.lost):
                self._state.begun = True
                if found is not None:
                    yield Flaw(line=1, byte=0, reason="missing-header", lost=False)
            if self._state.header.version == 1 and ((blank and not inside) or isinstance(found, Flaw)):
                self._state.skipped.append(line.number)
            inside = False
            if found is not None:
                yield found
            self._offset, self._line = line.after, line.number

    def _ends_a_line(self, offset: int) -> bool:
        self._source.seek(offset - 1)
        return self._source.read(1) == b"\n"

    def _read(self, line: Line) -> Entry | Flaw | None:
        """The entry or flaw of one line; None for the header."""
        if line.too_long:
            return _flaw(line, "too-long")
        data = line.data.removeprefix(b"\xef\xbb\xbf") if line.number == 1 else line.data
        row = pi_rows.decode(data)
        if isinstance(row, str):
            return _flaw(line, row)
        if row.type == "session" and isinstance(row.id, str) and not self._state.begun:
            self._state.header = _header(row)
            return None
        return self._entry(row, line)

    def _entry(self, row: Row, line: Line) -> Entry:
        own_id = row.id if isinstance(row.id, str) and row.id and row.type != "session" else None
        parent = self._state.previous
        if row.parentId is None or isinstance(row.parentId, str):
            parent = row.parentId
        id_ = own_id or f"L{line.number}"
        self._state.previous = id_
        message = row.message
        stamp = canonical(row.timestamp) or (canonical(message.timestamp) if message else None)
        source = Source(line=line.number, offset=line.offset, length=len(line.data), sha256=sha256(line.data).digest())
        made = Entry(id=id_, parent=parent, kind="other", role="custom", timestamp=stamp, parts=(), source=source)
        if row.type == "message" and message is not None:
            return _with_message(made, message)
        return _with_type(made, row, self._kept_from(row))

    def _kept_from(self, row: Row) -> str | None:
        """Id of the first entry that a compaction keeps; format 1 counts objects, the header included."""
        if isinstance(row.firstKeptEntryId, str):
            return row.firstKeptEntryId
        if not isinstance(row.firstKeptEntryIndex, int):
            return None
        number = row.firstKeptEntryIndex + 1
        for skipped in self._state.skipped:
            if skipped > number:
                break
            number += 1
        return f"L{number}"


def _flaw(line: Line, reason: str) -> Flaw:
    """A lost line, with the ids that can be saved from its beginning."""
    saved: dict[bytes, str | None] = {}
    # The ids of a message's tool calls come later in the line and are not the entry's.
    beginning = line.data[:1000].partition(b'"message"')[0]
    for found in _SAVED.finditer(beginning):
        value = found.group(2)
        saved.setdefault(found.group(1), None if value is None else value.decode("utf-8", "replace"))
    return Flaw(
        line=line.number, byte=line.offset, reason=reason, id=saved.get(b"id") or None, parent=saved.get(b"parentId")
    )


def _header(row: Row) -> Header:
    parent = row.parentSession if isinstance(row.parentSession, str) else row.branchedFrom
    return Header(
        host=PiTranscripts.host,
        session_id=str(row.id),
        version=row.version if isinstance(row.version, int) else 1,
        cwd=row.cwd if isinstance(row.cwd, str) else None,
        started=canonical(row.timestamp),
        parent=parent if isinstance(parent, str) else None,
    )


def _with_message(made: Entry, message: Message) -> Entry:
    replace = msgspec.structs.replace
    match message.role:
        case "user":
            texts = _texts(message.content)
            parts = _clean(texts)
            # A message that held nothing but our own evidence is not the user's.
            return replace(made, kind="message", role="user", parts=parts, request=bool(parts) or not any(texts))
        case "assistant":
            return _with_assistant(made, message)
        case "toolResult":
            tool = str(message.toolName or "")
            named = replace(
                made, kind="message", role="tool_result", tools=(tool,), calls=(str(message.toolCallId or ""),)
            )
            if calls.is_own(tool):
                return replace(named, automatic=False)
            return replace(named, parts=_clean(_texts(message.content)))
        case "bashExecution":
            # `!!command` keeps a command from the model; it must not come back by itself either.
            parts = _clean([str(message.command or ""), str(message.output or "")])
            return replace(
                made, kind="message", role="shell", parts=parts, automatic=message.excludeFromContext is not True
            )
        case "custom" | "hookMessage":
            return replace(made, kind="custom", parts=_clean(_texts(message.content)))
        case "system":
            return made
        case _:
            return replace(made, kind="message", parts=_clean(_texts(message.content)))


def _with_assistant(made: Entry, message: Message) -> Entry:
    parts: list[str] = []
    tools: list[str] = []
    ids: list[str] = []
    files: list[str] = []
    spoken = False
    for block in pi_rows.blocks(message.content):
        if block.type == "text":
            parts.append(str(block.text or ""))
            spoken = spoken or bool(parts[-1].strip())
        elif block.type == "toolCall":
            tool = str(block.name or "")
            tools.append(tool)
            ids.append(str(block.id or ""))
            if not calls.is_own(tool):
                parts.append(calls.render(tool, block.arguments))
                files += calls.files(block.arguments)
    role: Role = "tool_call" if tools and not spoken else "assistant"
    return msgspec.structs.replace(
        made, kind="message", role=role, parts=_clean(parts), tools=tuple(tools), calls=tuple(ids), files=tuple(files)
    )


def _with_type(made: Entry, row: Row, kept_from: str | None) -> Entry:
    replace = msgspec.structs.replace
    match row.type:
        case "compaction":
            kept = Compaction(kept_from=kept_from)
            return replace(
                made, kind="compaction", role="summary", parts=_summary(row), automatic=False, compaction=kept
            )
        case "branch_summary":
            return replace(made, kind="branch-summary", role="summary", parts=_summary(row), automatic=False)
        case "custom_message":
            return replace(made, kind="custom", parts=_clean(_texts(row.content)))
        case "context_edit" if isinstance(row.targetId, str):
            return replace(
                made, kind="context-edit", edit=Edit(target=row.targetId, replaced=row.replacement is not None)
            )
        case "label" if isinstance(row.targetId, str):
            return replace(made, kind="label", target=row.targetId, label=_text_or_none(row.label))
        case "session_info":
            return replace(made, kind="label", label=_text_or_none(row.name))
        case _:
            return made


def _text_or_none(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _summary(row: Row) -> tuple[str, ...]:
    return _clean([row.summary] if isinstance(row.summary, str) else [])


def _texts(content: Any) -> list[str]:
    """The text blocks of a message's content; thinking and images are none."""
    if isinstance(content, str):
        return [content]
    return [str(block.text or "") for block in pi_rows.blocks(content) if block.type == "text"]


def _clean(texts: list[str]) -> tuple[str, ...]:
    """Texts without our own evidence and encoded data; empty ones are left out."""
    cleaned = (calls.plain(strip_frames(text)) for text in texts)
    return tuple(text for text in cleaned if text)
