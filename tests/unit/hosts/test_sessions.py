"""The open sessions of a service, without a process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests import pi

from aforesaid.config import Config
from aforesaid.engine import Engine
from aforesaid.errors import BadArgument, SessionNotFound
from aforesaid.hosts.forms import Model
from aforesaid.hosts.jsonrpc import Call
from aforesaid.hosts.sessions import Sessions, _reserve

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class Desk:
    """Calls methods as the connection does, what is due afterwards included."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.ended = 0
        self.quiet = True
        self.sessions = Sessions(engine, self._end)
        self.methods = self.sessions.table({})

    def _end(self) -> None:
        self.ended += 1

    def call(self, method: str, **params: Any) -> Any:
        call = Call(1, method, dict(params), wanted=True, arrived=0.0)
        call.quiet = lambda: self.quiet
        answer = self.methods[method](call.params, call)
        if call.afterwards is not None:
            call.afterwards()
        return answer


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with Engine.open(tmp_path / "store") as engine:
        yield Desk(engine)


def rows() -> list[pi.Row]:
    talk = pi.conversation(["the walnut table costs 412 crowns", "noted"])
    end = pi.compaction("cccccccc", talk[-1]["id"], "cccccccc", minute=9)
    ask = pi.message("q0000001", "cccccccc", "what does the walnut table cost?", minute=10)
    return [pi.header("one"), *talk, end, ask]


ASK = {"leaf": "q0000001", "request": "q0000001", "entries": {"add": ["cccccccc", "q0000001"]}}


def test_a_plan_is_kept_in_the_store_after_the_answer(desk: Desk, tmp_path: Path) -> None:
    file = pi.write(tmp_path / "s.jsonl", rows())
    session = desk.call("session/open", host="pi", sessionId="one", file=str(file))["session"]
    told = desk.call("session/context", session=session, **ASK)
    assert len(told["messages"]) == 1
    (kept,) = desk.engine.manifests(session=file)
    assert kept.manifest.retrieved_event_ids == ("e0000000",)


