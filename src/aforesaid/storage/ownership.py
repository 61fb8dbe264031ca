"""Floor 6: folders and files that only their user can open, and whose they are.

Stores and the writer of the configuration make what they need here. Systems without modes or user ids (Windows) keep
such folders apart by themselves; there this makes folders and never refuses one.
"""

from __future__ import annotations

import errno
import os
import stat

from aforesaid.errors import StoreForeign

_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def make_private(folder: str) -> None:
    """Makes a folder and those above it that are missing; no one else can open them, whatever the umask.

    Raises:
        OSError: the system refuses, or a file stands there.
    """
    missing = []
    while folder and not os.path.isdir(folder):
        missing.append(folder)
        above = os.path.dirname(folder)
        folder = above if above != folder else ""
    for part in reversed(missing):
        try:
            os.mkdir(part, 0o700)
        except FileExistsError:  # another process was faster
            if not os.path.isdir(part):
                raise


def check_room(folder: str) -> None:
    """Makes sure, as far as that can be told without trying, that a folder is there or could be made. Makes nothing.

    Raises:
        OSError: what making it would raise.
    """
    above = folder
    while not os.path.lexists(above) and os.path.dirname(above) != above:
        above = os.path.dirname(above)
    if above == folder and os.path.isdir(above):
        return
    if not os.path.isdir(above):
        code = errno.EEXIST if above == folder else errno.ENOTDIR
    elif not os.access(above, os.W_OK | os.X_OK):
        code = errno.EACCES
    else:
        return
    raise OSError(code, os.strerror(code), above)


def close_to_others(path: str, status: os.stat_result | None = None) -> None:
    """Takes from others what they may do with a file or folder; what cannot be changed stays.

    Args:
        path: of it.
        status: of it, if that is known.
    """
    try:
        mode = stat.S_IMODE((status or os.stat(path)).st_mode)
        if os.name == "posix" and mode & _OTHERS:
            os.chmod(path, mode & ~_OTHERS)
    except OSError:
        return


def refuse_foreign(path: str, status: os.stat_result | None = None) -> None:
    """Makes sure that a file or folder is this user's, if there is one.

    Args:
        path: of it.
        status: of it, if that is known.

    Raises:
        StoreForeign: it is somebody else's.
        OSError: it cannot be looked at.
    """
    user = getattr(os, "geteuid", None)
    if user is None:
        return
    try:
        status = status or os.stat(path)
    except FileNotFoundError:
        return
    if status.st_uid != user():
        raise StoreForeign(f"{path} belongs to another user", "run as its owner, or choose another store with --store")
