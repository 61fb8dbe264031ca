"""Floor 7: the extractive history view, which fails open for the call and closed for privacy.

As with `retrieve`, wrong arguments raise and everything else is told in the result. `planning` imports this module when
a view is asked for first; what is known of sessions without their texts stays from one request to the next.
"""

from __future__ import annotations

from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from aforesaid.answers import Coverage
from aforesaid.branches import REBUILT, tell
from aforesaid.config import PRIVACY_UNREADABLE
from aforesaid.engine.classifying import Classifying, Salience
from aforesaid.errors import (
    AforesaidError,
    OperationError,
    PrivacyUnreadable,
    SessionForgotten,
    SourceMissing,
    SourceUnreadable,
    StaleSource,
    StoreCorrupt,
    UsageError,
)
from aforesaid.extractive.composition import compose
from aforesaid.extractive.gate import BundleGate
from aforesaid.extractive.shelf import Shelf
from aforesaid.extractive.survey import Reader, look
from aforesaid.extractive.values import Bundle, HistoryView, ViewDiagnostics, ViewOptions
from aforesaid.extractive.vectors import Bags
from aforesaid.planning.values import Supplement
from aforesaid.privacy.secrets import redact
from aforesaid.text import digest
from aforesaid.transcripts.originals import read_line, verify

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Sequence

    from aforesaid.engine.planning import Planning
    from aforesaid.extractive.survey import Asked
    from aforesaid.extractive.values import ViewStatus
    from aforesaid.model import Cleared, Session
    from aforesaid.planning.values import MakeView
    from aforesaid.ports import Snapshot
    from aforesaid.privacy.judge import Judge

VIEW_FAILED = "view-failed"
"""Something that nobody expected; the call goes out without a view."""
MOST_SHELVES = 8
"""Sessions of which exchanges are known at a time."""
LEAST_BYTES = 1024
"""Bytes below which no view is tried."""


class Classifiable(Struct, frozen=True, kw_only=True):
    """What a classifier may be asked about.

    Attributes:
        relevant: bundles that matter for the request.
        known: those of them about which it has been asked before.
        bundles: the others that its provider may see, the most relevant first.
        request: what they may be salient for; nothing if the provider may not see it.
        turn: names the request and where it stands.
    """

    relevant: int
    known: int
    bundles: Cleared[Bundle]
    request: Cleared[str]
    turn: bytes


