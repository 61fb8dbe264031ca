"""Where a page ends and the next one begins: cursors.

A cursor holds what the next page needs to be the next page of the same search: a name of the question, a name of what
was searched, and the place of the last hit. Nothing is remembered between two pages.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING

from msgspec import Struct

from aforesaid.errors import RefInvalid
from aforesaid.refs import seal, unseal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aforesaid.inquiry import Outline, Question
    from aforesaid.recall.order import Key
    from aforesaid.refs import Issuer


class Point(Struct, frozen=True, kw_only=True):
    """The end of a page.

    Attributes:
        content: name of all that was looked at.
        leaf: row of the leaf of the active branch at the time.
        last: last row of the session at the time.
        after: place of the last hit, or of the last text that was read.
    """

    content: bytes
    leaf: int | None
    last: int
    after: Key


def name_question(question: Question, session: str, leaf: str | None) -> bytes:
    """A name that only this question in this session has."""
    return _digest(repr((question, session, leaf)).encode())


def name_content(outlines: Sequence[Outline]) -> bytes:
    """A name that changes when an entry that is looked at changes, comes or goes."""
    rows = ",".join([str(outline.row) for outline in outlines])
    return _digest(rows.encode() + b"".join([outline.digest for outline in outlines]))


def _digest(data: bytes) -> bytes:
    return blake2b(data, digest_size=8).digest()


def mark(point: Point, question: bytes, issuer: Issuer) -> str:
    """The cursor of a point."""
    score, *texts = point.after
    place = [text.encode("utf-8", "surrogatepass") for text in texts]
    return seal("cursor", [question, point.content, point.leaf, point.last, score, *place], issuer)


def follow(cursor: str | None, question: bytes, issuer: Issuer) -> Point | None:
    """The point of a cursor; None at the beginning.

    Raises:
        RefInvalid: it is no cursor of this issuer's, or another question's.
    """
    if cursor is None:
        return None
    fields = unseal("cursor", cursor, issuer)
    if fields is None or fields[0] != question:
        raise RefInvalid("the cursor does not belong to this search", "repeat the same arguments, or begin anew")
    _, content, leaf, last, score, *place = fields
    time, id_, file = (text.decode("utf-8", "surrogatepass") for text in place)
    return Point(content=content, leaf=leaf, last=last, after=(score, time, id_, file))
