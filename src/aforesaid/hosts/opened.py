"""Floor 8: an open session of a host: what the host has told of it so far, and what it was answered last.

`sessions` keeps one of these for each session that a host has opened, and is the only one who changes it.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from aforesaid.errors import BadArgument

if TYPE_CHECKING:
    from aforesaid.extractive.values import HistoryView
    from aforesaid.hosts.forms import Context, Delta, Open
    from aforesaid.planning.values import Plan


class Opened:
    """A session that a host has opened.

    Attributes:
        handle: its name in all methods: the path of its file, or `memory:` and its id.
        file: its transcript; None if the host keeps none.
        told: how it was opened.
        lines: how many lines the host has sent, of a session without a file.
        context: ids of the entries that the model sees, oldest first.
        call: number of the model call that was asked about last.
        last, view: the plan that it got, and the view in it.
        warm: whether what questions need has been loaded.
    """

    __slots__ = ("call", "context", "file", "handle", "last", "lines", "told", "view", "warm")

    def __init__(self, handle: str, file: str | None, told: Open) -> None:
        self.handle = handle
        self.file = file
        self.told = told
        self.lines = 0
        self.context: tuple[str, ...] = ()
        self.call: int | None = None
        self.last: Plan | None = None
        self.view: HistoryView | None = None
        self.warm = False

    @property
    def there(self) -> bool:
        """Whether anything of it can be read: a host writes the file with the first message."""
        return self.lines > 0 if self.file is None else os.path.isfile(self.file)

    def update(self, delta: Delta) -> None:
        """Takes in how the entries that the model sees have changed.

        Raises:
            BadArgument: it keeps more entries than are known.
        """
        if not 0 <= delta.keep <= len(self.context):
            raise BadArgument(
                f"keep is {delta.keep}, and {len(self.context)} entries are known", "send all of them with keep 0"
            )
        self.context = (*self.context[: delta.keep], *delta.add)

    def used(self, asked: Context) -> int | None:
        """Tokens of the model's context that the host's own messages take, as it counts: without the last plan's."""
        if asked.used_tokens is None or self.last is None:
            return asked.used_tokens
        return max(0, asked.used_tokens + self.last.native_tokens - self.last.tokens)
