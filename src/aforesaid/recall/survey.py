"""What the transcripts say of how complete the store is: which have changed, which are gone, which nobody has indexed.

`engine` asks before a search of more than one session, which brings nothing up to date itself. Looks at names, sizes
and times; only a file that the store does not know is looked into, to see whether it is a transcript.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from msgspec import Struct

from aforesaid.listing import Listing
from aforesaid.sidechains import file_of

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


class Surveyor:
    """Looks at the transcripts of sessions; remembers what only depends on lists that have not changed since."""

    def __init__(self) -> None:
        self._sessions: Sequence[Session] = ()
        self._marks: list[tuple[bytes, int, int]] = []
        self._beside: tuple[str, ...] = ()
        self._every: Sequence[Session] = ()
        self._taken: frozenset[str] = frozenset()
        self._folders: dict[str, Listing] = {}
        self._listed: dict[str, tuple[list[str], list[str]]] = {}

    def survey(
        self,
        sessions: Sequence[Session],
        every: Sequence[Session] = (),
        folders: Iterable[str] = (),
        is_transcript: Callable[[str], bool] | None = None,
    ) -> Survey:
        """Looks at the transcripts of some sessions, and for others beside them.

        Args:
            sessions: those of a scope.
            every: all sessions of the store.
            folders: further folders in which transcripts may be, looked through to their depths.
            is_transcript: says of a file whether a reader knows it; None looks for no others.
        """
        if self._sessions is not sessions:
            self._sessions = sessions
            paths = [file_of(one.file) for one in sessions]
            # As the system wants them, and made one after the other: thousands of looks are as long as they take.
            names = map(os.fsencode, paths)
            marks = [one.checkpoint for one in sessions]
            self._marks = [(name, mark.size, mark.mtime_ns) for name, mark in zip(names, marks, strict=True)]
            self._beside = tuple(dict.fromkeys(map(os.path.dirname, paths)))
        stale, gone = _compare(self._marks)
        if is_transcript is None:
            return Survey(stale=stale, gone=gone)
        if self._every is not every:
            self._every = every
            self._taken = frozenset([os.path.normcase(one.file) for one in every])
            self._listed.clear()
        files = dict.fromkeys(file for folder in self._beside for file in self._others(folder))
        files.update(dict.fromkeys(file for file in _walked(folders) if os.path.normcase(file) not in self._taken))
        found = list(files)
        unknown = sum(map(is_transcript, found[:_LOOKED_INTO])) + len(found[_LOOKED_INTO:])
        return Survey(stale=stale, gone=gone, unknown=unknown)

    def _others(self, folder: str) -> list[str]:
        """The files of a folder that are no known session's, by name."""
        if folder not in self._folders:
            self._folders[folder] = Listing(folder)
        try:
            names = self._folders[folder].names()
        except OSError:
            return []
        known = self._listed.get(folder)
        if known is None or known[0] is not names:
            inside, taken = os.path.join(folder, ""), self._taken
            found = [inside + name for name in names if name.endswith(SUFFIX)]
            known = self._listed[folder] = names, sorted([one for one in found if os.path.normcase(one) not in taken])
        return known[1]


def _compare(marks: Iterable[tuple[bytes, int, int]]) -> tuple[int, int]:
    """How many files have not the size and time that they had, and how many are gone."""
    stale = gone = 0
    stat = os.stat
    for file, size, mtime in marks:
        try:
            status = stat(file)
        except OSError:
            gone += 1
            continue
        if status.st_mtime_ns != mtime or status.st_size != size:
            stale += 1
    return stale, gone


def _walked(folders: Iterable[str]) -> Iterator[str]:
    for folder in folders:
        for parent, inner, names in os.walk(folder):
            inner.sort()
            yield from (os.path.join(parent, name) for name in sorted(names) if name.endswith(SUFFIX))
