"""Floor 6: what an item of a Codex rollout says, in canonical words.

`codex` knows which id and parent an item has; this module knows types and roles: who speaks, what of it is searched,
and what is the program's own (instructions, environment, hook context, notifications), of which nothing is.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

from aforesaid.transcripts import calls, codex_rows
from aforesaid.transcripts.said import Said, clean, is_framed, says, unframed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from aforesaid.transcripts.codex_rows import Item, Payload

_NOTHING: Final = Said(kind="other", automatic=False)
_CALLS: Final = {
    "function_call": "",
    "custom_tool_call": "",
    "local_shell_call": "local_shell",
    "web_search_call": "web_search",
    "tool_search_call": "tool_search",
    "image_generation_call": "image_generation",
}
"""Types of calls; those that name no tool with the name of theirs."""
_RESULTS: Final = frozenset({"function_call_output", "custom_tool_call_output"})
_PROGRAMS: Final = (
    "# AGENTS.md instructions for ",
    "<environment_context>",
    "<user_instructions>",
    "<permissions instructions>",
    "<collaboration_mode>",
    "<skill>",
    "<skills_instructions>",
    "<turn_aborted>",
    "<subagent_notification>",
)
"""How texts begin that the program puts in as if the user had said them."""
_SUMMARY: Final = "compaction.summary"
_SUMMARISED: Final = (
    "Another language model started to solve this problem and produced a summary of its thinking process."
)
"""How a message begins with which the program hands a summary on."""
_SHELL: Final = re.compile(
    r"\s*<user_shell_command>\s*<command>\n?(.*?)\n?</command>\s*<result>\n?(.*?)\n?</result>", re.DOTALL
)
_EDITOR: Final = "# Context from my IDE setup:"
"""How a message begins to which an editor has added what is open in it."""
_ASKED: Final = "## My request for Codex:"
"""Behind this the user's own words begin."""
_PATCHED: Final = re.compile(r"^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+)$", re.MULTILINE)


def say(item: Item, tool: Callable[[str], str], *, summary: bool = False) -> Said:
    """What an item says.

    Args:
        item: the payload of a `response_item`.
        tool: gives the tool of a call id, empty where it is not known.
        summary: whether the row says that it is what a compaction brought forth.
    """
    if item.type == "message":
        if summary or _is_summary(item):
            return Said(kind="compaction", role="summary", parts=clean(_texts(item)), automatic=False)
        if item.role == "user":
            return _user(item)
        if item.role == "assistant":
            return Said(role="assistant", parts=clean(_texts(item)))
        return _NOTHING
    if item.type in _CALLS:
        return _call(item)
    if item.type in _RESULTS:
        return _result(item, tool)
    return Said(role="assistant") if item.type == "reasoning" else _NOTHING


def tool_of(item: Item) -> str:
    """The tool that an item calls, with its namespace as Codex writes it for the model; empty where it calls none."""
    name = item.name or _CALLS.get(item.type, "")
    return f"{item.namespace}{'' if name.startswith('_') else '__'}{name}" if item.namespace else name


def user_text(item: Item) -> str:
    """All text of a user's message, by which it is found again in what a compaction kept."""
    return "\n".join(piece.text or "" for piece in codex_rows.pieces(item.content))


def summary(payload: Payload) -> tuple[tuple[str, ...], bool]:
    """The parts of a compaction's summary, and whether it has one that only the model's provider can read."""
    history = payload.replacement_history or []
    texts = [payload.message] if isinstance(payload.message, str) and payload.message else []
    if not texts:
        for item in history:
            kinds = _kinds(item)
            texts += [text for text, kind in zip(_texts(item), kinds, strict=False) if kind == _SUMMARY]
    parts = clean(texts)
    sealed = any(item.type in {"compaction", "compaction_summary"} and item.encrypted_content for item in history)
    return parts, sealed and not parts


def _texts(item: Item) -> list[str]:
    return [piece.text for piece in codex_rows.pieces(item.content) if piece.text is not None]


def _is_summary(item: Item) -> bool:
    """Whether a message is a summary and nothing else, by its kinds or, in the user's name, by how it begins."""
    kinds = _kinds(item)
    if kinds and all(kind == _SUMMARY for kind in kinds):
        return True
    return item.role == "user" and user_text(item).startswith(_SUMMARISED)


