"""Floor 7: an open store with its configuration, and the session that a path or an id names, brought up to date.

The other parts of the engine stand on it. It opens the store late, finds sessions, and holds what has no file.
"""

from __future__ import annotations

import os
import re
from functools import partial
from typing import TYPE_CHECKING, Self

from aforesaid.branches import REBUILT
from aforesaid.config import Config, store_folder
from aforesaid.engine.discovery import reader_of, recognise
from aforesaid.errors import (
    BadArgument,
    NotATranscript,
    PathMissing,
    SessionAmbiguous,
    SessionForgotten,
    SessionNotFound,
    SourceUnreadable,
    StoreCorrupt,
    StoreError,
    StoreReadOnly,
)
from aforesaid.sidechains import file_of, is_present
from aforesaid.storage.sqlite import open_store
from aforesaid.storage.sqlite.layout import holds_store

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import TracebackType

    from aforesaid.config.privacy import Bench
    from aforesaid.contexts import Contexts
    from aforesaid.engine.rehearsal import Rehearsal
    from aforesaid.engine.similarity import Similarity
    from aforesaid.model import Session
    from aforesaid.ports import ClassifierPort, EmbeddingPort, StorePort, TranscriptPort
    from aforesaid.reports import StoreStatus, SyncReport

    Path = str | os.PathLike[str]
    Progress = Callable[[int, int], None]

VECTOR_SECONDS = 0.05
"""What a host that waits for an answer gives to the vectors of new entries."""
STALE = "stale"
"""The store could not be brought up to date; what it holds was searched."""
SOURCE_MISSING = "source-missing"
"""The transcript is gone; what was indexed of it was searched."""


