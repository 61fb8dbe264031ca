"""Floor 7: planned model calls and the manifests that are kept of them."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from aforesaid.config import PRIVACY_UNREADABLE
from aforesaid.engine.desk import STALE
from aforesaid.engine.retrieving import Retrieving
from aforesaid.errors import (
    BadArgument,
    OperationError,
    StoreReadOnly,
    UsageError,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Sequence

    from aforesaid.answers import Retrieval
    from aforesaid.contexts import Contexts
    from aforesaid.engine.classifying import Salience
    from aforesaid.engine.rehearsal import Rehearsal
    from aforesaid.engine.viewing import Classifiable, Viewer
    from aforesaid.extractive.survey import Asked
    from aforesaid.extractive.values import HistoryView
    from aforesaid.model import Session, Span
    from aforesaid.planning.track import Track
    from aforesaid.planning.values import Judge as JudgeSupplement
    from aforesaid.planning.values import (
        KeptManifest,
        Message,
        NativeContext,
        Plan,
        Supplement,
    )
    from aforesaid.ports import Snapshot

    Path = str | os.PathLike[str]
    Progress = Callable[[int, int], None]


class Planning(Retrieving):
    """Planned model calls, and views of the history."""

    _known_viewer: Viewer | None = None

    def view(
        self,
        *,
        session: Path,
        leaf: str | None = None,
        query: str | None = None,
        context_entries: Sequence[str] | None = None,
        provider: str | None = None,
    ) -> HistoryView:
        """A verbatim, chronological view of the exchanges that matter for a request and that the model lost.

        It is computed whatever `memory.extractive.enabled` says. A classifier is asked only if the engine was opened
        with one and the configuration consents.

        Args:
            session: a transcript, or the id of a session in the store. It is brought up to date first.
            leaf: id of the entry whose branch counts; None takes the session's last entry.
            query: the request; None takes the latest real user message of the branch.
            context_entries: ids of the entries that the model sees; None derives them as the host does.
            provider: whose model gets the view, for the privacy policy; None counts as a remote one.

        Raises:
            UsageError: an argument is wrong. Failures of the operation are told in the result, never raised.
        """
        from aforesaid.extractive.survey import Asked  # late: nothing else needs a view

        asked = Asked(leaf=leaf, request=query, context_entries=context_entries)
        return self._viewer.answer(os.fspath(session), asked, provider=provider)

    def warm_view(self, *, session: Path, asked: Asked) -> None:
        """Reads ahead what a view of an open session will need; what fails will fail again and be told then."""
        with suppress(OperationError):
            self._viewer.warm(os.fspath(session), asked)

    def look_for_classifier(
        self, *, session: Path, asked: Asked, provider: str, known: Container[bytes] = ()
    ) -> Classifiable:
        """The bundles that a host's classifier may be asked about, each cleared as a whole for its provider.

        Args:
            session: it is brought up to date first.
            asked: for what.
            provider: whose classifier it is.
            known: keys of bundles about which it has been asked before.

        Raises:
            UsageError: an argument is wrong.
            OperationError: it failed, or the privacy policy cannot be read.
        """
        return self._viewer.classifiable(os.fspath(session), asked, provider=provider, known=known)

    @property
    def views_wanted(self) -> bool:
        """Whether planned calls carry a view."""
        return self.config.boolean("memory.enabled") and self.config.boolean("memory.extractive.enabled")

    @property
    def last_view(self) -> HistoryView | None:
        """The view that was made for the latest plan; None if none was wanted."""
        return self._known_viewer.last if self._known_viewer is not None and self.views_wanted else None

    @property
    def _viewer(self) -> Viewer:
        if self._known_viewer is None:
            from aforesaid.engine.viewing import Viewer  # late: see `view`

            self._known_viewer = Viewer(self)
        return self._known_viewer

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
        used_tokens: int | None = None,
        supplements: Sequence[Supplement] = (),
        judge: JudgeSupplement | None = None,
        keep: bool = True,
        salience: Salience | None = None,
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
            used_tokens: what the host counts in the model's context before the request, system prompt and tools
                included, supplements apart; what is more than is estimated of the messages counts as overhead. None if
                it does not count.
            supplements: what else may be added, best first within each kind.
            judge: says of each supplement whether it may go to the provider; None: the privacy policy says it.
            keep: whether the manifest is kept in the store at once; a host that is waited for keeps it later, with
                `keep_manifest`.
            salience: what a host's classifier said of bundles, for the view; None: the engine's own, if it has one.

        Raises:
            UsageError: an argument is wrong. Whatever else fails, the host's own messages come back with the reason.
        """
        if context_window < 1:
            raise BadArgument("a context window has at least one token", "give the size of the model's window")
        from aforesaid import planning  # late: only plans need it
        from aforesaid.config.planning import plan_options
        from aforesaid.planning.context import add_request, request_text

        track: Track | None = None
        reasons: tuple[str, ...] = ()
        rehearsed, self._rehearsed = self._rehearsed, None
        native = planning.NativeContext(messages=tuple(messages or ()), overhead=overhead)
        call = planning.Call(
            window=context_window, reserve=output_reserve, options=plan_options(self.config), model=model
        )
        try:
            found, reasons = self._refresh(os.fspath(session))
            rehearsed = rehearsed and rehearsed.if_true(self._synced)
            if messages is not None:
                query = request_text(native) if query is None else query
            else:
                if context_entries is None:
                    native = self._contexts.read(found, leaf)
                else:
                    track = self._contexts.follow(found, context_entries)
                    native = track.native
                native = replace(
                    native if query is None else add_request(native, query), overhead=overhead or native.overhead
                )
        except UsageError:
            if STALE not in reasons:
                raise
            # What its host names may have come since: that it is not known is no fault of the host.
            return planning.give_up(native, call, StoreReadOnly.code)
        except OperationError as error:
            return planning.give_up(native, call, error.code)

        provider = _provider(model)

        asking = _Asking(
            engine=self, session=found, reasons=reasons, leaf=leaf, query=query, context_entries=context_entries,
            track=track, provider=provider, rehearsed=rehearsed,
        )  # fmt: skip
        view = None
        if self.views_wanted:
            view = self._viewer.for_plan(found, reasons, asking.look, provider=provider, salience=salience)
        judge = judge or self._judge_supplements(found, provider)
        made = planning.plan_context(
            _weigh(native, used_tokens), call, retrieve=asking.retrieve, supplements=supplements, judge=judge, view=view
        )
        if keep:
            try:
                self._keep_manifest(made, found.key)
            except OperationError as error:
                reasons = (*reasons, error.code)
        return replace(made, warnings=(*made.warnings, *reasons))

    def rehearse(
        self,
        *,
        session: Path,
        leaf: str,
        request: str,
        context_entries: Sequence[str],
        model: str | None = None,
    ) -> bool:
        """Retrieves ahead for a request that its host is about to write; the plan that comes next may take the answer.

        It is taken if it is what that plan would compute: the transcript has grown by just this request and nothing
        that counts has changed. The next plan of any session ends it.

        Args:
            session: a transcript, or the id of a session in the store. It is brought up to date first.
            leaf: id of the entry that the request will follow.
            request: its text.
            context_entries: what was given to the plan before; entries of the branch that came after are added.
            model: as `plan` will be told.

        Returns:
            Whether there is an answer.

        Raises:
            AforesaidError: whatever went wrong; the plan is not affected.
        """
        from aforesaid.engine.rehearsal import rehearse  # late: for hosts that tell so early

        self._rehearsed = None
        if self.config.privacy_unknown or not self._store.writable or self.config.boolean("retrieval.semantic"):
            return False
        found, reasons = self._refresh(os.fspath(session))
        if reasons or found.file in self._held:
            return False
        provider, options = _provider(model), self._retrieval_options()
        judge = self._judge(found, provider)

        def compute(snapshot: Snapshot, leaf: str, context: Sequence[Span]) -> Retrieval:
            return self._compute(snapshot, options, judge, leaf=leaf, request=None, context=context)

        self._rehearsed = rehearse(
            self._store,
            found,
            leaf=leaf,
            context=self._contexts.follow(found, context_entries).spans(),
            text=request,
            options=options,
            config=self.config,
            provider=provider,
            compute=compute,
        )
        return self._rehearsed is not None

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

    def amend_manifest(self, old: Plan, new: Plan, *, session: Path) -> None:
        """Puts the manifest of a plan as it is now in the place of what was kept of it, if anything was.

        Raises:
            UsageError: there is no such session.
            StoreError: the store failed.
        """
        from aforesaid.planning.manifest import pack_manifest  # late: see `plan`

        records = (pack_manifest(old.manifest), pack_manifest(new.manifest))
        self._store.manifests.amend(self._find(os.fspath(session)).key, *records)

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


