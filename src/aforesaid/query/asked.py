"""Floor 4: what a question asks about, where a request names nothing else.

`read_query` hands in a reading in which only weak topics were found, or none, and then gets the words that are topics
because of where they stand: "which version?", "su quale porta ascolta?", "which car did we choose?". Orders with the
same words ("release it", "porta avanti") give none. Only words next to each other are looked at. Pure.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from aforesaid import language, text
from aforesaid.language import others, questions

if TYPE_CHECKING:
    from aforesaid.query.reading import Reading

_MOST_WORDS: Final = 1000
"""Words that are looked at, as in `words`."""
_WORD: Final = r"[^\W_](?:[^\W_]|[\u0300-\u036f])*(?:-[^\W_]+)*"
"""With accents that stand by themselves, as file names of macOS have them."""
_BORDER: Final = re.compile(r"[^\s'’ʼ¿¡\"“”«»]|\n")
"""What ends a clause between two words."""


class _Word(NamedTuple):
    """A word of the request.

    Attributes:
        place: where it begins.
        item: as it is written.
        folded: as it is looked up.
        begins: whether a clause begins with it.
    """

    place: int
    item: str
    folded: str
    begins: bool


def read_asked(reading: Reading) -> None:
    """Adds the words that the request asks about as keywords."""
    weak = {item for _, _, item in reading.found}
    if (_LEADING if weak else questions.OPENING_HOMOGRAPHS).isdisjoint(re.findall(r"\w+", text.fold(reading.rest))):
        return
    words = _words(reading.rest)
    for index, word in enumerate(words):
        if word.begins:
            continue
        if _is_read_at_home(word, words[index - 1]) or (
            word.item in weak
            and _is_noun(word.folded)
            and _is_asked(word, _clause(words, index), words[index + 1 : index + 2], reading)
        ):
            reading.add(word.place, "keyword", word.item)


_LEADING: Final = (
    questions.OPENING_HOMOGRAPHS
    | questions.DETERMINERS
    | questions.JOINING
    | questions.ARTICLES
    | {pair.split()[-1] for pair in questions.COUNTED}
)
"""What stands directly before any word that is asked about."""


def _words(rest: str) -> list[_Word]:
    words: list[_Word] = []
    end = 0
    for match in re.finditer(_WORD, rest):
        begins = not words or _BORDER.search(rest, end, match.start()) is not None
        words.append(_Word(match.start(), match.group(), text.fold(match.group()), begins))
        end = match.end()
        if len(words) == _MOST_WORDS:
            break
    return words


def _clause(words: list[_Word], index: int) -> tuple[_Word, ...]:
    """Up to four words of the same clause before one."""
    first = index
    while first > max(0, index - 4) and not words[first].begins:
        first -= 1
    return tuple(words[first:index])


def _is_read_at_home(word: _Word, before: _Word) -> bool:
    """Whether a word that is grammar elsewhere stands behind a determiner of English or Italian: "the car"."""
    if before.folded not in questions.OPENING_HOMOGRAPHS or len(word.folded) == 1:
        return False
    if before.folded not in questions.OPENING:
        return word.folded in others.homographs()
    return language.is_foreign(word.folded)


def _is_noun(folded: str) -> bool:
    """Whether a weak topic may be what is asked for, and not what is said of it."""
    if folded in questions.PREDICATES or not any(map(language.is_weak, (folded, *folded.split("-")))):
        return False
    return folded in questions.NOUNS or not folded.endswith(questions.VERBAL)


def _is_asked(word: _Word, before: tuple[_Word, ...], after: list[_Word], reading: Reading) -> bool:
    """Whether what stands before a weak topic asks about it."""
    last = before[-1].folded
    if len(before) > 1 and f"{before[-2].folded} {last}" in questions.COUNTED:
        return _asks(before[:-1])
    if last in questions.DETERMINERS or last in questions.JOINING:
        ends = not after or after[0].begins
        if last in questions.EXCLAIMING and ends and not _is_questioned(word, reading):
            return False
        if last in questions.JOINING and (
            (not ends and after[0].folded in questions.LEADING_ON)
            or (len(before) > 1 and before[-2].folded in questions.TELLING and word.folded not in questions.SETTINGS)
        ):
            return False
        return _asks(before)
    return _is_settled(word.folded, before)


def _asks(before: tuple[_Word, ...]) -> bool:
    """Whether a determiner, the last of these words, begins a question, and does not join or leave the choice.

    A clause begins with it, or what stands before it begins one or asks to be told.
    """
    rest = before[:-1]
    if rest and rest[-1].folded in questions.PREPOSITIONS:
        rest = rest[:-1]
    if not rest or rest[-1].folded in questions.TELLING:
        return True
    return len(rest) == 1 and rest[0].folded in questions.BEGINNING


def _is_settled(folded: str, before: tuple[_Word, ...]) -> bool:
    """Whether a question asks for the one value that a thing has: "when is the release?", "qual è la porta?"."""
    if folded not in questions.SETTINGS or len(before) < 2 or before[-1].folded not in questions.ARTICLES:
        return False
    if before[-2].folded in questions.ABOUT:
        return True
    return len(before) > 2 and before[-2].folded in questions.IS and before[-3].folded in questions.ASKING


def _is_questioned(word: _Word, reading: Reading) -> bool:
    """Whether a question mark follows."""
    return reading.rest[word.place + len(word.item) :].lstrip(" '\"’”»!").startswith(("?", "？"))
