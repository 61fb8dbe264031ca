"""The secret of a store, with which refs and cursors are sealed.

`store` asks for it. It is made when it is first needed, and never shown.
"""

from __future__ import annotations

import os

from aforesaid.digests import blake2b
from aforesaid.storage.sqlite.connection import folder_lock
from aforesaid.storage.sqlite.failures import translated
from aforesaid.storage.sqlite.layout import holds_store
from aforesaid.storage.sqlite.records import to_bytes

SECRET = 32
"""Bytes of the store's secret."""


def take_secret(folder: str, lock: str, *, writable: bool, timeout_ms: int, passing: bytes) -> bytes:
    """The secret of the store in a folder; one that cannot be written and has none takes it from its path.

    Where there is no store yet nothing was ever sealed: there it is the passing one, which fits nothing.
    """
    path = os.path.join(folder, "secret")
    with translated(path):
        found = _read_secret(path)
        if found is None and not writable:
            return blake2b(to_bytes(folder), digest_size=SECRET).digest()
        if found is None and not holds_store(folder):
            return passing
        if found is None:
            with folder_lock(lock, exclusive=True, timeout_ms=timeout_ms):
                found = _read_secret(path) or _make_secret(path)
    return found


def _read_secret(path: str) -> bytes | None:
    """The secret, or None if there is none yet, or nothing that could be one."""
    try:
        with open(path, "rb") as file:
            found = file.read(SECRET + 1)
    except FileNotFoundError:
        return None
    return found if len(found) == SECRET else None


def _make_secret(path: str) -> bytes:
    """A new secret; the file appears complete or not at all."""
    made = os.urandom(SECRET)
    unfinished = f"{path}.new"
    descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0), 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(made)
    os.replace(unfinished, path)
    return made
