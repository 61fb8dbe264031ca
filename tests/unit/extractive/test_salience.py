"""What a classifier is asked, which answers count, and what is remembered."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.views import quoted
from tests.words import any_text

from aforesaid.classification import FAILED
from aforesaid.extractive.salience import (
    INSTRUCTIONS,
    MALFORMED,
    MOST_QUESTIONS,
    REQUEST_CHARACTERS,
    Annotations,
    Asker,
    make_batch,
    normalise,
    read_answers,
)
from aforesaid.extractive.values import Bundle
from aforesaid.privacy.judge import Judge
from aforesaid.privacy.policy import Policy

if TYPE_CHECKING:
    from aforesaid.classification import Batch

ASKER = Asker(session="s", provider="typesafe", model="org/one")


def batch_of(
    texts: list[str], *, most: int = 24_000, api: str = "any", time_ms: int = 3000, request: str = "port?"
) -> Batch | None:
    judge = Judge(Policy(), provider="typesafe")
    bundles = [Bundle(key=bytes([at // 256, at % 256]), sources=(quoted(at, text),)) for at, text in enumerate(texts)]
    return make_batch(judge.clear_all(bundles), judge.clear_all([request]), max_bytes=most, api=api, time_ms=time_ms)


def sent(batch: Batch) -> dict[str, Any]:
    return {"state": batch.state, "questions": batch.questions}


@given(texts=st.lists(any_text, max_size=20), most=st.integers(256, 100_000), scale=st.integers(1, 200))
def test_whole_bundles_fit_their_bytes_in_every_form_that_is_sent(texts: list[str], most: int, scale: int) -> None:
    batch = batch_of([text * scale for text in texts], most=most)
    if batch is None:
        return
    assert 0 < len(batch.keys) <= MOST_QUESTIONS
    assert batch.keys.keys() == batch.questions.keys() == batch.state["bundles"].keys()
    for raw in (True, False):
        plain = json.dumps(sent(batch), ensure_ascii=raw, separators=(",", ":"))
        assert len(plain.encode("utf-8", "backslashreplace")) <= batch.bytes <= most
    # One API sends the state as a JSON text within JSON.
    nested = {"input": json.dumps(batch.state, ensure_ascii=False), "questions": batch.questions}
    assert len(json.dumps(nested, separators=(",", ":"))) <= most + 64
    texts_sent = [part for one in batch.state["bundles"].values() for source in one for part in source["text"]]
    assert texts_sent == [texts[key[0] * 256 + key[1]] * scale for key in batch.keys.values()]


def test_the_rubric_stands_once_and_a_question_is_short() -> None:
    batch = batch_of([f"text {at}" for at in range(300)], most=100_000)
    assert batch is not None
    assert len(batch.keys) == MOST_QUESTIONS
    said = json.dumps(sent(batch))
    assert said.count(INSTRUCTIONS) == 1
    framing = json.dumps(batch.questions)
    assert len(framing) / len(batch.keys) < 110


def test_a_bundle_that_does_not_fit_is_left_out_and_smaller_ones_behind_it_are_asked_about() -> None:
    batch = batch_of(["small one", "x" * 5000, "small two"], most=2000)
    assert batch is not None
    assert list(batch.keys.values()) == [b"\0\0", b"\0\2"]
    assert batch_of(["x" * 5000], most=2000) is None
    assert batch_of([], most=2000) is None


def test_an_api_that_answers_one_by_one_is_asked_what_it_has_time_for() -> None:
    texts = [f"text {at}" for at in range(40)]
    slow = batch_of(texts, api="llama-cpp-classify", time_ms=900)
    assert slow is not None
    assert len(slow.keys) == 6
    assert batch_of(texts, api="llama-cpp-classify", time_ms=100) is None
    quick = batch_of(texts, api="typesafe-system-one", time_ms=100)
    assert quick is not None
    assert len(quick.keys) == 40


def test_a_long_request_leaves_room() -> None:
    batch = batch_of(["text"], request="r" * 50_000)
    assert batch is not None
    assert batch.state["request"] == "r" * REQUEST_CHARACTERS


# --- answers --------------------------------------------------------------------------------------------------------


def answers(batch: Batch, answer: Any = None) -> dict[str, Any]:
    answer = {"type": "bool", "probability": 0.25} if answer is None else answer
    return {"stopReason": "stop", "answers": dict.fromkeys(batch.questions, answer), "usage": None}


def test_a_sound_answer_gives_a_probability_for_each_bundle() -> None:
    batch = batch_of(["one", "two"])
    assert batch is not None
    assert read_answers(answers(batch), batch) == {b"\0\0": 0.25, b"\0\1": 0.25}
    for edge in (0, 1, 0.0, 1.0):
        assert read_answers(answers(batch, {"type": "bool", "probability": edge}), batch) == {
            b"\0\0": edge,
            b"\0\1": edge,
        }


@pytest.mark.parametrize(
    "answer",
    [
        {"type": "bool", "probability": 1.2},
        {"type": "bool", "probability": -0.1},
        {"type": "bool", "probability": float("nan")},
        {"type": "bool", "probability": float("inf")},
        {"type": "bool", "probability": True},
        {"type": "bool", "probability": "0.5"},
        {"type": "bool", "probability": None},
        {"type": "bool", "confidence": 0.5},
        {"type": "score", "score": 1, "confidence": 0.5},
        {"type": "choice", "choice": "a", "probabilities": {"a": 1}, "confidence": 0.5},
        {"probability": 0.5},
        {"type": ["bool"], "probability": 0.5},
        0.5,
        None,
    ],
)
def test_one_bad_answer_voids_the_batch(answer: object) -> None:
    batch = batch_of(["one", "two"])
    assert batch is not None
    result = answers(batch)
    result["answers"]["b1"] = answer
    assert read_answers(result, batch) == MALFORMED


def test_keys_and_the_stop_reason_have_to_be_exact() -> None:
    batch = batch_of(["one", "two"])
    assert batch is not None
    sound = answers(batch)
    assert read_answers({**sound, "answers": {**sound["answers"], "b2": sound["answers"]["b0"]}}, batch) == MALFORMED
    assert read_answers({**sound, "answers": {"b0": sound["answers"]["b0"]}}, batch) == MALFORMED
    assert read_answers({**sound, "answers": []}, batch) == MALFORMED
    for reason in ("error", "aborted", "length", None, "Stop"):
        assert read_answers({**sound, "stopReason": reason}, batch) == FAILED
    assert read_answers(None, batch) == FAILED


def test_other_kinds_of_answers_are_understood_for_rubrics_to_come() -> None:
    assert normalise({"type": "score", "score": 2, "confidence": 0.5}) == ("score", 0.5)
    assert normalise({"type": "choice", "choice": "a", "probabilities": {"a": 1}, "confidence": 1}) == ("choice", 1.0)
    assert normalise({"type": "choice", "choice": "a", "probabilities": {"a": 1}}) is None


# --- memory ---------------------------------------------------------------------------------------------------------


def test_what_was_said_is_known_for_the_same_asker_only() -> None:
    known = Annotations()
    known.succeed(ASKER, {b"a": 0.5})
    assert known.of(ASKER) == {b"a": 0.5}
    for other in (
        Asker(session="t", provider="typesafe", model="org/one"),
        Asker(session="s", provider="openai", model="org/one"),
        Asker(session="s", provider="typesafe", model="org/two"),
        Asker(session="s", provider="typesafe", model="org/one", rubric="another"),
    ):
        assert known.of(other) == {}


def test_annotations_are_bounded_and_the_oldest_go_first() -> None:
    known = Annotations(most=3)
    known.succeed(ASKER, {b"a": 0.1, b"b": 0.2})
    known.succeed(ASKER, {b"a": 0.3, b"c": 0.4, b"d": 0.5})
    assert known.of(ASKER) == {b"a": 0.3, b"c": 0.4, b"d": 0.5}


def test_a_failure_is_remembered_for_longer_and_longer_and_a_success_ends_that() -> None:
    known = Annotations()
    now = 1000.0
    for pause in (30, 60, 120, 240, 480, 600, 600):
        known.fail(ASKER, "classifier-timeout", now)
        assert known.failure(ASKER, now + pause - 0.1) == "classifier-timeout"
        assert known.failure(ASKER, now + pause) is None
        now += pause
    known.succeed(ASKER, {b"a": 0.5})
    known.fail(ASKER, "classifier-error", now)
    assert known.failure(ASKER, now + 29) == "classifier-error"
    assert known.failure(ASKER, now + 30) is None
    assert known.of(ASKER) == {b"a": 0.5}, "what was known before stays known"
