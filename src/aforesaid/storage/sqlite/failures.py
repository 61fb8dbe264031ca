"""What SQLite and the system say when something fails, in the words of `errors`.

Every other module of this package calls `store_error` or `system_error` where it catches; nothing of apsw leaves the
package. Never raises anything itself.
"""

from __future__ import annotations

import errno
import os
import zlib
from contextlib import contextmanager
from typing import TYPE_CHECKING

import apsw
import msgspec

from aforesaid.errors import StoreBusy, StoreCorrupt, StoreError, StoreFull, StoreReadOnly

if TYPE_CHECKING:
    from collections.abc import Iterator

_NONSENSE = (ValueError, TypeError, LookupError, msgspec.MsgspecError, zlib.error)
UNREADABLE = (apsw.Error, *_NONSENSE)
"""What reading a database may raise: what SQLite finds, and values that nobody wrote where SQLite finds nothing."""
_DAMAGE = (apsw.CorruptError, apsw.NotADBError, apsw.FormatError, apsw.SQLError, apsw.MismatchError, *_NONSENSE)
"""A wrong statement is damage too: all statements are constants, so only a damaged schema makes one fail."""
_BUSY = (apsw.BusyError, apsw.LockedError, apsw.ProtocolError)
_REFUSED = (apsw.ReadOnlyError, apsw.CantOpenError, apsw.PermissionsError, apsw.AuthError)
_NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_NOT_ALLOWED = (errno.EACCES, errno.EPERM, errno.EROFS)
_FILES = ".db"
"""How the names of databases end; Windows says of a folder in the place of one that it may not be opened."""


_WRITES = frozenset(
    {
        apsw.SQLITE_IOERR_WRITE,
        apsw.SQLITE_IOERR_FSYNC,
        apsw.SQLITE_IOERR_TRUNCATE,
        apsw.SQLITE_IOERR_SHMSIZE,
        apsw.SQLITE_IOERR_SHMMAP,
    }
)
"""What of reading and writing fails for want of room: to read a write-ahead log SQLite makes a file beside it."""
_MAKE_ROOM = "free some space, raise storage.maxBytes, or lift the limit on the size of files (`ulimit -f`)"


def is_damage(error: Exception) -> bool:
    """Whether the failure means that the file's content is not what was written."""
    return isinstance(error, _DAMAGE)


def is_busy(error: Exception) -> bool:
    """Whether another connection is in the way."""
    return isinstance(error, _BUSY)


def _is_write(error: apsw.Error) -> bool:
    return getattr(error, "extendedresult", 0) in _WRITES


def store_error(error: Exception, path: str, *, writing: bool = False) -> StoreError:
    """The store's error for one of SQLite's.

    Args:
        error: one of `UNREADABLE`.
        path: the file in question, for the message.
        writing: whether it was written; a failed write of a sound disk means that it is full.
    """
    if is_damage(error):
        return StoreCorrupt(f"{path} is damaged ({error})", "index the session again, or run `aforesaid rebuild`")
    if is_busy(error):
        return StoreBusy(f"{path} is locked by another process", "try again, or raise storage.busyTimeoutMs")
    if isinstance(error, _REFUSED):
        if os.path.isdir(path):
            return _no_file(path)
        return StoreReadOnly(f"{path} cannot be written or opened ({error})", "check the permissions of the store")
    if isinstance(error, apsw.FullError) or (isinstance(error, apsw.IOError) and (writing or _is_write(error))):
        return StoreFull(f"{path} could not be written: no space ({error})", _MAKE_ROOM)
    return StoreError(f"{path} failed ({error})", "run `aforesaid status`, then `aforesaid rebuild`")


def system_error(error: OSError, path: str) -> StoreError:
    """The store's error for one of the operating system's."""
    if error.errno == errno.EISDIR or (error.errno in _NOT_ALLOWED and path.endswith(_FILES) and os.path.isdir(path)):
        return _no_file(path)
    if error.errno in _NO_SPACE:
        return StoreFull(f"{path} could not be written: no space", _MAKE_ROOM)
    if error.errno in _NOT_ALLOWED:
        return StoreReadOnly(f"{path} cannot be written or opened", "check the permissions of the store")
    return StoreError(f"{path} failed ({error.strerror})", "check the folder of the store")


def _no_file(path: str) -> StoreError:
    return StoreError(f"{path} is a folder where a file of the store belongs", "move it away, and run this again")


@contextmanager
def translated(path: str, *, writing: bool = False) -> Iterator[None]:
    """Turns what SQLite or the system raises within the block into the store's errors."""
    try:
        yield
    except apsw.Error as error:
        raise store_error(error, path, writing=writing) from error
    except OSError as error:
        raise system_error(error, path) from error
