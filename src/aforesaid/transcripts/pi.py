"""Floor 6: Pi's session files, format versions 1, 2 and 3.

`indexing` reads a file, or the new part of it, and gets entries and flaws. Every line that is a JSON object becomes one
entry, so that parent chains stay whole. Which ids are double or unknown is for indexing to find out. The file is only
ever read. Facts of the format: Pi's session manager (`migrateV1ToV2`, `sessionEntryToContextMessages`).
"""

from __future__ import annotations

import json
import os
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

import msgspec

from aforesaid.model import Checkpoint, Flaw, Header, Source
from aforesaid.transcripts import damaged, pi_entries, pi_rows
from aforesaid.transcripts.lines import HEAD, split
from aforesaid.transcripts.times import canonical

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

    from aforesaid.model import Entry
    from aforesaid.transcripts.lines import Line
    from aforesaid.transcripts.pi_rows import Row

_BOM: Final = b"\xef\xbb\xbf"
_SAVED: Final = frozenset({"id", "parentId"})

_SHAPES: Final = {
    "message": "message",
    "compaction": "summary",
    "branch_summary": "summary",
    "custom": "customType",
    "custom_message": "customType",
    "label": "targetId",
    "model_change": "modelId",
    "thinking_level_change": "thinkingLevel",
    "session_info": "id",
    "usage": "kind",
    "context_edit": "targetId",
}
"""Pi's types of entries, each with a name that every entry of the type has."""
_FOREIGN: Final = frozenset({"uuid", "parentUuid", "sessionId", "payload"})
"""Names that rows of Claude Code and Codex have and Pi's have not."""
_EXAMINED: Final = 50
"""Lines that are looked at to recognise a file."""


class PiTranscripts:
    """Reads Pi's session files."""

    host = "pi"
    parser = 2

    def detect(self, head: bytes) -> bool:
        """Whether one of the first objects is a header or an entry of Pi's, and none before it is another host's."""
        for line in head.removeprefix(_BOM).split(b"\n")[:_EXAMINED]:
            row = _glance(line)
            if not _FOREIGN.isdisjoint(row):
                return False
            if _is_pis(row):
                return True
        return False

    def read(self, source: BinaryIO, file: str, since: Checkpoint | None) -> PiReading:
        """Reads from the beginning, or from where `since` ended."""
        return PiReading(source, file, since or Checkpoint())


def _glance(line: bytes) -> dict[str, Any]:
    """The object of a line; of a damaged or unfinished one the texts that can be saved."""
    try:
        row = msgspec.json.decode(line)
    except (msgspec.DecodeError, RecursionError):
        names = _SAVED | _FOREIGN | {"type", "timestamp", "cwd"}
        saved = damaged.top_level(line, names)
        # The rest of a message is long, and then its beginning is all that there is of it.
        return {**saved, "message": {"role": ""}} if "parentId" in saved else saved
    return row if isinstance(row, dict) else {}


def _is_pis(row: dict[str, Any]) -> bool:
    """Whether an object has the shape of Pi's header or of one of its entries."""
    type_ = row.get("type")
    if type_ == "session":
        told = isinstance(row.get("timestamp"), str) or isinstance(row.get("cwd"), str) or "version" in row
        return told and isinstance(row.get("id"), str)
    if not isinstance(type_, str) or not (isinstance(row.get("timestamp"), str) or "parentId" in row):
        return False
    if row.get(_SHAPES.get(type_, "")) is None:
        return False
    message = row.get("message")
    return type_ != "message" or (isinstance(message, dict) and isinstance(message.get("role"), str))


class _State(msgspec.Struct, kw_only=True):
    """What has to be known of the part that was read before; kept as JSON in the checkpoint.

    Attributes:
        header: the session's header as it is known so far.
        begun: whether an object has been read (the first one should be the header).
        previous: id of the last entry: the parent where none is written.
        first: number that format 1 gives to an object on the first line: 1 where the header's line is missing.
        skipped: first and last number of stretches of lines without an object, in format 1.
    """

    header: Header
    begun: bool = False
    previous: str | None = None
    first: int = 0
    skipped: list[tuple[int, int]] = []

    def skip(self, number: int) -> None:
        """Notes that a line holds no object."""
        if self.header.version > 1 or (self.skipped and self.skipped[-1][1] == number):
            return
        if self.skipped and self.skipped[-1][1] == number - 1:
            self.skipped[-1] = (self.skipped[-1][0], number)
        else:
            self.skipped.append((number, number))

    def line_of(self, index: int) -> int:
        """The number of the line with an object; format 1 counts objects from 0, the header included."""
        number = index - self.first + 1
        for start, end in self.skipped:
            if start > number:
                break
            number += end - start + 1
        return number


