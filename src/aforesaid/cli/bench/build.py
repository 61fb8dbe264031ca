"""Floor 9: what building a store takes beside bare SQLite: the rows 5, 6, 8 and 9 of the targets."""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager
from functools import partial
from itertools import islice
from statistics import median
from typing import TYPE_CHECKING, Final

import apsw

from aforesaid.cli.bench.floors import Reference, parse
from aforesaid.cli.bench.rows import Attempt, Target, clock, judge, steady, unmeasured
from aforesaid.cli.bench.setting import Worker, discard, index, tail_texts
from aforesaid.errors import OperationError
from aforesaid.indexing import sync
from aforesaid.privacy.secrets import redact
from aforesaid.storage.sqlite import open_store
from aforesaid.transcripts.pi import PiTranscripts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aforesaid.cli.bench.floors import Text
    from aforesaid.cli.bench.rows import Row
    from aforesaid.cli.bench.setting import Prepared
    from aforesaid.ports import StorePort

_TAIL: Final = Target(name="sync of 10 new entries / bare inserts", unit="ms", times=2)
_BUILD: Final = Target(name="full build / parsing and bare FTS5 build", unit="ms", times=3)
_SMALL: Final = Target(name="peak memory, small file", unit="MB", plus=80)
_LARGE: Final = Target(name="peak memory, large file / its size", unit="MB", times=3)
_WHOLE: Final = Target(name="peak memory, whole build", unit="MB", plus=300)
_SIZE: Final = Target(name="store / transcript text", unit="MB", times=1.5)

_MB: Final = 1e6
_TAIL_ENTRIES: Final = 10
_TAILS_A_ROUND: Final = 40
"""So many that the product has to do itself, more than once, what it puts off, and the floor merges its index."""
_LARGE_FILE: Final = 64_000_000
"""Bytes from which on a file counts as large."""
_LARGE_ENTRIES: Final = 75_000
_LARGE_FROM: Final = 200_000
"""Entries of the corpus from which on a large file is built too: it takes a while."""
_UNKNOWN: Final = "this system does not tell the peak of a process"


def measure(prepared: Prepared, rounds: int) -> list[Row]:
    """The rows of building.

    Args:
        prepared: transcripts, stores and texts.
        rounds: how often each pair of figure and floor is measured in one attempt.
    """
    built = prepared.built
    rows = [_tail(prepared, rounds), judge(_BUILD, lambda: _build(prepared, rounds))]
    size = os.stat(prepared.transcript.file).st_size
    if size < _LARGE_FILE:
        rows.append(_memory(_SMALL, built.first_peak, f"a file of {size / _MB:.1f} MB"))
    if built.entries >= _LARGE_FROM:
        rows.append(_large(prepared))
    if built.entries > prepared.transcript.entries:
        rows.append(_memory(_WHOLE, built.peak, f"{built.entries:,} entries in one process"))
    rows.append(judge(_SIZE, lambda: Attempt(built.store_bytes / _MB, built.text_bytes / _MB), tries=1))
    return rows


def _memory(target: Target, peak: int | None, note: str) -> Row:
    if peak is None:
        return unmeasured(target, _UNKNOWN)
    return judge(target, lambda: Attempt(peak / _MB, note=note), tries=1)


def _large(prepared: Prepared) -> Row:
    """Row 8 for a file of 64 MB and more."""
    transcript = prepared.corpus.write(prepared.folder, 4_000, _LARGE_ENTRIES)
    size = os.stat(transcript.file).st_size
    store = prepared.path("large")
    try:
        with Worker(store) as worker:
            worker.send(transcript.file)
            peak = worker.receive()
    finally:
        os.unlink(transcript.file)
        discard(store)
    if peak is None or size < _LARGE_FILE:
        return unmeasured(_LARGE, _UNKNOWN)
    return judge(_LARGE, lambda: Attempt(peak / _MB, size / _MB, f"{transcript.entries:,} entries"), tries=1)


