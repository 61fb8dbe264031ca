"""Between floors 1 and 2: how what was forgotten is recognised when it comes by again, without keeping any of it.

A store keeps marks: keyed digests (BLAKE2b with a random key of the store, a message authentication code) of what was
forgotten. `forgetting` makes them, stores look them up: `Tombstones.covered` is asked about every entry on its way in,
and about every stored entry when something is erased, so both always agree. Pure; knows neither files nor SQL.
`docs/decisions/0010-forgetting.md` says what each mark is for and what it cannot do.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from aforesaid.model import NO_DIGEST
from aforesaid.text import digest, fold, normalise, tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from collections.abc import Set as AbstractSet

    from aforesaid.model import Entry, Header, StoredEntry

    Spoken = Entry | StoredEntry

KEY_BYTES: Final = 32
MARK_BYTES: Final = 16
_REMEMBERED: Final = 100_000
"""Tokens whose hints are remembered: words repeat, and a mark costs as much as everything else together."""


class Rule(Struct, frozen=True, kw_only=True):
    """What stays out by its date. Dates are no text, so they stand as they are.

    Attributes:
        scope: empty: every entry whose timestamp is in the range; else the mark of a project: every session of it that
            began in the range, or that does not say when it began.
        after: first timestamp of the range, as in `Entry.timestamp`; empty: from the beginning.
        before: the timestamp that ends the range and is not in it.
    """

    scope: bytes = b""
    after: str = ""
    before: str


class Gram(Struct, frozen=True, kw_only=True):
    """A forgotten text as a run of tokens.

    Attributes:
        mark: of the tokens.
        length: how many they are.
        hint: eight bits of a mark of the first one, so that nearly all places of a text can be passed over.
    """

    mark: bytes
    length: int
    hint: int


class Burial(Struct, frozen=True, kw_only=True):
    """What is to be recognised from now on."""

    marks: frozenset[bytes] = frozenset()
    grams: frozenset[Gram] = frozenset()
    rules: frozenset[Rule] = frozenset()

    @property
    def empty(self) -> bool:
        """Whether it says nothing."""
        return not (self.marks or self.grams or self.rules)


class Marker:
    """Makes the marks of one store."""

    __slots__ = ("_key",)

    def __init__(self, key: bytes) -> None:
        """Takes the store's key (`KEY_BYTES`)."""
        self._key = key

    def file(self, file: str) -> bytes:
        """A session by the absolute path of its transcript."""
        return self._mark("file", file)

    def session(self, host: str, session_id: str) -> bytes:
        """A session by the id in its header, wherever its transcript stands."""
        return self._mark("session", host, session_id)

    def project(self, cwd: str) -> bytes:
        """The sessions that worked in a folder."""
        return self._mark("project", cwd)

    def line(self, entry: Spoken) -> bytes:
        """The entry, and every copy of its line."""
        return self._mark("line", entry.source.sha256)

    def said(self, entry: Spoken) -> bytes:
        """The entry, and every copy of its words with the same role and time (the same id where there is no time)."""
        return self.said_and_words(entry)[0]

    def words(self, entry: Spoken) -> bytes:
        """Every entry with these words and no others."""
        return self.said_and_words(entry)[1]

    def said_and_words(self, entry: Spoken) -> tuple[bytes, bytes]:
        """Both: they share the digest of the words, which costs more than they do."""
        when = entry.timestamp if entry.timestamp is not None else f"id {entry.id}"
        words = digest(words_of(entry))
        return self._mark("said", entry.role, when, words), self._mark("words", words)

    def place(self, session: str, entry: Spoken) -> bytes | None:
        """The entry of this id in the session of this key, whatever it says by then.

        None for an id that is a line number: after a change of the file another entry may stand there.
        """
        if entry.id[:1] == "L" and entry.id[1:].isdecimal():
            return None
        return self._mark("place", session, entry.id)

    def gram(self, run: Sequence[str]) -> bytes:
        """A run of tokens, wherever it stands."""
        return self._mark("gram", *run)

    def hint(self, token: str) -> int:
        """Eight bits about a token: enough to pass over nearly all others, too few to tell which it is."""
        return self._mark("hint", token)[0]

    def _mark(self, kind: str, *parts: str | bytes) -> bytes:
        told = [kind.encode()]
        for part in parts:
            data = part if isinstance(part, bytes) else part.encode("utf-8", "surrogatepass")
            told.append(b"%d:%b" % (len(data), data))
        return blake2b(b"".join(told), key=self._key, digest_size=MARK_BYTES).digest()


