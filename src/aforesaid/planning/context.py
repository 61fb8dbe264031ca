"""Floor 5: what a host would send for a stored session, where no host is there to say it.

`engine` calls `read_native` for `plan` on a transcript. What a host makes of its own lines, its `ContextPort` knows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from aforesaid.branches import project
from aforesaid.planning.messages import from_entries, make_message
from aforesaid.planning.values import NativeContext
from aforesaid.text import digest

if TYPE_CHECKING:
    from typing import BinaryIO

    from aforesaid.model import Projection, Span, StoredEntry
    from aforesaid.planning.values import ContextPort
    from aforesaid.ports import EntryPort


def read_native(
    snapshot: EntryPort, spans: tuple[Span, ...], port: ContextPort, source: BinaryIO
) -> NativeContext | None:
    """The messages that a host would send for a branch, or None if the file does not hold what was read of it.

    Args:
        snapshot: the session.
        spans: the branch.
        port: the host's own way of making messages.
        source: the session's file, opened.
    """
    shown, entries = _show(snapshot, spans)
    changes = {entry.row: entry for entry in snapshot.entries([change for _, change in shown.edits])}
    edits = {row: changes[change] for row, change in shown.edits}
    return port.context(source, entries, edits, shown.compaction)


def recall_native(snapshot: EntryPort, spans: tuple[Span, ...]) -> NativeContext:
    """The same from the stored texts alone, where there is no file, or no way to make messages of it.

    Thinking, images and the words of context edits are not stored, so this is what a host would send, about.
    """
    shown, entries = _show(snapshot, spans)
    edited = dict(shown.edits)
    return NativeContext(messages=from_entries(entry for entry in entries if entry.row not in edited))


def _show(snapshot: EntryPort, spans: tuple[Span, ...]) -> tuple[Projection, tuple[StoredEntry, ...]]:
    shown = project(snapshot, spans)
    return shown, snapshot.entries([row for first, last in shown.spans for row in range(first, last + 1)])


def add_request(native: NativeContext, request: str) -> NativeContext:
    """The same context with a request that is about to be sent, unless it ends with that request already."""
    if not request.strip():
        return native
    if native.messages:
        last = native.messages[-1]
        if last.kind == "request" and digest(text_of(last.content)) == digest(request):
            return native
    message = make_message(role="user", kind="request", content=request)
    return replace(native, messages=(*native.messages, message))


def request_text(native: NativeContext) -> str:
    """The text of the current request in a context; empty if there is none."""
    requests = (message for message in reversed(native.messages) if message.kind == "request")
    return next((text_of(message.content) for message in requests), "")


def text_of(content: object) -> str:
    """The text of a message's content: its text blocks joined by newlines."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list | tuple):
        return ""
    texts = [block.get("text") for block in content if isinstance(block, dict) and block.get("type") == "text"]
    return "\n".join(text for text in texts if isinstance(text, str))
