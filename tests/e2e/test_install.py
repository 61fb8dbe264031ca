"""`aforesaid install` and `uninstall` as users run them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from tests import pi
from tests.e2e.desk import Desk, make_desk

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    made = make_desk(tmp_path)
    made.environment["PI_CODING_AGENT_DIR"] = str(tmp_path / "agent")
    return made


def test_install_writes_one_file_and_uninstall_takes_it_back(desk: Desk) -> None:
    file = desk.folder / "agent" / "extensions" / "aforesaid.ts"
    dry = desk.json("installation", "install", "pi", "--dry-run")
    assert not file.exists()
    assert (dry["action"], dry["host"], dry["dryRun"]) == ("install", "pi", True)
    done = desk.json("installation", "install", "pi")
    assert done["changes"] == dry["changes"]
    assert file.read_text() == done["changes"][-1]["content"]
    assert desk.json("installation", "install", "pi")["changes"] == []
    gone = desk.json("installation", "uninstall", "pi", "--dry-run")
    assert file.exists()
    assert desk.json("installation", "uninstall", "pi")["changes"] == gone["changes"]
    assert not (desk.folder / "agent").exists()
    assert desk.json("installation", "uninstall", "pi")["changes"] == []


def test_a_dry_run_shows_the_whole_file(desk: Desk) -> None:
    shown = desk.run("install", "pi", "--dry-run").out
    content = desk.json("installation", "install", "pi")["changes"][-1]["content"]
    assert [line[4:] for line in shown.splitlines() if line.startswith("  | ")] == content.splitlines()
    assert "would write" in shown
    assert "Nothing to change." in desk.run("install", "pi").out
    assert "deleted" in desk.run("uninstall", "pi").out


def test_global_options_are_kept_for_the_service(desk: Desk) -> None:
    (desk.folder / "c.json").write_text("{}")
    done = desk.json(
        "installation", "install", "pi", "--store", "mine", "--config", "c.json", "--set", "retrieval.maxResults=5"
    )
    content = done["changes"][-1]["content"]
    for kept in (str(desk.folder / "mine"), str(desk.folder / "c.json"), '"--set", "retrieval.maxResults=5"'):
        assert kept in content


def test_wrong_arguments_are_refused_before_anything_is_written(desk: Desk) -> None:
    for command in ("install", "uninstall"):
        assert desk.refused(command, "emacs") == ("bad-argument", 2)
        assert "name pi or mcp" in desk.run(command, "emacs").err
        assert "name mcp --client codex" in desk.run(command, "codex").err
    assert desk.refused("install") == ("bad-argument", 2)
    assert desk.refused("uninstall", "emacs") == ("bad-argument", 2)
    assert desk.refused("install", "pi", "--set", "retrieval.maxResults=0") == ("config-invalid", 2)
    assert not (desk.folder / "agent").exists()


def test_a_file_of_somebody_else_is_an_operational_failure(desk: Desk) -> None:
    file = desk.folder / "agent" / "extensions" / "aforesaid.ts"
    file.parent.mkdir(parents=True)
    file.write_text("mine")
    assert desk.refused("install", "pi") == ("operation-failed", 1)
    assert desk.refused("uninstall", "pi") == ("operation-failed", 1)
    assert file.read_text() == "mine"


def test_purge_removes_the_store_and_the_configuration_and_nothing_else(desk: Desk) -> None:
    transcript = pi.write(desk.folder / "s.jsonl", [pi.header(), *pi.conversation(["walnut", "noted"])])
    desk.run("index", str(transcript))
    desk.run("config", "set", "retrieval.maxResults", "5")
    desk.run("install", "pi")
    planned = desk.json("installation", "uninstall", "pi", "--purge", "--dry-run")
    assert desk.json("sessions", "sessions")["sessions"]
    done = desk.json("installation", "uninstall", "pi", "--purge")
    assert done["changes"] == planned["changes"]
    assert not desk.store.exists()
    assert not (desk.folder / "config" / "aforesaid").exists()
    assert transcript.exists()
    assert desk.json("installation", "uninstall", "pi", "--purge")["changes"] == []


def test_purge_leaves_what_somebody_else_put_into_the_folders(desk: Desk) -> None:
    transcript = pi.write(desk.folder / "s.jsonl", [pi.header(), *pi.conversation(["walnut", "noted"])])
    desk.run("index", str(transcript))
    desk.run("config", "set", "retrieval.maxResults", "5")
    others = [
        desk.store / "mine.txt",
        desk.store / "sessions" / "mine.db",
        desk.store / "sessions" / ("z" * 32 + ".db"),
        desk.folder / "config" / "aforesaid" / "mine.json",
    ]
    for other in others:
        other.write_text("mine")
    desk.run("uninstall", "pi", "--purge")
    assert all(other.read_text() == "mine" for other in others)
    left = [path for path in (*desk.store.rglob("*"), *(desk.folder / "config").rglob("*")) if path.is_file()]
    assert sorted(left) == sorted(others)


@pytest.fixture
def clients(desk: Desk) -> Desk:
    """A user whose clients keep their settings in one folder each."""
    for variable in ("PI_CODING_AGENT_DIR", "CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        desk.environment[variable] = str(desk.folder / variable)
    return desk


FILES = {
    "pi": ("PI_CODING_AGENT_DIR", "mcp.json"),
    "claude-code": ("CLAUDE_CONFIG_DIR", ".claude.json"),
    "codex": ("CODEX_HOME", "config.toml"),
}


@pytest.mark.parametrize("client", FILES)
def test_the_mcp_server_is_registered_and_taken_back(clients: Desk, client: str) -> None:
    target = ("mcp", "--client", client)
    file = clients.folder.joinpath(*FILES[client])
    dry = clients.json("installation", "install", *target, "--dry-run")
    assert not file.parent.exists()
    assert (dry["host"], dry["client"], dry["dryRun"]) == ("mcp", client, True)
    done = clients.json("installation", "install", *target)
    assert done["changes"] == dry["changes"]
    assert file.read_text() == done["changes"][-1]["content"]
    assert clients.json("installation", "install", *target)["changes"] == []
    gone = clients.json("installation", "uninstall", *target, "--dry-run")
    assert file.exists()
    assert clients.json("installation", "uninstall", *target)["changes"] == gone["changes"]
    assert not file.parent.exists()
    assert clients.json("installation", "uninstall", *target)["changes"] == []


def test_a_dry_run_shows_the_exact_edit_and_nothing_of_the_rest(clients: Desk) -> None:
    file = clients.folder.joinpath(*FILES["claude-code"])
    file.parent.mkdir()
    file.write_text('{\n  "secret": "sk-1",\n  "mcpServers": {\n    "docs": {"url": "x"}\n  }\n}\n')
    before = file.read_bytes()
    target = ("mcp", "--client", "claude-code", "--provider", "anthropic", "--trust-project")
    shown = clients.run("install", *target, "--dry-run", "--set", "retrieval.maxResults=5").out
    assert "would edit" in shown
    assert "sk-1" not in shown
    assert file.read_bytes() == before
    assert "edited" in clients.run("install", *target, "--set", "retrieval.maxResults=5").out
    added = [line.removeprefix("  | +") for line in shown.splitlines() if line.startswith("  | +")]
    after = file.read_text().splitlines()
    start = after.index('    "docs": {"url": "x"},')
    assert after[start + 1 : start + len(added)] == added[1:]
    kept = json.loads(file.read_text())["mcpServers"]["aforesaid"]["args"]
    assert kept == [
        *("-P", "-m", "aforesaid", "mcp", "--provider", "anthropic", "--trust-project"),
        *("--set", "retrieval.maxResults=5"),
    ]
    assert "would edit" in clients.run("uninstall", "mcp", "--client=claude-code", "--dry-run").out
    clients.run("uninstall", "mcp", "--client=claude-code")
    assert file.read_bytes() == before


def test_wrong_targets_are_refused_before_anything_is_written(clients: Desk) -> None:
    for arguments in (
        ("install", "mcp"), ("uninstall", "mcp"), ("install", "mcp", "--client", "emacs"),
        ("install", "pi", "--client", "pi"), ("uninstall", "pi", "--client", "pi"),
        ("install", "pi", "--provider", "x"), ("install", "pi", "--trust-project"),
    ):  # fmt: skip
        assert clients.refused(*arguments) == ("bad-argument", 2), arguments
    assert not any((clients.folder / variable).exists() for variable, _ in FILES.values())


def test_settings_of_somebody_else_are_an_operational_failure(clients: Desk) -> None:
    file = clients.folder.joinpath(*FILES["codex"])
    file.parent.mkdir()
    file.write_text('[mcp_servers.aforesaid]\ncommand = "mine"\n')
    for action in ("install", "uninstall"):
        assert clients.refused(action, "mcp", "--client", "codex") == ("operation-failed", 1)
    assert file.read_text() == '[mcp_servers.aforesaid]\ncommand = "mine"\n'


def test_what_cannot_run_is_not_registered(
    clients: Desk, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from aforesaid.cli import main

    for name, value in clients.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("aforesaid.cli.mcp.find_spec", lambda _: None)
    assert main(["install", "mcp", "--client", "codex"]) == 1
    assert "pip install 'aforesaid[mcp]'" in capsys.readouterr().err
    assert not (clients.folder / "CODEX_HOME").exists()
