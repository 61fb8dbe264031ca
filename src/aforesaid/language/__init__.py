"""Floor 3: words as data: what is no topic, what is a weak one, names of technologies, names of files.

`query` looks words up here, always folded (`text.fold`). The lists are closed classes of grammar and verbs, not
collections of sentences; `docs/query.md` says what belongs where. Forms of verbs are recognised by their endings and
not listed: tables of all forms would take longer to make than a request to read.
"""

from __future__ import annotations

from functools import cache, lru_cache

from aforesaid.language import english, italian, others


@cache
def _listed() -> frozenset[str]:
    return english.listed() | italian.listed() | others.listed()


@cache
def _weak() -> frozenset[str]:
    return english.weak() | italian.weak() | others.weak()


@lru_cache(4096)
def is_no_topic(word: str) -> bool:
    """Whether a folded word never is a topic by itself: grammar, workflow, acknowledgement, a request to go on."""
    return word in _listed() or english.is_form(word) or italian.is_form(word)


@cache
def _grammar() -> frozenset[str]:
    return english.grammar() | italian.grammar()


def is_grammar(word: str) -> bool:
    """Whether a folded word only joins others: articles, pronouns, prepositions, auxiliary verbs, question words."""
    return word in _grammar()


def is_weak(word: str) -> bool:
    """Whether a folded word belongs to the work of every session; a topic only beside a stronger one."""
    return word in _weak() or english.is_weak_form(word)


@lru_cache(4096)
def is_foreign(word: str) -> bool:
    """Whether a folded word is no topic, or a weak one, in languages other than English and Italian only."""
    if word in others.homographs():
        return True
    if word not in others.listed():
        return False
    at_home = word in english.listed() or word in italian.listed()
    return not (at_home or english.is_form(word) or italian.is_form(word))
