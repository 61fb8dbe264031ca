"""Floor 5: what each compaction took from the model's view, as exact items.

`engine` calls `find_lost` with a snapshot of one session. `query.items` says what an exact item is, `branches` what the
model saw. It reads, never writes, and judges nothing: entries that may not be handed out are not looked at.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from aforesaid import lineage
from aforesaid.branches import cover, find_branch, see_from
from aforesaid.errors import BadArgument
from aforesaid.pairs import CALLERS
from aforesaid.privacy.egress import is_due, redact_entry
from aforesaid.query.items import ITEM_KINDS, ItemKind, read_items
from aforesaid.text import uncolour

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from aforesaid.model import Branch, Span, StoredEntry
    from aforesaid.ports import EntryPort, Snapshot
    from aforesaid.privacy.paths import Paths

MOST_ITEMS: Final = 20_000
"""Items that are listed of one compaction, the newest; all are counted."""
_AT_ONCE: Final = 64
"""Entries whose texts are held at a time."""
_SHORT_HASH: Final = 7
"""Characters by which a hash is named."""
_ARGUMENT: Final = r"(?m)^(\w{1,64}): "
"""A line of a call that begins with the name of an argument; see `transcripts.calls.render`."""
_STATES: Final = frozenset({"is_error: true", "isError: true"})
"""Parts that the readers of transcripts add to results of which only a field says that they failed: nobody's words."""
_RARELY: Final = 10
"""Of so many calls of a tool one has an argument that counts as one."""


class Survival(Struct, frozen=True, kw_only=True):
    """How much of one kind is left.

    Attributes:
        kind: of the items.
        before: different items that the lost part held.
        visible: those of them that the model's view still held right after the compaction.
    """

    kind: ItemKind
    before: int
    visible: int


class LostItem(Struct, frozen=True, kw_only=True):
    """An exact item that the model's view does not hold any more.

    Attributes:
        item: verbatim; blanks of commands as one, paths below the session's folder relative to it.
        kind: what it is.
        last_entry_id: the newest lost entry that holds it.
        count: lost entries that hold it.
    """

    item: str
    kind: ItemKind
    last_entry_id: str
    count: int


class LostPart(Struct, frozen=True, kw_only=True):
    """What one compaction took from the model's view.

    Attributes:
        entry_id: the compaction.
        timestamp: its time, or None.
        lost_entries: entries with a text that went; summaries are none of them.
        survival: one of each kind, in their order.
        items: the newest first, at most `MOST_ITEMS`.
    """

    entry_id: str
    timestamp: str | None
    lost_entries: int
    survival: tuple[Survival, ...]
    items: tuple[LostItem, ...]


class LostReport(Struct, frozen=True, kw_only=True):
    """The compactions of a branch, oldest first.

    Attributes:
        compactions: all of them, or the one that was asked for.
        reasons: codes of what may be missing (see `Coverage`).
    """

    compactions: tuple[LostPart, ...]
    reasons: tuple[str, ...] = ()


def find_lost(
    snapshot: Snapshot,
    *,
    leaf: str | None = None,
    compaction: int | None = None,
    redacting: bool = True,
    admits: Callable[[StoredEntry], bool] | None = None,
) -> LostReport:
    """The exact items that each compaction of a branch took from the model's view.

    Time grows linearly with the text of the branch.

    Args:
        snapshot: the session.
        leaf: id of the branch's leaf; None takes the session's last entry.
        compaction: number of the only one that is looked at, 1 for the oldest of the branch; None: all.
        redacting: replace secrets, where the store holds any (`privacy.redactSecrets`).
        admits: says of an entry whether it may be handed out; None: all may.

    Raises:
        LeafUnknown: the session has no such entry.
        BadArgument: the branch has no such compaction.
    """
    branch = find_branch(snapshot, leaf)
    rows = _compactions(snapshot, branch)
    if compaction is not None:
        if not 1 <= compaction <= len(rows):
            there = f"the branch has {len(rows)}; the oldest one is number 1" if rows else "nothing was compacted on it"
            raise BadArgument(f"there is no compaction {compaction}", there)
        rows = rows[compaction - 1 : compaction]
    due = is_due(snapshot.session, redacting)
    reader = _Reader(snapshot, due=due, admits=admits)
    parts = tuple(_compare(snapshot, branch, row, reader) for row in rows)
    return LostReport(compactions=parts, reasons=cover(snapshot.session).reasons)


