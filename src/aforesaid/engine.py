"""Floor 7: the Python API and the one place where the parts are put together.

`Engine` opens a store, picks readers, brings sessions up to date and runs the pipeline. It is also the one place that
fails open: an agent's call must go out whatever happens here, so `retrieve` raises for wrong arguments only and reports
everything else as a status with warning codes.
"""

from __future__ import annotations

import os
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Self

from msgspec import Struct
from msgspec.structs import replace

from aforesaid.config import PRIVACY, PRIVACY_UNREADABLE, Config, store_folder
from aforesaid.errors import (
    AforesaidError,
    BadArgument,
    ExactSearchFailed,
    NoSessions,
    NotATranscript,
    OperationError,
    PathMissing,
    PrivacyUnreadable,
    ScopeNotAllowed,
    SessionAmbiguous,
    SessionForgotten,
    SessionNotFound,
    SourceUnreadable,
    StoreCorrupt,
    StoreError,
    StoreReadOnly,
    TextSearchFailed,
    UsageError,
)
from aforesaid.model import Coverage, Diagnostics, IndexReport, Query, Retrieval
from aforesaid.retrieval import RetrievalOptions, retrieve
from aforesaid.storage.sqlite import open_store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from types import TracebackType
    from typing import BinaryIO

    from aforesaid.config.privacy import Bench
    from aforesaid.contexts import Contexts
    from aforesaid.inquiry import Expansion, Match, Mode, Question, RecallPage, Scope
    from aforesaid.lost import LostReport
    from aforesaid.model import (
        ForgetReport,
        Kind,
        RetrievalStatus,
        Role,
        Session,
        Span,
        StoreStatus,
        Tally,
        Withheld,
    )
    from aforesaid.planning.track import Track
    from aforesaid.planning.values import Judge as JudgeSupplement
    from aforesaid.planning.values import (
        KeptManifest,
        Message,
        Plan,
        Supplement,
    )
    from aforesaid.ports import StorePort, TranscriptPort
    from aforesaid.privacy.judge import Judge
    from aforesaid.privacy.paths import Paths
    from aforesaid.privacy.payload import Outgoing, Payload
    from aforesaid.recall.scopes import Selection
    from aforesaid.refs import Issuer

    Path = str | os.PathLike[str]
    Progress = Callable[[int, int], None]

_HEAD = 65_536
"""Bytes of a file that tell which host wrote it."""
_SEARCH_FAILURES = frozenset({ExactSearchFailed.code, TextSearchFailed.code})
FEW = 8
"""Sessions that are all opened rather than asked the index of words about."""
LEARNING = 1.0
"""Seconds that a search of many sessions may spend on bringing the index of words up to date."""
STALE = "stale"
"""The store could not be brought up to date; what it holds was searched."""
SOURCE_MISSING = "source-missing"
"""The transcript is gone; what was indexed of it was searched."""


class Caller(Struct, frozen=True, kw_only=True):
    """Who asks for history on purpose.

    Attributes:
        name: whose refs and cursors they are; those of one caller are no other's.
        model: whether what comes back goes to a model: then entries that the user kept from it stay away.
        trusted: whether the host's user trusts the project; without it a model may not search all of it.
        refs_last: seconds after which refs expire; 0 for never.
    """

    name: str = "own"
    model: bool = False
    trusted: bool = False
    refs_last: int = 0


OWN = Caller()
"""The user, through the command line or Python."""


