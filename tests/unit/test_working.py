"""The work around a request as a query of its own: what it reads, when it counts, and how both rankings become one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace
from tests import claude_code, pi
from tests.values import make_evidence

from aforesaid import Engine
from aforesaid.query.working import CALL, NAMES, SAID, TOPICS, goes_on, join_work, read_work
from aforesaid.working import by_tier, mix

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from aforesaid import Retrieval
    from aforesaid.answers import Ranked, Tier

WORKING = {"retrieval.query": "working"}
LOST = (
    "the walnut table is described in docs/table.md",
    "noted",
    "GATEWAY_PORT is 58213 and the gateway restarts slowly",
    "noted as well",
    "the violet lamp needs parse_lamp",
    "fine",
)


def rows(last: str, said: str = "Now I set GATEWAY_PORT.", summary: str = "x") -> list[Any]:
    lost = pi.conversation(LOST)
    cut = pi.compaction("c0000000", lost[-1]["id"], "nothing", summary, 20)
    after = pi.conversation(["go on then", said, last], 21, "f", "c0000000")
    return [pi.header(), *lost, cut, *after]


def ask(folder: Path, given: list[Any], settings: Mapping[str, object] = WORKING, **more: Any) -> Retrieval:
    file = pi.write(folder / "one.jsonl", given)
    with Engine.open(folder / "store", settings=settings) as engine:
        return engine.retrieve(session=file, **more)


def ids(found: Retrieval) -> list[str]:
    return [hit.ranked.candidate.entry.id for hit in found.hits]


@pytest.mark.parametrize(
    ("request_", "on"),
    [
        ("continue", True), ("Continue please", True), ("yes", True), ("ok, go ahead", True), ("sì, procedi", True),
        ("vai avanti", True), ("weiter", True), ("продолжай", True), ("继续", True), ("続けてください", True),
        ("계속해줘", True), ("ทำต่อ", True), ("sigue", True), ("oui, continue", True),
        ("thanks, that is all", False), ("thanks", False), ("ok thanks", False), ("ok, that's all", False),
        ("grazie", False), ("ok grazie, è tutto", False), ("stop", False), ("yes, but wait", False), ("danke", False),
        ("спасибо, дальше сам", False), ("好的，谢谢", False), ("继续不用了，谢谢", False), ("", False), ("hm", False),
        ("🙂", False), ("\ud800", False), ("ok, we are done", False),
        ("ok, das war's", False), ("ja, das war alles", False), ("ok, das wär’s dann", False),
        ("ok, bis morgen", False),
        ("yes, that'll be all", False), ("ok, good night", False), ("sì, ecco tutto", False), ("ok, a domani", False),
        ("ok, ce sera tout", False), ("oui, bonne nuit", False), ("sí, eso sería todo", False),
        ("ok, boa noite", False),
        ("ok, see that it runs tomorrow", True), ("ja, das war gut, weiter", True), ("sì, tutto", True),
    ],
)  # fmt: skip
def test_who_goes_on_says_so(request_: str, on: bool) -> None:
    assert goes_on(request_) is on


def test_a_bare_continue_retrieves_what_the_work_is_about(tmp_path: Path) -> None:
    found = ask(tmp_path, rows("continue"))
    assert (found.status, found.query.empty, ids(found)) == ("complete", True, ["e0000002"])
    (hit,) = found.hits
    assert hit.ranked.reason == "identifier:1;terms:1;same-symbol:1;user;working"
    assert "GATEWAY_PORT" in hit.excerpt
    assert ask(tmp_path, rows("continue"), {}).status == "no-query"


@pytest.mark.parametrize("last", ["thanks, that is all", "grazie", "谢谢"])
def test_who_is_done_gets_nothing(tmp_path: Path, last: str) -> None:
    assert ask(tmp_path, rows(last)).status == "no-query"


def test_literal_names_come_first_whichever_query_found_them(tmp_path: Path) -> None:
    found = ask(tmp_path, rows("where is the walnut table?"))
    assert [(hit.entry_id, hit.tier) for hit in found.hits] == [("e0000002", "identifier"), ("e0000000", "other")]


def test_the_request_comes_first_within_a_tier_and_matches_for_itself(tmp_path: Path) -> None:
    found = ask(tmp_path, rows("where is the walnut table of `docs/table.md`?"))
    assert [(hit.entry_id, hit.tier) for hit in found.hits] == [("e0000000", "identifier"), ("e0000002", "identifier")]
    first, second = (hit.ranked for hit in found.hits)
    assert (first.working, second.working) == (False, True)
    assert second.matched.identifiers == ("GATEWAY_PORT",)
    assert "GATEWAY_PORT" not in found.query.identifiers
    assert found.diagnostics.eligible_count == 2
    assert ids(ask(tmp_path, rows("where is the walnut table?"), {})) == ["e0000000"]


def test_who_is_asked_about_is_heeded_for_the_request_and_not_for_the_work(tmp_path: Path) -> None:
    request = "where did I say the walnut table is?"
    assert "speaker" in ask(tmp_path, rows(request), {}).hits[0].score_parts
    assert "speaker" not in ask(tmp_path, rows("where is the walnut table?"), {}).hits[0].score_parts
    assert "speaker" not in ask(tmp_path, rows(request), {"retrieval.ranking": "documented"}).hits[0].score_parts
    (alone,) = ask(tmp_path, rows("go on", "Did I say that the lamp is violet?")).hits
    assert alone.ranked.candidate.entry.role == "user"
    assert "relevance" in alone.score_parts
    assert "speaker" not in alone.score_parts


def test_windows_show_what_the_work_asked_for(tmp_path: Path) -> None:
    given = rows("continue")
    given[3]["message"]["content"][0]["text"] = f"{'word ' * 4000} GATEWAY_PORT is 58213 {'word ' * 4000}"
    (hit,) = ask(tmp_path, given).hits
    assert "GATEWAY_PORT is 58213" in hit.excerpt


def test_the_open_steps_of_the_summary_count(tmp_path: Path) -> None:
    summary = "Done: walnut.\n## Next steps\n- call parse_lamp"
    assert ids(ask(tmp_path, rows("continue", "hm", summary))) == ["e0000004"]
    assert ids(ask(tmp_path, rows("continue", "hm", "## Done\nnothing"))) == []


def test_the_summary_of_claude_code_stands_behind_its_boundary(tmp_path: Path) -> None:
    given = [
        claude_code.message("u1", None, "the violet lamp needs parse_lamp"),
        claude_code.reply("a1", "u1", "ok"),
        claude_code.boundary("b1", "a1"),
        claude_code.summary("m1", "b1", "Pending tasks: parse_lamp"),
        claude_code.message("u2", "m1", "continue"),
    ]
    assert ids(ask(tmp_path, given)) == ["u1"]


def test_the_arguments_of_the_last_calls_count(tmp_path: Path) -> None:
    given = [
        claude_code.message("u1", None, "the violet lamp needs parse_lamp"),
        claude_code.reply("a1", "u1", "ok"),
        claude_code.boundary("b1", "a1"),
        claude_code.summary("m1", "b1", "nothing"),
        claude_code.call("a2", "m1", "s2", command="grep -n parse_lamp src"),
        claude_code.result("r2", "a2", "no output"),
        claude_code.message("u2", "r2", "yes"),
    ]
    assert ids(ask(tmp_path, given)) == ["u1"]


def test_without_a_topic_in_the_work_nothing_comes_back(tmp_path: Path) -> None:
    found = ask(tmp_path, rows("continue", "ok", ""))
    assert (found.status, ids(found)) == ("no-query", [])


def test_what_equals_the_request_is_no_hit_of_the_work(tmp_path: Path) -> None:
    assert ids(ask(tmp_path, rows("go on then"), query=LOST[2])) == []


def test_searches_that_are_off_disable_it(tmp_path: Path) -> None:
    off = {**WORKING, "retrieval.exact": False, "retrieval.fts": False}
    assert ask(tmp_path, rows("continue"), off).status == "disabled"


def test_the_policy_holds_for_the_work_too(tmp_path: Path) -> None:
    given = rows("continue")
    given[3]["message"]["content"][0]["text"] = "[aforesaid:sensitive]GATEWAY_PORT[/aforesaid:sensitive] is 58213"
    found = ask(tmp_path, given, {**WORKING, "privacy.enabled": True})
    assert (ids(found), [one.entry_id for one in found.withheld]) == ([], ["e0000002"])


def ranked(row: int) -> Ranked:
    return make_evidence(row=row, id=f"e{row}").ranked


def test_every_third_place_is_the_works(tmp_path: Path) -> None:
    latest, work = [ranked(row) for row in (1, 2, 3, 4, 5)], [ranked(row) for row in (2, 11, 12, 13)]
    assert [row.candidate.entry.row for row in mix(latest, work)] == [1, 2, 11, 3, 4, 12, 5, 13]
    assert [row.candidate.entry.row for row in mix([], work)] == [2, 11, 12, 13]
    assert mix((), ()) == ()
    assert [row.candidate.entry.row for row in mix(latest, [])] == [1, 2, 3, 4, 5]


def test_long_work_is_bounded() -> None:
    joined = join_work("s" * 9000, ["c" * 9000] * 3, "x" * 9000)
    assert len(joined) == SAID + 3 * (CALL + 1) + SAID + 1
    assert join_work("", [], "a\nNext steps: b") == "\nNext steps: b"


def test_the_first_items_of_the_work_count() -> None:
    names = [f"src/part_{number}/file.py" for number in range(40)]
    asked = read_work(" ".join(names))
    assert asked.identifiers == asked.files == tuple(names[:NAMES])
    assert len(asked.terms) == TOPICS
    asked = read_work("parse_lamp then TS2345 in src/a.py")
    assert (asked.symbols, asked.errors, asked.files) == (("parse_lamp",), ("TS2345",), ("src/a.py",))


def work_of(calls: int, results: int) -> list[Any]:
    """A session in which an answer names a lost thing, and calls with results follow it."""
    given = [
        claude_code.message("u1", None, "the violet lamp needs parse_lamp"),
        claude_code.reply("a1", "u1", "ok"),
        claude_code.boundary("b1", "a1"),
        claude_code.summary("m1", "b1", "nothing"),
        claude_code.reply("s1", "m1", "I look at parse_lamp."),
    ]
    last = "s1"
    for number in range(calls):
        given.append(claude_code.call(f"c{number}", last, f"s{number}", command="ls"))
        given.append(claude_code.result(f"r{number}", f"c{number}", "x"))
        last = f"r{number}"
    for number in range(results):
        given.append(claude_code.message(f"n{number}", last, f"hm {number}"))
        last = f"n{number}"
    return [*given, claude_code.message("u2", last, "continue")]


def test_the_last_answer_counts_however_many_calls_follow_within_bounds(tmp_path: Path) -> None:
    assert ids(ask(tmp_path, work_of(40, 0))) == ["u1"]
    assert ids(ask(tmp_path, work_of(0, 200))) == ["u1"]
    assert ids(ask(tmp_path, work_of(0, 300))) == [], "too far away"


def test_what_a_host_says_is_visible_is_the_work_without_a_compaction(tmp_path: Path) -> None:
    given = [pi.header(), *pi.conversation([*LOST[:3], "Now I set GATEWAY_PORT.", "continue"])]
    assert ids(ask(tmp_path, given, context_entries=["e0000003", "e0000004"])) == ["e0000002"]


def test_a_long_stretch_of_calls_ends_the_search(tmp_path: Path) -> None:
    given = work_of(12, 0)
    given.insert(-1, claude_code.reply("s9", "r11", "Now for parse_lamp again."))
    given[-1]["parentUuid"] = "s9"
    assert ids(ask(tmp_path, given)) == ["u1"]


def test_hits_are_ordered_by_tier_and_keep_their_order_within_one() -> None:
    made = make_evidence()
    tiers: tuple[Tier, ...] = ("other", "phrase", "identifier", "other", "identifier", "phrase")
    hits = [replace(made, ranked=replace(made.ranked, tier=tier), tokens=at) for at, tier in enumerate(tiers)]
    assert [hit.tokens for hit in by_tier(hits)] == [2, 4, 1, 5, 0, 3]


def test_the_order_of_tiers_changes_neither_what_comes_back_nor_what_is_quoted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost = pi.conversation([f"walnut {number} {'GATEWAY_PORT' if number % 3 else 'oak'}" for number in range(24)])
    cut = pi.compaction("c0000000", lost[-1]["id"], "nothing", "x", 20)
    given = [pi.header(), *lost, cut, *pi.conversation(["on", "Now GATEWAY_PORT.", "walnut?"], 21, "f", "c0000000")]
    ordered = ask(tmp_path, given)
    monkeypatch.setattr("aforesaid.working.by_tier", tuple)
    mixed = ask(tmp_path, given)
    assert (
        [hit.tier for hit in ordered.hits] == sorted(hit.tier for hit in mixed.hits) != [hit.tier for hit in mixed.hits]
    )
    assert sorted(hit.message for hit in ordered.hits) == sorted(hit.message for hit in mixed.hits)
