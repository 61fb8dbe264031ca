"""The golden report of the set `coding`: what each arm really reaches, byte for byte.

A change of ranking changes it; `python -m tests.golden.test_coding` writes it anew, and the difference belongs into the
review of that change.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

import pytest

from aforesaid.cli.eval import arms, coding, report
from aforesaid.cli.eval.coding.goals import judge

GOLDEN = Path(__file__).parent / "coding.json"


def render() -> str:
    questions = coding.read()
    with tempfile.TemporaryDirectory() as folder:
        answers = arms.run((*arms.ARMS, "hybrid:feature-hash-v1"), questions, folder)
    document = report.document(questions, answers, judge(answers))
    for figures in document["arms"].values():
        del figures["msPerQuery"]
        # To the token they follow every digit of every score.
        for row in (figures, *figures["kinds"].values()):
            row["irrelevantTokens"] = round(row["irrelevantTokens"])
    for gate in document["hybrid"].values():
        gate["irrelevantTokensDelta"] = round(gate["irrelevantTokensDelta"])
    return json.dumps(document, indent=1) + "\n"


def test_the_report_of_every_arm_is_the_golden_one() -> None:
    assert render() == GOLDEN.read_text("utf-8")


def test_the_gate_of_vectors_says_what_they_bring_and_cost() -> None:
    beside = json.loads(GOLDEN.read_text("utf-8"))["hybrid"]["hybrid:feature-hash-v1"]
    assert beside["recallDelta"] == pytest.approx(beside["hybridRecall"] - beside["lexicalRecall"], abs=2e-4)
    assert beside["recallDelta"] >= 0.0


def test_every_goal_of_the_design_is_reached() -> None:
    goals = json.loads(GOLDEN.read_text("utf-8"))["goals"]
    assert {goal["arm"] for goal in goals} == {"contextual", "hybrid:feature-hash-v1"}
    assert [goal for goal in goals if not goal["met"]] == []


if __name__ == "__main__":
    sys.stdout.write(f"{GOLDEN}\n")
    GOLDEN.write_text(render(), "utf-8", newline="\n")
