"""The store on SQLite: one database file a session (a shard) and a small catalogue, in a folder.

`engine` opens it with `open_store`; everyone else sees `ports.StorePort`. `docs/storage.md` describes the files,
`docs/decisions/0004-store.md` says why they are so and what that costs.
"""

from __future__ import annotations

from aforesaid.storage.sqlite.store import SqliteStore, open_store

__all__ = ["SqliteStore", "open_store"]
