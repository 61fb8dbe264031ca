"""Floor 6: the JSON of one line as a typed row, the same for every host.

The readers' modules of rows hand in their decoder and a slower, forgiving way for rows of an unexpected shape: any JSON
object is a row, and nothing raises.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeVar

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

BOM: Final = b"\xef\xbb\xbf"
"""What some programs put at the beginning of a file."""
_LONGEST_INTEGER: Final = 300
"""Digits; Python refuses to read integers of thousands of digits."""
MOST: Final = 2**31 - 1
"""The largest number of a transcript that is kept: what is stored has room for 64 bits, JSON has none to begin with."""

Row = TypeVar("Row", bound=msgspec.Struct)


def decode(data: bytes, decoder: msgspec.json.Decoder[Row], forgive: Callable[[dict[str, Any]], Row]) -> Row | str:
    """The row of a line, or the reason why there is none: `invalid-utf8`, `invalid-json`, `not-an-object`.

    Args:
        data: the line.
        decoder: reads rows of the usual shape.
        forgive: makes a row of any other object.
    """
    if not data.isascii():
        # The parser does not look into texts that it skips; a damaged line shall be one wherever the damage is.
        try:
            data.decode()
        except UnicodeDecodeError:
            return "invalid-utf8"
    try:
        return decoder.decode(data)
    except (msgspec.DecodeError, RecursionError):
        # Refused although it may be JSON: lone surrogates, huge numbers, fields of another type.
        from json import loads  # late: few rows are refused

        try:
            value = loads(data, parse_int=integer)
        except (ValueError, RecursionError):
            return "invalid-json"
        return forgive(value) if isinstance(value, dict) else "not-an-object"


def fields_of(value: dict[str, Any], kind: type[msgspec.Struct]) -> dict[str, Any]:
    """The fields of a struct as far as an object has them, by the struct's own names and without looking at types."""
    names = zip(kind.__struct_fields__, kind.__struct_encode_fields__, strict=True)
    return {field: value[name] for field, name in names if name in value}


def first_lines(head: bytes, most: int) -> Iterator[bytes]:
    """The first lines of what a file begins with, without its mark of UTF-8; mostly the first one tells enough."""
    start = len(BOM) if head.startswith(BOM) else 0
    for _ in range(most):
        end = head.find(b"\n", start)
        if end < 0:
            yield head[start:]
            return
        yield head[start:end]
        start = end + 1


def glance(line: bytes, saved: frozenset[str]) -> dict[str, Any]:
    """The object of a line; of a damaged or unfinished one the texts that can be saved of the named members."""
    try:
        row = msgspec.json.decode(line)
    except (msgspec.DecodeError, RecursionError):
        from aforesaid.transcripts import damaged  # late: damage is rare

        return dict(damaged.top_level(line, saved))
    return row if isinstance(row, dict) else {}


def text_or_none(value: object) -> str | None:
    """A value that is a text."""
    return value if isinstance(value, str) else None


def number_or(value: object, default: int) -> int:
    """A number of a transcript as it can be stored, from 0 to `MOST`; what is beyond is the nearer of the two.

    Args:
        value: whatever stands in its place.
        default: for what is no number.
    """
    if not isinstance(value, int | float) or isinstance(value, bool) or value != value:  # noqa: PLR0124 - NaN
        return default
    return int(max(0, min(value, MOST)))


def integer(digits: str) -> float:
    """The integer of a JSON text; one of very many digits as a float, which may be infinite."""
    return int(digits) if len(digits) <= _LONGEST_INTEGER else float(digits)
