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
BLOCK: Final = 256 * 1024
"""Bytes that are read at a time."""
_FIRST: Final = 16 * 1024
"""Bytes that are read first: what a host has just appended is seldom more, and small buffers come at once."""


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


def split(
    source: BinaryIO, *, offset: int = 0, number: int = 1, longest: int = LONGEST, block: int = BLOCK
) -> Iterator[Line]:
    """The lines of a file from an offset on, which is the beginning of line `number` or stands in it.

    Line ends are LF or CR LF. A last line without an end is yielded if it is not empty.

    Args:
        source: the file; its position is set.
        offset: bytes to skip.
        number: number of the first line.
        longest: bytes of the longest line that is held whole.
        block: bytes that are read at a time.
    """
    source.seek(offset)
    begun = _Begun(longest)
    size = min(_FIRST, block)
    while piece := source.read(size):
        start, size = 0, block
        while (end := piece.find(b"\n", start)) >= 0:
            if begun.length:
                begun.add(piece[start:end])
                line = begun.take(number, offset, ended=True)
            elif end - start <= longest:
                # One slice: most bytes of a file pass here.
                stop = end - 1 if end > start and piece[end - 1] == _CR else end
                line = Line(number, offset, piece[start:stop], True, offset + end - start + 1)
            else:
                begun.add(piece[start:end])
                line = begun.take(number, offset, ended=True)
            yield line
            offset, number, start = line.after, number + 1, end + 1
        begun.add(piece[start:])
    if begun.length:
        yield begun.take(number, offset, ended=False)


_CR: Final = 0x0D


class _Begun:
    """A line that goes on in the next block: all of it, or its beginning once it is beyond the limit."""

    __slots__ = ("_longest", "_pieces", "length")

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._pieces: list[bytes] = []
        self.length = 0

    def add(self, piece: bytes) -> None:
        if not piece:
            return
        was_too_long = self.length > self._longest
        self.length += len(piece)
        if was_too_long:
            return
        self._pieces.append(piece)
        if self.length > self._longest:
            self._pieces = [_beginning(self._pieces)]

    def take(self, number: int, offset: int, *, ended: bool) -> Line:
        """The line; the next one begins empty."""
        too_long = self.length > self._longest
        data = b"".join(self._pieces)
        line = Line(
            number,
            offset,
            data if too_long else data.removesuffix(b"\r"),
            ended,
            offset + self.length + ended,
            too_long,
        )
        self._pieces, self.length = [], 0
        return line


def _beginning(pieces: list[bytes]) -> bytes:
    """The first `HEAD` bytes, without joining all."""
    kept: list[bytes] = []
    missing = HEAD
    for piece in pieces:
        kept.append(piece[:missing])
        missing -= len(kept[-1])
        if not missing:
            break
    return b"".join(kept)
