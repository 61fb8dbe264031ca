"""Floor 9: what an evaluation wants to be reached, and the verdict on it.

The judges of the sets (`gates`, `coding.goals`, `rediscovery.gate`) make goals out of figures; `eval` shows them and
ends with exit status 1 if one is missed. Nothing here knows a bound.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct

from aforesaid.errors import GateMissed

if TYPE_CHECKING:
    from collections.abc import Sequence


class Goal(Struct, frozen=True, kw_only=True):
    """A bound and what an arm reached.

    Attributes:
        arm: whose.
        name: what is measured, where that is not all questions the kind or part of them, and beside which arm.
        figure: what was reached: a fraction, or tokens.
        bound: the least that is wanted; of what costs (false injections, tokens) the most.
        met: whether it holds.
        aim: it is only shown: missing it does not count.
        tokens: whether the figure is a number of tokens.
    """

    arm: str
    name: str
    figure: float
    bound: float
    met: bool
    aim: bool = False
    tokens: bool = False


def at_least(arm: str, name: str, figure: float, bound: float, *, aim: bool = False) -> Goal:
    """A goal that wants much."""
    return Goal(arm=arm, name=name, figure=figure, bound=bound, met=figure >= bound, aim=aim)


def at_most(arm: str, name: str, figure: float, bound: float, *, tokens: bool = False) -> Goal:
    """A goal that wants little."""
    return Goal(arm=arm, name=name, figure=figure, bound=bound, met=figure <= bound, tokens=tokens)


def above_zero(arm: str, name: str, low: float, *, aim: bool = False) -> Goal:
    """A gain that is certain: the low end of its interval lies above 0."""
    return Goal(arm=arm, name=name, figure=low, bound=0.0, met=low > 0, aim=aim)


def missed(goals: Sequence[Goal]) -> list[Goal]:
    """Those that count and do not hold."""
    return [goal for goal in goals if not goal.met and not goal.aim]


def document(goals: Sequence[Goal]) -> list[dict[str, Any]]:
    """The goals for programs."""
    return [
        {
            "arm": goal.arm,
            "name": goal.name,
            "figure": round(goal.figure, 4),
            "bound": round(goal.bound, 4),
            "met": goal.met,
            **({"aim": True} if goal.aim else {}),
        }
        for goal in goals
    ]


def show(goals: Sequence[Goal]) -> None:
    """Prints what had to be reached and what was, or that nothing had to."""
    from aforesaid.cli.terminal import show as lines  # late: only for people
    from aforesaid.cli.terminal import show_table

    lines([""])
    if not goals:
        lines(["No goal was judged: that takes the whole set, an arm that has goals, and what it is compared with."])
        return
    show_table(
        ("goal", "arm", "figure", "bound", ""),
        [(goal.name, goal.arm, _cell(goal, goal.figure), _cell(goal, goal.bound), _verdict(goal)) for goal in goals],
        right=("figure", "bound"),
    )


def conclude(goals: Sequence[Goal]) -> int:
    """The exit status; what is missed is said on standard error."""
    from aforesaid.cli.terminal import fail  # late: only at the end

    lost = missed(goals)
    if not lost:
        return 0
    named = ", ".join(
        f"{goal.arm}: {goal.name} {_cell(goal, goal.figure)} ({_cell(goal, goal.bound)})" for goal in lost
    )
    counted = sum(not goal.aim for goal in goals)
    fail(GateMissed.code, f"{len(lost)} of {counted} goals are missed: {named}")
    return GateMissed.exit_status


def _cell(goal: Goal, figure: float) -> str:
    return f"{figure:,.0f}" if goal.tokens else f"{figure * 100:.2f}"


def _verdict(goal: Goal) -> str:
    if goal.aim:
        return "aim reached" if goal.met else "aim"
    return "met" if goal.met else "MISSED"
