"""Floor 6: what a row of a Claude Code file says, in canonical words.

`claude_code` knows which id and parent a row has; this module knows types and flags: who speaks, what of it is
searched, and what is the host's own (echoes of commands, notifications, reminders, attachments, progress), of which
nothing is.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from aforesaid.transcripts import calls
from aforesaid.transcripts.claude_code_rows import blocks
from aforesaid.transcripts.said import Said, clean, is_framed, says, unframed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from aforesaid.model import Compaction
    from aforesaid.transcripts.claude_code_rows import Attachment, Block, Message, Row
    from aforesaid.transcripts.claude_code_tree import RowKind

_NOTHING: Final = Said(kind="other", automatic=False)
_CALLS: Final = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})
_RESULTS: Final = frozenset({"tool_result", "mcp_tool_result"})
_ECHO: Final = (
    r"\s*(?:<(?:command-name|command-message|command-args|command-contents|local-command-stdout|local-command-stderr"
    r"|local-command-caveat|task-notification|ide_opened_file|ide_diagnostics)>"
    r"|\[Request interrupted by user(?: for tool use)?\]\s*\Z|Operation stopped by hook: )"
)
"""What the host writes as if the user had said it; a hook's words stand in place of the request that it stopped."""
_SHELL: Final = re.compile(r"\s*<(bash-input|bash-stdout|bash-stderr)>(.*?)</\1>", re.DOTALL)
"""What a user ran with `!`, and what it printed."""
_INJECTED: Final = ("system-reminder", "user-prompt-submit-hook")
"""Elements that the host puts before or behind words of others."""
_TELLS: Final = ("Exit code ", "<tool_use_error>", "The user doesn't want to ", "[Request interrupted by user")
"""How a failed result begins where the program says itself that it failed, and how."""
_SYNTHETIC: Final = "<synthetic>"
"""The model of messages that no model wrote."""


def kind_of(row: Row) -> RowKind:
    """What a row is for the shape of the session."""
    match row.type:
        case "assistant":
            return "assistant"
        case "user" if row.is_compact_summary is True:
            return "summary"
        case "user" if row.message is not None:
            if answered(row.message):
                return "result"
            return "prompt" if say(row, lambda _: "").request else "other"
        case "attachment" if row.attachment is not None and _is_queued(row.attachment):
            return "prompt"
        case "progress":
            return "progress"
        case "system" if row.subtype == "compact_boundary":
            return "boundary"
        case _:
            return "other"


def called(message: Message) -> list[tuple[str, str]]:
    """Ids and tools of the calls in a message."""
    return [(block.id or "", block.name or "") for block in blocks(message.content) if block.type in _CALLS]


def answered(message: Message) -> list[str]:
    """Ids of the calls that a message answers."""
    return [block.tool_use_id or "" for block in blocks(message.content) if block.type in _RESULTS]


def say(row: Row, tool: Callable[[str], str]) -> Said:
    """What a row says.

    Args:
        row: the line.
        tool: gives the tool of a call id, empty where it is not known.
    """
    message = row.message
    if row.type == "system" and row.subtype == "compact_boundary":
        return Said(kind="compaction", automatic=False)
    if row.type == "attachment" and row.attachment is not None and _is_queued(row.attachment):
        return _user(blocks(row.attachment.prompt))
    if row.type == "system" and row.subtype == "microcompact_boundary":
        return Said(kind="context-edit", automatic=False)
    if message is None or row.type not in {"user", "assistant"}:
        return _NOTHING
    if row.type == "assistant":
        if row.is_api_error_message is True or message.model == _SYNTHETIC:
            return _NOTHING
        return _assistant(blocks(message.content))
    if row.is_compact_summary is True:
        return Said(kind="compaction", role="summary", parts=clean(_texts(blocks(message.content))), automatic=False)
    if row.is_meta is True or row.is_visible_in_transcript_only is True:
        return _NOTHING
    content = blocks(message.content)
    if any(block.type in _RESULTS for block in content):
        return _result(content, tool)
    return _NOTHING if _is_the_hosts(row) else _user(content)


def kept(metadata: object) -> tuple[tuple[str, ...], str | None, tuple[str, ...]]:
    """What the metadata of a compaction say was kept.

    Returns:
        The ids of the kept rows; where there are none, the first row of the kept stretch; and all ids that the rows
        after the compaction may hang on although they stood before it.
    """
    if not isinstance(metadata, dict):
        return (), None, ()
    messages, segment = metadata.get("preservedMessages"), metadata.get("preservedSegment")
    listed = messages.get("uuids") if isinstance(messages, dict) else None
    ids = tuple(id_ for id_ in listed if isinstance(id_, str)) if isinstance(listed, list) else ()
    ends = (segment.get("headUuid"), segment.get("tailUuid")) if isinstance(segment, dict) else (None, None)
    head = ends[0] if not ids and isinstance(ends[0], str) else None
    every = messages.get("allUuids") if isinstance(messages, dict) else None
    more = [id_ for id_ in every if isinstance(id_, str)] if isinstance(every, list) else []
    return ids, head, tuple(dict.fromkeys([*ids, *more, *(end for end in ends if isinstance(end, str))]))


