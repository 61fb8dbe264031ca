"""Which words stand in which session, so that a search of all opens only those that may hold what it looks for.

`store` keeps it in a file of its own, `FOLDER/words.db`: a cache, derived from the full-text tables of the sessions
when it is needed, and behind where a session has changed since; a session that it does not know as it is now may hold
anything. Nothing is ever taken out of the file: whoever forgets something discards it as a whole, and it is derived
again. So its list of words only grows, and a process that has read it reads on where it was.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from aforesaid.errors import StoreCorrupt
from aforesaid.storage.sqlite import migrations
from aforesaid.storage.sqlite.annex import Annex
from aforesaid.storage.sqlite.connection import folder_lock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Any, TypeVar

    import apsw

    from aforesaid.inquiry import Alternatives, Clue

    Result = TypeVar("Result")

MOST_WORDS = 400
"""Words that a clue may stand for; one that stands for more says too little to be worth asking."""
SHORTEST = 3
"""ASCII characters of the beginning of a word that is worth asking for."""
ENOUGH = 16
"""Sessions that are rather opened than ruled out by looking through the list of words."""
LONG = 20_000
"""Bytes of a word from which on a session counts as one that may hold anything: SQLite cuts very long tokens."""
LISTED = 64_000_000
"""Bytes of the list of words that are held in memory at most; a longer one is read from the file each time."""
_LONG_WORD, _FED, _SAID = 1, 2, 4
"""Bits of the column `long`."""
SOME, ALL, SAID = 0, 1, 2
"""Which texts of a session are in its full-text index: some, all, or all but those that a model wrote about others."""
_REMEMBERED = 1_000_000
"""Words that a process knows to be in the list."""
_BLOCKS = 64
"""Pieces of the list that are held before they are joined."""
_ANSWERS = 64
"""Questions that are remembered until the file changes, and clues until it is discarded."""

_KNOWN = "SELECT key, incarnation, generation, number, long FROM known"
_NUMBER = "SELECT number FROM known WHERE key = ?"
_FORGET = "DELETE FROM held WHERE rowid = ?"
_PUT = "INSERT OR REPLACE INTO known(number, key, incarnation, generation, long) VALUES (?, ?, ?, ?, ?)"
_HOLD = "INSERT INTO held(rowid, words) VALUES (?, ?)"
_IS_HELD = "SELECT 1 FROM held WHERE held MATCH ? LIMIT 1"
_LIST = "INSERT INTO chunk(words) VALUES (?)"
_CHUNKS = "SELECT number, words FROM chunk WHERE number > ? ORDER BY number"
_MATCH = "SELECT rowid FROM held WHERE held MATCH ?"
_EPOCH = "SELECT value FROM epoch"
_VERSION = "PRAGMA data_version"


class State(Struct, frozen=True, kw_only=True):
    """A session as the index knows it.

    Attributes:
        incarnation, generation: what it was then.
        number: of its row.
        long: whether it may hold any word.
        fed: whether each of its texts is in its full-text index.
        said: whether each is that no model wrote about others (`inquiry.DERIVED`).
    """

    incarnation: bytes
    generation: int
    number: int
    long: bool
    fed: bool
    said: bool


class WordIndex:
    """The words of one store; opened on first use."""

    def __init__(self, path: str, lock: str, *, writable: bool, timeout_ms: int) -> None:
        self._annex = Annex(path, lock, migrations.WORDS, writable=writable, timeout_ms=timeout_ms)
        self._lock = lock
        self._timeout_ms = timeout_ms
        self._forget()

    def _forget(self) -> None:
        """Forgets what was read: the file is another one."""
        self._epoch: object = None
        self._version: tuple[object, ...] | None = None
        self._states: dict[str, State] | None = None
        self._answers: dict[tuple[Clue, ...], frozenset[int] | None] = {}
        self._seen: set[str] = set()
        self._blocks: list[bytes] = []
        self._size = 0
        self._read_to = 0
        self._fits: dict[Clue, tuple[int, tuple[str, ...] | None]] = {}

    def known(self) -> Mapping[str, State]:
        """The sessions that it knows, by key, as they were then; the same object while nothing changes."""
        return self._read(self._known) or {}

    def learn(self, key: str, read: Callable[[], tuple[bytes, int, Iterable[str] | None, int]]) -> None:
        """Takes over the words of a session.

        Args:
            key: the session.
            read: gives its incarnation, generation and words (None: they are not known), and which of its texts are in
                its full-text index (`SOME`, `ALL` or `SAID`); called while nothing can be discarded, so that what is
                forgotten meanwhile cannot come back.
        """
        if not self._annex.writable:
            return
        with folder_lock(self._lock, exclusive=False, timeout_ms=self._timeout_ms):
            incarnation, generation, found, fed = read()
            words = list(found or ())
            # A character has at most four bytes.
            long = found is None or max(map(len, words), default=0) >= LONG // 4
            flags = _LONG_WORD * long | _FED * (fed == ALL) | _SAID * (fed != SOME)

            def write(connection: apsw.Connection) -> None:
                self._turn(connection)
                new = sorted([word for word in words if word not in self._seen and _is_new(connection, word)])
                row = connection.execute(_NUMBER, (key,)).fetchone()
                if row is not None:
                    connection.execute(_FORGET, row)
                number = row[0] if row is not None else None
                connection.execute(_PUT, (number, key, incarnation, generation, flags))
                number = connection.last_insert_rowid() if number is None else number
                connection.execute(_HOLD, (number, " ".join(words)))
                if new:
                    connection.execute(_LIST, ("\n".join(new).encode(),))

            try:
                self._annex.write(write, mending=False)
                damaged = False
            except StoreCorrupt:
                damaged = True
        if damaged:
            self.discard()
            return
        if len(self._seen) > _REMEMBERED:
            self._seen.clear()
        self._seen.update(words)

    def find(self, alternatives: Alternatives) -> frozenset[int] | None:
        """Numbers of the sessions whose words allow for one of the alternatives; None if that says nothing.

        Of a single alternative it is the same object while nothing changes.
        """

        def read(connection: apsw.Connection) -> frozenset[int] | None:
            found: list[frozenset[int]] = []
            for clues in alternatives:
                if clues not in self._answers:
                    _make_room(self._answers)
                    self._answers[clues] = self._find(connection, clues)
                numbers = self._answers[clues]
                if numbers is None:
                    return None
                found.append(numbers)
            return found[0] if len(found) == 1 else frozenset().union(*found)

        return self._read(read)

    def fitting(self, key: str, incarnation: bytes, generation: int, clue: Clue) -> tuple[str, ...] | None:
        """The words that a clue may stand for in a session; None if there are too many, or it is not known as it is."""

        def read(connection: apsw.Connection) -> tuple[str, ...] | None:
            state = self._known(connection).get(key)
            if state is None or state.long or (state.incarnation, state.generation) != (incarnation, generation):
                return None
            return self._fitting(connection, clue)

        return self._read(read)

    # --- reading ----------------------------------------------------------------------------------------------------

    def _read(self, work: Callable[[apsw.Connection], Result]) -> Result | None:
        """Asks one moment of the file, and what is remembered of it."""

        def read(connection: apsw.Connection) -> Result:
            self._turn(connection)
            return work(connection)

        return self._annex.read(read)

    def _turn(self, connection: apsw.Connection) -> None:
        """Forgets what does not hold any more in the current transaction."""
        epoch = connection.execute(_EPOCH).get
        version = (connection.execute(_VERSION).get, connection.total_changes())
        if epoch != self._epoch:
            self._forget()
            self._epoch = epoch
        if version != self._version:
            self._version, self._states = version, None
            self._answers.clear()

    def _known(self, connection: apsw.Connection) -> dict[str, State]:
        if self._states is None:
            rows: list[Any] = connection.execute(_KNOWN).fetchall()
            self._states = {
                key: State(
                    incarnation=incarnation,
                    generation=generation,
                    number=number,
                    long=bool(long & _LONG_WORD),
                    fed=bool(long & _FED),
                    said=bool(long & (_FED | _SAID)),
                )
                for key, incarnation, generation, number, long in rows
            }
        return self._states

    def _find(self, connection: apsw.Connection, clues: Sequence[Clue]) -> frozenset[int] | None:
        """Numbers of the sessions that have a word for each clue; None if no clue says anything."""
        groups = [group for clue in clues if (group := _ask_for(clue)) is not None]
        found = _match(connection, groups) if groups else None
        if found is not None and len(found) <= ENOUGH:
            return found
        before = len(groups)
        for clue in clues:
            if clue.kind in {"ends", "holds"}:
                words = self._fitting(connection, clue)
                if words == ():
                    return frozenset()
                if words is not None:
                    groups.append("({})".format(" OR ".join([f'"{word}"' for word in words])))
        return _match(connection, groups) if len(groups) > before else found

    def _fitting(self, connection: apsw.Connection, clue: Clue) -> tuple[str, ...] | None:
        """The words that end with a clue's, or hold it; None if there are too many."""
        blocks = self._list(connection)
        done, found = self._fits.pop(clue, (0, ()))
        part = part_of(clue)
        for block in blocks[done:] if blocks is not None else _pieces(connection):
            if found is not None:
                new = look_through(block, part, MOST_WORDS - len(found))
                found = None if new is None else (*found, *new)
        _make_room(self._fits)
        self._fits[clue] = len(self._blocks), found
        return None if found is None else tuple(dict.fromkeys(found))

    def _list(self, connection: apsw.Connection) -> list[bytes] | None:
        """All words, a line each, in blocks; None if they are too many to be held."""
        if self._size > LISTED:
            return None
        rows: list[Any] = connection.execute(_CHUNKS, (self._read_to,)).fetchall()
        if rows:
            self._read_to = rows[-1][0]
            self._blocks.append(b"\n".join([b"", *[words for _, words in rows], b""]))
            self._size += len(self._blocks[-1])
        if self._size > LISTED:
            self._blocks.clear()
            self._fits.clear()
            return None
        if len(self._blocks) > _BLOCKS:
            whole = len(self._blocks)
            self._blocks = [b"".join(self._blocks)]
            self._fits = {clue: (1, found) for clue, (done, found) in self._fits.items() if done == whole}
        return self._blocks

    # --- the file ---------------------------------------------------------------------------------------------------

    def discard(self) -> None:
        """Removes the file: what it was derived from has been forgotten, or holds other words now."""
        self._forget()
        self._annex.discard()

    def close(self) -> None:
        """Gives the file back."""
        self._forget()
        self._annex.close()


