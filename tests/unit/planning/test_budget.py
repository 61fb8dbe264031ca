"""The edges of the budget: what exactly fits, and what is one token too much."""

from __future__ import annotations

import pytest
from tests.plans import message, turn

from aforesaid.planning.budget import CAP, NO_ROOM, fit_native, fit_summaries, set_limits
from aforesaid.planning.groups import make_groups
from aforesaid.planning.values import Limits, Message, PlanOptions

LIMITS = Limits(window=1000, reserve=0, target=700, soft=800, hard=900)
NO_SHARE = PlanOptions(max_retrieved_tokens=0, max_project_tokens=0)


def kept(*messages: Message, tail: int = 10**6, limits: Limits = LIMITS) -> dict[str, str]:
    """Why each group is in or out, by its first entry. Without a share of supplements, so that figures stay round."""
    options = PlanOptions(max_retrieved_tokens=0, max_project_tokens=0, recent_tail_tokens=tail)
    groups = make_groups(messages)
    native = fit_native(groups, len(messages) - 1, 0, limits, options)
    return {
        str(messages[group.members[0]].entry_id): reason for group, reason in zip(groups, native.reasons, strict=True)
    }


def ask(tokens: int = 100) -> Message:
    return message("request", tokens, "now")


def test_the_soft_limit_itself_is_still_whole() -> None:
    assert set(kept(*turn(1, 350, 350), ask()).values()) == {"whole", "current-request"}
    assert kept(*turn(1, 350, 351), ask())["q1"] == "oversized"


def test_the_tail_is_filled_to_the_last_token() -> None:
    old = turn(1, 250, 250)
    assert kept(*old, *turn(2, 300, 300), ask())["q2"] == "recent-tail"
    assert kept(*old, *turn(2, 300, 301), ask())["q2"] == "oversized"
    assert kept(*old, *turn(2, 150, 150), *turn(3, 150, 150), ask())["q2"] == "recent-tail"
    assert kept(*old, *turn(2, 150, 151), *turn(3, 150, 150), ask())["q2"] == "outside-recent-tail"


def test_a_turn_of_exactly_the_room_of_a_tail_ends_it_and_a_larger_one_is_passed_over() -> None:
    old, latest = turn(1, 50, 50), turn(3, 50, 50)
    assert kept(*old, *turn(2, 150, 150), *latest, *turn(4, 200, 200), ask(), tail=300)["q1"] == "outside-recent-tail"
    fates = kept(*old, *turn(2, 150, 150), *latest, ask(400), tail=300)
    assert (fates["q3"], fates["q2"], fates["q1"]) == ("recent-tail", "outside-recent-tail", "outside-recent-tail")
    fates = kept(*old, *turn(2, 150, 151), *latest, ask(400), tail=300)
    assert (fates["q3"], fates["q2"], fates["q1"]) == ("recent-tail", "oversized", "recent-tail")


def test_the_turn_before_the_request_may_fill_the_target_to_the_last_token() -> None:
    old = turn(1, 200, 200)
    assert kept(*old, *turn(2, 300, 300), ask(), tail=10)["q2"] == "predecessor"
    assert kept(*old, *turn(2, 300, 301), ask(), tail=10)["q2"] == "oversized"
    # A result whose call is gone does not take its place, but its tokens count.
    orphan = message("result", 10, "r", answers="gone")
    fates = kept(*old, *turn(2, 300, 290), orphan, ask(), tail=10)
    assert (fates["r"], fates["q2"], fates["q1"]) == ("recent-tail", "predecessor", "oversized")
    assert kept(*old, *turn(2, 300, 291), orphan, ask(), tail=10)["q2"] == "oversized"


def test_a_result_without_its_call_never_ends_the_tail() -> None:
    orphan = message("result", 150, "r", answers="gone")
    fates = kept(*turn(1, 20, 20), orphan, *turn(2, 75, 75), *turn(3, 300, 300), ask(101), tail=200)
    assert fates["q3"] == "oversized"
    assert (fates["q2"], fates["r"]) == ("recent-tail", "outside-recent-tail")
    assert fates["q1"] == "recent-tail"  # 40 of the 50 that are left


def test_a_tail_may_begin_exactly_at_a_step() -> None:
    """Steps of 87. Turns of 29 begin at steps, and the turn that begins at the next step begins the tail."""
    turns = [message("request", 29, f"q{number}") for number in range(30)]  # 870 tokens
    for tail in (29 * 27, 29 * 26, 29 * 25, 29 * 24, 29 * 23):
        limits = Limits(window=1000, reserve=0, target=87 * 8 + 200, soft=896, hard=999)
        step = limits.target // 8
        assert step == 112
        fates = kept(*turns, ask(), tail=tail, limits=limits)
        first = next(number for number in range(30) if fates[f"q{number}"] == "recent-tail")
        before = 30 - tail // 29
        goal = -(-before * 29 // step) * step
        assert first * 29 <= goal < (first + 1) * 29
    exact = Limits(window=1000, reserve=0, target=8 * 58, soft=500, hard=999)
    fates = kept(*turns, message("request", 1, "now"), tail=29 * 11, limits=exact)
    # 19 turns are left out, and the step of 58 is full after 20: exactly there the tail begins.
    assert [fates[f"q{number}"] for number in (19, 20)] == ["outside-recent-tail", "recent-tail"]


@pytest.mark.parametrize(("cap", "room", "reason"), [(50, 700, ""), (49, 700, CAP), (50, 249, NO_ROOM), (50, 250, "")])
def test_a_summary_fits_to_the_last_token(cap: int, room: int, reason: str) -> None:
    messages = [message("summary", 50, "sum"), *turn(1, 500, 400), ask(200)]
    groups = make_groups(messages)
    limits = Limits(window=1000, reserve=0, target=room, soft=800, hard=900)
    native = fit_native(groups, len(messages) - 1, 0, limits, NO_SHARE)
    flags, reasons, spent = fit_summaries(groups, native, native.tokens, PlanOptions(max_summary_tokens=cap))
    assert (flags[0], reasons[0], spent) == ((not reason), reason or "summary", 200 + (0 if reason else 50))


def test_later_summaries_come_first_and_share_one_cap() -> None:
    messages = [
        message("summary", 40, "one"), message("summary", 70, "two"), message("summary", 50, "three"),
        *turn(1, 500, 400), ask(200),
    ]  # fmt: skip
    groups = make_groups(messages)
    native = fit_native(groups, len(messages) - 1, 0, LIMITS, NO_SHARE)
    flags, reasons, spent = fit_summaries(groups, native, native.tokens, PlanOptions(max_summary_tokens=100))
    assert flags[:3] == (True, False, True)
    assert (reasons[1], spent) == (CAP, 290)
    flags, _, _ = fit_summaries(groups, native, native.tokens, PlanOptions(max_summary_tokens=80))
    assert flags[:3] == (False, False, True)


@pytest.mark.parametrize(
    ("window", "reserve", "expected"),
    [
        (1000, 0, (700, 800, 900)),
        (1000, 150, (700, 800, 850)),
        (1000, 250, (700, 750, 750)),
        (1000, 400, (600, 600, 600)),
        (1000, 2000, (0, 0, 0)),
        (1, None, (0, 0, 0)),
    ],
)
def test_limits(window: int, reserve: int | None, expected: tuple[int, int, int]) -> None:
    limits = set_limits(window, reserve, PlanOptions())
    assert (limits.target, limits.soft, limits.hard) == expected
