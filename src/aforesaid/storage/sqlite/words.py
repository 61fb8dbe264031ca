"""Which words stand in which session, so that a search of all opens only those that may hold what it looks for.

`store` keeps it in a file of its own, `FOLDER/words.db`: a cache, derived from the full-text tables of the sessions
when it is needed, and behind where a session has changed since; a session that it does not know as it is now may hold
anything. Nothing is ever taken out of the file: whoever forgets something discards it as a whole, and it is derived
again.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from msgspec import Struct

from aforesaid.storage.sqlite import migrations
from aforesaid.storage.sqlite.connection import begin, folder_lock, open_readable, open_writable, remove_database
from aforesaid.storage.sqlite.failures import UNREADABLE, is_damage, translated

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any, TypeVar

    from aforesaid.inquiry import Alternatives, Clue
    from aforesaid.storage.sqlite.connection import Database

    Result = TypeVar("Result")

MOST_WORDS = 400
"""Words that a clue may stand for; one that stands for more says too little to be worth asking."""
LONG = 20_000
"""Bytes of a word from which on a session counts as one that may hold anything: SQLite cuts very long tokens."""
_LISTED = 2_000_000
"""Words that are held in memory at most, about ten bytes each."""
_REMEMBERED = 1_000_000
"""Words that a process knows to be in the table."""

_KNOWN = "SELECT key, incarnation, generation, number, long FROM known"
_NUMBER = "SELECT number FROM known WHERE key = ?"
_FORGET = "DELETE FROM held WHERE rowid = ?"
_PUT = "INSERT OR REPLACE INTO known(number, key, incarnation, generation, long) VALUES (?, ?, ?, ?, ?)"
_HOLD = "INSERT INTO held(rowid, words) VALUES (?, ?)"
_ADD = "INSERT OR IGNORE INTO word(word) VALUES (?)"
_ENDS = "SELECT word FROM word WHERE substr(word, ?2) = ?1 LIMIT ?3"
_HOLDS = "SELECT word FROM word WHERE instr(word, ?1) AND ?2 LIMIT ?3"
_ALL = "SELECT word FROM word ORDER BY word LIMIT ?"
_MATCH = "SELECT rowid FROM held WHERE held MATCH ?"


class State(Struct, frozen=True, kw_only=True):
    """A session as the index knows it."""

    incarnation: bytes
    generation: int
    number: int
    long: bool


class WordIndex:
    """The words of one store; opened on first use."""

    def __init__(self, path: str, lock: str, *, writable: bool, timeout_ms: int) -> None:
        self._path = path
        self._lock = lock
        self._writable = writable
        self._timeout_ms = timeout_ms
        self._database: Database | None = None
        self._seen: set[str] = set()
        self._listed: tuple[int, bytes] | None = None
        self._asked = False

    def known(self) -> dict[str, State]:
        """The sessions that it knows, by key, as they were then."""

        def read(database: Database) -> dict[str, State]:
            rows: list[Any] = database.connection.execute(_KNOWN).fetchall()
            return {
                key: State(incarnation=incarnation, generation=generation, number=number, long=bool(long))
                for key, incarnation, generation, number, long in rows
            }

        return self._use(read) or {}

    def learn(self, key: str, read: Callable[[], tuple[bytes, int, Iterable[str]]]) -> None:
        """Takes over the words of a session.

        Args:
            key: the session.
            read: gives its incarnation, generation and words; called while nothing can be discarded, so that what is
                forgotten meanwhile cannot come back.
        """
        if not self._writable:
            return
        with folder_lock(self._lock, exclusive=False, timeout_ms=self._timeout_ms):
            incarnation, generation, found = read()
            words = list(found)
            long = max(map(len, words), default=0) >= LONG // 4  # a character has at most four bytes

            def write(database: Database) -> bool:
                connection = database.connection
                begin(database, self._timeout_ms)
                try:
                    row = connection.execute(_NUMBER, (key,)).fetchone()
                    if row is not None:
                        connection.execute(_FORGET, row)
                    number = row[0] if row is not None else None
                    connection.execute(_PUT, (number, key, incarnation, generation, long))
                    number = connection.last_insert_rowid() if number is None else number
                    connection.execute(_HOLD, (number, " ".join(words)))
                    new = sorted(word for word in words if word not in self._seen)
                    connection.executemany(_ADD, [(word.encode(),) for word in new])
                    connection.execute("COMMIT")
                except BaseException:
                    if connection.in_transaction:
                        connection.execute("ROLLBACK")
                    raise
                return True

            self._use(write, writing=True)
        self._listed = None
        if len(self._seen) > _REMEMBERED:
            self._seen.clear()
        self._seen.update(words)

    def find(self, alternatives: Alternatives) -> frozenset[int] | None:
        """Numbers of the sessions whose words allow for one of the alternatives; None if that says nothing."""

        def read(database: Database) -> frozenset[int] | None:
            found: set[int] = set()
            listed = self._list(database)
            for clues in alternatives:
                numbers = _find(database, clues, listed)
                if numbers is None:
                    return None
                found |= numbers
            return frozenset(found)

        return self._use(read)

    def _list(self, database: Database) -> bytes | None:
        """All words, a line each, from the second question of a process on.

        Looking through them is ten times as fast, but a single question would pay more for the list than it gains.
        """
        if not self._asked:
            self._asked = True
            return None
        version = database.connection.pragma("data_version")
        if self._listed is None or self._listed[0] != version:
            rows: list[Any] = database.connection.execute(_ALL, (_LISTED + 1,)).fetchall()
            if len(rows) > _LISTED:
                return None
            self._listed = (int(str(version)), b"\n".join([b"", *(word for (word,) in rows), b""]))
        return self._listed[1]

    def discard(self) -> None:
        """Removes the file: what it was derived from has been forgotten, or holds other words now."""
        self.close()
        if not self._writable or not os.path.exists(self._path):
            return
        with translated(self._path, writing=True):
            with folder_lock(self._lock, exclusive=True, timeout_ms=self._timeout_ms):
                try:
                    remove_database(self._path)
                except PermissionError:
                    emptied = False  # Windows unlinks no file that another process has open
                else:
                    emptied = True
            if not emptied:
                self._empty()

    def _empty(self) -> None:
        database = self._open()
        if database is not None:
            begin(database, self._timeout_ms)
            migrations.drop_everything(database.connection)
            database.connection.pragma("user_version", 0)
            database.connection.execute("COMMIT")
            database.connection.execute("VACUUM")
            database.connection.wal_checkpoint(mode=3)
            self.close()

    def close(self) -> None:
        """Gives the file back."""
        self._seen.clear()
        self._listed = None
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
                migrations.check(migrations.version(self._database.connection), migrations.WORDS, self._path)
            return self._database
        with folder_lock(self._lock, exclusive=False, timeout_ms=self._timeout_ms):
            database = open_writable(self._path, self._timeout_ms)
        try:
            if migrations.check(migrations.version(database.connection), migrations.WORDS, self._path):
                begin(database, self._timeout_ms)
                migrations.upgrade(database.connection, migrations.WORDS, self._path)
                database.connection.execute("COMMIT")
        except BaseException:
            database.close()
            raise
        self._database = database
        return database


def _find(database: Database, clues: Sequence[Clue], listed: bytes | None) -> frozenset[int] | None:
    """Numbers of the sessions that have a word for each clue; None if no clue says anything."""
    groups: list[str] = []
    for clue in clues:
        group = _group(database, clue, listed)
        if group == "":
            return frozenset()
        if group is not None:
            groups.append(f"({group})")
    if not groups:
        return None
    rows: list[Any] = database.connection.execute(_MATCH, (" AND ".join(groups),)).fetchall()
    return frozenset(number for (number,) in rows)


def _group(database: Database, clue: Clue, listed: bytes | None) -> str | None:
    """The words that a clue stands for, in the syntax of FTS5; empty if there are none, None if there are too many."""
    if clue.kind == "is":
        return f'"{clue.token}"'
    if clue.kind == "begins":
        return f'"{clue.token}"*' if len(clue.token) > 1 or not clue.token.isascii() else None
    data = clue.token.encode()
    if listed is not None:
        found = _look(listed, data + b"\n" if clue.kind == "ends" else data)
    else:
        statement = _ENDS if clue.kind == "ends" else _HOLDS
        rows: list[Any] = database.connection.execute(statement, (data, -len(data), MOST_WORDS + 1)).fetchall()
        found = [word for (word,) in rows]
    if len(found) > MOST_WORDS:
        return None
    return " OR ".join(f'"{word.decode()}"' for word in found)


def _look(listed: bytes, part: bytes) -> list[bytes]:
    """The words in a list that hold a part, or end with it and its line; one more than are wanted at most."""
    found: list[bytes] = []
    place = listed.find(part)
    while place >= 0 and len(found) <= MOST_WORDS:
        end = listed.index(b"\n", place)
        found.append(listed[listed.rindex(b"\n", 0, place) + 1 : end])
        place = listed.find(part, end)
    return found
