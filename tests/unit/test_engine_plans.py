"""`Engine.plan`: a session's own messages or a host's, failures, and what the options do."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace
from tests import pi

from aforesaid import Engine
from aforesaid.errors import BadArgument, EntryUnknown, LeafUnknown, SessionNotFound, StoreBusy
from aforesaid.planning.messages import make_message
from aforesaid.planning.values import Supplement, Verdict
from aforesaid.storage.sqlite.store import SqliteStore

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from aforesaid.planning.values import Message, Plan

ASK = "Where is the walnut table?"


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with Engine.open(tmp_path / "store") as opened:
        yield opened


def compacted(folder: Path) -> Path:
    """The walnut table was compacted away; the last request asks for it."""
    rows = pi.conversation(["the walnut table is in room 7", "noted"])
    rows.append(pi.compaction("cccccccc", rows[-1]["id"], "cccccccc", minute=2))
    rows += pi.conversation([ASK], 3, "f", "cccccccc")
    return pi.write(folder / "one.jsonl", [pi.header("one"), *rows])


def long_talk(folder: Path, turns: int = 12) -> Path:
    """Nothing was compacted, and the walnut table is in the first turn."""
    texts = ["the walnut table is in room 7", "noted"]
    for number in range(1, turns):
        texts += [f"subject {number} " + "lorem ipsum dolor " * 40, f"answer {number}"]
    return pi.write(folder / "long.jsonl", [pi.header("long"), *pi.conversation([*texts, ASK])])


def said(plan: Plan, source: str = "native") -> list[str | None]:
    return [message.entry_id for message in plan.messages if message.source == source]


def host(*texts: str) -> tuple[Message, ...]:
    return tuple(make_message(role="user", kind="request", content=text) for text in texts)


def test_what_was_compacted_away_comes_back_before_the_request(engine: Engine, tmp_path: Path) -> None:
    plan = engine.plan(session=compacted(tmp_path), context_window=10_000, model="faux/m")
    assert (plan.status, plan.reason, plan.failed) == ("planned", "whole", False)
    assert [message.entry_id for message in plan.messages] == ["cccccccc", "e0000000", "f0000000"]
    assert "room 7" in str(plan.messages[1].content)
    assert plan.messages[2].content == [{"type": "text", "text": ASK}]
    assert plan.manifest.model == "faux/m"
    assert plan.manifest.retrieved_event_ids == ("e0000000",)


def test_what_the_plan_leaves_out_comes_back_as_evidence(engine: Engine, tmp_path: Path) -> None:
    file = long_talk(tmp_path)
    whole = engine.plan(session=file, context_window=10_000)
    assert said(whole, "evidence") == []
    plan = engine.plan(session=file, context_window=1_500)
    assert plan.reason == "over-soft-limit"
    assert "e0000000" not in said(plan)
    assert said(plan, "evidence")[-1] == "e0000000"
    assert said(plan)[-1] == "e0000024"


def test_a_request_that_is_about_to_be_sent_becomes_the_last_message(engine: Engine, tmp_path: Path) -> None:
    file = compacted(tmp_path)
    plan = engine.plan(session=file, context_window=10_000, query="Is the walnut table in room 7?")
    assert [message.entry_id for message in plan.messages] == ["cccccccc", "f0000000", "e0000000", None]
    assert plan.messages[-1].content == "Is the walnut table in room 7?"
    assert engine.plan(session=file, context_window=10_000, query=ASK).messages[-1].entry_id == "f0000000"
    assert engine.plan(session=file, context_window=10_000, query="").messages[-1].entry_id == "f0000000"


def test_the_branch_of_a_leaf_counts(engine: Engine, tmp_path: Path) -> None:
    file = compacted(tmp_path)
    plan = engine.plan(session=file, context_window=10_000, leaf="e0000001")
    assert [message.entry_id for message in plan.messages] == ["e0000000", "e0000001"]
    with pytest.raises(LeafUnknown):
        engine.plan(session=file, context_window=10_000, leaf="nothing")
    with pytest.raises(LeafUnknown):
        engine.plan(session=file, context_window=10_000, leaf="nothing", messages=host(ASK))


def test_a_host_brings_its_own_messages(engine: Engine, tmp_path: Path) -> None:
    file = compacted(tmp_path)
    own = host("first", ASK)
    plan = engine.plan(session=file, context_window=10_000, messages=own, overhead=100)
    assert [message.entry_id for message in plan.messages] == [None, "e0000000", None]
    assert plan.messages[0] is own[0]
    assert plan.native_tokens == 100 + sum(message.tokens for message in own)
    # The host knows best which entries the model sees.
    seen = engine.plan(session=file, context_window=10_000, messages=own, context_entries=["e0000000"])
    assert said(seen, "evidence") == []
    other = engine.plan(session=file, context_window=10_000, messages=own, query="what about the sofa?")
    assert said(other, "evidence") == []
    with pytest.raises(EntryUnknown):
        engine.plan(session=file, context_window=10_000, messages=own, context_entries=["nothing"])


def test_what_the_plan_leaves_out_of_a_hosts_messages_comes_back_too(engine: Engine, tmp_path: Path) -> None:
    file = long_talk(tmp_path)
    native = engine.plan(session=file, context_window=10_000).messages
    ids = [str(message.entry_id) for message in native]
    plan = engine.plan(session=file, context_window=1_500, messages=native, context_entries=ids)
    assert said(plan, "evidence")[-1] == "e0000000"
    # Messages without an entry of the session have no effect on what is eligible.
    foreign = [replace(message, entry_id="nobody") for message in native]
    plan = engine.plan(session=file, context_window=1_500, messages=foreign, context_entries=ids)
    assert plan.status == "planned"
    assert said(plan, "evidence") == []


def test_wrong_arguments_are_raised(engine: Engine, tmp_path: Path) -> None:
    with pytest.raises(SessionNotFound):
        engine.plan(session="nothing", context_window=1000)
    with pytest.raises(BadArgument):
        engine.plan(session=compacted(tmp_path), context_window=0)


def test_a_busy_store_sends_the_native_messages(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = compacted(tmp_path)
    own = host(ASK)

    def busy(*_: Any) -> None:
        raise StoreBusy("another process writes", "try again")

    engine.index(file)
    monkeypatch.setattr(SqliteStore, "read", busy)
    plan = engine.plan(session=file, context_window=1000, messages=own)
    assert (plan.status, plan.reason, plan.failed, plan.messages) == ("native", "store-busy", True, own)
    monkeypatch.setattr(SqliteStore, "by_file", busy)
    plan = engine.plan(session=file, context_window=1000, messages=own)
    assert (plan.status, plan.reason, plan.failed, plan.messages) == ("native", "store-busy", True, own)
    assert engine.plan(session=file, context_window=1000).messages == ()


def test_the_options_of_the_configuration_count(tmp_path: Path) -> None:
    file = long_talk(tmp_path)

    def planned(*settings: str) -> Plan:
        with Engine.open(tmp_path / "store", settings=settings) as engine:
            return engine.plan(session=file, context_window=1_500, output_reserve=0)

    limits = planned("context.targetFillRatio=0.5", "context.softLimitRatio=0.6", "context.hardLimitRatio=0.7").manifest
    assert (limits.limits.target, limits.limits.soft, limits.limits.hard) == (750, 900, 1050)
    observed = planned("context.mode=observer")
    assert (observed.status, len(observed.messages)) == ("observer", 25)
    assert said(planned("context.recentTailTokens=0")) == ["e0000022", "e0000023", "e0000024"]
    assert said(planned("context.maxRetrievedHistoryTokens=0"), "evidence") == []
    prefix = planned("context.supplementalPlacement=stable-prefix")
    assert prefix.messages[0].source == "evidence"


def test_a_policy_that_cannot_be_read_withholds_evidence_and_not_the_call(tmp_path: Path) -> None:
    (tmp_path / "named.json").write_text('{"privacy": {"enabled": "yes"}}')
    with Engine.open(tmp_path / "store", tmp_path / "named.json") as engine:
        plan = engine.plan(session=compacted(tmp_path), context_window=10_000)
    assert (plan.status, said(plan, "evidence"), plan.warnings) == ("planned", [], ("privacy-unreadable",))


def test_supplements_and_a_judge_pass_through(engine: Engine, tmp_path: Path) -> None:
    passage = Supplement(kind="project", text="passage", tokens=5, entry_id="src/db.py")

    def judge(found: Supplement) -> Verdict:
        return Verdict(allowed=found.kind == "project")

    plan = engine.plan(session=compacted(tmp_path), context_window=10_000, supplements=[passage], judge=judge)
    assert said(plan, "evidence") == ["src/db.py"]


def test_a_file_that_was_changed_in_the_middle_is_read_again(engine: Engine, tmp_path: Path) -> None:
    file = long_talk(tmp_path)
    engine.index(file)
    before = file.stat()
    file.write_bytes(file.read_bytes().replace(b"subject 5 ", b"object 55 "))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    plan = engine.plan(session=file, context_window=10_000)
    assert any("object 55 " in str(message.content) for message in plan.messages)


def test_a_vanished_file_is_planned_from_the_stored_texts(engine: Engine, tmp_path: Path) -> None:
    file = compacted(tmp_path)
    engine.index(file)
    file.unlink()
    plan = engine.plan(session=file, context_window=10_000)
    assert [message.entry_id for message in plan.messages] == ["cccccccc", "e0000000", "f0000000"]
    assert plan.messages[-1].content == ASK
    assert (plan.status, plan.warnings) == ("planned", ("source-missing",))


def test_a_read_only_store_with_another_file_is_planned_from_the_stored_texts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = compacted(tmp_path)
    with Engine.open(tmp_path / "store") as engine:
        engine.index(file)
    file.write_bytes(file.read_bytes().replace(b"summary", b"SUMMARY"))
    monkeypatch.setattr("aforesaid.storage.sqlite.store._may_write", lambda _: False)
    with Engine.open(tmp_path / "store") as engine:
        plan = engine.plan(session=file, context_window=10_000)
    assert plan.messages[0].content == "a summary"
    assert plan.retrieval is not None
    assert plan.retrieval.diagnostics.coverage.reasons == plan.warnings == ("stale",)


def test_a_store_that_can_be_written_again_is_used_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A service outlives the trouble: what it opened while nothing could be written is opened anew."""
    file = compacted(tmp_path)
    with Engine.open(tmp_path / "store") as engine:
        engine.index(file)
    ask = pi.message("q0000001", "f0000000", "and what does the walnut table cost?", minute=11)
    with Engine.open(tmp_path / "store") as engine:

        def plan(*more: str) -> Plan:
            seen = ("cccccccc", "f0000000", *more)
            return engine.plan(session=file, context_window=10_000, context_entries=seen)

        with monkeypatch.context() as patched:
            patched.setattr("aforesaid.storage.sqlite.store._may_write", lambda _: False)
            assert plan().warnings == ()
            with pytest.raises(EntryUnknown):
                plan("q0000001")
            with file.open("a") as lines:
                lines.write(json.dumps(ask) + "\n")
            assert plan().warnings == ("stale",)
            made = plan("q0000001")  # its host has written it, and the store cannot know it yet
            assert (made.status, made.reason, made.failed) == ("native", "store-read-only", True)
            assert engine.status().writable is False
        made = plan("q0000001")
        assert (made.status, made.warnings) == ("planned", ())
        assert said(made)[-1] == "q0000001"
        assert engine.status().writable is True


