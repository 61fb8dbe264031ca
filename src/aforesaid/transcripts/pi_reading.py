"""Floor 6: one pass over a session file of Pi.

`pi` begins a pass. Every line that is a JSON object becomes one entry, so that parent chains stay whole; what it says
is settled by `pi_entries`. Which ids are double or unknown is for indexing to find out.
"""

from __future__ import annotations

import json
import os
from hashlib import sha256
from typing import TYPE_CHECKING, Final

import msgspec

from aforesaid.model import Checkpoint, Entry, Flaw, Header, Source
from aforesaid.transcripts import damaged, pi_entries, pi_rows
from aforesaid.transcripts.lines import HEAD, split
from aforesaid.transcripts.objects import BOM, number_or
from aforesaid.transcripts.pi import PiTranscripts
from aforesaid.transcripts.times import canonical

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

    from aforesaid.transcripts.lines import Line
    from aforesaid.transcripts.pi_rows import Row

_SAVED: Final = frozenset({"id", "parentId"})


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


_decode: Final = msgspec.json.Decoder(_State).decode
_encode: Final = msgspec.json.Encoder().encode


def _save(state: _State) -> str:
    """A state as JSON; ids and paths may hold lone surrogates, which msgspec neither writes nor reads."""
    try:
        return _encode(state).decode()
    except UnicodeEncodeError:
        return json.dumps(msgspec.to_builtins(state), separators=(",", ":"))


def _restore(saved: str) -> _State:
    """The state that `_save` took."""
    try:
        return _decode(saved)
    except msgspec.DecodeError:
        return msgspec.convert(json.loads(saved), type=_State)


NEWEST: Final = 3
"""The newest version of the format that is known; of a later one is read what looks as before, and that is said."""


class PiReading:
    """One pass over the new part of a file; see `ports.Reading`."""

    def __init__(self, source: BinaryIO, file: str, since: Checkpoint) -> None:
        """Takes the open file and where an earlier pass ended."""
        self._source = source
        self._offset, self._line = since.offset, since.line
        if since.state:
            self._state = _restore(since.state)
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
        state = _save(self._state)
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
                    yield from self._note_beginning(line, header=found is None)
                if found is not None:
                    yield found
                    if isinstance(found, Entry) and found.compaction is not None and not found.compaction.kept_from:
                        yield Flaw(line=line.number, byte=line.offset, reason="unknown-view", lost=False)
            inside = False
            self._offset, self._line = line.after, line.number

    def _note_beginning(self, line: Line, *, header: bool) -> Iterator[Flaw]:
        """What is to be said of the first object of a file."""
        if not header:
            self._miss_header()
            yield Flaw(line=1, byte=0, reason="missing-header", lost=False)
        elif self._state.header.version > NEWEST:
            yield Flaw(line=line.number, byte=line.offset, reason="unknown-version", lost=False)

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
        data = line.data.removeprefix(BOM) if line.number == 1 else line.data
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
        version=number_or(row.version, 1),
        cwd=row.cwd if isinstance(row.cwd, str) else None,
        started=canonical(row.timestamp),
        parent=parent if isinstance(parent, str) else None,
    )
