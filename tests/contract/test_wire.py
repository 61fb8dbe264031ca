from __future__ import annotations

import json
from hashlib import sha256
from types import MappingProxyType

import jsonschema  # type: ignore[import-untyped]
import pytest
from hypothesis import given
from msgspec.structs import replace
from tests.plans import call, found, message, native, turn, view
from tests.schemas import check
from tests.values import (
    FAILED,
    FLAW,
    SESSION_ID,
    STATUS,
    TEXT,
    make_evidence,
    make_found,
    make_page,
    make_passage,
    make_report,
    make_retrieval,
    make_session,
    make_sync,
)
from tests.views import quoted
from tests.words import any_text

from aforesaid.answers import Coverage, Matched, Query, RetrievalStatus, Semantic, Window
from aforesaid.config import Config, user_file
from aforesaid.extractive.sheet import Range, Sheet
from aforesaid.extractive.values import Candidate, HistoryView, ViewDiagnostics
from aforesaid.hosts import wire, wire_upkeep
from aforesaid.inquiry import Expansion, Reach
from aforesaid.model import Header
from aforesaid.planning import plan_context
from aforesaid.planning.messages import make_message
from aforesaid.planning.values import NativeContext
from aforesaid.reports import VectorCount

SCHEMAS = (
    *("retrieval", "plan", "recall", "expand", "index", "rebuild", "sessions", "status", "config", "config-path"),
    "installation",
    "doctor",
    "lost",
    "view",
    "eval-view",
    "eval-calibration",
    "error",
)


@pytest.mark.parametrize("name", SCHEMAS)
def test_every_schema_allows_nothing_that_it_does_not_name(name: str) -> None:
    with pytest.raises(jsonschema.ValidationError):
        check(name, "{}")


def test_a_retrieval_has_the_members_of_the_contract_in_its_order() -> None:
    document = check("retrieval", wire.encode(wire.retrieval(make_retrieval(make_evidence()))))
    assert list(document) == ["schema", "status", "query", "hits", "diagnostics"]
    assert list(document["query"]) == [
        *("identifiers", "phrases", "files", "symbols", "errors", "technologies", "keywords", "terms")
    ]
    (hit,) = document["hits"]
    assert list(hit) == [
        *("entryId", "sessionId", "role", "timestamp", "tier", "score", "scoreParts", "matched", "reason", "excerpt"),
        *("excerptStart", "excerptEnd", "windows", "redacted", "tokens", "sha256", "evidence"),
    ]
    assert list(document["diagnostics"]) == [
        *("candidateCount", "eligibleCount", "duplicateCount", "inContextCount", "alternateBranchCandidates"),
        *("privacyExcludedCount", "plannerExcludedCount", "selectedTokens", "maxTokens", "maxResults", "durationMs"),
        *("semantic", "coverage", "warnings"),
    ]


def test_a_hit_says_what_the_evidence_holds() -> None:
    evidence = make_evidence(
        windows=(Window(start=4, end=10, text=TEXT[4:10]), Window(start=20, end=30, text=TEXT[20:30])), redacted=2
    )
    (hit,) = check("retrieval", wire.encode(wire.retrieval(make_retrieval(evidence))))["hits"]
    assert hit["entryId"] == "e0000003"
    assert hit["sessionId"] == SESSION_ID
    assert (hit["excerptStart"], hit["excerptEnd"]) == (4, 30)
    assert hit["windows"] == [
        {"start": 4, "end": 10, "text": TEXT[4:10]},
        {"start": 20, "end": 30, "text": TEXT[20:30]},
    ]
    assert hit["excerpt"] == f"{TEXT[4:10]}\n[…]\n{TEXT[20:30]}"
    assert sum(hit["scoreParts"].values()) == pytest.approx(hit["score"], abs=1e-6)
    assert list(hit["scoreParts"]) == ["identifier", "extraTerms", "branch", "authority", "tokens"]
    assert hit["matched"] == {"identifiers": ["src/db.py"], "phrases": [], "terms": ["src/db.py", "port"]}
    assert hit["sha256"] == evidence.ranked.candidate.entry.source.sha256.hex()
    assert hit["redacted"] == 2
    assert hit["evidence"] == evidence.message


def test_the_score_is_nowhere_a_confidence() -> None:
    text = wire.encode(wire.retrieval(make_retrieval(make_evidence()))).decode().lower()
    assert "confidence" not in text
    assert "probability" not in text
    assert "%" not in text


