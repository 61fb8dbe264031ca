"""What the processes of `test_forget` do: `python -m tests.e2e.forget_child ACTION STORE [REST…]`."""

from __future__ import annotations

import os
import signal
import sys
import time
from typing import Any

from aforesaid import Engine
from aforesaid.errors import StoreError
from aforesaid.storage.sqlite import SqliteStore, connection, erasure, feeding, open_store
from aforesaid.storage.sqlite.catalogue import Catalogue
from aforesaid.storage.sqlite.erasure import Eraser
from aforesaid.storage.sqlite.graveyard import Graveyard


def die(*_: object, **__: object) -> Any:
    os.kill(os.getpid(), signal.SIGKILL)


def after(real: Any, times: int = 1) -> Any:
    """The function, killed after it has run so many times."""
    calls: list[int] = []

    def run(*given: Any, **named: Any) -> Any:
        result = real(*given, **named)
        calls.append(1)
        return result if len(calls) < times else die()

    return run


def forget_and_die(store: str, where: str, text: str) -> None:
    """Forgets a text and is killed at a step."""
    if where == "marked":
        Eraser.erase = die  # type: ignore[method-assign]
    elif where == "committed":
        erasure.blank = after(erasure.blank)
    elif where == "second":
        erasure.blank = after(erasure.blank, 2)
    elif where == "scrubbed":
        erasure.scrub = after(connection.scrub)  # type: ignore[attr-defined]
    elif where == "catalogue":
        Catalogue.scrub = die  # type: ignore[method-assign]
    elif where == "unsettled":
        Graveyard.settle = die  # type: ignore[method-assign]
    elif where == "refilling":
        feeding.read_fed = die
    with Engine.open(store) as engine:
        engine.forget(text=text)


def watch(store: str, file: str) -> None:
    """Reads until the session is gone: the words of an entry and the index agree; prints the states in their order."""
    opened = open_store(store)
    seen: list[str] = []
    end = time.monotonic() + 60
    while time.monotonic() < end and "gone" not in seen:
        state = look(opened, file)
        if not seen or seen[-1] != state:
            seen.append(state)
            print(state, flush=True)
    opened.close()


def look(store: SqliteStore, file: str) -> str:
    """How many entries say it at this moment."""
    session = store.by_file(file)
    if session is None:
        return "gone"
    try:
        with store.read(session.key) as snapshot:
            entries = snapshot.entries(range(1, snapshot.session.entries + 1))
            told = sum(entry.automatic and "canary" in entry.text for entry in entries)
            known = snapshot.count_terms(["canary"], ((1, 10**9),))
    except StoreError:
        return "gone"  # between the two questions
    if told != known:
        raise SystemExit(f"half an erasure: {told} {known}")
    return str(told)


if __name__ == "__main__":
    if sys.argv[1] == "die":
        forget_and_die(*sys.argv[2:])
    else:
        watch(*sys.argv[2:])
