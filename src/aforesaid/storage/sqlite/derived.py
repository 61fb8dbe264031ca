"""Reading sessions, and what is made of them beside their files: the index of words, and vectors.

The third part of `store`; see `files`. All of it may be lost: it is made again from the sessions.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING

from aforesaid.errors import StoreBusy, StoreCorrupt, StoreError, StoreFull
from aforesaid.storage.sqlite.connection import SUFFIX, begin
from aforesaid.storage.sqlite.failures import UNREADABLE, is_damage
from aforesaid.storage.sqlite.files import KEPT_ANYWAY
from aforesaid.storage.sqlite.layout import VECTORS, WORDS, is_key
from aforesaid.storage.sqlite.roster import Roster
from aforesaid.storage.sqlite.snapshot import ShardSnapshot

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aforesaid.inquiry import Alternatives
    from aforesaid.model import Session
    from aforesaid.reports import VectorCount
    from aforesaid.storage.sqlite.picking import Hint, Picker
    from aforesaid.storage.sqlite.shard import Shard
    from aforesaid.storage.sqlite.vectors import VectorFile
    from aforesaid.storage.sqlite.words import WordIndex


class Derived(Roster):
    """What of a store is read, and what is derived from that."""

    def __init__(self, folder: str, *, writable: bool, busy_timeout_ms: int, max_bytes: int) -> None:
        super().__init__(folder, writable=writable, busy_timeout_ms=busy_timeout_ms, max_bytes=max_bytes)
        self._words: WordIndex | None = None
        self._vectors: dict[str, VectorFile] = {}
        self._picking: Picker | None = None

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
                with self.read(session.key):
                    pass  # what waits for words is written before the folder's lock is taken, not behind it
                self.words.learn(session.key, partial(self._read_words, session.key))
            except (StoreBusy, StoreFull, StoreCorrupt):
                continue  # it may hold anything, which is all that follows
            learned += 1
        return learned

    def _hint(self, key: str, incarnation: bytes, generation: int) -> Hint | None:
        return self._picker.hint(key, incarnation, generation)

    def _read_words(self, key: str) -> tuple[bytes, int, tuple[str, ...] | None, int]:
        # Whoever removes a session holds its file and waits for the lock that is held here: nothing may be written.
        with self._reading(key, filling=False) as snapshot:
            return snapshot.incarnation, snapshot.session.generation, snapshot.words(), snapshot.fed

    def may_hold(self, sessions: Sequence[Session], alternatives: Alternatives) -> frozenset[str]:
        """The keys of those sessions that may hold a text with one of the alternatives."""
        return self._picker.pick(sessions, alternatives)

    @contextmanager
    def read(self, key: str) -> Iterator[ShardSnapshot]:
        """A snapshot of a session."""
        with self._reading(key) as snapshot:
            yield snapshot

    @contextmanager
    def _reading(self, key: str, *, filling: bool = True) -> Iterator[ShardSnapshot]:
        """The same; what waits for words is written into the file, or else made up for in memory."""
        shard = self._take(key)
        if shard is None:
            raise self._unknown(key)
        try:
            with self._watched(shard.key):
                shard.database.connection.execute("BEGIN")
                session = self._load(shard)
                if shard.unindexed is not None:
                    session = self._complete(shard, filling=filling)
            if session is None:
                raise self._unknown(key)
            hint = partial(self._hint, key, shard.incarnation, session.generation)
            yield ShardSnapshot(shard, session, lambda: self._mark_damaged(key), hint)
        finally:
            # Not a rollback: that would empty the temporary table of spans as well.
            self._release(shard, "COMMIT")

    def _unknown(self, key: str) -> StoreError:
        """Why a session without content cannot be read."""
        if key in self._catalogue.states():
            return StoreCorrupt(f"{self._path(key)} is empty or gone", "index the session again")
        return StoreError(f"the store has no session {key}", "index its transcript")

    def _complete(self, shard: Shard, *, filling: bool) -> Session | None:
        """Makes up for rows that were stored without words and digests, between two read transactions."""
        connection = shard.database.connection
        connection.execute("COMMIT")
        if self.writable and filling:
            try:
                self._fill_index(shard)
            except UNREADABLE as error:
                if is_damage(error):
                    raise
        connection.execute("BEGIN")
        session = shard.load()
        if shard.unindexed is not None:
            from aforesaid.storage.sqlite import feeding  # late: as above

            shard.schema, shard.spent = "temp", True  # first: half of an index must not outlive this reading
            feeding.shadow(connection, shard.unindexed)
        return session

    def _fill_index(self, shard: Shard) -> None:
        """The same in a transaction of its own; all or nothing.

        Raises:
            apsw.Error, ValueError: it could not be done.
        """
        from aforesaid.storage.sqlite import feeding  # late: seldom needed, as most rows are put in when they come

        connection = shard.database.connection
        shard.database.settle()
        begin(shard.database, self._timeout_ms)
        try:
            self._limit(shard)
            if shard.load() is not None and shard.unindexed is not None:
                feeding.catch_up(connection, shard.unindexed)
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
        shard.unindexed = None

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
            if is_key(name.removesuffix(SUFFIX))
        )

    def forget_words(self) -> None:
        """Discards the index of words, which may hold what was forgotten."""
        if self._words is not None or os.path.exists(os.path.join(self._folder, WORDS + SUFFIX)):
            self.words.discard()
