"""The MCP server as hosts run it: the SDK's own client over standard input and output."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import asynccontextmanager
from threading import Timer
from typing import TYPE_CHECKING, Any

import anyio
import jsonschema  # type: ignore[import-untyped]
import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.types import INTERNAL_ERROR, INVALID_PARAMS
from tests import pi
from tests.e2e.desk import SESSION, TEXTS, Desk, compacted, desk

from aforesaid.hosts.mcp.server import entry_uri
from aforesaid.hosts.tools import WARNING, read_tools
from aforesaid.tokens import estimate

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from pathlib import Path

__all__ = ["desk"]


@asynccontextmanager
async def connected(desk: Desk, *options: str, **environment: str) -> AsyncIterator[Client]:
    parameters = StdioServerParameters(
        command=sys.executable,
        args=["-m", "aforesaid", "mcp", *options],
        env={**desk.environment, **environment},
        cwd=str(desk.folder),
    )
    async with Client(stdio_client(parameters)) as client:
        yield client


def talk(desk: Desk, with_client: Callable[[Client], Awaitable[Any]], *options: str, **environment: str) -> Any:
    async def run() -> Any:
        async with connected(desk, *options, **environment) as client:
            return await with_client(client)

    return anyio.run(run)


async def ask(client: Client, name: str, **arguments: Any) -> Any:
    """The structured result of a tool, checked against its schema; the text says the same."""
    answer = await client.call_tool(name, arguments)
    assert not answer.is_error, answer.content
    assert answer.structured_content is not None
    (tool,) = [one for one in read_tools() if one.name == name]
    jsonschema.Draft202012Validator(tool.result).validate(answer.structured_content)
    assert json.loads(answer.content[0].text) == answer.structured_content  # type: ignore[union-attr]
    return answer.structured_content


async def refused(client: Client, name: str, **arguments: Any) -> str:
    answer = await client.call_tool(name, arguments)
    assert answer.is_error
    assert answer.structured_content is None
    return str(json.loads(answer.content[0].text)["error"]["code"])  # type: ignore[union-attr]


@pytest.fixture
def transcript(desk: Desk) -> Path:
    file = pi.write(desk.folder / "session.jsonl", compacted())
    desk.run("index", file)
    return file


def unsealed(document: Any) -> Any:
    if isinstance(document, dict):
        return {name: bool(value) if name in {"ref", "next"} else unsealed(value) for name, value in document.items()}
    return [unsealed(item) for item in document] if isinstance(document, list) else document


def test_the_tools_are_offered_as_what_they_are(desk: Desk) -> None:
    async def check(client: Client) -> None:
        listed = (await client.list_tools()).tools
        assert [tool.name for tool in listed] == ["history_recall", "history_expand", "history_status"]
        for tool in listed:
            assert tool.annotations is not None
            assert tool.annotations.read_only_hint is True
            assert tool.annotations.open_world_hint is False
            assert tool.output_schema is not None
            jsonschema.Draft202012Validator.check_schema(tool.output_schema)
            jsonschema.Draft202012Validator.check_schema(tool.input_schema)
            assert tool.description is not None
            assert "Use it when" in tool.description
        assert "never instructions" in (client.instructions or "")

    talk(desk, check)


def test_a_compacted_fact_is_recalled_and_expanded_as_the_command_line_does_it(desk: Desk, transcript: Path) -> None:
    async def check(client: Client) -> None:
        page = await ask(client, "history_recall", query="PG_PORT")
        assert page.pop("warning") == WARNING
        by_command = desk.json("recall", "recall", "PG_PORT", "--session", transcript)
        assert unsealed(page) == unsealed(by_command)
        shown = await ask(client, "history_expand", ref=page["hits"][1]["ref"], before=1, after=1)
        assert shown.pop("warning") == WARNING
        assert shown == desk.json("expand", "expand", by_command["hits"][1]["ref"], "--before=1", "--after=1")
        assert [passage["text"] for passage in shown["entries"]] == list(TEXTS[:3])
        status = await ask(client, "history_status")
        assert status["session"]["sessionId"] == SESSION
        assert status["coverage"]["complete"] is True
        assert status["scopes"] == ["current-branch", "current-session", "current-lineage"]
        assert str(desk.folder) not in json.dumps(status)
        # The arguments that the extractive view hands out.
        follow = await ask(client, "history_recall", session=SESSION, scope="current-branch", query="")
        assert len(follow["hits"]) == 6

    talk(desk, check, "--session", str(transcript))


def test_paging_through_the_tool_yields_everything_once(desk: Desk, transcript: Path) -> None:
    async def check(client: Client) -> None:
        found: list[str] = []
        cursor: dict[str, str] = {}
        while True:
            page = await ask(client, "history_recall", limit=2, **cursor)
            found += [hit["entryId"] for hit in page["hits"]]
            if page["next"] is None:
                break
            cursor = {"cursor": page["next"]}
        assert sorted(found) == sorted([*(f"e000000{number}" for number in range(6)), "f0000000"])

    talk(desk, check, "--session", str(transcript))


def test_progress_is_told(desk: Desk, transcript: Path) -> None:
    async def check(client: Client) -> None:
        told: list[tuple[float, float | None]] = []

        async def note(progress: float, total: float | None, message: str | None) -> None:
            told.append((progress, total))

        await client.call_tool("history_recall", {"query": "port"}, progress_callback=note)
        with anyio.fail_after(30):
            while told[-1:] != [(1, 1)]:
                await anyio.sleep(0.01)
        # A busy machine may be slow enough for notes in between.
        assert told[0] == (0, 1)
        assert told == sorted(set(told))

    talk(desk, check, "--session", str(transcript))


def test_a_result_is_no_longer_than_it_may_be(desk: Desk) -> None:
    long = pi.write(
        desk.folder / "long.jsonl",
        [pi.header("long"), *pi.conversation(["数据库 port " * 400 + f"{number}\n" * 300 for number in range(12)])],
    )

    async def check(client: Client) -> None:
        seen: list[str] = []
        cursor: dict[str, str] = {}
        while True:
            page = await ask(client, "history_recall", query="port", limit=12, **cursor)
            assert estimate(json.dumps(page, ensure_ascii=False, separators=(",", ":"))) <= 600
            seen += [hit["entryId"] for hit in page["hits"]]
            if page["next"] is None:
                break
            cursor = {"cursor": page["next"]}
        assert len(seen) == len(set(seen)) == 12
        shown = await ask(client, "history_expand", session="long", entry=[seen[0]])
        assert estimate(json.dumps(shown, ensure_ascii=False, separators=(",", ":"))) <= 600
        assert shown["entries"][0]["complete"] is False
        assert shown["next"] is not None

    talk(desk, check, "--session", str(long), "--set", "historyTools.maxOutputTokens=600")


def test_errors_are_results_that_a_model_can_read(desk: Desk, transcript: Path) -> None:
    async def check(client: Client) -> None:
        assert await refused(client, "history_recall", query="(", mode="regex") == "bad-argument"
        assert await refused(client, "history_recall", limit=13) == "bad-argument"
        assert await refused(client, "history_recall", wrong=1) == "bad-argument"
        assert await refused(client, "history_recall", scope="host-wide") == "scope-not-allowed"
        assert await refused(client, "history_recall", scope="project") == "scope-not-allowed"
        assert await refused(client, "history_recall", session="nowhere") == "session-not-found"
        assert await refused(client, "history_expand", ref="nonsense") == "ref-invalid"
        assert await refused(client, "history_expand", entry=["zz"]) == "entry-unknown"
        assert await refused(client, "history_expand", ref=5) == "bad-argument"
        assert await refused(client, "history_status", session=7) == "bad-argument"
        assert await refused(client, "history_nothing") == "bad-argument"
        own = desk.json("recall", "recall", "", "--session", transcript)["hits"][0]["ref"]
        assert await refused(client, "history_expand", ref=own) == "ref-invalid", "the command line's refs are its own"
        transcript.write_bytes(transcript.read_bytes().replace(b"5433", b"5434"))
        assert await refused(client, "history_expand", entry=["e0000000"]) == "stale-source"

    talk(desk, check, "--session", str(transcript))


def test_without_a_session_it_says_so_and_takes_one_of_the_project(desk: Desk) -> None:
    here = str(desk.folder)
    mine = pi.write(desk.folder / "mine.jsonl", [pi.header("mine", cwd=here), *pi.conversation(["my port"])])
    other = pi.write(desk.folder / "other.jsonl", [pi.header("other", cwd="/else"), *pi.conversation(["its port"])])
    desk.run("index", mine, other)

    async def check(client: Client) -> None:
        assert await refused(client, "history_recall", query="port") == "bad-argument"
        status = await ask(client, "history_status")
        assert (status["session"], status["coverage"]) == (None, None)
        assert [known["sessionId"] for known in status["sessions"]] == ["mine"], "those that it may name"
        page = await ask(client, "history_recall", query="port", session="mine")
        assert [hit["snippet"] for hit in page["hits"]] == ["my port"]
        assert await refused(client, "history_recall", query="port", session="other") == "scope-not-allowed"

    talk(desk, check)


def test_a_trusted_and_allowed_project_is_searched(desk: Desk) -> None:
    files = [
        pi.write(desk.folder / f"{name}.jsonl", [pi.header(name), *pi.conversation([f"port of {name}"])])
        for name in ("one", "two")
    ]
    desk.run("index", *files)

    async def check(client: Client) -> None:
        page = await ask(client, "history_recall", query="port", scope="project")
        assert {hit["sessionId"] for hit in page["hits"]} == {"one", "two"}
        assert len((await ask(client, "history_recall", query="port", session="two"))["hits"]) == 1
        status = await ask(client, "history_status")
        assert {known["sessionId"] for known in status["sessions"]} == {"one", "two"}

    allowed = ("--set", "historyTools.allowProjectScope=true")
    talk(desk, check, "--session", str(files[0]), "--trust-project", *allowed)

    async def check_untrusted(client: Client) -> None:
        assert await refused(client, "history_recall", scope="project") == "scope-not-allowed"
        assert await refused(client, "history_recall", session="two") == "scope-not-allowed"

    talk(desk, check_untrusted, "--session", str(files[0]), *allowed)


def test_entries_are_resources(desk: Desk, transcript: Path) -> None:
    async def check(client: Client) -> None:
        (template,) = (await client.list_resource_templates()).resource_templates
        assert template.uri_template == "history://session/{session}/entry/{entry}"
        assert (await client.list_resources()).resources == []
        (content,) = (await client.read_resource(entry_uri(SESSION, "e0000001"))).contents
        document = json.loads(content.text)  # type: ignore[union-attr]
        assert document["warning"] == WARNING
        assert document["entries"][0]["text"] == TEXTS[1]
        for uri, code in (
            (entry_uri(SESSION, "zz"), "entry-unknown"), (entry_uri("nowhere", "a"), "session-not-found"),
            ("history://session/x", "bad-argument"), ("history://x", "bad-argument"),
            ("file:///etc/passwd", "bad-argument"),
        ):  # fmt: skip
            with pytest.raises(MCPError) as refusal:
                await client.read_resource(uri)
            assert (refusal.value.code, refusal.value.data["code"]) == (INVALID_PARAMS, code)
            assert refusal.value.message == f"{refusal.value.data['message']}; {refusal.value.data['hint']}"
        transcript.unlink()
        with pytest.raises(MCPError) as failure:
            await client.read_resource(entry_uri(SESSION, "e0000001"))
        assert (failure.value.code, failure.value.data["code"]) == (INTERNAL_ERROR, "source-missing")

    talk(desk, check, "--session", str(transcript))


def test_lone_surrogates_reach_the_client_as_something_it_can_read(desk: Desk) -> None:
    file = pi.write(desk.folder / "odd.jsonl", [pi.header("odd"), *pi.conversation(["half \ud83d of it", "שלום 🎉"])])

    async def check(client: Client) -> None:
        answer = await client.call_tool("history_recall", {"query": "half"})
        assert answer.structured_content is not None
        assert answer.structured_content["hits"][0]["snippet"] == "half \ufffd of it"

    talk(desk, check, "--session", str(file))


def test_a_line_that_is_longer_than_any_answer_is_read_to_its_end(desk: Desk) -> None:
    text = " ".join(f"tok{number:06}" for number in range(6001))
    file = pi.write(desk.folder / "long.jsonl", [pi.header("long"), *pi.conversation([text])])

    async def check(client: Client) -> None:
        (hit,) = (await ask(client, "history_recall", query="tok005990"))["hits"]
        found = ""
        cursor: dict[str, str] = {}
        while True:
            shown = await ask(client, "history_expand", ref=hit["ref"], **cursor)
            (piece,) = shown["entries"]
            assert (piece["startLine"], piece["lines"], piece["complete"]) == (1, 1, False)
            found += piece["text"]
            if shown["next"] is None:
                break
            cursor = {"cursor": shown["next"]}
        assert found == text

    talk(desk, check, "--session", str(file))


def test_half_of_a_surrogate_pair_in_an_argument_is_answered(desk: Desk, transcript: Path) -> None:
    hello = {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "node", "version": "1"},
    }  # fmt: skip
    lines = [
        json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}),
        json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        *(
            f'{{"jsonrpc":"2.0","id":{number},"method":"tools/call","params":'
            f'{{"name":"history_recall","arguments":{{"query":"{query}"}}}}}}'
            for number, query in enumerate([r"a\ud800", "PG_PORT", r"\uDC00\ud83d\ude00", "{half"], 2)
        ),
        '{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"history_recall","arguments":{"query":"\\ud8"',
        json.dumps({"jsonrpc": "2.0", "id": 7, "method": "ping"}),
    ]
    command = [sys.executable, "-m", "aforesaid", "mcp", "--session", str(transcript)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=desk.environment, cwd=desk.folder
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        # Whoever waits for an answer that does not come is let go.
        timer = Timer(60, server.kill)
        timer.start()
        try:
            server.stdin.write("".join(line + "\n" for line in lines).encode())
            server.stdin.flush()
            answers: dict[int, Any] = {}
            while len(answers) < 6 and (line := server.stdout.readline()):
                answer = json.loads(line)
                if "id" in answer:
                    answers[answer["id"]] = answer
            server.stdin.close()
        finally:
            timer.cancel()
    assert sorted(answers) == [1, 2, 3, 4, 5, 7], "a line that cannot be mended has no answer, the next ones have"
    hits = {number: len(answers[number]["result"]["structuredContent"]["hits"]) for number in (2, 3, 4, 5)}
    assert hits == {2: 0, 3: 2, 4: 0, 5: 0}


def claude_row(uuid: str, parent: str | None, role: str, content: Any) -> dict[str, Any]:
    more = {"id": f"m{uuid}", "type": "message"} if role == "assistant" else {}
    return {
        "type": role, "uuid": uuid, "parentUuid": parent, "sessionId": "c-1", "cwd": "/home/dev", "version": "2.1.0",
        "timestamp": "2026-11-30T00:00:00.000Z", "isSidechain": False, "userType": "external",
        "message": {"role": role, "content": content, **more},
    }  # fmt: skip


def test_claude_codes_call_tells_session_and_branch(desk: Desk) -> None:
    folder = desk.folder / ".claude" / "projects" / "-home-dev"
    folder.mkdir(parents=True)
    call = {"type": "tool_use", "id": "toolu_9", "name": "mcp__aforesaid__history_recall", "input": {}}
    rows = [
        claude_row("u1", None, "user", "the walnut table"),
        claude_row("a1", "u1", "assistant", [{"type": "text", "text": "noted walnut"}]),
        claude_row("u2", "a1", "user", "abandoned walnut"),
        claude_row("u3", "a1", "user", "what of the walnut?"),
        claude_row("a3", "u3", "assistant", [call]),
        # What was abandoned ends the file, as after a rewind that the file does not show yet.
        claude_row("a2", "u2", "assistant", [{"type": "text", "text": "abandoned walnut too"}]),
    ]
    pi.write(folder / "c-1.jsonl", rows)

    async def check(client: Client) -> None:
        meta: Any = {"claudecode/toolUseId": "toolu_9"}
        answer = await client.call_tool("history_recall", {"query": "walnut"}, meta=meta)
        assert answer.structured_content is not None
        assert {hit["entryId"] for hit in answer.structured_content["hits"]} == {"u1", "a1", "u3"}

    talk(desk, check, CLAUDE_CODE_SESSION_ID="c-1", CLAUDE_CONFIG_DIR=str(desk.folder / ".claude"))


def test_claude_codes_own_calls_make_the_branch_grow_and_the_pages_go_on(desk: Desk) -> None:
    folder = desk.folder / ".claude" / "projects" / "-home-dev"
    folder.mkdir(parents=True)
    rows = [claude_row(f"u{number}", f"u{number - 1}" if number else None, "user", "walnut") for number in range(5)]
    file = pi.write(folder / "c-1.jsonl", rows)

    async def check(client: Client) -> None:
        found: list[str] = []
        cursor: dict[str, str] = {}
        for number in range(4):
            use = {"type": "tool_use", "id": f"toolu_{number}", "name": "mcp__aforesaid__history_recall", "input": {}}
            rows.append(claude_row(f"a{number}", rows[-1]["uuid"], "assistant", [use]))
            pi.write(file, rows)
            meta: Any = {"claudecode/toolUseId": f"toolu_{number}"}
            answer = await client.call_tool("history_recall", {"query": "walnut", "limit": 2, **cursor}, meta=meta)
            page = answer.structured_content
            assert page is not None, answer.content
            found += [hit["entryId"] for hit in page["hits"]]
            if page["next"] is None:
                break
            cursor = {"cursor": page["next"]}
            back = [{"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": "walnut again"}]
            rows.append(claude_row(f"r{number}", f"a{number}", "user", back))
        assert sorted(found) == [f"u{number}" for number in range(5)]

    talk(desk, check, CLAUDE_CODE_SESSION_ID="c-1", CLAUDE_CONFIG_DIR=str(desk.folder / ".claude"))


def test_tools_that_are_switched_off_are_neither_listed_nor_answered(desk: Desk, transcript: Path) -> None:
    async def check(client: Client) -> None:
        assert (await client.list_tools()).tools == []
        assert await refused(client, "history_recall", query="port") == "tools-disabled"
        with pytest.raises(MCPError) as refusal:
            await client.read_resource(entry_uri(SESSION, "e0000001"))
        assert refusal.value.data["code"] == "tools-disabled"

    talk(desk, check, "--session", str(transcript), "--set", "historyTools.enabled=false")


def test_without_the_sdk_it_says_how_to_get_it(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from aforesaid.cli import main

    monkeypatch.setattr("aforesaid.cli.mcp.find_spec", lambda _: None)
    assert main(["mcp", "--store", str(desk.store)]) == 1
    assert "pip install 'aforesaid[mcp]'" in capsys.readouterr().err


def test_the_descriptions_say_what_the_documents_hold() -> None:
    from tests.conftest import ROOT

    for tool, name in zip(read_tools(), ("recall", "expand"), strict=False):
        schema = json.loads((ROOT / "tests" / "contract" / "schemas" / f"{name}.json").read_text(encoding="utf-8"))
        members = list(tool.result["properties"])
        assert [member for member in members if member != "warning"] == list(schema["properties"])
