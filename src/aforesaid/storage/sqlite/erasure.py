"""Taking forgotten words out of the files: every session that the marks cover, and whatever SQLite kept aside.

`forgetting` writes marks through `bury` and then calls `erase`, which reads nothing but the marks: what goes is exactly
what would not come in again, so an erasure that was killed is finished by the next one. A session is rewritten in one
transaction, so that readers see it before or after. The order is always marks, sessions, catalogue, done.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from msgspec.structs import replace

from aforesaid.errors import StoreCorrupt, StoreReadOnly
from aforesaid.lineage import family_of_line
from aforesaid.model import NO_DIGEST
from aforesaid.reports import Erased
from aforesaid.storage.sqlite import feeding, migrations
from aforesaid.storage.sqlite.connection import OVERWRITE_EVERYWHERE, scrub, size_of
from aforesaid.storage.sqlite.records import (
    KINDS,
    REQUEST,
    Extra,
    pack,
    pack_extra,
    unpack_extra,
)
from aforesaid.storage.sqlite.snapshot import ShardSnapshot
from aforesaid.text import digest
from aforesaid.tombstones import KEY_BYTES, Marker, words_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import apsw

    from aforesaid.model import Header, Session, StoredEntry
    from aforesaid.reports import Verification
    from aforesaid.storage.sqlite.shard import Shard
    from aforesaid.storage.sqlite.store import SqliteStore
    from aforesaid.tombstones import Burial, Tombstones

    Progress = Callable[[int, int], None]

TABLES = frozenset({"shard", "entry", "digest", "id_block", "run", "mark", "search"})
"""Tables of a session whose content this module knows how to forget. A test compares: a new table needs a new line."""
_ROWS = 500
"""Entries that are read at a time."""

_BLANK = (
    f"UPDATE entry SET flags = flags & {REQUEST}, sha256 = ?, tokens = 0, redacted = 0, extra = ?, parts = NULL,"
    " text = NULL WHERE row = ?"
)
_UNDIGEST = "UPDATE digest SET digest = ? WHERE row = ?"
_UNFEED = "INSERT INTO search(search) VALUES ('delete-all')"
_FEED = feeding.ADD
_NAMES = f"SELECT extra FROM entry WHERE kind = {KINDS.index('label')} ORDER BY row DESC"
_SAVE = "UPDATE shard SET session = ?"
_EMPTY = (
    "DELETE FROM entry; DELETE FROM digest; DELETE FROM run; DELETE FROM mark; DELETE FROM id_block;"
    " INSERT INTO search(search) VALUES ('delete-all'); UPDATE shard SET session = NULL, tail = NULL;"
)


class Eraser:
    """The `ForgettingPort` of the SQLite store; the other half of `SqliteStore`, whose files it works on."""

    def __init__(self, store: SqliteStore) -> None:
        """Takes the store, which stays open."""
        self._store = store
        self._graveyard = store.graveyard

    def marker(self, *, lasting: bool) -> Marker:
        """Makes marks: with the store's key, which is made if there is none, or for this moment only."""
        if lasting:
            self._check_writable()
        if lasting or not self._graveyard.empty:
            return self._graveyard.marker()
        return Marker(os.urandom(KEY_BYTES))

    @property
    def pending(self) -> bool:
        """Whether an erasure was begun and not finished."""
        return bool(self._graveyard.pending())

    def refuses(self, file: str, header: Header | None = None) -> bool:
        """Whether a session was forgotten as a whole."""
        tombstones = self._graveyard.tombstones()
        return tombstones is not None and tombstones.refuses(file, header)

    def bury(self, burial: Burial) -> None:
        """Keeps marks from now on, and an erasure is due."""
        self._check_writable()
        self._graveyard.bury(burial)

    def erase(self, progress: Progress | None = None) -> tuple[tuple[Erased, ...], int]:
        """Erases whatever the marks cover, and what SQLite kept aside of it."""
        self._check_writable()
        runs = self._graveyard.pending()
        tombstones = self._graveyard.tombstones()
        if tombstones is None:
            return (), 0
        erased: list[Erased] = []
        discarded = 0
        keys = self._store._keys()
        sizes = [size_of(self._store._path(key)) for key in keys]
        total, done = sum(sizes), 0
        for key, size in zip(keys, sizes, strict=True):
            try:
                erased += self._erase(key, tombstones)
            except StoreCorrupt:
                # Whoever cannot read it cannot say what it holds; the next sync derives it again.
                self._store.remove(key)
                discarded += 1
            done += size
            if progress is not None:
                progress(done, total)
        for lost in self._store._catalogue.everything().keys() - self._store._keys():
            self._store.remove(lost)  # its file went, but not yet its name
        self._store._catalogue.scrub()
        self._store.forget_words()
        self._graveyard.settle(runs)
        return tuple(sorted(erased, key=lambda one: one.file)), discarded

    def drop(self, key: str) -> None:
        """Removes a session's file, emptied before: another process may keep it open, or the system may refuse."""
        with self._opened(key) as shard:
            if shard is not None:
                self._empty(shard)
        self._remove(key)

    def verify(self, text: str | None, samples: Sequence[str]) -> Verification:
        """Looks for forgotten words in every file of the store."""
        from aforesaid.storage.sqlite.inspection import inspect  # late: only when it is asked for

        return inspect(
            self._store._folder,
            self._graveyard.tombstones(),
            text=text,
            samples=samples,
            timeout_ms=self._store._timeout_ms,
        )

    @contextmanager
    def _opened(self, key: str) -> Iterator[Shard | None]:
        """A session's file in a write transaction; None where nothing was ever committed to it.

        Raises:
            StoreCorrupt: it cannot be read.
        """
        if self._store._is_damaged(key):
            raise StoreCorrupt(f"{self._store._path(key)} is damaged", "index the session again")
        shard = self._store._begin(key)
        try:
            with self._store._watched(key, writing=True):
                connection = shard.database.connection
                connection.pragma("secure_delete", OVERWRITE_EVERYWHERE)
                if migrations.version(connection):
                    migrations.upgrade(connection, migrations.SHARD, shard.database.path)
                    if shard.load() is not None and shard.unindexed is not None:
                        feeding.catch_up(connection, shard.unindexed)
                    yield shard
                else:
                    yield None
        finally:
            shard.ready = False
            self._store._release(shard, "ROLLBACK")

    def _erase(self, key: str, tombstones: Tombstones) -> list[Erased]:
        """Erases in one session; what it says of itself if something went."""
        with self._opened(key) as shard:
            session = None if shard is None else shard.load()
            if shard is not None and session is not None and not tombstones.refuses(session.file, session.header):
                covered = _covered(shard, session, tombstones)
                if covered:
                    # Before and after: another process may add some of what it has just read.
                    rows = [entry.row for entry in covered]
                    self._store.forget_vectors(key, rows)
                    self._store._committed(shard, blank(shard, session, covered))
                    self._store.forget_vectors(key, rows)
                else:
                    shard.database.connection.execute("ROLLBACK")
                scrub(shard.database, self._store._timeout_ms, always=bool(covered))
                if not covered:
                    return []
                return [_erased(session, whole=False, entries=len(covered))]
            words = 0
            if shard is not None:
                words = 0 if session is None else sum(bool(words_of(entry)) for entry in _entries(shard, session))
                self._empty(shard)
        self._remove(key)
        return [] if session is None else [_erased(session, whole=True, entries=words)]

    def _empty(self, shard: Shard) -> None:
        connection = shard.database.connection
        connection.execute(_EMPTY)
        connection.execute("COMMIT")
        shard.tree = None
        scrub(shard.database, self._store._timeout_ms, always=True)

    def _remove(self, key: str) -> None:
        try:
            self._store.remove(key)
        except StoreReadOnly:
            # Windows unlinks no file that another process has open. It is empty, and the next erasure tries again.
            self._store._catalogue.forget(key)
            self._store.manifests.forget(key)

    def _check_writable(self) -> None:
        if not self._store.writable:
            raise StoreReadOnly(
                f"the store {self._store._folder} is read-only", "check its permissions, or choose another"
            )


