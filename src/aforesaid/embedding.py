"""Floor 1, beside `model`: the values of semantic retrieval.

`embedders` make vectors, `storage/sqlite/vectors` keeps them, `semantic` brings both together and hands `Similar` rows
to `retrieval`. With `retrieval.semantic` off nothing imports this. All are frozen; sequences are tuples.
"""

from __future__ import annotations

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


class Similar(Struct, frozen=True, kw_only=True, gc=False):
    """A row that the vector search found, by its best passage.

    Attributes:
        row: of the entry.
        similarity: cosine to the query, rounded to six decimals.
        start, end: of the passage.
        hash: of the passage when its vector was made.
    """

    row: int
    similarity: float
    start: int
    end: int
    hash: bytes


class Floors(Struct, frozen=True, kw_only=True):
    """From which similarity on a text counts, for one model.

    Attributes:
        plain: for a row that holds something of the request: one in a hundred pairs of unrelated texts reaches it.
        strict: for a row that is brought up by its vector alone.
    """

    plain: float
    strict: float
