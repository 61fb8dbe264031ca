"""Any bytes are a readable transcript, and reading in pieces is reading at once."""

from __future__ import annotations

import io
import json

from hypothesis import given
from hypothesis import strategies as st
from tests import pi
from tests.words import any_text

from aforesaid.model import Checkpoint, Entry, Flaw
from aforesaid.transcripts.pi import PiTranscripts

READER = PiTranscripts()

rows = st.one_of(
    st.builds(pi.message, st.text("abcdef0123456789", min_size=8, max_size=8), st.none() | st.just("a"), any_text),
    st.builds(pi.compaction, st.just("cccccccc"), st.none(), st.just("a")),
    st.dictionaries(st.sampled_from(["type", "id", "parentId", "message", "content", "summary"]),
                    st.none() | st.integers() | any_text | st.lists(st.integers() | any_text)),
)  # fmt: skip
lines = rows.map(lambda row: json.dumps(row).encode()) | st.binary(max_size=40).map(lambda raw: raw.replace(b"\n", b""))


def read(content: bytes, since: Checkpoint | None = None) -> tuple[list[Entry | Flaw], Checkpoint]:
    reading = READER.read(io.BytesIO(content), "stem.jsonl", since)
    return list(reading), reading.checkpoint


@given(st.binary(max_size=400))
def test_any_bytes_are_a_readable_transcript(content: bytes) -> None:
    found, checkpoint = read(content)
    READER.detect(content)
    assert 0 <= checkpoint.offset <= len(content)
    for item in found:
        assert isinstance(item, Entry | Flaw)


@given(st.booleans(), st.lists(lines, max_size=8), st.booleans(), st.lists(st.integers(0, 4000), max_size=3))
def test_reading_in_pieces_gives_what_reading_at_once_gives(
    with_header: bool, content_lines: list[bytes], ended: bool, cuts: list[int]
) -> None:
    header = [json.dumps(pi.header(version=1)).encode()] if with_header else []
    content = b"\n".join(header + content_lines) + (b"\n" if ended else b"")
    expected, _ = read(content)
    pieces: list[Entry | Flaw] = []
    checkpoint: Checkpoint | None = None
    for cut in [*sorted(min(cut, len(content)) for cut in cuts), len(content)]:
        found, checkpoint = read(content[:cut], checkpoint)
        pieces += [item for item in found if not (isinstance(item, Flaw) and item.reason == "truncated-tail")]
    assert pieces == [item for item in expected if not (isinstance(item, Flaw) and item.reason == "truncated-tail")]
