"""Floor 5: reading on in the originals, by ref, by entry ids, or from one entry to another.

`engine` calls `expand` with a store, and with a way to read source lines again. The text that comes back is what was
indexed of a line, and only if the line still is what it was: a changed or vanished source is an error, never other
text.
Neighbours are the entries before and after on the same branch; a tool call brings its results, and a result its call.
"""

from __future__ import annotations

from functools import partial
from hashlib import blake2b
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from aforesaid import lineage
from aforesaid.branches import find_branch
from aforesaid.errors import BadArgument, EntryUnknown, PrivacyWithheld, RefInvalid, StaleSource
from aforesaid.inquiry import DERIVED, Expansion, Passage
from aforesaid.lineage import Places
from aforesaid.privacy.egress import is_due, redact_entry
from aforesaid.refs import read_ref, seal, unseal
from aforesaid.windows import last_border

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from aforesaid.model import Session, Source, Span, StoredEntry, Tally, Withheld
    from aforesaid.ports import Snapshot, StorePort
    from aforesaid.privacy.judge import Judge
    from aforesaid.refs import Issuer

    Verify = Callable[[str, Sequence[Source]], None]
    """Reads the lines of a file again. Raises SourceMissing, StaleSource or SourceUnreadable."""

MOST_LINES: Final = 200
"""Lines of one answer by default."""
LARGEST: Final = 10_000
"""Lines of one answer at most."""
MOST_ENTRIES: Final = 200
"""Entries of one answer: ids that are named, or that stand in a range."""
MOST_AROUND: Final = 50
"""Neighbours on each side."""
MOST_BEFORE: Final = 40
"""Lines of an entry that was not asked for and stands before one that was: the latter must not be out of reach."""
_CALL_REACH: Final = 64
"""Entries between a call and its result."""


class ExpandOptions(Struct, frozen=True, kw_only=True):
    """What is read.

    Attributes:
        entries: ids of entries; with a ref the ref's.
        first, last: ids of the ends of a range, both inclusive.
        before, after: neighbours of each entry.
        start_line: first line of the first entry, 1-based.
        max_lines: lines of all entries together.
        longest: characters of a line that one answer shows; the next one goes on in it. None: lines are whole.
        withheld: whether entries that the user kept from the model may be read.
        issuer: who sealed, and seals, refs and cursors.
        redacting: replace secrets, where the store holds any (`privacy.redactSecrets`); lines are then those of what
            is handed out.
    """

    issuer: Issuer
    entries: tuple[str, ...] = ()
    first: str | None = None
    last: str | None = None
    before: int = 0
    after: int = 0
    start_line: int = 1
    max_lines: int = MOST_LINES
    longest: int | None = None
    withheld: bool = True
    redacting: bool = True


