"""Floor 4: finds secrets in any text and replaces them; the one place where the product does.

`indexing` redacts what it stores, `retrieval` what it hands out of an index that holds raw text, and whatever else
writes text to a disk or sends it away uses the same two functions. Pure and deterministic; takes linear time on any
text. A redaction is no sanitizer: `docs/privacy.md` says what is found and what cannot be.

The way to be fast is to look with the eyes of `bytes.find`. A copy of the text with one byte a character tells where
long stretches of letters and digits stand, and where a stem of a telling name does; only there a rule is tried.
"""

from __future__ import annotations

import re
from functools import cache, partial
from itertools import accumulate
from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec import Struct

from aforesaid.language.secret_formats import SHAPES, VERSION, formats
from aforesaid.language.secret_names import STEMS
from aforesaid.privacy.forms import after_command, after_scheme, private_key
from aforesaid.privacy.markers import find_markers
from aforesaid.privacy.names import describe
from aforesaid.privacy.places import after_identified, beside_name, is_chained
from aforesaid.privacy.runs import search

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from aforesaid.privacy.forms import Place

    Rule = Callable[[str, int, int], tuple[Place, ...]]
    Found = list[tuple[int, int, int, str]]

__all__ = ["VERSION", "Edit", "Redacted", "Secret", "find_edits", "find_secrets", "redact"]

OPENING: Final = "[redacted:"
"""What a marker begins with; where one stands in a text, nothing is found again."""

_MARKER: Final = re.compile(r"\[redacted:[a-z0-9-]{1,40}:(?:<8|[0-9]{1,7}\+)\]")
_SHORTEST: Final = 8
"""Characters of a text below which it can hold no name with a secret."""
_PASSES: Final = 4
"""How often a text is searched again after a replacement, which may uncover what was part of something longer."""

_RUN: Final = b"a" * 20
"""The shortest stretch in which the format of a provider is looked for."""
_BEFORE: Final = 24
"""Characters before a stretch in which its format may begin (`SG.`, `dt0c01.`)."""
_BEHIND: Final = 64
"""Characters behind a stretch to which a format without a literal beginning may reach."""
_LONGEST_SHAPE: Final = 512
_TRIES: Final = 16
"""Formats that may fail in one stretch; text that is made of beginnings of formats is no secret."""
_LONGEST_NAME: Final = 64
_SHAPE: Final = bytes(
    97 if 48 <= code <= 57 or 65 <= code <= 90 or 97 <= code <= 122 or code in b"_-" else 32 for code in range(256)
)
_DIGITS: Final = b"0123456789"
_LETTERS: Final = (b"AIza", b"LTAI", b"eyJ")
"""Beginnings of formats whose first stretch may have letters alone."""
_HASH: Final = b"0123456789abcdef-"
_FORMAT, _PLACE = 0, 1
"""Which kind names a stretch that two rules found: a format knows better."""

_EVERY: Final = (
    ("-----begin ", private_key),
    ("://", after_scheme),
    ("curl", after_command),
    ("mysql", after_command),
    ("redis-cli", after_command),
    (" login ", after_command),
    ("identified by", after_identified),
)
"""Literals of the lower-case text, and the rule that is tried where one stands."""


class Secret(Struct, frozen=True, kw_only=True, gc=False):
    """A stretch of a text that is, or most likely is, a secret.

    Attributes:
        start, end: code points, the end exclusive.
        kind: what it is, as in markers: small letters, digits and hyphens.
    """

    start: int
    end: int
    kind: str

    @property
    def marker(self) -> str:
        """What stands for it: its kind and its length class, a power of two that it is not shorter than."""
        length = self.end - self.start
        size = "<8" if length < 8 else f"{1 << (length.bit_length() - 1)}+"
        return f"{OPENING}{self.kind}:{size}]"


class Redacted(Struct, frozen=True, kw_only=True):
    """A text without its secrets.

    Attributes:
        text: markers stand where secrets stood.
        count: replacements.
    """

    text: str
    count: int


class Edit(NamedTuple):
    """What stands for a stretch of a text: the marker of a secret, and the class markers that stood within it."""

    start: int
    end: int
    text: str


def redact(text: str) -> Redacted:
    """Replaces the secrets of a text by markers (`[redacted:github-token:32+]`).

    Redacting the result changes nothing. Markers of a class (`markers`) stay: they neither hide a secret that stands
    beside them nor vanish with it.
    """
    edits = find_edits(text)
    return Redacted(text="".join(_pieces(text, edits)), count=len(edits))


def find_edits(text: str) -> tuple[Edit, ...]:
    """What `redact` replaces in a text, and by what; in order, and none overlaps another."""
    classes = find_markers(text)
    if not classes:
        return _find_plain(text)
    edges = [0, *(edge for start, end, _ in classes for edge in (start, end)), len(text)]
    kept = [text[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True)]
    ends = list(accumulate(map(len, kept)))
    placed = [(at, text[start:end], opens) for at, (start, end, opens) in zip(ends, classes, strict=False)]
    return tuple(_place(_find_plain("".join(kept)), placed))


