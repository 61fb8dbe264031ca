"""Floor 8: a configuration that changes while a service runs counts from the next call on; each project has its own.

`cli/serve` and `cli/mcp` call `Watch.renew` before each method. Files are looked at, not read, before each call; one
that cannot be read any more counts as a privacy policy that nobody knows, so that nothing is handed out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from aforesaid.config.layers import look
from aforesaid.errors import AforesaidError

if TYPE_CHECKING:
    from collections.abc import Callable

    from aforesaid.config import Config
    from aforesaid.engine import Engine

    Place = tuple[str, bool]
    """The folder that a session works in, absolute, and whether the host's user trusts it."""

_MOST: Final = 32
"""Places whose configuration stays in memory."""


class Watch:
    """Keeps the configuration of an engine what its files say."""

    def __init__(self, engine: Engine, load: Callable[[Place | None], Config]) -> None:
        """Takes whose configuration it is, and what reads it: for a place, or with None for none."""
        self._engine = engine
        self._load = load
        self._known: dict[Place | None, Config] = {None: engine.config}
        self._place: Place | None = None

    def renew(self, place: Place | None = None) -> None:
        """Lets the configuration of a place count; reads it again if one of its files is not what it was."""
        self._place = place
        config = self._known.get(place)
        if config is None or look(config.files) != config.seen:
            config = self._read(place)
        self._engine.config = config

    def reload(self) -> Config:
        """Reads everything again after a file was written, whatever the files look like.

        Returns:
            The configuration of the place that was renewed last; it counts.
        """
        self._known.clear()
        self._engine.config = self._read(self._place)
        return self._engine.config

    def _read(self, place: Place | None) -> Config:
        last = self._known.pop(place, None) or self._engine.config
        now = look(last.files)
        try:
            config = self._load(place)
        except AforesaidError:
            config = replace(last, privacy_misread=("privacy",), seen=now)
        while len(self._known) >= _MOST:
            del self._known[next(iter(self._known))]
        self._known[place] = config
        return config