def expand(
    store: StorePort,
    where: Session | str,
    *,
    leaf: str | None = None,
    cursor: str | None = None,
    verify: Verify,
    options: ExpandOptions,
    judge: Callable[[Session], Judge | None],
    read_line: Callable[[str, Source], bytes | None],
    shorten: Callable[[Session], Callable[[str], str] | None] = lambda _: None,
) -> Expansion:
    """The originals of some entries.

    Args:
        store: holds the session.
        where: the session, or a ref.
        leaf: id of the entry whose branch counts for neighbours; None takes the session's last entry.
        cursor: `next` of the answer before.
        verify: reads source lines again.
        options: which entries, and how much of them.
        judge: gives who says what of a session may be handed out; None: there is no privacy policy.
        read_line: gives the raw line of an entry (see `withholding.Gate`).
        shorten: gives what shortens paths in texts of a session; None: they stay verbatim.

    Raises:
        UsageError: an id, ref, range or number is wrong.
        SourceMissing, StaleSource: the transcript is gone, or a line is not what it was.
    """
    _check(options)
    ref = read_ref(where, options.issuer) if isinstance(where, str) else None
    key = ref.session if ref is not None else _key(where)
    session = store.by_key(key)
    if session is None:
        raise RefInvalid("the session of the ref is not in the store any more", "index it again and search again")
    ids = (ref.entry,) if ref is not None else options.entries
    asked = _name(repr((key, ids, options.first, options.last, options.before, options.after)))
    with store.read(key) as snapshot:
        if ref is not None:
            rows = _of_ref(snapshot, ref.entry, ref.line)
            path = _path_of_ref(snapshot, rows[0], ref.leaf)
        elif options.first is not None and options.last is not None:
            rows, path = _range(snapshot, options.first, options.last)
        else:
            rows = _known(snapshot, options.entries)
            path = find_branch(snapshot, leaf).spans
        wanted = _surround(snapshot, rows, path, options, alone=ref is not None and ref.leaf is not None)
        named = rows if options.first is None else []
        entries = [entry for entry in snapshot.entries(wanted) if _may_show(entry, named, options)]
        entries, withheld = _cleared(snapshot, entries, named, judge(session), partial(read_line, session.file))
        if is_due(snapshot.session, options.redacting):
            entries = list(map(redact_entry, entries))
        # A path that a page ends in is one only as a whole.
        change = shorten(session)
        if change is not None:
            entries = [replace(entry, text=change(entry.text)) for entry in entries]
        first = _first(entries, rows)
        start = _start(cursor, first, asked, options)
        answer = _cut(entries, snapshot.session, first=first, start=start, options=options, asked=asked)
        answer = replace(answer, withheld=withheld)
        shown = {passage.entry_id for passage in answer.entries}
        verify(snapshot.session.file, [entry.source for entry in entries if entry.id in shown and _has_line(entry)])
    return answer


def _has_line(entry: StoredEntry) -> bool:
    """Whether there is a source line that can be verified; what was forgotten keeps no digest of its own."""
    return entry.source.length > 0 and not entry.forgotten


def read_range(text: str) -> tuple[str, str]:
    """The ids of the two ends of a range, `FIRST..LAST`.

    Raises:
        BadArgument: it is not written like that.
    """
    first, dots, last = text.partition("..")
    if not (first and dots and last):
        raise BadArgument(f"{text!r} is no range", "write it as FIRST..LAST with the ids of two entries")
    return first, last


def _check(options: ExpandOptions) -> None:
    for name, value, low, high in (
        ("before", options.before, 0, MOST_AROUND),
        ("after", options.after, 0, MOST_AROUND),
        ("start line", options.start_line, 1, None),
        ("most lines", options.max_lines, 1, LARGEST),
        ("characters of a line", 1 if options.longest is None else options.longest, 1, None),
    ):
        if value < low or (high is not None and value > high):
            allowed = f"use {low} to {high:,}" if high is not None else f"use at least {low}"
            raise BadArgument(f"{value} is out of range for {name}", allowed)
    if len(options.entries) > MOST_ENTRIES:
        raise BadArgument(f"{len(options.entries):,} entries were named", f"name at most {MOST_ENTRIES}")


def _key(where: Session | str) -> str:
    return where if isinstance(where, str) else where.key


# --- which entries --------------------------------------------------------------------------------------------------


def _of_ref(snapshot: Snapshot, id_: str, line: bytes) -> list[int]:
    """The row of a ref's entry, if it is still the one that was found."""
    (row,) = snapshot.rows([id_])
    found = snapshot.entries((row,)) if row is not None else ()
    if not found or not found[0].source.sha256.startswith(line):
        raise StaleSource("the entry is not what it was when it was found", "search again with recall")
    return [found[0].row]


def _known(snapshot: Snapshot, ids: Sequence[str]) -> list[int]:
    rows: list[int] = []
    for id_, row in zip(ids, snapshot.rows(ids), strict=True):
        if row is None:
            raise EntryUnknown(f"the session has no entry {id_!r}", "take an id of this session, as recall shows them")
        rows.append(row)
    if not rows:
        raise BadArgument("no entry was named", "give a ref, entry ids or a range")
    return rows


