"""Floor 9: how long retrieval takes beside bare SQLite: the rows 1 to 4 and 10 of the targets.

`measure` asks the same fifty requests of the product and of the reference, of a large and of a small store. Times are
of the whole call `Engine.retrieve`, which begins by checking whether the transcript has grown.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from functools import partial
from importlib.util import find_spec
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING, Final

from aforesaid.branches import find_branch
from aforesaid.cli.bench.floors import POOL, Reference, ask
from aforesaid.cli.bench.requests import COMMON_WORDS, Request, mix, needles
from aforesaid.cli.bench.rows import Attempt, Target, clock, interleave, judge, percentile, steady, unmeasured
from aforesaid.cli.bench.setting import configure, default_config
from aforesaid.engine import Engine
from aforesaid.errors import OperationError
from aforesaid.retrieval.candidates import LITERAL_POOL, TERM_POOL
from aforesaid.storage.sqlite import open_store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from aforesaid.cli.bench.rows import Row
    from aforesaid.cli.bench.setting import Prepared
    from aforesaid.model import Span
    from aforesaid.ports import Snapshot

_WHOLE: Final = Target(name="retrieval, median of 50 requests", unit="ms", times=1.4, plus=2.0)
_FIRST: Final = Target(name="asked for the first time, contextual / documented", unit="ms", times=1.75)
_COLD: Final = Target(name="eight common words, cold / ids only", unit="ms", times=3.5)
_WARM: Final = Target(name="eight common words, warm / ids only", unit="ms", times=0.25)
_GROWTH: Final = Target(name="p95, all sessions stored / one stored", unit="ms", times=1.2)
_LITERAL: Final = Target(name="literal search / scan", unit="ms", times=0.2)
_FILTER: Final = Target(name="results that differ between run filter and join", unit="requests", plus=0)

_COMMON: Final = Request(name="common", kind="common", text=" ".join(COMMON_WORDS), words=COMMON_WORDS)
_COLD_STARTS: Final = 3
"""Cold samples a round: each opens the store anew."""
_WARM_CALLS: Final = 8
"""Warm samples a round."""


def measure(prepared: Prepared, rounds: int) -> list[Row]:
    """The rows of retrieval.

    Args:
        prepared: transcripts, stores and texts.
        rounds: how often each pair of figure and floor is measured in one attempt.
    """
    requests = mix(prepared.transcript.project)
    reference = prepared.reference("reference.db")
    try:
        rows = [
            judge(_WHOLE, lambda: _whole(prepared, reference, requests, rounds)),
            judge(_FIRST, lambda: _first(prepared, requests, rounds)),
            judge(_COLD, lambda: _cold(prepared, rounds)),
            _warm(prepared, reference, rounds),
            _growth(prepared, requests, rounds),
        ]
        with _opened(prepared.built.folder, prepared.transcript.file) as (snapshot, eligible):
            rows.append(judge(_LITERAL, lambda: _literal(snapshot, eligible, reference, requests, rounds)))
            rows.append(judge(_FILTER, lambda: _filter(snapshot, eligible, reference, requests), tries=1))
    finally:
        reference.close()
    return rows


def _whole(prepared: Prepared, reference: Reference, requests: Sequence[Request], rounds: int) -> Attempt:
    """Row 1: from the request's text to framed evidence."""
    questions = [ask(request) for request in requests]
    with Engine.open(prepared.built.folder, default_config()) as engine:
        first = _check(engine, prepared, requests)
        figures, floors = interleave(
            _retrievals(engine, prepared, requests),
            [partial(reference.answer, question) for question in questions],
            rounds,
        )
    note = (
        f"p95 {percentile(figures, 0.95):.2f} / {percentile(floors, 0.95):.2f} ms, asked for the first time {first:.2f}"
    )
    return Attempt(median(figures), median(floors), note)


def _check(engine: Engine, prepared: Prepared, requests: Sequence[Request]) -> float:
    """Asks everything once, so that no failure passes for a fast answer.

    Returns:
        The median in milliseconds: what requests take when nothing of them is in memory.

    Raises:
        OperationError: a request failed, or what every session holds was not found.
    """
    times = []
    for request in requests:
        started = perf_counter()
        answer = engine.retrieve(session=prepared.transcript.file, query=request.text)
        times.append((perf_counter() - started) * 1000)
        expected = "no-query" if request.kind == "no-topic" else "complete"
        wanted = request.kind in ("english", "common", "path")
        if answer.status != expected or answer.diagnostics.warnings or (wanted and not answer.hits):
            raise OperationError(
                f"{request.name} of the mix gave {answer.status} with {len(answer.hits)} hits", "report this as a fault"
            )
    return median(times)


def _retrievals(engine: Engine, prepared: Prepared, requests: Sequence[Request]) -> list[Callable[[], object]]:
    return [partial(engine.retrieve, session=prepared.transcript.file, query=request.text) for request in requests]


