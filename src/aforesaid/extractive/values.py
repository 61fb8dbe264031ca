"""Floor 5: the values of the extractive history view.

`shelf` makes `Exchange`, `survey` makes `Candidate`, `composition` makes `HistoryView`, which `engine` hands out and
`hosts/wire` writes. All are frozen; sequences are tuples.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from msgspec import Struct

from aforesaid.answers import Coverage, ScorePart

if TYPE_CHECKING:
    from collections.abc import Callable

    from aforesaid.model import Level, StoredEntry, Withheld

ViewStatus = Literal["complete", "no-query", "disabled", "failed"]
Fate = Literal["selected", "irrelevant", "in-context", "private", "too-large", "no-room"]
"""What became of a candidate: it stands in the view; nothing of the request stands in it; the model sees all of it; the
privacy policy withholds something of it; it alone is larger than a view may be; what was chosen before left no room."""

ADDENDS: Final = ("relevance", "index", "work", "recency", "roles", "salience", "redundancy")
"""Names of the addends of a bundle's score, in their order; `docs/view.md` gives the formulas."""


class Exchange(Struct, frozen=True, kw_only=True, gc=False):
    """A request with the answers to it, as far as the model does not see them any more.

    Attributes:
        rows: its sources, in branch order; at least one.
        before: the sources of the exchange before it that are gone too; may be empty.
    """

    rows: tuple[int, ...]
    before: tuple[int, ...] = ()


class Quoted(Struct, frozen=True, kw_only=True):
    """One source of a view: an entry and its complete text parts, in order, as they may be quoted."""

    entry: StoredEntry
    parts: tuple[str, ...]


class Bundle(Struct, frozen=True, kw_only=True):
    """What a classifier is asked about: the key of a bundle and its sources, oldest first."""

    key: bytes
    sources: tuple[Quoted, ...]


class Candidate(Struct, frozen=True, kw_only=True):
    """A bundle of the pool: an exchange with the one before it.

    Attributes:
        place: of the exchange among all that are lost, oldest 0.
        own: sources of the exchange that may be quoted, in branch order.
        addends: one for each of `ADDENDS`, rounded to four decimals; the redundancy is that of the moment at which the
            bundle was decided about.
        relevant: whether enough of the request stands in it; nothing else is ever selected.
        key: names its content: digest of the ids and source lines of the bundle's entries.
        fate: what became of it.
        level: the highest class of what stands in it.
    """

    place: int
    own: tuple[Quoted, ...]
    addends: tuple[float, ...]
    relevant: bool
    key: bytes
    fate: Fate = "irrelevant"
    level: Level = "normal"

    @property
    def score(self) -> float:
        """Sum of the addends; diagnostic only."""
        return round(sum(self.addends), 4)

    @property
    def score_parts(self) -> tuple[ScorePart, ...]:
        """The addends that are not zero, with their names."""
        return tuple(
            ScorePart(name=name, value=value) for name, value in zip(ADDENDS, self.addends, strict=True) if value
        )


class ViewOptions(Struct, frozen=True, kw_only=True):
    """What steers a view.

    Attributes:
        max_bytes: bytes of the JSON of a view at most (`memory.extractive.maxViewBytes`).
        max_candidates: bundles that are compared (`memory.extractive.maxCandidates`).
        redacting: replace secrets in what is quoted, where the store holds any (`privacy.redactSecrets`).
        saved: whether the session has a file; else its pointers may not resolve.
        within: places of lost exchanges, from and before which the selection looks; None: all of them.
        working: look for what the work that is going on needs too, beside the request; only an evaluation does not.
        sampled: fill the pool by time alone, to measure what the index is worth there.
        shorten: shortens paths in what is quoted (`privacy.shortenPaths`); None: it stays verbatim.
    """

    max_bytes: int = 8192
    max_candidates: int = 128
    redacting: bool = True
    saved: bool = True
    within: tuple[int, int] | None = None
    working: bool = True
    sampled: bool = False
    shorten: Callable[[str], str] | None = None


class ViewDiagnostics(Struct, frozen=True, kw_only=True):
    """Counts and codes of one view; never any text.

    Attributes:
        status: as of a retrieval.
        reason: why the view is as it is: `selected`, `navigation-only`, or, of an empty one, `no-query`,
            `nothing-lost`, `nothing-relevant`, `carried` (by the evidence of the call), `private`,
            `too-small`, or the code of what failed or forbids it.
        selection: `deterministic`, `classified`, or why the classifier did not help.
        total, selected, omitted: bundles.
        pool, relevant: bundles that were compared, and those of them in which enough of the request stands.
        in_context, private, too_large, no_room: relevant ones that were left out, by `Fate`.
        carried: sources left out because the evidence of the same call carries them.
        duration_ms: time that it took.
        coverage: what was looked at.
        warnings: stable codes.
    """

    status: ViewStatus = "complete"
    reason: str = "selected"
    selection: str = "deterministic"
    total: int = 0
    selected: int = 0
    omitted: int = 0
    pool: int = 0
    relevant: int = 0
    in_context: int = 0
    private: int = 0
    too_large: int = 0
    no_room: int = 0
    carried: int = 0
    duration_ms: float = 0.0
    coverage: Coverage = Coverage()
    warnings: tuple[str, ...] = ()


class HistoryView(Struct, frozen=True, kw_only=True):
    """One view.

    Attributes:
        text: its compact JSON; `{}` if there is nothing to say.
        bytes: the length of that in UTF-8.
        message: the exact text of the message for the model; empty with an empty view.
        tokens: estimated tokens of `message`.
        entry_ids: the sources, in the order of the branch.
        diagnostics: counts and codes.
        candidates: the pool, best first, with what became of each.
        classification: the highest class of what is quoted.
        withheld: sources that the privacy policy kept out.
        usage: what a classifier that was asked for it reports to have cost; None if none was asked.
    """

    text: str = "{}"
    bytes: int = 2
    message: str = ""
    tokens: int = 0
    entry_ids: tuple[str, ...] = ()
    diagnostics: ViewDiagnostics = ViewDiagnostics()
    candidates: tuple[Candidate, ...] = ()
    classification: Level = "normal"
    withheld: tuple[Withheld, ...] = ()
    usage: object = None
