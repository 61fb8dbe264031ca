"""Floor 9: the figures of the rediscovery set as a document for programs and as tables for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from aforesaid.cli.eval import goals
from aforesaid.cli.eval.rediscovery import scores

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from aforesaid.cli.eval.rediscovery.labels import Labels
    from aforesaid.cli.eval.rediscovery.replay import Answer

    Answers = Mapping[str, Sequence[Answer]]

BASELINE: Final = "fts5"
"""The arm that the others are compared with."""
SAME_QUERY: Final = "bm25"
"""The arm with the product's query; with `:working` behind it the one that has the work too."""


def document(labels: Labels, answers: Answers, judged: Sequence[goals.Goal] = ()) -> dict[str, Any]:
    """The JSON document: an arm's own figures are those after real compactions, its `parts` all of them."""
    return {
        "schema": "aforesaid.eval/1",
        "set": "rediscovery",
        "data": labels.data,
        "questions": len(labels.prompts) + len(labels.silent),
        "arms": {name: _arm(found, _others(name, answers)) for name, found in answers.items()},
        **({"goals": goals.document(judged)} if judged else {}),
    }


def _others(name: str, answers: Answers) -> dict[str, Sequence[Answer]]:
    """What an arm is compared with: the baseline, and the one that has the same query."""
    same = f"{SAME_QUERY}:working" if name.endswith(":working") else SAME_QUERY
    compared = {"difference": BASELINE, "differenceSameQuery": same}
    return {key: answers[other] for key, other in compared.items() if other in answers and other != name}


def _arm(found: Sequence[Answer], others: Mapping[str, Sequence[Answer]]) -> dict[str, Any]:
    parts = {name: _part(found, others, name) for name in scores.PARTS}
    real = parts["real"]
    figures: dict[str, Any] = {metric: value for metric, value in real.items() if metric in scores.METRICS}
    figures["irrelevantTokens"] = round(scores.irrelevant_tokens(found), 4)
    quiet = silent(found)
    if quiet:
        median, high = scores.tokens_added(quiet)
        figures |= {"tokensWithoutNeed": round(median, 4), "tokensWithoutNeed90": round(high, 4)}
    figures["msPerQuery"] = round(scores.milliseconds(found), 4)
    figures["interval"] = real["interval"]
    figures["parts"] = parts
    return figures


def _part(found: Sequence[Answer], others: Mapping[str, Sequence[Answer]], name: str) -> dict[str, Any]:
    mine = of_part(found, name)
    measured = scores.measure(mine)
    part: dict[str, Any] = {"questions": len(mine)}
    part |= {metric: round(mean, 4) for metric, (mean, _, _) in measured.items()}
    part["interval"] = {metric: [round(low, 4), round(high, 4)] for metric, (_, low, high) in measured.items()}
    for key, other in others.items():
        part[key] = {
            metric: [round(value, 4) for value in values]
            for metric, values in scores.compare(mine, of_part(other, name)).items()
        }
    return part


def of_part(found: Sequence[Answer], name: str) -> list[Answer]:
    """The answers at prompts with needs of a part of the set."""
    return [answer for answer in found if answer.prompt.needs and scores.PARTS[name](answer.prompt)]


def silent(found: Sequence[Answer]) -> list[Answer]:
    """The answers at prompts that needed nothing."""
    return [answer for answer in found if not answer.prompt.needs]


def show(labels: Labels, answers: Answers, judged: Sequence[goals.Goal] = ()) -> None:
    """Prints a table a part, percentages with their intervals, what arms cost where nothing was needed, and goals."""
    from aforesaid.cli.terminal import show as lines  # late: only for people
    from aforesaid.cli.terminal import show_table

    lines([f"rediscovery: {len(labels.prompts)} prompts with needs, {len(labels.silent)} without"])
    for name in scores.PARTS:
        count = len(of_part(next(iter(answers.values())), name))
        if not count:
            continue
        lines(["", f"{name} ({count}), in %, with 90 % intervals over transcripts:"])
        show_table(
            ("arm", *scores.METRICS),
            [(arm, *_cells(scores.measure(of_part(found, name)), signed=False)) for arm, found in answers.items()],
            right=scores.METRICS,
        )
        for key, base in (("difference", BASELINE), ("differenceSameQuery", f"{SAME_QUERY} with the same query")):
            rows = [
                (arm, *_cells(scores.compare(of_part(found, name), of_part(others[key], name)), signed=True))
                for arm, found in answers.items()
                if key in (others := _others(arm, answers))
            ]
            if rows:
                lines(["", f"{name}, beside {base}, paired:"])
                show_table(("arm", *scores.METRICS), rows, right=scores.METRICS)
    lines(["", "tokens added and time:"])
    columns = ("without need, median", "90th percentile", "beside the need", "ms")
    show_table(("arm", *columns), [(arm, *_costs(found)) for arm, found in answers.items()], right=columns)
    goals.show(judged)


def _cells(figures: Mapping[str, tuple[float, float, float]], *, signed: bool) -> list[str]:
    cells = []
    for metric in scores.METRICS:
        if metric not in figures:
            cells.append("")
            continue
        mean, low, high = (100 * figure for figure in figures[metric])
        cells.append(f"{mean:+.1f} ({low:+.0f} to {high:+.0f})" if signed else f"{mean:.1f} ({low:.0f} to {high:.0f})")
    return cells


def _costs(found: Sequence[Answer]) -> list[str]:
    quiet = silent(found)
    median, high = scores.tokens_added(quiet)
    shown = [f"{median:,.0f}", f"{high:,.0f}"] if quiet else ["", ""]
    return [*shown, f"{scores.irrelevant_tokens(found):,.0f}", f"{scores.milliseconds(found):,.1f}"]
