"""Floor 4: what an explicit search looks for in a text, and where it stands.

`recall` makes one with `read_pattern` and asks it about texts; windows and the command line ask for places. Unlike the
items of automatic retrieval (`matching`), terms here stand anywhere, also inside words: a user who searches on purpose
gets what was typed. No pattern can hang: a regular expression is bounded in size when it is compiled and in time when
it runs (`docs/decisions/0013-recall.md`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, Protocol

from aforesaid.errors import BadArgument
from aforesaid.matching import MOST_PLACES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from aforesaid.inquiry import Match, Mode
    from aforesaid.matching import Place

MOST_TERMS: Final = 100
"""Distinct terms that are looked for if any of them is enough; a text that holds one of a thousand says nothing."""
LONGEST_PATTERN: Final = 10_000
"""Characters."""
LARGEST_PATTERN: Final = 20_000
"""Atoms of a pattern with its counted repetitions written out; what is below compiles within milliseconds."""
TEXT_SECONDS: Final = 0.25
"""Longest time for one text; a text that takes longer is undecided."""
_MATCHES: Final = 5
_LONGEST_MATCH: Final = 200


class Pattern(Protocol):
    """What a text is compared with.

    Attributes:
        items: the terms or the phrase; none of a regular expression.
        phrase: whether a match ranks as a phrase, not as a name.
        ordered: whether every text that matches holds the same items, so that the order does not depend on them.
        dropped: terms that are not looked for.
    """

    items: tuple[str, ...]
    phrase: bool
    ordered: bool
    dropped: int

    def matched(self, text: str) -> tuple[str, ...] | None:
        """The items that the text holds; empty: it does not match; None: undecided within its time."""
        ...

    def places(self, text: str) -> tuple[Place, ...]:
        """The first occurrences of every item, by start, then end, then item."""
        ...


def read_pattern(text: str, mode: Mode, match: Match) -> Pattern | None:
    """The pattern of a query, or None if the query is blank and everything matches.

    Raises:
        BadArgument: a regular expression is none, or could not be kept within its bounds.
    """
    if not text.strip():
        return None
    if mode == "regex":
        return Expression(text)
    if mode == "phrase":
        return Terms((text,), match_all=True, phrase=True)
    terms = tuple(dict.fromkeys(text.split()))
    if match == "any":
        return Terms(terms[:MOST_TERMS], match_all=False, dropped=len(terms[MOST_TERMS:]))
    return Terms(terms, match_all=True)


class Terms:
    """Texts that stand in a text as they are: all of them, or any."""

    __slots__ = ("_all", "_search", "dropped", "items", "ordered", "phrase")

    def __init__(self, items: tuple[str, ...], *, match_all: bool, phrase: bool = False, dropped: int = 0) -> None:
        """Takes at least one item, none of them empty."""
        self.items = items
        self.phrase = phrase
        self.dropped = dropped
        self.ordered = match_all or len(items) == 1
        self._all = match_all
        # The longest one is the rarest, most often.
        self._search = sorted(items, key=len, reverse=True)

    def matched(self, text: str) -> tuple[str, ...]:
        """The items that the text holds."""
        if not self._all:
            return tuple([item for item in self.items if item in text])
        for item in self._search:
            if item not in text:
                return ()
        return self.items

    def places(self, text: str) -> tuple[Place, ...]:
        """The first occurrences of every item."""
        return tuple(sorted((*place, index) for index, item in enumerate(self.items) for place in _spots(item, text)))


def _spots(item: str, text: str) -> Iterator[tuple[int, int]]:
    start = text.find(item)
    for _ in range(MOST_PLACES):
        if start < 0:
            return
        yield start, start + len(item)
        start = text.find(item, start + len(item))


class Expression:
    """A regular expression in the syntax of the `regex` library, case-sensitive unless it says otherwise."""

    __slots__ = ("_compiled", "dropped", "items", "ordered", "phrase")

    def __init__(self, text: str) -> None:
        """Compiles a pattern."""
        self.items: tuple[str, ...] = ()
        self.phrase = True
        self.ordered = True
        self.dropped = 0
        self._compiled = _compile(text)

    def matched(self, text: str) -> tuple[str, ...] | None:
        """What the pattern matched, the first few different ones; an empty match counts."""
        found: dict[str, None] = {}
        try:
            for match in self._compiled.finditer(text, timeout=TEXT_SECONDS):
                found[match.group()[:_LONGEST_MATCH]] = None
                if len(found) == _MATCHES:
                    break
        except (TimeoutError, MemoryError):
            return tuple(found) or None
        return tuple(found)

    def places(self, text: str) -> tuple[Place, ...]:
        """The first occurrences that are not empty, as far as they are found in time."""
        places: list[Place] = []
        try:
            for match in self._compiled.finditer(text, timeout=TEXT_SECONDS):
                start, end = match.span()
                if start < end:
                    places.append((start, end, 0))
                if len(places) == MOST_PLACES:
                    break
        except (TimeoutError, MemoryError):
            pass
        return tuple(places)


def _compile(text: str) -> Any:
    if len(text) > LONGEST_PATTERN:
        raise BadArgument(f"the pattern has {len(text):,} characters", f"use at most {LONGEST_PATTERN:,}")
    if _size(text) > LARGEST_PATTERN:
        raise BadArgument("the pattern repeats too much too often", "use smaller counts in braces")
    import warnings  # late: for patterns only

    import regex  # late: it costs 40 ms

    try:
        with warnings.catch_warnings():
            # About what may mean something else in a later version of the library.
            warnings.simplefilter("ignore")
            return regex.compile(text)
    except RecursionError as error:
        raise BadArgument("the pattern is nested too deeply", "use fewer parentheses") from error
    except (regex.error, ValueError, LookupError, TypeError, AttributeError, OverflowError, MemoryError) as error:
        said = " ".join(str(error).split()) or type(error).__name__
        raise BadArgument(f"the pattern cannot be read: {said}", "see the syntax of the `regex` library") from error


_TOKEN: Final = re.compile(r"\\.|\{\s*(\d*)\s*(?:,\s*(\d*)\s*)?\}|\(|\)|.", re.DOTALL)


def _size(pattern: str) -> int:
    """About how many atoms a pattern has once its counted repetitions are written out."""
    sums = [0]
    last = 0  # the atom or group that a repetition would repeat
    for token in _TOKEN.finditer(pattern):
        character = token.group()
        if character == "(":
            sums.append(0)
            last = 0
        elif character == ")" and len(sums) > 1:
            last = sums.pop()
            sums[-1] += last
        elif character[0] == "{" and len(character) > 1:
            times = max((int(count[:9]) for count in token.groups() if count), default=1)
            sums[-1] += last * max(0, times - 1)
            last *= max(1, times)
        elif character not in "*+?|":
            last = 1
            sums[-1] += 1
    return sum(sums)
