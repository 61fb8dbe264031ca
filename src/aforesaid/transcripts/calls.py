"""Floor 6: tool calls and results as searchable text, the same for every host.

Strings of the arguments stay verbatim, so that code, commands and paths in them are found literally; encoded data is
left out. Our own tools are recognised by their names: what they brought back is never indexed again.
"""

from __future__ import annotations

import json
import re
from typing import Final

OWN_TOOLS: Final = frozenset({"history_recall", "history_expand", "history_status"})
_FILE_NAMES: Final = frozenset(
    {"path", "file_path", "filePath", "filename", "fileName", "file", "notebook_path", "target_file"}
)
_ENCODED: Final = re.compile("(?:[A-Za-z0-9+/_-]{4}){128,}[A-Za-z0-9+/_=-]{0,4}")
_DATA_URL: Final = re.compile("(;base64,)[A-Za-z0-9+/=_-]{64,}")


def is_own(tool: str) -> bool:
    """Whether a tool is one of ours, also behind the prefix of an MCP server (`mcp__NAME__`)."""
    return tool in OWN_TOOLS or (tool.startswith("mcp__") and tool.rpartition("__")[2] in OWN_TOOLS)


def render(tool: str, arguments: object) -> str:
    """A call as text: the tool's name, then a line an argument."""
    lines = [tool]
    if isinstance(arguments, dict):
        for name, value in arguments.items():
            _render(str(name), value, lines)
    elif arguments is not None:
        _render("arguments", arguments, lines)
    return "\n".join(lines)


def _render(name: str, value: object, lines: list[str], depth: int = 0) -> None:
    if isinstance(value, str):
        lines.append(f"{name}: {plain(value)}")
    elif isinstance(value, dict) and depth < _DEEPEST:
        for inner, part in value.items():
            _render(str(inner), part, lines, depth + 1)
    elif isinstance(value, list) and depth < _DEEPEST and any(isinstance(part, dict | list | str) for part in value):
        for part in value:
            _render(name, part, lines, depth + 1)
    elif value is not None:
        lines.append(f"{name}: {json.dumps(value, ensure_ascii=False)}")


_DEEPEST: Final = 8
_SHORTEST_ENCODED: Final = 512


def plain(text: str) -> str:
    """A text without encoded data: empty if it is nothing else, `data:` URLs without their content."""
    if len(text) >= _SHORTEST_ENCODED and _ENCODED.fullmatch(text.strip()):
        return ""
    return _DATA_URL.sub(r"\1", text) if ";base64," in text else text


def files(arguments: object) -> tuple[str, ...]:
    """The paths that a call names, by the usual names of such arguments."""
    if not isinstance(arguments, dict):
        return ()
    return tuple(value for name, value in arguments.items() if name in _FILE_NAMES and isinstance(value, str) and value)
