"""Between floors 4 and 5: the other half of a call or a result.

What a call says belongs to its result as well: who asks what `dist/build.sh` printed names what only the call holds.
`retrieval.partners` brings the other half of what matched, `recall` says with a hit which one it is. It reads entries
near the one that is given, and decides nothing about privacy, branches or budgets.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from aforesaid.model import Span, StoredEntry
    from aforesaid.ports import EntryPort

REACH: Final = 48
"""Rows that are looked at behind a call or before a result: parallel calls and notes stand between."""
CALLERS: Final = frozenset({"tool_call", "assistant"})
"""Roles of entries that call; all others with calls answer them."""
_AT_ONCE: Final = 4


def read_arguments(entry: StoredEntry) -> Iterator[tuple[str, str]]:
    """Each call of an entry with its text, the last one first: a part whose first line is the tool.

    Calls of our own tools have no text.
    """
    parts: list[str] = []
    at = 0
    for length in entry.parts:
        parts.append(entry.text[at : at + length])
        at += length + 1
    for tool, call in zip(reversed(entry.tools), reversed(entry.calls), strict=False):
        if parts and parts[-1].partition("\n")[0] == tool:
            yield call, parts.pop()


def find_partners(
    entries: EntryPort, entry: StoredEntry, wanted: Collection[str], spans: Sequence[Span]
) -> Iterator[tuple[StoredEntry, str]]:
    """The nearest entries on the other side of some calls of an entry, each with the first of those calls.

    Args:
        entries: the session.
        entry: calls or answers.
        wanted: ids of the calls.
        spans: rows that count, in the order of a branch or of the file.
    """
    calls = entry.role in CALLERS
    left = set(wanted)
    near = islice(_rows_from(spans, entry.row, forward=calls), REACH) if left else iter(())
    while left and (rows := list(islice(near, _AT_ONCE))):
        for other in entries.entries(rows):
            shared = [call for call in other.calls if call in left]
            left.difference_update(shared)
            # The same id on the same side again: what follows belongs to that one.
            if shared and (other.role in CALLERS) is not calls:
                yield other, shared[0]


def _rows_from(spans: Sequence[Span], row: int, *, forward: bool) -> Iterator[int]:
    """The rows behind a row, or before it, the nearest first."""
    met = False
    for first, last in spans if forward else reversed(spans):
        start, end = first, last
        if first <= row <= last:
            met = True
            start, end = (row + 1, last) if forward else (first, row - 1)
        if met:
            yield from range(start, end + 1) if forward else range(end, start - 1, -1)
