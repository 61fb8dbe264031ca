"""`/context …` in the real Pi, in RPC mode and in print mode."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from tests.realpi import QUESTION, Home, Model, Pi, carries_the_fact, evidence, lose_the_fact, needs_pi, text_of

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = needs_pi


@pytest.fixture
def asked(home: Home, model: Model) -> Any:
    with Pi(home) as pi:
        lose_the_fact(pi)
        pi.prompt(QUESTION)
        assert carries_the_fact(model.calls[-1])
        yield pi
        assert pi.faults == []


def test_status_and_health_say_what_happened(asked: Pi) -> None:
    for command in ("/context", "/context status"):
        told = asked.say(command)
        assert "the last one: planned" in told
        assert "1 evidence message" in told
    health = asked.say("/context  health")
    assert "started 1 time" in health
    assert "prompt cache" in health
    assert "damaged: none" in health
    assert str(asked.home.store) in health


def test_retrieved_shows_excerpts_counts_and_latency(asked: Pi) -> None:
    told = asked.say("/context retrieved")
    assert "1 hit of" in told
    assert "5433 because 5432 was taken" in told
    assert "left out:" in told
    assert "of other branches" in told
    assert "by the plan" in told
    assert " ms to retrieve" in told


def test_the_manifest_says_what_went_out_and_what_not(asked: Pi) -> None:
    manifest = asked.say("/context manifest")
    assert manifest.startswith("planned (whole) for fake/fake-1")
    assert "window 128,000 tokens" in manifest
    assert "1 retrieval" in manifest
    included = asked.say("/context included")
    assert "retrieval" in included
    assert "identifier:1" in included
    assert "nothing" in asked.say("/context excluded")
    assert "nothing" in asked.say("/context excluded all")
    explained = asked.say("/context explain")
    assert "names in the request: PG_PORT" in explained
    assert "1 message went before the request" in explained
    tokens = asked.say("/context tokens")
    assert "Pi alone:" in tokens
    assert "the host counts" in tokens
    assert "hard" in tokens
    for shown in (manifest, included, explained, tokens):
        assert "5432 was taken" not in shown


def test_an_observer_is_told_what_would_have_gone(asked: Pi, model: Model) -> None:
    choose(asked, pick("context.mode"), pick("observer"))
    asked.prompt(QUESTION)
    assert evidence(model.calls[-1]) == []
    assert "observer" in asked.say("/context status")
    assert "retrieval" in asked.say("/context excluded")
    assert "(left out)" in asked.say("/context retrieved")


def test_nothing_of_it_reaches_the_model_or_the_session(asked: Pi, model: Model) -> None:
    before = len(model.requests)
    for topic in ("retrieved", "health", "nonsense"):
        asked.say(f"/context {topic}")
    assert len(model.requests) == before
    asked.prompt("how tall is the Eiffel tower?")
    assert not any("evidence message" in text_of(message) for message in model.calls[-1])
    (file,) = asked.home.session_files()
    assert "ms to retrieve" not in file.read_text()


def test_an_unknown_topic_is_answered_with_those_that_there_are(asked: Pi) -> None:
    told = asked.say("/context nonsense")
    assert "there is no topic nonsense" in told
    assert "retrieved" in told


def test_the_index_can_be_rebuilt(asked: Pi) -> None:
    assert "was rebuilt" in asked.say("/context rebuild-index")


def choose(pi: Pi, *answers: Callable[[dict[str, Any]], Any]) -> str:
    """Answers the dialogs of `/context settings` one after another; what is said at the end."""
    before = len(pi.events)
    pi._ids += 1
    pi.send({"id": "dialog", "type": "prompt", "message": "/context settings"})
    for answer in answers:
        request = pi.wait(lambda event: event.get("method") in ("select", "input"))
        value = answer(request)
        reply = {"cancelled": True} if value is None else {"value": value}
        pi.send({"type": "extension_ui_response", "id": request["id"], **reply})
    pi.wait(lambda event: event.get("id") == "dialog")
    return "\n".join(pi._notices(before))


def pick(start: str) -> Callable[[dict[str, Any]], Any]:
    return lambda request: next(option for option in request["options"] if option.startswith(start))


def test_settings_are_changed_in_dialogs_and_count_at_once(asked: Pi, model: Model) -> None:
    told = choose(asked, pick("context.maxRetrievedHistoryTokens"), lambda _: "0")
    assert "context.maxRetrievedHistoryTokens is 0" in told
    asked.prompt(QUESTION)
    assert evidence(model.calls[-1]) == []
    assert "context.maxRetrievedHistoryTokens = 0" in asked.say("/context config")
    choose(asked, pick("context.maxRetrievedHistoryTokens"), lambda _: "16000")
    asked.prompt(QUESTION)
    assert carries_the_fact(model.calls[-1])
    told = choose(asked, pick("retrieval.exact"), pick("false"))
    assert "retrieval.exact is false" in told


def test_a_dialog_can_be_left_and_a_wrong_value_is_refused(asked: Pi) -> None:
    assert choose(asked, lambda _: None) == ""
    assert choose(asked, pick("retrieval.maxResults"), lambda _: None) == ""
    assert "cannot be" in choose(asked, pick("retrieval.maxResults"), lambda _: "1000000")
    assert "retrieval.maxResults" not in asked.say("/context config")


def test_print_mode_prints_the_answer(home: Home, model: Model) -> None:
    done = home.print("/context status")
    assert done.returncode == 0
    # Pi keeps standard output for what the model says.
    assert b"nothing was asked yet" in done.stderr
    listed = home.print("/context settings")
    assert b"retrieval.maxResults = 12" in listed.stderr
    assert model.requests == []


def test_a_session_without_a_file_has_nothing_to_rebuild(home: Home) -> None:
    with Pi(home, "--no-session") as pi:
        pi.prompt("hello")
        assert "in memory" in pi.say("/context rebuild-index")
        assert "memory:" in pi.say("/context status")
        assert json.dumps(pi.faults) == "[]"
