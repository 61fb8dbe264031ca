"""Any bytes are a readable transcript of Pi, and reading in pieces is reading at once."""

from __future__ import annotations

import json

from hypothesis import example, given
from hypothesis import strategies as st
from tests import pi
from tests.conftest import ROOT
from tests.fixtures.pi.make import FIXTURES
from tests.readings import Rule, ends, lines_of, numbers_of, real_lines, values
from tests.words import any_text

from aforesaid.transcripts.pi import PiTranscripts

RULE = Rule(PiTranscripts(), "missing-header", "unknown-view")
REAL = real_lines(ROOT / "examples" / "pi", (fixture.content for fixture in FIXTURES.values()))

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
    optional={"content": any_text | blocks | values, "toolName": values, "timestamp": values, "output": values},
)
rows = st.one_of(
    st.builds(pi.message, st.text("abcdef0123456789", min_size=8, max_size=8), st.none() | st.just("a"), any_text),
    st.builds(pi.compaction, st.just("cccccccc"), st.none(), st.just("a")),
    st.fixed_dictionaries({"type": types, "firstKeptEntryIndex": st.integers(0, 9)}),
    st.fixed_dictionaries(
        {"type": st.just("message"), "message": messages}, optional={"id": any_text, "parentId": any_text}
    ),
    st.dictionaries(names, values, max_size=6),
)
lines = lines_of(rows, REAL)
headers = st.sampled_from(
    [
        [],
        [json.dumps(pi.header(version=1)).encode()],
        [json.dumps(pi.header()).encode()],
        [b"lost", json.dumps(pi.header(version=1)).encode()],
    ]
)


def check(content: bytes) -> None:
    found = RULE.check(content)
    # What is neither blank nor the header gives one thing.
    filled = sum(not (line == b"" or line.isspace()) for line in content.split(b"\n"))
    assert filled - 1 <= len(numbers_of(found)) <= filled


@given(st.binary(max_size=400))
@example(b"\xef\xbb\xbf\n")
@example(b'{"type":"session","id":""}')
def test_any_bytes_are_a_readable_transcript(content: bytes) -> None:
    check(content)


@given(headers, st.lists(lines, max_size=8), ends, st.booleans())
def test_any_lines_are_a_readable_transcript(first: list[bytes], rest: list[bytes], end: bytes, ended: bool) -> None:
    check(end.join([*first, *rest]) + (end if ended else b""))


@given(headers, st.lists(lines, max_size=8), ends, st.booleans(), st.data())
def test_reading_in_pieces_gives_what_reading_at_once_gives(
    first: list[bytes], rest: list[bytes], end: bytes, ended: bool, data: st.DataObject
) -> None:
    RULE.check_pieces(end.join([*first, *rest]) + (end if ended else b""), data)
