"""Floor 9: child processes of the benchmark that outlive no interruption, and say nothing of it.

`setting` and `service` start theirs with `start`. A terminal sends Ctrl-C to all processes of a group, and each would
tell of it; these stand in a group of their own, and whoever started them ends them.
"""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def start(
    arguments: Sequence[str], *, environment: Mapping[str, str] | None = None, text: bool = False
) -> subprocess.Popen[Any]:
    """Starts Python with pipes for input and output, in a group of its own.

    Args:
        arguments: of the interpreter.
        environment: of the child; None: this one's.
        text: whether the pipes carry UTF-8 texts rather than bytes.
    """
    if os.name == "posix":
        apart: dict[str, Any] = {"process_group": 0}
    else:
        apart = {"creationflags": getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)}
    return subprocess.Popen(  # noqa: S603 - ourselves
        [sys.executable, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8" if text else None,
        env=environment,
        **apart,
    )


def end(child: subprocess.Popen[Any], *, at_once: bool) -> None:
    """Waits until a child has ended with its input.

    Args:
        child: that `start` gave.
        at_once: whether what it is doing is of no use any more.
    """
    if at_once:
        child.kill()
    with suppress(OSError):  # it ended before it had read everything
        child.communicate()
