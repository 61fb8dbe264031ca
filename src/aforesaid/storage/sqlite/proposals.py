"""Which rows of one session may hold what an explicit search looks for, so that the other texts are not read.

`snapshot` calls `propose` within its read transaction with what is known of the words of every text that matches
(`clues`). The full-text index gives the rows that have such words; the texts themselves are compared by `recall`.
Never decides that a row matches, and never leaves out one that does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aforesaid.storage.sqlite.spans import within

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from aforesaid.inquiry import Alternatives, Clue
    from aforesaid.model import Span
    from aforesaid.storage.sqlite.shard import Shard

MOST_GROUPS = 4
"""Clues of one alternative that are asked of the index, the longest ones: each costs a search of its own."""
LONGEST = 1000
"""Characters of a word that the index is asked for: SQLite cuts very long ones."""

_PROPOSED = "SELECT rowid FROM search WHERE search MATCH ? AND {within}"


def propose(
    shard: Shard, alternatives: Alternatives, spans: Sequence[Span], *, generation: int
) -> tuple[int, ...] | None:
    """The rows within the spans whose texts may hold one of the alternatives, in order; None: any of them may."""
    if not spans:
        return ()
    if not shard.current:
        return None
    queries: list[str] = []
    for clues in alternatives:
        groups = [group for clue in clues if (group := _group(clue)) is not None]
        if not groups:
            return None
        queries.append(" AND ".join(groups[:MOST_GROUPS]))
    condition, bounds = within(shard, "search.rowid", spans)
    statement = _PROPOSED.format(within=condition)
    rows = {row for row in shard.unfed(generation) if any(first <= row <= last for first, last in spans)}
    for query in dict.fromkeys(queries):
        found: list[Any] = shard.database.connection.execute(statement, (query, *bounds)).fetchall()
        rows.update([row for (row,) in found])
    return tuple(sorted(rows))


def _group(clue: Clue) -> str | None:
    """The words that a clue stands for, in the syntax of FTS5; None if the index cannot be asked for them."""
    token = clue.token
    if len(token) > LONGEST:
        return None
    if clue.kind == "is":
        return f'"{token}"'
    if clue.kind == "begins" and (len(token) > 1 or not token.isascii()):
        return f'"{token}"*'
    return None
