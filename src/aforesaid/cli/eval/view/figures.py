"""Floor 9: the figures of an evaluation of views, as a document and as a table, and the gate."""

from __future__ import annotations

from statistics import fmean, median
from typing import TYPE_CHECKING, Any, Final

from aforesaid.cli.eval.view.fillings import CEILING, LATEST, SIZES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aforesaid.cli.eval.view.fillings import Found

SCHEMA: Final = "aforesaid.eval-view/1"
VIEW: Final = "view"
PLAIN: Final = ("newest", "tfidf", f"tfidf{LATEST}")
"""Plain ways that the product has to be above in each set, and over all questions."""
SAMPLED: Final = ("sampled", f"sampled{LATEST}")
"""So with these, but a tie will do where the pool holds all that was lost at each question: nothing is sampled."""


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
    """What the view is not above, by its part of the ceiling at the size judged, over all questions and in each set."""
    judged = {"": together(answers), **(answers if len(answers) > 1 else {})}
    return [
        f"{VIEW} is not above {way}{name and f' in {name}'}"
        for name, found in judged.items()
        for way in (*PLAIN, *SAMPLED)
        if not _is_above(found, way)
    ]


def _is_above(found: Found, way: str) -> bool:
    """Whether the view is above a way, or beside it where that will do; so it is if either was not asked."""
    if VIEW not in found or way not in found:
        return True
    judged = f"ofCeiling@{SIZES[0]}"
    own, other = measure(found, VIEW)[judged], measure(found, way)[judged]
    return own > other or (own == other and way in SAMPLED and all(one.pooled for one in found[way][SIZES[0]]))


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
