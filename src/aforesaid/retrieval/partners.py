"""Floor 5: the other half of what was found: the result of a call, and the call of a result.

`retrieval` asks where places are left over; what comes from here stands below everything that matched for itself. Only
hits that hold a name or a phrase bring theirs, and only from among rows that the model does not see. It decides
nothing about privacy or budgets. `docs/decisions/0036-pairs.md` shows what it is worth.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from aforesaid import lineage
from aforesaid.answers import PART_NAMES, Candidate, Matched, Ranked
from aforesaid.pairs import CALLERS, find_partners, read_arguments

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aforesaid.matching import Probe
    from aforesaid.model import Branch, StoredEntry
    from aforesaid.ports import EntryPort

SCORE: Final = 1.0
"""What the first pair is worth at the most; less if something that matched for itself has less."""
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
        Rows that are not among `ranked`, the partner of the best first, each below all of them. Nothing was found in
        them: their `matched` is empty, and the only part of their score is `pair`.
    """
    eligible, places = lineage.Places(branch.eligible), lineage.Places(branch.spans)
    taken = {row.candidate.entry.row for row in ranked}
    lowest = min((row.score for row in ranked), default=SCORE)
    found: list[Ranked] = []
    for row in ranked:
        if row.tier == "other" or row.working:
            continue
        entry = row.candidate.entry
        wanted = _calls_of(entry, probe)
        for partner, _ in find_partners(entries, entry, wanted, branch.spans):
            if len(found) == most:
                return tuple(found)
            if eligible.of(partner.row) is None or partner.row in taken or not (partner.automatic and partner.text):
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
                    matched=Matched(),
                )
            )
    return tuple(found)


def _calls_of(entry: StoredEntry, probe: Probe) -> frozenset[str]:
    """The calls that an entry's names and phrases belong to."""
    if entry.role not in CALLERS:
        return frozenset(call for call in entry.calls if call)
    found: set[str] = set()
    for call, text in read_arguments(entry):
        identifiers, phrases, _ = probe.matched(text)
        if call and (identifiers or phrases):
            found.add(call)
    return frozenset(found)
