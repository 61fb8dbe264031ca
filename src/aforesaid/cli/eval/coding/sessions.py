"""Floor 9: coding sessions put together out of stories: episodes, filler, compactions, abandoned branches.

Every episode stands before the last compaction, so the model sees none of it any more. An episode that is marked as an
aside hangs on a branch that was given up. `read` gives the set; `transcripts` writes it.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from aforesaid.cli.eval.coding.filler import Filler, Words
from aforesaid.cli.eval.questions import Conversation, EvalSet, Question, Said, Turn, called

if TYPE_CHECKING:
    from collections.abc import Sequence

STORIES: Final = ("ledger", "atlas", "ferry", "cluster", "magazzino", "ambulatorio")
LOOKED_UP: Final = frozenset({"identifier", "path", "error", "number", "command"})
"""Kinds of requests that name an item: every turn of an episode that holds it is evidence."""
SILENT: Final = frozenset({"silence", "elsewhere", "no-answer"})
"""Kinds of requests that nothing answers."""

_FIRST: Final = datetime(2026, 2, 16, 8, tzinfo=UTC)
_SEED: Final = 20_261_130
_TASKS: Final = 7
"""Tasks of filler before each episode, and after the last one."""
_EVERY: Final = 2
"""Episodes between two compactions."""
_KEPT: Final = 5
"""Turns that a compaction leaves visible."""
_ARGUMENTS: Final = {"bash": ("command",), "read": ("path",), "edit": ("path", "newText")}


class Episode(Struct, frozen=True, kw_only=True):
    """A piece of a story: what was said, and the requests about it as they stand in the file."""

    name: str
    aside: bool
    said: tuple[Said, ...]
    asks: tuple[tuple[str, str, str | tuple[int | str, ...]], ...]


def read() -> EvalSet:
    """The set: a conversation for each story."""
    conversations: list[Conversation] = []
    questions: list[Question] = []
    for number, name in enumerate(STORIES):
        episodes, words = _story(name)
        conversation, ids = _session(name, episodes, Filler(words, _SEED + number))
        conversations.append(conversation)
        questions += _questions(name, episodes, ids)
    return EvalSet(name="coding", data="", conversations=tuple(conversations), questions=tuple(questions))


def _story(name: str) -> tuple[list[Episode], Words]:
    import tomllib  # late: only this set is written so

    with open(os.path.join(os.path.dirname(__file__), "stories", f"{name}.toml"), "rb") as file:
        story = tomllib.load(file)
    words = Words(
        language=story["language"],
        files=tuple(story["files"]),
        symbols=tuple(story["symbols"]),
        nouns=tuple(story["nouns"]),
    )
    return [_episode(one) for one in story["episode"]], words


def _episode(written: dict[str, Any]) -> Episode:
    said = tuple(_said(*turn) for turn in written["turns"])
    asks = tuple((kind, text, tuple(by) if isinstance(by, list) else by) for kind, text, by in written["asks"])
    return Episode(name=written["name"], aside=written.get("aside", False), said=said, asks=asks)


def _said(who: str, *texts: str) -> Said:
    if who in _ARGUMENTS:
        return called(who, **dict(zip(_ARGUMENTS[who], texts, strict=True)))
    (text,) = texts
    return Said(role="tool_result" if who == "result" else "user" if who == "user" else "assistant", text=text.strip())


class _Line:
    """A session file that grows: each turn hangs on the one before, unless it says otherwise."""

    def __init__(self, number: int) -> None:
        self.turns: list[Turn] = []
        self._number = number
        self._main: list[str] = []

    def add(self, said: Sequence[Said], *, aside: bool = False) -> list[str]:
        """Appends turns; those of an aside are followed by none. Returns their ids."""
        parent = self._main[-1] if self._main else None
        ids: list[str] = []
        for one in said:
            ids.append(f"{self._number:02x}{len(self.turns):06x}")
            self.turns.append(Turn.of(one, id=ids[-1], parent=parent, timestamp=_moment(len(self.turns))))
            parent = ids[-1]
        if not aside:
            self._main += ids
        return ids

    def compact(self, summary: str) -> None:
        """Removes all but the last turns from what the model sees."""
        self.add([Said(role="summary", text=summary, kept_from=self._main[-_KEPT])])


def _moment(place: int) -> str:
    """Three minutes after the turn before."""
    return (_FIRST + timedelta(minutes=3 * place)).strftime("%Y-%m-%dT%H:%M:00.000Z")


def _session(name: str, episodes: Sequence[Episode], filler: Filler) -> tuple[Conversation, dict[str, list[str]]]:
    """The conversation, and the ids of each episode's turns."""
    line, ids = _Line(STORIES.index(name)), dict[str, list[str]]()
    since: list[str] = []
    for episode in episodes:
        for _ in range(_TASKS):
            line.add(filler.task())
        ids[episode.name] = line.add(episode.said, aside=episode.aside)
        if not episode.aside and episode.said:
            since.append(episode.name)
        if len(since) == _EVERY:
            line.add(filler.task())
            line.compact(filler.summary(since))
            since = []
    line.compact(filler.summary(since))
    for _ in range(2):
        line.add(filler.task())
    return Conversation(name=name, turns=tuple(line.turns), compacted=True), ids


def _questions(name: str, episodes: Sequence[Episode], ids: dict[str, list[str]]) -> list[Question]:
    said = {
        id_: one.text
        for episode in episodes
        if not episode.aside
        for id_, one in zip(ids[episode.name], episode.said, strict=True)
    }
    return [
        Question(
            conversation=name,
            text=text,
            kind=kind,
            evidence=holding(said, by, follow=kind == "command")
            if isinstance(by, str)
            else tuple(_named(one, episode.name, ids) for one in by),
        )
        for episode in episodes
        for kind, text, by in episode.asks
    ]


def _named(one: int | str, episode: str, ids: dict[str, list[str]]) -> str:
    """The id of a turn by its place in this episode, or in another one (`name.2`)."""
    if isinstance(one, int):
        return ids[episode][one]
    other, _, place = one.rpartition(".")
    return ids[other][int(place)]


def holding(said: dict[str, str], item: str, *, follow: bool = False) -> tuple[str, ...]:
    """The turns whose text holds an item as a whole, with the turns after them if what a command gave counts too."""
    listed = list(said)
    found = [place for place, id_ in enumerate(listed) if _holds(said[id_], item)]
    if follow:
        found += [place + 1 for place in found]
    return tuple(listed[place] for place in sorted(set(found)))


def _holds(text: str, item: str) -> bool:
    start = text.find(item)
    while start >= 0:
        end = start + len(item)
        if not _joins(text[start - 1 : start], item[0]) and not _joins(item[-1], text[end : end + 1]):
            return True
        start = text.find(item, start + 1)
    return False


def _joins(left: str, right: str) -> bool:
    return bool(left and right) and (left == "_" or left.isalnum()) and (right == "_" or right.isalnum())
