"""Floor 4: the exact items of any text: what nobody can guess and has to have seen.

`lost` asks what a history held. The names are those of a request (`names`), so that whatever counts as lost is found
literally when a request names it, unless an escape of quoted JSON stands right before it: that is read as a blank here
(`shapes.ESCAPED`), and by no search. Commands (`commands`) and figures come on top. Pure.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, Literal

from aforesaid.language import shapes
from aforesaid.query import names
from aforesaid.query.commands import read_commands
from aforesaid.query.reading import Reading
from aforesaid.text import uncolour

if TYPE_CHECKING:
    Span = tuple[int, int]

ItemKind = Literal["path", "command", "number", "identifier", "error", "hash", "url"]
ITEM_KINDS: Final[tuple[ItemKind, ...]] = ("path", "command", "number", "identifier", "error", "hash", "url")
"""The kinds in the order in which they are shown."""
LONGEST_TEXT: Final = 400_000
"""Characters read at the beginning and at the end of a text; the middle of a longer one is left out."""
_KINDS: Final[dict[str, ItemKind]] = {"file": "path", "symbol": "identifier", "error": "error", "number": "number"}
_FEWEST_DIGITS: Final = 4
"""Significant digits of a number that nobody guesses."""
_SHORTEST: Final = 4
"""Characters of an item; shorter ones come up everywhere."""


def read_items(text: str) -> dict[str, ItemKind]:
    """Each exact item of a text with its kind, in order of appearance, commands last.

    Names are as `read_query` finds them in a pasted block: paths, addresses, errors, hashes, names of code. Numbers
    have four significant digits or more and are neither years nor dates. Time grows linearly with the text and is
    bounded by `LONGEST_TEXT`.
    """
    if len(text) > 2 * LONGEST_TEXT:
        text = f"{text[:LONGEST_TEXT]}\n{text[-LONGEST_TEXT:]}"
    if "\\" in text and not re.search(shapes.DRIVE, text):
        text = re.sub(shapes.ESCAPED, "  ", text)
    text = uncolour(text)
    reading = Reading(re.sub(shapes.UNBROKEN, lambda run: " " * len(run.group()), text))
    for read in (*names.IN_PASTED, _figures):
        read(reading)
    reading.found.sort(key=lambda found: found[0])
    items: dict[str, ItemKind] = {}
    for _, category, item in reading.found:
        if len(item) >= _SHORTEST:
            items.setdefault(item, _KINDS.get(category) or _kind_of_name(item))
    for command in read_commands(text):
        items.setdefault(command, "command")
    return items


def _kind_of_name(item: str) -> ItemKind:
    """What a name is that is neither a file nor a symbol nor an error."""
    if item.isdecimal():
        return "number"
    if re.fullmatch(shapes.HASH, item):
        return "hash"
    if "@" not in item and any(re.fullmatch(shape, item) for shape in _ADDRESSES):
        return "url"
    return "identifier"


_ADDRESSES: Final = (shapes.URL, shapes.LOCAL_HOST, shapes.HOST, shapes.IP_ADDRESS, shapes.HOST_AND_PORT)


def _figures(reading: Reading) -> None:
    def figure(match: re.Match[str]) -> Span | None:
        if not _is_telling(match.group()):
            return None
        reading.add(match.start(), "number", match.group())
        return match.span()

    reading.take(shapes.FIGURE, figure)


def _is_telling(figure: str) -> bool:
    """Whether a number has digits that nobody guesses: not a round one, a year or a date."""
    plain = figure.replace(",", "")
    if re.fullmatch(r"(?:19|20)\d\d(?:[01]\d[0-3]\d)?", plain):
        return False
    digits = plain.replace(".", "").lstrip("0")
    return len(digits if "." in plain else digits.rstrip("0")) >= _FEWEST_DIGITS
