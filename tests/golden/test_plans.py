"""Plans worked out by hand: contexts, limits, and exactly what goes out and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.plans import call, found, message, native, passage, turn, view

from aforesaid.planning import plan_context
from aforesaid.planning.values import Limits

if TYPE_CHECKING:
    from aforesaid.planning.values import NativeContext, Plan

SUMMARY = message("summary", 50, "sum")
# Window 1,000 without a reserve: target 700, soft limit 800, hard limit 900. A third of the target, 233, stays free
# for supplements where turns are left out: the window is small.


def lines(plan: Plan) -> list[str]:
    """What goes out, by entry."""
    return [str(message.entry_id) for message in plan.messages]


def fates(plan: Plan) -> dict[str, str]:
    """Each item with its group and why it is in (+) or out (-)."""
    manifest = plan.manifest
    told = {f"+{item.entry_id}": f"{item.group_id} {item.reason}" for item in manifest.included}
    return told | {f"-{item.entry_id}": f"{item.group_id} {item.reason}" for item in manifest.excluded}


def long_talk(*before: int) -> NativeContext:
    """A summary of 50, turns of so many tokens (half question, half answer), and a request of 20."""
    turns = [part for number, cost in enumerate(before, 1) for part in turn(number, cost // 2, cost - cost // 2)]
    return native(SUMMARY, *turns, message("request", 20, "now"))


def test_below_the_soft_limit_all_goes_out_and_evidence_stands_before_the_request() -> None:
    plan = plan_context(long_talk(100, 100), call(1000), retrieve=lambda _: found(30, 40))
    assert (plan.status, plan.reason, plan.tokens, plan.native_tokens) == ("planned", "whole", 340, 270)
    assert lines(plan) == ["sum", "q1", "a1", "q2", "a2", "h1", "h0", "now"]
    assert fates(plan) == {
        "+sum": "g0 summary",
        "+q1": "g1 whole",
        "+a1": "g1 whole",
        "+q2": "g2 whole",
        "+a2": "g2 whole",
        "+now": "g3 current-request",
        "+h0": "s0 identifier:1;terms:2;same-file:1;assistant",
        "+h1": "s1 identifier:1;terms:2;same-file:1;assistant",
    }
    assert plan.manifest.limits == Limits(window=1000, reserve=0, target=700, soft=800, hard=900)
    assert plan.manifest.model == "faux/m"
    assert plan.manifest.retrieved_event_ids == ("h0", "h1")


def test_above_the_soft_limit_recent_turns_stay_then_evidence_then_summaries() -> None:
    # 820 in all. Room for the tail: 700 - 20 - 233 = 447, so 250 + 180 stay and 320 does not.
    plan = plan_context(long_talk(320, 180, 250), call(1000), retrieve=lambda _: found(170, 90, 30))
    assert plan.reason == "over-soft-limit"
    # 20 + 430 = 450; evidence 170 and 30 (90 does not fit 700); the summary of 50 fits exactly into what is left.
    assert lines(plan) == ["sum", "q2", "a2", "q3", "a3", "h2", "h0", "now"]
    assert plan.tokens == 700
    assert fates(plan)["-h1"] == "s1 no-room"
    assert fates(plan)["-q1"] == "g1 outside-recent-tail"
    assert fates(plan)["+q2"] == "g2 recent-tail"
    assert fates(plan)["+sum"] == "g0 summary"


def test_evidence_comes_before_summaries() -> None:
    plan = plan_context(long_talk(320, 180, 250), call(1000), retrieve=lambda _: found(201))
    assert lines(plan) == ["q2", "a2", "q3", "a3", "h0", "now"]
    assert fates(plan)["-sum"] == "g0 no-room"


def test_the_turn_before_the_request_stays_although_it_breaks_the_cap_of_the_tail() -> None:
    plan = plan_context(long_talk(300, 100, 400), call(1000, recent_tail_tokens=200))
    assert lines(plan) == ["sum", "q3", "a3", "now"]
    assert fates(plan)["+q3"] == "g3 predecessor"
    assert fates(plan)["-q2"] == "g2 outside-recent-tail"


def test_a_turn_that_is_too_large_for_any_tail_does_not_take_the_rest_with_it() -> None:
    # The turn before the request does not even fit the target: 20 + 690 > 700.
    plan = plan_context(long_talk(60, 40, 690), call(1000, recent_tail_tokens=200))
    assert lines(plan) == ["sum", "q1", "a1", "q2", "a2", "now"]
    assert fates(plan)["-q3"] == "g3 oversized"


def test_a_turn_that_only_comes_too_late_ends_the_tail() -> None:
    plan = plan_context(long_talk(300, 100, 150, 100, 200), call(1000, recent_tail_tokens=400))
    assert lines(plan) == ["sum", "q4", "a4", "q5", "a5", "now"]
    assert fates(plan)["-q3"] == fates(plan)["-q2"].replace("g2", "g3") == "g3 outside-recent-tail"


def test_the_tail_begins_where_it_began_before_until_a_step_is_full() -> None:
    """Turns of 10, 447 for the tail, steps of 87: the beginning moves by nine turns once, and not by one each time."""
    starts = []
    for turns in range(90, 110):
        plan = plan_context(long_talk(*[10] * turns), call(1000))
        kept = [int(id_[1:]) for id_ in lines(plan) if id_.startswith("q")]
        assert kept == list(range(kept[0], turns + 1))
        starts.append(kept[0])
    # 700 - 20 - 233 leaves room for 44 turns. 46 turns are left out of 90: 460 tokens, and the next step is at 522.
    assert starts[:7] == [53] * 7
    assert sorted(set(starts)) == [53, 61, 70]


def test_what_belongs_to_the_request_stays_whatever_it_costs_up_to_the_hard_limit() -> None:
    steering = native(
        *turn(1, 60, 100),
        message("request", 30, "q2"),
        message("message", 200, "calling", calls=("c",)),
        message("request", 30, "steering"),
        message("result", 500, "result", answers="c"),
        message("message", 30, "after"),
    )
    plan = plan_context(steering, call(1000), retrieve=lambda _: found(10))
    # 950 in all. The call before the steering message has its result after it: 790 of 900 cannot be left out.
    assert lines(plan) == ["q2", "calling", "steering", "result", "after"]
    assert fates(plan)["+calling"] == "g1 current-request"
    assert fates(plan)["-h0"] == "s0 no-room"
    assert plan_context(steering, call(870)).reason == "over-hard-limit"


@pytest.mark.parametrize(
    ("placement", "expected"),
    [
        ("latest-user", ["sum", "q1", "a1", "None", "p1", "p0", "h1", "h0", "now"]),
        ("stable-prefix", ["sum", "None", "p1", "p0", "h1", "h0", "q1", "a1", "now"]),
        ("hybrid", ["sum", "None", "p1", "p0", "q1", "a1", "h1", "h0", "now"]),
    ],
)
def test_placement(placement: str, expected: list[str]) -> None:
    plan = plan_context(
        long_talk(100), call(1000, placement=placement),
        retrieve=lambda _: found(10, 10), supplements=[passage("p0", 10), passage("p1", 10), view(10)],
    )  # fmt: skip
    assert lines(plan) == expected
    assert [message.source for message in plan.messages if message.entry_id is None] == ["view"]


def test_each_kind_has_its_cap_and_its_turn() -> None:
    plan = plan_context(
        long_talk(100), call(1000, max_retrieved_tokens=100, max_project_tokens=50),
        retrieve=lambda _: found(90, 20, 10), supplements=[passage("p0", 40), passage("p1", 20), view(300), view(300)],
    )  # fmt: skip
    # 170 + 100 of evidence + 300 of the first view; the second does not fit; then 40 of the project.
    assert plan.tokens == 610
    assert [item.reason for item in plan.manifest.excluded] == ["over-limit-of-kind", "over-limit-of-kind", "no-room"]
    assert [item.entry_id for item in plan.manifest.excluded] == ["h1", "p1", None]


def test_supplements_have_their_share_even_where_the_target_is_passed_but_not_the_soft_limit() -> None:
    # 750 of 800, the target is 700: what is left up to the soft limit is 50.
    plan = plan_context(long_talk(340, 340), call(1000), retrieve=lambda _: found(60, 45))
    assert plan.tokens == 795
    assert lines(plan)[-2:] == ["h1", "now"]
    # 500 + 233 of the share: a little above the target.
    plan = plan_context(long_talk(215, 215), call(1000), retrieve=lambda _: found(234, 233))
    assert plan.tokens == 733
    # An eighth where that is more than 2,000 tokens: 35,000 of a target of 280,000.
    roomy = call(400_000, max_retrieved_tokens=100_000)
    large = plan_context(long_talk(270_000), roomy, retrieve=lambda _: found(35_001, 35_000))
    assert large.tokens == 270_070 + 35_000
