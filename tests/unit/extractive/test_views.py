"""The whole way from a transcript to its view, through the engine."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest
from tests import claude_code, codex, pi
from tests.views import PORT, look, lost_session, talk

from aforesaid import Engine
from aforesaid.errors import EntryUnknown, LeafUnknown, SessionNotFound
from aforesaid.extractive import survey as surveying
from aforesaid.extractive.shelf import MOST_ANSWERS

if TYPE_CHECKING:
    from pathlib import Path

    from aforesaid import HistoryView

ABOUT_PORT = ("which port for the gateway?", "we chose port 5433 for the gateway, since 5432 was taken")
FRUIT = ("tell me of apples", "apples are sweet and round")


def evidence(view: HistoryView) -> list[tuple[str, list[str]]]:
    return [(source["entryId"], source["quotes"]) for source in json.loads(view.text).get("evidence", [])]


def ids(view: HistoryView) -> list[str]:
    return [id_ for id_, _ in evidence(view)]


def test_an_exchange_that_matters_comes_back_whole_with_the_one_before_it(tmp_path: Path) -> None:
    texts = talk(FRUIT, ("a second thing", "yes, two"), ABOUT_PORT, ("and pears?", "pears are green"))
    view = look(tmp_path, lost_session(texts))
    assert evidence(view) == [(f"e{at:07}", [texts[at]]) for at in (2, 3, 4, 5)]
    assert view.entry_ids == tuple(f"e{at:07}" for at in (2, 3, 4, 5))
    document = json.loads(view.text)
    assert document["counts"] == {"total": 4, "selected": 1, "omitted": 3}
    assert [one["entries"] for one in document["ranges"]] == [2, 2, 2, 2]
    assert document["ranges"][0]["firstEntryId"] == "e0000000"
    assert document["ranges"][-1]["lastEntryId"] == "e0000007"
    assert (document["session"], document["diagnostic"]) == (pi.header()["id"], "deterministic")
    assert view.bytes == len(view.text.encode())
    assert view.diagnostics.reason == "selected"


def test_claims_that_contradict_each_other_stay_side_by_side_in_the_order_of_time(tmp_path: Path) -> None:
    texts = talk(
        ("which port for the gateway?", "port 5432"), FRUIT, ("no: the gateway port is 5433", "noted, port 5433"), FRUIT
    )
    view = look(tmp_path, lost_session(texts))
    quotes = [quote for _, quotes in evidence(view) for quote in quotes]
    assert quotes.index("port 5432") < quotes.index("noted, port 5433")
    assert view.diagnostics.selected == 2


def test_nothing_lost_and_nothing_relevant_give_an_empty_view(tmp_path: Path) -> None:
    rows = [pi.header(), *pi.conversation([*ABOUT_PORT, PORT])]
    seen = look(tmp_path, rows)
    assert (seen.text, seen.bytes, seen.message, seen.diagnostics.reason) == ("{}", 2, "", "nothing-lost")
    other = look(tmp_path, lost_session(talk(FRUIT, FRUIT)))
    assert (other.text, other.message, other.diagnostics.reason) == ("{}", "", "nothing-relevant")
    none = look(tmp_path, lost_session(talk(ABOUT_PORT), "ok, go on"))
    assert (none.text, none.diagnostics.status, none.diagnostics.reason) == ("{}", "no-query", "no-query")
    assert (none.diagnostics.total, none.diagnostics.omitted) == (1, 1)


def at_work(question: str, plan: str = "next I change the gateway's port") -> list[Any]:
    """A session of which two subjects are lost, where the agent is about to go on with one of them."""
    rows = lost_session(talk(ABOUT_PORT, FRUIT, FRUIT), question)
    said = pi.message("w0000000", "cccccccc", plan, "assistant", 20)
    return [*rows[:-1], said, pi.message("q0000000", "w0000000", question, minute=21)]


@pytest.mark.parametrize("query", [None, "latest", "working"])
def test_a_request_to_go_on_finds_what_the_work_needs(query: str | None, tmp_path: Path) -> None:
    settings = {} if query is None else {"retrieval.query": query}

    def ask(question: str) -> HistoryView:
        return look(tmp_path, at_work(question), settings=settings)

    found = ask("ok, continue")
    assert ids(found) == ["e0000000", "e0000001"]
    (best, *_) = found.candidates
    parts = {part.name: part.value for part in best.score_parts}
    assert parts["work"] > 0
    assert "relevance" not in parts, "the request itself named nothing"
    done = ask("thanks, that is all")
    assert (done.text, done.message, done.diagnostics.reason) == ("{}", "", "no-query")
    both = ask("are apples sweet?")
    assert set(both.entry_ids) == {f"e{at:07}" for at in range(6)}
    assert both.candidates[0].place != 0, "the work never outweighs the request"


def test_of_the_work_its_first_topics_are_looked_for(tmp_path: Path) -> None:
    others = [f"`other_{name}`" for name in "abcdefghijkl"]
    assert len(others) == surveying.MOST_TOPICS
    some = look(tmp_path, at_work("ok, continue", f"{' '.join(others[1:])} `gateway`"))
    assert some.entry_ids == ("e0000000", "e0000001")
    more = look(tmp_path, at_work("ok, continue", f"{' '.join(others)} `gateway`"))
    assert (more.text, more.diagnostics.reason) == ("{}", "nothing-relevant")


def test_evidence_heeds_the_work_only_where_that_is_configured(tmp_path: Path) -> None:
    file = pi.write(tmp_path / "one.jsonl", at_work("ok, continue"))
    with Engine.open(tmp_path / "store") as engine:
        assert engine.view(session=file).entry_ids == ("e0000000", "e0000001")
        none = engine.retrieve(session=file)
        assert (none.hits, none.status) == ((), "no-query")
    with Engine.open(tmp_path / "store", settings={"retrieval.query": "working"}) as engine:
        assert engine.retrieve(session=file).hits


def test_a_bundle_that_is_too_large_leaves_a_way_to_find_it(tmp_path: Path) -> None:
    texts = talk(FRUIT, (PORT, "port 5433 of the gateway, " * 100))
    view = look(tmp_path, lost_session(texts), settings={"memory.extractive.maxViewBytes": 1024})
    assert evidence(view) == []
    assert json.loads(view.text)["counts"] == {"total": 2, "selected": 0, "omitted": 2}
    assert (view.diagnostics.reason, view.diagnostics.too_large) == ("navigation-only", 1)
    assert view.message


def test_what_the_model_sees_is_not_quoted(tmp_path: Path) -> None:
    texts = talk(FRUIT, ABOUT_PORT, ("another thing", "so be it"))
    rows = pi.conversation(texts)
    cut = pi.compaction("cccccccc", rows[-1]["id"], "e0000003", minute=9)
    asked = pi.message("q0000000", "cccccccc", PORT, minute=10)
    view = look(tmp_path, [pi.header(), *rows, cut, asked])
    assert ids(view) == ["e0000000", "e0000001", "e0000002"], "the answer is visible, its question is gone"


def test_what_the_model_sees_in_another_entry_is_not_quoted_either(tmp_path: Path) -> None:
    rows = lost_session(talk(ABOUT_PORT), "Which PORT for the   gateway?")
    view = look(tmp_path, rows)
    assert ids(view) == ["e0000001"], "the request says it itself"
    again = lost_session(talk(ABOUT_PORT), PORT)
    again.append(pi.message("a0000000", "q0000000", ABOUT_PORT[1].upper(), "assistant", 20))
    again.append(pi.message("q0000001", "a0000000", "the port of the gateway again?", minute=21))
    assert ids(look(tmp_path, again)) == ["e0000000"]


def test_only_words_of_the_user_and_the_assistant_are_quoted(tmp_path: Path) -> None:
    rows = pi.conversation(talk(ABOUT_PORT))
    extra = [
        pi.message("t0000000", "e0000001", "port 5433 gateway from a tool", "toolResult", 3),
        {
            **pi.message("b0000000", "t0000000", "x", minute=4),
            "message": {"role": "bashExecution", "command": "port gateway", "output": "5433", "exitCode": 0},
        },
        {
            "type": "custom_message", "id": "u0000000", "parentId": "b0000000", "timestamp": pi.stamp(5),
            "customType": "note", "content": "the gateway port of an extension", "display": True,
        },
    ]  # fmt: skip
    cut = pi.compaction("cccccccc", "u0000000", "nothing", "the gateway port is summed up", 6)
    again = pi.compaction("dddddddd", "cccccccc", "nothing", "the gateway port again", 7)
    view = look(tmp_path, [pi.header(), *rows, *extra, cut, again, pi.message("q0000000", "dddddddd", PORT, minute=8)])
    assert ids(view) == ["e0000000", "e0000001"]


def test_only_the_own_branch_counts(tmp_path: Path) -> None:
    rows = pi.conversation(talk(FRUIT, ABOUT_PORT))
    side = pi.message("side0001", "e0000001", "the gateway port of a sibling is 9999", minute=4)
    cut = pi.compaction("cccccccc", "e0000003", "nothing", minute=5)
    session = [pi.header(), *rows, side, cut, pi.message("q0000000", "cccccccc", PORT, minute=6)]
    assert "side0001" not in ids(look(tmp_path, session))
    there = look(tmp_path, session, leaf="side0001", query=PORT, context_entries=())
    assert ids(there) == ["e0000000", "e0000001", "side0001"]
    with pytest.raises(LeafUnknown):
        look(tmp_path, session, leaf="e9")
    with pytest.raises(EntryUnknown):
        look(tmp_path, session, context_entries=("e9",))
    with Engine.open(tmp_path / "store") as engine, pytest.raises(SessionNotFound):
        engine.view(session="nobody")


def test_a_long_run_of_answers_is_more_than_one_exchange(tmp_path: Path) -> None:
    rows = pi.conversation(["start the work on the gateway"])
    for number in range(2 * MOST_ANSWERS):
        said = f"step {number} of it" + (", the gateway port is 5433" if number == MOST_ANSWERS + 1 else "")
        rows.append(pi.message(f"a{number:07}", rows[-1]["id"], said, "assistant", number))
    cut = pi.compaction("cccccccc", rows[-1]["id"], "nothing", minute=30)
    view = look(tmp_path, [pi.header(), *rows, cut, pi.message("q0000000", "cccccccc", PORT, minute=31)])
    assert view.diagnostics.total == 2
    assert len(ids(view)) == 1 + 2 * MOST_ANSWERS


def test_every_host_has_views(tmp_path: Path) -> None:
    there = [
        claude_code.message("u1", None, ABOUT_PORT[0]),
        claude_code.reply("a1", "u1", ABOUT_PORT[1]),
        claude_code.boundary("b1", "a1", minute=3),
        claude_code.summary("m1", "b1", "It was about something."),
        claude_code.message("u2", "m1", PORT),
    ]
    assert ids(look(tmp_path / "a", there)) == ["u1", "a1"]
    rows = [
        codex.meta(),
        codex.user(ABOUT_PORT[0]),
        codex.assistant(ABOUT_PORT[1]),
        codex.compacted([], "It was about something.", minute=4),
        codex.user(PORT),
    ]
    assert [quotes for _, quotes in evidence(look(tmp_path / "b", rows))] == [[ABOUT_PORT[0]], [ABOUT_PORT[1]]]


# --- what steers a view ---------------------------------------------------------------------------------------------


def test_the_same_inputs_give_the_same_bytes(tmp_path: Path) -> None:
    rows = lost_session(talk(FRUIT, ABOUT_PORT, ABOUT_PORT, FRUIT))
    once, again = (look(tmp_path / name, rows) for name in "ab")
    assert (once.text, once.message) == (again.text, again.message)


def test_the_scores_of_bundles_are_the_sums_of_their_parts(tmp_path: Path) -> None:
    view = look(tmp_path, lost_session(talk(FRUIT, ABOUT_PORT, ("the gateway is up", "good"), FRUIT)))
    fates = [candidate.fate for candidate in view.candidates]
    assert fates.count("selected") == view.diagnostics.selected
    for candidate in view.candidates:
        assert candidate.score == pytest.approx(sum(part.value for part in candidate.score_parts), abs=1e-6)
        assert (candidate.fate == "irrelevant") == (not candidate.relevant)
    relevant = [candidate.relevant for candidate in view.candidates]
    assert relevant == sorted(relevant, reverse=True)
    best = view.candidates[0].score_parts
    assert [(part.name, part.value) for part in best[:2]] == [("relevance", 40.0), ("index", 60.0)]


def test_repeating_the_same_again_costs_a_bundle_its_place(tmp_path: Path) -> None:
    same = ("the gateway port is 5433", "yes, gateway port 5433")
    other = ("how is the gateway deployed?", "its port is opened by helm")
    view = look(tmp_path, lost_session(talk(same, same, other), "gateway port helm?"))
    redundancy = [part.value for one in view.candidates for part in one.score_parts if part.name == "redundancy"]
    assert min(redundancy) == pytest.approx(-surveying.REDUNDANCY)


def test_salience_moves_a_bundle_a_little_and_never_an_irrelevant_one(tmp_path: Path) -> None:
    from aforesaid.extractive.composition import compose
    from aforesaid.extractive.survey import Asked
    from aforesaid.extractive.survey import look as survey
    from aforesaid.extractive.values import ViewOptions

    rows = lost_session(talk(FRUIT, ABOUT_PORT, ("the gateway is up", "good"), ("pears", "pears")))
    file = pi.write(tmp_path / "one.jsonl", rows)
    with Engine.open(tmp_path / "store") as engine:
        engine.view(session=file)
        viewer = engine._viewer
        (session,) = engine.sessions()
        with engine._store.read(session.key) as snapshot:
            options = ViewOptions()
            found = survey(snapshot, viewer._shelf(session.key), viewer._bags, Asked(), options=options)
            for share in (0.0, 0.3, 1.0):
                # The worst that a classifier can say: everything irrelevant is salient, everything relevant is not.
                said = {one.key: 0.0 if one.relevant else share for one in found.candidates}
                made = compose(snapshot, viewer._shelf(session.key), found, options, salience=said)
                assert [one.place for one in made.candidates if one.fate == "selected"] == [1, 2]
                assert [one.relevant for one in made.candidates] == [True, True, False, False]
            said = {one.key: 1.0 for one in found.candidates}
            raised = compose(
                snapshot, viewer._shelf(session.key), found, options, salience=said, selection="classified"
            )
            parts = {part.name: part.value for part in raised.candidates[0].score_parts}
            assert parts["salience"] == surveying.SALIENCE == 3.0
            assert json.loads(raised.text)["diagnostic"] == "classified"


def test_a_small_pool_still_holds_what_matters(tmp_path: Path) -> None:
    texts = talk(*(FRUIT for _ in range(40)), ABOUT_PORT, *(FRUIT for _ in range(23)))
    view = look(tmp_path, lost_session(texts), settings={"memory.extractive.maxCandidates": 1})
    assert "we chose port 5433" in view.text
    assert view.diagnostics.pool == 1


def test_a_session_that_grows_is_read_on_and_one_that_was_rewritten_anew(tmp_path: Path) -> None:
    file = tmp_path / "one.jsonl"
    rows = lost_session(talk(FRUIT, ABOUT_PORT))
    with Engine.open(tmp_path / "store") as engine:
        pi.write(file, rows)
        assert ids(engine.view(session=file))[-2:] == ["e0000002", "e0000003"]
        more = pi.conversation(["the gateway port moved to 6000", "done", PORT], 10, "f", "q0000000")
        end = pi.compaction("dddddddd", "f0000001", "nothing", minute=19)
        more[2]["parentId"] = "dddddddd"
        pi.write(file, [*rows, *more[:2], end, more[2]])
        grown = engine.view(session=file)
        assert ids(grown)[-2:] == ["f0000000", "f0000001"]
        assert ids(grown) == ids(look(tmp_path / "new", [*rows, *more[:2], end, more[2]]))
        other = lost_session(talk(("new words", "of another gateway"), ("a port", "gateway port 7000"), FRUIT))
        pi.write(file, other)
        assert ids(engine.view(session=file)) == ids(look(tmp_path / "other", other))


def test_a_line_that_was_changed_in_its_place_is_quoted_as_it_stands_now(tmp_path: Path) -> None:
    file = tmp_path / "one.jsonl"
    rows = lost_session(talk(FRUIT, ABOUT_PORT))
    with Engine.open(tmp_path / "store") as engine:
        pi.write(file, rows)
        assert "5433" in engine.view(session=file).text
        before = file.read_bytes()
        stat = file.stat()
        file.write_bytes(before.replace(b"port 5433", b"port 6544"))
        os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns))
        assert "port 6544" in engine.view(session=file).text


# --- privacy --------------------------------------------------------------------------------------------------------

POLICY = {"privacy.enabled": True, "privacy.localProviders": ["here"]}


def test_a_bundle_with_anything_prohibited_in_it_goes_to_nobody_remote(tmp_path: Path) -> None:
    secret = "[aforesaid:sensitive]the wall[/aforesaid:sensitive]"
    texts = talk((f"note {secret}", "noted"), ABOUT_PORT, ("the gateway is up", "its port is open"))
    rows = lost_session(texts)
    view = look(tmp_path, rows, settings=POLICY)
    assert ids(view) == ["e0000002", "e0000003", "e0000004", "e0000005"], "as the one before an allowed exchange"
    assert "the wall" not in view.text + view.message
    assert view.diagnostics.private == 1
    assert [(one.entry_id, one.classification) for one in view.withheld] == [("e0000000", "sensitive")]
    there = look(tmp_path, rows, settings=POLICY, provider="here")
    assert "the wall" in there.text


def test_when_all_of_it_is_private_nothing_is_said_at_all(tmp_path: Path) -> None:
    rows = lost_session([f"[aforesaid:sensitive]{text}[/aforesaid:sensitive]" for text in ABOUT_PORT])
    view = look(tmp_path, rows, settings=POLICY)
    assert (view.text, view.message, view.diagnostics.reason) == ("{}", "", "private")


def test_markers_that_match_only_across_two_entries_hold_the_bundle_back(tmp_path: Path) -> None:
    rows = lost_session(["[aforesaid:sensitive] which port for the gateway?", "port 5433 [/aforesaid:sensitive]"])
    assert look(tmp_path, rows, settings=POLICY).text == "{}"


def test_a_class_that_holds_for_everything_counts(tmp_path: Path) -> None:
    rows = lost_session(talk(ABOUT_PORT, FRUIT))
    view = look(tmp_path, rows, settings={**POLICY, "privacy.defaultClassification": "sensitive"})
    assert (view.text, view.diagnostics.reason) == ("{}", "private")


def test_a_policy_that_cannot_be_read_makes_no_view(tmp_path: Path) -> None:
    rows = lost_session(talk(ABOUT_PORT))
    config = tmp_path / "config.json"
    config.write_text('{"privacy": {"enabled": "yes"}}')
    file = pi.write(tmp_path / "one.jsonl", rows)
    with Engine.open(tmp_path / "store", config) as engine:
        view = engine.view(session=file)
        assert (view.text, view.diagnostics.status, view.diagnostics.reason) == ("{}", "disabled", "privacy-unreadable")


def test_secrets_and_paths_are_replaced_where_that_is_asked_for(tmp_path: Path) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    rows = lost_session([PORT + f" GITHUB_TOKEN={secret}", "the gateway port is in /home/dev/project/src/db.py"])
    raw = {"privacy.redactIndex": False}
    assert secret not in look(tmp_path, rows, settings=raw).text
    assert secret in look(tmp_path, rows, settings={**raw, "privacy.redactSecrets": False}).text
    assert "/home/dev/project" in look(tmp_path, rows).text
    shortened = look(tmp_path, rows, settings={"privacy.shortenPaths": True})
    assert "/home/dev/project" not in shortened.text
    assert shortened.bytes == len(shortened.text.encode())


def test_a_broken_store_is_told_and_not_raised(tmp_path: Path) -> None:
    (tmp_path / "store").write_text("no folder")
    file = pi.write(tmp_path / "one.jsonl", lost_session(talk(ABOUT_PORT)))
    with Engine.open(tmp_path / "store") as engine:
        view = engine.view(session=file)
    assert (view.diagnostics.status, view.text) == ("failed", "{}")
    assert view.diagnostics.warnings == (view.diagnostics.reason,)


# --- in plans -------------------------------------------------------------------------------------------------------

ON: dict[str, Any] = {"memory.extractive.enabled": True}


def plan(folder: Path, rows: list[Any], window: int = 128_000, **settings: object) -> Any:
    file = pi.write(folder / "one.jsonl", rows)
    with Engine.open(folder / "store", settings=settings) as engine:
        made = engine.plan(session=file, context_window=window, model="fake/m")
        return made, engine.last_view


def test_a_plan_has_a_view_only_where_it_is_wanted(tmp_path: Path) -> None:
    rows = lost_session(talk(FRUIT, ABOUT_PORT))
    for settings in ({}, {**ON, "memory.enabled": False}):
        made, view = plan(tmp_path, rows, **settings)
        assert [message.source for message in made.messages] == ["native", "evidence", "evidence", "native"]
        assert view is None


def test_an_entry_never_reaches_the_model_twice(tmp_path: Path) -> None:
    rows = lost_session(talk(FRUIT, ABOUT_PORT, ("the gateway is up", "good")))
    made, view = plan(tmp_path, rows, **ON)
    assert [message.source for message in made.messages] == ["native", "view", *["evidence"] * 3, "native"]
    carried = set(made.manifest.retrieved_event_ids)
    assert carried
    assert view is not None
    assert carried.isdisjoint(view.entry_ids)
    assert view.diagnostics.carried > 0
    assert view.entry_ids == ("e0000005",), "what the evidence leaves over of a bundle that matters"
    item = next(item for item in made.manifest.included if item.kind == "view")
    assert item.entry_id is None
    assert item.reason == f"view;deterministic;bundles:{view.diagnostics.selected}"


def test_what_evidence_carries_whole_needs_no_view(tmp_path: Path) -> None:
    made, view = plan(tmp_path, lost_session(talk(FRUIT, ABOUT_PORT)), **ON)
    assert [message.source for message in made.messages] == ["native", "evidence", "evidence", "native"]
    assert view is not None
    assert (view.text, view.diagnostics.reason, view.diagnostics.carried) == ("{}", "carried", 2)


def test_what_no_evidence_carries_is_in_the_view_alone(tmp_path: Path) -> None:
    rows = lost_session(talk(FRUIT, ABOUT_PORT))
    made, view = plan(tmp_path, rows, **{**ON, "context.maxRetrievedHistoryTokens": 0})
    assert [message.source for message in made.messages] == ["native", "view", "native"]
    assert view is not None
    assert "port 5433" in view.text


def test_a_view_shrinks_to_the_room_that_is_left(tmp_path: Path) -> None:
    texts = talk(*((f"gateway port question {at}?", f"port {at} of the gateway. " + "x " * 150) for at in range(30)))
    rows = lost_session(texts)
    less = {**ON, "context.maxRetrievedHistoryTokens": 0, "memory.extractive.maxViewBytes": 32_768}
    made, view = plan(tmp_path, rows, window=6_000, **less)
    _, whole = plan(tmp_path, rows, **less)
    assert view is not None
    assert whole is not None
    assert 0 < view.diagnostics.selected < whole.diagnostics.selected
    assert [message.source for message in made.messages].count("view") == 1
    assert made.tokens <= made.manifest.limits.soft
    tiny, _ = plan(tmp_path, rows, window=300, **less)
    assert [message.source for message in tiny.messages].count("view") == 0
    assert tiny.status == "planned"


def test_whatever_fails_in_a_view_the_evidence_still_goes_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from aforesaid.engine import viewing

    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(viewing, "look", fail)
    made, view = plan(tmp_path, lost_session(talk(FRUIT, ABOUT_PORT)), **ON)
    assert [message.source for message in made.messages] == ["native", "evidence", "evidence", "native"]
    assert view is not None
    assert view.diagnostics.warnings == ("view-failed",)


def test_an_observer_gets_no_view(tmp_path: Path) -> None:
    made, view = plan(tmp_path, lost_session(talk(ABOUT_PORT)), **{**ON, "context.mode": "observer"})
    assert made.status == "observer"
    assert view is None


def test_a_session_without_a_file_says_that_its_pointers_may_lead_nowhere() -> None:
    rows = lost_session(talk(FRUIT, ABOUT_PORT))
    with Engine.in_memory() as engine:
        engine.hold("memory:one", b"".join(json.dumps(row).encode() + b"\n" for row in rows))
        view = engine.view(session="memory:one")
    assert json.loads(view.text)["diagnostic"] == "deterministic;unsaved-session"
    assert "port 5433" in view.text


def test_a_damaged_transcript_says_that_absence_proves_nothing(tmp_path: Path) -> None:
    rows = lost_session(talk(FRUIT, ABOUT_PORT))
    rows.insert(3, b"{broken")
    view = look(tmp_path, rows)
    assert json.loads(view.text)["diagnostic"] == "deterministic;incomplete-index"
    assert view.diagnostics.coverage.reasons == ("invalid-json",)


# --- when something is wrong ----------------------------------------------------------------------------------------


def test_a_policy_that_fails_hands_out_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from aforesaid.privacy.judge import Judge

    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    for name in ("judge_entry", "judge_line", "judge"):
        with monkeypatch.context() as broken:
            broken.setattr(Judge, name, fail)
            view = look(tmp_path, lost_session(talk(ABOUT_PORT, ("[aforesaid:internal] x", "y"))), settings=POLICY)
        assert (view.text, view.diagnostics.status, view.diagnostics.reason) == ("{}", "failed", "privacy-failed"), name


def test_a_line_that_says_more_than_what_is_stored_holds_the_bundle_back(tmp_path: Path) -> None:
    rows = lost_session(talk(ABOUT_PORT))
    rows[1]["message"]["content"].append({"type": "image", "data": "", "mimeType": "[aforesaid:sensitive]"})
    view = look(tmp_path, rows, settings=POLICY)
    assert (view.text, view.diagnostics.private) == ("{}", 1)
    assert view.withheld[0].reason == "privacy-source"


def test_without_the_index_the_words_of_the_pool_still_decide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from aforesaid.errors import TextSearchFailed
    from aforesaid.storage.sqlite.snapshot import ShardSnapshot

    def fail(*_: object, **__: object) -> None:
        raise TextSearchFailed("broken", "index it again")

    monkeypatch.setattr(ShardSnapshot, "weigh_terms", fail)
    view = look(tmp_path, lost_session(talk(FRUIT, ABOUT_PORT)))
    assert "port 5433" in view.text
    assert view.diagnostics.warnings == ("fts-failed",)


def test_a_damaged_store_is_derived_again(tmp_path: Path) -> None:
    rows = lost_session(talk(FRUIT, ABOUT_PORT))
    assert "port 5433" in look(tmp_path, rows).text
    for file in (tmp_path / "store").rglob("*.db*"):
        file.write_bytes(b"no database at all" * 1000)
    with Engine.open(tmp_path / "store") as engine:
        assert "port 5433" in engine.view(session=tmp_path / "one.jsonl").text


def test_a_forgotten_session_and_forgotten_words_are_in_no_view(tmp_path: Path) -> None:
    file = pi.write(tmp_path / "one.jsonl", lost_session(talk(FRUIT, ABOUT_PORT)))
    with Engine.open(tmp_path / "store") as engine:
        assert "port 5433" in engine.view(session=file).text
        engine.forget(session=file, entries=("e0000003",))
        assert "port 5433" not in engine.view(session=file).text
        engine.forget(session=file)
        view = engine.view(session=file)
        assert (view.text, view.diagnostics.status, view.diagnostics.reason) == ("{}", "disabled", "session-forgotten")


def test_a_transcript_that_is_gone_still_has_views(tmp_path: Path) -> None:
    file = pi.write(tmp_path / "one.jsonl", lost_session(talk(FRUIT, ABOUT_PORT)))
    with Engine.open(tmp_path / "store") as engine:
        engine.view(session=file)
        file.unlink()
        view = engine.view(session=pi.header()["id"])
        assert "port 5433" in view.text
        assert view.diagnostics.coverage.reasons == ("source-missing",)
        assert json.loads(view.text)["diagnostic"] == "deterministic;incomplete-index"


def test_a_node_of_the_range_index_selects_among_its_own_bundles(tmp_path: Path) -> None:
    from aforesaid.extractive.composition import compose
    from aforesaid.extractive.survey import Asked
    from aforesaid.extractive.survey import look as survey
    from aforesaid.extractive.values import ViewOptions

    texts = talk(ABOUT_PORT, FRUIT, ("is the gateway up?", "its port 5434 is open"), FRUIT)
    file = pi.write(tmp_path / "one.jsonl", lost_session(texts))
    with Engine.open(tmp_path / "store") as engine:
        engine.view(session=file)
        viewer = engine._viewer
        (session,) = engine.sessions()
        with engine._store.read(session.key) as snapshot:
            shelf = viewer._shelf(session.key)
            for within, expected in (((0, 2), "5433"), ((2, 9), "5434")):
                options = ViewOptions(within=within)
                made = compose(
                    snapshot, shelf, survey(snapshot, shelf, viewer._bags, Asked(), options=options), options
                )
                quotes = [quote for _, said in evidence(made) for quote in said]
                assert [port for port in ("5433", "5434") if any(port in quote for quote in quotes)] == [expected]
                assert made.diagnostics.total == 4
