"""From what a reader yields to what a store takes: every id once, every parent resolved.

`sync` hands items in and flushes; batches go to the writer. The rules, and why they are so, are in
`docs/decisions/0005-damaged-lines.md`. Knows neither host nor store.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Self

from msgspec.structs import replace

from aforesaid.errors import StoreError
from aforesaid.model import NO_DIGEST, Entry, Flaw, Source
from aforesaid.text import digest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from aforesaid.model import Header, Session, StoredEntry
    from aforesaid.ports import SessionWriter, StorePort

BATCH_ENTRIES = 1000
BATCH_BYTES = 4 * 1024 * 1024
"""A batch goes to the store when it reaches either."""
NOT_READ = "truncated-tail"
"""The flaw of a last line that is still being written: the next sync reads it again, in full."""


class Thread:
    """What the next entry may have to hang on; kept from one sync to the next.

    Attributes:
        last: id of the last row, or of the entry that the last line repeated.
        leaf: the same, without entries that only stand for a lost line.
        broken: whether a line was lost of which not even the id could be saved.
        anchor: id of the last row before the latest such line; None if there was none.
    """

    def __init__(self) -> None:
        self.last: str | None = None
        self.leaf: str | None = None
        self.broken = False
        self.anchor: str | None = None

    @classmethod
    def restore(cls, state: str) -> tuple[Self, str]:
        """Takes apart what `save` put together: the thread, and the reader's state."""
        thread = cls()
        fields, _, rest = state.partition("\n")
        if fields:
            thread.last, thread.leaf, thread.broken, thread.anchor = json.loads(fields)
        return thread, rest

    def save(self, reader: str) -> str:
        """The thread in front of the reader's state."""
        return f"{json.dumps([self.last, self.leaf, self.broken, self.anchor])}\n{reader}"


class Intake:
    """One sync's items on their way into the store.

    Attributes:
        flaws: what was wrong, in file order.
        added: rows that were made.
    """

    def __init__(
        self, writer: SessionWriter, thread: Thread, ahead: Callable[[], frozenset[str]], *, redacting: bool = False
    ) -> None:
        """Begins where an earlier sync ended.

        Args:
            writer: takes the batches.
            thread: what the first entry may hang on.
            ahead: gives all ids of the part that is being read; asked at most once, if a parent is missing.
            redacting: whether secrets are replaced in what is stored.
        """
        self._redacting = redacting
        self._writer = writer
        self._thread = thread
        self._read_ahead = ahead
        self._ahead: frozenset[str] | None = None
        self._items: list[Entry | Flaw] = []
        self._entries = 0
        self._bytes = 0
        self.flaws: list[Flaw] = []
        self.added = 0

    def take(self, item: Entry | Flaw) -> bool:
        """Keeps an item for the next flush; True if that is due."""
        self._items.append(item)
        self._entries += 1
        if isinstance(item, Entry):
            self._bytes += item.source.length
        return self._entries >= BATCH_ENTRIES or self._bytes >= BATCH_BYTES

    def flush(self, *, last: bool = False) -> tuple[Entry, ...]:
        """Gives what was taken to the store.

        Args:
            last: whether the file ends here.

        Returns:
            The entries that became rows, in order.
        """
        named = [_entry_of(item) for item in self._items]
        ids = {entry.id for entry in named if entry is not None}
        parents = {entry.parent for entry in named if entry is not None and entry.parent is not None}
        present = set(self._writer.known(tuple(ids | parents)))
        coming = ids if last else None
        placed: list[Entry] = []
        lines: dict[str, bytes] = {}
        for item, entry in zip(self._items, named, strict=True):
            if isinstance(item, Flaw):
                self.flaws.append(item)
                if item.lost and item.id is None and item.reason != NOT_READ:
                    self._thread.broken, self._thread.anchor = True, self._thread.last
            if entry is None:
                continue
            if entry.id in present:
                self._repeat(item, entry, lines.get(entry.id))
                continue
            placed.append(self._attach(entry, present, ids, coming))
            present.add(entry.id)
            lines[entry.id] = entry.source.sha256
            self._thread.last = entry.id
            if entry.kind != "gap":
                self._thread.leaf = entry.id
        self._writer.append(list(map(clear, placed)) if self._redacting else placed)
        self.added += len(placed)
        self._items, self._entries, self._bytes = [], 0, 0
        return tuple(placed)

    def _repeat(self, item: Entry | Flaw, entry: Entry, first: bytes | None) -> None:
        """A second line with the id of an earlier one: the first one counts, and nothing is lost if they are equal.

        Args:
            item: what the reader made of the line.
            entry: its entry.
            first: digest of the first line, if that is of the same batch.
        """
        if isinstance(item, Flaw):
            return
        where = entry.source
        if first is None:
            (first,) = self._writer.lines((entry.id,))
        self.flaws.append(
            Flaw(
                line=where.line,
                byte=where.offset,
                reason="duplicate-id",
                id=entry.id,
                parent=entry.parent,
                lost=first != where.sha256,
            )
        )
        self._thread.last = self._thread.leaf = entry.id

    def _attach(self, entry: Entry, present: set[str], here: set[str], coming: set[str] | None) -> Entry:
        """The entry with a parent that is, or will be, in the session."""
        parent = entry.parent
        if parent is None:
            # What is left of a lost line may lack the parent only because it was lost as well.
            return replace(entry, parent=self._thread.last) if entry.kind == "gap" else entry
        if parent in present or parent in here or self._comes_later(parent, coming):
            return entry
        if entry.kind != "gap":
            where = entry.source
            self.flaws.append(
                Flaw(
                    line=where.line, byte=where.offset, reason="unknown-parent", id=entry.id, parent=parent, lost=False
                )
            )
        fallback = entry.fallback
        if fallback is not None and (fallback in present or self._writer.known((fallback,))):
            return replace(entry, parent=fallback)
        return replace(entry, parent=self._thread.anchor if self._thread.broken else None)

    def _comes_later(self, parent: str, coming: set[str] | None) -> bool:
        if coming is not None:
            return parent in coming
        if self._ahead is None:
            self._ahead = self._read_ahead()
        return parent in self._ahead


