"""Floor 4: in which order candidates come back, and why.

`retrieval` hands in verified candidates and gets them ranked, each with the addends of its score. Pure and total: the
same candidates in any order give the same result. The score only sorts within a tier and is shown for diagnosis; it is
no probability and no measure of confidence. `docs/ranking.md` explains each formula.
"""

from __future__ import annotations

from functools import lru_cache
from math import fsum, log1p
from typing import TYPE_CHECKING, Final, Protocol

from msgspec.structs import replace

from aforesaid.answers import PART_NAMES, Ranked
from aforesaid.matching import holds_all
from aforesaid.model import TOOL_ROLES
from aforesaid.novelty import names_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from aforesaid.answers import Candidate, Matched, Query, Relevance, Tier
    from aforesaid.model import Role
    from aforesaid.moments import Time

    Sum = tuple[Tier, tuple[float, ...], tuple[int, int, int]]
    """Tier, addends and what of the names is the same, as in `Ranked`."""

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

# Of contextual ranking, whose third tier is ordered by these alone.
RELEVANCE: Final = 10.0  # times bm25, own and of the neighbours
LITERAL_RELEVANCE: Final = 1.0  # the same in the upper tiers, own only
SPEAKER: Final = 1.0  # of all of it, for a row whose speaker was asked about, by name or as "I" or "you"
DATE: Final = 2.0  # of all of it, for a row of a day or month that was asked about
TIME: Final = 0.5  # of all of it, for a row that says when, if that was asked
FIGURE: Final = 0.5  # of all of it, for a row that holds a figure that was asked about
ADMITTED: Final = 0.5  # of what neighbours say of a row in which nothing was found, where they may bring it up at all
USER: Final = 0.3  # of all of it, for a user's message that does not begin with a name

# Of contextual ranking: a call or result that holds many names is worth more, times ln(1 + marks), or, where the work
# around a request is asked for too, times ln(1 + names that the model does not see) (`names_in`).
NAMES: Final = 1.5  # of all of it, where the work is asked for too
NAMES_BESIDE_LITERALS: Final = (3.2, 19.0)  # in the first two tiers, and at most; such rows have no authority
NAMES_OF_WORK: Final = (9.0, 60.0)  # the same where the work is asked for too
READ_FOR_MARKS: Final = 4000  # characters
READ_FOR_NAMES: Final = 6000

PRIORS: Final = ("authority", "speaker", "date", "time")
"""Addends for who speaks and when. The part of `USER` among them is `authority`."""
_NOBODY: Final[frozenset[Role]] = frozenset()

_TIERS: Final[dict[Tier, int]] = {"identifier": 0, "phrase": 1, "other": 2}


def rank(
    candidates: Iterable[tuple[Candidate, Matched]],
    query: Query,
    length: int,
    time: Time | None = None,
    *,
    admitting: bool = False,
    bare: bool = False,
    known: frozenset[str] | None = None,
    asked: frozenset[Role] = _NOBODY,
) -> tuple[Ranked, ...]:
    """Orders candidates: tier, score descending, timestamp descending, entry id ascending.

    Args:
        candidates: eligible rows with the items that were verified in them; rows without any are left out, unless their
            vector alone brings them back.
        query: what was asked.
        length: number of entries on the branch.
        time: what contextual ranking heeds of the request's days and its question for a time.
        admitting: rows without any stay if anything makes them relevant (a measurement, see `RetrievalOptions`);
            without vectors what their neighbours say counts `ADMITTED` times.
        bare: the addends of `PRIORS` are left out (a measurement, too).
        known: names that the model sees, where the work around the request is asked for too; else None.
        asked: roles whose words or doings contextual ranking takes the request to ask for.
    """
    if admitting:
        candidates = _discount(candidates)
    ranked = [
        score(candidate, matched, query, length, time, known=known, asked=asked)
        for candidate, matched in candidates
        if _is_found(matched)
        or candidate.admitted
        or (admitting and candidate.relevance is not None and _is_relevant(candidate.relevance))
    ]
    if bare:
        ranked = [without_priors(row) for row in ranked]
    keys = [(_TIERS[row.tier], -row.score) for row in ranked]
    if len(set(keys)) < len(keys):
        # Three stable sorts, the last key first: strings cannot be negated to sort downwards.
        ranked.sort(key=lambda row: row.candidate.entry.id)
        ranked.sort(key=lambda row: row.candidate.entry.timestamp or "", reverse=True)
        keys = [(_TIERS[row.tier], -row.score) for row in ranked]
    return tuple([ranked[place] for place in sorted(range(len(keys)), key=keys.__getitem__)])


