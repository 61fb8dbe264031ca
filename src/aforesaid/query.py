"""Floor 4: what a request asks for.

`retrieval` hands in the text of the latest real user message and gets a `Query`: literals that are searched as they
stand, and topics for the full-text search. Pure. A request without a topic gives an empty query, and then nothing is
searched. `docs/query.md` says with examples what counts as what.

The text is read in passes, from the most explicit to the least: backticks, quotes, URLs, paths, files, flags, errors,
hashes and addresses, names of code, technologies, words. What a pass has taken is blanked for the later ones.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Final

from aforesaid import language, text
from aforesaid.language import files, shapes, technologies
from aforesaid.model import Query

if TYPE_CHECKING:
    from collections.abc import Callable, Container

LONGEST: Final = 8_000
"""Characters read at the beginning and at the end of a request; the middle of a longer one is left out."""
MOST: Final = {"identifiers": 32, "phrases": 16, "keywords": 48, "technologies": 16, "terms": 64}
"""The first so many items of a kind count."""

_LONG_NUMBER: Final = 4
"""Digits from which on a number is a topic: a port, an amount; shorter ones count steps and options."""
_LONGEST_SEGMENT: Final = 4
"""Characters of a piece of Chinese or Japanese that are one topic; longer pieces are read as overlapping pairs."""


def read_query(request: str) -> Query:
    """The items of a request, verbatim, in order of appearance.

    Any text is a request. One without a topic, or with nothing but words that belong to every session ("fix the error
    and run the tests"), gives an empty query.
    """
    if len(request) > 2 * LONGEST:
        request = f"{request[:LONGEST]}\n{request[-LONGEST:]}"
    # Longer runs without a blank are data, not names; patterns that look ahead would be slow on them.
    reading = _Reading(re.sub(shapes.UNBROKEN, lambda run: " " * len(run.group()), request))
    for read in _PASSES:
        read(reading)
    return reading.query()


class _Reading:
    """A request that is being read: what is left of it, and what was found where."""

    def __init__(self, request: str) -> None:
        self.rest = request
        self.found: list[tuple[int, str, str]] = []  # place, kind, item

    def add(self, place: int, kind: str, item: str) -> None:
        """Notes an item of a kind: `phrase`, `technology`, `keyword`, `weak`, or an identifier's category."""
        self.found.append((place, kind, item))

    def take(self, pattern: str, read: Callable[[re.Match[str]], tuple[int, int] | None]) -> None:
        """Lets `read` decide on each match, and blanks what it took: the span that it returns."""
        blanked: list[str] = []
        done = 0
        for match in re.finditer(pattern, self.rest):
            span = read(match)
            if span is None or span[0] < done:
                continue
            blanked += (self.rest[done : span[0]], " " * (span[1] - span[0]))
            done = span[1]
        if blanked:
            self.rest = "".join((*blanked, self.rest[done:]))

    def query(self) -> Query:
        """The items sorted by place, without repetition."""
        self.found.sort(key=lambda item: item[0])
        kinds = {kind for _, kind, _ in self.found}
        if kinds <= {"weak"}:
            return Query()
        identifiers = self._items(*_CATEGORIES)
        phrases = self._items("phrase")
        technology_names = _folded_once(self._items("technology"))[: MOST["technologies"]]
        keywords = _folded_once(self._items("keyword", "weak"))[: MOST["keywords"]]
        kept = {*identifiers, *phrases, *technology_names, *keywords}
        terms: dict[tuple[str, ...], str] = {}
        for _, _, item in self.found:
            tokens = text.tokens(item) if item in kept else ()
            if tokens:
                terms.setdefault(tokens, item)
        return Query(
            identifiers=identifiers[: MOST["identifiers"]],
            phrases=phrases[: MOST["phrases"]],
            files=self._items("file")[: MOST["identifiers"]],
            symbols=self._items("symbol")[: MOST["identifiers"]],
            errors=self._items("error")[: MOST["identifiers"]],
            technologies=technology_names,
            keywords=keywords,
            terms=tuple(terms.values())[: MOST["terms"]],
        )

    def _items(self, *kinds: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys(item for _, kind, item in self.found if kind in kinds))


_CATEGORIES: Final = ("name", "file", "symbol", "error")


def _folded_once(items: tuple[str, ...]) -> tuple[str, ...]:
    first: dict[str, str] = {}
    for item in items:
        first.setdefault(text.fold(item), item)
    return tuple(first.values())


def classify(item: str) -> str:
    """The category of an explicit literal: `file`, `symbol`, `error`, or `name` for anything else."""
    if re.fullmatch(shapes.ERROR, item):
        return "error"
    if _is_file(item) or re.fullmatch(shapes.HIDDEN, item) or re.fullmatch(shapes.WELL_KNOWN, item):
        return "file"
    bare = item.removesuffix("()")
    if not re.search(r"\s", bare) and (
        re.fullmatch(shapes.QUALIFIED, item) or re.fullmatch(shapes.NAME, bare) or bare != item
    ):
        return "symbol"
    return "name"


def _pasted(reading: _Reading) -> None:
    """Pasted blocks give their names, not their words."""

    def read(match: re.Match[str]) -> tuple[int, int]:
        inner = _Reading(match.group().strip("`"))
        for find in _NAMING_PASSES:
            find(inner)
        reading.found += [(match.start() + place, kind, item) for place, kind, item in inner.found]
        return match.span()

    reading.take(shapes.PASTED, read)


def _ticked(reading: _Reading) -> None:
    def read(match: re.Match[str]) -> tuple[int, int]:
        item = (match.group(1) or match.group(2)).strip()
        if item:
            reading.add(match.start(), classify(item), item)
        return match.span()

    reading.take(shapes.TICKED, read)


def _quoted(reading: _Reading) -> None:
    def read(match: re.Match[str]) -> tuple[int, int]:
        item = next(group for group in match.groups() if group is not None).strip()
        if item:
            category = classify(item)
            if category != "name":
                reading.add(match.start(), category, item)
            reading.add(match.start(), "phrase", item)
        return match.span()

    reading.take(shapes.QUOTED, read)


def _urls(reading: _Reading) -> None:
    reading.take(shapes.URL, lambda match: _take_trimmed(reading, match))
    reading.take(shapes.MAIL, lambda match: _take_trimmed(reading, match))


def _take_trimmed(reading: _Reading, match: re.Match[str]) -> tuple[int, int]:
    """Takes a literal without the punctuation of the sentence around it."""
    item = match.group().rstrip(".,;:!?)]}»”’")
    reading.add(match.start(), "name", item)
    return match.start(), match.start() + len(item)


def _addresses(reading: _Reading) -> None:
    def number(match: re.Match[str]) -> tuple[int, int]:
        reading.add(match.start(1), "name", match.group(1))
        return match.span(1)

    reading.take(shapes.ADDRESS, lambda match: _take_trimmed(reading, match))
    reading.take(shapes.PORT, number)


def _paths(reading: _Reading) -> None:
    def read(match: re.Match[str]) -> tuple[int, int] | None:
        item = match.group(1)
        if not _is_file(item):
            return None
        reading.add(match.start(1), "file", item)
        return match.span()

    def whole(match: re.Match[str]) -> tuple[int, int]:
        reading.add(match.start(), "file", match.group())
        return match.span()

    reading.take(shapes.PATH, read)
    reading.take(shapes.HIDDEN, whole)
    reading.take(shapes.WELL_KNOWN, whole)


def _is_file(item: str) -> bool:
    """Whether a word is a path or a file's name: not a version, an abbreviation, a date or two words with a slash."""
    segments = re.split(r"[\\/]", item)
    stem, dot, extension = segments[-1].rpartition(".")
    has_extension = bool(dot and stem.strip(".") and text.fold(extension) in files.EXTENSIONS)
    if len(segments) == 1:
        is_abbreviation = text.fold(item) in shapes.ABBREVIATIONS
        return has_extension and not is_abbreviation and not re.fullmatch(shapes.SPELLED, item) and not stem.isdigit()
    named = [segment for segment in segments if segment not in ("", ".", "..", "~")]
    if not named or all(re.fullmatch(r"[\d.]+", segment) for segment in named):
        return False
    rooted = segments[0] in ("", ".", "..", "~") or re.fullmatch(r"[A-Za-z]:", segments[0]) is not None
    if re.fullmatch(shapes.SPELLED, item) or all(_is_no_topic(segment) for segment in named):
        return False
    return (
        has_extension
        or rooted
        or len(named) > 2
        or any(segment.casefold() in files.FOLDERS or re.search(r"[\d._-]", segment) for segment in named)
    )


def _flags(reading: _Reading) -> None:
    def read(match: re.Match[str]) -> tuple[int, int]:
        reading.add(match.start(1), "name", match.group(1))
        return match.span(1)

    reading.take(shapes.FLAG, read)


def _errors(reading: _Reading) -> None:
    def whole(match: re.Match[str]) -> tuple[int, int]:
        reading.add(match.start(), "error", match.group())
        return match.span()

    def number(match: re.Match[str]) -> tuple[int, int]:
        reading.add(match.start(1), "error", match.group(1))
        return match.span(1)

    reading.take(shapes.ERROR, whole)
    reading.take(shapes.CODED_ERROR, number)


def _codes(reading: _Reading) -> None:
    def read(match: re.Match[str]) -> tuple[int, int] | None:
        if re.fullmatch(shapes.NO_TICKETS, match.group()):
            return None
        reading.add(match.start(), "name", match.group())
        return match.span()

    reading.take(shapes.HASH, read)
    reading.take(shapes.TICKET, read)


def _symbols(reading: _Reading) -> None:
    def qualified(match: re.Match[str]) -> tuple[int, int] | None:
        item = match.group()
        bare = item.removesuffix("()")
        parts = re.split(r"::|->|#|\.", bare)
        dotted = "." in bare and "::" not in bare and "->" not in bare
        if dotted and (
            text.fold(bare) in shapes.ABBREVIATIONS
            or re.fullmatch(shapes.SPELLED, bare)
            or (bare == item and all(_is_no_topic(part) or _is_weak(part) for part in parts))
            or (bare == item and len(parts) == 2 and not _looks_like_code(parts))
        ):
            return None
        host = dotted and bare == item and parts[-1] in files.TOP_DOMAINS and bare.islower()
        reading.add(match.start(), "name" if host else "symbol", bare)
        return match.span()

    def call(match: re.Match[str]) -> tuple[int, int]:
        reading.add(match.start(), "symbol", match.group(1))
        return match.span()

    def name(match: re.Match[str]) -> tuple[int, int] | None:
        item = match.group()
        if item in technologies.BRANDS or text.fold(item) in technologies.NAMES:
            return None
        if "_" not in item and not re.fullmatch(shapes.HUMPS, item):
            return None
        reading.add(match.start(), "symbol", item)
        return match.span()

    reading.take(shapes.QUALIFIED, qualified)
    reading.take(shapes.CALL, call)
    reading.take(shapes.NAME, name)


def _looks_like_code(parts: list[str]) -> bool:
    """Whether two words with a dot between them are a qualified name, and not the border of two sentences."""
    first, second = parts
    return min(len(first), len(second)) > 1 and (
        second.islower()
        or "_" in first + second
        or (first[0].isupper() and second[0].isupper() and len(second) > 2)
        or re.fullmatch(shapes.HUMPS, second) is not None
    )


def _technologies(reading: _Reading) -> None:
    def read(match: re.Match[str]) -> tuple[int, int]:
        reading.add(match.start(), "technology", match.group())
        return match.span()

    reading.take(shapes.SPELLED, read)


def _words(reading: _Reading) -> None:
    for match in re.finditer(shapes.WORD, reading.rest):
        for start, word in _pieces(match.start(), match.group())[: MOST["terms"]]:
            kind = _kind_of(word)
            if kind is not None:
                reading.add(start, kind, word)


def _pieces(start: int, word: str) -> list[tuple[int, str]]:
    """The words within one: behind an apostrophe, of different scripts, segments of scripts without blanks."""
    if word.isascii() and "'" not in word and "." not in word:
        return [(start, word)]
    pieces: list[tuple[int, str]] = []
    if "'" in word or "’" in word or "ʼ" in word:
        joined = re.sub("['’ʼ]", "", word)
        if _is_no_topic(joined):
            return []
        for part in re.finditer("[^'’ʼ]+", word):
            pieces += _pieces(start + part.start(), part.group())
        return pieces
    if "." in word and not re.fullmatch(shapes.VERSION, word) and not re.fullmatch(shapes.AMOUNT, word.casefold()):
        for part in re.finditer(r"[^.]+", word):
            pieces += _pieces(start + part.start(), part.group())
        return pieces
    for run in re.finditer(shapes.SCRIPT_RUN, word):
        piece, at = run.group(), start + run.start()
        if text.is_unspaced(piece[0]):
            pieces += _segments(at, piece)
        elif len(piece) > 1 or len(word) > 1:
            pieces.append((at, piece.strip("-")))
    return pieces


def _segments(start: int, run: str) -> list[tuple[int, str]]:
    """The topics of a run without blanks: pieces between function characters, longer ones as overlapping pairs."""
    if _is_no_topic(run):
        return []
    segments: list[tuple[int, str]] = []
    for match in re.finditer(shapes.SEGMENT, run):
        piece, at = match.group(), start + match.start()
        if "\uac00" <= piece[0] <= "\ud7a3":
            if not _is_no_topic(piece):
                segments.append((at, re.sub(shapes.KOREAN_ENDING, "", piece) if len(piece) > 2 else piece))
            continue
        filler = shapes.HIRAGANA if re.search(shapes.JAPANESE, run) else shapes.HAN_FILLER
        position = 0
        for border in (*re.finditer(filler, piece), None):
            end = len(piece) if border is None else border.start()
            if end - position > 1 and not _is_no_topic(piece[position:end]):
                segments.append((at + position, piece[position:end]))
            position = end if border is None else border.end()
    return [pair for at, segment in segments for pair in _pairs(at, segment)]


def _pairs(start: int, segment: str) -> list[tuple[int, str]]:
    if len(segment) <= _LONGEST_SEGMENT or "\uac00" <= segment[0] <= "\ud7a3":
        return [(start, segment)]
    return [(start + at, segment[at : at + 2]) for at in range(len(segment) - 1)]


def _kind_of(word: str) -> str | None:
    """Whether a word is a `keyword`, a `technology`, `weak`, or nothing."""
    folded = text.fold(word)
    if not any(character.isalnum() for character in folded):
        return None
    if folded.isdigit():
        return "keyword" if len(folded) >= _LONG_NUMBER else None
    if re.fullmatch(shapes.AMOUNT, folded) or re.fullmatch(shapes.VERSION, folded):
        return "keyword"
    if folded in technologies.NAMES:
        return "technology"
    if (
        (len(folded) == 1 and not text.is_unspaced(folded))
        or _is_no_topic(word)
        or re.fullmatch(shapes.ORDINAL, folded)
    ):
        return None
    parts = folded.split("-")
    if _is_weak(word) or (len(parts) > 1 and all(_is_no_topic(part) or _is_weak(part) for part in parts)):
        return "weak"
    return "keyword"


@cache
def _no_topics() -> Container[str]:
    return language.no_topics()


@cache
def _weak_topics() -> frozenset[str]:
    return language.weak_topics()


def _is_no_topic(word: str) -> bool:
    folded = text.fold(word)
    if folded in _no_topics():
        return True
    # "okkk", "graziee", "sìììì": a letter three times, or twice at the end, is how people write enthusiasm.
    if not re.search(shapes.DRAWN, folded):
        return False
    return any(re.sub(shapes.DRAWN, letters, folded) in _no_topics() for letters in (r"\1\2", r"\1\1\2\2"))


def _is_weak(word: str) -> bool:
    return text.fold(word) in _weak_topics()


_NAMING_PASSES: Final = (_urls, _paths, _addresses, _errors, _codes, _symbols)
_PASSES: Final = (
    *(_pasted, _ticked, _quoted, _urls, _paths, _addresses, _flags),
    *(_errors, _codes, _technologies, _symbols, _words),
)