def cleared(row: Row) -> list[str]:
    """The calls whose results the host has emptied to make room."""
    metadata = row.microcompact_metadata
    ids = metadata.get("compactedToolIds") if isinstance(metadata, dict) else None
    return [id_ for id_ in ids if isinstance(id_, str)] if isinstance(ids, list) else []


def _is_the_hosts(row: Row) -> bool:
    """Whether the host itself wrote a user's row, as its newer versions say."""
    kind = row.origin.get("kind") if isinstance(row.origin, dict) else None
    return kind not in (None, "human") or row.prompt_source == "system"  # a tuple: a list has no hash


def _is_queued(attachment: Attachment) -> bool:
    """Whether an attachment is what the user wrote while the model was at work."""
    return attachment.type == "queued_command" and attachment.command_mode != "task-notification"


def _user(content: list[Block]) -> Said:
    shell = _shell(content)
    if shell is not None:
        return Said(role="shell", parts=clean(shell)) if any(map(says, shell)) else _NOTHING
    texts = _texts(content)
    words = _words(texts)
    parts = clean(words)
    others = len(content) - len(texts)
    if not parts and not others:
        # A message that holds nothing but our own evidence, or the host's words, is not the user's.
        written = any(map(says, words)) and not any(map(is_framed, words))
        return Said(role="user", request=True) if written else _NOTHING
    return Said(role="user", parts=parts, request=True)


def _words(texts: list[str]) -> list[str]:
    """The user's own texts."""
    return [plain for text in texts if says(plain := _without_injected(text)) and not re.match(_ECHO, plain)]


def _shell(content: list[Block]) -> list[str] | None:
    """Command or output of a command that the user ran; None where the message is none."""
    if len(content) != 1 or not (text := content[0].text or "").lstrip().startswith("<bash-"):
        return None
    return [match[2] for match in _SHELL.finditer(text)] or None


def _result(content: list[Block], tool: Callable[[str], str]) -> Said:
    """Results, and what the user may have said to them."""
    results = [block for block in content if block.type in _RESULTS]
    ids = tuple([block.tool_use_id or "" for block in results])
    tools = tuple([tool(id_) for id_ in ids])
    texts: list[str] = []
    request = False
    others = False
    for block in content:
        if block.type in _RESULTS:
            printed = _texts(blocks(block.content))
            if not calls.brings_own(tool(block.tool_use_id or ""), printed):
                others = True
                texts += map(_without_injected, printed)
                if block.is_error is True and not (printed and printed[0].startswith(_TELLS)):
                    texts.append("is_error: true")
        elif block.type == "text" and (words := _words([block.text or ""])):
            texts += words
            request = request or bool(clean(words))
    return Said(
        role="user" if request else "tool_result",
        parts=clean(texts),
        tools=tools,
        calls=ids,
        automatic=request or others,
        request=request,
    )


def _assistant(content: list[Block]) -> Said:
    texts: list[str] = []
    uses: list[Block] = []
    files: tuple[str, ...] = ()
    spoken = False
    for block in content:
        if block.type == "text" and block.text:
            texts.append(calls.plain(block.text))
            spoken = spoken or says(block.text)
        elif block.type in _CALLS:
            uses.append(block)
            tool = block.name or ""
            if not calls.is_own(tool):
                texts.append(calls.render(tool, block.input))
                files += calls.files(block.input)
    return Said(
        role="tool_call" if uses and not spoken else "assistant",
        parts=unframed(texts),
        tools=tuple([block.name or "" for block in uses]),
        calls=tuple([block.id or "" for block in uses]),
        files=files,
    )


def _texts(content: Iterable[Block]) -> list[str]:
    """The text blocks; thinking and images are none."""
    return [block.text or "" for block in content if block.type == "text"]


def _without_injected(text: str) -> str:
    """A text without the elements that the host put before or behind it."""
    for name in _INJECTED:
        if f"<{name}>" in text:
            text = _trimmed(text, f"<{name}>", f"</{name}>")
    return text


def _trimmed(text: str, opening: str, closing: str) -> str:
    """A text without elements that it begins with, or that stand on lines of their own at its end."""
    while (bare := text.lstrip()).startswith(opening):
        end = bare.find(closing)
        if end < 0:
            break
        text = bare[end + len(closing) :].lstrip()
    while (bare := text.rstrip()).endswith(closing):
        start = bare.rfind(opening)
        if start < 0 or (start > 0 and bare[start - 1] != "\n"):
            break
        text = bare[:start].rstrip()
    return text


def compaction_of(row: Row) -> Compaction:
    """What a compaction keeps, by the boundary's metadata."""
    from aforesaid.model import Compaction

    ids, head, _ = kept(row.compact_metadata)
    return Compaction(kept_from=head, kept=ids)