class Tombstones:
    """Decides what was forgotten."""

    def __init__(
        self,
        marker: Marker,
        *,
        known: Callable[[Collection[bytes]], AbstractSet[bytes]],
        grams: Collection[Gram] = (),
        rules: Collection[Rule] = (),
        spellings: Callable[[str], Collection[str]] = lambda cwd: (cwd,),
    ) -> None:
        """Takes what a store keeps.

        Args:
            marker: of the store.
            known: those of some marks that the store keeps.
            grams: forgotten texts.
            rules: what stays out by its date.
            spellings: the paths by which the folder of a session may have been forgotten.
        """
        self.marker = marker
        self._known = known
        self._grams = frozenset(gram.mark for gram in grams)
        self._lengths: dict[int, set[int]] = {}
        for gram in grams:
            self._lengths.setdefault(gram.hint, set()).add(gram.length)
        self._dates = [rule for rule in rules if not rule.scope]
        self._projects = [rule for rule in rules if rule.scope]
        self._spellings = spellings
        self._hints: dict[str, int] = {}

    def refuses(self, file: str, header: Header | None = None) -> bool:
        """Whether a whole session was forgotten.

        Args:
            file: absolute path of its transcript.
            header: what the transcript says of itself, as far as it was read.
        """
        marks = [self.marker.file(file)]
        if header is not None:
            marks.append(self.marker.session(header.host, header.session_id))
        if self._known(marks):
            return True
        if header is None or header.cwd is None or not self._projects:
            return False
        scopes = {self.marker.project(folder) for folder in (header.cwd, *self._spellings(header.cwd))}
        return any(rule.scope in scopes and _within(rule, header.started or "") for rule in self._projects)

    def covered(self, session: str, entries: Sequence[Spoken]) -> frozenset[int]:
        """Which of the entries were forgotten, as places in the list; entries without words never are.

        Args:
            session: key of their session.
            entries: as readers or stores give them.
        """
        marks = [_marks(self.marker, session, entry) if words_of(entry) else () for entry in entries]
        known = self._known({mark for own in marks for mark in own})
        return frozenset(
            place
            for place, (entry, own) in enumerate(zip(entries, marks, strict=True))
            if own and (not known.isdisjoint(own) or self._dated(entry) or self._says(words_of(entry)))
        )

    def _dated(self, entry: Spoken) -> bool:
        stamp = entry.timestamp
        return stamp is not None and any(_within(rule, stamp) for rule in self._dates)

    def _says(self, text: str) -> bool:
        """Whether a forgotten text stands in this one."""
        if not self._grams:
            return False
        listed = tokens(text)
        hot = {token: lengths for token in set(listed) if (lengths := self._lengths.get(self._hint(token)))}
        if not hot:
            return False
        runs = {
            listed[place : place + length]
            for place, token in enumerate(listed)
            if token in hot
            for length in hot[token]
        }
        return any(self.marker.gram(run) in self._grams for run in runs)

    def _hint(self, token: str) -> int:
        hint = self._hints.get(token)
        if hint is None:
            if len(self._hints) >= _REMEMBERED:
                self._hints.clear()
            hint = self._hints[token] = self.marker.hint(token)
        return hint


def made_of(
    marker: Marker, burial: Burial, spellings: Callable[[str], Collection[str]] = lambda cwd: (cwd,)
) -> Tombstones:
    """The tombstones that a burial would make."""
    return Tombstones(
        marker, known=burial.marks.intersection, grams=burial.grams, rules=burial.rules, spellings=spellings
    )


def words_of(entry: Spoken) -> str:
    """Everything that an entry says: its text, a label, and the files and tools that it names."""
    if entry.label is None and not entry.files and not entry.tools:
        return entry.text
    return "\n".join([part for part in (entry.text, entry.label, *entry.files, *entry.tools) if part])


def strike(entry: Entry) -> Entry:
    """What is left of a forgotten entry: its place in the tree, its role and its time, but no words.

    Not even a digest is left: that of a short line would give the line away to whoever guesses.
    """
    return replace(
        entry,
        parts=(),
        tools=(),
        calls=(),
        files=(),
        automatic=False,
        redacted=0,
        label=None,
        source=replace(entry.source, sha256=NO_DIGEST),
    )


def gram_of(marker: Marker, text: str) -> Gram | None:
    """The mark of a text that is forgotten wherever it stands; None for one without any token."""
    run = tokens(text)
    return Gram(mark=marker.gram(run), length=len(run), hint=marker.hint(run[0])) if run else None


class Contained:
    """A text that is looked for in others: as it is, or folded and with any blanks."""

    __slots__ = ("_folded", "_longest", "_text")

    def __init__(self, text: str) -> None:
        """Takes a text that `normalise` does not empty."""
        self._text = text
        self._folded = normalise(text)
        self._longest = max(self._folded.split(" "), key=len)

    def found_in(self, text: str) -> bool:
        """Whether it stands there."""
        if self._text in text:
            return True
        folded = fold(text)
        return self._longest in folded and self._folded in " ".join(folded.split())


def _marks(marker: Marker, session: str, entry: Spoken) -> tuple[bytes, ...]:
    """Every mark that would cover an entry."""
    place = marker.place(session, entry)
    own: tuple[bytes, ...] = (marker.line(entry), *marker.said_and_words(entry))
    if entry.source.file is not None:  # a fork goes on from what stands in another transcript, which may be forgotten
        own = (*own, marker.file(entry.source.file))
    return own if place is None else (*own, place)


def _within(rule: Rule, stamp: str) -> bool:
    return rule.after <= stamp < rule.before