def clear(entry: Entry) -> Entry:
    """The entry without the secrets of its text and of what is kept beside it; ids stay, they are never shown."""
    if not (entry.parts or entry.files or entry.label):
        return entry
    from aforesaid.privacy.secrets import (
        find_edits,
        redact,
    )  # late: a session that did not change needs none of its patterns

    parts = [redact(text) for text in entry.parts]
    beside = "\n".join((*entry.files, *entry.tools, entry.label or ""))
    count = sum(part.count for part in parts)
    if not count and not find_edits(beside):
        return entry
    return replace(
        entry,
        parts=tuple([part.text for part in parts]),
        tools=tuple([redact(tool).text for tool in entry.tools]),
        files=tuple([redact(file).text for file in entry.files]),
        label=redact(entry.label).text if entry.label else entry.label,
        redacted=entry.redacted + count,
    )


def _entry_of(item: Entry | Flaw) -> Entry | None:
    """The entry itself, or one that stands for a lost line whose id could be saved."""
    if isinstance(item, Entry):
        return item
    if not item.lost or item.id is None or item.reason == NOT_READ:
        return None
    return Entry(
        id=item.id,
        parent=item.parent,
        kind="gap",
        role="custom",
        timestamp=None,
        parts=(),
        source=Source(line=item.line, offset=item.byte, length=0, sha256=NO_DIGEST),
        automatic=False,
    )


def _is_copy(entry: Entry, original: StoredEntry | None) -> bool:
    """Whether an entry says what the one with its id in another session says; some hosts write such lines anew."""
    if entry.source.file is not None:
        return True  # it is the same line
    if original is None:
        return False
    return original.source.sha256 == entry.source.sha256 or original.digest == digest(entry.text)


class Copies:
    """Counts rows that are copies of rows of the session that this one was forked from.

    Attributes:
        found: how many there are.
    """

    def __init__(self, store: StorePort, file: str) -> None:
        self._store = store
        self._file = file
        self._origin: Session | None = None
        self._open = True
        self.found = 0

    def count(self, header: Header, entries: Sequence[Entry]) -> None:
        """Looks a batch up. Copies stand at the beginning of a fork, so the first batch without any ends the search."""
        if not self._open or not entries:
            return
        self._open = False
        try:
            origin = self._origin = self._origin or self._find(header)
            if origin is None:
                return
            with self._store.read(origin.key) as snapshot:
                rows = snapshot.rows([entry.id for entry in entries])
                originals = snapshot.entries([row for row in rows if row is not None])
        except StoreError:
            return  # a session that cannot be read has no copies to speak of
        known = {original.id: original for original in originals}
        copies = sum(_is_copy(entry, known.get(entry.id)) for entry in entries if entry.kind != "gap")
        self.found += copies
        self._open = copies > 0

    def _find(self, header: Header) -> Session | None:
        """The session that a header names as its origin, by path or by id."""
        if header.parent is None:
            return None
        found = self._store.by_file(os.path.abspath(header.parent)) if os.path.isabs(header.parent) else None
        if found is None:
            named = [session for session in self._store.by_id(header.parent) if session.header.host == header.host]
            found = named[0] if len(named) == 1 else None
        return None if found is not None and found.file == self._file else found
