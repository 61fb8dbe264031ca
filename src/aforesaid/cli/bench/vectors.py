"""Floor 9: what vectors take beside bare numpy, beside JSON, and beside the model alone.

The search is measured over so many vectors as `--entries` says, on a branch that leaves out a tenth of the rows; sync
and whole requests on the session that the other rows ask too.
"""

from __future__ import annotations

import json
from array import array
from functools import partial
from random import Random
from statistics import median
from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace

from aforesaid.cli.bench.requests import mix
from aforesaid.cli.bench.rows import Attempt, Target, clock, interleave, judge, steady, unmeasured
from aforesaid.cli.bench.setting import default_config
from aforesaid.embedders.feature_hash import FeatureHash
from aforesaid.embedding import Covered, Held, Passage, Vectors
from aforesaid.engine import Engine
from aforesaid.errors import OperationError
from aforesaid.passages import cut
from aforesaid.privacy.judge import Judge
from aforesaid.privacy.policy import Policy
from aforesaid.semantic.matrix import make_matrix
from aforesaid.semantic.sources import Clearing, Maker, make_vectors
from aforesaid.storage.sqlite import open_store
from aforesaid.storage.sqlite.vector_blocks import BLOCK
from aforesaid.storage.sqlite.vectors import VectorFile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aforesaid.cli.bench.rows import Row
    from aforesaid.cli.bench.setting import Prepared
    from aforesaid.config import Config
    from aforesaid.embedding import Purpose
    from aforesaid.model import Cleared

_SEARCH: Final = Target(name="vector search / numpy product and selection", unit="ms", times=1.3)
_LOAD: Final = Target(name="loading vectors / the same as JSON text", unit="ms", times=0.05)
_SYNC: Final = Target(name="vectors of a session / the bare model (feature hash)", unit="ms", times=1.6)
_WHOLE: Final = Target(
    name="hybrid request / lexical one, its vector and the vector search", unit="ms", times=1.0, plus=2.0
)

_DIMENSIONS: Final = 256
_POOL: Final = 80
_TEXTS: Final = 5_000
"""Vectors of which the JSON text is made: it takes long."""
_QUERIES: Final = 12
_HASHED: Final = FeatureHash(_DIMENSIONS)


def measure(prepared: Prepared, count: int, rounds: int) -> list[Row]:
    """The rows of vectors.

    Args:
        prepared: transcripts and stores.
        count: vectors that are searched.
        rounds: how often each pair of figure and floor is measured in one attempt.
    """
    try:
        import numpy  # late: an extra
    except ImportError:
        rows = [unmeasured(_SEARCH, "numpy is not installed")]
    else:
        rows = [judge(_SEARCH, lambda: _search(numpy, count, rounds))]
    rows.append(judge(_LOAD, lambda: _load(prepared, rounds)))
    rows.append(judge(_SYNC, lambda: _sync(prepared, rounds)))
    rows.append(judge(_WHOLE, lambda: _whole(prepared, rounds)))
    return rows


