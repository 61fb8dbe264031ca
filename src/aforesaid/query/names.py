"""Floor 4: what looks like a name: addresses, files, flags, errors, codes, names of code.

`read_query` runs these passes on what `quotes` has left, before `words`. Whatever is found is an identifier: it is
searched literally. What could as well be prose is left to `words`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from aforesaid import language, text
from aforesaid.language import files, shapes, technologies

if TYPE_CHECKING:
    from aforesaid.query.reading import Reading

    Span = tuple[int, int]

_LONGEST_NAME: Final = 64
"""Longer words are encoded data."""


def classify(item: str) -> str:
    """The category of an explicit literal: `file`, `symbol`, `error`, or `name` for anything else."""
    if re.search(r"\s", item):
        return "file" if re.fullmatch(shapes.SPACED_PATH, item) else "name"
    error = re.fullmatch(shapes.ERROR, item)
    if error and _is_error(error):
        return "error"
    if _is_file(item) or item in files.WELL_KNOWN:
        return "file"
    bare = item.removesuffix("()")
    if bare != item or re.fullmatch(shapes.QUALIFIED, item) or (re.fullmatch(shapes.NAME, bare) and _is_name(bare)):
        return "symbol"
    return "name"


def _addresses(reading: Reading) -> None:
    def trimmed(match: re.Match[str]) -> Span:
        item = match.group().rstrip(".,;:!?)]}»”’")
        reading.add(match.start(), "name", item)
        return match.start(), match.start() + len(item)

    if reading.holds("://", "www."):
        reading.take(shapes.URL, trimmed)
    if reading.holds("@"):
        reading.take(shapes.MAIL, trimmed)


def _hosts(reading: Reading) -> None:
    def whole(match: re.Match[str]) -> Span:
        reading.add(match.start(), "name", match.group())
        return match.span()

    def with_port(match: re.Match[str]) -> Span | None:
        host = match.group().partition(":")[0]
        if text.fold(host) in files.NO_HOSTS or language.is_no_topic(text.fold(host)):
            return None
        return whole(match)

    def port(match: re.Match[str]) -> Span:
        reading.add(match.start(1), "name", match.group(1))
        return match.span(1)

    def named(match: re.Match[str]) -> Span | None:
        labels = match.group().partition(":")[0].split(".")
        is_prose = labels[-1] in files.WORDS_AS_DOMAINS and _is_no_topic(labels[-2])
        return None if is_prose or text.fold(match.group()) in shapes.ABBREVIATIONS else whole(match)

    if reading.holds("localhost"):
        reading.take(shapes.LOCAL_HOST, whole)
    if reading.holds("."):
        reading.take(shapes.HOST, named)
    if re.search(r"\d\d", reading.rest):
        reading.take(shapes.IP_ADDRESS, whole)
        if reading.holds(":"):
            reading.take(shapes.HOST_AND_PORT, with_port)
            reading.take(shapes.COLON_AND_PORT, port)


def _files(reading: Reading) -> None:
    def path(match: re.Match[str]) -> Span | None:
        mention, item = match.group(1), match.group(2)
        if not _is_file(item, mentioned=bool(mention) and ("/" in item or "\\" in item)):
            return None
        reading.add(match.start(2), "file", item)
        return match.span()

    def well_known(match: re.Match[str]) -> Span | None:
        if match.group(1) not in files.WELL_KNOWN:
            return None
        item = match.group(1) + (match.group(2) or "")
        reading.add(match.start(), "file", item)
        return match.span()

    if reading.holds("/", "\\", "."):
        reading.take(shapes.PATH, path)
    if not reading.rest.islower():
        reading.take(shapes.CAPITALISED, well_known)


def _is_file(item: str, *, mentioned: bool = False) -> bool:
    """Whether a word is a path or a file's name: no version, abbreviation, date or rate, not two words with a slash."""
    segments = [segment for segment in re.split(r"[\\/]", item) if segment not in ("", ".", "..", "~")]
    if not segments or text.fold(item) in technologies.SPELLED_FOLDED:
        return False
    if all(re.fullmatch(r"[\d.,-]+", segment) for segment in segments):
        return False
    if re.fullmatch(shapes.RATE, item):
        return False
    stem, _, extension = segments[-1].rpartition(".")
    has_extension = bool(stem.strip(".")) and text.fold(extension) in files.EXTENSIONS
    if segments == [item]:
        return _is_file_name(item, stem, extension) if has_extension else _is_hidden(item)
    if has_extension or mentioned or len(segments) > 2:
        return not all(_is_no_topic(segment) for segment in segments) or has_extension or mentioned
    if re.match(r"~|\.|[A-Za-z]:[\\/]", item):
        return True
    if item[0] in "\\/" and len(segments) == 1:
        return not _is_no_topic(segments[0])
    folded = [segment.casefold() for segment in segments]
    if all(segment in files.ROLES or _is_no_topic(segment) for segment in folded) and item[-1] not in "\\/":
        return False
    return item[0] in "\\/" or any(segment in files.FOLDERS or re.search(r"[\d._-]", segment) for segment in folded)


