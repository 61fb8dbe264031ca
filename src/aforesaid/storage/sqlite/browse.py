"""Listing entries without their texts, and texts without the rest: what explicit search asks of a session.

`snapshot` calls these within its read transaction. Nothing here has a limit.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aforesaid.inquiry import DERIVED, Outline
from aforesaid.pairs import CALLERS
from aforesaid.storage.sqlite.records import (
    AUTOMATIC,
    FED,
    KINDS,
    PACKED,
    ROLES,
    from_id,
    from_stamp,
    to_text,
    unpack_extra,
    unsqueeze,
)
from aforesaid.storage.sqlite.spans import FEW, MANY, select_rows, within
from aforesaid.text import feed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from aforesaid.inquiry import Filter, Standing
    from aforesaid.model import Span
    from aforesaid.storage.sqlite.shard import Shard

KEPT = 2000
"""Entries of a listing that stays with an open file; the next page, or the next search, often asks for the same."""
LAST = 32
"""Rows at the end of a session of which it is all the same whether all are read or one."""
KEPT_TEXTS = 16
"""Texts of one question that stay with an open file, as those of automatic retrieval do; the next one may ask again."""

_OUTLINES = (
    "SELECT entry.row, id, kind, role, timestamp, tokens, digest, extra FROM entry"
    " CROSS JOIN digest ON digest.row = entry.row WHERE {within} AND length(text) > 0{more} ORDER BY entry.row"
)
_STANDINGS = (
    "SELECT entry.row, role, tokens, timestamp, extra FROM entry"
    " WHERE {within} AND length(text) > 0{more} ORDER BY entry.row"
)
_ONE = (
    f"SELECT entry.row, id, kind, role, timestamp, tokens, digest, extra, text, flags & {PACKED} FROM entry"
    " CROSS JOIN digest ON digest.row = entry.row WHERE entry.row = ? AND length(text) > 0{more}"
)
_BARE_STANDINGS = (
    "SELECT entry.row, role, tokens FROM entry WHERE {within} AND length(text) > 0{more} ORDER BY entry.row"
)
_BARE_STANDING = "SELECT entry.row, role, tokens FROM entry WHERE entry.row = ? AND length(text) > 0{more}"
_CALLS = "SELECT row, role, extra FROM entry WHERE extra IS NOT NULL ORDER BY row"
_NONE: Mapping[int, tuple[str, ...]] = {}
_THESE = f" AND entry.row {MANY}"
_TEXT = f"SELECT row, text, flags & {PACKED} FROM entry WHERE row = ?"
_TEXTS = f"SELECT row, text, flags & {PACKED} FROM entry WHERE row {MANY}"
_VOCABULARY = "CREATE VIRTUAL TABLE IF NOT EXISTS temp.{schema}_vocabulary USING fts5vocab('{schema}', 'search', 'row')"
"""One for each: an open file that has listed its own words may have to list those of an index in memory next."""
_WORDS = "SELECT term FROM temp.{schema}_vocabulary"
_UNFED = f"SELECT text, flags & {PACKED} FROM entry WHERE NOT flags & {FED} AND length(text) > 0"
_WORD = re.compile("[0-9a-z\u0080-\U0010ffff]+")
_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}
"""What SQLite's tokenizer `ascii` does."""
_SUMMARY = ROLES.index("summary")
_DERIVED = ", ".join(str(KINDS.index(kind)) for kind in KINDS if kind in DERIVED)
_NO_SUMMARIES = f" AND role <> {_SUMMARY} AND kind NOT IN ({_DERIVED})"
_NOT_WITHHELD = f" AND (flags & {AUTOMATIC} OR role = {_SUMMARY} OR kind IN ({_DERIVED}))"


def outlines(
    shard: Shard, spans: Sequence[Span], wanted: Filter, only: Sequence[int] | None = None
) -> tuple[Outline, ...]:
    """The rows within the spans that have a text and pass the filter, in row order.

    Of few rows that are named the texts are remembered too, for whoever names few asks for them next.
    """
    if not spans:
        return ()
    timed, named = _looks_closer(wanted)
    answered = _answered(shard) if wanted.file is not None else _NONE
    found: list[Outline] = []
    rows: Iterable[Any]
    if only is not None and len(only) <= FEW:
        rows = _select_few(shard, spans, wanted, only)
    else:
        rows = _select(shard, _OUTLINES, spans, wanted, only)
    for row, id_, kind, role, stamp, tokens, digest, extra in rows:
        timestamp = from_stamp(stamp)
        if (timed and not _in_time(timestamp, wanted)) or (
            named and not _touches(extra, wanted, answered.get(row, ()))
        ):
            continue
        found.append(
            Outline(
                row=row,
                id=from_id(id_),
                kind=KINDS[kind],
                role=ROLES[role],
                timestamp=timestamp,
                tokens=tokens,
                digest=digest,
            )
        )
    return tuple(found)


def _select_few(shard: Shard, spans: Sequence[Span], wanted: Filter, only: Sequence[int]) -> Iterator[Any]:
    """As `_select`, row by row: a newly opened file has to prepare every statement, and this one is simple."""
    more, values = _conditions(wanted)
    for columns in _one_by_one(shard, _ONE.format(more=more), values, spans, only):
        *outline, text, packed = columns
        shard.recent.keep(columns[0], to_text(unsqueeze(text) if packed else text))
        yield outline


def _one_by_one(
    shard: Shard, statement: str, values: Sequence[int], spans: Sequence[Span], only: Sequence[int]
) -> Iterator[Any]:
    """What a statement about one row says of some rows within the spans, in order."""
    execute = shard.database.connection.execute
    for row in sorted(set(only)):
        if any(first <= row <= last for first, last in spans):
            yield from execute(statement, (row, *values))


