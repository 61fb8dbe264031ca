"""Where the command `aforesaid` and `python -m aforesaid` begin: `cli.main`, and what an interruption before it does.

Importing takes longer than a finger needs to press Ctrl-C, and Python would answer with a traceback. Nothing has been
begun by then, so the process says what `cli.main` would say and leaves.
"""

from __future__ import annotations

import os
import signal
import sys

_ERROR = b"error[interrupted]: stopped before it was done; run it again\n"
_DOCUMENT = b'{"error":{"code":"interrupted","message":"stopped before it was done","hint":"run it again"}}\n'
"""As `wire.error` would write it."""
_INTERRUPTED = 130


def _leave(*_: object) -> None:
    os.write(2, _ERROR)
    if "--json" in sys.argv:
        os.write(1, _DOCUMENT)
    os._exit(_INTERRUPTED)


# Whoever started us may have told us to ignore interruptions.
_early = signal.getsignal(signal.SIGINT) is signal.default_int_handler
if _early:
    signal.signal(signal.SIGINT, _leave)

from aforesaid.cli import main  # noqa: E402 - the handler first


def run() -> int:
    """Runs one command; its exit status."""
    if _early:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    return main()


if __name__ == "__main__":
    sys.exit(run())
