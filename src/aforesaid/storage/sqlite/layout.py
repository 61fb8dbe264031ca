"""Where the files of a store stand, and what they are called.

`store` says what each is for; every other module of this package that needs a path or a key takes it from here. Opens
nothing.
"""

from __future__ import annotations

import os

from aforesaid.digests import blake2b
from aforesaid.storage.sqlite.connection import SUFFIX
from aforesaid.storage.sqlite.records import to_bytes

SESSIONS = "sessions"
CATALOGUE = "catalogue" + SUFFIX
LOCK = "lock"
DAMAGED = ".damaged"
FORGOTTEN = "forgotten" + SUFFIX
VECTORS = "vectors"
"""Name of the folder with the vectors."""
WORDS = "words"
"""Name of the file with the index of words."""
_KEY_DIGITS = 32


def key_of(file: str) -> str:
    """The key of the session of a transcript: 32 hexadecimal digits."""
    return blake2b(to_bytes(os.path.normcase(file)), digest_size=16).hexdigest()


def is_key(key: str) -> bool:
    """Whether a text could be a key: it becomes a part of a path."""
    return len(key) == _KEY_DIGITS and not key.strip("0123456789abcdef")


def holds_store(folder: str) -> bool:
    """Whether something was ever written to a store in a folder."""
    return any(os.path.exists(os.path.join(folder, name)) for name in (SESSIONS, FORGOTTEN))


def length_of(path: str) -> int:
    """Bytes of a file; 0 if there is none."""
    try:
        return os.stat(path).st_size
    except OSError:
        return 0
