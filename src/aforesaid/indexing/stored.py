"""Floor 5: secrets in sessions that cannot be read again, because their transcript is gone.

`engine` and `indexing` call `clear_stored` where a sync would read the transcript anew by other rules. What is stored
is all that is left of such a session, so it is searched where it stands and written back in one transaction. It can
only be cleared, never made raw again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from aforesaid.indexing.intake import BATCH_ENTRIES, clear
from aforesaid.language.secret_formats import VERSION
from aforesaid.model import Entry

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aforesaid.model import Mark, Session, StoredEntry, Tree
    from aforesaid.ports import Snapshot, StorePort


def clear_stored(store: StorePort, known: Session, *, redacting: bool) -> Session:
    """The session without secrets in what is stored of it, by the present rules.

    Args:
        store: where it is kept.
        known: the session.
        redacting: whether secrets are to be replaced in what is stored; if not, all stays as it is.

    Raises:
        StoreError: the store failed; the session is as it was before.
    """
    if not redacting or known.checkpoint.redaction == VERSION or not store.writable:
        return known
    with store.read(known.key) as snapshot, store.write(known.file) as writer:
        session = writer.session
        if session is None or session.generation != snapshot.session.generation:
            return known  # somebody else has just written it; the next call sees to it
        tree = snapshot.tree()
        writer.clear()
        tail: str | None = None
        for batch in _entries(snapshot, tree, session.entries):
            writer.append([clear(entry) for entry in batch])
        if tree.tail is not None:
            tail = _id(snapshot, tree.tail)
        return writer.commit(replace(session, checkpoint=replace(session.checkpoint, redaction=VERSION)), tail=tail)


def _entries(snapshot: Snapshot, tree: Tree, count: int) -> Iterator[list[Entry]]:
    """All entries as a reader would make them, in batches."""
    parents = {run.first: run.parent for run in tree.runs}
    marks = {mark.row: mark for mark in tree.marks}
    for first in range(1, count + 1, BATCH_ENTRIES):
        batch: list[Entry] = []
        for stored in snapshot.entries(range(first, min(first + BATCH_ENTRIES, count + 1))):
            parent = parents.get(stored.row, stored.row - 1)
            id_ = None if parent is None else _id(snapshot, parent)
            batch.append(_as_read(stored, id_, marks.get(stored.row)))
        yield batch


def _id(snapshot: Snapshot, row: int) -> str:
    return snapshot.entries((row,))[0].id


def _as_read(stored: StoredEntry, parent: str | None, mark: Mark | None) -> Entry:
    parts: list[str] = []
    start = 0
    for length in stored.parts:
        parts.append(stored.text[start : start + length])
        start += length + 1
    return Entry(
        id=stored.id,
        parent=parent,
        kind=stored.kind,
        role=stored.role,
        timestamp=stored.timestamp,
        parts=tuple(parts),
        source=stored.source,
        tools=stored.tools,
        calls=stored.calls,
        files=stored.files,
        automatic=stored.automatic,
        request=stored.request,
        label=stored.label,
        target=stored.target,
        compaction=mark.compaction if mark is not None else None,
        edit=mark.edit if mark is not None else None,
        redacted=stored.redacted,
    )
