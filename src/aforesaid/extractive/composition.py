"""Floor 5: from the bundles that matter to a view within its bytes.

`engine` hands in what `survey.look` found. Bundles are taken one after another, each time the one that adds most: its
own score less what it repeats of those before it (maximal marginal relevance, Carbonell and Goldstein 1998). The work
is bounded by the square of the pool. Claims that contradict each other stay side by side: nothing here reads meaning.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from aforesaid import lineage
from aforesaid.extractive.ranges import Node, split
from aforesaid.extractive.sheet import DEEPEST, Range, Sheet
from aforesaid.extractive.survey import REDUNDANCY, SALIENCE, Reader
from aforesaid.extractive.values import ADDENDS, HistoryView, ViewDiagnostics
from aforesaid.extractive.vectors import overlap
from aforesaid.privacy.markers import highest
from aforesaid.tokens import estimate

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from aforesaid.extractive.gate import BundleGate
    from aforesaid.extractive.shelf import Shelf
    from aforesaid.extractive.survey import Survey
    from aforesaid.extractive.values import Candidate, Exchange, Fate, Quoted, ViewOptions
    from aforesaid.model import Level, Withheld
    from aforesaid.ports import Snapshot

_SALIENCE: Final = ADDENDS.index("salience")
_REDUNDANCY: Final = ADDENDS.index("redundancy")


def compose(
    snapshot: Snapshot,
    shelf: Shelf,
    survey: Survey,
    options: ViewOptions,
    *,
    carried: frozenset[str] = frozenset(),
    salience: Mapping[bytes, float] | None = None,
    selection: str = "deterministic",
    gate: BundleGate | None = None,
) -> HistoryView:
    """The view of what a survey found.

    Args:
        snapshot: the same moment of the session.
        shelf: as for the survey.
        survey: what was found.
        options: limits.
        carried: ids of entries that reach the model as evidence in the same call; they are left out.
        salience: what a classifier said of bundles, by their keys: a probability each.
        selection: how they were selected; stands in the view.
        gate: the privacy policy; None: there is none.

    Raises:
        PrivacyFailed: the policy could not be applied.
    """
    total = len(survey.exchanges)
    base = ViewDiagnostics(
        selection=selection, total=total, omitted=total, pool=len(survey.candidates), coverage=survey.coverage,
        warnings=survey.warnings,
    )  # fmt: skip
    if survey.silent:
        return HistoryView(diagnostics=replace(base, status="no-query", reason="no-query"))
    if not total:
        return HistoryView(diagnostics=replace(base, reason="nothing-lost"))
    maker = _Maker(snapshot, survey, options, carried, gate)
    candidates = tuple(
        _add(candidate, _SALIENCE, (salience or {}).get(candidate.key)) for candidate in survey.candidates
    )
    codes = [selection] if survey.coverage.complete else [selection, "incomplete-index"]
    sheet = Sheet(
        snapshot.session.header.session_id,
        total,
        (_ranges(shelf, survey.exchanges, depth) for depth in range(DEEPEST, -1, -1)),
        ";".join(codes if options.saved else [*codes, "unsaved-session"]),
        options.max_bytes,
    )
    decided = maker.fill(sheet, candidates)
    counts = _counts(base, decided, sheet.selected, maker.carried)
    if not any(candidate.relevant and candidate.fate != "in-context" for candidate in decided):
        reason = "carried" if maker.carried else "nothing-relevant"
        return HistoryView(diagnostics=replace(counts, reason=reason), candidates=decided)
    if sheet.hopeless:
        return HistoryView(diagnostics=replace(counts, reason="too-small"), candidates=decided)
    if not any(candidate.fate in {"selected", "too-large", "no-room"} for candidate in decided):
        # All of it is private: that there is something says something already.
        return HistoryView(
            diagnostics=replace(counts, reason="private"), candidates=decided, withheld=tuple(maker.withheld)
        )
    place = maker.place
    text, message = sheet.write(place), sheet.frame(place)
    return HistoryView(
        text=text,
        bytes=len(text.encode("utf-8", "backslashreplace")),
        message=message,
        tokens=estimate(message),
        entry_ids=tuple(source.entry.id for source in sheet.sources(place)),
        diagnostics=counts if sheet.selected else replace(counts, reason="navigation-only"),
        candidates=decided,
        classification=maker.level,
        withheld=tuple(maker.withheld),
    )


class _Maker:
    """Decides about the bundles of one survey."""

    def __init__(
        self, snapshot: Snapshot, survey: Survey, options: ViewOptions, carried: frozenset[str], gate: BundleGate | None
    ) -> None:
        self._survey = survey
        self._read = Reader(snapshot, options)
        self._carried_ids = carried
        self._gate = gate
        self._places = lineage.Places(survey.branch.spans)
        self.carried: set[str] = set()
        self.withheld: list[Withheld] = []
        self.level: Level = "normal"

    def place(self, row: int) -> int:
        """The place of a row on the branch."""
        return self._places.of(row) or 0

    def fill(self, sheet: Sheet, candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
        """Puts bundles into a view. All candidates come back, in the order in which they were decided."""
        open_ones = {one.place: one for one in candidates if one.relevant and one.own}
        left = [one for one in candidates if one.place not in open_ones]
        repeated = dict.fromkeys(open_ones, 0.0)
        worth = {place: one.score for place, one in open_ones.items()}
        decided: list[Candidate] = []
        bags = self._survey.bags
        while open_ones:
            # The order changes only when one is selected, so it is made anew only then.
            for _, place in sorted([(worth[at] - REDUNDANCY * repeated[at], at) for at in open_ones], reverse=True):
                chosen = _add(open_ones.pop(place), _REDUNDANCY, repeated[place] or None, -REDUNDANCY)
                fate, level = self._try(sheet, chosen)
                decided.append(replace(chosen, fate=fate, level=level))
                if fate == "selected":
                    for at in open_ones:
                        repeated[at] = max(repeated[at], overlap(bags[place], bags[at]))
                    break
        left.sort(key=lambda one: (not one.relevant, -one.score, -one.place))
        return (*decided, *left)

    def _bundle(self, candidate: Candidate) -> tuple[Quoted, ...]:
        """The sources of a bundle: what is left of the exchange before it, then its own."""
        before = self._read.sources(self._survey.exchanges[candidate.place].before)
        return (*(source for source in before if source.entry.digest not in self._survey.visible), *candidate.own)

    def _try(self, sheet: Sheet, candidate: Candidate) -> tuple[Fate, Level]:
        """Takes a bundle in if it may go out and fits; one of which evidence carries all that is asked for need not."""
        if sheet.selected and sheet.overflows(candidate.own):
            return "no-room", "normal"
        bundle = self._bundle(candidate)
        kept = tuple(source for source in bundle if source.entry.id not in self._carried_ids)
        self.carried.update(source.entry.id for source in bundle if source.entry.id in self._carried_ids)
        if all(source.entry.id in self._carried_ids for source in candidate.own):
            return "in-context", "normal"
        if sheet.selected and sheet.overflows(kept):
            return "no-room", "normal"
        if not sheet.fits(kept):
            return ("no-room" if sheet.fits_alone(kept) else "too-large"), "normal"
        level: Level = "normal"
        if self._gate is not None:
            admission = self._gate.admit(bundle)
            level = admission.level
            if not admission.allowed:
                self.withheld += admission.withheld
                return "private", level
        sheet.add(kept)
        self.level = highest(self.level, level)
        return "selected", level


def _add(candidate: Candidate, addend: int, part: float | None, worth: float = SALIENCE) -> Candidate:
    """A candidate with another addend: a part, 0 to 1, of what it is worth at most."""
    if part is None:
        return candidate
    addends = list(candidate.addends)
    addends[addend] = round(worth * part, 4)
    return replace(candidate, addends=tuple(addends))


def _ranges(shelf: Shelf, exchanges: Sequence[Exchange], depth: int) -> tuple[Range, ...]:
    """The ranges of the index at a depth."""
    return tuple(
        Range(
            shelf.id_of(exchanges[node.start].rows[0]),
            shelf.id_of(exchanges[node.end - 1].rows[-1]),
            shelf.count(node.start, node.end),
        )
        for node in split(Node(start=0, end=len(exchanges)), depth)
    )


def _counts(base: ViewDiagnostics, decided: Sequence[Candidate], selected: int, carried: set[str]) -> ViewDiagnostics:
    def count(fate: Fate) -> int:
        return sum(candidate.fate == fate for candidate in decided)

    return replace(
        base,
        selected=selected,
        omitted=base.total - selected,
        relevant=sum(candidate.relevant for candidate in decided),
        in_context=count("in-context"),
        private=count("private"),
        too_large=count("too-large"),
        no_room=count("no-room"),
        carried=len(carried),
    )