def _kinds(item: Item) -> list[str]:
    notes = item.internal_chat_message_metadata_passthrough
    return (notes.content_item_kinds if notes is not None else None) or []


def _user(item: Item) -> Said:
    content = codex_rows.pieces(item.content)
    kinds = _kinds(item)
    if len(kinds) == len(content):
        own = [piece for piece, kind in zip(content, kinds, strict=True) if _is_the_users(kind)]
    else:
        own = content
    texts = [piece.text for piece in own if piece.text is not None]
    ran = _SHELL.match(texts[0]) if len(texts) == 1 else None
    if ran is not None:
        return Said(role="shell", parts=clean(ran.groups()))
    words = [_asked(text) for text in texts if says(text) and not text.lstrip().startswith(_PROGRAMS)]
    parts = clean(words)
    images = len(own) - len(texts)
    # Words that are nothing but encoded data are the user's; our own evidence alone is not.
    written = any(map(says, words)) and not any(map(is_framed, words))
    return Said(role="user", parts=parts, request=True) if parts or images or written else _NOTHING


def _is_the_users(kind: str) -> bool:
    """Whether a piece of a user's message may be the user's; versions that do not know say `unknown`."""
    return kind.startswith("user.") or kind == "unknown"


def _asked(text: str) -> str:
    """The user's words of a text to which an editor has added what is open in it."""
    if text.startswith(_EDITOR) and _ASKED in text:
        return text.partition(_ASKED)[2].lstrip()
    return text


def _call(item: Item) -> Said:
    tool = tool_of(item)
    arguments = _arguments(item)
    own = calls.is_own(tool)
    patch = arguments.get("input") if isinstance(arguments, dict) else None
    named = () if own else calls.files(arguments)
    if isinstance(patch, str) and "*** " in patch:
        named += tuple(_PATCHED.findall(patch))
    return Said(
        role="tool_call",
        parts=() if own else unframed((calls.render(tool, arguments),)),
        tools=(tool,),
        calls=(item.call_id or item.id or "",),
        files=tuple(dict.fromkeys(named)),
    )


def _state(output: Any) -> tuple[str, ...]:
    """How a command ended, where the output's text does not say it itself as that of newer versions does."""
    if isinstance(output, dict):
        failed = ("success: false",) if output.get("success") is False else ()
        return (*failed, *_state(output.get("content", output.get("output"))))
    inner = _wrapped(output)
    metadata = inner.get("metadata") if inner is not None else None
    code = metadata.get("exit_code") if isinstance(metadata, dict) else None
    return (f"Exit code: {code}",) if isinstance(code, int) and not isinstance(code, bool) else ()


def _wrapped(output: Any) -> dict[str, Any] | None:
    """The object in whose JSON the first versions wrote an output."""
    if not isinstance(output, str) or not output.startswith('{"output":'):
        return None
    try:
        inner = json.loads(output)
    except (ValueError, RecursionError):
        return None
    return inner if isinstance(inner, dict) and isinstance(inner.get("output"), str) else None


def _arguments(item: Item) -> object:
    """The arguments of a call, whatever its type calls them."""
    for given in (item.arguments, item.action):
        if isinstance(given, str):
            try:
                return json.loads(given)
            except (ValueError, RecursionError):
                return {"arguments": given}
        if given is not None:
            return given
    if item.input is not None:
        return {"input": item.input}
    return {"prompt": item.revised_prompt} if item.revised_prompt is not None else None


def _result(item: Item, tool: Callable[[str], str]) -> Said:
    id_ = item.call_id or ""
    name = tool(id_)
    printed = _printed(item.output)
    own = calls.brings_own(name, printed)
    return Said(
        role="tool_result",
        parts=() if own else (*clean(printed), *_state(item.output)),
        tools=(name,),
        calls=(id_,),
        automatic=not own,
    )


def _printed(output: Any) -> Sequence[str]:
    """The texts of an output: plain, in pieces, or wrapped in an object as the first versions wrote it."""
    if isinstance(output, dict):
        output = output.get("content", output.get("output"))
    inner = _wrapped(output)
    if inner is not None:
        return [inner["output"]]
    return [piece.text for piece in codex_rows.pieces(codex_rows.content(output)) if piece.text is not None]
