"""Floor 0: the hash functions that a command needs which answers at once, without what `hashlib` brings.

`hashlib` loads OpenSSL, which takes a fifth of a bare interpreter start; the functions themselves are modules of their
own. What runs longer imports `hashlib` as everyone does.
"""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable

try:
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b

__all__ = ["blake2b", "sha256"]

_LARGE: Final = 1 << 18
"""Bytes from which on OpenSSL is worth its loading: it is several times as fast."""


def sha256(data: bytes) -> bytes:
    """The SHA-256 of some bytes."""
    digest: bytes = (_light() if len(data) < _LARGE else _fast())(data).digest()
    return digest


@cache
def _light() -> Callable[[bytes], Any]:
    """Python's own function; its module got another name with 3.12."""
    from importlib import import_module  # late: the start of a command asks for another function

    for name in ("_sha2", "_sha256"):
        with suppress(ImportError):
            found: Callable[[bytes], Any] = import_module(name).sha256
            return found
    return _fast()


@cache
def _fast() -> Callable[[bytes], Any]:
    from hashlib import sha256 as found  # late: see above

    return found