@pytest.mark.parametrize("status", ["no-query", "disabled", "failed"])
def test_an_answer_without_hits_and_without_a_session_is_a_whole_document(status: RetrievalStatus) -> None:
    found = make_retrieval(
        status=status, session=False, query=Query(), warnings=("exact-search-failed",),
        coverage=Coverage(complete=False, reasons=("stale",)),
    )  # fmt: skip
    document = check("retrieval", wire.encode(wire.retrieval(found)))
    assert document["status"] == status
    assert document["hits"] == []
    assert document["diagnostics"]["warnings"] == ["exact-search-failed"]
    assert document["diagnostics"]["coverage"] == {"complete": False, "reasons": ["stale"]}


def test_what_vectors_did_is_told_in_counts_and_codes() -> None:
    document = check("retrieval", wire.encode(wire.retrieval(make_retrieval())))
    assert document["diagnostics"]["semantic"] == {"enabled": False, "reason": "off"}
    done = Semantic(
        provider="p", model="m", dimensions=64, destination="remote", used=True, candidates=3, admitted=1, stale=2,
        sources=40, coverage="partial", excluded=5, cache="miss", embedding_ms=1.23456, loading_ms=2.0, search_ms=0.5,
    )  # fmt: skip
    document = check("retrieval", wire.encode(wire.retrieval(make_retrieval(semantic=done))))
    assert document["diagnostics"]["semantic"] == {
        "enabled": True, "used": True, "reason": None, "provider": "p", "model": "m", "dimensions": 64,
        "destination": "remote", "candidates": 3, "admitted": 1, "stale": 2, "sources": 40, "coverage": "partial",
        "excluded": 5, "cache": "miss", "durationMs": {"embedding": 1.235, "loading": 2.0, "search": 0.5},
    }  # fmt: skip
    failed = replace(done, used=False, reason="embedding-timeout")
    document = check("retrieval", wire.encode(wire.retrieval(make_retrieval(semantic=failed))))
    assert document["diagnostics"]["semantic"]["reason"] == "embedding-timeout"


def test_equal_values_give_equal_bytes() -> None:
    once, again = (wire.encode(wire.retrieval(make_retrieval(make_evidence()))) for _ in range(2))
    assert once == again
    assert b"\n" not in once


@given(text=any_text)
def test_any_text_gives_valid_utf8_and_comes_back(text: str) -> None:
    found = make_retrieval(make_evidence(text, matched=Matched(terms=(text,))), query=Query(keywords=(text,)))
    document = json.loads(wire.encode(wire.retrieval(found)).decode("utf-8"))
    hit = document["hits"][0]
    # A high and a low surrogate that stand side by side are one character in JSON and in nothing else.
    joined = json.loads(json.dumps(text))
    assert hit["excerpt"] == joined
    assert document["query"]["keywords"] == [joined]


@given(text=any_text)
def test_the_quick_way_says_the_same(text: str) -> None:
    document = wire.retrieval(make_retrieval(make_evidence(text, matched=Matched(terms=(text,)))))
    assert json.loads(wire.encode_quickly(document)) == json.loads(wire.encode(document))


def test_the_quick_way_writes_what_its_encoder_does_not_know() -> None:
    strange = {"surrogate": "\ud800", "mapping": MappingProxyType({"a": 1}), "number": 10**30}
    assert json.loads(wire.encode_quickly(strange)) == {"surrogate": "\ud800", "mapping": {"a": 1}, "number": 10**30}


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("perché Größe привет 数据库 サーバー 서버 ทดสอบ שלום 🎉", None),
        ("a\ud800b\udfff", r"a\ud800b\udfff"),
        ("line\nbreak\u2028\x00\x1b[31m", None),
    ],
)
def test_text_is_raw_and_only_lone_surrogates_are_escaped(text: str, written: str | None) -> None:
    encoded = wire.encode({"text": text})
    assert json.loads(encoded) == {"text": text}
    if written is not None:
        assert encoded == b'{"text":"' + written.encode() + b'"}'
    elif "\n" not in text:
        assert text.encode() in encoded
    assert b"\x1b" not in encoded