def shorten_lost(report: LostReport, paths: Paths) -> LostReport:
    """The same report with shortened paths (`privacy.shortenPaths`)."""
    return replace(
        report,
        compactions=tuple(
            replace(part, items=tuple(replace(item, item=paths.shorten(item.item)) for item in part.items))
            for part in report.compactions
        ),
    )


def _compactions(snapshot: EntryPort, branch: Branch) -> list[int]:
    """The rows of the compactions of a branch, oldest first."""
    places = lineage.Places(branch.spans)
    found = [
        (place, mark.row)
        for mark in snapshot.tree().marks
        if mark.compaction is not None and (place := places.of(mark.row)) is not None
    ]
    return [row for _, row in sorted(found)]


class _Reader:
    """The entries of a session as far as they may be read, and their items."""

    def __init__(self, snapshot: Snapshot, *, due: bool, admits: Callable[[StoredEntry], bool] | None) -> None:
        self._snapshot = snapshot
        self._due = due
        self._admits = admits
        folder = (snapshot.session.header.cwd or "").rstrip("\\/")
        self._folder = folder if len(folder) > 1 else None

    def entries(self, spans: Sequence[Span]) -> Iterator[StoredEntry]:
        """The entries with a text, in the order of the spans: words of the conversation, and summaries."""
        for first, last in spans:
            for start in range(first, last + 1, _AT_ONCE):
                for entry in self._snapshot.entries(range(start, min(start + _AT_ONCE, last + 1))):
                    said = entry.automatic or entry.role == "summary"
                    if said and entry.text and (self._admits is None or self._admits(entry)):
                        yield redact_entry(entry) if self._due else entry

    def items(self, text: str) -> dict[str, ItemKind]:
        """The items of a text; paths relative to the session's folder where they stand below it."""
        if self._folder is not None and self._folder in text:
            text = re.sub(re.escape(self._folder) + r"[\\/]", "", text)
        return read_items(text)


class _Arguments:
    """Which names in calls are only those of arguments: every call of the tool brings them, so none is ever lost.

    A call is stored as the tool's name and a line an argument. In a value of several lines a line may look like that
    (a setting in a file that is written), so that a name is an argument's only if it stands right behind the tool's, or
    begins lines of several calls of the tool, and of no small part of them.
    """

    def __init__(self) -> None:
        self._items: dict[str, bool] = {}
        self._calls: Counter[str] = Counter()
        self._named: Counter[tuple[str, str]] = Counter()
        self._certain: set[tuple[str, str]] = set()

    def read(self, entry: StoredEntry) -> tuple[str, frozenset[tuple[str, str]]]:
        """The text of an entry without `_STATES` and names that may be arguments', and these names with their tools."""
        if not entry.calls or (entry.role == "tool_result" and _STATES.isdisjoint(entry.text.split("\n"))):
            return entry.text, frozenset()
        texts: list[str] = []
        found: set[tuple[str, str]] = set()
        start = 0
        for length in entry.parts:
            text = entry.text[start : start + length]
            start += length + 1
            if text in _STATES:
                continue
            tool, _, rest = text.partition("\n")
            if tool in entry.tools and entry.role in CALLERS:
                text = self._read_call(tool, rest, found)
            texts.append(text)
        return "\n".join(texts), frozenset(found)

    def _read_call(self, tool: str, rest: str, found: set[tuple[str, str]]) -> str:
        self._calls[tool] += 1
        names: set[str] = set()

        def leave_out(match: re.Match[str]) -> str:
            name = match.group(1)
            if not self._is_item(name):
                return match.group()
            if match.start() == 0:
                self._certain.add((tool, name))
            names.add(name)
            return ": "

        rest = re.sub(_ARGUMENT, leave_out, rest)
        for name in names:
            self._named[tool, name] += 1
            found.add((tool, name))
        return f"{tool}\n{rest}"

    def _is_item(self, name: str) -> bool:
        if name not in self._items:
            self._items[name] = name in read_items(name)
        return self._items[name]

    def values(self, names: frozenset[tuple[str, str]]) -> list[str]:
        """Those of some names that are no arguments', once all calls have been read."""
        return sorted({name for tool, name in names if not self._is_argument(tool, name)})

    def _is_argument(self, tool: str, name: str) -> bool:
        times = self._named[tool, name]
        return (tool, name) in self._certain or (times > 1 and times * _RARELY >= self._calls[tool])


