"""Floor 5: the vector search of one request: from its text to similar rows, and what was done, without any text.

`engine` makes a `Channel` for a session and hands it to `retrieval` as a `SimilarityPort`. The vectors of requests and
of sessions stay in memory in a `Memory` that is bounded and goes with the process. Whatever fails is a reason in the
report and no rows.
"""

from __future__ import annotations

from collections import OrderedDict
from time import perf_counter
from typing import TYPE_CHECKING, Final, Literal

from msgspec.structs import replace

from aforesaid.digests import blake2b
from aforesaid.embedding import PRIVACY_EXCLUDED, SEARCH_FAILED, STORE_FAILED
from aforesaid.errors import StoreError
from aforesaid.semantic.matrix import Matrix, make_matrix

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from aforesaid.answers import Semantic
    from aforesaid.embedding import Profile, Purpose, Scale, Similar, Vectors
    from aforesaid.model import Cleared, Span
    from aforesaid.ports import VectorPort

MOST_BYTES: Final = 256_000_000
"""Of vectors of sessions that stay in memory; the session that was asked last always stays."""


class Memory:
    """Vectors that stay in memory: of requests, told by a hash, and of sessions. Nothing of it is ever written."""

    def __init__(self, queries: int) -> None:
        """Takes the number of requests that are remembered (`retrieval.embedding.queryCacheSize`)."""
        self._most = queries
        self._queries: OrderedDict[bytes, bytes] = OrderedDict()
        self._matrices: OrderedDict[tuple[str, Profile], tuple[bytes, Matrix]] = OrderedDict()

    def query(self, profile: Profile, request: str) -> bytes | None:
        """The vector of a request, or None."""
        name = _name(profile, request)
        if name in self._queries:
            self._queries.move_to_end(name)
        return self._queries.get(name)

    def keep_query(self, profile: Profile, request: str, vector: bytes) -> None:
        """Remembers the vector of a request."""
        self._queries[_name(profile, request)] = vector
        while len(self._queries) > self._most:
            self._queries.popitem(last=False)

    def matrix(self, session: str, profile: Profile, version: bytes) -> Matrix | None:
        """The vectors of a session, if they are those of this version."""
        known = self._matrices.get((session, profile))
        if known is None or known[0] != version:
            return None
        self._matrices.move_to_end((session, profile))
        return known[1]

    def keep_matrix(self, session: str, profile: Profile, version: bytes, matrix: Matrix) -> None:
        """Remembers the vectors of a session."""
        self._matrices.pop((session, profile), None)
        self._matrices[session, profile] = (version, matrix)
        while len(self._matrices) > 1 and sum(known.size for _, known in self._matrices.values()) > MOST_BYTES:
            self._matrices.popitem(last=False)

    @property
    def queries(self) -> int:
        """Requests that are remembered."""
        return len(self._queries)

    def clear(self) -> None:
        """Forgets everything."""
        self._queries.clear()
        self._matrices.clear()


class Channel:
    """The `SimilarityPort` of one request."""

    def __init__(
        self,
        *,
        session: str,
        vectors: VectorPort,
        profile: Profile,
        scale: Scale,
        embed: Callable[[Cleared[str], Purpose], Vectors],
        clear: Callable[[str], Cleared[str] | None],
        pool: int,
        memory: Memory,
        report: Semantic,
        unmade: str | None = None,
    ) -> None:
        """Takes everything that a search needs.

        Args:
            session: the store's key of the session.
            vectors: of it.
            profile: of the model.
            scale: how its similarities count.
            embed: calls the model.
            clear: a request as the model may see it; None for one that it may not see.
            pool: rows that are found at most (`retrieval.embedding.candidatePool`).
            memory: what is remembered.
            report: what is known before the search; its `reason` says that there is none.
            unmade: why no vectors were made just now; the reason where there are no older ones.
        """
        self._session = session
        self._vectors = vectors
        self._profile = profile
        self.scale = scale
        self._embed = embed
        self._clear = clear
        self._pool = pool
        self._memory = memory
        self._report = report
        self._unmade = unmade

    def find(
        self, request: str, spans: Sequence[Span], beside: Sequence[Span], admits: Callable[[int], bool] | None = None
    ) -> tuple[Similar, ...]:
        """See `SimilarityPort`."""
        if self._report.reason is not None:
            return ()
        try:
            matrix = self._load()
            if not matrix.count:
                self._note(reason=self._unmade)
                return ()
            query = self._query(request)
            if query is None:
                return ()
            started = perf_counter()
            floor = self.scale.plain
            found = matrix.nearest(query, spans, self._pool, floor, admits, usual=self.scale.usual)
            near = matrix.nearest(query, beside, self._pool, floor) if beside else ()
            self._note(
                search_ms=self._report.search_ms + _since(started),
                candidates=self._report.candidates + len(found),
                used=True,
            )
        except StoreError:
            self._note(reason=STORE_FAILED, used=False)
            return ()
        except Exception:  # noqa: BLE001 - whatever is wrong with vectors, the words are still there
            self._note(reason=SEARCH_FAILED, used=False)
            return ()
        # Both lists in one order: a row's place in it is its rank.
        return tuple(sorted((*found, *near), key=lambda one: (-one.similarity, -one.row)))

    def report(self, *, admitted: int, stale: int) -> Semantic:
        """See `SimilarityPort`."""
        return replace(self._report, admitted=admitted, stale=stale)

    def _load(self) -> Matrix:
        started = perf_counter()
        version = self._vectors.version(self._profile)
        matrix = self._memory.matrix(self._session, self._profile, version)
        if matrix is None:
            matrix = make_matrix(self._vectors.load(self._profile), self._profile.dimensions)
            self._memory.keep_matrix(self._session, self._profile, version, matrix)
        self._note(loading_ms=self._report.loading_ms + _since(started), sources=matrix.count)
        return matrix

    def _query(self, request: str) -> bytes | None:
        started = perf_counter()
        vector = self._memory.query(self._profile, request)
        cache: Literal["hit", "miss"] = "hit"
        if vector is None:
            cache = "miss"
            texts = self._clear(request)
            if texts is None:
                self._note(reason=PRIVACY_EXCLUDED)
                return None
            outcome = self._embed(texts, "query")
            if outcome.reason is not None:
                self._note(reason=outcome.reason)
                return None
            (vector,) = outcome.values
            self._memory.keep_query(self._profile, request, vector)
        self._note(cache=cache, embedding_ms=self._report.embedding_ms + _since(started))
        return vector

    def _note(self, **changes: object) -> None:
        self._report = replace(self._report, **changes)


def _since(started: float) -> float:
    return (perf_counter() - started) * 1000


def _name(profile: Profile, request: str) -> bytes:
    """What stands for a request in memory: its hash."""
    data = f"{profile}\0{request}".encode("utf-8", "surrogatepass")
    return blake2b(data, digest_size=16).digest()
