"""The vectors of one session, in a file of their own beside its shard: `FOLDER/vectors/KEY.db`.

`store` makes one for whoever asks; with `retrieval.semantic` off nobody does, and the lexical path reads nothing here.
Vectors stand in `vector_blocks`. All of it is derived: a damaged file is begun anew, and no text stands in it. The key
of a vector is its profile, the version of the cutting, the session (the file), the entry (its row) and the hash of the
passage's text.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING, Final

import apsw

from aforesaid.embedding import Covered, Profile
from aforesaid.errors import StoreError
from aforesaid.passages import CHUNKING
from aforesaid.reports import VectorCount
from aforesaid.storage.ownership import make_private
from aforesaid.storage.sqlite import migrations
from aforesaid.storage.sqlite.connection import (
    OVERWRITE_EVERYWHERE,
    Database,
    begin,
    folder_lock,
    open_readable,
    open_writable,
    remove_database,
    scrub,
)
from aforesaid.storage.sqlite.failures import UNREADABLE, is_damage, translated
from aforesaid.storage.sqlite.vector_blocks import Blocks, join

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any, TypeVar

    from aforesaid.embedding import Held, Passage

    Result = TypeVar("Result")

_VECTORS_1 = """
CREATE TABLE file(one INTEGER PRIMARY KEY CHECK(one = 1), incarnation BLOB NOT NULL);
CREATE TABLE profile(
  number INTEGER PRIMARY KEY,
  provider TEXT NOT NULL,
  model TEXT NOT NULL,
  dimensions INTEGER NOT NULL,
  destination TEXT NOT NULL,
  chunking TEXT NOT NULL,
  version INTEGER NOT NULL,
  low INTEGER NOT NULL,
  high INTEGER NOT NULL,
  generation INTEGER NOT NULL,
  tail BLOB NOT NULL,
  excluded INTEGER NOT NULL,
  UNIQUE(provider, model, dimensions, destination, chunking)
);
CREATE TABLE block(
  number INTEGER PRIMARY KEY,
  profile INTEGER NOT NULL,
  first INTEGER NOT NULL,
  last INTEGER NOT NULL,
  count INTEGER NOT NULL,
  rows BLOB NOT NULL,
  starts BLOB NOT NULL,
  ends BLOB NOT NULL,
  hashes BLOB NOT NULL,
  vectors BLOB NOT NULL
);
CREATE INDEX block_place ON block(profile, first);
"""


def _vectors_1(database: apsw.Connection) -> None:
    migrations.drop_everything(database)
    database.execute(_VECTORS_1)
    database.execute("INSERT INTO file(one, incarnation) VALUES (1, ?)", (os.urandom(8),))


STEPS: Final[tuple[migrations.Step, ...]] = (_vectors_1,)
"""Step n leads from schema n to schema n + 1."""

_PROFILE = (
    "SELECT number, version, low, high, generation, tail, excluded FROM profile"
    " WHERE provider = ? AND model = ? AND dimensions = ? AND destination = ? AND chunking = ?"
)
_MAKE = (
    "INSERT INTO profile(provider, model, dimensions, destination, chunking, version, low, high, generation, tail,"
    " excluded) VALUES (?, ?, ?, ?, ?, 0, 1, 0, 0, x'', 0) RETURNING number"
)
_COVER = (
    "UPDATE profile SET version = version + 1, low = ?, high = ?, generation = ?, tail = ?, excluded = ?"
    " WHERE number = ?"
)
_CHANGED = "UPDATE profile SET version = version + 1 WHERE number = ?"
_INCARNATION = "SELECT incarnation FROM file"
_DIMENSIONS = "SELECT number, dimensions FROM profile"
_CLEAR = "DELETE FROM block; DELETE FROM profile"
_PROFILES = (
    "SELECT provider, model, dimensions, destination, sum(count) FROM profile JOIN block ON block.profile ="
    " profile.number GROUP BY profile.number ORDER BY provider, model, dimensions, destination, chunking"
)


class VectorFile:
    """The `VectorPort` of one session; opened on first use."""

    def __init__(self, path: str, lock: str, *, writable: bool, timeout_ms: int) -> None:
        self._path = path
        self._lock = lock
        self._writable = writable
        self._timeout_ms = timeout_ms
        self._database: Database | None = None

    def version(self, profile: Profile) -> bytes:
        """What changes whenever a profile's vectors do."""

        def read(database: Database) -> bytes:
            found = _find(database, profile)
            if found is None:
                return b""
            return bytes(database.connection.execute(_INCARNATION).get) + int(found[1]).to_bytes(8, "big")

        return self._read(read) or b""

    def load(self, profile: Profile, *, vectors: bool = True) -> Held:
        """Everything that is held of a profile."""

        def read(database: Database) -> Held:
            found = _find(database, profile)
            if found is None:
                return join((), 0)
            return Blocks(database.connection, found[0], profile.dimensions).load(vectors=vectors)

        return self._read(read) or join((), 0)

    def covered(self, profile: Profile) -> Covered | None:
        """Which rows have been looked at."""

        def read(database: Database) -> Covered | None:
            found = _find(database, profile)
            if found is None:
                return None
            _, _, low, high, generation, tail, excluded = found
            return Covered(low=low, high=high, generation=generation, tail=tail, excluded=excluded)

        return self._read(read)

    def add(self, profile: Profile, passages: Sequence[Passage], vectors: Sequence[bytes], covered: Covered) -> None:
        """Adds vectors."""

        def write(database: Database) -> None:
            number = _find_or_make(database, profile)
            Blocks(database.connection, number, profile.dimensions).add(passages, vectors)
            _cover(database, number, covered)

        self._write(write)

    def keep(self, profile: Profile, passages: Sequence[Passage], covered: Covered) -> int:
        """Leaves only the vectors of these passages."""
        gone = 0

        def write(database: Database) -> None:
            nonlocal gone
            number = _find_or_make(database, profile)
            gone = Blocks(database.connection, number, profile.dimensions).keep(passages)
            _cover(database, number, covered)

        self._write(write)
        return gone

    def trim(self, profile: Profile, low: int) -> None:
        """Removes the vectors of rows before `low`."""

        def write(database: Database) -> None:
            found = _find(database, profile)
            if found is None:
                return
            Blocks(database.connection, found[0], profile.dimensions).trim(low)
            database.connection.execute(_CHANGED, (found[0],))

        self._write(write)

    def profiles(self) -> tuple[tuple[Profile, int], ...]:
        """All profiles that have vectors here."""

        def read(database: Database) -> tuple[tuple[Profile, int], ...]:
            return tuple(
                (Profile(provider=provider, model=model, dimensions=dimensions, destination=destination), count)
                for provider, model, dimensions, destination, count in database.connection.execute(_PROFILES)
            )

        return self._read(read) or ()

    def forget(self, rows: Sequence[int]) -> None:
        """Removes the vectors of rows, of all profiles."""
        if not rows or not self._exists():
            return
        gone = frozenset(rows)

        def write(database: Database) -> None:
            execute = database.connection.execute
            listed: list[Any] = execute(_DIMENSIONS).fetchall()
            for number, dimensions in listed:
                Blocks(database.connection, number, dimensions).remove(gone.__contains__, (min(gone), max(gone)))
                execute(_CHANGED, (number,))

        self._write(write)
        self._scrub()

    def discard(self) -> None:
        """Removes all vectors of the session."""
        if not self._exists():
            return

        def write(database: Database) -> None:
            database.connection.execute(_CLEAR)

        self._write(write)
        self._scrub()
        self.close()
        try:
            with folder_lock(self._lock, exclusive=True, timeout_ms=self._timeout_ms):
                remove_database(self._path)
        except PermissionError:
            return  # Windows unlinks no file that another process has open; it is empty

    def close(self) -> None:
        """Gives the file back."""
        if self._database is not None:
            self._database.close()
            self._database = None

    def _exists(self) -> bool:
        return self._database is not None or os.path.exists(self._path)

    def _scrub(self) -> None:
        def work(database: Database) -> None:
            scrub(database, self._timeout_ms, always=True)

        self._use(work, writing=True)

    def _read(self, work: Callable[[Database], Result]) -> Result | None:
        """Reads within one transaction; None if there is no file."""
        if not self._exists():
            return None

        def read(database: Database) -> Result:
            connection = database.connection
            connection.execute("BEGIN")
            try:
                return work(database)
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")

        return self._use(read)

    def _write(self, work: Callable[[Database], None]) -> None:
        """Writes within one transaction; a store that cannot be written stays as it is."""

        def write(database: Database) -> None:
            connection = database.connection
            begin(database, self._timeout_ms)
            try:
                work(database)
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

        if self._writable:
            self._use(write, writing=True)

    def _use(self, work: Callable[[Database], Result], *, writing: bool = False) -> Result | None:
        """Does something with the file. A damaged one is removed and, by whoever writes, begun anew.

        Raises:
            StoreError: it could not be done; `StoreCorrupt` to whoever reads a damaged file.
        """
        with translated(self._path, writing=writing):
            for attempt in range(2):
                try:
                    database = self._open()
                    return None if database is None else work(database)
                except UNREADABLE as error:
                    if not is_damage(error) or attempt:
                        raise
                    self.close()
                    if self._writable:
                        with folder_lock(self._lock, exclusive=True, timeout_ms=self._timeout_ms):
                            remove_database(self._path)
                    if not (self._writable and writing):
                        raise
        return None

    def _open(self) -> Database | None:
        if self._database is not None:
            if self._database.lasting:
                return self._database
            self.close()
        if not self._writable:
            self._database = open_readable(self._path, self._timeout_ms)
            if self._database is not None:
                migrations.check(migrations.version(self._database.connection), STEPS, self._path)
            return self._database
        make_private(os.path.dirname(self._path))
        with folder_lock(self._lock, exclusive=False, timeout_ms=self._timeout_ms):
            database = open_writable(self._path, self._timeout_ms)
        try:
            upgrade(database, self._path, self._timeout_ms)
        except BaseException:
            database.close()
            raise
        self._database = database
        return database


