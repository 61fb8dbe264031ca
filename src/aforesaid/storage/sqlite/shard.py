"""One open session file: its connection, and what is remembered of it between uses.

`store` opens shards, keeps a few of them, and lends each to one `snapshot` or `writer` at a time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from aforesaid.storage.sqlite import migrations
from aforesaid.storage.sqlite.postings import Postings
from aforesaid.storage.sqlite.records import unpack_session

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from aforesaid.model import Session, Span, StoredEntry, Tree
    from aforesaid.storage.sqlite.connection import Database

_STATE = "SELECT incarnation, projection, tail, session FROM shard"


CHARACTERS_KEPT = 2_000_000
"""Of texts of entries that stay in memory for each open file; what was used longest ago goes first."""


class Recent:
    """Entries that were read, for the next read of the same generation: requests of one session meet the same ones."""

    __slots__ = ("_characters", "_entries", "_generation")

    def __init__(self) -> None:
        self._generation = -1
        self._characters = 0
        self._entries: dict[int, StoredEntry] = {}

    def find(self, generation: int, rows: Sequence[int]) -> dict[int, StoredEntry]:
        """Those of the rows that are known; with another generation than before everything is forgotten."""
        if generation != self._generation:
            self._generation, self._characters = generation, 0
            self._entries.clear()
        known = self._entries
        found = {row: known.pop(row) for row in rows if row in known}
        known.update(found)  # behind the others: they were used last
        return found

    def add(self, entries: Mapping[int, StoredEntry]) -> None:
        """Keeps entries of the generation that was last asked for."""
        for row, entry in entries.items():
            if row not in self._entries:
                self._entries[row] = entry
                self._characters += len(entry.text)
        while self._characters > CHARACTERS_KEPT:
            self._characters -= len(self._entries.pop(next(iter(self._entries))).text)


class Shard:
    """A connection to one session's file.

    Attributes:
        key: the store's name of the session.
        database: the open file.
        incarnation: eight bytes that tell this file from any other that has stood or will stand at its path.
        ready: whether the tables are known to be there, so that the file can be kept open for the next use.
        postings: lists that stay in memory while the session does not change.
        recent: entries that stay in memory while the session does not change.
        spans: those that stand in the temporary table of the connection (see `search`).
        tree: the shape of the session at a generation.
    """

    __slots__ = (
        "_record",
        "_session",
        "database",
        "incarnation",
        "key",
        "postings",
        "ready",
        "recent",
        "spans",
        "tail",
        "tree",
    )

    def __init__(self, key: str, database: Database) -> None:
        self.key = key
        self.database = database
        self.incarnation = b""
        self.ready = False
        self.postings = Postings()
        self.recent = Recent()
        self.spans: Sequence[Span] = ()
        self.tail: int | None = None
        self.tree: tuple[int, Tree] | None = None
        self._record: tuple[bytes, int] | None = None
        self._session: Session | None = None

    def load(self) -> Session | None:
        """The session as the current transaction sees it; None if the file holds none yet.

        Raises:
            apsw.Error: the file cannot be read.
        """
        state = self.database.connection.execute(_STATE).fetchone()
        if state is None:
            return None
        self.incarnation, projection, self.tail, record = state
        if record is None:
            return None
        if self._record != (record, projection):
            session = unpack_session(record)
            if projection != migrations.PROJECTION:
                # No reader has this version, so the next sync reads the transcript again.
                session = replace(session, checkpoint=replace(session.checkpoint, parser=0))
            self._record, self._session = (record, projection), session
        return self._session

    def close(self) -> None:
        """Gives the file back."""
        self.database.close()
