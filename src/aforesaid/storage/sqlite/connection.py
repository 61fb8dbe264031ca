"""Opening one database file, and noticing when another file has taken its place.

`shard` and `catalogue` open through this module. Files are made 0600 before SQLite sees them. Knows nothing of what
the tables hold.
"""

from __future__ import annotations

import os
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import apsw

from aforesaid.storage.ownership import close_to_others, make_private, refuse_foreign
from aforesaid.storage.sqlite.failures import is_busy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TypeVar

    Result = TypeVar("Result")

SUFFIX = ".db"
COMPANIONS = ("-wal", "-shm", "-journal")
"""What SQLite puts beside a database; they belong to it and go with it."""
PAGE = 8192
"""Bytes of a page of a new file. Rows of some hundred bytes leave half as much room unused as with SQLite's 4,096."""
CACHE_KIB = 8192
"""Page cache of a connection. A session of some thousand entries fits, so that its searches read nothing twice."""
WAL_KEPT = 1 << 20
"""Bytes of a write-ahead log that stay on the disk for reuse after a large transaction."""
OVERWRITE_IN_PAGES, OVERWRITE_EVERYWHERE = "FAST", "ON"
"""How deleted content is overwritten: always within pages, where it costs nothing; free pages only by `erasure`."""

Identity = tuple[int, int]


class Database:
    """An open connection, and which file it is a connection to.

    Attributes:
        path: where the file was opened.
        connection: to it.
        identity: device and inode of the file.
        watched: whether SQLite notices what other processes write. If not, the connection serves one use only.
    """

    __slots__ = ("_bare", "connection", "identity", "path", "watched")

    def __init__(
        self, path: str, connection: apsw.Connection, identity: Identity, *, watched: bool = True, bare: bool = False
    ) -> None:
        self.path = path
        self.connection = connection
        self.identity = identity
        self.watched = watched
        self._bare = bare

    def settle(self) -> None:
        """Sets up what `open_bare` left out; outside a transaction."""
        if self._bare:
            _tune(self.connection)
            _tune_writing(self.connection)
            self._bare = False

    @property
    def current(self) -> bool:
        """Whether the path still leads to the file that was opened; another process may have removed it."""
        return identify(self.path) == self.identity

    @property
    def lasting(self) -> bool:
        """Whether the connection can be used again."""
        return self.watched and self.current

    def close(self) -> None:
        """Gives the file back. Never raises: what was committed is safe, and the rest does not matter."""
        try:
            if not self.current:
                # The last connection to close deletes the log by its name, which may be another file's by now.
                self.connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
            self.connection.close()
        except apsw.Error:
            self.connection.close(force=True)


def identify(path: str) -> Identity | None:
    """Device and inode of a file, or None if there is none."""
    try:
        status = os.stat(path)
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino


