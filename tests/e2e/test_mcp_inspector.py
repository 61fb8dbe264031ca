"""The MCP server as the protocol's own inspector sees it, on its command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from tests import pi
from tests.e2e.desk import TEXTS, Desk, compacted, desk
from tests.e2e.test_mcp import unsealed
from tests.realpi import NODE, PLACE

from aforesaid import Caller, Engine
from aforesaid.hosts import wire
from aforesaid.hosts.mcp.server import entry_uri
from aforesaid.hosts.tools import WARNING, read_tools

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["desk"]

INSPECTOR = (
    PLACE / "node_modules" / "@modelcontextprotocol" / "inspector" / "clients" / "launcher" / "build" / "index.js"
)
REFUSED = 5
"""Exit status of the inspector where a result is an error."""

pytestmark = pytest.mark.skipif(
    not (NODE.exists() and INSPECTOR.exists()) and not os.environ.get("CI"),
    reason=f"no MCP inspector in {PLACE}: `make test` brings it",
)


class Inspector:
    """The inspector, and the server that it starts."""

    def __init__(self, desk: Desk, transcript: Path) -> None:
        self.environment = {**desk.environment, "MCP_INSPECTOR_SECRET_STORE": "memory", "HOME": str(desk.folder)}
        self.folder = desk.folder
        server = {
            "command": sys.executable, "args": ["-m", "aforesaid", "mcp", "--session", str(transcript)],
            "env": desk.environment,
        }  # fmt: skip
        self.file = desk.folder / "inspected.json"
        self.file.write_text(json.dumps({"mcpServers": {"aforesaid": server}}))

    def ask(self, method: str, *options: str, status: int = 0) -> Any:
        """The document of a method; what the inspector says besides is not looked at."""
        done = subprocess.run(
            [
                *(str(NODE), str(INSPECTOR), "--cli", "--config", str(self.file), "--server", "aforesaid"),
                *("--method", method, *options),
            ],
            env={**os.environ, **self.environment}, cwd=self.folder, capture_output=True, timeout=120, check=False,
        )  # fmt: skip
        assert done.returncode == status, done.stderr.decode()
        return json.loads(done.stdout)

    def call(self, tool: str, *arguments: str, status: int = 0) -> Any:
        """The structured result of a tool, or the text of one that failed."""
        given = [part for argument in arguments for part in ("--tool-arg", argument)]
        answer = self.ask("tools/call", "--tool-name", tool, *given, status=status)
        assert bool(answer.get("isError")) == bool(status)
        (content,) = answer["content"]
        return json.loads(content["text"]) if status else answer["structuredContent"]


@pytest.fixture
def transcript(desk: Desk) -> Path:
    file = pi.write(desk.folder / "session.jsonl", compacted())
    desk.run("index", file)
    return file


def test_the_tools_are_listed_with_schemas_that_every_client_understands(desk: Desk, transcript: Path) -> None:
    listed = Inspector(desk, transcript).ask("tools/list", "--strict")["tools"]
    for shown, tool in zip(listed, read_tools(), strict=True):
        assert (shown["name"], shown["title"], shown["description"]) == (tool.name, tool.title, tool.description)
        assert (shown["inputSchema"], shown["outputSchema"]) == (tool.arguments, tool.result)
        told = shown["annotations"]
        assert (told["readOnlyHint"], told["destructiveHint"], told["openWorldHint"]) == (True, False, False)


def test_what_was_registered_for_claude_code_starts_the_server(desk: Desk, transcript: Path) -> None:
    inspector = Inspector(desk, transcript)
    desk.run("install", "mcp", "--client", "claude-code", environment={"CLAUDE_CONFIG_DIR": str(desk.folder)})
    inspector.file = desk.folder / ".claude.json"
    listed = inspector.ask("tools/list")["tools"]
    assert [tool["name"] for tool in listed] == [tool.name for tool in read_tools()]


def test_each_tool_answers_what_the_engine_and_the_command_line_answer(desk: Desk, transcript: Path) -> None:
    inspector = Inspector(desk, transcript)
    page = inspector.call("history_recall", "query=PG_PORT", "limit=5")
    assert page.pop("warning") == WARNING
    model = Caller(name="tool", model=True, refs_last=60)
    with Engine.open(desk.store) as engine:
        by_engine = wire.recall(engine.recall("PG_PORT", session=transcript, limit=5, caller=model))
    by_command = desk.json("recall", "recall", "PG_PORT", "--session", transcript, "--limit=5")
    assert len(page["hits"]) == 2
    assert unsealed(page) == unsealed(json.loads(wire.encode(by_engine))) == unsealed(by_command)

    second, first = page["hits"]
    assert (second["entryId"], first["entryId"]) == ("f0000000", "e0000001")
    shown = inspector.call("history_expand", f"ref={first['ref']}", "after=1")
    assert shown.pop("warning") == WARNING
    with Engine.open(desk.store) as engine:
        by_engine = wire.expand(engine.expand(session=transcript, entries=[first["entryId"]], after=1, caller=model))
    assert shown == json.loads(wire.encode(by_engine))
    assert shown == desk.json("expand", "expand", by_command["hits"][1]["ref"], "--after=1")
    assert [passage["text"] for passage in shown["entries"]] == list(TEXTS[1:3])

    status = inspector.call("history_status")
    assert status["coverage"] == page["coverage"] | {"complete": True}
    assert status["session"]["sessionId"] == first["sessionId"]
    assert inspector.call("history_recall", "query=(", "mode=regex", status=REFUSED)["error"]["code"] == "bad-argument"


def test_an_entry_is_read_as_a_resource(desk: Desk, transcript: Path) -> None:
    inspector = Inspector(desk, transcript)
    (template,) = inspector.ask("resources/templates/list")["resourceTemplates"]
    assert template["uriTemplate"] == "history://session/{session}/entry/{entry}"
    session = json.loads(transcript.read_text().splitlines()[0])["id"]
    (content,) = inspector.ask("resources/read", "--uri", entry_uri(session, "e0000001"))["contents"]
    document = json.loads(content["text"])
    assert (document["warning"], document["entries"][0]["text"]) == (WARNING, TEXTS[1])
