"""Floor 4, below `evidence`: windows of a text in which something must not be quoted.

`evidence` hands in the windows of an entry, and what the privacy policy wants to stand there instead. Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aforesaid.answers import Window

if TYPE_CHECKING:
    from collections.abc import Sequence


def replace_in(windows: Sequence[Window], replacements: Sequence[tuple[int, int, str]]) -> tuple[Window, ...]:
    """The windows with other texts for stretches of the source, which keep their places.

    Args:
        windows: in source order.
        replacements: start, end and the text instead, in source order, without overlap. None is cut: a window that
            begins or ends in one begins behind it or ends before it, and one that is nothing else is replaced whole.
    """
    return tuple(_replaced(window, replacements) for window in windows)


def _replaced(window: Window, replacements: Sequence[tuple[int, int, str]]) -> Window:
    start, end = window.start, window.end
    pieces: list[str] = []
    done = start
    for first, last, instead in replacements:
        if last <= start or first >= end:
            continue
        if first < start and last >= end:
            return Window(start=start, end=end, text=instead)
        if first < start:
            start = done = last
        elif last > end:
            end = first
        else:
            pieces += (window.text[done - window.start : first - window.start], instead)
            done = last
    pieces.append(window.text[done - window.start : end - window.start])
    return Window(start=start, end=end, text="".join(pieces))
