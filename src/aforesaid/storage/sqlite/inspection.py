"""Looking for forgotten words in everything that a store has on the disk.

`erasure` calls `inspect` for `--verify`. It opens each file by itself, changes nothing, and answers with places and
counts, never with words. Four questions: does an entry say what was forgotten; does a table hold it anywhere else; does
a full-text index know a word that no text has; do the bytes of any file hold it, as it is or as the store packs it?
"""

from __future__ import annotations

import json
import os
import re
import zlib
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from aforesaid.errors import StoreCorrupt
from aforesaid.reports import Leftover, Verification
from aforesaid.storage.sqlite.connection import open_readable
from aforesaid.storage.sqlite.failures import UNREADABLE, is_damage, store_error, system_error
from aforesaid.storage.sqlite.records import FED, PACK_FROM, PACKED, squeeze, to_bytes, to_text, unsqueeze
from aforesaid.storage.sqlite.shard import Shard
from aforesaid.storage.sqlite.snapshot import ShardSnapshot
from aforesaid.text import feed
from aforesaid.tombstones import Contained, words_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import apsw

    from aforesaid.model import Session
    from aforesaid.storage.sqlite.connection import Database
    from aforesaid.tombstones import Tombstones

SHORT = 5
"""Shorter texts (in bytes) stand by chance in what is no text; they are looked for in what the tables say instead."""
_FRAGMENT = 32
"""Bytes of a forgotten entry that stand for it."""
_LEAST = 8
"""An entry of fewer bytes is no proof of anything in the bytes of a file."""
_BLOCK = 4 << 20
_ROWS = 500
_MAGIC = b"SQLite format 3\x00"
_TOKEN = re.compile(rb"[0-9a-z\x80-\xff]+")

_VOCABULARY = "CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab('main', 'search', 'row')"
_TERMS = "SELECT term FROM temp.vocabulary"
_FEEDING = f"SELECT text, flags & {PACKED} FROM entry WHERE flags & {FED}"
_INDEX = "SELECT count(*) FROM sqlite_schema WHERE name = 'search' AND sql LIKE '% USING fts5%'"
_SCHEMA = "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL"
_TABLES = (
    "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite\\_%'"
    " ESCAPE '\\' ORDER BY name"
)


class _Wanted(Struct, frozen=True, kw_only=True):
    """What is looked for.

    Attributes:
        text: the forgotten text, or None; how it is found in what an entry says.
        raw: the ways in which it may stand in bytes.
        fragments: pieces of forgotten entries, as they are and packed; those that may rightly stand somewhere leave.
        tombstones: what no entry may say.
    """

    text: Contained | None
    raw: tuple[bytes, ...]
    fragments: tuple[bytes, ...]
    tombstones: Tombstones | None


class _Count:
    """What was checked and found so far."""

    def __init__(self) -> None:
        self.files = self.bytes = self.databases = self.values = self.terms = self.free_pages = 0
        self.leftovers: dict[tuple[str, str], int] = {}
        self.standing: set[bytes] = set()
        self.schema: set[bytes] = set()
        """Pieces that are also words of a database's own statements: there they prove nothing."""

    def find(self, file: str, where: str, count: int = 1) -> None:
        if count:
            self.leftovers[file, where] = self.leftovers.get((file, where), 0) + count


def inspect(
    folder: str, tombstones: Tombstones | None, *, text: str | None, samples: Sequence[str], timeout_ms: int
) -> Verification:
    """Looks for forgotten words in every file of a store's folder.

    Args:
        folder: of the store.
        tombstones: what was forgotten; no entry that they cover may have words.
        text: what no file may hold.
        samples: texts of forgotten entries. Those that stand in an entry that is left prove nothing and are left out.
        timeout_ms: how long to wait for other processes.

    Raises:
        StoreError: a file cannot be read.
    """
    wanted = _wanted(tombstones, text, samples)
    count = _Count()
    files = list(_files(folder))
    for path in files:
        if _is_database(path):
            count.databases += 1
            try:
                _read_tables(path, folder, wanted, count, timeout_ms)
            except UNREADABLE as error:
                if is_damage(error):
                    raise StoreCorrupt(f"{path} is damaged", "run the command again without --dry-run") from error
                raise store_error(error, path) from error
    wanted = replace(wanted, fragments=tuple(piece for piece in wanted.fragments if piece not in count.standing))
    for path in files:
        _read_bytes(path, os.path.relpath(path, folder), wanted, count)
    return Verification(
        files=count.files,
        bytes=count.bytes,
        databases=count.databases,
        values=count.values,
        terms=count.terms,
        texts=bool(wanted.raw) + len(wanted.fragments),
        free_pages=count.free_pages,
        leftovers=tuple(
            Leftover(file=file.replace(os.sep, "/"), where=where, count=found)
            for (file, where), found in sorted(count.leftovers.items())
        ),
    )


def _wanted(tombstones: Tombstones | None, text: str | None, samples: Sequence[str]) -> _Wanted:
    raw: dict[bytes, None] = {}
    if text is not None:
        for form in (text, json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1]):
            raw[to_bytes(form)] = None
    fragments: dict[bytes, None] = {}
    for sample in samples:
        data = to_bytes(sample)
        if len(data) >= _LEAST:
            fragments[_middle(data)] = None
        if len(data) >= PACK_FROM:
            fragments[_middle(squeeze(data))] = None
    return _Wanted(
        text=None if text is None else Contained(text),
        raw=tuple(raw),
        fragments=tuple(fragments),
        tombstones=tombstones,
    )