def test_a_store_that_is_gone_stays_what_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = compacted(tmp_path)
    with Engine.open(tmp_path / "store") as engine:
        assert engine.plan(session=file, context_window=10_000).status == "planned"
    with Engine.open(tmp_path / "store") as engine, monkeypatch.context() as patched:
        patched.setattr("aforesaid.storage.sqlite.store._may_write", lambda _: False)
        assert engine.status().writable is False
        (tmp_path / "store").rename(tmp_path / "elsewhere")
        assert engine.plan(session=file, context_window=10_000).reason == "store-read-only"


def test_what_a_host_adds_is_judged_for_the_provider_of_the_model(tmp_path: Path) -> None:
    from aforesaid.planning.values import Supplement

    file = pi.write(tmp_path / "s.jsonl", [pi.header(), *pi.conversation(["the walnut table"])])
    view = Supplement(kind="view", text="[aforesaid:sensitive]walnut", tokens=9, entry_id="v1", score=2.0)
    settings = {"privacy.enabled": True, "privacy.localProviders": ["here"]}
    for model, goes in (("here/x", True), ("there/x", False), (None, False)):
        with Engine.open(tmp_path / "store", settings=settings) as engine:
            made = engine.plan(session=file, context_window=100_000, model=model, supplements=[view])
        assert any(message.source == "view" for message in made.messages) is goes
        (item,) = [item for item in (*made.manifest.included, *made.manifest.excluded) if item.kind == "view"]
        assert item.classification == "sensitive"
        if not goes:
            assert (item.reason, item.score, item.tokens) == ("privacy-marker", None, 0)


