"""Floor 7: semantic search on one engine: which model, what it may see, and when its vectors are made.

`retrieving` imports this module when `retrieval.semantic` is on, and asks for the channel of a session; `upkeep` has
the vectors of what it indexed made. Whatever fails is a reason in the diagnostics: retrieval goes on by words.
"""

from __future__ import annotations

import threading
from functools import partial
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from aforesaid.answers import Semantic, Window
from aforesaid.config.semantic import read_setup
from aforesaid.embedders import FEATURE_HASH, make
from aforesaid.embedders.calls import Calls
from aforesaid.embedding import FAILED, INVALID_VECTOR, LOCAL_PROVIDER, STORE_FAILED, Passage
from aforesaid.errors import AforesaidError, StoreError
from aforesaid.passages import cut, hash_of
from aforesaid.privacy.egress import find_replacements
from aforesaid.privacy.judge import Judge, Verdict
from aforesaid.privacy.policy import Policy
from aforesaid.replacements import replace_in
from aforesaid.semantic import calibration
from aforesaid.semantic.calibration import BLIND, UNMEASURED
from aforesaid.semantic.channel import Channel, Memory
from aforesaid.semantic.sources import Clearing, Made, Maker, Source, make_vectors
from aforesaid.transcripts.originals import Originals
from aforesaid.withholding import Gate

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from aforesaid.embedding import Scale
    from aforesaid.engine.desk import Desk
    from aforesaid.model import Cleared, Session, StoredEntry
    from aforesaid.ports import EmbeddingPort, Snapshot, StorePort
    from aforesaid.reports import SyncReport

    Progress = Callable[[int, int], None]

BATCH_BESIDE: Final = 8
"""Texts of a call that is made beside requests, which may have to wait for it."""
_ALLOWED: Final = Verdict(allowed=True, classification="normal", reason="")
_NOTHING_LEFT: Final = "[redacted]"


class Similarity:
    """Vectors on one engine."""

    def __init__(self, engine: Desk, port: EmbeddingPort | None) -> None:
        """Takes the engine, whose configuration stays as it is, and what the host brought."""
        self._engine = engine
        self._setup = read_setup(engine.config, port)
        profile = self._setup.profile
        self._calls = Calls(
            (lambda: port) if port is not None else partial(make, profile),
            profile,
            seconds=self._setup.seconds,
            trusted=port is None and profile.model == FEATURE_HASH,
        )
        self._memory = Memory(self._setup.queries)
        self._open = Judge(Policy(), provider=LOCAL_PROVIDER if port is None else profile.provider)
        self._measured = self._setup.scale
        self._settled: dict[str, tuple[int, bytes, Made]] = {}
        self._stop = threading.Event()
        self._beside: threading.Thread | None = None

    @property
    def remote(self) -> bool:
        """Whether texts leave this machine."""
        return self._setup.profile.destination == "remote"

    def channel(self, session: Session) -> Channel:
        """The vector search of a session, whose vectors are brought up to date first as far as time allows."""
        profile, reason, made = self._setup.profile, self._setup.reason, None
        if reason is None:
            try:
                synced = self._engine._synced
                anew = synced is not None and synced.session is session and synced.status == "rebuilt"
                made = self._settle(session, thorough=anew)
            except StoreError:
                reason = STORE_FAILED
            except Exception:  # noqa: BLE001 - whatever is wrong with vectors, the words are still there
                reason = FAILED
        if made is not None and not made.complete and made.reason is None:
            self._go_on(session)
        coverage = "none" if made is None else "complete" if made.complete else "partial"
        report = Semantic(
            provider=profile.provider,
            model=profile.model,
            dimensions=profile.dimensions,
            destination=profile.destination,
            reason=reason,
            coverage=coverage,  # type: ignore[arg-type]  # one of three texts
            excluded=0 if made is None else made.excluded,
        )
        scale = UNMEASURED
        if reason is None:
            scale, reason = self._scale()
            report = replace(report, reason=reason)
        return Channel(
            session=session.key,
            vectors=self._engine._store.vectors(session.key),
            profile=profile,
            scale=scale,
            embed=self._calls.embed,
            clear=partial(self._clear_request, session),
            pool=self._setup.pool,
            memory=self._memory,
            report=report,
            unmade=None if made is None else made.reason,
        )

    def _settle(self, session: Session, *, thorough: bool) -> Made | None:
        """Brings the vectors of a session up to date, unless they are what they were when nothing was missing."""
        vectors, profile = self._engine._store.vectors(session.key), self._setup.profile
        before = self._settled.get(session.key)
        if before is not None and not thorough and before[:2] == (session.generation, vectors.version(profile)):
            return before[2]
        made = self.update(session, seconds=self._engine.vector_seconds, thorough=thorough)
        self._settled.pop(session.key, None)
        if made is not None and made.complete:
            self._settled[session.key] = (session.generation, vectors.version(profile), replace(made, vectors=0))
        return made

    def _scale(self) -> tuple[Scale, str | None]:
        """How similarities count; a reason if the store failed, or everything is alike to the model."""
        if self._measured is None:
            try:
                self._measured = calibration.measure(
                    self._engine._store.vectors(calibration.KEY),
                    self._setup.profile,
                    self._calls.embed,
                    self._seal_own,
                    self._setup.batch,
                )
            except StoreError:
                return UNMEASURED, STORE_FAILED
        if self._measured is BLIND:
            return BLIND, INVALID_VECTOR
        return self._measured or UNMEASURED, None

    def _seal_own(self, texts: Sequence[str]) -> Cleared[str] | None:
        """Texts that are nobody's secret; where a policy withholds everything, these too."""
        if not self.remote:
            return self._open.clear_all(texts)
        judge = self._engine._seat().judge(self._setup.profile.provider, None)
        cleared = judge.clear(texts, [judge.judge(text) for text in texts])
        return cleared if len(cleared.values) == len(texts) else None

    @property
    def refused(self) -> str | None:
        """Why the model may not be asked at all, if so."""
        return self._setup.reason

    def update(
        self,
        session: Session,
        *,
        seconds: float | None = None,
        thorough: bool = False,
        progress: Progress | None = None,
    ) -> Made | None:
        """Makes the vectors of a session that are missing; None if the model may not be asked, or nothing be written.

        Raises:
            StoreError: the store failed.
        """
        store = self._engine._store
        if self._setup.reason is not None or not store.writable:
            return None
        maker = self._maker(store, session, self._setup.batch)
        return make_vectors(maker, seconds=seconds, thorough=thorough, progress=progress)

    def close(self) -> None:
        """Ends what is being made beside; what is finished stays."""
        self._stop.set()
        if self._beside is not None:
            self._beside.join(2.0)
        self._memory.clear()

    def _maker(self, store: StorePort, session: Session, batch: int) -> Maker:
        return Maker(
            read=lambda: store.read(session.key),
            vectors=store.vectors(session.key),
            profile=self._setup.profile,
            embed=self._calls.embed,
            clear=self._remote_clearing(session) if self.remote else Clearing(self._open.clear_all),
            most=self._setup.most,
            batch=batch,
        )

    def _go_on(self, session: Session) -> None:
        """Makes what is missing in a thread of its own, with a store of its own; one session at a time."""
        if (self._beside is not None and self._beside.is_alive()) or session.file in self._engine._held:
            return

        def work() -> None:
            try:
                store = self._engine._open_store()
                try:
                    maker = self._maker(store, session, min(self._setup.batch, BATCH_BESIDE))
                    make_vectors(maker, stopped=self._stop.is_set)
                finally:
                    store.close()
            except Exception:  # noqa: BLE001 - the next request tries again, and says what is wrong
                return

        self._beside = threading.Thread(target=work, name="aforesaid-vectors", daemon=True)
        self._beside.start()

    # --- what a remote model may see --------------------------------------------------------------------------------

    def _remote_clearing(self, session: Session) -> RemoteClearing:
        return RemoteClearing(self._judge(session), session, Originals(self._engine._held))

    def _judge(self, session: Session) -> Judge:
        """Says what the provider of the model may see."""
        return self._engine._seat().judge(self._setup.profile.provider, session.header.cwd)

    def _clear_request(self, session: Session, request: str) -> Cleared[str] | None:
        """A request as the model may see it."""
        if not self.remote:
            return self._open.clear_all((request,))
        from aforesaid.privacy.secrets import redact  # late: it compiles its patterns

        judge = self._judge(session)
        try:
            verdict = judge.judge(request)
            cleared = judge.clear((redact(request).text,), (verdict,))
        except AforesaidError:
            return None
        return cleared if cleared.values else None