def _make_room(answers: dict[Any, Any]) -> None:
    """Drops the oldest of what is remembered."""
    if len(answers) >= _ANSWERS:
        del answers[next(iter(answers))]


def _is_new(connection: apsw.Connection, word: str) -> bool:
    """Whether no session has a word yet; one that no session has any more may be listed twice."""
    return connection.execute(_IS_HELD, (f'"{word}"',)).fetchone() is None


def _match(connection: apsw.Connection, groups: Sequence[str]) -> frozenset[int]:
    rows: list[Any] = connection.execute(_MATCH, (" AND ".join(groups),)).fetchall()
    return frozenset([number for (number,) in rows])


def _ask_for(clue: Clue) -> str | None:
    """What the full-text table is asked for without looking through the list, in its syntax; None if that is nothing.

    A short beginning stands for so many words that looking for all of them takes long.
    """
    if clue.kind == "is":
        return f'"{clue.token}"'
    if clue.kind == "begins" and (len(clue.token) >= SHORTEST or not clue.token.isascii()):
        return f'"{clue.token}"*'
    return None


def _pieces(connection: apsw.Connection) -> Iterator[bytes]:
    """The list of words as it stands in the file."""
    for _, words in connection.execute(_CHUNKS, (0,)):
        yield b"\n%b\n" % words


def part_of(clue: Clue) -> bytes:
    """What is looked for in a list of words, a line each, to find those that end with a clue's or hold it."""
    return clue.token.encode() + (b"\n" if clue.kind == "ends" else b"")


def look_through(block: bytes, part: bytes, most: int) -> list[str] | None:
    """The words in a block that hold a part, or end with it and its line; None if there are more than the most."""
    found: list[str] = []
    place = block.find(part)
    while place >= 0:
        if len(found) == most:
            return None
        end = block.index(b"\n", place)
        found.append(block[block.rindex(b"\n", 0, place) + 1 : end].decode())
        place = block.find(part, end)
    return found