def _range(snapshot: Snapshot, first: str, last: str) -> tuple[list[int], tuple[Span, ...]]:
    """The rows from one entry to another on the branch of the second."""
    start, end = _known(snapshot, (first, last))
    path = lineage.trace(snapshot.tree().runs, end)
    place = Places(path).of(start)
    if place is None:
        raise BadArgument(f"{first!r} is not before {last!r} on one branch", "give the earlier entry first")
    rows = [row for span in path for row in range(span[0], span[1] + 1)][place:]
    if len(rows) > MOST_ENTRIES:
        raise BadArgument(f"the range holds {len(rows):,} entries", f"take at most {MOST_ENTRIES} at a time")
    return rows, path


def _path_of_ref(snapshot: Snapshot, row: int, leaf: int | None) -> tuple[Span, ...]:
    """The branch that a ref was found on, or the active one."""
    runs = snapshot.tree().runs
    if leaf is not None:
        found = lineage.trace(runs, leaf)
        return found if Places(found).of(row) is not None else lineage.trace(runs, row)
    return find_branch(snapshot, None).spans


def _surround(
    snapshot: Snapshot, rows: Sequence[int], path: tuple[Span, ...], options: ExpandOptions, *, alone: bool
) -> list[int]:
    """The rows with their calls, results and neighbours, along their branch.

    Args:
        snapshot: the session.
        rows: what was asked for.
        path: the branch that counts; a row that is not on it brings one of its own.
        options: how many neighbours.
        alone: stay on the path whatever happens.
    """
    chosen: dict[int, None] = {}
    off: dict[int, None] = {}
    line = [row for first, last in path for row in range(first, last + 1)]
    at = {row: place for place, row in enumerate(line)}
    for row in rows:
        if row in at:
            around = _neighbours(snapshot, row, line, at[row], options)
            chosen.update(dict.fromkeys(around))
        else:
            runs = snapshot.tree().runs
            own = lineage.trace(runs, row) if alone else lineage.trace(runs, lineage.follow(runs, row))
            own_line = [other for first, last in own for other in range(first, last + 1)]
            off.update(dict.fromkeys(_neighbours(snapshot, row, own_line, own_line.index(row), options)))
    return [*sorted(chosen, key=at.__getitem__), *(row for row in off if row not in chosen)]


def _neighbours(snapshot: Snapshot, row: int, line: Sequence[int], place: int, options: ExpandOptions) -> list[int]:
    """The row, what belongs to it, and what stands around it and has a text."""
    (entry,) = snapshot.entries((row,))
    earlier = snapshot.entries(line[max(0, place - _CALL_REACH) : place])
    later = snapshot.entries(line[place + 1 : place + 1 + _CALL_REACH])
    belongs = [
        other.row
        for other in (*earlier, *later)
        if not set(entry.calls).isdisjoint(other.calls)
        and (other.role == "tool_result") != (entry.role == "tool_result")
    ]
    before = [other.row for other in earlier if _reads(other, options)]
    after = [other.row for other in later if _reads(other, options)]
    near = [*before[len(before) - options.before :], row, *after[: options.after]]
    places = {other: number for number, other in enumerate(line)}
    return sorted({*near, *belongs}, key=places.__getitem__)


def _reads(entry: StoredEntry, options: ExpandOptions) -> bool:
    """Whether a neighbour is worth showing: it has a text, and nobody wrote it about others."""
    return bool(entry.text) and entry.kind not in DERIVED and (options.withheld or entry.automatic)


def _may_show(entry: StoredEntry, named: Sequence[int], options: ExpandOptions) -> bool:
    """Whether an entry may be shown to the caller.

    Raises:
        EntryUnknown: it was asked for by name and may not.
    """
    if options.withheld or entry.automatic or entry.kind in DERIVED or entry.role == "summary":
        return True
    if entry.row in named and entry.text:
        raise EntryUnknown(f"the entry {entry.id!r} cannot be shown", "the user kept it from the model")
    return False


