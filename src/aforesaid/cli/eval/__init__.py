"""Floor 9: `aforesaid eval`: how good retrieval is on labelled conversations, beside plain baselines.

`beam` and `locomo` read public sets that the caller has; `arms` asks the questions, `measures` counts, `report` shows.
`rediscovery` asks at moments of real sessions instead, and counts otherwise; `view` fills history views; `calibration`
measures how similar unrelated texts are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from aforesaid.cli.terminal import Progress, emit
from aforesaid.errors import BadArgument

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Mapping, Sequence

    from aforesaid.cli.arguments import Options
    from aforesaid.cli.eval.gates import Part
    from aforesaid.cli.eval.goals import Goal
    from aforesaid.cli.eval.measures import Answer
    from aforesaid.cli.eval.questions import EvalSet

SETS = ("beam", "locomo", "coding", "rediscovery", "view", "calibration")
_LASTS = " (this one takes minutes with a model of the kind of MiniLM: --arm names other models)"


def add_arguments(parser: ArgumentParser) -> None:
    """The arguments of `eval`."""
    parser.add_argument("set", choices=SETS, metavar="SET", help=f"what to ask: {', '.join(SETS)}{_LASTS}")
    parser.add_argument(
        "--data",
        metavar="PATH",
        help="where the set is: a file (locomo), or a folder (view: of either or both; calibration: of beam, locomo)",
    )
    parser.add_argument("--arm", action="append", metavar="NAME", help="a way of answering, or all; repeatable")
    parser.add_argument("--limit", type=int, metavar="N", help="only the first N questions")
    parser.add_argument(
        "--keep", metavar="DIR", help="keep the indexed conversations and their vectors there for the next run"
    )


def run(arguments: Namespace, options: Options) -> int:
    """Asks and shows. The exit status is 1 if a goal of the set is missed.

    Raises:
        BadArgument: there is no such set, arm, or data.
    """
    if arguments.limit is not None and arguments.limit < 1:
        raise BadArgument(f"--limit {arguments.limit} leaves no question", "use at least 1")
    if arguments.keep is not None and arguments.set in ("view", "calibration"):
        raise BadArgument(
            f"--keep is not for {arguments.set}", "leave it out: it is for beam, locomo, coding and rediscovery"
        )
    if arguments.set == "rediscovery":
        from aforesaid.cli.eval import rediscovery  # late: one set at a time

        data, keep = _needed(arguments.set, arguments.data), arguments.keep
        return rediscovery.run(data, arguments.arm or (), arguments.limit, as_json=options.json, keep=keep)
    if arguments.set == "view":
        from aforesaid.cli.eval import view  # late: one set at a time

        data = _needed(arguments.set, arguments.data)
        return view.run(data, arguments.arm or (), arguments.limit, as_json=options.json)
    if arguments.set == "calibration":
        from aforesaid.cli.eval import calibration  # late: brings the models

        data = _needed(arguments.set, arguments.data)
        return calibration.run(data, arguments.arm or (), arguments.limit, as_json=options.json)
    from aforesaid.cli.bench.setting import working_folder  # late: the parser needs none of it
    from aforesaid.cli.eval import arms, goals, report

    chosen = arms.choose(arguments.arm or (), arms.ARMS, tuple(arms.NAMED))
    questions = _read(arguments.set, arguments.data)
    if arguments.limit is not None:
        questions = replace(questions, questions=questions.questions[: arguments.limit])
    with working_folder(None, keep=arguments.keep) as folder, Progress("Asking") as progress:
        answers = arms.run(chosen, questions, folder, progress)
    judged, part = _judge(questions, answers) if arguments.limit is None else ((), None)
    if options.json:
        emit(report.document(questions, answers, judged, part))
    else:
        report.show(questions, answers, judged, part)
    return goals.conclude(judged)


def _judge(questions: EvalSet, answers: Mapping[str, Sequence[Answer]]) -> tuple[Sequence[Goal], Part | None]:
    """The goals of a whole set, and of a public one the part that was asked."""
    from aforesaid.cli.eval import gates, report  # late: a part of a set is judged by nothing
    from aforesaid.cli.eval.coding.goals import judge

    if questions.name == "coding":
        return judge(answers), None
    part = gates.part_of(questions)
    return gates.judge(questions.name, part, answers, report.sessions_of(questions)), part


def _read(name: str, data: str | None) -> EvalSet:
    if name == "coding":
        from aforesaid.cli.eval import coding  # late: one set at a time

        return coding.read()
    data = _needed(name, data)
    if name == "beam":
        from aforesaid.cli.eval import beam  # late: one set at a time

        return beam.read(data)
    from aforesaid.cli.eval import locomo

    return locomo.read(data)


def _needed(name: str, data: str | None) -> str:
    if data is None:
        raise BadArgument(f"the set {name} is not shipped", "say with --data where it is")
    return data
