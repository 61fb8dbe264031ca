"""The tables, and how older files become current ones.

A database carries the number of its schema in `user_version`. `upgrade` runs the numbered steps that are missing, in
the caller's transaction; a step is never edited after its release. The projection is another number: it says how texts
were cut into tokens, estimated and digested. A session of an older projection is not migrated but read again from its
transcript; until then its old data serve.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import apsw

from aforesaid.errors import StoreTooNew
from aforesaid.storage.sqlite import id_blocks

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Step = Callable[[apsw.Connection], None]

PROJECTION = 2
"""Grows whenever `text.feed`, `text.digest` or `tokens.estimate` give other results."""

_PLAUSIBLE = 10_000
_UNREACHED = 128

_SHARD_1 = """
CREATE TABLE shard(
  one INTEGER PRIMARY KEY CHECK(one = 1),
  incarnation BLOB NOT NULL,
  projection INTEGER NOT NULL,
  tail INTEGER,
  session BLOB
);
CREATE TABLE entry(
  row INTEGER PRIMARY KEY,
  id BLOB NOT NULL,
  kind INTEGER NOT NULL,
  role INTEGER NOT NULL,
  flags INTEGER NOT NULL,
  timestamp,
  line INTEGER NOT NULL,
  offset INTEGER NOT NULL,
  length INTEGER NOT NULL,
  sha256 BLOB NOT NULL,
  tokens INTEGER NOT NULL,
  redacted INTEGER NOT NULL,
  extra BLOB,
  parts BLOB,
  text BLOB
);
CREATE INDEX entry_request ON entry(row) WHERE flags & 2;
CREATE TABLE digest(row INTEGER PRIMARY KEY, digest BLOB NOT NULL);
CREATE TABLE run(first INTEGER PRIMARY KEY, last INTEGER NOT NULL, parent INTEGER);
CREATE TABLE mark(row INTEGER PRIMARY KEY, change BLOB NOT NULL);
CREATE VIRTUAL TABLE search USING fts5(body, parts, content='', tokenize='ascii');
INSERT INTO search(search, rank) VALUES ('hashsize', 16777216);
"""

_SHARD_2 = """
CREATE TABLE id_block(place INTEGER PRIMARY KEY, keys BLOB NOT NULL);
DROP INDEX IF EXISTS entry_id;
"""

_SHARD_3 = "ALTER TABLE shard ADD COLUMN unpacked INTEGER"

_SHARD_4 = "ALTER TABLE shard ADD COLUMN unindexed INTEGER"

_CATALOGUE_1 = """
CREATE TABLE session(
  key TEXT PRIMARY KEY,
  incarnation BLOB NOT NULL,
  generation INTEGER NOT NULL,
  host BLOB NOT NULL,
  session_id BLOB NOT NULL,
  cwd BLOB,
  entries INTEGER NOT NULL,
  record BLOB NOT NULL
);
CREATE INDEX session_by_id ON session(session_id);
"""

_CATALOGUE_2 = """
CREATE TABLE withheld(
  reason TEXT NOT NULL,
  classification TEXT NOT NULL,
  count INTEGER NOT NULL,
  PRIMARY KEY(reason, classification)
) WITHOUT ROWID;
"""

_MANIFESTS_1 = """
CREATE TABLE manifest(
  seq INTEGER PRIMARY KEY,
  session TEXT NOT NULL,
  at REAL NOT NULL,
  record TEXT NOT NULL
);
CREATE INDEX manifest_session ON manifest(session);
"""


_ISSUED_1 = """
CREATE TABLE issued(issuer TEXT PRIMARY KEY, count INTEGER NOT NULL) WITHOUT ROWID;
"""

_WORDS_1 = """
CREATE TABLE known(
  number INTEGER PRIMARY KEY,
  key TEXT NOT NULL UNIQUE,
  incarnation BLOB NOT NULL,
  generation INTEGER NOT NULL,
  long INTEGER NOT NULL
);
CREATE TABLE word(word BLOB PRIMARY KEY) WITHOUT ROWID;
CREATE VIRTUAL TABLE held USING fts5(words, content='', contentless_delete=1, tokenize='ascii', detail=none);
"""

_WORDS_2 = """
CREATE TABLE epoch(value BLOB NOT NULL);
INSERT INTO epoch(value) VALUES (randomblob(8));
CREATE TABLE known(
  number INTEGER PRIMARY KEY,
  key TEXT NOT NULL UNIQUE,
  incarnation BLOB NOT NULL,
  generation INTEGER NOT NULL,
  long INTEGER NOT NULL
);
CREATE TABLE chunk(number INTEGER PRIMARY KEY, words BLOB NOT NULL);
CREATE VIRTUAL TABLE held USING fts5(words, content='', contentless_delete=1, tokenize='ascii', detail=none);
"""


# Virtual tables first: their own tables go with them.
_TABLES = (
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
    " ORDER BY sql NOT LIKE '% VIRTUAL %'"
)


def drop_everything(database: apsw.Connection) -> None:
    """Removes all tables, whatever they are."""
    for (name,) in database.execute(_TABLES).fetchall():
        quoted = str(name).replace('"', '""')
        database.execute(f'DROP TABLE IF EXISTS "{quoted}"')


def _shard_1(database: apsw.Connection) -> None:
    """The first tables. What stands there without a version is of a prototype: it is read again from the transcript."""
    drop_everything(database)
    database.execute(_SHARD_1)
    database.execute("INSERT INTO shard(one, incarnation, projection) VALUES (1, ?, ?)", (os.urandom(8), PROJECTION))


def _shard_2(database: apsw.Connection) -> None:
    """Blocks of ids instead of an index over them, into which every append wrote all over the place.

    Files of the first version have the index; a new file, which comes here at once, never had it.
    """
    database.execute(_SHARD_2)
    id_blocks.build(database)


def _shard_3(database: apsw.Connection) -> None:
    """The first row that may wait to be packed; and from here on blocks of ids may end before the last rows.

    The end of the last run means nothing any more. What the second version wrote is still right.
    """
    database.execute(_SHARD_3)


def _shard_4(database: apsw.Connection) -> None:
    """The first row whose words and digest may wait to be stored (`feeding`)."""
    database.execute(_SHARD_4)


def _catalogue_1(database: apsw.Connection) -> None:
    drop_everything(database)
    database.execute(_CATALOGUE_1)


def _catalogue_2(database: apsw.Connection) -> None:
    """Counts of what the privacy policy withheld."""
    database.execute(_CATALOGUE_2)


def _manifests_1(database: apsw.Connection) -> None:
    drop_everything(database)
    database.execute(_MANIFESTS_1)


def _issued_1(database: apsw.Connection) -> None:
    """Counts of refs; the file is a help and begins anew."""
    drop_everything(database)
    database.execute(_ISSUED_1)


def _words_1(database: apsw.Connection) -> None:
    drop_everything(database)
    database.execute(_WORDS_1)


def _words_2(database: apsw.Connection) -> None:
    """A list of words that is read as a whole, in place of a table of them: the file is a cache and begins anew."""
    drop_everything(database)
    database.execute(_WORDS_2)


SHARD: tuple[Step, ...] = (_shard_1, _shard_2, _shard_3, _shard_4)
CATALOGUE: tuple[Step, ...] = (_catalogue_1, _catalogue_2)
MANIFESTS: tuple[Step, ...] = (_manifests_1,)
ISSUED: tuple[Step, ...] = (_issued_1,)
WORDS: tuple[Step, ...] = (_words_1, _words_2)
"""Step n leads from schema n to schema n + 1."""


def version(database: apsw.Connection) -> int:
    """The schema of a database; 0 for an empty one."""
    # Not `pragma()`: that prepares the statement anew each time.
    found = database.execute("PRAGMA user_version").get
    return found if isinstance(found, int) else 0


def check(found: int, steps: Sequence[Step], path: str) -> bool:
    """Whether a database of this version has to be upgraded before it can be read.

    Raises:
        StoreTooNew: a newer program wrote it.
        apsw.CorruptError: no program ever will.
    """
    if found < 0 or (found > len(steps) and _is_garbage(found, len(steps))):
        raise apsw.CorruptError(f"schema {found}")
    if found > len(steps):
        raise StoreTooNew(f"{path} was written by a newer version (schema {found})", "update aforesaid")
    return found < len(steps)


def _is_garbage(found: int, newest: int) -> bool:
    """Whether a number is more likely a damaged one than that of a newer program.

    The field has four bytes, of which versions fill the last. So a version that is known with another byte before it
    is damage, and so is a last byte that no program will reach soon.
    """
    rest, last = divmod(found, 256)
    return found > _PLAUSIBLE or (0 < last <= newest if rest else last >= _UNREACHED)


def upgrade(database: apsw.Connection, steps: Sequence[Step], path: str) -> None:
    """Brings a database up to date within the caller's write transaction."""
    found = version(database)
    if check(found, steps, path):
        for step in steps[found:]:
            step(database)
        database.pragma("user_version", len(steps))
