"""The list of all sessions: a cache of what each session's own file says of it.

`store` writes a row after the session's file is committed, and puts right what it finds behind. Losing the catalogue
loses nothing: it is filled again from the session files.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aforesaid.model import Tally
from aforesaid.storage.sqlite import migrations
from aforesaid.storage.sqlite.annex import Annex
from aforesaid.storage.sqlite.connection import persist
from aforesaid.storage.sqlite.failures import UNREADABLE
from aforesaid.storage.sqlite.records import pack, to_bytes, unpack_session

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any

    from aforesaid.model import Session
    from aforesaid.storage.sqlite.connection import Database

    Value = int | str | bytes | None

_BY_ID = "SELECT key, record FROM session WHERE session_id = ?"
_BY_KEY = "SELECT key, record FROM session WHERE key = ?"
_STATE = "SELECT incarnation, generation FROM session WHERE key = ?"
_EVERYTHING = "SELECT key, incarnation, generation, record FROM session"
_DATA_VERSION = "PRAGMA data_version"
_KEYS = "SELECT key FROM session"
_FIGURES = "SELECT count(*), coalesce(sum(entries), 0) FROM session"
_UPDATE = (
    "UPDATE session SET generation = ?, entries = ?, record = ?"
    " WHERE key = ? AND incarnation = ? AND host = ? AND session_id = ? AND cwd IS ?"
)
"""What an append changes. A replacement would delete the row and write it, and every index, again."""
_PUT = (
    "INSERT OR REPLACE INTO session(generation, entries, record, key, incarnation, host, session_id, cwd)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
)
_WITHHELD = "SELECT reason, classification, count FROM withheld ORDER BY reason, classification"
_WITHHOLD = (
    "INSERT INTO withheld(reason, classification, count) VALUES (?, ?, ?)"
    " ON CONFLICT(reason, classification) DO UPDATE SET count = count + excluded.count"
)
_FORGET = "DELETE FROM session WHERE key = ?"


class Catalogue:
    """The catalogue of one store; opened on first use."""

    def __init__(self, path: str, lock: str, *, writable: bool, timeout_ms: int) -> None:
        self._annex = Annex(path, lock, migrations.CATALOGUE, writable=writable, timeout_ms=timeout_ms)
        self._timeout_ms = timeout_ms
        self._seen: tuple[tuple[object, ...], tuple[dict[str, Session], dict[str, tuple[bytes, int]]]] | None = None
        self._records: dict[str, tuple[bytes, Session]] = {}

    def by_id(self, session_id: str) -> dict[str, Session]:
        """The sessions that carry this id, by key, as far as the catalogue knows."""
        return dict(self._select(_BY_ID, (to_bytes(session_id),)))

    def by_key(self, key: str) -> Session | None:
        """The session with this key, as far as the catalogue knows."""
        return next((session for _, session in self._select(_BY_KEY, (key,))), None)

    def keys(self) -> frozenset[str]:
        """The keys of all sessions that the catalogue knows."""
        return frozenset(key for (key,) in self._rows(_KEYS, ()))

    def figures(self) -> tuple[int, int]:
        """How many sessions and entries there are."""
        for sessions, entries in self._rows(_FIGURES, ()):
            return sessions, entries
        return 0, 0

    def states(self) -> Mapping[str, tuple[bytes, int]]:
        """Incarnation and generation of every session, by key; the same object while nothing changes."""
        return self._look()[1]

    def everything(self) -> Mapping[str, Session]:
        """All sessions by key, as far as the catalogue knows; the same object while nothing changes."""
        return self._look()[0]

    def _look(self) -> tuple[dict[str, Session], dict[str, tuple[bytes, int]]]:
        """What stands in the table. Reading thousands of rows takes long, so only what has changed is unpacked anew."""
        version = self._version()
        if self._seen is None or self._seen[0] != version:
            states: dict[str, tuple[bytes, int]] = {}
            records: dict[str, tuple[bytes, Session]] = {}
            for key, incarnation, generation, record in self._rows(_EVERYTHING, ()):
                states[key] = incarnation, generation
                known = self._records.get(key)
                if known is not None and known[0] == record:
                    records[key] = known
                    continue
                try:
                    records[key] = record, unpack_session(record)
                except UNREADABLE:
                    continue  # its file knows better
            self._records = records
            self._seen = version, ({key: session for key, (_, session) in records.items()}, states)
        return self._seen[1]

    def _version(self) -> tuple[object, ...]:
        """What changes with every change of the table, whoever makes it."""

        def read(database: Database) -> tuple[object, ...]:
            connection = database.connection
            return self._annex.openings, connection.execute(_DATA_VERSION).get, connection.total_changes()

        return self._annex.use(read) or ()

    def behind(self, session: Session, incarnation: bytes) -> bool:
        """Whether the catalogue knows less of a session than its file says."""
        state = (incarnation, session.generation)
        if self._seen is not None and self._seen[1][1].get(session.key) == state:
            return False  # what it loses later, a list of sessions puts right
        if self._seen is not None and self._seen[0] == self._version():
            return self._seen[1][1].get(session.key) != state
        return list(self._rows(_STATE, (session.key,))) != [state]

    def put(self, session: Session, incarnation: bytes) -> None:
        """Takes over what a session's file says."""
        header = session.header
        row = (
            session.generation,
            session.entries,
            pack(session),
            session.key,
            incarnation,
            to_bytes(header.host),
            to_bytes(header.session_id),
            None if header.cwd is None else to_bytes(header.cwd),
        )
        if not self._change(_UPDATE, row):
            self._change(_PUT, row)

    def forget(self, key: str) -> None:
        """Removes a session's row."""
        self._change(_FORGET, (key,))

    def scrub(self) -> None:
        """Leaves nothing in the file but its rows; a damaged one is begun anew."""
        self._annex.scrub()

    def count_withheld(self, tallies: Iterable[Tally]) -> None:
        """Adds to the counts of what the privacy policy withheld."""
        for tally in tallies:
            self._change(_WITHHOLD, (tally.reason, tally.classification, tally.count))

    def withheld(self) -> tuple[Tally, ...]:
        """The counts of what the privacy policy withheld."""
        return tuple(
            Tally(reason=reason, classification=classification, count=count)
            for reason, classification, count in self._rows(_WITHHELD, ())
        )

    def close(self) -> None:
        """Gives the file back."""
        self._annex.close()

    def _select(self, statement: str, bound: tuple[Value, ...]) -> Iterator[tuple[str, Session]]:
        for key, record in self._rows(statement, bound):
            try:
                yield key, unpack_session(record)
            except UNREADABLE:
                continue  # its file knows better

    def _rows(self, statement: str, bound: tuple[Value, ...]) -> list[tuple[Any, ...]]:
        """The rows of a statement; none where there is no catalogue, or none that can be read."""
        return self._annex.use(lambda database: database.connection.execute(statement, bound).fetchall()) or []

    def _change(self, statement: str, bound: tuple[Value, ...]) -> int:
        """Runs a statement in a transaction of its own. Returns how many rows it changed."""

        def change(database: Database) -> int:
            persist(lambda: database.connection.execute(statement, bound), self._timeout_ms)
            return database.connection.changes()

        return self._annex.use(change, writing=True) or 0
