"""Between floors 4 and 5: what the agent is working on, read from what the model still sees.

`retrieval` asks for it where `retrieval.query` is `working`: a second query beside the latest request, with hits and
verified matches of its own; `extractive.survey` always looks for it. It reads a bounded stretch at the end of the
context, and the summary.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from aforesaid import lineage
from aforesaid.novelty import names_of
from aforesaid.query.working import goes_on, join_work, read_work

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from aforesaid.answers import Evidence, Query, Ranked, Tier
    from aforesaid.model import Branch, Span, StoredEntry
    from aforesaid.ports import EntryPort

CALLS: Final = 10
"""Calls that are read, the latest ones."""
FARTHEST: Final = 256
"""Entries that are looked at, from the end of the context backwards."""
MOST_SEEN: Final = 2_000
"""Entries of the view whose names count as known."""
LONGEST_SEEN: Final = 20_000
"""Characters of each of them."""
SHARE: Final = 3
"""Every third place goes to what the work asks for: its smaller weight."""
_AT_ONCE: Final = 32
_TIERS: Final[tuple[Tier, ...]] = ("identifier", "phrase", "other")


def read_working(entries: EntryPort, branch: Branch, request: str, query: Query) -> tuple[str, Query] | None:
    """The text and the query of the work.

    None where the request says that all is done, or names nothing and does not ask to go on, and where the work has no
    topic.

    Args:
        entries: the session.
        branch: with what the model sees.
        request: the latest request.
        query: what it asks for.
    """
    if query.empty and not goes_on(request):
        return None
    work = collect_work(entries, branch)
    asked = read_work(work)
    return None if asked.empty else (work, asked)


def collect_work(entries: EntryPort, branch: Branch) -> str:
    """What the agent said last, called last and planned, as one text; empty parts where it did none of it."""
    said, calls = _latest(entries, branch.context)
    return join_work(said, calls, _summary(entries, branch))


def collect_names(entries: EntryPort, branch: Branch) -> frozenset[str]:
    """The names that stand in what the model sees, from its end as far as that is read."""
    names: set[str] = set()
    for entry in _backwards(entries, branch.context, MOST_SEEN):
        names.update(names_of(entry.text[:LONGEST_SEEN]))
    return frozenset(names)


def mix(latest: Sequence[Ranked], working: Sequence[Ranked]) -> tuple[Ranked, ...]:
    """Both rankings as one, each row once: two places for the request, one for the work, as long as both last."""
    mixed: dict[int, Ranked] = {}
    first, second = iter(latest), iter(working)
    place = 0
    while True:
        place += 1
        order = (second, first) if place % SHARE == 0 else (first, second)
        row = _next_new(order[0], mixed) or _next_new(order[1], mixed)
        if row is None:
            return tuple(mixed.values())
        mixed[row.candidate.entry.row] = row


def by_tier(hits: Iterable[Evidence]) -> tuple[Evidence, ...]:
    """The same hits with literal names before phrases before everything else, whichever query found them.

    What comes back, and how much of it, was chosen from the mixed rankings before; this orders only what was chosen.
    """
    return tuple(sorted(hits, key=lambda hit: _TIERS.index(hit.tier)))


def _next_new(rows: Iterator[Ranked], known: dict[int, Ranked]) -> Ranked | None:
    return next((row for row in rows if row.candidate.entry.row not in known), None)


def _latest(entries: EntryPort, context: Sequence[Span]) -> tuple[str, tuple[str, ...]]:
    """What the agent said last, and its last calls, the newest first."""
    said = ""
    calls: list[str] = []
    for entry in _backwards(entries, context):
        if entry.role not in {"assistant", "tool_call"} or not entry.text:
            continue
        if entry.calls:
            calls.append(entry.text)
        elif not said:
            said = entry.text
        if said and len(calls) >= CALLS:
            break
    return said, tuple(calls[:CALLS])


def _backwards(entries: EntryPort, context: Sequence[Span], most: int = FARTHEST) -> Iterator[StoredEntry]:
    """The entries of the context from its end, at most so many."""
    left = most
    for first, last in sorted(context, reverse=True):
        for end in range(last, first - 1, -_AT_ONCE):
            if left <= 0:
                return
            start = max(first, end - _AT_ONCE + 1, end - left + 1)
            left -= end - start + 1
            yield from reversed(entries.entries(range(start, end + 1)))


def _summary(entries: EntryPort, branch: Branch) -> str:
    """The text of the latest compaction's summary, which may stand in the row right behind it."""
    places = lineage.Places(branch.spans)
    marks = [
        (place, mark.row)
        for mark in entries.tree().marks
        if mark.compaction is not None and (place := places.of(mark.row)) is not None
    ]
    if not marks:
        return ""
    _, row = max(marks)
    return next((entry.text for entry in entries.entries((row, row + 1)) if entry.role == "summary"), "")
