"""Floor 4: what an index of words can know of a needle that may stand anywhere in a text, also inside words.

A search of many sessions asks a store which of them may hold what it looks for. A clue is true of every text that holds
the needle, as far as the words of its index form (`text.feed`) are concerned; so a session without such a word cannot
hold it. Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from unicodedata import category

from aforesaid import text as _text
from aforesaid.inquiry import Clue

if TYPE_CHECKING:
    from aforesaid.inquiry import Alternatives
    from aforesaid.patterns import Pattern

MOST_CLUES: Final = 12
"""Clues of one needle that are used; the longest say most."""


def find_clues(pattern: Pattern | None) -> Alternatives:
    """What is known of the texts that match a pattern; a single empty alternative if nothing is."""
    if pattern is None or not pattern.items:
        return ((),)
    needles = [_of_needle(item) for item in pattern.items]
    if len(needles) == 1 or not pattern.ordered:
        return tuple(map(_best, needles))
    return (_best(tuple(dict.fromkeys(clue for needle in needles for clue in needle))),)


def _best(clues: tuple[Clue, ...]) -> tuple[Clue, ...]:
    return tuple(sorted(clues, key=lambda clue: (-len(clue.token), clue.token, clue.kind))[:MOST_CLUES])


def _of_needle(needle: str) -> tuple[Clue, ...]:
    kept = _trim(needle)
    words = _text.words(kept)
    if not words:
        return ()
    clues: list[Clue] = []
    for place, word in enumerate(words):
        left = place == 0 and not _separates(kept[0])
        right = place == len(words) - 1 and not _separates(kept[-1])
        clues += _of_run(word, right=right) if _text.is_unspaced(word[0]) else [_of_word(word, left=left, right=right)]
    return tuple(dict.fromkeys(clues))


def _of_word(word: str, *, left: bool, right: bool) -> Clue:
    """The clue of a word that may go on to its left or right in a text."""
    if left:
        return Clue(kind="holds" if right else "ends", token=word)
    return Clue(kind="begins" if right else "is", token=word)


def _of_run(run: str, *, right: bool) -> list[Clue]:
    """The clues of a run of a script without blanks, which the index holds as overlapping pairs."""
    if len(run) == 1:
        return [Clue(kind="begins" if right else "is", token=run)]
    return [Clue(kind="is", token=run[place : place + 2]) for place in range(len(run) - 1)]


def _separates(character: str) -> bool:
    """Whether a character surely ends a word."""
    return character.isascii() and not character.isalnum()


def _trim(needle: str) -> str:
    """The needle without edges that may melt with what stands beside them in a text."""
    start, end = 0, len(needle)
    while start < end and _melts(needle[start]):
        start += 1
    while end > start and _melts(needle[end - 1]):
        end -= 1
    # A mark behind the last letter may belong to it; Latin letters lose theirs, ideographs have none.
    if end > start and not _stands_alone(needle[end - 1]):
        end -= 1
    return needle[start:end]


def _melts(character: str) -> bool:
    """Whether a character may become a part of the one before it."""
    if character.isascii():
        return False
    jamo = "\u1100" <= character <= "\u11ff" or "\ua960" <= character <= "\ua97f" or "\ud7b0" <= character <= "\ud7ff"
    return jamo or category(character)[0] == "M" or character in "\uff9e\uff9f"


def _stands_alone(character: str) -> bool:
    if character.isascii():
        return True
    kana = "\u3040" <= character <= "\u30ff" or "\uff66" <= character <= "\uff9d"
    return _text.is_unspaced(character) and not kana
