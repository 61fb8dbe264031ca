"""Floor 8: changes to a host's own files: planned, shown, and carried out so that each file is whole at every moment.

`pi/installation` and `mcp/registration` plan them, `cli/install` and `cli/uninstall` show them and have them carried
out, `wire` writes them down. A link stays a link, a file keeps its mode, and a file that somebody else has changed
since it was read is left alone.
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from aforesaid.errors import OperationError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


class Change(Struct, frozen=True, kw_only=True):
    """One change to the disk.

    Attributes:
        path: what is changed.
        action: what happens to it.
        content: of the file as it will be; empty for folders and for what goes.
        before: of the file as it was read; None where nothing is compared.
    """

    path: str
    action: Literal["create", "replace", "edit", "delete", "make-folder", "remove-folder"]
    content: str = ""
    before: str | None = None


def read_text(file: str) -> str | None:
    """What a file holds, line ends as they are; None if there is none.

    Raises:
        OperationError: the system refuses, or it is no UTF-8.
    """
    try:
        with open(file, encoding="utf-8", newline="") as source:
            return source.read()
    except FileNotFoundError:
        return None
    except (OSError, UnicodeError) as error:
        raise OperationError(f"{file} cannot be read: {error}", "move it away, or check its permissions") from error


def folders_above(file: str) -> tuple[str, ...]:
    """The folders that a file stands in, outermost first."""
    found = [os.path.dirname(file)]
    while (parent := os.path.dirname(found[-1])) != found[-1]:
        found.append(parent)
    return tuple(reversed(found))


def missing_folders(file: str) -> tuple[str, ...]:
    """Those of them that do not exist."""
    return tuple(folder for folder in folders_above(file) if not os.path.isdir(folder))


def remove_folders(file: str, made: Sequence[str]) -> Iterator[Change]:
    """What takes the folders that were made for a file away once it is gone, as far as nobody else uses them."""
    gone = {file}
    for folder in reversed(made):
        if not os.path.isdir(folder) or not {entry.path for entry in os.scandir(folder)} <= gone:
            return
        yield Change(path=folder, action="remove-folder")
        gone.add(folder)


def show_edit(change: Change) -> str:
    """Where in its file an edit is, what it takes out and what it puts in, a line each; nothing else of the file."""
    before, after = change.before or "", change.content
    most = min(len(before), len(after))
    start = next((at for at in range(most) if before[at] != after[at]), most)
    most -= start
    tail = next((at for at in range(most) if before[-1 - at] != after[-1 - at]), most)
    removed, added = before[start : len(before) - tail], after[start : len(after) - tail]
    line, column = before.count("\n", 0, start) + 1, start - before.rfind("\n", 0, start)
    lines = [f"@@ line {line}, character {column} @@"]
    lines += [f"{sign}{part}" for sign, text in (("-", removed), ("+", added)) for part in text.splitlines()]
    return "\n".join(lines)


def carry_out(changes: Sequence[Change]) -> None:
    """Does what was planned.

    Raises:
        OperationError: the system refuses, or a file has changed since it was read.
    """
    for change in changes:
        try:
            _carry_out(change)
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise OperationError(f"{change.path} cannot be changed: {reason}", "check its permissions") from error


def _carry_out(change: Change) -> None:
    if change.before is not None and read_text(change.path) != change.before:
        raise OperationError(f"{change.path} has changed meanwhile", "run this again")
    if change.action == "make-folder":
        os.mkdir(change.path)
    elif change.action == "remove-folder":
        os.rmdir(change.path)
    elif change.action == "delete":
        os.unlink(change.path)
    else:
        _write(os.path.realpath(change.path), change.content)


def _write(file: str, content: str) -> None:
    """Puts a file in place at once, with the mode that it had."""
    try:
        mode = stat.S_IMODE(os.stat(file).st_mode)
    except FileNotFoundError:
        mode = None
    draft = f"{file}.{os.getpid()}"
    # Others must not read the draft of a file that they may not read.
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666 if mode is None else mode)
    try:
        with open(descriptor, "w", encoding="utf-8", newline="\n") as target:
            target.write(content)
            target.flush()
            os.fsync(target.fileno())
        if mode is not None:
            os.chmod(draft, mode)
        os.replace(draft, file)
    except OSError:
        if os.path.exists(draft):
            os.unlink(draft)
        raise
