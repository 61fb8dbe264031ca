"""Packing the texts of a session later than they were stored, when nobody waits.

An append that a request waits for stores its few texts as they are (`writer`), and remembers the first of these rows in
`shard.unpacked`. `store.tend` packs them in an idle moment; if there never is one, the append that makes them too many
does. Readers look at the flag of each row. Here a packed text and a plain one of the same row are the same text, so the
session's generation stays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aforesaid.storage.sqlite.records import PACK_FROM, PACKED, squeeze

if TYPE_CHECKING:
    from typing import Any

    import apsw

AT_ONCE = 64
"""Rows of a transaction beyond which its texts are packed at once: nobody appends so many within a turn."""
WAITING = 512
"""Rows that may wait for an idle moment; they take some 150 KB more than they will."""

_PLAIN = f"SELECT row, text FROM entry WHERE row >= ? AND NOT flags & {PACKED} AND length(text) >= {PACK_FROM}"
_PACK = f"UPDATE entry SET text = ?, flags = flags | {PACKED} WHERE row = ?"
_PACKED = "UPDATE shard SET unpacked = NULL WHERE one = 1"


def pack(database: apsw.Connection, first: int) -> None:
    """Packs the texts from a row on, within the caller's write transaction."""
    plain: list[Any] = database.execute(_PLAIN, (first,)).fetchall()
    database.executemany(_PACK, [(squeeze(text), row) for row, text in plain])
    database.execute(_PACKED)
