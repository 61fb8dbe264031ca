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
modules that this one calls.
"""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING

from aforesaid.digests import blake2b
from aforesaid.errors import SessionForgotten, StoreBusy, StoreCorrupt, StoreError, StoreFull, StoreReadOnly
from aforesaid.reports import StoreStatus
from aforesaid.storage.ownership import close_to_others, make_private, refuse_foreign
from aforesaid.storage.sqlite import migrations
from aforesaid.storage.sqlite.catalogue import Catalogue
from aforesaid.storage.sqlite.connection import (
    COMPANIONS,
    PAGE,
    SUFFIX,
    WAL_KEPT,
    begin,
    folder_lock,
    move_log,
    open_bare,
    open_readable,
    open_writable,
    remove_database,
    size_of,
)
from aforesaid.storage.sqlite.failures import UNREADABLE, is_damage, store_error, system_error, translated
from aforesaid.storage.sqlite.records import to_bytes
from aforesaid.storage.sqlite.shard import Shard
from aforesaid.storage.sqlite.snapshot import ShardSnapshot

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from aforesaid.inquiry import Alternatives
    from aforesaid.listing import Listing
    from aforesaid.model import Session, Tally
    from aforesaid.ports import SessionWriter
    from aforesaid.reports import VectorCount
    from aforesaid.storage.sqlite.connection import Database
    from aforesaid.storage.sqlite.erasure import Eraser
    from aforesaid.storage.sqlite.graveyard import Graveyard
    from aforesaid.storage.sqlite.issued import Issued
    from aforesaid.storage.sqlite.manifests import Manifests
    from aforesaid.storage.sqlite.picking import Hint, Picker
    from aforesaid.storage.sqlite.vectors import VectorFile
    from aforesaid.storage.sqlite.words import WordIndex
    from aforesaid.tombstones import Tombstones

SESSIONS = "sessions"
CATALOGUE = "catalogue" + SUFFIX
LOCK = "lock"
_LOG = SUFFIX + COMPANIONS[0]
DAMAGED = ".damaged"
FORGOTTEN = "forgotten" + SUFFIX
KEPT_OPEN = 48
"""Session files that stay open when nobody uses them: as many as a search of many sessions opens at once."""
KEPT_ANYWAY, KEPT_BYTES = 16, 64_000_000
"""So many of them whatever they hold in memory; more only as long as all together do not hold more than this."""
DEFAULT_TIMEOUT_MS = 5000


def open_store(folder: str, *, busy_timeout_ms: int = DEFAULT_TIMEOUT_MS, max_bytes: int = 0) -> SqliteStore:
    """Opens the store in a folder, making the folder if there is none.

    Args:
        folder: where it is.
        busy_timeout_ms: how long to wait for other processes.
        max_bytes: what it may grow to; 0 for no limit.

    Raises:
        StoreReadOnly: there is no such folder and it cannot be made.
        StoreForeign: it belongs to another user.
    """
    path = os.path.abspath(folder)
    sessions = os.path.join(path, SESSIONS)
    try:
        for part in (path, sessions):
            refuse_foreign(part)
            make_private(part)
    except OSError as error:
        if not os.path.isdir(path):
            raise system_error(error, path) from error
    close_to_others(sessions)
    if _holds_nothing_else(path):
        close_to_others(path)
    return SqliteStore(path, busy_timeout_ms=busy_timeout_ms, max_bytes=max_bytes)


_MERGE = "INSERT INTO search(search, rank) VALUES ('merge', 128)"
"""Merges segments of the index where a level has four of them, about 128 pages at most; each sync adds a segment."""


class SqliteStore:
    """The `StorePort` on SQLite files. One thread at a time; any number of processes."""

    def __init__(self, folder: str, *, busy_timeout_ms: int, max_bytes: int) -> None:
        """Takes an existing folder; `open_store` makes it."""
        self._folder = folder
        self._sessions = os.path.join(folder, SESSIONS)
        self._lock = os.path.join(folder, LOCK)
        self._timeout_ms = busy_timeout_ms
        self._max_bytes = max_bytes
        path = os.path.join(folder, CATALOGUE)
        self.writable = _may_write(folder) and _may_write(self._sessions) and _may_write(path)
        self._catalogue = Catalogue(path, self._lock, writable=self.writable, timeout_ms=busy_timeout_ms)
        self._buried: Graveyard | None = None
        self._idle: list[Shard] = []
        self._unmarked: set[str] = set()
        self._behind: dict[str, tuple[Session, bytes]] = {}
        self._closed = False
        self._issued: Issued | None = None
        self._manifests: Manifests | None = None
        self._words: WordIndex | None = None
        self._vectors: dict[str, VectorFile] = {}
        self._picking: Picker | None = None
        self._listing: Listing | None = None
        self._names: tuple[list[str], set[str], frozenset[str], list[str]] | None = None
        self._missing: tuple[object, object, frozenset[str]] | None = None
        self._all: tuple[tuple[object, ...], tuple[Session, ...]] | None = None

    @property
    def words(self) -> WordIndex:
        """Which words stand in which session, for this package."""
        if self._words is None:
            from aforesaid.storage.sqlite.words import WordIndex  # late: only searches of many sessions need it

            path = os.path.join(self._folder, WORDS + SUFFIX)
            self._words = WordIndex(path, self._lock, writable=self.writable, timeout_ms=self._timeout_ms)
        return self._words

    @property
    def _picker(self) -> Picker:
        if self._picking is None:
            from aforesaid.storage.sqlite.picking import Picker  # late: only searches of many sessions need it

            path = os.path.join(self._folder, WORDS + SUFFIX)
            self._picking = Picker(path, lambda: self.words, self._catalogue.states)
        return self._picking

    def learn_words(self, sessions: Sequence[Session], seconds: float | None = None) -> int:
        """Brings the index of words up to date for sessions that have changed, as far as the time allows."""
        if not self.writable:
            return 0
        end = None if seconds is None else monotonic() + seconds
        learned = 0
        for session in self._picker.compare(sessions).unknown:
            if end is not None and monotonic() > end:
                break
            try:
                self.words.learn(session.key, partial(self._read_words, session.key))
            except (StoreBusy, StoreFull, StoreCorrupt):
                continue  # it may hold anything, which is all that follows
            learned += 1
        return learned

    def _hint(self, key: str, incarnation: bytes, generation: int) -> Hint | None:
        return self._picker.hint(key, incarnation, generation)

    def _read_words(self, key: str) -> tuple[bytes, int, tuple[str, ...] | None, bool]:
        with self.read(key) as snapshot:
            return snapshot.incarnation, snapshot.session.generation, snapshot.words(), snapshot.fed

    def may_hold(self, sessions: Sequence[Session], alternatives: Alternatives) -> frozenset[str]:
        """The keys of those sessions that may hold a text with one of the alternatives."""
        return self._picker.pick(sessions, alternatives)

    @property
    def manifests(self) -> Manifests:
        """The records of planned calls."""
        if self._manifests is None:
            from aforesaid.storage.sqlite.manifests import Manifests  # late: only plans need it

            path = os.path.join(self._folder, "manifests" + SUFFIX)
            self._manifests = Manifests(path, self._lock, writable=self.writable, timeout_ms=self._timeout_ms)
        return self._manifests

    def sessions(self, *, host: str | None = None, cwd: str | None = None) -> tuple[Session, ...]:
        """The known sessions, newest first; the same object for all of them while nothing changes."""
        every = self._every()
        if host is None and cwd is None:
            return every
        return tuple([one for one in every if host in (None, one.header.host) and cwd in (None, one.header.cwd)])

    def secret(self) -> bytes:
        """What refs and cursors are sealed with; a store that cannot be written and has none takes it from its path."""
        path = os.path.join(self._folder, "secret")
        with translated(path):
            found = _read_secret(path)
            if found is None and not self.writable:
                return blake2b(to_bytes(self._folder), digest_size=SECRET).digest()
            if found is None:
                with folder_lock(self._lock, exclusive=True, timeout_ms=self._timeout_ms):
                    found = _read_secret(path) or _make_secret(path)
        return found

    def count_refs(self, issuer: str, more: int = 0) -> int:
        """How many refs an issuer has given out, before it gives out some more."""
        if self._issued is None:
            from aforesaid.storage.sqlite.issued import Issued  # late: only services count theirs

            path = os.path.join(self._folder, "refs" + SUFFIX)
            self._issued = Issued(path, self._lock, writable=self.writable, timeout_ms=self._timeout_ms)
        return self._issued.count(issuer, more)

    def by_key(self, key: str) -> Session | None:
        """The session with this key, or None."""
        return self._session(key) if _is_key(key) else None

    def by_file(self, file: str) -> Session | None:
        """The session of this absolute path, or None."""
        return self._session(key_of(file))

    def recent(self, file: str) -> Session | None:
        """What this process last saw of the session, if its file is still open."""
        key = key_of(file)
        return next((shard.session for shard in reversed(self._idle) if shard.key == key), None)

    def by_id(self, session_id: str) -> tuple[Session, ...]:
        """The sessions whose header carries this id, in file order."""
        found = self._listed(self._catalogue.by_id(session_id), lambda session: session.header.session_id == session_id)
        return tuple(sorted(found, key=lambda session: session.file))

    @contextmanager
    def read(self, key: str) -> Iterator[ShardSnapshot]:
        """A snapshot of a session."""
        shard = self._take(key)
        if shard is None:
            raise _unknown(key)
        try:
            with self._watched(shard.key):
                shard.database.connection.execute("BEGIN")
                session = self._load(shard)
            if session is None:
                raise _unknown(key)
            hint = partial(self._hint, key, shard.incarnation, session.generation)
            yield ShardSnapshot(shard, session, lambda: self._mark_damaged(key), hint)
        finally:
            # Not a rollback: that would empty the temporary table of spans as well.
            self._release(shard, "COMMIT")

    @contextmanager
    def write(self, file: str) -> Iterator[SessionWriter]:
        """A transaction on the session of this absolute path. A damaged file is begun anew.

        Raises:
            SessionForgotten: the session was forgotten, which may be known only at its commit.
        """
        if not self.writable:
            raise StoreReadOnly(f"the store {self._folder} is read-only", "check its permissions, or choose another")
        try:
            self._refuse(file)
            with self._writing(file) as writer:
                yield writer
        except SessionForgotten:
            if os.path.exists(self._path(key_of(file))):
                # The log may hold what was written until the session was recognised.
                self.forgetting.drop(key_of(file))
            raise

    @contextmanager
    def _writing(self, file: str) -> Iterator[SessionWriter]:
        from aforesaid.storage.sqlite.writer import ShardWriter  # late: a session that did not change is only read

        shard = self._begin(key_of(file))
        try:
            # Within the transaction, so that no erasure can pass the session by unnoticed.
            tombstones = self._refuse(file)
            with self._watched(shard.key, writing=True):
                migrations.upgrade(shard.database.connection, migrations.SHARD, shard.database.path)
                writer = ShardWriter(shard, file, lambda session: self._committed(shard, session, writer.session))
            yield writer if tombstones is None else self._guarded(writer, tombstones, file)
        except StoreCorrupt:
            self._mark_damaged(shard.key)
            raise
        finally:
            self._release(shard, "ROLLBACK")

    def tend(self, file: str) -> bool:
        """Packs texts, merges small pieces of the index and moves the log into the file: else some commit has to.

        Then it reads into memory what the next search will read.
        """
        from aforesaid.storage.sqlite import packing  # late: see `_writing`

        shard, more = self._kept(key_of(file)), False
        if shard is None:
            return False
        connection = shard.database.connection
        with suppress(*UNREADABLE, StoreError):
            if self.writable and not self._closed:
                begin(shard.database, 0)
                if migrations.version(connection) == len(migrations.SHARD) and shard.load() is not None:
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

    def status(self) -> StoreStatus:
        """Health and size; opens every session file, so the time that it takes grows with their number."""
        sessions = entries = 0
        damaged: list[str] = []
        for key in self._keys():
            try:
                session = self._session(key)
            except StoreCorrupt:
                damaged.append(key)
                continue
            if session is not None:
                sessions += 1
                entries += session.entries
        return StoreStatus(
            location=self._folder,
            writable=self.writable,
            schema=len(migrations.SHARD),
            projection=migrations.PROJECTION,
            sessions=sessions,
            entries=entries,
            bytes=self._size(),
            damaged=tuple(damaged),
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

    def vectors(self, key: str) -> VectorFile:
        """The vectors of a session."""
        file = self._vectors.get(key)
        if file is None:
            from aforesaid.storage.sqlite.vectors import VectorFile  # late: only semantic search needs it

            path = os.path.join(self._folder, VECTORS, key + SUFFIX)
            file = VectorFile(path, self._lock, writable=self.writable, timeout_ms=self._timeout_ms)
            while len(self._vectors) >= KEPT_ANYWAY:
                self._vectors.pop(next(iter(self._vectors))).close()
            self._vectors[key] = file
        return file

    def forget_vectors(self, key: str, rows: Sequence[int] | None = None) -> None:
        """Removes vectors of a session that may tell what was forgotten: those of some rows, or all."""
        if key in self._vectors or os.path.exists(os.path.join(self._folder, VECTORS, key + SUFFIX)):
            file = self.vectors(key)
            if rows is None:
                file.discard()
            else:
                file.forget(rows)

    def _count_vectors(self) -> tuple[VectorCount, ...]:
        """How many vectors there are of each model."""
        folder = os.path.join(self._folder, VECTORS)
        if not os.path.isdir(folder):
            return ()
        from aforesaid.storage.sqlite.vectors import count_vectors  # late: see `vectors`

        return count_vectors(
            self.vectors(name.removesuffix(SUFFIX))
            for name in sorted(os.listdir(folder))
            if _is_key(name.removesuffix(SUFFIX))
        )

    def forget_words(self) -> None:
        """Discards the index of words, which may hold what was forgotten."""
        if self._words is not None or os.path.exists(os.path.join(self._folder, WORDS + SUFFIX)):
            self.words.discard()

    # --- what was forgotten -----------------------------------------------------------------------------------------

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

    # --- which sessions there are -----------------------------------------------------------------------------------

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
        for key in sorted(self._missing[2].union(logged)):
            try:
                session = self._session(key)
            except StoreCorrupt:
                continue
            if session != catalogued.get(key):
                apart[key] = session
        made_of = (keys, catalogued, apart)
        if self._all is None or self._all[0][0] is not keys or self._all[0][1:] != made_of[1:]:
            found = {key: session for key, session in catalogued.items() if key in keys}
            found.update({key: session for key, session in apart.items() if session is not None})
            for key in [key for key, session in apart.items() if session is None]:
                found.pop(key, None)
            listed = sorted(found.values(), key=lambda session: session.file)
            listed.sort(key=lambda session: session.updated or "", reverse=True)
            self._all = made_of, tuple(listed)
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
            # Logs come and go with every file that is opened, sessions do not.
            databases = {name for name in names if name.endswith(SUFFIX)}
            same = self._names is not None and self._names[1] == databases
            keys = self._names[2] if self._names is not None and same else frozenset(self._keys())
            logs = sorted([name.removesuffix(_LOG) for name in names if name.endswith(_LOG)])
            self._names = names, databases, keys, [key for key in logs if key in keys]
        keys, logs = self._names[2:]
        # A log without content is what a connection makes that only reads.
        return keys, [key for key in logs if _length(self._path(key) + COMPANIONS[0])]

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

    def _committed(self, shard: Shard, session: Session, before: Session | None = None) -> None:
        if before is not None and before.checkpoint.redaction != session.checkpoint.redaction:
            self.forget_words()  # words that are secrets now
            self.forget_vectors(shard.key)
        shard.ready = True
        self._take_over(session, shard.incarnation)

    def _take_over(self, session: Session, incarnation: bytes) -> None:
        """Writes a session's row of the catalogue, which is only a cache: what fails here is put right later."""
        try:
            self._catalogue.put(session, incarnation)
        except (StoreBusy, StoreFull, StoreReadOnly):
            self._behind[session.key] = (session, incarnation)
        else:
            self._behind.pop(session.key, None)

    # --- which files are open ---------------------------------------------------------------------------------------

    def _path(self, key: str) -> str:
        return os.path.join(self._sessions, key + SUFFIX)

    def _take(self, key: str) -> Shard | None:
        """An open file for reading; None if there is no such session."""
        if self._closed:
            raise StoreError("the store was closed", "open it again")
        if self._is_damaged(key):
            raise StoreCorrupt(f"{self._path(key)} is damaged", "index the session again, or run `aforesaid rebuild`")
        shard = self._kept(key)
        if shard is not None:
            return shard
        with self._watched(key):
            database = self._open(self._path(key))
            if database is None:
                return None
            try:
                if self._upgrade(database):
                    return Shard(key, database)
            except BaseException:
                database.close()
                raise
        database.close()
        return None

    def _kept(self, key: str) -> Shard | None:
        """An idle file that is still the one at its path."""
        for shard in reversed(self._idle):
            if shard.key == key:
                self._idle.remove(shard)
                if shard.database.lasting:
                    shard.database.settle()
                    return shard
                shard.close()
                return self._kept(key)
        return None

    def _open(self, path: str) -> Database | None:
        """A session's file to be read; None if there is none."""
        if not self.writable:
            return open_readable(path, self._timeout_ms)
        with folder_lock(self._lock, exclusive=False, timeout_ms=self._timeout_ms):
            return open_bare(path, self._timeout_ms)

    def _make(self, key: str) -> Shard:
        """Opens a file for writing, or makes it."""
        make_private(self._sessions)
        with folder_lock(self._lock, exclusive=False, timeout_ms=self._timeout_ms):
            return Shard(key, open_writable(self._path(key), self._timeout_ms))

    def _upgrade(self, database: Database) -> bool:
        """Makes a file that was just opened readable; False if nothing was ever committed to it."""
        connection, path = database.connection, database.path
        found = migrations.version(connection)
        if migrations.check(found, migrations.SHARD, path) and found:
            if not self.writable:
                raise StoreReadOnly(
                    f"{path} is of an older version and read-only", "open it once where it can be written"
                )
            database.settle()
            begin(database, self._timeout_ms)
            migrations.upgrade(connection, migrations.SHARD, path)
            connection.execute("COMMIT")
        return found > 0

    def _load(self, shard: Shard) -> Session | None:
        """What a file says of its session; the first time that it is asked, the catalogue learns of it."""
        session = shard.load()
        if not shard.ready:
            if self.writable and session is not None and self._catalogue.behind(session, shard.incarnation):
                self._take_over(session, shard.incarnation)
            shard.ready = True
        return session

    def _begin(self, key: str) -> Shard:
        """A file in a write transaction; made if there is none, and anew if it is damaged."""
        if self._closed:
            raise StoreError("the store was closed", "open it again")
        if self._is_damaged(key):
            self._discard(key, None, damaged=True)
        while True:
            with self._watched(key, writing=True):
                shard = self._kept(key) or self._make(key)
                try:
                    begin(shard.database, self._timeout_ms)
                    if not shard.database.current:
                        shard.close()
                        continue
                    self._limit(shard)
                except BaseException:
                    shard.close()
                    raise
                return shard

    def _limit(self, shard: Shard) -> None:
        """Lets SQLite itself keep to `max_bytes`."""
        if self._max_bytes:
            left = self._max_bytes - self._size() + size_of(shard.database.path)
            shard.database.connection.pragma("max_page_count", max(1, left // PAGE))

    def _release(self, shard: Shard, ending: str = "") -> None:
        """Ends the transaction that may be open and keeps the file for later."""
        connection = shard.database.connection
        try:
            if connection.in_transaction:
                connection.execute(ending or "ROLLBACK")
            elif ending == "ROLLBACK" and _length(shard.database.path + COMPANIONS[0]) > 4 * WAL_KEPT:
                connection.set_busy_timeout(0)
                connection.wal_checkpoint(mode=3)
                connection.set_busy_timeout(self._timeout_ms)
        except UNREADABLE:
            shard.close()
            return
        if self._closed or not shard.ready or shard.spent or not shard.database.watched:
            shard.close()
            return
        self._idle.append(shard)
        if len(self._idle) > KEPT_ANYWAY:
            shard.weigh()
            while len(self._idle) > KEPT_OPEN or (
                len(self._idle) > KEPT_ANYWAY and sum([idle.weight for idle in self._idle]) > KEPT_BYTES
            ):
                self._idle.pop(0).close()

    # --- damage -----------------------------------------------------------------------------------------------------

    def _marker(self, key: str) -> str:
        return os.path.join(self._sessions, key + DAMAGED)

    @contextmanager
    def _watched(self, key: str, *, writing: bool = False) -> Iterator[None]:
        """Turns failures into the store's errors, and remembers which files are damaged."""
        path = self._path(key)
        try:
            yield
        except UNREADABLE as error:
            if is_damage(error):
                self._mark_damaged(key)
            raise store_error(error, path, writing=writing) from error
        except OSError as error:
            raise system_error(error, path) from error

    def _mark_damaged(self, key: str) -> None:
        """Remembers, for other processes too, that the file is to be begun anew."""
        if not self.writable:
            return
        try:
            os.close(os.open(self._marker(key), os.O_WRONLY | os.O_CREAT, 0o600))
        except OSError:
            self._unmarked.add(key)  # the next process will find out by itself

    def _is_damaged(self, key: str) -> bool:
        return key in self._unmarked or os.path.exists(self._marker(key))

    def _discard(self, key: str, holder: Shard | None, *, damaged: bool = False) -> None:
        """Unlinks a session's file.

        Args:
            key: the session.
            holder: a connection in a write transaction on it, which keeps other writers out until the file is gone.
            damaged: only if the mark is still there: another process may have begun the file anew already.
        """
        for shard in [shard for shard in self._idle if shard.key == key]:
            self._idle.remove(shard)
            shard.close()
        if holder is not None and os.name == "nt":
            holder.close()  # Windows unlinks no open files
        with (
            translated(self._path(key), writing=True),
            folder_lock(self._lock, exclusive=True, timeout_ms=self._timeout_ms),
        ):
            if not damaged or self._is_damaged(key):
                remove_database(self._path(key))
            if os.path.exists(self._marker(key)):
                os.unlink(self._marker(key))
        if holder is not None:
            holder.close()
        self._unmarked.discard(key)

    def _size(self) -> int:
        """Bytes of all files of the store."""
        total = 0
        for folder in (self._folder, self._sessions, os.path.join(self._folder, VECTORS)):
            if folder != self._folder and not os.path.isdir(folder):
                continue  # the first cannot be made in a store that cannot be written, the second is made when needed
            with translated(folder), os.scandir(folder) as found:
                total += sum(_length(entry.path) for entry in found if entry.is_file())
        return total


SECRET = 32
"""Bytes of the store's secret."""


def _read_secret(path: str) -> bytes | None:
    """The secret, or None if there is none yet, or nothing that could be one."""
    try:
        with open(path, "rb") as file:
            found = file.read(SECRET + 1)
    except FileNotFoundError:
        return None
    return found if len(found) == SECRET else None


def _make_secret(path: str) -> bytes:
    """A new secret; the file appears complete or not at all."""
    made = os.urandom(SECRET)
    unfinished = f"{path}.new"
    descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0), 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(made)
    os.replace(unfinished, path)
    return made


def _is_key(key: str) -> bool:
    """Whether a text could be a key: it becomes a part of a path."""
    return len(key) == _KEY_DIGITS and not key.strip("0123456789abcdef")


_KEY_DIGITS = 32


VECTORS = "vectors"
"""Name of the folder with the vectors."""
WORDS = "words"
"""Name of the file with the index of words."""


def key_of(file: str) -> str:
    """The key of the session of a transcript: 32 hexadecimal digits."""
    return blake2b(to_bytes(os.path.normcase(file)), digest_size=16).hexdigest()


def _holds_nothing_else(folder: str) -> bool:
    """Whether a folder is a store's own; one that has other files too may be open to others on purpose."""
    own = {SESSIONS, LOCK, CATALOGUE, *(CATALOGUE + suffix for suffix in COMPANIONS)}
    try:
        return own.issuperset(os.listdir(folder))
    except OSError:
        return False


def _length(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


def _may_write(path: str) -> bool:
    """Whether a file or folder can be written; what does not exist can be made."""
    return os.access(path, os.W_OK) or not os.path.lexists(path)


def _unknown(key: str) -> StoreError:
    return StoreError(f"the store has no session {key}", "index its transcript")
