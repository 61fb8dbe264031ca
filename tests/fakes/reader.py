"""A reader for a transcript format made for tests, in which every kind of damage can be written down plainly.

    #SESSION PARENT     header: id of the session, and the session that it was forked from
    ID PARENT TEXT      an entry; `-` for no parent; `PARENT|OTHER` names what to hang on where the parent is missing
    ID* PARENT TEXT     an entry beside the way: the session does not end with it
    !                   a lost line of which nothing could be saved
    !ID PARENT          a lost line with saved ids; `-` where the parent was not saved

Fields are separated by tabs. A last line without a line end is one that is still being written.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from aforesaid.model import Checkpoint, Entry, Flaw, Header, Source

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO


class PlainTranscripts:
    """`TranscriptPort` for the format above; counts how often it was asked to read."""

    def __init__(self, host: str = "plain", parser: int = 1) -> None:
        self.host = host
        self.parser = parser
        self.reads: list[int] = []

    def detect(self, head: bytes) -> bool:
        return head.startswith(b"#")

    def parts(self, file: str, read: Checkpoint) -> tuple[str, ...]:
        return ()

    def read(self, source: BinaryIO, file: str, since: Checkpoint | None) -> PlainReading:
        self.reads.append(since.offset if since else 0)
        return PlainReading(self.host, source, since or Checkpoint(state="?\t"))


class PlainReading:
    """`Reading` of the format above."""

    def __init__(self, host: str, source: BinaryIO, since: Checkpoint) -> None:
        self._source, self._since = source, since
        session, parent, *_ = since.state.split("\t")
        self.header = Header(host=host, session_id=session, parent=parent or None)
        self.checkpoint = since
        self._leaf, self._last = since.leaf, since.leaf

    def __iter__(self) -> Iterator[Entry | Flaw]:
        offset, number = self._since.offset, self._since.line
        self._source.seek(offset)
        for line in self._source:
            if not line.endswith(b"\n"):
                yield Flaw(line=number + 1, byte=offset, reason="truncated-tail")
                break
            number += 1
            data = line.removesuffix(b"\n")
            at, offset = offset, offset + len(line)
            yield from self._item(data, number, at)
            header = self.header
            self.checkpoint = Checkpoint(
                offset=offset, line=number, state=f"{header.session_id}\t{header.parent or ''}", leaf=self._leaf
            )

    def _item(self, data: bytes, number: int, at: int) -> Iterator[Entry | Flaw]:
        first, *rest = data.decode("utf-8", "surrogateescape").split("\t")
        if first.startswith("#"):
            self.header = Header(host=self.header.host, session_id=first[1:], parent=(rest[0] if rest else "") or None)
        elif first.startswith("!"):
            saved = rest[0] if rest and rest[0] != "-" else None
            yield Flaw(line=number, byte=at, reason="invalid-json", id=first[1:] or None, parent=saved)
        elif first:
            parent, _, fallback = rest[0].partition("|")
            if first.endswith("*"):
                first, self._leaf = first[:-1], self._leaf or self._last
            elif self._leaf is not None:
                self._leaf = first
            self._last = first
            yield Entry(
                id=first,
                parent=None if parent == "-" else parent,
                fallback=fallback or None,
                kind="message",
                role="user",
                timestamp=None,
                parts=tuple(rest[1:]),
                source=Source(line=number, offset=at, length=len(data), sha256=sha256(data).digest()),
            )
