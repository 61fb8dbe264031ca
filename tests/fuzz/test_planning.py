"""Planning over any context: what must hold of every plan, checked against what the words of the rules say."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from hypothesis import assume, event, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.plans import cases, contexts, found, message, partition

from aforesaid.hosts import wire
from aforesaid.planning import find_request, plan_context
from aforesaid.planning.budget import set_limits
from aforesaid.planning.groups import make_groups
from aforesaid.planning.validation import find_fault
from aforesaid.planning.values import Call, NativeContext, PlanOptions

if TYPE_CHECKING:
    from tests.plans import Case

    from aforesaid.answers import Retrieval
    from aforesaid.planning.values import Message, Plan


class Asked:
    """A retrieval that remembers what it was told."""

    def __init__(self, *hits: int) -> None:
        self.answer = found(*hits)
        self.dropped: list[tuple[str, ...]] = []

    def __call__(self, dropped: tuple[str, ...]) -> Retrieval:
        self.dropped.append(dropped)
        return self.answer


def planned(case: Case) -> tuple[Plan, Asked]:
    asked = Asked(*case.hits)
    return plan_context(case.native, case.call, retrieve=asked), asked


def own(plan: Plan) -> list[Message]:
    return [message for message in plan.messages if message.source == "native"]


def kept(native: NativeContext, plan: Plan) -> list[bool]:
    """Which of the host's messages are in a plan, by identity (every message is an object of its own)."""
    there = {id(message) for message in own(plan)}
    return [id(message) in there for message in native.messages]


@given(contexts())
def test_groups_are_what_looking_back_from_each_message_says(native: NativeContext) -> None:
    groups = make_groups(native.messages)
    assert [frozenset(group.members) for group in groups] == partition(native.messages)
    for group in groups:
        assert list(group.members) == sorted(group.members)
        assert group.tokens == sum(native.messages[place].tokens for place in group.members)
        assert (group.kind == "summary") == (native.messages[group.members[0]].kind == "summary")


@settings(max_examples=200)
@given(cases())
def test_a_plan_keeps_whole_groups_in_order_with_the_request_and_below_the_hard_limit(case: Case) -> None:
    plan, _ = planned(case)
    event(f"{plan.status} {plan.reason}")
    messages = case.native.messages
    assert plan.warnings == ()
    assert not plan.failed
    if plan.status == "native":
        assert plan.messages is messages
        return
    flags = kept(case.native, plan)
    assert own(plan) == [message for message, there in zip(messages, flags, strict=True) if there]
    for members in partition(messages):
        assert len({flags[place] for place in members}) == 1
    request = find_request(messages)
    assert request is not None
    assert all(flags[request:])
    limits = plan.manifest.limits
    total = case.native.overhead + sum(message.tokens for message in plan.messages)
    assert plan.tokens == total <= limits.hard
    assert limits.target <= limits.soft <= limits.hard <= max(0, limits.window - limits.reserve)


@settings(max_examples=200)
@given(cases())
def test_turns_are_left_out_only_above_the_soft_limit_and_then_down_to_the_target(case: Case) -> None:
    plan, _ = planned(case)
    assume(plan.status == "planned")
    limits = plan.manifest.limits
    flags = kept(case.native, plan)
    alone = case.native.overhead + sum(message.tokens for message in case.native.messages)
    assert plan.native_tokens == alone
    if alone <= limits.soft:
        assert all(flags)
        assert plan.reason == "whole"
        assert plan.tokens <= limits.soft
    else:
        assert plan.reason == "over-soft-limit"
        request = find_request(case.native.messages) or 0
        current = [members for members in partition(case.native.messages) if max(members) >= request]
        mandatory = sum(case.native.messages[place].tokens for members in current for place in members)
        assert plan.tokens <= max(limits.target, case.native.overhead + mandatory)


@settings(max_examples=200)
@given(cases())
def test_what_is_left_out_is_told_to_retrieval_once_and_the_second_pass_drops_nothing_more(case: Case) -> None:
    plan, asked = planned(case)
    assert len(asked.dropped) <= 1
    if plan.status != "planned":
        return
    flags = kept(case.native, plan)
    gone = [
        message.entry_id
        for message, there in zip(case.native.messages, flags, strict=True)
        if not there and message.kind != "summary" and message.entry_id
    ]
    assert sorted(asked.dropped[0]) == sorted(gone)
    assert list(plan.omitted) == [
        message.entry_id
        for message, there in zip(case.native.messages, flags, strict=True)
        if not there and message.entry_id
    ]


@settings(max_examples=200)
@given(cases())
def test_evidence_stands_before_the_request_with_the_best_last(case: Case) -> None:
    plan, _ = planned(case)
    assume(plan.status == "planned")
    added = [str(message.entry_id) for message in plan.messages if message.source == "evidence"]
    assert added == sorted(added, reverse=True)  # h0 is the best
    assert list(plan.manifest.retrieved_event_ids) == added[::-1]
    places = [place for place, message in enumerate(plan.messages) if message.source == "evidence"]
    if not places:
        return
    assert places == list(range(places[0], places[0] + len(places)))
    after = plan.messages[places[-1] + 1]
    if case.call.options.placement == "stable-prefix":
        assert all(message.kind == "summary" for message in plan.messages[: places[0]])
        assert after.kind != "summary" or after is case.native.messages[find_request(case.native.messages) or 0]
    else:
        assert after is case.native.messages[find_request(case.native.messages) or 0]


