"""The filter that keeps a search within a branch, as SQL that holds before any limit.

A full-text table takes bounds on its row ids cheaply, and only from plain `BETWEEN`; an `OR` of several makes it give
up its order. So the outer bounds stand alone, and the single spans are marked with `+` for SQLite to check afterwards.
Many spans go into a temporary table instead. Both ways give the same rows; a test compares them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    import apsw

    from aforesaid.model import Span
    from aforesaid.storage.sqlite.shard import Shard

FEW = 16
"""Rows that are asked for one by one."""
MANY = "IN (SELECT value FROM json_each(?))"
"""The condition that a row is one of a list in JSON."""
INLINE = 50
"""Up to so many spans stand in the statement itself."""

_MAKE = "CREATE TEMP TABLE IF NOT EXISTS span(first INTEGER PRIMARY KEY, last INTEGER NOT NULL)"
_EMPTY = "DELETE FROM temp.span"
_FILL = "INSERT INTO temp.span(first, last) VALUES (?, ?)"


def within(shard: Shard, column: str, spans: Sequence[Span]) -> tuple[str, tuple[int, ...]]:
    """The condition that a row stands in one of the spans, and its bindings.

    Args:
        shard: where it will run; its temporary table is filled if that is needed.
        column: the row column with its table's name: the temporary table has a `rowid` too.
        spans: at least one; disjoint, in any order.
    """
    low, high = min(first for first, _ in spans), max(last for _, last in spans)
    if len(spans) == 1:
        return f"{column} BETWEEN ? AND ?", (low, high)
    if len(spans) <= INLINE:
        each = " OR ".join([f"+{column} BETWEEN ? AND ?"] * len(spans))
        return f"{column} BETWEEN ? AND ? AND ({each})", (low, high, *(bound for span in spans for bound in span))
    _load(shard, spans)
    last = f"(SELECT last FROM temp.span WHERE first <= +{column} ORDER BY first DESC LIMIT 1)"
    return f"{column} BETWEEN ? AND ? AND +{column} <= {last}", (low, high)


def select_rows(connection: apsw.Connection, one: str, many: str, rows: Sequence[int]) -> Iterable[Any]:
    """What a statement selects of some rows, in any order.

    A newly opened file has to prepare every statement, and one about a list takes it as long as ten about a row.

    Args:
        connection: in a transaction.
        one: the statement for one row.
        many: the same for rows that are `MANY`.
        rows: which.
    """
    if len(rows) > FEW:
        return connection.execute(many, (f"[{','.join(map(str, rows))}]",))
    return (columns for row in dict.fromkeys(rows) for columns in connection.execute(one, (row,)))


def _load(shard: Shard, spans: Sequence[Span]) -> None:
    if shard.spans == spans:
        return
    connection = shard.database.connection
    connection.execute(_MAKE)
    connection.execute(_EMPTY)
    connection.executemany(_FILL, spans)
    shard.spans = spans