def open_writable(path: str, timeout_ms: int) -> Database:
    """Opens a database for writing; makes it if there is none. The caller holds the folder's lock.

    Raises:
        apsw.Error, OSError: as they come; callers translate.
        StoreForeign: the file belongs to another user.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
    try:
        status = os.fstat(descriptor)
        refuse_foreign(path, status)
        close_to_others(path, status)
    finally:
        os.close(descriptor)
    return _open_writable(path, (status.st_dev, status.st_ino), timeout_ms)


def open_bare(path: str, timeout_ms: int) -> Database | None:
    """Opens a database of a store that can be written with nothing set up; None if there is none.

    A search of many sessions opens dozens of files for a single question each, and every setting is a statement of its
    own. `Database.settle` makes up for it before anything is written, or read again and again. The caller holds the
    folder's lock.

    Raises:
        apsw.Error, OSError: as they come; callers translate.
        StoreForeign: the file belongs to another user.
    """
    try:
        status = os.stat(path)
    except FileNotFoundError:
        return None
    refuse_foreign(path, status)
    close_to_others(path, status)
    # Not only for reading: the last of such connections could not take the log away when it is closed.
    connection = _connect(path, apsw.SQLITE_OPEN_READWRITE, timeout_ms)
    return Database(path, connection, (status.st_dev, status.st_ino), bare=True)


def open_readable(path: str, timeout_ms: int) -> Database | None:
    """Opens a database that cannot be written; None if there is none.

    Raises:
        apsw.Error, OSError: as they come; callers translate.
    """
    identity = identify(path)
    return None if identity is None else _open_readable(path, identity, timeout_ms)


def begin(database: Database, timeout_ms: int) -> None:
    """Begins a write transaction, waiting for others."""
    persist(lambda: database.connection.execute("BEGIN IMMEDIATE"), timeout_ms)


def _connect(location: str, flags: int, timeout_ms: int) -> apsw.Connection:
    connection = apsw.Connection(location, flags=flags)
    connection.set_busy_timeout(timeout_ms)
    # Else a statement that joins tables, and each word that FTS5 looks up, is compiled anew for every value.
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
    return connection


def _open_writable(path: str, identity: Identity, timeout_ms: int) -> Database:
    connection = _connect(path, apsw.SQLITE_OPEN_READWRITE, timeout_ms)
    try:
        _tune(connection)
        connection.pragma("page_size", PAGE)
        # Switching a new file to a write-ahead log does not wait for locks by itself.
        persist(lambda: connection.pragma("journal_mode", "wal"), timeout_ms)
        _tune_writing(connection)
    except BaseException:
        connection.close(force=True)
        raise
    return Database(path, connection, identity)


def _open_readable(path: str, identity: Identity, timeout_ms: int) -> Database:
    """Opens for reading; where nothing can be written beside the file, as one that nobody changes."""
    from urllib.parse import quote  # late: only read-only stores need it

    location = "file:" + quote(os.path.abspath(path))
    if os.name == "nt":
        location = "file:///" + quote(os.path.abspath(path).replace("\\", "/"), safe="/:")
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    for options in ("?mode=ro", "?immutable=1"):
        connection = _connect(location + options, flags, timeout_ms)
        try:
            _tune(connection)
            connection.pragma("schema_version")
        except (apsw.CantOpenError, apsw.ReadOnlyError):
            connection.close(force=True)
            if options != "?mode=ro" or _has_log(path):
                raise
        except BaseException:
            connection.close(force=True)
            raise
        else:
            return Database(path, connection, identity, watched=options == "?mode=ro")
    raise AssertionError  # the second way returns or raises


def _has_log(path: str) -> bool:
    """Whether committed data may stand outside the database file itself."""
    try:
        return os.stat(path + "-wal").st_size > 0
    except OSError:
        return False


def _tune(connection: apsw.Connection) -> None:
    connection.pragma("cache_size", -CACHE_KIB)
    connection.pragma("temp_store", "MEMORY")
    connection.pragma("secure_delete", OVERWRITE_IN_PAGES)


def _tune_writing(connection: apsw.Connection) -> None:
    connection.pragma("synchronous", "NORMAL")
    connection.pragma("journal_size_limit", WAL_KEPT)


def persist(attempt: Callable[[], Result], timeout_ms: int) -> Result:
    """Repeats what SQLite refuses at once while another connection is in the way, until the timeout."""
    deadline = time.monotonic() + timeout_ms / 1000
    pause = 0.001
    while True:
        try:
            return attempt()
        except apsw.Error as error:
            if not is_busy(error) or time.monotonic() >= deadline:
                raise
        time.sleep(pause)
        pause = min(pause * 2, 0.05)


@contextmanager
def folder_lock(path: str, *, exclusive: bool, timeout_ms: int) -> Iterator[None]:
    """Keeps opening and unlinking of databases apart, across processes.

    A database and its log are separate files that SQLite finds by name: while one process unlinks them, no other may
    be between opening the one and opening the other. Systems without `fcntl` refuse to unlink open files anyway.

    Raises:
        apsw.BusyError: another process held the lock for too long.
        OSError: the lock file cannot be made.
    """
    try:
        import fcntl  # late: Windows has none
    except ImportError:
        yield
        return

    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
    try:
        descriptor = os.open(path, flags, 0o600)
    except FileNotFoundError:
        make_private(os.path.dirname(path))
        descriptor = os.open(path, flags, 0o600)
    close_to_others(path, os.fstat(descriptor))
    kind = fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH

    def attempt() -> None:
        try:
            fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise apsw.BusyError(f"{path} is locked") from error

    try:
        persist(attempt, timeout_ms)
        yield
    finally:
        os.close(descriptor)


def remove_database(path: str) -> None:
    """Unlinks a database and its companions.

    Raises:
        OSError: the system refuses.
    """
    for suffix in ("", *COMPANIONS):
        try:
            os.unlink(path + suffix)
        except FileNotFoundError:
            continue


def size_of(path: str) -> int:
    """Bytes that a database and its companions take."""
    total = 0
    for suffix in ("", *COMPANIONS):
        try:
            total += os.stat(path + suffix).st_size
        except FileNotFoundError:
            continue
    return total


def scrub(database: Database, timeout_ms: int, *, always: bool) -> None:
    """Leaves nothing in a database's files but what its tables hold.

    Args:
        database: outside a transaction, with `secure_delete` on.
        timeout_ms: how long to wait for readers.
        always: rewrite the file even if it has no free page.

    Raises:
        apsw.BusyError: another process was still reading what has been erased.
    """
    connection = database.connection
    if always or connection.pragma("freelist_count"):
        persist(lambda: connection.execute("VACUUM"), timeout_ms)
    if always or _length(database.path + COMPANIONS[0]):
        persist(lambda: connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE), timeout_ms)


def move_log(database: Database, timeout_ms: int) -> None:
    """Moves a log that has grown into its file, as far as nobody is in the way; the next transaction begins it anew.

    A log that a large transaction has left behind is cut off as well, or a later commit would have to.

    Raises:
        apsw.Error: the log cannot be moved; nothing is lost.
    """
    length, connection = _length(database.path + COMPANIONS[0]), database.connection
    if length > WAL_KEPT // 4:
        large = length > WAL_KEPT
        connection.set_busy_timeout(0)
        try:
            connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE if large else apsw.SQLITE_CHECKPOINT_PASSIVE)
        finally:
            connection.set_busy_timeout(timeout_ms)


def _length(path: str) -> int:
    try:
        return os.stat(path).st_size
    except FileNotFoundError:
        return 0
