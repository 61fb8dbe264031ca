"""The made-up coding sessions: what they are made of, that labels hold, and that transcripts are what they say."""

from __future__ import annotations

import json
import re
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from tests import pi
from tests.schemas import check

from aforesaid import Engine
from aforesaid.cli import main
from aforesaid.cli.eval import arms, coding, transcripts
from aforesaid.cli.eval.coding import goals, sessions
from aforesaid.cli.eval.coding.filler import Filler, Words
from aforesaid.cli.eval.coding.goals import judge
from aforesaid.cli.eval.coding.sessions import LOOKED_UP, SILENT, STORIES, holding
from aforesaid.cli.eval.measures import Answer
from aforesaid.cli.eval.questions import Conversation, Question, Said, Turn, called

SET = coding.read()
KINDS = Counter(question.kind for question in SET.questions)


def turns(name: str) -> dict[str, Turn]:
    (found,) = (one for one in SET.conversations if one.name == name)
    return {turn.id: turn for turn in found.turns}


def test_there_are_as_many_requests_of_every_kind_as_the_set_promises() -> None:
    labelled = sum(count for kind, count in KINDS.items() if kind not in SILENT)
    assert labelled >= 200
    assert KINDS.total() - labelled >= 60
    assert set(KINDS) == {*LOOKED_UP, *SILENT, "decision", "paraphrase", "synonym", "cross-lingual", "changed"}
    assert min(KINDS.values()) >= 15


def test_no_request_is_asked_twice_and_only_silent_ones_have_no_evidence() -> None:
    asked = [(one.conversation, one.text) for one in SET.questions]
    assert len(asked) == len(set(asked))
    assert {one.kind for one in SET.questions if not one.evidence} == SILENT
    assert all(one.evidence for one in SET.questions if one.kind not in SILENT)


def test_all_evidence_was_removed_by_a_compaction_on_the_branch_of_the_leaf() -> None:
    lost = {one.name: {turn.id for turn in one.lost()} for one in SET.conversations}
    for question in SET.questions:
        assert set(question.evidence) <= lost[question.conversation], question


def test_what_changed_has_evidence_in_two_places_that_are_far_apart() -> None:
    for question in SET.questions:
        if question.kind == "changed":
            places = [int(f"0x{id_[2:]}", 0) for id_ in question.evidence]
            assert max(places) - min(places) > 60, question


def test_every_session_has_compactions_and_a_branch_that_was_given_up() -> None:
    for one in SET.conversations:
        assert sum(turn.role == "summary" for turn in one.turns) >= 3
        on_branch = {turn.id for turn in one.lost()}
        kept = next(turn.kept_from for turn in reversed(one.turns) if turn.role == "summary")
        before = [turn for turn in one.turns[: [turn.id for turn in one.turns].index(kept)] if turn.role != "summary"]
        assert len([turn for turn in before if turn.id not in on_branch]) == 4


def asks(name: str) -> list[tuple[str, str, Any]]:
    story = tomllib.loads((Path(sessions.__file__).parent / "stories" / f"{name}.toml").read_text("utf-8"))
    return [tuple(ask) for episode in story["episode"] for ask in episode["asks"]]


@pytest.mark.parametrize("name", STORIES)
def test_whatever_holds_a_looked_up_item_is_labelled_and_filler_never_does(name: str) -> None:
    (conversation,) = (one for one in SET.conversations if one.name == name)
    lost = {turn.id: turn.text for turn in conversation.lost()}
    labels = {one.text: one.evidence for one in SET.questions if one.conversation == name}
    looked_up = [ask for ask in asks(name) if isinstance(ask[2], str)]
    assert {kind for kind, _, _ in looked_up} <= LOOKED_UP
    for kind, text, item in looked_up:
        assert labels[text] == holding(lost, item, follow=kind == "command"), text


