"""Floor 8: one table of a TOML file that belongs to somebody else, put in or taken out; every other byte stays.

`registration` edits Codex's configuration with it. Pure: text in, text out. Codex writes the file anew now and then and
keeps neither order nor comments, so the table is found by its name; what comes out is parsed and compared with what was
meant before it is handed back.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    Values = Mapping[str, str | Sequence[str] | Mapping[str, str]]


def parse(text: str) -> dict[str, Any]:
    """The values of a text.

    Raises:
        ValueError: it is no TOML.
    """
    return tomllib.loads(text.removeprefix("\ufeff"))


def lead_of(text: str) -> int:
    """How many line ends `put` sets before a table at the end of a text."""
    return 0 if not text.removeprefix("\ufeff") else 1 if text.endswith("\n") else 2


def put(text: str, path: Sequence[str], values: Values) -> str:
    """The text with a table at its end.

    Raises:
        ValueError: the file is written in a way that has no room for it.
    """
    newline = _newline(text)
    lines = [f"[{'.'.join(path)}]", *(f"{name} = {_write(value)}" for name, value in values.items())]
    made = text + newline * lead_of(text) + newline.join(lines) + newline
    return _checked(made, _with(parse(text), path, _plain(values)))


def swap(text: str, path: Sequence[str], values: Values) -> str:
    """The text with other values in the table; whatever else stands in it stays.

    Raises:
        ValueError: the table is written in a way that cannot be edited safely.
    """
    before = parse(text)
    expected = _with(before, path, _table(before, path) | _plain(values))
    found = _find(text, path, below=False)
    start, end = found or (0, 0)
    for spread in (False, True) if found is not None else ():
        body = text[start:end]
        for name, value in values.items():
            body = _assign(body, name, value, spread=spread and not isinstance(value, str))
        made = text[:start] + body + text[end:]
        if _says(made, expected):
            return made
    raise ValueError("the table cannot be edited safely")


def _assign(body: str, name: str, value: str | Sequence[str] | Mapping[str, str], *, spread: bool) -> str:
    """The lines of a table with another value of a name, whose old one stands on one line or is spread over several."""
    old = r"[ \t]*\[[ \t]*\r?\n(?:[^\n]*\n)*?[ \t]*\]" if spread else r"[^\r\n]*"
    found = re.search(rf"^{re.escape(name)}[ \t]*={old}", body, re.MULTILINE)
    return body if found is None else f"{body[: found.start()]}{name} = {_write(value)}{body[found.end() :]}"


def take(text: str, path: Sequence[str], lead: int) -> str:
    """The text without the table, and without tables below it that somebody else has added.

    Args:
        text: of the file.
        path: names of the table.
        lead: what `lead_of` said when it was put in.

    Raises:
        ValueError: it cannot be told apart from the rest.
    """
    expected = _with(parse(text), path, None)
    for below in (True, False):
        while (found := _find(text, path, below=below)) is not None:
            head, rest = text[: found[0]], text[found[1] :]
            # The end of the line before is its own, unless the table brought it.
            alone = not rest or rest[0] in "\r\n"
            for _ in range(1 if below else lead):
                newline = "\r\n" if head.endswith("\r\n") else "\n"
                kept = head.removesuffix(newline)
                if alone or not kept or kept.endswith("\n"):
                    head = kept
            text = head + rest
    return _checked(text, expected)


def _find(text: str, path: Sequence[str], *, below: bool) -> tuple[int, int] | None:
    """Where a table, or one below it, begins and ends; comments and blanks behind its last line are the next one's."""
    name = r"[ \t]*\.[ \t]*".join(
        rf"""(?:{re.escape(part)}|"{re.escape(part)}"|'{re.escape(part)}')""" for part in path
    )
    more = r"[ \t]*\.[^\]\r\n]*" if below else "[ \t]*"
    head = re.compile(rf"^[ \t]*\[{{1,2}}[ \t]*{name}{more}\][^\n]*(?:\n|\Z)", re.MULTILINE)
    for found in head.finditer(text):
        end = place = found.end()
        for line in text[place:].splitlines(keepends=True):
            if line.lstrip().startswith("["):
                break
            place += len(line)
            if line.strip() and not line.lstrip().startswith("#"):
                end = place
        # What looks like a header may stand in a text of several lines.
        if _table(_parse_or_nothing(text[found.start() : end]), path):
            return found.start(), end
    return None


def _parse_or_nothing(text: str) -> dict[str, Any]:
    try:
        return parse(text)
    except ValueError:
        return {}


def _write(value: str | Sequence[str] | Mapping[str, str]) -> str:
    if isinstance(value, str):
        # A basic string is JSON's, but for what TOML does not allow raw.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{name} = {_write(inner)}" for name, inner in value.items()) + " }"
    return "[" + ", ".join(map(_write, value)) + "]"


def _plain(values: Values) -> dict[str, Any]:
    return {
        name: value if isinstance(value, str) else dict(value) if isinstance(value, Mapping) else list(value)
        for name, value in values.items()
    }


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
    if not _says(made, expected):
        raise ValueError("the file is written in a way that cannot be edited safely")
    return made


def _says(text: str, expected: Mapping[str, Any]) -> bool:
    try:
        return bool(_pruned(parse(text)) == _pruned(expected))
    except ValueError:
        return False


def _pruned(values: Any) -> Any:
    """The same without empty tables at any depth, which mean nothing here."""
    if not isinstance(values, dict):
        return values
    kept = {name: _pruned(value) for name, value in values.items()}
    return {name: value for name, value in kept.items() if value != {}}
