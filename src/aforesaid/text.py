"""Floor 0: what a word is, in every script, and the two forms of a text that searching needs.

Stores index `feed(text)` with SQLite's `ascii` tokenizer; queries ask for `tokens(text)`; `matching` verifies on
`fold(text)`. All three share the tables below, so that what the index finds is what verification accepts. Nothing here
changes the text that users see: offsets always lead back to the original.

- A word character is a letter, a digit or a mark that belongs to one. The underscore separates words.
- Folding lowers case, takes compatibility forms apart and drops accents from Latin and Greek letters and from the
  Russian ё. Format characters (zero-width joiners, soft hyphens, direction marks) vanish.
- What colours a terminal (escape sequences) belongs to no word: `uncolour`.
- Scripts that write without blanks, and Hangul with its glued particles, are cut into overlapping pairs.
"""

from __future__ import annotations

import codecs
import re
import unicodedata
from functools import lru_cache
from typing import Final

from aforesaid.digests import blake2b

UNSPACED: Final = (
    "\u0e01-\u0eff"  # Thai, Lao
    "\u1000-\u109f"  # Myanmar
    "\u1780-\u17d3"  # Khmer
    "\u1100-\u11ff\ua960-\ua97f\uac00-\ud7ff"  # Hangul
    "\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303b\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff"  # kana
    "\u3099\u309a\u31f0-\u31ff\u3100-\u312f"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
)
"""Ranges of the scripts that write without blanks, and of Hangul, for a character class."""
_RUN: Final = f"[{UNSPACED}]+"

# Sequences that have a composed form which Unicode text mixes freely with the sequence: accents, voiced kana, jamo.
_SEQUENCE: Final = "[^\\W_][\u0300-\u036f\u3099\u309a\uff9e\uff9f]+|[\u1100-\u1112][\u1161-\u1175][\u11a8-\u11c2]?"
_SEQUENCE_MARK: Final = "[\u0300-\u036f\u3099\u309a\uff9e\uff9f\u1161-\u1175]"

_HUMP: Final = "(?<=[a-z0-9ß-öø-ÿ])(?=[A-Z][a-z])|(?<=[a-zß-öø-ÿ])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])"
_LONGEST_HUMPED = 64
"""Longer words are encoded data, not names; their humps mean nothing."""

_ESCAPE: Final = r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|\x1b[ -/]*[0-Z\\^-~]"
"""Control sequences and escapes of terminals (ECMA-48, 5.3 and 5.4). Of a title or the address of a link only the marks
around it, none of which is a letter: what it says can be found."""

_FOLDED_WORD: Final = "[0-9a-z\u0080-\U0010ffff]+"
_LETTERS: Final = "[^\\W_]+"
_WORDS_ALONE: Final = bytes(ord(chr(byte).lower()) if chr(byte).isalnum() else 32 for byte in range(128)) + bytes(128)
"""Bytes of ASCII as lower case, and as blanks what stands in no word."""
_CASES: Final = bytes(
    65 if 65 <= byte <= 90 else 97 if byte >= 128 or chr(byte).isalnum() else 32 for byte in range(256)
)
"""Bytes of UTF-8 as `A` for capitals of ASCII, `a` for what else may stand in a word, and blanks."""


def _fold_character(character: str) -> str:
    """The folded form of one composed character; empty for format characters."""
    if unicodedata.category(character) == "Cf" or "\ufe00" <= character <= "\ufe0f":
        return ""
    decomposed = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", character).casefold())
    kept: list[str] = []
    for part in decomposed:
        base = kept[-1] if kept else ""
        accent = "\u0300" <= part <= "\u036f"
        if accent and (base < "\u0400" or (base == "е" and part == "\u0308")):
            continue
        kept.append(part)
    return unicodedata.normalize("NFC", "".join(kept))


