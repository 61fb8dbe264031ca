"""Reading of evaluation sets, the arms, and what is counted."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import pytest
from tests.schemas import check

from aforesaid.cli import main
from aforesaid.cli.eval import arms, beam, gates, locomo, measures
from aforesaid.cli.eval.measures import Answer
from aforesaid.cli.eval.questions import Conversation, EvalSet, Question, Turn
from aforesaid.cli.eval.sources import parse_day, parse_moment
from aforesaid.embedders.feature_hash import FeatureHash
from aforesaid.engine import Engine
from aforesaid.errors import BadArgument, OperationError

if TYPE_CHECKING:
    from array import array
    from collections.abc import Sequence
    from pathlib import Path

    from aforesaid.embedding import Purpose
    from aforesaid.model import Cleared


def turn(id_: str, text: str, session: str = "") -> Turn:
    return Turn(id=id_, role="user", text=text, session=session)


QUESTION = Question(conversation="c", text="which port", kind="fact", evidence=("2", "4"))


def answer(*ids: str, question: Question = QUESTION, sessions: tuple[str, ...] | None = None) -> Answer:
    found = sessions or ("",) * len(ids)
    return Answer(question=question, ids=ids, sessions=found, tokens=(10,) * len(ids), ms=2.0)


@pytest.fixture
def chats(tmp_path: Path) -> Path:
    folder = tmp_path / "beam" / "100K-1"
    folder.mkdir(parents=True)
    rows = [
        {"role": "user", "id": 0, "time_anchor": "March-15-2024", "content": "the port is 4711 in staging"},
        {"role": "assistant", "id": 1, "content": "noted, staging listens on 4711"},
        {"role": "user", "id": 2, "content": "the cache lives for ninety seconds"},
    ]
    (folder / "chat.json").write_text(json.dumps([{"batch_number": 1, "turns": [rows[:2], rows[2:]]}]), "utf-8")
    asked: dict[str, Any] = {
        "information_extraction": [{"question": "which staging port?", "source_chat_ids": 0}],
        "knowledge_update": [{"question": "how long does the cache live?", "source_chat_ids": {"a": [2], "b": 2}}],
        "abstention": [{"question": "who ate the cake?"}],
    }
    (folder / "probing_questions.json").write_text(json.dumps(asked), "utf-8")
    return folder.parent


@pytest.fixture
def dialogues(tmp_path: Path) -> Path:
    conversation = {
        "speaker_a": "Ann", "speaker_b": "Bo",
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [
            {"speaker": "Ann", "dia_id": "D1:1", "text": "I bought a kayak"},
            {"speaker": "Bo", "dia_id": "D1:2", "text": "Nice", "blip_caption": "a red boat"},
        ],
        "session_2_date_time": "someday",
        "session_2": [{"speaker": "Bo", "dia_id": "D2:1", "text": "My sister visits Oslo"}],
    }  # fmt: skip
    qa = [
        {"question": "Who bought a kayak?", "evidence": ["D1:1; D1:2"], "category": 1},
        {"question": "Why did Bo sell the kayak?", "evidence": ["D1:1"], "category": 5},
    ]
    file = tmp_path / "locomo.json"
    file.write_text(json.dumps([{"sample_id": "conv-1", "conversation": conversation, "qa": qa}]), "utf-8")
    return file


def test_beam_is_read_with_its_ids_dates_and_evidence(chats: Path) -> None:
    found = beam.read(str(chats))
    (conversation,) = found.conversations
    assert [one.id for one in conversation.turns] == ["0", "1", "2"]
    assert conversation.turns[0].timestamp == "2024-03-15T12:00:00.000Z"
    assert [(one.kind, one.evidence) for one in found.questions] == [
        ("information_extraction", ("0",)),
        ("knowledge_update", ("2",)),
        ("abstention", ()),
    ]


def test_locomo_is_read_with_speakers_sessions_and_adversarial_questions(dialogues: Path) -> None:
    found = locomo.read(str(dialogues))
    (conversation,) = found.conversations
    assert [(one.role, one.text, one.session) for one in conversation.turns] == [
        ("user", "Ann: I bought a kayak", "session_1"),
        ("assistant", "Bo: Nice [a red boat]", "session_1"),
        ("assistant", "Bo: My sister visits Oslo", "session_2"),
    ]
    assert [one.timestamp for one in conversation.turns] == ["2023-05-08T13:56:00.000Z"] * 2 + [None]
    assert [one.evidence for one in found.questions] == [("D1:1", "D1:2"), ()]


@pytest.mark.parametrize("text", ["", "May 2024", "Maybe-1-2024", "March-32-2024"])
def test_a_day_that_is_none_is_unknown(text: str) -> None:
    assert parse_day(text) is None


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("12:05 am on 1 January, 2022", "2022-01-01T00:05:00.000Z"),
        ("12:05 pm on 1 January, 2022", "2022-01-01T12:05:00.000Z"),
        ("12:05 pm on 31 February, 2022", None),
        ("noon", None),
    ],
)
def test_moments_in_words(text: str, moment: str | None) -> None:
    assert parse_moment(text) == moment


def test_what_is_no_set_is_an_argument_error(tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "chat.json").write_text("[]", "utf-8")
    (tmp_path / "x" / "probing_questions.json").write_text("{}", "utf-8")
    (tmp_path / "list.json").write_text('[{"sample_id": 1}]', "utf-8")
    for read, path in (
        (beam.read, tmp_path / "missing"),
        (beam.read, tmp_path),
        (locomo.read, tmp_path / "list.json"),
        (locomo.read, tmp_path / "missing.json"),
    ):
        with pytest.raises(BadArgument):
            read(str(path))


def test_metrics_by_hand() -> None:
    nothing = Question(conversation="c", text="?", kind="none")
    found = measures.measure([answer("1", "2", "3", "4"), answer("9"), answer(question=nothing)], {})
    assert found["hit@1"] == 0.0
    assert found["hit@5"] == 0.5
    assert found["recall@5"] == 0.5
    assert found["mrr"] == 0.25
    assert found["irrelevantTokens"] == (20 + 10 + 0) / 3
    assert found["falseInjections"] == 0.0
    assert found["msPerQuery"] == 2.0
    assert "sessionHit@1" not in found
    assert measures.measure([answer("1", question=nothing)], {})["falseInjections"] == 1.0


def test_sessions_count_once_in_the_order_in_which_they_come_up() -> None:
    sessions = {("c", "2"): "b", ("c", "4"): "b", ("c", "1"): "a"}
    found = measures.measure([answer("1", "1", "1", "1", "1", "7", sessions=("a", "a", "a", "a", "a", "b"))], sessions)
    assert (found["sessionHit@1"], found["sessionHit@5"]) == (0.0, 1.0)


def test_intervals_hold_the_mean_and_differences_are_paired() -> None:
    some = [answer("2") if number % 3 else answer("9") for number in range(30)]
    others = [answer("9")] * 30
    low, high = measures.intervals(some)["hit@1"]
    assert low < 2 / 3 < high
    assert measures.intervals(some) == measures.intervals(some)
    mean, low, high = measures.differences(some, others, "hit@1")
    assert mean == pytest.approx(2 / 3)
    assert low < mean < high
    assert measures.differences(some, some, "hit@1") == (0.0, 0.0, 0.0)


def small() -> EvalSet:
    turns = (turn("a", "the port is 4711"), turn("b", "tea at five"), turn("c", "server listens on \ud800 4711"))
    questions = (
        Question(conversation="c", text="which port?", kind="fact", evidence=("a",)),
        Question(conversation="c", text="???", kind="none"),
    )
    return EvalSet(name="beam", data="", conversations=(Conversation(name="c", turns=turns),), questions=questions)


def test_every_arm_answers_every_question(tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    answers = arms.run(arms.ARMS, small(), str(tmp_path), lambda done, total: seen.append((done, total)))
    assert tuple(answers) == arms.ARMS
    for name in ("fts5", "documented"):
        assert answers[name][0].ids == ("a",), name
        assert answers[name][1].ids == (), name
    assert answers["recency"][1].ids == ("c", "b", "a")
    assert seen[-1] == (2 * len(arms.ARMS), 2 * len(arms.ARMS))


def test_an_arm_with_vectors_asks_no_question_before_they_are_there(tmp_path: Path) -> None:
    answers = arms.run(("hybrid:feature-hash-v1", "contextual"), small(), str(tmp_path))
    assert [answer.ids for answer in answers["hybrid:feature-hash-v1"]]
    with Engine.open(tmp_path / "store", arms.defaults({})) as engine:
        (count,) = engine.status().vectors
        assert count.model == "feature-hash-v1"


def test_without_the_match_rule_what_is_near_what_was_found_comes_back_too(tmp_path: Path) -> None:
    arm = "hybrid-open:feature-hash-v1"
    answers = arms.run(("hybrid:feature-hash-v1", arm), small(), str(tmp_path))
    assert "b" not in answers["hybrid:feature-hash-v1"][0].ids
    assert "b" in answers[arm][0].ids
    assert answers[arm][1].ids == ()


def test_what_is_kept_is_not_made_again(
    chats: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = tmp_path / "kept" / "beam"
    asked = ["eval", "beam", "--data", str(chats), "--arm", "hybrid:feature-hash-v1", "--json", "--keep", str(kept)]
    made: list[int] = []
    embed = FeatureHash.embed

    def count(port: FeatureHash, texts: Cleared[str], purpose: Purpose) -> Sequence[array[float]]:
        made.append(len(texts.values) if purpose == "source" else 0)
        return embed(port, texts, purpose)

    monkeypatch.setattr(FeatureHash, "embed", count)
    figures = []
    for _ in range(2):
        assert main(asked) == 0
        figures.append(json.loads(capsys.readouterr().out)["arms"]["hybrid:feature-hash-v1"]["mrr"])
        made.append(-1)
    first, second = made[: made.index(-1)], made[made.index(-1) + 1 : -1]
    assert sum(first) == 3
    assert sum(second) == 0
    assert figures[0] == figures[1]


@pytest.mark.parametrize("name", ["rediscovery", "view"])
def test_what_takes_no_time_is_not_kept(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["eval", name, "--data", "x", "--keep", "y"]) == 2
    assert "--keep is not for" in capsys.readouterr().err


def test_a_folder_that_cannot_be_made_is_an_argument_error(
    chats: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("", "utf-8")
    keep = str(tmp_path / "file" / "kept")
    assert main(["eval", "beam", "--data", str(chats), "--arm", "fts5", "--keep", keep]) == 2
    assert "cannot be made" in capsys.readouterr().err


def test_gates_are_differences_to_what_else_was_asked() -> None:
    good, bad = answer("2", "4"), answer("9")
    goals = gates.judge("beam", {"fts5": [bad, bad], "contextual": [good, bad], "hybrid:m": [bad, good]}, {})
    assert [(goal.arm, goal.name, goal.figure, goal.met) for goal in goals] == [
        ("contextual", "recall@10", 0.5, True),
        ("contextual", "recall@10 above fts5", 0.5, True),
        ("hybrid:m", "recall@10 above fts5", 0.5, True),
        ("hybrid:m", "recall@10 beside contextual", 0.0, True),
    ]
    goals = gates.judge("locomo", {"fts5": [good], "contextual": [good], "hybrid:m": [bad], "hybrid-open:m": [bad]}, {})
    assert [(goal.arm, goal.figure, goal.met) for goal in goals] == [
        ("contextual", 1.0, True),
        ("contextual", 0.0, False),
        ("hybrid:m", -1.0, False),
        ("hybrid:m", -1.0, False),
    ]
    nothing = Question(conversation="c", text="?", kind="none")
    assert gates.judge("beam", {"contextual": [answer(question=nothing)]}, {}) == ()
    assert gates.judge("beam", {"recency": [good]}, {}) == ()


def test_a_missed_gate_is_exit_status_1(chats: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status = main(["eval", "beam", "--data", str(chats), "--json", "--arm", "fts5", "--arm", "contextual"])
    document = check("eval", capsys.readouterr().out)
    assert status == (0 if all(goal["met"] for goal in document["goals"]) else 1)
    assert {goal["name"] for goal in document["goals"]} == {"recall@10", "recall@10 above fts5"}
    assert [goal["met"] for goal in document["goals"]] == [True, False]


def test_an_arm_whose_vectors_are_missing_is_no_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "wordllama", None)
    with pytest.raises(OperationError, match="model-unavailable"):
        arms.run(("hybrid:wordllama-l2-supercat",), small(), str(tmp_path))


def test_an_arm_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadArgument, match="no arm oracle"):
        arms.run(("oracle",), small(), str(tmp_path))


def test_the_command_prints_a_document(chats: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["eval", "beam", "--data", str(chats), "--json", "--arm", "fts5", "--arm", "documented"]) == 0
    document = check("eval", capsys.readouterr().out)
    assert (document["set"], document["questions"]) == ("beam", 3)
    assert list(document["arms"]) == ["fts5", "documented"]
    assert document["arms"]["documented"]["hit@1"] == 1.0


def test_the_command_shows_a_table(dialogues: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["eval", "locomo", "--data", str(dialogues), "--limit", "1"]) == 0
    shown = capsys.readouterr().out
    assert "1 questions with evidence, 0 without" in shown
    for name in arms.ARMS:
        assert name in shown


@pytest.mark.parametrize(
    "arguments", [("beam",), ("beam", "--data", "nowhere"), ("locomo", "--data", "x", "--limit", "0"), ("poems",)]
)
def test_wrong_arguments_exit_with_2(arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["eval", *arguments]) == 2
    assert capsys.readouterr().err.startswith("error[")


@pytest.mark.data
def test_the_real_sets_are_read_whole(data: Path) -> None:
    assert len(beam.read(str(data / "memory" / "beam")).questions) == 220
    found = locomo.read(str(data / "memory" / "locomo" / "locomo-dev.json"))
    assert (len(found.conversations), sum(bool(one.evidence) for one in found.questions)) == (4, 581)
