"""Floor 3: endings of English and Italian words, for finding other forms of a word that was asked for.

No stemmer: a word and its root are only compared with each other, so what a rule cuts wrongly on one side it cuts
wrongly on the other too. Measured against Snowball on the evaluation sets this loses about one point of recall and
needs neither its tables nor its time (`docs/ranking.md`).
"""

from __future__ import annotations

from typing import Final

ENDINGS: Final = frozenset(
    (
        "s es ed ing ings e er ers ly y ion ions ies ied ation ations ated ating ates ment ments"
        " o a i io ie are ere ire ato ata ati ate uto uta uti ute ito ita iti ite ando endo zione zioni mente"
    ).split()
)
"""Endings that may be cut from a folded word, or follow its root in a text."""
LONGEST: Final = max(map(len, ENDINGS))
LEAST: Final = 4
"""Letters that a root has at least: shorter ones begin too many other words."""


def root_of(word: str) -> str | None:
    """The beginning that the forms of a folded word share, or None if it has no other forms.

    The longest ending is cut that leaves `LEAST` letters; a word without one is its own root.
    """
    if len(word) <= LEAST or not word.isascii() or not word.isalpha():
        return None
    for length in range(min(LONGEST, len(word) - LEAST), 0, -1):
        if word[-length:] in ENDINGS:
            return word[:-length]
    return word


def is_form(word: str, root: str) -> bool:
    """Whether a folded word is a form of the word with this root."""
    return word == root or (word.startswith(root) and word[len(root) :] in ENDINGS)
