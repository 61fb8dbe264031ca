"""Which sessions a store holds: what the catalogue says, put right by what the session files say.

The second part of `store`; see `files`.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from aforesaid.errors import StoreBusy, StoreCorrupt, StoreFull, StoreReadOnly
from aforesaid.storage.sqlite.catalogue import Catalogue
from aforesaid.storage.sqlite.connection import COMPANIONS, SUFFIX
from aforesaid.storage.sqlite.failures import system_error
from aforesaid.storage.sqlite.files import ShardFiles
from aforesaid.storage.sqlite.layout import CATALOGUE, is_key, key_of, length_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from aforesaid.listing import Listing
    from aforesaid.model import Session
    from aforesaid.storage.sqlite.shard import Shard

_LOG = SUFFIX + COMPANIONS[0]


class Roster(ShardFiles):
    """The sessions of a store."""

    def __init__(self, folder: str, *, writable: bool, busy_timeout_ms: int, max_bytes: int) -> None:
        super().__init__(folder, writable=writable, busy_timeout_ms=busy_timeout_ms, max_bytes=max_bytes)
        path = os.path.join(folder, CATALOGUE)
        self._catalogue = Catalogue(path, self._lock, writable=writable, timeout_ms=busy_timeout_ms)
        self._behind: dict[str, tuple[Session, bytes]] = {}
        self._listing: Listing | None = None
        self._names: tuple[list[str], frozenset[str], frozenset[str], list[str]] | None = None
        self._missing: tuple[object, object, frozenset[str]] | None = None
        self._all: tuple[tuple[object, ...], tuple[Session, ...]] | None = None
        self._left_out: tuple[frozenset[str], tuple[Session, ...], frozenset[str]] = frozenset(), (), frozenset()

    def sessions(self, *, host: str | None = None) -> tuple[Session, ...]:
        """The known sessions, newest first; the same object for all of them while nothing changes."""
        every = self._every()
        return every if host is None else tuple([one for one in every if one.header.host == host])

    def by_key(self, key: str) -> Session | None:
        """The session with this key, or None."""
        return self._session(key) if is_key(key) else None

    def by_file(self, file: str) -> Session | None:
        """The session of this absolute path, or None."""
        return self._session(key_of(file))

    def recent(self, file: str) -> Session | None:
        """What this process last saw of the session, if its file is still open."""
        key = key_of(file)
        found = (shard.session for shard in reversed(self._idle) if shard.key == key and shard.database.current)
        return next(found, None)

    def by_id(self, session_id: str) -> tuple[Session, ...]:
        """The sessions whose header carries this id, in file order."""
        found = self._listed(self._catalogue.by_id(session_id), lambda session: session.header.session_id == session_id)
        return tuple(sorted(found, key=lambda session: session.file))

    def _session(self, key: str) -> Session | None:
        """What a session's file says of it."""
        shard = self._take(key)
        if shard is None:
            return None
        try:
            with self._watched(key):
                return self._load(shard)
        finally:
            self._release(shard)

    def _load(self, shard: Shard) -> Session | None:
        """What a file says of its session; the first time that it is asked, the catalogue learns of it."""
        session = shard.load()
        if not shard.ready:
            if self.writable and session is not None and self._catalogue.behind(session, shard.incarnation):
                self._take_over(session, shard.incarnation)
            shard.ready = True
        return session

    def _take_over(self, session: Session, incarnation: bytes) -> None:
        """Writes a session's row of the catalogue, which is only a cache: what fails here is put right later."""
        try:
            self._catalogue.put(session, incarnation)
        except (StoreBusy, StoreFull, StoreReadOnly):
            self._behind[session.key] = (session, incarnation)
        else:
            self._behind.pop(session.key, None)

    def _listed(self, catalogued: dict[str, Session], wanted: Callable[[Session], bool]) -> list[Session]:
        """What the catalogue says, put right by the session files that it may be behind of."""
        keys, logged = self._present()
        found = {key: session for key, session in catalogued.items() if key in keys}
        # A log may be what a process left behind that died before it wrote the catalogue.
        for key in sorted((keys - self._catalogue.keys()).union(logged)):
            try:
                session = self._session(key)
            except StoreCorrupt:
                continue
            found.pop(key, None)
            if session is not None and wanted(session):
                found[key] = session
        return list(found.values())

    def _every(self) -> tuple[Session, ...]:
        """All sessions, newest first: what the catalogue says, put right as in `_listed`."""
        keys, logged = self._present()
        catalogued, known = self._catalogue.everything(), self._catalogue.states()
        if self._missing is None or self._missing[0] is not keys or self._missing[1] is not known:
            self._missing = keys, known, keys - known.keys()
        apart: dict[str, Session | None] = {}
        damaged: set[str] = set()
        for key in sorted(self._missing[2].union(logged)):
            try:
                session = self._session(key)
            except StoreCorrupt:
                damaged.add(key)
                continue
            if session != catalogued.get(key):
                apart[key] = session
        made_of = (keys, catalogued, apart, damaged)
        if self._all is None or self._all[0][0] is not keys or self._all[0][1:] != made_of[1:]:
            found = {key: session for key, session in catalogued.items() if key in keys}
            found.update({key: session for key, session in apart.items() if session is not None})
            for key in [key for key, session in apart.items() if session is None]:
                found.pop(key, None)
            listed = sorted(found.values(), key=lambda session: session.file)
            listed.sort(key=lambda session: session.updated or "", reverse=True)
            self._all = made_of, tuple(listed)
            gone = tuple([session for key, session in catalogued.items() if key not in found])
            self._left_out = keys, gone, frozenset(damaged - found.keys())
        return self._all[1]

    def _present(self) -> tuple[frozenset[str], list[str]]:
        """The keys of all session files, the same object while none comes or goes, and those with something logged."""
        if self._listing is None:
            from aforesaid.listing import Listing  # late: only lists of sessions need it

            self._listing = Listing(self._sessions)
        try:
            names = self._listing.names()
        except FileNotFoundError:
            names = []
        except OSError as error:
            raise system_error(error, self._sessions) from error
        if self._names is None or self._names[0] is not names:
            # Logs come and go with every file that is opened, sessions do not: of thousands of names few are new.
            databases, keys = self._names[1:3] if self._names is not None else (frozenset(), frozenset())
            others = set(names) - databases
            if len(names) - len(others) < len(databases) or any(name.endswith(SUFFIX) for name in others):
                databases = frozenset([name for name in names if name.endswith(SUFFIX)])
                keys = frozenset(self._keys())
                others = set(names) - databases
            logs = sorted([name.removesuffix(_LOG) for name in others if name.endswith(_LOG)])
            self._names = names, databases, keys, [key for key in logs if key in keys]
        keys, logs = self._names[2:]
        # A log without content is what a connection makes that only reads.
        return keys, [key for key in logs if length_of(self._path(key) + COMPANIONS[0])]

    def _keys(self) -> list[str]:
        """The keys of all session files, in order."""
        try:
            with os.scandir(self._sessions) as listed:
                names = {entry.name for entry in listed if entry.is_file()}
        except FileNotFoundError:
            return []
        except OSError as error:
            raise system_error(error, self._sessions) from error
        return [name.removesuffix(SUFFIX) for name in sorted(names) if name.endswith(SUFFIX)]
