"""What happened to a transcript since it was read.

`sync` asks before it reads. A wrong "same" or "append" would leave stale words in the store, so whatever cannot be
proven cheaply is a rewrite. Reads the file only.

Two samples, at the beginning and before the end of what was read, tell a replaced file from one that grew. They cannot
tell an edit between them. A CRC-32 over everything that was read can, and goes on from one sync to the next; proving it
reads the file at some gigabytes a second, so it is asked for where nothing else can tell, and by a thorough sync.
"""

from __future__ import annotations

import os
import zlib
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from aforesaid.digests import blake2b

if TYPE_CHECKING:
    from typing import BinaryIO

    from aforesaid.model import Checkpoint, Session
    from aforesaid.ports import TranscriptPort

    Change = Literal["new", "same", "append", "rebuild"]

SAMPLE = 4096
"""Bytes at the beginning, and before the end of what was read, that tell whether a file is still the one it was."""
_BLOCK = 1 << 20
"""Bytes that are read at a time."""


class Seal(Struct, frozen=True):
    """What proves later that the part of a file that was read has not changed; fields as in `Checkpoint`."""

    head: bytes
    tail: bytes
    crc: int


def compare(
    known: Session, reader: TranscriptPort, source: BinaryIO, *, redaction: int = 0, thorough: bool = False
) -> Change:
    """What happened to a file since it was read.

    Args:
        known: the session as it is stored.
        reader: the reader that would read the file now.
        source: the file.
        redaction: version of the rules for secrets that would be used now; what was stored by others is read anew.
        thorough: look at every byte of a file that grew. Otherwise an edit between the samples goes unnoticed there.
    """
    point = known.checkpoint
    if (point.parser, point.redaction) != (reader.parser, redaction):
        return "rebuild"
    if known.header.host != reader.host or not continues(source, point):
        return "rebuild"
    status = os.fstat(source.fileno())
    if status.st_ino == point.inode:
        if (status.st_size, status.st_mtime_ns) == (point.size, point.mtime_ns):
            return "same"
        if status.st_size > point.size and not thorough:
            return "append"
    return "append" if _crc(source, 0, point.offset, 0) == point.crc else "rebuild"


def continues(source: BinaryIO, point: Checkpoint) -> bool:
    """Whether a file begins as it did, and what was read last still stands where it stood."""
    if os.fstat(source.fileno()).st_size < point.offset:
        return False
    return (point.head, point.tail) == (_head(source, point.offset), _tail(source, point.offset))


def seal(source: BinaryIO, offset: int, since: Checkpoint | None) -> Seal:
    """The seal of what was read.

    Args:
        source: the file.
        offset: where reading ended.
        since: where an earlier sync ended, if this one went on from there.
    """
    start, crc = (0, 0) if since is None else (since.offset, since.crc)
    head = since.head if since is not None and start >= SAMPLE else _head(source, offset)
    if offset - start > _BLOCK:
        return Seal(head, _tail(source, offset), _crc(source, start, offset, crc))
    # Both in one read: most syncs are small.
    sampled = offset - min(SAMPLE, offset)
    first = min(start, sampled)
    source.seek(first)
    data = source.read(offset - first)
    return Seal(head, _digest(data[sampled - first :]), zlib.crc32(data[start - first :], crc))


def _head(source: BinaryIO, offset: int) -> bytes:
    source.seek(0)
    return _digest(source.read(min(SAMPLE, offset)))


def _tail(source: BinaryIO, offset: int) -> bytes:
    length = min(SAMPLE, offset)
    source.seek(offset - length)
    return _digest(source.read(length))


def _digest(sample: bytes) -> bytes:
    return blake2b(sample, digest_size=16).digest()


def _crc(source: BinaryIO, start: int, end: int, crc: int) -> int:
    """The CRC-32 of the bytes up to `end`, given that of the bytes before `start`."""
    source.seek(start)
    while start < end and (block := source.read(min(_BLOCK, end - start))):
        crc = zlib.crc32(block, crc)
        start += len(block)
    return crc