@pytest.fixture
def warmed(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The sessions that were prepared for questions."""
    known: list[str] = []
    monkeypatch.setattr(desk.engine, "warm", lambda session, quiet: known.append(session) if quiet() else None)
    return known


def test_what_questions_need_is_loaded_once_and_when_nobody_waits(
    desk: Desk, tmp_path: Path, warmed: list[str]
) -> None:
    file = pi.write(tmp_path / "s.jsonl", rows())
    desk.quiet = False
    session = desk.call("session/open", host="pi", sessionId="one", file=str(file))["session"]
    desk.call("session/context", session=session, **ASK)
    assert warmed == [], "somebody was waiting"
    desk.quiet = True
    desk.call("session/append", session=session)
    desk.call("session/append", session=session)
    assert warmed == [str(file)]


@pytest.mark.parametrize("policy", [False, True])
def test_it_is_loaded_while_the_model_answers_but_not_before_a_judgment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, policy: bool
) -> None:
    file = pi.write(tmp_path / "s.jsonl", rows())
    config = Config.load(settings=[f"privacy.enabled={str(policy).lower()}"])
    with Engine.open(tmp_path / "store", config) as engine:
        known: list[str] = []
        monkeypatch.setattr(engine, "warm", lambda session, quiet: known.append(session) if quiet() else None)
        desk = Desk(engine)
        desk.quiet = False
        session = desk.call("session/open", host="pi", sessionId="one", file=str(file))["session"]
        desk.quiet = True
        desk.call("session/context", session=session, **ASK)
        assert known == ([] if policy else [str(file)])


def test_a_session_without_a_file_keeps_its_manifests_in_memory(desk: Desk, tmp_path: Path) -> None:
    session = desk.call("session/open", host="pi", sessionId="one")["session"]
    desk.call("session/append", session=session, add=rows())
    assert len(desk.call("session/context", session=session, **ASK)["messages"]) == 1
    shown = {topic: desk.call("session/show", session=session, topic=topic)["text"] for topic in ("health", "manifest")}
    assert "memory" in shown["health"]
    assert "retrieved: e0000000" in shown["manifest"]
    assert "in memory" in desk.call("session/show", session=session, topic="rebuild-index")["text"]
    assert not (tmp_path / "store").exists()


def test_the_index_is_rebuilt_or_it_is_said_why_not(desk: Desk, tmp_path: Path) -> None:
    file = pi.write(tmp_path / "s.jsonl", rows())
    session = desk.call("session/open", host="pi", sessionId="one", file=str(file))["session"]
    show = {"session": session, "topic": "rebuild-index"}
    assert desk.call("session/show", **show)["text"] == "the index of this session was rebuilt: 4 entries"
    file.unlink()
    assert "could not be rebuilt" in desk.call("session/show", **show)["text"]


def test_bringing_up_to_date_costs_what_was_appended(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = pi.write(tmp_path / "s.jsonl", rows()[:-1])
    session = desk.call("session/open", host="pi", sessionId="one", file=str(file))["session"]
    pi.write(file, rows())

    def thorough(*_: object, **__: object) -> None:
        raise AssertionError("every byte was read again")

    monkeypatch.setattr("aforesaid.indexing.sync_all", thorough)
    assert desk.call("session/append", session=session) == {"entries": 4}
    assert len(desk.call("session/context", session=session, **ASK)["messages"]) == 1


def test_final_messages_are_judged_for_the_provider_and_what_is_left_out_is_counted(desk: Desk, tmp_path: Path) -> None:
    file = pi.write(tmp_path / "s.jsonl", rows())
    session = desk.call("session/open", host="pi", sessionId="one", file=str(file))["session"]
    off = desk.call("session/context", session=session, **ASK)["policy"]
    assert (off["enabled"], off["restricts"], off["files"]) == (False, False, list(desk.engine.config.seen))
    desk.engine.config = Config.load(settings={"privacy.enabled": True, "privacy.localProviders": ["here"]})
    on = desk.call("session/context", session=session, **ASK)["policy"]
    assert (on["enabled"], on["restricts"]) == (True, True)
    assert on["stamp"] != off["stamp"]
    marked = "a [aforesaid:sensitive]b"
    messages = [
        {"texts": ["a"]},
        {"texts": [marked, "c"]},
        {"texts": [marked], "kind": "added", "fresh": True, "entryId": "e0000000"},
        {"texts": ["a"], "kind": "added", "fresh": True},
        {"texts": ["a"], "kind": "added"},
        {"texts": [marked], "kind": "answer", "fresh": True},
        {"texts": ["a"], "kind": "result", "call": None},
    ]
    hidden = "[withheld by aforesaid: sensitive]"
    told = desk.call("session/clear", session=session, provider="there", stamp=on["stamp"], messages=messages)
    assert told["messages"] == [True, [f"a {hidden}", hidden], False, True, False, [hidden], True]
    assert (told["schema"], told["policy"]) == ("aforesaid.clear/1", on)
    counted = {(one.reason, one.classification): one.count for one in desk.engine.withheld()}
    assert counted == {("privacy-marker", "sensitive"): 2, ("privacy-stale", "normal"): 1}
    here = desk.call("session/clear", session=session, provider="here", messages=messages)
    assert here["messages"] == [True] * len(messages)
    assert not here["policy"]["restricts"]
    with pytest.raises(BadArgument):
        desk.call("session/clear", session=session, messages=[{"texts": ["a"], "kind": "mine"}])


def test_what_is_withheld_at_last_is_in_the_manifest_with_its_id_class_and_reason(desk: Desk, tmp_path: Path) -> None:
    file = pi.write(tmp_path / "s.jsonl", rows())
    session = desk.call("session/open", host="pi", sessionId="one", file=str(file))["session"]
    desk.engine.config = Config.load(settings={"privacy.enabled": True})
    told = desk.call("session/context", session=session, **ASK)
    (message,) = told["messages"]
    late = {"texts": [message["content"]], "kind": "added", "fresh": True, "entryId": message["entryId"]}
    stamp = told["policy"]["stamp"]
    assert desk.call("session/clear", session=session, stamp=stamp, messages=[late])["messages"] == [True]
    (before,) = (one.manifest for one in desk.engine.manifests(session=file, limit=9))
    assert desk.call("session/clear", session=session, stamp="older", messages=[late])["messages"] == [False]
    (kept,) = (one.manifest for one in desk.engine.manifests(session=file, limit=9))
    assert (before.retrieved_event_ids, kept.retrieved_event_ids) == (("e0000000",), ())
    assert [item.entry_id for item in kept.included if item.kind == "retrieval"] == []
    (item,) = [item for item in kept.excluded if item.kind == "retrieval"]
    assert (item.entry_id, item.classification, item.reason) == ("e0000000", "normal", "privacy-stale")
    assert (item.score, item.tokens) == (None, 0)
    assert kept.messages_sha256 != before.messages_sha256
    assert "privacy-stale" in desk.call("session/show", session=session, topic="excluded all")["text"]


def test_what_did_not_go_out_is_in_the_manifest_as_left_out(desk: Desk, tmp_path: Path) -> None:
    file = pi.write(tmp_path / "s.jsonl", rows())
    session = desk.call("session/open", host="pi", sessionId="one", file=str(file))["session"]
    gone = {"session": session, "reason": "timeout"}
    assert desk.call("session/withdraw", **gone, call=1) == {"withdrawn": False}
    desk.call("session/context", session=session, **ASK, call=1)
    entries = {"keep": 2}
    assert len(desk.call("session/context", session=session, **{**ASK, "entries": entries}, call=2)["messages"]) == 1
    second, first = (one.manifest for one in desk.engine.manifests(session=file, limit=9))
    assert desk.call("session/withdraw", **gone, call=1) == {"withdrawn": False}, "that was the call before"
    assert desk.call("session/withdraw", **gone, call=2) == {"withdrawn": True}
    assert desk.call("session/withdraw", **gone, call=2) == {"withdrawn": False}
    now, before = (one.manifest for one in desk.engine.manifests(session=file, limit=9))
    assert before == first
    assert (second.retrieved_event_ids, now.retrieved_event_ids) == (("e0000000",), ())
    assert [item.kind for item in now.included] == ["summary", "recent"]
    (item,) = now.excluded
    assert (item.kind, item.entry_id, item.reason) == ("retrieval", "e0000000", "undelivered:timeout")
    assert now.messages_sha256 != second.messages_sha256
    shown = {topic: desk.call("session/show", session=session, topic=topic)["text"] for topic in ("status", "manifest")}
    assert "0 evidence messages" in shown["status"]
    assert "retrieved: nothing" in shown["manifest"]


def test_a_plan_of_a_session_without_a_file_is_withdrawn_too(desk: Desk) -> None:
    session = desk.call("session/open", host="pi", sessionId="one")["session"]
    desk.call("session/append", session=session, add=rows())
    desk.call("session/context", session=session, **ASK, call=7)
    assert desk.call("session/withdraw", session=session, call=7, reason="a text, not a code") == {"withdrawn": True}
    (item,) = desk.call("session/report", session=session)["manifest"]["excluded"]
    assert item["reason"] == "undelivered"
    desk.call("session/context", session=session, leaf="q0000001", entries={"keep": 2}, call=8)
    assert desk.call("session/withdraw", session=session, call=8, reason="timeout") == {"withdrawn": False}


def test_what_the_host_counts_in_the_context_is_planned_with(desk: Desk, tmp_path: Path) -> None:
    """Pi knows what its system prompt and its tools cost, as the provider counts them."""
    file = pi.write(tmp_path / "s.jsonl", rows())
    session = desk.call("session/open", host="pi", sessionId="one", file=str(file))["session"]
    model = {"provider": "fake", "id": "m", "contextWindow": 10_000}
    asked = {"session": session, **ASK, "entries": {"keep": 2}, "model": model}

    def carried(**more: Any) -> tuple[int, str]:
        told = desk.call("session/context", **asked, **more)
        return len(told["messages"]), told["reason"]

    desk.call("session/context", **{**asked, **ASK})
    assert carried() == (1, "whole")
    assert carried(usedTokens=None) == (1, "whole")
    assert carried(usedTokens=50) == (1, "whole"), "less than is estimated counts for nothing"
    assert carried(usedTokens=6500) == (1, "whole"), "what the last plan added is no part of the host's own"
    assert carried(usedTokens=8120) == (0, "whole"), "there is no room for it below the soft limit"
    assert carried(usedTokens=8400) == (0, "over-soft-limit")
    assert carried(usedTokens=9500) == (0, "over-hard-limit")
    assert carried(usedTokens=50) == (1, "whole")


def test_a_session_without_a_file_has_final_messages_too(desk: Desk) -> None:
    desk.engine.config = Config.load(settings={"privacy.enabled": True})
    session = desk.call("session/open", host="pi", sessionId="one")["session"]
    desk.call("session/append", session=session, add=rows())
    told = desk.call("session/clear", session=session, messages=[{"texts": ["[aforesaid:sensitive]b"]}])
    assert told["messages"] == [["[withheld by aforesaid: sensitive]"]]


def test_a_request_is_not_rehearsed_while_plans_leave_turns_out(desk: Desk, tmp_path: Path) -> None:
    """The answer would be computed twice: what a plan leaves out may come back, and is known only when it is made."""
    talk = pi.conversation(["the walnut table costs 412 crowns", *["fruit and vegetables " * 150] * 21])
    ask = pi.message("q0000001", talk[-1]["id"], "what does the walnut table cost?", minute=30)
    file = pi.write(tmp_path / "s.jsonl", [pi.header("one"), *talk, ask])
    session = desk.call("session/open", host="pi", sessionId="one", file=str(file))["session"]
    ahead = {"session": session, "leaf": "q0000001", "request": "and the walnut chair?"}
    seen = [*(row["id"] for row in talk), "q0000001"]
    for window, ready in ((100_000, True), (12_000, False), (100_000, True)):
        model = {"provider": "fake", "id": "m", "contextWindow": window}
        asked = {"leaf": "q0000001", "request": "q0000001", "model": model, "entries": {"add": seen}}
        told = desk.call("session/context", session=session, **asked)
        assert bool(told["omitted"]) is not ready
        assert desk.call("session/rehearse", **ahead, model=model) == {"ready": ready}


def test_settings_have_what_a_dialog_needs(desk: Desk) -> None:
    options = {option["key"]: option for option in desk.call("host/settings")["options"]}
    assert options["retrieval.exact"]["choices"] == ["true", "false"]
    assert options["context.mode"]["choices"] == ["managed", "observer"]
    assert options["retrieval.maxResults"] == {
        "key": "retrieval.maxResults",
        "value": 12,
        "meaning": "most hits of one retrieval",
        "allowed": "a whole number from 1 to 100",
        "choices": None,
    }


def test_wrong_arguments(desk: Desk, tmp_path: Path) -> None:
    with pytest.raises(SessionNotFound):
        desk.call("session/context", session="nothing")
    with pytest.raises(BadArgument):
        desk.call("session/open", host="emacs", sessionId="one")
    session = desk.call("session/open", host="pi", sessionId="one")["session"]
    with pytest.raises(BadArgument):
        desk.call("session/append", session=session, keep=3)
    with pytest.raises(BadArgument):
        desk.call("session/context", session=session, entries={"keep": 1})
    held = desk.call("session/open", host="pi", sessionId="two", file=str(tmp_path / "s.jsonl"))["session"]
    with pytest.raises(BadArgument):
        desk.call("session/append", session=held, add=[{}])


def test_shutdown_ends_the_service(desk: Desk) -> None:
    assert desk.call("shutdown") is None
    assert desk.ended == 1


@pytest.mark.parametrize(
    ("window", "most", "reserve"),
    [(128_000, 4096, 4096), (128_000, 64_000, None), (6_000, 4096, None), (1000, 0, None)],
)
def test_what_a_model_may_answer_at_most_counts_where_it_is_little(window: int, most: int, reserve: int | None) -> None:
    assert _reserve(Model(provider="p", id="m", context_window=window, max_tokens=most)) == reserve