def without_priors(row: Ranked) -> Ranked:
    """The same without what a row is worth for who speaks and for the days and times of the request."""
    pairs = zip(PART_NAMES, row.addends, strict=True)
    addends = tuple(0.0 if name in PRIORS else addend for name, addend in pairs)
    return replace(row, addends=addends, score=round(fsum(addends), 4))


def _discount(candidates: Iterable[tuple[Candidate, Matched]]) -> list[tuple[Candidate, Matched]]:
    """Candidates as they count where neighbours alone bring rows up: less if nothing was found in them.

    The neighbours come back themselves; of two rows beside the same answer, the one that speaks of it goes first.
    Where vectors were asked, they say which rows those are.
    """
    listed = list(candidates)
    if any(one.relevance is not None and one.relevance.semantic > 0 for one, _ in listed):
        return listed
    return [(one if _is_found(matched) else _take_half(one), matched) for one, matched in listed]


def _take_half(candidate: Candidate) -> Candidate:
    """The same with less of its neighbours."""
    relevance = candidate.relevance
    if relevance is None:
        return candidate
    return replace(candidate, relevance=replace(relevance, neighbours=ADMITTED * relevance.neighbours))


def _is_found(matched: Matched) -> bool:
    """Whether anything was verified in a row."""
    return bool(matched.identifiers or matched.phrases or matched.terms)


def _is_relevant(relevance: Relevance) -> bool:
    """Whether anything makes a row relevant: words that are no topics, neighbours, its vector."""
    return relevance.own > 0 or relevance.neighbours > 0 or relevance.semantic > 0


def score(
    candidate: Candidate,
    matched: Matched,
    query: Query,
    length: int,
    time: Time | None = None,
    *,
    known: frozenset[str] | None = None,
    asked: frozenset[Role] = _NOBODY,
) -> Ranked:
    """One candidate with its tier, its score and the addends of it."""
    tier, addends, same = add_up(
        candidate.entry, matched, query, (candidate.position, length), candidate.relevance,
        order=candidate.order, semantic=candidate.semantic, time=time, known=known, asked=asked,
    )  # fmt: skip
    return Ranked(
        candidate=candidate, tier=tier, score=round(fsum(addends), 4), addends=addends, matched=matched, same=same
    )


class Said(Protocol):
    """What of an entry its score depends on."""

    @property
    def role(self) -> Role:
        """Who said it."""
        ...

    @property
    def tokens(self) -> int:
        """How long it is."""
        ...

    @property
    def timestamp(self) -> str | None:
        """When."""
        ...

    @property
    def text(self) -> str:
        """What."""
        ...


def add_up(
    entry: Said,
    matched: Matched,
    query: Query,
    place: tuple[int, int],
    relevance: Relevance | None,
    *,
    order: int | None = None,
    semantic: float = 0.0,
    time: Time | None = None,
    known: frozenset[str] | None = None,
    asked: frozenset[Role] = _NOBODY,
    branch: float = BRANCH,
) -> Sum:
    """The tier and the addends of an entry, whose sum is its score.

    Args:
        entry: what was said.
        matched: the items that were verified in it.
        query: what was asked.
        place: of the entry, and among how many.
        relevance: of contextual ranking; None with the documented one, or for what was found by no words.
        order: place in the full-text order.
        semantic: what its vector is worth in documented ranking.
        time: as for `rank`.
        known: as for `rank`.
        asked: as for `rank`.
        branch: the addend `branch`.
    """
    identifiers = matched.identifiers
    if relevance is not None and not identifiers and not matched.phrases:
        return "other", _add_contextually(entry, relevance, matched, query, time, known=known, asked=asked), (0, 0, 0)
    same = (0, 0, 0)
    if identifiers:
        tier: Tier = "identifier"
        same = (
            _common(identifiers, query.files),
            _common(identifiers, query.symbols),
            _common(identifiers, query.errors),
        )
    else:
        tier = "phrase" if matched.phrases else "other"
    # Terms are different from each other; names and phrases may be among them.
    topics = len({*identifiers, *matched.phrases, *matched.terms} if tier != "other" else matched.terms)
    own, names = _beside_literals(entry, relevance, known)
    addends = (
        IDENTIFIER if tier == "identifier" else 0.0,
        PHRASE if tier == "phrase" else 0.0,
        round(FULL_TEXT + _order(order), 4) if tier == "other" and topics else 0.0,
        extra_terms(topics),
        branch,
        SAME_FILE * same[0],
        SAME_SYMBOL * same[1],
        SAME_ERROR * same[2],
        *stand(entry.role, entry.tokens, *place),
        own,
        *(0.0, 0.0),
        round(semantic + (0.0 if topics else FULL_TEXT), 4) if tier == "other" else 0.0,
        *(0.0, 0.0, 0.0),
        names,
        0.0,
    )
    return tier, addends, same


