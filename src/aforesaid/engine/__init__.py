"""Floor 7: the Python API and the one place where the parts are put together.

`Engine` opens a store, picks readers, brings sessions up to date and runs the pipeline. It is also the one place that
fails open: an agent's call must go out whatever happens here, so `retrieve` raises for wrong arguments only and reports
everything else as a status with warning codes.

The parts, each standing on the one before: `desk` (an open store, and the session that is meant), `upkeep` (index,
rebuild, forget), `retrieving`, then `planning` and `recalling`. `discovery` finds transcripts and their readers.
"""

from __future__ import annotations

from aforesaid.engine.desk import VECTOR_SECONDS, store_files
from aforesaid.engine.discovery import discover
from aforesaid.engine.planning import Planning
from aforesaid.engine.recalling import Caller, Recalling

__all__ = ["VECTOR_SECONDS", "Caller", "Engine", "discover", "store_files"]


class Engine(Planning, Recalling):
    """One open store with its configuration. Use it as a context manager, or call `close`.

    An engine may be used from one thread at a time; several processes may open the same store.
    """
