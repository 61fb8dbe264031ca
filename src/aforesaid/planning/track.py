"""Floor 5: what a live host's model sees, followed from call to call.

A host that plans its calls through `engine` names the entries that its model sees, before each call. This remembers
which rows they are and what each costs, so that a call costs what was added since the last one. Contents are not kept:
the host has them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from aforesaid import lineage
from aforesaid.branches import known_rows
from aforesaid.planning.messages import from_entries
from aforesaid.planning.values import NativeContext

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import BinaryIO

    from aforesaid.model import Kind, Role, Span, StoredEntry
    from aforesaid.planning.values import ContextPort, Message
    from aforesaid.ports import EntryPort


class _Known(Struct, frozen=True, kw_only=True):
    """One entry: its row, what it is, and what its host makes of it, with the edit of this row."""

    row: int
    kind: Kind
    role: Role
    edit: int | None
    messages: tuple[Message, ...]
    overhead: int


class Track:
    """The entries of one session that its host has named so far.

    Attributes:
        native: the messages of the last list of entries, without their contents.
    """

    def __init__(self) -> None:
        self._known: dict[str, _Known] = {}
        self._ids: tuple[str, ...] = ()
        self._edited = False
        self._compaction: int | None = None
        self._spans: tuple[Span, ...] = ()
        self.native = NativeContext(messages=())

    def follow(
        self, snapshot: EntryPort, ids: Sequence[str], port: ContextPort | None, source: BinaryIO | None
    ) -> NativeContext:
        """Takes the entries that the model sees now, in the host's order.

        Args:
            snapshot: the session.
            ids: all of the entries; those without a message (labels, settings) may be among them.
            port: the host's own way of making messages, and
            source: the session's file, opened; without both, messages are made of the stored texts.

        Returns:
            The messages, without their contents.

        Raises:
            EntryUnknown: the session has no entry with one of the ids.
        """
        ids = tuple(ids)
        self._check(snapshot)
        if ids == self._ids:
            return self.native
        self._learn(snapshot, [id_ for id_ in ids if id_ not in self._known], {}, port, source)
        grown = ids[: len(self._ids)] == self._ids
        edits = self._targets(snapshot, ids)
        if edits or self._edited:
            # An edit changes what an earlier entry says, for as long as the edit itself is seen.
            stale = [id_ for id_ in ids if self._known[id_].edit != _row(edits.get(self._known[id_].row))]
            self._learn(snapshot, stale, edits, port, source)
            self._edited = True
            grown = grown and not stale
        latest = max([known.row for id_ in ids if (known := self._known[id_]).kind == "compaction"], default=None)
        grown = grown and latest == self._compaction
        before = self.native if grown else NativeContext(messages=())
        shown = [
            known
            for id_ in (ids[len(self._ids) :] if grown else ids)
            if (known := self._known[id_]).kind != "compaction" or known.row == latest
        ]
        self._ids, self._compaction = ids, latest
        # An entry that is shown otherwise has lost its own words, which may come back.
        rows = sorted([known.row for id_ in ids if (known := self._known[id_]).edit is None])
        self._spans = lineage.merge([(row, row) for row in rows])
        self.native = NativeContext(
            messages=(*before.messages, *(message for known in shown for message in known.messages)),
            overhead=before.overhead + sum(known.overhead for known in shown),
        )
        return self.native

    def spans(self, dropped: Sequence[str] = ()) -> tuple[Span, ...]:
        """The rows whose own words the model sees, without those of entries that were dropped, as ascending spans."""
        return lineage.without(self._spans, [self._known[id_].row for id_ in dropped]) if dropped else self._spans

    def _check(self, snapshot: EntryPort) -> None:
        """Forgets everything if rows have other numbers than before: the session was read again from another file."""
        if self._ids:
            ends = (self._ids[0], self._ids[-1])
            if snapshot.rows(ends) != tuple(self._known[id_].row for id_ in ends):
                self._known.clear()
                self._ids, self._compaction, self._edited = (), None, False
                self.native = NativeContext(messages=())

    def _learn(
        self,
        snapshot: EntryPort,
        ids: Sequence[str],
        edits: Mapping[int, StoredEntry],
        port: ContextPort | None,
        source: BinaryIO | None,
    ) -> None:
        """Looks up entries, with the edits that count for them."""
        for entry in snapshot.entries(known_rows(snapshot, ids)):
            change = {entry.row: edits[entry.row]} if entry.row in edits else {}
            made = None
            if port is not None and source is not None:
                made = port.context(source, (entry,), change, entry.row if entry.kind == "compaction" else None)
            if made is None:
                made = NativeContext(messages=() if change else from_entries((entry,)))
            self._known[entry.id] = _Known(
                row=entry.row,
                kind=entry.kind,
                role=entry.role,
                edit=_row(edits.get(entry.row)),
                messages=tuple(replace(message, content=None) for message in made.messages),
                overhead=made.overhead,
            )

    def _targets(self, snapshot: EntryPort, ids: Sequence[str]) -> dict[int, StoredEntry]:
        """For rows that are shown otherwise than they were said, the entry that says how; of several the last."""
        seen = [known.row for id_ in ids if (known := self._known[id_]).kind == "context-edit"]
        if not seen:
            return {}
        changes = {entry.row: entry for entry in snapshot.entries(sorted(seen))}
        edits = {mark.row: mark.edit for mark in snapshot.tree().marks if mark.edit is not None}
        named = [(row, id_) for row in changes if row in edits for id_ in edits[row].targets]
        rows = snapshot.rows([id_ for _, id_ in named])
        latest = {target: row for (row, _), target in zip(named, rows, strict=True) if target is not None}
        roles = {known.row: known.role for id_ in ids if (known := self._known[id_]).row in latest}
        return {
            target: changes[row]
            for target, row in latest.items()
            if target in roles and lineage.has_effect(edits[row], roles[target])
        }


def _row(entry: StoredEntry | None) -> int | None:
    return None if entry is None else entry.row