class PiReading:
    """One pass over the new part of a file; see `ports.Reading`."""

    def __init__(self, source: BinaryIO, file: str, since: Checkpoint) -> None:
        """Takes the open file and where an earlier pass ended."""
        self._source = source
        self._offset, self._line = since.offset, since.line
        if since.state:
            self._state = msgspec.convert(json.loads(since.state), type=_State)
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
        # Ids and paths may hold lone surrogates, which msgspec does not write.
        state = json.dumps(msgspec.to_builtins(self._state), separators=(",", ":"))
        return Checkpoint(offset=self._offset, line=self._line, parser=PiTranscripts.parser, state=state)

    def __iter__(self) -> Iterator[Entry | Flaw]:
        """Entries and flaws in file order."""
        # A complete last object without a line end was consumed; what follows now is the rest of that line.
        inside = self._offset > 0 and not self._ends_a_line(self._offset)
        for line in split(self._source, offset=self._offset, number=self._line + (not inside)):
            if not line.data or line.data.isspace():
                if not line.ended:
                    return
                if not inside:
                    self._state.skip(line.number)
            else:
                found = self._read(line)
                if isinstance(found, Flaw):
                    if not line.ended:
                        yield Flaw(line=line.number, byte=line.offset, reason="truncated-tail")
                        return
                    self._state.skip(line.number)
                elif not self._state.begun:
                    self._state.begun = True
                    if found is not None:
                        self._miss_header()
                        yield Flaw(line=1, byte=0, reason="missing-header", lost=False)
                if found is not None:
                    yield found
            inside = False
            self._offset, self._line = line.after, line.number

    def _ends_a_line(self, offset: int) -> bool:
        self._source.seek(offset - 1)
        return self._source.read(1) == b"\n"

    def _miss_header(self) -> None:
        """Settles how format 1 counted the objects of a file whose first object is no header."""
        state = self._state
        if state.skipped and state.skipped[0][0] == 1:
            # What is left of the header stands on the first line.
            last = state.skipped[0][1]
            state.skipped[:1] = [(2, last)] if last > 1 else []
        else:
            state.first = 1

    def _read(self, line: Line) -> Entry | Flaw | None:
        """The entry or flaw of one line; None for the header."""
        if line.too_long:
            return _flaw(line, "too-long")
        data = line.data.removeprefix(_BOM) if line.number == 1 else line.data
        row = pi_rows.decode(data)
        if isinstance(row, str):
            return _flaw(line, row)
        if row.type == "session" and isinstance(row.id, str) and not self._state.begun:
            self._state.header = _header(row, self._state.header.session_id)
            return None
        return self._entry(row, line)

    def _entry(self, row: Row, line: Line) -> Entry:
        parent = self._state.previous
        if row.parentId is None or isinstance(row.parentId, str):
            parent = row.parentId
        # A second header carries the id of a session, which is no entry's.
        own = isinstance(row.id, str) and row.id and row.type != "session"
        id_ = row.id if own else f"L{line.number}"
        self._state.previous = id_
        data = line.data
        source = Source(line=line.number, offset=line.offset, length=len(data), sha256=sha256(data).digest())
        kept_from = self._kept_from(row) if row.type == "compaction" else None
        return pi_entries.entry(row, id_=id_, parent=parent, source=source, kept_from=kept_from)

    def _kept_from(self, row: Row) -> str | None:
        """Id of the first entry that a compaction keeps."""
        if isinstance(row.firstKeptEntryId, str):
            return row.firstKeptEntryId
        index = row.firstKeptEntryIndex
        return f"L{self._state.line_of(index)}" if isinstance(index, int) else None


def _flaw(line: Line, reason: str) -> Flaw:
    """A lost line, with the ids that can be saved from its beginning."""
    saved = damaged.top_level(line.data[:HEAD], _SAVED)
    return Flaw(line=line.number, byte=line.offset, reason=reason, id=saved.get("id"), parent=saved.get("parentId"))


def _header(row: Row, stem: str) -> Header:
    parent = row.parentSession if isinstance(row.parentSession, str) else row.branchedFrom
    return Header(
        host=PiTranscripts.host,
        session_id=row.id or stem,
        version=int(row.version) if isinstance(row.version, int | float) else 1,
        cwd=row.cwd if isinstance(row.cwd, str) else None,
        started=canonical(row.timestamp),
        parent=parent if isinstance(parent, str) else None,
    )
