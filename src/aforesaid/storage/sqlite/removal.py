"""Which files a whole store is: those that this package makes in its folder, and nothing that somebody else put there.

The engine hands it to `cli/uninstall`, which deletes them when a user wants nothing to stay.
"""

from __future__ import annotations

import os

from aforesaid.storage.sqlite.connection import COMPANIONS, SUFFIX
from aforesaid.storage.sqlite.layout import DAMAGED, SESSIONS, VECTORS

_KEY_LENGTH = 32
_OURS = "calibration"
"""Vectors of texts of our own, beside those of sessions."""
_OWN = ("catalogue", "forgotten", "manifests", "refs", "words")
"""Databases beside those of the sessions."""


def store_files(folder: str) -> tuple[str, ...]:
    """The files of a store, and then the folders that are empty without them."""
    own = {base + SUFFIX + companion for base in _OWN for companion in ("", *COMPANIONS)} | {"lock", "secret"}
    inner = [os.path.join(folder, name) for name in (SESSIONS, VECTORS)]
    files = [os.path.join(parent, name) for parent in inner for name in _names(parent) if _is_session(name)]
    files += [os.path.join(folder, name) for name in _names(folder) if name in own]
    for parent in (*inner, folder):
        if os.path.isdir(parent) and {os.path.join(parent, name) for name in _names(parent)} <= set(files):
            files.append(parent)
    return tuple(files)


def _is_session(name: str) -> bool:
    """Whether a name is a session's file, one of its companions, or its mark."""
    key, rest = name[:_KEY_LENGTH], name[_KEY_LENGTH:]
    ends = {SUFFIX + companion for companion in ("", *COMPANIONS)}
    if name.startswith(_OURS) and name.removeprefix(_OURS) in ends:
        return True
    return (rest == DAMAGED or rest in ends) and all(digit in "0123456789abcdef" for digit in key)


def _names(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []
