"""One write transaction on one session.

`store.write` begins the transaction and hands out a `ShardWriter`; `indexing` fills it. Everything that is derived from
an entry is derived here: its row, its place in the tree, its tokens, its digest.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from msgspec.structs import replace

from aforesaid.errors import StoreError
from aforesaid.lineage import family_of_line
from aforesaid.model import Header, Session
from aforesaid.storage.sqlite import feeding, id_blocks, migrations, packing
from aforesaid.storage.sqlite.failures import translated
from aforesaid.storage.sqlite.records import (
    AUTOMATIC,
    FED,
    KINDS,
    PACK_FROM,
    PACKED,
    REQUEST,
    ROLES,
    Change,
    Extra,
    pack,
    pack_extra,
    pack_lengths,
    squeeze,
    to_bytes,
    to_id,
    to_stamp,
)
from aforesaid.storage.sqlite.snapshot import ShardSnapshot
from aforesaid.text import digest, feed_and_digest
from aforesaid.tokens import estimate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from aforesaid.model import Entry
    from aforesaid.storage.sqlite.shard import Shard

    Bound = tuple[int | str | bytes | None, ...]

_KIND = {name: number for number, name in enumerate(KINDS)}
_ROLE = {name: number for number, name in enumerate(ROLES)}
REMEMBERED = 100_000
"""Ids that a transaction adds and looks up in memory before they go into a block."""
SPENDING = 500
"""Rows after which a transaction has grown the connection's hash of full-text terms: every later one, however small,
would walk through all of it."""

_LINE = "SELECT sha256 FROM entry WHERE row = ?"
_LAST_RUN = "SELECT first, last, parent FROM run ORDER BY first DESC LIMIT 1"
_ADD_ENTRY = (
    "INSERT INTO entry(row, id, kind, role, flags, timestamp, line, offset, length, sha256, tokens, redacted, extra,"
    " parts, text) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_ADD_MARK = "INSERT INTO mark(row, change) VALUES (?, ?)"
_PUT_RUN = "INSERT OR REPLACE INTO run(first, last, parent) VALUES (?, ?, ?)"
_ATTACH_RUN = "UPDATE run SET parent = ? WHERE first = ?"
_CLEAR = (
    "DELETE FROM entry; DELETE FROM digest; DELETE FROM run; DELETE FROM mark; DELETE FROM id_block;"
    " INSERT INTO search(search) VALUES ('delete-all');"
)
_SAVE = "UPDATE shard SET session = ?, tail = ?, projection = ?, unpacked = ?, unindexed = ? WHERE one = 1"
"""The condition tells SQLite that it is one row: without it the statement can be undone by itself, which flushes the
full-text index."""


class ShardWriter:
    """The `SessionWriter` of the SQLite store; lives within one transaction that the store begins and ends."""

    def __init__(self, shard: Shard, file: str, saved: Callable[[Session], None], *, searched: bool = False) -> None:
        """Looks up where the session ends.

        Args:
            shard: in a write transaction.
            file: absolute path of the transcript.
            saved: told about the session once it is committed.
            searched: whether the session is searched right after.
        """
        self._shard = shard
        self._connection = shard.database.connection
        self._file = file
        self._saved = saved
        self._path = shard.database.path
        with translated(self._path, writing=True):
            before = self._before = shard.load()
            self._blocks = shard.id_blocks(before.generation) if before else ()
            # Rows are numbered without gaps.
            self._last = before.entries if before else 0
            run = self._connection.execute(_LAST_RUN).fetchone() if before else None
        # The table need not know how far the last run goes: it ends where the session does.
        self._run: list[int | None] | None = [run[0], self._last, run[2]] if run else None
        self._stored_run = run[0] if run else None
        self._unpacked = shard.unpacked if before else None
        self._unindexed = shard.unindexed if before else None
        self._searched = searched
        # About how long the texts are that this transaction leaves waiting.
        self._length = 0
        self._last_id: str | None = None
        self._tail = shard.tail
        self._changed = self._cleared = False
        self._family = self._before.family if self._before else ""
        self._waiting: dict[str, list[int]] = {}
        # Rows of this transaction by id, as far as they are in no block yet.
        self._rows: dict[str, int] = {}
        self._added = 0
        kept = before or Session(key=shard.key, file=file, header=Header(host="", session_id=""))
        self._name, self._requests, self._updated = kept.name, kept.requests, kept.updated
        self.committed = False

    @property
    def session(self) -> Session | None:
        """The session as it was when the transaction began."""
        return self._before

    def clear(self) -> int:
        """Removes all rows."""
        removed = self._last
        with translated(self._path, writing=True):
            self._connection.execute(_CLEAR)
        self._last, self._run, self._last_id, self._tail = 0, None, None, None
        self._stored_run = self._unpacked = self._unindexed = None
        self._name, self._requests, self._updated = None, 0, None
        self._family = ""
        self._waiting.clear()
        self._rows, self._blocks = {}, ()
        self._changed = self._cleared = True
        return removed

    def known(self, ids: Sequence[str]) -> frozenset[str]:
        """Those of the ids that the session has by now."""
        with translated(self._path, writing=True):
            return frozenset(id_ for id_ in ids if self._find(id_) is not None)

    def lines(self, ids: Sequence[str]) -> tuple[bytes | None, ...]:
        """The SHA-256 of each entry's line, None where the session has no such entry."""
        with translated(self._path, writing=True):
            return tuple([self._connection.execute(_LINE, (self._find(id_),)).get for id_ in ids])

    def append(self, entries: Sequence[Entry]) -> None:
        """Adds entries in file order."""
        if not entries:
            return
        here = {entry.id: row for row, entry in enumerate(entries, self._last + 1)}
        stored: list[Bound] = []
        fed: list[Bound] = []
        digests: list[Bound] = []
        marks: list[Bound] = []
        runs: list[Bound] = []
        with translated(self._path, writing=True):
            packed, later = self._put_off(len(entries))
            if later:
                self._length += sum([len(part) for entry in entries for part in entry.parts])
            for row, entry in enumerate(entries, self._last + 1):
                self._place(row, entry, here, runs)
                stored.append(_derive(row, entry, None if later else (fed, digests), packed=packed))
                if entry.compaction is not None or entry.edit is not None:
                    marks.append((row, pack(Change(entry.compaction, entry.edit))))
                self._note(entry)
            self._last += len(entries)
            self._added += len(entries)
            if self._run is not None and self._run[0] != self._stored_run:
                runs.append(tuple(self._run))
                self._stored_run = self._run[0]
            for statement, bound in (
                (_ADD_ENTRY, stored),
                (feeding.ADD_DIGEST, digests),
                (feeding.ADD, fed),
                (_ADD_MARK, marks),
                (_PUT_RUN, runs),
            ):
                if bound:
                    self._connection.executemany(statement, bound)
            self._rows |= here
            if len(self._rows) > REMEMBERED:
                self._settle_ids()
        if self._last == len(entries):
            self._family = family_of_line(entries[0].id, entries[0].source.sha256)
        self._tail, self._changed = self._last, True

    def _put_off(self, count: int) -> tuple[bool, bool]:
        """Whether so many entries are packed at once, and whether their words wait.

        Somebody waits for what is appended to a session; nobody for the room that it takes, nor for what it can be
        found by unless it is searched next.
        """
        if self._before is None or self._cleared or self._added + count > packing.AT_ONCE:
            packed, later = True, False
        else:
            packed, later = False, not self._searched
        if not packed and self._unpacked is None:
            self._unpacked = self._last + 1
        if not later:
            self._feed_waiting()
        elif self._unindexed is None:
            self._unindexed = self._last + 1
        return packed, later

    @contextmanager
    def preview(self) -> Iterator[ShardSnapshot]:
        """The session as a reader would see it if all of this were committed now.

        Raises:
            StoreError: nothing was ever committed, or everything was removed; or the store failed.
        """
        before = self._before
        if before is None or self._cleared:
            raise StoreError("there is no session to look ahead from", "report this as a fault of aforesaid")
        with translated(self._path, writing=True):
            self._attach_waiting()
            self._settle_ids()
            self._feed_waiting()
        ahead = replace(
            before,
            name=self._name,
            entries=self._last,
            requests=self._requests,
            updated=self._updated,
            generation=before.generation + 1,
        )
        shard = self._shard.look_ahead(ahead, self._blocks, self._tail)
        try:
            yield ShardSnapshot(shard, ahead, lambda: None)
        finally:
            self._shard.take_back(before.generation, ahead.generation, before.entries)

    def commit(self, session: Session, *, tail: str | None = None) -> Session:
        """Makes all of it visible at once."""
        if self.committed:
            raise StoreError("a transaction was committed twice", "report this as a fault of aforesaid")
        before = self._before
        changed = before is None or self._changed or _described(before) != _described(session)
        with translated(self._path, writing=True):
            self._attach_waiting()
            if tail is not None:
                self._tail = self._find(tail)
            done = replace(
                session,
                key=self._shard.key,
                file=self._file,
                name=self._name,
                entries=self._last,
                requests=self._requests,
                updated=self._updated,
                family=self._family,
                generation=(before.generation if before else 0) + changed,
            )
            self._settle_ids()
            if self._unpacked is not None and self._last - self._unpacked >= packing.WAITING:
                packing.pack(self._connection, self._unpacked)
                self._unpacked = None
            waiting = self._measure_waiting()
            if waiting is not None and (waiting[1] - waiting[0] >= feeding.WAITING or waiting[2] >= feeding.LENGTH):
                self._feed_waiting()
                waiting = None
            record = pack(done)
            self._connection.execute(
                _SAVE, (record, self._tail, migrations.PROJECTION, self._unpacked, self._unindexed)
            )
            self._connection.execute("COMMIT")
        self.committed = True
        self._shard.keep(done, record, self._blocks)
        self._shard.unpacked, self._shard.unindexed = self._unpacked, self._unindexed
        self._shard.waiting = waiting
        if before is not None and not self._cleared:
            self._shard.carry(before.generation, done.generation)
        self._shard.spent = self._added >= SPENDING
        self._saved(done)
        return done

    def _find(self, id_: str) -> int | None:
        row = self._rows.get(id_)
        if row is None and self._blocks:
            row = id_blocks.find(self._connection, self._blocks, id_)
        return row

    def _measure_waiting(self) -> tuple[int, int, int] | None:
        """The first and the last row that waits for words, and about how long their texts are; None if none waits."""
        if self._unindexed is None:
            return None
        first, known = self._unindexed, self._shard.waiting
        before = self._before.entries if self._before else 0
        if first > before:
            length = 0
        elif known is not None and known[:2] == (first, before):
            length = known[2]
        else:  # another process left them waiting
            length = feeding.measure(self._connection, first, before)
        return first, self._last, length + self._length

    def _feed_waiting(self) -> None:
        """Makes up for rows that were stored without words and digests."""
        if self._unindexed is not None:
            feeding.catch_up(self._connection, self._unindexed)
            self._unindexed = None

    def _settle_ids(self) -> None:
        self._blocks = id_blocks.add(self._connection, self._blocks, self._rows)
        self._rows = {}

    def _place(self, row: int, entry: Entry, here: dict[str, int], runs: list[Bound]) -> None:
        """Lets the row go on with the run before it, or begins a new one."""
        parent: int | None = None
        if entry.parent is not None:
            follows = entry.parent == self._last_id
            parent = row - 1 if follows else here.get(entry.parent) or self._find(entry.parent)
            if parent is None:
                self._waiting.setdefault(entry.parent, []).append(row)
        self._last_id = entry.id
        if self._run is not None and parent == row - 1:
            self._run[1] = row
            return
        if self._run is not None:
            runs.append(tuple(self._run))
        self._run = [row, row, parent]

    def _attach_waiting(self) -> None:
        """Hangs rows whose parent came later in the file on it; those whose parent never came stay roots."""
        for id_, rows in self._waiting.items():
            parent = self._find(id_)
            if parent is not None:
                self._connection.executemany(_ATTACH_RUN, ((parent, row) for row in rows))

    def _note(self, entry: Entry) -> None:
        """Keeps the figures that describe the session as a whole."""
        self._requests += entry.request
        if entry.kind == "label" and entry.target is None:
            self._name = entry.label
        if entry.timestamp is not None and (self._updated is None or entry.timestamp > self._updated):
            self._updated = entry.timestamp


