"""Floor 4: names that consist of words which are no topics, and that may as well be prose: `job.stop`, `/run`, `-name`.

`read_query` runs these passes behind `names`, on what is left. A guess is searched literally like any identifier, and
that is all: nothing is taken for it, so its words are read as if it were none; it is no topic of the full-text search;
and where it stands nowhere, that says nothing of the request. A pasted block and other texts than requests have none.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from aforesaid import language, text
from aforesaid.language import english, files, italian, members, others, shapes, technologies

if TYPE_CHECKING:
    from aforesaid.query.reading import Reading

_ASKS: Final = (
    r"(?i)\b(?:what|why|how|where|when|does|did|was|cosa|perch[eé]|come|dove|quando|warum|wie|pourquoi|por qu[eé])\b"
)
_NO_NAMES: Final = shapes.ABBREVIATIONS | technologies.SPELLED_FOLDED
_CLAUSE: Final = 200
"""Characters that are looked back for a question word, up to the end of the sentence before."""
_PARENTHESIS: Final = 80
"""Characters in which a dash that closes follows one that opens: "the proxy -our main one- is down"."""
_DIRECT: Final = frozenset("([{,:=")
"""What may stand right before a path beside blanks."""


def _symbols(reading: Reading) -> None:
    if not reading.holds("."):
        return
    for match in re.finditer(shapes.QUALIFIED, reading.spaced):
        item = match.group(1)
        parts = item.split(".")
        if text.fold(item) in _NO_NAMES:
            continue
        if re.fullmatch(r"\w+(?:\.\w+)+", item) and _is_member(parts) and not _is_order(match, parts[-1]):
            reading.guess(match.start(1), "symbol", item)
    for match in re.finditer(shapes.PATH, reading.spaced):
        item = match.group(2)
        stem, _, extension = item.rpartition(".")
        if stem in members.OWNERS and extension in files.EXTENSIONS and text.fold(item) not in _NO_NAMES:
            reading.guess(match.start(2), "file", item)


def _is_member(parts: list[str]) -> bool:
    """Whether words with dots between may be a variable or package and what belongs to it."""
    folded = [text.fold(part) for part in parts]
    first, *middle, last = folded
    if min(map(len, parts)) == 1 or not all(part.isalpha() for part in parts):
        return False
    if any(map(_begins, (*middle, last))) or not all(part.islower() for part in (parts[0][1:], *parts[1:-1])):
        return False
    if not parts[-1].islower():
        return (
            bool(middle)
            and parts[-1][0].isupper()
            and parts[0].islower()
            and (first in members.OWNERS or not _begins(first))
        )
    if first in members.OWNERS:
        return True
    return language.is_weak(first) and not first.endswith(("ed", "ing")) and not english.is_form(first)


def _begins(folded: str) -> bool:
    """Whether a word begins a sentence, or follows a dash, rather than being called something."""
    if folded in members.OPENERS or _is_spoken(folded):
        return True
    if folded in members.MEMBERS or folded in english.listed() or folded in english.weak() or english.is_form(folded):
        return False
    return folded in italian.listed() or italian.is_form(folded) or folded in others.listed()


def _is_spoken(folded: str) -> bool:
    """Whether a word only makes sentences, and nothing is called by it."""
    return folded in shapes.JOINERS or (folded in english.spoken() and folded not in members.MEMBERS)


def _is_order(match: re.Match[str], verb: str) -> bool:
    """Whether what follows a name that ends in a verb makes an order of it: "fix the tests.run them"."""
    following = re.match(r"\s{1,3}(\w{1,16})", match.string[match.end() : match.end() + 24])
    if following is None or not (english.is_form(text.fold(verb)) or english.is_weak_form(text.fold(verb))):
        return False
    word = text.fold(following.group(1))
    return word in members.OBJECTS or (word in members.DETERMINERS and not _is_asked(match))


def _is_asked(match: re.Match[str]) -> bool:
    """Whether a question word stands before in the same sentence."""
    before = re.split(r"[.!?\n]\s", match.string[max(0, match.start() - _CLAUSE) : match.start()])[-1]
    return re.search(_ASKS, before) is not None


def _paths(reading: Reading) -> None:
    if not reading.holds("/"):
        return
    for match in re.finditer(shapes.PATH, reading.spaced):
        item = match.group(2)
        if not match.group(1) and re.fullmatch(r"/?[A-Za-z]\w*(?:/\w+)*/?", item) and _is_path(match, item, reading):
            reading.guess(match.start(2), "file", item)


def _is_path(match: re.Match[str], item: str, reading: Reading) -> bool:
    """Whether words that are no topics with slashes between may be a path, and not a list of what may be chosen."""
    folded = [text.fold(part) for part in item.strip("/").split("/")]
    if item[0] == "/":
        before = reading.request[match.start() - 1] if match.start() else ""
        # What a request begins with is a command of the host: /compact.
        is_command = len(folded) == 1 and not reading.request[: match.start()].strip()
        return not is_command and (before.isspace() or before in _DIRECT) and not all(map(_is_spoken, folded))
    if len(folded) > 2:
        return not any(words.issuperset(folded) for words in members.LISTED)
    if len(folded) < 2 or all(part in files.ROLES for part in folded):
        return False
    return any(part in files.FOLDERS for part in folded) and not any(map(_begins, folded))


def _flags(reading: Reading) -> None:
    if not reading.holds(" -", "(-", ",-", "[-", "\t-"):
        return
    for match in re.finditer(shapes.WORDS_AS_FLAG, reading.spaced):
        if _is_flag(match, reading):
            reading.guess(match.start(), "name", match.group())


def _is_flag(match: re.Match[str], reading: Reading) -> bool:
    """Whether a word behind a dash is a flag: not the item of a list, not what a dash sets apart, no going on."""
    line = reading.request[: match.start()].rpartition("\n")[2]
    before = re.findall(r"\w+", line[-64:])
    if not before or _begins(text.fold(match.group(1).partition("-")[0])):
        return False
    if before[-1].isalpha() and text.fold(before[-1]) in english.agreeing():
        return False
    after = match.string[match.end() : match.end() + _PARENTHESIS].partition("\n")[0]
    return re.search(r"\w-(?=[\s,.;:?!]|$)", after) is None and not _is_order(match, match.group(1))


PASSES: Final = (_symbols, _paths, _flags)