def _cleared(
    snapshot: Snapshot,
    entries: Sequence[StoredEntry],
    named: Sequence[int],
    judge: Judge | None,
    read_line: Callable[[Source], bytes | None],
) -> tuple[list[StoredEntry], tuple[Tally, ...]]:
    """The entries that the privacy policy lets go, and what it withholds of the others.

    Raises:
        PrivacyWithheld: it withholds one that was asked for by name.
    """
    if judge is None or judge.open:
        return list(entries), ()
    from aforesaid.withholding import Gate, tally  # late: only a policy needs them

    # A line that changed is for `verify` to tell about.
    gate = Gate(snapshot, judge, lambda source: line if (line := read_line(source)) is not None else b"")
    cleared: list[StoredEntry] = []
    withheld: list[Withheld] = []
    for entry in entries:
        why = gate.withheld(entry.row)
        if why is None:
            cleared.append(entry)
        elif entry.row in named:
            raise PrivacyWithheld(f"the privacy policy withholds the entry {entry.id!r}", "see docs/privacy.md")
        else:
            withheld.append(why)
    return cleared, tally(withheld)


# --- how much of them -----------------------------------------------------------------------------------------------


def _first(entries: Sequence[StoredEntry], asked: Sequence[int]) -> int:
    """Place of the first entry that was asked for; what stands before it is only there to be understood."""
    return next((place for place, entry in enumerate(entries) if entry.row in asked), 0)


def _start(cursor: str | None, first: int, asked: bytes, options: ExpandOptions) -> tuple[int, int, int]:
    """Entry, line, and place in it to begin with. Who asks for a later line of an entry knows what stands before it."""
    if cursor is None:
        return (0, 1, 0) if options.start_line == 1 else (first, options.start_line, 0)
    fields = unseal("lines", cursor, options.issuer)
    if fields is None or fields[0] != asked:
        raise RefInvalid("the cursor does not belong to this question", "repeat it with the same arguments")
    _, number, line, *within = fields
    return number, line, within[0] if within else 0


def _name(asked: str) -> bytes:
    return blake2b(asked.encode(), digest_size=8).digest()


def _cut(
    entries: Sequence[StoredEntry],
    session: Session,
    *,
    first: int,
    start: tuple[int, int, int],
    options: ExpandOptions,
    asked: bytes,
) -> Expansion:
    """As many lines as there is room for, from a place in a line of an entry on."""
    passages: list[Passage] = []
    left = options.max_lines
    number, line, within = start
    while number < len(entries):
        if left == 0:
            place = [number, line, within] if within else [number, line]
            return Expansion(entries=tuple(passages), next=seal("lines", [asked, *place], options.issuer))
        entry = entries[number]
        lines = entry.text.split("\n")
        end = len(lines) if number >= first else min(len(lines), MOST_BEFORE)
        shown = lines[line - 1 : min(end, line - 1 + left)]
        if not shown:
            raise BadArgument(f"the entry has {len(lines):,} lines", "begin with one of them")
        shown[0] = shown[0][within:]
        shown, torn = _tear(shown, options.longest)
        passages.append(
            Passage(
                entry_id=entry.id,
                session_id=session.header.session_id,
                role=entry.role,
                timestamp=entry.timestamp,
                text="\n".join(shown),
                start_line=line,
                lines=len(shown),
                complete=len(shown) == len(lines) and not torn and not within,
                redacted=entry.redacted,
                sha256=entry.source.sha256,
                verified=_has_line(entry),
            )
        )
        if torn and number >= first:
            within = len(shown[-1]) + (within if len(shown) == 1 else 0)
            left, line = 0, line + len(shown) - 1
            continue
        # The rest of a long line that nobody asked for would stand before what was asked for on many pages.
        left, line, within = 0 if torn else left - len(shown), line + len(shown), 0
        if torn or line > end:
            number, line = number + 1, 1
    return Expansion(entries=tuple(passages), next=None)


def _tear(lines: list[str], longest: int | None) -> tuple[list[str], bool]:
    """The lines up to the first that is too long, of which only the beginning is left; and whether there is one."""
    for number, line in enumerate(lines):
        if longest is not None and len(line) > longest:
            return [*lines[:number], line[: last_border(line, longest)]], True
    return lines, False
