"""Floor 6: where the rollout of a thread is, beside another one.

Rollouts stand in `sessions/YEAR/MONTH/DAY/`, or in `archived_sessions/` beside it, and carry the thread's id at the end
of their name. `codex` asks for the rollout that a fork goes on from. Nothing but names is looked at.
"""

from __future__ import annotations

import os
from typing import Final

_ROOTS: Final = ("sessions", "archived_sessions")
_DEEPEST: Final = 4
"""Folders from a rollout up to the one that holds all of them."""


def find(file: str, thread: str) -> str | None:
    """The rollout of a thread, or None.

    Args:
        file: path of the rollout that names the thread.
        thread: the thread's id.
    """
    if not thread or not thread.isascii() or not thread.replace("-", "").replace("_", "").isalnum():
        return None
    folder = os.path.dirname(os.path.abspath(file))
    found = _within(folder, thread, deep=False)
    for _ in range(_DEEPEST):
        if found is not None:
            break
        if os.path.basename(folder) in _ROOTS:
            home = os.path.dirname(folder)
            places = (_within(os.path.join(home, root), thread, deep=True) for root in _ROOTS)
            return next((place for place in places if place is not None), None)
        folder = os.path.dirname(folder)
    return found


def _within(folder: str, thread: str, *, deep: bool) -> str | None:
    ending = f"-{thread}.jsonl"
    for parent, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            if name.endswith(ending):
                return os.path.join(parent, name)
        if not deep:
            break
    return None
