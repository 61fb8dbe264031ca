"""Messages of hosts, of stores and of sessions: what they cost and what they hold."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.values import make_entry
from tests.words import any_text

from aforesaid.planning.context import add_request, request_text, text_of
from aforesaid.planning.messages import FRAMING, IMAGE, count_content, digest_message, from_entries, make_message
from aforesaid.planning.values import NativeContext
from aforesaid.tokens import estimate

TEXT = {"type": "text", "text": "We set the port to 5433."}
CALL = {"type": "toolCall", "id": "c1", "name": "read", "arguments": {"path": "src/db.py"}}


@pytest.mark.parametrize(
    ("content", "tokens"),
    [
        ("", 0),
        (None, 0),
        (7, 0),
        ("We set the port to 5433.", estimate("We set the port to 5433.")),
        ([TEXT, TEXT], 2 * estimate("We set the port to 5433.")),
        ((TEXT,), estimate("We set the port to 5433.")),
        ([{"type": "image", "data": "a" * 100_000}], IMAGE),
        ([{"type": "input_image", "image_url": "data:"}], IMAGE),
        ([{"type": "thinking", "thinking": "let me see", "signature": "x" * 1000}], estimate("let me see")),
        ([CALL], estimate("read") + estimate('{"path":"src/db.py"}')),
        ([{"type": "tool_use", "name": "read", "input": {"a": 1}}], estimate("read") + estimate('{"a":1}')),
        ([{"type": "tool_result", "content": [TEXT]}], estimate("We set the port to 5433.")),
        ([{"type": "unknown", "x": 1}], estimate('{"type":"unknown","x":1}')),
        (["not a block", 7], estimate("not a block")),
    ],
)
def test_what_a_content_costs(content: object, tokens: int) -> None:
    assert count_content(content) == tokens
    assert make_message(role="user", kind="message", content=content).tokens == tokens + FRAMING


def test_a_host_that_counts_itself_is_believed() -> None:
    assert make_message(role="user", kind="request", content="x", tokens=7).tokens == 7


@given(any_text)
def test_the_digest_is_of_the_json_that_a_host_would_write(text: str) -> None:
    written = json.dumps({"role": "user", "content": text}, ensure_ascii=False, separators=(",", ":"))
    assert digest_message("user", text) == sha256(written.encode("utf-8", "backslashreplace")).digest()
    assert digest_message("user", text) != digest_message("assistant", text)


json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | any_text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(any_text, inner, max_size=3),
    max_leaves=8,
)
NAMES = ("type", "text", "thinking", "name", "content", "arguments", "input")


@given(json_values | st.lists(st.dictionaries(st.sampled_from(NAMES), json_values)))
def test_any_content_can_be_counted_and_its_text_be_taken(content: object) -> None:
    assert count_content(content) >= 0
    assert isinstance(text_of(content), str)
    assert len(digest_message("user", content)) == 32


def test_stored_entries_become_messages_that_keep_calls_and_results_together() -> None:
    entries = [
        make_entry("sum", id="e1", role="summary"),
        make_entry("ask", id="e2", role="user", request=True),
        make_entry("", id="e3", role="tool_call", calls=("c1",), tools=("read",)),
        make_entry("done", id="e4", role="tool_result", calls=("c1",), tools=("read",)),
        make_entry("an orphan", id="e5", role="tool_result"),
        make_entry("", id="e6", role="custom"),
        make_entry("ls", id="e7", role="shell"),
        make_entry("ok", id="e8", role="assistant", calls=("c2",)),
    ]
    made = from_entries(entries)
    assert [(one.entry_id, one.role, one.kind, one.calls, one.answers) for one in made] == [
        ("e1", "user", "summary", (), None),
        ("e2", "user", "request", (), None),
        ("e3", "assistant", "message", ("c1",), None),
        ("e4", "tool", "result", (), "c1"),
        ("e5", "tool", "result", (), None),
        ("e7", "user", "message", (), None),
        ("e8", "assistant", "message", ("c2",), None),
    ]
    assert made[1].content == "ask"


def test_a_request_is_added_unless_it_is_there_already() -> None:
    asked = make_message(role="user", kind="request", content=[{"type": "text", "text": "The port?"}], entry_id="e1")
    context = NativeContext(messages=(asked,), overhead=5)
    assert add_request(context, "The port?") is context
    assert add_request(context, "  ") is context
    more = add_request(context, "And the host?")
    assert (more.overhead, len(more.messages)) == (5, 2)
    assert (more.messages[1].content, more.messages[1].kind, more.messages[1].entry_id) == (
        "And the host?", "request", None,
    )  # fmt: skip
    answered = NativeContext(messages=(asked, make_message(role="assistant", kind="message", content="5433")))
    assert len(add_request(answered, "The port?").messages) == 3
    assert len(add_request(NativeContext(messages=()), "The port?").messages) == 1


def test_the_text_of_the_request_is_that_of_its_text_blocks() -> None:
    content = [{"type": "text", "text": "a"}, {"type": "image"}, {"type": "text", "text": "b"}, "c", {"type": "text"}]
    asked = make_message(role="user", kind="request", content=content)
    answer = make_message(role="assistant", kind="message", content="no")
    assert request_text(NativeContext(messages=(asked, answer))) == "a\nb"
    assert request_text(NativeContext(messages=(answer,))) == ""
    assert text_of(None) == ""
