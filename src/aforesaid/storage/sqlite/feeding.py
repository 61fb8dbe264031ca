"""What readers of a session need and an append can leave out: words in the full-text index, and digests.

An append that nobody searches after stores its few texts only, and remembers the first of these rows in
`shard.unindexed` (`writer`). FTS5 takes many rows for far less than a few at a time: each commit makes a segment of the
index, and segments are merged again and again. Who reads, tends or closes the session makes up for it first (`store`),
and so does the append that makes them too many. What is found is the same whenever that happens, so the session's
generation stays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aforesaid.storage.sqlite.records import FED, PACKED, to_text, unsqueeze
from aforesaid.text import digest, feed, feed_and_digest

if TYPE_CHECKING:
    from collections.abc import Iterator

    import apsw

WAITING = 512
"""Rows that may wait; putting them in takes some 15 ms, which a merge of the index takes as well."""
LENGTH = 4 << 20
"""Of the texts of rows that may wait, about; putting them in takes some 0.2 s, which one search pays at most."""

ADD = "INSERT INTO search(rowid, body, parts) VALUES (?, ?, ?)"
ADD_DIGEST = "INSERT INTO digest(row, digest) VALUES (?, ?)"
_FED = f"SELECT row, text, flags & {PACKED} FROM entry WHERE flags & {FED} ORDER BY row"
_WAITING = f"SELECT row, text, flags & {PACKED}, flags & {FED} FROM entry WHERE row >= ?"
_LENGTH = "SELECT coalesce(sum(length(text)), 0) FROM entry WHERE row BETWEEN ? AND ?"
_DONE = "UPDATE shard SET unindexed = NULL WHERE one = 1"
_SHADOW = """
CREATE TEMP TABLE digest AS SELECT row, digest FROM main.digest;
CREATE UNIQUE INDEX temp.digest_row ON digest(row);
CREATE VIRTUAL TABLE temp.search USING fts5(body, parts, content='', tokenize='ascii');
INSERT INTO temp.search(search, rank) VALUES ('hashsize', 16777216);
"""


def read_fed(connection: apsw.Connection) -> Iterator[tuple[int, str, str]]:
    """What the index holds of all rows, in order.

    Raises:
        apsw.Error, ValueError, zlib.error: the file cannot be read.
    """
    for row, text, packed in connection.execute(_FED):
        body, names = feed(to_text(unsqueeze(text) if packed else text))
        yield row, body, names


def catch_up(connection: apsw.Connection, first: int) -> None:
    """Makes up for the rows from one on, within the caller's write transaction."""
    fed, digests = _derive(connection, first)
    connection.executemany(ADD_DIGEST, digests)
    connection.executemany(ADD, fed)
    connection.execute(_DONE)


def measure(connection: apsw.Connection, first: int, last: int) -> int:
    """Bytes of the texts of some rows as they are stored; reads the texts of none."""
    length: int = connection.execute(_LENGTH, (first, last)).get
    return length


def shadow(connection: apsw.Connection, first: int) -> None:
    """Makes index and digests of all rows in memory, which stand before those of the file as long as it is open.

    For a file that lacks some from a row on and cannot be written. It takes what building the session took.
    """
    connection.execute(_SHADOW)
    _, digests = _derive(connection, first)
    connection.executemany(ADD_DIGEST, digests)
    connection.executemany(ADD, read_fed(connection))


def _derive(connection: apsw.Connection, first: int) -> tuple[list[tuple[int, str, str]], list[tuple[int, bytes]]]:
    """Index and digests of the rows from one on."""
    fed: list[tuple[int, str, str]] = []
    digests: list[tuple[int, bytes]] = []
    for row, data, packed, searched in connection.execute(_WAITING, (first,)):
        text = "" if data is None else to_text(unsqueeze(data) if packed else data)
        if searched:
            body, names, digested = feed_and_digest(text)
            fed.append((row, body, names))
            digests.append((row, digested))
        else:
            digests.append((row, digest(text) if text else NO_TEXT))
    return fed, digests


NO_TEXT = digest("")
