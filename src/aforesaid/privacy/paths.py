"""Floor 4: absolute paths without what they tell of the user: relative to the project, or from `~` on.

Whoever hands labels or metadata to a model calls `shorten_label`; quoted text passes through `shorten` only where
`privacy.shortenPaths` asks for it, since it is not verbatim any more. Transcripts come from other machines too, so that
home folders are recognised by their form as well. Nothing gets longer. Pure.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_SEPARATOR: Final = r"[\\/]+"
_BEFORE: Final = "(?<![A-Za-z0-9_.~-])"
_AFTER: Final = r"(?![\w-]|\.\w)"
_NAME: Final = r"""(?!(?:Shared|Public|linuxbrew)\b)[^\\/\s"'`<>|:*?;,()\[\]{}=]{1,64}"""
_HOMES: Final = (
    rf"(?:/(?:mnt/)?[a-z])?/(?:Users|home){_SEPARATOR}{_NAME}"
    rf"|(?:/var|/export|/usr)/home/+{_NAME}"
    rf"|[A-Za-z]:{_SEPARATOR}(?i:Users|Documents and Settings){_SEPARATOR}{_NAME}"
)
"""Home folders as systems name them; those of Windows also as its Linux and its Git see them."""
_SLUGS: Final = r"(?<!\w)-(?:home|Users)-[^-\s]+(?=-|$)"
"""Folders that hosts name after a path."""


class Paths:
    """What paths are shortened by, in one session."""

    def __init__(self, *, project: str | None, home: str | None) -> None:
        """Takes the folders.

        Args:
            project: folder that the session worked in, as the host wrote it; None if it is not known.
            home: the user's own folder on this machine; None if there is none.
        """
        self._project = _folder(project)
        self._home = _folder(home)
        self._user = "" if home is None else re.split(_SEPARATOR, home.rstrip("\\/"))[-1]

    def shorten(self, text: str) -> str:
        """A text in which absolute paths are relative to the project, or begin with `~`."""
        if "/" not in text and "\\" not in text:
            return text
        if self._project:
            text = _within(self._project).sub("", text)
            text = _whole(self._project).sub(".", text)
        if self._home:
            text = _whole(self._home).sub("~", text)
        return _homes().sub("~", text)

    def shorten_label(self, label: str) -> str:
        """A label or another value of metadata; the user's name goes from places that are no home folders, too."""
        label = _slugs().sub("~", self.shorten(label))
        if self._user:
            label = _named(self._user).sub("~", label)
        return label


def _folder(path: str | None) -> str:
    """A folder as a pattern; empty for none, and for a root, which tells nothing of anybody."""
    parts = [] if path is None else re.split(_SEPARATOR, path.rstrip("\\/"))
    if len(parts) < 2:
        return ""
    first = re.escape(parts[0]) if parts[0] else r"[\\/]"
    pattern = first + (_SEPARATOR if parts[0] else "") + _SEPARATOR.join(map(re.escape, parts[1:]))
    return f"(?i:{pattern})" if re.match("[A-Za-z]:", parts[0]) else pattern


@lru_cache(maxsize=64)
def _within(folder: str) -> re.Pattern[str]:
    return re.compile(rf"{_BEFORE}{folder}{_SEPARATOR}(?=[\w.@~+-])")


@lru_cache(maxsize=64)
def _whole(folder: str) -> re.Pattern[str]:
    return re.compile(f"{_BEFORE}{folder}{_AFTER}")


@lru_cache(maxsize=1)
def _homes() -> re.Pattern[str]:
    return re.compile(f"{_BEFORE}(?:{_HOMES})")


@lru_cache(maxsize=1)
def _slugs() -> re.Pattern[str]:
    return re.compile(_SLUGS)


@lru_cache(maxsize=8)
def _named(user: str) -> re.Pattern[str]:
    name = re.escape(user)
    return re.compile(rf"(?<=[\\/]){name}(?=[\\/]|$)|(?<!\w){name}(?=@)")
