"""Floor 3: months and words of time in English and Italian, for requests that ask when something was, or of a day.

`moments` reads requests and texts with these. English names of months count with a capital only: "may" and "march" are
verbs.
"""

from __future__ import annotations

from typing import Final

_ENGLISH: Final = ("January February March April May June July August September October November December").split()
_ITALIAN: Final = (
    "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre"
).split()
MONTHS: Final = {
    **{name: number for number, name in enumerate(_ENGLISH, 1)},
    **{form: number for number, name in enumerate(_ITALIAN, 1) for form in (name, name.capitalize())},
}
"""Numbers of months by name, as it is written."""

_MONTH: Final = "|".join(MONTHS)
DATE: Final = (
    rf"\b(?P<year>\d{{4}})-(?P<month>\d{{2}})-(?P<day>\d{{2}})\b"
    rf"|\b(?:(?P<before>\d{{1,2}})(?:st|nd|rd|th|°)?\s+(?:of\s+)?)?(?P<name>{_MONTH})\b"
    rf"(?:\s+(?P<after>\d{{1,2}})(?:st|nd|rd|th)?\b)?(?:,?\s+(?P<of>\d{{4}})\b)?"
)
"""A day or a month, with or without a year: `2026-03-02`, `2 March 2026`, `March 2nd, 2026`, `3 marzo`, `in May`."""
ASKS_WHEN: Final = (
    r"\s*(?:and\s+|e\s+)?(?:since\s+|da\s+)?"
    r"(?:when|quando|(?:what|which|on what|on which) (?:date|day|month|year)|(?:in )?(?:che|quale) (?:data|giorno|mese|anno))\b"
)
"""How a request begins that asks for a time."""
TELLS_TIME: Final = (
    r"\b(?:yesterday|today|tonight|tomorrow|last|ago|next|week|weekend|month|year|morning|evening|recently|since"
    r"|monday|tuesday|wednesday|thursday|friday|saturday|sunday"
    r"|ieri|oggi|stasera|domani|scors[oaie]|fa|prossim[oaie]|settimana|mese|anno|mattina|sera|recentemente"
    r"|lunedi|martedi|mercoledi|giovedi|venerdi|sabato|domenica"
    rf"|{_MONTH.lower()}|(?:19|20)\d\d)\b"
)
"""What a text holds that says when, folded."""
