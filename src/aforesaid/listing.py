"""Between floors 4 and 5: the names in a folder that has thousands, listed again only when something came or went.

`recall.survey` and `storage` ask before each search of many sessions. Looks at the folder's time; never into a file.
"""

from __future__ import annotations

import os
from time import time_ns

SETTLED = 2_100_000_000
"""Nanoseconds after which a folder's time stands for what it lists: no file system that we know counts in longer steps
than two seconds, and within one step a folder may change again without another time."""
_TELLS = os.name != "nt"
"""Whether a folder's time is that of its last change; Windows may write it later."""


class Listing:
    """The names in one folder."""

    __slots__ = ("_folder", "_names", "_time")

    def __init__(self, folder: str) -> None:
        """Takes the folder, which need not exist."""
        self._folder = folder
        self._names: list[str] = []
        self._time = -1

    def names(self) -> list[str]:
        """The names, in no order; the same object while nothing came or went.

        Raises:
            OSError: the folder cannot be read.
        """
        now = time_ns()
        changed = os.stat(self._folder).st_mtime_ns
        if changed != self._time:
            names = os.listdir(self._folder)
            if names != self._names:
                self._names = names
            self._time = changed if _TELLS and now - changed > SETTLED else -1
        return self._names
