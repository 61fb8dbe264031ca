"""Literal and full-text search in one session.

`snapshot` calls these within its read transaction, with the spans of a branch. The full-text index only proposes:
literals are verified in the text before they count towards a limit. Scores are SQLite's bm25 over the whole session.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aforesaid.matching import Literal, Term
from aforesaid.model import TermRow
from aforesaid.storage.sqlite.records import FED, PACKED, from_id, from_stamp, to_bytes, to_text, unsqueeze
from aforesaid.storage.sqlite.spans import within

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    import apsw

    from aforesaid.model import Span
    from aforesaid.storage.sqlite.shard import Shard

PHRASE = 24
"""Tokens of a needle that are asked of the index; the text decides about the rest."""
BEYOND = 64
"""Rows that are read beyond a limit, because rows with equal scores at the limit are ordered by other columns."""
DIGITS = 9
"""Decimals of a score."""

_PROPOSED = (
    f"SELECT search.rowid, entry.text, entry.flags & {PACKED} FROM search CROSS JOIN entry ON entry.row = search.rowid"
    " WHERE search MATCH ? AND {within} ORDER BY search.rowid DESC"
)
_SCANNED = (
    f"SELECT row, text, flags & {PACKED} FROM entry WHERE {{within}} AND flags & {FED}"
    f" AND (flags & {PACKED} OR instr(text, ?)) ORDER BY row DESC"
)
_RANKED = "SELECT rowid, bm25(search) AS score FROM search WHERE search MATCH ? AND {within} ORDER BY score LIMIT ?"
_COUNTED = "SELECT count(*) FROM search WHERE search MATCH ? AND {within}"
_TIE = "SELECT timestamp, id FROM entry WHERE row = ?"


def find_literal(shard: Shard, needle: str, spans: Sequence[Span], limit: int) -> tuple[int, ...]:
    """Rows that hold the needle, latest on the branch first."""
    if not needle or limit <= 0:
        return ()
    literal = Literal(needle)
    wanted = to_bytes(needle)
    found: list[int] = []
    for group in descending(spans):
        rows = _proposals(shard, literal, group)
        try:
            for row, text, packed in rows:
                data = unsqueeze(text) if packed else text
                if wanted in data and literal.found_in(to_text(data)):
                    found.append(row)
                    if len(found) == limit:
                        return tuple(found)
        finally:
            rows.close()
    return tuple(found)


def descending(spans: Sequence[Span]) -> Iterator[tuple[Span, ...]]:
    """The spans from the end of the branch, in groups within which later on the branch means a higher row.

    One group, unless the parents of some entries come after them in the file.
    """
    group: list[Span] = []
    for span in reversed(spans):
        if group and group[-1][0] < span[0]:
            yield tuple(group)
            group = []
        group.append(span)
    if group:
        yield tuple(group)


def phrase(tokens: Sequence[str], *, open_ended: bool) -> str:
    """A phrase in the syntax of FTS5; tokens are letters and digits only, so nothing in it needs escaping."""
    return f'"{" ".join(tokens)}"{"*" if open_ended else ""}'


def disjunction(terms: Iterable[str]) -> tuple[str, ...]:
    """The terms as phrases of FTS5, those without tokens left out, each once."""
    phrases: dict[str, None] = {}
    for text in terms:
        term = Term(text)
        tokens = term.tokens
        if tokens:
            phrases[phrase(tokens, open_ended=term.open_ended)] = None
    return tuple(phrases)


def rank(
    shard: Shard, phrases: tuple[str, ...], spans: Sequence[Span], limit: int, *, generation: int
) -> tuple[TermRow, ...]:
    """Rows that hold one of the phrases, best first."""
    if not phrases or not spans or limit <= 0:
        return ()
    warm = shard.postings.ask(shard.database.connection, generation, phrases)
    if warm is not None:
        return ordered(shard, warm.best(spans, limit, decimals=DIGITS), limit)
    match = " OR ".join(phrases)
    condition, bounds = within(shard, "search.rowid", spans)
    statement = _RANKED.format(within=condition)
    connection = shard.database.connection
    wanted = limit + BEYOND
    scored: list[Any] = connection.execute(statement, (match, *bounds, wanted)).fetchall()
    if len(scored) == wanted and round(scored[-1][1], DIGITS) == round(scored[limit - 1][1], DIGITS):
        scored = connection.execute(statement, (match, *bounds, -1)).fetchall()
    return ordered(shard, scored, limit)


def ordered(shard: Shard, scored: Sequence[tuple[int, float]], limit: int) -> tuple[TermRow, ...]:
    """The first `limit` rows in the total order.

    Args:
        shard: where the columns that break ties stand.
        scored: rows with raw scores, best first; every row with the score of the last wanted one is among them.
        limit: how many are wanted.
    """
    result: list[TermRow] = []
    start = 0
    while start < len(scored) and len(result) < limit:
        score = round(scored[start][1], DIGITS)
        end = start + 1
        while end < len(scored) and round(scored[end][1], DIGITS) == score:
            end += 1
        rows = [row for row, _ in scored[start:end]]
        if len(rows) > 1:
            rows = _break_tie(shard, rows)
        result += (TermRow(row=row, score=score) for row in rows)
        start = end
    return tuple(result[:limit])


def count(shard: Shard, phrases: tuple[str, ...], spans: Sequence[Span], *, generation: int) -> int:
    """How many rows hold one of the phrases."""
    if not phrases or not spans:
        return 0
    warm = shard.postings.latest(generation, phrases)
    if warm is not None:
        return warm.count(spans)
    condition, bounds = within(shard, "search.rowid", spans)
    found = shard.database.connection.execute(_COUNTED.format(within=condition), (" OR ".join(phrases), *bounds))
    return int(found.get)


def _proposals(shard: Shard, literal: Literal, spans: Sequence[Span]) -> apsw.Cursor:
    """Rows that may hold the needle, with their texts, highest row first."""
    connection = shard.database.connection
    tokens = literal.tokens
    if tokens:
        condition, bounds = within(shard, "search.rowid", spans)
        whole = len(tokens) <= PHRASE
        match = "body:" + phrase(tokens[:PHRASE], open_ended=whole and literal.open_ended)
        return connection.execute(_PROPOSED.format(within=condition), (match, *bounds))
    condition, bounds = within(shard, "entry.row", spans)
    return connection.execute(_SCANNED.format(within=condition), (*bounds, to_bytes(literal.needle)))


def _break_tie(shard: Shard, rows: Sequence[int]) -> list[int]:
    """Rows with equal scores: the newest first, those without a time last, then by id."""
    connection = shard.database.connection
    columns: dict[int, Any] = {row: connection.execute(_TIE, (row,)).fetchone() for row in rows}
    by_id = sorted(rows, key=lambda row: from_id(columns[row][1]))
    return sorted(by_id, key=lambda row: from_stamp(columns[row][0]) or "", reverse=True)