class Desk:
    """An open store with its configuration.

    Attributes:
        config: the configuration.
        vector_seconds: how long a request waits for vectors of new entries; the rest is made beside the next ones. None
            for as long as it takes.
    """

    def __init__(
        self,
        open_store: Callable[[], StorePort],
        config: Config,
        *,
        folder: str | None = None,
        embedding: EmbeddingPort | None = None,
        classifier: ClassifierPort | None = None,
    ) -> None:
        """For callers that bring their own store; everyone else uses `open`."""
        self._folder = folder
        self._open_store = open_store
        self._opened: StorePort | None = None
        self._bench: Bench | None = None
        self._known_contexts: Contexts | None = None
        self._held: dict[str, bytearray] = {}
        self._synced: SyncReport | None = None
        self._rehearsed: Rehearsal | None = None
        self._embedding = embedding
        self._classifier = classifier
        self._known_similarity: tuple[Config, Similarity] | None = None
        self.vector_seconds: float | None = None
        self.config = config

    @classmethod
    def open(
        cls,
        store: Path | None = None,
        config: Config | Path | None = None,
        *,
        settings: Mapping[str, object] | Sequence[str] = (),
        project: Path | None = None,
        embedding: EmbeddingPort | None = None,
        classifier: ClassifierPort | None = None,
    ) -> Self:
        """Reads the configuration; the store itself is opened, or made, when it is first used.

        Args:
            store: its folder; None takes `AFORESAID_STORE`, else the platform's user data folder.
            config: a configuration, or a file that is read on top of the user's own; None reads only that.
            settings: single values above all files, as a mapping or as `key=value` texts.
            project: folder of a project that the user trusts, whose `.aforesaid/config.json` counts too.
            embedding: a model of the host's own for `retrieval.semantic`; it must be what the configuration names.
            classifier: refines views (`memory.extractive`), if the user consents; as for `embedding`.

        Raises:
            ConfigUnreadable, ConfigInvalid: the given file or a given setting is unusable.
        """
        if not isinstance(config, Config):
            config = Config.load(config, settings=settings, project=project)
        opening = partial(_open_store, store, config)
        return cls(opening, config, folder=store_folder(store), embedding=embedding, classifier=classifier)

    @classmethod
    def in_memory(cls, config: Config | None = None, *, embedding: EmbeddingPort | None = None) -> Self:
        """An engine whose store is gone with it: for sessions that their host keeps no file of; see `hold`."""
        from aforesaid.storage.sqlite.memory import MemoryStore  # late: for such sessions only

        return cls(MemoryStore, config or Config.load(), embedding=embedding)

    @property
    def _store(self) -> StorePort:
        if self._opened is None:
            self._opened = self._open_store()
        return self._opened

    def _seat(self) -> Bench:
        """The bench of the configuration as it is now."""
        if self._bench is None or self._bench.config is not self.config:
            from aforesaid.config.privacy import Bench  # late: only a policy needs it

            self._bench = Bench(self.config)
        return self._bench

    def _vectors(self) -> Similarity | None:
        """Semantic search with the configuration as it is now; None while it is off."""
        if self._known_similarity is not None:
            if self._known_similarity[0] is self.config:
                return self._known_similarity[1]
            self._known_similarity[1].close()
            self._known_similarity = None
        if not self.config.boolean("retrieval.semantic"):
            return None
        from aforesaid.engine.similarity import Similarity  # late: the lexical path needs none of it

        self._known_similarity = (self.config, Similarity(self, self._embedding))
        return self._known_similarity[1]

    @property
    def _redacting(self) -> bool:
        """Whether secrets are replaced in what is stored."""
        return self.config.boolean("privacy.redactIndex")

    @property
    def warnings(self) -> tuple[str, ...]:
        """What was wrong with the configuration, a line each."""
        return self.config.warnings

    def refresh(self, session: Path) -> Session:
        """Brings one session up to date ahead of the question that will need it, as that question would do it.

        Costs what was appended; `index` looks at every byte.

        Args:
            session: a transcript, or the id of a session in the store.

        Raises:
            UsageError: there is no such session.
            OperationError: its transcript cannot be read, or the store failed.
        """
        return self._refresh(os.fspath(session), searched=False)[0]

    def tend(self, session: Path) -> bool:
        """Does for a session what would otherwise hold up somebody's next question; for a moment in which nobody waits.

        Args:
            session: a transcript.

        Returns:
            Whether more can be done: each time takes some milliseconds.
        """
        return self._store.tend(os.path.abspath(session))

    def sessions(self, *, project: Path | None = None, host: str | None = None) -> tuple[Session, ...]:
        """The sessions of the store, newest first, as far as they worked in a project folder or belong to a host.

        Raises:
            BadArgument: the folder is empty.
        """
        found = self._store.sessions(host=host)
        if project is None:
            return found
        from aforesaid.projects import find_folder, of_project  # late: few ask for it

        return of_project(found, find_folder(project))

    def status(self) -> StoreStatus:
        """Health and size of the store."""
        return self._store.status()

    def has_store(self) -> bool:
        """Whether there is a store: none is made before something is written to it."""
        return self._folder is None or holds_store(self._folder)

    def known(self, reference: str) -> tuple[Session, ...]:
        """The sessions of the store that a path or an id names; none, one, or several with one id."""
        found = self._store.by_file(os.path.abspath(reference))
        return (found,) if found is not None else self._store.by_id(reference)

    def locate(self, reference: str, folders: Sequence[Path]) -> str:
        """The transcript that a path or an id names, also one that nobody has indexed yet.

        Args:
            reference: a path, or the id of a session.
            folders: where the hosts keep their transcripts, named after their sessions.

        Raises:
            SessionNotFound, SessionAmbiguous: there is none, or more than one.
        """
        if os.path.isfile(reference):
            return os.path.abspath(reference)
        try:
            return self._find(reference).file
        except (NotATranscript, SessionNotFound, PathMissing):
            for folder in folders:
                for parent, _, names in os.walk(folder):
                    for name in sorted(names):
                        # Pi and Codex put the time before the id, Claude Code names its files by the id alone.
                        if reference and re.fullmatch(rf"(?:.*[_-])?{re.escape(reference)}\.jsonl", name):
                            return os.path.join(parent, name)
            raise

    def find_call(self, session: Path, call: str, *, patience: float = 0.5) -> str | None:
        """The id of the entry that made a call; a host may write it a moment after it made the call.

        Args:
            session: the transcript.
            call: the host's id of the call.
            patience: seconds to wait for it.
        """
        from time import monotonic, sleep  # late: only tools of a host need it

        end = monotonic() + patience
        while True:
            found, _ = self._refresh(os.fspath(session))
            with self._store.read(found.key) as snapshot:
                for entry in reversed(snapshot.entries(range(max(1, found.entries - 63), found.entries + 1))):
                    if call in entry.calls and entry.role != "tool_result":
                        return entry.id
            if monotonic() >= end:
                return None
            sleep(0.05)

    def hold(self, session: str, lines: bytes, *, host: str = "pi") -> Session:
        """Adds lines to a session of which there is no file.

        Args:
            session: its name here: what `retrieve` takes as `session`.
            lines: lines of the host's format, each ended; the first one of all is the session's header.
            host: whose format it is.

        Raises:
            BadArgument: there is no such host.
            StoreError: the store failed.
        """
        from aforesaid.indexing.held import take_lines  # late: for such sessions only

        reader = reader_of(host)
        held = self._held.setdefault(session, bytearray())
        held += lines
        return take_lines(self._store, reader, session, bytes(held), redacting=self._redacting)

    def drop(self, session: str) -> None:
        """Forgets a session of which there is no file; none of this name is no error."""
        if self._held.pop(session, None) is not None:
            known = self._store.by_file(session)
            if known is not None:
                self._store.remove(known.key)

    def close(self) -> None:
        """Gives back the store's files."""
        if self._known_similarity is not None:
            self._known_similarity[1].close()
            self._known_similarity = None
        if self._opened is not None:
            self._opened.close()
            self._opened = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _find(self, reference: str) -> Session:
        """The stored session that a path or an id names."""
        known = self._store.by_file(reference if reference in self._held else os.path.abspath(reference))
        if known is not None:
            return known
        found = self._store.by_id(reference)
        if len(found) > 1:
            files = ", ".join(session.file for session in found)
            raise SessionAmbiguous(f"{len(found)} sessions have the id {reference}", f"name one of the files: {files}")
        if found:
            return found[0]
        if not reference.strip():
            raise BadArgument("the session is empty", "name a file or an id, as `aforesaid sessions` lists them")
        if os.path.isfile(reference):
            if self._store.forgetting.refuses(os.path.abspath(reference)):
                raise SessionForgotten(f"the session of {reference} was forgotten", "nothing of it is kept or searched")
            raise SessionNotFound(f"the store does not know {reference}", "bring it in with `aforesaid index` first")
        if os.path.exists(reference):
            raise NotATranscript(f"{reference} is no file", "name a session file that the host wrote")
        if os.sep in reference or reference.endswith(".jsonl"):
            raise PathMissing(f"there is no file {reference}", "check the path")
        raise SessionNotFound(
            f"no session {reference} in the store", "run `aforesaid sessions` for the ids, or name a file"
        )

    def _find_lost(self, reference: str) -> Session:
        """As `_find`; also one whose file of the store is gone, by the id that the list of sessions knows."""
        try:
            return self._find(reference)
        except SessionNotFound:
            lost = [one.session for one in self._store.unreadable() if one.session is not None]
            named = [session for session in lost if session.header.session_id == reference]
            if len(named) != 1:
                raise
            return named[0]

    def _refresh(self, reference: str, *, searched: bool = True) -> tuple[Session, tuple[str, ...]]:
        """The session that a path or an id names, brought up to date; reasons why it may not be.

        Args:
            reference: a path or an id.
            searched: whether it is searched right after.
        """
        self._synced = None
        if reference in self._held:
            held = self._store.by_file(reference)
            if held is not None:
                return held, ()
        if os.path.isfile(reference):
            file, known = os.path.abspath(reference), None
        else:
            known = self._find_lost(reference)
            file = known.file
            if not is_present(file):
                from aforesaid.indexing.stored import clear_stored  # late: few transcripts are gone

                return clear_stored(self._store, known, redacting=self._redacting), (SOURCE_MISSING,)
        if not self._store.writable and not self._open_again():
            return self._as_stored(file)
        from aforesaid.indexing import parts_of, sync  # late: nothing before the first SQL needs it

        reader = reader_of(known.header.host) if known else self._reader_of(file)
        report = self._synced = sync(self._store, reader, file, redacting=self._redacting, searched=searched)
        if report.status != "unchanged":
            for part in parts_of(reader, report):
                sync(self._store, reader, part, redacting=self._redacting, searched=searched)
        if report.error_code == SessionForgotten.code:
            raise SessionForgotten(report.error or file, "nothing of it is kept or searched")
        if report.session is None:
            raise SourceUnreadable(f"{file} could not be read", "check the file")
        return report.session, (REBUILT,) if report.error_code == StoreCorrupt.code else ()

    def _reader_of(self, file: str) -> TranscriptPort:
        """The reader of a file; a known session keeps its own while its host is writing the file anew."""
        try:
            return recognise(file)
        except NotATranscript:
            known = self._store.by_file(file)
            if known is None:
                raise
            return reader_of(known.header.host)

    def _open_again(self) -> bool:
        """Opens a store anew that could not be written; whether it can be by now. A service outlives such troubles."""
        try:
            opened = self._open_store()
        except StoreError:
            return False
        if not opened.writable:
            opened.close()
            return False
        self.close()
        self._opened, self._known_contexts = opened, None
        return True

    def _as_stored(self, file: str) -> tuple[Session, tuple[str, ...]]:
        """What a read-only store holds of a transcript."""
        known = self._store.by_file(file)
        if known is None:
            raise StoreReadOnly(f"{file} is not in the store, which cannot be written", "make the store writable")
        status = os.stat(file_of(file))
        same = (status.st_size, status.st_mtime_ns) == (known.checkpoint.size, known.checkpoint.mtime_ns)
        return known, () if same else (STALE,)


def store_files(folder: str) -> tuple[str, ...]:
    """All that a store has on the disk, folders last, for whoever wants nothing of it to stay."""
    from aforesaid.storage.sqlite.removal import store_files as listed  # late: for this only

    return listed(folder)


def _open_store(folder: Path | None, config: Config) -> StorePort:
    return open_store(
        store_folder(folder),
        busy_timeout_ms=config.integer("storage.busyTimeoutMs"),
        max_bytes=config.integer("storage.maxBytes"),
    )
