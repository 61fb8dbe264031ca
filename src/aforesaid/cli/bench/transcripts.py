"""Floor 9: what reading real transcripts takes: a row a host for the reader beside plain parsing, and one for memory.

`aforesaid bench transcripts --data DIR` measures every transcript in a folder. The files are only ever read; the store
they are indexed into is made for the run.
"""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING, Final

from aforesaid.cli.bench.floors import parse
from aforesaid.cli.bench.rows import Attempt, Target, clock, interleave, judge, unmeasured
from aforesaid.cli.bench.setting import Worker
from aforesaid.engine import discover

if TYPE_CHECKING:
    from aforesaid.cli.bench.rows import Row
    from aforesaid.cli.terminal import Progress
    from aforesaid.ports import TranscriptPort

READING: Final = 8
"""Times plain parsing: a reader also digests each line, follows the tree, and renders calls as text."""
MEMORY: Final = 80
"""MB above the idle process, the bound of `docs/performance.md` for files below 64 MB."""
_MB: Final = 1e6


def measure(data: str, folder: str, rounds: int, progress: Progress | None) -> tuple[int, list[Row]]:
    """The rows, and how many entries the transcripts have.

    Args:
        data: a folder of transcripts, or one.
        folder: for the store.
        rounds: how often reader and parser take turns.
        progress: called with bytes done and bytes in all, if anybody watches.

    Raises:
        UsageError: there is no transcript.
    """
    by_host: dict[str, list[tuple[TranscriptPort, str]]] = {}
    for reader, file in discover((data,), None):
        by_host.setdefault(reader.host, []).append((reader, file))
    total = sum(os.stat(file).st_size for some in by_host.values() for _, file in some)
    entries, done = 0, 0
    rows: list[Row] = []
    for host, files in sorted(by_host.items()):
        size = sum(os.stat(file).st_size for _, file in files)
        rows.append(judge(_reading(host), partial(_read, files, size, rounds)))
        row, added = _memory(host, os.path.join(folder, host), files, size)
        rows.append(row)
        entries += added
        done += size
        if progress is not None:
            progress(done, total)
    return entries, rows


def _reading(host: str) -> Target:
    return Target(name=f"reading {host} / parsing", unit="ms", times=READING)


def _read(files: list[tuple[TranscriptPort, str]], size: int, rounds: int) -> Attempt:
    """All files of a host, the reader and the parser in turns."""
    figures, floors = interleave(
        [partial(_entries, *pair) for pair in files], [partial(parse, file) for _, file in files], rounds
    )
    figure, floor = sum(figures), sum(floors)
    rate = f"{_rate(size, figure)} beside {_rate(size, floor)} MB/s"
    return Attempt(figure, floor, f"{len(files)} files, {size / _MB:.1f} MB, {rate}")


def _entries(reader: TranscriptPort, file: str) -> int:
    with open(file, "rb") as source:
        return sum(1 for _ in reader.read(source, file, None))


def _memory(host: str, store: str, files: list[tuple[TranscriptPort, str]], size: int) -> tuple[Row, int]:
    """A process that indexes all files of a host."""
    target = Target(name=f"peak memory, {host}", unit="MB", plus=MEMORY)
    peak: int | None = None
    with Worker(store) as worker:

        def index() -> None:
            nonlocal peak
            for _, file in files:
                worker.send(file)
                peak = worker.receive()

        taken = clock(index)
        entries = worker.entries
    note = f"{entries:,} entries, indexed at {_rate(size, taken)} MB/s"
    if peak is None:
        return unmeasured(target, f"this system does not tell the peak of a process; {note}"), entries
    found = peak / _MB
    return judge(target, lambda: Attempt(found, note=note), tries=1), entries


def _rate(size: int, milliseconds: float) -> str:
    return f"{size / _MB / (milliseconds / 1000):.1f}"
