"""A small database beside the session files: opened on first use, brought up to date, and begun anew when damaged.

The catalogue, the manifests, the index of words, the vectors of a session and what was forgotten
stand in one each; `catalogue` and the others say what is asked of it. What damage means is the same for all that can be
derived again or missed: the file is unlinked and its next user begins with an empty one. Nothing here knows a table.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

import apsw

from aforesaid.storage.ownership import make_private
from aforesaid.storage.sqlite import migrations
from aforesaid.storage.sqlite.connection import (
    Database,
    begin,
    folder_lock,
    open_readable,
    open_writable,
    remove_database,
    scrub,
)
from aforesaid.storage.sqlite.failures import UNREADABLE, is_damage, translated

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import TypeVar

    from aforesaid.storage.sqlite.migrations import Step

    Result = TypeVar("Result")


class Annex:
    """One small database of a store. One thread at a time; any number of processes.

    Attributes:
        path: of its file.
        writable: whether the store can be written.
        openings: how often the file was given back: what was read of it before may be another file's.
    """

    def __init__(
        self,
        path: str,
        lock: str,
        steps: Sequence[Step],
        *,
        writable: bool,
        timeout_ms: int,
        settings: Sequence[tuple[str, str]] = (),
        told: bool = False,
    ) -> None:
        """Takes where it is; opens nothing.

        Args:
            path: of the file, in a folder that is made when it is needed.
            lock: path of the store's lock.
            steps: lead from an empty file to the current tables.
            writable: whether the store can be written.
            timeout_ms: how long to wait for other processes.
            settings: pragmas of each connection, beside those that all have.
            told: whether who only reads is told of damage, in place of what an empty file holds.
        """
        self.path = path
        self.writable = writable
        self.openings = 0
        self._lock = lock
        self._steps = steps
        self._timeout_ms = timeout_ms
        self._settings = settings
        self._told = told
        self._database: Database | None = None

    @property
    def exists(self) -> bool:
        """Whether there is a file."""
        return self._database is not None or os.path.exists(self.path)

    def read(self, work: Callable[[apsw.Connection], Result]) -> Result | None:
        """Reads, all of one moment. None where there is no file.

        Raises:
            StoreError: the file cannot be read.
        """

        def reading(database: Database) -> Result:
            database.connection.execute("BEGIN")
            with _ended(database.connection, "ROLLBACK"):
                return work(database.connection)

        return self.use(reading)

    def write(self, work: Callable[[apsw.Connection], Result], *, mending: bool = True) -> Result | None:
        """Writes all or nothing, waiting for others. None where the store cannot be written.

        Raises:
            StoreError: nothing was written.
        """

        def writing(database: Database) -> Result:
            begin(database, self._timeout_ms)
            with _ended(database.connection, "COMMIT"):
                return work(database.connection)

        return self.use(writing, writing=True, mending=mending) if self.writable else None

    def use(self, work: Callable[[Database], Result], *, writing: bool = False, mending: bool = True) -> Result | None:
        """Does something with the file outside a transaction; where that is damaged, with an empty one.

        Args:
            work: gets the open file.
            writing: whether it writes.
            mending: whether damage is put right here; not by who holds the store's lock, which that takes.

        Raises:
            StoreError: the file cannot be read or written.
        """
        with translated(self.path, writing=writing):
            try:
                return self._try(work, making=writing)
            except UNREADABLE as error:
                if not is_damage(error) or not mending:
                    raise
                self.close()
                if self.writable:
                    self._unlink()
                if self._told and not (writing and self.writable):
                    raise
            return self._try(work) if self.writable else None

    def _try(self, work: Callable[[Database], Result], *, making: bool = True) -> Result | None:
        database = self.open(making=making)
        return None if database is None else work(database)

    def open(self, *, making: bool = True) -> Database | None:
        """The open file. None where a store that cannot be written has none, or one of an older version.

        Args:
            making: whether an empty file is made where there is none; else there None comes back too.

        Raises:
            StoreTooNew: a newer program wrote it.
            apsw.Error, OSError: as they come.
        """
        if self._database is not None:
            if self._database.lasting:
                return self._database
            self.close()
        if not making and not os.path.exists(self.path):
            return None
        database = self._open_writable() if self.writable else open_readable(self.path, self._timeout_ms)
        if database is not None and not self._set_up(database):
            database.close()
            return None
        self._database = database
        return database

    def _set_up(self, database: Database) -> bool:
        """Brings the tables up to date; False if they are older and cannot be written."""
        try:
            older = migrations.check(migrations.version(database.connection), self._steps, self.path)
            if older and self.writable:
                begin(database, self._timeout_ms)
                migrations.upgrade(database.connection, self._steps, self.path)
                database.connection.execute("COMMIT")
            for name, value in self._settings:
                database.connection.pragma(name, value)
        except BaseException:
            database.close()
            raise
        return self.writable or not older

    def _open_writable(self) -> Database:
        make_private(os.path.dirname(self.path))
        with folder_lock(self._lock, exclusive=False, timeout_ms=self._timeout_ms):
            return open_writable(self.path, self._timeout_ms)

    def scrub(self) -> None:
        """Leaves nothing in the file but what its tables hold.

        Raises:
            StoreBusy: another process was still reading what has been erased.
        """
        self.use(lambda database: scrub(database, self._timeout_ms, always=True), writing=True)

    def discard(self) -> None:
        """Removes the file, and what it holds where the system does not let go of it.

        Raises:
            StoreError: neither could be done.
        """
        self.close()
        if not self.writable or not os.path.exists(self.path):
            return
        with translated(self.path, writing=True):
            try:
                self._unlink()
            except PermissionError:  # Windows unlinks no file that another process has open
                self._empty()

    def _empty(self) -> None:
        database = self._open_writable()
        try:
            begin(database, self._timeout_ms)
            migrations.drop_everything(database.connection)
            database.connection.pragma("user_version", 0)
            database.connection.execute("COMMIT")
            scrub(database, self._timeout_ms, always=True)
        finally:
            database.close()

    def _unlink(self) -> None:
        with folder_lock(self._lock, exclusive=True, timeout_ms=self._timeout_ms):
            remove_database(self.path)

    def close(self) -> None:
        """Gives the file back."""
        self.openings += 1
        if self._database is not None:
            self._database.close()
            self._database = None


class MemoryAnnex(Annex):
    """The same on nothing but memory: there is no file to be lost, shared or discarded."""

    def __init__(self, steps: Sequence[Step]) -> None:
        super().__init__(_NOWHERE, "", steps, writable=True, timeout_ms=0)
        self._database = Database(_NOWHERE, apsw.Connection(_NOWHERE), (0, 0))
        self._set_up(self._database)

    def open(self, *, making: bool = True) -> Database | None:
        """What there is."""
        del making
        return self._database

    def scrub(self) -> None:
        """Nothing of it is on a disk."""

    def discard(self) -> None:
        """Nothing of it is on a disk."""

    def close(self) -> None:
        """It goes with the process."""


@contextmanager
def _ended(connection: apsw.Connection, ending: str) -> Iterator[None]:
    """Ends a transaction as it should, or takes it back."""
    try:
        yield
        connection.execute(ending)
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


_NOWHERE = ":memory:"
