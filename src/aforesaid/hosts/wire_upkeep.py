"""Floor 8: the other half of `wire`: the documents about the store and the configuration.

Indexing, rebuilding, listing, forgetting, health and settings; the commands and the service hand over what the engine
returned. Apart from `wire` because an answer to a request needs none of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aforesaid.config import Config, Setting
    from aforesaid.hosts.wire import Document
    from aforesaid.model import Session, Tally
    from aforesaid.reports import ForgetReport, IndexReport, StoreStatus, SyncReport


def index(report: IndexReport, *, schema: str = "aforesaid.index/1") -> Document:
    """`aforesaid.index/1`, also for `aforesaid.rebuild/1`, which has the same members."""
    synced = [_synced(session) for session in report.sessions]
    statuses = ("added", "updated", "unchanged", "rebuilt", "failed")
    return {
        "schema": schema,
        "sessions": synced,
        "totals": {
            "sessions": len(synced),
            "entries": sum(session["entries"] for session in synced),
            "added": sum(session["added"] for session in synced),
            "removed": sum(session["removed"] for session in synced),
            "invalidLines": sum(len(session["invalidLines"]) for session in synced),
            "statuses": {status: sum(session["status"] == status for session in synced) for status in statuses},
        },
        "durationMs": round(report.duration_ms, 3),
    }


def rebuild(report: IndexReport) -> Document:
    """`aforesaid.rebuild/1`."""
    return index(report, schema="aforesaid.rebuild/1")


def _synced(report: SyncReport) -> Document:
    session = report.session
    document: Document = {
        "file": report.file,
        "host": session.header.host if session is not None else report.host,
        "sessionId": session.header.session_id if session is not None else None,
        "entries": session.entries if session is not None else 0,
        "added": report.added,
        "removed": report.removed,
        "invalidLines": [{"line": flaw.line, "byte": flaw.byte, "reason": flaw.reason} for flaw in report.known_flaws],
        "status": report.status,
    }
    if report.error_code is not None:
        document["error"] = {"code": report.error_code, "message": report.error}
    return document


def sessions(known: Sequence[Session]) -> Document:
    """`aforesaid.sessions/1`, in the given order."""
    return {"schema": "aforesaid.sessions/1", "sessions": [_session(session) for session in known]}


def _session(session: Session) -> Document:
    header = session.header
    return {
        "sessionId": header.session_id,
        "host": header.host,
        "file": session.file,
        "name": session.name,
        "cwd": header.cwd,
        "parent": header.parent,
        "started": header.started,
        "updated": session.updated,
        "entries": session.entries,
        "requests": session.requests,
        "shared": session.shared,
        "invalidLines": session.flaw_count,
    }


def forgotten(report: ForgetReport) -> Document:
    """`aforesaid.forget/1`."""
    checked = report.verification
    return {
        "schema": "aforesaid.forget/1",
        "dryRun": report.dry_run,
        "resumed": report.resumed,
        "sessions": [
            {"file": one.file, "sessionId": one.session_id, "whole": one.whole, "entries": one.entries}
            for one in report.sessions
        ],
        "totals": {
            "sessions": sum(one.whole for one in report.sessions),
            "entries": sum(one.entries for one in report.sessions),
            "discarded": report.discarded,
        },
        "transcriptsChanged": 0,
        "verification": None
        if checked is None
        else {
            "clean": not checked.leftovers,
            "files": checked.files,
            "bytes": checked.bytes,
            "databases": checked.databases,
            "values": checked.values,
            "terms": checked.terms,
            "texts": checked.texts,
            "freePages": checked.free_pages,
            "leftovers": [{"file": left.file, "where": left.where, "count": left.count} for left in checked.leftovers],
        },
    }


def status(store: StoreStatus, config: Config, version: str) -> Document:
    """`aforesaid.status/1`."""
    return {
        "schema": "aforesaid.status/1",
        "version": version,
        "store": {
            "location": store.location,
            "writable": store.writable,
            "bytes": store.bytes,
            "schema": store.schema,
            "projection": store.projection,
            "sessions": store.sessions,
            "entries": store.entries,
            "damaged": list(store.damaged),
            "erasing": store.erasing,
            "vectors": [
                {
                    "provider": one.provider,
                    "model": one.model,
                    "dimensions": one.dimensions,
                    "destination": one.destination,
                    "sessions": one.sessions,
                    "vectors": one.vectors,
                }
                for one in store.vectors
            ],
        },
        "config": {"warnings": list(config.warnings), "notInThisVersion": list(config.not_in_this_version)},
    }


def config(file: str, settings: Sequence[Setting], of: Config, *, withheld: Sequence[Tally] | None = None) -> Document:
    """`aforesaid.config/1`: some settings of a configuration.

    Args:
        file: path of the user's own file.
        settings: what is shown.
        of: where they come from.
        withheld: what the privacy policy withheld so far; with it the document says what holds.
    """
    document: Document = {
        "schema": "aforesaid.config/1",
        "file": file,
        "values": [
            {
                "key": setting.key,
                "value": setting.value,
                "source": setting.source,
                "inThisVersion": setting.key not in of.not_in_this_version,
            }
            for setting in settings
        ],
        "warnings": list(of.warnings),
    }
    if withheld is not None:
        document["privacy"] = privacy(of, withheld)
    return document


def privacy(of: Config, withheld: Sequence[Tally]) -> Document:
    """What holds of privacy: what is on, who is local, who gets what, and what was withheld for which reason."""
    from aforesaid.config.privacy import read_policy  # late: only `config` shows it
    from aforesaid.model import LEVELS

    policy = read_policy(of)
    providers = policy.providers
    reasons: dict[str, int] = {}
    classes: dict[str, int] = {}
    for tally in withheld:
        reasons[tally.reason] = reasons.get(tally.reason, 0) + tally.count
        classes[tally.classification] = classes.get(tally.classification, 0) + tally.count
    return {
        "enabled": policy.enabled,
        "readable": not of.privacy_unknown,
        "defaultClassification": policy.default,
        "localProviders": [name for name in providers.local if providers.is_local(name)],
        "remoteDefaultAllowed": [level for level in LEVELS if level in providers.allowed("")],
        "remoteProviders": {
            name: [level for level in LEVELS if level in providers.allowed(name)] for name, _ in providers.remote
        },
        "rules": len(policy.rules),
        **{
            key: of.boolean(f"privacy.{key}") and f"privacy.{key}" not in of.not_in_this_version
            for key in ("redactSecrets", "redactIndex", "shortenPaths")
        },
        "withheld": {
            "total": sum(tally.count for tally in withheld),
            "byReason": dict(sorted(reasons.items())),
            "byClassification": {level: classes[level] for level in LEVELS if level in classes},
        },
    }


def config_path(file: str, exists: bool) -> Document:
    """`aforesaid.config-path/1`: where the user's own file is, or would be."""
    return {"schema": "aforesaid.config-path/1", "file": file, "exists": exists}