def extra_terms(topics: int) -> float:
    """What the second and the third matched topic add."""
    return EXTRA_TERM * max(0, min(EXTRA_TERMS, topics - 1))


def _beside_literals(entry: Said, relevance: Relevance | None, known: frozenset[str] | None) -> tuple[float, float]:
    """The addends `relevance` and `names` of the upper tiers; nothing in the documented ranking.

    The work around a request names much by the way: which of its names are rare says little there.
    """
    if relevance is None:
        return 0.0, 0.0
    factor, most = NAMES_BESIDE_LITERALS if known is None else NAMES_OF_WORK
    names = min(most, factor * names_in(entry.role, entry.text, known))
    return round(LITERAL_RELEVANCE * relevance.own, 4) if known is None else 0.0, round(names, 4)


def stand(role: str, tokens: int, position: int, length: int) -> tuple[float, float, float]:
    """The addends `authority`, `recency` and `tokens`: what an entry is worth whatever was asked."""
    return AUTHORITY.get(role, 0.0), recency(position, length), cost(tokens)


def recency(position: int, length: int) -> float:
    """What a place among so many adds: 0 for the first, 8 for the last."""
    return round(RECENCY * position / max(1, length - 1), 4)


@lru_cache(maxsize=4096)
def cost(tokens: int) -> float:
    """What a text of so many tokens takes away, as a negative number."""
    return round(-TOKENS * min(1.0, tokens / TOKENS_FULL), 4)


def _add_contextually(
    entry: Said,
    relevance: Relevance,
    matched: Matched,
    query: Query,
    time: Time | None,
    *,
    known: frozenset[str] | None,
    asked: frozenset[Role],
) -> tuple[float, ...]:
    """The same in the third tier of contextual ranking. Most parts are zero, and rounding one costs as much as any."""
    own, near = RELEVANCE * relevance.own, RELEVANCE * relevance.neighbours
    semantic = RELEVANCE * relevance.semantic
    whole = own + near + semantic
    name = _speaker(entry.text)
    speaks = entry.role in asked if name is None else name in query.terms
    return (
        *_EIGHT_ZEROS,
        round(USER * whole, 4) if entry.role == "user" and name is None else 0.0,
        0.0,
        0.0,
        round(own, 4),
        round(near, 4) if near else 0.0,
        round(SPEAKER * whole, 4) if speaks else 0.0,
        round(semantic, 4) if semantic else 0.0,
        *((0.0, 0.0) if time is None else _timely(entry, whole, time)),
        round(FIGURE * whole, 4) if _has_figure(matched.terms) else 0.0,
        0.0 if known is None else round(NAMES * whole * names_in(entry.role, entry.text, known), 4),
        0.0,
    )


def most_contextually(role: Role, query: Query, time: Time | None, asked: frozenset[Role]) -> float:
    """How often its relevance an entry may come to at most in the third tier of contextual ranking.

    Args:
        role: of the entry.
        query: what was asked, which is all that is asked for (`known` is None).
        time: as for `rank`.
        asked: as for `rank`.
    """
    more = (USER if role == "user" else 0.0) + (SPEAKER if role in asked else 0.0)
    if any(term[:1].isupper() and term.isalpha() for term in query.terms):
        more = max(more, SPEAKER)
    if time is not None:
        more += (DATE if time.days else 0.0) + (TIME if time.when else 0.0)
    if _has_figure(query.terms):
        more += FIGURE
    return RELEVANCE * (1.0 + more)


