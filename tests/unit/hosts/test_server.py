"""The MCP server in memory: it stays awake while a tool works."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any, cast

import anyio
import pytest
from mcp import Client

from aforesaid.errors import BadArgument
from aforesaid.hosts.mcp.callers import Surroundings
from aforesaid.hosts.mcp.server import HistoryServer
from aforesaid.hosts.tools import read_tools

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable


class SlowTools:
    """Tools that wait until a test lets them go on, and count how many of them work at once."""

    offered = read_tools()

    def __init__(self, answer: Any) -> None:
        self.answer = answer
        self.go = threading.Event()
        self.working = 0
        self.most = 0
        self.done = 0

    def call(self, name: str, arguments: Any, find: Any) -> Any:
        self.working += 1
        self.most = max(self.most, self.working)
        assert self.go.wait(30)
        time.sleep(0.01)
        self.working -= 1
        self.done += 1
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


STATUS: Any = {
    "schema": "aforesaid.history-status/1", "session": None, "coverage": None, "scopes": [],
    "defaultScope": "current-branch", "sessions": [],
}  # fmt: skip


def talk(tools: SlowTools, with_client: Callable[[Client], Awaitable[None]]) -> None:
    async def run() -> None:
        server = HistoryServer(cast("Any", None), cast("Any", tools), Surroundings())
        async with Client(server.make()) as client:
            await with_client(client)

    anyio.run(run)


def test_a_long_call_tells_that_it_goes_on_and_the_connection_is_served_meanwhile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("aforesaid.hosts.mcp.server._BEAT", 0.02)
    tools = SlowTools(STATUS)
    told: list[float] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        told.append(progress)
        if len(told) == 4:
            tools.go.set()

    async def check(client: Client) -> None:
        async with anyio.create_task_group() as group:
            answers: list[Any] = []

            async def call() -> None:
                answers.append(await client.call_tool("history_status", {}, progress_callback=note))

            group.start_soon(call)
            while not told:
                await anyio.sleep(0.01)
            assert len((await client.list_tools()).tools) == 3
            assert tools.done == 0
        assert answers[0].structured_content == STATUS
        with anyio.fail_after(10):
            while told[-1] != 1:
                await anyio.sleep(0.01)
        assert told[0] == 0
        assert told == sorted(set(told)), "progress only ever grows"

    talk(tools, check)


def test_calls_that_come_together_are_made_one_after_the_other() -> None:
    tools = SlowTools(STATUS)
    tools.go.set()

    async def check(client: Client) -> None:
        async with anyio.create_task_group() as group:
            for _ in range(5):
                group.start_soon(client.call_tool, "history_status", {})
        assert (tools.done, tools.most) == (5, 1)

    talk(tools, check)


@pytest.mark.parametrize(
    ("error", "code"), [(BadArgument("no", "yes"), "bad-argument"), (ZeroDivisionError("secret words"), "internal")]
)
def test_what_goes_wrong_is_a_result_without_the_words_of_a_bug(error: Exception, code: str) -> None:
    tools = SlowTools(error)
    tools.go.set()

    async def check(client: Client) -> None:
        answer = await client.call_tool("history_status", {})
        assert answer.is_error
        assert f'"code":"{code}"' in answer.content[0].text  # type: ignore[union-attr]
        assert "secret words" not in answer.content[0].text  # type: ignore[union-attr]

    talk(tools, check)