def _first(prepared: Prepared, requests: Sequence[Request], rounds: int) -> Attempt:
    """What contextual ranking adds where nothing of a request is in memory yet: each pair of its words is a search."""
    configs = [configure({"retrieval.ranking": ranking}) for ranking in ("contextual", "documented")]
    times: list[tuple[list[float], list[float]]] = [([], []) for _ in requests]
    for turn in range(rounds):
        with Engine.open(prepared.single, configs[0]) as one, Engine.open(prepared.single, configs[1]) as other:
            for engine in (one, other):  # the session itself is in memory, as in a service
                engine.retrieve(session=prepared.transcript.file, query=_COMMON.text)
            asked = zip(_retrievals(one, prepared, requests), _retrievals(other, prepared, requests), strict=True)
            with steady():
                for case, pair in enumerate(asked):
                    for place in (0, 1) if (turn + case) % 2 else (1, 0):
                        times[case][place].append(clock(pair[place]))
    return Attempt(median(median(first) for first, _ in times), median(median(second) for _, second in times))


def _cold(prepared: Prepared, rounds: int) -> Attempt:
    """Row 2, cold: the first search of a connection, beside the first one of a bare connection."""
    question = ask(_COMMON)
    figures: list[float] = []
    floors: list[float] = []
    with steady():
        for _ in range(rounds * _COLD_STARTS):
            bare = Reference(prepared.path("reference.db"), prepared.transcript.eligible)
            floors.append(clock(partial(bare.ids, question)))
            bare.close()
            with _opened(prepared.built.folder, prepared.transcript.file) as (snapshot, eligible):
                figures.append(clock(partial(snapshot.find_terms, COMMON_WORDS, eligible, TERM_POOL)))
    return Attempt(median(figures), median(floors))


def _warm(prepared: Prepared, reference: Reference, rounds: int) -> Row:
    """Row 2, warm: the same words again and again, as a long-lived service is asked."""

    def attempt() -> Attempt:
        with _opened(prepared.built.folder, prepared.transcript.file) as (snapshot, eligible):
            search = partial(snapshot.find_terms, COMMON_WORDS, eligible, TERM_POOL)
            for _ in range(3):
                search()
            ids = partial(reference.ids, ask(_COMMON))
            figures, floors = interleave([search] * _WARM_CALLS, [ids] * _WARM_CALLS, rounds)
        return Attempt(median(figures), median(floors))

    if find_spec("numpy") is None:
        return unmeasured(_WARM, "numpy is not installed (extra `fast`), so SQLite searches again")
    return judge(_WARM, attempt)


def _growth(prepared: Prepared, requests: Sequence[Request], rounds: int) -> Row:
    """Row 3: whether retrieval slows down as more sessions are stored. Every request's median counts once."""
    if prepared.single == prepared.built.folder:
        return unmeasured(_GROWTH, "one session is all that is stored")

    def attempt() -> Attempt:
        config = default_config()
        with Engine.open(prepared.built.folder, config) as large, Engine.open(prepared.single, config) as small:
            figures, floors = interleave(
                _retrievals(large, prepared, requests), _retrievals(small, prepared, requests), rounds
            )
        return Attempt(percentile(figures, 0.95), percentile(floors, 0.95))

    return judge(_GROWTH, attempt)


def _literal(
    snapshot: Snapshot, eligible: Sequence[Span], reference: Reference, requests: Sequence[Request], rounds: int
) -> Attempt:
    """Row 4: every name and phrase of the mix, literally."""
    wanted = needles(requests)
    figures, floors = interleave(
        [partial(snapshot.find_literals, (needle,), eligible, LITERAL_POOL) for needle in wanted],
        [partial(reference.scan, needle) for needle in wanted],
        rounds,
    )
    return Attempt(median(figures), median(floors), f"{len(wanted)} needles, worst {max(figures):.2f} ms")


def _filter(snapshot: Snapshot, eligible: Sequence[Span], reference: Reference, requests: Sequence[Request]) -> Attempt:
    """Row 10: the filter by runs gives what a join with the single rows of the branch gives, in the same order.

    Asked of the reference in SQL, and of the product by searching the whole session and joining afterwards.
    """
    everything = tuple((run.first, run.last) for run in snapshot.tree().runs)
    on_branch = {row for first, last in eligible for row in range(first, last + 1)}
    different = 0
    for request in requests:
        question = ask(request)
        if not question.either:
            continue
        terms = (*request.literals, *request.words)
        filtered = snapshot.find_terms(terms, eligible, TERM_POOL)
        whole = snapshot.find_terms(terms, everything, snapshot.session.entries)
        joined = tuple(row for row in whole if row.row in on_branch)[:TERM_POOL]
        different += filtered != joined or reference.best(question) != reference.best_joined(question)
    return Attempt(different, note=f"first {POOL} rows each")


@contextmanager
def _opened(store: str, file: str) -> Iterator[tuple[Snapshot, tuple[Span, ...]]]:
    """A snapshot of a session through a connection of its own, and what may be found in it."""
    opened = open_store(store)
    try:
        (session,) = (session for session in opened.sessions() if session.file == os.path.abspath(file))
        with opened.read(session.key) as snapshot:
            yield snapshot, find_branch(snapshot, None, None).eligible
    finally:
        opened.close()
