"""Floor 4, below `evidence`: which pieces of a long text are worth quoting.

`evidence` hands in a text and what was looked for, and gets verbatim windows around the matches. Pure. Cuts stand
between grapheme clusters, so that no accent, emoji or syllable is torn apart. `docs/evidence.md` gives the rules.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from functools import lru_cache
from math import log1p
from typing import TYPE_CHECKING, Final, Protocol
from unicodedata import category

from aforesaid.answers import Window
from aforesaid.novelty import find_names

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from aforesaid.matching import Place
    from aforesaid.model import Span

LIMIT: Final = 6000
"""Characters of all windows of an entry together."""
JOINT: Final = "\n[…]\n"
"""Stands between windows in an excerpt."""

_MAIN_FIFTHS: Final = 3  # of the limit, for the first of several windows; the others share the rest
_FURTHER: Final = (1, 2, 4, 8, 16)  # how many others are tried, until all items are shown
_NARROWEST: Final = 24  # a window with less around its match says nothing
_MOST_FORCED: Final = 16  # names and phrases that get windows of their own because no other shows them
_BESIDE: Final = 60  # characters that such a window has on each side of its match, if there is room
_LINE_REACH: Final = 120  # a line end that is this near to an edge becomes the edge
_WORD_REACH: Final = 24
_LOOK_BACK: Final = 400  # a cluster longer than this is left out whole


_MOST_BY_LINES: Final = 200_000  # characters; longer texts are cut around matches
_MOST_REMEMBERED: Final = 10_000  # characters; of longer texts lines and names are looked for each time
_LONGEST_LINE: Final = 400  # a longer one is taken in pieces
_LINES_AROUND: Final = 3  # that a match makes worth quoting on each side, less with each
_AGAIN: Final = 0.5  # what an item counts when it comes again
_NAMES: Final = 2.0  # times ln(1 + names) of a line
_NEW_NAME: Final = 2.0
_SEEN_NAME: Final = 0.5  # a name that stood in an earlier line
_FAR_FROM_MATCHES: Final = 0.5  # of what names are worth
_LINE: Final = 100  # characters of a line that is worth half of what a very short one would be


class Finder(Protocol):
    """What knows where the items that were looked for stand: `matching.Probe`, or a pattern of `patterns`."""

    def places(self, text: str) -> tuple[Place, ...]:
        """The first occurrences of every item, by start, then end, then item."""
        ...


def choose_windows(text: str, probe: Finder, *, literals: int = 0, limit: int = LIMIT) -> tuple[Window, ...]:
    """The windows of a text, in source order, neither overlapping nor touching, together at most `limit` characters.

    A text within the limit is one window. Of a longer one it is the place where most different items stand, the
    earliest if several do, with its first match in the middle. Items that this leaves out get smaller windows of their
    own at the cost of the first. Without any match it is the beginning of the text.

    Args:
        text: the searchable text of an entry.
        probe: what was looked for.
        literals: so many of its first items are names or phrases: each that stands in the text is shown, whatever else
            gives way, as far as the limit can hold them.
        limit: characters of all windows together, at least 1.
    """
    if len(text) <= limit:
        return (Window(start=0, end=len(text), text=text),)
    places = probe.places(text)
    if not places:
        return _windows(text, (), [(0, limit)])
    spans = _show(places, literals, limit, len(text), lambda room: _cover(places, len(text), room))
    return _windows(text, places, spans)


def choose_lines(
    text: str, probe: Finder, *, literals: int = 0, limit: int = LIMIT, known: Collection[str] = frozenset()
) -> tuple[Window, ...]:
    """The same of what a tool printed: the lines around matches that hold most names, however far apart they stand.

    A line is worth the items in it, and what it has of lines near it; an item counts half as much each time it comes
    again. On top of it come names that nobody has seen, less where no match is near, and less once they have stood in
    an earlier line. Long lines have to hold more to be worth their room.

    Args:
        text: as in `choose_windows`.
        probe: what was looked for.
        literals: as in `choose_windows`; they count twice as much as topics.
        limit: as in `choose_windows`.
        known: names that the model sees, or that were quoted before (`novelty`).
    """
    if not limit < len(text) <= _MOST_BY_LINES:
        return choose_windows(text, probe, literals=literals, limit=limit)
    places = probe.places(text)
    lines, names = _survey(text) if len(text) > _MOST_REMEMBERED else _remembered(text)
    worth = _worth(lines, names, places, literals, known)
    if not _fill(lines, worth, limit):
        return choose_windows(text, probe, literals=literals, limit=limit)
    return _windows(text, places, _show(places, literals, limit, len(text), lambda room: _fill(lines, worth, room)))


def _show(
    places: Sequence[Place], literals: int, limit: int, length: int, choose: Callable[[int], list[Span]]
) -> list[Span]:
    """What `choose` gives, and all names and phrases in it: those that it would leave out or cut come first.

    Where a text holds none, one topic at least is shown whole.
    """
    spans, room = choose(limit), limit
    wanted: dict[int, Place] = {}
    for place in places:
        if place[2] < literals:
            wanted.setdefault(place[2], place)
    if not wanted and places and not any(_inside(places, span) for span in spans):
        wanted[places[0][2]] = places[0]
    forced: list[Span] = []
    while wanted and len(forced) < _MOST_FORCED:
        shown = set[int]().union(*(_shown(places, span) for span in spans))
        item = next((item for item in sorted(wanted) if item not in shown), None)
        if item is None:
            break
        place = wanted.pop(item)
        width = min(room, place[1] - place[0] + 2 * _BESIDE)
        if place[1] - place[0] > width:
            continue
        forced.append(_around(place, width, length))
        room -= width
        spans = _merge([*forced, *(choose(room) if room >= _NARROWEST else ())])
    return spans


def join_windows(windows: Sequence[Window]) -> str:
    """The excerpt: the windows' texts with a mark between them."""
    return JOINT.join(window.text for window in windows)


