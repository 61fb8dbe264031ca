"""The configuration of a project in the real Pi: it counts if Pi trusts the project, and is left out if not."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from tests.realpi import FACT, QUESTION, Home, Model, Pi, carries_the_fact, evidence, lose_the_fact, needs_pi, text_of

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = needs_pi


def configure(home: Home, **sections: Any) -> Path:
    """A project with a configuration, and with something that Pi asks about."""
    file = home.work / ".aforesaid" / "config.json"
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps(sections))
    (home.work / ".pi").mkdir(exist_ok=True)
    (home.work / ".pi" / "settings.json").write_text("{}")
    return file


def declared(model: Model) -> set[str]:
    return {tool["function"]["name"] for tool in model.requests[0]["tools"]}


def test_the_configuration_of_a_trusted_project_counts_in_its_session(home: Home, model: Model) -> None:
    file = configure(home, historyTools={"enabled": False}, context={"maxRetrievedHistoryTokens": 0})
    with Pi(home, "-a") as pi:
        lose_the_fact(pi)
        assert not any(name.startswith("history_") for name in declared(model)), "from the first request on"
        pi.prompt(QUESTION)
        assert evidence(model.calls[-1]) == []
        assert f"context.maxRetrievedHistoryTokens = 0  ({file})" in pi.say("/context config")
        # What is changed while Pi runs counts from the next call on.
        configure(home, context={"maxRetrievedHistoryTokens": 9000})
        pi.prompt(QUESTION)
        assert carries_the_fact(model.calls[-1])
        assert "9,000 tokens" in pi.say("/context retrieved")
        assert (pi.faults, [notice for notice in pi.notices if "added" in notice]) == ([], [])


def test_the_configuration_of_a_project_that_is_not_trusted_is_left_out_and_that_is_said(
    home: Home, model: Model
) -> None:
    file = configure(home, historyTools={"enabled": False}, context={"maxRetrievedHistoryTokens": 0})
    with Pi(home) as pi:
        lose_the_fact(pi)
        assert "history_recall" in declared(model)
        pi.prompt(QUESTION)
        assert carries_the_fact(model.calls[-1])
        assert f"{file} is left out: the project is not trusted" in pi.say("/context health")
        assert str(file) not in pi.say("/context config")
        assert pi.faults == []


def test_a_trusted_project_makes_privacy_stricter_and_not_looser(home: Home, model: Model) -> None:
    rule = {"project": "/**", "classification": "sensitive"}
    configure(home, privacy={"enabled": True, "rules": [rule], "localProviders": ["fake"]})
    with Pi(home, "-a") as pi:
        lose_the_fact(pi)
        pi.prompt(QUESTION)
        assert evidence(model.calls[-1]) == []
        assert "the policy is on" in pi.say("/context privacy")
        assert "privacy.localProviders" in pi.say("/context health")
    home.aforesaid("config", "set", "privacy.enabled", "true")
    home.aforesaid("config", "set", "privacy.remoteDefaultAllowed", '["internal"]')
    configure(home, privacy={"enabled": False, "remoteDefaultAllowed": ["normal"]})
    with Pi(home, "-a", "-c") as pi:
        pi.prompt(QUESTION)
        assert evidence(model.calls[-1]) == []
        health = pi.say("/context health")
        assert "privacy.enabled is false; a project may say true" in health
        assert "privacy.remoteDefaultAllowed" in health
        assert pi.faults == []
    assert not any(FACT in text_of(message) for message in model.calls[-1])


@pytest.mark.parametrize("trusted", [True, False])
def test_trust_that_was_remembered_is_pis_own(home: Home, model: Model, trusted: bool) -> None:
    configure(home, context={"mode": "observer"})
    (home.agent / "trust.json").write_text(json.dumps({str(home.work.resolve()): trusted}))
    with Pi(home) as pi:
        lose_the_fact(pi)
        pi.prompt(QUESTION)
        assert bool(evidence(model.calls[-1])) is not trusted
        assert pi.faults == []
