"""Floor 5: messages from what hosts, stores and retrieval have.

Readers of transcripts and host adapters make native messages with `make_message`; `engine` falls back on `from_entries`
where a transcript cannot be read any more; `plan_context` turns supplements into messages. Pure.
"""

from __future__ import annotations

from hashlib import sha256
from json import dumps
from typing import TYPE_CHECKING, Any

from aforesaid.planning.values import Message, Supplement
from aforesaid.tokens import estimate

if TYPE_CHECKING:
    from collections.abc import Iterable

    from aforesaid.answers import Evidence
    from aforesaid.model import StoredEntry
    from aforesaid.planning.values import MessageKind

FRAMING = 4
"""Tokens that a message costs beyond its content."""
IMAGE = 1200
"""Tokens that an image counts as; Pi estimates the same."""

_IMAGES = ("image", "input_image", "image_url")
_ROLES = {"tool_call": "assistant", "tool_result": "tool", "assistant": "assistant"}


def make_message(
    *,
    role: str,
    kind: MessageKind,
    content: object,
    entry_id: str | None = None,
    calls: tuple[str, ...] = (),
    answers: str | None = None,
    tokens: int | None = None,
) -> Message:
    """A host's own message.

    Args:
        role: as the host sends it.
        kind: what it is for the planner.
        content: what the host sends: a text, or a list of blocks.
        entry_id: the entry that it comes from.
        calls: ids of the tool calls in it.
        answers: id of the call that it answers.
        tokens: what it costs, if the host knows; None estimates.
    """
    return Message(
        role=role,
        kind=kind,
        tokens=FRAMING + count_content(content) if tokens is None else tokens,
        sha256=digest_message(role, content),
        content=content,
        entry_id=entry_id,
        calls=calls,
        answers=answers,
    )


def digest_message(role: str, content: object) -> bytes:
    """SHA-256 of the compact JSON `{"role":…,"content":…}` in UTF-8, lone surrogates escaped (as JSON.stringify)."""
    text = dumps({"role": role, "content": content}, ensure_ascii=False, separators=(",", ":"))
    return sha256(text.encode("utf-8", "backslashreplace")).digest()


def count_content(content: object) -> int:
    """Estimated tokens of a message's content: a text, or blocks of text, thinking, calls, results and images."""
    if isinstance(content, str):
        return estimate(content)
    if isinstance(content, list | tuple):
        return sum(map(count_content, content))
    return _count_block(content) if isinstance(content, dict) else 0


def _count_block(block: dict[str, Any]) -> int:
    type_ = block.get("type")
    if type_ in _IMAGES:
        return IMAGE
    for name in ("text", "thinking", "content"):
        if isinstance(block.get(name), str | list):
            return count_content(block[name])
    if "name" in block:
        return estimate(str(block["name"])) + _count_json(block.get("arguments", block.get("input")))
    return _count_json(block)


def _count_json(value: object) -> int:
    return estimate(dumps(value, ensure_ascii=False, separators=(",", ":"), default=str))


def from_entries(entries: Iterable[StoredEntry]) -> tuple[Message, ...]:
    """Messages from what a store holds: text without thinking and images, for hosts whose own form is not at hand."""
    return tuple(
        make_message(
            role=_ROLES.get(entry.role, "user"),
            kind=_kind(entry),
            content=entry.text,
            entry_id=entry.id,
            calls=entry.calls if entry.role in {"assistant", "tool_call"} else (),
            answers=entry.calls[0] if entry.role == "tool_result" and entry.calls else None,
        )
        for entry in entries
        if entry.text or entry.calls
    )


def _kind(entry: StoredEntry) -> MessageKind:
    if entry.request:
        return "request"
    if entry.role == "summary":
        return "summary"
    return "result" if entry.role == "tool_result" else "message"


def make_supplement(evidence: Evidence, classification: str) -> Supplement:
    """Retrieved evidence as something that a plan may add; of a `classification` where no policy gave it another."""
    ranked = evidence.ranked
    return Supplement(
        kind="retrieval",
        text=evidence.message,
        tokens=evidence.tokens,
        entry_id=ranked.candidate.entry.id,
        score=ranked.score,
        reason=ranked.reason,
        classification=classification if evidence.classification == "normal" else evidence.classification,
    )


def supplement_message(supplement: Supplement) -> Message:
    """The message of a supplement: user-role, with the text as it is."""
    return Message(
        role="user",
        kind="message",
        tokens=supplement.tokens,
        sha256=digest_message("user", supplement.text),
        content=supplement.text,
        entry_id=supplement.entry_id,
        source="view" if supplement.kind == "view" else "evidence",
    )
