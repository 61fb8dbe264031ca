"""The session files of a store: which are open, and what to do about damaged ones.

`store` is made of three parts, each standing on the one before: this one, `roster` (which sessions there are) and
`derived` (what is made of sessions beside them). Here nobody knows what a session is.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from aforesaid.errors import StoreCorrupt, StoreError, StoreReadOnly
from aforesaid.storage.ownership import make_private
from aforesaid.storage.sqlite import migrations
from aforesaid.storage.sqlite.connection import (
    COMPANIONS,
    PAGE,
    SUFFIX,
    WAL_KEPT,
    begin,
    folder_lock,
    open_bare,
    open_readable,
    open_writable,
    remove_database,
    size_of,
)
from aforesaid.storage.sqlite.failures import UNREADABLE, is_damage, store_error, system_error, translated
from aforesaid.storage.sqlite.layout import DAMAGED, LOCK, SESSIONS, VECTORS, length_of
from aforesaid.storage.sqlite.shard import Shard

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aforesaid.storage.sqlite.connection import Database

KEPT_OPEN = 48
"""Session files that stay open when nobody uses them: as many as a search of many sessions opens at once."""
KEPT_ANYWAY, KEPT_BYTES = 16, 64_000_000
"""So many of them whatever they hold in memory; more only as long as all together do not hold more than this."""


class ShardFiles:
    """The session files in the folder of a store."""

    def __init__(self, folder: str, *, writable: bool, busy_timeout_ms: int, max_bytes: int) -> None:
        self._folder = folder
        self._sessions = os.path.join(folder, SESSIONS)
        self._within = os.path.join(self._sessions, "")
        self._lock = os.path.join(folder, LOCK)
        self._timeout_ms = busy_timeout_ms
        self._max_bytes = max_bytes
        self.writable = writable
        self._idle: list[Shard] = []
        self._unmarked: set[str] = set()
        self._closed = False

    def _path(self, key: str) -> str:
        return f"{self._within}{key}{SUFFIX}"

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
        self._tell_emptied(key)
        return None

    def _tell_emptied(self, key: str) -> None:
        """Raises for a file of which nothing is left: whoever made it wrote more at once, so somebody took that away.

        What the list of sessions says of it may be lost as well, and its transcript gone; it is a session all the same.
        """
        path = self._path(key)
        if not _is_emptied(path):
            return
        if self.writable:
            # Whoever makes a file holds the lock until there is something in it.
            with folder_lock(self._lock, exclusive=True, timeout_ms=self._timeout_ms):
                if not _is_emptied(path):
                    return
        raise StoreCorrupt(f"{path} is empty", "index the session again, or run `aforesaid rebuild`")

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
        if not os.path.exists(path):
            return None  # before the lock, which would make the folder
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
            elif ending == "ROLLBACK" and length_of(shard.database.path + COMPANIONS[0]) > 4 * WAL_KEPT:
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

    def _marker(self, key: str) -> str:
        return f"{self._within}{key}{DAMAGED}"

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
        return key in self._unmarked or os.access(self._marker(key), os.F_OK)

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
            if not os.path.isdir(folder):
                continue  # it is made when something is written
            with translated(folder), os.scandir(folder) as found:
                total += sum(length_of(entry.path) for entry in found if entry.is_file())
        return total


def _is_emptied(path: str) -> bool:
    """Whether there is a file, but nothing in it or beside it."""
    return os.path.exists(path) and not length_of(path) and not length_of(path + COMPANIONS[0])