def names_in(role: str, text: str, known: frozenset[str] | None = None) -> float:
    """About how many names a call or a result holds, as a logarithm; 0 for what is said.

    What an agent needs again after a compaction are names above all: paths, identifiers, addresses. The marks that
    they are made of (`/`, `_` and `.`) are counted at the beginning of the text, which costs next to nothing.

    Args:
        role: of the entry.
        text: of the entry.
        known: names that the model sees: only others count, and they are read one by one.
    """
    if role not in TOOL_ROLES:
        return 0.0
    if known is not None:
        return log1p(len(names_of(text[:READ_FOR_NAMES]) - known))
    count, end = text.count, READ_FOR_MARKS
    return log1p(count("/", 0, end) + count("_", 0, end) + count(".", 0, end))


def _timely(entry: Said, whole: float, time: Time) -> tuple[float, float]:
    """The parts `date` and `time`."""
    from aforesaid.moments import falls_on, tells_time  # late: few requests say anything of time

    return (
        round(DATE * whole, 4) if falls_on(entry.timestamp, time.days) else 0.0,
        round(TIME * whole, 4) if time.when and tells_time(entry.text) else 0.0,
    )


_EIGHT_ZEROS: Final = (0.0,) * 8


def _speaker(text: str) -> str | None:
    """The name that a text begins with, as in `Ann: see you`: where several talk, roles say nothing."""
    end = text.find(":", 0, _LONGEST_NAME)
    return text[:end] if end > 0 and text[0].isupper() and text[:end].isalpha() else None


@lru_cache(maxsize=1024)
def _has_figure(terms: tuple[str, ...]) -> bool:
    """Whether a digit stands in some terms: what was found in one row was found in many."""
    return any(map(str.isdecimal, "".join(terms)))


_LONGEST_NAME: Final = 40


def _common(items: tuple[str, ...], others: tuple[str, ...]) -> int:
    return sum([item in others for item in items]) if others else 0


def _order(place: int | None) -> float:
    """What a place in the full-text order adds: 11 for the first, half of it for the eleventh, always below 12."""
    return 0.0 if place is None else ORDER * ORDER_HALF / (ORDER_HALF + place)


def deduplicate(ranked: Sequence[Ranked]) -> tuple[Ranked, ...]:
    """One of each set of equal (normalised) texts, at the place of the highest ranked.

    Equal texts may differ in case, names never do: a row in which a name or phrase was verified that the ones before it
    spell in another way is no repetition.

    Of what people said that is the highest ranked itself, which is the newer one of equals. What was run or printed
    again is one piece of evidence, and the newest says when it was last so: it takes the place that the best of them
    earned, with the score that explains it, unless something else was verified in it (normalising folds case), or the
    best is of a day that was asked about.
    """
    equal: dict[bytes, list[int]] = {}
    kept: list[Ranked] = []
    for row in ranked:
        places = equal.setdefault(row.candidate.entry.digest, [])
        place = next((place for place in places if _says_all(kept[place], row)), None)
        if place is None:
            places.append(len(kept))
            kept.append(row)
        elif _repeats(kept[place], row):
            kept[place] = replace(kept[place], candidate=row.candidate)
    return tuple(kept)


def _says_all(kept: Ranked, row: Ranked) -> bool:
    """Whether a row holds all names and phrases that were verified in another one of equal text."""
    text = kept.candidate.entry.text
    return row.candidate.entry.text == text or holds_all(row.matched.literals, text)


def _repeats(best: Ranked, other: Ranked) -> bool:
    """Whether a row says again, later, what the best one of its text says."""
    mine, theirs = best.candidate, other.candidate
    return (
        theirs.position > mine.position
        and mine.entry.role in TOOL_ROLES
        and theirs.entry.role == mine.entry.role
        and (theirs.entry.text == mine.entry.text or (best.working == other.working and best.matched == other.matched))
        and not (best.addends and best.addends[_DATE])
    )


_DATE: Final = PART_NAMES.index("date")
