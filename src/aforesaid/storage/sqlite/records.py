"""How values stand in the tables: text as UTF-8 bytes, lists and records as MessagePack.

Texts, ids and paths may hold lone surrogates, which neither SQLite's text nor MessagePack's can carry; everything here
gives back exactly what it took. Called by `writer`, `snapshot` and `catalogue`; knows no SQL.
"""

# Annotations are not postponed, as in `model`.

import zlib
from functools import lru_cache
from typing import Any

import msgspec
from msgspec import Struct

from aforesaid.model import Compaction, Edit, Kind, Role, Session

KINDS: tuple[Kind, ...] = ("message", "compaction", "branch-summary", "custom", "context-edit", "label", "other", "gap")
ROLES: tuple[Role, ...] = ("user", "assistant", "tool_call", "tool_result", "shell", "summary", "custom")
"""Places in these lists stand in the tables: append only."""

AUTOMATIC, REQUEST, FED, PACKED = 1, 2, 4, 8
"""Bits of `entry.flags`: as in `Entry`; fed: the text is in the full-text index; packed: it is stored compressed."""

PACK_FROM = 192
"""Bytes from which on a text is compressed. Smaller ones gain little and would cost every search time."""
_REPEATS_FROM = 1024
"""Bytes from which on repetitions within a text are looked for: shorter ones hold few, and the search for them takes
half of the time of packing. All others only get shorter codes for frequent bytes."""

_WINDOW, _MEMORY = -13, 6
_DIRECT, _ARMOURED = b"\x00", b"\x01"


class Extra(Struct, frozen=True, array_like=True):
    """What few entries have, in one column: null where an entry has none of it."""

    tools: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    label: str | None = None
    target: str | None = None
    file: str | None = None


class Change(Struct, frozen=True, array_like=True):
    """The content of a mark."""

    compaction: Compaction | None = None
    edit: Edit | None = None


_encode = msgspec.msgpack.Encoder().encode
_session = msgspec.msgpack.Decoder(Session).decode
_extra = msgspec.msgpack.Decoder(Extra).decode
_change = msgspec.msgpack.Decoder(Change).decode
_lengths = msgspec.msgpack.Decoder(tuple[int, ...]).decode


def to_bytes(text: str) -> bytes:
    """Any text, lone surrogates included; bytes compare as the texts do by code point."""
    return text.encode("utf-8", "surrogatepass")


def to_text(data: bytes) -> str:
    """The text that `to_bytes` took."""
    return data.decode("utf-8", "surrogatepass")


def to_id(id_: str) -> bytes:
    """An entry id; the hexadecimal ones that hosts make take half the room, in the table and in its index."""
    length = len(id_)
    try:
        if length == _SHORT:
            data = bytes.fromhex(id_)
            if data.hex() == id_:
                return _PACKED_ID + data
        elif length == _LONG:
            data = _PACKED_ID + bytes.fromhex(id_.replace("-", ""))
            if from_id(data) == id_:
                return data
    except ValueError:
        pass  # no hexadecimal digits
    return to_bytes(id_)


def from_id(data: bytes) -> str:
    """The id that `to_id` took."""
    if data[:1] != _PACKED_ID:
        return to_text(data)
    digits = data[1:].hex()
    if len(digits) == _SHORT:
        return digits
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


_PACKED_ID = b"\xff"
"""Never begins UTF-8."""
_SHORT, _LONG = 8, 36
"""Lengths of the ids of Pi and of UUIDs."""


def to_stamp(timestamp: str | None) -> int | str | None:
    """A timestamp as milliseconds since 1970; as it is where it is not written as timestamps are."""
    if timestamp is None:
        return None
    hour, rest = _hours[timestamp[:14]], timestamp[14:]
    if hour is None or len(rest) != 10 or rest[2] != ":" or rest[5] != "." or rest[9] != "Z":
        return timestamp
    minute, second, thousandth = rest[:2], rest[3:5], rest[6:9]
    digits = minute + second + thousandth
    if not (digits.isdecimal() and digits.isascii() and minute < "60" and second < "60"):
        return timestamp
    return hour + int(minute) * 60_000 + int(second) * 1000 + int(thousandth)


def from_stamp(stamp: int | str | None) -> str | None:
    """The timestamp that `to_stamp` took."""
    if not isinstance(stamp, int):
        return stamp
    hour, rest = divmod(stamp, _HOUR)
    return f"{_starts[hour]}{rest // 60_000:02}:{rest // 1000 % 60:02}.{rest % 1000:03}Z"


