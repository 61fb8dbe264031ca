"""Floor 5: forgetting, from what a user names to a store that does not hold it and does not take it in again.

`engine` calls `forget`. It chooses among the stored entries, turns the choice into marks, and lets the store erase what
the marks cover: copies in forked sessions go with it. Transcripts are neither opened nor changed. Read `forget` first:
it names each step once, in order. `docs/decisions/0010-forgetting.md` has the reasons.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from aforesaid.errors import BadArgument, EntryUnknown, StoreCorrupt
from aforesaid.projects import of_project, spellings
from aforesaid.reports import Erased, ForgetReport
from aforesaid.sidechains import chain_of, file_of
from aforesaid.text import normalise
from aforesaid.tombstones import Burial, Contained, Rule, gram_of, made_of, words_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from aforesaid.model import Session, StoredEntry
    from aforesaid.ports import Snapshot, StorePort
    from aforesaid.reports import Verification
    from aforesaid.tombstones import Marker

    Progress = Callable[[int, int], None]

SAMPLES = 64
"""Forgotten entries whose own bytes a verification looks for, besides a forgotten text."""
LONGEST_SAMPLE = 1 << 20
"""Code points; longer entries are no samples."""
PASSES = 3
"""Rounds of choosing and erasing: entries that come in between the two are found by the next."""
_ROWS = 500


class Selector(Struct, frozen=True, kw_only=True):
    """What to forget: whole sessions, a project, entries, a text, or dates.

    Attributes:
        sessions: forgotten as a whole, or, with `entries` or dates, where those are looked for.
        file: path of a transcript that is to stay out although the store does not know it.
        project: the folder whose sessions these are, so that others that began before now stay out as well.
        entries: ids of entries of the one session.
        text: every entry that says this.
        after, before: entries with a timestamp in this range (`Rule`); of all sessions if none are given.
    """

    sessions: tuple[Session, ...] = ()
    file: str | None = None
    project: str | None = None
    entries: tuple[str, ...] = ()
    text: str | None = None
    after: str | None = None
    before: str | None = None

    @property
    def dated(self) -> bool:
        """Whether a range of time is given."""
        return self.after is not None or self.before is not None

    @property
    def empty(self) -> bool:
        """Whether it names nothing."""
        return not (self.sessions or self.file or self.project or self.text or self.dated)


def select(
    store: StorePort,
    *,
    named: bool = False,
    session: Session | None = None,
    file: str | None = None,
    project: str | None = None,
    entries: tuple[str, ...] = (),
    text: str | None = None,
    after: str | None = None,
    before: str | None = None,
) -> Selector:
    """The selector for what a caller names; checks that it fits together.

    Args:
        store: where the sessions of a project are looked up.
        named: whether a session was named, known or not.
        session: the session, as far as the store knows it.
        file: its path where the store does not.
        project: the absolute path of a folder.
        entries: ids.
        text: a text.
        after: a timestamp as in `Entry.timestamp`.
        before: another.

    Raises:
        BadArgument: it does not fit together, or would be about everything or nothing.
    """
    dated = after is not None or before is not None
    if text is not None and (named or project is not None or entries or dated):
        raise BadArgument("a text is forgotten everywhere", "name it without anything else")
    if text is not None and not normalise(text):
        raise BadArgument("the text to forget is empty", "give at least one character that is shown")
    if named and project is not None:
        raise BadArgument("a session and a project exclude each other", "name one of them")
    if entries and (not named or dated):
        raise BadArgument("entries are those of one session, whatever their date", "name them with the session only")
    if after is not None and before is not None and after >= before:
        raise BadArgument("the range of dates is empty", "give --after a date before that of --before")
    if named and session is None and (entries or dated):
        raise BadArgument("the store does not have this session", "run `aforesaid sessions` for those that it has")
    sessions: tuple[Session, ...] = () if session is None else (session,)
    if session is not None and not entries and chain_of(session.file) is None:
        # What its subagents did stands in the same file: nothing of that file stays.
        sessions += tuple(one for one in store.sessions() if chain_of(one.file) and file_of(one.file) == session.file)
    if project is not None:
        sessions = of_project(store.sessions(), project)
        if dated and not sessions:
            raise BadArgument(f"the store has no session of {project}", "run `aforesaid sessions`")
    return Selector(
        sessions=sessions, file=file, project=project, entries=entries, text=text, after=after, before=before
    )


def forget(
    store: StorePort,
    selector: Selector,
    *,
    now: str,
    dry_run: bool = False,
    verify: bool = False,
    progress: Progress | None = None,
) -> ForgetReport:
    """Forgets what the selector names; with an empty one, only finishes what was begun.

    Args:
        store: where it is forgotten.
        selector: what.
        now: the time, as in `Entry.timestamp`: what stays out by its date ends here at the latest.
        dry_run: change nothing; say what would go.
        verify: look for what was forgotten in every file of the store afterwards.
        progress: called with bytes done and bytes in all while the store erases.

    Raises:
        EntryUnknown: the session has no such entry; nothing was forgotten.
        StoreError: the store failed. Nothing was forgotten, or the same call finishes it.
    """
    grave = store.forgetting
    resumed = grave.pending and not dry_run
    samples = _Samples()
    marker = grave.marker(lasting=not dry_run)
    burial = _choose(store, selector, marker, now, samples)
    erased: tuple[Erased, ...] = ()
    discarded = 0
    if dry_run:
        erased = _preview(store, marker, burial)
    elif resumed or not burial.empty:
        for _ in range(PASSES):
            grave.bury(burial)
            more, removed = grave.erase(progress)
            erased, discarded = (*erased, *more), discarded + removed
            left = selector.text is not None and _choose(store, selector, marker, now, samples)
            if not left or left.marks <= burial.marks:
                break
            burial = left
    verification: Verification | None = None
    if verify:
        verification = grave.verify(selector.text, samples.texts)
    return ForgetReport(
        dry_run=dry_run,
        resumed=resumed,
        sessions=_merged(erased),
        discarded=discarded,
        verification=verification,
    )


def _choose(store: StorePort, selector: Selector, marker: Marker, now: str, samples: _Samples) -> Burial:
    """The marks of everything that the selector names."""
    marks: set[bytes] = set()
    if selector.file is not None:
        marks.add(marker.file(selector.file))
    if selector.text is not None:
        marks |= _by_text(store, selector.text, marker, samples)
        gram = gram_of(marker, selector.text)
        return Burial(marks=frozenset(marks), grams=frozenset(() if gram is None else (gram,)))
    dates = Rule(after=selector.after or "", before=min(now, selector.before or now))
    whole = not selector.entries and not selector.dated
    for session in selector.sessions if selector.sessions or not selector.dated else store.sessions():
        if whole:
            marks |= {marker.file(session.file), marker.session(session.header.host, session.header.session_id)}
        try:
            with store.read(session.key) as snapshot:
                if selector.entries:
                    marks |= _by_id(snapshot, selector.entries, marker, samples)
                else:
                    marks |= _copies(_dated(_entries(snapshot), None if whole else dates), marker, samples)
        except StoreCorrupt:
            if selector.entries:
                raise
            # Else the store removes it when it erases.
    rules: set[Rule] = set()
    if selector.dated and not selector.sessions:
        rules.add(dates)
    elif selector.project is not None and not selector.dated:
        rules |= {Rule(scope=marker.project(folder), before=now) for folder in spellings(selector.project)}
    return Burial(marks=frozenset(marks), rules=frozenset(rules))


def _by_text(store: StorePort, text: str, marker: Marker, samples: _Samples) -> set[bytes]:
    """The entries that say a text: by their line, their time and their words, wherever they come up again."""
    wanted = Contained(text)
    marks: set[bytes] = set()
    for session in store.sessions():
        try:
            with store.read(session.key) as snapshot:
                for entry in _entries(snapshot):
                    if wanted.found_in(words_of(entry)):
                        samples.take(entry)
                        marks |= {marker.line(entry), marker.said(entry), marker.words(entry)}
        except StoreCorrupt:
            continue  # the store removes it when it erases
    return marks


def _by_id(snapshot: Snapshot, ids: tuple[str, ...], marker: Marker, samples: _Samples) -> set[bytes]:
    """Entries by their ids: their words, and whatever else stands under their ids in this session later."""
    rows = snapshot.rows(ids)
    missing = [id_ for id_, row in zip(ids, rows, strict=True) if row is None]
    if missing:
        raise EntryUnknown(f"the session has no entry {missing[0]!r}", "take an id of this session")
    entries = snapshot.entries([row for row in rows if row is not None])
    marks = _copies(entries, marker, samples)
    for entry in entries:
        place = marker.place(snapshot.session.key, entry)
        if place is not None:
            marks.add(place)
    return marks


def _dated(entries: Iterator[StoredEntry], dates: Rule | None) -> Iterator[StoredEntry]:
    """The entries within a range; all of them without one."""
    for entry in entries:
        stamp = entry.timestamp
        if dates is None or (stamp is not None and dates.after <= stamp < dates.before):
            yield entry


def _copies(entries: Iterator[StoredEntry] | tuple[StoredEntry, ...], marker: Marker, samples: _Samples) -> set[bytes]:
    """The marks of entries and of their copies in any session."""
    marks: set[bytes] = set()
    for entry in entries:
        if words_of(entry):
            samples.take(entry)
            marks |= {marker.line(entry), marker.said(entry)}
    return marks


def _preview(store: StorePort, marker: Marker, burial: Burial) -> tuple[Erased, ...]:
    """What would be erased."""
    tombstones = made_of(marker, burial, spellings)
    found: list[Erased] = []
    for session in store.sessions():
        try:
            with store.read(session.key) as snapshot:
                whole = tombstones.refuses(session.file, session.header)
                count = 0
                for batch in _batches(snapshot):
                    count += (
                        sum(bool(words_of(entry)) for entry in batch)
                        if whole
                        else len(tombstones.covered(session.key, batch))
                    )
        except StoreCorrupt:
            continue
        if whole or count:
            found.append(Erased(file=session.file, session_id=session.header.session_id, whole=whole, entries=count))
    return tuple(found)


def _merged(erased: tuple[Erased, ...]) -> tuple[Erased, ...]:
    """One for each session, in file order."""
    merged: dict[str, Erased] = {}
    for one in erased:
        before = merged.get(one.file)
        merged[one.file] = (
            one
            if before is None
            else replace(before, whole=before.whole or one.whole, entries=before.entries + one.entries)
        )
    return tuple(merged[file] for file in sorted(merged))


def _batches(snapshot: Snapshot) -> Iterator[tuple[StoredEntry, ...]]:
    for first in range(1, snapshot.session.entries + 1, _ROWS):
        yield snapshot.entries(range(first, first + _ROWS))


def _entries(snapshot: Snapshot) -> Iterator[StoredEntry]:
    for batch in _batches(snapshot):
        yield from batch


class _Samples:
    """Some of the forgotten texts, spread evenly over all of them; in memory only, while the store is verified."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._step = 1
        self._count = 0

    def take(self, entry: StoredEntry) -> None:
        if self._count % self._step == 0 and 0 < len(entry.text) <= LONGEST_SAMPLE:
            self._texts.append(entry.text)
            if len(self._texts) > SAMPLES:
                del self._texts[1::2]
                self._step *= 2
        self._count += 1

    @property
    def texts(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self._texts))