class Engine:
    """One open store with its configuration. Use it as a context manager, or call `close`.

    An engine may be used from one thread at a time; several processes may open the same store.
    """

    def __init__(self, open_store: Callable[[], StorePort], config: Config, *, folder: str | None = None) -> None:
        """For callers that bring their own store; everyone else uses `open`."""
        self._folder = folder
        self._open_store = open_store
        self._opened: StorePort | None = None
        self._bench: Bench | None = None
        self._known_contexts: Contexts | None = None
        self._held: dict[str, bytearray] = {}
        self.config = config

    @classmethod
    def open(
        cls,
        store: Path | None = None,
        config: Config | Path | None = None,
        *,
        settings: Mapping[str, object] | Sequence[str] = (),
    ) -> Self:
        """Reads the configuration; the store itself is opened, or made, when it is first used.

        Args:
            store: its folder; None takes `AFORESAID_STORE`, else the platform's user data folder.
            config: a configuration, or a file that is read on top of the user's own; None reads only that.
            settings: single values above all files, as a mapping or as `key=value` texts.

        Raises:
            ConfigUnreadable, ConfigInvalid: the given file or a given setting is unusable.
        """
        if not isinstance(config, Config):
            config = Config.load(config, settings=settings)
        return cls(partial(_open_store, store, config), config, folder=store_folder(store))

    @classmethod
    def in_memory(cls, config: Config | None = None) -> Self:
        """An engine whose store is gone with it: for sessions that their host keeps no file of; see `hold`."""
        from aforesaid.storage.sqlite.memory import MemoryStore  # late: for such sessions only

        return cls(MemoryStore, config or Config.load())

    @property
    def _store(self) -> StorePort:
        if self._opened is None:
            self._opened = self._open_store()
        return self._opened

    @property
    def _redacting(self) -> bool:
        """Whether secrets are replaced in what is stored."""
        return self.config.boolean("privacy.redactIndex")

    @property
    def warnings(self) -> tuple[str, ...]:
        """What was wrong with the configuration, a line each."""
        return self.config.warnings

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
            BadArgument: there is no such host.
        """
        from aforesaid.indexing import sync_all  # late: retrieval of an unchanged session needs none of it

        found = list(discover(paths, host, lenient=lenient))
        report = sync_all(self._store, found, rebuild=rebuild, redacting=self._redacting, progress=progress)
        synced = [synced.session for synced in report.sessions if synced.session is not None]
        if len(synced) > FEW:
            try:
                self._store.learn_words(synced)
            except StoreError:
                return report  # a search of many sessions will try it again, and open more of them until then
        return report

    def refresh(self, session: Path) -> Session:
        """Brings one session up to date ahead of the question that will need it, as that question would do it.

        Costs what was appended; `index` looks at every byte.

        Args:
            session: a transcript, or the id of a session in the store.

        Raises:
            UsageError: there is no such session.
            OperationError: its transcript cannot be read, or the store failed.
        """
        return self._refresh(os.fspath(session))[0]

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

    def _retrieval_options(self) -> RetrievalOptions:
        return RetrievalOptions(
            exact=self.config.boolean("retrieval.exact"),
            fts=self.config.boolean("retrieval.fts"),
            contextual=self.config.text("retrieval.ranking") == "contextual",
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
    ) -> Retrieval:
        """Retrieves from a session that is up to date, but for `reasons`; entries that were dropped are not visible."""
        options = self._retrieval_options()
        if self.config.privacy_unknown:
            return _nothing("disabled", PRIVACY_UNREADABLE, options)

        def ask() -> Retrieval:
            with self._store.read(session.key) as snapshot:
                return retrieve(
                    snapshot,
                    leaf=leaf,
                    request=query,
                    context_entries=context_entries,
                    context=context,
                    dropped=dropped,
                    options=options,
                    judge=judge,
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

    def _ask(self, ask: Callable[[], Retrieval], session: Session) -> tuple[Retrieval, tuple[bytes | None, ...]]:
        """An answer of sound data with the lines that it was taken from; what turns out otherwise is derived again."""
        try:
            answer = ask()
            broken = bool(_SEARCH_FAILURES.intersection(answer.diagnostics.warnings))
        except StoreCorrupt:
            if not self._heal(session):
                raise
            answer, broken = ask(), False
        if broken and self._heal(session):
            answer = ask()
        lines = _source_lines(answer, self._held.get(session.file))
        if None in lines and self._store.writable:
            # The file was changed in a place where a sync does not look; evidence must be what stands there.
            self.rebuild(session=session.file)
            answer = ask()
            lines = _source_lines(answer, None)
        return answer, lines

    def _heal(self, session: Session) -> bool:
        """Derives a session again whose stored data turned out damaged; False if that was not it, or cannot be done."""
        if not self._store.writable or not os.path.isfile(session.file):
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

    def _seat(self) -> Bench:
        """The bench of the configuration as it is now."""
        if self._bench is None or self._bench.config is not self.config:
            from aforesaid.config.privacy import Bench  # late: only a policy needs it

            self._bench = Bench(self.config)
        return self._bench

    def clear(self, messages: Sequence[Outgoing], *, session: Path, provider: str | None = None) -> Payload:
        """The final messages of a model call as the privacy policy lets the provider that is really called see them.

        Args:
            messages: the host's own and what was added, in their order (`privacy.payload.Outgoing`).
            session: where they belong; one that is not in the store counts as in every project that a rule names.
            provider: who is called; None counts as a remote one.

        Returns:
            The messages that may go out. Never raises for what they hold.
        """
        try:
            project = self._find(os.fspath(session)).header.cwd
        except AforesaidError:
            project = None
        return self._seat().clear(messages, provider or "", project)

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

    def plan(
        self,
        *,
        session: Path,
        context_window: int,
        query: str | None = None,
        leaf: str | None = None,
        messages: Sequence[Message] | None = None,
        context_entries: Sequence[str] | None = None,
        overhead: int = 0,
        model: str | None = None,
        output_reserve: int | None = None,
        supplements: Sequence[Supplement] = (),
        judge: JudgeSupplement | None = None,
        keep: bool = True,
    ) -> Plan:
        """Plans one model call: which of the host's messages go out, and which evidence with them.

        Args:
            session: a transcript, or the id of a session in the store. It is brought up to date first.
            context_window: tokens that the model can read.
            query: the request. Without `messages` it is added to the session as its next message; None takes the
                latest real user message.
            leaf: id of the entry whose branch counts; None takes the session's last entry.
            messages: what the host would send, without its system prompt (see `planning.messages.make_message`); None
                makes them from the session, as its host does.
            context_entries: ids of the entries that the model sees, in the host's order; None derives them as the host
                does. Without `messages`, these are made of the entries, without contents: the host has them.
            overhead: tokens that go out besides the messages: system prompt, definitions of tools; 0 takes what the
                session says of it.
            model: `provider/model` of the call; without it the privacy policy counts the provider as a remote one.
            output_reserve: tokens kept free for the answer; None takes a tenth of the window, at most 16,384.
            supplements: what else may be added, best first within each kind.
            judge: says of each supplement whether it may go to the provider; None: the privacy policy says it.
            keep: whether the manifest is kept in the store at once; a host that is waited for keeps it later, with
                `keep_manifest`.

        Raises:
            UsageError: an argument is wrong. Whatever else fails, the host's own messages come back with the reason.
        """
        if context_window < 1:
            raise BadArgument("a context window has at least one token", "give the size of the model's window")
        from aforesaid import planning  # late: only plans need it
        from aforesaid.config.planning import plan_options
        from aforesaid.planning.context import add_request, request_text

        track: Track | None = None
        native = planning.NativeContext(messages=tuple(messages or ()), overhead=overhead)
        call = planning.Call(
            window=context_window, reserve=output_reserve, options=plan_options(self.config), model=model
        )
        try:
            found, reasons = self._refresh(os.fspath(session))
            if messages is not None:
                query = request_text(native) if query is None else query
            else:
                if context_entries is None:
                    native = self._contexts.read(found, leaf)
                else:
                    track = self._contexts.follow(found, context_entries)
                    native = track.native
                native = native if query is None else add_request(native, query)
                native = replace(native, overhead=overhead or native.overhead)
        except UsageError:
            raise
        except OperationError as error:
            return planning.give_up(native, call, error.code)

        provider = model.partition("/")[0] if model else None

        def search(dropped: tuple[str, ...]) -> Retrieval:
            if track is not None:
                context = track.spans(dropped)
                return self._retrieve(found, reasons, leaf=leaf, query=query, context=context, provider=provider)
            return self._retrieve(
                found, reasons, leaf=leaf, query=query, context_entries=context_entries, provider=provider,
                dropped=dropped,
            )  # fmt: skip

        judge = judge or self._judge_supplements(found, provider)
        made = planning.plan_context(native, call, retrieve=search, supplements=supplements, judge=judge)
        if keep:
            try:
                self._keep_manifest(made, found.key)
            except OperationError as error:
                reasons = (*reasons, error.code)
        return replace(made, warnings=(*made.warnings, *reasons))

    @property
    def _contexts(self) -> Contexts:
        """What the hosts of the store's sessions would send."""
        if self._known_contexts is None:
            from aforesaid.contexts import Contexts  # late: see `plan`

            self._known_contexts = Contexts(self._store, lambda file: self.rebuild(session=file))
        return self._known_contexts

    def _judge_supplements(self, session: Session, provider: str | None) -> JudgeSupplement | None:
        """The privacy policy's word on what a plan may add; None if there is no policy."""
        judge = self._judge(session, provider)
        unknown = self.config.privacy_unknown
        if judge is None and not unknown:
            return None
        from aforesaid.planning.values import Verdict  # late: see `plan`
        from aforesaid.privacy.markers import to_level

        def say(supplement: Supplement) -> Verdict:
            if judge is None or unknown:
                return Verdict(allowed=False, classification=supplement.classification, reason=PRIVACY_UNREADABLE)
            found = judge.judge(supplement.text, named=to_level(supplement.classification))
            return Verdict(allowed=found.allowed, classification=found.classification, reason=found.reason)

        return say

    def keep_manifest(self, plan: Plan, *, session: Path) -> None:
        """Keeps the manifest of a plan in the store (`diagnostics.storeManifests`), if that can be written.

        Raises:
            UsageError: there is no such session.
            StoreError: the store failed.
        """
        self._keep_manifest(plan, self._find(os.fspath(session)).key)

    def _keep_manifest(self, plan: Plan, key: str) -> None:
        from time import time  # late: see `plan`

        from aforesaid.planning.manifest import pack_manifest

        if plan.retrieval is not None:
            self._count(plan.retrieval.withheld)
        most = self.config.integer("diagnostics.storeManifests")
        if most and plan.status != "native":
            self._store.manifests.keep(key, pack_manifest(plan.manifest), at=time(), most=most)

    def manifests(self, *, session: Path | None = None, limit: int = 1) -> tuple[KeptManifest, ...]:
        """The manifests of the latest plans, newest first.

        Args:
            session: only of this session; None for all.
            limit: at most so many.

        Raises:
            UsageError: there is no such session.
            StoreError: the store failed.
        """
        from aforesaid.planning.manifest import unpack_manifest  # late: see `plan`
        from aforesaid.planning.values import KeptManifest

        key = None if session is None else self._find(os.fspath(session)).key
        kept = []
        for at, record in self._store.manifests.latest(key, limit):
            with suppress(ValueError):  # of another version
                kept.append(KeptManifest(at=at, manifest=unpack_manifest(record)))
        return tuple(kept)

    def recall(
        self,
        query: str = "",
        *,
        session: Path | None = None,
        leaf: str | None = None,
        scope: Scope = "current-branch",
        mode: Mode = "literal",
        match: Match = "all",
        roles: Sequence[Role] = (),
        types: Sequence[Kind] = (),
        tool: str | None = None,
        file: str | None = None,
        after: str | None = None,
        before: str | None = None,
        summaries: bool = False,
        limit: int | None = None,
        cursor: str | None = None,
        folders: Sequence[Path] = (),
        provider: str | None = None,
        caller: Caller = OWN,
    ) -> RecallPage:
        """Searches the history on purpose: every entry that matches is found, a page at a time.

        Args:
            query: what is searched for; blank lists everything, newest first.
            session: a transcript, or the id of a session in the store. It is brought up to date first, unless the scope
                is `project` or `host-wide`; only the latter needs none.
            leaf: id of the entry whose branch counts; None takes the session's last entry.
            scope: where. `project` needs `historyTools.allowProjectScope`; `host-wide` is for the user alone.
            mode: `literal`: every blank-separated term as it is written, anywhere in the text; `phrase`: the whole
                query; `regex`: a pattern.
            match: whether all literal terms must stand in an entry, or any.
            roles: only entries of these roles.
            types: only entries of these kinds.
            tool: only entries that call or answer this tool.
            file: only entries whose calls name this path, or one that ends with it.
            after: only entries at or after this time (ISO 8601; UTC where it names no zone).
            before: only entries before this time.
            summaries: summaries too.
            limit: hits of a page, 1 to 200; None takes `historyTools.maxResults`.
            cursor: `next` of the page before, with everything else as it was.
            folders: where the hosts keep their transcripts, for `host-wide` to say what nobody has indexed.
            provider: whose model gets the answer, for the privacy policy; None counts as a remote one.
            caller: who asks, for refs and for what may be shown.

        Raises:
            UsageError: an argument is wrong.
            OperationError: it failed.
        """
        from aforesaid.asking import read_question  # late: only explicit search needs it
        from aforesaid.recall import RecallOptions, recall
        from aforesaid.transcripts.originals import read_line

        self._refuse_private()
        question = read_question(
            query, mode=mode, match=match, scope=scope, roles=roles, types=types, tool=tool, file=file,
            after=after, before=before, summaries=summaries, withheld=not caller.model,
        )  # fmt: skip
        selection = self._select(question, session, folders, caller)
        most = self.config.integer("historyTools.maxResults") if limit is None else limit
        options = RecallOptions(
            limit=most, issuer=self._issuer(caller), redacting=self.config.boolean("privacy.redactSecrets")
        )
        page = recall(
            self._store, selection, question, leaf=leaf, cursor=cursor, options=options,
            judge=lambda found: self._judge(found, provider), read_line=read_line,
        )  # fmt: skip
        paths = self._shortening(selection.own)
        if paths is not None:
            from aforesaid.shortening import shorten_page  # late: few ask for it

            page = shorten_page(page, paths)
        return page

    def _select(self, question: Question, reference: Path | None, folders: Sequence[Path], caller: Caller) -> Selection:
        """The sessions of a question's scope that may hold what it looks for.

        Raises:
            ScopeNotAllowed: the caller may not search there.
        """
        scope = question.scope
        from aforesaid.recall.scopes import Selection, arrange, flaws_of, select  # late: see `recall`
        from aforesaid.recall.survey import survey

        if scope == "host-wide" and caller.model:
            raise ScopeNotAllowed("a model may not search all sessions", "choose another scope")
        if scope == "project" and not self.config.boolean("historyTools.allowProjectScope"):
            raise ScopeNotAllowed(
                "the scope project is not allowed",
                "set historyTools.allowProjectScope in your own configuration",
            )
        if scope == "project" and caller.model and not caller.trusted:
            raise ScopeNotAllowed("the project is not trusted", "trust it in the host first")
        own: Session | None = None
        reasons: tuple[str, ...] = ()
        if reference is not None:
            if scope in {"project", "host-wide"}:
                own = self._find(os.fspath(reference))
            else:
                own, reasons = self._refresh(os.fspath(reference))
        sessions, missing = select(self._store, own, scope)
        if own is not None and len(sessions) == 1 and scope in {"current-branch", "current-session"}:
            flaws = flaws_of(sessions)
            return Selection(own=own, batches=((own,),), stale=int(STALE in reasons), reasons=(*flaws, *reasons))
        wide = scope in {"project", "host-wide"}
        if wide:
            every = sessions if scope == "host-wide" else self._store.sessions()
            known = [known.file for known in every]
            seen = survey(sessions, known, [os.fspath(folder) for folder in folders], _is_transcript)
        else:
            seen = survey(sessions[1:], (), (), None)
        picked = self._pick(sessions, question, own)
        return Selection(
            own=own,
            batches=arrange(self._store, own, picked),
            known=len(sessions),
            eligible=len(sessions) + seen.unknown + len(missing),
            stale=seen.stale + (STALE in reasons),
            reasons=tuple(dict.fromkeys((*reasons, *missing, *seen.reasons, *flaws_of(sessions)))),
        )

    def _pick(self, sessions: Sequence[Session], question: Question, own: Session | None) -> Sequence[Session]:
        """Those of the sessions whose words allow for what is looked for, and the own one."""
        from aforesaid.clues import find_clues  # late: see `recall`
        from aforesaid.patterns import read_pattern

        alternatives = find_clues(read_pattern(question.text, question.mode, question.match))
        if len(sessions) <= FEW or () in alternatives:
            return sessions
        self._store.learn_words(sessions, LEARNING)
        keys = self._store.may_hold(sessions, alternatives)
        return [one for one in sessions if one.key in keys or (own is not None and one.key == own.key)]

    def expand(
        self,
        ref: str | None = None,
        *,
        session: Path | None = None,
        entries: Sequence[str] = (),
        first: str | None = None,
        last: str | None = None,
        leaf: str | None = None,
        before: int = 0,
        after: int = 0,
        start_line: int = 1,
        max_lines: int | None = None,
        cursor: str | None = None,
        provider: str | None = None,
        caller: Caller = OWN,
    ) -> Expansion:
        """The original text of entries, with what stands around them on their branch.

        Args:
            ref: of a hit of `recall`; or else
            session: a transcript in the store, or its id, with
            entries: ids of entries, or
            first: id of the first entry of a range, with
            last: id of its last one; it stands on the branch of the last one.
            leaf: id of the entry whose branch counts for neighbours; None takes the session's last entry.
            before: neighbours before each entry, at most 50.
            after: neighbours after each entry, at most 50.
            start_line: first line of the entry that is shown, 1-based.
            max_lines: lines of the whole answer; None takes 200.
            cursor: `next` of the answer before, with everything else as it was.
            provider: as for `recall`.
            caller: as for `recall`.

        Raises:
            UsageError: an argument is wrong.
            StaleSource, SourceMissing: the transcript is not what it was when it was indexed.
        """
        from aforesaid.expansion import MOST_LINES, ExpandOptions, expand  # late: see `recall`
        from aforesaid.transcripts.originals import read_line, verify

        self._refuse_private()
        if (ref is None) == (session is None):
            raise BadArgument("either a ref or a session is needed", "give REF alone, or --session with ids of entries")
        if ref is not None and (entries or first or last or leaf):
            raise BadArgument("a ref names its entry itself", "leave the ids of entries out")
        if (first is None) != (last is None) or (first is not None and entries):
            raise BadArgument("a range has two ends, and no other entries", "give FIRST..LAST alone")
        options = ExpandOptions(
            issuer=self._issuer(caller),
            entries=tuple(entries),
            first=first,
            last=last,
            before=before,
            after=after,
            start_line=start_line,
            max_lines=MOST_LINES if max_lines is None else max_lines,
            withheld=not caller.model,
            redacting=self.config.boolean("privacy.redactSecrets"),
        )
        where = ref if session is None else self._find(os.fspath(session))
        read: list[Session] = []

        def judge(found: Session) -> Judge | None:
            read.append(found)
            return self._judge(found, provider)

        expansion = expand(
            self._store, where or "", leaf=leaf, cursor=cursor, verify=verify, options=options, judge=judge,
            read_line=read_line,
        )  # fmt: skip
        paths = self._shortening(read[0])
        if paths is not None:
            from aforesaid.shortening import shorten_expansion  # late: few ask for it

            expansion = shorten_expansion(expansion, paths)
        return expansion

    def lost(
        self, *, session: Path, leaf: str | None = None, compaction: int | None = None, provider: str | None = None
    ) -> LostReport:
        """The exact items that each compaction of a branch took from the model's view.

        Args:
            session: a transcript, or the id of a session in the store. It is brought up to date first.
            leaf: id of the entry whose branch counts; None takes the session's last entry.
            compaction: number of the only one that is looked at, 1 for the oldest; None: all.
            provider: as for `recall`.

        Raises:
            UsageError: an argument is wrong.
            OperationError: it failed.
        """
        from aforesaid.inquiry import Filter  # late: see `recall`
        from aforesaid.lost import find_lost, shorten_lost
        from aforesaid.recall.hits import open_gate
        from aforesaid.transcripts.originals import read_line

        self._refuse_private()
        found, reasons = self._refresh(os.fspath(session))
        judge = self._judge(found, provider)
        with self._store.read(found.key) as snapshot:
            admits = None
            if judge is not None and not judge.open:
                outlines = snapshot.outlines(((1, found.entries),), Filter(summaries=True))
                admits = open_gate(snapshot, outlines, judge, read_line)
            report = find_lost(
                snapshot, leaf=leaf, compaction=compaction, redacting=self.config.boolean("privacy.redactSecrets"),
                admits=admits,
            )  # fmt: skip
        paths = self._shortening(found)
        if paths is not None:
            report = shorten_lost(report, paths)
        return replace(report, reasons=(*report.reasons, *reasons))

    def _shortening(self, session: Session | None) -> Paths | None:
        """What paths are shortened by in quoted text, seen from a session; None where it stays verbatim."""
        if not self.config.boolean("privacy.shortenPaths"):
            return None
        from aforesaid.privacy.paths import Paths  # late: few ask for it

        project = None if session is None else session.header.cwd
        return Paths(project=project, home=os.path.expanduser("~"))

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
                        if name.endswith(f"{reference}.jsonl"):
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

    def _refuse_private(self) -> None:
        """Raises where a privacy policy is, or may be, asked for that cannot be read."""
        if self.config.privacy_unknown:
            raise PrivacyUnreadable("the configuration of a privacy policy cannot be read", "see the warnings, mend it")

    def _issuer(self, caller: Caller) -> Issuer:
        """Who seals refs and cursors for a caller."""
        from time import time  # late: only explicit search needs it

        from aforesaid.refs import Issuer

        return Issuer(secret=self._store.secret(), name=caller.name, now=int(time()), lasts=caller.refs_last)

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

        reader = _reader(host)
        held = self._held.setdefault(session, bytearray())
        held += lines
        return take_lines(self._store, reader, session, bytes(held), redacting=self._redacting)

    def drop(self, session: str) -> None:
        """Forgets a session of which there is no file; none of this name is no error."""
        if self._held.pop(session, None) is not None:
            known = self._store.by_file(session)
            if known is not None:
                self._store.remove(known.key)

    def sessions(self, *, project: Path | None = None, host: str | None = None) -> tuple[Session, ...]:
        """The sessions of the store, newest first, as far as they worked in a project folder or belong to a host."""
        return self._store.sessions(host=host, cwd=None if project is None else os.path.realpath(project))

    def status(self) -> StoreStatus:
        """Health and size of the store."""
        return self._store.status()

    def rebuild(self, *, session: Path | None = None, progress: Progress | None = None) -> IndexReport:
        """Derives the data of one session, or of all, again from the transcripts.

        Sessions whose transcript is gone stay as they are and are reported as failed.

        Raises:
            UsageError: there is no such session.
        """
        chosen = self._store.sessions() if session is None else (self._find(os.fspath(session)),)
        from aforesaid.indexing import sync_all  # late: see `index`

        files = [(_reader(known.header.host), known.file) for known in chosen]
        return sync_all(self._store, files, rebuild=True, redacting=self._redacting, progress=progress)

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
        from aforesaid.transcripts.times import canonical

        now = canonical(time() * 1000) or ""
        known, file = (None, None) if session is None else self._find_forgettable(os.fspath(session))
        selector = select(
            self._store,
            named=session is not None,
            session=known,
            file=file,
            project=None if project is None else os.path.realpath(project),
            entries=tuple(entries),
            text=text,
            after=_moment(after),
            before=_moment(before),
        )
        if selector.empty and not verify and session is None and project is None:
            raise BadArgument("nothing was named to forget", "name a session, a project, a text or a date")
        return forget(self._store, selector, now=now, dry_run=dry_run, verify=verify, progress=progress)

    def close(self) -> None:
        """Gives back the store's files."""
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
        if os.path.isfile(reference):
            raise SessionNotFound(f"the store does not know {reference}", "bring it in with `aforesaid index` first")
        if os.path.exists(reference):
            raise NotATranscript(f"{reference} is no file", "name a session file that the host wrote")
        if os.sep in reference or reference.endswith(".jsonl"):
            raise PathMissing(f"there is no file {reference}", "check the path")
        raise SessionNotFound(
            f"no session {reference} in the store", "run `aforesaid sessions` for the ids, or name a file"
        )

    def _find_forgettable(self, reference: str) -> tuple[Session | None, str | None]:
        """The session that a path or an id names; else the path of one that is not stored, or was forgotten before."""
        path = os.path.abspath(reference)
        try:
            return self._find(reference), None
        except StoreCorrupt:
            return None, path
        except (NotATranscript, PathMissing, SessionNotFound):
            from aforesaid.model import Header  # late: see `forget`
            from aforesaid.transcripts import READERS

            grave = self._store.forgetting
            if os.path.isfile(path) or grave.refuses(path):
                return None, path
            if any(grave.refuses(path, Header(host=reader.host, session_id=reference)) for reader in READERS):
                return None, None
            raise

    def _refresh(self, reference: str) -> tuple[Session, tuple[str, ...]]:
        """The session that a path or an id names, brought up to date; reasons why it may not be."""
        if reference in self._held:
            held = self._store.by_file(reference)
            if held is not None:
                return held, ()
        if os.path.isfile(reference):
            file, known = os.path.abspath(reference), None
        else:
            known = self._find(reference)
            file = known.file
            if not os.path.isfile(file):
                from aforesaid.indexing.stored import clear_stored  # late: few transcripts are gone

                return clear_stored(self._store, known, redacting=self._redacting), (SOURCE_MISSING,)
        if not self._store.writable:
            return self._as_stored(file)
        from aforesaid.indexing import sync  # late: nothing before the first SQL needs it

        reader = _reader(known.header.host) if known else self._reader_of(file)
        report = sync(self._store, reader, file, redacting=self._redacting)
        if report.error_code == SessionForgotten.code:
            raise SessionForgotten(report.error or file, "nothing of it is kept or searched")
        if report.session is None:
            raise SourceUnreadable(f"{file} could not be read", "check the file")
        return report.session, ()

    def _reader_of(self, file: str) -> TranscriptPort:
        """The reader of a file; a known session keeps its own while its host is writing the file anew."""
        try:
            return _detect(file)
        except NotATranscript:
            known = self._store.by_file(file)
            if known is None:
                raise
            return _reader(known.header.host)

    def _as_stored(self, file: str) -> tuple[Session, tuple[str, ...]]:
        """What a read-only store holds of a transcript."""
        known = self._store.by_file(file)
        if known is None:
            raise StoreReadOnly(f"{file} is not in the store, which cannot be written", "make the store writable")
        status = os.stat(file)
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


