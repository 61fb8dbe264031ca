"""Floor 7: automatic retrieval, which fails open for the call and closed for privacy.

An agent's call must go out whatever happens here, so `retrieve` raises for wrong arguments only and reports everything
else as a status with warning codes.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from msgspec.structs import replace

from aforesaid.answers import Coverage, Diagnostics, Query, Retrieval
from aforesaid.branches import REBUILT, find_branch, tell
from aforesaid.config import PRIVACY, PRIVACY_UNREADABLE
from aforesaid.engine.upkeep import Upkeep
from aforesaid.errors import (
    AforesaidError,
    ExactSearchFailed,
    OperationError,
    SessionForgotten,
    StoreCorrupt,
    TextSearchFailed,
    UsageError,
)
from aforesaid.retrieval import retrieve
from aforesaid.retrieval.options import RetrievalOptions
from aforesaid.sidechains import file_of, is_present, opener

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from io import FileIO

    from aforesaid.answers import RetrievalStatus
    from aforesaid.engine.rehearsal import Rehearsal
    from aforesaid.model import Session, Span, Tally, Withheld
    from aforesaid.ports import SimilarityPort, Snapshot
    from aforesaid.privacy.judge import Judge
    from aforesaid.privacy.paths import Paths
    from aforesaid.privacy.payload import Outgoing, Payload

    Path = str | os.PathLike[str]
    Progress = Callable[[int, int], None]

_SEARCH_FAILURES = frozenset({ExactSearchFailed.code, TextSearchFailed.code})


_ANYTHING = (
    'Yesterday `parse_port` in src/app/main.py raised E1234, "not found": which port, and why the other host?',
    "Perché l'errore di parseHTTPPort è tornato con `max_retries` --force?",
    "数据库的端口为什么是8080? サーバーの設定ファイルの番号は何でしたか",
)
"""Requests of every kind: what reading them takes is made when it is first needed."""


class Retrieving(Upkeep):
    """Automatic retrieval."""

    def retrieve(
        self,
        *,
        session: Path,
        leaf: str | None = None,
        query: str | None = None,
        context_entries: Sequence[str] | None = None,
        provider: str | None = None,
    ) -> Retrieval:
        """Brings back what the request needs and the model no longer sees.

        Args:
            session: a transcript, or the id of a session in the store. It is brought up to date first.
            leaf: id of the entry whose branch counts; None takes the session's last entry.
            query: the request; None takes the latest real user message of the branch.
            context_entries: ids of the entries that the model sees; None derives them as the host does.
            provider: whose model gets the evidence, for the privacy policy; None counts as a remote one.

        Raises:
            UsageError: an argument is wrong. Failures of the operation are told in the result, never raised.
        """
        options = self._retrieval_options()
        if self.config.privacy_unknown:
            return _nothing("disabled", PRIVACY_UNREADABLE, options)
        try:
            found, reasons = self._refresh(os.fspath(session))
        except UsageError:
            raise
        except SessionForgotten as error:
            return _nothing("disabled", error.code, options)
        except OperationError as error:
            return _nothing("failed", error.code, options)
        answer = self._retrieve(
            found, reasons, leaf=leaf, query=query, context_entries=context_entries, provider=provider
        )
        self._count(answer.withheld)
        return answer

    def warm(self, session: Path, quiet: Callable[[], bool]) -> None:
        """Loads what the first retrievals from a session would have to load, for a moment in which nobody waits.

        Args:
            session: a transcript.
            quiet: whether that is still so; asked between steps of some milliseconds.

        Raises:
            AforesaidError: it cannot be retrieved from.
        """
        found, reasons = self._refresh(os.fspath(session))
        for query in (_ANYTHING[0], *_ANYTHING):  # what is asked twice stays in memory, and is computed otherwise
            if quiet():
                self._retrieve(found, reasons, leaf=None, query=query)

    def _retrieval_options(self) -> RetrievalOptions:
        return RetrievalOptions(
            exact=self.config.boolean("retrieval.exact"),
            fts=self.config.boolean("retrieval.fts"),
            contextual=self.config.text("retrieval.ranking") == "contextual",
            working=self.config.text("retrieval.query") == "working",
            sparing=self.config.boolean("retrieval.sparing"),
            max_results=self.config.integer("retrieval.maxResults"),
            max_tokens=self.config.integer("context.maxRetrievedHistoryTokens"),
            redacting=self.config.boolean("privacy.redactSecrets"),
        )

    def _retrieve(
        self,
        session: Session,
        reasons: tuple[str, ...],
        *,
        leaf: str | None,
        query: str | None,
        context_entries: Sequence[str] | None = None,
        context: Sequence[Span] | None = None,
        provider: str | None = None,
        dropped: Sequence[str] = (),
        rehearsed: Rehearsal | None = None,
    ) -> Retrieval:
        """Retrieves from a session that is up to date, but for `reasons`; entries that were dropped are not visible.

        What was `rehearsed`, and came true, is the answer if it was computed from what counts now.
        """
        options = self._retrieval_options()
        if self.config.privacy_unknown:
            return _nothing("disabled", PRIVACY_UNREADABLE, options)

        def ask() -> Retrieval:
            vectors = self._vectors()
            similar = None if vectors is None else vectors.channel(session)
            with self._store.read(session.key) as snapshot:
                if rehearsed is not None and query is None and context is not None:
                    branch = find_branch(snapshot, leaf, context=context)
                    if rehearsed.fits(snapshot, branch, options, self.config, provider):
                        return replace(rehearsed.answer, session=snapshot.session)
                return self._compute(
                    snapshot,
                    options,
                    judge,
                    leaf=leaf,
                    request=query,
                    context_entries=context_entries,
                    context=context,
                    dropped=dropped,
                    similar=similar,
                )

        try:
            judge = self._judge(session, provider)
            answer, lines = self._ask(ask, session)
            if judge is not None:
                from aforesaid.withholding import withhold_lines  # late: only a policy needs it

                answer = withhold_lines(answer, lines, judge)
            paths = self._shortening(session)
            if paths is not None:
                from aforesaid.shortening import shorten_answer  # late: few ask for it

                answer = shorten_answer(answer, paths)
        except UsageError:
            raise
        except OperationError as error:
            return _nothing("failed", error.code, options)
        return answer if not reasons else _with_reasons(answer, reasons)

    def _compute(
        self,
        snapshot: Snapshot,
        options: RetrievalOptions,
        judge: Judge | None,
        *,
        leaf: str | None,
        request: str | None,
        context_entries: Sequence[str] | None = None,
        context: Sequence[Span] | None = None,
        dropped: Sequence[str] = (),
        similar: SimilarityPort | None = None,
    ) -> Retrieval:
        """The one call of the pipeline, for an answer that is wanted now and for one that is rehearsed."""
        return retrieve(
            snapshot,
            leaf=leaf,
            request=request,
            context_entries=context_entries,
            context=context,
            dropped=dropped,
            options=options,
            judge=judge,
            similar=similar,
        )

    def _ask(self, ask: Callable[[], Retrieval], session: Session) -> tuple[Retrieval, tuple[bytes | None, ...]]:
        """An answer of sound data with the lines that it was taken from; what turns out otherwise is derived again."""
        try:
            answer = ask()
            broken = bool(_SEARCH_FAILURES.intersection(answer.diagnostics.warnings))
        except StoreCorrupt:
            if not self._heal(session):
                raise
            answer, broken = _with_reasons(ask(), (REBUILT,)), False
        if broken and self._heal(session):
            answer = _with_reasons(ask(), (REBUILT,))
        lines = _source_lines(answer, self._held.get(session.file))
        if None in lines and self._store.writable:
            # The file was changed in a place where a sync does not look; evidence must be what stands there.
            self.rebuild(session=session.file)
            answer = ask()
            lines = _source_lines(answer, None)
        return answer, lines

    def _heal(self, session: Session) -> bool:
        """Derives a session again whose stored data turned out damaged; False if that was not it, or cannot be done."""
        if not self._store.writable or not is_present(session.file):
            return False
        try:
            self._store.by_file(session.file)
        except StoreCorrupt:
            self._refresh(session.file)
            return True
        return False

    def _judge(self, session: Session, provider: str | None) -> Judge | None:
        """Who says what of a session a provider may see; None if there is no privacy policy."""
        if not self.config.boolean(PRIVACY):
            return None
        return self._seat().judge(provider or "", session.header.cwd)

    def _shortening(self, session: Session | None) -> Paths | None:
        """What paths are shortened by in quoted text, seen from a session; None where it stays verbatim."""
        if not self.config.boolean("privacy.shortenPaths"):
            return None
        from aforesaid.privacy.paths import Paths  # late: few ask for it

        project = None if session is None else session.header.cwd
        return Paths(project=project, home=os.path.expanduser("~"))

    def clear(self, messages: Sequence[Outgoing], *, session: Path, provider: str | None = None) -> Payload:
        """The final messages of a model call as the privacy policy lets the provider that is really called see them.

        Args:
            messages: the host's own and what was added, in their order (`privacy.payload.Outgoing`).
            session: where they belong; one that is not in the store counts as in every project that a rule names.
            provider: who is called; None counts as a remote one.

        Returns:
            The messages that may go out. Never raises for what they hold. What was left out is counted.
        """
        try:
            project = self._find(os.fspath(session)).header.cwd
        except AforesaidError:
            project = None
        payload = self._seat().clear(messages, provider or "", project)
        self._count(payload.withheld)
        return payload

    def restricts(self, provider: str | None) -> bool:
        """Whether the privacy policy, as it is now, may keep anything from a provider; None counts as a remote one."""
        if self.config.privacy_unknown:
            return True
        return self.config.boolean(PRIVACY) and not self._seat().judge(provider or "", None).open

    def withheld(self) -> tuple[Tally, ...]:
        """What the privacy policy withheld from automatic evidence, counted since the store was made."""
        if self._opened is None and self._folder is not None and not os.path.isdir(self._folder):
            return ()  # what only asks makes no store
        try:
            return self._store.withheld()
        except OperationError:
            return ()

    def _count(self, withheld: Sequence[Withheld]) -> None:
        """Counts what was withheld; a count that fails is no reason to fail."""
        if not withheld:
            return
        from aforesaid.withholding import tally  # late: only a policy needs it

        try:
            self._store.count_withheld(tally(withheld))
        except OperationError:
            return


def _source_lines(answer: Retrieval, held: bytearray | None) -> tuple[bytes | None, ...]:
    """The lines that the hits were taken from, None for one that is not what it was; none if there is no file."""
    if held is not None:
        sources = [hit.ranked.candidate.entry.source for hit in answer.hits]
        return tuple(bytes(held[source.offset : source.offset + source.length]) for source in sources)
    if answer.session is None or not answer.hits or not is_present(answer.session.file):
        return ()
    from contextlib import ExitStack  # late, both: only answers with evidence need them

    from aforesaid.digests import sha256

    found: list[bytes | None] = []
    try:
        with ExitStack() as opened:
            files: dict[str, FileIO] = {}
            for hit in answer.hits:
                source = hit.ranked.candidate.entry.source
                file = source.file or file_of(answer.session.file)
                if file not in files:
                    files[file] = opened.enter_context(open(file, "rb", buffering=0, opener=opener))
                files[file].seek(source.offset)
                line = files[file].read(source.length)
                found.append(line if sha256(line) == source.sha256 else None)
    except OSError:
        return ()
    return tuple(found)


def _nothing(status: RetrievalStatus, warning: str, options: RetrievalOptions) -> Retrieval:
    diagnostics = Diagnostics(
        max_results=options.max_results,
        max_tokens=options.max_tokens,
        coverage=Coverage(complete=False, reasons=(warning,)),
        warnings=(warning,),
    )
    return Retrieval(session=None, status=status, query=Query(), hits=(), diagnostics=diagnostics)


def _with_reasons(answer: Retrieval, reasons: tuple[str, ...]) -> Retrieval:
    coverage = tell(answer.diagnostics.coverage, reasons)
    return replace(answer, diagnostics=replace(answer.diagnostics, coverage=coverage))
