"""Floor 9: the process that builds a store for the benchmark, so that its memory can be told from everything else.

`python -m aforesaid.cli.bench.worker STORE` reads one transcript path a line, indexes it, and answers with one JSON
object a line, a `Progressed`. It ends with its input, and silently.
"""

from __future__ import annotations

import os
import sys
from typing import TextIO

import msgspec

from aforesaid.engine import Engine
from aforesaid.errors import AforesaidError


class Progressed(msgspec.Struct, frozen=True, kw_only=True):
    """What has become of one transcript.

    Attributes:
        entries: that it added.
        error: what went wrong, or None.
        peak: of the memory of the process so far, in bytes above what it had when idle; None where the system does
            not tell.
    """

    entries: int = 0
    error: str | None = None
    peak: int | None = None


def peak_memory() -> int | None:
    """The most memory that this process has had, in bytes; None where the system does not tell.

    Linux carries the `ru_maxrss` of the parent over into a child that it starts, so its own high-water mark is asked.
    """
    try:
        with open("/proc/self/status", encoding="ascii") as status:
            for line in status:
                if line.startswith("VmHWM:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    try:
        import resource  # late: Windows has none
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def serve(store: str, paths: TextIO, answers: TextIO) -> None:
    """Indexes path after path into a store."""
    with Engine.open(store=store, config=None) as engine:
        engine.status()  # opens the store
        idle = peak_memory()
        for line in paths:
            try:
                (report,) = engine.index(line.rstrip("\n")).sessions
            except AforesaidError as error:
                answer = Progressed(error=str(error))
            else:
                peak = peak_memory()
                above = None if peak is None or idle is None else peak - idle
                answer = Progressed(entries=report.added, error=report.error, peak=above)
            answers.write(msgspec.json.encode(answer).decode() + "\n")
            answers.flush()


if __name__ == "__main__":
    try:
        serve(sys.argv[1], sys.stdin, sys.stdout)
    except (KeyboardInterrupt, BrokenPipeError):
        os._exit(130)  # whoever asked has gone; nobody wants to know where