def _is_word_character(character: str) -> bool:
    return character.isalnum() or (
        unicodedata.category(character) in ("Mn", "Mc") and not "\ufe00" <= character <= "\ufe0f"
    )


class _FoldTable(dict[int, str]):
    """Code point to folded text, filled as characters are met."""

    def __missing__(self, point: int) -> str:
        folded = _fold_character(chr(point))
        self[point] = folded
        return folded


class _FeedTable(dict[int, str]):
    """Code point to folded text with everything that is no word replaced by a blank."""

    def __missing__(self, point: int) -> str:
        character = chr(point)
        folded = _FOLD[point]
        if folded and not (_is_word_character(character) or folded.isalnum()):
            folded = " "
        elif not folded.isascii() or folded != character.lower():
            folded = "".join(c if _is_word_character(c) else " " for c in folded)
        self[point] = folded
        return folded


_FOLD = _FoldTable()
_FEED = _FeedTable()


def _register(name: str, table: dict[int, str]) -> None:
    """Makes a table an error handler of codecs: `text.encode("ascii", name)` puts what it makes of a character."""

    def handle(error: UnicodeError) -> tuple[bytes, int]:
        if not isinstance(error, UnicodeEncodeError):  # nobody decodes with it
            raise error
        start, end = error.start, error.end
        return error.object[start:end].translate(table).encode("utf-8", "surrogatepass"), end

    codecs.register_error(name, handle)


_FOLDING: Final = "aforesaid.fold"
_FEEDING: Final = "aforesaid.feed"
_register(_FOLDING, _FOLD)
_register(_FEEDING, _FEED)


def _translate(text: str, handler: str) -> bytes:
    """UTF-8 of a text whose characters beyond ASCII went through a table; capitals of ASCII stay.

    Most characters of most texts are ASCII, which `str.translate` takes one by one through the dictionary all the same,
    and splitting a text around the others costs half as much again. The encoder copies them and asks for the others.
    """
    return text.encode("ascii", handler)


def uncolour(text: str) -> str:
    """The text with blanks in place of what colours a terminal or moves its cursor; offsets stay."""
    if "\x1b" not in text and "\x9b" not in text:
        return text
    return re.sub(_ESCAPE, lambda sequence: " " * len(sequence.group()), text)


def is_word(character: str) -> bool:
    """Whether a single character belongs to a word; the underscore and the empty string do not."""
    return character.isalnum() or (not character.isascii() and _is_word_character(character))


def vanishes(character: str) -> bool:
    """Whether folding drops a character, so that its neighbours stand side by side in the index."""
    return not character.isascii() and not _FOLD[ord(character)]


def is_unspaced(character: str) -> bool:
    """Whether a character is of a script whose words are not separated by blanks (Hangul counts as one)."""
    return not character.isascii() and re.match(_RUN, character) is not None


def is_hump(text: str, index: int) -> bool:
    """Whether a part of a camelCase name begins at `index`, inside a word."""
    # Every alternative wants a capital here, which is far cheaper to see.
    return "A" <= text[index : index + 1] <= "Z" and re.compile(_HUMP).match(text, index) is not None


def compose(text: str) -> tuple[str, list[int] | None]:
    """Joins letter-and-accent, kana-and-voicing and jamo sequences into their composed characters.

    Returns:
        The text and, if it changed, the original offset of each of its characters plus one for the end.
    """
    if re.search(_SEQUENCE_MARK, text) is None:
        return text, None
    pieces: list[str] = []
    offsets: list[int] = []
    done = 0
    for match in re.finditer(_SEQUENCE, text):
        start, end = match.span()
        composed = unicodedata.normalize("NFKC", match.group())
        pieces += (text[done:start], composed)
        offsets += range(done, start)
        offsets += [start] * len(composed)
        done = end
    pieces.append(text[done:])
    offsets += range(done, len(text) + 1)
    return "".join(pieces), offsets


