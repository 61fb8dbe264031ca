"""Made-up values of the model, for tests of what shows or serializes them."""

from __future__ import annotations

from hashlib import sha256

from aforesaid.answers import (
    Candidate,
    Coverage,
    Diagnostics,
    Evidence,
    Matched,
    Query,
    Ranked,
    Retrieval,
    RetrievalStatus,
    Window,
)
from aforesaid.inquiry import Found, Passage, Reach, RecallPage
from aforesaid.model import Flaw, Header, Session, Source, StoredEntry
from aforesaid.reports import IndexReport, StoreStatus, SyncReport

SESSION_ID = "11111111-2222-7333-8444-555555555555"
TEXT = "We set the port to 5433 in src/db.py because 5432 was taken: connection refused."


def make_session(**changed: object) -> Session:
    values: dict[str, object] = {
        "key": "k1",
        "file": "/home/dev/sessions/a.jsonl",
        "header": Header(
            host="pi", session_id=SESSION_ID, version=3, cwd="/home/dev/project", started="2026-11-30T00:00:00.000Z"
        ),
        "name": "ports",
        "entries": 40,
        "requests": 7,
        "updated": "2026-11-30T02:14:36.000Z",
    }
    return Session(**{**values, **changed})  # type: ignore[arg-type]


def make_entry(text: str = TEXT, **changed: object) -> StoredEntry:
    values: dict[str, object] = {
        "row": 3,
        "id": "e0000003",
        "kind": "message",
        "role": "assistant",
        "timestamp": "2026-11-30T02:14:36.000Z",
        "text": text,
        "parts": (len(text),),
        "source": Source(line=5, offset=400, length=200, sha256=sha256(b"line").digest()),
        "digest": b"0" * 16,
        "tokens": 24,
    }
    return StoredEntry(**{**values, **changed})  # type: ignore[arg-type]


def make_evidence(
    text: str = TEXT, *, matched: Matched | None = None, windows: tuple[Window, ...] = (), **changed: object
) -> Evidence:
    windows = windows or (Window(start=0, end=len(text), text=text),)
    ranked = Ranked(
        candidate=Candidate(entry=make_entry(text, **changed), position=3, order=0),
        tier="identifier",
        score=159.25,
        addends=(100.0, 0.0, 0.0, 40.0, 15.0, 0.0, 0.0, 0.0, 5.0, 0.0, -0.75, *(0.0,) * 9),
        matched=matched or Matched(identifiers=("src/db.py",), terms=("src/db.py", "port")),
        same=(1, 0, 0),
    )
    return Evidence(
        ranked=ranked,
        windows=windows,
        excerpt="\n[…]\n".join(window.text for window in windows),
        message=f"[frame]\n{text}\n[end]",
        tokens=120,
    )


def make_retrieval(
    *hits: Evidence, status: RetrievalStatus = "complete", session: bool = True, query: Query | None = None,
    **counts: object,
) -> Retrieval:  # fmt: skip
    values: dict[str, object] = {
        "candidate_count": 9,
        "eligible_count": len(hits),
        "in_context_count": 3,
        "duplicate_count": 2,
        "planner_excluded_count": 1,
        "selected_tokens": sum(hit.tokens for hit in hits),
        "max_tokens": 16_000,
        "max_results": 12,
        "duration_ms": 1.23456,
        "coverage": Coverage(),
    }
    return Retrieval(
        session=make_session() if session else None,
        status=status,
        query=query
        or Query(
            identifiers=("src/db.py",), files=("src/db.py",), keywords=("port",), terms=("src/db.py", "port"),
        ),
        hits=hits,
        diagnostics=Diagnostics(**{**values, **counts}),  # type: ignore[arg-type]
    )  # fmt: skip


def make_found(**changed: object) -> Found:
    values: dict[str, object] = {
        "ref": "lsQQref",
        "entry_id": "e0000003",
        "session_id": SESSION_ID,
        "host": "pi",
        "role": "assistant",
        "timestamp": "2026-11-30T02:14:36.000Z",
        "branch": "active",
        "in_context": False,
        "derived": None,
        "score": 119.25,
        "snippet": TEXT,
        "matched": ("port", "src/db.py"),
    }
    return Found(**{**values, **changed})  # type: ignore[arg-type]


def make_page(*hits: Found, **changed: object) -> RecallPage:
    values: dict[str, object] = {"status": "complete", "hits": hits, "next": None, "coverage": Reach()}
    return RecallPage(**{**values, **changed})  # type: ignore[arg-type]


def make_passage(text: str = TEXT, **changed: object) -> Passage:
    values: dict[str, object] = {
        "entry_id": "e0000003",
        "session_id": SESSION_ID,
        "role": "assistant",
        "timestamp": "2026-11-30T02:14:36.000Z",
        "text": text,
        "start_line": 1,
        "lines": text.count("\n") + 1,
        "complete": True,
        "redacted": 0,
        "sha256": sha256(b"line").digest(),
        "verified": True,
    }
    return Passage(**{**values, **changed})  # type: ignore[arg-type]


def make_report(*reports: SyncReport) -> IndexReport:
    return IndexReport(sessions=reports, duration_ms=12.3456)


def make_sync(**changed: object) -> SyncReport:
    values: dict[str, object] = {
        "file": "/home/dev/sessions/a.jsonl",
        "status": "added",
        "session": make_session(),
        "added": 40,
    }
    return SyncReport(**{**values, **changed})  # type: ignore[arg-type]


FAILED = SyncReport(
    file="/home/dev/sessions/b.jsonl",
    status="failed",
    error_code="source-unreadable",
    error="/home/dev/sessions/b.jsonl cannot be read",
)
FLAW = Flaw(line=7, byte=901, reason="invalid-json")
STATUS = StoreStatus(
    location="/home/dev/store", writable=True, schema=1, projection=1, sessions=2, entries=80, bytes=123_456
)
