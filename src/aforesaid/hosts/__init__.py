"""Floor 8: what is known about hosts beyond the format of their transcripts, and `wire`, the only serializer."""

from __future__ import annotations

import os

from aforesaid.errors import NoSessions

HOSTS = ("pi", "claude-code", "codex")
"""Every host of the contract; readers say which of them this version can read."""


def session_folders(host: str | None = None) -> tuple[str, ...]:
    """The existing folders in which hosts keep their sessions by default.

    Args:
        host: only this host's; None for all.
    """
    folders: list[str] = []
    if host in {None, "pi"}:
        folders.append(os.environ.get("PI_CODING_AGENT_SESSION_DIR", ""))
        agent = os.environ.get("PI_CODING_AGENT_DIR") or os.path.join("~", ".pi", "agent")
        folders.append(os.path.join(agent, "sessions"))
    if host in {None, "claude-code"}:
        folders.append(os.path.join(os.environ.get("CLAUDE_CONFIG_DIR") or os.path.join("~", ".claude"), "projects"))
    if host in {None, "codex"}:
        home = os.environ.get("CODEX_HOME") or os.path.join("~", ".codex")
        folders += [os.path.join(home, "sessions"), os.path.join(home, "archived_sessions")]
    found = dict.fromkeys(os.path.abspath(os.path.expanduser(folder)) for folder in folders if folder)
    return tuple(folder for folder in found if os.path.isdir(folder))


def folders_with_sessions(host: str | None = None) -> list[str]:
    """Those of the hosts' default folders that hold any file that may be a transcript.

    Raises:
        NoSessions: there is none.
    """
    folders = [folder for folder in session_folders(host) if _holds_lines(folder)]
    if not folders:
        raise NoSessions("no host keeps sessions where they usually are", "name the files or folders")
    return folders


def _holds_lines(folder: str) -> bool:
    return any(name.endswith(".jsonl") for _, _, names in os.walk(folder) for name in names)
