"""Floor 9: pieces of texts for people, with what matched marked and everything made safe for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from aforesaid.cli.terminal import count, safe

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aforesaid.answers import Window

    Span = tuple[int, int]

_AROUND = 1
"""Lines that are shown before and after one with a match."""
_LONG = 240
"""Longer lines are cut around their matches."""
_BESIDE = 100
"""Characters that stay beside a match of a cut line."""
_MATCH = "bold yellow"


def excerpt(window: Window, spans: Sequence[Span], most: int | None) -> Iterator[Text]:
    """The lines of a window with its matches marked; those far from a match are counted if there is a limit."""
    lines: list[tuple[int, str]] = []
    start = window.start
    for line in window.text.split("\n"):
        lines.append((start, line))
        start += len(line) + 1
    kept = range(len(lines)) if most is None else _near(lines, spans, most)
    shown = -1
    for number in (*kept, len(lines)):
        if skipped := number - shown - 1:
            yield Text(f"   ⋮ {count(skipped, 'line')}", style="dim")
        shown = number
        if number < len(lines):
            offset, line = lines[number]
            yield Text.assemble(("   │ ", "dim"), _marked(offset, line, spans, cut=most is not None))


def _near(lines: Sequence[tuple[int, str]], spans: Sequence[Span], most: int) -> list[int]:
    """The lines to show: those with matches and their neighbours first, then from the beginning."""
    matching = [
        number
        for number, (offset, line) in enumerate(lines)
        if any(start < offset + len(line) and end > offset for start, end in spans)
    ]
    wanted = dict.fromkeys(matching)
    for number in matching:
        wanted.update(dict.fromkeys(range(max(0, number - _AROUND), min(len(lines), number + _AROUND + 1))))
    if not wanted:
        wanted = dict.fromkeys(range(len(lines)))
    return sorted(list(wanted)[:most])


def _marked(offset: int, line: str, spans: Sequence[Span], *, cut: bool) -> Text:
    """A line with its matches marked, cut around the first ones if it is long; everything in it is made safe."""
    within = [
        (max(start - offset, 0), min(end - offset, len(line)))
        for start, end in spans
        if start < offset + len(line) and end > offset
    ]
    first, last = 0, len(line)
    if cut and len(line) > _LONG:
        first = max(0, within[0][0] - _BESIDE) if within else 0
        last = min(len(line), first + _LONG)
    text = Text("…" if first else "")
    done = first
    for start, end in within:
        if start >= last:
            break
        text.append(_in_line(line[done:start]))
        text.append(_in_line(line[max(start, first) : min(end, last)]), style=_MATCH)
        done = min(end, last)
    text.append(_in_line(line[done:last]))
    if last < len(line):
        text.append("…")
    return text


def _in_line(text: str) -> str:
    return safe(text).replace("\n", " ")


def joined(spans: list[Span]) -> list[Span]:
    """The same places without overlaps, in order."""
    joined: list[Span] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined
