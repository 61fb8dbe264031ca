"""Floor 8: from which session a model calls a history tool, and which others it may ask for.

`mcp/callers` and `tools` ask. Who calls is said by the host; a model can name another session only where its user lets
it search the project. Nothing here reads a transcript.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from aforesaid.errors import BadArgument, ScopeNotAllowed, SessionNotFound

if TYPE_CHECKING:
    from collections.abc import Collection

    from aforesaid.engine import Engine
    from aforesaid.model import Session


class Place(Struct, frozen=True, kw_only=True):
    """From where a tool is called.

    Attributes:
        session: file or id of the session that counts; None if it is not known.
        leaf: id of the entry that made the call; None takes the session's last one.
        folder: where nobody knows the session: the folder whose sessions may be asked for.
    """

    session: str | None = None
    leaf: str | None = None
    folder: str | None = None


def need(place: Place) -> Place:
    """The same place.

    Raises:
        BadArgument: nobody knows which session it is.
    """
    if place.session is None:
        raise BadArgument(
            "the host does not say which session this is",
            "name it as `session`; history_status lists those of this folder",
        )
    return place


def is_calling(engine: Engine, given: str, file: str | None, names: Collection[str] = ()) -> bool:
    """Whether what a model named is the session that calls.

    Args:
        engine: knows the sessions.
        given: what the model named.
        file: transcript of the session that calls; None if nobody knows it.
        names: what else the host calls it.
    """
    if file is None:
        return False
    return given == file or given in names or any(session.file == file for session in engine.known(given))


def check_other(engine: Engine, given: str, file: str | None, *, folder: str, project: bool) -> None:
    """Lets a model ask for another session only where its user lets it search the project.

    Where nobody knows which session calls, one of the project's must be it.

    Args:
        engine: knows the sessions.
        given: what the model named.
        file: transcript of the session that calls; None if nobody knows it.
        folder: folder that counts where the session that calls is not known.
        project: whether the project may be searched.

    Raises:
        SessionNotFound: there is no such session.
        ScopeNotAllowed: a session that the model may not search.
    """
    found = engine.known(given)
    if not found:
        raise SessionNotFound(f"no session {given} in the store", "leave session out, or take an id that was shown")
    own = next(iter(engine.known(file)), None) if file is not None else None
    if file is not None and not project:
        raise ScopeNotAllowed("another session may not be searched", "leave session out")
    where = own.header.cwd if own is not None else folder
    if not all(_worked_in(session, where) for session in found):
        raise ScopeNotAllowed("a session of another project may not be searched", "leave session out")


def _worked_in(session: Session, folder: str | None) -> bool:
    if not session.header.cwd or not folder:
        return False
    from aforesaid.projects import is_same  # late: few models ask for another session

    return is_same(session.header.cwd, folder)
