"""Any bytes are a readable rollout of Codex, and reading in pieces is reading at once."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st
from tests import codex
from tests.conftest import ROOT
from tests.readings import Rule, ends, lines_of, real_lines, values
from tests.words import any_text

from aforesaid.model import Entry
from aforesaid.transcripts.codex import CodexTranscripts

RULE = Rule(
    CodexTranscripts(),
    *("missing-header", "origin-missing", "unknown-view", "opaque-summary", "unknown-turns", "unknown-origin"),
    file="/nowhere/at/all/stem.jsonl",
)
REAL = real_lines(ROOT / "examples" / "codex")

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
lines = lines_of(rows, REAL)


def check(content: bytes) -> None:
    ids: set[str] = set()
    for item in RULE.check(content):
        if isinstance(item, Entry):
            assert item.parent is None or item.parent in ids, "a rollout has no loose ends"
            ids.add(item.id)


@given(st.binary(max_size=400))
def test_any_bytes_are_a_readable_rollout(content: bytes) -> None:
    check(content)


@given(st.booleans(), st.lists(lines, max_size=10), ends, st.booleans())
def test_any_lines_are_a_readable_rollout(headed: bool, some: list[bytes], end: bytes, ended: bool) -> None:
    some = [json.dumps(codex.meta()).encode(), *some] if headed else some
    check(end.join(some) + (end if ended else b""))


@given(st.lists(lines, max_size=10), st.data())
def test_reading_in_pieces_gives_what_reading_at_once_gives(some: list[bytes], data: st.DataObject) -> None:
    RULE.check_pieces(b"\n".join(some) + b"\n", data)
