"""Floor 3: words as data: what is no topic, what is a weak one, names of technologies, names of files.

`query` looks words up here, always folded (`text.fold`). The lists are closed classes of grammar and tables of
conjugation, not collections of sentences; `docs/query.md` says what belongs where.
"""

from __future__ import annotations

from functools import cache

from aforesaid.language import english, italian, others


@cache
def no_topics() -> frozenset[str]:
    """Folded words that never are a topic by themselves: grammar, workflow, acknowledgement, requests to go on."""
    return english.no_topics() | italian.no_topics() | others.no_topics()


@cache
def weak_topics() -> frozenset[str]:
    """Folded words that belong to the work of every session; topics only beside a stronger one."""
    return english.weak_topics() | italian.weak_topics()
