"""Which sessions a scope is about, in which order they are searched, and what is known to be missing.

`engine` selects, `recall` searches. Forks and clones carry copies of the entries of the session that they were made
from; sessions with copies of each other are a family, and stand together, so that a copy is recognised when it is met.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from aforesaid.branches import cover
from aforesaid.errors import BadArgument, StoreCorrupt, StoreError
from aforesaid.inquiry import Filter
from aforesaid.lineage import family_of_line
from aforesaid.projects import of_project
from aforesaid.recall.pages import name_sessions

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from aforesaid.inquiry import Scope
    from aforesaid.model import Session
    from aforesaid.ports import StorePort

SESSIONS = 48
"""Sessions that are searched together, so that the best of them all comes first. Families are not divided. Each takes
three files of the system while it is open, of which a process of macOS may have 256."""
FEW, MANY_ENTRIES = 16, 40_000
"""Of large sessions not more are searched together than these, or than have so many entries."""
ANCESTOR_MISSING = "ancestor-missing"
"""The session that one was forked from is not in the store, or more than one could be meant."""
ANCESTOR_UNVERIFIED = "ancestor-unverified"
"""A session says that it was forked from another one, but has no copy of an entry of it."""
ANCESTOR_UNKNOWN = "ancestor-unknown"
"""Another session begins with the same entries, and neither names an origin: which one was first is not known."""
_MANY = 1000
"""Sessions of a scope that are rather looked for in order than put in order."""
_COMPARED = 64
"""Entries that are looked up in the session that they may be copies of."""


class Arrangement(Struct, frozen=True, kw_only=True):
    """The sessions of a scope in the order in which they are searched, families together.

    Attributes:
        sessions: all of them, as they were given.
        families: the own session's first, then by their newest session.
        places: where a session stands among them, by its key.
        name: changes when a session of the scope changes, comes or goes; the own one may grow.
    """

    sessions: Sequence[Session]
    families: tuple[tuple[Session, ...], ...]
    places: dict[str, int]
    name: bytes


class Batch(Struct, frozen=True, kw_only=True):
    """What is searched together.

    Attributes:
        sessions: in order.
        end: place of the family after it.
        more: whether there is another batch.
    """

    sessions: tuple[Session, ...]
    end: int
    more: bool


class Selection(Struct, frozen=True, kw_only=True):
    """The sessions of a scope.

    Attributes:
        own: the session that the caller asks from, or None.
        arrangement: all sessions of the scope.
        keys: those that are opened; the others cannot hold what is looked for, and count as searched. None: all. The
            store may learn between two pages that others cannot hold it either.
        known: how many sessions of the scope the store has.
        eligible: how many sessions of the scope are known to exist.
        stale: how many have a transcript that has changed since.
        reasons: why entries of the scope may be missing.
    """

    own: Session | None
    arrangement: Arrangement
    keys: frozenset[str] | None = None
    known: int = 1
    eligible: int = 1
    stale: int = 0
    reasons: tuple[str, ...] = ()

    def batch(self, start: int, end: int) -> Batch:
        """What is searched together from a place on.

        Args:
            start: place of the first family.
            end: place of the family after the batch, where a page before has set it; 0: as many as belong together.
        """
        families, keys, own = self.arrangement.families, self.keys, "" if self.own is None else self.own.key
        if keys is None:
            places: Iterable[int] = range(start, len(families))
        elif len(keys) > _MANY:
            # The batch is full soon; putting thousands of places in order takes longer.
            everywhere = range(start, len(families))
            places = (place for place in everywhere if not keys.isdisjoint([one.key for one in families[place]]))
        else:
            found = {self.arrangement.places[key] for key in keys if key in self.arrangement.places}
            places = sorted([place for place in found if place >= start])
        chosen: list[Session] = []
        entries = 0
        for place in places:
            family = [one for one in families[place] if keys is None or one.key in keys]
            # The own session may grow between two pages, which must not move the others.
            more = sum([one.entries for one in family if one.key != own])
            together = len(chosen) + len(family)
            full = together > SESSIONS or (together > FEW and entries + more > MANY_ENTRIES)
            if place >= end if end else chosen and full:
                return Batch(sessions=tuple(chosen), end=place, more=True)
            chosen += family
            entries += more
        return Batch(sessions=tuple(chosen), end=end or len(families), more=False)


def select(store: StorePort, own: Session | None, scope: Scope) -> tuple[tuple[Session, ...], tuple[str, ...]]:
    """The sessions of a scope, and why some may be missing.

    Args:
        store: where they are.
        own: the session that the caller asks from.
        scope: how far.

    Raises:
        BadArgument: the scope needs a session, or one with a folder.
    """
    if scope == "host-wide":
        return store.sessions(), ()
    if own is None:
        raise BadArgument(f"the scope {scope} is about a session", "name one")
    if scope == "current-lineage":
        return _trace(store, own)
    if scope == "project":
        folder = own.header.cwd
        if not folder:
            raise BadArgument("the session does not say which folder it worked in", "choose another scope")
        return of_project(store.sessions(), folder), ()
    return (own,), ()


def flaws_of(sessions: Iterable[Session]) -> tuple[str, ...]:
    """Why entries of some sessions are lost, whatever is looked for."""
    return tuple(dict.fromkeys(reason for session in sessions if session.flaws for reason in cover(session).reasons))


def arrange(store: StorePort, own: Session | None, sessions: Sequence[Session]) -> Arrangement:
    """Sessions in the order in which they are searched: families by their newest session, the own one first of all."""
    families: dict[str, list[Session]] = {}
    for session in sessions:
        if own is None or session.key != own.key:
            families.setdefault(_family(store, session), []).append(session)
    if own is not None:
        first = _family(store, own)
        families = {first: [own, *families.pop(first, [])], **families}
    listed = tuple(map(tuple, families.values()))
    return Arrangement(
        sessions=sessions,
        families=listed,
        places={session.key: place for place, family in enumerate(listed) for session in family},
        name=name_sessions(listed, "" if own is None else own.key),
    )


def _family(store: StorePort, session: Session) -> str:
    """The name of a session's family; from its first entry where it was stored before families were."""
    if session.family or not session.entries:
        return session.family or session.key
    try:
        with store.read(session.key) as snapshot:
            first = snapshot.entries((1,))
    except StoreError:
        return session.key
    return (family_of_line(first[0].id, first[0].source.sha256) if first else "") or session.key


