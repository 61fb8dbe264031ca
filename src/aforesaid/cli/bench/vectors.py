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

from aforesaid.cli.bench.requests import mix
from aforesaid.cli.bench.rows import Attempt, Target, clock, interleave, judge, steady, unmeasured
from aforesaid.cli.bench.setting import configure
from aforesaid.embedders import FEATURE_HASH, MODELS, MULTILINGUAL, STATIC, TRANSFORMER, make
from aforesaid.embedders.calls import Calls
from aforesaid.embedders.feature_hash import FeatureHash
from aforesaid.embedding import LOCAL_PROVIDER, Covered, Held, Passage, Profile, Usual
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
    from aforesaid.cli.bench.rows import Row
    from aforesaid.cli.bench.setting import Prepared
    from aforesaid.embedders import Local
    from aforesaid.ports import EmbeddingPort

_SEARCH: Final = Target(name="vector search / numpy product and selection", unit="ms", times=1.3)
_LOAD: Final = Target(name="loading vectors / the same as JSON text", unit="ms", times=0.05)
_WHOLE: Final = Target(
    name="hybrid request / lexical one, its vector and the vector search", unit="ms", times=1.0, plus=2.0
)

_DIMENSIONS: Final = 256
_POOL: Final = 80
_TEXTS: Final = 5_000
"""Vectors of which the JSON text is made: it takes long."""
_QUERIES: Final = 12
_USUAL: Final = Usual(middle=0.0, spread=0.0625)
"""Of random vectors: what stands out is reckoned for every row."""
_ALL: Final = 1_000_000
_LATEST: Final = {FEATURE_HASH: 2_000, STATIC: 1_000, TRANSFORMER: 16, MULTILINGUAL: 8}
"""Entries of which each model makes vectors: a second or two."""
_ROUNDS: Final = 3
"""Rounds of making vectors at most: each takes seconds."""
_BATCH: Final = 64
"""Texts of a call, as configured by default."""
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
    rows += [_made_by(local, prepared, rounds) for local in MODELS]
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
        [partial(matrix.nearest, query.tobytes(), spans, _POOL, 0.0, usual=_USUAL) for query in queries],
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


def _target(local: Local) -> Target:
    """The bound of making vectors; a model that costs next to nothing leaves more to what is around it."""
    return Target(
        name=f"vectors of a session / the bare model ({local.model})",
        unit="ms",
        times=1.6 if local.model == FEATURE_HASH else 1.2,
    )


def _made_by(local: Local, prepared: Prepared, rounds: int) -> Row:
    """The row of one model, if its extra is there."""
    profile = Profile(provider=LOCAL_PROVIDER, model=local.model, dimensions=local.dimensions or _DIMENSIONS)
    try:
        port = make(profile)
    except ImportError:
        return unmeasured(_target(local), f"needs the extra {local.extra}")
    return judge(_target(local), lambda: _sync(prepared, local, port, rounds))


def _sync(prepared: Prepared, local: Local, port: EmbeddingPort, rounds: int) -> Attempt:
    """Vectors of the latest entries from their shard into a file, called as the product does, beside the bare model."""
    judge_all = Judge(Policy(), provider=LOCAL_PROVIDER)
    calls = Calls(lambda: port, port.profile, seconds=600, trusted=local.model == FEATURE_HASH)
    batch = min(_BATCH, local.batch)
    most = _LATEST.get(local.model, _ALL)
    store = open_store(prepared.single)
    try:
        session = store.sessions()[0]
        texts: list[str] = []
        with store.read(session.key) as snapshot:
            for entry in snapshot.entries(range(max(1, session.entries - most + 1), session.entries + 1)):
                if entry.automatic:
                    texts += [entry.text[start:end] for start, end in cut(entry.text)]
        maker = Maker(
            read=lambda: store.read(session.key),
            vectors=store.vectors(session.key),
            profile=port.profile,
            embed=calls.embed,
            clear=Clearing(judge_all.clear_all),
            most=most,
            batch=batch,
        )
        sealed = [judge_all.clear_all(texts[at : at + batch]) for at in range(0, len(texts), batch)]
        figures: list[float] = []
        floors: list[float] = []
        with steady():
            for _ in range(min(rounds, _ROUNDS)):
                store.vectors(session.key).discard()
                floors.append(clock(lambda: [port.embed(some, "source") for some in sealed]))
                figures.append(clock(partial(make_vectors, maker)))
        store.vectors(session.key).discard()
    finally:
        store.close()
    speed = f"{len(texts):,} passages, {len(texts) / median(figures) * 1000:,.0f} a second"
    return Attempt(median(figures), median(floors), speed)


def _whole(prepared: Prepared, rounds: int) -> Attempt:
    """Requests with vectors, beside the same without, plus what their vectors and the search say that they took."""
    requests = mix(prepared.transcript.project)
    file = prepared.transcript.file
    lexical, hybrid = (
        configure({"retrieval.ranking": "contextual", "retrieval.semantic": semantic}) for semantic in (False, True)
    )
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