def standings(
    shard: Shard, spans: Sequence[Span], wanted: Filter, only: Sequence[int] | None = None
) -> tuple[Standing, ...]:
    """The same rows in the same order, with what is cheap to read."""
    if not spans:
        return ()
    timed, named = _looks_closer(wanted)
    if not timed and not named:
        found: Iterable[Any]
        if only is not None and len(only) <= FEW:
            more, values = _conditions(wanted)
            found = _one_by_one(shard, _BARE_STANDING.format(more=more), values, spans, only)
        else:
            found = _select(shard, _BARE_STANDINGS, spans, wanted, only)
        return tuple([(row, ROLES[role], tokens) for row, role, tokens in found])
    answered = _answered(shard) if wanted.file is not None else _NONE
    return tuple(
        [
            (row, ROLES[role], tokens)
            for row, role, tokens, stamp, extra in _select(shard, _STANDINGS, spans, wanted, only)
            if not (timed and not _in_time(from_stamp(stamp), wanted))
            and not (named and not _touches(extra, wanted, answered.get(row, ())))
        ]
    )


def _looks_closer(wanted: Filter) -> tuple[bool, bool]:
    """Whether a filter asks for the time of an entry, and for what its calls name."""
    return wanted.after is not None or wanted.before is not None, wanted.tool is not None or wanted.file is not None


def _select(
    shard: Shard, statement: str, spans: Sequence[Span], wanted: Filter, only: Sequence[int] | None
) -> Iterable[Any]:
    """The rows within the spans that have a text and pass those conditions that are about columns."""
    condition, bounds = within(shard, "entry.row", spans)
    more, values = _conditions(wanted)
    bound: list[int | str] = [*bounds, *values]
    if only is not None:
        more += _THESE
        bound.append(f"[{','.join(map(str, only))}]")
    return shard.database.connection.execute(statement.format(within=condition, more=more), bound)


def texts(shard: Shard, rows: Sequence[int]) -> tuple[str, ...]:
    """The texts of these rows, in the given order; empty for rows that do not exist."""
    found = {
        row: to_text(unsqueeze(text) if packed else text)
        for row, text, packed in select_rows(shard.database.connection, _TEXT, _TEXTS, rows)
        if text is not None
    }
    return tuple(found.get(row, "") for row in rows)


def words(shard: Shard) -> tuple[str, ...]:
    """Every word of the session's texts once: those of the full-text index, and those of texts that are not in it."""
    found: dict[str, None] = dict.fromkeys(vocabulary(shard))
    for text, packed in shard.database.connection.execute(_UNFED):
        for column in feed(to_text(unsqueeze(text) if packed else text)):
            found.update(dict.fromkeys(_WORD.findall(column.translate(_LOWER))))
    return tuple(found)


def vocabulary(shard: Shard) -> list[str]:
    """Every word of the full-text index once."""
    connection = shard.database.connection
    connection.execute(_VOCABULARY.format(schema=shard.schema))
    return [word for (word,) in connection.execute(_WORDS.format(schema=shard.schema))]


def _conditions(wanted: Filter) -> tuple[str, list[int]]:
    """Conditions on columns, with their values."""
    more = "" if wanted.summaries else _NO_SUMMARIES
    if not wanted.withheld:
        more += _NOT_WITHHELD
    values: list[int] = []
    for column, chosen in (
        ("role", [ROLES.index(role) for role in wanted.roles]),
        ("kind", [KINDS.index(kind) for kind in wanted.kinds]),
    ):
        if chosen:
            more += f" AND {column} IN ({', '.join('?' * len(chosen))})"
            values += chosen
    return more, values


def _in_time(timestamp: str | None, wanted: Filter) -> bool:
    if timestamp is None:
        return False
    return (wanted.after is None or timestamp >= wanted.after) and (wanted.before is None or timestamp < wanted.before)


def _answered(shard: Shard) -> Mapping[int, tuple[str, ...]]:
    """The paths that the calls name which a row answers, by row; remembered while the session stays."""
    generation = -1 if shard.session is None else shard.session.generation
    if shard.answered is None or shard.answered[0] != generation:
        latest: dict[str, tuple[str, ...]] = {}
        found: dict[int, tuple[str, ...]] = {}
        for row, role, extra in shard.database.connection.execute(_CALLS):
            more = unpack_extra(extra)
            if ROLES[role] in CALLERS:
                latest.update(dict.fromkeys(filter(None, more.calls), more.files))
            elif files := tuple(dict.fromkeys([path for call in more.calls for path in latest.get(call, ())])):
                found[row] = files
        shard.answered = generation, found
    return shard.answered[1]


def _touches(extra: bytes | None, wanted: Filter, answered: Sequence[str]) -> bool:
    """Whether an entry's calls, or those that it answers, are of the tool, and name the file."""
    if extra is None:
        return False
    more = unpack_extra(extra)
    if wanted.tool is not None and wanted.tool not in more.tools:
        return False
    return wanted.file is None or any(names_file(path, wanted.file) for path in (*more.files, *answered))


def names_file(path: str, wanted: str) -> bool:
    """Whether a path is the wanted one, or ends with it; separators of both systems count as one."""
    path, wanted = path.replace("\\", "/"), wanted.replace("\\", "/").removeprefix("./")
    return path == wanted or (bool(wanted) and not wanted.startswith("/") and path.endswith(f"/{wanted}"))
