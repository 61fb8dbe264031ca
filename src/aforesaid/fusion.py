"""Floor 4: what the vector search is worth beside the lexical one.

`retrieval` hands in the rows that are similar to a request and gets for each what it is worth: half by its rank (the
reciprocal-rank fusion of both lists) and half by its similarity. Vectors count in the third tier alone, so that no
identifier or phrase is ever displaced. Pure and total. `docs/ranking.md` gives the formulas and a worked case.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct

from aforesaid.passages import hash_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from aforesaid.answers import Relevance
    from aforesaid.embedding import Scale, Similar
    from aforesaid.lineage import Places
    from aforesaid.model import StoredEntry

RANK: Final = 0.5  # the part of a row's worth that its rank makes; the rest is its similarity
HALF: Final = 15  # the rank at which half of that part is left
RELEVANCE: Final = 10.0  # bm25 that a whole worth stands for where no row of the branch holds anything of the request
DOCUMENTED: Final = 20.0  # points that a whole worth stands for in documented ranking


class Fused(Struct, frozen=True, kw_only=True):
    """What the vector search brought.

    Attributes:
        worth: of each row, its neighbours' rows included: 0 to the weight of the model.
        passages: of the rows that may come back, with the passage that is most similar.
        admitted: those of them that may come back without holding anything of the request.
    """

    worth: Mapping[int, float]
    passages: Mapping[int, Similar]
    admitted: frozenset[int]


def fuse(found: Sequence[Similar], scale: Scale, eligible: Places) -> Fused:
    """What rows are worth.

    Args:
        found: rows of the branch, most similar first, from the plain floor on.
        scale: of the model.
        eligible: rows that may come back.
    """
    worth: dict[int, float] = {}
    for rank, one in enumerate(found):
        above = max(0.0, (one.similarity - scale.plain) / (1.0 - scale.plain))
        worth[one.row] = scale.weight * (RANK * HALF / (HALF + rank) + (1.0 - RANK) * above)
    passages = {one.row: one for one in found if eligible.of(one.row) is not None}
    return Fused(
        worth=worth,
        passages=passages,
        admitted=frozenset(row for row, one in passages.items() if scale.admits(one)),
    )


def still_says(entry: StoredEntry, passage: Similar) -> bool:
    """Whether an entry's text is still what its vector was made of."""
    return hash_of(entry.text[passage.start : passage.end]) == passage.hash


def without_vector(relevance: Relevance) -> Relevance | None:
    """The relevance of a row whose vector is of another text: that of its words; None if it has no other."""
    from msgspec.structs import replace  # late: texts hardly ever change

    return replace(relevance, semantic=0.0) if relevance.own else None