class MemoryVectors(VectorFile):
    """The same for a session that leaves nothing on the disk."""

    def __init__(self) -> None:
        super().__init__(":memory:", "", writable=True, timeout_ms=0)
        self._database = Database(":memory:", apsw.Connection(":memory:"), (0, 0))
        upgrade(self._database, ":memory:", 0)

    def _open(self) -> Database | None:
        return self._database

    def discard(self) -> None:
        """Removes all vectors of the session."""
        self._write(lambda database: database.connection.execute(_CLEAR).close())

    def _scrub(self) -> None:
        """Nothing of it is on a disk."""


def upgrade(database: Database, path: str, timeout_ms: int) -> None:
    """Makes the tables, or brings older ones up to date."""
    if migrations.check(migrations.version(database.connection), STEPS, path):
        begin(database, timeout_ms)
        migrations.upgrade(database.connection, STEPS, path)
        database.connection.execute("COMMIT")
    # Vectors say something of their texts: what is deleted is overwritten at once.
    database.connection.pragma("secure_delete", OVERWRITE_EVERYWHERE)


def count_vectors(files: Iterable[VectorFile]) -> tuple[VectorCount, ...]:
    """How many vectors files hold of each model, and of how many sessions; one that is damaged holds none."""
    counts: dict[Profile, tuple[int, int]] = {}
    for file in files:
        with suppress(StoreError):
            for profile, count in file.profiles():
                sessions, vectors = counts.get(profile, (0, 0))
                counts[profile] = (sessions + 1, vectors + count)
    return tuple(
        VectorCount(
            provider=profile.provider,
            model=profile.model,
            dimensions=profile.dimensions,
            destination=profile.destination,
            sessions=sessions,
            vectors=vectors,
        )
        for profile, (sessions, vectors) in sorted(counts.items(), key=lambda one: (one[0].name, one[0].dimensions))
    )


def _identity(profile: Profile) -> tuple[str | int, ...]:
    return (profile.provider, profile.model, profile.dimensions, profile.destination, CHUNKING)


def _find(database: Database, profile: Profile) -> Any:
    """Number, version and cover of a profile, or None."""
    return database.connection.execute(_PROFILE, _identity(profile)).fetchone()


def _find_or_make(database: Database, profile: Profile) -> int:
    found = _find(database, profile)
    return int(database.connection.execute(_MAKE, _identity(profile)).get if found is None else found[0])


def _cover(database: Database, number: int, covered: Covered) -> None:
    database.connection.execute(
        _COVER, (covered.low, covered.high, covered.generation, covered.tail, covered.excluded, number)
    )