class RemoteClearing(Clearing):
    """What a remote model may see of entries: none with anything in it that its provider may not see, no secret."""

    def __init__(self, judge: Judge, session: Session, originals: Originals) -> None:
        """Takes who decides, the session, and what reads its lines again."""
        self._judge = judge
        self._session = session
        self._originals = originals
        super().__init__(self._seal)

    def see(self, snapshot: Snapshot, entries: Sequence[StoredEntry]) -> tuple[Source | None, ...]:
        """See `Clearing`."""
        gate = Gate(snapshot, self._judge, partial(self._originals.read_line, self._session.file))
        return tuple(_without_secrets(entry) if gate.admits((entry.row,)) else None for entry in entries)

    def _seal(self, texts: Sequence[str]) -> Cleared[str]:
        """Texts of entries that were judged as a whole: a piece of one by itself would say less."""
        return self._judge.clear(texts, [_ALLOWED] * len(texts))


def _without_secrets(entry: StoredEntry) -> Source:
    """An entry with its passages as they may leave this machine."""
    replacements = find_replacements(entry)
    passages: list[Passage] = []
    texts: list[str] = []
    for start, end in cut(entry.text):
        text = entry.text[start:end]
        passages.append(Passage(row=entry.row, start=start, end=end, hash=hash_of(text)))
        (window,) = replace_in((Window(start=start, end=end, text=text),), replacements)
        texts.append(window.text if window.text.strip() else _NOTHING_LEFT)
    return Source(passages=tuple(passages), texts=tuple(texts))


def make_all(engine: Desk, reports: Sequence[SyncReport], progress: Progress | None) -> str | None:
    """Makes the vectors of sessions that were just indexed; what fails is tried again by the next request.

    Returns:
        Why some were not made, if so (reasons as in `Semantic`).
    """
    similarity = engine._vectors()
    if similarity is None:
        return None
    if similarity.refused is not None:
        return similarity.refused
    for report in reports:
        if report.session is not None and report.status != "failed":
            try:
                made = similarity.update(report.session, thorough=report.status == "rebuilt", progress=progress)
            except StoreError:
                return STORE_FAILED
            if made is None or made.reason is not None:
                return STORE_FAILED if made is None else made.reason
    return None
