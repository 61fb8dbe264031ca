"""How values stand in the tables: text as UTF-8 bytes, lists and records as MessagePack.

Texts, ids and paths may hold lone surrogates, which neither SQLite's text nor MessagePack's can carry; everything here
gives back exactly what it took. Called by `writer`, `snapshot` and `catalogue`; knows no SQL.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from aforesaid.model import Compaction, Edit, Kind, Role, Session

KINDS: tuple[Kind, ...] = ("message", "compaction", "branch-summary", "custom", "context-edit", "label", "other", "gap")
ROLES: tuple[Role, ...] = ("user", "assistant", "tool_call", "tool_result", "shell", "summary", "custom")
"""Places in these lists stand in the tables: append only."""

AUTOMATIC, REQUEST, FED = 1, 2, 4
"""Bits of `entry.flags`: as in `Entry`; fed means that the text is in the full-text index."""

_DIRECT, _ARMOURED = b"\x00", b"\x01"


class Extra(Struct, frozen=True, array_like=True):
    """What few entries have, in one column: null where an entry has none of it."""

    tools: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    label: str | None = None
    target: str | None = None


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


def pack(value: Struct) -> bytes:
    """A record; MessagePack itself unless a text in it holds a lone surrogate."""
    try:
        return _DIRECT + _encode(value)
    except UnicodeEncodeError:
        return _ARMOURED + _encode(_armour(msgspec.to_builtins(value, builtin_types=(bytes,))))


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
