"""Floor 9: how long one-shot commands take to start, beside a bare interpreter.

Each is a real process. `aforesaid retrieve` is stopped at its first SQL statement, by a hook that apsw itself offers
and that stands in the child's command line, not in the product.
"""

from __future__ import annotations

import os
import subprocess
import sys
from statistics import median
from typing import TYPE_CHECKING, Final

from aforesaid.cli.bench.rows import Attempt, Target, clock, judge
from aforesaid.errors import OperationError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aforesaid.cli.bench.rows import Row

_VERSION: Final = Target(name="start: aforesaid --version", unit="ms", times=5)
_RETRIEVE: Final = Target(name="start: aforesaid retrieve, up to its first SQL", unit="ms", times=5)
_REQUEST: Final = "which port did we choose for the staging proxy"
_PAIRS: Final = 11
_REACHED: Final = 77
"""Exit status of a child that came to its first SQL statement."""
_STOP_AT_SQL: Final = (
    "import os, sys, apsw\n"
    # Only tools for tests bring this module; where it is there, msgspec spends a third of its start on it.
    "sys.modules['typing_extensions'] = None\n"
    f"apsw.connection_hooks.append(lambda c: setattr(c, 'exec_trace', lambda *_: os._exit({_REACHED})))\n"
    "from aforesaid.cli import main\n"
    "sys.exit(main(sys.argv[1:]))\n"
)


def measure(store: str, file: str, home: str) -> list[Row]:
    """The two rows.

    Args:
        store: folder of a store that knows the session.
        file: its transcript.
        home: empty folder that stands for the user's own: no configuration, and the bytecode of all modules. An
            installed package is compiled; the tree of a developer may not be, and would be again at every start.
    """
    retrieve = ["retrieve", "--store", store, "--session", file, "--query", _REQUEST, "--json"]
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    environment |= {"XDG_CONFIG_HOME": home, "PYTHONPYCACHEPREFIX": os.path.join(home, "bytecode")}
    return [
        judge(_VERSION, lambda: _compare(["-m", "aforesaid", "--version"], 0, environment)),
        judge(_RETRIEVE, lambda: _compare(["-c", _STOP_AT_SQL, *retrieve], _REACHED, environment)),
    ]


def _compare(arguments: list[str], expected: int, environment: Mapping[str, str]) -> Attempt:
    """Medians of interleaved starts of a command and of a bare interpreter."""
    figures: list[float] = []
    floors: list[float] = []
    for command, status in ((arguments, expected), (["-c", ""], 0)):
        _start(command, status, environment)
    for _ in range(_PAIRS):
        figures.append(clock(lambda: _start(arguments, expected, environment)))
        floors.append(clock(lambda: _start(["-c", ""], 0, environment)))
    return Attempt(median(figures), median(floors))


def _start(arguments: list[str], expected: int, environment: Mapping[str, str]) -> None:
    command = [sys.executable, *arguments]
    done = subprocess.run(command, capture_output=True, check=False, env=environment)  # noqa: S603 - ourselves
    if done.returncode != expected:
        said = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        raise OperationError(f"a start ended with {done.returncode}: {said}", "report this as a fault of aforesaid")
