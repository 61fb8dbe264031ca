from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.schemas import check
from tests.values import FAILED, FLAW, make_report, make_sync

from aforesaid.hosts import session_folders
from aforesaid.model import Flaw

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.unit.cli.conftest import Done, FakeEngine

    Command = Callable[..., Done]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder without any host."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "home"))
    for variable in ("PI_CODING_AGENT_DIR", "PI_CODING_AGENT_SESSION_DIR", "CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(variable, raising=False)
    return tmp_path / "home"


def test_paths_and_host_go_to_the_engine(command: Command, fake: FakeEngine) -> None:
    fake.answer = make_report(make_sync())
    done = command("index", "a", "b", "--host", "pi", "--json")
    assert done.status == 0
    assert fake.calls == [("index", ("a", "b"), {"host": "pi", "progress": None, "lenient": False})]
    assert check("index", done.out)["totals"]["sessions"] == 1
    assert done.err == ""


def test_a_table_shows_each_session_and_each_flaw_with_line_and_byte(command: Command, fake: FakeEngine) -> None:
    noted = Flaw(line=1, byte=0, reason="missing-header", lost=False)
    fake.answer = make_report(make_sync(flaws=(noted, FLAW)), make_sync(status="unchanged", added=0, removed=3))
    done = command("index", "a")
    assert done.out.splitlines() == [
        "status     entries  added  removed  flaws  file",
        "added           40     40        0      2  /home/dev/sessions/a.jsonl",
        "unchanged       40      0        3      0  /home/dev/sessions/a.jsonl",
        "",
        "/home/dev/sessions/a.jsonl",
        "  line 1, byte 0: missing-header (content kept)",
        "  line 7, byte 901: invalid-json",
        "",
        "2 sessions (1 added, 1 unchanged); 80 entries (40 added, 3 removed); 2 flawed lines; 0.01 s",
    ]


def test_many_flaws_are_counted_unless_all_are_wanted(command: Command, fake: FakeEngine) -> None:
    flaws = tuple(Flaw(line=n, byte=n * 10, reason="invalid-json") for n in range(1, 31))
    fake.answer = make_report(make_sync(flaws=flaws))
    few = command("index", "a").out
    assert "line 20, byte 200" in few
    assert "line 21, byte 210" not in few
    assert "and 10 more (-v lists all)" in few
    assert "line 30, byte 300" in command("index", "a", "-v").out


def test_a_failed_session_is_status_1_and_the_document_is_complete(command: Command, fake: FakeEngine) -> None:
    fake.answer = make_report(make_sync(), FAILED)
    done = command("index", "a", "--json")
    assert done.status == 1
    assert [session["status"] for session in check("index", done.out)["sessions"]] == ["added", "failed"]
    done = command("index", "a")
    assert done.status == 1
    assert done.err == "error[source-unreadable]: /home/dev/sessions/b.jsonl cannot be read\n"
    assert "failed" in done.out


def test_all_means_the_folders_in_which_pi_keeps_sessions(
    command: Command, fake: FakeEngine, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake.answer = make_report(make_sync())
    own = home / ".pi" / "agent" / "sessions" / "--project--"
    own.mkdir(parents=True)
    (own / "a.jsonl").write_text("{}\n")
    assert command("index", "--all").status == 0
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "b.jsonl").write_text("{}\n")
    monkeypatch.setenv("PI_CODING_AGENT_SESSION_DIR", str(elsewhere))
    assert command("index", "--all", "--host", "pi").status == 0
    monkeypatch.setenv("PI_CODING_AGENT_DIR", str(tmp_path / "agent"))
    (tmp_path / "agent" / "sessions").mkdir(parents=True)  # empty: nothing to index there, and no error
    assert command("index", "--all").status == 0
    sessions = str(home / ".pi" / "agent" / "sessions")
    assert [call[1] for call in fake.calls] == [(sessions,), (str(elsewhere), sessions), (str(elsewhere),)]
    assert session_folders("codex") == ()


def test_all_means_the_folders_of_claude_code_too(
    command: Command, fake: FakeEngine, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake.answer = make_report(make_sync())
    own = home / ".claude" / "projects" / "-home-dev-project"
    own.mkdir(parents=True)
    (own / "a.jsonl").write_text("{}\n")
    assert command("index", "--all").status == 0
    other = tmp_path / "config" / "projects"
    other.mkdir(parents=True)
    (other / "b.jsonl").write_text("{}\n")
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "config"))
    assert command("index", "--all", "--host", "claude-code").status == 0
    assert [call[1] for call in fake.calls] == [(str(own.parent),), (str(other),)]
    assert [call[2]["lenient"] for call in fake.calls] == [True, True]
    assert session_folders("pi") == ()


def test_all_means_the_folders_of_codex_too(
    command: Command, fake: FakeEngine, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake.answer = make_report(make_sync())
    own = home / ".codex" / "sessions" / "2026" / "11" / "30"
    own.mkdir(parents=True)
    (own / "rollout-a.jsonl").write_text("{}\n")
    archived = home / ".codex" / "archived_sessions"
    archived.mkdir()
    (archived / "rollout-b.jsonl").write_text("{}\n")
    assert command("index", "--all").status == 0
    other = tmp_path / "other" / "sessions"
    other.mkdir(parents=True)
    (other / "rollout-c.jsonl").write_text("{}\n")
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "other"))
    assert command("index", "--all", "--host", "codex").status == 0
    sessions = str(home / ".codex" / "sessions")
    assert [call[1] for call in fake.calls] == [(sessions, str(archived)), (str(other),)]


def test_all_without_any_host_is_status_2(command: Command, fake: FakeEngine) -> None:
    done = command("index", "--all", "--json")
    assert done.status == 2
    assert check("error", done.out)["error"]["code"] == "no-sessions"


def test_rebuild_reports_as_index_does(command: Command, fake: FakeEngine) -> None:
    fake.answer = make_report(make_sync(status="rebuilt"))
    assert "1 session (1 rebuilt)" in command("rebuild").out
    done = command("rebuild", "--session", "s", "--json")
    assert check("rebuild", done.out)["schema"] == "aforesaid.rebuild/1"
    assert [call[2]["session"] for call in fake.calls] == [None, "s"]
    fake.answer = make_report(FAILED)
    assert command("rebuild").status == 1