def discover(paths: Sequence[Path], host: str | None, *, lenient: bool = False) -> Iterator[tuple[TranscriptPort, str]]:
    """The transcripts that the paths lead to, each once, in path order."""
    if host is not None:
        _reader(host)
    found: dict[str, TranscriptPort] = {}
    for given in paths:
        path = os.path.abspath(os.fspath(given))
        if os.path.isdir(path):
            within = dict(_walk(path, host))
            if not within and not lenient:
                raise NoSessions(f"no transcript in {path}", "name a folder with the JSONL files of a known host")
            found.update(within)
        elif not os.path.exists(path):
            raise PathMissing(f"there is no file or folder {path}", "check the path")
        elif not os.path.isfile(path):
            raise NotATranscript(f"{path} is neither a file nor a folder", "name a session file that the host wrote")
        else:
            found[path] = _detect(path, host)
    for file in sorted(found):
        yield found[file], file


def _walk(folder: str, host: str | None) -> Iterator[tuple[str, TranscriptPort]]:
    for parent, _, names in os.walk(folder):
        for name in names:
            file = os.path.join(parent, name)
            if not name.endswith(".jsonl") or not os.path.isfile(file):
                continue  # a pipe would be waited for
            try:
                yield file, _detect(file, host)
            except NotATranscript:
                continue


