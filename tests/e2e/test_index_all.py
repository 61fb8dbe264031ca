"""`index --all` as a process: the folders of all hosts, incrementally, with nothing in them changed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from tests import claude_code as cc
from tests import codex, pi
from tests.conftest import ROOT

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home folder in which three hosts keep their sessions where they do by default."""
    home = tmp_path / "home"
    mine = home / ".pi" / "agent" / "sessions" / "--home-dev-project--"
    mine.mkdir(parents=True)
    rows = pi.conversation(["the walnut table", "noted"])
    pi.write(mine / "one.jsonl", [pi.header("pi-one"), *rows, pi.compaction("cccccccc", rows[-1]["id"], "cccccccc")])
    project = home / ".claude" / "projects" / "-home-dev-project"
    children = project / cc.SESSION / "subagents"
    children.mkdir(parents=True)
    rows = [cc.message("a", None, "the walnut table"), cc.reply("b", "a", "noted"), cc.boundary("B", "b")]
    cc.write(project / f"{cc.SESSION}.jsonl", [*rows, cc.summary("S", "B")])
    cc.write(children / "agent-a1.jsonl", [cc.message("s", None, "the walnut task", agentId="a1", isSidechain=True)])
    (project / cc.SESSION / "tool-results").mkdir()
    (project / cc.SESSION / "tool-results" / "hook.txt").write_text("words")
    day = home / ".codex" / "sessions" / "2026" / "11" / "30"
    day.mkdir(parents=True)
    rows = [codex.meta(), codex.assistant("the walnut table"), codex.compacted([], message="a summary")]
    codex.write(day / f"rollout-2026-11-30T02-16-38-{codex.THREAD}.jsonl", rows)
    archived = home / ".codex" / "archived_sessions"
    archived.mkdir()
    (archived / "notes.jsonl").write_text('{"note":1}\n')
    return home


def run(home: Path, *arguments: str) -> dict[str, Any]:
    hidden = ("PI_CODING_AGENT", "CLAUDE_", "CODEX_", "AFORESAID_")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(hidden)}
    environment |= {"HOME": str(home), "USERPROFILE": str(home), "AFORESAID_STORE": str(home.parent / "store")}
    command = [sys.executable, "-m", "aforesaid", *arguments, "--json"]
    done = subprocess.run(command, env=environment, capture_output=True, check=False, cwd=home.parent)
    assert done.returncode == 0, done.stderr.decode()
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def state(home: Path) -> dict[str, tuple[int, bytes]]:
    files = [path for path in home.rglob("*") if path.is_file()]
    return {str(path): (path.stat().st_mtime_ns, path.read_bytes()) for path in files}


def test_all_hosts_are_found_and_only_what_is_new_is_read_again(home: Path) -> None:
    before = state(home)
    found = run(home, "index", "--all")["sessions"]
    assert sorted((one["host"], one["sessionId"], one["entries"], one["status"]) for one in found) == [
        ("claude-code", cc.SESSION, 4, "added"),
        ("claude-code", "agent-a1", 1, "added"),
        ("codex", codex.THREAD, 2, "added"),
        ("pi", "pi-one", 3, "added"),
    ]
    assert all(one["invalidLines"] == [] for one in found)
    assert run(home, "index", "--all")["totals"]["statuses"]["unchanged"] == 4
    assert state(home) == before
    (rollout,) = home.rglob("rollout-*.jsonl")
    rollout.write_bytes(rollout.read_bytes() + json.dumps(codex.user("which table?")).encode() + b"\n")
    (one,) = run(home, "index", "--all", "--host", "codex")["sessions"]
    assert (one["status"], one["added"], one["entries"]) == ("updated", 1, 3)
    parents = {one["sessionId"]: one["parent"] for one in run(home, "sessions")["sessions"]}
    assert parents == {cc.SESSION: None, "agent-a1": cc.SESSION, codex.THREAD: None, "pi-one": None}


def test_what_a_compaction_removed_comes_back_in_the_sessions_of_every_host(home: Path) -> None:
    run(home, "index", "--all")
    for session, entry in ((cc.SESSION, "a"), (codex.THREAD, "L2"), ("pi-one", "e0000000")):
        (hit,) = run(home, "retrieve", "--session", session, "--query", "the walnut")["hits"]
        assert (hit["entryId"], hit["excerpt"]) == (entry, "the walnut table")


def test_made_sessions_of_the_real_programs_are_found_where_they_keep_them(tmp_path: Path) -> None:
    home = tmp_path / "home"
    shutil.copytree(ROOT / "examples" / "claude-code", home / ".claude" / "projects" / "-home-dev-scratch")
    shutil.copytree(ROOT / "examples" / "codex", home / ".codex" / "sessions" / "2026" / "11" / "30")
    found = run(home, "index", "--all")
    assert found["totals"]["statuses"] == {"added": 5, "updated": 0, "unchanged": 0, "rebuilt": 0, "failed": 0}
    assert found["totals"]["invalidLines"] == 0
    shared = sorted((one["host"], one["shared"]) for one in run(home, "sessions")["sessions"])
    assert shared == [("claude-code", 0), ("claude-code", 0), ("claude-code", 28), ("codex", 0), ("codex", 19)]