def fold(text: str) -> str:
    """The lookup form: case, accents and compatibility forms folded. Its length may differ from the text's."""
    if text.isascii():
        return text.lower()
    # The lower case of bytes is that of ASCII alone; the table has seen to the rest.
    return _translate(compose(text)[0], _FOLDING).lower().decode("utf-8", "surrogatepass")


def fold_with_offsets(text: str) -> tuple[str, list[int] | None]:
    """The lookup form and, unless it is character for character parallel, the original offset of each character.

    Returns:
        `(folded, offsets)`; `offsets` has one entry more than `folded`, the length of the text.
    """
    if text.isascii():
        return text.lower(), None
    composed, offsets = compose(text)
    folded = _translate(composed, _FOLDING).lower().decode("utf-8", "surrogatepass")
    if (
        offsets is None
        and len(folded) == len(composed)
        and all(len(_FOLD[ord(c)]) == 1 for c in set(composed) if not c.isascii())
    ):
        return folded, None
    mapped: list[int] = []
    for index, character in enumerate(composed):
        width = 1 if character.isascii() else len(_FOLD[ord(character)])
        mapped += [index if offsets is None else offsets[index]] * width
    mapped.append(len(text))
    return folded, mapped


def _pairs(match: re.Match[str]) -> str:
    """The overlapping pairs of a run and its last character, so that one character can still be found by prefix."""
    run = match.group()
    return f" {' '.join([run[i : i + 2] for i in range(len(run) - 1)])} {run[-1]} "


def feed(text: str) -> tuple[str, str]:
    """What a store indexes for a text: the body in word order, and the parts of camelCase names in it.

    Both are for SQLite's FTS5 with the tokenizer `ascii` (every character above 127 belongs to a token). The body of an
    ASCII text is the text itself. Parts are listed once each; snake_case, paths, dots and hyphens need none: their
    separators already separate tokens. A coloured text has its body without the colours, and whatever words it has with
    them among the parts: who searches on purpose finds any piece of it.
    """
    plain = uncolour(text)
    body, parts = _body(plain), _camel_parts(plain)
    if plain is not text:
        coloured = _body(text).encode("utf-8", "surrogatepass").lower().decode("utf-8", "surrogatepass")
        parts |= dict.fromkeys(re.findall(_FOLDED_WORD, coloured)) | _camel_parts(text)
    return body, " ".join(parts)


def feed_and_digest(text: str) -> tuple[str, str, bytes]:
    """`feed(text)` and `digest(text)` at once: what a store asks of every text that it indexes."""
    if uncolour(text) is not text:
        return *feed(text), digest(text)
    if text.isascii():
        body, data = text, text.encode()
    else:
        composed = compose(text)[0]
        body, data = _cut(composed), _translate(composed, _FOLDING)
    return body, " ".join(_camel_parts(text)), _digest(data)


def _body(text: str) -> str:
    """The words of a text in their order, as a store indexes them."""
    return text if text.isascii() else _cut(compose(text)[0])


def _cut(composed: str) -> str:
    """The body of a text that is not all ASCII."""
    body = _translate(composed, _FEEDING).decode("utf-8", "surrogatepass")
    return body if body.isascii() else re.sub(_RUN, _pairs, body)


def _camel_parts(text: str) -> dict[str, None]:
    """The folded parts of the camelCase names in a text, in order, once each."""
    parts: dict[str, None] = {}
    for name in _humped(text):
        parts.update(_parts_of(name))
    return parts


@lru_cache(maxsize=4096)  # names come up again and again in a session
def _parts_of(name: str) -> dict[str, None]:
    """The folded parts of a word; none if it has no humps."""
    pieces = re.split(_HUMP, name) if len(name) <= _LONGEST_HUMPED else ()
    if len(pieces) <= 1:
        return {}
    if name.isascii():  # letters and digits only
        return dict.fromkeys([piece.lower() for piece in pieces])
    return dict.fromkeys(part for piece in pieces for part in tokens(piece))


