"""Floor 9: the figures of an evaluation as a document for programs and as a table for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from aforesaid.cli.eval import goals
from aforesaid.cli.eval.arms import NAMED, PRODUCT
from aforesaid.cli.eval.coding.goals import compare
from aforesaid.cli.eval.measures import differences, intervals, kinds, measure

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from aforesaid.cli.eval.coding.goals import FourWays
    from aforesaid.cli.eval.gates import Part
    from aforesaid.cli.eval.measures import Answer
    from aforesaid.cli.eval.questions import EvalSet

SCHEMA: Final = "aforesaid.eval/1"
_SHOWN: Final = (
    *("hit@1", "hit@5", "recall@10", "mrr", "sessionHit@1", "sessionHit@5"),
    *("irrelevantTokens", "falseInjections", "msPerQuery"),
)
_FRACTIONS: Final = ("irrelevantTokens", "msPerQuery")
"""Metrics that are no fractions."""
_RECALL: Final = "recall@10"
_WIDTH: Final = 50
"""Characters of a whole bar."""


def document(
    questions: EvalSet,
    answers: Mapping[str, Sequence[Answer]],
    judged: Sequence[goals.Goal] = (),
    part: Part | None = None,
) -> dict[str, Any]:
    """The JSON document; `part` is the part of a public set that was asked as a whole."""
    beside = compare(answers)
    return {
        "schema": SCHEMA,
        "set": questions.name,
        "data": questions.data,
        **({"part": part} if part else {}),
        "questions": len(questions.questions),
        "arms": {
            name: {
                **{metric: round(figure, 4) for metric, figure in measure(found, sessions_of(questions)).items()},
                "interval": {metric: [round(end, 4) for end in ends] for metric, ends in intervals(found).items()},
                "kinds": {
                    kind: {metric: round(figure, 4) for metric, figure in figures.items()}
                    for kind, figures in kinds(found).items()
                },
            }
            for name, found in answers.items()
        },
        **({"goals": goals.document(judged)} if judged else {}),
        **({"rules": {arm: _cost(*one) for arm, one in rules_of(answers).items()}} if rules_of(answers) else {}),
        **({"hybrid": {arm: _four_ways(one) for arm, one in beside.items()}} if beside else {}),
    }


def rules_of(answers: Mapping[str, Sequence[Answer]]) -> dict[str, tuple[str, float, float, float]]:
    """What rules cost: of each arm that leaves some out the arm that keeps them, if that was asked too.

    With it the paired difference of recall@10 to that arm, and its interval.
    """
    ways = PRODUCT | NAMED
    beside = {name: way.beside for name in answers if (way := ways.get(name)) is not None}
    return {
        name: (kept, *differences(answers[name], answers[kept], _RECALL))
        for name, kept in beside.items()
        if kept is not None and kept in answers
    }


def _four_ways(one: FourWays) -> dict[str, float]:
    return {
        "lexicalRecall": round(one.lexical, 4),
        "hybridRecall": round(one.hybrid, 4),
        "recallDelta": round(one.recall, 4),
        "irrelevantTokensDelta": round(one.tokens, 4),
    }


def _cost(kept: str, mean: float, low: float, high: float) -> dict[str, Any]:
    return {"beside": kept, "recallDelta": round(mean, 4), "interval": [round(low, 4), round(high, 4)]}


def sessions_of(questions: EvalSet) -> dict[tuple[str, str], str]:
    """The session of each turn, by conversation and turn."""
    return {(one.name, turn.id): turn.session for one in questions.conversations for turn in one.turns}


def show(
    questions: EvalSet,
    answers: Mapping[str, Sequence[Answer]],
    judged: Sequence[goals.Goal] = (),
    part: Part | None = None,
) -> None:
    """Prints a row an arm, percentages where a metric is a fraction, and the differences to plain FTS5."""
    from aforesaid.cli.terminal import show as lines  # late: only for people
    from aforesaid.cli.terminal import show_table

    labelled = sum(bool(question.evidence) for question in questions.questions)
    name = f"{questions.name} ({part} part)" if part else questions.name
    lines([f"{name}: {labelled} questions with evidence, {len(questions.questions) - labelled} without", ""])
    sessions = sessions_of(questions)
    figures = {name: measure(found, sessions) for name, found in answers.items()}
    columns = [metric for metric in _SHOWN if any(metric in row for row in figures.values())]
    show_table(
        ("arm", *columns),
        [(name, *(_cell(row.get(metric), metric) for metric in columns)) for name, row in figures.items()],
        right=tuple(columns),
    )
    _show_bars(answers, lines)
    _show_kinds(answers)
    if "fts5" in answers and len(answers) > 1:
        width = max(map(len, answers))
        lines(["", "recall@10 beside fts5, paired, with 90 % intervals:"])
        for name, found in answers.items():
            if name != "fts5":
                lines([f"  {name:{width}} {_gain(*differences(found, answers['fts5'], _RECALL))}"])
    rules = rules_of(answers)
    if rules:
        width = max(map(len, rules))
        lines(["", "recall@10 of arms that leave out rules, beside those that keep them, paired:"])
        lines([f"  {name:{width}} {_gain(*gain)}  {kept}" for name, (kept, *gain) in rules.items()])
    for name, one in compare(answers).items():
        recalls = f"recall {one.lexical * 100:.1f} and {one.hybrid * 100:.1f} ({one.recall * 100:+.1f})"
        lines(["", f"{name} beside contextual, all that came back: {recalls}, irrelevant tokens {one.tokens:+.1f}"])
    goals.show(judged)


def _gain(mean: float, low: float, high: float) -> str:
    return f"{mean * 100:+.1f}  ({low * 100:+.1f} to {high * 100:+.1f})"


def _show_bars(answers: Mapping[str, Sequence[Answer]], show_lines: Callable[[list[str]], None]) -> None:
    """A bar an arm, as long as its recall@10 is high, with the interval drawn around its end."""
    show_lines(["", "recall@10 with 90 % intervals, 0 to 100:"])
    width = max(map(len, answers))
    for name, found in answers.items():
        ends = intervals(found).get("recall@10")
        if ends is None:
            continue
        mean = measure(found, {})["recall@10"]
        low, here, high = (round(figure * _WIDTH) for figure in (ends[0], mean, ends[1]))
        bar = "#" * low + "=" * (here - low) + "|" + "-" * (high - here)
        interval = f"{mean * 100:.1f} ({ends[0] * 100:.0f} to {ends[1] * 100:.0f})"
        show_lines([f"  {name:{width}} {bar:{_WIDTH + 1}} {interval}"])


def _show_kinds(answers: Mapping[str, Sequence[Answer]]) -> None:
    """A row a kind of question: hit@1 and hit@5 of each arm, or how often it answered where nothing does."""
    from aforesaid.cli.terminal import show as lines  # late: only for people
    from aforesaid.cli.terminal import show_table

    figures = {name: kinds(found) for name, found in answers.items()}
    first = next(iter(figures.values()))
    lines(["", "hit@1 / hit@5 by kind of question; where nothing answers, how often something came back:"])
    show_table(
        ("kind", "questions", *figures),
        [
            (kind, f"{row['questions']:.0f}", *(_brief(of_arm[kind]) for of_arm in figures.values()))
            for kind, row in first.items()
        ],
        right=("questions", *figures),
    )


def _brief(row: Mapping[str, float]) -> str:
    if "hit@1" in row:
        return f"{row['hit@1'] * 100:.0f} / {row['hit@5'] * 100:.0f}"
    return f"{row['falseInjections'] * 100:.0f}"


def _cell(figure: float | None, metric: str) -> str:
    if figure is None:
        return ""
    return f"{figure:,.1f}" if metric in _FRACTIONS else f"{figure * 100:.1f}"
