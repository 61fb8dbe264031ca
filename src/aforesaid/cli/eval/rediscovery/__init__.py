"""Floor 9: `aforesaid eval rediscovery`: what real agents needed again after real compactions, and who brings it back.

`labels` reads the set, `replay` asks each arm at each prompt, `scores` counts, `gate` judges, `report` shows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aforesaid.cli.terminal import Progress, emit

if TYPE_CHECKING:
    from collections.abc import Sequence


def run(data: str, chosen: Sequence[str], limit: int | None, *, as_json: bool, keep: str | None = None) -> int:
    """Asks and shows; see `aforesaid.cli.eval.run`.

    Args:
        data: folder of the set.
        chosen: names of arms; none: all.
        limit: only the first so many prompts of each of its files; a part of the set is judged by nothing.
        as_json: whether a document is written.
        keep: where the store and its vectors stay for the next run; None: nowhere.

    Returns:
        1 if a goal is missed (`gate`).

    Raises:
        BadArgument: there is no such arm, or no such set.
    """
    from aforesaid.cli.bench.setting import working_folder  # late: the parser needs none of it
    from aforesaid.cli.eval import arms, goals
    from aforesaid.cli.eval.rediscovery import gate, labels, replay, report

    named = arms.choose(chosen, replay.ARMS, tuple(replay.NAMED))
    found = labels.read(data, limit)
    with working_folder(None, keep=keep) as folder, Progress("Asking") as progress:
        answers = replay.run(named, found, folder, progress)
    judged = gate.judge(answers) if limit is None else ()
    if as_json:
        emit(report.document(found, answers, judged))
    else:
        report.show(found, answers, judged)
    return goals.conclude(judged)
