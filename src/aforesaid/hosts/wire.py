"""Floor 8: the only serializer. Values of `model` go in, the JSON documents of the contract come out.

The command line, and later the service and the tools, hand over what the engine returned; each function here makes one
document. Keys are camelCase and their order is fixed, so equal values give equal bytes. Nothing here reads JSON, and
nothing decides what may be shown. The documents about the store and the configuration are made in `wire_upkeep`.
"""

from __future__ import annotations

from json import dumps, loads
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aforesaid.answers import Diagnostics, Evidence, Query, Retrieval, Semantic
    from aforesaid.extractive.values import HistoryView
    from aforesaid.hosts.changes import Change
    from aforesaid.hosts.checkup import Check
    from aforesaid.inquiry import Expansion, Found, RecallPage
    from aforesaid.lost import LostReport
    from aforesaid.planning.values import Manifest, ManifestItem, Message, Plan

Document = dict[str, Any]

_quick = msgspec.json.Encoder()


def encode(document: object, *, indent: int | None = None) -> bytes:
    """A document as UTF-8: text as it is, lone surrogates escaped as JSON does; compact unless it is indented."""
    separators = (",", ":") if indent is None else (",", ": ")
    text = dumps(document, ensure_ascii=False, allow_nan=False, separators=separators, indent=indent, default=_plain)
    # Surrogates are all that UTF-8 cannot hold, and Python's escape of them is JSON's.
    return text.encode("utf-8", "backslashreplace")


def encode_quickly(document: object) -> bytes:
    """The same values in a tenth of the time, for a service that a host waits for; what is no number becomes null."""
    try:
        return _quick.encode(document)
    except (TypeError, ValueError, OverflowError):
        # Lone surrogates, read-only mappings, numbers beyond 64 bits.
        return encode(document)


def retrieval(found: Retrieval) -> Document:
    """`aforesaid.retrieval/1`."""
    session_id = found.session.header.session_id if found.session is not None else None
    return {
        "schema": "aforesaid.retrieval/1",
        "status": found.status,
        "query": query(found.query),
        "hits": [hit(evidence, session_id) for evidence in found.hits],
        "diagnostics": diagnostics(found.diagnostics),
    }


def plan(made: Plan) -> Document:
    """`aforesaid.plan/1`."""
    return {
        "schema": "aforesaid.plan/1",
        "status": made.status,
        "reason": made.reason,
        "messages": [_message(message) for message in made.messages],
        "manifest": manifest(made.manifest),
        "warnings": list(made.warnings),
    }


def _message(message: Message) -> Document:
    document: Document = {"role": message.role, "content": message.content, "source": message.source}
    if message.entry_id is not None:
        document["entryId"] = message.entry_id
    return document


def manifest(of: Manifest) -> Document:
    """`aforesaid.manifest/1`: metadata of a planned call."""
    limits = of.limits
    return {
        "schema": "aforesaid.manifest/1",
        "model": of.model,
        "limits": {
            "window": limits.window,
            "reserve": limits.reserve,
            "target": limits.target,
            "soft": limits.soft,
            "hard": limits.hard,
        },
        "included": [_item(item) for item in of.included],
        "excluded": [_item(item) for item in of.excluded],
        "retrievedEventIds": list(of.retrieved_event_ids),
        "messagesSha256": of.messages_sha256,
        "sampled": of.sampled,
    }


def _item(item: ManifestItem) -> Document:
    return {
        "kind": item.kind,
        "entryId": item.entry_id,
        "classification": item.classification,
        "score": item.score,
        "tokens": item.tokens,
        "groupId": item.group_id,
        "reason": item.reason,
    }


def query(asked: Query) -> Document:
    """The items of a request."""
    return {
        "identifiers": list(asked.identifiers),
        "phrases": list(asked.phrases),
        "files": list(asked.files),
        "symbols": list(asked.symbols),
        "errors": list(asked.errors),
        "technologies": list(asked.technologies),
        "keywords": list(asked.keywords),
        "terms": list(asked.terms),
    }