@pytest.mark.parametrize("name", STORIES)
def test_what_only_a_given_up_branch_knows_stands_nowhere_on_the_branch_of_the_leaf(name: str) -> None:
    (conversation,) = (one for one in SET.conversations if one.name == name)
    lost = {turn.id: turn.text for turn in conversation.lost()}
    aside = {turn.id: turn.text for turn in conversation.turns if turn.id not in lost}
    for kind, text, _ in asks(name):
        if kind == "elsewhere":
            (item,) = re.findall(r"[A-Z_]{9,}\w*|(?:\w+/)+\w+\.\w+|\d{5}|[A-Za-z]+[a-z][A-Z]\w+", text)
            assert holding(aside, item), item
            assert not holding(lost, item), item


def test_an_item_is_held_as_a_whole_and_a_command_by_what_it_gave_too() -> None:
    said = {"a": "run settle_batch now", "b": "settle_batches", "c": "xsettle_batch", "d": "(settle_batch)", "e": "ok"}
    assert holding(said, "settle_batch") == ("a", "d")
    assert holding(said, "settle_batch", follow=True) == ("a", "b", "d", "e")
    assert holding({"a": "E0382: moved"}, "0382") == ()


def test_the_set_is_the_same_in_every_run() -> None:
    assert coding.read() == SET


def test_filler_speaks_the_language_of_its_story_and_differs_by_seed() -> None:
    words = Words(language="it", files=("a.py",), symbols=("f",), nouns=("lotto", "riga"))
    once, again, other = (Filler(words, seed).task() for seed in (1, 1, 2))
    assert once == again
    assert once != other
    assert once[0].role == "user"
    assert once[-1].role == "assistant"
    assert Filler(words, 1).summary(()).count("small fixes") == 1


def test_a_conversation_without_a_compaction_is_lost_as_a_whole() -> None:
    one = Conversation(name="c", turns=(Turn(id="a", role="user", text="x"), Turn(id="b", role="assistant", text="y")))
    assert [turn.id for turn in one.lost()] == ["a", "b"]


def test_the_transcript_hides_from_the_model_what_the_conversation_calls_lost(tmp_path: Path) -> None:
    for one in SET.conversations:
        file = transcripts.write(one, str(tmp_path))
        rows = [json.loads(line) for line in Path(file).read_text("utf-8").splitlines()]
        gone = [row["id"] for row in pi.gone_from_view(rows, one.turns[-1].id) if row["type"] == "message"]
        assert gone == [turn.id for turn in one.lost()]


def test_the_engine_reads_a_session_as_it_was_meant(tmp_path: Path) -> None:
    one = SET.conversations[0]
    file = transcripts.write(one, str(tmp_path))
    with Engine.open(str(tmp_path / "store")) as engine:
        engine.index(file)
        page = engine.recall("", session=file, scope="current-session", limit=200)
        by_id = turns(one.name)
        for hit in page.hits:
            turn = by_id[hit.entry_id]
            assert hit.role == turn.role
            assert turn.text.startswith(hit.snippet[:40].rstrip("…"))


def test_a_call_is_searched_with_its_tool_and_arguments() -> None:
    assert called("edit", path="a.py", newText="x = 1").text == "edit\npath: a.py\nnewText: x = 1"
    assert Said(role="user", text="x").arguments == ()


def test_abandoned_values_never_come_back(tmp_path: Path) -> None:
    answers = arms.run(("documented", "contextual"), SET, str(tmp_path))
    known = {one.name: {turn.id for turn in one.lost()} for one in SET.conversations}
    for found in answers.values():
        for answer in found:
            assert set(answer.ids) <= known[answer.question.conversation], answer.question


def test_the_command_needs_no_data(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["eval", "coding", "--json", "--arm", "fts5", "--limit", "20"]) == 0
    document = check("eval", capsys.readouterr().out)
    assert (document["set"], document["questions"]) == ("coding", 20)
    assert document["arms"]["fts5"]["kinds"]["identifier"]["questions"] >= 1
    assert main(["eval", "coding", "--arm", "fts5", "--arm", "recency"]) == 0
    shown = capsys.readouterr().out
    assert "recall@10 with 90 % intervals" in shown
    assert re.search(r"fts5 +#+=*\|-*", shown)
    assert re.search(r"silence +18 +\d+ +100", shown)


