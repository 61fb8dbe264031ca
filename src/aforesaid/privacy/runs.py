"""Floor 4, below `secrets`: the places of a literal in a text, of which not all need be looked at.

`secrets` hands in a literal and what looks at a text where it stands. A text that is nothing but `password=` would have
all of its places looked at, each with what follows it. Where a text repeats itself, what was found in one repetition
is copied to the others instead; its beginning and its end are read. Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

    from aforesaid.privacy.forms import Place

    Look = Callable[[int], tuple[list[Place], int]]
    """Takes where the literal stands; gives what was found there, and from where to search on."""

LEFT: Final = 192
"""Characters before a place that a rule looks at, at most."""
RIGHT: Final = 1152
"""Characters behind a place by which a rule decides, at most (`values.LONGEST`, and what stands before a value)."""
_PERIOD: Final = 160
"""The longest repetition that is looked for."""
_WITHIN: Final = 4
"""Places of the literal in one repetition, at most."""
_FEW: Final = 4
"""Repetitions between beginning and end that are worth copying to."""


def search(text: str, lower: str, literal: str, look: Look, found: list[Place]) -> None:
    """Looks at all places of a literal and adds what was found, in any order.

    Args:
        text: the text.
        lower: the same in small letters, one for one.
        literal: in small letters.
        look: looks at one place.
        found: grows.
    """
    at = lower.find(literal)
    begin = end = period = 0
    while at >= 0:
        if at >= end - RIGHT and at >= begin:
            period, length = _repetition(text, lower, literal, at)
            # Where nothing is repeated, the next place that is worth a try is not the next place.
            begin, end = (at, at + length) if length else (at + LEFT, 0)
        if begin + LEFT <= at < end - RIGHT - _FEW * period:
            at = _copy(lower, literal, look, found, at=at, period=period, last=end - RIGHT)
            begin = end  # the rest is looked at
        else:
            places, behind = look(at)
            found += places
            at = lower.find(literal, behind)


def _copy(lower: str, literal: str, look: Look, found: list[Place], *, at: int, period: int, last: int) -> int:
    """Looks at one repetition, or at some if what is found reaches from one into the next, and copies what was found.

    Returns:
        The first place that was neither looked at nor copied to, or -1.
    """
    place = at
    here: list[Place] = []
    while 0 <= place < at + period:
        places, behind = look(place)
        here += places
        place = lower.find(literal, behind)
    found += here
    width = place - at
    if place < 0 or width % period:
        return place
    times = max(1, (last - at) // width)
    for shift in range(width, times * width, width):
        found += [one._replace(start=one.start + shift, end=one.end + shift) for one in here]
    return lower.find(literal, at + times * width)


def _repetition(text: str, lower: str, literal: str, at: int) -> tuple[int, int]:
    """Length of what is repeated from a place on, and how far it goes on; zeros if nothing is that is worth it."""
    least = LEFT + RIGHT
    after = at
    for _ in range(_WITHIN):
        after = lower.find(literal, after + 1, at + _PERIOD + len(literal))
        if after < 0:
            break
        period = after - at
        if text[at : at + _PERIOD] == text[after : after + _PERIOD] and _same(text, at, after, least):
            return period, _length(text, at, after)
    return 0, 0


def _same(text: str, first: int, second: int, length: int) -> bool:
    """Whether so many characters are there, and the same, at two places."""
    return second + length <= len(text) and text[first : first + length] == text[second : second + length]


def _length(text: str, first: int, second: int) -> int:
    """How many characters from the first of two places on are the same as those from the second on, and are there."""
    low, high = 0, LEFT + RIGHT
    while _same(text, first, second, high):
        low, high = high, high * 2
    while high - low > 1:
        middle = (low + high) // 2
        # What is the same up to `low` need not be compared again.
        if _same(text, first + low, second + low, middle - low):
            low = middle
        else:
            high = middle
    return low