def _is_file_name(item: str, stem: str, extension: str) -> bool:
    """Whether a single name with a known extension is a file: not "e.g.", `console.log` or the border of sentences."""
    first = stem.partition(".")[0]
    return not (
        text.fold(item) in shapes.ABBREVIATIONS
        or re.fullmatch(r"(?:\w\.){2,}\w?", item)
        or stem.isdigit()
        or first.casefold() in shapes.OBJECTS
        or (_is_no_topic(extension) and _is_no_topic(first))
    )


def _is_hidden(item: str) -> bool:
    if item[0] != "." or len(item) < 4:
        return False
    name = item[1:].partition(".")[0]
    return name in files.HIDDEN or name.endswith(("rc", "ignore"))


def _flags(reading: Reading) -> None:
    def flag(match: re.Match[str]) -> Span | None:
        item = match.group()
        letters = item.lstrip("-")
        is_short = not item.startswith("--") and item not in shapes.WORDY_FLAGS
        if item == "-I" or (is_short and len(letters) > 1 and _is_no_topic(letters)):
            return None
        reading.add(match.start(), "name", item)
        return match.span()

    if reading.holds("-"):
        reading.take(shapes.FLAG, flag)


def _errors(reading: Reading) -> None:
    def error(match: re.Match[str]) -> Span | None:
        if not _is_error(match):
            return None
        reading.add(match.start(), "error", match.group())
        # What qualifies it goes with it: `java.lang.` alone is no name.
        before = reading.spaced[max(0, match.start() - shapes.BEHIND_WORDS) : match.start()]
        qualifier = re.search(r"(?:\w+(?:\.|::))+$", before)
        return match.start() - len(qualifier.group() if qualifier else ""), match.end()

    def number(match: re.Match[str]) -> Span | None:
        before = reading.rest[max(0, match.start() - shapes.BEHIND_WORDS) : match.start()]
        kind = _kind_of_number(before, len(match.group()))
        grouped = re.match(shapes.GROUP, reading.rest[match.end() : match.end() + len(",000") + 1]) is not None
        if kind is None or (grouped and not re.search(shapes.BEFORE_PORTS, before)):
            return None
        reading.add(match.start(), kind, match.group())
        return match.span()

    if not reading.rest.islower() or reading.holds("0x"):
        reading.take(shapes.ERROR, error)
    if re.search(r"\d\d", reading.rest):
        reading.take(shapes.NUMBER, number)


def _kind_of_number(before: str, digits: int) -> str | None:
    """Whether a number is a port or an error code, by what stands before it."""
    if re.search(shapes.BEFORE_A_PORT, before):
        return "name"
    if (digits > 2 and re.search(shapes.BEFORE_A_CODE, before)) or re.search(shapes.BEFORE_AN_EXIT, before):
        return "error"
    return None


def _is_error(match: re.Match[str]) -> bool:
    return match.group(1) is None or match.group(1) in shapes.ERRNO