def hit(evidence: Evidence, session_id: str | None) -> Document:
    """One hit of a retrieval in the session with this id."""
    ranked = evidence.ranked
    entry = ranked.candidate.entry
    return {
        "entryId": entry.id,
        "sessionId": session_id,
        "role": entry.role,
        "timestamp": entry.timestamp,
        "tier": ranked.tier,
        "score": ranked.score,
        "scoreParts": {part.name: part.value for part in ranked.parts},
        "matched": {
            "identifiers": list(ranked.matched.identifiers),
            "phrases": list(ranked.matched.phrases),
            "terms": list(ranked.matched.terms),
        },
        "reason": ranked.reason,
        "excerpt": evidence.excerpt,
        "excerptStart": evidence.windows[0].start,
        "excerptEnd": evidence.windows[-1].end,
        "windows": [{"start": window.start, "end": window.end, "text": window.text} for window in evidence.windows],
        "redacted": entry.redacted,
        "tokens": evidence.tokens,
        "sha256": entry.source.sha256.hex(),
        "evidence": evidence.message,
    }


def diagnostics(counts: Diagnostics) -> Document:
    """Counts, limits, timing and warnings of a retrieval."""
    return {
        "candidateCount": counts.candidate_count,
        "eligibleCount": counts.eligible_count,
        "duplicateCount": counts.duplicate_count,
        "inContextCount": counts.in_context_count,
        "alternateBranchCandidates": counts.alternate_branch_candidates,
        "privacyExcludedCount": counts.privacy_excluded_count,
        "plannerExcludedCount": counts.planner_excluded_count,
        "selectedTokens": counts.selected_tokens,
        "maxTokens": counts.max_tokens,
        "maxResults": counts.max_results,
        "durationMs": round(counts.duration_ms, 3),
        "semantic": semantic(counts.semantic),
        "coverage": {"complete": counts.coverage.complete, "reasons": list(counts.coverage.reasons)},
        "warnings": list(counts.warnings),
    }


def semantic(found: Semantic | None) -> Document:
    """What the vector search of a retrieval did."""
    if found is None:
        return {"enabled": False, "reason": "off"}
    return {
        "enabled": True,
        "used": found.used,
        "reason": found.reason,
        "provider": found.provider,
        "model": found.model,
        "dimensions": found.dimensions,
        "destination": found.destination,
        "candidates": found.candidates,
        "admitted": found.admitted,
        "stale": found.stale,
        "sources": found.sources,
        "coverage": found.coverage,
        "excluded": found.excluded,
        "cache": found.cache,
        "durationMs": {
            "embedding": round(found.embedding_ms, 3),
            "loading": round(found.loading_ms, 3),
            "search": round(found.search_ms, 3),
        },
    }


def recall(page: RecallPage) -> Document:
    """`aforesaid.recall/1`."""
    coverage = page.coverage
    return {
        "schema": "aforesaid.recall/1",
        "status": page.status,
        "hits": [found(hit) for hit in page.hits],
        "next": page.next,
        "coverage": {
            "complete": coverage.complete,
            "indexedSessions": coverage.indexed_sessions,
            "eligibleSessions": coverage.eligible_sessions,
            "staleSessions": coverage.stale_sessions,
            "reasons": list(coverage.reasons),
        },
    }


def found(hit: Found) -> Document:
    """One hit of an explicit search; `pairs` is there only if it has any."""
    pairs = {"pairs": list(hit.pairs)} if hit.pairs else {}
    return {
        "ref": hit.ref,
        "entryId": hit.entry_id,
        "sessionId": hit.session_id,
        "host": hit.host,
        "role": hit.role,
        "timestamp": hit.timestamp,
        "branch": hit.branch,
        "inContext": hit.in_context,
        "derived": hit.derived,
        "score": hit.score,
        "snippet": hit.snippet,
        "matched": list(hit.matched),
        **pairs,
        "follow": {"command": "expand", "ref": hit.ref},
    }


def expand(expansion: Expansion) -> Document:
    """`aforesaid.expand/1`. `withheld` is there only if the privacy policy kept something back."""
    withheld = [
        {"reason": one.reason, "classification": one.classification, "count": one.count} for one in expansion.withheld
    ]
    return {
        "schema": "aforesaid.expand/1",
        "entries": [
            {
                "entryId": passage.entry_id,
                "sessionId": passage.session_id,
                "role": passage.role,
                "timestamp": passage.timestamp,
                "text": passage.text,
                "startLine": passage.start_line,
                "lines": passage.lines,
                "complete": passage.complete,
                "redacted": passage.redacted,
                "sha256": passage.sha256.hex(),
                "verified": passage.verified,
            }
            for passage in expansion.entries
        ],
        "next": expansion.next,
        **({"withheld": withheld} if withheld else {}),
    }


