"""Floor 8: a configuration that changes while a service runs counts from the next call on.

`cli/serve` and `cli/mcp` wrap their methods in a `Watch`. Files are looked at, not read, before each call; one that
cannot be read any more counts as a privacy policy that nobody knows, so that nothing is handed out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from aforesaid.config.layers import look
from aforesaid.errors import AforesaidError

if TYPE_CHECKING:
    from collections.abc import Callable

    from aforesaid.config import Config
    from aforesaid.engine import Engine


class Watch:
    """Keeps the configuration of an engine what its files say."""

    def __init__(self, engine: Engine, reload: Callable[[], Config]) -> None:
        """Takes whose configuration it is, and what reads it again."""
        self._engine = engine
        self._reload = reload

    def renew(self) -> None:
        """Reads the configuration again if one of its files is not what it was."""
        config = self._engine.config
        now = look(config.files)
        if now == config.seen:
            return
        try:
            self._engine.config = self._reload()
        except AforesaidError:
            self._engine.config = replace(config, privacy_misread=("privacy",), seen=now)
