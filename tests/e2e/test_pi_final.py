"""The final messages of the real Pi: what reaches the model server while the privacy policy is on, or comes on."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.realpi import (
    FACT,
    PROBE,
    QUESTION,
    TOOLS,
    Home,
    Model,
    Pi,
    evidence,
    fill,
    lose_the_fact,
    needs_pi,
    text_of,
)  # fmt: skip

pytestmark = needs_pi

LATE = TOOLS.parent / "late.ts"
CANARY = "xylograph5433"
MARKED = f"so that `PG_PORT` is [aforesaid:local-only]{CANARY}[/aforesaid:local-only], and nobody asks"
HIDDEN = "[withheld by aforesaid: local-only]"
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="signals, and children in /proc")


def configure(home: Home, **options: object) -> None:
    for key, value in options.items():
        home.aforesaid("config", "set", f"privacy.{key}", json.dumps(value))


def config_file(home: Home) -> Path:
    (file,) = (home.folder / "config").rglob("config.json")
    return file


def add_provider(home: Home, name: str, model: str = "fake-1") -> None:
    file = home.agent / "models.json"
    known = json.loads(file.read_text())
    known["providers"][name] = json.loads(json.dumps(known["providers"]["fake"]))
    known["providers"][name]["models"][0]["id"] = model
    file.write_text(json.dumps(known))


def step() -> Any:
    """A model that calls a tool once for the question, which waits for `end_it`, and then is done."""
    command = "until [ -e go ]; do sleep 0.05; done; rm go"

    def script(body: dict[str, Any]) -> Any:
        if text_of(body["messages"][-1]) == QUESTION:
            return {"tool": "bash", "arguments": {"command": command}}
        return "done"

    return script


def begin_a_step(pi: Pi) -> None:
    pi.ask("prompt", message=QUESTION)
    pi.wait(lambda event: event.get("type") == "tool_execution_start")


def end_it(pi: Pi) -> None:
    (pi.home.work / "go").touch()
    pi.wait(lambda event: event.get("type") == "agent_settled")


# --- Pi's own messages ----------------------------------------------------------------------------------------------


def test_what_is_marked_in_messages_of_the_user_stays_here_for_remote_providers_only(home: Home, model: Model) -> None:
    add_provider(home, "here")
    configure(home, enabled=True, localProviders=["here"])
    with Pi(home) as pi:
        pi.prompt(MARKED)
        assert text_of(model.calls[-1][-1]) == f"so that `PG_PORT` is {HIDDEN}, and nobody asks"
        pi.prompt("a stray [/aforesaid:sensitive] raises all of this")
        assert text_of(model.calls[-1][-1]) == "[withheld by aforesaid: sensitive]"
        pi.prompt("go on")
        assert CANARY not in json.dumps(model.requests)
        assert [text_of(message) for message in model.calls[-1]].count("fine") == 2
        pi.ask("set_model", provider="here", modelId="fake-1")
        pi.prompt("and now?")
        assert CANARY in json.dumps(model.calls[-1])
        assert (pi.faults, pi.notices) == ([], [])
    assert CANARY in home.session_files()[-1].read_text()


def test_what_a_tool_read_from_a_ruled_path_stays_here(home: Home, model: Model) -> None:
    (home.work / "secrets").mkdir()
    (home.work / "secrets" / "key.txt").write_text(CANARY)
    (home.work / "open.txt").write_text("quince7")
    configure(home, enabled=True, rules=[{"path": "secrets/**", "classification": "sensitive"}])
    commands = iter(["cat secrets/key.txt", "cat open.txt", "cd secrets && cat key.txt"])

    def script(body: dict[str, Any]) -> Any:
        if text_of(body["messages"][-1]).startswith("go on"):
            return {"tool": "bash", "arguments": {"command": next(commands)}}
        return "done"

    model.script = script
    with Pi(home) as pi:
        for turn in range(3):
            pi.prompt(f"go on, {turn}, but leave secrets/key.txt alone")
        results = [text_of(message) for message in model.calls[-1] if message["role"] == "tool"]
        assert results == ["[withheld by aforesaid: sensitive]", "quince7", "[withheld by aforesaid: sensitive]"]
        # Naming a path is no secret, and the request must be read.
        assert text_of(model.calls[-1][1]) == "go on, 0, but leave secrets/key.txt alone"
        assert "cat secrets/key.txt" in json.dumps(model.calls[-1])
        assert pi.faults == []


def test_a_project_or_a_default_does_not_empty_the_call(home: Home, model: Model) -> None:
    configure(home, enabled=True, defaultClassification="local-only")
    with Pi(home) as pi:
        lose_the_fact(pi)
        pi.prompt(QUESTION)
        assert text_of(model.calls[-1][-1]) == QUESTION
        assert evidence(model.calls[-1]) == []


def test_summaries_are_made_without_what_is_marked(home: Home, model: Model) -> None:
    add_provider(home, "here")
    configure(home, enabled=True, localProviders=["here"])
    with Pi(home) as pi:
        pi.ask("set_model", provider="here", modelId="fake-1")
        pi.prompt(MARKED)
        model.summary = f"the port is [aforesaid:local-only]{CANARY}[/aforesaid:local-only]"
        fill(pi)
        pi.ask("compact")
        assert CANARY in json.dumps(model.summaries[-1])
        pi.ask("set_model", provider="fake", modelId="fake-1")
        since = len(model.requests)
        pi.prompt(MARKED)
        fill(pi)
        pi.ask("compact")
        assert len(model.summaries) == 2
        assert CANARY not in json.dumps(model.requests[since:])
        assert HIDDEN in json.dumps(model.summaries[-1])
        assert pi.faults == []


@pytest.mark.parametrize("local", [False, True])
def test_a_summary_of_a_branch_that_is_left_is_made_without_what_is_marked(
    home: Home, model: Model, local: bool
) -> None:
    add_provider(home, "here")
    configure(home, enabled=True, localProviders=["here"])
    with Pi(home, "-e", str(PROBE)) as pi:
        pi.ask("set_model", provider="here", modelId="fake-1")
        pi.prompt("let us begin")
        pi.prompt(MARKED)
        fill(pi, 2)
        rows = json.loads(pi.say("/entries"))["rows"]
        first = next(row["id"] for row in rows if row.get("role") == "user")
        pi.ask("set_model", provider="here" if local else "fake", modelId="fake-1")
        since = len(model.requests)
        pi.say(f"/goto {first} summarize")
        (asked,) = model.requests[since:]
        assert (CANARY in json.dumps(asked)) == local
        assert (HIDDEN in json.dumps(asked)) != local
        assert "talk about apples and pears, part 1" in json.dumps(asked)
        assert pi.faults == []
    # What Pi keeps of the branch is not touched.
    assert CANARY in home.session_files()[-1].read_text()


def test_what_a_tool_of_ours_told_a_local_model_is_not_told_a_remote_one(home: Home, model: Model) -> None:
    add_provider(home, "here")
    configure(home, enabled=True, localProviders=["here"])

    def script(body: dict[str, Any]) -> Any:
        if text_of(body["messages"][-1]) == QUESTION:
            return {"tool": "history_recall", "arguments": {"query": "PG_PORT"}}
        return "done"

    with Pi(home) as pi:
        lose_the_fact(pi)
        pi.ask("set_model", provider="here", modelId="fake-1")
        model.script = script
        pi.prompt(QUESTION)
        assert '"hits"' in text_of(model.calls[-1][-1])
        pi.ask("set_model", provider="fake", modelId="fake-1")
        pi.prompt("and now something else, apples")
        (answer,) = [text_of(message) for message in model.calls[-1] if message["role"] == "tool"]
        assert answer == "[withheld by aforesaid: normal]"
        pi.prompt(QUESTION)
        answers = [text_of(message) for message in model.calls[-1] if message["role"] == "tool"]
        assert answers[0] == "[withheld by aforesaid: normal]"
        assert '"hits"' in answers[1]
        assert pi.faults == []


# --- what was frozen ------------------------------------------------------------------------------------------------


CHANGES: tuple[tuple[dict[str, object], dict[str, object]], ...] = (
    ({}, {"enabled": True, "defaultClassification": "sensitive"}),
    ({"enabled": True}, {"rules": [{"project": "/**", "classification": "local-only"}]}),
    ({"enabled": True}, {"remoteDefaultAllowed": []}),
    ({"enabled": True, "localProviders": ["fake"], "defaultClassification": "sensitive"}, {"localProviders": []}),
    ({}, {"enabled": "perhaps"}),
)


def test_a_policy_that_changes_in_a_run_counts_from_the_next_call_on(home: Home, model: Model) -> None:
    """Another process changes the file, as `aforesaid config set` in a second terminal does."""
    configure(home, enabled=False)
    file = config_file(home)
    held = json.loads(file.read_text())

    def write(policy: dict[str, object]) -> None:
        file.write_text(json.dumps({**held, "privacy": policy}))

    with Pi(home) as pi:
        lose_the_fact(pi)
        model.script = step()
        for before, after in CHANGES:
            write(before)
            begin_a_step(pi)
            assert len(evidence(model.calls[-1])) == 1, before
            write({**before, **after})
            end_it(pi)
            assert model.calls[-1][-1]["role"] == "tool"
            assert evidence(model.calls[-1]) == [], after
        assert pi.faults == []


def test_another_change_of_the_configuration_leaves_what_is_frozen(home: Home, model: Model) -> None:
    configure(home, enabled=True)
    with Pi(home) as pi:
        lose_the_fact(pi)
        model.script = step()
        begin_a_step(pi)
        home.aforesaid("config", "set", "retrieval.maxResults", "3")
        end_it(pi)
        before, after = model.calls[-2], model.calls[-1]
        assert len(evidence(after)) == 1
        assert after[: len(before)] == before


@on_linux
def test_a_change_that_nobody_can_judge_takes_the_evidence_away_and_not_the_call(home: Home, model: Model) -> None:
    home.aforesaid("config", "set", "host.timeoutMs", "2000")
    with Pi(home) as pi:
        lose_the_fact(pi)
        model.script = step()
        begin_a_step(pi)
        assert len(evidence(model.calls[-1])) == 1
        (service,) = [child for child in pi.children() if "aforesaid" in _command(child)]
        os.kill(service, signal.SIGSTOP)
        configure(home, enabled=True)
        end_it(pi)
        assert model.calls[-1][-1]["role"] == "tool"
        assert evidence(model.calls[-1]) == []
        assert pi.faults == []
        assert pi.close() == 0


@on_linux
def test_a_service_that_hangs_under_a_policy_costs_what_is_ours_and_what_is_marked(home: Home, model: Model) -> None:
    configure(home, enabled=True)
    home.aforesaid("config", "set", "host.timeoutMs", "2000")
    with Pi(home) as pi:
        lose_the_fact(pi)
        pi.prompt(MARKED)
        pi.prompt(QUESTION)
        assert len(evidence(model.calls[-1])) == 1
        (service,) = [child for child in pi.children() if "aforesaid" in _command(child)]
        os.kill(service, signal.SIGSTOP)
        pi.prompt("a marked [Aforesaid: sensitive] thing that nobody can judge")
        last = [text_of(message) for message in model.calls[-1]]
        assert evidence(model.calls[-1]) == []
        assert last[-1] == HIDDEN
        assert f"so that `PG_PORT` is {HIDDEN}, and nobody asks" in last
        pi.prompt("plain words")
        assert text_of(model.calls[-1][-1]) == "plain words"
        assert CANARY not in json.dumps(model.requests)
        assert pi.faults == []


def _command(process: int) -> str:
    return Path(f"/proc/{process}/cmdline").read_text(encoding="utf-8", errors="replace")


# --- the provider that is really called -----------------------------------------------------------------------------


def test_a_call_that_goes_elsewhere_than_it_was_judged_for_carries_nothing_of_ours(home: Home, model: Model) -> None:
    add_provider(home, "here", "fake-2")
    with Pi(home, "-e", str(LATE), LATE_MODEL="here/fake-2") as pi:
        lose_the_fact(pi)
        pi.ask("set_model", provider="fake", modelId="fake-1")
        pi.prompt(QUESTION)
        assert model.requests[-1]["model"] == "fake-1"
        assert len(evidence(model.calls[-1])) == 1  # without a policy that changes nothing
        pi.ask("set_model", provider="fake", modelId="fake-1")
    configure(home, enabled=True, localProviders=["here"])
    with Pi(home, "-c", "-e", str(LATE), LATE_MODEL="here/fake-2") as pi:
        pi.prompt(QUESTION)
        assert model.requests[-1]["model"] == "fake-1"
        assert text_of(model.calls[-1][-1]) == QUESTION
        assert FACT not in json.dumps(model.calls[-1])
        assert evidence(model.calls[-1]) == []
        # The record says what went out, not what was planned.
        assert "undelivered:another-model" in pi.say("/context excluded")
        assert "retrieved: nothing" in pi.say("/context manifest")
        assert pi.faults == []


def test_a_policy_that_comes_on_after_the_last_look_is_seen_before_the_request(home: Home, model: Model) -> None:
    with Pi(home) as pi:
        lose_the_fact(pi)
        pi.prompt(QUESTION)
    file = config_file(home)
    late = file.with_name("config.json.late")
    late.write_text(json.dumps({**json.loads(file.read_text()), "privacy": {"enabled": True}}))
    with Pi(home, "-c", "-e", str(LATE), LATE_FILE=str(late)) as pi:
        pi.prompt(QUESTION)
        assert text_of(model.calls[-1][-1]) == QUESTION
        assert evidence(model.calls[-1]) == []
        assert pi.faults == []
