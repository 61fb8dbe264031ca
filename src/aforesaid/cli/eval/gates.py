"""Floor 9: what the product has to reach on `beam` and `locomo`; a miss ends `eval` with exit status 1.

The design has two sets of goals: for the development parts, on which weights were chosen, and lower ones for any other
part. Which part is asked is told by what is asked: the digest of all questions. Differences are paired with what other
arms answered in the same run. `report` shows the goals.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Final, Literal

from msgspec import Struct

from aforesaid.cli.eval.coding.goals import HYBRID, LEXICAL, LOSS
from aforesaid.cli.eval.goals import at_least
from aforesaid.cli.eval.measures import differences, measure
from aforesaid.embedders import TRANSFORMER

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from aforesaid.cli.eval.goals import Goal
    from aforesaid.cli.eval.measures import Answer
    from aforesaid.cli.eval.questions import EvalSet

    Figures = Mapping[str, float]

Part = Literal["development", "held-out"]

GAIN: Final = 0.12
"""Recall@10 above that of plain FTS5, at least."""
BEST: Final = f"{HYBRID}{TRANSFORMER}"
"""The arm with vectors that has to reach the goals of hybrid retrieval: the model of the extra `semantic`. They are
shown beside the figures of other models too, and do not count there."""
BARE: Final = "contextual-bare"
OPEN: Final = "contextual-open"
OPEN_HYBRID: Final = "hybrid-open:"
DEVELOPMENT: Final = {
    "beam": "2e5d44a2e647da89b224b4122df6f2ae34167dd6a5e7ed4c0808cc6684312e76",
    "locomo": "40e1280f315cb18e36adf52d24a061324fb96ecdb8133a7282616e36cf6e6b24",
}
"""Digests of the questions of the development parts."""


class Bounds(Struct, frozen=True, kw_only=True):
    """What is wanted of a part of a set, each by metric.

    Attributes:
        lexical: of `contextual`.
        hybrid: of the arms with vectors.
        bare: of `contextual-bare`.
        open: of `contextual-open`, only shown.
        open_hybrid: of the arms with vectors without the match rule, only shown.
    """

    lexical: Figures
    hybrid: Figures
    bare: Figures
    open: Figures
    open_hybrid: Figures


_RECALL: Final = "recall@10"
BOUNDS: Final[dict[tuple[str, Part], Bounds]] = {
    ("beam", "development"): Bounds(
        lexical={_RECALL: 0.56, "mrr": 0.53},
        hybrid={_RECALL: 0.59, "mrr": 0.56},
        bare={_RECALL: 0.43},
        open={_RECALL: 0.58},
        open_hybrid={_RECALL: 0.63},
    ),
    ("beam", "held-out"): Bounds(
        lexical={_RECALL: 0.47}, hybrid={_RECALL: 0.50}, bare={_RECALL: 0.43}, open={}, open_hybrid={}
    ),
    ("locomo", "development"): Bounds(
        lexical={_RECALL: 0.70, "mrr": 0.54, "sessionHit@1": 0.70, "sessionHit@5": 0.91},
        hybrid={_RECALL: 0.74, "mrr": 0.55, "sessionHit@1": 0.72, "sessionHit@5": 0.92},
        bare={_RECALL: 0.63},
        open={_RECALL: 0.74},
        open_hybrid={_RECALL: 0.77},
    ),
    ("locomo", "held-out"): Bounds(
        lexical={_RECALL: 0.67, "sessionHit@1": 0.71, "sessionHit@5": 0.91},
        hybrid={_RECALL: 0.71},
        bare={_RECALL: 0.63},
        open={},
        open_hybrid={},
    ),
}
_PLAIN: Final = "fts5"


def part_of(questions: EvalSet) -> Part:
    """Which part of a public set is asked: the one that is known, or any other."""
    asked = json.dumps([[one.conversation, one.text] for one in questions.questions])
    digest = hashlib.sha256(asked.encode()).hexdigest()
    return "development" if DEVELOPMENT[questions.name] == digest else "held-out"


def judge(
    name: str, part: Part, answers: Mapping[str, Sequence[Answer]], sessions: dict[tuple[str, str], str]
) -> tuple[Goal, ...]:
    """The goals of those arms that have any.

    Args:
        name: of the set.
        part: of the set.
        answers: by arm.
        sessions: the session of each (conversation, turn).
    """
    goals: list[Goal] = []
    if not any(answer.question.evidence for found in answers.values() for answer in found):
        return ()
    for arm, found in answers.items():
        wanted, aim = _wanted(arm, BOUNDS[name, part])
        if wanted:
            figures = measure(found, sessions)
            bounds = [(metric, bound) for metric, bound in wanted.items() if metric in figures]
            goals += (at_least(arm, metric, figures[metric], bound, aim=aim) for metric, bound in bounds)
        hybrid = arm.startswith(HYBRID)
        if _PLAIN in answers and (hybrid or arm == LEXICAL):
            gain = differences(found, answers[_PLAIN], _RECALL)[0]
            goals.append(at_least(arm, f"{_RECALL} above {_PLAIN}", gain, GAIN))
        if LEXICAL in answers and hybrid:
            change = differences(found, answers[LEXICAL], _RECALL)[0]
            goals.append(at_least(arm, f"{_RECALL} beside {LEXICAL}", change, LOSS))
    return tuple(goals)


def _wanted(arm: str, bounds: Bounds) -> tuple[Figures, bool]:
    """What an arm should reach, and whether that is only shown."""
    if arm.startswith(HYBRID):
        return bounds.hybrid, arm != BEST
    if arm.startswith(OPEN_HYBRID):
        return bounds.open_hybrid, True
    return {LEXICAL: bounds.lexical, BARE: bounds.bare, OPEN: bounds.open}.get(arm, {}), arm == OPEN