class Viewer:
    """Makes views on one engine.

    Attributes:
        last: the latest one that was made for a plan; None if there was none.
    """

    def __init__(self, engine: Planning) -> None:
        """Takes the engine that finds sessions, reads them and knows the configuration."""
        self._engine = engine
        self._shelves: dict[str, Shelf] = {}
        self._bags = Bags()
        self._classifying = Classifying()
        self.last: HistoryView | None = None

    def answer(self, reference: str, asked: Asked, *, provider: str | None) -> HistoryView:
        """The view that somebody asks for; see `Planning.view`."""
        engine = self._engine
        if engine.config.privacy_unknown:
            return _nothing("disabled", PRIVACY_UNREADABLE)
        try:
            found, reasons = engine._refresh(reference)
        except UsageError:
            raise
        except SessionForgotten as error:
            return _nothing("disabled", error.code)
        except OperationError as error:
            return _nothing("failed", error.code)
        made = self._view(found, reasons, asked, provider=provider, salience=self.ask(reference, asked))
        engine._count(made.withheld)
        return made

    def ask(self, reference: str, asked: Asked) -> Salience | None:
        """What the classifier of a program says of the bundles that matter; None if there is none."""
        port = self._engine._classifier
        return None if port is None else self._classifying.ask(self._engine, reference, asked, port)

    def warm(self, reference: str, asked: Asked) -> None:
        """Makes a view for nobody, so that the next one finds what it needs in memory."""
        found, reasons = self._engine._refresh(reference)
        self._view(found, reasons, asked, provider=None)

    def _view(
        self,
        session: Session,
        reasons: Sequence[str],
        asked: Asked,
        *,
        provider: str | None,
        carried: frozenset[str] = frozenset(),
        salience: Salience | None = None,
        max_bytes: int | None = None,
    ) -> HistoryView:
        """The view of a session that is up to date, but for `reasons`."""
        if self._engine.config.privacy_unknown:
            return _nothing("disabled", PRIVACY_UNREADABLE)
        started = perf_counter()
        options = self._view_options(session, max_bytes)
        said = salience or Salience()

        def make() -> HistoryView:
            gate = self._bundle_gate(session, provider)
            with self._engine._store.read(session.key) as snapshot:
                shelf = self._shelf(session.key)
                survey = look(snapshot, shelf, self._bags, asked, options=options)
                if reasons:
                    survey = replace(survey, coverage=tell(survey.coverage, reasons))
                made = compose(
                    snapshot, shelf, survey, options, carried=carried, salience=said.probabilities,
                    selection=said.selection, gate=gate,
                )  # fmt: skip
                if session.file not in self._engine._held:
                    self._verify(snapshot, session, made)
            return made

        try:
            made = self._make_soundly(make, session)
        except UsageError:
            raise
        except OperationError as error:
            return _nothing("failed", error.code)
        diagnostics = replace(made.diagnostics, duration_ms=(perf_counter() - started) * 1000)
        return replace(made, diagnostics=diagnostics, usage=said.usage if made.message else None)

    def _make_soundly(self, make: Callable[[], HistoryView], session: Session) -> HistoryView:
        """A view of sound data; what turns out otherwise is derived again, once."""
        try:
            return make()
        except StoreCorrupt:
            if not self._engine._heal(session):
                raise
            made = make()
            coverage = tell(made.diagnostics.coverage, (REBUILT,))
            return replace(made, diagnostics=replace(made.diagnostics, coverage=coverage))
        except StaleSource:
            # The file was changed in a place where a sync does not look.
            if not self._engine._store.writable:
                raise
            self._engine.rebuild(session=session.file)
        return make()

    @staticmethod
    def _verify(snapshot: Snapshot, session: Session, made: HistoryView) -> None:
        """Compares what is quoted with the transcript; one that is gone cannot contradict.

        Raises:
            StaleSource: a line is not what it was.
        """
        if not made.entry_ids:
            return
        rows = [row for row in snapshot.rows(made.entry_ids) if row is not None]
        try:
            verify(session.file, [entry.source for entry in snapshot.entries(rows)])
        except (SourceMissing, SourceUnreadable):
            return

    def for_plan(
        self,
        session: Session,
        reasons: Sequence[str],
        ask_about: Callable[[tuple[str, ...]], Asked],
        *,
        provider: str | None,
        salience: Salience | None,
    ) -> MakeView:
        """What makes the view of a planned call.

        Args:
            session: up to date, but for `reasons`.
            reasons: codes.
            ask_about: what is asked for, once it is known which entries the plan drops.
            provider: who is called.
            salience: what a classifier said.
        """
        self.last = None

        def make(dropped: tuple[str, ...], carried: frozenset[str], room: int) -> Supplement | None:
            asked = ask_about(dropped)
            try:
                said = salience or self.ask(session.file, asked)
                ask = partial(self._view, session, reasons, asked, provider=provider, carried=carried, salience=said)
                made = ask()
                if made.tokens > room:
                    most = made.bytes * room // (made.tokens + made.tokens // 8)
                    made = ask(max_bytes=most) if most >= LEAST_BYTES else made
                self._engine._count(made.withheld)
            except AforesaidError as error:
                made = _nothing("failed", error.code)
            except Exception:  # noqa: BLE001 - an agent's call must go out whatever happens here
                made = _nothing("failed", VIEW_FAILED)
            self.last = made
            return _supplement(made) if made.message else None

        return make

    def classifiable(self, reference: str, asked: Asked, *, provider: str, known: Container[bytes]) -> Classifiable:
        """See `Planning.look_for_classifier`."""
        engine = self._engine
        if engine.config.privacy_unknown:
            raise PrivacyUnreadable("the configuration of a privacy policy cannot be read", "see the warnings, mend it")
        found, _ = engine._refresh(reference)
        options = self._view_options(found, None)
        gate = self._gate(engine._seat().judge(provider, found.header.cwd), found)
        with engine._store.read(found.key) as snapshot:
            survey = look(snapshot, self._shelf(found.key), self._bags, asked, options=options)
            read = Reader(snapshot, options)
            wanted = [one for one in survey.candidates if one.relevant and one.own]
            new = sorted((one for one in wanted if one.key not in known), key=lambda one: (-one.score, -one.place))
            bundles = [
                Bundle(key=one.key, sources=(*read.sources(survey.exchanges[one.place].before), *one.own))
                for one in new
            ]
            cleared = gate.clear(bundles)
        request = survey.request
        if options.redacting:
            request = redact(request).text
        return Classifiable(
            relevant=len(wanted),
            known=len(wanted) - len(new),
            bundles=cleared,
            request=gate.clear_text(request if options.shorten is None else options.shorten(request)),
            turn=b"%d %s" % (survey.branch.leaf or 0, digest(survey.request)),
        )

    def _view_options(self, session: Session, max_bytes: int | None) -> ViewOptions:
        paths = self._engine._shortening(session)
        return ViewOptions(
            max_bytes=self._engine.config.integer("memory.extractive.maxViewBytes") if max_bytes is None else max_bytes,
            max_candidates=self._engine.config.integer("memory.extractive.maxCandidates"),
            redacting=self._engine.config.boolean("privacy.redactSecrets"),
            saved=session.file not in self._engine._held,
            shorten=None if paths is None else paths.shorten,
        )

    def _shelf(self, key: str) -> Shelf:
        """What is known of a session's exchanges."""
        shelf = self._shelves.pop(key, None) or Shelf()
        self._shelves[key] = shelf  # the latest one last
        if len(self._shelves) > MOST_SHELVES:
            del self._shelves[next(iter(self._shelves))]
        return shelf

    def _bundle_gate(self, session: Session, provider: str | None) -> BundleGate | None:
        """Who says which bundles a provider may see; None if there is no privacy policy."""
        judge = self._engine._judge(session, provider)
        return None if judge is None else self._gate(judge, session)

    def _gate(self, judge: Judge, session: Session) -> BundleGate:
        held = self._engine._held.get(session.file)
        if held is None:
            return BundleGate(judge, partial(read_line, session.file))
        return BundleGate(judge, lambda source: bytes(held[source.offset : source.offset + source.length]))


def _nothing(status: ViewStatus, code: str) -> HistoryView:
    coverage = Coverage(complete=False, reasons=(code,))
    return HistoryView(diagnostics=ViewDiagnostics(status=status, reason=code, coverage=coverage, warnings=(code,)))


def _supplement(made: HistoryView) -> Supplement:
    counts = made.diagnostics
    return Supplement(
        kind="view",
        text=made.message,
        tokens=made.tokens,
        reason=f"view;{counts.selection};bundles:{counts.selected}",
        classification=made.classification,
    )
