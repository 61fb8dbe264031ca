"""Floor 9: explicit search over all sessions beside opening and asking as many shards bare: `bench recall`.

The sessions have 400 entries each, so 2,000,000 entries are the 5,000 sessions of the target. A rare name stands in one
of a hundred sessions, in twenty at least; a common word in all. The floor opens as many session files as the search
did, the same ones, with nothing of this product in the way, and asks each for its best rows.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from functools import partial
from statistics import median
from typing import TYPE_CHECKING, Any, Final

import apsw
import msgspec

from aforesaid.cli.bench.corpus import Corpus
from aforesaid.cli.bench.rows import Attempt, Row, Target, clock, interleave, judge, percentile, steady, unmeasured
from aforesaid.engine import Engine
from aforesaid.errors import OperationError, StoreFull

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from aforesaid.inquiry import RecallPage

    Progress = Callable[[int, int], None]

ENTRIES: Final = 400
"""Of a session."""
FEWEST: Final = 20
"""Sessions: fewer are all opened anyway."""
RARE: Final = ("zanzibarRegistry_4711", "quokka/ledger_0815.py", "E_WOMBAT_404", "NumbatScheduler")
SINGLE: Final = "okapiManifest_2209"
"""A name of one session."""
COMMON: Final = ("the", "for", "server", "test")
_ONE_IN: Final = 100
_AT_LEAST: Final = 20
"""Sessions that hold a rare name: one in so many, but not fewer than these."""
_LIMIT: Final = 6
_TIMES: Final = 5
"""Repetitions of each pair in a round, where a question is asked again."""
_COLD: Final = 3
_AT_ONCE: Final = 50
"""Transcripts that are written before they are indexed."""
_BYTES: Final = 3_000
"""Of the disk, that an entry takes at most: its line, its row, its words."""
_BARE: Final = "SELECT rowid FROM search WHERE search MATCH ? ORDER BY bm25(search) LIMIT ?"
_AGAIN: Final = (
    (Target(name="recall of a rare name / the same shards bare", unit="ms", times=3), RARE, 150),
    (Target(name="recall of a common word / the same shards bare", unit="ms", times=3), COMMON, 400),
)
_AFTER: Final = (
    (Target(name="rare name after other questions / the same shards bare", unit="ms", times=3), RARE, 150),
    (Target(name="common word after other questions / the same shards bare", unit="ms", times=3), COMMON, 400),
)
_SINGLE: Final = "name of one session, after other questions"
_FIRST: Final = "first recall of a rare name by an engine / the same shards bare"
_MEMORY: Final = Target(name="peak memory, searches of all sessions", unit="MB", plus=200)
_MB: Final = 1e6


def measure(entries: int, rounds: int, folder: str, progress: Progress | None) -> list[Row]:
    """Makes the sessions and measures.

    Args:
        entries: of all sessions together.
        rounds: how often each pair of figure and floor is measured.
        folder: for the temporary files.
        progress: called with sessions done and sessions in all.

    Raises:
        StoreFull: the disk has not enough room.
    """
    count = max(FEWEST, entries // ENTRIES)
    needed, free = count * ENTRIES * _BYTES, shutil.disk_usage(folder).free
    if free < needed:
        raise StoreFull(
            f"{count:,} sessions need {needed / 1e9:.1f} GB in {folder}, and {free / 1e9:.1f} GB are free",
            "choose another folder with --work, or fewer --entries",
        )
    store = os.path.join(folder, "many")
    transcripts = os.path.join(folder, "many-sessions")
    os.mkdir(transcripts)
    with Engine.open(store) as engine:
        for _ in fill(engine, transcripts, count, progress):
            pass
    return measure_store(store, rounds)


def measure_store(store: str, rounds: int) -> list[Row]:
    """The rows of a store that `fill` has filled."""
    with Engine.open(store) as engine:
        rows = [
            judge(target, partial(_ask_again, engine, store, queries, rounds, aim)) for target, queries, aim in _AGAIN
        ]
        for target, queries, aim in _AFTER:
            rows.append(judge(target, partial(_ask_in_turns, engine, store, queries, rounds, aim)))
        rows.append(_tell(_SINGLE, _ask_in_turns(engine, store, (SINGLE,), rounds, 150)))
    return [*rows, _tell(_FIRST, _ask_first(store)), _remember(store)]


def fill(engine: Engine, folder: str, count: int, progress: Progress | None) -> Iterator[int]:
    """Writes and indexes the sessions; yields how many there are so far."""
    corpus = Corpus()
    names = _places(count)
    waiting: list[str] = []
    for number in range(count):
        transcript = corpus.write(folder, number, ENTRIES)
        if number in names:
            with open(transcript.file, "ab") as target:
                lines = [_naming(place, name, transcript.leaf) for place, name in enumerate(names[number])]
                target.write(b"".join([msgspec.json.encode(line) + b"\n" for line in lines]))
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


def _places(count: int) -> dict[int, list[str]]:
    """The names that stand in sessions, by the sessions' numbers; evenly spread."""
    holders = min(count, max(_AT_LEAST, count // _ONE_IN))
    found: dict[int, list[str]] = {count // 2: [SINGLE]}
    for first, name in enumerate(RARE):
        for place in range(holders):
            found.setdefault((first + place * count // holders) % count, []).append(name)
    return found


def _naming(place: int, name: str, leaf: str) -> dict[str, Any]:
    """A line of a transcript that holds a name."""
    parent = leaf if place == 0 else f"fffffff{place - 1}"
    message = {"role": "user", "content": [{"type": "text", "text": f"Remember {name}, please."}]}
    return {
        "type": "message", "id": f"fffffff{place}", "parentId": parent, "timestamp": "2026-11-30T00:00:00.000Z",
        "message": message,
    }  # fmt: skip


class _Question:
    """One question of all sessions, and its floor."""

    def __init__(self, engine: Engine, store: str, query: str) -> None:
        self._engine = engine
        self.query = query
        page, opened = _watch(engine, self.ask)
        if not page.hits:
            raise OperationError(f"{query} was not found", "report this as a fault of the benchmark")
        self.files = [os.path.join(store, "sessions", f"{key}.db") for key in opened]

    def ask(self) -> RecallPage:
        """Asks it."""
        return self._engine.recall(self.query, scope="host-wide", limit=_LIMIT)

    def ask_bare(self) -> None:
        """Opens the session files that it opened and asks each for its best rows."""
        phrase = " ".join(f'"{word}"' for word in self.query.replace("_", " ").split())
        for file in self.files:
            connection = apsw.Connection(file, flags=apsw.SQLITE_OPEN_READWRITE)
            connection.execute(_BARE, (phrase, _LIMIT)).fetchall()
            connection.close()


def _ask_again(engine: Engine, store: str, queries: Sequence[str], rounds: int, aim: int) -> Attempt:
    """Each question as it is asked again, for the next page or because somebody else asks."""
    figures: list[float] = []
    floors: list[float] = []
    notes: list[str] = []
    asked: list[float] = []
    for query in queries:
        question = _Question(engine, store, query)
        times = interleave([question.ask] * _TIMES, [question.ask_bare] * _TIMES, rounds)
        asked += times[0]
        figures.append(median(times[0]))
        floors.append(median(times[1]))
        notes.append(f"{query} {figures[-1] / floors[-1]:.2f} ({len(question.files)} shards)")
    notes.append(f"p95 {percentile(asked, 0.95):.1f} ms (aim {aim})")
    return Attempt(median(figures), median(floors), "; ".join(notes))


def _ask_in_turns(engine: Engine, store: str, queries: Sequence[str], rounds: int, aim: int) -> Attempt:
    """Questions one after the other, and the rare names between them, so that each finds the files of others open."""
    questions = [_Question(engine, store, query) for query in dict.fromkeys((*queries, *RARE))]
    figures: list[float] = []
    floors: list[float] = []
    with steady():
        for _ in range(rounds):
            for question in questions:
                # First the floor, while other questions have taken the files' places: a file that is open already,
                # because it was asked just before, opens several times as fast.
                floor = clock(question.ask_bare)
                taken = clock(question.ask)
                if question.query in queries:
                    figures.append(taken)
                    floors.append(floor)
    shards = median([len(question.files) for question in questions if question.query in queries])
    note = f"{shards:.0f} shards; p95 {percentile(figures, 0.95):.1f} ms (aim {aim})"
    return Attempt(median(figures), median(floors), note)


def _ask_first(store: str) -> Attempt:
    """The first question of an engine."""
    figures: list[float] = []
    floors: list[float] = []
    with Engine.open(store) as engine:
        question = _Question(engine, store, RARE[0])
    for _ in range(_COLD):
        with Engine.open(store) as engine, steady():
            figures.append(clock(partial(engine.recall, RARE[0], scope="host-wide", limit=_LIMIT)))
            floors.append(clock(question.ask_bare))
    return Attempt(median(figures), median(floors), f"{len(question.files)} shards")


def _tell(name: str, attempt: Attempt) -> Row:
    """A row without a bound."""
    return Row(
        name=name,
        figure=attempt.figure,
        floor=attempt.floor,
        ratio=attempt.figure / attempt.floor if attempt.floor else None,
        bound=None,
        met=None,
        unit="ms",
        note=f"{attempt.note}; told, not bounded",
        limits_ratio=True,
        attempts=(attempt,),
    )


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


def _remember(store: str) -> Row:
    """The memory of a process that asks all questions, above that of one that asks nothing."""
    command = [sys.executable, "-m", "aforesaid.cli.bench.many", store]
    done = subprocess.run(command, capture_output=True, check=True, text=True)  # noqa: S603 - our own program
    peak = msgspec.json.decode(done.stdout, type=int | None)
    if peak is None:
        return unmeasured(_MEMORY, "this system does not tell the peak of a process")
    return judge(_MEMORY, lambda: Attempt(peak / _MB), tries=1)


def main(store: str) -> None:
    """Asks all questions and writes what memory that took, as JSON."""
    from aforesaid.cli.bench.worker import peak_memory  # late: the parent needs none of it

    idle = peak_memory()
    with Engine.open(store) as engine:
        for query in (*RARE, SINGLE, *COMMON, "nowhere", ""):
            engine.recall(query, scope="host-wide", limit=200)
    peak = peak_memory()
    above = None if peak is None or idle is None else peak - idle
    sys.stdout.write(msgspec.json.encode(above).decode())


if __name__ == "__main__":
    main(sys.argv[1])
