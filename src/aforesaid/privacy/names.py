"""Floor 4, below `secrets`: whether a name tells that its value is a secret, and of which kind.

`secrets` hands in the identifier around a stem of `language.secret_names`, and gets a kind. Pure; looks at no value.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, Literal

from aforesaid.language import secret_names as words

NameKind = Literal[
    "",
    "password",
    "secret",
    "token",
    "key",
    "weak-key",
    "auth",
    "cookie",
    "session",
    "signature",
    "mnemonic",
    "bearer",
    "phrase",
    "putty",
]

_PIECES: Final = re.compile(r"[A-Z]+(?![a-zß-ÿ])|[A-Z]?[a-zß-ÿ]+|[0-9]+")
_GLUED: Final = re.compile(
    r"([a-z]*?)(password|passwd|passphrase|passwort|pass|pwd|secret|token|apikey|key|auth|credentials?|cookie)$"
)
_NO_PASS: Final = frozenset(
    (
        "by",
        "com",
        "encom",
        "tres",
        "over",
        "sur",
        "under",
        "im",
        "one",
        "two",
        "multi",
        "single",
        "render",
        "low",
        "high",
    )
)
_FLAG: Final = re.compile(r"-{1,2}(?=[A-Za-z])")


@lru_cache(8192)
def describe(name: str) -> NameKind:
    """What the value of an identifier is, by the identifier alone; empty where it tells nothing.

    `DB_PASSWORD`, `clientSecret`, `x-api-key` and `authtoken` tell; `password_hash`, `max_tokens`, `primaryKey` and
    `keyboard` do not.
    """
    pieces = [piece.lower() for piece in _PIECES.findall(name)]
    while len(pieces) > 1 and (pieces[-1].isdigit() or pieces[-1] in words.TAILS):
        pieces.pop()
    if not pieces:
        return ""
    if name.startswith("PuTTY-User-Key-File"):
        return "putty"
    last, before = pieces[-1], pieces[-2] if len(pieces) > 1 else ""
    if "public" in pieces or (last == "pass" and before in _NO_PASS):
        return ""
    if last in words.KEY:
        return _key(before, last)
    if last in words.TOKEN and before in words.NO_TOKENS:
        return ""
    for names, kind in _WHOLE:
        if last in names or before + last in names:
            return kind
    return _glued(last)


_WHOLE: Final[tuple[tuple[frozenset[str], NameKind], ...]] = (
    (words.PASSWORD, "password"),
    (words.SECRET, "secret"),
    (frozenset(("bearer",)), "bearer"),
    (words.TOKEN, "token"),
    (words.AUTH, "auth"),
    (words.COOKIE, "cookie"),
    (words.SESSION, "session"),
    (words.SIGNATURE, "signature"),
    (words.MNEMONIC, "mnemonic"),
    (words.PHRASES, "phrase"),
)


def _key(before: str, last: str) -> NameKind:
    if last != "key" or before in words.KEY_HEADS:
        return "key" if last != "chiave" else "weak-key"
    return "" if before in words.NO_KEYS else "weak-key"


def _glued(last: str) -> NameKind:
    """Names whose words are written together in lower case."""
    found = _GLUED.match(last)
    if found is None:
        return ""
    head, tail = found.groups()
    if tail in ("pass", "pwd"):
        return "" if head in _NO_PASS or not head else "password"
    if tail.startswith("pass"):
        return "password"
    if tail == "secret" or tail.startswith("credential"):
        return "secret"
    if tail == "token":
        return "" if head in words.NO_TOKENS else "token"
    if tail == "cookie":
        return "cookie"
    if tail == "auth":
        return "auth" if head in ("x", "http", "basic", "proxy", "npm", "") else ""
    return "key" if head in words.KEY_HEADS or tail == "apikey" else ""


def is_flag(name: str) -> bool:
    """Whether a name is an option of a command line: its value may follow without a sign between."""
    return _FLAG.match(name) is not None
