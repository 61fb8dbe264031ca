"""Floor 6: tool calls and results as searchable text, the same for every host.

Strings of the arguments stay verbatim, so that code, commands and paths in them are found literally; encoded data is
left out. Our own tools are recognised by their names: what they brought back is never indexed again.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

OWN_TOOLS: Final = frozenset({"history_recall", "history_expand", "history_status"})
_READS_RESOURCES: Final = frozenset({"read_mcp_resource", "ReadMcpResourceTool", "ReadMcpResourceDirTool"})
"""The hosts' tools that read what MCP servers offer under an address; their results name it."""
OWN_SCHEME: Final = "history://session/"
"""Begins the addresses of our entries, as MCP resources."""
_FILE_NAMES: Final = frozenset(
    {"path", "file_path", "filePath", "filename", "fileName", "file", "notebook_path", "target_file"}
)
_DEEPEST: Final = 8
"""Levels of nesting that get lines of their own; deeper values are shown as JSON."""
_SHORTEST_ENCODED: Final = 512
"""Characters; shorter texts are never taken for encoded data."""
_ENCODED_ALPHABET: Final = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_="
_BEGINS_ENCODED: Final = r"\s*[A-Za-z0-9+/_-]{60}"
_LOOKS_RANDOM: Final = "(?=[^A-Z]*[A-Z])(?=[^a-z]*[a-z])[^0-9]*[0-9]"
_DATA_URL: Final = "(;base64,)[A-Za-z0-9+/=_-]{64,}"
# Patterns compile when they are used first: most runs of the program read nothing new.


def is_own(tool: str) -> bool:
    """Whether a tool is one of ours, also behind the prefix of an MCP server (`mcp__NAME__`)."""
    return tool in OWN_TOOLS or (tool.startswith("mcp__") and tool.rpartition("__")[2] in OWN_TOOLS)


def brings_own(tool: str, texts: Iterable[str]) -> bool:
    """Whether a tool's result is what one of ours brought back, also through a host's reader of resources."""
    return is_own(tool) or (tool in _READS_RESOURCES and any(OWN_SCHEME in text for text in texts))


def render(tool: str, arguments: object) -> str:
    """A call as text: the tool's name, then a line an argument.

    Values that stand in lists and objects get lines of their own under the name of the nearest object; lists of numbers
    and what is nested very deeply are compact JSON.
    """
    lines = [tool]
    if isinstance(arguments, dict):
        for name, value in arguments.items():
            _render(str(name), value, lines, 0)
    elif arguments is not None:
        _render("arguments", arguments, lines, 0)
    return "\n".join(lines)


def _render(name: str, value: object, lines: list[str], depth: int) -> None:
    if isinstance(value, str):
        lines.append(f"{name}: {plain(value)}")
    elif isinstance(value, dict) and depth < _DEEPEST:
        for inner, part in value.items():
            _render(str(inner), part, lines, depth + 1)
    elif isinstance(value, list) and depth < _DEEPEST and any(isinstance(part, dict | list | str) for part in value):
        for part in value:
            _render(name, part, lines, depth + 1)
    elif value is not None:
        lines.append(f"{name}: {_json(value)}")


def _json(value: object) -> str:
    try:
        return plain(json.dumps(value, ensure_ascii=False, separators=(",", ":")))
    except (ValueError, RecursionError):
        # Numbers of thousands of digits and values nested a thousand deep are nothing that anybody searches.
        return ""


def plain(text: str) -> str:
    """A text without encoded data: empty if it is nothing else, `data:` URLs without their content."""
    # Encoded data is full to the end of its lines: its beginning has no blank.
    if len(text) >= _SHORTEST_ENCODED and re.match(_BEGINS_ENCODED, text) and _is_encoded(text):
        return ""
    return re.sub(_DATA_URL, r"\1", text) if ";base64," in text else text


def _is_encoded(text: str) -> bool:
    """Whether a long text is base64 and nothing else: one run, or lines of one length."""
    runs = text.split()
    width = len(runs[0])
    if any(len(run) != width for run in runs[1:-1]) or len(runs[-1]) > width:
        return False
    text = "".join(runs)
    return (
        text.isascii() and not text.encode().translate(None, _ENCODED_ALPHABET) and bool(re.match(_LOOKS_RANDOM, text))
    )


def files(arguments: object) -> tuple[str, ...]:
    """The paths that a call names, by the usual names of such arguments, in their order."""
    if not isinstance(arguments, dict) or _FILE_NAMES.isdisjoint(arguments):
        return ()
    return tuple(value for name, value in arguments.items() if name in _FILE_NAMES and isinstance(value, str) and value)
