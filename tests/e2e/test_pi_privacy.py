"""The privacy policy in the real Pi: what the model server really gets, for a remote provider and for a local one."""

from __future__ import annotations

import json
from typing import Any

from tests.realpi import QUESTION, Home, Model, Pi, evidence, fill, needs_pi, text_of

pytestmark = needs_pi

CANARY = "xylograph5433"
OPEN = "Remember: the gateway `PG_PORT` is written on the wall, quince7."
SECRET = f"Remember: the gateway `PG_PORT` is [aforesaid:local-only]{CANARY}[/aforesaid:local-only] because of a clash."


def configure(home: Home, **options: object) -> None:
    for key, value in options.items():
        home.aforesaid("config", "set", f"privacy.{key}", json.dumps(value))


def lose_both(pi: Pi) -> None:
    pi.prompt(SECRET)
    pi.prompt(OPEN)
    fill(pi)
    pi.ask("compact")


def sent(model: Model, since: int) -> str:
    return json.dumps(model.requests[since:])


def test_a_remote_provider_gets_what_is_permitted_and_nothing_of_what_is_not(home: Home, model: Model) -> None:
    configure(home, enabled=True)
    with Pi(home) as pi:
        lose_both(pi)
        since = len(model.requests)
        pi.prompt(QUESTION)
        pi.prompt("and PG_PORT once more, with 'because of a clash'?")
        assert CANARY not in sent(model, since)
        (place,) = evidence(model.calls[since - len(model.summaries)])
        assert "quince7" in text_of(model.calls[since - len(model.summaries)][place])
        assert (pi.faults, pi.notices) == ([], [])
        told = pi.say("/context privacy")
        assert "the policy is on" in told
        assert "privacy-marker" in told
        assert CANARY not in pi.say("/context excluded all") + pi.say("/context manifest") + told


def test_a_local_provider_gets_all_of_it(home: Home, model: Model) -> None:
    configure(home, enabled=True, localProviders=["fake"])
    with Pi(home) as pi:
        lose_both(pi)
        since = len(model.requests)
        pi.prompt(QUESTION)
        assert CANARY in sent(model, since)
        assert len(evidence(model.calls[-1])) == 2


def test_a_policy_that_cannot_be_read_blocks_the_text_and_not_the_call(home: Home, model: Model) -> None:
    configure(home, enabled=True, localProviders=["fake"])
    (file,) = (home.folder / "config").rglob("config.json")
    file.write_text(file.read_text().replace("true", '"yes"'))
    with Pi(home) as pi:
        lose_both(pi)
        since = len(model.requests)
        pi.prompt(QUESTION)
        assert len(model.requests) == since + 1
        assert text_of(model.calls[-1][-1]) == QUESTION
        assert evidence(model.calls[-1]) == []
        assert "could not be read" in pi.say("/context privacy")


def test_what_was_selected_for_a_local_provider_does_not_go_to_a_remote_one(home: Home, model: Model) -> None:
    """The user changes the model in the middle of a run, between two calls of the same request."""
    file = home.agent / "models.json"
    known = json.loads(file.read_text())
    known["providers"]["here"] = known["providers"]["fake"]
    file.write_text(json.dumps(known))
    configure(home, enabled=True, localProviders=["here"])

    def script(body: dict[str, Any]) -> Any:
        if text_of(body["messages"][-1]) == QUESTION:
            return {"tool": "bash", "arguments": {"command": "sleep 1"}}
        return "done"

    with Pi(home) as pi:
        lose_both(pi)
        pi.ask("set_model", provider="here", modelId="fake-1")
        model.script = script
        since = len(model.requests)
        pi.ask("prompt", message=QUESTION)
        pi.wait(lambda event: event.get("type") == "tool_execution_start")
        pi.ask("set_model", provider="fake", modelId="fake-1")
        pi.wait(lambda event: event.get("type") == "agent_settled")
        assert len(model.requests) == since + 2
        assert CANARY in json.dumps(model.requests[since])
        assert "quince7" in json.dumps(model.requests[since + 1])
        assert CANARY not in json.dumps(model.requests[since + 1])
