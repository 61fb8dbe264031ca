"""The entry of the MCP server in the settings of its clients, and how it is taken back."""

from __future__ import annotations

import json
import os
import stat
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from aforesaid.errors import OperationError
from aforesaid.hosts import wire
from aforesaid.hosts.changes import carry_out, show_edit
from aforesaid.hosts.mcp.registration import CLIENTS, NOTE, plan_register, plan_unregister, settings_file

if TYPE_CHECKING:
    from collections.abc import Callable

posix = pytest.mark.skipif(os.name != "posix", reason="modes and links of POSIX")
FILES = {
    "pi": '{\n\t"mcpServers": {\n\t\t"docs": {"url": "https://x/mcp"}\n\t},\n\t"autoEnableCodemode": false\n}\n',
    "claude-code": '{"numStartups": 5, "mcpServers": {}, "projects": {"/x": {"history": ["said"]}}}',
    "codex": "# mine\r\nmodel = 'x'   # said\r\n\r\n[mcp_servers.docs]\r\nurl = \"https://example.com\"",
}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for variable in ("PI_CODING_AGENT_DIR", "CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


def listing(folder: Path) -> dict[str, bytes | None]:
    return {str(path): path.read_bytes() if path.is_file() else None for path in sorted(folder.rglob("*"))}


def entry_of(client: str) -> Any:
    text = Path(settings_file(client)).read_text(encoding="utf-8-sig")
    return (
        tomllib.loads(text)["mcp_servers"]["aforesaid"]
        if client == "codex"
        else json.loads(text)["mcpServers"]["aforesaid"]
    )


def write(client: str, content: str) -> Path:
    file = Path(settings_file(client))
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content.encode())
    return file


def nothing(_: str) -> None: ...


def usual(client: str) -> None:
    write(client, FILES[client])


def empty(client: str) -> None:
    write(client, "")


def blank(client: str) -> None:
    write(client, "\r\n\n" if client == "codex" else "\ufeff\n")


def bare(client: str) -> None:
    write(client, "" if client == "codex" else "{}")


def only_the_folder(client: str) -> None:
    Path(settings_file(client)).parent.mkdir(parents=True, exist_ok=True)


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("before", [nothing, usual, empty, blank, bare, only_the_folder])
def test_taking_back_restores_exactly_what_was_there(client: str, before: Callable[[str], None], home: Path) -> None:
    before(client)
    found = listing(home)
    planned = plan_register(client, ["--store", 'a "b"'])
    assert listing(home) == found, "planning changes nothing"
    carry_out(planned)
    installed = listing(home)
    entry = entry_of(client)
    assert (entry["command"], entry["args"]) == (
        str(Path(sys.executable).absolute()), ["-P", "-m", "aforesaid", "mcp", "--store", 'a "b"'],
    )  # fmt: skip
    assert plan_register(client, ["--store", 'a "b"']) == ()
    carry_out(plan_unregister(client))
    assert listing(home) == found
    assert plan_unregister(client) == ()
    assert installed != found


@pytest.mark.parametrize("client", CLIENTS)
def test_what_others_have_changed_meanwhile_stays(client: str) -> None:
    file = write(client, FILES[client])
    carry_out(plan_register(client))
    text = file.read_bytes().decode()
    added = "\r\n[new]\r\nx = 1\r\n" if client == "codex" else None
    changed = text + added if added else text.replace("5", "6").replace("false", "true")
    file.write_bytes(changed.encode())
    carry_out(plan_unregister(client))
    expected = FILES[client] + added if added else FILES[client].replace("5", "6").replace("false", "true")
    assert file.read_bytes().decode() == expected


@pytest.mark.parametrize("client", CLIENTS)
def test_a_file_that_was_made_stays_if_somebody_else_uses_it_too(client: str, home: Path) -> None:
    carry_out(plan_register(client))
    file = Path(settings_file(client))
    if client == "codex":
        file.write_text(file.read_text() + "[new]\nx = 1\n")
    else:
        file.write_text(json.dumps({**json.loads(file.read_text()), "theme": "dark"}, indent=2))
    (change,) = plan_unregister(client)
    assert change.action == "edit"
    carry_out([change])
    left = tomllib.loads(file.read_text()) if client == "codex" else json.loads(file.read_text())
    assert left == ({"new": {"x": 1}} if client == "codex" else {"theme": "dark"})
    assert home.exists()


@pytest.mark.parametrize("client", CLIENTS)
def test_another_interpreter_or_other_options_change_that_and_keep_what_the_user_set(client: str) -> None:
    write(client, FILES[client])
    carry_out(plan_register(client, ["--provider", "x"]))
    file = Path(settings_file(client))
    if client == "codex":
        file.write_bytes(file.read_bytes().replace(b"args =", b"startup_timeout_sec = 20\r\nargs ="))
    else:
        settings = json.loads(file.read_text())
        settings["mcpServers"]["aforesaid"] |= {"enabled": False, "timeout": 20}
        settings["mcpServers"]["aforesaid"]["env"]["MINE"] = "1"
        file.write_text(json.dumps(settings, indent=1))
    before = entry_of(client)
    (change,) = plan_register(client, ["--provider", "y"])
    carry_out([change])
    after = entry_of(client)
    assert after == {**before, "args": [*before["args"][:-1], "y"]}
    assert plan_register(client, ["--provider", "y"]) == ()


