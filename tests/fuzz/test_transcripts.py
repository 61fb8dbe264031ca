"""Any bytes are a readable transcript, and reading in pieces is reading at once."""

from __future__ import annotations

import io
import json
from hashlib import sha256

from hypothesis import assume, example, given
from hypothesis import strategies as st
from tests import pi
from tests.conftest import ROOT
from tests.fixtures.pi.make import FIXTURES
from tests.words import any_text

from aforesaid.model import Checkpoint, Entry, Flaw
from aforesaid.transcripts.pi import PiTranscripts

READER = PiTranscripts()
REASONS = {"invalid-json", "invalid-utf8", "not-an-object", "too-long", "truncated-tail", "missing-header"}
REAL = tuple(
    line
    for content in (
        *(path.read_bytes() for path in sorted((ROOT / "examples" / "pi").glob("*.jsonl"))),
        *(fixture.content for fixture in FIXTURES.values()),
    )
    for line in content.split(b"\n")
    if line
)

texts = any_text
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=8,
)
names = st.sampled_from(
    [
        *("type", "id", "parentId", "timestamp", "message", "content", "summary", "firstKeptEntryId", "targetId"),
        *("firstKeptEntryIndex", "replacement", "label", "name", "version", "cwd", "parentSession", "role", "text"),
        *("toolName", "toolCallId", "command", "output", "arguments", "excludeFromContext"),
    ]
)
types = st.sampled_from(["session", "message", "compaction", "label", "session_info", "context_edit", "custom_message"])
blocks = st.lists(st.dictionaries(st.sampled_from(["type", "text", "id", "name", "arguments"]), values), max_size=3)
messages = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant", "toolResult", "bashExecution", "custom", "system", "new"])},
    optional={"content": texts | blocks | values, "toolName": values, "timestamp": values, "output": values},
)
rows = st.one_of(
    st.builds(pi.message, st.text("abcdef0123456789", min_size=8, max_size=8), st.none() | st.just("a"), texts),
    st.builds(pi.compaction, st.just("cccccccc"), st.none(), st.just("a")),
    st.fixed_dictionaries({"type": types, "firstKeptEntryIndex": st.integers(0, 9)}),
    st.fixed_dictionaries({"type": st.just("message"), "message": messages}, optional={"id": texts, "parentId": texts}),
    st.dictionaries(names, values, max_size=6),
)


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """A line of a real session in which some bytes were changed, lost or added."""
    line = bytearray(draw(st.sampled_from(REAL))[:4000])
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(line)))
        line[at : at + draw(st.integers(0, 12))] = draw(st.binary(max_size=3))
    return bytes(line).replace(b"\n", b"")


lines = st.one_of(
    rows.map(lambda row: json.dumps(row).encode()),
    rows.map(lambda row: json.dumps(row, ensure_ascii=False).encode("utf-8", "surrogatepass")),
    st.sampled_from(REAL),
    mutated(),
    st.binary(max_size=40).map(lambda raw: raw.replace(b"\n", b"")),
    st.sampled_from([b"", b" ", b"\r", b"\xef\xbb\xbf"]),
)
headers = st.sampled_from(
    [
        [],
        [json.dumps(pi.header(version=1)).encode()],
        [json.dumps(pi.header()).encode()],
        [b"lost", json.dumps(pi.header(version=1)).encode()],
    ]
)


def read(content: bytes, since: Checkpoint | None = None) -> tuple[list[Entry | Flaw], Checkpoint]:
    reading = READER.read(io.BytesIO(content), "stem.jsonl", since)
    return list(reading), reading.checkpoint


def check(content: bytes) -> None:
    """What holds for any file."""
    READER.detect(content)
    found, checkpoint = read(content)
    assert 0 <= checkpoint.offset <= len(content)
    assert checkpoint.line == content.count(b"\n", 0, checkpoint.offset) + (
        content[checkpoint.offset - 1 : checkpoint.offset] not in {b"", b"\n"}
    )
    numbers: list[int] = []
    for item in found:
        if isinstance(item, Entry):
            where = item.source
            assert item.id
            assert sha256(content[where.offset : where.offset + where.length]).digest() == where.sha256
            assert content.count(b"\n", 0, where.offset) == where.line - 1
            assert all(part and not part.isspace() for part in item.parts)
            assert len(item.tools) == len(item.calls)
            numbers.append(where.line)
        else:
            assert item.reason in REASONS
            assert content.count(b"\n", 0, item.byte) == item.line - 1
            numbers += [item.line] if item.lost else []
    # A line gives one thing at most, and what is neither blank nor the header gives one.
    assert numbers == sorted(set(numbers))
    filled = sum(not (line == b"" or line.isspace()) for line in content.split(b"\n"))
    assert filled - 1 <= len(numbers) <= filled


@given(st.binary(max_size=400))
@example(b"\xef\xbb\xbf\n")
@example(b'{"type":"session","id":""}')
def test_any_bytes_are_a_readable_transcript(content: bytes) -> None:
    check(content)


@given(headers, st.lists(lines, max_size=8), st.sampled_from([b"\n", b"\r\n"]), st.booleans())
def test_any_lines_are_a_readable_transcript(first: list[bytes], rest: list[bytes], end: bytes, ended: bool) -> None:
    check(end.join([*first, *rest]) + (end if ended else b""))


@given(headers, st.lists(lines, max_size=8), st.sampled_from([b"\n", b"\r\n"]), st.booleans(), st.data())
def test_reading_in_pieces_gives_what_reading_at_once_gives(
    first: list[bytes], rest: list[bytes], end: bytes, ended: bool, data: st.DataObject
) -> None:
    content = end.join([*first, *rest]) + (end if ended else b"")
    cuts = sorted(data.draw(st.lists(st.integers(0, len(content)), max_size=4)))
    # A host writes an object and its line end, nothing between: what was taken for complete is never continued.
    assume(not any(_ends_an_object(content, cut) for cut in cuts))
    expected, end_at = read(content)
    pieces: list[Entry | Flaw] = []
    checkpoint: Checkpoint | None = None
    for cut in [*cuts, len(content)]:
        found, checkpoint = read(content[:cut], checkpoint)
        pieces += [item for item in found if not (isinstance(item, Flaw) and item.reason == "truncated-tail")]
    assert pieces == [item for item in expected if not (isinstance(item, Flaw) and item.reason == "truncated-tail")]
    assert checkpoint == end_at


def _ends_an_object(content: bytes, cut: int) -> bool:
    """Whether a line that goes on behind the cut can already be read at it."""
    following = content[cut : cut + 2]
    if following[:1] in {b"", b"\n"} or following == b"\r\n":
        return False
    found, _ = read(content[content.rfind(b"\n", 0, cut) + 1 : cut])
    return any(isinstance(item, Entry) for item in found) or content[:cut].rstrip().endswith(b"}")
