"""The gate of specification 2 on the set `coding`: lexical against hybrid recall and irrelevant tokens, as measured.

`python -m tests.golden.test_hybrid` writes the golden figures anew; the difference belongs into the review.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from aforesaid.cli.eval import arms, coding
from aforesaid.cli.eval.measures import measure

GOLDEN = Path(__file__).parent / "hybrid.json"
LEXICAL, HYBRID = "contextual", "hybrid:feature-hash-v1"


def render() -> str:
    with tempfile.TemporaryDirectory() as folder:
        answers = arms.run((LEXICAL, HYBRID), coding.read(), folder)
    lexical, hybrid = (measure(answers[arm], {}) for arm in (LEXICAL, HYBRID))
    figures = {
        "lexical evidence recall": round(lexical["recall@10"], 4),
        "hybrid evidence recall": round(hybrid["recall@10"], 4),
        "recall delta": round(hybrid["recall@10"] - lexical["recall@10"], 4),
        "irrelevant-token delta": round(hybrid["irrelevantTokens"] - lexical["irrelevantTokens"], 1),
        "false injections, lexical": round(lexical["falseInjections"], 4),
        "false injections, hybrid": round(hybrid["falseInjections"], 4),
    }
    return json.dumps(figures, indent=1) + "\n"


def test_the_gate_has_the_figures_that_it_really_has() -> None:
    assert render() == GOLDEN.read_text("utf-8")


def test_vectors_cost_no_recall_and_no_silence() -> None:
    figures = json.loads(GOLDEN.read_text("utf-8"))
    assert figures["recall delta"] >= -0.01
    assert figures["false injections, hybrid"] <= 0.01


if __name__ == "__main__":
    sys.stdout.write(f"{GOLDEN}\n")
    GOLDEN.write_text(render(), "utf-8", newline="\n")
