"""Floor 8: one member of a JSON file that belongs to somebody else, put in or taken out; every other byte stays.

`registration` edits the settings of hosts with it. Pure: text in, text out. What was put in is laid out as the file is,
and taking it out gives back the text that was there before.
"""

from __future__ import annotations

import json
import re
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Sequence

_BLANK: Final = re.compile(r"[ \t\r\n]*")
_INDENT: Final = re.compile(r"^([ \t]+)\S", re.MULTILINE)
_DECODER: Final = json.JSONDecoder()


class Member(Struct, frozen=True, kw_only=True):
    """A member of an object.

    Attributes:
        name: its name.
        start: place of the name's quote.
        value: place where the value begins.
        end: place behind the value.
    """

    name: str
    start: int
    value: int
    end: int


class Holder(Struct, frozen=True, kw_only=True):
    """An object in a text.

    Attributes:
        start: place of its opening brace.
        end: place of its closing brace.
        depth: how many objects it stands in.
        members: in their order.
    """

    start: int
    end: int
    depth: int
    members: tuple[Member, ...]

    def find(self, name: str) -> Member | None:
        """The member of this name; of several the last, as parsers take it."""
        return next((member for member in reversed(self.members) if member.name == name), None)


def parse(text: str) -> Any:
    """The value of a text, as strictly as hosts read it.

    Raises:
        ValueError: it is no JSON.
    """

    def refuse(name: str) -> None:
        raise ValueError(f"{name} is no JSON")

    return json.loads(text.removeprefix("\ufeff"), parse_constant=refuse)


def look(text: str, path: Sequence[str] = ()) -> Holder:
    """An object of a valid text: the outermost one, or the one that a path of names leads to.

    Raises:
        LookupError: there is none.
    """
    at = _skip(text, 1 if text.startswith("\ufeff") else 0)
    holder = _scan(text, at, 0)
    for name in path:
        member = holder.find(name)
        if member is None or text[member.value] != "{":
            raise LookupError(name)
        holder = _scan(text, member.value, holder.depth + 1)
    return holder


def put(text: str, holder: Holder, name: str, value: object) -> str:
    """The text with one more member at the end of an object."""
    last = holder.members[-1] if holder.members else None
    within = text[holder.start : holder.end] if last is not None else text.rstrip()
    if "\n" not in within and holder.depth + len(holder.members):
        separators = (", ", ": ") if ": " in within else (",", ":")
        piece = json.dumps({name: value}, ensure_ascii=False, separators=separators)[1:-1]
        return (
            _splice(text, holder.start + 1, piece) if last is None else _splice(text, last.end, separators[0] + piece)
        )
    newline, step = _newline(text), _step(text)
    inner = newline + step * (holder.depth + 1)
    written = json.dumps(value, ensure_ascii=False, indent=step).replace("\n", inner)
    piece = f"{inner}{json.dumps(name)}: {written}"
    if last is None:
        return _splice(text, holder.start + 1, piece + newline + step * holder.depth)
    return _splice(text, last.end, "," + piece)


def take(text: str, holder: Holder, name: str) -> str:
    """The text without a member."""
    member = holder.find(name)
    if member is None:
        return text
    at = holder.members.index(member)
    if at > 0:
        return text[: holder.members[at - 1].end] + text[member.end :]
    if len(holder.members) > 1:
        return text[: member.start] + text[holder.members[1].start :]
    # As the only member it stands on a line of its own, and so does the brace behind it.
    blank = text[holder.start + 1 : member.start]
    inner = blank[blank.rfind("\n") + 1 :] if "\n" in blank else ""
    closing = _newline(text) + inner[: len(inner) // (holder.depth + 1)] * holder.depth
    rest = text[member.end :]
    return text[: holder.start + 1] + (rest.removeprefix(closing) if "\n" in blank else rest)


def swap(text: str, member: Member, value: object) -> str:
    """The text with another value of a member, laid out as the old one is."""
    old = text[member.value : member.end]
    if "\n" in old:
        line = text[text.rfind("\n", 0, member.start) + 1 : member.start]
        inner = _newline(old) + (line if not line.strip() else "")
        written = json.dumps(value, ensure_ascii=False, indent=_step(text)).replace("\n", inner)
    else:
        separators = (", ", ": ") if ": " in old else (",", ":")
        written = json.dumps(value, ensure_ascii=False, separators=separators)
    return text[: member.value] + written + text[member.end :]


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _step(text: str) -> str:
    """What a level is indented by."""
    found = _INDENT.search(text)
    return found[1] if found else "  "


def _splice(text: str, at: int, piece: str) -> str:
    return text[:at] + piece + text[at:]


def _skip(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    return found.end() if found else at


def _scan(text: str, at: int, depth: int) -> Holder:
    """The object that begins at a place of a valid text."""
    if text[at] != "{":
        raise LookupError("no object")
    members: list[Member] = []
    place = _skip(text, at + 1)
    while text[place] != "}":
        start = place
        name, place = scanstring(text, place + 1, True)
        value = _skip(text, _skip(text, place) + 1)
        _, end = _DECODER.raw_decode(text, value)
        members.append(Member(name=name, start=start, value=value, end=end))
        place = _skip(text, end)
        if text[place] == ",":
            place = _skip(text, place + 1)
    return Holder(start=at, end=place, depth=depth, members=tuple(members))
