"""Floor 0: where a literal or a term stands in a text.

A store verifies with `Literal` before it counts towards a limit; `ranking` and `evidence` ask a `Probe` what holds and
where. Everything is exact: a full-text index only proposes, this module decides.
"""

from __future__ import annotations

from array import array
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Final

from aforesaid import text as _text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

Place = tuple[int, int, int]
"""Start and end in code points of the original text, and the index of the item in its list."""


def _joins(left: str, right: str) -> bool:
    """Whether two neighbouring characters belong to one word for a literal, in which the underscore joins."""
    if not ((left == "_" or _text.is_word(left)) and (right == "_" or _text.is_word(right))):
        return False
    return not (_text.is_unspaced(left) or _text.is_unspaced(right))


_SEPARATORS: Final = frozenset({"", *(chr(code) for code in range(128) if not chr(code).isalnum())})
"""Characters of ASCII, and the end of a text, that keep words apart whatever stands beside them."""
_BORDERS: Final = _SEPARATORS - {"_", "-"}
"""The same for literals, flags among them."""

MOST_PLACES: Final = 500
"""Occurrences of an item that are looked at in one text: a log of a million lines must not cost a second."""


class Literal:
    """A case-sensitive needle, found only where words begin and end with it.

    `foo` is not found in `foobar` or `foo_bar`, but in `foo-bar`, `foo.py` and `x/foo`; `--dry` is not found in
    `--dry-run`. Scripts without blanks have no word ends, and one begins where ASCII meets them. Nothing is normalised.
    """

    __slots__ = ("_flag", "needle")

    def __init__(self, needle: str) -> None:
        """Takes the needle verbatim; it must not be empty."""
        self.needle = needle
        self._flag = needle[0] == "-" and _text.is_word(needle.lstrip("-")[:1])

    def _read(self, text: str) -> str:
        """A text that holds the needle, as its words are told apart."""
        return text if "\x1b" in self.needle or "\x9b" in self.needle else _text.uncolour(text)

    def _bounded(self, text: str, start: int, end: int) -> bool:
        if text[start - 1 : start] in _BORDERS and text[end : end + 1] in _BORDERS:
            return True  # as below, and most are
        # Characters that the index drops do not separate: "foo" with a soft hyphen before "bar" is the word "foobar".
        while start > 0 and _text.vanishes(text[start - 1]) and not _text.is_word(text[start - 1]):
            start -= 1
        while end < len(text) and _text.vanishes(text[end]) and not _text.is_word(text[end]):
            end += 1
        before, after = text[start - 1 : start], text[end : end + 1]
        if before and (_joins(before, self.needle[0]) or (self._flag and (before == "-" or _text.is_word(before)))):
            return False
        return not (after and (_joins(self.needle[-1], after) or (self._flag and after == "-")))

    def places(self, text: str) -> Iterator[tuple[int, int]]:
        """Start and end of each occurrence, in order; occurrences do not overlap."""
        if self.needle not in text:
            return
        text = self._read(text)
        start = text.find(self.needle)
        while start >= 0:
            end = start + len(self.needle)
            if self._bounded(text, start, end):
                yield start, end
                start = text.find(self.needle, end)
            else:
                start = text.find(self.needle, start + 1)

    def found_in(self, text: str) -> bool:
        """Whether the text holds the needle."""
        start = text.find(self.needle)
        if start < 0:
            return False
        text = self._read(text)
        start = text.find(self.needle, start)
        while start >= 0:
            if self._bounded(text, start, start + len(self.needle)):
                return True
            start = text.find(self.needle, start + 1)
        return False

    @property
    def tokens(self) -> tuple[str, ...]:
        """The tokens that stand side by side in the index wherever the needle stands; empty: it has to be scanned.

        The last one is only the beginning of a token if `open_ended`.
        """
        first, last = self.needle[0], self.needle[-1]
        if any(_text.vanishes(edge) and not _text.is_word(edge) for edge in (first, last)):
            return ()
        # A mark, or a jamo, may melt with what precedes the needle; then the index holds other tokens.
        if not first.isascii() and (_text.compose("a" + first)[1] or "\u1100" <= first <= "\u11ff"):
            return ()
        if not self.needle.isascii() and any("\u1100" <= c <= "\u11ff" for c in self.needle):
            return ()
        return _text.tokens(self.needle)

    @property
    def open_ended(self) -> bool:
        """Whether the last token may go on in a text: a single last character of an unspaced script."""
        words = _text.words(self.needle)
        return bool(words) and len(words[-1]) == 1 and _text.is_unspaced(words[-1])


_REMEMBERED: Final = 8192
"""Characters up to which a folded text is remembered: requests of one session look into the same texts again.

A text that is all ASCII is lowered as fast as it is looked up, and would only drive others out.
"""
_folded = lru_cache(maxsize=1024)(_text.fold)


@lru_cache(maxsize=256)
def _offsets(text: str) -> array[int] | None:
    offsets = _text.fold_with_offsets(text)[1]
    return None if offsets is None else array("l", offsets)