def _build(prepared: Prepared, rounds: int) -> Attempt:
    """Row 6: one session into a new store, in this process."""
    file = prepared.transcript.file
    store, bare = prepared.path("build"), prepared.path("build.db")
    figures: list[float] = []
    floors: list[float] = []
    redacted: list[float] = []

    def fill() -> None:
        parse(file)
        reference = Reference(bare, prepared.transcript.eligible)
        reference.fill(prepared.texts)
        reference.close()

    with steady():
        for _ in range(rounds):
            discard(store)
            discard(bare)
            floors.append(clock(fill))
            figures.append(clock(partial(index, store, file, redacting=False)))
            discard(store)
            redacted.append(clock(partial(index, store, file)))
    discard(store)
    discard(bare)
    figure = median(figures)
    speed = f"{prepared.transcript.entries / figure * 1000:,.0f} entries a second"
    return Attempt(figure, median(floors), f"{speed}; redaction {median(redacted) - figure:+,.0f} ms")


def _tail(prepared: Prepared, rounds: int) -> Row:
    """Row 5: a host has appended ten entries to a session; beside it their bare inserts, in as many commits.

    The product puts work off: words go into the index, and texts are packed, many at a time. The floor's index merges
    its pieces at some commits too. So what counts is not the median but the total of a long series, with what the
    product has put off until its end: an idle moment is part of it. What is appended is made before anything is timed,
    and who goes first alternates: the second one finds SQLite's code warm.
    """
    folder = prepared.path("tail")
    os.mkdir(folder)
    file = shutil.copy(prepared.transcript.file, folder)
    reference = prepared.reference("tail.db")
    added = iter(range(1_000_000))

    def append() -> Attempt:
        figures: list[float] = []
        floors: list[float] = []
        redacted: list[float] = []
        count = 0
        tails: list[tuple[int, bytes, list[Text]]] = []
        for number in islice(added, rounds * _TAILS_A_ROUND):
            lines = prepared.corpus.tail(prepared.transcript, number, _TAIL_ENTRIES)
            texts = tail_texts(lines, file, prepared.transcript.entries + number * _TAIL_ENTRIES)
            tails.append((number, lines, texts))
        with steady():
            for number, lines, texts in tails:
                with open(file, "ab") as target:
                    target.write(lines)
                first = bool(number % 2) and bool(count)
                if first:
                    floors.append(clock(partial(reference.fill, texts, count)))
                commits.clear()
                figures.append(clock(partial(_synchronise, store, file)))
                count = max(1, len(commits))
                if not first:
                    floors.append(clock(partial(reference.fill, texts, count)))
                redacted.append(clock(partial(_redact, texts)))
            rest = clock(partial(store.tend, file))
        note = (
            f"mean of {len(tails)}, {rest:.1f} ms for what was put off among them; medians {median(figures):.2f} and"
            f" {median(floors):.2f}; {count} commits each; redaction {median(redacted):+.2f} ms"
        )
        return Attempt((sum(figures) + rest) / len(tails), sum(floors) / len(tails), note)

    with _counting_commits() as commits:
        store = open_store(os.path.join(folder, "store"))
        try:
            sync(store, PiTranscripts(), file, redacting=False)
            store.tend(file)
            return judge(_TAIL, append)
        finally:
            store.close()
            reference.close()


def _synchronise(store: StorePort, file: str) -> None:
    report = sync(store, PiTranscripts(), file, redacting=False)
    if report.added != _TAIL_ENTRIES:
        raise OperationError(f"a sync added {report.added} entries of {_TAIL_ENTRIES}", "report this as a fault")


def _redact(texts: Sequence[Text]) -> None:
    for text in texts:
        redact(text.text)


@contextmanager
def _counting_commits() -> Iterator[list[int]]:
    """A list that grows with each commit of a connection that is opened in the block."""
    commits: list[int] = []

    def note() -> bool:
        commits.append(1)
        return False  # the commit goes ahead

    def watch(connection: apsw.Connection) -> None:
        connection.set_commit_hook(note, id="aforesaid-bench")

    apsw.connection_hooks.append(watch)
    try:
        yield commits
    finally:
        apsw.connection_hooks.remove(watch)
