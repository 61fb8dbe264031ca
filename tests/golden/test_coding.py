"""The golden report of the set `coding`: what each arm really reaches, byte for byte.

A change of ranking changes it; `python -m tests.golden.test_coding` writes it anew, and the difference belongs into the
review of that change.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from aforesaid.cli.eval import arms, coding, report
from aforesaid.cli.eval.coding.goals import judge

GOLDEN = Path(__file__).parent / "coding.json"


def render() -> str:
    questions = coding.read()
    with tempfile.TemporaryDirectory() as folder:
        answers = arms.run(arms.ARMS, questions, folder)
    document = report.document(questions, answers, judge(answers))
    for figures in document["arms"].values():
        del figures["msPerQuery"]
    return json.dumps(document, indent=1) + "\n"


def test_the_report_of_every_arm_is_the_golden_one() -> None:
    assert render() == GOLDEN.read_text("utf-8")


def test_every_goal_of_the_design_is_reached() -> None:
    goals = json.loads(GOLDEN.read_text("utf-8"))["goals"]
    assert {goal["arm"] for goal in goals} >= {"contextual"}
    assert [goal for goal in goals if not goal["met"]] == []


if __name__ == "__main__":
    sys.stdout.write(f"{GOLDEN}\n")
    GOLDEN.write_text(render(), "utf-8", newline="\n")