def _find_plain(text: str) -> tuple[Edit, ...]:
    """The edits of a text in which no class is marked."""
    edits: list[Edit] = []
    shown = text
    for _ in range(_PASSES):
        secrets = find_secrets(shown)
        if not secrets:
            break
        # What is found again stands beside what was replaced before, never in it.
        edits = _add(edits, secrets)
        shown = "".join(_pieces(text, edits))
    return tuple(edits)


def _add(edits: list[Edit], secrets: tuple[Secret, ...]) -> list[Edit]:
    """Edits, and secrets that were found where those had been applied, as edits of the same text; in order."""
    added: list[Edit] = []
    shift = done = 0
    for secret in secrets:
        while done < len(edits) and edits[done].start + shift < secret.start:
            shift += len(edits[done].text) - (edits[done].end - edits[done].start)
            done += 1
        added.append(Edit(secret.start - shift, secret.end - shift, secret.marker))
    return sorted([*edits, *added])


def _place(edits: tuple[Edit, ...], placed: list[tuple[int, str, bool]]) -> Iterator[Edit]:
    """Edits of a text without its class markers as edits of the whole text.

    A marker within a secret goes before or behind what stands for it: it must not cover less than it did.
    """
    shift = done = 0
    for edit in edits:
        while done < len(placed) and placed[done][0] <= edit.start:
            shift += len(placed[done][1])
            done += 1
        start = edit.start + shift
        inside: list[tuple[int, str, bool]] = []
        while done < len(placed) and placed[done][0] < edit.end:
            inside.append(placed[done])
            shift += len(placed[done][1])
            done += 1
        before = "".join(marker for _, marker, opens in inside if opens)
        behind = "".join(marker for _, marker, opens in inside if not opens)
        yield Edit(start, edit.end + shift, before + edit.text + behind)


def _pieces(text: str, edits: Iterable[Edit]) -> Iterator[str]:
    done = 0
    for edit in edits:
        yield text[done : edit.start]
        yield edit.text
        done = edit.end
    yield text[done:]


def find_secrets(text: str) -> tuple[Secret, ...]:
    """The secrets of a text, in order; they neither overlap nor touch."""
    if len(text) < _SHORTEST:
        return ()
    # One byte a character: whatever ASCII is not becomes a byte that no rule asks for, and offsets stay.
    data = text.encode("latin-1", "replace")
    shape = data.translate(_SHAPE)
    found: Found = []
    _find_formats(text, data, shape, found)
    lower = data.lower().decode("latin-1")
    places: list[Place] = []
    _find_names(text, lower, shape, places)
    for literal, rule in [one for one in _EVERY if one[0] in lower]:
        search(text, lower, literal, partial(_at_literal, text, len(literal), rule), places)
    found += [(place.start, place.end, _PLACE, place.kind) for place in places]
    if not found:
        return ()
    return _merge(found, _markers(text))


def _find_formats(text: str, data: bytes, shape: bytes, found: Found) -> None:
    """Tokens and keys of known formats, in the long stretches of letters, digits, `-` and `_`."""
    at, done = shape.find(_RUN), 0
    while at >= 0:
        end = shape.find(b" ", at + len(_RUN))
        if end < 0:
            end = len(data)
        run = data[at:end]
        if not (_is_words(run) or _is_hash(run, data[at - 1 : at])):
            done = _match_formats(text, max(done, at - _BEFORE), end, found)
        at = shape.find(_RUN, max(end, done))


def _is_words(run: bytes) -> bool:
    """Whether a stretch is a name of code: there are many, and formats look otherwise: they have digits or signs."""
    if run.isalpha():
        return not run.isupper() and not run.startswith(_LETTERS)
    if not (run.islower() or (b"_" in run and run.isupper())):
        return False
    return len(run.translate(None, _DIGITS)) == len(run)


def _is_hash(run: bytes, before: bytes) -> bool:
    """Whether a stretch is a hash or a UUID: there are many as well, and few formats are nothing else."""
    return not run.translate(None, _HASH) and before != b"." and not run.startswith(_hash_like())


def _match_formats(text: str, start: int, end: int, found: Found) -> int:
    """Tries the formats that begin between two places; returns where the last secret ends, or `start`."""
    done, failed = start, 0
    window = text[start : end + _BEHIND]
    escapes = "\\" in window or "%" in window
    for begins in _literals(escapes).finditer(text, start, end):
        at = begins.start()
        if at < done:
            continue
        for kind, tail in _tails(begins.group()):
            matched = tail.match(text, at)
            if matched is not None:
                done = matched.end()
                found.append((at, done, _FORMAT, kind))
                break
        else:
            failed += 1
            if failed == _TRIES:
                break
    if done == start:
        for kind, literal, pattern in SHAPES:
            if literal in window and len(window) < _LONGEST_SHAPE:
                shaped = re.compile(pattern, re.ASCII).search(text, start, end + _BEHIND)
                if shaped is not None:
                    found.append((shaped.start(), shaped.end(), _FORMAT, kind))
                    return shaped.end()
    return done


