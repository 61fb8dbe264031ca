"""Floor 5: names of which the model sees the same text, but spelled in another way.

Texts are the same if they are so without their case, names are not: `FOO_BAR` is still lost where the model sees
`foo_bar`. `retrieval` asks here only if a name or phrase was verified in a row whose text the model sees.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from aforesaid.errors import ExactSearchFailed
from aforesaid.matching import holds_all

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from aforesaid.answers import Ranked
    from aforesaid.model import Branch
    from aforesaid.ports import Snapshot

MOST: Final = 500
"""Visible rows that are looked at for a name; if more hold it, the model sees it often enough."""


def leave_others(
    snapshot: Snapshot, alike: Sequence[Ranked], branch: Branch, said: Mapping[bytes, str]
) -> tuple[Ranked, ...]:
    """Those of some rows whose names and phrases stand in the equal text that the model sees as well.

    Args:
        snapshot: the session.
        alike: rows whose (normalised) text the model sees.
        branch: what it sees.
        said: what it has just been sent, by digest.
    """
    needles = tuple(dict.fromkeys(needle for row in alike for needle in row.matched.literals))
    try:
        found = snapshot.find_literals(needles, branch.context, MOST)
    except ExactSearchFailed:
        return tuple(alike)
    holders = dict(zip(needles, map(frozenset, found), strict=True))

    def sees(row: Ranked) -> bool:
        literals, digest = row.matched.literals, row.candidate.entry.digest
        if not literals or (digest in said and holds_all(literals, said[digest])):
            return True
        if any(len(holders[needle]) == MOST for needle in literals):
            return True
        rows = sorted(frozenset.intersection(*(holders[needle] for needle in literals)))
        return bool(snapshot.digests((digest,), [(held, held) for held in rows]))

    return tuple(row for row in alike if sees(row))
