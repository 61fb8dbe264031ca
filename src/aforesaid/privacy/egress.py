"""Floor 4: secrets in what leaves a store whose texts still hold them.

A store keeps texts without secrets by default; then nothing is to do here. Where it keeps them raw
(`privacy.redactIndex` is off), or cleared by older rules, `retrieval`, `recall` and `expansion` ask this module about
every entry that they are about to hand out. Pure; `secrets` does the work.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from aforesaid.language.secret_formats import VERSION

if TYPE_CHECKING:
    from aforesaid.model import Session, StoredEntry

    Replacement = tuple[int, int, str]
    """Code points from and up to, and what stands there instead."""


def is_due(session: Session, redacting: bool) -> bool:
    """Whether texts of a session have to be searched before they are handed out.

    Args:
        session: where they are stored.
        redacting: whether secrets are to be replaced at all (`privacy.redactSecrets`).
    """
    return redacting and session.checkpoint.redaction != VERSION


def find_replacements(entry: StoredEntry) -> tuple[Replacement, ...]:
    """What to replace in the text of an entry, each part for itself: the same as on the way into a store."""
    from aforesaid.privacy.secrets import find_edits  # late: it compiles its patterns, and few sessions are raw

    found: list[Replacement] = []
    start = 0
    for length in entry.parts:
        part = entry.text[start : start + length]
        found += ((start + edit.start, start + edit.end, edit.text) for edit in find_edits(part))
        start += length + 1
    return tuple(found)


def redact_entry(entry: StoredEntry) -> StoredEntry:
    """The entry without the secrets of its text."""
    from aforesaid.privacy.secrets import redact  # late: see above

    texts: list[str] = []
    start = count = 0
    for length in entry.parts:
        done = redact(entry.text[start : start + length])
        texts.append(done.text)
        count += done.count
        start += length + 1
    if not count:
        return entry
    return replace(entry, text="\n".join(texts), parts=tuple(map(len, texts)), redacted=entry.redacted + count)
