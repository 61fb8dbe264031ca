"""Which sessions a search of many has to open, as far as the index of words knows them.

`store` asks here for `learn_words` and `may_hold`. Comparing thousands of sessions with the index takes milliseconds,
so what came of it is kept while neither the list of sessions, nor the index, nor the catalogue changes.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from aforesaid.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from aforesaid.inquiry import Alternatives, Clue
    from aforesaid.model import Session
    from aforesaid.storage.sqlite.words import State, WordIndex

    States = Mapping[str, tuple[bytes, int]]


_PICKS = 16
"""Questions whose sessions are remembered while nothing changes; thousands for a common word."""


class Standing(NamedTuple):
    """How the index stands to a list of sessions.

    Attributes:
        sessions, known, states: what was compared; each the same object as long as it does not change.
        unknown: sessions that the index does not know as they are now.
        open: keys of sessions that may hold anything.
        keys: keys of the others, by their numbers.
    """

    sessions: Sequence[Session]
    known: Mapping[str, State]
    states: States
    unknown: tuple[Session, ...]
    open: frozenset[str]
    keys: dict[int, str]


class Picker:
    """Asks the index of words about sessions."""

    def __init__(self, path: str, words: Callable[[], WordIndex], states: Callable[[], States]) -> None:
        """Takes what it asks.

        Args:
            path: file of the index.
            words: gives the index.
            states: gives incarnation and generation of each session, by key, as the catalogue knows them.
        """
        self._path = path
        self._words = words
        self._states = states
        self._standing: Standing | None = None
        self._fits: dict[Clue, tuple[str, ...] | None] = {}
        self._picked: dict[Alternatives, tuple[Standing, frozenset[int], frozenset[str]]] = {}

    def compare(self, sessions: Sequence[Session]) -> Standing:
        """How the index stands to a list of sessions."""
        known, states, last = self._words().known(), self._states(), self._standing
        if last is not None and last.sessions is sessions and last.known is known and last.states is states:
            return last
        unknown: list[Session] = []
        everything: list[str] = []
        keys: dict[int, str] = {}
        for session in sessions:
            key = session.key
            state = known.get(key)
            now = session.generation
            if state is None or state.generation != now or states.get(key) != (state.incarnation, now):
                unknown.append(session)
            elif state.long:
                everything.append(key)
            else:
                keys[state.number] = key
        self._fits = {}
        opened = frozenset([*everything, *(session.key for session in unknown)])
        self._standing = Standing(sessions, known, states, tuple(unknown), opened, keys)
        return self._standing

    def pick(self, sessions: Sequence[Session], alternatives: Alternatives) -> frozenset[str]:
        """The keys of those sessions that may hold a text with one of the alternatives."""
        if os.path.exists(self._path):
            # First what is known: a session that changes meanwhile is opened as it is then.
            standing = self.compare(sessions)
            numbers = self._words().find(alternatives)
            if numbers is not None:
                last = self._picked.pop(alternatives, None)
                if last is None or last[0] is not standing or last[1] is not numbers:
                    keys = standing.keys
                    found = standing.open.union([keys[number] for number in numbers if number in keys])
                    last = standing, numbers, found
                while len(self._picked) >= _PICKS:
                    del self._picked[next(iter(self._picked))]
                self._picked[alternatives] = last
                return last[2]
        return frozenset([session.key for session in sessions])

    def hint(self, key: str, incarnation: bytes, generation: int) -> Hint | None:
        """What the index knows of a session; None if it does not know it as it is."""
        try:
            state = None if self._standing is None else self._standing.known.get(key)
            if state is None and os.path.exists(self._path):
                state = self._words().known().get(key)
        except StoreError:
            return None  # only a help
        if state is None or state.long or (state.incarnation, state.generation) != (incarnation, generation):
            return None
        return Hint(self, key, state)

    def fitting(self, key: str, state: State, clue: Clue) -> tuple[str, ...] | None:
        """The words that a clue may stand for in a session; None if there are too many, or nobody knows.

        What was found while the index stood as it was compared holds for every session that it knew then.
        """
        standing = self._standing
        compared = standing is not None and standing.known.get(key) is state
        if compared and clue in self._fits:
            return self._fits[clue]
        try:
            found = self._words().fitting(key, state.incarnation, state.generation, clue)
            if compared and standing is not None and self._words().known() is standing.known:
                self._fits[clue] = found
        except StoreError:
            return None  # only a help
        return found


class Hint(NamedTuple):
    """What the index of words knows of one session as it is."""

    picker: Picker
    key: str
    state: State

    def fed(self, *, derived: bool) -> bool:
        """Whether each of its texts is known to be in its full-text index.

        Args:
            derived: those too that a model wrote about others.
        """
        return self.state.fed if derived else self.state.said

    def fitting(self, clue: Clue) -> tuple[str, ...] | None:
        """The words that a clue may stand for; None if there are too many, or nobody knows."""
        return self.picker.fitting(self.key, self.state, clue)
