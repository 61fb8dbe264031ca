"""Floor 0: which names stand in a text, roughly and fast, so that what the model knows can be told from what it lost.

What an agent needs again after a compaction are names that it no longer sees: paths, identifiers, numbers, addresses.
`ranking` counts those of a call or result, `windows` those of a line, `working` collects those of the view. This only
orders; what counts as an exact item is said by `query.items`, which reads more slowly and more exactly. `variety` asks
which names few others hold.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

SHORTEST: Final = 5
LONGEST: Final = 200
"""Characters of a name; longer runs are data."""
REMEMBERED: Final = 1024
"""Texts whose names stay in memory: requests of one session bring up the same rows again and again."""
# Patterns compile when they are used first: a request that finds nothing needs none of them.
# A run of the characters of names that is more than a plain word: those are most, and a search skips them faster.
_RUN: Final = r"(?<![\w@./:\\-])(?![A-Za-z][a-z]*+[.:]?(?![\w@./:\\-]))[\w@./:\\-]{5,}"
_TELLING: Final = r"\w[/_.:\\-]+\w|[a-z0-9][A-Z]|[0-9]{4}"
_EDGES: Final = "./:\\-@"


def find_names(text: str) -> Iterator[tuple[int, str]]:
    """Each name of a text with its place, in order, as often as it stands there. Time grows linearly with the text."""
    telling = re.compile(_TELLING).search
    for run in re.finditer(_RUN, text):
        name = run.group().strip(_EDGES)
        if SHORTEST <= len(name) <= LONGEST and telling(name):
            yield run.start(), name


def names_of(text: str) -> frozenset[str]:
    """The different names of a text; what `find_names` finds, in half the time."""
    telling = re.compile(_TELLING).search
    names = {run.strip(_EDGES) for run in set(re.findall(_RUN, text))}
    return frozenset(name for name in names if SHORTEST <= len(name) <= LONGEST and telling(name))


remembered_names_of = lru_cache(maxsize=REMEMBERED)(names_of)
"""The same of texts that are asked about again and again, of a few thousand characters at most."""
