"""What belongs together, and what a finished plan must not look like."""

from __future__ import annotations

from msgspec.structs import replace
from tests.plans import message, turn

from aforesaid.planning.groups import make_groups
from aforesaid.planning.validation import find_fault
from aforesaid.planning.values import Limits, Message

LIMITS = Limits(window=1000, reserve=0, target=700, soft=800, hard=900)
TALK = (
    message("summary", 10, "sum"),
    message("request", 10, "q1"),
    message("message", 10, "c1", calls=("x", "")),
    message("result", 10, "r1", answers="x"),
    message("message", 10, "a1"),
    message("request", 10, "now"),
    message("message", 10, "c2", calls=("x",)),
    message("result", 10, "r2", answers="x"),
)
ADDED = replace(message("message", 10, "h0"), source="evidence")


def groups(*messages: Message) -> list[tuple[str, str]]:
    """Kind and entries of each group."""
    return [
        (group.kind, " ".join(str(messages[place].entry_id) for place in group.members))
        for group in make_groups(messages)
    ]


def fault(*final: Message, request: int = 5, overhead: int = 0) -> str | None:
    return find_fault(TALK, final, request=request, overhead=overhead, limits=LIMITS)


def test_a_reused_call_id_binds_to_the_latest_call() -> None:
    assert groups(*TALK) == [("summary", "sum"), ("turn", "q1 c1 r1 a1"), ("turn", "now c2 r2")]


def test_a_result_behind_a_steering_message_stays_with_its_call() -> None:
    steered = (TALK[1], TALK[2], message("request", 10, "steer"), TALK[3], TALK[4])
    assert groups(*steered) == [("turn", "q1 c1 r1"), ("turn", "steer a1")]


def test_orphans_never_bind_and_do_not_end_a_turn() -> None:
    lost = message("result", 10, "lost", answers="gone")
    nameless = message("result", 10, "nameless", answers="")
    early = message("result", 10, "early", answers="x")
    assert groups(early, TALK[1], TALK[2], lost, nameless, message("result", 10, "none"), TALK[4]) == [
        ("orphan", "early"),
        ("turn", "q1 c1 a1"),
        ("orphan", "lost"),
        ("orphan", "nameless"),
        ("orphan", "none"),
    ]
    # What comes behind an orphan at the beginning is no part of it.
    assert groups(lost, message("message", 10, "a")) == [("orphan", "lost"), ("turn", "a")]


def test_a_summary_is_alone_and_ends_a_turn() -> None:
    after = (message("message", 1, "a2"), message("request", 1, "q2"))
    assert groups(*turn(1, 1, 1), message("summary", 1, "s"), *after) == [
        ("turn", "q1 a1"),
        ("summary", "s"),
        ("turn", "a2"),
        ("turn", "q2"),
    ]


def test_good_plans_have_no_fault() -> None:
    assert fault(*TALK) is None
    assert fault(*TALK[:5], ADDED, *TALK[5:]) is None
    assert fault(TALK[0], ADDED, *TALK[1:]) is None
    assert fault(*TALK[1:5], ADDED, ADDED, *TALK[5:]) is None
    assert fault(TALK[0], ADDED, *TALK[5:]) is None
    assert fault(*TALK, overhead=820) is None


def test_every_fault_has_its_code() -> None:
    assert fault(TALK[1], TALK[0], *TALK[2:]) == "invalid-order"
    assert fault(*TALK, message("message", 10, "foreign")) == "invalid-order"
    assert fault(*TALK[:7]) == "invalid-request"
    assert fault(*TALK[:5], *TALK[6:]) == "invalid-request"
    assert fault(*TALK[:3], *TALK[4:]) == "invalid-group"  # a call without its result
    assert fault(*TALK[:2], *TALK[3:]) == "invalid-group"  # a result without its call
    assert fault(TALK[0], *TALK[2:]) == "invalid-group"  # an answer without its question
    assert fault(*TALK[:4], *TALK[5:]) == "invalid-group"
    assert fault(*TALK[:3], ADDED, *TALK[3:]) == "invalid-place"
    assert fault(*TALK[:6], ADDED, *TALK[6:]) == "invalid-place"
    assert fault(*TALK, ADDED) == "invalid-place"
    assert fault(ADDED, *TALK) == "invalid-place"
    assert fault(*TALK, overhead=821) == "over-hard-limit"


def test_each_half_of_the_check_of_groups_is_needed() -> None:
    calls, answers = message("message", 1, "c", calls=("x",)), message("result", 1, "r", answers="x")
    alone = (calls, message("summary", 1, "s"), answers)
    ask = message("request", 1, "now")
    # Call and result are no neighbours, so that only the call's id tells.
    split = find_fault((*alone, ask), (*alone[1:], ask), request=3, overhead=0, limits=LIMITS)
    assert split == "invalid-group"
    first = turn(1, 1, 1)
    assert find_fault((*first, ask), (first[0], ask), request=2, overhead=0, limits=LIMITS) == "invalid-group"
    # Two turns have nothing to do with each other, and neither have messages on both sides of a summary.
    two = (*turn(1, 1, 1), *turn(2, 1, 1), ask)
    assert find_fault(two, two[2:], request=4, overhead=0, limits=LIMITS) is None
    parts = (message("message", 1, "a"), alone[1], message("message", 1, "b"), ask)
    assert find_fault(parts, parts[1:], request=3, overhead=0, limits=LIMITS) is None
