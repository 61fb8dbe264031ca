"""Floor 7: explicit search, and the original text of what it found."""

from __future__ import annotations

import os
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from aforesaid.engine.desk import STALE
from aforesaid.engine.discovery import is_transcript
from aforesaid.engine.retrieving import Retrieving
from aforesaid.engine.upkeep import FEW
from aforesaid.errors import (
    BadArgument,
    PrivacyUnreadable,
    ScopeNotAllowed,
    StoreCorrupt,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from aforesaid.inquiry import Expansion, Match, Mode, Question, RecallPage, Scope
    from aforesaid.lost import LostReport
    from aforesaid.model import Kind, Role, Session
    from aforesaid.recall.scopes import Arrangement, Selection
    from aforesaid.recall.survey import Surveyor
    from aforesaid.refs import Issuer
    from aforesaid.reports import Unreadable

    Path = str | os.PathLike[str]
    Progress = Callable[[int, int], None]


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


LEARNING = 1.0
"""Seconds that a search of many sessions may spend on bringing the index of words up to date."""
OWN = Caller()
"""The user, through the command line or Python."""


class Recalling(Retrieving):
    """Explicit search."""

    _flawed: tuple[Sequence[Session], tuple[str, ...]] | None = None
    _arranged: tuple[Sequence[Session], str, Arrangement] | None = None
    _replaced: tuple[tuple[object, ...], bool | None] | None = None

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
            leaf: id of the entry whose branch counts; None takes the session's last entry. Only with a session.
            scope: where. `project` needs `historyTools.allowProjectScope`; `host-wide` is for the user alone.
            mode: `literal`: every blank-separated term as it is written, anywhere in the text; `phrase`: the whole
                query; `regex`: a pattern.
            match: whether all literal terms must stand in an entry, or any.
            roles: only entries of these roles.
            types: only entries of these kinds.
            tool: only entries that call or answer this tool; not empty.
            file: only entries whose calls name this path, or one that ends with it; not empty.
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
        from aforesaid.transcripts.originals import Originals

        self._refuse_private()
        if leaf is not None and session is None:
            raise BadArgument("a leaf is an entry of a session, and none is named", "name the session, or no leaf")
        question = read_question(
            query, mode=mode, match=match, scope=scope, roles=roles, types=types, tool=tool, file=file,
            after=after, before=before, summaries=summaries, withheld=not caller.model,
        )  # fmt: skip
        selection = self._tell_replaced(self._select(question, session, folders, caller), question)
        most = self.config.integer("historyTools.maxResults") if limit is None else limit
        options = RecallOptions(
            limit=most, issuer=self._issuer(caller), redacting=self.config.boolean("privacy.redactSecrets"),
            contextual=self.config.text("retrieval.ranking") == "contextual" and self.config.boolean("retrieval.fts"),
        )  # fmt: skip
        page = recall(
            self._store, selection, question, leaf=leaf, cursor=cursor, options=options,
            judge=lambda found: self._judge(found, provider), read_line=Originals(self._held).read_line,
        )  # fmt: skip
        paths = self._shortening(selection.own)
        if paths is not None:
            from aforesaid.shortening import shorten_page  # late: few ask for it

            page = shorten_page(page, paths)
        return page

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
        from aforesaid.transcripts.originals import Originals

        self._refuse_private()
        found, reasons = self._refresh(os.fspath(session))
        judge = self._judge(found, provider)
        with self._store.read(found.key) as snapshot:
            admits = None
            if judge is not None and not judge.open:
                outlines = snapshot.outlines(((1, found.entries),), Filter(summaries=True))
                admits = open_gate(snapshot, outlines, judge, Originals(self._held).read_line)
            report = find_lost(
                snapshot, leaf=leaf, compaction=compaction, redacting=self.config.boolean("privacy.redactSecrets"),
                admits=admits,
            )  # fmt: skip
        paths = self._shortening(found)
        if paths is not None:
            report = shorten_lost(report, paths)
        return replace(report, reasons=(*report.reasons, *reasons))

    def _select(self, question: Question, reference: Path | None, folders: Sequence[Path], caller: Caller) -> Selection:
        """The sessions of a question's scope that may hold what it looks for.

        Raises:
            ScopeNotAllowed: the caller may not search there.
        """
        scope = question.scope
        from aforesaid.recall.scopes import Selection, flaws_of, select  # late: see `recall`

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
            return Selection(
                own=own,
                arrangement=self._arrange(sessions, own),
                stale=int(STALE in reasons),
                reasons=(*flaws, *reasons),
            )
        wide = scope in {"project", "host-wide"}
        if wide:
            lost = self._store.unreadable()
            every = sessions if scope == "host-wide" else self._store.sessions()
            known = (*every, *[one.session for one in lost if one.session is not None]) if lost else every
            is_new = self._is_new if lost else is_transcript
            seen = self._surveyor.survey(sessions, known, [os.fspath(folder) for folder in folders], is_new)
            missing = _codes_of(lost, own if scope == "project" else None)
        else:
            seen = self._surveyor.survey(sessions[1:])
        if self._flawed is None or self._flawed[0] is not sessions:
            self._flawed = sessions, flaws_of(sessions)
        return Selection(
            own=own,
            arrangement=self._arrange(sessions, own),
            keys=self._pick(sessions, question, own),
            known=len(sessions),
            eligible=len(sessions) + seen.unknown + len(missing),
            stale=seen.stale + (STALE in reasons),
            reasons=tuple(dict.fromkeys((*reasons, *missing, *seen.reasons, *self._flawed[1]))),
        )

    def _is_new(self, file: str) -> bool:
        """Whether a file is a transcript, and none of a session whose data cannot be read."""
        try:
            self._store.by_file(file)
        except StoreCorrupt:
            return False
        return is_transcript(file)

    def _tell_replaced(self, selection: Selection, question: Question) -> Selection:
        """The selection, with what it cannot find because secrets of its sessions were replaced."""
        from aforesaid.recall.replaced import (  # late: see `recall`
            REDACTED,
            REDACTED_QUERY,
            holds_replaced,
            may_be_secret,
        )

        arrangement, own = selection.arrangement, selection.own
        name = (arrangement.name, None if own is None else (own.key, own.generation, own.entries))
        if self._replaced is None or self._replaced[0] != name or self._replaced[1] is None:
            self._replaced = name, holds_replaced(self._store, arrangement.sessions)
        if self._replaced[1] is False:
            return selection
        more = (REDACTED, REDACTED_QUERY) if may_be_secret(question.text, question.mode) else (REDACTED,)
        return replace(selection, reasons=(*selection.reasons, *more))

    def _pick(self, sessions: Sequence[Session], question: Question, own: Session | None) -> frozenset[str] | None:
        """The keys of those whose words allow for what is looked for, and of the own one; None: all of them."""
        from aforesaid.clues import find_clues  # late: see `recall`
        from aforesaid.patterns import read_pattern

        alternatives = find_clues(read_pattern(question.text, question.mode, question.match))
        if len(sessions) <= FEW or () in alternatives:
            return None
        self._store.learn_words(sessions, LEARNING)
        keys = self._store.may_hold(sessions, alternatives)
        if len(keys) == len(sessions):
            return None
        return keys if own is None else keys | {own.key}

    def _arrange(self, sessions: Sequence[Session], own: Session | None) -> Arrangement:
        """The sessions in the order in which they are searched; the same for the next question about them."""
        from aforesaid.recall.scopes import arrange  # late: see `recall`

        key = "" if own is None else own.key
        if self._arranged is None or self._arranged[0] is not sessions or self._arranged[1] != key:
            self._arranged = sessions, key, arrange(self._store, own, sessions)
        return self._arranged[2]

    @cached_property
    def _surveyor(self) -> Surveyor:
        from aforesaid.recall.survey import Surveyor  # late: see `recall`

        return Surveyor()

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
        longest: int | None = None,
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
            leaf: id of the entry whose branch counts for neighbours; None takes the session's last entry. A ref takes
                none: it knows the branch that it was found on.
            before: neighbours before each entry, at most 50.
            after: neighbours after each entry, at most 50.
            start_line: first line of the entry that is shown, 1-based.
            max_lines: lines of the whole answer; None takes 200.
            longest: characters of a line that one answer shows; the next one goes on in it. None: lines are whole.
            cursor: `next` of the answer before, with everything else as it was.
            provider: as for `recall`.
            caller: as for `recall`.

        Raises:
            UsageError: an argument is wrong.
            StaleSource, SourceMissing: the transcript is not what it was when it was indexed.
        """
        from aforesaid.expansion import MOST_LINES, ExpandOptions, expand  # late: see `recall`
        from aforesaid.transcripts.originals import Originals

        self._refuse_private()
        if (ref is None) == (session is None):
            raise BadArgument("either a ref or a session is needed", "give REF alone, or --session with ids of entries")
        if ref is not None and leaf is not None:
            raise BadArgument("a ref knows its branch itself", "leave the leaf out, or name session, entry and leaf")
        if ref is not None and (entries or first is not None or last is not None):
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
            longest=longest,
            withheld=not caller.model,
            redacting=self.config.boolean("privacy.redactSecrets"),
        )
        where = ref if session is None else self._find(os.fspath(session))
        originals = Originals(self._held)

        def shorten(found: Session) -> Callable[[str], str] | None:
            paths = self._shortening(found)
            return None if paths is None else paths.shorten

        return expand(
            self._store, where or "", leaf=leaf, cursor=cursor, verify=originals.verify, options=options,
            judge=lambda found: self._judge(found, provider), read_line=originals.read_line, shorten=shorten,
        )  # fmt: skip

    def _refuse_private(self) -> None:
        """Raises where a privacy policy is, or may be, asked for that cannot be read."""
        if self.config.privacy_unknown:
            raise PrivacyUnreadable("the configuration of a privacy policy cannot be read", "see the warnings, mend it")

    def _issuer(self, caller: Caller) -> Issuer:
        """Who seals refs and cursors for a caller."""
        from time import time  # late: only explicit search needs it

        from aforesaid.refs import Issuer

        given = self._store.count_refs(caller.name) if caller.refs_last else 0
        return Issuer(
            secret=self._store.secret(), name=caller.name, now=int(time()), lasts=caller.refs_last, given=given
        )


def _codes_of(lost: Sequence[Unreadable], own: Session | None) -> tuple[str, ...]:
    """A code for each session that cannot be read; with `own` only for those that may belong to its project."""
    if not lost or own is None:
        return (StoreCorrupt.code,) * len(lost)
    from aforesaid.projects import of_project  # late: little is ever damaged

    told = [one.session for one in lost if one.session is not None]
    within = len(of_project(told, own.header.cwd or ""))
    return (StoreCorrupt.code,) * (len(lost) - len(told) + within)
