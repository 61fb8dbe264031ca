"""Floor 9: explicit search over all sessions beside opening and asking as many shards bare: `bench recall`.

The sessions have 400 entries each, so 2,000,000 entries are the 5,000 sessions of the target. A rare name stands in one
of a hundred sessions, a common word in all. The floor opens as many session files as the search did, the same ones,
with nothing of this product in the way, and asks each for its best rows.
"""

from __future__ import annotations

import os
import subprocess
import sys
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import apsw
import msgspec

from aforesaid.cli.bench.corpus import Corpus
from aforesaid.cli.bench.rows import Attempt, Target, interleave, judge, percentile, steady, unmeasured
from aforesaid.engine import Engine
from aforesaid.errors import OperationError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from aforesaid.cli.bench.rows import Row
    from aforesaid.inquiry import RecallPage

    Progress = Callable[[int, int], None]

ENTRIES: Final = 400
"""Of a session."""
FEWEST: Final = 20
"""Sessions: fewer are all opened anyway."""
RARE: Final = "zanzibarRegistry_4711"
COMMON: Final = "the"
_ONE_IN: Final = 100
_LIMIT: Final = 6
_TIMES: Final = 7
"""Repetitions of each pair in a round."""
_AT_ONCE: Final = 50
"""Transcripts that are written before they are indexed."""
_BARE: Final = "SELECT rowid FROM search WHERE search MATCH ? ORDER BY bm25(search) LIMIT ?"
_MEMORY: Final = Target(name="peak memory, searches of all sessions", unit="MB", plus=200)
_MB: Final = 1e6


def measure(entries: int, rounds: int, folder: str, progress: Progress | None) -> list[Row]:
    """Makes the sessions and measures.

    Args:
        entries: of all sessions together.
        rounds: how often each pair of figure and floor is measured.
        folder: for the temporary files.
        progress: called with sessions done and sessions in all.
    """
    store = os.path.join(folder, "many")
    transcripts = os.path.join(folder, "many-sessions")
    os.mkdir(transcripts)
    count = max(FEWEST, entries // ENTRIES)
    with Engine.open(store) as engine:
        for _ in _fill(engine, transcripts, count, progress):
            pass
        rows = [
            judge(
                Target(name=f"recall of {name} in {count:,} sessions / the same shards bare", unit="ms", times=3),
                partial(_search, engine, store, query, rounds),
            )
            for name, query in (("a rare name", RARE), ("a common word", COMMON))
        ]
    rows.append(_remember(store))
    return rows


def _fill(engine: Engine, folder: str, count: int, progress: Progress | None) -> Iterator[int]:
    """Writes and indexes the sessions; yields how many there are so far."""
    corpus = Corpus()
    waiting: list[str] = []
    for number in range(count):
        transcript = corpus.write(folder, number, ENTRIES)
        if number % _ONE_IN == _ONE_IN // 2 % count:
            with open(transcript.file, "ab") as target:
                target.write(msgspec.json.encode(_naming(transcript.leaf)) + b"\n")
        waiting.append(transcript.file)
        if len(waiting) == _AT_ONCE or number + 1 == count:
            report = engine.index(*waiting)
            failed = [one.error for one in report.sessions if one.status == "failed"]
            if failed:
                raise OperationError(f"a session could not be indexed: {failed[0]}", "report this as a fault")
            waiting.clear()
        if progress is not None:
            progress(number + 1, count)
        yield number + 1


def _naming(parent: str) -> dict[str, Any]:
    """A line of a transcript that holds the rare name."""
    message = {"role": "user", "content": [{"type": "text", "text": f"Remember {RARE}, please."}]}
    return {
        "type": "message", "id": "ffffffff", "parentId": parent, "timestamp": "2026-11-30T00:00:00.000Z",
        "message": message,
    }  # fmt: skip


def _search(engine: Engine, store: str, query: str, rounds: int) -> Attempt:
    """One question of all sessions, and its floor."""

    def ask() -> RecallPage:
        return engine.recall(query, scope="host-wide", limit=_LIMIT)

    page, opened = _watch(engine, ask)
    if not page.hits:
        raise OperationError(f"{query} was not found", "report this as a fault of the benchmark")
    files = [os.path.join(store, "sessions", f"{key}.db") for key in opened]
    with steady():
        figures, floors = interleave([ask] * _TIMES, [partial(_ask_bare, files, query)] * _TIMES, rounds)
    note = f"{len(files)} shards; p95 {percentile(figures, 0.95):.1f} ms"
    return Attempt(sorted(figures)[len(figures) // 2], sorted(floors)[len(floors) // 2], note)


def _watch(engine: Engine, ask: Callable[[], RecallPage]) -> tuple[RecallPage, list[str]]:
    """What a question brings, and the keys of the sessions that it opens."""
    store = engine._store
    opened: dict[str, None] = {}
    read = store.read

    def watched(key: str) -> Any:
        opened[key] = None
        return read(key)

    store.read = watched  # type: ignore[method-assign]
    try:
        return ask(), list(opened)
    finally:
        del store.read


def _ask_bare(files: list[str], query: str) -> None:
    """Opens session files and asks each for its best rows."""
    phrase = " ".join(f'"{word}"' for word in query.replace("_", " ").split())
    for file in files:
        connection = apsw.Connection(file, flags=apsw.SQLITE_OPEN_READONLY)
        connection.execute(_BARE, (phrase, _LIMIT)).fetchall()
        connection.close()


def _remember(store: str) -> Row:
    """The memory of a process that asks both questions, above that of one that asks nothing."""
    command = [sys.executable, "-m", "aforesaid.cli.bench.many", store]
    done = subprocess.run(command, capture_output=True, check=True, text=True)  # noqa: S603 - our own program
    peak = msgspec.json.decode(done.stdout, type=int | None)
    if peak is None:
        return unmeasured(_MEMORY, "this system does not tell the peak of a process")
    return judge(_MEMORY, lambda: Attempt(peak / _MB), tries=1)


def main(store: str) -> None:
    """Asks both questions and writes what memory that took, as JSON."""
    from aforesaid.cli.bench.worker import peak_memory  # late: the parent needs none of it

    idle = peak_memory()
    with Engine.open(store) as engine:
        for query in (RARE, COMMON, "nowhere", ""):
            engine.recall(query, scope="host-wide", limit=200)
    peak = peak_memory()
    above = None if peak is None or idle is None else peak - idle
    sys.stdout.write(msgspec.json.encode(above).decode())


if __name__ == "__main__":
    main(sys.argv[1])
