"""Floor 3: endings of English and Italian words, for finding other forms of a word that was asked for.

No stemmer: a word and its root are only compared with each other, so what a rule cuts wrongly on one side it cuts
wrongly on the other too. Snowball's stems in its place lose recall on the evaluation sets (decision 37), and its tables
would take time to load.
"""

from __future__ import annotations

from functools import cache
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
DOUBLING: Final = frozenset("ed ing ings er ers".split())
"""Endings before which English doubles a last consonant: plan, planned."""
DOUBLED: Final = frozenset("bdgmnprt")
"""Consonants that are."""


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


def beginning_of(word: str) -> str | None:
    """The beginning that a folded word and its forms share in a text, or None if it has no other forms.

    As `root_of`, but a consonant that was doubled for an ending is single again: `planned` begins as `plan` does. For
    searching only: vectors that are kept were made of roots.
    """
    root = root_of(word)
    if root is None or len(root) <= LEAST or root[-1] not in DOUBLED or root[-1] != root[-2]:
        return root
    return root[:-1] if word[len(root) :] in DOUBLING else root


@cache
def endings_after(letter: str) -> frozenset[str]:
    """What may follow a beginning that ends in a letter, nothing at all among it."""
    doubled = {letter + ending for ending in DOUBLING} if letter in DOUBLED else set[str]()
    return ENDINGS | doubled | {""}


def is_form(word: str, root: str) -> bool:
    """Whether a folded word is a form of the word with this root or beginning."""
    return word.startswith(root) and word[len(root) :] in endings_after(root[-1:])
