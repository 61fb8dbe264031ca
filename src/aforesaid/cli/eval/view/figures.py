"""Floor 9: the figures of an evaluation of views, as a document and as a table, and the gate."""

from __future__ import annotations

from statistics import fmean, median
from typing import TYPE_CHECKING, Any, Final

from aforesaid.cli.eval.view.fillings import CEILING, SIZES, WORKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aforesaid.cli.eval.view.fillings import Found

SCHEMA: Final = "aforesaid.eval-view/1"
VIEW: Final = "view"
VIEW_WORKING: Final = VIEW + WORKING
PLAIN: Final = {
    VIEW: ("newest", "tfidf", "sampled"),
    VIEW_WORKING: ("newest", "tfidf", f"tfidf{WORKING}", f"sampled{WORKING}"),
}
"""The plain ways that each way of the product has to be above over all questions, asked with no less than they are."""
IN_EACH: Final = PLAIN[VIEW_WORKING][:-1]
"""Those that it has to be above in each set too. Where all that was lost fits into the pool, sampling changes nothing,
so there it only must not be below the sampled pool."""


def measure(found: Found, way: str) -> dict[str, float]:
    """The metrics of a way: the mean share of what is needed, its part of what is possible, bytes, milliseconds."""
    figures: dict[str, float] = {}
    for size in SIZES:
        filled, best = found[way][size], found[CEILING][size]
        share = fmean(one.share for one in filled) if filled else 0.0
        ceiling = fmean(one.share for one in best) if best else 0.0
        figures[f"evidence@{size}"] = share
        figures[f"ceiling@{size}"] = ceiling
        figures[f"ofCeiling@{size}"] = share / ceiling if ceiling else 0.0
        figures[f"bytes@{size}"] = fmean(one.bytes for one in filled) if filled else 0.0
    figures["msPerQuery"] = median(one.ms for one in found[way][SIZES[0]]) if found[way][SIZES[0]] else 0.0
    return figures


def together(answers: Mapping[str, Found]) -> Found:
    """The answers of all sets as those of one."""
    joined: Found = {}
    for found in answers.values():
        for way, sizes in found.items():
            for size, filled in sizes.items():
                joined.setdefault(way, {}).setdefault(size, []).extend(filled)
    return joined


def missed(answers: Mapping[str, Found]) -> list[str]:
    """What a view is not above, by its part of the ceiling at the size judged: over all questions, and in each set."""
    everything = together(answers)
    told = [
        f"{own} is not above {way}"
        for own, plain in PLAIN.items()
        for way in plain
        if not _is_above(everything, own, way)
    ]
    if len(answers) < 2:
        return told
    for name, found in answers.items():
        told += [
            f"{VIEW_WORKING} is not above {way} in {name}" for way in IN_EACH if not _is_above(found, VIEW_WORKING, way)
        ]
        (sampled,) = set(PLAIN[VIEW_WORKING]).difference(IN_EACH)
        if not _is_above(found, VIEW_WORKING, sampled, equal=True):
            told.append(f"{VIEW_WORKING} is below {sampled} in {name}")
    return told


def _is_above(found: Found, own: str, other: str, *, equal: bool = False) -> bool:
    """Whether a way is above another one, or beside it; so it is if either was not asked."""
    if own not in found or other not in found:
        return True
    judged = f"ofCeiling@{SIZES[0]}"
    first, second = measure(found, own)[judged], measure(found, other)[judged]
    return first > second or (equal and first == second)


def document(data: str, answers: Mapping[str, Found]) -> dict[str, Any]:
    """The JSON document: figures over all questions, and of each set where there are two."""
    return {
        "schema": SCHEMA,
        "data": data,
        "questions": len(together(answers)[CEILING][SIZES[0]]),
        "arms": _arms(together(answers)),
        **({"sets": {name: _arms(found) for name, found in answers.items()}} if len(answers) > 1 else {}),
    }


def _arms(found: Found) -> dict[str, dict[str, float]]:
    return {
        way: {name: round(figure, 4) for name, figure in measure(found, way).items()} for way in found if way != CEILING
    }


def show(answers: Mapping[str, Found]) -> None:
    """Prints a row a way for each set; shares in percent."""
    from aforesaid.cli.terminal import show as lines  # late: only for people
    from aforesaid.cli.terminal import show_table

    tables = {**answers, "all": together(answers)} if len(answers) > 1 else answers
    columns = [name for size in SIZES for name in (f"{size:,} bytes", "of ceiling", "used")]
    for set_, found in tables.items():
        lines([f"view, {set_}: {len(found[CEILING][SIZES[0]])} questions; needed evidence in whole bundles", ""])
        show_table(("arm", *columns, "ms"), [_row(found, way) for way in found], right=(*columns, "ms"))
        lines([""])


def _row(found: Found, way: str) -> tuple[str, ...]:
    figures = measure(found, way)
    cells = [
        cell
        for size in SIZES
        for cell in (
            f"{figures[f'evidence@{size}'] * 100:.1f}",
            f"{figures[f'ofCeiling@{size}'] * 100:.1f}",
            f"{figures[f'bytes@{size}']:,.0f}",
        )
    ]
    return (way, *cells, f"{figures['msPerQuery']:,.1f}")
