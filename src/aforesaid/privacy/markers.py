"""Floor 4: the markers that people put around confidential stretches: `[aforesaid:LEVEL]` to `[/aforesaid:LEVEL]`.

`judge` asks for the marks of a text. Everything doubtful raises: a marker that is never closed covers the rest, markers
that stand within each other, cross, or close what was not opened raise the whole text, and a level that does not exist
counts as the highest. Letters in any case, blanks within the brackets, full-width forms, invisible characters, accents
and letters of other alphabets that look alike make markers too. Pure.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from aforesaid.model import LEVELS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aforesaid.model import Level

HIGHEST: Final = LEVELS[-1]
RANK: Final[dict[str, int]] = {level: rank for rank, level in enumerate(LEVELS)}

_NAME: Final = "aforesaid"
# A level is what stands up to the bracket; without a bracket on the line it is no level that exists.
_MARKER: Final = r"(?i)\[\s*(/?)\s*aforesaid\s*:([^\[\]\n]*)\]?"
_INVISIBLE: Final = (
    "\u00ad\u0300-\u036f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\ufe00-\ufe0f\ufeff"
)
"""Characters that show nothing, or an accent: a marker with some between its letters reads like one, and is one."""
_BETWEEN: Final = f"[{_INVISIBLE}]*"
_DISGUISED: Final = _MARKER.replace("aforesaid", _BETWEEN.join(_NAME)).replace(r"\s*", rf"[\s{_INVISIBLE}]*")
_LOOK_ALIKE: Final = {
    "a": "аΑαАɑᴀᎪ", "b": "ВβВЬ", "c": "сϲСϹᴄᏟ", "d": "ԁᴅᎠժ", "e": "еεΕЕᴇᎬ", "f": "ƒẝꜰϝ", "i": "іιΙІıɩɪᎥ", "l": "ӏʟᏞӀ",
    "m": "МΜᴍᎷ", "n": "ոΝɴη", "o": "оοΟОᴏօՕ", "r": "гʀɾᎡᏒᴦ", "s": "ѕЅꜱƽꞅᏚſ", "t": "тτΤТᴛᎢ", "v": "ѵνѴᴠᏙ",
    "y": "уγΥҮʏүУ",
    "[": "【〔〖⟦⁅❲", "]": "】〕〗⟧⁆❳", ":": "∶꞉׃︓﹕ː", "/": "⁄∕⧸", "-": "‐‑‒–—―−",
}  # fmt: skip
"""Characters that look like those of markers and fold to none of them."""
_PLAIN: Final = {other: letter for letter, others in _LOOK_ALIKE.items() for other in others}
_OPENING: Final = "[［﹇" + _LOOK_ALIKE["["]
_COLON: Final = ":：" + _LOOK_ALIKE[":"]
_SHAPED: Final = rf"[{re.escape(_OPENING)}]([^{re.escape(_OPENING)}{_COLON}]{{9,}})[{_COLON}]"
"""What may be the beginning of a marker, however it is spelled."""


class Marks(Struct, frozen=True, kw_only=True):
    """What the markers of a text say.

    Attributes:
        spans: the marked stretches with their levels, markers included, in order: start, end, level.
        outside: whether anything but blanks stands outside of them.
        broken: the levels of all markers, if those stand within each other or do not match; the whole text is then at
            the highest of them. Empty where all is well.
    """

    spans: tuple[tuple[int, int, Level], ...] = ()
    outside: bool = True
    broken: tuple[Level, ...] = ()


UNMARKED: Final = Marks()


def highest(*levels: Level) -> Level:
    """The most confidential of some levels."""
    return max(levels, key=RANK.__getitem__)


def to_level(name: str) -> Level:
    """The level of this name; the highest if there is none."""
    return next((level for level in LEVELS if level == name), HIGHEST)


def find_markers(text: str) -> tuple[tuple[int, int, bool], ...]:
    """Where the markers of a text stand, and whether each one opens, in order."""
    plain = _narrow(text)
    if plain is None:
        return ()
    return tuple((found.start(), found.end(), not found.group(1)) for found in _find(plain))


def _find(plain: str) -> Iterator[re.Match[str]]:
    return re.finditer(_MARKER if plain.isascii() else _DISGUISED, plain)


def _narrow(text: str) -> str | None:
    """The same text with letters in disguise made plain, one for one; None if no marker can stand in it."""
    if text.isascii():
        return text if _NAME in text.lower() else None
    if not any(_is_name(found.group(1)) for found in re.finditer(_SHAPED, text)):
        return None
    return text.translate({ord(letter): _fold(letter) for letter in set(text) if not letter.isascii()})


def _is_name(inside: str) -> bool:
    """Whether what stands between bracket and colon reads as our name."""
    shown = re.sub(f"[/\\s{_INVISIBLE}]", "", "".join(map(_fold, inside)))
    return shown.lower() == _NAME


@cache
def _fold(letter: str) -> str:
    """The plain character that one looks like, or the character itself."""
    known = _PLAIN.get(letter)
    if known is None and not letter.isascii():
        folded = "".join(
            _PLAIN.get(part, part) for part in unicodedata.normalize("NFKD", letter) if not unicodedata.combining(part)
        )
        known = folded if len(folded) == 1 and folded.isascii() else None
    return known or letter


def read_marks(text: str) -> Marks:
    """The marks of a text."""
    plain = _narrow(text)
    if plain is None:
        return UNMARKED
    text = plain
    spans: list[tuple[int, int, Level]] = []
    met: list[Level] = []
    sound = True
    opened: tuple[int, Level] | None = None
    for found in _find(text):
        level = _level(found.group())
        met.append(level or HIGHEST)
        if level is None:
            sound = False
        elif not found.group(1):
            sound = sound and opened is None
            opened = (found.start(), level)
        else:
            sound = sound and opened is not None and opened[1] == level
            if opened is not None:
                spans.append((opened[0], found.end(), level))
            opened = None
    if not met:
        return UNMARKED
    if not sound:
        return Marks(spans=((0, len(text), highest(*met)),), outside=False, broken=tuple(dict.fromkeys(met)))
    if opened is not None:
        spans.append((opened[0], len(text), opened[1]))
    return Marks(spans=tuple(spans), outside=_stands_outside(text, spans))


def _level(marker: str) -> Level | None:
    """The level that a marker names, or None if there is no such level."""
    name = re.sub(_BETWEEN, "", marker[:-1].partition(":")[2]).strip().lower() if marker.endswith("]") else ""
    for level in LEVELS:
        if level == name:
            return level
    return None


def _stands_outside(text: str, spans: list[tuple[int, int, Level]]) -> bool:
    done = 0
    for start, end, _ in spans:
        if text[done:start].strip():
            return True
        done = end
    return bool(text[done:].strip())
