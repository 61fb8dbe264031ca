"""Floor 4: technologies and keywords: what is left of a request once its names are taken.

`read_query` runs these passes last. Every word is looked up folded, and kept as it is written.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from aforesaid import language, text
from aforesaid.language import others, shapes, technologies
from aforesaid.query.reading import MOST

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aforesaid.query.reading import Reading

    Piece = tuple[int, str]

_LONGEST_WORD: Final = 64
"""Longer words are encoded data."""
_MOST_WORDS: Final = 1000
"""Words that are looked up in a request; the first topics stand among them."""
_LONG_NUMBER: Final = 4
"""Digits from which on a number is a topic: a port, an amount; shorter ones count steps and options."""
_LONGEST_SEGMENT: Final = 4
"""Characters of a piece of Chinese, Japanese or Thai that are one topic; longer ones are read as overlapping pairs."""
_LONGEST_LOANWORD: Final = 8
"""The same for katakana, which spells one foreign word as a rule."""
_SHORT: Final = 400
"""Characters of a request that may be a parting; longer ones are about something."""
_FORMULAS: Final = tuple([tuple(formula.split()) for formula in others.PARTINGS])
_BETWEEN: Final = r"[\s'’ʼ,-]{1,3}"
"""What stands between the words of a formula."""
_FIRST_UNSPACED: Final = text.UNSPACED[0]


def _partings(reading: Reading) -> None:
    """Takes formulas of parting, for their words may be topics elsewhere: "das war's"."""
    if len(reading.rest) > _SHORT:
        return
    lowered = reading.rest.lower()
    for words in _FORMULAS:
        if words[0] in lowered and all(word in lowered for word in words):
            reading.take(rf"(?i)(?<!\w){_BETWEEN.join(words)}(?!\w)", re.Match.span)


def _tongues(reading: Reading) -> None:
    """Reads the language in which an answer is wanted as a weak topic: "in English please"."""

    def tongue(match: re.Match[str]) -> tuple[int, int]:
        reading.add(match.start(1), "weak", match.group(1))
        return match.span(1)

    if re.search(shapes.BEFORE_A_TONGUE, reading.rest):
        from aforesaid.language import tongues  # late: few requests say in which language

        reading.take(rf"{shapes.BEFORE_A_TONGUE}({'|'.join(tongues.NAMES)})(?![\w-])", tongue)


def _spelled(reading: Reading) -> None:
    def technology(match: re.Match[str]) -> tuple[int, int]:
        reading.add(match.start(), "technology", match.group())
        return match.span()

    lowered = reading.rest.lower()
    if any(sign in lowered for sign in technologies.SPELLED_SIGNS):
        reading.take(shapes.SPELLED, technology)


def _words(reading: Reading) -> None:
    shouted = reading.rest.isupper()
    seen: set[str] = set()
    looked_at = 0
    pattern = shapes.WORD if reading.rest.isascii() else shapes.MARKED_WORD
    for match in re.finditer(pattern, reading.rest):
        # The bound below counts topics; what comes after them may still name a technology.
        if len(seen) >= MOST["keywords"] or looked_at >= _MOST_WORDS:
            reading.cut = reading.cut or looked_at >= _MOST_WORDS or _adds(match.group(), seen)
            if text.fold(match.group()) in technologies.NAMES:
                reading.add(match.start(), "technology", match.group())
            continue
        for start, word in _pieces(match.start(), match.group()):
            kind = "technology" if word in technologies.CAPITALS and not shouted else _kind_of(word)
            if kind is not None:
                reading.add(start, kind, word)
                if kind != "technology":
                    seen.add(text.fold(word))
            looked_at += 1
            if len(seen) >= MOST["keywords"] or looked_at >= _MOST_WORDS:
                reading.cut = reading.cut or _adds(match.group(), seen)
                break


def _adds(word: str, seen: set[str]) -> bool:
    """Whether a word that is not looked up any more would be one more topic."""
    return any(_kind_of(piece) in ("keyword", "weak") and text.fold(piece) not in seen for _, piece in _pieces(0, word))


def _pieces(start: int, word: str) -> Iterator[Piece]:
    """The words within one: behind an apostrophe or a dot, of different scripts, of scripts without blanks."""
    if word.isascii() and word.isalnum():
        yield start, word
    elif "'" in word or "’" in word or "ʼ" in word:
        if not _is_no_topic(re.sub("['’ʼ]", "", word)):
            yield from _divided(start, word, "[^'’ʼ]+")
    elif "." in word and text.fold(word) in shapes.ABBREVIATIONS:
        return
    elif "." in word and not re.fullmatch(shapes.VERSION, word) and not re.fullmatch(shapes.AMOUNT, word.casefold()):
        yield from _divided(start, word, r"[^.]+")
    elif max(word) < _FIRST_UNSPACED:
        yield start, word
    else:
        for run in re.finditer(shapes.SCRIPT_RUN, word):
            piece, at = run.group(), start + run.start()
            if text.is_unspaced(piece[0]):
                yield from _segments(at, piece)
            else:
                stripped = piece.strip("-")
                if stripped:
                    yield at + piece.index(stripped), stripped


def _divided(start: int, word: str, pattern: str) -> Iterator[Piece]:
    for part in re.finditer(pattern, word):
        yield from _pieces(start + part.start(), part.group())


def _segments(start: int, run: str) -> Iterator[Piece]:
    """The topics of a run without blanks: pieces between function words, longer ones as overlapping pairs."""
    if _is_no_topic(run):
        return
    for match in re.finditer(shapes.SEGMENT, run):
        piece, at = match.group(), start + match.start()
        if "\uac00" <= piece[0] <= "\ud7a3":
            stem = re.sub(shapes.KOREAN_ENDING, "", piece) if len(piece) > 2 else piece
            if len(stem) > 1 and not _is_no_topic(piece) and not _is_no_topic(stem):
                yield at, stem
        elif piece[0] <= "\u0eff":
            yield from _between(at, piece, shapes.THAI_FILLER, _LONGEST_SEGMENT)
        elif piece[0] <= "\u30ff" and piece[0] >= "\u30a1":
            yield from _between(at, piece, shapes.NO_FILLER, _LONGEST_LOANWORD)
        elif not "\u3041" <= piece[0] <= "\u309f":
            filler = shapes.NO_FILLER if re.search(shapes.JAPANESE, run) else shapes.HAN_FILLER
            yield from _between(at, piece, filler, _LONGEST_SEGMENT)


def _between(start: int, run: str, filler: str, longest: int) -> Iterator[Piece]:
    """The pieces of a run between function words, each whole, or as its overlapping pairs if it is a long one."""
    position = 0
    for border in (*re.finditer(filler, run), None):
        end = len(run) if border is None else border.start()
        piece = run[position:end]
        if 1 < len(piece) <= longest and not _is_no_topic(piece):
            yield start + position, piece
        elif len(piece) > 2 and not _is_no_topic(piece):
            for at in range(len(piece) - 1):
                yield start + position + at, piece[at : at + 2]
        position = end if border is None else border.end()


def _kind_of(word: str) -> str | None:
    """Whether a word is a `keyword`, a `technology`, `weak`, or nothing."""
    folded = text.fold(word)
    is_no_topic = language.is_no_topic(folded)
    if folded in technologies.NAMES and (word[0].isupper() or not is_no_topic):
        return "technology"
    if is_no_topic or len(folded) > _LONGEST_WORD:
        return None
    if any(map(str.isdecimal, folded)):
        return _kind_of_number(folded)
    if len(folded) == 1 and not text.is_unspaced(folded):
        return None
    if language.is_weak(folded):
        return "weak"
    parts = _parts(folded)
    if len(parts) > 1 and all(language.is_no_topic(part) or language.is_weak(part) for part in parts):
        return "weak"
    if any(map(str.isalnum, folded)) and not _is_drawn_no_topic(folded):
        return "keyword"
    return None


def _parts(folded: str) -> list[str]:
    """The parts of a compound: between hyphens, or the pairs of four characters of Han."""
    if len(folded) == _LONGEST_SEGMENT and text.is_unspaced(folded[0]):
        return [folded[:2], folded[2:]]
    return folded.split("-")


def _kind_of_number(folded: str) -> str | None:
    """What a word with digits is: an amount or a version is a topic, a time to wait a weak one, a count is none."""
    if folded.isdecimal():
        return "keyword" if len(folded) >= _LONG_NUMBER else None
    if re.fullmatch(shapes.ORDINAL, folded):
        return None
    return "weak" if re.fullmatch(shapes.WAIT, folded) else "keyword"


def _is_no_topic(word: str) -> bool:
    folded = text.fold(word)
    return language.is_no_topic(folded) or _is_drawn_no_topic(folded)


def _is_drawn_no_topic(folded: str) -> bool:
    """Whether a word is no topic once its letters are not drawn out: "okkk", "graziee", "sìììì"."""
    if not re.search(shapes.DRAWN, folded):
        return False
    return any(language.is_no_topic(re.sub(shapes.DRAWN, letters, folded)) for letters in (r"\1\2", r"\1\1\2\2"))


PASSES: Final = (_partings, _tongues, _spelled, _words)