@settings(max_examples=200)
@given(cases())
def test_supplements_are_skipped_only_if_they_do_not_fit(case: Case) -> None:
    plan, _ = planned(case)
    assume(plan.status == "planned")
    tokens = {item.entry_id: item.tokens for item in plan.manifest.included if item.kind == "retrieval"}
    assert sum(tokens.values()) <= case.call.options.max_retrieved_tokens
    for item in plan.manifest.excluded:
        if item.kind == "retrieval":
            better = sum(cost for id_, cost in tokens.items() if str(id_) < str(item.entry_id))
            if item.reason == "over-limit-of-kind":
                assert better + item.tokens > case.call.options.max_retrieved_tokens
            else:
                assert item.reason == "no-room"
                assert plan.tokens + item.tokens > plan.manifest.limits.target


def tail(case: Case, plan: Plan) -> list[int]:
    """What the turns cost that were kept before the current request, latest first; results are not counted."""
    request = find_request(case.native.messages) or 0
    pairs = list(zip(case.native.messages, kept(case.native, plan), strict=True))[:request]
    return [message.tokens for message, there in reversed(pairs) if there and message.kind in {"request", "message"}]


@settings(max_examples=200)
@given(cases(), st.integers(1, 400))
def test_a_larger_window_keeps_as_many_turns_less_one_step_at_most(case: Case, more: int) -> None:
    larger = replace(case.call, window=case.call.window + more, reserve=0)
    case = case._replace(call=replace(case.call, reserve=0))
    small, _ = planned(case)
    if small.status != "planned" or any(item.reason == "oversized" for item in small.manifest.excluded):
        return
    large, _ = planned(case._replace(call=larger))
    assert large.status == "planned"
    assert sum(tail(case, large)) >= sum(tail(case, small)) - large.manifest.limits.target // 8


@settings(max_examples=50)
@given(st.lists(st.integers(1, 40), min_size=40, max_size=100), st.integers(0, 400))
def test_the_beginning_of_the_tail_moves_in_steps_while_a_conversation_grows(costs: list[int], cap: int) -> None:
    messages = [message("request", cost, f"e{place}") for place, cost in enumerate(costs)]
    options = Call(window=1000, reserve=0, options=PlanOptions(recent_tail_tokens=200 + cap))
    step = set_limits(1000, 0, options.options).target // 8
    starts = []
    for end in range(1, len(messages) + 1):
        plan = plan_context(NativeContext(messages=tuple(messages[:end])), options)
        if plan.reason == "over-soft-limit":
            starts.append(sum(costs[: int(str(plan.messages[0].entry_id)[1:])]))
    assert starts == sorted(starts)
    if starts:
        # Once for each step that was passed, and not once for each turn.
        assert len(set(starts)) <= (starts[-1] - starts[0]) / step + 2


@settings(max_examples=200)
@given(cases())
def test_the_manifest_accounts_for_every_message_and_holds_no_text(case: Case) -> None:
    plan, _ = planned(case)
    manifest = plan.manifest
    assert not manifest.sampled
    native = [item for item in (*manifest.included, *manifest.excluded) if item.kind in {"recent", "summary"}]
    assert sorted(item.tokens for item in native) == sorted(message.tokens for message in case.native.messages)
    assert sum(item.tokens for item in manifest.included) == sum(message.tokens for message in plan.messages)
    joined = b"".join(message.sha256 for message in plan.messages)
    assert manifest.messages_sha256 == sha256(joined).hexdigest()
    written = wire.encode(wire.manifest(manifest))
    assert b"text of" not in written
    assert b"secret words" not in written


@given(cases())
def test_the_same_inputs_give_the_same_plan(case: Case) -> None:
    assert planned(case)[0] == planned(case)[0]


@given(cases())
def test_an_observer_changes_nothing_and_still_measures(case: Case) -> None:
    watching = replace(case.call, options=replace(case.call.options, mode="observer"))
    plan, asked = planned(case._replace(call=watching))
    assert plan.messages is case.native.messages
    if plan.status == "native":
        assert plan.reason == "no-request"
        return
    assert (plan.status, asked.dropped) == ("observer", [()])
    assert [item.reason for item in plan.manifest.excluded] == ["observer"] * len(case.hits)


@settings(max_examples=200)
@given(cases(), st.data())
def test_validation_finds_what_a_broken_planner_would_send(case: Case, data: st.DataObject) -> None:
    """Takes one message out of a good plan, or moves it: unless that happens to be a whole group, it is a fault."""
    messages = case.native.messages
    request = find_request(messages)
    assume(request is not None and len(messages) > 1)
    assert request is not None
    limits = replace(set_limits(10**6, 0, case.call.options), hard=10**6)
    assert find_fault(messages, messages, request=request, overhead=0, limits=limits) is None
    place = data.draw(st.integers(0, len(messages) - 1))
    less = (*messages[:place], *messages[place + 1 :])
    fault = find_fault(messages, less, request=request, overhead=0, limits=limits)
    alone = frozenset({place}) in partition(messages)
    if place >= request:
        assert fault == "invalid-request"
    elif not alone:
        assert fault == "invalid-group"
    else:
        assert fault is None
    if place + 1 < len(messages):
        swapped = (*messages[:place], messages[place + 1], messages[place], *messages[place + 2 :])
        assert find_fault(messages, swapped, request=request, overhead=0, limits=limits) == "invalid-order"
    small = replace(limits, hard=sum(message.tokens for message in messages) - 1)
    assert find_fault(messages, messages, request=request, overhead=0, limits=small) == "over-hard-limit"
