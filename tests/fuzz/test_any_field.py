"""Whatever a host writes in whatever field: the session is taken in, answers, and keeps no other from the store."""

from __future__ import annotations

import json
import tempfile
from copy import deepcopy
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import claude_code, codex, pi

from aforesaid.engine import Engine
from aforesaid.hosts import wire, wire_upkeep

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.pi import Row

TEXT = "the port is `PG_PORT=5433` in src/app/main.py, 数据库 🎉"


def _pi() -> list[Row]:
    ran = {"role": "bashExecution", "command": "make", "output": "done", "exitCode": 1, "excludeFromContext": False}
    calls = [
        {"type": "text", "text": "look"},
        {"type": "toolCall", "id": "c1", "name": "read", "arguments": {"path": "a"}},
    ]
    custom = {"role": "custom", "customType": "note", "content": TEXT, "display": True}
    rows = [
        pi.header(parentSession="/tmp/other.jsonl"),
        pi.message("e1", None, TEXT),
        {**pi.message("e2", "e1", "", "assistant"), "message": {"role": "assistant", "content": calls}},
        pi.message("e3", "e2", "printed", "toolResult"),
        pi.message("e4", "e3", "again", "user"),
        pi.compaction("e5", "e4", "e4"),
        {**pi.message("e6", "e5", ""), "message": ran},
        {**pi.message("e7", "e6", ""), "message": custom},
        {"type": "custom_message", "id": "e8", "parentId": "e7", "customType": "x", "content": "more", "display": True},
        {"type": "branch_summary", "id": "e9", "parentId": "e8", "fromId": "e1", "summary": "a branch"},
        pi.context_edit("ea", "e9", "e6", "shown"),
        {"type": "label", "id": "eb", "parentId": "ea", "targetId": "e4", "label": "here"},
        {"type": "session_info", "id": "ec", "parentId": "eb", "name": "a name"},
        pi.message("ed", "ec", "which `PG_PORT` was it?"),
    ]
    return [{**row, "timestamp": pi.stamp(number)} for number, row in enumerate(rows)]


def _claude_code() -> list[Row]:
    note = claude_code.note
    return [
        note("summary", leafUuid="u4", summary="a name"),
        claude_code.message("u1", None, TEXT, origin={"kind": "human"}, promptSource="typed"),
        claude_code.call("u2", "u1", "m1", path="a"),
        claude_code.result("u3", "u2", "printed"),
        claude_code.reply("u4", "u3", "so it is"),
        note("summary", leafUuid="u4", summary="another name"),
        claude_code.progress("u5", "u4"),
        claude_code.cleared("u6", "u4", ["u2"]),
        claude_code.boundary("u7", "u6", {"preservedMessages": {"uuids": ["u4"], "allUuids": ["u4"]}}),
        claude_code.summary("u8", "u7"),
        claude_code.row("u9", "u8", "attachment", attachment={"type": "queued_command", "prompt": "go on"}),
        claude_code.row("ua", "u9", "user", isSidechain=True, message={"role": "user", "content": "aside"}),
        claude_code.message("ub", "u9", "which `PG_PORT` was it?", forkedFrom={"sessionId": "x"}),
    ]


def _codex() -> list[Row]:
    kept = codex.user("kept")
    return [
        codex.meta(
            history_base={"thread_id": "x", "end_ordinal_exclusive": 3}, source={"subagent": {"thread_spawn": {}}}
        ),
        codex.event("task_started", turn_id="t"),
        codex.user(TEXT, kinds=["user.text"]),
        codex.call("c1", "shell", {"command": ["ls"], "path": "a"}, namespace="n"),
        codex.output("c1", {"content": "printed", "success": False}),
        codex.item("custom_tool_call", name="apply_patch", input="*** Add File: a", call_id="c2"),
        codex.output("c2", '{"output":"x","metadata":{"exit_code":1}}', "custom_tool_call_output"),
        codex.item("local_shell_call", action={"command": ["ls"]}, call_id="c3"),
        codex.assistant("so it is"),
        codex.compacted([kept, codex.item("compaction", encrypted_content="x")], "a summary"),
        codex.rolled_back(1),
        {**codex.user("which `PG_PORT` was it?"), "ordinal": 12, "metadata": {"compaction_output": False}},
    ]