def _lines(text: str) -> list[Span]:
    """Where the lines of a text stand, without their ends; long ones in pieces, of which none is very short."""
    lines: list[Span] = []
    start = 0
    while start <= len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        *firsts, last = range(start, max(end - _NARROWEST, start) + 1, _LONGEST_LINE)
        lines += [(first, first + _LONGEST_LINE) for first in firsts]
        lines.append((last, end))
        start = end + 1
    return lines


def _survey(text: str) -> tuple[list[Span], list[tuple[int, str]]]:
    """The lines of a text, and its names, each with the number of its line."""
    lines = _lines(text)
    starts = [start for start, _ in lines]
    return lines, [(bisect_right(starts, place) - 1, name) for place, name in find_names(text)]


_remembered = lru_cache(maxsize=256)(_survey)


def _worth(
    lines: Sequence[Span],
    names: Sequence[tuple[int, str]],
    places: Sequence[Place],
    literals: int,
    known: Collection[str],
) -> list[float]:
    """What quoting each line is worth."""
    starts = [start for start, _ in lines]
    held: dict[int, set[int]] = {}
    for start, _, item in places:
        held.setdefault(bisect_right(starts, start) - 1, set()).add(item)
    seen: dict[int, int] = {}
    worth = [0.0] * len(lines)
    for line, items in sorted(held.items()):
        own = 0.0
        for item in sorted(items):
            own += (2.0 if item < literals else 1.0) * _AGAIN ** seen.get(item, 0)
            seen[item] = seen.get(item, 0) + 1
        for near in range(max(0, line - _LINES_AROUND), min(len(lines), line + _LINES_AROUND + 1)):
            worth[near] += own / (1 + abs(near - line))
    first: dict[str, int] = {}
    new: dict[int, float] = {}
    for line, name in names:
        if name not in known:
            new[line] = new.get(line, 0.0) + (_NEW_NAME if first.setdefault(name, line) == line else _SEEN_NAME)
    for line, share in new.items():
        worth[line] += _NAMES * log1p(share) * (1.0 if worth[line] else _FAR_FROM_MATCHES)
    return [own / (1 + (end - start) / _LINE) for own, (start, end) in zip(worth, lines, strict=True)]