def _search(numpy: Any, count: int, rounds: int) -> Attempt:
    """The branch filter, the product and the selection, beside numpy's product and selection alone."""
    random: Any = numpy.random.default_rng(7)
    vectors = random.standard_normal((count, _DIMENSIONS), dtype="f4")
    vectors /= numpy.linalg.norm(vectors, axis=1, keepdims=True)
    rows = array("I", range(1, count + 1))
    held = Held(rows=rows, starts=rows, ends=rows, hashes=bytes(16 * count), vectors=vectors.tobytes())
    matrix = make_matrix(held, _DIMENSIONS)
    tenth = count // 10
    spans = [(1, tenth * 4), (tenth * 5 + 1, count)]
    queries = [vectors[place] for place in range(0, count, max(1, count // _QUERIES))][:_QUERIES]

    def bare(query: Any) -> object:
        scores = vectors @ query
        best = numpy.argpartition(scores, count - _POOL)[count - _POOL :]
        return best[numpy.argsort(-scores[best])]

    figures, floors = interleave(
        [partial(matrix.nearest, query.tobytes(), spans, _POOL, 0.0) for query in queries],
        [partial(bare, query) for query in queries],
        rounds,
    )
    return Attempt(median(figures), median(floors), f"{count:,} vectors of {_DIMENSIONS} numbers")


def _load(prepared: Prepared, rounds: int) -> Attempt:
    """From the file to what can be searched, beside parsing the same numbers."""
    random = Random(7)  # noqa: S311 - the same in every run
    vectors = [array("f", [random.gauss(0, 0.06) for _ in range(_DIMENSIONS)]) for _ in range(_TEXTS)]
    text = json.dumps([list(vector) for vector in vectors])
    path, lock = prepared.path("vectors.db"), prepared.path("lock")
    file = VectorFile(path, lock, writable=True, timeout_ms=1000)
    covered = Covered(low=1, high=_TEXTS, generation=1, tail=b"")
    for first in range(0, _TEXTS, BLOCK):
        some = range(first, min(first + BLOCK, _TEXTS))
        passages = [Passage(row=place + 1, start=0, end=1, hash=bytes(16)) for place in some]
        file.add(_HASHED.profile, passages, [vectors[place].tobytes() for place in some], covered)
    file.close()

    def load() -> object:
        opened = VectorFile(path, lock, writable=True, timeout_ms=1000)
        matrix = make_matrix(opened.load(_HASHED.profile), _DIMENSIONS)
        opened.close()
        return matrix

    figures, floors = interleave([load], [partial(json.loads, text)], rounds)
    return Attempt(median(figures), median(floors), f"{_TEXTS:,} vectors")


def _sync(prepared: Prepared, rounds: int) -> Attempt:
    """Vectors of a whole session from its shard into its file, beside the model over the same passages."""
    judge_all = Judge(Policy(), provider=_HASHED.profile.provider)
    store = open_store(prepared.single)
    try:
        session = store.sessions()[0]
        texts: list[str] = []
        with store.read(session.key) as snapshot:
            for entry in snapshot.entries(range(1, session.entries + 1)):
                if entry.automatic:
                    texts += [entry.text[start:end] for start, end in cut(entry.text)]

        def embed(sealed: Cleared[str], purpose: Purpose) -> Vectors:
            del purpose
            return Vectors(values=tuple(_HASHED.vector(text).tobytes() for text in sealed.values))

        maker = Maker(
            read=lambda: store.read(session.key),
            vectors=store.vectors(session.key),
            profile=_HASHED.profile,
            embed=embed,
            clear=Clearing(judge_all.clear_all),
            most=1_000_000,
            batch=64,
        )
        figures: list[float] = []
        floors: list[float] = []
        with steady():
            for _ in range(rounds):
                store.vectors(session.key).discard()
                floors.append(clock(lambda: [_HASHED.vector(text) for text in texts]))
                figures.append(clock(partial(make_vectors, maker)))
        store.vectors(session.key).discard()
    finally:
        store.close()
    speed = f"{len(texts) / median(figures) * 1000:,.0f} passages a second"
    return Attempt(median(figures), median(floors), speed)


def _whole(prepared: Prepared, rounds: int) -> Attempt:
    """Requests with vectors, beside the same without, plus what their vectors and the search say that they took."""
    requests = mix(prepared.transcript.project)
    file = prepared.transcript.file
    lexical = _ranked(default_config(), semantic=False)
    hybrid = _ranked(default_config(), semantic=True)
    with Engine.open(prepared.single, lexical) as plain, Engine.open(prepared.single, hybrid) as both:
        extra: list[float] = []
        for request in requests:
            plain.retrieve(session=file, query=request.text)
            done = both.retrieve(session=file, query=request.text).diagnostics.semantic
            if done is None or done.reason is not None:
                raise OperationError("vectors were not used", "report this as a fault of aforesaid")
            repeated = both.retrieve(session=file, query=request.text).diagnostics.semantic or done
            extra.append(repeated.embedding_ms + repeated.search_ms)
        figures, floors = interleave(
            [partial(both.retrieve, session=file, query=request.text) for request in requests],
            [partial(plain.retrieve, session=file, query=request.text) for request in requests],
            rounds,
        )
    floor = median(floors) + median(extra)
    return Attempt(median(figures), floor, f"vector search {median(extra):.2f} ms, words {median(floors):.2f} ms")


def _ranked(config: Config, *, semantic: bool) -> Config:
    changed: dict[str, object] = {"retrieval.ranking": "contextual", "retrieval.semantic": semantic}
    settings: Sequence[Any] = config.settings
    return replace(
        config,
        settings=tuple(
            replace(setting, value=changed[setting.key]) if setting.key in changed else setting for setting in settings
        ),
    )