def _detect(file: str, host: str | None = None) -> TranscriptPort:
    """The reader of a file; the named host's where a file cannot even be opened, so that its sync tells why."""
    from aforesaid.transcripts import READERS, detect  # late: brings the parser

    try:
        with open(file, "rb") as source:
            reader = detect(source.read(_HEAD))
    except OSError:
        return _reader(host) if host else READERS[0]
    if reader is None or (host is not None and reader.host != host):
        kind = host or " or ".join(known.host for known in READERS)
        raise NotATranscript(f"{file} is no transcript of {kind}", "name a session file that the host wrote")
    return reader


def _is_transcript(file: str) -> bool:
    """Whether a file is a transcript of a known host, or cannot be looked into."""
    if not os.path.isfile(file):
        return False  # a folder of that name; a pipe would be waited for
    try:
        _detect(file)
    except NotATranscript:
        return False
    return True


def _reader(host: str) -> TranscriptPort:
    from aforesaid.transcripts import READERS  # late: brings the parser

    for reader in READERS:
        if reader.host == host:
            return reader
    known = ", ".join(reader.host for reader in READERS)
    raise BadArgument(f"there is no host {host}", f"choose one of {known}")


def _moment(given: str | None) -> str | None:
    """A time as entries carry it."""
    from aforesaid.transcripts.times import canonical  # late: rarely needed

    moment = None if given is None else canonical(given)
    if given is not None and moment is None:
        raise BadArgument(f"{given} is no date", "write it as 2026-11-30 or 2026-11-30T02:14:36Z")
    return moment


def _source_lines(answer: Retrieval, held: bytearray | None) -> tuple[bytes | None, ...]:
    """The lines that the hits were taken from, None for one that is not what it was; none if there is no file."""
    if held is not None:
        sources = [hit.ranked.candidate.entry.source for hit in answer.hits]
        return tuple(bytes(held[source.offset : source.offset + source.length]) for source in sources)
    if answer.session is None or not answer.hits or not os.path.isfile(answer.session.file):
        return ()
    from contextlib import ExitStack  # late, both: only answers with evidence need them
    from hashlib import sha256

    found: list[bytes | None] = []
    try:
        with ExitStack() as opened:
            files: dict[str, BinaryIO] = {}
            for hit in answer.hits:
                source = hit.ranked.candidate.entry.source
                file = source.file or answer.session.file
                if file not in files:
                    files[file] = opened.enter_context(open(file, "rb"))
                files[file].seek(source.offset)
                line = files[file].read(source.length)
                found.append(line if sha256(line).digest() == source.sha256 else None)
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
    coverage = Coverage(complete=False, reasons=(*answer.diagnostics.coverage.reasons, *reasons))
    return replace(answer, diagnostics=replace(answer.diagnostics, coverage=coverage))
