"""Floor 8: which session an MCP tool is called from.

Hosts say it in their own ways: Claude Code in the environment of the server, with the id of the call in each request;
Codex with a thread id in each request. The call's own row tells the branch exactly, also after a rewind. Elsewhere the
user names the session when the server is registered, or the model does.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from aforesaid.hosts import session_folders
from aforesaid.hosts.places import Place, check_other, is_calling

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aforesaid.engine import Engine

CLAUDE_SESSION: Final = "CLAUDE_CODE_SESSION_ID"
CLAUDE_PROJECT: Final = "CLAUDE_PROJECT_DIR"
CLAUDE_CALL: Final = "claudecode/toolUseId"
CODEX_THREAD: Final = "threadId"
CODEX_CALL: Final = "callId"


class Surroundings(Struct, frozen=True, kw_only=True):
    """What the server was started with.

    Attributes:
        session: file or id of the session, if the user named one.
        claude: id of the Claude Code session that started the server.
        folder: folder of the project.
        project: whether sessions of the same project may be asked for.
    """

    session: str | None = None
    claude: str | None = None
    folder: str = ""
    project: bool = False


def look_around(session: str | None, *, project: bool, environment: Mapping[str, str] | None = None) -> Surroundings:
    """The surroundings of this process."""
    variables = os.environ if environment is None else environment
    return Surroundings(
        session=session,
        claude=variables.get(CLAUDE_SESSION) or None,
        folder=variables.get(CLAUDE_PROJECT) or os.getcwd(),
        project=project,
    )


def find_place(engine: Engine, around: Surroundings, meta: Mapping[str, Any], given: str | None) -> Place:
    """From where a call comes, or what it asks for.

    Args:
        engine: knows the sessions.
        around: what the server was started with.
        meta: what the host says of the request.
        given: the session that the model named.

    Raises:
        ScopeNotAllowed: a session that the model may not search.
        SessionNotFound: there is no such session.
    """
    own, call = _calling(around, meta)
    file = None if own is None else engine.locate(own, session_folders())
    if given is not None and not is_calling(engine, given, file, () if own is None else (own,)):
        check_other(engine, given, file, folder=around.folder, project=around.project)
        return Place(session=given)
    if file is None:
        return Place(folder=around.folder)
    return Place(session=file, leaf=engine.find_call(file, call) if call else None)


def _calling(around: Surroundings, meta: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """The session that calls, and the id of the call, as far as the host says so."""
    thread, call = meta.get(CODEX_THREAD), meta.get(CLAUDE_CALL) or meta.get(CODEX_CALL)
    call = call if isinstance(call, str) else None
    if around.session is not None:
        return around.session, call
    if isinstance(thread, str):
        return thread, call
    return around.claude, call
