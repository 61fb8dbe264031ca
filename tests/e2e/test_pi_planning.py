"""What the plan does to the calls of the real Pi: other placements, retries, and windows that are too small."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from tests.realpi import (
    FACT,
    OFF_TOPIC,
    QUESTION,
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


def one_step(body: dict[str, Any]) -> Any:
    """A tool before the answer to the question."""
    asked = text_of(body["messages"][-1]) == QUESTION
    return {"tool": "bash", "arguments": {"command": "echo step"}} if asked else "done"


@pytest.mark.parametrize(("placement", "place"), [("stable-prefix", 2), ("hybrid", 6)])
def test_evidence_stands_where_the_user_wants_it_on_every_call_of_a_run(
    home: Home, model: Model, placement: str, place: int
) -> None:
    home.aforesaid("config", "set", "context.supplementalPlacement", placement)
    with Pi(home) as pi:
        lose_the_fact(pi)
        model.script = one_step
        before = len(model.calls)
        pi.prompt(QUESTION)
        first, second = model.calls[before:]
        # The system prompt, the summary, four messages that were kept, the request.
        assert evidence(first) == [place]
        assert "5433" in text_of(first[place])
        assert text_of(first[-1]) == QUESTION
        assert second[: len(first)] == first
        pi.prompt(OFF_TOPIC)
        assert evidence(model.calls[-1]) == []
        assert (pi.faults, pi.notices) == ([], [])


def test_a_retry_sends_the_same_bytes(tmp_path: Path, model: Model) -> None:
    home = Home(tmp_path, model, retry={"enabled": True, "maxRetries": 3, "baseDelayMs": 10})
    home.aforesaid("install", "pi")
    failed: list[Any] = []

    def script(body: dict[str, Any]) -> Any:
        if text_of(body["messages"][-1]) == QUESTION and len(failed) < 2:
            failed.append(body)
            return {"status": 500, "error": {"type": "overloaded_error", "message": "overloaded"}}
        return "fine"

    with Pi(home) as pi:
        lose_the_fact(pi)
        model.script = script
        before = len(model.calls)
        pi.ask("prompt", message=QUESTION)
        pi.wait(lambda event: event.get("type") == "agent_settled" and len(model.calls) == before + 3)
        assert len(failed) == 2
        calls = model.calls[before:]
        assert carries_the_fact(calls[0])
        assert calls[0] == calls[1] == calls[2]
        assert (pi.faults, pi.notices) == ([], [])


def test_what_a_small_window_cannot_hold_comes_back_as_evidence(tmp_path: Path, model: Model) -> None:
    """Pi would send everything. The plan leaves whole turns out, and says it of the entry that the request needs."""
    home = Home(tmp_path, model, window=20_000, compaction={"enabled": False})
    home.aforesaid("install", "pi")
    with Pi(home) as pi:
        pi.prompt(FACT)
        model.script = lambda body: (
            {"tool": "bash", "arguments": {"command": "echo pears"}, "id": f"call_{len(body['messages'])}"}
            if body["messages"][-1]["role"] == "user"
            else "sour and sweet fruit " * 250
        )
        fill(pi, 14)
        model.script = one_step
        before = len(model.calls)
        pi.prompt(QUESTION)
        calls = model.calls[before:]
        assert len(calls) == 2
        for call in calls:
            (place,) = evidence(call)
            assert "5433" in text_of(call[place])
            assert text_of(call[place + 1]) == QUESTION
            assert FACT not in [text_of(message) for message in call]
            made = {tool["id"] for message in call for tool in message.get("tool_calls", ())}
            answered = {message["tool_call_id"] for message in call if message["role"] == "tool"}
            assert made == answered
        for earlier, later in pairwise(calls):
            assert later[: len(earlier)] == earlier
        assert pi.say("/context manifest").startswith("planned (over-soft-limit)")
        assert "outside-recent-tail" in pi.say("/context excluded all")
        assert pi.faults == []
    (file,) = home.session_files()
    assert FACT in file.read_text(encoding="utf-8")


def test_what_pi_counts_in_its_context_leaves_less_room_for_evidence(home: Home, model: Model) -> None:
    """The provider counts more than anybody can estimate: its own prompt, its own tokens."""
    with Pi(home) as pi:
        lose_the_fact(pi)
        counted: dict[int, bool] = {}
        for used in (100, 60_000, 102_300, 100):
            model.tokens = lambda _, used=used: used  # type: ignore[misc]  # the loop's value
            pi.prompt(OFF_TOPIC)
            pi.prompt(QUESTION)
            counted[used] = bool(evidence(model.calls[-1]))
            tokens = pi.say("/context tokens")
            assert text_of(model.calls[-1][-1]) == QUESTION
            if used == 60_000:
                (alone,) = re.findall(r"Pi alone: ([\d,]+) tokens", tokens)
                assert 60_000 <= int(alone.replace(",", "")) <= 60_300
        assert counted == {100: True, 60_000: True, 102_300: False}
        assert pi.faults == []


def test_what_pi_counted_before_a_compaction_counts_no_more(home: Home, model: Model) -> None:
    with Pi(home) as pi:
        lose_the_fact(pi)
        model.tokens = lambda _: 102_300
        fill(pi, 4)
        model.tokens = lambda _: 100
        pi.ask("compact")
        pi.prompt(QUESTION)
        assert carries_the_fact(model.calls[-1])
        assert pi.faults == []
