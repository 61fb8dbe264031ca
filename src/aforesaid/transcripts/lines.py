"""Floor 6: a byte stream cut into lines, whatever the bytes are.

Readers of JSON-lines transcripts iterate over `split`. It holds one line at a time, and of a line beyond the limit only
the beginning, so that one absurd line costs neither memory nor the rest of the file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

LONGEST: Final = 32 * 1024 * 1024
"""Bytes; a longer line is not read."""
HEAD: Final = 65_536
"""Bytes of a line beyond the limit that are kept, to save its id."""
_BLOCK: Final = 1024 * 1024


class Line(NamedTuple):
    """One line of a file.

    Attributes:
        number: 1-based.
        offset: bytes before it.
        data: its bytes without the line end; only the first `HEAD` of them if `too_long`.
        ended: whether a line end follows (else the file ends here).
        after: offset of the next line.
        too_long: whether it is longer than the limit.
    """

    number: int
    offset: int
    data: bytes
    ended: bool
    after: int
    too_long: bool = False


def split(source: BinaryIO, *, offset: int = 0, number: int = 1, longest: int = LONGEST) -> Iterator[Line]:
    """The lines of a file from an offset on, which is the beginning of line `number`.

    Line ends are LF or CR LF. A last line without an end is yielded if it is not empty.
    """
    source.seek(offset)
    pending: list[bytes] = []
    held = 0
    dropped = 0
    while block := source.read(_BLOCK):
        pieces = block.split(b"\n")
        for piece in pieces[:-1]:
            length = held + dropped + len(piece)
            pending.append(piece)
            yield _line(number, offset, b"".join(pending), length, ended=True, longest=longest)
            offset += length + 1
            number += 1
            pending, held, dropped = [], 0, 0
        if pieces[-1]:
            pending.append(pieces[-1])
            held += len(pieces[-1])
        if held > longest:
            kept = b"".join(pending)[:HEAD]
            dropped += held - len(kept)
            pending, held = [kept], len(kept)
    if held or dropped:
        yield _line(number, offset, b"".join(pending), held + dropped, ended=False, longest=longest)


def _line(number: int, offset: int, data: bytes, length: int, *, ended: bool, longest: int) -> Line:
    too_long = length > longest
    data = data[:HEAD] if too_long else data.removesuffix(b"\r")
    return Line(number, offset, data, ended, offset + length + ended, too_long)
