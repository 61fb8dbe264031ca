"""Floor 4: in which order candidates come back, and why.

`retrieval` hands in verified candidates and gets them ranked, each with the addends of its score. Pure and total: the
same candidates in any order give the same result. The score only sorts within a tier and is shown for diagnosis; it is
no probability and no measure of confidence. `docs/ranking.md` explains each formula.
"""

from __future__ import annotations

from math import fsum
from typing import TYPE_CHECKING, Final

from aforesaid.model import Ranked, ScorePart

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from aforesaid.model import Candidate, Matched, Query, Tier

# All weights, with their bounds. Authority, recency, order and tokens together span less than one extra match (spec 1).
IDENTIFIER: Final = 100.0
PHRASE: Final = 85.0
FULL_TEXT: Final = 60.0
ORDER: Final = 11.0  # first place of the full-text order; falls towards 0
ORDER_HALF: Final = 10  # the place at which half of ORDER is left
EXTRA_TERM: Final = 40.0  # second and third matched topic
EXTRA_TERMS: Final = 2
BRANCH: Final = 15.0
SAME_FILE: Final = 12.0  # each
SAME_SYMBOL: Final = 10.0  # each
SAME_ERROR: Final = 12.0  # each
AUTHORITY: Final = {"user": 8.0, "assistant": 5.0}
RECENCY: Final = 8.0  # the leaf's place; falls linearly to 0 at the root
TOKENS: Final = 12.0  # subtracted in full from this many tokens on:
TOKENS_FULL: Final = 4000

_TIERS: Final[dict[Tier, int]] = {"identifier": 0, "phrase": 1, "other": 2}


def rank(candidates: Iterable[tuple[Candidate, Matched]], query: Query, length: int) -> tuple[Ranked, ...]:
    """Orders candidates: tier, score descending, timestamp descending, entry id ascending.

    Args:
        candidates: eligible rows with the items that were verified in them; rows without any are left out.
        query: what was asked.
        length: number of entries on the branch.
    """
    ranked = [
        score(candidate, matched, query, length)
        for candidate, matched in candidates
        if matched.identifiers or matched.phrases or matched.terms
    ]
    # Three stable sorts, the last key first: strings cannot be negated to sort downwards.
    ranked.sort(key=lambda row: row.candidate.entry.id)
    ranked.sort(key=lambda row: row.candidate.entry.timestamp or "", reverse=True)
    ranked.sort(key=lambda row: (_TIERS[row.tier], -row.score))
    return tuple(ranked)


def score(candidate: Candidate, matched: Matched, query: Query, length: int) -> Ranked:
    """One candidate with its tier, its score and the addends of it."""
    entry = candidate.entry
    identifiers = matched.identifiers
    topics = len({*identifiers, *matched.phrases, *matched.terms})
    files, symbols, errors = (
        (
            sum(item in query.files for item in identifiers),
            sum(item in query.symbols for item in identifiers),
            sum(item in query.errors for item in identifiers),
        )
        if identifiers
        else (0, 0, 0)
    )
    tier: Tier = "identifier" if identifiers else "phrase" if matched.phrases else "other"
    parts = tuple(
        ScorePart(name=name, value=rounded)
        for name, value in (
            ("identifier", IDENTIFIER if tier == "identifier" else 0.0),
            ("phrase", PHRASE if tier == "phrase" else 0.0),
            ("fts", FULL_TEXT + _order(candidate.order) if tier == "other" else 0.0),
            ("extraTerms", EXTRA_TERM * min(EXTRA_TERMS, topics - 1)),
            ("branch", BRANCH),
            ("file", SAME_FILE * files),
            ("symbol", SAME_SYMBOL * symbols),
            ("error", SAME_ERROR * errors),
            ("authority", AUTHORITY.get(entry.role, 0.0)),
            ("recency", RECENCY * candidate.position / max(1, length - 1)),
            ("tokens", -TOKENS * min(1.0, entry.tokens / TOKENS_FULL)),
        )
        if value and (rounded := round(value, 4))
    )
    reasons = [
        f"{code}:{count}"
        for code, count in (
            ("identifier", len(identifiers)),
            ("phrase", len(matched.phrases)),
            ("terms", len(matched.terms)),
            ("same-file", files),
            ("same-symbol", symbols),
            ("same-error", errors),
        )
        if count
    ]
    if entry.role in AUTHORITY:
        reasons.append(entry.role)
    return Ranked(
        candidate=candidate,
        tier=tier,
        score=round(fsum([part.value for part in parts]), 4),
        parts=parts,
        matched=matched,
        reason=";".join(reasons),
    )


def _order(place: int | None) -> float:
    """What a place in the full-text order adds: 11 for the first, half of it for the eleventh, always below 12."""
    return 0.0 if place is None else ORDER * ORDER_HALF / (ORDER_HALF + place)


def deduplicate(ranked: Sequence[Ranked]) -> tuple[Ranked, ...]:
    """Keeps the first of each set of equal (normalised) texts: the higher ranked one and, if equal, the newer one."""
    first: dict[bytes, Ranked] = {}
    for row in ranked:
        first.setdefault(row.candidate.entry.digest, row)
    return tuple(first.values())
