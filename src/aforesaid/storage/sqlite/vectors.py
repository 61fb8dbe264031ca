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

from aforesaid.embedding import Covered, Profile
from aforesaid.errors import StoreError
from aforesaid.passages import CHUNKING
from aforesaid.reports import VectorCount
from aforesaid.storage.sqlite import migrations
from aforesaid.storage.sqlite.annex import Annex, MemoryAnnex
from aforesaid.storage.sqlite.connection import OVERWRITE_EVERYWHERE
from aforesaid.storage.sqlite.vector_blocks import Blocks, join

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any, TypeVar

    import apsw

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
        # Vectors say something of their texts: what is deleted is overwritten at once.
        overwriting = ("secure_delete", OVERWRITE_EVERYWHERE)
        self._annex = Annex(
            path, lock, STEPS, writable=writable, timeout_ms=timeout_ms, settings=(overwriting,), told=True
        )

    def version(self, profile: Profile) -> bytes:
        """What changes whenever a profile's vectors do."""

        def read(connection: apsw.Connection) -> bytes:
            found = _find(connection, profile)
            if found is None:
                return b""
            return bytes(connection.execute(_INCARNATION).get) + int(found[1]).to_bytes(8, "big")

        return self._read(read) or b""

    def load(self, profile: Profile, *, vectors: bool = True) -> Held:
        """Everything that is held of a profile."""

        def read(connection: apsw.Connection) -> Held:
            found = _find(connection, profile)
            if found is None:
                return join((), 0)
            return Blocks(connection, found[0], profile.dimensions).load(vectors=vectors)

        return self._read(read) or join((), 0)

    def covered(self, profile: Profile) -> Covered | None:
        """Which rows have been looked at."""

        def read(connection: apsw.Connection) -> Covered | None:
            found = _find(connection, profile)
            if found is None:
                return None
            _, _, low, high, generation, tail, excluded = found
            return Covered(low=low, high=high, generation=generation, tail=tail, excluded=excluded)

        return self._read(read)

    def add(self, profile: Profile, passages: Sequence[Passage], vectors: Sequence[bytes], covered: Covered) -> None:
        """Adds vectors."""

        def write(connection: apsw.Connection) -> None:
            number = _find_or_make(connection, profile)
            Blocks(connection, number, profile.dimensions).add(passages, vectors)
            _cover(connection, number, covered)

        self._annex.write(write)

    def keep(self, profile: Profile, passages: Sequence[Passage], covered: Covered) -> int:
        """Leaves only the vectors of these passages."""
        gone = 0

        def write(connection: apsw.Connection) -> None:
            nonlocal gone
            number = _find_or_make(connection, profile)
            gone = Blocks(connection, number, profile.dimensions).keep(passages)
            _cover(connection, number, covered)

        self._annex.write(write)
        return gone

    def trim(self, profile: Profile, low: int) -> None:
        """Removes the vectors of rows before `low`."""

        def write(connection: apsw.Connection) -> None:
            found = _find(connection, profile)
            if found is None:
                return
            Blocks(connection, found[0], profile.dimensions).trim(low)
            connection.execute(_CHANGED, (found[0],))

        self._annex.write(write)

    def profiles(self) -> tuple[tuple[Profile, int], ...]:
        """All profiles that have vectors here."""

        def read(connection: apsw.Connection) -> tuple[tuple[Profile, int], ...]:
            return tuple(
                (Profile(provider=provider, model=model, dimensions=dimensions, destination=destination), count)
                for provider, model, dimensions, destination, count in connection.execute(_PROFILES)
            )

        return self._read(read) or ()

    def forget(self, rows: Sequence[int]) -> None:
        """Removes the vectors of rows, of all profiles."""
        if not rows or not self._annex.exists:
            return
        gone = frozenset(rows)

        def write(connection: apsw.Connection) -> None:
            execute = connection.execute
            listed: list[Any] = execute(_DIMENSIONS).fetchall()
            for number, dimensions in listed:
                Blocks(connection, number, dimensions).remove(gone.__contains__, (min(gone), max(gone)))
                execute(_CHANGED, (number,))

        self._annex.write(write)
        self._annex.scrub()

    def discard(self) -> None:
        """Removes all vectors of the session."""
        if not self._annex.exists:
            return
        self._annex.write(lambda connection: connection.execute(_CLEAR).close())
        self._annex.scrub()
        self._annex.discard()

    def close(self) -> None:
        """Gives the file back."""
        self._annex.close()

    def _read(self, work: Callable[[apsw.Connection], Result]) -> Result | None:
        """Reads within one transaction; None if there is no file, which only writing makes."""
        return self._annex.read(work) if self._annex.exists else None


class MemoryVectors(VectorFile):
    """The same for a session that leaves nothing on the disk."""

    def __init__(self) -> None:
        self._annex = MemoryAnnex(STEPS)


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


def _find(connection: apsw.Connection, profile: Profile) -> Any:
    """Number, version and cover of a profile, or None."""
    return connection.execute(_PROFILE, _identity(profile)).fetchone()


def _find_or_make(connection: apsw.Connection, profile: Profile) -> int:
    found = _find(connection, profile)
    return int(connection.execute(_MAKE, _identity(profile)).get if found is None else found[0])


def _cover(connection: apsw.Connection, number: int, covered: Covered) -> None:
    connection.execute(_COVER, (covered.low, covered.high, covered.generation, covered.tail, covered.excluded, number))
