"""How many refs each issuer has given out, in a file of its own, `FOLDER/refs.db`.

`store` asks it for `count_refs`, so that of the refs of a service only so many are accepted, whatever process gave them
out. No ref stands in it. Losing the file loses nothing: refs that expire still do.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from aforesaid.errors import StoreBusy, StoreFull, StoreReadOnly
from aforesaid.storage.sqlite import migrations
from aforesaid.storage.sqlite.annex import Annex

if TYPE_CHECKING:
    import apsw

_COUNT = "SELECT count FROM issued WHERE issuer = ?"
_ADD = (
    "INSERT INTO issued(issuer, count) VALUES (?, ?)"
    " ON CONFLICT(issuer) DO UPDATE SET count = count + excluded.count RETURNING count"
)


class Issued:
    """The counts of one store; opened on first use."""

    def __init__(self, path: str, lock: str, *, writable: bool, timeout_ms: int) -> None:
        self._annex = Annex(path, lock, migrations.ISSUED, writable=writable, timeout_ms=timeout_ms)

    def count(self, issuer: str, more: int = 0) -> int:
        """How many refs an issuer has given out, before it gives out some more.

        A store that cannot be written, or not now, counts none: refs are worth no failed search.

        Raises:
            StoreError: the file cannot be read.
        """

        def add(connection: apsw.Connection) -> int:
            return int(connection.execute(_ADD, (issuer, more)).get) - more

        if more:
            with suppress(StoreBusy, StoreFull, StoreReadOnly):
                before = self._annex.write(add)
                if before is not None:
                    return before
        if not self._annex.exists:
            return 0
        return self._annex.read(lambda connection: int(connection.execute(_COUNT, (issuer,)).get or 0)) or 0

    def close(self) -> None:
        """Gives the file back."""
        self._annex.close()