def test_a_question_without_evidence_counts_as_one_that_nothing_answers() -> None:
    assert Question(conversation="c", text="ok", kind="silence").evidence == ()


def reached(first: int, paraphrases: int, false: int) -> tuple[bool, ...]:
    """Whether the goals are met by so many right answers of a hundred, and so many answers to what has none."""

    def answer(kind: str, right: bool) -> Answer:
        evidence = () if kind == "no-answer" else ("e",)
        question = Question(conversation="c", text="?", kind=kind, evidence=evidence)
        ids = ("e",) if right else () if kind == "no-answer" else ("x",)
        return Answer(question=question, ids=ids, sessions=("",) * len(ids), tokens=(1,) * len(ids), ms=1.0)

    answers = [answer(kind, number < first) for kind in LOOKED_UP for number in range(100)]
    answers += [answer("paraphrase", number < paraphrases) for number in range(100)]
    answers += [answer("no-answer", number < false) for number in range(100)]
    return tuple(goal.met for goal in judge({"contextual": answers, "fts5": answers, "hybrid:x": answers}))


@pytest.mark.parametrize(
    ("given", "lexical", "hybrid"),
    [
        ((98, 80, 1), (True, True, True), (True, True, True)),
        ((97, 80, 1), (False, True, True), (False, True, True)),
        ((98, 60, 1), (True, True, True), (True, False, True)),
        ((98, 59, 2), (True, False, False), (True, False, False)),
    ],
)
def test_goals_are_judged_for_the_product_alone(
    given: tuple[int, int, int], lexical: tuple[bool, ...], hybrid: tuple[bool, ...]
) -> None:
    assert reached(*given) == (*(lexical[0],) * 5, *lexical[1:], *(hybrid[0],) * 5, *hybrid[1:], True)


def test_vectors_are_compared_with_the_words_alone_in_four_ways() -> None:
    question = Question(conversation="c", text="?", kind="synonym", evidence=("a", "b"))

    def answer(*ids: str) -> list[Answer]:
        found = Answer(question=question, ids=ids, sessions=("",) * len(ids), tokens=(10,) * len(ids), ms=1.0)
        return [found, replace(found, ids=(), sessions=(), tokens=())]

    found = {"contextual": answer("a", "x"), "hybrid:m": answer("a", "b", "x", "y"), "fts5": answer()}
    assert goals.compare(found) == {"hybrid:m": goals.FourWays(lexical=0.25, hybrid=0.5, recall=0.25, tokens=5.0)}
    assert goals.compare({"hybrid:m": answer("a")}) == {}


def test_vectors_that_cost_recall_miss_a_goal() -> None:
    kinds = (*LOOKED_UP, "paraphrase", "no-answer")

    def answers(misses: int) -> list[Answer]:
        listed = []
        for kind in kinds:
            for number in range(20):
                evidence = () if kind == "no-answer" else ("e",)
                ids = () if kind == "no-answer" or (kind == "paraphrase" and number < misses) else ("e",)
                question = Question(conversation="c", text="?", kind=kind, evidence=evidence)
                listed.append(
                    Answer(question=question, ids=ids, sessions=("",) * len(ids), tokens=(1,) * len(ids), ms=1.0)
                )
        return listed

    for misses, met in ((1, True), (2, False)):
        (goal,) = (
            one for one in judge({"contextual": answers(0), "hybrid:m": answers(misses)}) if "beside" in one.name
        )
        assert (goal.arm, goal.met) == ("hybrid:m", met)


def test_a_missed_goal_is_told_and_gives_exit_status_1(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(goals, "PARAPHRASES", 1.01)
    assert main(["eval", "coding", "--arm", "fts5", "--arm", "contextual", "--arm", "hybrid:feature-hash-v1"]) == 1
    shown = capsys.readouterr().out
    assert re.search(r"paraphrase hit@5 +contextual +[\d.]+ +101\.00 +MISSED", shown)
    assert re.search(r"hybrid:feature-hash-v1 beside contextual, all that came back: recall [\d.]+ and [\d.]+", shown)
    assert re.search(r"recall@10 beside fts5, paired.*\n  contextual +[+-][\d.]+", shown)
