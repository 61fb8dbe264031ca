"""One open session file: its connection, and what is remembered of it between uses.

`store` opens shards, keeps a few of them, and lends each to one `snapshot` or `writer` at a time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from apsw import SQLITE_DBSTATUS_CACHE_USED
from msgspec import Struct
from msgspec.structs import replace

from aforesaid.storage.sqlite import id_blocks, migrations
from aforesaid.storage.sqlite.postings import Postings
from aforesaid.storage.sqlite.records import FED, unpack_session

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from aforesaid.inquiry import Alternatives, Filter, Outline, Standing
    from aforesaid.model import Session, Span, StoredEntry, Tree
    from aforesaid.storage.sqlite.connection import Database
    from aforesaid.storage.sqlite.id_blocks import Blocks

_ROLES = "SELECT role, flags FROM entry WHERE row > ? ORDER BY row"
_UNFED = (
    "SELECT entry.row FROM digest CROSS JOIN entry ON entry.row = digest.row"
    " WHERE digest.row NOT IN (SELECT id FROM search_docsize)"
    f" AND NOT flags & {FED} AND length(text) > 0 ORDER BY digest.row"
)
"""Two small tables tell which few rows of the large one have to be looked at: most are in the full-text index."""
_STATE = "SELECT incarnation, projection, tail, unpacked, unindexed, session FROM shard"


CHARACTERS_KEPT = 4_000_000
"""Of texts that stay in memory for each open file; what was read longest ago goes first."""


class Recent:
    """Texts and entries that were read, for the next read of the same generation.

    Requests of one session meet the same rows again and again, and a stored text has to be unpacked and decoded.
    """

    __slots__ = ("_characters", "_entries", "_generation", "_texts", "reached")

    def __init__(self) -> None:
        self._generation = -1
        self._characters = 0
        self._texts: dict[int, str] = {}
        self._entries: dict[int, StoredEntry] = {}
        self.reached: int | None = None
        """The row down to which entries were read ahead."""

    @property
    def characters(self) -> int:
        """Of the texts that are remembered."""
        return self._characters

    def texts(self, generation: int) -> Mapping[int, str]:
        """The known texts by row; with another generation than before everything is forgotten."""
        self._turn(generation)
        return self._texts

    def entries(self, generation: int) -> Mapping[int, StoredEntry]:
        """The known entries by row; with another generation than before everything is forgotten."""
        self._turn(generation)
        return self._entries

    def keep(self, row: int, text: str, entry: StoredEntry | None = None) -> None:
        """Remembers what was read in the generation that was last asked for."""
        if row not in self._texts:
            self._texts[row] = text
            self._characters += len(text)
        if entry is not None:
            self._entries[row] = entry
        while self._characters > CHARACTERS_KEPT:
            oldest = next(iter(self._texts))
            self._characters -= len(self._texts.pop(oldest))
            self._entries.pop(oldest, None)

    def carry(self, before: int, after: int) -> None:
        """Keeps what is known of a generation for the next one, to which rows were only added."""
        if self._generation == before:
            self._generation = after

    def take_back(self, before: int, after: int, last: int) -> None:
        """Undoes `carry`: the generation never came, and rows beyond the last one do not exist."""
        if self._generation == after:
            self._generation = before
            for row in [row for row in self._texts if row > last]:
                self._characters -= len(self._texts.pop(row))
                self._entries.pop(row, None)

    def _turn(self, generation: int) -> None:
        if generation != self._generation:
            self._generation, self._characters, self.reached = generation, 0, None
            self._texts.clear()
            self._entries.clear()


class Facts(Struct, frozen=True):
    """The role of each row, by row, as `records.ROLES` numbers them, and how many rows are in the full-text index."""

    roles: bytes
    fed: int


class Shard:
    """A connection to one session's file.

    Attributes:
        key: the store's name of the session.
        database: the open file.
        incarnation: eight bytes that tell this file from any other that has stood or will stand at its path.
        ready: whether the tables are known to be there, so that the file can be kept open for the next use.
        current: whether its index was made as this program makes it (`migrations.PROJECTION`).
        postings: lists that stay in memory while the session only grows.
        recent: texts and entries that stay in memory while the session does not change.
        spent: whether the connection has written so much that a new one will be faster.
        spans: those that stand in the temporary table of the connection (see `search`).
        tree: the shape of the session at a generation.
        trunk: its last branch at a generation.
        latest: what the order of its last rows depends on, at a generation, for a filter, and from which row on.
        listed, stood, proposed, weighed: the latest listing of entries, of what their order depends on, of those that
            may match, and of their bm25, with what was asked for; the next page often asks for the same.
        unpacked: the first row whose text may wait to be packed (see `packing`).
        unindexed: the first row whose words and digest wait to be stored (see `feeding`); None while somebody reads.
        waiting: first and last row that waited for words when a writer last looked, and about how long their texts are.
        schema: of SQLite, in which its full-text index and digests stand: `temp` where those of the file lack rows.
        vocabulary: the words of its full-text index at a generation, a line each.
        answered: the paths that the calls name which a row answers, by row, at a generation.
        weight: about how many bytes the open file held in memory when somebody last asked.
    """

    __slots__ = (
        "_blocks",
        "_facts",
        "_grown",
        "_record",
        "_session",
        "_unfed",
        "answered",
        "current",
        "database",
        "incarnation",
        "key",
        "latest",
        "listed",
        "postings",
        "proposed",
        "ready",
        "recent",
        "schema",
        "spans",
        "spent",
        "stood",
        "tail",
        "tree",
        "trunk",
        "unindexed",
        "unpacked",
        "vocabulary",
        "waiting",
        "weighed",
        "weight",
    )

    def __init__(self, key: str, database: Database) -> None:
        self.key = key
        self.database = database
        self.incarnation = b""
        self.ready = False
        self.current = True
        self.postings = Postings()
        self.recent = Recent()
        self.spent = False
        self.spans: Sequence[Span] = ()
        self.tail: int | None = None
        self.tree: tuple[int, Tree] | None = None
        self.trunk: tuple[int, tuple[Span, ...]] | None = None
        self.listed: tuple[tuple[int, tuple[Span, ...], Filter], tuple[Outline, ...]] | None = None
        self.stood: tuple[tuple[int, tuple[Span, ...], Filter, tuple[int, ...] | None], tuple[Standing, ...]] | None = (
            None
        )
        self.latest: tuple[tuple[int, Filter], int, tuple[Standing, ...]] | None = None
        self.proposed: tuple[tuple[int, tuple[Span, ...], Alternatives, bool], tuple[int, ...]] | None = None
        self.unpacked: int | None = None
        self.unindexed: int | None = None
        self.waiting: tuple[int, int, int] | None = None
        self.schema = "main"
        self.vocabulary: tuple[int, bytes] | None = None
        self.answered: tuple[int, dict[int, tuple[str, ...]]] | None = None
        self.weighed: tuple[tuple[int, tuple[str, ...], tuple[str, ...], int], dict[int, float]] | None = None
        self.weight = 0
        self._blocks: tuple[int, Blocks] | None = None
        self._facts: tuple[int, Facts] | None = None
        self._grown = False
        self._record: tuple[bytes, int] | None = None
        self._session: Session | None = None
        self._unfed: tuple[int, tuple[int, ...]] | None = None

    def load(self) -> Session | None:
        """The session as the current transaction sees it; None if the file holds none yet.

        Raises:
            apsw.Error: the file cannot be read.
        """
        state = self.database.connection.execute(_STATE).fetchone()
        if state is None:
            return None
        self.incarnation, projection, self.tail, self.unpacked, self.unindexed, record = state
        self.current = projection == migrations.PROJECTION
        if record is None:
            return None
        if self._record != (record, projection):
            session = unpack_session(record)
            if not self.current:
                # No reader has this version, so the next sync reads the transcript again.
                session = replace(session, checkpoint=replace(session.checkpoint, parser=0))
            self._record, self._session = (record, projection), session
        return self._session

    @property
    def session(self) -> Session | None:
        """The session as it was last loaded or committed here; other processes may have written since."""
        return self._session

    def id_blocks(self, generation: int) -> Blocks:
        """Where the ids of the session stand, as the current transaction sees it.

        Args:
            generation: of the session in this transaction.

        Raises:
            apsw.Error, ValueError: the file cannot be read.
        """
        if self._blocks is None or self._blocks[0] != generation:
            self._blocks = (generation, id_blocks.load(self.database.connection))
        return self._blocks[1]

    def keep(self, session: Session, record: bytes, blocks: Blocks) -> None:
        """Remembers what a transaction that was just committed has written."""
        self._record, self._session, self.current = (record, migrations.PROJECTION), session, True
        self._blocks = (session.generation, blocks)

    def facts(self, generation: int) -> Facts:
        """What weighing needs of all rows; remembered while the session stays."""
        if self._facts is None or self._facts[0] != generation:
            self._facts, self._grown = (generation, Facts(b"\0", 0)), True
        if self._grown:
            roles, fed = self._facts[1].roles, self._facts[1].fed
            rows: list[Any] = self.database.connection.execute(_ROLES, (len(roles) - 1,)).fetchall()
            # Rows are numbered without gaps.
            more = bytes([role for role, _ in rows])
            self._facts = (generation, Facts(roles + more, fed + sum([bool(flags & FED) for _, flags in rows])))
            self._grown = False
        return self._facts[1]

    def carry(self, before: int, after: int) -> None:
        """Keeps what is known of a generation for the next one, to which rows were only added."""
        self.recent.carry(before, after)
        self.postings.carry(before, after)
        if self._facts is not None and self._facts[0] == before:
            self._facts, self._grown = (after, self._facts[1]), True

    def look_ahead(self, session: Session, blocks: Blocks, tail: int | None) -> Shard:
        """The same file as it will be once the rows of a transaction that only added some are committed.

        What it derives from them does not stay here; texts and lists do, until `take_back`.
        """
        ahead = Shard(self.key, self.database)
        ahead.incarnation, ahead.tail, ahead.recent = self.incarnation, tail, self.recent
        ahead.postings = self.postings
        ahead._facts = self._facts
        ahead.carry(session.generation - 1, session.generation)
        ahead.keep(session, b"", blocks)
        return ahead

    def take_back(self, before: int, after: int, last: int) -> None:
        """Undoes `look_ahead`: the generation never came, and rows beyond the last one do not exist."""
        self.recent.take_back(before, after, last)
        self.postings.take_back(before, after, last)

    def unfed(self, generation: int) -> tuple[int, ...]:
        """The rows with a text that is not in the full-text index, in order; remembered while the session stays."""
        if self._unfed is None or self._unfed[0] != generation:
            rows: list[Any] = self.database.connection.execute(_UNFED).fetchall()
            self._unfed = (generation, tuple([row for (row,) in rows]))
        return self._unfed[1]

    def weigh(self) -> None:
        """Looks how many bytes the open file holds in memory."""
        cached, _ = self.database.connection.status(SQLITE_DBSTATUS_CACHE_USED)
        listed = 0 if self.vocabulary is None else len(self.vocabulary[1])
        self.weight = cached + self.recent.characters + listed

    def close(self) -> None:
        """Gives the file back."""
        self.database.close()