def holds_all(needles: Iterable[str], text: str) -> bool:
    """Whether a text holds each of some needles literally."""
    return all(Literal(needle).found_in(text) for needle in needles)


class Folded:
    """A text with its lookup form and the way back, which is only made when it is asked for."""

    __slots__ = ("_offsets", "folded", "original")

    def __init__(self, text: str) -> None:
        """Folds the text once for any number of terms."""
        self.original = text = _text.uncolour(text)
        if text.isascii():
            self.folded = text.lower()
        else:
            self.folded = _folded(text) if len(text) <= _REMEMBERED else _text.fold(text)
        self._offsets: Sequence[int] | bool | None = False

    def origin(self, index: int) -> int:
        """The offset in the original text of a character of the folded one."""
        if self._offsets is False:
            short = len(self.original) <= _REMEMBERED
            self._offsets = _offsets(self.original) if short else _text.fold_with_offsets(self.original)[1]
        return index if self._offsets is None or isinstance(self._offsets, bool) else self._offsets[index]


class Term:
    """One topic of the full-text query: its words in order, whatever separates them, folded.

    A term begins and ends at the ends of words or of the parts of a camelCase name: `user` is found in `getUserById`
    and `user_id`, not in `username`.
    """

    __slots__ = ("_spelled", "_words", "sign", "text")

    def __init__(self, text: str) -> None:
        """Takes the item of the query verbatim."""
        self.text = text
        self._words = _text.words(text)
        self.sign = self._words[0] if self._words else ""
        """A folded text without it does not hold the term."""
        # All words with what stands between them: where that stands alone, so do they.
        self._spelled = self.sign if len(self._words) == 1 else ""
        if len(self._words) > 1 and text.isascii():
            lowered = text.lower()
            self._spelled = lowered[lowered.index(self.sign) : lowered.rindex(self._words[-1]) + len(self._words[-1])]

    @property
    def tokens(self) -> tuple[str, ...]:
        """Its tokens as the index holds them; empty if it has none and can never be found."""
        return _text.tokens(self.text)

    @property
    def open_ended(self) -> bool:
        """Whether the last token is only the beginning of one in the index (see `Literal.open_ended`)."""
        return bool(self._words) and len(self._words[-1]) == 1 and _text.is_unspaced(self._words[-1])

    def places(self, text: Folded) -> Iterator[tuple[int, int]]:
        """Start and end of each occurrence in the original text, in order, without overlap."""
        for start, end in self._occurrences(text):
            yield text.origin(start), text.origin(end)

    def found_in(self, text: Folded) -> bool:
        """Whether the text holds the term."""
        if not self._words:
            return False
        folded, spelled = text.folded, self._spelled
        if len(self._words) == 1 and text.original.isascii():
            return self._stands_in(text.original, folded, folded.find(spelled))
        if not all(word in folded for word in self._words):
            return False
        start = folded.find(spelled) if spelled else -1
        while start >= 0:
            end = start + len(spelled)
            if folded[start - 1 : start] in _SEPARATORS and folded[end : end + 1] in _SEPARATORS:
                return True  # as `_free` would find, which is asked only where that is not so plain
            start = folded.find(spelled, start + 1)
        return next(self._occurrences(text), None) is not None

    def _stands_in(self, original: str, folded: str, start: int) -> bool:
        """The same for one word from its first place on, as `_free` has it for ASCII: most texts are no more."""
        word = self._words[0]
        while start >= 0:
            end = start + len(word)
            if (not folded[start - 1 : start].isalnum() or _text.is_hump(original, start)) and (
                not folded[end : end + 1].isalnum() or _text.is_hump(original, end)
            ):
                return True
            start = folded.find(word, start + 1)
        return False

    def _occurrences(self, text: Folded) -> Iterator[tuple[int, int]]:
        """Start and end of each occurrence in the folded text."""
        if not self._words:
            return
        folded, first = text.folded, self._words[0]
        start = folded.find(first)
        while start >= 0:
            end = self._end(text, start)
            if end is None:
                start = folded.find(first, start + 1)
            else:
                yield start, end
                start = folded.find(first, end)

    def _end(self, text: Folded, start: int) -> int | None:
        """Where an occurrence that begins at `start` ends, or None if none begins there."""
        folded = text.folded
        index = start
        for place, word in enumerate(self._words):
            if place:
                while index < len(folded) and not _text.is_word(folded[index]):
                    index += 1
                if not folded.startswith(word, index):
                    return None
            if not _free(text, index):
                return None
            index += len(word)
            if not _free(text, index):
                return None
        return index


