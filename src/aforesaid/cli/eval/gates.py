"""Floor 9: what the product has to reach on `beam` and `locomo`; a miss ends `eval` with exit status 1.

The bounds hold for any part of the sets: the figures are those that the design asks of parts which nobody tuned on, and
the differences are paired with what other arms answered in the same run. `report` shows them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from aforesaid.cli.eval.coding.goals import HYBRID, LEXICAL, LOSS
from aforesaid.cli.eval.goals import Goal
from aforesaid.cli.eval.measures import differences, measure

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from aforesaid.cli.eval.measures import Answer

GAIN: Final = 0.12
"""Recall@10 above that of plain FTS5, at least."""
BOUNDS: Final[dict[str, dict[str, float]]] = {
    "beam": {"recall@10": 0.47},
    "locomo": {"recall@10": 0.67, "sessionHit@1": 0.70, "sessionHit@5": 0.91},
}
"""What `contextual` has to reach."""
_RECALL: Final = "recall@10"
_PLAIN: Final = "fts5"


def judge(name: str, answers: Mapping[str, Sequence[Answer]], sessions: dict[tuple[str, str], str]) -> tuple[Goal, ...]:
    """The goals of those arms that have any.

    Args:
        name: of the set.
        answers: by arm.
        sessions: the session of each (conversation, turn).
    """
    goals: list[Goal] = []
    if not any(answer.question.evidence for found in answers.values() for answer in found):
        return ()
    if LEXICAL in answers:
        figures = measure(answers[LEXICAL], sessions)
        bounds = [(metric, bound) for metric, bound in BOUNDS[name].items() if metric in figures]
        goals += [_goal(LEXICAL, metric, figures[metric], bound) for metric, bound in bounds]
    for arm, found in answers.items():
        hybrid = arm.startswith(HYBRID)
        if _PLAIN in answers and (hybrid or arm == LEXICAL):
            gain = differences(found, answers[_PLAIN], _RECALL)[0]
            goals.append(_goal(arm, f"{_RECALL} above {_PLAIN}", gain, GAIN))
        if LEXICAL in answers and hybrid:
            change = differences(found, answers[LEXICAL], _RECALL)[0]
            goals.append(_goal(arm, f"{_RECALL} beside {LEXICAL}", change, LOSS))
    return tuple(goals)


def _goal(arm: str, name: str, figure: float, bound: float) -> Goal:
    return Goal(arm=arm, name=name, figure=figure, bound=bound, met=figure >= bound)
