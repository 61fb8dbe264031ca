"""Floor 5: texts as bags of words, for the cosine with a request and for how much two bundles say the same.

Words are the tokens of the index, without words of grammar, each as the root that its forms share. What was made of an
exchange is kept, bounded, since the same exchanges are compared again and again. Pure but for that memory.
"""

from __future__ import annotations

from collections import Counter
from itertools import chain
from math import hypot, log, sqrt
from operator import mul
from typing import TYPE_CHECKING, Final
from zlib import crc32

from msgspec import Struct

from aforesaid.language import is_grammar
from aforesaid.language.endings import root_of
from aforesaid.text import tokens

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    Key = tuple[bytes, ...]

BITS: Final = 2048
"""Bits of a signature."""
MOST_WORDS: Final = 400_000
"""Different words of all bags that are kept, each bag's counted for itself."""
_MOST_ROOTS: Final = 100_000


class Bag(Struct, frozen=True, kw_only=True):
    """A text as words.

    Attributes:
        weights: for each word that stands in it 1 + ln of how often.
        signature: a bit for each word, by a hash of it.
    """

    weights: Mapping[str, float]
    signature: int


def read_bag(texts: Iterable[str]) -> Bag:
    """The words of some texts together."""
    # Dozens of exchanges are read for a request, so nothing here runs in Python once for each word but the bits.
    counts = Counter(map(_ROOTS.__getitem__, chain.from_iterable(map(tokens, texts))))
    del counts[""]
    weights = dict(zip(counts, map(_LOGS.__getitem__, counts.values()), strict=True))
    bits = bytearray(BITS // 8)
    for bit in map(_BITS.__getitem__, counts):
        bits[bit >> 3] |= 1 << (bit & 7)
    return Bag(weights=weights, signature=int.from_bytes(bits, "little"))


class _Roots(dict[str, str]):
    """What a token is compared as, empty for words of grammar; filled as tokens are met."""

    def __missing__(self, token: str) -> str:
        if len(self) >= _MOST_ROOTS:
            self.clear()
        self[token] = root = "" if is_grammar(token) else root_of(token) or token
        return root


class _Bits(dict[str, int]):
    """The bit of a root."""

    def __missing__(self, root: str) -> int:
        if len(self) >= _MOST_ROOTS:
            self.clear()
        self[root] = bit = crc32(root.encode("utf-8", "surrogatepass")) % BITS
        return bit


class _Logs(dict[int, float]):
    """1 + ln of a count."""

    def __missing__(self, count: int) -> float:
        if len(self) >= _MOST_ROOTS:
            self.clear()
        self[count] = weight = 1 + log(count)
        return weight


_ROOTS: Final = _Roots()
_BITS: Final = _Bits()
_LOGS: Final = _Logs()


class Bags:
    """Bags by the content that they were made of, bounded; the longest unused are forgotten."""

    def __init__(self, most: int = MOST_WORDS) -> None:
        """Takes the most words that are kept."""
        self._most = most // 2
        self._size = 0
        self._young: dict[Key, Bag] = {}
        self._old: dict[Key, Bag] = {}

    def get(self, key: Key, texts: Iterable[str]) -> Bag:
        """The bag of some texts with this key."""
        bag = self._young.get(key)
        if bag is None:
            bag = self._old.get(key) or read_bag(texts)
            self._keep(key, bag)
        return bag

    @property
    def words(self) -> int:
        """Words that are kept."""
        return sum(len(bag.weights) for bags in (self._young, self._old) for bag in bags.values())

    def _keep(self, key: Key, bag: Bag) -> None:
        size = len(bag.weights)
        if size > self._most:
            return
        self._size += size
        if self._size > self._most:
            self._old, self._young, self._size = self._young, {}, size
        self._young[key] = bag


class Comparison:
    """A request beside some bags.

    The weight of a word is (1 + ln count) * ln(1 + N / n), N bags of which n hold it; vectors are compared by their
    cosine (Salton and Buckley 1988, "ltc").
    """

    def __init__(self, request: Bag, bags: Sequence[Bag]) -> None:
        """Takes all bags that will be compared."""
        frequency = Counter(chain.from_iterable([bag.weights for bag in bags]))
        number = len(bags)
        worth = [0.0, *(log(1 + number / n) for n in range(1, number + 1))]
        self._idf = dict(zip(frequency, map(worth.__getitem__, frequency.values()), strict=True))
        rare = log(1 + number)
        self._asked = {word: weight * self._idf.get(word, rare) for word, weight in request.weights.items()}
        self._length = sqrt(sum([weight * weight for weight in self._asked.values()])) or 1.0
        self._mass = sum([self._idf.get(word, rare) for word in request.weights]) or 1.0

    def cosine(self, bag: Bag) -> float:
        """The cosine of request and bag, 0 to 1."""
        idf, weights = self._idf, bag.weights
        dot = sum([weight * weights[word] * idf[word] for word, weight in self._asked.items() if word in weights])
        if not dot:
            return 0.0
        length = hypot(*map(mul, weights.values(), map(idf.__getitem__, weights)))
        return min(1.0, dot / (length * self._length))

    def covered(self, bag: Bag) -> float:
        """Which part of the request stands in a bag, 0 to 1: its words, each by how rare it is."""
        return sum([self._idf[word] for word in self._asked if word in bag.weights]) / self._mass


def overlap(one: Bag, other: Bag) -> float:
    """How much two bags say the same, 0 to 1: the cosine of their sets of words, by their signatures."""
    counts = one.signature.bit_count() * other.signature.bit_count()
    return (one.signature & other.signature).bit_count() / sqrt(counts) if counts else 0.0
