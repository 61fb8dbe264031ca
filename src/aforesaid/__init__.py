"""aforesaid brings back what was said before a coding agent's conversation was compacted.

`Engine` is the Python API; everything that it takes, returns or raises is importable from here too. Names are imported
when they are first used, so that `aforesaid --version` loads none of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from aforesaid.answers import Coverage, Diagnostics, Evidence, Query, Ranked, Retrieval, ScorePart, Window
    from aforesaid.config import Config
    from aforesaid.engine import Caller, Engine
    from aforesaid.errors import AforesaidError, OperationError, StoreError, UsageError
    from aforesaid.extractive.values import HistoryView, ViewDiagnostics
    from aforesaid.inquiry import Expansion, Found, Passage, Reach, RecallPage
    from aforesaid.lost import LostItem, LostPart, LostReport, Survival
    from aforesaid.model import Flaw, Header, Session, StoredEntry
    from aforesaid.planning.values import (
        KeptManifest,
        Limits,
        Manifest,
        ManifestItem,
        Message,
        Plan,
        Supplement,
        Verdict,
    )
    from aforesaid.reports import Erased, ForgetReport, IndexReport, Leftover, StoreStatus, SyncReport, Verification

__all__ = [
    "AforesaidError",
    "Caller",
    "Config",
    "Coverage",
    "Diagnostics",
    "Engine",
    "Erased",
    "Evidence",
    "Expansion",
    "Flaw",
    "ForgetReport",
    "Found",
    "Header",
    "HistoryView",
    "IndexReport",
    "KeptManifest",
    "Leftover",
    "Limits",
    "LostItem",
    "LostPart",
    "LostReport",
    "Manifest",
    "ManifestItem",
    "Message",
    "OperationError",
    "Passage",
    "Plan",
    "Query",
    "Ranked",
    "Reach",
    "RecallPage",
    "Retrieval",
    "ScorePart",
    "Session",
    "StoreError",
    "StoreStatus",
    "StoredEntry",
    "Supplement",
    "Survival",
    "SyncReport",
    "UsageError",
    "Verdict",
    "Verification",
    "ViewDiagnostics",
    "Window",
    "__version__",
]

_HOMES = (
    {"Config": "config", "Engine": "engine", "Caller": "engine"}
    | dict.fromkeys(("AforesaidError", "OperationError", "StoreError", "UsageError"), "errors")
    | dict.fromkeys(("Expansion", "Found", "Passage", "Reach", "RecallPage"), "inquiry")
    | dict.fromkeys(("HistoryView", "ViewDiagnostics"), "extractive.values")
    | dict.fromkeys(("LostItem", "LostPart", "LostReport", "Survival"), "lost")
    | dict.fromkeys(
        ("Coverage", "Diagnostics", "Evidence", "Query", "Ranked", "Retrieval", "ScorePart", "Window"), "answers"
    )
    | dict.fromkeys(
        ("Erased", "ForgetReport", "IndexReport", "Leftover", "StoreStatus", "SyncReport", "Verification"), "reports"
    )
)
_HOMES |= dict.fromkeys(
    ("KeptManifest", "Limits", "Manifest", "ManifestItem", "Message", "Plan", "Supplement", "Verdict"),
    "planning.values",
)


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module  # late: commands name the modules that they need

    return getattr(import_module(f"{__name__}.{_HOMES.get(name, 'model')}"), name)
