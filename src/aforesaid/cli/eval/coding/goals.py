"""Floor 9: what the product has to reach on the set `coding`; `eval coding` ends with exit status 1 if it does not.

The bounds are those of the design, not of what was measured. They hold for the ranking `contextual` and for every arm
with vectors; `report` shows them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct

from aforesaid.cli.eval.coding.sessions import LOOKED_UP
from aforesaid.cli.eval.goals import Goal, at_least, at_most
from aforesaid.cli.eval.measures import measure

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from aforesaid.cli.eval.measures import Answer

LOOKED_UP_FIRST: Final = 0.98
"""Share of the requests that name an item whose first hit holds it, for each of their kinds."""
PARAPHRASES: Final = 0.6
"""Share of the paraphrases with evidence among the first five hits."""
PARAPHRASES_HYBRID: Final = 0.8
LOSS: Final = -0.01
"""What vectors may cost in recall, at most."""
LEXICAL: Final = "contextual"
HYBRID: Final = "hybrid:"
EVIDENCE: Final = "recall@12"
"""Recall among all that comes back."""
FALSE_INJECTIONS: Final = 0.01
"""Share of the requests that nothing answers, which bring something back all the same, at most."""


class FourWays(Struct, frozen=True, kw_only=True):
    """The gate of spec 2 for one arm with vectors: recall of evidence among all that came back, and what else did.

    Attributes:
        lexical, hybrid: recall without and with vectors.
        recall: the difference; by vectors more evidence came back if it is above 0.
        tokens: difference of the mean irrelevant tokens.
    """

    lexical: float
    hybrid: float
    recall: float
    tokens: float


def compare(answers: Mapping[str, Sequence[Answer]]) -> dict[str, FourWays]:
    """Each arm with vectors beside `contextual`, if both were asked."""
    if LEXICAL not in answers:
        return {}
    figures = {arm: measure(found, {}) for arm, found in answers.items() if arm == LEXICAL or arm.startswith(HYBRID)}
    plain = figures.pop(LEXICAL)
    return {
        arm: FourWays(
            lexical=plain[EVIDENCE],
            hybrid=own[EVIDENCE],
            recall=own[EVIDENCE] - plain[EVIDENCE],
            tokens=own["irrelevantTokens"] - plain["irrelevantTokens"],
        )
        for arm, own in figures.items()
    }


def judge(answers: Mapping[str, Sequence[Answer]]) -> tuple[Goal, ...]:
    """The goals of those arms that have any."""
    beside = compare(answers)
    goals: list[Goal] = []
    for arm, found in answers.items():
        if arm == LEXICAL or arm.startswith(HYBRID):
            goals += _goals(arm, found)
        if arm in beside:
            goals.append(at_least(arm, f"{EVIDENCE} beside {LEXICAL}", beside[arm].recall, LOSS))
    return tuple(goals)


def _goals(arm: str, answers: Sequence[Answer]) -> list[Goal]:
    kinds: dict[str, list[Answer]] = {}
    for answer in answers:
        kinds.setdefault(answer.question.kind, []).append(answer)
    goals = [
        at_least(arm, f"{kind} hit@1", measure(kinds[kind], {})["hit@1"], LOOKED_UP_FIRST) for kind in sorted(LOOKED_UP)
    ]
    wanted = PARAPHRASES if arm == LEXICAL else PARAPHRASES_HYBRID
    goals.append(at_least(arm, "paraphrase hit@5", measure(kinds["paraphrase"], {})["hit@5"], wanted))
    false = measure(answers, {})["falseInjections"]
    goals.append(at_most(arm, "falseInjections", false, FALSE_INJECTIONS))
    return goals
