"""Floor 5: keeps stored sessions equal to their transcripts.

`engine` calls `sync` before it searches a session and `sync_all` for `index` and `rebuild`. A transcript enters through
a reader, entries leave through one transaction of the store. A transcript is only ever read; which host wrote it and
what the store is made of are not known here.

What a reader cannot know is settled here: whether a file grew or was rewritten, which ids occur twice, and where an
entry belongs whose parent is missing (`docs/decisions/0005-damaged-lines.md`).
"""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from time import perf_counter
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from aforesaid.errors import (
    AforesaidError,
    PathMissing,
    SessionForgotten,
    SourceUnreadable,
    StoreCorrupt,
    StoreError,
    Unexpected,
    locate,
)
from aforesaid.indexing.changes import compare, continues, seal
from aforesaid.language.secret_formats import VERSION
from aforesaid.model import Entry, Session
from aforesaid.reports import IndexReport, SyncReport
from aforesaid.sidechains import file_of, opener

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import BinaryIO

    from aforesaid.indexing.changes import Change
    from aforesaid.indexing.intake import Intake
    from aforesaid.model import Checkpoint, Flaw
    from aforesaid.ports import SessionWriter, StorePort, TranscriptPort
    from aforesaid.reports import SyncStatus

    Progress = Callable[[int, int], None]

KEPT_FLAWS = 1000
"""Flaws of a session that are told one by one; the others are only counted."""


def sync(
    store: StorePort,
    reader: TranscriptPort,
    file: str,
    *,
    rebuild: bool = False,
    redacting: bool = True,
    thorough: bool = False,
    searched: bool = False,
    progress: Progress | None = None,
) -> SyncReport:
    """Brings one session up to date with its transcript.

    Args:
        store: where the session is kept.
        reader: the reader of the host that wrote the file.
        file: the transcript.
        rebuild: read it from its beginning, whatever is stored.
        redacting: replace secrets in what is stored (`privacy.redactIndex`). A session that was stored otherwise, or by
            other rules, is read anew.
        thorough: look at every byte of a file that grew, for an edit in what was read before. Without it such an edit
            is noticed only within the first and last 4,096 bytes that were read.
        searched: whether the session is searched right after (see `StorePort.write`).
        progress: called with bytes done and bytes in all.

    Returns:
        What was done. `rebuilt` with the error code `store-corrupt` says that the stored data were found damaged and
        have been made anew. `unchanged` with `session-forgotten`, and no session: it was forgotten and stays out.

    Raises:
        PathMissing: there is no such file; what is stored of it stays.
        SourceUnreadable: the file cannot be read.
        StoreError: the store failed; it is as it was before.
        Unexpected: a bug; the store is as it was before.
    """
    file = os.path.abspath(file)
    with _expected(file), _opened(file) as source:
        redaction = VERSION if redacting else 0
        task = _Task(
            store=store,
            reader=reader,
            file=file,
            source=source,
            redaction=redaction,
            thorough=thorough,
            searched=searched,
            progress=progress,
        )
        try:
            return _write(task, None, rebuild=True) if rebuild else _update(task)
        except SessionForgotten as error:
            return SyncReport(file=file, status="unchanged", error_code=error.code, error=error.message)
        except StoreCorrupt as error:
            damage = error
        # The store begins a session anew once it has found it damaged.
        report = _write(task, None, rebuild=True)
        return replace(report, status="rebuilt", error_code=damage.code, error=damage.message)