HOSTS = {"pi": _pi(), "claude-code": _claude_code(), "codex": _codex()}
RAW = {
    f"@raw{number}@": text
    for number, text in enumerate(
        ("1e30", "-1e30", "1e400", "-1e400", "NaN", "1" + "0" * 24, "9" * 400, "9" * 5000, "9223372036854775808", "-0")
    )
}
"""What no JSON library of Python writes, by what stands for it while a row is made."""


def _paths(value: object, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where anything else may stand in a row."""
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, part in parts:
        yield (*path, name)
        yield from _paths(part, (*path, name))


ids = st.sampled_from(["e1", "e4", "u4", "c1", "L1", "", "\ud800", "a\x00b", "x" * 5000])
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | ids | st.sampled_from(sorted(RAW)),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "text", "id", "kind", "role", "content", "\ud800"]), inner, max_size=3
        )
    ),
    max_leaves=6,
)


@st.composite
def changed(draw: st.DrawFn, host: str) -> list[Row]:
    """A session of a host in which some fields hold anything."""
    rows = deepcopy(HOSTS[host])
    for _ in range(draw(st.integers(1, 3))):
        row = draw(st.sampled_from(rows))
        paths = list(_paths(row))
        if paths:
            *above, last = draw(st.sampled_from(paths))
            place: Any = row
            for name in above:
                place = place[name]
            place[last] = draw(values)
    return rows


def written(rows: list[Row]) -> bytes:
    text = "\n".join(map(json.dumps, rows)) + "\n"
    for mark, raw in RAW.items():
        text = text.replace(f'"{mark}"', raw)
    return text.encode()


def check(content: bytes, host: str) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for neighbour in ("a.jsonl", "z.jsonl"):
            pi.write(folder / neighbour, [pi.header(neighbour), *pi.conversation(["one", "two"])])
        file = folder / "m.jsonl"
        file.write_bytes(content)
        with Engine.open(folder / "store") as engine:
            report = engine.index(folder)
            assert {one.status for one in report.sessions} == {"added"}, report
            there = {one.file: one for one in report.sessions}
            assert {str(folder / "a.jsonl"), str(folder / "z.jsonl")} <= set(there)
            wire.encode(wire_upkeep.index(report))
            if str(file) not in there:
                return  # so little is left of it that nobody could say whose it is
            assert {one.status for one in engine.index(folder).sessions} == {"unchanged"}
            found = engine.retrieve(session=file)
            assert found.status != "failed", found.diagnostics
            wire.encode(wire.retrieval(found))
            plan = engine.plan(session=file, context_window=4000)
            assert not plan.failed, plan.reason
            wire.encode(wire.plan(plan))
            wire.encode(wire.lost(engine.lost(session=file)))
            view = engine.view(session=file)
            assert view.diagnostics.status != "failed", view.diagnostics
            wire.encode(wire.view(view))
            wire.encode(wire.recall(engine.recall("PG_PORT", session=file)))
            with file.open("ab") as more:
                more.write(b'{"type":"nothing"}\n')
            assert engine.index(file).sessions[0].status in {"updated", "unchanged"}, "what was kept to go on is read"


@pytest.mark.parametrize("host", sorted(HOSTS))
def test_the_sessions_are_such_as_their_hosts_write(host: str) -> None:
    check(written(HOSTS[host]), host)


@pytest.mark.parametrize("host", sorted(HOSTS))
def test_anything_in_any_field_is_taken_in_and_answers(host: str) -> None:
    @settings(max_examples=40)
    @given(changed(host))
    def ask(rows: list[Row]) -> None:
        check(written(rows), host)

    ask()
