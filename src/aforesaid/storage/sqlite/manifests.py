"""The records of planned calls: metadata only, opaque here, bounded in number and bytes, the latest ones kept.

`store` keeps them in a file of their own, `FOLDER/manifests.db`. Losing it loses nothing that any plan needs, so a
damaged one is begun anew.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aforesaid.storage.sqlite import migrations
from aforesaid.storage.sqlite.annex import Annex

if TYPE_CHECKING:
    from typing import Any

    import apsw

MOST_BYTES = 4 << 20
"""Of all records together."""

_ADD = "INSERT INTO manifest(session, at, record) VALUES (?, ?, ?)"
_TRIM = "DELETE FROM manifest WHERE seq <= (SELECT seq FROM manifest ORDER BY seq DESC LIMIT 1 OFFSET ?)"
_SHRINK = (
    "DELETE FROM manifest WHERE seq <= (SELECT max(seq) FROM ("
    "SELECT seq, sum(length(record)) OVER (ORDER BY seq DESC) AS total FROM manifest) WHERE total > ?)"
)
_LATEST = "SELECT at, record FROM manifest WHERE (?1 IS NULL OR session = ?1) ORDER BY seq DESC LIMIT ?2"
_AMEND = (
    "UPDATE manifest SET record = ?3 WHERE seq = (SELECT max(seq) FROM manifest WHERE session = ?1) AND record = ?2"
    " RETURNING seq"
)
_FORGET = "DELETE FROM manifest WHERE session = ?"


class Manifests:
    """The manifests of one store; opened on first use."""

    def __init__(self, path: str, lock: str, *, writable: bool, timeout_ms: int) -> None:
        self._annex = Annex(path, lock, migrations.MANIFESTS, writable=writable, timeout_ms=timeout_ms)

    def keep(self, session: str, record: str, *, at: float, most: int) -> bool:
        """Adds a record, which is ASCII; older ones beyond the bounds go. False if the store cannot be written."""

        def write(connection: apsw.Connection) -> bool:
            connection.execute(_ADD, (session, at, record))
            connection.execute(_TRIM, (max(0, most),))
            connection.execute(_SHRINK, (MOST_BYTES,))
            return True

        return self._annex.write(write) is True

    def amend(self, session: str, old: str, new: str) -> bool:
        """Puts a record in the place of the latest one of a session. False if that is another, or cannot be written."""

        def write(connection: apsw.Connection) -> bool:
            return bool(connection.execute(_AMEND, (session, old, new)).fetchall())

        return self._annex.exists and self._annex.write(write) is True

    def latest(self, session: str | None, limit: int) -> tuple[tuple[float, str], ...]:
        """Time and record of the latest ones, newest first; of one session, or of all."""

        def read(connection: apsw.Connection) -> list[tuple[float, str]]:
            rows: list[Any] = connection.execute(_LATEST, (session, max(0, limit))).fetchall()
            return [(float(at), str(record)) for at, record in rows]

        return tuple(self._annex.read(read) or ())

    def forget(self, session: str) -> None:
        """Removes what is known of a session."""
        if self._annex.exists:
            self._annex.write(lambda connection: connection.execute(_FORGET, (session,)).fetchall())

    def close(self) -> None:
        """Gives the file back."""
        self._annex.close()
