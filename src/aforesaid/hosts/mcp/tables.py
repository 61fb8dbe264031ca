"""Floor 8: one table of a TOML file that belongs to somebody else, put in or taken out; every other byte stays.

`registration` edits Codex's configuration with it. Pure: text in, text out. What was put in stands between two
comments, so that it is known again; the result is parsed and compared with what was meant before it is handed back.
"""

from __future__ import annotations

import json
import re
import tomllib
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_BEGIN: Final = "# aforesaid: written by `aforesaid install mcp`, taken back by `aforesaid uninstall mcp`; "
_END: Final = "# aforesaid: end"
_BLOCK: Final = re.compile(
    rf"^{re.escape(_BEGIN)}(?P<note>[^\r\n]*)\r?\n(?P<body>(?:.*\r?\n)*?){re.escape(_END)}[ \t]*(?:\r?\n|\Z)",
    re.MULTILINE,
)
_LEAD: Final = re.compile(r"lead:([0-2])")


def parse(text: str) -> dict[str, Any]:
    """The values of a text.

    Raises:
        ValueError: it is no TOML.
    """
    return tomllib.loads(text.removeprefix("\ufeff"))


def find_note(text: str) -> str | None:
    """What was noted when our table was put in; None if there is none."""
    found = _BLOCK.search(text)
    return found["note"].rpartition("; ")[0] if found else None


def put(text: str, path: Sequence[str], values: Mapping[str, str | Sequence[str]], note: str) -> str:
    """The text with a table of texts and lists of texts at its end.

    Raises:
        ValueError: the file is written in a way that has no room for it.
    """
    newline = _newline(text)
    lead = 0 if not text.removeprefix("\ufeff") else 1 if text.endswith("\n") else 2
    lines = [f"{_BEGIN}{note}; lead:{lead}", f"[{'.'.join(path)}]", *_assignments(values), _END]
    made = text + newline * lead + newline.join(lines) + newline
    return _checked(made, _with(parse(text), path, {name: _plain(value) for name, value in values.items()}))


def swap(text: str, path: Sequence[str], values: Mapping[str, str | Sequence[str]]) -> str:
    """The text with other values in our table; whatever else somebody has added to it stays.

    Raises:
        ValueError: the table is not written as `put` wrote it.
    """
    found = _BLOCK.search(text)
    if found is None:
        raise ValueError("the comments around the table are gone")
    body = found["body"]
    for line, name in zip(_assignments(values), values, strict=True):
        body = re.sub(
            rf"^{re.escape(name)}[ \t]*=[^\r\n]*", lambda _, line=line: line, body, count=1, flags=re.MULTILINE
        )
    made = text[: found.start("body")] + body + text[found.end("body") :]
    before = parse(text)
    own = _table(before, path) | {name: _plain(value) for name, value in values.items()}
    return _checked(made, _with(before, path, own))


def take(text: str, path: Sequence[str]) -> str:
    """The text without our table, and without tables below it that somebody else has added.

    Raises:
        ValueError: it cannot be told apart from the rest.
    """
    expected = _with(parse(text), path, None)
    found = _BLOCK.search(text)
    made = text
    if found is not None:
        lead = _LEAD.search(found["note"])
        head = text[: found.start()]
        for _ in range(int(lead[1]) if lead else 0):
            head = head.removesuffix(_newline(text))
        made = head + text[found.end() :]
    name = r"\s*\.\s*".join(rf"""(?:{re.escape(part)}|"{re.escape(part)}"|'{re.escape(part)}')""" for part in path)
    section = re.compile(
        rf"^[ \t]*\[{{1,2}}\s*{name}\s*(?:\.[^\]\r\n]*)?\][^\n]*\n?(?:(?![ \t]*\[)[^\n]*(?:\n|\Z))*", re.MULTILINE
    )
    while _table(parse(made), path) and (more := section.search(made)):
        made = made[: more.start()] + made[more.end() :]
    return _checked(made, expected)


def _assignments(values: Mapping[str, str | Sequence[str]]) -> list[str]:
    return [
        f"{name} = {_string(value) if isinstance(value, str) else '[' + ', '.join(map(_string, value)) + ']'}"
        for name, value in values.items()
    ]


def _string(text: str) -> str:
    """A basic string: JSON's, but for what TOML does not allow raw."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _plain(value: str | Sequence[str]) -> Any:
    return value if isinstance(value, str) else list(value)


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _table(values: Mapping[str, Any], path: Sequence[str]) -> dict[str, Any]:
    found: Any = values
    for name in path:
        found = found.get(name, {}) if isinstance(found, dict) else {}
    return dict(found) if isinstance(found, dict) else {}


def _with(values: Mapping[str, Any], path: Sequence[str], table: Mapping[str, Any] | None) -> dict[str, Any]:
    """The values with another table at a path, or with none; tables that are empty without it are none either."""
    name, *rest = path
    inner = values.get(name, {})
    if rest:
        held = _with(inner if isinstance(inner, dict) else {}, rest, table)
        table = held or None
    made = {key: value for key, value in values.items() if key != name}
    return made if table is None else {**made, name: dict(table)}


def _checked(made: str, expected: Mapping[str, Any]) -> str:
    """The text, if it says what was meant.

    Raises:
        ValueError: it does not.
    """
    if _pruned(parse(made)) != _pruned(expected):
        raise ValueError("the file is written in a way that cannot be edited safely")
    return made


def _pruned(values: Any) -> Any:
    """The same without empty tables at any depth, which mean nothing here."""
    if not isinstance(values, dict):
        return values
    kept = {name: _pruned(value) for name, value in values.items()}
    return {name: value for name, value in kept.items() if value != {}}
