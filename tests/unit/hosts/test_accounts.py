"""What the user of a host is told about a session, and what a text in it cannot do to a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from msgspec.structs import replace
from tests.plans import call, found, message, native, turn, view
from tests.values import STATUS, make_evidence, make_retrieval
from tests.words import any_text

from aforesaid.answers import Coverage, Query, Retrieval
from aforesaid.config import Config
from aforesaid.errors import BadArgument, StoreBusy
from aforesaid.hosts.accounts import TOPICS, HostFacts, Known, Prefix, tell
from aforesaid.planning import plan_context
from aforesaid.reports import StoreStatus

if TYPE_CHECKING:
    from aforesaid.planning.values import Plan

NO_FACTS = HostFacts()


def known(last: Plan | None = None, *, facts: HostFacts = NO_FACTS, config: Config | None = None) -> Known:
    return Known(
        session="/home/dev/s.jsonl", entries=3, last=last, facts=facts, config=config or Config.load(),
        store=lambda: STATUS,
    )  # fmt: skip


def planned(retrieval: Retrieval | None = None, window: int = 1000) -> Plan:
    talk = native(message("summary", 10, "sum"), *turn(1, 400, 400), message("request", 10, "now"))
    return plan_context(talk, call(window), retrieve=lambda _: retrieval or found(20, 690), supplements=[view(10)])


@pytest.mark.parametrize("topic", TOPICS)
def test_every_topic_has_an_answer_before_anything_was_planned(topic: str) -> None:
    assert tell(topic, known(facts=HostFacts(outcome="timeout")))


@pytest.mark.parametrize(
    "topic", ["retrieved", "manifest", "included", "excluded", "excluded all", "explain", "tokens"]
)
def test_what_became_of_a_call_without_a_plan_is_said(topic: str) -> None:
    assert "timeout" in tell(topic, known(facts=HostFacts(outcome="timeout")))


def test_an_unknown_topic_is_a_wrong_argument_that_names_the_others() -> None:
    with pytest.raises(BadArgument) as told:
        tell("nonsense", known())
    assert all(topic in told.value.hint for topic in TOPICS)


def test_the_plan_is_told_with_its_limits_kinds_and_items() -> None:
    plan = planned()
    assert plan.status == "planned"
    told = {topic: tell(topic, known(plan, facts=HostFacts(used_tokens=1234))) for topic in TOPICS}
    assert "target 700, soft limit 800, hard limit 900" in told["manifest"]
    assert "1 retrieval (20 tokens)" in told["manifest"]
    assert "for faux/m" in told["manifest"]
    assert "retrieved: h0" in told["manifest"]
    assert "  retrieval  h0  20 tokens  normal  s0" in told["included"]
    assert "h1" in told["excluded"]
    assert "h1" in told["excluded all"]
    assert "older turns were left out" in told["explain"]
    assert "the host counts 1,234 tokens" in told["tokens"]
    assert "1 evidence message of" in told["status"]
    assert "(left out)" in told["retrieved"]


def test_long_lists_are_cut_to_what_stands_nearest_to_the_request_unless_all_is_asked_for() -> None:
    talk = native(*(one for number in range(30) for one in turn(number, 300, 300)), message("request", 10, "now"))
    plan = plan_context(talk, call(2000), retrieve=lambda _: found(20))
    some, everything = (tell(topic, known(plan)) for topic in ("excluded", "excluded all"))
    assert "the last 20 of" in some
    assert len(some.splitlines()) == 22
    assert len(everything.splitlines()) > 22
    assert some.splitlines()[-1] == everything.splitlines()[-1]


def test_a_sample_is_said_to_be_one() -> None:
    talk = native(*(one for number in range(600) for one in turn(number, 1, 1)), message("request", 10, "now"))
    plan = plan_context(talk, call(2_000_000), retrieve=lambda _: found(20))
    assert plan.manifest.sampled
    assert "samples" in tell("manifest", known(plan))


def test_a_request_without_a_topic_is_explained() -> None:
    plan = planned(make_retrieval(status="no-query", query=Query()), window=4000)
    assert "no topic" in tell("explain", known(plan))
    phrases = planned(make_retrieval(make_evidence(), query=Query(phrases=("a b",), keywords=("port",))), window=4000)
    assert "phrases in the request: a b" in tell("explain", known(phrases))


def test_warnings_and_gaps_of_a_retrieval_are_told() -> None:
    retrieval = make_retrieval(
        make_evidence(), warnings=("fts-failed",), coverage=Coverage(complete=False, reasons=("stale",))
    )
    told = tell("retrieved", known(planned(retrieval, window=4000), facts=HostFacts(handler_ms=(4.0, 7.5))))
    assert "warnings: fts-failed" in told
    assert "not everything could be searched: stale" in told
    assert "7.5 ms in all" in told


def test_what_sparing_keeps_back_and_what_matches_by_accident_is_told() -> None:
    spared = make_retrieval(make_evidence(), allowed_tokens=1_600, silenced_count=3)
    for topic in ("retrieved", "explain", "tokens"):
        assert "(1,600 tokens were allowed: retrieval.sparing)" in tell(topic, known(planned(spared, window=4000)))
    assert "3 besides share a word" in tell("explain", known(planned(spared, window=4000)))
    whole = make_retrieval(make_evidence(), allowed_tokens=16_000)
    assert all("sparing" not in tell(topic, known(planned(whole, window=4000))) for topic in ("retrieved", "tokens"))
    assert "besides share" not in tell("explain", known(planned(whole, window=4000)))


def test_an_excerpt_is_one_line_and_cut() -> None:
    told = tell("retrieved", known(planned(make_retrieval(make_evidence("word\n" * 500)), window=9000)))
    line = told.splitlines()[-1]
    assert line.startswith("   word word")
    assert line.endswith("…")
    assert len(line) < 310


@given(text=any_text)
def test_no_text_can_act_on_a_terminal(text: str) -> None:
    told = tell("retrieved", known(planned(make_retrieval(make_evidence(text)), window=9000)))
    assert told.encode("utf-8")
    for line in told.split("\n"):
        assert not any(
            ord(letter) < 32 or 0x7F <= ord(letter) < 0xA0 or 0x202A <= ord(letter) <= 0x202E for letter in line
        )


def test_health_tells_times_prefix_trouble_and_damage() -> None:
    facts = HostFacts(
        handler_ms=(1.0, 2.0, 30.0), factory_ms=3.0, start_ms=4.0, starts=2, trouble="the service ended with 3\x1b[31m",
        prefix=(Prefix(sent=0.5, native=0.75),),
    )  # fmt: skip
    told = tell("health", known(facts=facts, config=Config.load(settings=["project.enabled=false"])))
    assert "started 2 times" in told
    assert "2.0 ms, p95 30.0 ms, slowest 30.0 ms, of 3 calls" in told
    assert "3.0 ms by loading and 4.0 ms by the session" in told
    assert "50.0% of the one before (without aforesaid 75.0%)" in told
    assert "last trouble: the service ended with 3 [31m" in told
    assert "configuration: not-in-this-version" in told


def test_health_of_a_damaged_read_only_store_and_of_one_that_cannot_be_read() -> None:
    damaged = StoreStatus(
        location="/s", writable=False, schema=1, projection=1, sessions=1, entries=2, bytes=3, damaged=("a", "b")
    )
    one = known()
    told = tell(
        "health",
        Known(session=one.session, entries=0, last=None, facts=one.facts, config=one.config, store=lambda: damaged),
    )
    assert "(read-only)" in told
    assert "damaged: 2 sessions" in told

    def busy() -> StoreStatus:
        raise StoreBusy("busy", "wait")

    with pytest.raises(StoreBusy):
        tell("health", replace(known(), store=busy))


def test_the_configuration_shows_what_is_not_the_default() -> None:
    assert tell("config", known()) == "all settings are the default"
    changed = tell("config", known(config=Config.load(settings=["retrieval.maxResults=5"])))
    assert "retrieval.maxResults = 5  (--set)" in changed
