"""Floor 5: what a search cannot find because secrets were replaced before the text was stored.

`engine` asks for the sessions of a scope, before `recall` searches them. Markers stand where secrets stood, and what
they stand for is searched by nobody: that is told wherever there are any. Who looks for a secret must not read from an
empty page that it never was there, so then the page is not complete. Nothing here looks at a transcript.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from aforesaid.clues import find_clues
from aforesaid.errors import StoreError
from aforesaid.language import shapes
from aforesaid.patterns import read_pattern
from aforesaid.privacy.secrets import OPENING, find_secrets

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aforesaid.inquiry import Mode
    from aforesaid.model import Session
    from aforesaid.ports import Snapshot, StorePort

REDACTED: Final = "redacted"
"""Secrets were replaced in texts of the scope. Everything else of them was searched."""
REDACTED_QUERY: Final = "redacted-query"
"""What is looked for may be what was replaced."""
_FEW: Final = 16
"""Sessions that are looked at one by one; of more the store is asked first."""
_MOST_OPENED: Final = 48
_MOST_ROWS: Final = 1000
"""Texts that are read to see whether they hold a marker or only may; behind them one is taken for granted."""
_AT_ONCE: Final = 64
_CLUES: Final = find_clues(read_pattern(OPENING, "phrase", "all"))
_TELLING: Final = ("password: ", "DB_PASSWORD=")
"""Beside such names whatever may be a password is one."""


def holds_replaced(store: StorePort, sessions: Sequence[Session]) -> bool | None:
    """Whether secrets were replaced in any of some sessions; one that cannot be read says so elsewhere.

    Returns:
        None where too many would have to be looked at: it has to be taken for granted until more of them are known.
    """
    if len(sessions) > _FEW:
        keys = store.may_hold(sessions, _CLUES)
        sessions = [session for session in sessions if session.key in keys]
    for session in sessions[:_MOST_OPENED]:
        try:
            with store.read(session.key) as snapshot:
                if _holds(snapshot, session.entries):
                    return True
        except StoreError:
            continue
    return None if len(sessions) > _MOST_OPENED else False


def _holds(snapshot: Snapshot, entries: int) -> bool:
    rows = snapshot.propose(_CLUES, ((1, entries),)) if entries else ()
    rows = tuple(range(1, entries + 1)) if rows is None else rows
    for start in range(0, min(len(rows), _MOST_ROWS), _AT_ONCE):
        if any(entry.redacted for entry in snapshot.entries(rows[start : start + _AT_ONCE])):
            return True
    return len(rows) > _MOST_ROWS


def may_be_secret(query: str, mode: Mode) -> bool:
    """Whether a query reads as a secret, or one of its words would beside a telling name; tickets (`DEC-0054`) do not.

    A pattern is judged as it is written: what it might match is not known.
    """
    if find_secrets(query):
        return True
    if mode == "regex":
        return False
    words = [word for word in query.split() if not re.fullmatch(shapes.TICKET, word)]
    return any(find_secrets(f"{name}{word}") for word in words for name in _TELLING)
