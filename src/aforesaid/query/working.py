"""Floor 4: what the work that is going on asks for, beside the latest request.

Evidence asks for it where `retrieval.query` is `working`, history views always. `working` hands in what the agent last
said, called and planned, and gets a text and its items. Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from aforesaid import text
from aforesaid.language import going_on, others
from aforesaid.query import read_query

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aforesaid.answers import Query

SAID: Final = 3_000
"""Characters of the end of the last answer."""
CALL: Final = 600
"""Characters of the beginning of each call."""
STEPS: Final = 4_000
"""Characters of the summary, from its open steps on."""
NAMES: Final = 12
TOPICS: Final = 24
"""More of either cost time and find no more of what is needed."""
_HEADINGS: Final = (
    "next step",
    "pending task",
    "current work",
    "in progress",
    "remaining",
    "todo",
    "to do",
    "open task",
)


def goes_on(request: str) -> bool:
    """Whether a request without a topic asks to go on: "continue", "sì, procedi"; not "thanks, that is all"."""
    words = text.words(request)
    folded = f" {' '.join(words)} "
    if any(f" {phrase} " in folded for phrase in _ENDING_PHRASES) or not going_on.ENDS.isdisjoint(words):
        return False
    if any(sign in request for sign in going_on.ENDS_UNSPACED):
        return False
    return not _GO_ON.isdisjoint(words) or any(sign in request for sign in going_on.GO_ON_UNSPACED)


_ENDING_PHRASES: Final = going_on.ENDING_PHRASES + tuple(text.fold(phrase) for phrase in others.PARTINGS)
_GO_ON: Final = frozenset(text.fold(word) for word in going_on.GO_ON)


def join_work(said: str, calls: Sequence[str], summary: str) -> str:
    """One text of the work: the end of the last answer, the calls, the open steps of the summary.

    Args:
        said: what the agent said last.
        calls: its last calls, the newest first.
        summary: of the latest compaction; empty if there was none.
    """
    return "\n".join((said[-SAID:], *(call[:CALL] for call in calls), _steps(summary)))


def read_work(work: str) -> Query:
    """The items of the work, read as a request is read; the first `NAMES` names and `TOPICS` topics count."""
    asked = read_query(work, guessing=False)
    names = asked.identifiers[:NAMES]
    return replace(
        asked,
        identifiers=names,
        files=tuple(name for name in asked.files if name in names),
        symbols=tuple(name for name in asked.symbols if name in names),
        errors=tuple(name for name in asked.errors if name in names),
        terms=asked.terms[:TOPICS],
    )


def _steps(summary: str) -> str:
    """The summary from the first heading of open steps on; its end if it has none."""
    lowered = summary.lower()
    found = [place for heading in _HEADINGS if (place := lowered.find(heading)) >= 0]
    return summary[min(found) :][:STEPS] if found else summary[-SAID:]
