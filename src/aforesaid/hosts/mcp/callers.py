"""Floor 8: which session an MCP tool is called from, and which others it may ask for.

Hosts say it in their own ways: Claude Code in the environment of the server, with the id of the call in each request;
Codex with a thread id in each request. The call's own row tells the branch exactly, also after a rewind. Elsewhere the
user names the session when the server is registered, or the model does.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from aforesaid.errors import BadArgument, ScopeNotAllowed, SessionNotFound
from aforesaid.hosts import session_folders
from aforesaid.hosts.tools import Place

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aforesaid.engine import Engine
    from aforesaid.model import Session

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
    if given is not None and not _is_own(engine, given, own, file):
        _check(engine, around, given, file)
        return Place(session=given)
    if file is None:
        return Place()
    return Place(session=file, leaf=engine.find_call(file, call) if call else None)


def need(place: Place) -> Place:
    """The same place.

    Raises:
        BadArgument: nobody knows which session it is.
    """
    if place.session is None:
        raise BadArgument(
            "the host does not say which session this is",
            "name it as `session`; `aforesaid sessions` lists ids",
        )
    return place


def _calling(around: Surroundings, meta: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """The session that calls, and the id of the call, as far as the host says so."""
    thread, call = meta.get(CODEX_THREAD), meta.get(CLAUDE_CALL) or meta.get(CODEX_CALL)
    call = call if isinstance(call, str) else None
    if around.session is not None:
        return around.session, call
    if isinstance(thread, str):
        return thread, call
    return around.claude, call


def _is_own(engine: Engine, given: str, own: str | None, file: str | None) -> bool:
    if own is None or file is None:
        return False
    return given in {own, file} or any(session.file == file for session in engine.known(given))


def _check(engine: Engine, around: Surroundings, given: str, file: str | None) -> None:
    """Lets a model ask for another session only where its user lets it search the project.

    Where nobody knows which session calls, one of the project's must be it.
    """
    found = engine.known(given)
    if not found:
        raise SessionNotFound(f"no session {given} in the store", "leave session out, or take an id that was shown")
    own = next(iter(engine.known(file)), None) if file is not None else None
    if own is not None and not around.project:
        raise ScopeNotAllowed("another session may not be searched", "leave session out")
    folder = own.header.cwd if own is not None else around.folder
    if not all(_worked_in(session, folder) for session in found):
        raise ScopeNotAllowed("a session of another project may not be searched", "leave session out")


def _worked_in(session: Session, folder: str | None) -> bool:
    if not session.header.cwd or not folder:
        return False
    one, other = (os.path.normcase(os.path.realpath(path)) for path in (session.header.cwd, folder))
    return one == other
