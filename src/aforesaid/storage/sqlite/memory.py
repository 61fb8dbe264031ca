"""Sessions that leave nothing on the disk: the same tables in databases that live in memory.

`engine` makes one for the sessions of a host that keeps no file of them. It is a `StorePort` for one process; nothing
of it is shared, watched or ever damaged, so none of what `store` does about files is needed.
"""

from __future__ import annotations

import os
from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING

import apsw

from aforesaid.errors import StoreError
from aforesaid.model import Tally
from aforesaid.reports import StoreStatus
from aforesaid.storage.sqlite import migrations
from aforesaid.storage.sqlite.connection import Database
from aforesaid.storage.sqlite.layout import key_of
from aforesaid.storage.sqlite.manifests import MOST_BYTES
from aforesaid.storage.sqlite.shard import Shard
from aforesaid.storage.sqlite.snapshot import ShardSnapshot
from aforesaid.storage.sqlite.writer import ShardWriter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from aforesaid.inquiry import Alternatives
    from aforesaid.model import Level, Session
    from aforesaid.ports import ForgettingPort
    from aforesaid.reports import Unreadable
    from aforesaid.storage.sqlite.vectors import VectorFile

_NOWHERE = ":memory:"


class MemoryManifests:
    """The `ManifestPort` without a file."""

    def __init__(self) -> None:
        self._kept: list[tuple[str, float, str]] = []

    def keep(self, session: str, record: str, *, at: float, most: int) -> bool:
        """Adds a record; older ones beyond the bounds go."""
        self._kept = [*self._kept, (session, at, record)][-most:] if most > 0 else []
        while sum(len(record) for _, _, record in self._kept) > MOST_BYTES:
            del self._kept[0]
        return most > 0

    def forget(self, session: str) -> None:
        """Removes what is known of a session."""
        self._kept = [kept for kept in self._kept if kept[0] != session]

    def amend(self, session: str, old: str, new: str) -> bool:
        """Puts a record in the place of the latest one of a session. False if that is another."""
        for place in range(len(self._kept) - 1, -1, -1):
            key, at, record = self._kept[place]
            if key == session:
                if record == old:
                    self._kept[place] = (key, at, new)
                return record == old
        return False

    def latest(self, session: str | None, limit: int) -> tuple[tuple[float, str], ...]:
        """Time and record of the latest ones, newest first."""
        found = [(at, record) for key, at, record in reversed(self._kept) if session in (None, key)]
        return tuple(found[: max(0, limit)])