class _Hours(dict[str, int | None]):
    """Milliseconds since 1970 at the beginning of an hour, by the timestamp up to its minutes; filled as it is met."""

    def __missing__(self, start: str) -> int | None:
        from datetime import date  # late: readers of a store rarely write one

        try:
            day = date.fromisoformat(start[:10]).toordinal() - _EPOCH
            hour = day * 24 + int(start[11:13])
            if _starts[hour] != start:
                return None  # the same hour, written in another way
        except (ValueError, OverflowError):
            return None
        self[start] = hour * _HOUR
        return hour * _HOUR


class _Starts(dict[int, str]):
    """The way back, by hours since 1970."""

    def __missing__(self, hour: int) -> str:
        from datetime import date  # late: a search that finds nothing needs none

        day, clock = divmod(hour, 24)
        self[hour] = start = f"{date.fromordinal(day + _EPOCH).isoformat()}T{clock:02}:"
        return start


_HOUR = 3_600_000
_EPOCH = 719_163
_hours, _starts = _Hours(), _Starts()


def squeeze(data: bytes) -> bytes:
    """A text compressed; it is as fast as deflate gets, with a small window that needs little setting up."""
    strategy = zlib.Z_HUFFMAN_ONLY if len(data) < _REPEATS_FROM else zlib.Z_DEFAULT_STRATEGY
    stream = zlib.compressobj(1, zlib.DEFLATED, _WINDOW, _MEMORY, strategy)
    return stream.compress(data) + stream.flush()


def unsqueeze(data: bytes) -> bytes:
    """The text that `squeeze` took.

    Raises:
        zlib.error: nobody wrote this.
    """
    return zlib.decompress(data, _WINDOW)


def pack(value: Struct) -> bytes:
    """A record; MessagePack itself unless a text in it holds a lone surrogate."""
    try:
        return _DIRECT + _encode(value)
    except UnicodeEncodeError:
        return _ARMOURED + _encode(_armour(msgspec.to_builtins(value, builtin_types=(bytes,))))


def pack_extra(extra: Extra) -> bytes:
    """What an entry has of it; the last fields are left out if they are empty."""
    fields = [extra.tools, extra.calls, extra.files, extra.label, extra.target, extra.file]
    while fields and not fields[-1] and fields[-1] != "":
        fields.pop()
    try:
        return _DIRECT + _encode(fields)
    except UnicodeEncodeError:
        return _ARMOURED + _encode(_armour(fields))


@lru_cache(maxsize=128)  # a search of many sessions closes their files and opens them again, and few have changed
def unpack_session(data: bytes) -> Session:
    """The session that `pack` took."""
    if data[:1] == _DIRECT:
        return _session(data[1:])
    return msgspec.convert(_disarm(msgspec.msgpack.decode(data[1:])), Session)


def unpack_extra(data: bytes) -> Extra:
    """The extra fields that `pack` took."""
    if data[:1] == _DIRECT:
        return _extra(data[1:])
    return msgspec.convert(_disarm(msgspec.msgpack.decode(data[1:])), Extra)


def unpack_change(data: bytes) -> Change:
    """The mark that `pack` took."""
    if data[:1] == _DIRECT:
        return _change(data[1:])
    return msgspec.convert(_disarm(msgspec.msgpack.decode(data[1:])), Change)


def pack_lengths(lengths: tuple[int, ...]) -> bytes:
    """The lengths of an entry's parts."""
    return _encode(lengths)


def unpack_lengths(data: bytes) -> tuple[int, ...]:
    """The lengths that `pack_lengths` took."""
    return _lengths(data)


def _armour(value: Any) -> Any:
    """Texts as the Latin-1 reading of their bytes: ASCII stays, everything else becomes harmless and reversible."""
    if isinstance(value, str):
        return value if value.isascii() else to_bytes(value).decode("latin-1")
    if isinstance(value, dict):
        return {key: _armour(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_armour(item) for item in value]
    return value


def _disarm(value: Any) -> Any:
    if isinstance(value, str):
        return value if value.isascii() else to_text(value.encode("latin-1"))
    if isinstance(value, dict):
        return {key: _disarm(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_disarm(item) for item in value]
    return value
