"""Between floors 6 and 7: what a host would send for a stored session, for plans whose host brings no messages.

`engine` asks it; it opens the session's file and hands it to the host's own way of making messages. It decides nothing.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from aforesaid.branches import find_branch
from aforesaid.planning.context import read_native, recall_native
from aforesaid.planning.track import Track
from aforesaid.sidechains import opener
from aforesaid.transcripts import find_context

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from aforesaid.model import Session
    from aforesaid.planning.values import ContextPort, NativeContext
    from aforesaid.ports import StorePort

TRACKS = 16
"""Sessions of live hosts whose contexts stay in memory."""


class Contexts:
    """The contexts of one store's sessions."""

    def __init__(self, store: StorePort, rebuild: Callable[[str], object]) -> None:
        """Takes the store, and what reads a session's file again from its beginning."""
        self._store = store
        self._rebuild = rebuild
        self._tracks: dict[str, Track] = {}

    def read(self, session: Session, leaf: str | None) -> NativeContext:
        """The messages for a leaf; from the stored texts where the session's file does not say them any more.

        Raises:
            LeafUnknown: the session has no such entry.
            StoreError: the store failed.
        """
        port = find_context(session.header.host)
        if port is not None and os.path.isfile(session.file):
            native = self._make(session, leaf, port)
            if native is None and self._store.writable:
                self._rebuild(session.file)
                native = self._make(session, leaf, port)
            if native is not None:
                return native
        with self._store.read(session.key) as snapshot:
            return recall_native(snapshot, find_branch(snapshot, leaf).spans)

    def follow(self, session: Session, ids: Sequence[str]) -> Track:
        """The messages of the entries that a live host names; costs what was added since the last call.

        Raises:
            EntryUnknown: the session has no entry with one of the ids.
            StoreError: the store failed.
        """
        track = self._tracks.pop(session.key, None) or Track()
        with self._store.read(session.key) as snapshot:
            try:
                with open(session.file, "rb", opener=opener) as source:
                    track.follow(snapshot, ids, find_context(session.header.host), source)
            except OSError:
                track.follow(snapshot, ids, None, None)
        # The one that was used last stands last.
        self._tracks[session.key] = track
        while len(self._tracks) > TRACKS:
            del self._tracks[next(iter(self._tracks))]
        return track

    def _make(self, session: Session, leaf: str | None, port: ContextPort) -> NativeContext | None:
        """The messages of the session's file; None if it does not hold the session's lines."""
        with self._store.read(session.key) as snapshot:
            try:
                with open(session.file, "rb", opener=opener) as source:
                    return read_native(snapshot, find_branch(snapshot, leaf).spans, port, source)
            except OSError:
                return None
