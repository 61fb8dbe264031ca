"""What was forgotten, as marks, in a database of its own, and which erasures are not finished.

    FOLDER/forgotten.db     made by the first `forget`; holds no text. Not derived: what is lost with it can return

`erasure` writes it; `store` asks it about every session that is written, through `GuardedWriter`. A damaged file is an
error for every sync, never an empty list: what was forgotten must not return because a disk failed.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from aforesaid.errors import SessionForgotten, StoreError
from aforesaid.storage.sqlite.annex import Annex
from aforesaid.storage.sqlite.connection import SUFFIX, persist
from aforesaid.storage.sqlite.failures import UNREADABLE, is_damage, store_error, system_error
from aforesaid.tombstones import KEY_BYTES, Burial, Gram, Marker, Rule, Tombstones, strike

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence
    from collections.abc import Set as AbstractSet
    from contextlib import AbstractContextManager
    from typing import Any, TypeVar

    import apsw

    from aforesaid.model import Entry, Session
    from aforesaid.ports import SessionWriter, Snapshot
    from aforesaid.storage.sqlite.connection import Database

    Result = TypeVar("Result")

_TABLES = """
CREATE TABLE secret(one INTEGER PRIMARY KEY CHECK(one = 1), key BLOB NOT NULL);
CREATE TABLE mark(mark BLOB PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE gram(mark BLOB PRIMARY KEY, length INTEGER NOT NULL, hint INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE rule(scope BLOB, after TEXT, before TEXT, PRIMARY KEY(scope, after, before)) WITHOUT ROWID;
CREATE TABLE pending(run BLOB PRIMARY KEY) WITHOUT ROWID;
"""
_READ_KEY = "SELECT key FROM secret"
_ANY = "SELECT EXISTS(SELECT 1 FROM mark)"
_KNOWN = "SELECT mark FROM mark WHERE mark IN ({})"
_GRAMS = "SELECT mark, length, hint FROM gram"
_RULES = "SELECT scope, after, before FROM rule"
_PENDING = "SELECT run FROM pending ORDER BY run"
_ADD_MARK = "INSERT OR IGNORE INTO mark(mark) VALUES (?)"
_ADD_GRAM = "INSERT OR IGNORE INTO gram(mark, length, hint) VALUES (?, ?, ?)"
_ADD_RULE = "INSERT OR IGNORE INTO rule(scope, after, before) VALUES (?, ?, ?)"
_ADD_PENDING = "INSERT INTO pending(run) VALUES (?)"
_DONE = "DELETE FROM pending WHERE run = ?"
_AT_ONCE = 500
"""Marks that are looked up in one statement."""


def _first(database: apsw.Connection) -> None:
    database.execute(_TABLES)
    database.execute("INSERT INTO secret(one, key) VALUES (1, ?)", (os.urandom(KEY_BYTES),))


STEPS = (_first,)


class Graveyard:
    """The file `forgotten.db` of one store."""

    def __init__(self, folder: str, lock: str, *, writable: bool, timeout_ms: int) -> None:
        """Takes the store's folder and the path of its lock; opens nothing."""
        self.path = os.path.join(folder, "forgotten" + SUFFIX)
        self._timeout_ms = timeout_ms
        # A session that has lost its words must not lose the marks that keep them out when the power fails.
        lasting = ("synchronous", "FULL")
        self._annex = Annex(self.path, lock, STEPS, writable=writable, timeout_ms=timeout_ms, settings=(lasting,))

    @property
    def empty(self) -> bool:
        """Whether nothing was ever forgotten: there is no file, or a full disk kept it from its first page."""
        try:
            return os.stat(self.path).st_size == 0
        except FileNotFoundError:
            return True

    def tombstones(self) -> Tombstones | None:
        """What is kept at this moment; None where nothing was ever forgotten.

        Whoever asks within a write transaction on a session sees everything that an erasure which has not reached that
        session yet is about: marks are written before the first session is touched.

        Raises:
            StoreError: the file cannot be read.
        """
        if self.empty:
            return None
        return self._do(self._load)

    def marker(self) -> Marker:
        """Makes marks; the key is made here if there is none.

        Raises:
            StoreError: the file cannot be made or read.
        """
        return Marker(self._do(lambda connection: bytes(connection.execute(_READ_KEY).get)))

    def bury(self, burial: Burial) -> None:
        """Keeps marks and notes that something has to be erased, both or neither.

        Raises:
            StoreError: nothing was kept.
        """

        def write(connection: apsw.Connection) -> None:
            _keep(connection, burial)
            connection.execute(_ADD_PENDING, (os.urandom(8),))

        self._change(write)

    def keep_out(self, file: str) -> None:
        """Notes the path of a session that was recognised by its header, so that it need not be read again."""

        def write(connection: apsw.Connection) -> None:
            _keep(connection, Burial(marks=frozenset({Marker(connection.execute(_READ_KEY).get).file(file)})))

        self._change(write)

    def pending(self) -> tuple[bytes, ...]:
        """The erasures that were begun and are not finished, by their numbers."""
        if self.empty:
            return ()
        return self._do(lambda connection: tuple(run for (run,) in connection.execute(_PENDING)))

    def settle(self, runs: Sequence[bytes]) -> None:
        """Notes that erasures are finished."""

        def write(connection: apsw.Connection) -> None:
            connection.executemany(_DONE, [(run,) for run in runs])

        self._change(write)

    def close(self) -> None:
        """Gives the file back."""
        self._annex.close()

    def _load(self, connection: apsw.Connection) -> Tombstones:
        from aforesaid.projects import spellings  # late: few stores have anything to forget

        marked = bool(connection.execute(_ANY).get)

        def known(marks: Collection[bytes]) -> AbstractSet[bytes]:
            return self._do(lambda connection: _look_up(connection, list(marks))) if marked else frozenset()

        return Tombstones(
            Marker(bytes(connection.execute(_READ_KEY).get)),
            known=known,
            grams=[Gram(mark=mark, length=length, hint=hint) for mark, length, hint in _rows(connection, _GRAMS)],
            rules=[Rule(scope=scope, after=after, before=before) for scope, after, before in _rows(connection, _RULES)],
            spellings=spellings,
        )

    def _change(self, write: Callable[[apsw.Connection], None]) -> None:
        def change(connection: apsw.Connection) -> None:
            persist(lambda: connection.execute("BEGIN IMMEDIATE"), self._timeout_ms)
            try:
                write(connection)
                connection.execute("COMMIT")
            except BaseException:
                connection.execute("ROLLBACK")
                raise

        self._do(change)

    def _do(self, action: Callable[[apsw.Connection], Result]) -> Result:
        """Runs an action on the open file; its failures are the store's."""
        try:
            return action(self._open().connection)
        except UNREADABLE as error:
            if is_damage(error):
                # Not `StoreCorrupt`, which means that the session that is being written has to be made anew.
                raise StoreError(
                    f"{self.path} is damaged ({error})",
                    "bring it back from a backup; without it, what was forgotten can return",
                ) from error
            raise store_error(error, self.path, writing=True) from error
        except OSError as error:
            raise system_error(error, self.path) from error

    def _open(self) -> Database:
        """The open file. Not `Annex.use`: a damaged one is never begun anew."""
        database = self._annex.open()
        if database is None:
            raise StoreError(f"{self.path} has gone, or was never finished", "open the store where it can be written")
        return database


class GuardedWriter:
    """The `SessionWriter` of a store in which something was forgotten: it stays out."""

    def __init__(
        self, writer: SessionWriter, graveyard: Graveyard, tombstones: Tombstones, key: str, file: str
    ) -> None:
        """Takes the writer to guard, in its transaction, and the session that it writes."""
        self._writer = writer
        self._graveyard = graveyard
        self._tombstones = tombstones
        self._key = key
        self._file = file

    @property
    def session(self) -> Session | None:
        """The session as it was when the transaction began."""
        return self._writer.session

    def clear(self) -> int:
        """Removes all rows."""
        return self._writer.clear()

    def known(self, ids: Sequence[str]) -> frozenset[str]:
        """Those of the ids that the session has by now."""
        return self._writer.known(ids)

    def lines(self, ids: Sequence[str]) -> tuple[bytes | None, ...]:
        """The SHA-256 of each entry's line, None where the session has no such entry."""
        return self._writer.lines(ids)

    def append(self, entries: Sequence[Entry]) -> None:
        """Adds entries in file order; forgotten ones without their words."""
        covered = self._tombstones.covered(self._key, entries)
        if covered:
            entries = [strike(entry) if place in covered else entry for place, entry in enumerate(entries)]
        self._writer.append(entries)

    def preview(self) -> AbstractContextManager[Snapshot]:
        """The session as a reader would see it if all of this were committed now."""
        return self._writer.preview()

    def commit(self, session: Session, *, tail: str | None = None) -> Session:
        """Makes all of it visible at once.

        Raises:
            SessionForgotten: only now it is known which session this is.
        """
        if self._tombstones.refuses(self._file, session.header):
            self._graveyard.keep_out(self._file)
            raise SessionForgotten(f"the session of {self._file} was forgotten", "nothing of it is kept or searched")
        return self._writer.commit(session, tail=tail)


def _keep(connection: apsw.Connection, burial: Burial) -> None:
    connection.executemany(_ADD_MARK, [(mark,) for mark in burial.marks])
    connection.executemany(_ADD_GRAM, [(gram.mark, gram.length, gram.hint) for gram in burial.grams])
    connection.executemany(_ADD_RULE, [(rule.scope, rule.after, rule.before) for rule in burial.rules])


def _rows(connection: apsw.Connection, statement: str) -> list[tuple[Any, ...]]:
    return connection.execute(statement).fetchall()


def _look_up(connection: apsw.Connection, marks: list[bytes]) -> AbstractSet[bytes]:
    return {mark for part in _parts(marks) for (mark,) in connection.execute(_KNOWN.format(_places(part)), part)}


def _parts(marks: list[bytes]) -> Iterator[list[bytes]]:
    for first in range(0, len(marks), _AT_ONCE):
        yield marks[first : first + _AT_ONCE]


def _places(part: Sequence[bytes]) -> str:
    return ",".join("?" * len(part))
