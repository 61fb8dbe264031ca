"""Floor 8: the server's entry in the settings of Pi, Claude Code and Codex, and how it is taken back.

`cli/install` and `cli/uninstall` ask for the changes, show them, and carry them out. The settings are their users' own:
one entry is put in, one is taken out, and every other byte stays. What was made for the entry (a file, an object) is
noted in it, so that uninstalling restores what was there.

Sources of the formats: the documentation of Pi 1.6.0 (`docs/mcp.md`), Claude Code 2.1 and Codex 0.171.
"""

from __future__ import annotations

import os
import re
import sys
from typing import TYPE_CHECKING, Any, Final

from aforesaid.errors import OperationError
from aforesaid.hosts.changes import Change, folders_above, missing_folders, read_text, remove_folders
from aforesaid.hosts.mcp import members, tables

if TYPE_CHECKING:
    from collections.abc import Sequence

NAME: Final = "aforesaid"
CLIENTS: Final = ("pi", "claude-code", "codex")
NOTE: Final = "AFORESAID_REGISTERED"
"""Variable of the entry's environment that says that it is ours, and what was made for it."""
_TABLES: Final = ("mcp_servers", NAME)
_SERVERS: Final = "mcpServers"
_BLANK: Final = "\ufeff \t\r\n"
_NOTHING: Final = "{}\n"


def settings_file(client: str) -> str:
    """The user's own settings file of a client."""
    match client:
        case "pi":
            folder = os.environ.get("PI_CODING_AGENT_DIR") or os.path.join("~", ".pi", "agent")
            name = "mcp.json"
        case "claude-code":
            folder = os.environ.get("CLAUDE_CONFIG_DIR") or "~"
            name = ".claude.json"
        case _:
            folder = os.environ.get("CODEX_HOME") or os.path.join("~", ".codex")
            name = "config.toml"
    return os.path.abspath(os.path.join(os.path.expanduser(folder), name))


def plan_register(client: str, options: Sequence[str] = ()) -> tuple[Change, ...]:
    """What registering changes; nothing if everything is as it should be.

    Args:
        client: one of `CLIENTS`.
        options: what the server is to be started with.

    Raises:
        OperationError: the settings cannot be read or edited, or hold an entry of this name that is not ours.
    """
    file = settings_file(client)
    found = read_text(file)
    folders = missing_folders(file) if found is None else ()
    launch = _launch(client, options)
    try:
        if client == "codex":
            content = _put_table(found, launch, len(folders))
        else:
            content = _put_member(found, _entry(client, launch), len(folders))
    except ValueError as error:
        raise _unusable(file, error) from error
    if content == found:
        return ()
    made = [Change(path=folder, action="make-folder") for folder in folders]
    if found is None:
        return (*made, Change(path=file, action="create", content=content))
    return (Change(path=file, action="edit", content=content, before=found),)


def plan_unregister(client: str) -> tuple[Change, ...]:
    """What taking the entry back changes; nothing if it is not there.

    Raises:
        OperationError: the settings cannot be read or edited, or the entry is not ours.
    """
    file = settings_file(client)
    found = read_text(file)
    if found is None:
        return ()
    try:
        note, content = _take_table(found) if client == "codex" else _take_member(found)
    except ValueError as error:
        raise _unusable(file, error) from error
    if note is None:
        return ()
    made = re.fullmatch(r"file\+(\d{1,3})", note)
    if made and not content.strip(_BLANK + "{}"):
        above = folders_above(file)
        folders = above[max(0, len(above) - int(made[1])) :]
        return (Change(path=file, action="delete", before=found), *remove_folders(file, folders))
    if note == "blank" and content.endswith(_NOTHING) and not content.removesuffix(_NOTHING).strip(_BLANK):
        content = content.removesuffix(_NOTHING)
    return (Change(path=file, action="edit", content=content, before=found),)


def registered(client: str) -> str | None:
    """The interpreter that a client starts for the server; None if ours is not registered with it.

    Raises:
        OperationError: the settings cannot be read, or the entry is not ours.
    """
    file = settings_file(client)
    found = read_text(file)
    if found is None or not found.strip(_BLANK):
        return None
    try:
        own = _own_table(found) if client == "codex" else (_servers(found) or {}).get(NAME)
        if own is None:
            return None
        _note(own)
    except ValueError as error:
        raise _unusable(file, error) from error
    return str(own.get("command"))


def _launch(client: str, options: Sequence[str]) -> dict[str, Any]:
    """How the server is started: this interpreter, and no folder of a project where it looks for modules."""
    given = ["-P", "-m", "aforesaid", "mcp", *options]
    if client == "codex" and os.environ.get("CODEX_HOME"):
        given += ["--codex-home", os.path.dirname(settings_file(client))]
    return {"command": os.path.abspath(sys.executable), "args": given}