class _View:
    """What the model sees, as far as it decides whether an item is still there."""

    def __init__(self) -> None:
        self._items: set[str] = set()
        self._words: set[str] = set()

    def add(self, text: str, items: dict[str, ItemKind]) -> None:
        """Takes the text of a visible entry, and its items."""
        self._words.update(re.findall(r"\w+", uncolour(text)))
        for item, kind in items.items():
            self._items.add(item)
            if kind == "path":
                segments = re.split(r"[\\/]", item)
                self._items.update(item[-len("/".join(segments[at:])) :] for at in range(1, min(len(segments), 32)))
            elif kind == "hash":
                self._items.add(item[:_SHORT_HASH])
            elif kind == "number":
                self._items.add(item.replace(",", ""))

    def holds(self, item: str, kind: ItemKind) -> bool:
        """Whether the model could still name the item: it stands there, or, of a path, at the end of a longer one."""
        if kind == "hash":
            item = item[:_SHORT_HASH]
        elif kind == "number":
            item = item.replace(",", "")
        elif kind == "path":
            item = item.removeprefix("./")
        return item in self._items or item in self._words


def _compare(snapshot: EntryPort, branch: Branch, row: int, reader: _Reader) -> LostPart:
    """What stood in the view before a compaction and was gone right after it."""
    places = lineage.Places(branch.spans)
    place = places.of(row) or 0
    before = see_from(snapshot, _row_at(branch.spans, place - 1))
    (at,) = snapshot.entries((row,))
    # Some hosts write the summary into a row of its own, right after the one that marks the compaction.
    following = _row_at(branch.spans, place + 1)
    summary = () if following is None or at.role == "summary" else snapshot.entries((following,))
    end = row if following is None or not any(entry.role == "summary" for entry in summary) else following
    after = see_from(snapshot, end)
    view, arguments = _View(), _Arguments()
    for entry in reader.entries(after.context):
        arguments.read(entry)
        view.add(entry.text, reader.items(entry.text))
    gone: list[tuple[str, dict[str, ItemKind], frozenset[tuple[str, str]]]] = []
    for entry in reader.entries(lineage.subtract(before.context, after.context)):
        if entry.role != "summary":
            text, names = arguments.read(entry)
            gone.append((entry.id, reader.items(text), names))
    found: dict[str, tuple[ItemKind, str, int]] = {}
    for id_, items, names in gone:
        for name in arguments.values(names):
            items.setdefault(name, "identifier")
        for item, kind in items.items():
            known = found.pop(item, None)  # what was seen last stands last
            found[item] = (kind if known is None else known[0], id_, 1 if known is None else known[2] + 1)
    left = {item: of for item, of in found.items() if not view.holds(item, of[0])}
    return LostPart(
        entry_id=at.id,
        timestamp=at.timestamp,
        lost_entries=len(gone),
        survival=tuple(_survival(kind, found, left) for kind in ITEM_KINDS),
        items=tuple(
            LostItem(item=item, kind=kind, last_entry_id=last, count=count)
            for item, (kind, last, count) in list(reversed(left.items()))[:MOST_ITEMS]
        ),
    )


def _survival(
    kind: ItemKind, found: dict[str, tuple[ItemKind, str, int]], left: dict[str, tuple[ItemKind, str, int]]
) -> Survival:
    before = sum(of[0] == kind for of in found.values())
    return Survival(kind=kind, before=before, visible=before - sum(of[0] == kind for of in left.values()))


def _row_at(spans: Sequence[Span], place: int) -> int | None:
    """The row at a place of a branch, counted from its root; None beyond its ends."""
    if place < 0:
        return None
    for first, last in spans:
        if place <= last - first:
            return first + place
        place -= last - first + 1
    return None
