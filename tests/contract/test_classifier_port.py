"""`ports.ClassifierPort` over the bridge and over a fake, with the tests that are shipped for those of others."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest
from tests.classifiers import Fixed

from aforesaid.classification import Classifier
from aforesaid.extractive.salience import Asker
from aforesaid.hosts.views import HostClassifier
from aforesaid.testing import ClassifierPortContract, check_classifier_port

if TYPE_CHECKING:
    from collections.abc import Callable

    from aforesaid.classification import Batch
    from aforesaid.ports import ClassifierPort

ASKER = Asker(session="s1", provider="typesafe", model="org/one")


def host(method: str, params: dict[str, Any], then: Callable[[object], None]) -> None:
    """A host that answers from a thread of its own, as a service hears it."""
    assert method == "classify"
    assert {"session", "provider", "model", "rubric", "state", "questions"} == set(params)
    answers = {name: {"type": "bool", "probability": 0.5} for name in params["questions"]}
    told = {"outcome": "answered", "result": {"stopReason": "stop", "answers": answers, "usage": None}}
    threading.Thread(target=then, args=(told,)).start()


class TestOverTheBridge(ClassifierPortContract):
    def make(self) -> ClassifierPort:
        return HostClassifier(host, ASKER, "typesafe-system-one")


class TestOfAProgram(ClassifierPortContract):
    def make(self) -> ClassifierPort:
        return Fixed()


class Wrong(Fixed):
    """Breaks one rule at a time."""

    def __init__(self, fault: str) -> None:
        super().__init__()
        self.fault = fault

    @property
    def classifier(self) -> Classifier:
        if self.fault == "nameless":
            return Classifier(provider="", model="", api="")
        return super().classifier

    def classify(self, batch: Batch, seconds: float, answer: Callable[[object], None]) -> None:
        if self.fault == "twice":
            super().classify(batch, seconds, answer)
        if self.fault == "wrong":
            answer({"outcome": "answered", "result": {"stopReason": "stop", "answers": {}}})
        elif self.fault == "unknown":
            answer({"outcome": "whatever"})
        elif self.fault == "failed":
            answer({"outcome": "classifier-error"})
        elif self.fault == "nothing":
            answer(None)
        elif self.fault != "silent":
            super().classify(batch, seconds, answer)


@pytest.mark.parametrize("fault", ["nameless", "twice", "wrong", "unknown", "failed", "nothing"])
def test_the_contract_notices_a_port_that_breaks_it(fault: str) -> None:
    with pytest.raises(AssertionError):
        check_classifier_port(Wrong(fault))


def test_the_contract_notices_a_port_that_says_nothing() -> None:
    class Given(ClassifierPortContract):
        seconds = 0.2

        def make(self) -> ClassifierPort:
            return Wrong("silent")

    with pytest.raises(AssertionError, match="in time"):
        Given().test_every_bundle_gets_its_probability()
    with pytest.raises(NotImplementedError):
        ClassifierPortContract().make()


def test_a_port_that_keeps_the_contract_passes() -> None:
    check_classifier_port(Fixed())