def _trace(store: StorePort, own: Session) -> tuple[tuple[Session, ...], tuple[str, ...]]:
    """A session and those that it was forked from, each of them proven by a copy."""
    found, reasons = [own], []
    while True:
        child = found[-1]
        if child.header.parent is None:
            reasons += [ANCESTOR_UNKNOWN] if _has_twin(store, child) else []
            break
        parent = find_parent(store, child)
        if parent is None:
            reasons.append(ANCESTOR_MISSING)
            break
        if any(parent.key == known.key for known in found):
            break
        if not _share(store, child, parent):
            reasons.append(ANCESTOR_UNVERIFIED)
            break
        found.append(parent)
    return tuple(found), tuple(reasons)


def _has_twin(store: StorePort, root: Session) -> bool:
    """Whether another session without an origin begins with copies of this one's entries, as far as can be read.

    The name of a family is an id, and an id alone proves nothing: hosts that count or shorten theirs use one again.
    """
    return bool(root.family) and any(
        other.family == root.family
        and other.key != root.key
        and other.header.parent is None
        and _share(store, root, other) is not False
        for other in store.sessions(host=root.header.host)
    )


def find_parent(store: StorePort, child: Session) -> Session | None:
    """The session that a header names as its origin, by path or by id; None if there is none, or more than one."""
    named = child.header.parent
    if named is None:
        return None
    try:
        found = store.by_file(named)
    except StoreCorrupt:
        return None
    if found is not None:
        return found
    same: Iterable[Session] = (other for other in store.by_id(named) if other.header.host == child.header.host)
    others = [other for other in same if other.key != child.key]
    return others[0] if len(others) == 1 else None


def _share(store: StorePort, child: Session, parent: Session) -> bool | None:
    """Whether one of the first entries of a session is a copy of one of another; None if one cannot be read."""
    try:
        with store.read(child.key) as snapshot:
            everything = Filter(summaries=True)
            mine = snapshot.outlines(((1, child.entries),), everything)[:_COMPARED] if child.entries else ()
        with store.read(parent.key) as snapshot:
            rows = snapshot.rows([outline.id for outline in mine])
            theirs = {entry.id: entry for entry in snapshot.entries([row for row in rows if row is not None])}
    except StoreError:
        return None
    return any(
        outline.id in theirs
        and (theirs[outline.id].digest, theirs[outline.id].timestamp) == (outline.digest, outline.timestamp)
        for outline in mine
    )