def test_nothing_is_added_while_the_policy_is_not_known(tmp_path: Path) -> None:
    from aforesaid.planning.values import Supplement

    named = tmp_path / "named.json"
    named.write_text('{"privacy": {"enabled": "yes"}}')
    file = pi.write(tmp_path / "s.jsonl", [pi.header(), *pi.conversation(["the walnut table"])])
    view = Supplement(kind="view", text="walnut", tokens=9)
    with Engine.open(tmp_path / "store", named) as engine:
        made = engine.plan(session=file, context_window=100_000, supplements=[view])
    assert [message.source for message in made.messages] == ["native"]
    assert [item.reason for item in made.manifest.excluded] == ["privacy-unreadable"]


def test_manifests_are_kept_with_bounds_and_without_text(tmp_path: Path) -> None:
    file, other = compacted(tmp_path), long_talk(tmp_path)
    with Engine.open(tmp_path / "store", settings=["diagnostics.storeManifests=2"]) as engine:
        assert engine.manifests() == ()
        plans = [engine.plan(session=file, context_window=window) for window in (10_000, 11_000, 12_000)]
        assert [kept.manifest for kept in engine.manifests(limit=9)] == [plans[2].manifest, plans[1].manifest]
        assert engine.manifests()[0].at > 1_700_000_000
        last = engine.plan(session=other, context_window=1_500, keep=False)
        assert len(engine.manifests(session=other, limit=9)) == 0
        engine.keep_manifest(last, session=other)
        assert [kept.manifest for kept in engine.manifests(session="long", limit=9)] == [last.manifest]
        assert [kept.manifest for kept in engine.manifests(session=file, limit=9)] == [plans[2].manifest]
        with pytest.raises(SessionNotFound):
            engine.manifests(session="nothing")
    stored = b"".join(found.read_bytes() for found in (tmp_path / "store").glob("manifests.db*"))
    assert b"e0000000" in stored
    for word in (b"walnut", b"room 7", b"lorem"):
        assert word not in stored


