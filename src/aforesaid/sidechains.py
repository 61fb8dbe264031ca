"""Floor 0: names of sessions that stand in the file of another one.

Old versions of Claude Code write what a subagent did into its caller's file. Each such sidechain is a session of its
own; its name is the path of the file and the sidechain's. Whoever opens a transcript asks `file_of` for the path, and
gives `open` the function `opener`, so that nothing is waited for; the reader of the host asks `chain_of` which part is
meant. Nothing is read here.
"""

from __future__ import annotations

import errno
import os
import stat
from typing import Final

MARK: Final = "#sidechain="


class NotRegular(OSError):
    """Where a transcript is looked for stands a pipe, a device or something else that is no file with lines."""


def name_of(file: str, chain: str) -> str:
    """The name of a sidechain's session.

    Args:
        file: the path of the file that it stands in.
        chain: its id there: ASCII letters, digits, `-` and `_`.
    """
    return f"{file}{MARK}{chain}"


def file_of(name: str) -> str:
    """The path of the file that a session stands in; of most sessions its name."""
    return name if MARK not in name else name[: name.rindex(MARK)]


def chain_of(name: str) -> str | None:
    """The id of the sidechain that a name means; None if it means the whole file."""
    return None if MARK not in name else name[name.rindex(MARK) + len(MARK) :]


def is_present(name: str) -> bool:
    """Whether the file that a session stands in is there."""
    return os.path.isfile(file_of(name))


def opener(path: str, flags: int) -> int:
    """Opens a transcript, for `open(…, opener=opener)`: a pipe that nobody writes to would be waited for without end.

    Raises:
        NotRegular: it is no regular file.
        OSError: the system refuses.
    """
    descriptor = os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode):
        return descriptor
    os.close(descriptor)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    raise NotRegular(errno.EINVAL, "it is no regular file", path)
