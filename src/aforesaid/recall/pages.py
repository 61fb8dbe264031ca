"""Where a page ends and the next one begins: cursors.

A cursor holds what the next page needs to be the next page of the same search: a name of the question, a name of what
was searched, and the place of the last hit. Nothing is remembered between two pages.
"""

from __future__ import annotations

from array import array
from hashlib import blake2b
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from aforesaid.errors import RefInvalid
from aforesaid.refs import seal, unseal

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from aforesaid.inquiry import Outline, Question
    from aforesaid.model import Session
    from aforesaid.recall.order import Key
    from aforesaid.refs import Issuer


_KIND: Final = "cursor.4"
"""Grows with the fields of a cursor: those of an older version are another search's."""


class Left(Struct, frozen=True, kw_only=True):
    """What the pages up to a place have left out: those that follow are not complete either.

    Attributes:
        codes: of the store, for sessions that could not be read.
        sessions: how many of those there were in the batches before.
        names: of those in the batch that is being searched.
        undecided: whether a pattern took too long.
        policy: whether a privacy policy was in force.
    """

    codes: tuple[str, ...] = ()
    sessions: int = 0
    names: tuple[bytes, ...] = ()
    undecided: bool = False
    policy: bool = False

    @property
    def unread(self) -> int:
        """Sessions that could not be read."""
        return self.sessions + len(self.names)

    def add(self, failed: Mapping[str, str], *, undecided: bool, policy: bool) -> Left:
        """The same, and what was left out now.

        Args:
            failed: codes of the store for sessions that could not be read, by key.
            undecided: whether a pattern took too long.
            policy: whether a privacy policy was in force.
        """
        names = [_digest(key.encode("utf-8", "surrogatepass")) for key in failed]
        return Left(
            codes=tuple(dict.fromkeys((*self.codes, *failed.values()))),
            sessions=self.sessions,
            names=tuple(dict.fromkeys((*self.names, *names))),
            undecided=self.undecided or undecided,
            policy=self.policy or policy,
        )

    def step(self) -> Left:
        """The same at the beginning of the next batch."""
        return replace(self, sessions=self.unread, names=())


class Point(Struct, frozen=True, kw_only=True):
    """Where a page begins.

    Attributes:
        sessions: name of the sessions of the scope.
        start: place of the first family of sessions that is searched (`scopes.Arrangement`).
        end: place of the family after those that are searched together; 0 if that is not settled yet.
        content: name of all that is looked at in the own session; empty if it has not been searched yet.
        leaf: row of the leaf of the own session's active branch at the time.
        last: last row of the own session at the time.
        after: place of the last hit, or of the last text that was read; None at the beginning of the batch.
        left: what was left out up to here.
    """

    sessions: bytes
    start: int = 0
    end: int = 0
    content: bytes = b""
    leaf: int | None = None
    last: int = 0
    after: Key | None = None
    left: Left = Left()

    def move(self, after: Key) -> Point:
        """The same, behind a place."""
        return replace(self, after=after)

    def step(self) -> Point:
        """The beginning of the next batch."""
        return replace(self, start=self.end, end=0, after=None, left=self.left.step())


def name_question(question: Question, session: str, *, contextual: bool) -> bytes:
    """A name that only this question in this session has, ordered by this ranking.

    The leaf is none of it: a host's moves on with every call. Whether the branch is the same, the point tells.
    """
    return _digest(repr((question, session, contextual)).encode())


def name_sessions(families: Iterable[Iterable[Session]], own: str) -> bytes:
    """A name that changes when a session of the scope changes, comes or goes; the own one may grow.

    Args:
        families: the sessions, in order.
        own: key of the own one; empty if there is none.
    """
    states = [(one.key, 0 if one.key == own else one.generation) for family in families for one in family]
    return _digest(repr(states).encode())


def name_content(outlines: Sequence[Outline], weights: Mapping[int, float]) -> bytes:
    """A name that changes when an entry that is looked at changes, comes or goes, or the order does.

    Args:
        outlines: what is looked at.
        weights: bm25 of rows, which depends on all texts; empty where the order does not depend on it.
    """
    rows = ",".join([str(outline.row) for outline in outlines])
    listed = rows.encode() + b"".join([outline.digest for outline in outlines])
    return _digest(b"".join((listed, array("q", weights).tobytes(), array("d", weights.values()).tobytes())))


def _digest(data: bytes) -> bytes:
    return blake2b(data, digest_size=8).digest()


def mark(point: Point, question: bytes, issuer: Issuer) -> str:
    """The cursor of a point."""
    place: list[object] = []
    if point.after is not None:
        tier, score, *texts = point.after
        place = [tier, score, *(text.encode("utf-8", "surrogatepass") for text in texts)]
    left = point.left
    missed = [left.codes, left.sessions, left.names, left.undecided, left.policy] if left != Left() else []
    fields = [question, point.sessions, point.start, point.end, point.content, point.leaf, point.last, missed, *place]
    return seal(_KIND, fields, issuer)


def follow(cursor: str | None, question: bytes, issuer: Issuer) -> Point | None:
    """The point of a cursor; None at the beginning.

    Raises:
        RefInvalid: it is no cursor of this issuer's, or another question's.
    """
    if cursor is None:
        return None
    fields = unseal(_KIND, cursor, issuer)
    if fields is None or fields[0] != question:
        raise RefInvalid("the cursor does not belong to this search", "repeat the same arguments, or begin anew")
    _, sessions, start, end, content, leaf, last, missed, *place = fields
    left = Left()
    if missed:
        codes, before, names, undecided, policy = missed
        left = Left(codes=tuple(codes), sessions=before, names=tuple(names), undecided=undecided, policy=policy)
    after = None
    if place:
        tier, score, *texts = place
        time, id_, key = (text.decode("utf-8", "surrogatepass") for text in texts)
        after = (tier, score, time, id_, key)
    return Point(sessions=sessions, start=start, end=end, content=content, leaf=leaf, last=last, after=after, left=left)