def blank(shard: Shard, session: Session, entries: Sequence[StoredEntry]) -> Session:
    """Takes the words out of entries and commits.

    Everything that is derived from words is made anew from those that are left: the full-text index, because removing
    single entries would leave their words in its pages until it is merged, and the session's name.

    Args:
        shard: in a write transaction.
        session: as the shard has it.
        entries: of this session.

    Returns:
        The session as it is now.
    """
    connection = shard.database.connection
    rows = [(NO_DIGEST, _what_stays(entry), entry.row) for entry in entries]
    connection.executemany(_BLANK, rows)
    connection.executemany(_UNDIGEST, [(digest(""), entry.row) for entry in entries])
    connection.execute(_UNFEED)
    connection.executemany(_FEED, feeding.read_fed(connection))
    families = [family_of_line(entry.id, NO_DIGEST) for entry in entries if entry.row == 1]
    done = replace(
        session,
        name=_name(connection),
        family=families[0] if families else session.family,
        generation=session.generation + 1,
    )
    connection.execute(_SAVE, (pack(done),))
    connection.execute("COMMIT")
    return done


def _covered(shard: Shard, session: Session, tombstones: Tombstones) -> list[StoredEntry]:
    covered: list[StoredEntry] = []
    for batch in _batches(shard, session):
        covered += [batch[place] for place in sorted(tombstones.covered(shard.key, batch))]
    return covered


def _batches(shard: Shard, session: Session) -> Iterator[tuple[StoredEntry, ...]]:
    snapshot = ShardSnapshot(shard, session, lambda: None)
    for first in range(1, session.entries + 1, _ROWS):
        yield snapshot.entries(range(first, first + _ROWS))


def _entries(shard: Shard, session: Session) -> Iterator[StoredEntry]:
    for batch in _batches(shard, session):
        yield from batch


def _what_stays(entry: StoredEntry) -> bytes | None:
    """Of the extra fields, the id of the entry that a label names."""
    return None if entry.target is None else pack_extra(Extra(target=entry.target))


def _name(connection: apsw.Connection) -> str | None:
    """The session's name, as `writer` keeps it: that of the last label that names no entry."""
    for (extra,) in connection.execute(_NAMES):
        more = Extra() if extra is None else unpack_extra(extra)
        if more.target is None:
            return more.label
    return None


def _erased(session: Session, *, whole: bool, entries: int) -> Erased:
    return Erased(file=session.file, session_id=session.header.session_id, whole=whole, entries=entries)
