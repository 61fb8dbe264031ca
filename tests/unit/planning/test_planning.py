"""What goes wrong while a call is planned, and what the planner then sends."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

import pytest
from msgspec.structs import replace
from tests.plans import call, found, message, native, passage, turn

from aforesaid import planning
from aforesaid.errors import EntryUnknown, StoreBusy
from aforesaid.planning import find_request, give_up, plan_context
from aforesaid.planning.manifest import MOST_ITEMS, pack_manifest, unpack_manifest
from aforesaid.planning.messages import digest_message
from aforesaid.planning.values import Message, NativeContext, Supplement, Verdict

if TYPE_CHECKING:
    from aforesaid.answers import Retrieval, RetrievalStatus

TALK = native(*turn(1, 10, 10), message("request", 10, "now"))


def test_a_context_without_a_request_goes_out_as_it_is() -> None:
    context = native(message("summary", 10, "sum"), message("message", 10, "a"), message("result", 5, "r"))
    plan = plan_context(context, call(1000), retrieve=lambda _: found(10))
    assert (plan.status, plan.reason, plan.failed) == ("native", "no-request", False)
    assert plan.messages is context.messages
    assert plan.retrieval is None
    assert [item.reason for item in plan.manifest.included] == ["no-request"] * 3
    assert [item.kind for item in plan.manifest.included] == ["summary", "recent", "recent"]
    assert plan_context(NativeContext(messages=()), call(1000)).messages == ()


def test_the_request_is_the_last_message_of_the_user() -> None:
    assert find_request(TALK.messages) == 2
    assert find_request((*TALK.messages, message("message", 1), message("result", 1))) == 2
    assert find_request(()) is None


@pytest.mark.parametrize(("status", "warnings"), [("failed", ("exact-search-failed",)), ("failed", ())])
def test_a_failed_retrieval_sends_the_native_messages(status: RetrievalStatus, warnings: tuple[str, ...]) -> None:
    plan = plan_context(TALK, call(1000), retrieve=lambda _: found(status=status, warnings=warnings))
    assert (plan.status, plan.failed) == ("native", True)
    assert plan.reason == (warnings[0] if warnings else "failed")
    assert plan.warnings == (plan.reason,)
    assert plan.messages is TALK.messages


@pytest.mark.parametrize("status", ["no-query", "disabled"])
def test_a_retrieval_without_hits_is_no_failure(status: RetrievalStatus) -> None:
    plan = plan_context(TALK, call(1000), retrieve=lambda _: found(status=status, warnings=("privacy-unavailable",)))
    assert (plan.status, plan.reason, plan.failed) == ("planned", "whole", False)
    assert plan.warnings == ("privacy-unavailable",)
    assert plan.messages == TALK.messages


def test_whatever_is_raised_the_native_messages_go_out() -> None:
    def busy(_: object) -> NoReturn:
        raise StoreBusy("another process writes", "try again")

    def bug(_: object) -> NoReturn:
        raise ZeroDivisionError

    def wrong(_: object) -> NoReturn:
        raise EntryUnknown("no entry", "give another")

    plan = plan_context(TALK, call(1000), retrieve=busy)
    assert (plan.status, plan.reason, plan.warnings, plan.failed) == ("native", "store-busy", ("store-busy",), True)
    plan = plan_context(TALK, call(1000), retrieve=bug)
    assert (plan.status, plan.reason, plan.messages) == ("native", "internal", TALK.messages)
    with pytest.raises(EntryUnknown):
        plan_context(TALK, call(1000), retrieve=wrong)


def test_a_plan_that_does_not_pass_validation_is_not_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planning, "_place", lambda messages, *_: messages[:-1])
    plan = plan_context(TALK, call(1000), retrieve=lambda _: found(10))
    assert (plan.status, plan.reason, plan.failed) == ("native", "invalid-request", True)
    assert plan.messages is TALK.messages
    assert [item.reason for item in plan.manifest.excluded] == ["invalid-request"]
    assert plan.manifest.retrieved_event_ids == ()
    assert plan.retrieval is not None


def test_giving_up_before_anything_was_planned() -> None:
    plan = give_up(TALK, call(1000), "store-busy")
    assert (plan.status, plan.reason, plan.failed, plan.tokens) == ("native", "store-busy", True, 30)
    assert plan.messages is TALK.messages


def test_a_judge_withholds_whole_supplements_and_its_own_failure_withholds_too() -> None:
    def judge(supplement: Supplement) -> Verdict:
        if supplement.entry_id == "h0":
            return Verdict(allowed=False, classification="local-only", reason="marker")
        if supplement.entry_id == "h1":
            raise ZeroDivisionError
        return Verdict(allowed=supplement.kind == "retrieval", classification="internal")

    plan = plan_context(
        TALK, call(1000), retrieve=lambda _: found(10, 10, 10), supplements=[passage("p", 10)], judge=judge
    )
    assert [message.entry_id for message in plan.messages] == ["q1", "a1", "h2", "now"]
    fates = {item.entry_id: (item.classification, item.reason) for item in plan.manifest.excluded}
    assert fates == {
        "h0": ("local-only", "marker"),
        "h1": ("normal", "privacy-failed"),
        "p": ("internal", "privacy"),
    }
    assert plan.manifest.included[-1].classification == "internal"
    assert plan.retrieval is not None
    counts = plan.retrieval.diagnostics
    assert (counts.privacy_excluded_count, counts.planner_excluded_count, counts.selected_tokens) == (2, 1, 10)


def test_what_an_observer_may_not_show_is_said_as_well() -> None:
    watching = call(1000, mode="observer")
    plan = plan_context(
        TALK, watching, retrieve=lambda _: found(10, 10),
        judge=lambda supplement: Verdict(allowed=supplement.entry_id == "h0", reason="rule"),
    )  # fmt: skip
    assert (plan.status, plan.reason, plan.messages) == ("observer", "observer", TALK.messages)
    assert [item.reason for item in plan.manifest.excluded] == ["observer", "rule"]


def test_an_observer_watches_what_does_not_fit_as_well() -> None:
    over = native(message("request", 2000, "now"))
    assert plan_context(over, call(1000)).reason == "over-hard-limit"
    assert plan_context(over, call(1000, mode="observer")).status == "observer"


def test_summaries_that_may_still_go_out_are_not_told_to_retrieval() -> None:
    dropped: list[tuple[str, ...]] = []
    talk = native(message("summary", 10, "sum"), *turn(1, 400, 400), message("request", 10, "now"))

    def retrieve(gone: tuple[str, ...]) -> Retrieval:
        dropped.append(gone)
        return found()

    plan = plan_context(talk, call(1000), retrieve=retrieve)
    assert dropped == [("q1", "a1")]
    assert plan.omitted == ("q1", "a1")


def test_the_counts_of_the_retrieval_say_what_the_plan_left_out() -> None:
    plan = plan_context(TALK, call(100), retrieve=lambda _: found(30, 30))
    assert plan.retrieval is not None
    counts = plan.retrieval.diagnostics
    assert (counts.planner_excluded_count, counts.selected_tokens) == (2, 30)
    assert plan_context(TALK, call(100)).retrieval is None


def test_hits_without_room_are_excluded_and_the_limits_follow_window_and_reserve() -> None:
    limits = plan_context(TALK, call(1000, reserve=250)).manifest.limits
    assert (limits.target, limits.soft, limits.hard) == (700, 750, 750)
    default = replace(call(1000), reserve=None)
    assert plan_context(TALK, default).manifest.limits.reserve == 100
    assert plan_context(TALK, replace(default, window=400_000)).manifest.limits.reserve == 16_384
    assert plan_context(TALK, call(10, reserve=50)).reason == "over-hard-limit"


def test_a_long_manifest_is_sampled_and_says_so() -> None:
    talk = native(
        *(message("message", 1, f"m{place}") for place in range(MOST_ITEMS + 5)), message("request", 1, "now")
    )
    manifest = plan_context(talk, call(10**6), retrieve=lambda _: found(5)).manifest
    assert manifest.sampled
    assert len(manifest.included) == MOST_ITEMS
    assert [item.entry_id for item in manifest.included[-2:]] == ["now", "h0"]
    exact = native(*talk.messages[-MOST_ITEMS:])
    assert not plan_context(exact, call(10**6)).manifest.sampled
    over = [Supplement(kind="view", text="v", tokens=10**9)] * (MOST_ITEMS + 1)
    refused = plan_context(TALK, call(1000), supplements=over).manifest
    assert refused.sampled
    assert len(refused.excluded) == MOST_ITEMS


def test_a_kept_manifest_is_the_manifest_as_far_as_it_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = plan_context(TALK, call(1000), retrieve=lambda _: found(5, 5, 2000))
    assert unpack_manifest(pack_manifest(plan.manifest)) == plan.manifest
    odd = replace(plan.manifest, model="\ud800 数据库", retrieved_event_ids=("\udfff",))
    assert unpack_manifest(pack_manifest(odd)) == odd
    assert pack_manifest(odd).isascii()
    monkeypatch.setattr("aforesaid.planning.manifest.PACKED_BYTES", 900)
    packed = pack_manifest(plan.manifest)
    assert len(packed) <= 900
    less = unpack_manifest(packed)
    assert less.sampled
    assert less.included[-1] == plan.manifest.included[-1]
    assert (less.messages_sha256, less.limits) == (plan.manifest.messages_sha256, plan.manifest.limits)
    monkeypatch.setattr("aforesaid.planning.manifest.PACKED_BYTES", 1)
    assert unpack_manifest(pack_manifest(plan.manifest)).included == ()


def test_evidence_is_a_user_message_with_the_exact_text() -> None:
    (evidence,) = found(7).hits
    plan = plan_context(TALK, call(1000), retrieve=lambda _: found(7))
    added = plan.messages[2]
    assert (added.role, added.content, added.source, added.tokens) == ("user", evidence.message, "evidence", 7)
    assert added.sha256 == digest_message("user", evidence.message)


def test_planning_is_linear() -> None:
    """Ten times the messages take about ten times the time; a square would take a hundred times."""
    from time import process_time

    def measure(turns: int) -> float:
        context = NativeContext(messages=tuple(part for number in range(turns) for part in steps(number)))
        best = 1e9
        for _ in range(5):
            started = process_time()
            plan = plan_context(context, call(turns * 60), retrieve=lambda _: found(*[50] * 12))
            best = min(best, process_time() - started)
            assert plan.reason == "over-soft-limit"
        return best

    def steps(number: int) -> tuple[Message, ...]:
        return (
            *turn(number, 20, 20),
            message("message", 30, f"c{number}", calls=("reused",)),
            message("result", 30, f"r{number}", answers="reused"),
        )

    small, large = measure(250), measure(2500)
    assert large < small * 40
