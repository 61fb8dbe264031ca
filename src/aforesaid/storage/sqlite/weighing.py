"""bm25 of all rows of a session that an explicit search asks of, or of all up to a row, as if it ended there.

`snapshot` calls these within its read transaction. `search.weigh` does the same for automatic retrieval, which asks one
session for much, again and again; a search of many sessions asks each of them for little, and so keeps no lists: all
that it needs comes out of the full-text index itself.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

from aforesaid.storage.sqlite.postings import K1, B
from aforesaid.storage.sqlite.search import SCALE, add, idf_of, nearness, smoothing

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from aforesaid.storage.sqlite.growth import Corpus
    from aforesaid.storage.sqlite.postings import List
    from aforesaid.storage.sqlite.shard import Shard

KEPT = 2000
"""Rows whose weights stay with an open file: the next page asks for the same."""

_SCORES = "SELECT rowid, bm25(search) FROM search WHERE search MATCH ?"
_ROWS = "SELECT rowid FROM search WHERE search MATCH ?"
_FED = "SELECT count(*) FROM search_docsize"


def weigh_all(shard: Shard, phrases: Sequence[str], pairs: Sequence[str]) -> dict[int, float]:
    """The weight of each row that holds one of the phrases, by row.

    Args:
        shard: in a read transaction.
        phrases: in the syntax of FTS5.
        pairs: of words near each other, in that syntax too.

    Raises:
        apsw.Error: the index cannot be read.
    """
    execute = shard.database.connection.execute
    scored: list[list[Any]] = [execute(_SCORES, (phrase,)).fetchall() for phrase in phrases]
    if not any(scored):
        return {}
    fed: int = execute(_FED).get
    near = [array("q", [row for (row,) in execute(_ROWS, (pair,))]) for pair in pairs]
    if len(scored) == 1:  # what most searches of many sessions come to, a few rows each
        factor = smoothing(len(scored[0]), fed) * -1.0
        if not any(near):
            return {row: round(addend * factor * SCALE) / SCALE for row, addend in scored[0]}
        weights = {row: addend * factor for row, addend in scored[0]}
        for rows in near:
            more = nearness(len(rows), fed) if rows else 0.0
            for row in rows:
                if row in weights:
                    weights[row] += more
        return {row: round(weight * SCALE) / SCALE for row, weight in weights.items()}
    found = [(array("q", [row for row, _ in rows]), array("d", [score for _, score in rows])) for rows in scored]
    return _add_up(found, near, fed)


def weigh_until(
    shard: Shard, phrases: Sequence[str], pairs: Sequence[str], last: int, *, generation: int
) -> dict[int, float]:
    """The same of the rows up to one, as it was when the session ended with that row.

    Args:
        shard: as above.
        phrases: as above.
        pairs: as above.
        last: the row.
        generation: of the session in this transaction.

    Raises:
        apsw.Error: the index cannot be read.
    """
    connection = shard.database.connection
    corpus = shard.postings.corpus(connection, generation)
    rows, tokens = corpus.until(last)
    found: list[List] = []
    for phrase in phrases:
        scored: list[Any] = connection.execute(_SCORES, (phrase,)).fetchall()
        found.append(_take_back(scored, corpus, last, rows, tokens))
    near = [array("q", [row for (row,) in connection.execute(_ROWS, (pair,)) if row <= last]) for pair in pairs]
    return _add_up(found, near, rows)


def _take_back(scored: Sequence[tuple[int, float]], corpus: Corpus, last: int, rows: int, tokens: int) -> List:
    """What FTS5 gave for the rows up to one when the index had so many rows and tokens.

    The bm25 of a row tells how often the phrase stands in it, whatever was added since; see `postings`.
    """
    idf = idf_of(len(scored), corpus.rows)
    held = array("q", [row for row, _ in scored if row <= last])
    before = idf_of(len(held), rows)
    addends = array("d")
    for row, addend in scored[: len(held)]:
        length = corpus.lengths[row]
        norm = K1 * (1 - B + B * length * corpus.rows / corpus.tokens)
        count = round(-addend * norm / (idf * (K1 + 1.0) + addend))
        addends.append(-(before * (count * (K1 + 1.0) / (count + K1 * (1 - B + B * length / (tokens / rows))))))
    return held, addends


def _add_up(found: Sequence[List], near: Sequence[array[int]], fed: int) -> dict[int, float]:
    """The sums by row, of so many rows in the index."""
    lists = [(*one, smoothing(len(one[0]), fed)) for one in found]
    beside = [(rows, nearness(len(rows), fed)) for rows in near]
    last = max((rows[-1] for rows, _ in found if rows), default=0)
    rows, scores = add(lists, beside, bytearray(b"\x01" * (last + 1)))
    return dict(zip(rows, scores, strict=True))