def test_an_index_report_has_the_members_of_the_contract() -> None:
    report = make_report(make_sync(flaws=(FLAW,), removed=1), make_sync(status="unchanged", added=0), FAILED)
    document = check("index", wire.encode(wire_upkeep.index(report)))
    assert list(document) == ["schema", "sessions", "totals", "durationMs"]
    added, _, failed = document["sessions"]
    assert list(added) == [
        *("file", "host", "sessionId", "entries", "added", "removed", "invalidLines", "status"),
    ]
    assert added["invalidLines"] == [{"line": 7, "byte": 901, "reason": "invalid-json"}]
    assert (failed["host"], failed["sessionId"], failed["entries"]) == (None, None, 0)
    assert failed["error"] == {"code": "source-unreadable", "message": "/home/dev/sessions/b.jsonl cannot be read"}
    assert document["totals"] == {
        "sessions": 3,
        "entries": 80,
        "added": 40,
        "removed": 1,
        "invalidLines": 1,
        "statuses": {"added": 1, "updated": 0, "unchanged": 1, "rebuilt": 0, "failed": 1},
    }


def test_a_rebuild_reports_as_an_index_run_does() -> None:
    document = check("rebuild", wire.encode(wire_upkeep.rebuild(make_report(make_sync(status="rebuilt")))))
    assert document["totals"]["statuses"]["rebuilt"] == 1


def test_sessions_stand_in_the_given_order_with_what_is_known_of_them() -> None:
    bare = make_session(header=Header(host="pi", session_id="bare"), name=None, updated=None, entries=0, requests=0)
    document = check("sessions", wire.encode(wire_upkeep.sessions([make_session(flaw_count=4, shared=2), bare])))
    first, second = document["sessions"]
    assert (first["sessionId"], first["invalidLines"], first["shared"]) == (SESSION_ID, 4, 2)
    assert (second["sessionId"], second["started"], second["updated"], second["cwd"]) == ("bare", None, None, None)


def test_the_status_names_damage_and_every_setting_without_effect() -> None:
    config = Config.load(settings=["project.enabled=false"])
    document = check("status", wire.encode(wire_upkeep.status(STATUS, config, "0.1.0")))
    assert document["store"]["location"] == "/home/dev/store"
    assert document["store"]["vectors"] == []
    count = VectorCount(provider="p", model="m", dimensions=64, destination="local", sessions=2, vectors=9)
    vectors = check("status", wire.encode(wire_upkeep.status(replace(STATUS, vectors=(count,)), config, "0.1.0")))
    assert vectors["store"]["vectors"] == [
        {"provider": "p", "model": "m", "dimensions": 64, "destination": "local", "sessions": 2, "vectors": 9}
    ]
    assert "not-in-this-version project.enabled" in document["config"]["warnings"]
    assert "project.enabled" in document["config"]["notInThisVersion"]


def test_a_configuration_shows_values_with_their_sources() -> None:
    config = Config.load(settings=['privacy.remoteProviders={"a.example": ["normal"]}', "retrieval.maxResults=5"])
    document = check("config", wire.encode(wire_upkeep.config(user_file(), config.settings, config)))
    values = {value["key"]: value for value in document["values"]}
    assert values["privacy.remoteProviders"]["value"] == {"a.example": ["normal"]}
    assert values["retrieval.maxResults"] == {
        "key": "retrieval.maxResults",
        "value": 5,
        "source": "--set",
        "inThisVersion": True,
    }
    assert values["project.enabled"]["inThisVersion"] is False


def test_a_plan_has_the_members_of_the_contract_in_its_order() -> None:
    talk = native(message("summary", 10, "sum"), *turn(1, 400, 400), message("request", 10, "now"))
    made = plan_context(talk, call(1000), retrieve=lambda _: found(20, 690), supplements=[view(10)])
    document = check("plan", wire.encode(wire.plan(made)))
    assert list(document) == ["schema", "status", "reason", "messages", "manifest", "warnings"]
    assert document["messages"] == [
        {"role": "user", "content": "text of sum", "source": "native", "entryId": "sum"},
        {"role": "user", "content": "the view", "source": "view"},
        {"role": "user", "content": made.messages[2].content, "source": "evidence", "entryId": "h0"},
        {"role": "user", "content": "text of now", "source": "native", "entryId": "now"},
    ]
    assert list(document["manifest"]) == [
        *("schema", "model", "limits", "included", "excluded", "retrievedEventIds", "messagesSha256", "sampled"),
    ]
    assert document["manifest"]["limits"] == {"window": 1000, "reserve": 0, "target": 700, "soft": 800, "hard": 900}
    assert document["manifest"]["retrievedEventIds"] == ["h0"]
    assert document["manifest"]["included"][-2] == {
        "kind": "retrieval",
        "entryId": "h0",
        "classification": "normal",
        "score": 159.25,
        "tokens": 20,
        "groupId": "s0",
        "reason": "identifier:1;terms:2;same-file:1;assistant",
    }


