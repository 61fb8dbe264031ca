"""Floor 4: the passages of an entry's text that get vectors of their own.

Pure. A long entry is about several things, and a model looks at a bounded stretch of text only; so vectors belong to
passages, an entry is as similar as its best one, and the excerpt follows it.
"""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Final

from aforesaid.digests import blake2b
from aforesaid.embedding import HASH_BYTES

if TYPE_CHECKING:
    from aforesaid.model import Span

CHUNKING: Final = "pi-session-entry-v1"
"""Version of the cutting, part of a vector's key: passages that were cut otherwise are made anew."""
LENGTH: Final = 1000
"""Characters of a passage at most: what models of this size read of a text."""
FIRST: Final = 16
LAST: Final = 8
"""Passages of a longer text that get vectors: so many from its beginning and from its end."""
_REACH: Final = 300
"""Characters before the end of a passage in which a line or word may end instead."""


def cut(text: str) -> tuple[Span, ...]:
    """Start and end (exclusive) of each passage, in order; none overlaps another, and none is blank.

    Passages end where a line ends, else where a word does, if that is near. Of a text with more than `FIRST + LAST` of
    them the middle has none.
    """
    if len(text) <= LENGTH:
        return ((0, len(text)),) if text.strip() else ()
    found: list[Span] = []
    start = 0
    while start < len(text):
        end = _end(text, start)
        if text[start:end].strip():
            found.append((start, end))
        start = end
    return tuple(found) if len(found) <= FIRST + LAST else (*found[:FIRST], *found[-LAST:])


def hash_of(text: str) -> bytes:
    """What tells whether a passage still says what its vector was made of: 16 bytes of its exact text."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=HASH_BYTES).digest()


def _end(text: str, start: int) -> int:
    limit = start + LENGTH
    if limit >= len(text):
        return len(text)
    for border in ("\n", " "):
        at = text.rfind(border, limit - _REACH, limit)
        if at >= 0:
            return at + 1
    end = limit
    while end > limit - _REACH and _joins(text[end]):
        end -= 1
    return end


def _joins(character: str) -> bool:
    """Whether a character belongs to the one before it: a mark, a joiner, a low surrogate."""
    return not character.isascii() and (
        unicodedata.category(character) in ("Mn", "Mc", "Me", "Cf") or "\udc00" <= character <= "\udfff"
    )
