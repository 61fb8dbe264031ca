"""A classifier that a program brings: consent, one batch for a request, failures, deadlines."""

from __future__ import annotations

import json
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest
from tests import pi
from tests.classifiers import Fixed
from tests.views import PORT, lost_session, talk

from aforesaid import Engine

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from aforesaid import HistoryView
    from aforesaid.classification import Batch, Classifier

CONSENT: dict[str, object] = {"memory.extractive.enabled": True, "memory.extractive.model": "org/one"}
TALK = talk(
    ("which port for the gateway?", "we chose port 5433 for the gateway"),
    ("tell me of apples", "apples are round"),
    ("is the gateway up?", "yes, on its port"),
)


class Program:
    """A program with a classifier and one session."""

    def __init__(self, folder: Path, port: Fixed | None = None, /, **settings: object) -> None:
        self.port = port or Fixed()
        self.file = pi.write(folder / "s.jsonl", lost_session(TALK))
        self.engine = Engine.open(folder / "store", settings={**CONSENT, **settings}, classifier=self.port)

    def view(self, query: str | None = PORT) -> HistoryView:
        return self.engine.view(session=self.file, query=query)


def diagnostic(view: HistoryView) -> str:
    return str(json.loads(view.text)["diagnostic"])


def test_what_a_program_brings_is_asked_once_for_a_request_and_counts(tmp_path: Path) -> None:
    program = Program(tmp_path)
    view = program.view(query=None)
    assert diagnostic(view) == "classified"
    assert view.usage == {"input": 3}
    assert {
        {one.name: one.value for one in bundle.score_parts}.get("salience")
        for bundle in view.candidates
        if bundle.relevant
    } == {2.25}
    (batch,) = program.port.batches
    assert batch.state["request"] == PORT
    assert "5433" in json.dumps(batch.state["bundles"])
    again = program.view(query=None)
    assert diagnostic(again) == "classified"
    assert len(program.port.batches) == 1
    assert again.usage is None, "it cost nothing this time"


def test_a_plan_asks_it_too(tmp_path: Path) -> None:
    program = Program(tmp_path, **{"context.maxRetrievedHistoryTokens": 0})
    planned = program.engine.plan(session=program.file, context_window=128_000)
    assert any("view;classified" in item.reason for item in planned.manifest.included)
    assert len(program.port.batches) == 1


@pytest.mark.parametrize(
    "settings",
    [
        {"memory.extractive.enabled": False},
        {"memory.extractive.maxEvaluationsPerTurn": 0},
        {"memory.enabled": False},
    ],
)
def test_without_consent_it_is_not_even_looked_at(tmp_path: Path, settings: dict[str, object]) -> None:
    program = Program(tmp_path, **settings)
    view = program.view()
    assert diagnostic(view) == "deterministic"
    assert (program.port.looked, program.port.batches) == (0, [])


def test_another_one_than_the_configuration_names_is_no_substitute(tmp_path: Path) -> None:
    program = Program(tmp_path, Fixed(model="org/two"))
    assert diagnostic(program.view()) == "classifier-missing-model"
    assert program.port.batches == []


def test_one_that_hangs_is_left_behind(tmp_path: Path) -> None:
    port = Fixed()
    port.hang = threading.Event()
    program = Program(tmp_path, port, **{"memory.extractive.timeoutMs": 200})
    began = time.monotonic()
    assert diagnostic(program.view()) == "classifier-timeout"
    assert time.monotonic() - began < 10
    assert diagnostic(program.view("is the gateway on its port?")) == "classifier-timeout", "a failure is remembered"
    assert len(port.batches) == 1
    port.hang.set()


@pytest.mark.parametrize("probability", [1.2, -0.1, float("nan"), True, "0.5", None])
def test_one_bad_answer_voids_the_batch_and_the_request_is_not_asked_about_again(
    tmp_path: Path, probability: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = Program(tmp_path, Fixed(probability))
    assert diagnostic(program.view()) == "classifier-malformed"
    classifying = program.engine._viewer._classifying
    later = time.monotonic() + 3600
    monkeypatch.setattr(classifying, "_now", lambda: later)
    program.port.probability = 0.5
    assert diagnostic(program.view()) == "classifier-malformed", "one batch for a request"
    assert len(program.port.batches) == 1
    assert diagnostic(program.view("and is the gateway up on its port?")) == "classified"
    assert len(program.port.batches) == 2


def test_one_that_raises_costs_its_answer_and_nothing_else(tmp_path: Path) -> None:
    class Raising(Fixed):
        def classify(self, batch: Batch, seconds: float, answer: Callable[[object], None]) -> None:
            raise RuntimeError("broken")

    class Nameless(Fixed):
        @property
        def classifier(self) -> Classifier:
            raise RuntimeError("broken")

    for number, port in enumerate((Raising(), Nameless())):
        folder = tmp_path / str(number)
        folder.mkdir()
        view = Program(folder, port).view()
        assert diagnostic(view) == "classifier-error"
        assert "5433" in view.text


def test_nobody_is_asked_where_no_thread_can_be_had(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = Program(tmp_path)

    def refuse(*_: Any, **__: Any) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    assert diagnostic(program.view()) == "classifier-error"


def test_what_is_remembered_of_requests_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aforesaid.engine.classifying.MOST_TURNS", 1)
    program = Program(tmp_path)
    program.view()
    other = pi.write(tmp_path / "t.jsonl", lost_session(TALK, id="22222222-2222-7333-8444-555555555555"))
    program.engine.view(session=other, query=PORT)
    assert len(program.engine._viewer._classifying._turns) == 1
    assert len(program.port.batches) == 2


def test_the_session_of_a_wrong_leaf_is_told(tmp_path: Path) -> None:
    from aforesaid import UsageError

    program = Program(tmp_path)
    with pytest.raises(UsageError):
        program.engine.view(session=program.file, leaf="nobody")
