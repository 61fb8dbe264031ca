"""What holds for the reader of any host whatever a file holds, and files to try it with."""

from __future__ import annotations

import io
import json
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from hypothesis import assume
from hypothesis import strategies as st

from aforesaid.model import Entry, Flaw
from tests.words import any_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from aforesaid.model import Checkpoint
    from aforesaid.ports import TranscriptPort

REASONS = frozenset({"invalid-json", "invalid-utf8", "not-an-object", "too-long", "truncated-tail"})
"""Of flaws of a file of any host."""

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | any_text,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(any_text, inner, max_size=4),
    max_leaves=8,
)
ends = st.sampled_from([b"\n", b"\r\n"])


def real_lines(folder: Path, more: Iterable[bytes] = ()) -> tuple[bytes, ...]:
    """The lines of the sessions in a folder, and of further contents."""
    contents = (*(path.read_bytes() for path in sorted(folder.glob("*.jsonl"))), *more)
    return tuple(line for content in contents for line in content.split(b"\n") if line)


def lines_of(rows: st.SearchStrategy[Any], real: Sequence[bytes]) -> st.SearchStrategy[bytes]:
    """Lines of a file: made and real rows, real ones in which bytes were changed, and anything else."""
    return st.one_of(
        rows.map(lambda row: json.dumps(row).encode()),
        rows.map(lambda row: json.dumps(row, ensure_ascii=False).encode("utf-8", "surrogatepass")),
        st.sampled_from(real),
        _mutated(real),
        st.binary(max_size=40).map(lambda raw: raw.replace(b"\n", b"")),
        st.sampled_from([b"", b" ", b"\r", b"\xef\xbb\xbf"]),
    )


@st.composite
def _mutated(draw: st.DrawFn, real: Sequence[bytes]) -> bytes:
    """A real line in which some bytes were changed, lost or added."""
    line = bytearray(draw(st.sampled_from(real))[:4000])
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(line)))
        line[at : at + draw(st.integers(0, 12))] = draw(st.binary(max_size=3))
    return bytes(line).replace(b"\n", b"")


class Rule:
    """A reader, the file name that it is given, and the reasons of flaws that it may tell beyond `REASONS`."""

    def __init__(self, reader: TranscriptPort, *reasons: str, file: str = "stem.jsonl") -> None:
        self._reader = reader
        self._file = file
        self._reasons = REASONS | frozenset(reasons)

    def read(self, content: bytes, since: Checkpoint | None = None) -> tuple[list[Entry | Flaw], Checkpoint]:
        reading = self._reader.read(io.BytesIO(content), self._file, since)
        return list(reading), reading.checkpoint

    def check(self, content: bytes) -> list[Entry | Flaw]:
        """What holds for any file; what was read of it, for what else holds."""
        self._reader.detect(content)
        found, checkpoint = self.read(content)
        assert 0 <= checkpoint.offset <= len(content)
        assert checkpoint.line == content.count(b"\n", 0, checkpoint.offset) + (
            content[checkpoint.offset - 1 : checkpoint.offset] not in {b"", b"\n"}
        )
        ids = {item.id for item in found if isinstance(item, Entry)}
        assert checkpoint.leaf is None or checkpoint.leaf in ids
        assert numbers_of(found) == sorted(set(numbers_of(found))), "a line gives one thing at most"
        for item in found:
            if isinstance(item, Entry):
                where = item.source
                assert item.id
                assert sha256(content[where.offset : where.offset + where.length]).digest() == where.sha256
                assert content.count(b"\n", 0, where.offset) == where.line - 1
                assert all(part and not part.isspace() for part in item.parts)
                assert len(item.tools) == len(item.calls)
            else:
                assert item.reason in self._reasons
                assert content.count(b"\n", 0, item.byte) == item.line - 1
        return found

    def check_pieces(self, content: bytes, data: st.DataObject) -> None:
        """Reading in pieces gives what reading at once gives."""
        starts = [at + 1 for at in range(len(content)) if content[at : at + 1] == b"\n"]
        anywhere = st.integers(0, len(content))
        cuts = sorted(data.draw(st.lists(anywhere | st.sampled_from(starts) if starts else anywhere, max_size=4)))
        # A host writes an object and its line end, nothing between: what was taken for complete is never continued.
        assume(not any(self._ends_an_object(content, cut) for cut in cuts))
        expected, end = self.read(content)
        pieces: list[Entry | Flaw] = []
        checkpoint: Checkpoint | None = None
        for cut in [*cuts, len(content)]:
            found, checkpoint = self.read(content[:cut], checkpoint)
            pieces += found
        assert _whole(pieces) == _whole(expected)
        assert checkpoint == end

    def _ends_an_object(self, content: bytes, cut: int) -> bool:
        """Whether a line that goes on behind the cut can already be read at it."""
        following = content[cut : cut + 2]
        if following[:1] in {b"", b"\n"} or following == b"\r\n":
            return False
        found, _ = self.read(content[content.rfind(b"\n", 0, cut) + 1 : cut])
        return any(isinstance(item, Entry) for item in found) or content[:cut].rstrip().endswith(b"}")


def numbers_of(found: Iterable[Entry | Flaw]) -> list[int]:
    """The lines that gave an entry, or were lost, in the order in which they were told."""
    return [
        item.source.line if isinstance(item, Entry) else item.line
        for item in found
        if isinstance(item, Entry) or item.lost
    ]


def _whole(found: Iterable[Entry | Flaw]) -> list[Entry | Flaw]:
    """All but what is told of a last line that is not complete yet."""
    return [item for item in found if not (isinstance(item, Flaw) and item.reason == "truncated-tail")]