class Inflected(Term):
    """A term of one word that any form of the word matches: its root with one of the known endings."""

    __slots__ = ("_endings", "_longest", "_root")

    def __init__(self, text: str, root: str, endings: frozenset[str]) -> None:
        """Takes the item of the query verbatim, the folded beginning of its forms, and all that may follow it."""
        super().__init__(text)
        self._root = self.sign = root
        self._endings = endings
        self._longest = max(map(len, endings), default=0)

    def found_in(self, text: Folded) -> bool:
        """Whether the text holds a form of the term."""
        start = text.folded.find(self._root)
        if start < 0:
            return False
        if text.original.isascii():
            return self._stands_in(text.original, text.folded, start)
        return self._stands_plainly_in(text.original) or next(self._occurrences(text), None) is not None

    def _stands_plainly_in(self, original: str) -> bool:
        """Whether a form stands there in small letters of ASCII between others that separate words: no need to fold."""
        root = self._root
        if not root.isascii():
            return False
        start = original.find(root)
        while start >= 0:
            stop = end = start + len(root)
            if original[start - 1 : start] in _SEPARATORS:
                while "a" <= original[stop : stop + 1] <= "z" and stop - end <= self._longest:
                    stop += 1
                if original[stop : stop + 1] in _SEPARATORS and original[end:stop] in self._endings:
                    return True
            start = original.find(root, stop)
        return False

    def _stands_in(self, original: str, folded: str, start: int) -> bool:
        """The same from the first place of the root on, as `_free` has it for ASCII."""
        length = len(folded)
        while start >= 0:
            stop = end = start + len(self._root)
            if not folded[start - 1 : start].isalnum() or _text.is_hump(original, start):
                while stop < length and folded[stop].isalnum() and not _text.is_hump(original, stop):
                    stop += 1
                    if stop - end > self._longest:
                        break
                if folded[end:stop] in self._endings:
                    return True
            start = folded.find(self._root, stop)
        return False

    def _occurrences(self, text: Folded) -> Iterator[tuple[int, int]]:
        folded = text.folded
        start = folded.find(self._root)
        while start >= 0:
            end = start + len(self._root)
            while end < len(folded) and not _free(text, end):
                end += 1
            if folded[start + len(self._root) : end] in self._endings and _free(text, start):
                yield start, end
            start = folded.find(self._root, end)


def _free(text: Folded, index: int) -> bool:
    """Whether a word of a term may begin (or end) at this place of the folded text."""
    folded = text.folded
    if index == 0 or index == len(folded):
        return True
    left, right = folded[index - 1], folded[index]
    if left.isascii() and right.isascii():
        # By far the most of them, and two questions are enough.
        if not (left.isalnum() and right.isalnum()):
            return True
    elif not _text.is_word(left) or not _text.is_word(right):
        return True
    elif _text.is_unspaced(left) or _text.is_unspaced(right):
        # Inside a run every place is free; at its edge the other script begins or ends.
        return True
    origin = text.origin(index)
    if origin == text.origin(index - 1):
        return False
    return _text.is_hump(text.original, origin)


def _no_endings(_: str) -> frozenset[str]:
    return frozenset({""})


class Probe:
    """All items of a query, ready to be looked for in many texts."""

    __slots__ = ("_identifiers", "_phrases", "_terms")

    def __init__(
        self,
        identifiers: Sequence[str],
        phrases: Sequence[str],
        terms: Sequence[str],
        roots: Mapping[str, str] | None = None,
        endings: Callable[[str], frozenset[str]] = _no_endings,
    ) -> None:
        """Takes the items verbatim, in the query's order.

        Args:
            identifiers: found literally.
            phrases: found literally.
            terms: found as words, whatever their case and accents.
            roots: by term, for terms that other forms of the word match too.
            endings: what may follow a root, by its last letter.
        """
        known = roots or {}
        self._identifiers = tuple(Literal(item) for item in identifiers)
        self._phrases = tuple(Literal(item) for item in phrases)
        self._terms = tuple(
            Inflected(item, known[item], endings(known[item][-1:])) if item in known else Term(item) for item in terms
        )

    @property
    def literals(self) -> int:
        """How many of its items are identifiers or phrases; they come first."""
        return len(self._identifiers) + len(self._phrases)

    @property
    def items(self) -> int:
        """How many items it looks for."""
        return self.literals + len(self._terms)

    def matched(self, text: str) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
        """The identifiers, phrases and terms that the text holds."""
        folded = Folded(text)
        return (
            tuple([item.needle for item in self._identifiers if item.found_in(text)]) if self._identifiers else (),
            tuple([item.needle for item in self._phrases if item.found_in(text)]) if self._phrases else (),
            tuple([item.text for item in self._terms if item.sign in folded.folded and item.found_in(folded)]),
        )

    def places(self, text: str) -> tuple[Place, ...]:
        """The first `MOST_PLACES` occurrences of every item, by start, then end, then item.

        Items are numbered identifiers first, then phrases, then terms.
        """
        folded = Folded(text)
        literals = (*self._identifiers, *self._phrases)
        found = [
            (start, end, index)
            for index, item in enumerate(literals)
            for start, end in islice(item.places(text), MOST_PLACES)
        ]
        found += [
            (start, end, index)
            for index, item in enumerate(self._terms, len(literals))
            for start, end in islice(item.places(folded), MOST_PLACES)
        ]
        return tuple(sorted(found))
