"""Floor 9: what the product has to reach on the rediscovery set; a miss ends `eval rediscovery` with exit status 1.

Two things count, for contextual ranking, with vectors or without, in each query mode: silence, that is, the tokens that
are added where nothing was needed, beside those of `fts5` in the same run; and a certain gain in coverage over `bm25`
with the same query after real compactions. What the design aims at besides is shown and does not count.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from aforesaid.cli.eval.coding.goals import HYBRID, LEXICAL
from aforesaid.cli.eval.goals import Goal, above_zero, at_least, at_most
from aforesaid.cli.eval.rediscovery import scores
from aforesaid.cli.eval.rediscovery.report import BASELINE, SAME_QUERY, of_part, silent

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from aforesaid.cli.eval.rediscovery.replay import Answer

WORKING: Final = ":working"
SHARES: Final = {"": (1 / 3, "a third"), WORKING: (1 / 2, "half")}
"""Of the tokens of `fts5`, what may be added where nothing is needed, by the end of the arm's name."""
GAIN: Final = "coverage"
AIMS: Final[dict[str, dict[str, dict[str, float]]]] = {
    "": {"real": {"coverage": 0.20, "hit@5": 0.25, "hit@12": 0.42}, "simulated": {"coverage": 0.55, "hit@12": 0.75}},
    WORKING: {
        "real": {"coverage": 0.30, "hit@5": 0.40, "hit@12": 0.55},
        "simulated": {"coverage": 0.60, "hit@12": 0.78},
    },
}
"""Where the design aims, by the end of the arm's name, part and metric."""


def judge(answers: Mapping[str, Sequence[Answer]]) -> tuple[Goal, ...]:
    """The goals of those arms that have any; each needs the arm that it is compared with in the same run."""
    goals: list[Goal] = []
    for arm, found in answers.items():
        mode = WORKING if arm.endswith(WORKING) else ""
        if arm.removesuffix(WORKING) != LEXICAL and not arm.startswith(HYBRID):
            continue
        if BASELINE in answers:
            goals += _silence(arm, mode, found, answers[BASELINE])
        same = f"{SAME_QUERY}{mode}"
        if same in answers:
            goals += _gains(arm, same, found, answers[same])
        for part, aims in AIMS[mode].items():
            figures = scores.measure(of_part(found, part))
            named = [(metric, aim) for metric, aim in aims.items() if metric in figures]
            goals += (at_least(arm, f"{part} {metric}", figures[metric][0], aim, aim=True) for metric, aim in named)
    return tuple(goals)


def _silence(arm: str, mode: str, found: Sequence[Answer], plain: Sequence[Answer]) -> list[Goal]:
    quiet = silent(found)
    if not quiet:
        return []
    share, name = SHARES[mode]
    return [
        at_most(arm, f"{metric}, {name} of {BASELINE}", own, share * other, tokens=True)
        for metric, own, other in zip(
            ("tokensWithoutNeed", "tokensWithoutNeed90"),
            scores.tokens_added(quiet),
            scores.tokens_added(silent(plain)),
            strict=True,
        )
    ]


def _gains(arm: str, same: str, found: Sequence[Answer], plain: Sequence[Answer]) -> list[Goal]:
    goals: list[Goal] = []
    for part in ("real", "simulated"):
        difference = scores.compare(of_part(found, part), of_part(plain, part)).get(GAIN)
        if difference is not None:
            name = f"{part} {GAIN} above {same}, low end of the interval"
            goals.append(above_zero(arm, name, difference[1], aim=part != "real"))
    return goals
