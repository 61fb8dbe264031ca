"""Floor 5: which entries a view may quote, and which of their text parts.

Words of the user and of the assistant only: no thinking, no tool calls and their results, nothing that an extension or
a model wrote about others. `shelf` asks which entries count, `survey` which parts. Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from aforesaid.inquiry import Filter

if TYPE_CHECKING:
    from aforesaid.model import StoredEntry

SOURCES: Final = Filter(roles=("user", "assistant"), kinds=("message",), withheld=False)
"""Entries that may be sources."""


def said_parts(entry: StoredEntry) -> tuple[str, ...]:
    """The text parts of an entry that somebody said, whole and in order; none if it is no source.

    A reader puts each call of an assistant's entry into a part of its own, whose first line is the name of the tool;
    they stand in the order of `tools`, behind the words that announce them. Entries in which the user answers a call
    hold the tool's result too, which cannot be told from the words; they are no sources.
    """
    if entry.kind != "message" or not entry.automatic or entry.role not in {"user", "assistant"}:
        return ()
    if entry.role == "user" and entry.calls:
        return ()
    parts: list[str] = []
    start = 0
    for length in entry.parts:
        parts.append(entry.text[start : start + length])
        start += length + 1
    left = list(entry.tools)
    kept: list[str] = []
    for part in reversed(parts):
        name = part.partition("\n")[0]
        if name in left:
            left.reverse()
            left.remove(name)
            left.reverse()
        else:
            kept.append(part)
    return tuple(part for part in reversed(kept) if part and not part.isspace())
