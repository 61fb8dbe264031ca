"""Floor 0: the hash function that the start of a command needs, without what `hashlib` brings.

`hashlib` loads OpenSSL, which takes a fifth of a bare interpreter start; the function itself is a module of its own.
What runs later imports `hashlib` as everyone does.
"""

from __future__ import annotations

try:
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b

__all__ = ["blake2b"]
