"""Evidence never quotes evidence: what is found is written into the transcript as each host writes it, and asked again.

Twenty rounds: hook context and messages of extensions, the results of our own tools under the names that hosts give
them, evidence that a shell printed, and a compaction after each round, so that all of it is lost and could come back.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from tests import claude_code, codex, pi

from aforesaid import Engine

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

ROUNDS = 20
FACT = "the walnut table has exit code 78"
ASKED = "which exit code has the walnut table?"
OWN = json.dumps({"hits": [{"snippet": f"{FACT}, says the tool"}]})


class ClaudeCode:
    """Hook context as an attachment, and the tool of an MCP server."""

    fact = "a"
    write = staticmethod(claude_code.write)
    start = (
        claude_code.message("a", None, FACT),
        claude_code.reply("b", "a", "noted"),
        claude_code.boundary("B", "b"),
        claude_code.summary("S", "B"),
    )

    def ask(self, number: int) -> list[Any]:
        return [claude_code.message(f"q{number}", f"S{number - 1}" if number else "S", ASKED, minute=number)]

    def go_on(self, number: int, evidence: str) -> list[Any]:
        hooked = {"type": "hook_additional_context", "content": [evidence]}
        return [
            claude_code.row(f"h{number}", f"q{number}", "attachment", attachment=hooked),
            claude_code.call(
                f"c{number}", f"h{number}", f"m{number}", "mcp__aforesaid__history_recall", query="walnut"
            ),
            claude_code.result(f"r{number}", f"c{number}", OWN),
            claude_code.call(f"x{number}", f"r{number}", f"o{number}", "mcp__aforesaid__history_expand", ref="walnut"),
            claude_code.result(f"y{number}", f"x{number}", OWN),
            claude_code.call(f"d{number}", f"y{number}", f"n{number}", "Bash", command="cat evidence.txt"),
            claude_code.result(f"e{number}", f"d{number}", f"printed\n{evidence}"),
            claude_code.reply(f"z{number}", f"e{number}", "yes"),
            claude_code.boundary(f"B{number}", f"z{number}"),
            claude_code.summary(f"S{number}", f"B{number}"),
        ]


class Codex:
    """Hook context as messages of the developer and of the user, and the tool of a server's namespace."""

    fact = "L2"
    write = staticmethod(codex.write)
    start = (codex.meta(), codex.user(FACT), codex.assistant("noted"), codex.compacted([], message="a summary"))

    def ask(self, number: int) -> list[Any]:
        return [codex.user(ASKED)]

    def go_on(self, number: int, evidence: str) -> list[Any]:
        return [
            codex.message("developer", evidence),
            codex.user(evidence, kinds=["hooks.additional_context"]),
            codex.call(f"c{number}", "history_recall", {"query": "walnut"}, namespace="mcp__aforesaid"),
            codex.output(f"c{number}", OWN),
            codex.call(f"x{number}", "mcp__aforesaid__history_expand", {"ref": "walnut"}),
            codex.output(f"x{number}", OWN),
            codex.call(f"d{number}", "exec_command", {"cmd": "cat evidence.txt"}),
            codex.output(f"d{number}", f"Output:\nprinted\n{evidence}"),
            codex.assistant("yes"),
            codex.compacted([], message="a summary"),
        ]


class Pi:
    """Messages of extensions, our tools of the extension and of a server, and what an extension says as the user."""

    fact = "a0000000"
    write = staticmethod(pi.write)
    start = (
        pi.header(),
        pi.message("a0000000", None, FACT),
        pi.message("b0000000", "a0000000", "noted", "assistant"),
        pi.compaction("c0000000", "b0000000", "nothing"),
    )

    def ask(self, number: int) -> list[Any]:
        parent = f"c{number - 1:07}x" if number else "c0000000"
        return [pi.message(f"q{number:07}", parent, ASKED, minute=number)]

    def go_on(self, number: int, evidence: str) -> list[Any]:
        rows = [
            pi.message("", None, evidence, "custom"),
            pi.message("", None, evidence),
            self._call("history_recall"),
            self._result("history_recall", OWN),
            self._call("mcp__aforesaid__history_expand"),
            self._result("mcp__aforesaid__history_expand", OWN),
            self._call("bash"),
            self._result("bash", f"printed\n{evidence}"),
            pi.message("", None, "yes", "assistant"),
        ]
        parent = f"q{number:07}"
        for place, row in enumerate(rows):
            row["id"], row["parentId"] = f"r{number:03}-{place:03}", parent
            parent = row["id"]
        return [*rows, pi.compaction(f"c{number:07}x", parent, "nothing")]

    def _call(self, tool: str) -> Any:
        row = pi.message("", None, "", "assistant")
        arguments = {"command": "cat evidence.txt"} if tool == "bash" else {"query": "walnut"}
        row["message"]["content"] = [{"type": "toolCall", "id": "call", "name": tool, "arguments": arguments}]
        return row

    def _result(self, tool: str, text: str) -> Any:
        row = pi.message("", None, text, "toolResult")
        row["message"] |= {"toolCallId": "call", "toolName": tool}
        return row


def holding(engine: Engine, file: Path, words: Sequence[str]) -> list[int]:
    """How many entries the full-text index finds by each of the words."""
    session = engine._find(str(file))
    with engine._store.read(session.key) as snapshot:
        return [snapshot.count_terms((word,), ((1, session.entries),)) for word in words]


@pytest.mark.parametrize("settings", [{}, {"retrieval.ranking": "contextual", "retrieval.query": "working"}])
@pytest.mark.parametrize("make", [ClaudeCode, Codex, Pi])
def test_an_echo_of_our_own_evidence_never_grows(
    tmp_path: Path, make: Callable[[], ClaudeCode | Codex | Pi], settings: dict[str, object]
) -> None:
    host = make()
    rows: list[Any] = list(host.start)
    file = tmp_path / "s.jsonl"
    texts: set[str] = set()
    with Engine.open(tmp_path / "store", settings=settings) as engine:
        for number in range(ROUNDS):
            rows += host.ask(number)
            host.write(file, rows)
            found = engine.retrieve(session=file)
            first = found.hits[0]
            assert first.ranked.candidate.entry.id == host.fact
            texts.update(hit.excerpt for hit in found.hits if "78" in hit.excerpt)
            assert not any("AFORESAID" in hit.excerpt for hit in found.hits)
            rows += host.go_on(number, first.message)
        host.write(file, rows)
        engine.index(file)
        # The fact once, the question as often as it was asked; nothing of what was found again, however it came back.
        assert holding(engine, file, ("noted", "78", "snippet", "historical")) == [1, 1, 0, 0]
        assert holding(engine, file, ("which exit code", "walnut")) == [ROUNDS, ROUNDS + 1]
        assert holding(engine, file, ("printed",)) == [ROUNDS], "what stands beside the evidence is kept"
    assert texts == {FACT}
