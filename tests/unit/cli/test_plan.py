from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.plans import call, found, message, native, turn
from tests.schemas import check

from aforesaid.planning import give_up, plan_context

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.unit.cli.conftest import Done, FakeEngine

    Command = Callable[..., Done]

PLAN = ("plan", "--session", "s", "--context-window", "1000")
LONG = native(message("summary", 10, "sum"), *turn(1, 400, 400), message("request", 10, "now\x1b[2J"))


def test_arguments_go_to_the_engine(command: Command, fake: FakeEngine) -> None:
    fake.answer = plan_context(LONG, call(1000))
    command(*PLAN)
    command(*PLAN, "--leaf", "e1", "--query", "the port", "--model", "faux/m", "--output-reserve", "50")
    nothing = {"leaf": None, "query": None, "model": None, "output_reserve": None}
    assert [named for _, _, named in fake.calls] == [
        {"session": "s", "context_window": 1000, **nothing},
        {
            "session": "s", "context_window": 1000, "leaf": "e1", "query": "the port", "model": "faux/m",
            "output_reserve": 50,
        },
    ]  # fmt: skip


def test_json_is_the_document_of_the_contract(command: Command, fake: FakeEngine) -> None:
    fake.answer = plan_context(LONG, call(1000), retrieve=lambda _: found(30))
    done = command(*PLAN, "--json")
    assert (done.status, done.err) == (0, "")
    document = check("plan", done.out)
    assert (document["status"], document["reason"]) == ("planned", "over-soft-limit")


def test_people_read_what_goes_out_and_what_does_not(command: Command, fake: FakeEngine) -> None:
    fake.answer = plan_context(LONG, call(1000), retrieve=lambda _: found(30, warnings=("fts-failed",)))
    done = command(*PLAN)
    lines = done.out.splitlines()
    assert lines[0] == "planned (over-soft-limit): 3 messages, 50 tokens"
    assert lines[1] == "window 1,000, of that 0 for the answer; target 700, soft limit 800, hard limit 900"
    assert "included: 3 items, 50 tokens" in lines
    assert "left out: 2 items, 800 tokens" in lines
    assert any(line.split() == ["recent", "q1", "400", "tokens", "g1", "oversized"] for line in lines)
    assert "Warning: fts-failed" in lines
    assert "\x1b" not in done.out
    assert "secret words" not in done.out


def test_long_lists_are_cut_without_v(command: Command, fake: FakeEngine) -> None:
    fake.answer = plan_context(native(*(turn(1, 1, 1) * 15), message("request", 1, "now")), call(1000))
    assert "  and 11 earlier ones; -v shows them" in command(*PLAN).out
    assert len(command(*PLAN, "-v").out.splitlines()) == 3 + 1 + 31


@pytest.mark.parametrize("json", [False, True])
def test_a_failed_operation_is_exit_status_1(json: bool, command: Command, fake: FakeEngine) -> None:
    fake.answer = give_up(LONG, call(1000), "store-busy")
    done = command(*PLAN, *(["--json"] if json else []))
    assert done.status == 1
    if json:
        document = check("plan", done.out)
        assert (document["status"], document["reason"], document["warnings"]) == (
            "native",
            "store-busy",
            ["store-busy"],
        )
    else:
        assert done.err.startswith("error[store-busy]: nothing was planned")


def test_a_limit_that_cannot_be_met_is_no_failure(command: Command, fake: FakeEngine) -> None:
    fake.answer = plan_context(native(message("request", 950, "now")), call(1000))
    assert command(*PLAN).status == 0


@pytest.mark.parametrize("wrong", [["--context-window", "many"], ["--context-window"], []])
def test_a_window_must_be_given(wrong: list[str], command: Command, fake: FakeEngine) -> None:
    assert command("plan", "--session", "s", *wrong).status == 2
