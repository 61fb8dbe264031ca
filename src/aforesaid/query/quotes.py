"""Floor 4: what a request marks itself: backticks, pasted blocks, quotes.

`read_query` runs these passes first, so that what stands between marks is taken whole, stopwords included.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from aforesaid.language import shapes
from aforesaid.query import names
from aforesaid.query.reading import Reading

if TYPE_CHECKING:
    import re

_MOST_OF_A_BLOCK: Final = 16
"""Names that one pasted block gives, so that a long paste leaves room for what the request itself names."""


def _backticks(reading: Reading) -> None:
    if not reading.holds("`"):
        return

    def marked(match: re.Match[str]) -> tuple[int, int]:
        item = next(group for group in match.groups() if group is not None).strip()
        if item:
            reading.add(match.start(), names.classify(item), item)
        return match.span()

    def pasted(match: re.Match[str]) -> tuple[int, int]:
        inner = Reading(match.group().strip("`"))
        for read in names.IN_PASTED:
            read(inner)
        found = sorted(inner.found)
        first = found[:_MOST_OF_A_BLOCK]
        reading.cut = reading.cut or not {item for *_, item in found} <= {item for *_, item in first}
        reading.found += [(match.start() + place, kind, item) for place, kind, item in first]
        return match.span()

    reading.take(shapes.FENCED_IN_LINE, marked, in_every_script=True)
    reading.take(shapes.PASTED, pasted, in_every_script=True)
    reading.take(shapes.TICKED, marked, in_every_script=True)


def _quotes(reading: Reading) -> None:
    def quoted(match: re.Match[str]) -> tuple[int, int]:
        item = next(group for group in match.groups() if group is not None).strip()
        # Without a letter or digit it is punctuation, and would be found everywhere.
        if any(map(str.isalnum, item)):
            category = names.classify(item)
            if category != "name":
                reading.add(match.start(), category, item)
            reading.add(match.start(), "phrase", item)
        return match.span()

    if reading.rest.isascii() and not reading.holds('"', "'"):
        return
    from aforesaid.language import quotation  # late: most requests hold no mark

    pattern = quotation.pattern_for(quotation.SIGNS.intersection(reading.rest), spaced=reading.rest.isascii())
    if pattern:
        reading.take(pattern, quoted, in_every_script=True)


PASSES: Final = (_backticks, _quotes)