class MemoryStore:
    """The `StorePort` without files."""

    writable = True

    def __init__(self) -> None:
        self._shards: dict[str, Shard] = {}
        self._secret = os.urandom(32)
        self._issued: Counter[str] = Counter()
        self._withheld: Counter[tuple[str, Level]] = Counter()
        self.manifests = MemoryManifests()
        self._vectors: dict[str, VectorFile] = {}

    @property
    def forgetting(self) -> ForgettingPort:
        """Nothing to forget outlives the process.

        Raises:
            StoreError: always.
        """
        raise StoreError("what is in memory is forgotten with its process", "close the session")

    def learn_words(self, sessions: Sequence[Session], seconds: float | None = None) -> int:
        """Nothing is prepared: a few sessions in memory are searched as they are."""
        del sessions, seconds
        return 0

    def may_hold(self, sessions: Sequence[Session], alternatives: Alternatives) -> frozenset[str]:
        """The keys of all of them."""
        del alternatives
        return frozenset(session.key for session in sessions)

    def secret(self) -> bytes:
        """32 bytes that belong to this store."""
        return self._secret

    def count_refs(self, issuer: str, more: int = 0) -> int:
        """How many refs an issuer has given out, before it gives out some more."""
        before = self._issued[issuer]
        self._issued[issuer] += more
        return before

    def by_key(self, key: str) -> Session | None:
        """The session with this key, or None."""
        shard = self._shards.get(key)
        return shard.load() if shard is not None else None

    def sessions(self, *, host: str | None = None) -> tuple[Session, ...]:
        """The known sessions, newest first."""
        found = self._listed(lambda session: host in (None, session.header.host))
        return tuple(sorted(found, key=lambda session: session.updated or "", reverse=True))

    def unreadable(self) -> tuple[Unreadable, ...]:
        """None: nothing damages what is in memory."""
        return ()

    def by_file(self, file: str) -> Session | None:
        """The session of this name, or None."""
        return self.by_key(key_of(file))

    def recent(self, file: str) -> Session | None:
        """What was last seen of the session; here that is what there is."""
        return self.by_file(file)

    def by_id(self, session_id: str) -> tuple[Session, ...]:
        """The sessions whose header carries this id, in file order."""
        return self._listed(lambda session: session.header.session_id == session_id)

    @contextmanager
    def read(self, key: str) -> Iterator[ShardSnapshot]:
        """A snapshot of a session: what is committed is never changed, a transaction works on a copy of it."""
        shard = self._shards.get(key)
        session = shard.load() if shard is not None else None
        if shard is None or session is None:
            raise StoreError(f"the store has no session {key}", "index its transcript")
        yield ShardSnapshot(shard, session, lambda: None)

    @contextmanager
    def write(self, file: str, *, searched: bool = False) -> Iterator[ShardWriter]:
        """A transaction on the session of this name; nothing is put off."""
        del searched
        key = key_of(file)
        connection = apsw.Connection(_NOWHERE)
        before = self._shards.get(key)
        if before is not None:
            connection.deserialize("main", before.database.connection.serialize("main"))
        shard = Shard(key, Database(_NOWHERE, connection, (0, 0)))
        connection.execute("BEGIN")
        try:
            migrations.upgrade(connection, migrations.SHARD, file)
            yield ShardWriter(shard, file, lambda session: self._keep(session, shard), searched=True)
        finally:
            if connection.in_transaction:
                connection.close()

    def _keep(self, session: Session, shard: Shard) -> None:
        self._shards[session.key] = shard

    def tend(self, file: str) -> bool:
        """Nothing is put off in memory."""
        del file
        return False

    def remove(self, key: str) -> None:
        """Removes a session."""
        self._shards.pop(key, None)
        self._vectors.pop(key, None)
        self.manifests.forget(key)

    def vectors(self, key: str) -> VectorFile:
        """The vectors of a session."""
        if key not in self._vectors:
            from aforesaid.storage.sqlite.vectors import MemoryVectors  # late: only semantic search needs it

            self._vectors[key] = MemoryVectors()
        return self._vectors[key]

    def status(self) -> StoreStatus:
        """How much there is."""
        found = self._listed(lambda _: True)
        sizes = (shard.database.connection for shard in self._shards.values())
        return StoreStatus(
            location=_NOWHERE,
            writable=True,
            schema=len(migrations.SHARD),
            projection=migrations.PROJECTION,
            sessions=len(found),
            entries=sum(session.entries for session in found),
            bytes=sum(base.pragma("page_count") * base.pragma("page_size") for base in sizes),
        )

    def count_withheld(self, tallies: Iterable[Tally]) -> None:
        """Adds to the counts of what the privacy policy withheld."""
        for tally in tallies:
            self._withheld[tally.reason, tally.classification] += tally.count

    def withheld(self) -> tuple[Tally, ...]:
        """The counts of what the privacy policy withheld."""
        return tuple(
            Tally(reason=reason, classification=classification, count=count)
            for (reason, classification), count in sorted(self._withheld.items())
        )

    def close(self) -> None:
        """Forgets everything."""
        self._shards.clear()
        self._vectors.clear()

    def _listed(self, wanted: Callable[[Session], bool]) -> tuple[Session, ...]:
        known = (shard.load() for shard in self._shards.values())
        found = [session for session in known if session is not None and wanted(session)]
        return tuple(sorted(found, key=lambda session: session.file))