def _middle(data: bytes) -> bytes:
    first = max(0, (len(data) - _FRAGMENT) // 2)
    return data[first : first + _FRAGMENT]


def _files(folder: str) -> Iterator[str]:
    for parent, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = os.path.join(parent, name)
            if os.path.isfile(path):
                yield path


def _is_database(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return file.read(len(_MAGIC)) == _MAGIC
    except FileNotFoundError:
        return False
    except OSError as error:
        raise system_error(error, path) from error


# --- what the tables say --------------------------------------------------------------------------------------------


def _read_tables(path: str, folder: str, wanted: _Wanted, count: _Count, timeout_ms: int) -> None:
    name = os.path.relpath(path, folder)
    database = open_readable(path, timeout_ms)
    if database is None:
        return
    connection = database.connection
    try:
        connection.execute("BEGIN")
        count.free_pages += int(connection.pragma("freelist_count") or 0)
        tables = [table for (table,) in connection.execute(_TABLES)]
        schema = to_bytes("\n".join(statement for (statement,) in connection.execute(_SCHEMA)))
        count.schema.update(piece for piece in (*wanted.raw, *wanted.fragments) if piece in schema)
        if "shard" in tables and "entry" in tables:
            _read_entries(database, name, wanted, count)
        for table in tables:
            _read_values(connection, table, name, wanted, count)
        if connection.execute(_INDEX).get:
            _compare_terms(connection, name, count)
    finally:
        database.close()


def _read_entries(database: Database, name: str, wanted: _Wanted, count: _Count) -> None:
    """Asks of every entry whether it says what was forgotten."""
    shard = Shard(os.path.splitext(os.path.basename(name))[0], database)
    session = shard.load()
    if session is None:
        return
    if wanted.raw:
        count.find(name, "session", sum(wanted.raw[0] in to_bytes(told) for told in _described(session)))
    snapshot = ShardSnapshot(shard, session, lambda: None)
    for first in range(1, session.entries + 1, _ROWS):
        batch = snapshot.entries(range(first, first + _ROWS))
        covered = frozenset[int]() if wanted.tombstones is None else wanted.tombstones.covered(shard.key, batch)
        for place, entry in enumerate(batch):
            words = words_of(entry)
            told = wanted.text is not None and wanted.text.found_in(words)
            count.find(name, "entry", place in covered or told)
            if words and place not in covered:
                data = to_bytes(words)
                count.standing.update(piece for piece in wanted.fragments if piece in data)


def _described(session: Session) -> list[str]:
    """What a session says of itself that is text."""
    header = session.header
    known = (session.file, session.name, header.session_id, header.cwd, header.parent, session.checkpoint.state)
    return [text for text in known if text]


def _read_values(connection: apsw.Connection, table: str, name: str, wanted: _Wanted, count: _Count) -> None:
    """Looks into every value of an ordinary table, unpacked where it is packed."""
    quoted = table.replace('"', '""')
    rows = connection.execute(f'SELECT * FROM "{quoted}"')
    columns: list[str] = []
    for row in rows:
        columns = columns or [column for column, _ in rows.get_description()]
        for column, value in zip(columns, row, strict=True):
            if isinstance(value, str):
                value = to_bytes(value)  # noqa: PLW2901 - the same value as bytes
            if not isinstance(value, bytes):
                continue
            count.values += 1
            plain = _unpacked(value)
            if any(len(form) >= SHORT and (form in value or form in plain) for form in wanted.raw):
                count.find(name, f"{table}.{column}")
            elif (table, column) == ("entry", "text"):
                # A text that is not packed may have been, or will be.
                packed = value if plain or len(value) < PACK_FROM else squeeze(value)
                count.standing.update(piece for piece in wanted.fragments if piece in packed and piece not in plain)


def _unpacked(value: bytes) -> bytes:
    try:
        return unsqueeze(value)
    except zlib.error:
        return b""


def _compare_terms(connection: apsw.Connection, name: str, count: _Count) -> None:
    """Every term of the index must come from a text that is left."""
    connection.execute(_VOCABULARY)
    indexed = {to_bytes(term) for (term,) in connection.execute(_TERMS)}
    known: set[bytes] = set()
    for text, packed in connection.execute(_FEEDING):
        for column in feed(to_text(unsqueeze(text) if packed else text)):
            known.update(_TOKEN.findall(to_bytes(column).lower()))
    count.terms += len(indexed)
    count.find(name, "index", len(indexed - known))


# --- what the files hold --------------------------------------------------------------------------------------------


def _read_bytes(path: str, name: str, wanted: _Wanted, count: _Count) -> None:
    """Looks through a whole file; what stands across two blocks is found too."""
    try:
        with open(path, "rb") as file:
            database = file.read(len(_MAGIC)) == _MAGIC or name.endswith(("-wal", "-shm", "-journal"))
            file.seek(0)
            pieces = [form for form in wanted.raw if not database or len(form) >= SHORT] + list(wanted.fragments)
            if database:
                pieces = [piece for piece in pieces if piece not in count.schema]
            overlap = max([len(piece) for piece in pieces], default=1) - 1
            before = b""
            while block := file.read(_BLOCK):
                count.bytes += len(block)
                held = before + block
                for piece in pieces:
                    # What ends within the bytes before has been counted with them.
                    count.find(name, "bytes", held.count(piece, max(0, len(before) - len(piece) + 1)))
                before = held[-overlap:] if overlap else b""
    except FileNotFoundError:
        return  # another process has removed it meanwhile
    except OSError as error:
        raise system_error(error, path) from error
    count.files += 1
