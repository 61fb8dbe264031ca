"""Floor 6: what a row of a Pi file means, as a canonical entry.

`pi` knows which id and parent a row has; this module knows types and roles: who speaks, what of it is searched, what
changes the model's view. Every row gives an entry, also one that nobody understands.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aforesaid.model import Compaction, Edit, Entry
from aforesaid.transcripts import calls, pi_rows
from aforesaid.transcripts.said import Said, clean, is_framed, says, unframed
from aforesaid.transcripts.times import canonical

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aforesaid.model import Source
    from aforesaid.transcripts.pi_rows import Block, Message, Row

_EXITED = "Command exited with code "
_TELLS = (_EXITED, "Command timed out after ", "Command aborted")
"""How the last line of a failed command begins."""


def entry(row: Row, *, id_: str, parent: str | None, source: Source, kept_from: str | None) -> Entry:
    """The entry of a row.

    Args:
        row: the line.
        id_: the entry's id.
        parent: id of the entry before it.
        source: where the line stands.
        kept_from: for a compaction, the id of the first entry that stays visible.
    """
    message = row.message
    stamp = canonical(row.timestamp) or (canonical(message.timestamp) if message is not None else None)
    if row.type == "message" and message is not None:
        said = _said(message)
        # Each name is written out: most rows of a file pass here, and unpacking would cost more than all the rest.
        return Entry(
            id=id_,
            parent=parent,
            kind=said.kind,
            role=said.role,
            timestamp=stamp,
            parts=said.parts,
            source=source,
            tools=said.tools,
            calls=said.calls,
            files=said.files,
            automatic=said.automatic,
            request=said.request,
        )
    made: dict[str, Any] = {"id": id_, "parent": parent, "timestamp": stamp, "source": source}
    match row.type:
        case "compaction":
            compaction = Compaction(kept_from=kept_from)
            parts = _summary(row)
            return Entry(**made, kind="compaction", role="summary", parts=parts, automatic=False, compaction=compaction)
        case "branch_summary":
            return Entry(**made, kind="branch-summary", role="summary", parts=_summary(row), automatic=False)
        case "custom_message":
            return Entry(**made, kind="custom", role="custom", parts=clean(_texts(row.content)))
        case "context_edit" if isinstance(row.targetId, str):
            edit = Edit(target=row.targetId, replaced=row.replacement is not None)
            return Entry(**made, kind="context-edit", role="custom", parts=(), edit=edit)
        case "label" if isinstance(row.targetId, str):
            label = _text_or_none(row.label)
            return Entry(**made, kind="label", role="custom", parts=(), target=row.targetId, label=label)
        case "session_info":
            return Entry(**made, kind="label", role="custom", parts=(), label=_text_or_none(row.name))
        case _:
            return Entry(**made, kind="other", role="custom", parts=())


def _said(message: Message) -> Said:
    match message.role:
        case "assistant":
            return _assistant(message)
        case "toolResult":
            tool = message.toolName or ""
            texts = _texts(message.content)
            # A script that calls tools (`codemode`) prints what they brought back.
            own = calls.brings_own(tool, texts) or any(map(calls.is_own, _nested(message.nestedCalls)))
            parts = () if own else (*clean(texts), *_state(message, texts))
            return Said(
                role="tool_result", parts=parts, tools=(tool,), calls=(message.toolCallId or "",), automatic=not own
            )
        case "user":
            return _user(message)
        case "bashExecution":
            # `!!command` keeps a command from the model; it must not come back by itself either.
            automatic = message.excludeFromContext is not True
            parts = (*clean((message.command or "", message.output or "")), *_ending(message))
            return Said(role="shell", parts=parts, automatic=automatic)
        case "custom" | "hookMessage":
            return Said(kind="custom", parts=clean(_texts(message.content)))
        case "system":
            return Said(kind="other")
        case _:
            return Said(parts=clean(_texts(message.content)))


def _state(message: Message, texts: list[str]) -> tuple[str, ...]:
    """That a tool failed, unless what it printed ends with Pi's own words of it."""
    told = bool(texts) and texts[-1].rpartition("\n")[2].startswith(_TELLS)
    return ("isError: true",) if message.isError is True and not told else ()


def _ending(message: Message) -> tuple[str, ...]:
    """How a command of the user ended, in Pi's words; nothing of one that went well."""
    if message.cancelled is True:
        return ("(command cancelled)",)
    code = message.exitCode
    return (f"{_EXITED}{code}",) if isinstance(code, int) and not isinstance(code, bool) and code else ()


def _nested(record: object) -> Iterator[str]:
    """The tools that a tool has called, as Pi records them."""
    made = record.get("calls") if isinstance(record, dict) else None
    for call in made if isinstance(made, list) else ():
        name = call.get("name") if isinstance(call, dict) else None
        if isinstance(name, str):
            yield name


def _user(message: Message) -> Said:
    texts = _texts(message.content)
    parts = clean(texts)
    # A message that holds nothing but our own evidence is not the user's; one that is only an image is.
    framed = not parts and len(texts) == len(pi_rows.blocks(message.content)) and any(map(is_framed, texts))
    return Said(role="user", parts=parts, request=not framed)


def _assistant(message: Message) -> Said:
    texts: list[str] = []
    called: list[Block] = []
    files: tuple[str, ...] = ()
    spoken = False
    for block in pi_rows.blocks(message.content):
        if block.type == "text" and block.text:
            texts.append(calls.plain(block.text))
            spoken = spoken or says(block.text)
        elif block.type == "toolCall":
            called.append(block)
            tool = block.name or ""
            if not calls.is_own(tool):
                texts.append(calls.render(tool, block.arguments))
                files += calls.files(block.arguments)
    return Said(
        role="tool_call" if called and not spoken else "assistant",
        parts=unframed(texts),
        tools=tuple([block.name or "" for block in called]),
        calls=tuple([block.id or "" for block in called]),
        files=files,
    )


def _summary(row: Row) -> tuple[str, ...]:
    return clean((row.summary,)) if isinstance(row.summary, str) else ()


def _texts(content: str | list[Block] | None) -> list[str]:
    """The text blocks of a message's content; thinking and images are none."""
    return [block.text or "" for block in pi_rows.blocks(content) if block.type == "text"]


def _text_or_none(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
