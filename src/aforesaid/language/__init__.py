"""Floor 3: words as data: what is no topic, what is a weak one, names of technologies, names of files.

`query` looks words up here, always folded (`text.fold`). The lists are closed classes of grammar and tables of
conjugation, not collections of sentences; `docs/query.md` says what belongs where.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from aforesaid.language import english, italian, others

if TYPE_CHECKING:
    from collections.abc import Container


class _NoTopics:
    """Words that stand in lists, and Italian verbs with pronouns attached, of which there are too many to list."""

    def __init__(self) -> None:
        self._words = english.no_topics() | italian.no_topics() | others.no_topics()

    def __contains__(self, word: object) -> bool:
        return word in self._words or (isinstance(word, str) and italian.has_pronoun(word))


@cache
def no_topics() -> Container[str]:
    """Folded words that never are a topic by themselves: grammar, workflow, acknowledgement, requests to go on."""
    return _NoTopics()


@cache
def weak_topics() -> frozenset[str]:
    """Folded words that belong to the work of every session; topics only beside a stronger one."""
    return english.weak_topics() | italian.weak_topics()