def _codes(reading: Reading) -> None:
    def code(match: re.Match[str]) -> Span:
        reading.add(match.start(), "name", match.group())
        return match.span()

    def ticket(match: re.Match[str]) -> Span | None:
        return None if match.group().partition("-")[0] in shapes.NO_TICKETS else code(match)

    def numbered(match: re.Match[str]) -> Span | None:
        # "#2" is the second of a list that stands above; only what says so is a number of an issue.
        if match.group(1) is None and len(match.group(2)) <= len("#99"):
            return None
        reading.add(match.start(2), "name", match.group(2))
        return match.span(2)

    if re.search(r"\d", reading.rest):
        reading.take(shapes.HASH, code)
        if reading.holds("-"):
            reading.take(shapes.TICKET, ticket)
        if reading.holds("#"):
            reading.take(shapes.ISSUE, numbered)


def _grouped(reading: Reading) -> None:
    def grouped(match: re.Match[str]) -> Span | None:
        # Round ones are as often said of anything.
        before = reading.rest[max(0, match.start() - shapes.BEHIND_WORDS) : match.start()]
        if match.group().endswith("00") or re.search(shapes.BEFORE_A_PORT, before):
            return None
        reading.add(match.start(), "name", match.group())
        return match.span()

    if reading.holds(","):
        reading.take(shapes.GROUPED, grouped)


def _symbols(reading: Reading) -> None:
    def symbol(match: re.Match[str]) -> Span:
        reading.add(match.start(1), "symbol", match.group(1))
        return match.span()

    def qualified(match: re.Match[str]) -> Span | None:
        return symbol(match) if match.group(2) is not None or _is_qualified(match.group(1)) else None

    def name(match: re.Match[str]) -> Span | None:
        return symbol(match) if _is_name(match.group(1)) else None

    if reading.holds(".", "::", "->", "#"):
        reading.take(shapes.QUALIFIED, qualified)
    if reading.holds("()"):
        reading.take(shapes.CALL, symbol)
    if reading.holds("_") or not reading.rest.islower():
        reading.take(shapes.NAME, name)


def _is_qualified(item: str) -> bool:
    """Whether words with dots, colons or arrows between them are a name of code, and not prose without blanks."""
    if "." not in item or "::" in item or "->" in item:
        return True
    parts = item.split(".")
    folded = [text.fold(part) for part in parts]
    if text.fold(item) in shapes.ABBREVIATIONS or text.fold(item) in technologies.SPELLED_FOLDED:
        return False
    if item in shapes.EXPORTED:
        return True
    if folded[0] in shapes.OBJECTS:
        return folded[1] not in shapes.JOINERS
    if max(map(len, parts)) == 1 or all(_is_no_topic(part) or language.is_weak(part) for part in folded):
        return False
    if len(parts) > 2:
        return True
    first, second = parts
    return (
        min(len(first), len(second)) > 1
        and folded[1] not in shapes.JOINERS
        and (
            second.islower()
            or "_" in item
            or (first[0].isupper() and second[0].isupper() and len(second) > 2 and not _is_no_topic(second))
            or (second[0].isupper() and first in shapes.PACKAGES)
            or _is_name(second)
        )
    )


def _is_name(item: str) -> bool:
    """Whether a word is spelled as only code spells: with an underscore inside, or with humps that are no brand's."""
    if len(item) > _LONGEST_NAME or item in technologies.BRANDS or text.fold(item) in technologies.NAMES:
        return False
    if "_" in item.strip("_") or item.startswith("__"):
        return True
    # One underscore on each side is how people stress a word; one on the left is how code hides a name.
    if item[0] == "_" and item[-1] != "_":
        return True
    return "_" not in item and re.search(shapes.HUMPS, item) is not None


def _is_no_topic(word: str) -> bool:
    return language.is_no_topic(text.fold(word))


PASSES: Final = (_addresses, _files, _hosts, _flags, _errors, _grouped, _codes, _symbols)
IN_PASTED: Final = (_addresses, _files, _hosts, _errors, _codes, _symbols)
"""What a pasted block is read for; flags are left out, for a block of code is full of what looks like them."""
