"""Floor 9: what the product has to reach on the set `coding`; `eval coding` ends with exit status 1 if it does not.

The bounds are those of the design, not of what was measured. They hold for the ranking `contextual` and for every arm
with vectors; `report` shows them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct

from aforesaid.cli.eval.coding.sessions import LOOKED_UP
from aforesaid.cli.eval.measures import measure

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from aforesaid.cli.eval.measures import Answer

LOOKED_UP_FIRST: Final = 0.98
"""Share of the requests that name an item whose first hit holds it, for each of their kinds."""
PARAPHRASES: Final = 0.6
"""Share of the paraphrases with evidence among the first five hits."""
PARAPHRASES_HYBRID: Final = 0.8
FALSE_INJECTIONS: Final = 0.01
"""Share of the requests that nothing answers, which bring something back all the same, at most."""


class Goal(Struct, frozen=True, kw_only=True):
    """A bound and what an arm reached.

    Attributes:
        arm: whose.
        name: kind of question and metric.
        figure: what was reached.
        bound: the least that is wanted, of false injections the most.
        met: whether it holds.
    """

    arm: str
    name: str
    figure: float
    bound: float
    met: bool


def judge(answers: Mapping[str, Sequence[Answer]]) -> tuple[Goal, ...]:
    """The goals of those arms that have any."""
    return tuple(
        goal
        for arm, found in answers.items()
        if arm == "contextual" or arm.startswith("hybrid:")
        for goal in _goals(arm, found)
    )


def _goals(arm: str, answers: Sequence[Answer]) -> list[Goal]:
    kinds: dict[str, list[Answer]] = {}
    for answer in answers:
        kinds.setdefault(answer.question.kind, []).append(answer)
    goals = [
        _least(arm, f"{kind} hit@1", measure(kinds[kind], {})["hit@1"], LOOKED_UP_FIRST) for kind in sorted(LOOKED_UP)
    ]
    wanted = PARAPHRASES if arm == "contextual" else PARAPHRASES_HYBRID
    goals.append(_least(arm, "paraphrase hit@5", measure(kinds["paraphrase"], {})["hit@5"], wanted))
    false = measure(answers, {})["falseInjections"]
    name = "falseInjections"
    goals.append(Goal(arm=arm, name=name, figure=false, bound=FALSE_INJECTIONS, met=false <= FALSE_INJECTIONS))
    return goals


def _least(arm: str, name: str, figure: float, bound: float) -> Goal:
    return Goal(arm=arm, name=name, figure=figure, bound=bound, met=figure >= bound)
