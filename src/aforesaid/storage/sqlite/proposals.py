"""Which rows of one session may hold what an explicit search looks for, so that the other texts are not read.

`snapshot` calls `propose` within its read transaction with what is known of the words of every text that matches
(`clues`). The full-text index gives the rows that have such words; the texts themselves are compared by `recall`.
Never decides that a row matches, and never leaves out one that does.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from aforesaid.storage.sqlite.browse import vocabulary
from aforesaid.storage.sqlite.spans import within
from aforesaid.storage.sqlite.words import look_through, part_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from aforesaid.inquiry import Alternatives, Clue
    from aforesaid.model import Span
    from aforesaid.storage.sqlite.picking import Hint
    from aforesaid.storage.sqlite.shard import Shard

    Fitting = Callable[[Clue], Sequence[str] | None]

MOST_GROUPS = 4
"""Clues of one alternative that are asked of the index, the longest ones: each costs a search of its own."""
KEPT = 2000
"""Rows that stay with an open file."""
MOST_WORDS = 64
"""Words that are looked for in place of one that is known in part; reading texts is not much dearer than more."""
LONGEST = 1000
"""Characters of a word that the index is asked for: SQLite cuts very long ones."""

LARGE = 1000
"""Entries from which on listing the words of a session is quicker than reading its texts."""

_PROPOSED = "SELECT rowid FROM search WHERE search MATCH ? AND {within}"


def propose(
    shard: Shard,
    alternatives: Alternatives,
    spans: Sequence[Span],
    *,
    generation: int,
    hint: Hint | None = None,
    derived: bool = True,
) -> tuple[int, ...] | None:
    """The rows within the spans whose texts may hold one of the alternatives, in order; None: any of them may.

    Args:
        shard: in a read transaction.
        alternatives: what is known of the words of a text that matches.
        spans: rows that count.
        generation: of the session in this transaction.
        hint: what the index of words knows of the session as it is.
        derived: whether texts that a model wrote about others count.

    Raises:
        apsw.Error: the index cannot be read.
    """
    if not spans:
        return ()
    if not shard.current:
        return None
    queries: dict[str, None] = {}
    fitting = partial(_fit, shard, generation) if hint is None else hint.fitting
    for clues in alternatives:
        query = _query(clues, fitting)
        if query is None:
            return None
        if query:
            queries[query] = None
    condition, bounds = within(shard, "search.rowid", spans)
    statement = _PROPOSED.format(within=condition)
    unfed = () if hint is not None and hint.fed(derived=derived) else shard.unfed(generation)
    rows = {row for row in unfed if any(first <= row <= last for first, last in spans)}
    for query in queries:
        found: list[Any] = shard.database.connection.execute(statement, (query, *bounds)).fetchall()
        rows.update([row for (row,) in found])
    return tuple(sorted(rows))


def _fit(shard: Shard, generation: int, clue: Clue) -> Sequence[str] | None:
    """The words of a large session that a clue may stand for; None if there are too many."""
    if shard.session is None or shard.session.entries < LARGE:
        return None
    if shard.vocabulary is None or shard.vocabulary[0] != generation:
        words = b"\n".join([word.encode() for word in vocabulary(shard)])
        shard.vocabulary = generation, b"\n%b\n" % words
    return look_through(shard.vocabulary[1], part_of(clue), MOST_WORDS)


def _query(clues: Sequence[Clue], fitting: Fitting) -> str | None:
    """What the index is asked for, in the syntax of FTS5; empty if no text can match, None if that says nothing.

    Of whole words, some will do; the beginning of one takes the index several times as long.
    """
    wholes: list[str] = []
    beginnings: list[str] = []
    for clue in clues:
        if len(clue.token) <= LONGEST:
            if clue.kind == "is":
                wholes.append(f'"{clue.token}"')
            elif clue.kind == "begins" and (len(clue.token) > 1 or not clue.token.isascii()):
                beginnings.append(f'"{clue.token}"*')
    if not wholes:
        for clue in clues:
            words = fitting(clue) if clue.kind in {"ends", "holds"} else None
            if words is not None and not words:
                return ""
            if words is not None and len(words) <= MOST_WORDS:
                return " OR ".join([f'"{word}"' for word in words])
    return " AND ".join((wholes or beginnings)[:MOST_GROUPS]) or None