def _described(session: Session) -> tuple[object, ...]:
    """What of a session may change without any row."""
    return session.header, session.flaws, session.flaw_count, session.shared


def _derive(row: int, entry: Entry, more: tuple[list[Bound], list[Bound]] | None, *, packed: bool) -> Bound:
    """The columns of an entry.

    Its searchable text, if it may ever be evidence, and its digest go to `more`, unless that is None: then somebody
    derives them later. Unless `packed`, its text stays as it is until somebody packs it.
    """
    text = entry.text
    flags = (AUTOMATIC if entry.automatic else 0) | (REQUEST if entry.request else 0)
    if text and entry.automatic:
        flags |= FED
    if more is not None:
        fed, digests = more
        if flags & FED:
            body, names, digested = feed_and_digest(text)
            fed.append((row, body, names))
            digests.append((row, digested))
        else:
            digests.append((row, digest(text) if text else feeding.NO_TEXT))
    data = to_bytes(text)
    if packed and len(data) >= PACK_FROM:
        flags |= PACKED
        data = squeeze(data)
    parts = entry.parts
    source = entry.source
    return (
        row,
        to_id(entry.id),
        _KIND[entry.kind],
        _ROLE[entry.role],
        flags,
        to_stamp(entry.timestamp),
        source.line,
        source.offset,
        source.length,
        source.sha256,
        estimate(text) if text else 0,
        entry.redacted,
        _extra(entry),
        None if len(parts) <= 1 else pack_lengths(tuple(map(len, parts))),
        data if parts else None,
    )


def _extra(entry: Entry) -> bytes | None:
    extra = (entry.tools, entry.calls, entry.files, entry.label, entry.target, entry.source.file)
    return None if extra == _NOTHING else pack_extra(Extra(*extra))


_NOTHING = ((), (), (), None, None, None)
