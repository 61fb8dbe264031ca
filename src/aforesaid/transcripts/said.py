"""Floor 6: the searchable text of a message, the same for every host.

The readers' modules of entries hand in the texts of a message and get its parts: without our own evidence, without
encoded data, and without those of which nothing is left.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from aforesaid.frames import strip_frames
from aforesaid.transcripts import calls

if TYPE_CHECKING:
    from collections.abc import Iterable

    from aforesaid.model import Kind, Role


class Said(Struct, frozen=True, kw_only=True):
    """What a message contributes to its entry; fields as in `model.Entry`."""

    kind: Kind = "message"
    role: Role = "custom"
    parts: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    automatic: bool = True
    request: bool = False


def clean(texts: Iterable[str]) -> tuple[str, ...]:
    """Texts without our own evidence and encoded data; those of which nothing is left are left out."""
    return unframed(map(calls.plain, texts))


def unframed(texts: Iterable[str]) -> tuple[str, ...]:
    """Texts without our own evidence; those of which nothing is left are left out."""
    return tuple([kept for text in texts if says(kept := strip_frames(text))])


def is_framed(text: str) -> bool:
    """Whether a text is our own evidence and nothing else."""
    return says(text) and not says(strip_frames(text))


def says(text: str) -> bool:
    """Whether a text is more than blanks."""
    return bool(text) and not text.isspace()