def sync_all(
    store: StorePort,
    files: Sequence[tuple[TranscriptPort, str]],
    *,
    rebuild: bool = False,
    redacting: bool = True,
    progress: Progress | None = None,
) -> IndexReport:
    """Brings many sessions up to date, thoroughly; one that fails does not keep the others from it.

    Sessions that stand in the file of another one (`sidechains`) follow it.

    Args:
        store: where the sessions are kept.
        files: transcripts with their readers.
        rebuild: read them from their beginning, whatever is stored.
        redacting: replace secrets in what is stored.
        progress: called with bytes done and bytes in all.
    """
    started = perf_counter()
    ordered = sorted(files, key=lambda pair: pair[1])
    waiting = [(reader, file, _size(file)) for reader, file in ordered]
    total, done = sum(size for _, _, size in waiting), 0
    reports: list[SyncReport] = []
    taken: set[str] = set()
    while waiting:
        reader, file, size = waiting.pop(0)
        if file in taken:
            continue
        taken.add(file)
        step: Progress | None = None
        if progress is not None:
            step = _shifted(progress, done, total)
        try:
            report = sync(
                store,
                reader,
                file,
                rebuild=rebuild,
                redacting=redacting,
                thorough=True,
                searched=True,  # nobody waits, and one transaction is less than two
                progress=step,
            )
        except AforesaidError as error:
            if isinstance(error, PathMissing):
                _clear_missing(store, file, redacting=redacting)
            report = SyncReport(file=file, status="failed", host=reader.host, error_code=error.code, error=str(error))
        reports.append(report)
        waiting[:0] = [(reader, part, 0) for part in parts_of(reader, report)]
        done += size
        if progress is not None:
            progress(done, total)
    return IndexReport(sessions=tuple(reports), duration_ms=(perf_counter() - started) * 1000)


def parts_of(reader: TranscriptPort, report: SyncReport) -> tuple[str, ...]:
    """The names of further sessions that stand in the file of a session that was just synced."""
    if report.session is None:
        return ()
    from aforesaid.indexing.intake import Thread  # late: as in `_read`

    point = report.session.checkpoint
    return reader.parts(report.session.file, replace(point, state=Thread.restore(point.state)[1]))


def _clear_missing(store: StorePort, file: str, *, redacting: bool) -> None:
    """Searches what is stored of a transcript that is gone; if the store fails, it is searched on its way out."""
    from aforesaid.indexing.stored import clear_stored  # late: few transcripts are gone

    with suppress(StoreError):
        known = store.by_file(os.path.abspath(file))
        if known is not None:
            clear_stored(store, known, redacting=redacting)


def _shifted(progress: Progress, before: int, total: int) -> Progress:
    return lambda done, _: progress(min(before + done, total), total)


def _size(file: str) -> int:
    try:
        return os.stat(file_of(file)).st_size
    except OSError:
        return 0


@contextmanager
def _expected(file: str) -> Iterator[None]:
    """Makes a bug that is met in the block an error of the file: it is told, and others go on."""
    try:
        yield
    except AforesaidError:
        raise
    except Exception as error:  # whatever a transcript may hold, it is this session's trouble only
        raise Unexpected(f"{file} could not be taken in: {locate(error)}", "this is a bug: report this line") from error


@contextmanager
def _opened(file: str) -> Iterator[BinaryIO]:
    """The transcript, open for reading; failures of the system in the block are failures of the file."""
    try:
        with open(file_of(file), "rb", opener=opener) as source:
            yield source
    except FileNotFoundError as error:
        raise PathMissing(f"there is no file {file}", "check the path") from error
    except OSError as error:
        raise SourceUnreadable(f"{file} cannot be read: {error.strerror}", "check its permissions") from error


class _Task(Struct, frozen=True, kw_only=True):
    """What one sync works on."""

    store: StorePort
    reader: TranscriptPort
    file: str
    source: BinaryIO
    redaction: int
    thorough: bool
    searched: bool
    progress: Progress | None

    def compare(self, known: Session) -> Change:
        """What happened to the file since it was read."""
        return compare(known, self.reader, self.source, redaction=self.redaction, thorough=self.thorough)


class _Judged(Struct, frozen=True):
    """What was found out before the transaction began."""

    session: Session
    change: Change


def _update(task: _Task) -> SyncReport:
    """Looks whether there is anything to do before it takes the write lock."""
    judged: _Judged | None = None
    recent = task.store.recent(task.file)
    if recent is not None and recent.checkpoint.size != os.fstat(task.source.fileno()).st_size:
        return _write(task, None, rebuild=False)  # it has changed, whoever has read it since
    known = task.store.by_file(task.file)
    if known is not None:
        judged = _Judged(known, task.compare(known))
        if judged.change == "same":
            return SyncReport(file=task.file, status="unchanged", session=known)
    return _write(task, judged, rebuild=False)


