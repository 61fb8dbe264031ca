"""Filling the full-text index of a session: of some rows later than they were stored.

An append that nobody searches after stores its few texts only, and remembers the first of these rows in
`shard.unindexed` (`writer`). FTS5 takes many rows for far less than a few at a time: each commit makes a segment of the
index, and segments are merged again and again. Who reads, tends or closes the session puts them in first (`store`), and
so does the append that makes them too many. What is found is the same whenever that happens, so the session's
generation stays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aforesaid.storage.sqlite.records import FED, PACKED, to_text, unsqueeze
from aforesaid.text import feed

if TYPE_CHECKING:
    from collections.abc import Iterator

    import apsw

WAITING = 512
"""Rows that may wait; putting them in takes some 15 ms, which a merge of the index takes as well."""

ADD = "INSERT INTO search(rowid, body, parts) VALUES (?, ?, ?)"
_TEXTS = f"SELECT row, text, flags & {PACKED} FROM entry WHERE row >= ? AND flags & {FED} ORDER BY row"
_DONE = "UPDATE shard SET unindexed = NULL WHERE one = 1"
_SHADOW = """
CREATE VIRTUAL TABLE temp.search USING fts5(body, parts, content='', tokenize='ascii');
INSERT INTO temp.search(search, rank) VALUES ('hashsize', 16777216);
"""


def read_fed(connection: apsw.Connection, first: int = 0) -> Iterator[tuple[int, str, str]]:
    """What the index holds of the rows from one on, in order.

    Raises:
        apsw.Error, ValueError, zlib.error: the file cannot be read.
    """
    for row, text, packed in connection.execute(_TEXTS, (first,)):
        body, names = feed(to_text(unsqueeze(text) if packed else text))
        yield row, body, names


def catch_up(connection: apsw.Connection, first: int) -> None:
    """Puts the rows from one on into the index, within the caller's write transaction."""
    connection.executemany(ADD, list(read_fed(connection, first)))
    connection.execute(_DONE)


def shadow(connection: apsw.Connection) -> None:
    """Makes an index of all rows in memory, which stands before the one of the file as long as it is open.

    For a file that lacks rows in its index and cannot be written. It takes what building the session took.
    """
    connection.execute(_SHADOW)
    connection.executemany(ADD, read_fed(connection))
