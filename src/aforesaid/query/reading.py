"""Floor 4: a request while it is read: what is left of it, and what was found where.

The passes of `quotes`, `names` and `words` take from it and add to it; `read_query` asks it for the `Query`. It knows
no language and no pattern but the ranges of scripts.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from aforesaid import text
from aforesaid.answers import Query

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    Span = tuple[int, int]

MOST: Final = {"identifiers": 32, "phrases": 16, "keywords": 48, "technologies": 16, "terms": 64}
"""The first so many items of a kind count."""

CATEGORIES: Final = ("name", "file", "symbol", "error")
"""Kinds of items that are identifiers."""

_FIRST_UNSPACED: Final = text.UNSPACED[0]
"""No character below belongs to a script without blanks."""


class Reading:
    """What is left of a request, in two forms of the same length, and the items that were found in it.

    Attributes:
        rest: the text with what was taken blanked.
        spaced: the same with scripts that write without blanks blanked too, so that a name ends where it meets them.
        found: place, kind and item: `phrase`, `technology`, `keyword`, `weak`, or one of `CATEGORIES`.
        guesses: the same of names that may as well be prose; nothing is taken for them.
        request: the text as it was.
        cut: whether something was left out that does not count any more.
    """

    def __init__(self, request: str) -> None:
        request = text.uncolour(request)
        self.request = request
        self.rest = request
        self.spaced = request
        self.found: list[tuple[int, str, str]] = []
        self.guesses: list[tuple[int, str, str]] = []
        self.cut = False
        if not request.isascii() and max(request) >= _FIRST_UNSPACED:
            self.spaced = re.sub(f"[{text.UNSPACED}]+", lambda run: " " * len(run.group()), request)

    def add(self, place: int, kind: str, item: str) -> None:
        """Notes an item of a kind."""
        self.found.append((place, kind, item))

    def guess(self, place: int, category: str, item: str) -> None:
        """Notes what may be a name of one of `CATEGORIES`."""
        self.guesses.append((place, category, item))

    def holds(self, *signs: str) -> bool:
        """Whether any of the signs stands in what is left: without one, a pattern need not be tried."""
        return any(sign in self.rest for sign in signs)

    def take(
        self, pattern: str, read: Callable[[re.Match[str]], Span | None], *, in_every_script: bool = False
    ) -> None:
        """Lets `read` decide on each match, and blanks what it took: the span that it returns.

        A pattern sees `spaced`, or `rest` where it has to read `in_every_script`.
        """
        taken: list[Span] = []
        done = 0
        for match in re.finditer(pattern, self.rest if in_every_script else self.spaced):
            span = read(match)
            if span is not None and span[0] >= done:
                taken.append(span)
                done = span[1]
        if taken:
            same = self.spaced is self.rest
            self.rest = _blank(self.rest, taken)
            self.spaced = self.rest if same else _blank(self.spaced, taken)

    def is_weak(self) -> bool:
        """Whether nothing but weak topics was found, guesses aside."""
        return all(kind == "weak" for _, kind, _ in self.found)

    def query(self) -> Query:
        """The items sorted by place, without repetition; weak topics only beside stronger ones, guesses after all."""
        if self.is_weak():
            self.found = []
        self.found.sort(key=_place)
        identifiers = self._first(dict.fromkeys(self._items(*CATEGORIES)), "identifiers")
        phrases = self._first(dict.fromkeys(self._items("phrase")), "phrases")
        technologies = self._first(_folded(self._items("technology")), "technologies")
        keywords = self._first(_folded(self._items("keyword", "weak")), "keywords")
        literals, topics = {*identifiers, *phrases}, {*technologies, *keywords}
        terms: dict[tuple[str, ...], str] = {}
        for _, kind, item in self.found:
            if item in (literals if kind in CATEGORIES or kind == "phrase" else topics):
                tokens = text.tokens(item)
                if tokens:
                    terms.setdefault(tokens, item)
        guessed = self._guessed(literals)
        if guessed:
            self.found = sorted((*self.found, *self.guesses), key=_place)
            kept = {*identifiers, *guessed}
            identifiers = tuple(dict.fromkeys(item for item in self._items(*CATEGORIES) if item in kept))
        kept = set(identifiers)
        return Query(
            identifiers=identifiers,
            phrases=phrases,
            files=tuple(dict.fromkeys(item for item in self._items("file") if item in kept)),
            symbols=tuple(dict.fromkeys(item for item in self._items("symbol") if item in kept)),
            errors=tuple(dict.fromkeys(item for item in self._items("error") if item in kept)),
            technologies=technologies,
            keywords=keywords,
            terms=self._first(terms.values(), "terms"),
            guessed=guessed,
            cut=self.cut,
        )

    def _guessed(self, literals: Collection[str]) -> tuple[str, ...]:
        """The guesses for which identifiers that are none leave room."""
        guesses = dict.fromkeys(item for _, _, item in sorted(self.guesses, key=_place) if item not in literals)
        room = MOST["identifiers"] - len(set(self._items(*CATEGORIES)))
        self.cut |= len(guesses) > max(0, room)
        return tuple(guesses)[: max(0, room)]

    def _first(self, items: Collection[str], kind: str) -> tuple[str, ...]:
        """As many items of a kind as count."""
        self.cut |= len(items) > MOST[kind]
        return tuple(items)[: MOST[kind]]

    def _items(self, *kinds: str) -> list[str]:
        return [item for _, kind, item in self.found if kind in kinds]


def _place(found: tuple[int, str, str]) -> int:
    return found[0]


def _blank(rest: str, taken: list[Span]) -> str:
    pieces: list[str] = []
    done = 0
    for start, end in taken:
        pieces += (rest[done:start], " " * (end - start))
        done = end
    return "".join((*pieces, rest[done:]))


def _folded(items: Iterable[str]) -> tuple[str, ...]:
    """The first spelling of each item counts, whatever its case and accents."""
    first: dict[str, str] = {}
    for item in items:
        first.setdefault(text.fold(item), item)
    return tuple(first.values())
