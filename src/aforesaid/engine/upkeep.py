"""Floor 7: what changes the store on purpose: indexing, deriving again, forgetting."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from msgspec.structs import replace

from aforesaid.engine.desk import Desk
from aforesaid.engine.discovery import discover, reader_of, recognise
from aforesaid.errors import (
    BadArgument,
    NotATranscript,
    PathMissing,
    SessionForgotten,
    SessionNotFound,
    StoreCorrupt,
    StoreError,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from aforesaid.model import Session
    from aforesaid.ports import TranscriptPort
    from aforesaid.reports import ForgetReport, IndexReport

    Path = str | os.PathLike[str]
    Progress = Callable[[int, int], None]

FEW = 8
"""Sessions that are all opened rather than asked the index of words about."""


class Upkeep(Desk):
    """What changes the store."""

    def index(
        self,
        *paths: Path,
        host: str | None = None,
        rebuild: bool = False,
        progress: Progress | None = None,
        lenient: bool = False,
    ) -> IndexReport:
        """Brings sessions into the store, or up to date.

        Args:
            paths: transcripts, or folders that are searched for them.
            host: only transcripts of this host.
            rebuild: read every transcript from its beginning, whatever is stored.
            progress: called with bytes done and bytes in all.
            lenient: whether folders without any transcript are passed over.

        Raises:
            PathMissing, NotATranscript, NoSessions: a path leads to no transcript; nothing was indexed.
            BadArgument: there is no such host, or a path is empty.
        """
        from aforesaid.indexing import sync_all  # late: retrieval of an unchanged session needs none of it

        found = list(discover(paths, host, lenient=lenient))
        report = sync_all(self._store, found, rebuild=rebuild, redacting=self._redacting, progress=progress)
        synced = [synced.session for synced in report.sessions if synced.session is not None]
        if len(synced) > FEW:
            # If it fails, a search of many sessions will try it again, and open more of them until then.
            with suppress(StoreError):
                self._store.learn_words(synced)
        return self._make_vectors(report, progress)

    def _make_vectors(self, report: IndexReport, progress: Progress | None) -> IndexReport:
        """Makes the vectors of what was indexed, if vectors are wanted."""
        if not self.config.boolean("retrieval.semantic"):
            return report
        from aforesaid.engine.similarity import make_all  # late: the lexical path needs none of it

        return replace(report, vectors_missing=make_all(self, report.sessions, progress))

    def rebuild(self, *, session: Path | None = None, progress: Progress | None = None) -> IndexReport:
        """Derives the data of one session, or of all, again from the transcripts.

        Sessions whose transcript is gone stay as they are and are reported as failed.

        Raises:
            UsageError: there is no such session.
        """
        from aforesaid.indexing import sync_all  # late: see `index`

        files = self._all_files() if session is None else [self._file_of(os.fspath(session))]
        report = sync_all(self._store, files, rebuild=True, redacting=self._redacting, progress=progress)
        return self._make_vectors(report, progress)

    def _all_files(self) -> list[tuple[TranscriptPort, str]]:
        """The transcripts of all sessions, with their readers."""
        lost = [one.session for one in self._store.unreadable() if one.session is not None]
        return [(reader_of(known.header.host), known.file) for known in (*self._store.sessions(), *lost)]

    def _file_of(self, reference: str) -> tuple[TranscriptPort, str]:
        """The transcript of the session that a path or an id names, with its reader."""
        try:
            known = self._find_lost(reference)
        except StoreCorrupt:
            # The store does not say whose it is, but its transcript does.
            file = os.path.abspath(reference)
            if not os.path.isfile(file):
                raise
            return recognise(file), file
        return reader_of(known.header.host), known.file

    def forget(
        self,
        *,
        session: Path | None = None,
        project: Path | None = None,
        entries: Sequence[str] = (),
        text: str | None = None,
        after: str | None = None,
        before: str | None = None,
        dry_run: bool = False,
        verify: bool = False,
        progress: Progress | None = None,
    ) -> ForgetReport:
        """Takes something out of the store for good; transcripts are not touched.

        What was forgotten does not come in again, and neither do copies of it in other sessions. Without anything to
        forget, `verify` finishes what an interrupted call has left and checks everything that was ever forgotten.

        Args:
            session: all of this session, or the one that `entries` or the dates are about: a transcript, or an id.
            project: all sessions that worked in this folder and began before now, or those that the dates are about.
            entries: ids of entries of `session`.
            text: every entry that says this, in any case and with any blanks; alone.
            after: entries from this time on; ISO 8601, UTC unless it says otherwise.
            before: entries before this time; neither reaches beyond now.
            dry_run: change nothing, say what would go.
            verify: look for it in every file of the store afterwards.
            progress: called with bytes done and bytes in all.

        Raises:
            UsageError: the arguments do not fit each other, or name nothing; nothing was forgotten.
            StoreError: the store failed; the same call finishes what was begun.
        """
        from time import time  # late: rarely needed

        from aforesaid.forgetting import forget, select
        from aforesaid.projects import find_folder
        from aforesaid.transcripts.times import canonical

        now = canonical(time() * 1000) or ""
        known, file = (None, None) if session is None else self._find_forgettable(os.fspath(session))
        selector = select(
            self._store,
            named=session is not None,
            session=known,
            file=file,
            project=None if project is None else find_folder(project),
            entries=tuple(entries),
            text=text,
            after=_moment(after),
            before=_moment(before),
        )
        if selector.empty and not verify and session is None and project is None:
            raise BadArgument("nothing was named to forget", "name a session, a project, a text or a date")
        return forget(self._store, selector, now=now, dry_run=dry_run, verify=verify, progress=progress)

    def _find_forgettable(self, reference: str) -> tuple[Session | None, str | None]:
        """The session that a path or an id names; else the path of one that is not stored, or was forgotten before."""
        path = os.path.abspath(reference)
        try:
            return self._find(reference), None
        except StoreCorrupt:
            return None, path
        except (NotATranscript, PathMissing, SessionNotFound, SessionForgotten):
            from aforesaid.model import Header
            from aforesaid.transcripts import readers

            grave = self._store.forgetting
            if os.path.isfile(path) or grave.refuses(path):
                return None, path
            if any(grave.refuses(path, Header(host=reader.host, session_id=reference)) for reader in readers()):
                return None, None
            raise


def _moment(given: str | None) -> str | None:
    """A time as entries carry it."""
    from aforesaid.transcripts.times import canonical  # late: rarely needed

    moment = None if given is None else canonical(given)
    if given is not None and moment is None:
        raise BadArgument(f"{given} is no date", "write it as 2026-11-30 or 2026-11-30T02:14:36Z")
    return moment
