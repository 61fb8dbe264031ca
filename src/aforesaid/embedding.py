"""Floor 1, beside `model`: the values of semantic retrieval.

`embedders` make vectors, `storage/sqlite/vectors` keeps them, `semantic` brings both together and hands `Similar` rows
to `retrieval`. With `retrieval.semantic` off nothing imports this. All are frozen; sequences are tuples.
"""

from __future__ import annotations

from array import array  # noqa: TC003 - msgspec resolves the annotations of its structs
from math import inf
from typing import Final, Literal

from msgspec import Struct

Destination = Literal["local", "remote"]
Purpose = Literal["source", "query"]

LOCAL_PROVIDER: Final = "aforesaid-local"
"""Provider of every model that runs in this process."""

PORT_MISSING: Final = "port-missing"
PORT_MISMATCH: Final = "port-mismatch"
CONSENT_MISSING: Final = "consent-missing"
POLICY_MISSING: Final = "privacy-disabled"
RULES_MISSING: Final = "provider-rules-missing"
MODEL_UNKNOWN: Final = "model-unknown"
MODEL_UNAVAILABLE: Final = "model-unavailable"
INVALID_DIMENSIONS: Final = "invalid-dimensions"
FAILED: Final = "embedding-failed"
TIMEOUT: Final = "embedding-timeout"
WRONG_COUNT: Final = "embedding-count"
INVALID_VECTOR: Final = "embedding-invalid"
PRIVACY_EXCLUDED: Final = "privacy-excluded"
STORE_FAILED: Final = "vector-store-failed"
SEARCH_FAILED: Final = "vector-search-failed"

REASONS: Final = (
    *(PORT_MISSING, PORT_MISMATCH, CONSENT_MISSING, POLICY_MISSING, RULES_MISSING, MODEL_UNKNOWN, MODEL_UNAVAILABLE),
    *(INVALID_DIMENSIONS, FAILED, TIMEOUT, WRONG_COUNT, INVALID_VECTOR, PRIVACY_EXCLUDED, STORE_FAILED, SEARCH_FAILED),
)
"""Why a retrieval used no vectors; `docs/semantic.md` lists each with a remedy."""

HASH_BYTES: Final = 16


class Profile(Struct, frozen=True, kw_only=True):
    """Which model makes vectors, and where it runs. Vectors of different profiles are never compared.

    Attributes:
        provider: who runs it: `aforesaid-local`, or the name that `privacy.remoteProviders` gives rules for.
        model: its name there.
        dimensions: numbers of a vector.
        destination: whether texts stay on this machine.
    """

    provider: str
    model: str
    dimensions: int
    destination: Destination = "local"

    @property
    def name(self) -> str:
        """`provider/model`, as `retrieval.embedding.remoteProfiles` names it."""
        return f"{self.provider}/{self.model}"


class Vectors(Struct, frozen=True, kw_only=True):
    """What a call to an embedding port gave.

    Attributes:
        values: for each text little-endian float32 of a vector of length 1; empty if the call failed.
        reason: one of `REASONS` if it failed.
    """

    values: tuple[bytes, ...] = ()
    reason: str | None = None


class Passage(Struct, frozen=True, kw_only=True, gc=False):
    """A stretch of an entry's text that has a vector of its own.

    Attributes:
        row: of the entry, in its session.
        start, end: code points of the entry's text.
        hash: 16 bytes of the stretch's exact text (BLAKE2b).
    """

    row: int
    start: int
    end: int
    hash: bytes


class Held(Struct, frozen=True, kw_only=True):
    """The vectors of one session and profile, as columns; entry n of each belongs to passage n.

    Attributes:
        rows, starts, ends: as in `Passage` (unsigned, 4 bytes).
        hashes: 16 bytes each.
        vectors: little-endian float32, `dimensions` each; empty if they were not asked for.
    """

    rows: array[int]
    starts: array[int]
    ends: array[int]
    hashes: bytes
    vectors: bytes

    def passage(self, place: int) -> Passage:
        """One of the passages."""
        return Passage(
            row=self.rows[place],
            start=self.starts[place],
            end=self.ends[place],
            hash=self.hashes[place * HASH_BYTES : (place + 1) * HASH_BYTES],
        )


class Covered(Struct, frozen=True, kw_only=True):
    """Which rows of a session have been looked at for a profile: all from `low` to `high`.

    Whatever of them should have vectors has them.

    Attributes:
        low, high: rows; none if `low` is above `high`.
        generation: of the session then.
        tail: what tells the entry in row `high` from any other.
        excluded: sources that the privacy policy kept from a remote model.
    """

    low: int
    high: int
    generation: int
    tail: bytes
    excluded: int = 0


class Similar(Struct, frozen=True, kw_only=True, gc=False):
    """A row that the vector search found, by its best passage.

    Attributes:
        row: of the entry.
        similarity: cosine to the query, rounded to six decimals.
        start, end: of the passage.
        hash: of the passage when its vector was made.
        standing: how many standard deviations it is more similar than the mean of the other passages that were looked
            at and of `PEERS` unrelated ones (see `Usual`), rounded to two decimals; 0.0 where nobody asked for it.
    """

    row: int
    similarity: float
    start: int
    end: int
    hash: bytes
    standing: float = 0.0


PEERS: Final = 30
"""Unrelated passages that count beside those of a branch, so that little of it says little of what stands out."""


class Usual(Struct, frozen=True, kw_only=True):
    """How similar a request and a passage that have nothing to do with each other are.

    Attributes:
        middle: mean over such pairs.
        spread: their standard deviation.
    """

    middle: float
    spread: float


class Scale(Struct, frozen=True, kw_only=True):
    """How similarities of one model count; `docs/semantic.md` says how the figures were measured.

    Attributes:
        plain: from here on a row counts that holds something of the request. One in a hundred pairs of a request and
            a passage that have nothing to do with each other reaches it.
        strict: from here on a row is brought up by its vector alone.
        weight: of the vector channel beside the lexical one, whose weight is 1.
        likely, standing: a row is also brought up if it reaches `likely` and stands out from the others of its
            session by `standing` deviations. Of sessions that have nothing to do with a request one in a hundred holds
            a row that does both. Without a number here `strict` alone decides.
        usual: what unrelated pairs have, for a branch with few passages; None: nothing stands out.
    """

    plain: float
    strict: float
    weight: float
    likely: float = 0.0
    standing: float = inf
    usual: Usual | None = None

    def admits(self, similar: Similar) -> bool:
        """Whether a row is brought up by its vector alone."""
        return similar.similarity >= self.strict or (
            similar.standing >= self.standing and similar.similarity >= self.likely
        )
