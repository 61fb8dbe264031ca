"""Floor 6: what can be saved of a line that is no valid JSON.

Readers ask for the ids in a damaged or overlong line, so that the entries that hang on it stay attached. Nothing of a
line's text is saved. Works on bytes: an invalid character somewhere in a text does not keep the ids from being read.
"""

from __future__ import annotations

import re
from typing import Final

_TOKEN: Final = (
    rb'[ \t\r\n]*(?:(?P<text>"(?:[^"\\]|\\.)*+"?)|(?P<mark>[{}\[\],:])|(?:[0-9.eE+-]++|true|false|null|NaN))'
)
_LONGEST: Final = 200
"""Bytes; a longer text is no id."""


def top_level(data: bytes, wanted: frozenset[str]) -> dict[str, str | None]:
    """The texts and nulls that stand directly under wanted names in a line's object, as far as it can be followed.

    The first value of a name counts. Reading stops at the first thing that cannot be JSON, since behind it inside and
    outside of texts may have changed places.

    Args:
        data: the line, or its beginning.
        wanted: names to look for; reading stops when all are found.
    """
    pattern = re.compile(_TOKEN, re.DOTALL)  # here, because damage is rare
    found: dict[str, str | None] = {}
    depth = 0
    before = b""  # the mark before the current token
    name: str | None = None
    position = max(0, data.find(b"{"))
    while len(found) < len(wanted) and (token := pattern.match(data, position)):
        position = token.end()
        mark: bytes | None = token["mark"]
        if mark is not None:
            depth += (mark in b"{[") - (mark in b"}]")
            if depth <= 0:
                break
            before = mark
        elif depth == 1:
            text = _text(token["text"])
            if before != b":":
                name = text
            elif name in wanted and (text is not None or token[0].endswith(b"null")):
                found.setdefault(name, text)
    return found


def _text(token: bytes | None) -> str | None:
    """The characters of a plain, finished JSON text."""
    if token is None or not token.endswith(b'"') or not 2 < len(token) <= _LONGEST + 2 or b"\\" in token:
        return None
    try:
        return token[1:-1].decode("utf-8")
    except UnicodeDecodeError:
        return None