def _entry(client: str, launch: dict[str, Any]) -> dict[str, Any]:
    if client == "claude-code":
        return {"type": "stdio", **launch}
    # Pi declares tools to the model only where it is told to.
    return {**launch, "exposure": "direct"}


# --- JSON -----------------------------------------------------------------------------------------------------------


def _put_member(found: str | None, entry: dict[str, Any], folders: int) -> str:
    """The settings with our entry.

    Raises:
        ValueError: they are no JSON, or the entry is not ours.
    """
    text = found or ""
    blank = not text.strip(_BLANK)
    text += _NOTHING if blank else ""
    servers = _servers(text)
    own = None if servers is None else servers.get(NAME)
    if own is None:
        made = _SERVERS if servers is None else "entry"
        if blank:
            made = f"file+{folders}" if found is None else "blank"
        value = {**entry, "env": {NOTE: made}}
        if servers is None:
            return members.put(text, members.look(text), _SERVERS, {NAME: value})
        return members.put(text, members.look(text, [_SERVERS]), NAME, value)
    note = _note(own)
    # What its user has set beside (a timeout, what is shown to the model) stays.
    value = {**own, "command": entry["command"], "args": entry["args"], "env": {**own["env"], NOTE: note}}
    if value == own:
        return text
    member = members.look(text, [_SERVERS]).find(NAME)
    return text if member is None else members.swap(text, member, value)


def _take_member(text: str) -> tuple[str | None, str]:
    """What was noted with our entry, None if there is none, and the settings without it.

    Raises:
        ValueError: they are no JSON, or the entry is not ours.
    """
    if not text.strip(_BLANK):
        return None, text
    servers = _servers(text)
    own = None if servers is None else servers.get(NAME)
    if own is None:
        return None, text
    note = _note(own)
    holder = members.look(text, [_SERVERS])
    if note != "entry" and len(holder.members) == 1:
        return note, members.take(text, members.look(text), _SERVERS)
    return note, members.take(text, holder, NAME)


def _servers(text: str) -> dict[str, Any] | None:
    """The registered servers; None if the settings know of none.

    Raises:
        ValueError: the settings are not what the client reads.
    """
    value = members.parse(text)
    if not isinstance(value, dict):
        raise ValueError("it is no object")  # noqa: TRY004 - as the parser says it
    servers = value.get(_SERVERS)
    if servers is not None and not isinstance(servers, dict):
        raise ValueError(f"{_SERVERS} is no object")
    return servers


def _note(own: Any) -> str:
    """What was noted with an entry.

    Raises:
        ValueError: it is not ours.
    """
    environment = own.get("env") if isinstance(own, dict) else None
    note = environment.get(NOTE) if isinstance(environment, dict) else None
    if not isinstance(note, str):
        raise ValueError(f"its entry {NAME} was not written by aforesaid")  # noqa: TRY004 - as the parser says it
    return note


# --- TOML -----------------------------------------------------------------------------------------------------------


def _put_table(found: str | None, launch: dict[str, Any], folders: int) -> str:
    """The settings with our table.

    Raises:
        ValueError: they are no TOML, or the table is not ours.
    """
    text = found or ""
    own = _own_table(text)
    if own is None:
        made = f"file+{folders}" if found is None else "entry"
        return tables.put(text, _TABLES, {**launch, "env": {NOTE: f"{made};{tables.lead_of(text)}"}})
    _note(own)
    return text if {**own, **launch} == own else tables.swap(text, _TABLES, launch)


def _take_table(text: str) -> tuple[str | None, str]:
    """What was noted with our table, None if there is none, and the settings without it.

    Raises:
        ValueError: they are no TOML, or the table is not ours.
    """
    own = _own_table(text)
    if own is None:
        return None, text
    note, _, lead = _note(own).partition(";")
    return note, tables.take(text, _TABLES, int(lead) if lead in {"0", "1", "2"} else 0)


def _own_table(text: str) -> Any:
    """The table of our name; None where there is none.

    Raises:
        ValueError: the settings are no TOML, or not what Codex reads.
    """
    servers = tables.parse(text).get(_TABLES[0], {})
    if not isinstance(servers, dict):
        raise ValueError(f"{_TABLES[0]} is no table")  # noqa: TRY004 - as the parser says it
    return servers.get(NAME)


def _unusable(file: str, error: ValueError) -> OperationError:
    return OperationError(f"{file} is left as it is: {error}", f"mend it, or remove the entry {NAME} by hand")
