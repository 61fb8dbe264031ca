"""Floor 9: what answers at prompts of the rediscovery set are worth.

Whether an item is in an excerpt is tested as the set's own scorer tests it: without escapes, blanks as one, in any
case, and not inside a longer word. What is asked of one transcript hangs together, so intervals are bootstrapped over
transcripts.
"""

from __future__ import annotations

from math import ceil, nan
from random import Random
from statistics import median
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from aforesaid.cli.eval.rediscovery.labels import Prompt
    from aforesaid.cli.eval.rediscovery.replay import Answer

RESAMPLES: Final = 2000
CONFIDENCE: Final = 0.9
METRICS: Final = ("coverage", "early", "hit@1", "hit@5", "hit@12")
PARTS: Final[dict[str, Callable[[Prompt], bool]]] = {
    "real": lambda prompt: not prompt.simulated,
    "prompts": lambda prompt: not prompt.simulated and not prompt.automatic,
    "automatic": lambda prompt: not prompt.simulated and prompt.automatic,
    "simulated": lambda prompt: prompt.simulated,
}
"""Parts of the set: after real compactions, of those where the user spoke and where the agent went on by itself, and
after simulated ones. Real and simulated ones are never averaged together."""

Scores = dict[str, float]


def contains(text: str, item: str) -> bool:
    """Whether a text in plain form holds an item, but not inside a longer word or name."""
    start = text.find(item)
    while start >= 0:
        end = start + len(item)
        before, after = text[start - 1 : start] if start else "", text[end : end + 1]
        if not (_joins(item[0]) and (_joins(before) or before == "-")) and not (_joins(item[-1]) and _joins(after)):
            return True
        start = text.find(item, start + 1)
    return False


def _joins(character: str) -> bool:
    return character.isalnum() or character == "_"


def plain(text: str) -> str:
    """The form in which items are looked for: lower case, no escapes of quotes, line ends and tabs, single blanks."""
    return " ".join(text.replace('\\"', '"').replace("\\n", " ").replace("\\t", " ").split()).lower()


def score(answer: Answer) -> Scores:
    """The metrics of one answer to a prompt with needs; `early` is missing where nothing was needed early."""
    text = "\n".join(plain(excerpt.text) for excerpt in answer.excerpts)
    found = [(need, contains(text, need.item.lower())) for need in answer.prompt.needs]
    early = [holds for need, holds in found if need.early]
    scores = {"coverage": sum(holds for _, holds in found) / len(found)}
    if early:
        scores["early"] = sum(early) / len(early)
    for depth in (1, 5, 12):
        scores[f"hit@{depth}"] = float(any(excerpt.names & answer.prompt.gold for excerpt in answer.excerpts[:depth]))
    return scores


def measure(answers: Sequence[Answer]) -> dict[str, tuple[float, float, float]]:
    """Mean and interval of each metric over answers to prompts with needs."""
    rows = [(answer.prompt.file, score(answer)) for answer in answers]
    return {metric: mean for metric in METRICS if (mean := _mean([(f, s[metric]) for f, s in rows if metric in s]))}


def compare(answers: Sequence[Answer], others: Sequence[Answer]) -> dict[str, tuple[float, float, float]]:
    """Mean and interval of the paired differences of each metric to another arm's answers at the same prompts."""
    rows = [(answer.prompt.file, score(answer), score(other)) for answer, other in zip(answers, others, strict=True)]
    return {
        metric: mean
        for metric in METRICS
        if (mean := _mean([(f, mine[metric] - its[metric]) for f, mine, its in rows if metric in mine]))
    }


def _mean(values: Sequence[tuple[str, float]]) -> tuple[float, float, float] | None:
    """The mean of values, and the interval of it over their transcripts at `CONFIDENCE`; the same at each run."""
    if not values:
        return None
    groups: dict[str, list[float]] = {}
    for file, value in values:
        groups.setdefault(file, []).append(value)
    sums = [(sum(groups[file]), len(groups[file])) for file in sorted(groups)]
    random = Random(len(values))  # noqa: S311 - a sample that repeats is what is wanted
    means = []
    for _ in range(RESAMPLES):
        picked = random.choices(sums, k=len(sums))
        means.append(sum(total for total, _ in picked) / sum(count for _, count in picked))
    means.sort()
    tail = (1 - CONFIDENCE) / 2
    whole = sum(value for _, value in values) / len(values)
    return whole, means[int(tail * RESAMPLES)], means[int((1 - tail) * RESAMPLES) - 1]


def tokens_added(answers: Sequence[Answer]) -> tuple[float, float]:
    """Median and 90th percentile of the tokens that answers cost; nan without any."""
    costs = sorted(sum(excerpt.tokens for excerpt in answer.excerpts) for answer in answers)
    return (median(costs), float(costs[ceil(0.9 * len(costs)) - 1])) if costs else (nan, nan)


def irrelevant_tokens(answers: Sequence[Answer]) -> float:
    """Mean tokens of excerpts whose entry holds nothing that was needed."""
    return _average(
        sum(excerpt.tokens for excerpt in answer.excerpts if not excerpt.names & answer.prompt.gold)
        for answer in answers
    )


def milliseconds(answers: Sequence[Answer]) -> float:
    """Mean time of an answer."""
    return _average(answer.ms for answer in answers)


def _average(values: Iterable[float]) -> float:
    listed = list(values)
    return sum(listed) / len(listed) if listed else 0.0
