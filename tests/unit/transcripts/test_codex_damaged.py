"""Rollouts of Codex: damaged lines, unexpected shapes, and what is taken for a rollout."""

from __future__ import annotations

import json

import pytest
from tests import codex
from tests.codex import THREAD, assistant, compacted, event, meta, user
from tests.unit.transcripts.rollouts import READER, lines_of, one, reading, text

from aforesaid.model import Compaction, Entry, Flaw
from aforesaid.transcripts import detect

# --- damaged lines --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (json.dumps(assistant("lost")).encode()[:-9], "invalid-json"),
        (b'{"type":"response_item","payload":{"x":"\xff"}}', "invalid-utf8"),
        (b"complete garbage", "invalid-json"),
        (b"[1]", "not-an-object"),
    ],
)
def test_a_damaged_line_costs_itself(line: bytes, reason: str) -> None:
    _, found = reading(meta(), user("one"), line, assistant("two"))
    (flaw,) = [item for item in found if isinstance(item, Flaw)]
    assert (flaw.line, flaw.reason, flaw.lost) == (3, reason, True)
    assert [(item.id, item.parent) for item in found if isinstance(item, Entry)] == [("L2", None), ("L4", "L2")]


def test_an_overlong_line_costs_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    from aforesaid.transcripts import lines

    monkeypatch.setattr(
        "aforesaid.transcripts.passes.split", lambda source, **more: lines.split(source, longest=500, **more)
    )
    _, found = reading(meta(), user("one"), user("y" * 2000), assistant("two"))
    assert [item.reason if isinstance(item, Flaw) else item.id for item in found] == ["L2", "too-long", "L4"]


@pytest.mark.parametrize(
    "payload",
    [
        {"type": "message", "role": "user", "content": "plain"},
        {"type": "message", "role": 5, "content": [1, {"type": 2, "text": 3}]},
        {"type": "message", "role": "user", "content": [text("x")],
         "internal_chat_message_metadata_passthrough": {"content_item_kinds": [5]}},
        {"type": "message", "role": "user", "content": [text("x")], "internal_chat_message_metadata_passthrough": 9},
        {"type": "function_call", "name": None, "arguments": "[" * 5000, "call_id": 7},
        {"type": "function_call", "name": "x", "arguments": 5},
        {"type": "custom_tool_call", "name": "x", "input": {"a": 1}},
        {"type": "function_call_output", "call_id": None, "output": {"content": [text("x"), 5]}},
        {"type": ["x"], "id": {}},
    ],
)  # fmt: skip
def test_items_of_an_unexpected_shape_are_entries_too(payload: codex.Row) -> None:
    assert one(codex.row("response_item", payload)).id == "L2"


@pytest.mark.parametrize(
    "payload",
    [{"replacement_history": 5}, {"replacement_history": [5, {"type": 1, "role": "user", "content": 2}], "message": 3}],
)
def test_compactions_of_an_unexpected_shape_are_entries_too(payload: codex.Row) -> None:
    _, found = reading(meta(), user("x"), codex.row("compacted", payload))
    assert [item.id for item in found if isinstance(item, Entry)] == ["L2", "L3"]


@pytest.mark.parametrize("more", [{"history_base": 5}, {"history_base": {"thread_id": 5}}, {"id": 5}, {"source": 1}])
def test_headers_of_an_unexpected_shape_are_read(more: codex.Row) -> None:
    pass_, found = reading(meta(**more), user("x"))
    assert [item.id for item in found] == ["L2"]
    assert pass_.header.session_id == ("rollout-stem" if "id" in more else THREAD)


def test_odd_json_is_read() -> None:
    digits = b'{"type":"response_item","ordinal":true,"payload":{"type":"message","role":"user","content":"x","n":'
    lone = b'{"type":"response_item","payload":{"type":"message","role":"user","content":"y\\ud800"}}'
    first, found = reading(meta(), digits + b"9" * 5000 + b"}}", lone)
    assert [item.id for item in found] == ["L2", "L3"]
    _, more = reading(meta(), digits + b"9" * 5000 + b"}}", lone, compacted([user("y\ud800")]), since=first.checkpoint)
    assert isinstance(more[0], Entry)
    assert more[0].compaction == Compaction(kept=("L3",))


# --- recognising files ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "head",
    [
        lines_of(meta()),
        lines_of(user("x")),
        lines_of(b"garbage", event("task_started")),
        b"\xef\xbb\xbf" + lines_of(meta()),
        lines_of(meta(base_instructions={"text": "y" * 100_000}))[:65_536],
    ],
)
def test_a_rollout_is_recognised(head: bytes) -> None:
    found = detect(head)
    assert found is not None
    assert found.host == "codex"


@pytest.mark.parametrize(
    "head",
    [
        b"",
        b"{}\n",
        b'{"type":"message","role":"user","content":[]}\n',
        b'{"type":"session_meta"}\n',
        b'{"type":"response_item","payload":5}\n',
        b'{"type":"user","uuid":"a","parentUuid":null,"sessionId":"s"}\n{"type":"session_meta","payload":{}}\n',
        b"[" * 70_000,
    ],
)
def test_other_files_are_not(head: bytes) -> None:
    assert not READER.detect(head)