def _find_names(text: str, lower: str, shape: bytes, found: list[Place]) -> None:
    """Values beside telling names."""
    for stem in [stem for stem in STEMS if stem in lower]:
        search(text, lower, stem, partial(_at_stem, text, lower, shape, len(stem)), found)


def _at_stem(text: str, lower: str, shape: bytes, length: int, at: int) -> tuple[list[Place], int]:
    """The secrets beside the name that a stem stands in, and where to search for the next one."""
    start = shape.rfind(b" ", max(0, at - _LONGEST_NAME), at) + 1
    if start == 0:
        start = max(0, at - _LONGEST_NAME)
    end = shape.find(b" ", at + length - 1)
    if end < 0:
        end = len(shape)
    if end - start > _LONGEST_NAME:
        return [], max(end, at + 1)
    if start and text[start - 1] == "\\" and text[start] in "nrt":
        start += 1  # a line end in a quoted text
    kind = describe(text[start:end])
    if not kind or is_chained(lower, end):
        return [], max(end, at + 1)
    places = list(beside_name(kind, text, start, end))
    return places, max([end, at + 1, *(place.end for place in places)])


def _at_literal(text: str, length: int, rule: Rule, at: int) -> tuple[list[Place], int]:
    """What a rule finds where its literal stands, and where to search for the next one."""
    places = list(rule(text, at, at + length))
    return places, max([at + length, *(place.end for place in places)])


def _markers(text: str) -> list[tuple[int, int]]:
    if OPENING not in text:
        return []
    return [found.span() for found in _MARKER.finditer(text)]


def _merge(found: Found, markers: list[tuple[int, int]]) -> tuple[Secret, ...]:
    """One secret for all that overlap or touch, named by the rule that knows best; none where a marker stands."""
    found.sort()
    merged: list[Secret] = []
    start, end, rank, kind = found[0]
    for next_start, next_end, next_rank, next_kind in found[1:]:
        if next_start > end:
            merged.append(Secret(start=start, end=end, kind=kind))
            start, end, rank, kind = next_start, next_end, next_rank, next_kind
        else:
            end = max(end, next_end)
            if next_rank < rank:
                rank, kind = next_rank, next_kind
    merged.append(Secret(start=start, end=end, kind=kind))
    if markers:
        return tuple(_apart(merged, markers))
    return tuple(merged)


def _apart(merged: list[Secret], markers: list[tuple[int, int]]) -> Iterator[Secret]:
    """The secrets that no marker stands in."""
    next_one = 0
    for secret in merged:
        while next_one < len(markers) and markers[next_one][1] <= secret.start:
            next_one += 1
        if next_one == len(markers) or markers[next_one][0] >= secret.end:
            yield secret


@cache
def _hash_like() -> tuple[bytes, ...]:
    """Beginnings of formats that could be those of a hash."""
    literals = {literal.encode() for _, literal, _ in formats()}
    return tuple(sorted(literal for literal in literals if not literal.translate(None, _HASH)))


@cache
def _literals(escapes: bool) -> re.Pattern[str]:
    """Finds where a format begins: a literal that no letter or digit precedes, but for the escapes of quoted texts."""
    by_first: dict[str, list[str]] = {}
    for literal in _grouped():
        by_first.setdefault(literal[0], []).append(re.escape(literal[1:]))
    branches = "|".join(f"{re.escape(first)}(?:{'|'.join(rest)})" for first, rest in sorted(by_first.items()))
    before = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrtbf])|(?<=%[0-9A-F][0-9A-F]))" if escapes else "(?<![A-Za-z0-9])"
    return re.compile(f"{before}(?:{branches})")


@cache
def _grouped() -> dict[str, list[tuple[str, str]]]:
    """Rules by the shortest literal that begins them: kinds and patterns of the rest."""
    groups: dict[str, list[tuple[str, str]]] = {}
    for kind, literal, tail in sorted(formats(), key=lambda row: len(row[1])):
        head = next((literal[:size] for size in range(1, len(literal)) if literal[:size] in groups), literal)
        groups.setdefault(head, []).append((kind, re.escape(literal) + tail))
    return groups


@cache
def _tails(literal: str) -> tuple[tuple[str, re.Pattern[str]], ...]:
    """The patterns of the formats that begin with a literal; the longer literals first."""
    return tuple(
        (kind, re.compile(rf"{pattern}(?![A-Za-z0-9])", re.ASCII)) for kind, pattern in reversed(_grouped()[literal])
    )
