"""Embedding ports for tests: one that records what it was asked, and words that mean the same."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING
from zlib import crc32

from aforesaid.embedding import Profile
from aforesaid.semantic.calibration import PASSAGES, REQUESTS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from aforesaid.embedding import Destination, Purpose
    from aforesaid.model import Cleared

MEANINGS = (
    ("car", "vehicle", "automobile"),
    ("money", "cash", "funds"),
    ("doctor", "physician"),
    ("boat", "ship", "vessel"),
    ("garden", "yard"),
    ("house", "dwelling", "residence"),
)
"""Words that the recorder takes for the same; no list of the product has them."""


OWN = frozenset((*REQUESTS, *PASSAGES))
"""Texts that every model is asked about first, which are nobody's."""


class Recorder:
    """Makes vectors of meanings, and remembers each call."""

    def __init__(
        self,
        provider: str = "test",
        model: str = "meanings",
        dimensions: int = 64,
        destination: Destination = "local",
        fault: Callable[[Sequence[str]], object] | None = None,
    ) -> None:
        self.profile = Profile(provider=provider, model=model, dimensions=dimensions, destination=destination)
        self.calls: list[tuple[tuple[str, ...], Purpose, str]] = []
        self.fault = fault

    @property
    def texts(self) -> list[str]:
        return [text for texts, _, _ in self.calls for text in texts if text not in OWN]

    @property
    def queries(self) -> list[str]:
        return [text for texts, purpose, _ in self.calls if purpose == "query" for text in texts if text not in OWN]

    def embed(self, texts: Cleared[str], purpose: Purpose) -> Sequence[Sequence[float]]:
        self.calls.append((texts.values, purpose, texts.provider))
        if self.fault is not None:
            return self.fault(texts.values)  # type: ignore[return-value]
        return [self.vector(text) for text in texts.values]

    def vector(self, text: str) -> list[float]:
        values = [0.0] * self.profile.dimensions
        words = text.lower().replace(".", " ").replace("?", " ").split()
        for place, meaning in enumerate(MEANINGS):
            values[place] = float(sum(word in meaning for word in words))
        others = " ".join(word for word in words if not any(word in meaning for meaning in MEANINGS))
        # The rest of a text weighs a little, each in a direction of its own.
        room = self.profile.dimensions - len(MEANINGS)
        for number in range(16):
            hashed = crc32(f"{number}{others}".encode("utf-8", "replace"))
            values[len(MEANINGS) + hashed // 2 % room] += 0.08 if hashed % 2 else -0.08
        length = sqrt(sum(value * value for value in values))
        return [value / length for value in values]


def settings(port: Recorder, **more: object) -> dict[str, object]:
    """Settings that name a port, with semantic search on."""
    return {
        "retrieval.semantic": True,
        "retrieval.embedding.mode": port.profile.destination,
        "retrieval.embedding.provider": port.profile.provider,
        "retrieval.embedding.model": port.profile.model,
        "retrieval.embedding.dimensions": port.profile.dimensions,
    } | {key.replace("__", "."): value for key, value in more.items()}
