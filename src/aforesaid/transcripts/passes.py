"""Floor 6: one pass over the new part of a file of JSON lines.

Readers subclass `Pass` and say what a line is; where a pass begins and ends, blank lines and a last line that is still
being written are settled here. The file is only ever read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aforesaid.model import Checkpoint, Flaw
from aforesaid.transcripts.lines import split
from aforesaid.transcripts.objects import BOM

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import BinaryIO

    from aforesaid.model import Entry
    from aforesaid.transcripts.lines import Line


class Pass:
    """Iterates over entries and flaws in file order; see `ports.Reading`.

    Attributes:
        offset: bytes consumed so far.
        line: number of lines consumed.
    """

    def __init__(self, source: BinaryIO, since: Checkpoint) -> None:
        """Takes the open file and where an earlier pass ended."""
        self._source = source
        self.offset, self.line = since.offset, since.line

    def read_line(self, line: Line) -> Iterable[Entry | Flaw]:
        """What a line gives; nothing where it holds nothing that is kept, and a lost flaw alone where it is lost."""
        raise NotImplementedError

    def __iter__(self) -> Iterator[Entry | Flaw]:
        """Entries and flaws in file order."""
        # A complete last object without a line end was consumed; what follows now is the rest of that line.
        inside = self.offset > 0 and not self._ends_a_line(self.offset)
        for line in split(self._source, offset=self.offset, number=self.line + (not inside)):
            inside = False
            if line.data and not line.data.isspace():
                for found in self.read_line(line):
                    if isinstance(found, Flaw) and found.lost and not line.ended:
                        yield Flaw(line=line.number, byte=line.offset, reason="truncated-tail")
                        return
                    yield found
            elif not line.ended:
                return
            self.offset, self.line = line.after, line.number

    def _ends_a_line(self, offset: int) -> bool:
        self._source.seek(offset - 1)
        return self._source.read(1) == b"\n"


def content_of(line: Line) -> bytes:
    """The bytes of a line; without the mark that some programs put at the beginning of a file."""
    return line.data.removeprefix(BOM) if line.number == 1 else line.data
