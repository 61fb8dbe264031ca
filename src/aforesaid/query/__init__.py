"""Floor 4: what a request asks for.

`retrieval` hands in the text of the latest real user message and gets a `Query`: literals that are searched as they
stand, and topics for the full-text search. Pure. A request without a topic gives an empty query, and then nothing is
searched. `docs/query.md` says with examples what counts as what.

The text is read in passes, from the most explicit to the least: backticks and quotes (`quotes`), names (`names`), names
that may as well be prose (`guesses`), then words (`words`). What a pass has taken is blanked for the later ones. Where
all that gives no topic, `asked` looks for what a question asks about. `items` reads other texts with the same eyes.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from aforesaid.language import shapes
from aforesaid.query import names, quotes, words
from aforesaid.query.names import classify
from aforesaid.query.reading import MOST, Reading

if TYPE_CHECKING:
    from aforesaid.answers import Query

__all__ = ("LONGEST", "MOST", "classify", "read_query")

LONGEST: Final = 8_000
"""Characters read at the beginning and at the end of a request; the middle of a longer one is left out."""
_UNBROKEN: Final = 256
"""Longer runs of ASCII without a blank are data, not names."""


def read_query(request: str, *, guessing: bool = True) -> Query:
    """The items of a request, verbatim, in order of appearance.

    Any text is a request. One without a topic, or with nothing but words that belong to every session ("fix the error
    and run the tests"), gives an empty query. `guessing` says whether names count that may as well be prose. Time
    grows linearly with the text and is bounded by `LONGEST`.
    """
    cut = len(request) > 2 * LONGEST and not request[LONGEST:-LONGEST].isspace()
    if len(request) > 2 * LONGEST:
        request = f"{request[:LONGEST]}\n{request[-LONGEST:]}"
    if max(map(len, request.split()), default=0) > _UNBROKEN:
        request = re.sub(shapes.UNBROKEN, lambda run: " " * len(run.group()), request)
    reading = Reading(request)
    reading.cut = cut
    for read in (*quotes.PASSES, *names.PASSES):
        read(reading)
    if guessing and re.search(shapes.IN_GUESSES, reading.spaced):
        from aforesaid.query import guesses  # late: few requests hold what may be one

        for read in guesses.PASSES:
            read(reading)
    for read in words.PASSES:
        read(reading)
    if reading.is_weak():
        from aforesaid.query import asked

        asked.read_asked(reading)
    return reading.query()
