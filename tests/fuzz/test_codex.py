"""Any bytes are a readable rollout of Codex, and reading in pieces is reading at once."""

from __future__ import annotations

import io
import json
from hashlib import sha256

from hypothesis import assume, given
from hypothesis import strategies as st
from tests import codex
from tests.conftest import ROOT
from tests.words import any_text

from aforesaid.model import Checkpoint, Entry, Flaw
from aforesaid.transcripts.codex import CodexTranscripts

READER = CodexTranscripts()
REASONS = {
    *("invalid-json", "invalid-utf8", "not-an-object", "too-long", "truncated-tail", "missing-header"),
    *("origin-missing", "unknown-view", "opaque-summary"),
}
REAL = tuple(
    line
    for path in sorted((ROOT / "examples" / "codex").glob("*.jsonl"))
    for line in path.read_bytes().split(b"\n")
    if line
)

values = st.recursive(
    st.none() | st.booleans() | st.integers() | any_text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(any_text, inner, max_size=3),
    max_leaves=6,
)
names = st.sampled_from(
    [
        *("type", "role", "id", "content", "name", "namespace", "arguments", "input", "action", "call_id", "output"),
        *("message", "replacement_history", "num_turns", "cwd", "source", "history_base", "forked_from_id"),
        *("internal_chat_message_metadata_passthrough", "encrypted_content", "cli_version"),
    ]
)
texts = any_text | st.sampled_from(["go on", "walnut"])
messages = st.builds(codex.user, texts) | st.builds(codex.assistant, texts)
types = st.sampled_from(["session_meta", "response_item", "event_msg", "compacted", "turn_context", "other"])
rows = st.one_of(
    messages,
    st.builds(codex.call, st.sampled_from(["c", "d"]), st.sampled_from(["exec", "history_recall"]), values),
    st.builds(codex.output, st.sampled_from(["c", "d"]), values),
    st.builds(codex.compacted, st.none() | st.lists(messages, max_size=3), any_text),
    st.builds(codex.rolled_back, st.integers(-1, 4) | values),
    st.just(codex.event("task_started")),
    st.builds(codex.row, types, st.dictionaries(names, values, max_size=6) | values),
    st.builds(lambda row, ordinal: row | {"ordinal": ordinal}, messages, values),
)


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """A line of a real rollout in which some bytes were changed, lost or added."""
    line = bytearray(draw(st.sampled_from(REAL))[:3000])
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


def read(content: bytes, since: Checkpoint | None = None) -> tuple[list[Entry | Flaw], Checkpoint]:
    reading = READER.read(io.BytesIO(content), "/nowhere/at/all/stem.jsonl", since)
    return list(reading), reading.checkpoint


def check(content: bytes) -> None:
    """What holds for any file."""
    READER.detect(content)
    found, checkpoint = read(content)
    assert 0 <= checkpoint.offset <= len(content)
    numbers: list[int] = []
    ids: set[str] = set()
    for item in found:
        if isinstance(item, Entry):
            where = item.source
            assert sha256(content[where.offset : where.offset + where.length]).digest() == where.sha256
            assert all(part and not part.isspace() for part in item.parts)
            assert len(item.tools) == len(item.calls)
            # The parent is an entry before it: a rollout has no loose ends.
            assert item.parent is None or item.parent in ids
            ids.add(item.id)
            numbers.append(where.line)
        else:
            assert item.reason in REASONS
            numbers += [item.line] if item.lost else []
            assert content.count(b"\n", 0, item.byte) == item.line - 1
    assert numbers == sorted(set(numbers))


@given(st.binary(max_size=400))
def test_any_bytes_are_a_readable_rollout(content: bytes) -> None:
    check(content)


@given(st.booleans(), st.lists(lines, max_size=10), st.sampled_from([b"\n", b"\r\n"]), st.booleans())
def test_any_lines_are_a_readable_rollout(headed: bool, some: list[bytes], end: bytes, ended: bool) -> None:
    some = [json.dumps(codex.meta()).encode(), *some] if headed else some
    check(end.join(some) + (end if ended else b""))


@given(st.lists(lines, max_size=10), st.data())
def test_reading_in_pieces_gives_what_reading_at_once_gives(some: list[bytes], data: st.DataObject) -> None:
    content = b"\n".join(some) + b"\n"
    starts = [at + 1 for at in range(len(content)) if content[at : at + 1] == b"\n"]
    anywhere = st.integers(0, len(content))
    cuts = sorted(data.draw(st.lists(anywhere | st.sampled_from(starts), max_size=4)))
    # A host writes an object and its line end, nothing between: what was taken for complete is never continued.
    assume(not any(_ends_an_object(content, cut) for cut in cuts))
    expected, end_at = read(content)
    pieces: list[Entry | Flaw] = []
    checkpoint: Checkpoint | None = None
    for cut in [*cuts, len(content)]:
        found, checkpoint = read(content[:cut], checkpoint)
        pieces += [item for item in found if not (isinstance(item, Flaw) and item.reason == "truncated-tail")]
    assert pieces == expected
    assert checkpoint == end_at


def _ends_an_object(content: bytes, cut: int) -> bool:
    """Whether a line that goes on behind the cut can already be read at it."""
    return content[cut : cut + 1] not in {b"", b"\n"} and content[:cut].rstrip().endswith(b"}")