@pytest.mark.parametrize(
    ("client", "content"),
    [
        ("pi", '{"mcpServers": {"aforesaid": {"command": "aforesaid", "args": ["mcp"]}}}'),
        ("claude-code", '{"mcpServers": {"aforesaid": {"command": "aforesaid", "env": {"X": "1"}}}}'),
        ("claude-code", '{"mcpServers": {"aforesaid": 7}}'),
        ("codex", '[mcp_servers.aforesaid]\ncommand = "aforesaid"\n'),
        ("pi", '{"mcpServers": [1]}'),
        ("pi", "[1]"),
        ("pi", '{"mcpServers": {},}'),
        ("claude-code", "// by hand\n{}"),
        ("claude-code", "{'a': 1}"),
        ("codex", "model = \n"),
        ("codex", 'mcp_servers = "none"\n'),
    ],
)
def test_what_is_somebody_elses_or_broken_is_left_alone(client: str, content: str) -> None:
    file = write(client, content)
    for plan in (plan_register, plan_unregister):
        with pytest.raises(OperationError, match="is left as it is"):
            plan(client)
    assert file.read_text() == content


def test_what_is_no_text_is_left_alone(home: Path) -> None:
    file = Path(settings_file("claude-code"))
    file.write_bytes(b"\xff\xfe{}")
    with pytest.raises(OperationError, match="cannot be read"):
        plan_register("claude-code")
    assert home.exists()


@posix
@pytest.mark.parametrize("client", CLIENTS)
def test_a_link_stays_a_link_and_a_mode_stays_a_mode(client: str, home: Path) -> None:
    target = home / "dotfiles" / "settings"
    target.parent.mkdir()
    target.write_text(FILES[client], newline="")
    target.chmod(0o640)
    file = Path(settings_file(client))
    file.parent.mkdir(parents=True, exist_ok=True)
    file.symlink_to(target)
    before = os.umask(0o077)
    try:
        carry_out(plan_register(client))
        assert b"aforesaid" in target.read_bytes()
        carry_out(plan_unregister(client))
    finally:
        os.umask(before)
    assert file.is_symlink()
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert target.read_bytes() == FILES[client].encode()
    assert sorted(path.name for path in target.parent.iterdir()) == ["settings"]


@pytest.mark.parametrize("client", CLIENTS)
def test_a_file_that_changes_between_reading_and_writing_is_not_overwritten(client: str) -> None:
    file = write(client, FILES[client])
    planned = plan_register(client)
    newer = FILES[client] + ("# more" if client == "codex" else "\n")
    file.write_bytes(newer.encode())
    with pytest.raises(OperationError, match="has changed meanwhile"):
        carry_out(planned)
    assert file.read_bytes() == newer.encode()


def test_an_edit_shows_itself_and_nothing_else() -> None:
    write("claude-code", '{\n  "secret": "sk-1",\n  "mcpServers": {\n    "a": {"env": {"KEY": "sk-2"}}\n  }\n}\n')
    (change,) = plan_register("claude-code")
    shown = show_edit(change)
    assert shown.startswith('@@ line 4, character 34 @@\n+,\n+    "aforesaid": {\n+      "type": "stdio",')
    assert "sk-" not in shown
    assert NOTE in shown
    (told,) = wire.installation("install", "mcp", [change], client="claude-code", dry_run=True)["changes"]
    assert told == {"path": change.path, "action": "edit", "content": shown}
    carry_out([change])
    (back,) = plan_unregister("claude-code")
    assert show_edit(back) == shown.replace("\n+", "\n-")


def test_each_client_is_registered_where_it_looks(monkeypatch: pytest.MonkeyPatch, home: Path, tmp_path: Path) -> None:
    assert settings_file("pi") == str(home / ".pi" / "agent" / "mcp.json")
    assert settings_file("claude-code") == str(home / ".claude.json")
    assert settings_file("codex") == str(home / ".codex" / "config.toml")
    for variable in ("PI_CODING_AGENT_DIR", "CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.setenv(variable, str(tmp_path / variable))
    assert settings_file("pi") == str(tmp_path / "PI_CODING_AGENT_DIR" / "mcp.json")
    assert settings_file("claude-code") == str(tmp_path / "CLAUDE_CONFIG_DIR" / ".claude.json")
    assert settings_file("codex") == str(tmp_path / "CODEX_HOME" / "config.toml")
    carry_out(plan_register("codex"))
    # Codex does not tell its servers where it keeps its sessions.
    assert entry_of("codex")["args"][-2:] == ["--codex-home", str(tmp_path / "CODEX_HOME")]
    carry_out(plan_register("claude-code"))
    assert entry_of("claude-code")["type"] == "stdio"
    carry_out(plan_register("pi"))
    assert entry_of("pi")["exposure"] == "direct"
