"""What the transcripts say of how complete the store is: which have changed, which are gone, which nobody has indexed.

`engine` asks before a search of more than one session, which brings nothing up to date itself. Looks at names, sizes
and times; only a file that the store does not know is looked into, to see whether it is a transcript.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from aforesaid.model import Session

STALE = "stale"
"""The transcript has changed since; what the store holds was searched."""
SOURCE_MISSING = "source-missing"
"""The transcript is gone; what was indexed of it was searched."""
NOT_INDEXED = "not-indexed"
"""There are transcripts that the store does not know."""
SUFFIX = ".jsonl"
_LOOKED_INTO = 100
"""Unknown files that are looked into; further ones count as transcripts."""


class Survey(Struct, frozen=True, kw_only=True):
    """What was seen: transcripts that have changed, that are gone, and that the store does not know."""

    stale: int = 0
    gone: int = 0
    unknown: int = 0

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why entries may be missing."""
        counts = {STALE: self.stale, SOURCE_MISSING: self.gone, NOT_INDEXED: self.unknown}
        return tuple(reason for reason, count in counts.items() if count)


def survey(
    sessions: Sequence[Session],
    known: Iterable[str],
    folders: Iterable[str],
    is_transcript: Callable[[str], bool] | None,
) -> Survey:
    """Looks at the transcripts of some sessions, and for others beside them.

    Args:
        sessions: those of a scope.
        known: files of all sessions of the store.
        folders: further folders in which transcripts may be, looked through to their depths.
        is_transcript: says of a file whether a reader knows it; None looks for no others.
    """
    stale = gone = 0
    for session in sessions:
        try:
            status = os.stat(session.file)
        except OSError:
            gone += 1
            continue
        point = session.checkpoint
        stale += (status.st_size, status.st_mtime_ns) != (point.size, point.mtime_ns)
    if is_transcript is None:
        return Survey(stale=stale, gone=gone)
    taken = set(map(os.path.normcase, known))
    beside = dict.fromkeys(os.path.dirname(session.file) for session in sessions)
    found = dict.fromkeys(file for file in (*_listed(beside), *_walked(folders)) if os.path.normcase(file) not in taken)
    files = list(found)
    unknown = sum(map(is_transcript, files[:_LOOKED_INTO])) + len(files[_LOOKED_INTO:])
    return Survey(stale=stale, gone=gone, unknown=unknown)


def _listed(folders: Iterable[str]) -> Iterator[str]:
    for folder in folders:
        try:
            with os.scandir(folder) as entries:
                names = sorted(entry.name for entry in entries if entry.name.endswith(SUFFIX))
        except OSError:
            continue
        yield from (os.path.join(folder, name) for name in names)


def _walked(folders: Iterable[str]) -> Iterator[str]:
    for folder in folders:
        for parent, inner, names in os.walk(folder):
            inner.sort()
            yield from (os.path.join(parent, name) for name in sorted(names) if name.endswith(SUFFIX))
