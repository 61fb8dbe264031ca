"""Floor 7: the answer to a request that does not stand in its transcript yet.

A host knows what its user said some milliseconds before it asks what the model call should carry, and writes it to its
transcript in between, or has just done so. `planning` rehearses in that time: it lets the store show the session with
the request as its next entry, without keeping it, and retrieves. When the call comes and the transcript grew by just
that entry, the answer is the one that would be computed now, and is taken; else it is dropped and nobody has seen it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from aforesaid import lineage
from aforesaid.model import Entry, Source

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from aforesaid.answers import Retrieval
    from aforesaid.config import Config
    from aforesaid.model import Branch, Session, Span
    from aforesaid.ports import EntryPort, Snapshot, StorePort
    from aforesaid.reports import SyncReport
    from aforesaid.retrieval.options import RetrievalOptions

AHEAD = "ahead:"
"""The id of a request that has none yet; no host makes ids like it."""
_NOWHERE = Source(line=0, offset=0, length=0, sha256=bytes(32))


class Rehearsal(Struct, frozen=True, kw_only=True):
    """An answer, and all that it was computed from.

    Attributes:
        session: the session that it was computed from; the request may stand in it already.
        row: of the request.
        text: the request.
        branch: what counted as its branch, with the request as the leaf.
        options: limits and switches of the retrieval.
        config: the configuration, which the privacy policy stands in.
        provider: whose model would get the evidence.
        answer: what came of it.
    """

    session: Session
    row: int
    text: str
    branch: Branch
    options: RetrievalOptions
    config: Config
    provider: str | None
    answer: Retrieval

    def if_true(self, report: SyncReport | None) -> Rehearsal | None:
        """This, if the transcript grew as far as the request and otherwise is what it was; `fits` looks at the request.

        Args:
            report: of the sync that brought the session up to date for the call.
        """
        if report is None or report.session is None:
            return None
        before, now, missing = self.session, report.session, self._missing
        same = (
            (report.status, report.added, report.removed) == ("updated" if missing else "unchanged", missing, 0)
            and (now.key, now.generation, now.entries)
            == (before.key, before.generation + missing, before.entries + missing)
            and (now.header, now.flaws, now.flaw_count) == (before.header, before.flaws, before.flaw_count)
        )
        return self if same else None

    def fits(
        self, snapshot: EntryPort, branch: Branch, options: RetrievalOptions, config: Config, provider: str | None
    ) -> bool:
        """Whether a retrieval would compute this very answer; `if_true` said yes.

        Between the two the session may have been written again: by another process, or because its transcript turned
        out not to hold the lines of this answer any more.
        """
        if snapshot.session.generation != self.session.generation + self._missing:
            return False
        if branch != self.branch or options != self.options or provider != self.provider or config is not self.config:
            return False
        return _is_request(snapshot, self.row, self.text)

    @property
    def _missing(self) -> int:
        """How many entries the session lacked: the request, or none."""
        return max(0, self.row - self.session.entries)


def rehearse(
    store: StorePort,
    session: Session,
    *,
    leaf: str,
    context: Sequence[Span],
    text: str,
    options: RetrievalOptions,
    config: Config,
    provider: str | None,
    compute: Callable[[Snapshot, str, Sequence[Span]], Retrieval],
) -> Rehearsal | None:
    """Retrieves for a request as if its host had written it already.

    Args:
        store: where the session is kept.
        session: as it is, up to date.
        leaf: id of the entry that the request will follow.
        context: rows that the model saw in the call before; those of the branch that came after them count as well.
        text: the request.
        options: limits and switches of the retrieval.
        config: the configuration, which the privacy policy stands in.
        provider: whose model would get the evidence.
        compute: retrieves from a snapshot for a leaf and the rows that the model sees, by these options.

    Returns:
        None if the session has changed, or ends with neither this leaf nor this request, and where a search failed: the
        call will try again, and mend what it can.

    Raises:
        AforesaidError: whatever a retrieval raises; nothing was changed.
    """
    with store.read(session.key) as snapshot:
        if snapshot.session.generation != session.generation:
            return None  # somebody else has written
        tail, (end,) = snapshot.tree().tail, snapshot.rows([leaf])
        if tail is None or end is None:
            return None
        written = tail != end
        if written:
            # The host was faster: what it said is there, and whoever asks about it next will be answered from this.
            if not _is_request(snapshot, tail, text):
                return None
            row, branch = tail, _branch(snapshot, tail, context)
            (entry,) = snapshot.entries((row,))
            answer = compute(snapshot, entry.id, branch.context)
    if not written:
        row = session.entries + 1
        with store.write(session.file, searched=True) as writer:
            if writer.session is None or writer.session.generation != session.generation:
                return None
            writer.append((_request(text, leaf),))
            with writer.preview() as snapshot:
                branch = _branch(snapshot, row, context)
                answer = compute(snapshot, AHEAD, branch.context)
    if answer.diagnostics.warnings:
        return None
    return Rehearsal(
        session=session,
        row=row,
        text=text,
        branch=branch,
        options=options,
        config=config,
        provider=provider,
        answer=answer,
    )


def _branch(snapshot: EntryPort, row: int, context: Sequence[Span]) -> Branch:
    """The branch of a request, and what the model will see of it: what it saw before and all that came since."""
    latest = max((last for _, last in context), default=0)
    spans = lineage.trace(snapshot.tree().runs, row)
    since = [(max(first, latest + 1), last) for first, last in spans if last > latest]
    return lineage.divide(row, spans, sorted((*context, *since)))


def _is_request(snapshot: EntryPort, row: int, text: str) -> bool:
    """Whether a row is a message of the user that says just this."""
    (entry,) = snapshot.entries((row,))
    return (
        entry.text == text
        and (entry.kind, entry.role, entry.request, entry.automatic) == ("message", "user", True, True)
        and (entry.parts, entry.redacted) == ((len(text),), 0)
        and not (entry.tools or entry.files)
    )


def _request(text: str, leaf: str) -> Entry:
    """A message of the user as a reader would make it from the line that its host is about to write."""
    return Entry(
        id=AHEAD,
        parent=leaf,
        kind="message",
        role="user",
        timestamp=None,
        parts=(text,),
        source=_NOWHERE,
        request=True,
    )
