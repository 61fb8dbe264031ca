"""Floor 3: what quotation marks look like, as patterns for `query.quotes`.

All marks of Unicode's property Quotation_Mark are paired in the ways in which languages pair them, the angle brackets of
Chinese and Japanese and the marks of Hebrew too. The content is a group, 200 characters at most, on one line. Strings
only: `re` compiles what a request needs when it first holds a mark. Each takes linear time on any text.
"""

from __future__ import annotations

from functools import cache
from typing import Final

_PAIRS: Final = (
    "“”", "„“", "„”", "‟”", "«»", "»«", "‹›", "›‹", "「」", "『』", "《》", "〈〉", "\u2329\u232a", "｢｣", "﹁﹂", "﹃﹄", "〝〞", "〝〟",
    "＂＂", "⹂”", "❝❞", "❮❯", "\U0001f676\U0001f677", "\U0001f678\U0001f678",
)  # fmt: skip
"""Opening and closing marks that stand for nothing else."""
_CLOSED_AS_OPENED: Final = "”»›"
"""Swedish, Finnish and others open with what closes elsewhere: a word begins right behind it."""
_SINGLE: Final = ("''", "‘’", "’’", "‚‘", "‚’", "‛’", "＇＇", "׳׳", "❛❜")
"""Single marks; those that close stand within words as apostrophes too."""
_LOW: Final = "‚❛"
"""Single marks that are never an apostrophe."""
_ELIDED: Final = "tis twas twere til till em cause cuz bout sto".split()
"""Words that begin with an apostrophe: 'tis, 'sto."""
_ELIDED_TOO: Final = "round neath gainst sta sti ste na ndo ne nen nem ner rein raus runter rauf s t k m r".split()
"""The same where the mark is the apostrophe of print, which few quote with: ’s morgens."""
_SPACED_WORD: Final = "[A-Za-z0-9_\u00c0-\u0e00\u1e00-\u1fff]"
"""A character of a word of a script with blanks: in others a quote begins and ends anywhere."""
_HEBREW: Final = "[\u05d0-\u05ea]"
_ACRONYM: Final = f"(?<={_HEBREW})MARK(?={_HEBREW}(?!{_HEBREW}))"
"""The mark before the last letter of a Hebrew abbreviation: צה״ל."""


def _paired(opening: str, closing: str) -> str:
    return f"{opening}([^{opening}{closing}\\n]{{1,200}}){closing}"


def _closed_as_opened(mark: str) -> str:
    return rf"(?<![\w]){mark}(?!\s)([^“„«‹{mark}\n]{{1,200}})(?<!\s){mark}(?!\w)"


def _double(mark: str) -> str:
    """Straight marks, and those of Hebrew: they open no inch, and no last letter of an abbreviation."""
    in_acronym = _ACRONYM.replace("MARK", mark)
    return rf"(?<!\d)(?!{in_acronym}){mark}([^{mark}\n]{{1,200}}(?:{in_acronym}[^{mark}\n]{{1,200}}){{0,3}}){mark}"


def _single(opening: str, closing: str) -> str:
    """Single marks, of which one that may be an apostrophe opens no word that begins with one, and no decade: '90s.

    Such a word is quoted if it is closed right behind it, but for "'n'". Up to three apostrophes stand inside: l'idea.
    """
    elided = "|".join((*_ELIDED, *(_ELIDED_TOO if opening == "’" else ())))
    opens = "" if opening in _LOW else rf"(?!(?i:n\b|(?:{elided})\b(?!{closing}))|\d\ds?\b(?!{closing}))"
    follows, closed = (r"(?!\s)", r"(?<!\s)") if opening == "’" else ("", "")
    inner = f"[^{opening}{closing}\\n]"
    return rf"{opening}{opens}{follows}({inner}{{1,200}}(?:(?<=\w){closing}(?=\w){inner}{{1,200}}){{0,3}}?){closed}{closing}"


def _apart(patterns: list[str], word: str) -> list[str]:
    """Patterns that neither begin nor end within a word, as one."""
    return [rf"(?<!{word})(?<!['’])(?:{'|'.join(patterns)})(?!{word}|')"] if patterns else []


@cache
def pattern_for(signs: frozenset[str], *, spaced: bool) -> str:
    """The pattern of everything that may be quoted in a text; empty if nothing may.

    Args:
        signs: those of `SIGNS` that stand in the text; others need not be compiled.
        spaced: whether all its letters belong to scripts with blanks.
    """
    single = [_single(*pair) for pair in _SINGLE if signs.issuperset(pair)]
    return "|".join(
        (
            *(_double(mark) for mark in '"״' if mark in signs),
            *(_paired(*pair) for pair in _PAIRS if signs.issuperset(pair)),
            *(_closed_as_opened(mark) for mark in _CLOSED_AS_OPENED if mark in signs),
            *_apart(single, r"\w" if spaced else _SPACED_WORD),
        )
    )


SIGNS: Final = frozenset("\"״'".join((*_PAIRS, *_SINGLE, *_CLOSED_AS_OPENED)))
"""All marks."""
