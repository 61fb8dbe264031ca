"""Literal and full-text search in one session.

`snapshot` calls these within its read transaction, with the spans of a branch. The full-text index only proposes:
literals are verified in the text before they count towards a limit. Scores are SQLite's bm25 over the whole session.
"""

from __future__ import annotations

from array import array
from functools import lru_cache
from itertools import pairwise
from math import log
from typing import TYPE_CHECKING

from aforesaid.answers import TermRow, Weights
from aforesaid.lineage import Places
from aforesaid.matching import Literal, Term
from aforesaid.storage.sqlite.postings import DISTANCE
from aforesaid.storage.sqlite.records import FED, PACKED, ROLES, from_id, from_stamp, to_text, unsqueeze
from aforesaid.storage.sqlite.spans import within

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any

    from aforesaid.model import Span
    from aforesaid.storage.sqlite.shard import Shard

PHRASE = 24
"""Tokens of a needle that are asked of the index; the text decides about the rest."""
BEYOND = 64
"""Rows that are read beyond a limit, because rows with equal scores at the limit are ordered by other columns."""
NEAR = 0.3
"""What two words near each other add, times the idf of their standing so."""
DIGITS = 9
"""Decimals of a score."""
SCALE = 10.0**DIGITS

_PROPOSED = "SELECT rowid FROM search WHERE search MATCH ? AND {within} ORDER BY rowid DESC"
_SCANNED = f"SELECT row FROM entry WHERE {{within}} AND flags & {FED} ORDER BY row DESC"
_TEXT = f"SELECT text, flags & {PACKED} FROM entry WHERE row = ?"
_RANKED = "SELECT rowid, bm25(search) AS score FROM search WHERE search MATCH ? AND {within} ORDER BY score LIMIT ?"
_COUNTED = "SELECT count(*) FROM search WHERE search MATCH ? AND {within}"
_TIE = "SELECT timestamp, id FROM entry WHERE row = ?"


def find_literals(
    shard: Shard, needles: Sequence[str], spans: Sequence[Span], limit: int, *, generation: int
) -> tuple[tuple[int, ...], ...]:
    """For each needle the rows that hold it, latest on the branch first."""
    if not spans or limit <= 0:
        return ((),) * len(needles)
    literals = {needle: Literal(needle) for needle in needles if needle}
    read = _reader(shard, generation)
    condition, bounds = within(shard, "search.rowid", spans)
    proposed = _PROPOSED.format(within=condition)
    found: dict[str, list[int]] = {}
    scanned: list[Literal] = []
    for literal in literals.values():
        tokens = literal.tokens
        if not tokens:
            scanned.append(literal)
            continue
        whole = len(tokens) <= PHRASE
        match = "body:" + phrase(tokens[:PHRASE], open_ended=whole and literal.open_ended)
        rows = shard.database.connection.execute(proposed, (match, *bounds))
        try:
            found |= _verify(_latest_first(rows, spans), [literal], read, limit)
        finally:
            rows.close()
    if scanned:
        # One pass for all of them: reading a text costs far more than looking for one more needle in it.
        condition, bounds = within(shard, "entry.row", spans)
        rows = shard.database.connection.execute(_SCANNED.format(within=condition), bounds)
        try:
            found |= _verify(_latest_first(rows, spans), scanned, read, limit)
        finally:
            rows.close()
    return tuple(tuple(found.get(needle, ())) for needle in needles)


def _verify(
    rows: Iterable[int], literals: Sequence[Literal], read: Callable[[int], str], limit: int
) -> dict[str, list[int]]:
    """The rows that really hold each literal, at most `limit`, in the order in which they come."""
    found: dict[str, list[int]] = {literal.needle: [] for literal in literals}
    open_ones = list(literals)
    for row in rows:
        text = read(row)
        for literal in open_ones:
            if literal.found_in(text):
                found[literal.needle].append(row)
        if len(open_ones) > sum(len(found[literal.needle]) < limit for literal in open_ones):
            open_ones = [literal for literal in open_ones if len(found[literal.needle]) < limit]
            if not open_ones:
                break
    return found


def _latest_first(rows: Iterable[tuple[int]], spans: Sequence[Span]) -> Iterator[int]:
    """Rows that come highest first, put in the order of the branch, from its end.

    That is the same order, and nothing is read in advance, unless the parents of some entries come after them in the
    file.
    """
    if all(before[0] < after[0] for before, after in pairwise(spans)):
        return (row for (row,) in rows)
    places = Places(spans)
    return iter(sorted((row for (row,) in rows), key=lambda row: places.of(row) or 0, reverse=True))


def _reader(shard: Shard, generation: int) -> Callable[[int], str]:
    """Reads texts of single rows, each only once while the session does not change."""
    texts, execute = shard.recent.texts(generation), shard.database.connection.execute

    def read(row: int) -> str:
        text = texts.get(row)
        if text is None:
            columns: Any = execute(_TEXT, (row,)).fetchone()
            data, packed = columns
            text = to_text(unsqueeze(data) if packed else data)
            shard.recent.keep(row, text)
        return text

    return read


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


@lru_cache(maxsize=64)  # a search of many sessions asks each for the same
def phrases_of(terms: tuple[str, ...], roots: tuple[str, ...]) -> tuple[str, ...]:
    """What is weighed: terms, and all words that begin with a root."""
    return tuple(dict.fromkeys((*disjunction(terms), *(beginning(root) for root in roots))))


