"""The records of planned calls: metadata only, opaque here, bounded in number and bytes, the latest ones kept.

`store` keeps them in a file of their own, `FOLDER/manifests.db`. Losing it loses nothing that any plan needs, so a
damaged one is begun anew.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aforesaid.storage.sqlite import migrations
from aforesaid.storage.sqlite.connection import (
    begin,
    folder_lock,
    open_readable,
    open_writable,
    remove_database,
    size_of,
)
from aforesaid.storage.sqlite.failures import UNREADABLE, is_damage, translated

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    from aforesaid.storage.sqlite.connection import Database

    Result = TypeVar("Result")

MOST_BYTES = 4 << 20
"""Of all records together."""

_ADD = "INSERT INTO manifest(session, at, record) VALUES (?, ?, ?)"
_TRIM = "DELETE FROM manifest WHERE seq <= (SELECT seq FROM manifest ORDER BY seq DESC LIMIT 1 OFFSET ?)"
_SHRINK = (
    "DELETE FROM manifest WHERE seq <= (SELECT max(seq) FROM ("
    "SELECT seq, sum(length(record)) OVER (ORDER BY seq DESC) AS total FROM manifest) WHERE total > ?)"
)
_LATEST = "SELECT at, record FROM manifest WHERE (?1 IS NULL OR session = ?1) ORDER BY seq DESC LIMIT ?2"
_FORGET = "DELETE FROM manifest WHERE session = ?"


class Manifests:
    """The manifests of one store; opened on first use."""

    def __init__(self, path: str, lock: str, *, writable: bool, timeout_ms: int) -> None:
        self._path = path
        self._lock = lock
        self._writable = writable
        self._timeout_ms = timeout_ms
        self._database: Database | None = None

    def keep(self, session: str, record: str, *, at: float, most: int) -> bool:
        """Adds a record, which is ASCII; older ones beyond the bounds go. False if the store cannot be written."""
        if not self._writable:
            return False

        def write(database: Database) -> bool:
            connection = database.connection
            begin(database, self._timeout_ms)
            try:
                connection.execute(_ADD, (session, at, record))
                connection.execute(_TRIM, (max(0, most),))
                connection.execute(_SHRINK, (MOST_BYTES,))
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise
            return True

        return self._use(write, writing=True) is True

    def latest(self, session: str | None, limit: int) -> tuple[tuple[float, str], ...]:
        """Time and record of the latest ones, newest first; of one session, or of all."""

        def read(database: Database) -> list[tuple[float, str]]:
            rows: list[Any] = database.connection.execute(_LATEST, (session, max(0, limit))).fetchall()
            return [(float(at), str(record)) for at, record in rows]

        return tuple(self._use(read) or ())

    def forget(self, session: str) -> None:
        """Removes what is known of a session."""
        if self._writable and size_of(self._path):
            self._use(lambda database: database.connection.execute(_FORGET, (session,)).fetchall(), writing=True)

    def close(self) -> None:
        """Gives the file back."""
        if self._database is not None:
            self._database.close()
            self._database = None

    def _use(self, work: Callable[[Database], Result], *, writing: bool = False) -> Result | None:
        """Does something with the file; a damaged one is begun anew. None if there is none."""
        with translated(self._path, writing=writing):
            for attempt in range(2):
                try:
                    database = self._open()
                    return None if database is None else work(database)
                except UNREADABLE as error:
                    if not is_damage(error) or attempt:
                        raise
                    self.close()
                    if not self._writable:
                        return None
                    with folder_lock(self._lock, exclusive=True, timeout_ms=self._timeout_ms):
                        remove_database(self._path)
        return None

    def _open(self) -> Database | None:
        if self._database is not None:
            if self._database.lasting:
                return self._database
            self.close()
        if not self._writable:
            self._database = open_readable(self._path, self._timeout_ms)
            if self._database is not None:
                migrations.check(migrations.version(self._database.connection), migrations.MANIFESTS, self._path)
            return self._database
        with folder_lock(self._lock, exclusive=False, timeout_ms=self._timeout_ms):
            database = open_writable(self._path, self._timeout_ms)
        try:
            if migrations.check(migrations.version(database.connection), migrations.MANIFESTS, self._path):
                begin(database, self._timeout_ms)
                migrations.upgrade(database.connection, migrations.MANIFESTS, self._path)
                database.connection.execute("COMMIT")
        except BaseException:
            database.close()
            raise
        self._database = database
        return database
