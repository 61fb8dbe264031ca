"""Floor 8: lines of standard input that the SDK refuses although they can be understood.

Clients in JavaScript write half of a surrogate pair as an escape of its own, which JSON allows and the SDK's parser
does not: it would drop the line, and the client would wait for an answer for ever. `server` reads the SDK's messages
through `Incoming`; a line that the SDK takes is not looked at.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, Self

import anyio
from mcp.shared.message import SessionMessage
from mcp.types import jsonrpc_message_adapter
from pydantic import ValidationError

if TYPE_CHECKING:
    from types import TracebackType

_ESCAPES: Final = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)", re.DOTALL
)
"""Escapes of JSON, pairs of surrogates as one; the group is half of a pair."""


def mend(line: str) -> str:
    """A line of JSON with U+FFFD in place of each escaped half of a surrogate pair."""
    return _ESCAPES.sub(lambda found: r"\ufffd" if found[1] else found[0], line)


class Incoming:
    """The messages of a client, with those of lines that only needed mending."""

    def __init__(self, inner: Any) -> None:
        """Takes the SDK's stream of messages, and of errors of lines that it could not read."""
        self._inner = inner

    @property
    def last_context(self) -> Any:
        """The context in which the last message was sent, for the SDK."""
        return getattr(self._inner, "last_context", None)

    async def receive(self) -> SessionMessage | Exception:
        """The next message, or why a line is none."""
        item: SessionMessage | Exception = await self._inner.receive()
        return _understand(item) if isinstance(item, ValidationError) else item

    async def aclose(self) -> None:
        """Closes the SDK's stream."""
        await self._inner.aclose()

    def __aiter__(self) -> Self:
        """Itself."""
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        """As `receive`, until the input ends."""
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> Self:
        """Itself."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Closes the SDK's stream."""
        await self.aclose()


def _understand(error: ValidationError) -> SessionMessage | Exception:
    """The message of the line that an error is about, if it can be mended."""
    line = error.errors(include_url=False, include_context=False)[0]["input"]
    if not isinstance(line, str) or (mended := mend(line)) == line:
        return error
    try:
        return SessionMessage(jsonrpc_message_adapter.validate_json(mended, by_name=False))
    except ValueError:
        return error
