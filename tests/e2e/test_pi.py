"""The extension in the real Pi: what goes to the model, and what never does."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from tests.conftest import ROOT
from tests.realpi import (
    FACT,
    FRAME,
    OFF_TOPIC,
    PROBE,
    QUESTION,
    TOOLS,
    Home,
    Model,
    Pi,
    carries_the_fact,
    evidence,
    fill,
    lose_the_fact,
    needs_pi,
    text_of,
)  # fmt: skip

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = needs_pi
NOTING = ROOT / "tests" / "fixtures" / "pi" / "noting.ts"


def is_clean(home: Home, model: Model) -> None:
    """Nothing of ours was ever stored by Pi or summarised."""
    for file in home.session_files():
        assert FRAME not in file.read_text(encoding="utf-8").encode().decode("unicode_escape", "ignore")
        assert "AFORESAID HISTORICAL" not in file.read_text(encoding="utf-8")
    assert not any("AFORESAID HISTORICAL" in text_of(message) for request in model.summaries for message in request)


def test_a_fact_that_was_compacted_away_comes_back_with_the_request_that_needs_it(home: Home, model: Model) -> None:
    with Pi(home) as pi:
        lose_the_fact(pi)
        assert len(model.summaries) == 1
        pi.prompt(QUESTION)
        request = model.calls[-1]
        assert carries_the_fact(request)
        assert text_of(request[-1]) == QUESTION
        pi.prompt(OFF_TOPIC)
        assert evidence(model.calls[-1]) == []
        fill(pi, 3)
        pi.ask("compact")
        assert len(model.summaries) == 2
        assert (pi.faults, pi.notices) == ([], [])
    is_clean(home, model)


def test_every_call_of_a_tool_turn_has_the_same_evidence_in_the_same_place(home: Home, model: Model) -> None:
    asked: list[Any] = []

    def script(body: dict[str, Any]) -> Any:
        last = body["messages"][-1]
        if text_of(last) == QUESTION or (last["role"] == "tool" and len(asked) < 3):
            asked.append(last)
            return {"tool": "bash", "arguments": {"command": "echo PG_PORT walnut"}, "id": f"call_{len(asked)}"}
        return "done"

    with Pi(home) as pi:
        lose_the_fact(pi)
        model.script = script
        before = len(model.calls)
        pi.prompt(QUESTION)
        calls = model.calls[before:]
        assert len(calls) == 4
        assert all(carries_the_fact(call) for call in calls)
        for earlier, later in pairwise(calls):
            assert later[: len(earlier)] == earlier
        assert (pi.faults, pi.notices) == ([], [])
    is_clean(home, model)


def plans(home: Home) -> int:
    """How many calls were planned so far."""
    with closing(sqlite3.connect(home.store / "manifests.db")) as kept:
        return int(kept.execute("SELECT count(*) FROM manifest").fetchone()[0])


def test_a_call_is_planned_once_although_it_is_asked_about_ahead(home: Home, model: Model) -> None:
    with Pi(home) as pi:
        lose_the_fact(pi)
        pi.prompt("so far, so good")
        before = plans(home)
        for text in (QUESTION, OFF_TOPIC, QUESTION):
            pi.prompt(text)
            assert bool(evidence(model.calls[-1])) == (text == QUESTION)
        pi.say("/context health")
        assert plans(home) == before + 3
        assert (pi.faults, pi.notices[:-1]) == ([], [])


def test_what_was_asked_ahead_is_not_taken_when_more_comes_after_the_request(home: Home, model: Model) -> None:
    with Pi(home, "-e", str(NOTING)) as pi:
        lose_the_fact(pi)
        pi.prompt("so far, so good")
        before = plans(home)
        pi.prompt(QUESTION)
        assert carries_the_fact(model.calls[-1])
        assert text_of(model.calls[-1][-1]) == "mind the style of the house"
        pi.say("/context health")
        assert plans(home) == before + 2, "it was asked ahead, and again about what Pi really sends"
        assert pi.faults == []


def test_a_steering_message_moves_nothing_and_a_follow_up_is_a_request_of_its_own(home: Home, model: Model) -> None:
    def script(body: dict[str, Any]) -> Any:
        return (
            {"tool": "bash", "arguments": {"command": "sleep 0.7"}}
            if text_of(body["messages"][-1]) == QUESTION
            else "done"
        )

    with Pi(home) as pi:
        lose_the_fact(pi)
        model.script = script
        before = len(model.calls)
        pi.ask("prompt", message=QUESTION)
        pi.wait(lambda event: event.get("type") == "tool_execution_start")
        pi.ask("steer", message="hurry up, please")
        pi.ask("follow_up", message=OFF_TOPIC)
        pi.wait(lambda event: event.get("type") == "agent_settled")
        first, steered, followed = model.calls[before:]
        assert carries_the_fact(first)
        assert carries_the_fact(steered)
        assert text_of(steered[-1]) == "hurry up, please"
        assert steered[: len(first)] == first
        assert text_of(followed[-1]) == OFF_TOPIC
        assert evidence(followed) == []


def test_a_threshold_compaction_loses_nothing(tmp_path: Path, model: Model) -> None:
    home = Home(tmp_path, model, window=6000, compaction={"reserveTokens": 2500, "keepRecentTokens": 400})
    home.aforesaid("install", "pi")
    model.tokens = lambda body: sum(len(text_of(message)) for message in body["messages"]) // 3
    with Pi(home) as pi:
        pi.prompt(FACT)
        for _ in range(40):
            fill(pi, 1)
            if model.summaries:
                break
        assert model.summaries, "nothing was compacted"
        pi.prompt(QUESTION)
        assert carries_the_fact(model.calls[-1])
        assert not any(FACT in text_of(message) for message in model.calls[-1][: evidence(model.calls[-1])[0]])
        assert (pi.faults, pi.notices) == ([], [])
    is_clean(home, model)


def test_an_overflow_is_compacted_and_the_retry_carries_what_was_lost(home: Home, model: Model) -> None:
    failed: list[Any] = []

    def script(body: dict[str, Any]) -> Any:
        if text_of(body["messages"][-1]) == QUESTION and not failed:
            failed.append(body)
            return {"status": 400, "error": {"code": "context_length_exceeded", "message": "prompt is too long"}}
        return "fine"

    model.script = script
    with Pi(home) as pi:
        pi.prompt(FACT)
        fill(pi)
        pi.prompt(QUESTION)
        assert len(failed) == 1
        assert evidence(failed[0]["messages"]) == [], "the fact was still in the context"
        assert len(model.summaries) >= 1
        assert carries_the_fact(model.calls[-1])
        assert (pi.faults, pi.notices) == ([], [])
    is_clean(home, model)


def test_a_compaction_within_a_run_ends_the_selection_and_the_next_call_gets_a_new_one(
    home: Home, model: Model
) -> None:
    def script(body: dict[str, Any]) -> Any:
        at = len(body["messages"]) - 1
        tools = sum(message["role"] == "tool" for message in body["messages"])
        if text_of(body["messages"][at]) == QUESTION or (body["messages"][at]["role"] == "tool" and tools < 2):
            return {"tool": "bash", "arguments": {"command": "echo step"}, "id": f"call_{at}"}
        return "done"

    with Pi(home) as pi:
        pi.prompt(FACT)
        fill(pi)
        model.script = script
        before = len(model.calls)
        # The answer to the first call of the run fills the window, so Pi compacts before the next call.
        model.tokens = lambda body: 127_500 if text_of(body["messages"][-1]) == QUESTION else 1_000
        pi.prompt(QUESTION)
        first, *others = model.calls[before:]
        assert len(model.summaries) == 1
        assert evidence(first) == [], "the fact was still in the context"
        assert others
        assert all(carries_the_fact(call) for call in others)
        assert (pi.faults, pi.notices) == ([], [])
    is_clean(home, model)


def test_system_messages_between_others_stay_where_they_are(tmp_path: Path, model: Model) -> None:
    home = Home(tmp_path, model, compat={"supportsMidConvoSystemMessages": True, "supportsMidConvoToolAdditions": True})
    home.aforesaid("install", "pi")
    with Pi(home, "-e", str(TOOLS)) as pi:
        pi.prompt("/tools bash read")
        lose_the_fact(pi)
        pi.prompt("/tools bash read alpha")
        pi.prompt("hello alpha")
        before = model.calls[-1]
        assert [message["role"] for message in before].count("system") == 2
        pi.prompt(QUESTION)
        call = model.calls[-1]
        assert carries_the_fact(call)
        assert call[: len(before)] == before
        assert model.requests[-1]["tools"] == model.requests[-2]["tools"]
        assert (pi.faults, pi.notices) == ([], [])


def test_print_mode_gets_its_evidence_too(home: Home, model: Model) -> None:
    with Pi(home) as pi:
        lose_the_fact(pi)
    done = home.print("-c", QUESTION)
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, b"fine", b"")
    assert carries_the_fact(model.calls[-1])
    is_clean(home, model)


def test_a_session_that_pi_keeps_no_file_of_works_from_memory(home: Home, model: Model) -> None:
    with Pi(home, "--no-session") as pi:
        lose_the_fact(pi)
        pi.prompt(QUESTION)
        assert carries_the_fact(model.calls[-1])
        pi.prompt(OFF_TOPIC)
        assert evidence(model.calls[-1]) == []
        assert (pi.faults, pi.notices) == ([], [])
    assert home.session_files() == []
    stored = [file for file in home.store.rglob("*") if file.is_file()] if home.store.exists() else []
    assert not any(b"5433" in file.read_bytes() for file in stored)


# --- branches and sessions ------------------------------------------------------------------------------------------


def entries(pi: Pi) -> list[dict[str, Any]]:
    return list(json.loads(pi.say("/entries"))["rows"])


def users(pi: Pi) -> list[str]:
    return [row["id"] for row in entries(pi) if row.get("role") == "user"]


@pytest.mark.parametrize("summarize", [False, True])
def test_what_was_said_on_another_branch_never_comes_back(home: Home, model: Model, summarize: bool) -> None:
    with Pi(home, "-e", str(PROBE)) as pi:
        pi.prompt("let us begin")
        pi.prompt(FACT)
        fill(pi, 3)
        second = users(pi)[1]
        pi.say(f"/goto {second}{' summarize' if summarize else ''}")
        assert bool(model.summaries) == summarize
        pi.prompt(QUESTION)
        assert evidence(model.calls[-1]) == []
        assert not any("5433" in text_of(message) for message in model.calls[-1])
        assert (pi.faults, [notice for notice in pi.notices if "aforesaid" in notice]) == ([], [])


def test_forks_clones_and_restarts_stay_on_their_branch(home: Home, model: Model) -> None:
    with Pi(home, "-e", str(PROBE)) as pi:
        lose_the_fact(pi)
        pi.prompt("the side door `SIDE_DOOR` is green")
        first, *_, side = users(pi)
        pi.ask("clone")
        pi.prompt(QUESTION)
        assert carries_the_fact(model.calls[-1])
        pi.ask("fork", entryId=side)
        pi.prompt("what colour has SIDE_DOOR?")
        assert evidence(model.calls[-1]) == []
        pi.prompt(QUESTION)
        assert carries_the_fact(model.calls[-1])
        pi.ask("fork", entryId=first)
        pi.prompt(QUESTION)
        assert evidence(model.calls[-1]) == []
        pi.ask("new_session")
        pi.prompt(QUESTION)
        assert evidence(model.calls[-1]) == []
        cloned = next(file for file in home.session_files() if FACT in file.read_text().replace("\\", ""))
        pi.ask("switch_session", sessionPath=str(cloned))
        pi.prompt(QUESTION)
        assert carries_the_fact(model.calls[-1])
        assert (pi.faults, [notice for notice in pi.notices if "aforesaid" in notice]) == ([], [])
    with Pi(home, "--session", str(cloned)) as pi:
        pi.prompt(QUESTION)
        assert carries_the_fact(model.calls[-1])
        assert (pi.faults, pi.notices) == ([], [])
    is_clean(home, model)


def test_a_reload_goes_on_with_a_new_service(home: Home, model: Model) -> None:
    with Pi(home, "-e", str(PROBE)) as pi:
        lose_the_fact(pi)
        pi.prompt("/reload")
        pi.say("/context health")  # the new service is there
        pi.prompt(QUESTION)
        assert carries_the_fact(model.calls[-1])
        assert pi.faults == []


def test_a_second_copy_of_the_extension_stays_silent(home: Home, model: Model) -> None:
    copy = home.agent / "extensions" / "copy.ts"
    copy.write_bytes(home.loader.read_bytes())
    with Pi(home) as pi:
        lose_the_fact(pi)
        pi.prompt(QUESTION)
        assert carries_the_fact(model.calls[-1])
        assert "1 model call" not in pi.say("/context status")
        assert (pi.faults, len(pi.children())) == ([], 1)
        assert pi.close() == 0
