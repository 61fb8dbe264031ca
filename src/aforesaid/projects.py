"""Below floor 5: whether two folders are the same project, for everything that asks about the sessions of one.

Lists of sessions, the project scope of searches, the tools of models and forgetting ask. A folder is what a host wrote
down when the session began, or what a user names now; links may have come and gone in between. Reads nothing but links.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from aforesaid.errors import BadArgument

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aforesaid.model import Session

_SHARES = ("//", "\\\\")
"""What paths of other computers begin with: nothing is asked of those."""


def find_folder(named: str | os.PathLike[str]) -> str:
    """The absolute path of the folder of a project that a user names.

    Raises:
        BadArgument: it is empty, as a variable that is not set leaves it in a script. The current folder is not meant.
    """
    folder = os.fspath(named)
    if not folder.strip():
        raise BadArgument("the folder of the project is empty", "name a folder, or leave the project out")
    return os.path.abspath(folder)


def spell(folder: str) -> str:
    """A folder without what makes no difference: separators at its end, `.` and `..`, and on Windows case."""
    return os.path.normcase(os.path.normpath(folder))


def spellings(folder: str) -> tuple[str, ...]:
    """The path of a folder as it is written and, where that is another one, as its links lead.

    Args:
        folder: absolute; one that is not is only compared as it is written.
    """
    written = spell(folder)
    if not os.path.isabs(written) or written.startswith(_SHARES):
        return (written,)
    try:
        led = spell(os.path.realpath(written))
    except (OSError, ValueError):  # no name that a file can have
        return (written,)
    return (written,) if led == written else (written, led)


def is_same(one: str, other: str) -> bool:
    """Whether two folders are one project: they are written alike, or their links lead to one place."""
    return _is_one_of(one, spellings(other))


def of_project(sessions: Sequence[Session], folder: str) -> tuple[Session, ...]:
    """Those of some sessions that worked in a folder, in their order.

    Args:
        sessions: any.
        folder: absolute, or as another session says it.
    """
    named = spellings(folder)
    same = {cwd for cwd in {one.header.cwd for one in sessions} if cwd and _is_one_of(cwd, named)}
    return tuple([one for one in sessions if one.header.cwd in same])


def _is_one_of(folder: str, named: tuple[str, ...]) -> bool:
    return spell(folder) == named[0] or spellings(folder)[-1] == named[-1]