def _humped(text: str) -> dict[str, None]:
    """The words that may have humps, once each, in order.

    Indexing asks this of every text. Looking for a few bytes is many times as fast as cutting all words or a pattern.
    """
    data = text.encode("utf-8", "surrogatepass")
    cases = data.translate(_CASES) + b" "
    found: dict[int, int] = {}
    for hump in (b"aA", b"AAa"):
        place = cases.find(hump)
        while place >= 0:
            end = cases.index(b" ", place)
            found[cases.rfind(b" ", 0, place) + 1] = end
            place = cases.find(hump, end)
    stretches = [data[start : found[start]] for start in sorted(found)]
    words: dict[str, None] = {}
    for stretch in dict.fromkeys(stretches):
        if stretch.isascii():
            words[stretch.decode()] = None
        else:
            # Its bytes beyond ASCII need not be letters.
            words.update(dict.fromkeys(re.findall(_LETTERS, stretch.decode("utf-8", "surrogatepass"))))
    return words


def tokens(text: str) -> tuple[str, ...]:
    """The tokens of a text in order, as the index holds them.

    A run of an unspaced script gives its overlapping pairs and its last character, as in `feed`, but for a run at the
    very end the last character is left out: there the run may go on in a text that holds it.
    """
    text = uncolour(text)
    if text.isascii():
        return _ascii_words(text)
    found: list[str] = []
    listed = words(text)
    for place, word in enumerate(listed, 1):
        if not is_unspaced(word[0]) or len(word) == 1:
            found.append(word)
            continue
        found += [word[i : i + 2] for i in range(len(word) - 1)]
        if place < len(listed):
            found.append(word[-1])
    return tuple(found)


def words(text: str) -> tuple[str, ...]:
    """The folded words of a text in order; runs of unspaced scripts are words of their own."""
    text = uncolour(text)
    if text.isascii():
        return _ascii_words(text)
    body = _translate(compose(text)[0], _FEEDING).lower().decode("utf-8", "surrogatepass")
    return tuple(re.findall(_FOLDED_WORD, re.sub(_RUN, lambda run: f" {run.group()} ", body)))


def _ascii_words(text: str) -> tuple[str, ...]:
    """The words of a text that is all ASCII: far faster than a pattern, and asked of every text of a history view."""
    return tuple(text.encode().translate(_WORDS_ALONE).decode().split())


def normalise(text: str) -> str:
    """The form in which two texts are compared for being the same: folded, runs of blanks as one."""
    return " ".join(fold(text).split())


def digest(text: str) -> bytes:
    """16 bytes that are equal for texts that are equal once normalised (BLAKE2b)."""
    return _digest(text.encode() if text.isascii() else _translate(compose(text)[0], _FOLDING))


def _digest(data: bytes) -> bytes:
    """The digest of a text, given as UTF-8 whose characters beyond ASCII are folded: that of `normalise`."""
    data = data.translate(_LOWER_AND_BLANK)
    if not data.isascii() and any(blank in data for blank in _FOREIGN_BLANKS):
        data = re.sub(_ANY_FOREIGN_BLANK, b" ", data)
    if b"  " not in data:
        return blake2b(data.strip(b" "), digest_size=16).digest()
    # Cutting at double blanks makes few pieces where cutting into words would make many.
    pieces = [kept for piece in data.split(b"  ") if (kept := piece.strip(b" "))]
    return blake2b(b" ".join(pieces), digest_size=16).digest()


_LOWER_AND_BLANK: Final = bytes(
    32 if byte < 128 and chr(byte).isspace() else byte + 32 if 65 <= byte <= 90 else byte for byte in range(256)
)
_FOREIGN_BLANKS: Final = tuple(c.encode() for c in "\u0085\u1680\u2028\u2029")
"""Blanks of `str.split` that folding leaves as they are."""
_ANY_FOREIGN_BLANK: Final = b"|".join(_FOREIGN_BLANKS)