def test_the_digest_of_a_plan_can_be_computed_from_its_document() -> None:
    asked = make_message(role="user", kind="request", content=[{"type": "text", "text": "perché \ud800 🎉"}])
    made = plan_context(NativeContext(messages=(asked,)), call(1000), retrieve=lambda _: found(20))
    document = json.loads(wire.encode(wire.plan(made)))
    digests = [
        sha256(wire.encode({"role": one["role"], "content": one["content"]})).digest() for one in document["messages"]
    ]
    assert document["manifest"]["messagesSha256"] == sha256(b"".join(digests)).hexdigest()


def test_small_documents() -> None:
    assert check("error", wire.encode(wire.error("bad-argument", "what", "hint"))) == {
        "error": {"code": "bad-argument", "message": "what", "hint": "hint"}
    }
    assert check("config-path", wire.encode(wire_upkeep.config_path("/x", exists=False)))["exists"] is False
    assert json.loads(wire.encode(wire.version("1.2.3"))) == {"schema": "aforesaid.version/1", "version": "1.2.3"}


def test_a_value_that_json_cannot_hold_is_refused_and_not_written_as_something_else() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        wire.encode({"score": float("nan")})


def test_a_page_of_recall_has_the_members_of_the_contract_in_its_order() -> None:
    reach = Reach(complete=False, indexed_sessions=2, eligible_sessions=3, stale_sessions=1, reasons=("stale",))
    page = make_page(make_found(), make_found(derived="compaction"), status="partial", next="m1", coverage=reach)
    document = check("recall", wire.encode(wire.recall(page)))
    assert list(document) == ["schema", "status", "hits", "next", "coverage"]
    first, second = document["hits"]
    assert list(first) == [
        *("ref", "entryId", "sessionId", "host", "role", "timestamp", "branch", "inContext", "derived", "score"),
        *("snippet", "matched", "follow"),
    ]
    assert first["follow"] == {"command": "expand", "ref": first["ref"]}
    assert (first["derived"], second["derived"]) == (None, "compaction")
    assert document["coverage"] == {
        "complete": False, "indexedSessions": 2, "eligibleSessions": 3, "staleSessions": 1, "reasons": ["stale"],
    }  # fmt: skip


def test_an_expansion_has_the_members_of_the_contract_in_its_order() -> None:
    document = check("expand", wire.encode(wire.expand(Expansion(entries=(make_passage("a\nb"),), next=None))))
    assert list(document) == ["schema", "entries", "next"]
    (passage,) = document["entries"]
    assert list(passage) == [
        *("entryId", "sessionId", "role", "timestamp", "text", "startLine", "lines", "complete", "redacted", "sha256"),
        "verified",
    ]
    assert (passage["text"], passage["lines"]) == ("a\nb", 2)


def test_a_view_has_the_members_of_the_contract_in_its_order() -> None:
    sheet = Sheet(SESSION_ID, 3, ((Range("e1", "e9", 5),),), "deterministic", 4096)
    sheet.add([quoted(1, "two", "parts \ud800"), quoted(2, "привет", role="assistant")])
    text = sheet.write(int)
    candidate = Candidate(
        place=1, own=(quoted(1, "two"),), addends=(40.0, 60.0, 0.0, 1.5, 0.0, 0.0, -2.25), relevant=True, key=b"",
        fate="selected",
    )  # fmt: skip
    made = HistoryView(
        text=text, bytes=len(text.encode("utf-8", "backslashreplace")), candidates=(candidate,),
        diagnostics=ViewDiagnostics(total=3, selected=1, omitted=2),
    )  # fmt: skip
    encoded = wire.encode(wire.view(made))
    document = check("view", encoded)
    assert list(document) == ["schema", "view", "bytes", "diagnostics"]
    assert text.encode("utf-8", "backslashreplace") in encoded, "the same bytes"
    assert [source["quotes"] for source in document["view"]["evidence"]] == [["two", "parts \ud800"], ["привет"]]
    assert "bundles" not in document["diagnostics"]
    (bundle,) = check("view", wire.encode(wire.view(made, explain=True)))["diagnostics"]["bundles"]
    assert (bundle["entryIds"], bundle["fate"], bundle["score"]) == (["e0000001"], "selected", 99.25)
    assert bundle["scoreParts"] == {"relevance": 40.0, "index": 60.0, "recency": 1.5, "redundancy": -2.25}
    empty = check("view", wire.encode(wire.view(HistoryView())))
    assert (empty["view"], empty["bytes"]) == ({}, 2)
