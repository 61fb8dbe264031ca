"""Floor 6: `feature-hash-v1`: vectors of hashed words, their roots, and what they mean in software work.

Pure Python without dependencies, the same on every machine and in every version: hashes are BLAKE2b, and of arithmetic
only sums, products, quotients and square roots are used, which IEEE 754 rounds in one way. What a word contributes is
worked out once and remembered. It is no language model: words are alike if they share a root or a line of
`language/concepts`, whatever stands around them.
"""

from __future__ import annotations

from array import array
from functools import lru_cache
from math import sqrt
from typing import TYPE_CHECKING, Final

from aforesaid.digests import blake2b
from aforesaid.embedding import LOCAL_PROVIDER, Profile
from aforesaid.language import is_grammar, is_weak
from aforesaid.language.concepts import concept_of
from aforesaid.language.endings import root_of
from aforesaid.text import feed, is_unspaced, tokens

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aforesaid.embedding import Purpose
    from aforesaid.model import Cleared

WORD: Final = 0.6  # the word as it stands
ROOT: Final = 1.0  # what its forms share
CONCEPT: Final = 1.2  # what it means, where `language/concepts` knows that
WEAK: Final = 0.3  # of everything, for words of every session ("file", "run")
PAIR: Final = 0.7  # two characters of a script without blanks
_BEGINNING: Final = 5
"""Letters that stand for the root of a longer word in another alphabet, whose endings nobody lists."""
_PLACES_ALONE: Final = 8
_REMEMBERED: Final = 1 << 16

Weights = tuple[tuple[int, float], ...]
"""Places of a vector and what is added there."""


class FeatureHash:
    """The default `EmbeddingPort`."""

    def __init__(self, dimensions: int = 256) -> None:
        """Makes vectors of so many numbers."""
        self.profile: Profile = Profile(provider=LOCAL_PROVIDER, model="feature-hash-v1", dimensions=dimensions)
        self._weights = lru_cache(_REMEMBERED)(self._weigh)

    def embed(self, texts: Cleared[str], purpose: Purpose) -> Sequence[array[float]]:
        """See `EmbeddingPort`."""
        del purpose
        return [self.vector(text) for text in texts.values]

    def vector(self, text: str) -> array[float]:
        """The vector of a text, of length 1."""
        vector = [0.0] * self.profile.dimensions
        counts: dict[str, int] = {}
        for token in tokens(text):
            counts[token] = counts.get(token, 0) + 1
        for part in feed(text)[1].split():
            counts.setdefault(part, 1)
        for token, count in counts.items():
            times = sqrt(count) if count > 1 else 1.0
            for place, weight in self._weights(token):
                vector[place] += weight * times
        length = sqrt(sum([value * value for value in vector]))
        if length == 0.0:
            # Nothing but grammar and signs: it resembles itself alone.
            for number in range(_PLACES_ALONE):
                for place, weight in self._hashed("text", f"{number}:{text}", 1.0):
                    vector[place] += weight
            vector[0] += 0.5  # so that not all of them can cancel out
            length = sqrt(sum([value * value for value in vector]))
        return array("f", [value / length for value in vector])

    def _weigh(self, token: str) -> Weights:
        return tuple(weight for name, word, size in _features(token) for weight in self._hashed(name, word, size))

    def _hashed(self, name: str, word: str, size: float) -> Weights:
        """Where a feature stands: two places, so that two features rarely meet in both."""
        data = blake2b(f"{name}:{word}".encode("utf-8", "surrogatepass"), digest_size=16).digest()
        found = []
        for at in (0, 8):
            number = int.from_bytes(data[at : at + 8], "little")
            found.append((number // 2 % self.profile.dimensions, size if number % 2 else -size))
        return tuple(found)


def _features(token: str) -> Iterator[tuple[str, str, float]]:
    """The features of a folded token, with their weights."""
    if is_grammar(token):
        return
    if is_unspaced(token[0]):
        if len(token) > 1:
            yield "pair", token, PAIR
        return
    scale = WEAK if is_weak(token) else 1.0
    root = root_of(token) or (token if token.isascii() else token[:_BEGINNING])
    concept = concept_of(token)
    yield "word", token, WORD * scale
    yield "root", root, ROOT * scale
    if concept is not None:
        yield "concept", concept, CONCEPT
