"""Floor 9: what an arm's answers are worth: hits, recall, reciprocal rank, and how sure that is.

`arms` hands in one `Answer` a question; `report` shows the figures. All are fractions, but for tokens and milliseconds.
"""

from __future__ import annotations

from math import nan
from random import Random
from typing import TYPE_CHECKING, Final

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from aforesaid.cli.eval.questions import Question

RESAMPLES: Final = 1000
"""Bootstrap samples of an interval."""
CONFIDENCE: Final = 0.9


class Answer(Struct, frozen=True, kw_only=True):
    """What an arm brought back for one question.

    Attributes:
        question: what was asked.
        ids: turns, best first.
        sessions: the session of each turn, or empty texts.
        tokens: estimated tokens of each turn's evidence.
        ms: time that it took.
    """

    question: Question
    ids: tuple[str, ...]
    sessions: tuple[str, ...]
    tokens: tuple[int, ...]
    ms: float


def measure(answers: Sequence[Answer], sessions: dict[tuple[str, str], str]) -> dict[str, float]:
    """The metrics of an arm.

    Args:
        answers: one a question.
        sessions: the session of each (conversation, turn).
    """
    labelled = [answer for answer in answers if answer.question.evidence]
    unlabelled = [answer for answer in answers if not answer.question.evidence]
    figures = {name: _mean([metric(answer) for answer in labelled]) for name, metric in METRICS.items()}
    if any(sessions.values()):
        for depth in (1, 5):
            figures[f"sessionHit@{depth}"] = _mean([_session_hit(answer, sessions, depth) for answer in labelled])
    figures["irrelevantTokens"] = _mean([_irrelevant(answer) for answer in answers])
    figures["falseInjections"] = _mean([float(bool(answer.ids)) for answer in unlabelled])
    figures["msPerQuery"] = _mean([answer.ms for answer in answers])
    return {name: figure for name, figure in figures.items() if figure == figure}  # noqa: PLR0124 - leaves nan out


def kinds(answers: Sequence[Answer]) -> dict[str, dict[str, float]]:
    """The metrics of an arm by kind of question, in the order of the set; times are only worth their mean over all."""
    found: dict[str, list[Answer]] = {}
    for answer in answers:
        found.setdefault(answer.question.kind, []).append(answer)
    result: dict[str, dict[str, float]] = {}
    for kind, some in found.items():
        figures = measure(some, {})
        del figures["msPerQuery"]
        result[kind] = {"questions": len(some), **figures}
    return result


def intervals(answers: Sequence[Answer]) -> dict[str, tuple[float, float]]:
    """Bootstrap intervals of the metrics over questions, at `CONFIDENCE`; the same at each run."""
    labelled = [answer for answer in answers if answer.question.evidence]
    found: dict[str, tuple[float, float]] = {}
    for name, metric in METRICS.items():
        values = [metric(answer) for answer in labelled]
        if values:
            found[name] = _bootstrap(values)
    return found


def differences(answers: Sequence[Answer], others: Sequence[Answer], name: str) -> tuple[float, float, float]:
    """The paired difference of a metric to another arm's on the same questions, with its interval."""
    metric = METRICS[name]
    values = [
        metric(answer) - metric(other)
        for answer, other in zip(answers, others, strict=True)
        if answer.question.evidence
    ]
    return (_mean(values), *_bootstrap(values))


def _irrelevant(answer: Answer) -> int:
    """Tokens of what was brought back and is no evidence."""
    costs = zip(answer.ids, answer.tokens, strict=True)
    return sum(cost for id_, cost in costs if id_ not in answer.question.evidence)


def _hit(depth: int) -> Callable[[Answer], float]:
    return lambda answer: float(any(id_ in answer.question.evidence for id_ in answer.ids[:depth]))


def _recall(depth: int) -> Callable[[Answer], float]:
    def recall(answer: Answer) -> float:
        wanted = set(answer.question.evidence)
        return len(wanted & set(answer.ids[:depth])) / len(wanted)

    return recall


def _reciprocal_rank(answer: Answer) -> float:
    return next((1 / rank for rank, id_ in enumerate(answer.ids, 1) if id_ in answer.question.evidence), 0.0)


METRICS: Final[dict[str, Callable[[Answer], float]]] = {
    "hit@1": _hit(1),
    "hit@5": _hit(5),
    "hit@10": _hit(10),
    "recall@5": _recall(5),
    "recall@10": _recall(10),
    "recall@12": _recall(12),
    "mrr": _reciprocal_rank,
}
"""What is measured of each question that has evidence."""


def _session_hit(answer: Answer, sessions: dict[tuple[str, str], str], depth: int) -> float:
    """Whether a session with evidence is among the first sessions that were found, each counted once."""
    name = answer.question.conversation
    wanted = {sessions.get((name, id_), "") for id_ in answer.question.evidence}
    return float(bool(wanted & set(list(dict.fromkeys(answer.sessions))[:depth])))


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else nan


def _bootstrap(values: Sequence[float]) -> tuple[float, float]:
    random, count = Random(len(values)), len(values)  # noqa: S311 - a sample that repeats is what is wanted
    means = sorted(sum(random.choices(values, k=count)) / count for _ in range(RESAMPLES))
    tail = (1 - CONFIDENCE) / 2
    return means[int(tail * RESAMPLES)], means[int((1 - tail) * RESAMPLES) - 1]