def test_no_manifest_is_kept_where_none_is_wanted_or_nothing_was_planned(tmp_path: Path) -> None:
    file = compacted(tmp_path)
    with Engine.open(tmp_path / "store", settings=["diagnostics.storeManifests=0"]) as engine:
        engine.plan(session=file, context_window=10_000)
        assert engine.manifests() == ()
    with Engine.open(tmp_path / "store") as engine:
        assert engine.plan(session=file, context_window=10).status == "native"
        assert engine.manifests() == ()
        engine._store.manifests.keep("k", "no manifest", at=1.0, most=9)
        assert engine.manifests() == ()


def test_a_manifest_that_cannot_be_kept_is_a_warning(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def busy(*_: Any, **__: Any) -> None:
        raise StoreBusy("another process writes", "try again")

    monkeypatch.setattr(type(engine._store.manifests), "keep", busy)
    plan = engine.plan(session=compacted(tmp_path), context_window=10_000)
    assert (plan.status, plan.warnings, plan.failed) == ("planned", ("store-busy",), False)


def test_what_a_host_counts_beyond_the_estimate_is_overhead(engine: Engine, tmp_path: Path) -> None:
    file = compacted(tmp_path)
    plain = engine.plan(session=file, context_window=10_000)
    before = sum(item.tokens for item in plain.manifest.included if item.kind == "summary")
    counted = engine.plan(session=file, context_window=10_000, used_tokens=3000)
    assert counted.native_tokens - plain.native_tokens == 3000 - before
    assert counted.tokens - plain.tokens == 3000 - before
    assert engine.plan(session=file, context_window=10_000, used_tokens=before).tokens == plain.tokens
    # An overhead that the caller names is never made smaller by it.
    named = engine.plan(session=file, context_window=10_000, overhead=4000)
    assert engine.plan(session=file, context_window=10_000, overhead=4000, used_tokens=3000).tokens == named.tokens


def test_turns_that_were_left_out_are_part_of_what_went_out_instead(engine: Engine, tmp_path: Path) -> None:
    """A plan that was withdrawn says what the host sent: all of its own messages, in their order."""
    from aforesaid.planning.manifest import digest_messages, withdraw

    plan = engine.plan(session=long_talk(tmp_path), context_window=1500)
    assert plan.omitted
    gone = withdraw(plan, "timeout")
    assert gone.reason == "undelivered:timeout"
    assert [item.entry_id for item in gone.manifest.included] == [message.entry_id for message in plan.own]
    assert {item.kind for item in gone.manifest.excluded} <= {"retrieval"}
    assert gone.manifest.messages_sha256 == digest_messages(plan.own) != plan.manifest.messages_sha256
    assert (gone.omitted, gone.messages, gone.tokens) == ((), plan.own, plan.native_tokens)
    left_out = [item for item in gone.manifest.included if item.reason == "undelivered:timeout"]
    assert [item.entry_id for item in left_out] == list(plan.omitted)
    assert withdraw(plan, "Not A Code").reason == "undelivered"
    assert withdraw(plan, "x" * 41).reason == "undelivered"
