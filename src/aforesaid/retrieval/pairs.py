"""Floor 5: the other half of what was found: the result of a call, and the call of a result.

What a call says belongs to its result as well: who asks what `dist/build.sh` printed names what only the call holds.
`retrieval` asks where places are left over; what comes from here stands below everything that matched for itself. Only
hits that hold a name or a phrase bring theirs, and only from among rows that the model does not see. It decides
nothing about privacy or budgets. `docs/decisions/0036-pairs.md` shows what it is worth.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final

from aforesaid import lineage
from aforesaid.answers import PART_NAMES, Candidate, Matched, Ranked

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aforesaid.matching import Probe
    from aforesaid.model import Branch, Span, StoredEntry
    from aforesaid.ports import EntryPort

REACH: Final = 48
"""Rows of the branch that are looked at behind a call or before a result: parallel calls and notes stand between."""
SCORE: Final = 1.0
"""What the first pair is worth at the most; less if something that matched for itself has less."""
_AT_ONCE: Final = 4
_CALLERS: Final = frozenset({"tool_call", "assistant"})
_NOTHING: Final = (0.0,) * (len(PART_NAMES) - 1)


def bring_partners(
    entries: EntryPort, ranked: Sequence[Ranked], branch: Branch, probe: Probe, most: int
) -> tuple[Ranked, ...]:
    """The other halves of the best rows that hold a name or phrase of the request.

    Args:
        entries: the session.
        ranked: what matched for itself and may be handed out, best first.
        branch: where it stands; only its eligible rows are brought.
        probe: looks for what was asked, in the arguments of a single call.
        most: at most so many.

    Returns:
        Rows that are not among `ranked`, the partner of the best first, each below all of them. Their `matched` says
        what stands in the other half.
    """
    eligible, places = lineage.Places(branch.eligible), lineage.Places(branch.spans)
    taken = {row.candidate.entry.row for row in ranked}
    lowest = min((row.score for row in ranked), default=SCORE)
    found: list[Ranked] = []
    for row in ranked:
        if row.tier == "other" or row.working:
            continue
        entry = row.candidate.entry
        wanted = _calls_of(entry, row.matched, probe)
        for partner, matched in _partners(entries, entry, wanted, branch.spans, eligible):
            if len(found) == most:
                return tuple(found)
            if partner.row in taken or not (partner.automatic and partner.text):
                continue
            taken.add(partner.row)
            place = places.of(partner.row)
            value = max(0.0001, round(min(SCORE, lowest) / (2 + len(found)), 4))
            found.append(
                Ranked(
                    candidate=Candidate(entry=partner, position=0 if place is None else place, order=None),
                    tier="other",
                    score=value,
                    addends=(*_NOTHING, value),
                    matched=matched,
                )
            )
    return tuple(found)


def _calls_of(entry: StoredEntry, matched: Matched, probe: Probe) -> dict[str, Matched]:
    """The calls that an entry's names and phrases belong to, each with what stands there."""
    if entry.role not in _CALLERS:
        return {call: matched for call in entry.calls if call}
    found: dict[str, Matched] = {}
    for call, text in _arguments(entry):
        identifiers, phrases, terms = probe.matched(text)
        if call and (identifiers or phrases):
            found[call] = Matched(identifiers=identifiers, phrases=phrases, terms=terms)
    return found


def _arguments(entry: StoredEntry) -> Iterator[tuple[str, str]]:
    """Each call of an entry with its text, the last one first: a part whose first line is the tool."""
    parts: list[str] = []
    at = 0
    for length in entry.parts:
        parts.append(entry.text[at : at + length])
        at += length + 1
    for tool, call in zip(reversed(entry.tools), reversed(entry.calls), strict=False):
        if parts and parts[-1].partition("\n")[0] == tool:  # calls of our own tools have no text
            yield call, parts.pop()


def _partners(
    entries: EntryPort, entry: StoredEntry, wanted: dict[str, Matched], spans: Sequence[Span], eligible: lineage.Places
) -> Iterator[tuple[StoredEntry, Matched]]:
    """The nearest entries on the other side of some calls, as far as they may come back."""
    calls = entry.role in _CALLERS
    left = dict(wanted)
    near = islice(_rows_from(spans, entry.row, forward=calls), REACH) if left else iter(())
    while left and (rows := list(islice(near, _AT_ONCE))):
        for other in entries.entries(rows):
            shared = [call for call in other.calls if call in left]
            if shared and (other.role in _CALLERS) is calls:
                for call in shared:  # the same id again: what follows belongs to that one
                    del left[call]
            elif shared:
                matched = left[shared[0]]
                for call in shared:
                    del left[call]
                if eligible.of(other.row) is not None:
                    yield other, matched


def _rows_from(spans: Sequence[Span], row: int, *, forward: bool) -> Iterator[int]:
    """The rows of a branch behind a row, or before it, the nearest first."""
    met = False
    for first, last in spans if forward else reversed(spans):
        start, end = first, last
        if first <= row <= last:
            met = True
            start, end = (row + 1, last) if forward else (first, row - 1)
        if met:
            yield from range(start, end + 1) if forward else range(end, start - 1, -1)
