"""Floor 4, below `evidence`: which pieces of a long text are worth quoting.

`evidence` hands in a text and what was looked for, and gets verbatim windows around the matches. Pure. Cuts stand
between grapheme clusters, so that no accent, emoji or syllable is torn apart.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from aforesaid.model import Window

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aforesaid.matching import Place, Probe
    from aforesaid.model import Span

LIMIT: Final = 6000
"""Characters of all windows of an entry together."""
MOST_WINDOWS: Final = 4
JOINT: Final = "\n[…]\n"
"""Stands between windows in an excerpt."""

_LINE_REACH: Final = 120  # a line end that is this near to an edge becomes the edge
_WORD_REACH: Final = 24


def choose(text: str, probe: Probe, *, limit: int = LIMIT) -> tuple[Window, ...]:
    """The windows of a text, in source order, without overlap, together at most `limit` characters.

    A text within the limit is one window. Of a longer one, as few windows as show as many different matches as
    possible; each is centred on the first match of the place where most different ones stand, the earliest if several
    do. Without any match it is the beginning of the text.
    """
    if len(text) <= limit:
        return (_window(text, 0, len(text)),)
    places = probe.places(text)
    if not places:
        return (_window(text, 0, _end(text, limit, -1)),)
    best: list[int] = []
    most = 0
    for count in range(1, MOST_WINDOWS + 1):
        centres, covered = _centres(places, count, limit // count // 2)
        if covered > most:
            best, most = centres, covered
    width = limit // len(best)
    return tuple(_window(text, start, end) for start, end in _cut(text, sorted(best), width, limit))


def join(chosen: Sequence[Window]) -> str:
    """The excerpt: the windows' texts with a mark between them."""
    return JOINT.join(window.text for window in chosen)


def _window(text: str, start: int, end: int) -> Window:
    return Window(start=start, end=end, text=text[start:end])


def _centres(places: Sequence[Place], count: int, reach: int) -> tuple[list[int], int]:
    """Where up to `count` windows are centred, and how many different items they show.

    A window shows its centre and what ends within `reach` characters after it.
    """
    centres: list[int] = []
    covered: set[int] = set()
    for _ in range(count):
        centre, items = _densest(places, covered, reach)
        if not items:
            break
        centres.append(centre)
        covered |= items
    return centres, len(covered)


def _densest(places: Sequence[Place], covered: set[int], reach: int) -> tuple[int, set[int]]:
    """The first place after which most items that are not covered yet stand, and those items."""
    best, most = 0, 0
    counts: dict[int, int] = {}
    behind = 0
    for start, _, item in places:
        while behind < len(places) and (places[behind][1] <= start + reach or places[behind][0] == start):
            counts[places[behind][2]] = counts.get(places[behind][2], 0) + 1
            behind += 1
        fresh = len(counts.keys() - covered)
        if fresh > most and item not in covered:
            best, most = start, fresh
        counts[item] -= 1
        if not counts[item]:
            del counts[item]
    items = {item for start, end, item in places if start >= best and (end <= best + reach or start == best)}
    return best, items - covered if most else set()


def _cut(text: str, centres: Sequence[int], width: int, limit: int) -> list[Span]:
    """The windows around the centres; one that would reach into its neighbour is joined with it."""
    spans: list[Span] = []
    for centre in centres:
        start = max(0, min(centre - width // 2, len(text) - width))
        end = min(len(text), start + width)
        if spans and start <= spans[-1][1]:
            spans[-1] = (spans[-1][0], max(end, spans[-1][1]))
        else:
            spans.append((start, end))
    if len(spans) == 1 and len(centres) == 1:
        start = max(0, min(centres[0] - limit // 2, len(text) - limit))
        spans = [(start, start + limit)]
    cut: list[Span] = []
    for start, end in spans:
        within = [centre for centre in centres if start <= centre < end]
        first, last = _start(text, start, within[0]), _end(text, end, within[-1])
        # A single cluster longer than a window is left out whole rather than torn.
        cut.append((first, max(first, last)))
    return cut


def _start(text: str, start: int, before: int) -> int:
    """An edge from `start` on: at the beginning of a line or word that is near, but at most `before`."""
    if start == 0:
        return 0
    line = text.find("\n", start - 1, min(start + _LINE_REACH, before))
    if line >= 0:
        return _next_break(text, line + 1)
    for index in range(start, min(start + _WORD_REACH, before)):
        if text[index - 1].isspace():
            return _next_break(text, index)
    return _next_break(text, start)


def _end(text: str, end: int, after: int) -> int:
    """An edge up to `end`: at the end of a line or word that is near, but behind `after`."""
    if end >= len(text):
        return len(text)
    line = text.rfind("\n", max(end - _LINE_REACH, after + 1), end + 1)
    if line >= 0:
        return _last_break(text, line)
    for index in range(end, max(end - _WORD_REACH, after + 1), -1):
        if text[index].isspace():
            return _last_break(text, index)
    return _last_break(text, end)


def _next_break(text: str, index: int) -> int:
    """The first border between grapheme clusters from `index` on."""
    return _breaks(text, index)[-1]


def _last_break(text: str, index: int) -> int:
    """The last border between grapheme clusters up to `index`."""
    return max(found for found in _breaks(text, index) if found <= index)


def _breaks(text: str, index: int) -> list[int]:
    """Borders between grapheme clusters, from a certain one at or before a place to the first one at or after it."""
    import regex  # late: most entries are short and never cut

    certain = index
    while 0 < certain < len(text) and not (_is_plain(text[certain - 1]) and _is_plain(text[certain])):
        certain -= 1
    borders = [certain]
    clusters = regex.finditer(r"\X", text, pos=certain)
    while borders[-1] < index:
        borders.append(next(clusters).end())
    return borders


def _is_plain(character: str) -> bool:
    """Whether a character never joins another plain one in a cluster: ASCII without controls, Cyrillic, ideographs."""
    return " " <= character <= "~" or "\u0410" <= character <= "\u044f" or "\u3400" <= character <= "\u9fff"
