"""Lines that the SDK of MCP refuses, and those that are understood nevertheless."""

from __future__ import annotations

import json

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.shared.message import SessionMessage
from mcp.types import jsonrpc_message_adapter
from pydantic import ValidationError

from aforesaid.hosts.mcp.lines import Incoming, mend


@pytest.mark.parametrize(
    ("line", "mended"),
    [
        (r"a\ud800", r"a\ufffd"),
        (r"\uDfFf\uDBFF!", r"\ufffd\ufffd!"),
        (r"\ud83d\ude00 \uD83D\uDE00", r"\ud83d\ude00 \uD83D\uDE00"),
        (r"\ud83d\ud83d\ude00", r"\ufffd\ud83d\ude00"),
        (r"\\ud800 \\\ud800", r"\\ud800 \\\ufffd"),
        (r"\ud8 \n\"\u00e9\ud7ff", r"\ud8 \n\"\u00e9\ud7ff"),
        ("\\", "\\"),
    ],
)
def test_only_halves_of_pairs_are_replaced(line: str, mended: str) -> None:
    assert mend(line) == mended


@given(st.text(st.characters(codec=None, exclude_categories=())))
def test_a_mended_text_is_the_same_with_its_halves_replaced(text: str) -> None:
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    assert json.loads(mend(json.dumps(text))) == whole
    assert mend(json.dumps(whole)) == json.dumps(whole)


def failure(line: object) -> ValidationError:
    with pytest.raises(ValidationError) as refused:
        jsonrpc_message_adapter.validate_json(line, by_name=False)  # type: ignore[arg-type]
    return refused.value


def test_what_can_be_mended_is_a_message_and_all_else_goes_through_as_it_came() -> None:
    call = r'{"jsonrpc":"2.0","id":2,"method":"m","params":{"q":"a\ud800"}}'
    ping = SessionMessage(jsonrpc_message_adapter.validate_json('{"jsonrpc":"2.0","id":1,"method":"ping"}'))
    others: list[SessionMessage | Exception] = [
        ping,
        failure("{"),
        failure(r'{"q":"\ud800"'),
        failure(r'{"q":"\ud800"}'),
        failure(b"\xff"),
        OSError("x"),
    ]

    async def check() -> None:
        sending, receiving = anyio.create_memory_object_stream[SessionMessage | Exception](9)
        for item in (*others, failure(call)):
            sending.send_nowait(item)
        sending.close()
        async with Incoming(receiving) as incoming:
            assert incoming.last_context is None
            got = [item async for item in incoming]
        assert got[:-1] == others
        assert isinstance(got[-1], SessionMessage)
        assert got[-1].message.model_dump()["params"] == {"q": "a\ufffd"}
        with pytest.raises(anyio.ClosedResourceError):
            receiving.receive_nowait()

    anyio.run(check)
