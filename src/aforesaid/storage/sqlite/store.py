"""The store as a whole: which file is whose, which are open, and what to do about damaged ones.

    FOLDER/lock                     keeps opening and unlinking apart
    FOLDER/secret                   32 random bytes, made when they are first needed
    FOLDER/catalogue.db             the list of sessions, a cache
    FOLDER/forgotten.db             marks of what was forgotten; there only if something was
    FOLDER/manifests.db             records of planned calls
    FOLDER/refs.db                  how many refs a service has given out
    FOLDER/sessions/KEY.db          one session; KEY is a hash of its transcript's path
    FOLDER/sessions/KEY.damaged     this file was found damaged: the next sync begins it anew
    FOLDER/vectors/KEY.db           the vectors of one session; there only with semantic search

`engine` makes one with `open_store` and hands it to `indexing` and `retrieval` as a `StorePort`. All SQL is in the
modules that this one calls; `files`, `roster` and `derived` are parts of it.
"""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from aforesaid.errors import SessionForgotten, StoreCorrupt, StoreError, StoreReadOnly
from aforesaid.reports import StoreStatus, Unreadable
from aforesaid.storage.ownership import check_room, close_to_others, refuse_foreign
from aforesaid.storage.sqlite import migrations
from aforesaid.storage.sqlite.connection import COMPANIONS, SUFFIX, begin, move_log
from aforesaid.storage.sqlite.derived import Derived
from aforesaid.storage.sqlite.failures import UNREADABLE, system_error
from aforesaid.storage.sqlite.files import KEPT_OPEN
from aforesaid.storage.sqlite.layout import CATALOGUE, FORGOTTEN, LOCK, SESSIONS, key_of
from aforesaid.storage.sqlite.snapshot import ShardSnapshot

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from aforesaid.model import Session, Tally
    from aforesaid.ports import SessionWriter
    from aforesaid.storage.sqlite.erasure import Eraser
    from aforesaid.storage.sqlite.graveyard import Graveyard
    from aforesaid.storage.sqlite.issued import Issued
    from aforesaid.storage.sqlite.manifests import Manifests
    from aforesaid.storage.sqlite.shard import Shard
    from aforesaid.tombstones import Tombstones

__all__ = ["DEFAULT_TIMEOUT_MS", "KEPT_OPEN", "SqliteStore", "key_of", "open_store"]

DEFAULT_TIMEOUT_MS = 5000


def open_store(folder: str, *, busy_timeout_ms: int = DEFAULT_TIMEOUT_MS, max_bytes: int = 0) -> SqliteStore:
    """Opens the store in a folder; who writes first makes the folder if there is none, so that a look leaves no trace.

    Args:
        folder: where it is.
        busy_timeout_ms: how long to wait for other processes.
        max_bytes: what it may grow to; 0 for no limit.

    Raises:
        StoreReadOnly: there is no such folder and it cannot be made.
        StoreForeign: it belongs to another user.
        StoreError: its path cannot be written in UTF-8.
    """
    path = os.path.abspath(folder)
    sessions = os.path.join(path, SESSIONS)
    try:
        path.encode()
    except UnicodeEncodeError as error:
        raise StoreError(f"{path} is no UTF-8, and SQLite opens nothing else", "choose another with --store") from error
    try:
        for part in (path, sessions):
            refuse_foreign(part)
        check_room(path)
    except OSError as error:
        if not os.path.isdir(path):
            raise system_error(error, path) from error
    if os.path.isdir(sessions):
        close_to_others(sessions)
    if _holds_nothing_else(path):
        close_to_others(path)
    return SqliteStore(path, busy_timeout_ms=busy_timeout_ms, max_bytes=max_bytes)


_MERGE = "INSERT INTO search(search, rank) VALUES ('merge', 128)"
"""Merges segments of the index where a level has four of them, about 128 pages at most; each sync adds a segment."""