@lru_cache(maxsize=64)  # as above
def pairs_of(near: tuple[tuple[str, str], ...]) -> tuple[str, ...]:
    """Two beginnings of words that stand near each other, each once."""
    return tuple(dict.fromkeys(beside(*pair) for pair in near))


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


def weigh(
    shard: Shard, phrases: tuple[str, ...], spans: Sequence[Span], pairs: tuple[str, ...] = (), *, generation: int
) -> Weights:
    """All rows that hold one of the phrases; what stands near each other weighs more."""
    if not phrases or not spans:
        return Weights(rows=array("q"), scores=array("d"), roles=b"", names=ROLES)
    connection, fed = shard.database.connection, shard.facts(generation).fed
    # FTS5 takes words that more than half of the rows hold for worthless; short sessions have many of those.
    lists = [(*found, smoothing(len(found[0]), fed)) for found in shard.postings.lists(connection, generation, phrases)]
    near = [(rows, nearness(len(rows), fed)) for rows in shard.postings.pairs(connection, generation, pairs)]
    roles = shard.facts(generation).roles
    inside = bytearray(len(roles))
    for first, last in spans:
        inside[first : last + 1] = b"\x01" * (min(last + 1, len(inside)) - first)
    numpy = shard.postings.numpy()
    if numpy is None:
        rows, scores = add(lists, near, inside)
        return Weights(rows=rows, scores=scores, roles=bytes(map(roles.__getitem__, rows)), names=ROLES)
    rows, scores = add_arrays(numpy, lists, near, inside)
    spoken = numpy.frombuffer(roles, numpy.uint8)[numpy.frombuffer(rows, numpy.int64)] if rows else b""
    return Weights(rows=rows, scores=scores, roles=bytes(spoken), names=ROLES)


def add(
    lists: Sequence[tuple[array[int], array[float], float]], near: Sequence[tuple[array[int], float]], inside: bytearray
) -> tuple[array[int], array[float]]:
    """The rows within, ascending, with the sums of what each list adds."""
    weights: dict[int, float] = {}
    for rows, addends, factor in lists:
        for row, addend in zip(rows, addends, strict=True):
            if inside[row]:
                weights[row] = weights.get(row, 0.0) - addend * factor
    for rows, more in near:
        for row in rows:
            if row in weights:
                weights[row] += more
    kept = sorted(weights)
    return array("q", kept), array("d", [round(weights[row] * SCALE) / SCALE for row in kept])


def add_arrays(
    numpy: Any,
    lists: Sequence[tuple[array[int], array[float], float]],
    near: Sequence[tuple[array[int], float]],
    inside: bytearray,
) -> tuple[array[int], array[float]]:
    """The same, to the last bit."""
    sums = numpy.zeros(len(inside))
    for rows, addends, factor in lists:
        if rows:
            sums[numpy.frombuffer(rows, dtype=numpy.int64)] -= numpy.frombuffer(addends) * factor
    held = sums > 0.0
    for rows, more in near:
        if rows:
            beside = numpy.frombuffer(rows, dtype=numpy.int64)
            sums[beside[held[beside]]] += more
    kept = numpy.flatnonzero(held & numpy.frombuffer(inside, dtype=bool))
    scores = numpy.rint(sums[kept] * SCALE) / SCALE
    return array("q", kept.astype(numpy.int64).tobytes()), array("d", scores.tobytes())


def smoothing(rows: int, total: int) -> float:
    """What turns an addend of FTS5's bm25 into one whose idf is never about zero."""
    return _smooth_idf(rows, total) / idf_of(rows, total)


def nearness(rows: int, total: int) -> float:
    """What a pair of words near each other adds, which so many rows hold."""
    return NEAR * _smooth_idf(rows, total)


def idf_of(rows: int, total: int) -> float:
    """How rare FTS5 takes a phrase to be."""
    return max(log((total - rows + 0.5) / (rows + 0.5)), 1e-6)


def _smooth_idf(rows: int, total: int) -> float:
    """The same without a zero: ln(1 + (N - n + 0.5) / (n + 0.5)), as Lucene has it."""
    return log(1 + (total - rows + 0.5) / (rows + 0.5))


def beginning(root: str) -> str:
    """All words that begin with a root, as a phrase of FTS5."""
    return phrase((root,), open_ended=True)


def beside(first: str, second: str) -> str:
    """Two beginnings of words that stand near each other, in the syntax of FTS5."""
    return f"NEAR({beginning(first)} {beginning(second)}, {DISTANCE})"


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
    warm = shard.postings.ask(shard.database.connection, generation, phrases)
    if warm is not None:
        return warm.count(spans)
    condition, bounds = within(shard, "search.rowid", spans)
    found = shard.database.connection.execute(_COUNTED.format(within=condition), (" OR ".join(phrases), *bounds))
    return int(found.get)


def _break_tie(shard: Shard, rows: Sequence[int]) -> list[int]:
    """Rows with equal scores: the newest first, those without a time last, then by id."""
    connection = shard.database.connection
    columns: dict[int, Any] = {row: connection.execute(_TIE, (row,)).fetchone() for row in rows}
    by_id = sorted(rows, key=lambda row: from_id(columns[row][1]))
    return sorted(by_id, key=lambda row: from_stamp(columns[row][0]) or "", reverse=True)
