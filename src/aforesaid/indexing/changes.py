"""What happened to a transcript since it was read.

`sync` asks before it reads. A wrong "same" or "append" would leave stale words in the store, so whatever cannot be
proven cheaply is a rewrite. Reads the file and the stored entries, changes neither.
"""

from __future__ import annotations

import os
from hashlib import blake2b, sha256
from typing import TYPE_CHECKING, Literal

from aforesaid.model import NO_DIGEST

if TYPE_CHECKING:
    from typing import BinaryIO

    from aforesaid.model import Checkpoint, Session
    from aforesaid.ports import StorePort, TranscriptPort

    Change = Literal["new", "same", "append", "rebuild"]

SAMPLE = 4096
"""Bytes at the beginning, and before the end of what was read, that tell whether a file is still the one it was."""
_PROOF_ROWS = 500
"""Entries that are compared with the file at a time."""


def compare(
    store: StorePort, known: Session, reader: TranscriptPort, source: BinaryIO, *, redaction: int = 0
) -> Change:
    """What happened to a file since it was read; one that was stored by other rules for secrets is read anew."""
    point = known.checkpoint
    if (point.parser, point.redaction) != (reader.parser, redaction):
        return "rebuild"
    if known.header.host != reader.host or not continues(source, point):
        return "rebuild"
    status = os.fstat(source.fileno())
    if status.st_ino == point.inode:
        if (status.st_size, status.st_mtime_ns) == (point.size, point.mtime_ns):
            return "same"
        if status.st_size > point.size:
            return "append"
    return "append" if _still_holds(store, known, source) else "rebuild"


def continues(source: BinaryIO, point: Checkpoint) -> bool:
    """Whether a file begins as it did, and what was read last still stands where it stood."""
    if os.fstat(source.fileno()).st_size < point.offset:
        return False
    return (point.head, point.tail) == samples(source, point.offset)


def samples(source: BinaryIO, offset: int) -> tuple[bytes, bytes]:
    """Digests of the first bytes and of the last bytes before the offset."""
    length = min(SAMPLE, offset)
    source.seek(0)
    head = source.read(length)
    source.seek(offset - length)
    tail = source.read(length)
    return blake2b(head, digest_size=16).digest(), blake2b(tail, digest_size=16).digest()


def _still_holds(store: StorePort, known: Session, source: BinaryIO) -> bool:
    """Whether every byte that was read still stands in the file, as the line digests of the entries prove.

    Bytes between entries must be blank or lie within the samples; lost lines elsewhere leave it unproven.
    """
    offset = known.checkpoint.offset
    position = min(SAMPLE, offset)
    with store.read(known.key) as snapshot:
        for first in range(1, known.entries + 1, _PROOF_ROWS):
            for entry in snapshot.entries(range(first, first + _PROOF_ROWS)):
                where = entry.source
                if where.sha256 == NO_DIGEST or where.file is not None:
                    continue
                source.seek(min(position, where.offset))
                between = source.read(max(0, where.offset - position))
                if between.strip() or sha256(source.read(where.length)).digest() != where.sha256:
                    return False
                position = max(position, where.offset + where.length)
    source.seek(position)
    return not source.read(max(0, offset - SAMPLE - position)).strip()