def _fill(lines: Sequence[Span], worth: Sequence[float], limit: int) -> list[Span]:
    """The lines that are worth most and fit the limit, the earlier of equal ones first, as spans in source order."""
    chosen: list[int] = []
    left = limit
    for line in sorted(range(len(lines)), key=lambda line: (-worth[line], line)):
        needed = lines[line][1] - lines[line][0] + 1
        if needed <= left:
            chosen.append(line)
            left -= needed
        if left < _NARROWEST:
            break
    spans: list[Span] = []
    behind = -1
    for line in sorted(chosen):
        if line == behind:
            spans[-1] = spans[-1][0], lines[line][1]
        else:
            spans.append(lines[line])
        behind = line + 1
    return [(start, end) for start, end in spans if start < end]


def _cover(places: Sequence[Place], length: int, limit: int) -> list[Span]:
    """Where windows should stand, before their edges are moved to good borders: as few as show as many items."""
    wanted = {item for _, _, item in places}
    best = [_around(_densest(places, wanted, limit // 2), limit, length)]
    most = len(_shown(places, best[0]))
    if most == len(wanted):
        return best
    main_width = limit * _MAIN_FIFTHS // 5
    anchor = _densest(places, wanted, main_width // 2)
    main = _around(anchor, main_width, length)
    missing = wanted - _shown(places, main)
    if not missing:
        return [_around(anchor, limit, length)]
    for count in _FURTHER:
        width = (limit - main_width) // count
        if width < _NARROWEST:
            break
        centres = _further(places, missing, width, count, length)
        width = (limit - main_width) // len(centres)
        spans = _merge([main, *(_around(centre, width, length) for centre in centres)])
        shown = len(set[int]().union(*(_shown(places, span) for span in spans)))
        if shown > most:
            best, most = spans, shown
        if shown == len(wanted):
            break
    return best


def _further(places: Sequence[Place], missing: set[int], width: int, count: int, length: int) -> list[Place]:
    """The centres of up to `count` windows that show most of the missing items, best first."""
    centres: list[Place] = []
    left = [place for place in places if place[2] in missing]
    while left and len(centres) < count:
        centre = _densest(left, missing, width // 2)
        centres.append(centre)
        missing = missing - _shown(left, _around(centre, width, length)) - {centre[2]}
        left = [place for place in left if place[2] in missing]
    return centres


def _densest(places: Sequence[Place], wanted: set[int], reach: int) -> Place:
    """The first place from which on, within `reach` characters, most different items stand."""
    best, most = places[0], 0
    counts: dict[int, int] = {}
    behind = 0
    for place in places:
        while behind < len(places) and places[behind][0] < place[0] + max(reach, 1):
            item = places[behind][2]
            counts[item] = counts.get(item, 0) + 1
            behind += 1
        if len(counts) > most:
            best, most = place, len(counts)
            if most == len(wanted):
                break
        counts[place[2]] -= 1
        if not counts[place[2]]:
            del counts[place[2]]
    return best


def _around(place: Place, width: int, length: int) -> Span:
    """A stretch of a text with a match in its middle, or its beginning if the match is longer than the stretch."""
    middle = place[0] + min(place[1] - place[0], width) // 2
    start = max(0, min(middle - width // 2, length - width))
    return start, min(length, start + width)


def _inside(places: Sequence[Place], span: Span) -> Sequence[Place]:
    """The places that stand completely in a span."""
    first, behind = bisect_left(places, (span[0],)), bisect_left(places, (span[1],))
    return [place for place in places[first:behind] if place[1] <= span[1]]


def _shown(places: Sequence[Place], span: Span) -> set[int]:
    return {item for _, _, item in _inside(places, span)}


def _merge(spans: Sequence[Span]) -> list[Span]:
    """The spans in source order; those that overlap or touch are one."""
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return merged


def _windows(text: str, places: Sequence[Place], spans: Sequence[Span]) -> tuple[Window, ...]:
    """Cuts the spans out, each edge moved inwards to a good border without losing a match."""
    cut: list[Window] = []
    for start, end in spans:
        inside = _inside(places, (start, end))
        latest = inside[0][0] if inside else start
        earliest = max((place[1] for place in inside), default=start)
        first = _start(text, start, latest, end)
        last = _end(text, end, max(earliest, first), first)
        if first < last:
            cut.append(Window(start=first, end=last, text=text[first:last]))
    # Nothing but a cluster longer than a window stands there.
    return tuple(cut) or (Window(start=0, end=0, text=""),)


def _start(text: str, start: int, latest: int, end: int) -> int:
    """An edge from `start` on: the beginning of a line or word that is near, not behind `latest` if that can be."""
    if start == 0:
        return 0
    line = text.find("\n", start - 1, min(start + _LINE_REACH, latest))
    if line >= 0:
        return line + 1
    for index in range(start, min(start + _WORD_REACH, latest + 1)):
        if text[index - 1].isspace() and _parts(text[index - 1], text[index]):
            return index
    _, after = _borders(text, start)
    if after is not None:
        return min(after, end)
    return next((index for index in range(start, end) if _parts(text[index - 1], text[index])), end)


def _end(text: str, end: int, earliest: int, start: int) -> int:
    """An edge up to `end`: the end of a line or word that is near, not before `earliest` if that can be."""
    if end == len(text):
        return end
    line = text.rfind("\n", max(end - _LINE_REACH, earliest), end + 1)
    if line >= 0:
        return line - 1 if line > earliest and text[line - 1] == "\r" else _last(text, line, start)
    for index in range(end, max(end - _WORD_REACH, earliest, 1) - 1, -1):
        if text[index].isspace() and _parts(text[index - 1], text[index]):
            return index
    return _last(text, end, start)


def _last(text: str, end: int, start: int) -> int:
    """The last border between clusters up to `end`, not before `start`."""
    before, _ = _borders(text, end)
    if before is not None:
        return max(before, start)
    return next((index for index in range(end, start, -1) if _parts(text[index - 1], text[index])), start)


def last_border(text: str, end: int) -> int:
    """Where a beginning of a text that ends up to a place is cut without tearing a grapheme cluster apart.

    Args:
        text: not empty.
        end: at least 1.

    Returns:
        The last border up to `end`; `end` itself if one cluster takes all of that.
    """
    return end if end >= len(text) else _last(text, end, 0) or end


def _borders(text: str, index: int) -> tuple[int | None, int | None]:
    """The last border between grapheme clusters up to a place and the first one from it on; None: too far to say."""
    lowest, highest = max(0, index - _LOOK_BACK), min(len(text), index + _LOOK_BACK)
    certain = index
    while 0 < certain < len(text) and not _parts(text[certain - 1], text[certain]):
        if certain == lowest:
            return None, None
        certain -= 1
    if certain == index:
        return index, index
    import regex  # late: it costs 40 ms, and most edges need no look at a cluster

    clusters = regex.finditer(r"\X", text, pos=certain, endpos=highest)
    before = after = certain
    while after < index:
        before, after = after, next(clusters).end()
    if after == index:
        return index, index
    return before, after if after < highest or highest == len(text) else None


_BASES: Final = frozenset(
    ("Lu", "Ll", "Lt", "Nd", "Nl", "No", "Zs", "Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po", "Sm", "Sc", "So")
)
# Letters without case: ideographs, kana, composed Hangul, Thai consonants. None joins another of them.
_LETTERS: Final = (("\u3041", "\u3096"), ("\u30a1", "\u30fa"), ("\u3400", "\u9fff"), ("\uac00", "\ud7a3"), ("ก", "ะ"))
_FLAG_LETTERS: Final = ("\U0001f1e6", "\U0001f1ff")
_ASCII_CONTROLS_END: Final = "\x1f"


def _parts(left: str, right: str) -> bool:
    """Whether a cluster surely ends between two characters, whatever stands around them.

    False says nothing. What joins: marks to what precedes them, jamo, flag letters in pairs, Indic conjuncts, anything
    to a zero-width joiner or to the few signs that hold on to what follows.
    """
    if left <= _ASCII_CONTROLS_END or right <= _ASCII_CONTROLS_END:
        return (left, right) != ("\r", "\n")
    if right.isascii() and left.isascii():
        return True
    kind = category(left)
    if category(right) in _BASES:
        if _FLAG_LETTERS[0] <= right <= _FLAG_LETTERS[1]:
            return kind in _BASES and not _FLAG_LETTERS[0] <= left <= _FLAG_LETTERS[1]
        # Signs that hold on to what follows are format characters or letters without case.
        return kind in _BASES or kind in ("Mn", "Mc", "Me", "Lm", "Sk") or _is_letter(left)
    return _is_letter(right) and (kind in _BASES or _is_letter(left))


def _is_letter(character: str) -> bool:
    return any(first <= character <= last for first, last in _LETTERS)
