"""What a hit looks like to the caller, and whether it may be shown."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from msgspec import Struct

from aforesaid.inquiry import DERIVED, Found
from aforesaid.pairs import CALLERS, find_partners, read_arguments
from aforesaid.privacy.egress import is_due, redact_entry
from aforesaid.refs import REF_LINE, Ref, write_ref
from aforesaid.windows import choose_windows, join_windows

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from aforesaid.inquiry import Outline, Question
    from aforesaid.model import Source, StoredEntry
    from aforesaid.patterns import Pattern
    from aforesaid.ports import Snapshot
    from aforesaid.privacy.judge import Judge
    from aforesaid.recall.order import Hit
    from aforesaid.recall.views import View
    from aforesaid.refs import Issuer

    ReadLine = Callable[[str, Source], bytes | None]

SNIPPET = 400
"""Characters of a snippet."""


class Searched(Struct, frozen=True, kw_only=True):
    """Where a hit was found."""

    snapshot: Snapshot
    view: View
    pattern: Pattern | None


def make_found(
    hit: Hit,
    where: Searched,
    question: Question,
    issuer: Issuer,
    *,
    place: int = 0,
    redacting: bool = True,
    pairing: bool = False,
) -> Found:
    """A hit as the caller sees it, with its place on the page, and its other half if that may be told."""
    entry, view, session = hit.outline, where.view, where.snapshot.session
    (stored,) = where.snapshot.entries((entry.row,))
    pairs = _pairs(stored, where) if pairing and stored.calls and where.pattern is not None else ()
    if is_due(session, redacting):
        stored = redact_entry(stored)
    leaf = view.leaf if question.scope == "current-branch" else None
    line = stored.source.sha256[:REF_LINE]
    ref = Ref(session=session.key, entry=entry.id, line=line, scope=question.scope, leaf=leaf)
    windows = choose_windows(stored.text, where.pattern or _NOTHING, limit=SNIPPET)
    return Found(
        ref=write_ref(ref, issuer, place),
        entry_id=entry.id,
        session_id=session.header.session_id,
        host=session.header.host,
        role=entry.role,
        timestamp=entry.timestamp,
        branch="active" if view.branch.of(entry.row) is not None else "other",
        in_context=view.context.of(entry.row) is not None,
        derived=DERIVED.get(entry.kind) or ("compaction" if entry.role == "summary" else None),
        score=hit.score,
        snippet=join_windows(windows),
        matched=hit.matched,
        pairs=pairs,
    )


def _pairs(entry: StoredEntry, where: Searched) -> tuple[str, ...]:
    """The ids of the other halves of a hit; a call that does not hold itself what its entry does has none."""
    pattern = where.pattern
    if entry.role in CALLERS:
        calls = [call for call, text in read_arguments(entry) if call and pattern is not None and pattern.matched(text)]
    else:
        calls = [call for call in entry.calls if call]
    found = find_partners(where.snapshot, entry, calls, where.view.spans)
    return tuple(other.id for other, _ in found if other.text)


class _Nothing:
    """Nothing that was looked for: the beginning of a text is shown."""

    @staticmethod
    def places(text: str) -> tuple[()]:  # noqa: ARG004 - what a finder is asked
        return ()


_NOTHING = _Nothing()


def open_gate(
    snapshot: Snapshot, outlines: Sequence[Outline], judge: Judge | None, read_line: ReadLine
) -> Callable[[Outline | StoredEntry], bool]:
    """What says of an entry whether it may be handed out; entries of the same text go together."""
    if judge is None or judge.open:
        return lambda _: True
    from aforesaid.withholding import Gate  # late: only a policy needs it

    gate = Gate(snapshot, judge, partial(read_line, snapshot.session.file))
    equal: dict[bytes, list[int]] = {}
    for outline in outlines:
        equal.setdefault(outline.digest, []).append(outline.row)
    return lambda outline: gate.admits(equal[outline.digest])
