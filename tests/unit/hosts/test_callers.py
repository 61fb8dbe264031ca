from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests import pi

from aforesaid import Engine
from aforesaid.errors import BadArgument, ScopeNotAllowed, SessionNotFound
from aforesaid.hosts.mcp.callers import Surroundings, find_place, look_around
from aforesaid.hosts.places import Place, need

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    for variable in ("PI_CODING_AGENT_SESSION_DIR", "PI_CODING_AGENT_DIR", "CLAUDE_CONFIG_DIR"):
        monkeypatch.setenv(variable, str(tmp_path / "nowhere"))
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "codex"))
    for name, cwd in (("one", "/p"), ("two", "/p"), ("three", "/q")):
        rows = pi.conversation(["a", "b"])
        rows[1]["message"]["content"].append({"type": "toolCall", "id": "call-1", "name": "x", "arguments": {}})
        pi.write(tmp_path / f"{name}.jsonl", [pi.header(name, cwd=cwd), *rows, pi.message("last", rows[0]["id"], "c")])
    with Engine.open(tmp_path / "store") as opened:
        opened.index(tmp_path)
        yield opened


def test_the_environment_says_what_it_knows() -> None:
    told = {"CLAUDE_CODE_SESSION_ID": "c", "CLAUDE_PROJECT_DIR": "/p"}
    assert look_around(None, project=False, environment=told) == Surroundings(claude="c", folder="/p")
    assert look_around("s", project=True, environment={}) == Surroundings(
        session="s", folder=str(Path.cwd()), project=True
    )


@pytest.mark.parametrize(
    ("around", "meta", "expected", "leaf"),
    [
        (Surroundings(session="one"), {}, "one", None),
        (Surroundings(session="one", claude="two"), {"threadId": "three"}, "one", None),
        (Surroundings(claude="two"), {"threadId": "one"}, "one", None),
        (Surroundings(claude="two"), {}, "two", None),
        (Surroundings(claude="two"), {"claudecode/toolUseId": "call-1"}, "two", "e0000001"),
        (Surroundings(), {"threadId": "one", "callId": "call-1"}, "one", "e0000001"),
        (Surroundings(claude="two"), {"claudecode/toolUseId": 5, "threadId": None}, "two", None),
        (Surroundings(), {}, None, None),
    ],
)
def test_the_calling_session_and_its_branch(
    engine: Engine, around: Surroundings, meta: dict[str, Any], expected: str | None, leaf: str | None
) -> None:
    place = find_place(engine, around, meta, None)
    assert (place.session and Path(place.session).stem, place.leaf) == (expected, leaf)


def test_a_call_that_is_not_written_yet_is_waited_for_and_then_the_last_entry_counts(engine: Engine) -> None:
    assert engine.find_call("one", "unwritten", patience=0.06) is None


@pytest.mark.parametrize(
    ("around", "given", "allowed"),
    [
        (Surroundings(session="one"), "one", True),
        (Surroundings(session="one"), "two", False),
        (Surroundings(session="one", project=True), "two", True),
        (Surroundings(session="one", project=True), "three", False),
        (Surroundings(folder="/p"), "two", True),
        (Surroundings(folder="/p"), "three", False),
        (Surroundings(folder=""), "two", False),
    ],
)
def test_other_sessions_are_only_for_whom_they_are_meant(
    engine: Engine, around: Surroundings, given: str, allowed: bool
) -> None:
    if allowed:
        place = find_place(engine, around, {}, given)
        assert place.session is not None
        assert engine.known(place.session)[0].header.session_id == given
    else:
        with pytest.raises(ScopeNotAllowed):
            find_place(engine, around, {}, given)


def test_what_nobody_knows(engine: Engine, tmp_path: Path) -> None:
    with pytest.raises(SessionNotFound):
        find_place(engine, Surroundings(session="one", project=True), {}, "nobody")
    with pytest.raises(SessionNotFound):
        find_place(engine, Surroundings(claude="nobody"), {}, None)
    with pytest.raises(BadArgument):
        need(Place())
    assert need(Place(session="x")).session == "x"


def test_a_session_that_was_never_indexed_is_found_where_its_host_keeps_it(engine: Engine, tmp_path: Path) -> None:
    folder = tmp_path / "codex" / "sessions" / "2026" / "11" / "30"
    folder.mkdir(parents=True)
    file = pi.write(folder / "rollout-2026-11-30T00-00-00-fresh.jsonl", [pi.header("fresh"), *pi.conversation(["x"])])
    assert find_place(engine, Surroundings(), {"threadId": "fresh"}, None).session == str(file)
