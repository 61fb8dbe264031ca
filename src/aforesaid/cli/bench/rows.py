"""Floor 9: what one line of a benchmark says, and how a figure is measured beside its floor.

Every bound is a ratio to a floor that was measured in the same rounds, because times of one machine mean little on
another. The rule for noise: a row that misses its bound is measured again, up to `ATTEMPTS` times in all, and its best
attempt counts; `-v` prints them all.
"""

from __future__ import annotations

import gc
from contextlib import contextmanager
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

ATTEMPTS: Final = 3


class Attempt(NamedTuple):
    """One measurement: what the product needed, and what its floor needed, in the unit of the row."""

    figure: float
    floor: float | None = None
    note: str = ""


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """A bound: the figure may be at most `times` the floor plus `plus`; without a floor, `plus`.

    Attributes:
        name: of the row.
        unit: of figure and floor.
        times: of the floor.
        plus: in the unit of the row.
    """

    name: str
    unit: str
    times: float = 0.0
    plus: float = 0.0

    @property
    def plain(self) -> bool:
        """Whether the bound is a ratio and nothing else."""
        return self.times > 0 and self.plus == 0

    @property
    def rule(self) -> str:
        """The bound in words where it is neither a ratio nor a figure."""
        return f"bound: {self.times:g} x floor + {self.plus:g} {self.unit}" if self.times and self.plus else ""

    def allowed(self, attempt: Attempt) -> float:
        """The largest figure that meets the bound."""
        return self.times * (attempt.floor or 0.0) + self.plus

    def excess(self, attempt: Attempt) -> float:
        """How much of the allowed figure an attempt takes; above 1 it misses."""
        allowed = self.allowed(attempt)
        if allowed > 0:
            return attempt.figure / allowed
        return float("inf") if attempt.figure > allowed else 1.0


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """A target with what was measured for it.

    Attributes:
        name: what was measured.
        figure, floor: the product and the bare minimum, in `unit`; None where there is none.
        ratio: of the two.
        bound: the largest ratio that is allowed where the bound is a plain ratio, else the largest figure.
        met: whether the figure is within the bound; None where the row could not be measured.
        unit: of figure and floor.
        note: what else is worth knowing.
        limits_ratio: which of the two `bound` limits.
        attempts: all measurements, the counting one among them.
    """

    name: str
    figure: float | None
    floor: float | None
    ratio: float | None
    bound: float | None
    met: bool | None
    unit: str
    note: str
    limits_ratio: bool
    attempts: tuple[Attempt, ...] = ()


def judge(target: Target, measure: Callable[[], Attempt], *, tries: int = ATTEMPTS) -> Row:
    """Measures until the bound is met, at most `tries` times, and takes the best attempt.

    What is no time, and so the same each time, is measured once.
    """
    attempts: list[Attempt] = []
    while len(attempts) < tries:
        attempts.append(measure())
        if target.excess(attempts[-1]) <= 1:
            break
    best = min(attempts, key=target.excess)
    again = f"best of {len(attempts)} attempts" if len(attempts) > 1 else ""
    return Row(
        name=target.name,
        figure=best.figure,
        floor=best.floor,
        ratio=best.figure / best.floor if best.floor else None,
        bound=target.times if target.plain else target.allowed(best),
        met=target.excess(best) <= 1,
        unit=target.unit,
        note="; ".join(part for part in (best.note, target.rule, again) if part),
        limits_ratio=target.plain,
        attempts=tuple(attempts),
    )


def unmeasured(target: Target, reason: str) -> Row:
    """A row that could not be measured here, and why."""
    return Row(
        name=target.name,
        figure=None,
        floor=None,
        ratio=None,
        bound=target.times if target.plain else target.plus,
        met=None,
        unit=target.unit,
        note=reason,
        limits_ratio=target.plain,
    )


@contextmanager
def steady() -> Iterator[None]:
    """Keeps the benchmark's own objects out of the garbage collections that the product may cause."""
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def clock(action: Callable[[], object]) -> float:
    """Milliseconds that an action takes, what it returns included."""
    start = perf_counter()
    action()
    return (perf_counter() - start) * 1000


def interleave(
    figures: Sequence[Callable[[], object]], floors: Sequence[Callable[[], object]], rounds: int
) -> tuple[list[float], list[float]]:
    """Times pairs of actions in turns, so that both see the same moments of a noisy machine.

    Args:
        figures: what the product does, an action a case.
        floors: what the floor does for the same cases.
        rounds: how often all of them run; which of a pair goes first alternates.

    Returns:
        For each case the median over the rounds in milliseconds, the product's and the floor's.
    """
    times: list[tuple[list[float], list[float]]] = [([], []) for _ in figures]
    with steady():
        for turn in range(rounds):
            for case, (figure, floor) in enumerate(zip(figures, floors, strict=True)):
                pair = ((figure, times[case][0]), (floor, times[case][1]))
                for action, taken in pair if (turn + case) % 2 else reversed(pair):
                    taken.append(clock(action))
    return [median(figure) for figure, _ in times], [median(floor) for _, floor in times]


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least this share of the values do not exceed."""
    ordered = sorted(values)
    return ordered[max(0, -int(-share * len(ordered) // 1) - 1)]