class SqliteStore(Derived):
    """The `StorePort` on SQLite files. One thread at a time; any number of processes."""

    def __init__(self, folder: str, *, busy_timeout_ms: int, max_bytes: int) -> None:
        """Takes a folder that `open_store` has looked at."""
        places = (folder, os.path.join(folder, SESSIONS), os.path.join(folder, CATALOGUE))
        writable = all(map(_may_write, places))
        super().__init__(folder, writable=writable, busy_timeout_ms=busy_timeout_ms, max_bytes=max_bytes)
        self._passing = b""
        self._buried: Graveyard | None = None
        self._issued: Issued | None = None
        self._manifests: Manifests | None = None

    def secret(self) -> bytes:
        """What refs and cursors are sealed with; a store that cannot be written and has none takes it from its path."""
        from aforesaid.storage.sqlite.secret import SECRET, take_secret  # late: automatic retrieval seals nothing

        passing = self._passing = self._passing or os.urandom(SECRET)
        return take_secret(
            self._folder, self._lock, writable=self.writable, timeout_ms=self._timeout_ms, passing=passing
        )

    @property
    def manifests(self) -> Manifests:
        """The records of planned calls."""
        if self._manifests is None:
            from aforesaid.storage.sqlite.manifests import Manifests  # late: only plans need it

            path = os.path.join(self._folder, "manifests" + SUFFIX)
            self._manifests = Manifests(path, self._lock, writable=self.writable, timeout_ms=self._timeout_ms)
        return self._manifests

    def count_refs(self, issuer: str, more: int = 0) -> int:
        """How many refs an issuer has given out, before it gives out some more."""
        if self._issued is None:
            from aforesaid.storage.sqlite.issued import Issued  # late: only services count theirs

            path = os.path.join(self._folder, "refs" + SUFFIX)
            self._issued = Issued(path, self._lock, writable=self.writable, timeout_ms=self._timeout_ms)
        return self._issued.count(issuer, more)

    @contextmanager
    def write(self, file: str, *, searched: bool = False) -> Iterator[SessionWriter]:
        """A transaction on the session of this absolute path. A damaged file is begun anew.

        Raises:
            SessionForgotten: the session was forgotten, which may be known only at its commit.
        """
        if not self.writable:
            raise StoreReadOnly(f"the store {self._folder} is read-only", "check its permissions, or choose another")
        try:
            self._refuse(file)
            with self._writing(file, searched=searched) as writer:
                yield writer
        except SessionForgotten:
            if os.path.exists(self._path(key_of(file))):
                # The log may hold what was written until the session was recognised.
                self.forgetting.drop(key_of(file))
            raise

    @contextmanager
    def _writing(self, file: str, *, searched: bool) -> Iterator[SessionWriter]:
        from aforesaid.storage.sqlite.writer import ShardWriter  # late: a session that did not change is only read

        shard = self._begin(key_of(file))
        try:
            # Within the transaction, so that no erasure can pass the session by unnoticed.
            tombstones = self._refuse(file)
            with self._watched(shard.key, writing=True):
                migrations.upgrade(shard.database.connection, migrations.SHARD, shard.database.path)
                writer = ShardWriter(
                    shard,
                    file,
                    lambda session: self._committed(shard, session, writer.session),
                    searched=searched,
                )
            yield writer if tombstones is None else self._guarded(writer, tombstones, file)
        except StoreCorrupt:
            self._mark_damaged(shard.key)
            raise
        finally:
            self._release(shard, "ROLLBACK")

    def tend(self, file: str) -> bool:
        """Fills the index, packs texts, merges small pieces of the index and moves the log into the file.

        Else some commit has to.

        Then it reads into memory what the next search will read.
        """
        from aforesaid.storage.sqlite import feeding, packing  # late: see `_writing`

        shard, more = self._kept(key_of(file)), False
        if shard is None:
            return False
        connection = shard.database.connection
        with suppress(*UNREADABLE, StoreError):
            if self.writable and not self._closed:
                begin(shard.database, 0)
                self._limit(shard)
                if migrations.version(connection) == len(migrations.SHARD) and shard.load() is not None:
                    if shard.unindexed is not None:
                        feeding.catch_up(connection, shard.unindexed)
                        shard.unindexed = None
                    if shard.unpacked is not None:
                        packing.pack(connection, shard.unpacked)
                        shard.unpacked = None
                    connection.execute(_MERGE)
                connection.execute("COMMIT")
                move_log(shard.database, self._timeout_ms)
            connection.execute("BEGIN")
            session = shard.load()
            more = session is not None and ShardSnapshot(shard, session, lambda: None).read_ahead()
            connection.execute("COMMIT")
        self._release(shard)
        return more

    def remove(self, key: str) -> None:
        """Removes a session and all that was derived from it."""
        if not self.writable:
            raise StoreReadOnly(f"the store {self._folder} is read-only", "check its permissions, or choose another")
        for shard in [shard for shard in self._idle if shard.key == key]:
            self._idle.remove(shard)
            shard.close()
        if os.path.exists(self._path(key)):
            try:
                holder = self._begin(key)
            except StoreCorrupt:
                holder = None  # nobody can be writing what nobody can read
            self._discard(key, holder)
        self._catalogue.forget(key)
        self.manifests.forget(key)
        self.forget_words()
        self.forget_vectors(key)

    def by_file(self, file: str) -> Session | None:
        """The session of this absolute path, or None.

        Raises:
            StoreCorrupt: its file is damaged, empty or, as the list of sessions tells, gone.
        """
        found = super().by_file(file)
        if found is None:
            key = key_of(file)
            listed = self._catalogue.by_key(key)
            # One that was forgotten may be on its way out; one that came meanwhile is seen by whoever writes it.
            if listed is not None and not os.path.exists(self._path(key)) and not self._is_forgotten(listed):
                raise StoreCorrupt(f"{self._path(key)} is gone", "index the session again, or run `aforesaid rebuild`")
        return found

    def unreadable(self) -> tuple[Unreadable, ...]:
        """What the last `sessions` left out because its file is damaged, empty or gone; nothing that was forgotten."""
        if self._all is None:
            self._every()
        keys, gone, damaged = self._left_out
        if not gone and not damaged:
            return ()
        # What came while the list was made is not gone, and what is about to go was forgotten before.
        found = [
            Unreadable(key=one.key, session=one)
            for one in gone
            if (one.key in keys or not os.path.exists(self._path(one.key))) and not self._is_forgotten(one)
        ]
        found += [Unreadable(key=key) for key in damaged]
        return tuple(sorted(found, key=lambda one: one.key))

    def _is_forgotten(self, session: Session) -> bool:
        return os.path.exists(os.path.join(self._folder, FORGOTTEN)) and self.forgetting.refuses(
            session.file, session.header
        )

    def status(self) -> StoreStatus:
        """Health and size; opens every session file, so the time that it takes grows with their number."""
        sessions = entries = 0
        self._every()
        damaged = {one.key for one in self.unreadable()}
        catalogued = self._catalogue.everything()
        for key in self._keys():
            try:
                session = self._session(key)
            except StoreCorrupt:
                damaged.add(key)
                continue
            if session is not None:
                sessions += 1
                entries += session.entries
            elif key in catalogued and not self._is_forgotten(catalogued[key]):
                damaged.add(key)  # emptied by somebody else
        return StoreStatus(
            location=self._folder,
            writable=self.writable,
            schema=len(migrations.SHARD),
            projection=migrations.PROJECTION,
            sessions=sessions,
            entries=entries,
            bytes=self._size(),
            damaged=tuple(sorted(damaged)),
            erasing=os.path.exists(os.path.join(self._folder, FORGOTTEN)) and self.forgetting.pending,
            vectors=self._count_vectors(),
        )

    def count_withheld(self, tallies: Iterable[Tally]) -> None:
        """Adds to the counts of what the privacy policy withheld."""
        if not self.writable:
            raise StoreReadOnly(f"the store {self._folder} is read-only", "check its permissions, or choose another")
        self._catalogue.count_withheld(tallies)

    def withheld(self) -> tuple[Tally, ...]:
        """The counts of what the privacy policy withheld."""
        return self._catalogue.withheld()

    def close(self) -> None:
        """Gives back all files."""
        self._closed = True
        for session, incarnation in tuple(self._behind.values()):
            self._take_over(session, incarnation)
        for shard in self._idle:
            if shard.unindexed is not None and shard.database.lasting:
                with suppress(*UNREADABLE, StoreError):
                    self._fill_index(shard)
            shard.close()
        self._idle.clear()
        self._catalogue.close()
        if self._buried is not None:
            self._buried.close()
        if self._issued is not None:
            self._issued.close()
        if self._manifests is not None:
            self._manifests.close()
        if self._words is not None:
            self._words.close()
        for file in self._vectors.values():
            file.close()
        self._vectors.clear()

    @property
    def forgetting(self) -> Eraser:
        """How something is forgotten here."""
        from aforesaid.storage.sqlite.erasure import Eraser  # late: rarely needed

        return Eraser(self)

    @property
    def graveyard(self) -> Graveyard:
        """What was forgotten, for this package."""
        if self._buried is None:
            from aforesaid.storage.sqlite.graveyard import Graveyard  # late: most stores have none

            self._buried = Graveyard(self._folder, self._lock, writable=self.writable, timeout_ms=self._timeout_ms)
        return self._buried

    def _refuse(self, file: str) -> Tombstones | None:
        """What was forgotten; None where nothing was.

        Raises:
            SessionForgotten: the session of this path was.
        """
        if not os.path.exists(os.path.join(self._folder, FORGOTTEN)):
            return None
        tombstones = self.graveyard.tombstones()
        if tombstones is not None and tombstones.refuses(file):
            raise SessionForgotten(f"the session of {file} was forgotten", "nothing of it is kept or searched")
        return tombstones

    def _guarded(self, writer: SessionWriter, tombstones: Tombstones, file: str) -> SessionWriter:
        from aforesaid.storage.sqlite.graveyard import GuardedWriter  # late: see above

        return GuardedWriter(writer, self.graveyard, tombstones, key=key_of(file), file=file)

    def _committed(self, shard: Shard, session: Session, before: Session | None = None) -> None:
        if before is not None and before.checkpoint.redaction != session.checkpoint.redaction:
            self.forget_words()  # words that are secrets now
            self.forget_vectors(shard.key)
        shard.ready = True
        self._take_over(session, shard.incarnation)


def _holds_nothing_else(folder: str) -> bool:
    """Whether a folder is a store's own; one that has other files too may be open to others on purpose."""
    own = {SESSIONS, LOCK, CATALOGUE, *(CATALOGUE + suffix for suffix in COMPANIONS)}
    try:
        return own.issuperset(os.listdir(folder))
    except OSError:
        return False


def _may_write(path: str) -> bool:
    """Whether a file or folder can be written; what does not exist can be made."""
    return os.access(path, os.W_OK) or not os.path.lexists(path)
