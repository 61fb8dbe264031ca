"""Floor 9: what the benchmark compares the product with: bare SQLite, doing the least that the task needs.

Nothing here uses the product's storage. `Reference` is one FTS5 table over the texts of one session, filled and asked
through apsw with default tokenizer and no Python between the question and SQLite.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final, NamedTuple

import apsw
import msgspec

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aforesaid.cli.bench.requests import Request
    from aforesaid.model import Span

POOL: Final = 80
"""Rows of the OR query. As many as the product's candidates: with fewer the floor would answer a smaller question."""
LITERALS: Final = 200
"""Rows of each literal query."""

_TABLES: Final = """
CREATE TABLE entry(row INTEGER PRIMARY KEY, id TEXT, role TEXT, timestamp TEXT, text TEXT);
CREATE VIRTUAL TABLE search USING fts5(text, content='entry', content_rowid='row');
"""
_ADD: Final = "INSERT INTO entry(row, id, role, timestamp, text) VALUES (?, ?, ?, ?, ?)"
_FEED: Final = "INSERT INTO search(rowid, text) VALUES (?, ?)"
_LATEST: Final = "SELECT rowid FROM search WHERE search MATCH ? AND {within} ORDER BY rowid DESC LIMIT ?"
_BEST: Final = "SELECT rowid FROM search WHERE search MATCH ? AND {within} ORDER BY bm25(search) LIMIT ?"
_BEST_JOINED: Final = (
    "SELECT search.rowid FROM search CROSS JOIN temp.branch ON branch.row = search.rowid"
    " WHERE search MATCH ? ORDER BY bm25(search) LIMIT ?"
)
_IDS: Final = "SELECT rowid FROM search WHERE search MATCH ? AND {within}"
_TEXT: Final = "SELECT id, role, timestamp, text FROM entry WHERE row = ?"
_SCAN: Final = "SELECT row FROM entry WHERE {within} AND instr(text, ?) ORDER BY row DESC LIMIT ?"


class Text(NamedTuple):
    """A row of the reference: what an entry is, in the least columns."""

    row: int
    id: str
    role: str
    timestamp: str | None
    text: str


class Question(NamedTuple):
    """A request as FTS5 expressions, made ready before any timing."""

    literals: tuple[str, ...]
    either: str


class Reference:
    """One session in a bare FTS5 database.

    `answer` is the reference SQL of the benchmark: for each name or phrase of a request one phrase query, for all its
    words one OR query ordered by bm25, both filtered by the runs of the branch before the limit, and then the texts of
    the rows that these found. A design that keeps sessions in SQLite cannot do less; reading the request, verifying,
    ranking and framing come on top, and so do the branch itself, the check whether the transcript has grown, the rows
    in context and the search for equal texts.
    """

    def __init__(self, path: str, spans: Sequence[Span]) -> None:
        """Opens the database, or makes it.

        Args:
            path: of the file.
            spans: rows that may be found; each search is filtered by them.
        """
        fresh = not os.path.exists(path)
        self.connection = apsw.Connection(path)
        self.connection.pragma("journal_mode", "wal")
        self.connection.pragma("synchronous", "NORMAL")
        self.connection.pragma("cache_size", -8192)
        if fresh:
            self.connection.execute(_TABLES)
        self._spans = tuple(spans)
        self._bounds = (min(spans)[0], max(spans)[1], *(bound for span in spans for bound in span))
        self._latest, self._best, self._ids = (
            statement.format(within=_within("rowid", len(spans))) for statement in (_LATEST, _BEST, _IDS)
        )
        self._scan = _SCAN.format(within=_within("row", len(spans)))

    def fill(self, texts: Sequence[Text], commits: int = 1) -> None:
        """Adds rows in a given number of transactions of about equal size."""
        size = -(-len(texts) // commits)
        for start in range(0, len(texts), size):
            part = texts[start : start + size]
            self.connection.execute("BEGIN IMMEDIATE")
            self.connection.executemany(_ADD, part)
            self.connection.executemany(_FEED, ((text.row, text.text) for text in part))
            self.connection.execute("COMMIT")

    def answer(self, question: Question) -> list[object]:
        """The reference SQL of one request."""
        execute = self.connection.execute
        rows: dict[int, None] = {}
        for literal in question.literals:
            rows.update(dict.fromkeys(row for (row,) in execute(self._latest, (literal, *self._bounds, LITERALS))))
        if question.either:
            rows.update(dict.fromkeys(row for (row,) in execute(self._best, (question.either, *self._bounds, POOL))))
        return [execute(_TEXT, (row,)).fetchone() for row in rows]

    def best(self, question: Question) -> list[int]:
        """The rows of the OR query, filtered by the runs of the branch."""
        found = self.connection.execute(self._best, (question.either, *self._bounds, POOL))
        return [row for (row,) in found]

    def best_joined(self, question: Question) -> list[int]:
        """The same by a join with every single row of the branch."""
        self.connection.execute("CREATE TEMP TABLE IF NOT EXISTS branch(row INTEGER PRIMARY KEY)")
        rows = ((row,) for first, last in self._spans for row in range(first, last + 1))
        self.connection.executemany("INSERT OR IGNORE INTO temp.branch VALUES (?)", rows)
        return [row for (row,) in self.connection.execute(_BEST_JOINED, (question.either, POOL))]

    def ids(self, question: Question) -> list[tuple[object, ...]]:
        """All rows that hold one of the words, without any score."""
        return self.connection.execute(self._ids, (question.either, *self._bounds)).fetchall()

    def scan(self, needle: str) -> list[tuple[object, ...]]:
        """The rows that hold a text literally, found by looking into every row of the branch."""
        return self.connection.execute(self._scan, (*self._bounds, needle, LITERALS)).fetchall()

    def close(self) -> None:
        """Gives the file back."""
        self.connection.close()


def ask(request: Request) -> Question:
    """A request as FTS5 expressions."""
    literals = tuple(_quoted(literal) for literal in request.literals)
    return Question(literals, " OR ".join((*literals, *(_quoted(word) for word in request.words))))


def parse(file: str) -> int:
    """Parses every line of a transcript into plain objects. Returns how many there were."""
    decode = msgspec.json.Decoder().decode
    with open(file, "rb") as source:
        return sum(1 for line in source if decode(line) is not None)


def _within(column: str, spans: int) -> str:
    """The fastest filter by runs that SQLite has: outer bounds for FTS5, the single runs checked afterwards."""
    return f"{column} BETWEEN ? AND ? AND ({' OR '.join([f'+{column} BETWEEN ? AND ?'] * spans)})"


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'