def lost(report: LostReport) -> Document:
    """`aforesaid.lost/1`."""
    return {
        "schema": "aforesaid.lost/1",
        "compactions": [
            {
                "entryId": part.entry_id,
                "timestamp": part.timestamp,
                "lostEntries": part.lost_entries,
                "survival": {of.kind: {"before": of.before, "visible": of.visible} for of in part.survival},
                "items": [
                    {"item": one.item, "kind": one.kind, "lastEntryId": one.last_entry_id, "count": one.count}
                    for one in part.items
                ],
            }
            for part in report.compactions
        ],
    }


def view(made: HistoryView, *, explain: bool = False) -> Document:
    """`aforesaid.view/1`; with `explain` the diagnostics list what became of each bundle of the pool."""
    return {
        "schema": "aforesaid.view/1",
        "view": loads(made.text),
        "bytes": made.bytes,
        "diagnostics": view_diagnostics(made, explain=explain),
    }


def view_diagnostics(made: HistoryView, *, explain: bool = False) -> Document:
    """Counts, timing and codes of a view."""
    counts = made.diagnostics
    document: Document = {
        "status": counts.status,
        "reason": counts.reason,
        "selection": counts.selection,
        "totalBundles": counts.total,
        "selectedBundles": counts.selected,
        "omittedBundles": counts.omitted,
        "candidateCount": counts.pool,
        "relevantCount": counts.relevant,
        "inContextCount": counts.in_context,
        "privacyExcludedCount": counts.private,
        "tooLargeCount": counts.too_large,
        "noRoomCount": counts.no_room,
        "carriedCount": counts.carried,
        "durationMs": round(counts.duration_ms, 3),
        "coverage": {"complete": counts.coverage.complete, "reasons": list(counts.coverage.reasons)},
        "warnings": list(counts.warnings),
    }
    if explain:
        document["bundles"] = [
            {
                "entryIds": [source.entry.id for source in one.own],
                "fate": one.fate,
                "score": one.score,
                "scoreParts": {part.name: part.value for part in one.score_parts},
            }
            for one in made.candidates
        ]
    return document


def installation(
    action: str, host: str, changes: Sequence[Change], *, client: str | None = None, dry_run: bool
) -> Document:
    """`aforesaid.installation/1`: what installing or uninstalling changes, or would change."""
    return {
        "schema": "aforesaid.installation/1",
        "action": action,
        "host": host,
        "client": client,
        "dryRun": dry_run,
        "changes": [{"path": change.path, "action": change.action, "content": _content(change)} for change in changes],
    }


def _content(change: Change) -> str | None:
    """Of an edited file only the edit: the rest is its owner's."""
    if change.action == "edit":
        from aforesaid.hosts.changes import show_edit  # late: only installing needs it

        return show_edit(change)
    return change.content or None


def doctor(checks: Sequence[Check]) -> Document:
    """`aforesaid.doctor/1`: what works and what does not."""
    standings = {check.standing for check in checks}
    return {
        "schema": "aforesaid.doctor/1",
        "status": next((standing for standing in ("failed", "warning") if standing in standings), "ok"),
        "checks": [
            {"name": check.name, "status": check.standing, "detail": check.detail, "remedy": check.remedy or None}
            for check in checks
        ],
    }


def version(number: str) -> Document:
    """`aforesaid.version/1`."""
    return {"schema": "aforesaid.version/1", "version": number}


def help_text(text: str) -> Document:
    """`aforesaid.help/1`: what `--help` shows."""
    return {"schema": "aforesaid.help/1", "text": text}


def error(code: str, message: str, hint: str) -> Document:
    """The error document."""
    return {"error": {"code": code, "message": message, "hint": hint}}


def _plain(value: object) -> object:
    """What `json` does not know of itself: read-only mappings."""
    return dict(value)  # type: ignore[call-overload]