class _Asking(Struct, frozen=True, kw_only=True):
    """What a plan asks of its session, once it is known which entries it drops; members as in `Planning.plan`."""

    engine: Retrieving
    session: Session
    reasons: tuple[str, ...]
    leaf: str | None
    query: str | None
    context_entries: Sequence[str] | None
    track: Track | None
    provider: str | None
    rehearsed: Rehearsal | None

    def retrieve(self, dropped: tuple[str, ...]) -> Retrieval:
        """Evidence."""
        if self.track is not None:
            return self.engine._retrieve(
                self.session, self.reasons, leaf=self.leaf, query=self.query, context=self.track.spans(dropped),
                provider=self.provider, rehearsed=self.rehearsed,
            )  # fmt: skip
        return self.engine._retrieve(
            self.session, self.reasons, leaf=self.leaf, query=self.query, context_entries=self.context_entries,
            provider=self.provider, dropped=dropped,
        )  # fmt: skip

    def look(self, dropped: tuple[str, ...]) -> Asked:
        """What a view is made for."""
        from aforesaid.extractive.survey import Asked  # late: only where views are wanted

        if self.track is not None:
            return Asked(leaf=self.leaf, request=self.query, context=self.track.spans(dropped))
        return Asked(leaf=self.leaf, request=self.query, context_entries=self.context_entries, dropped=dropped)


def _weigh(native: NativeContext, used_tokens: int | None) -> NativeContext:
    """The same with what the host counts beyond the estimate of the messages before the request as overhead."""
    if used_tokens is None:
        return native
    from aforesaid.planning import find_request  # late: see `plan`

    said = sum([message.tokens for message in native.messages[: find_request(native.messages)]])
    return replace(native, overhead=max(native.overhead, used_tokens - said))


def _provider(model: str | None) -> str | None:
    """Whose model it is, from `provider/model`."""
    return model.partition("/")[0] if model else None