def _write(task: _Task, judged: _Judged | None, *, rebuild: bool) -> SyncReport:
    """One transaction: the new part of the file, or all of it."""
    with task.store.write(task.file, searched=task.searched) as writer:
        known = writer.session
        change: Change = "new"
        if known is not None:
            if rebuild:
                change = "rebuild"
            elif judged is not None and judged.session is known:
                change = judged.change  # nobody has written in between
            else:
                change = task.compare(known)
        if change == "same":
            return SyncReport(file=task.file, status="unchanged", session=known)
        removed = writer.clear() if change == "rebuild" else 0
        intake, session = _read(task, writer, known if change == "append" else None)
    if change == "new":
        _forget_moved(task, session)
    return SyncReport(
        file=task.file,
        status=_status(change, known, session),
        session=session,
        added=intake.added,
        removed=removed,
        flaws=tuple(intake.flaws),
    )


def _read(task: _Task, writer: SessionWriter, since: Session | None) -> tuple[Intake, Session]:
    """Reads from where `since` ended, or from the beginning, and commits."""
    from aforesaid.indexing.intake import Copies, Intake, Thread  # late: most transcripts did not change

    reader, file, source = task.reader, task.file, task.source
    status = os.fstat(source.fileno())
    point: Checkpoint | None = None
    thread = Thread()
    if since is not None:
        thread, state = Thread.restore(since.checkpoint.state)
        point = replace(since.checkpoint, state=state)
    intake = Intake(writer, thread, lambda: _ids(reader, file, point), redacting=task.redaction > 0)
    copies = Copies(task.store, file)
    reading = reader.read(source, file, point)
    for item in reading:
        if intake.take(item):
            placed = intake.flush()
            if since is None:
                copies.count(reading.header, placed)
            if task.progress is not None:
                task.progress(_position(item), status.st_size)
    placed = intake.flush(last=True)
    if since is None:
        copies.count(reading.header, placed)
    flaws, count = _flaws(since, intake.flaws)
    end = reading.checkpoint
    proof = seal(source, end.offset, None if since is None else since.checkpoint)
    checkpoint = replace(
        end,
        head=proof.head,
        tail=proof.tail,
        crc=proof.crc,
        size=status.st_size,
        mtime_ns=status.st_mtime_ns,
        inode=status.st_ino,
        parser=reader.parser,
        state=thread.save(end.state),
        redaction=task.redaction,
    )
    session = Session(
        key="",
        file=file,
        header=reading.header,
        shared=copies.found if since is None else since.shared,
        flaws=flaws,
        flaw_count=count,
        checkpoint=checkpoint,
    )
    return intake, writer.commit(session, tail=end.leaf or thread.leaf)


def _position(item: Entry | Flaw) -> int:
    """How far into its own file a session was read with an item."""
    if isinstance(item, Entry):
        return item.source.offset if item.source.file is None else 0
    return item.byte


def _ids(reader: TranscriptPort, file: str, point: Checkpoint | None) -> frozenset[str]:
    """All ids of the part that is being read, for entries whose parent may come later in the file."""
    with open(file_of(file), "rb", opener=opener) as source:
        return frozenset(item.id for item in reader.read(source, file, point) if item.id is not None)


def _flaws(since: Session | None, found: Sequence[Flaw]) -> tuple[tuple[Flaw, ...], int]:
    """The flaws of a session and how many there are; a last line that was half written is judged anew."""
    from aforesaid.indexing.intake import NOT_READ  # late: see `_read`

    if since is None:
        return tuple(found[:KEPT_FLAWS]), len(found)
    kept = [flaw for flaw in since.flaws if flaw.reason != NOT_READ or flaw.byte < since.checkpoint.offset]
    count = since.flaw_count - (len(since.flaws) - len(kept))
    return (*kept, *found)[:KEPT_FLAWS], count + len(found)


def _status(change: Change, known: Session | None, session: Session) -> SyncStatus:
    if known is None:
        return "added"
    if change == "rebuild":
        return "rebuilt"
    moved = session.generation != known.generation or session.checkpoint.offset != known.checkpoint.offset
    return "updated" if moved else "unchanged"


def _forget_moved(task: _Task, session: Session) -> None:
    """Removes what is stored under the path that this transcript had before it was moved here."""
    for other in task.store.by_id(session.header.session_id):
        if (
            other.key != session.key
            and other.header.host == session.header.host
            and not os.path.lexists(file_of(other.file))
            and continues(task.source, other.checkpoint)
        ):
            task.store.remove(other.key)
