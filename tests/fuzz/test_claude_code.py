"""Any bytes are a readable transcript of Claude Code, and reading in pieces is reading at once."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from tests import claude_code as cc
from tests.conftest import ROOT
from tests.readings import Rule, ends, lines_of, real_lines, values
from tests.words import any_text

from aforesaid.transcripts.claude_code import ClaudeCodeTranscripts

RULE = Rule(ClaudeCodeTranscripts(), "unknown-origin")
REAL = real_lines(ROOT / "examples" / "claude-code")

ids = st.sampled_from(["a", "b", "c", "d", "\ud800"])
parents = st.none() | ids
names = st.sampled_from(
    [
        *("type", "uuid", "parentUuid", "logicalParentUuid", "subtype", "message", "attachment", "timestamp"),
        *("sessionId", "requestSessionId", "isSidechain", "isMeta", "isCompactSummary", "compactMetadata", "origin"),
        *("version", "cwd", "customTitle", "summary", "leafUuid", "forkedFrom", "agentId", "promptSource"),
    ]
)
rows = st.one_of(
    st.builds(cc.message, ids, parents, any_text),
    st.builds(cc.reply, ids, parents, any_text, st.sampled_from(["m", "n"])),
    st.builds(cc.call, ids, parents, st.sampled_from(["m", "n"]), st.sampled_from(["Bash", "history_recall"])),
    st.builds(cc.result, ids, ids, any_text),
    st.builds(cc.progress, ids, parents),
    st.builds(cc.boundary, ids, parents, st.just({}) | st.just({"preservedMessages": {"uuids": ["a", "b"]}})),
    st.builds(cc.summary, ids, parents),
    st.builds(lambda row: row | {"isSidechain": True}, st.builds(cc.message, ids, parents, any_text)),
    st.dictionaries(names, values, max_size=6),
)
lines = lines_of(rows, REAL)


@given(st.binary(max_size=400))
def test_any_bytes_are_a_readable_transcript(content: bytes) -> None:
    RULE.check(content)


@given(st.lists(lines, max_size=10), ends, st.booleans())
def test_any_lines_are_a_readable_transcript(some: list[bytes], end: bytes, ended: bool) -> None:
    RULE.check(end.join(some) + (end if ended else b""))


@given(st.lists(lines, max_size=10), st.data())
def test_reading_in_pieces_gives_what_reading_at_once_gives(some: list[bytes], data: st.DataObject) -> None:
    RULE.check_pieces(b"\n".join(some) + b"\n", data)
