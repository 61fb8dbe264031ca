"""Floor 9: transcripts for the benchmark, made up but shaped like real ones, the same in every run.

`Corpus.write` makes one Pi session file (format 3) from its number alone: Zipf-distributed words from a vocabulary of
50,000, and the identifiers, paths, error codes and hashes of the project that the session belongs to. Five eighths of
the entries stand on the active branch, the others on forks of it; a compaction near the end hides most of the branch.
Nothing here knows the product: the branch is told as ordinals of lines, so that it can also be compared with what the
product derives.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from random import Random
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

import msgspec

from aforesaid.cli.bench import words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aforesaid.model import Span

SESSION_ENTRIES: Final = 8_000
"""Entries of a session; a smaller corpus is one smaller session."""
SMALLEST: Final = 40
"""A session with fewer entries has no room for forks and a compaction."""
VOCABULARY: Final = 50_000
PROJECTS: Final = 12
_SEED: Final = 20_261_130
_TABLE: Final = 1 << 20
"""Slots of a table in which each word takes as many as its frequency is worth: drawing is then one index."""
_TAILS: Final = 1_000_000
"""Numbers from here on are additions to sessions, not sessions."""
_BRANCH_SHARE: Final = 5 / 8
_ENTRIES_A_FORK: Final = 320
_FIRST_DAY: Final = datetime(2026, 1, 5, 8, tzinfo=UTC)

Speech = Literal["user", "call", "result", "answer"]
_MEAN_WORDS: Final[dict[Speech, int]] = {"user": 43, "call": 35, "result": 170, "answer": 121}
_ITEMS: Final[dict[Speech, int]] = {"user": 1, "call": 1, "result": 4, "answer": 3}
_EAST_ASIAN, _EUROPEAN, _ITALIAN = 0.03, 0.05, 0.16
"""Up to which of the numbers from 0 to 1 a message is in these languages; the rest is English."""
_HASH, _NUMBER, _PHRASE = 0.12, 0.2, 0.21
"""Likewise for what may stand in a message besides words and names."""
_MARK: Final = 0.3
"""Share of the answers that hold a character beyond ASCII."""
_SPREAD: Final = 0.8
"""Sigma of the lognormal distribution of message lengths."""


class Project(msgspec.Struct, frozen=True, kw_only=True):
    """The names that only one project's sessions use; the first ones are used most."""

    cwd: str
    symbols: tuple[str, ...]
    paths: tuple[str, ...]
    errors: tuple[str, ...]


class Transcript(msgspec.Struct, frozen=True, kw_only=True):
    """A session file and what is known of it without reading it.

    Attributes:
        file: its absolute path.
        entries: its lines without the header.
        text_bytes: of the message texts in UTF-8, arguments of calls included.
        branch: the active branch as spans of ordinals (0 is the line after the header), root first.
        eligible: those of them that the compaction hid.
        leaf: id of the last entry.
        project: whose names stand in it.
    """

    file: str
    entries: int
    text_bytes: int
    branch: tuple[Span, ...]
    eligible: tuple[Span, ...]
    leaf: str
    project: Project


class _Place(NamedTuple):
    """Where an entry hangs: ordinal of its parent, and whether the turn before it ended there."""

    parent: int | None
    opens: bool


class _Shape(NamedTuple):
    places: list[_Place]
    main: list[int]


class Corpus:
    """Makes session files. Building the vocabulary takes about a second; keep one corpus for all sessions."""

    def __init__(self) -> None:
        """Builds the vocabulary and the projects' names."""
        random = Random(_SEED)  # noqa: S311 - a corpus has to be repeatable, not secret
        taken = {*words.ENGLISH_FUNCTION, *words.ENGLISH_TOPICS, *words.ITALIAN_FUNCTION, *words.ITALIAN_TOPICS}
        rare = _invent(random, VOCABULARY - len(taken), taken)
        self._english = _zipf_table((*words.ENGLISH_FUNCTION, *words.ENGLISH_TOPICS, *rare))
        self._italian = _zipf_table((*words.ITALIAN_FUNCTION, *words.ITALIAN_TOPICS, *rare))
        self._rare = rare
        self.projects = tuple(self._project(Random(_SEED + 1 + number), number) for number in range(PROJECTS))  # noqa: S311

    def write(self, folder: str, number: int, entries: int) -> Transcript:
        """Makes the session with this number, of at least `SMALLEST` entries; a file of that name is replaced."""
        project = self.projects[number % PROJECTS]
        speaker = _Speaker(self, number, project)
        session_id = f"{number:08x}-be4c-7000-8000-{speaker.random.getrandbits(48):012x}"
        file = os.path.join(os.path.abspath(folder), f"2026-01-05T08-00-00-000Z_{session_id}.jsonl")
        shape = _grow(speaker.random, entries)
        encode = msgspec.json.Encoder().encode
        compaction = _compaction_place(len(shape.main))
        kept_from = max(1, compaction - max(1, entries // 80))
        special = {shape.main[compaction]: shape.main[kept_from]}
        with open(file, "wb") as target:
            target.write(encode(_header(session_id, project.cwd)) + b"\n")
            target.writelines(encode(line) + b"\n" for line in _lines(speaker, shape.places, special))
        return Transcript(
            file=file,
            entries=entries,
            text_bytes=speaker.text_bytes,
            branch=_spans(shape.main),
            eligible=_spans(shape.main[:kept_from]),
            leaf=_id(number, entries - 1),
            project=project,
        )

    def tail(self, transcript: Transcript, number: int, count: int) -> bytes:
        """The lines of the `number`-th addition of `count` entries to a transcript, each hanging on the one before."""
        speaker = _Speaker(self, _TAILS + number, transcript.project)
        parent = _id(speaker.number - 1, count - 1) if number else transcript.leaf
        places = [_Place(index - 1 if index else None, index == 0) for index in range(count)]
        encode = msgspec.json.Encoder().encode
        lines = []
        for line in _lines(speaker, places, {}, opening=False):
            line["parentId"] = line["parentId"] or parent
            lines.append(encode(line) + b"\n")
        return b"".join(lines)

    def table(self, language: Literal["english", "italian"]) -> list[str]:
        """Words of a language, each as often as it is frequent."""
        return self._english if language == "english" else self._italian

    def _project(self, random: Random, number: int) -> Project:
        def pick() -> str:
            return random.choice(self._rare)

        camel = [pick() + pick().title() + pick().title() for _ in range(120)]
        snake = [f"{pick()}_{pick()}_{pick()}" for _ in range(80)]
        symbols = [name for pair in zip(camel, snake, strict=False) for name in pair] + camel[80:]
        kinds = ("py", "ts", "go", "rs", "sql", "yaml")
        paths = [f"src/{pick()}/{pick()}_{pick()}.{random.choice(kinds)}" for _ in range(100)]
        errors = [f"E{random.randrange(1000, 10000)}" for _ in range(20)]
        errors += [f"ERR_{pick().upper()}_{pick().upper()}" for _ in range(20)]
        return Project(
            cwd=f"/home/dev/project-{number}", symbols=tuple(symbols), paths=tuple(paths), errors=tuple(errors)
        )


class _Speaker:
    """Says what stands in the messages of one session."""

    def __init__(self, corpus: Corpus, number: int, project: Project) -> None:
        self.number = number
        self.random = Random(_SEED * 31 + number)  # noqa: S311
        self.text_bytes = 0
        self._english = _Stream(self.random, corpus.table("english"))
        self._italian = _Stream(self.random, corpus.table("italian"))
        names = (*project.symbols, *project.paths, *project.errors)
        self._names = _zipf_table(_shuffled(self.random, names), slots=1 << 14)
        self._paths = _zipf_table(project.paths, slots=1 << 12)

    def say(self, speech: Speech) -> str:
        """A message text."""
        random = self.random
        language = random.random()
        if language < _EAST_ASIAN:
            text = "".join(random.choices(words.EAST_ASIAN, k=random.randrange(3, 24)))
        elif language < _EUROPEAN:
            text = " ".join(random.choices(words.EUROPEAN, k=random.randrange(2, 16)))
        else:
            stream = self._italian if language < _ITALIAN else self._english
            text = self._words(speech, stream)
        self.text_bytes += len(text.encode())
        return text

    def arguments(self) -> dict[str, str]:
        """Arguments of a call to the tool `read`."""
        path = self.random.choice(self._paths)
        self.text_bytes += len(path)
        return {"path": path}

    def _words(self, speech: Speech, stream: _Stream) -> str:
        random = self.random
        count = max(3, int(_MEAN_WORDS[speech] * random.lognormvariate(-_SPREAD * _SPREAD / 2, _SPREAD)))
        said = stream.take(count)
        for _ in range(_ITEMS[speech]):
            said[random.randrange(count)] = random.choice(self._names)
        chance = random.random()
        if chance < _HASH:
            said[random.randrange(count)] = f"{random.getrandbits(160):040x}"[: random.choice((7, 12, 40))]
        elif chance < _NUMBER:
            said[random.randrange(count)] = str(random.randrange(1024, 65536))
        elif chance < _PHRASE:
            said[random.randrange(count)] = random.choice(words.PHRASES)
        if speech == "answer" and random.random() < _MARK:
            said[random.randrange(count)] = random.choice(words.MARKS)
        return " ".join(said)


class _Stream:
    """An endless text, drawn in large blocks, with the punctuation already set."""

    _BLOCK: Final = 60_000

    def __init__(self, random: Random, table: list[str]) -> None:
        self._random = random
        self._table = table
        self._block: list[str] = []
        self._used = 0

    def take(self, count: int) -> list[str]:
        """The next words."""
        if self._used + count > len(self._block):
            block = self._random.choices(self._table, k=max(self._BLOCK, count))
            block[11::13] = [f"{word}." for word in block[11::13]]
            block[6::13] = [f"{word}," for word in block[6::13]]
            block[40::41] = [f"{word}\n" for word in block[40::41]]
            self._block, self._used = block, 0
        taken = self._block[self._used : self._used + count]
        self._used += count
        return taken


def _invent(random: Random, count: int, taken: set[str]) -> tuple[str, ...]:
    """Pronounceable words that are not in `taken`; the first ones are short."""
    syllables = [c + v for c in ("b", "c", "d", "f", "g", "l", "m", "n", "p", "r", "s", "t", "v", "z") for v in "aeiou"]
    syllables += [s + c for s in syllables for c in "nrlst"]
    found: dict[str, None] = {}
    while len(found) < count:
        length = 2 if len(found) < count // 8 else 3
        word = "".join(random.choices(syllables, k=length))
        if word not in taken:
            found[word] = None
    return tuple(found)


def _zipf_table(ranked: Sequence[str], slots: int = _TABLE) -> list[str]:
    """A table in which the word of rank r takes a share of 1/r; every word takes at least one slot."""
    heights = list(accumulate(1 / rank for rank in range(1, len(ranked) + 1)))
    step = heights[-1] / slots
    table: list[str] = []
    for word, height in zip(ranked, heights, strict=True):
        table += [word] * max(1, round(height / step) - len(table))
    return table


def _shuffled(random: Random, names: Sequence[str]) -> list[str]:
    return random.sample(names, k=len(names))


def _grow(random: Random, entries: int) -> _Shape:
    """The tree of a session: a trunk from which side branches start, each written before the trunk goes on."""
    trunk = round(entries * _BRANCH_SHARE)
    aside = entries - trunk
    forks = max(1, entries // _ENTRIES_A_FORK)
    cuts = sorted(random.sample(range(1, aside), forks - 1))
    lengths = [end - start for start, end in zip([0, *cuts], [*cuts, aside], strict=True)]
    starts = sorted(random.choices(range(1, _compaction_place(trunk) - 1), k=forks))
    places: list[_Place] = []
    main: list[int] = []
    for start, length in [*zip(starts, lengths, strict=True), (trunk - 1, 0)]:
        opens = True
        while len(main) <= start:
            places.append(_Place(main[-1] if main else None, opens))
            main.append(len(places) - 1)
            opens = False
        tip = main[-1]
        for step in range(length):
            places.append(_Place(tip if step == 0 else len(places) - 1, step == 0))
    return _Shape(places, main)


def _compaction_place(trunk: int) -> int:
    """Where on the trunk the compaction stands: almost at its end."""
    return trunk - 1 - max(1, trunk // 125)


def _spans(ordinals: Sequence[int]) -> tuple[Span, ...]:
    spans: list[Span] = []
    for ordinal in ordinals:
        if spans and spans[-1][1] + 1 == ordinal:
            spans[-1] = (spans[-1][0], ordinal)
        else:
            spans.append((ordinal, ordinal))
    return tuple(spans)


def _lines(
    speaker: _Speaker, places: Sequence[_Place], compactions: dict[int, int], *, opening: bool = True
) -> Iterator[dict[str, Any]]:
    """The lines of a session without its header, as objects."""
    turn = _turns(speaker.random)
    call = ""
    for ordinal, place in enumerate(places):
        parent = None if place.parent is None else _id(speaker.number, place.parent)
        line: dict[str, Any] = {"type": "message", "id": _id(speaker.number, ordinal), "parentId": parent}
        moment = _FIRST_DAY + timedelta(hours=7 * (speaker.number % 5_000), seconds=19 * ordinal)
        line["timestamp"] = _stamp(moment)
        if opening and ordinal == 0:
            line |= {"type": "model_change", "provider": "fake", "modelId": "fake-1"}
        elif ordinal in compactions:
            line |= {"type": "compaction", "summary": speaker.say("answer"), "tokensBefore": 180_000}
            line["firstKeptEntryId"] = _id(speaker.number, compactions[ordinal])
        else:
            if place.opens:
                turn = _turns(speaker.random)
            speech = next(turn)
            if speech == "call":
                call = f"call_{speaker.number:x}_{ordinal:x}"
            line["message"] = _message(speaker, speech, call, int(moment.timestamp() * 1000))
        yield line


def _turns(random: Random) -> Iterator[Speech]:
    """Who speaks, without end: a request, some calls with their results, the answer, the next request."""
    while True:
        yield "user"
        for _ in range(random.choice((0, 1, 2, 2, 3, 4))):
            yield "call"
            yield "result"
        yield "answer"


def _message(speaker: _Speaker, speech: Speech, call: str, moment: int) -> dict[str, Any]:
    text = {"type": "text", "text": speaker.say(speech)}
    if speech == "user":
        return {"role": "user", "content": [text], "timestamp": moment}
    if speech == "result":
        about = {"role": "toolResult", "toolCallId": call, "toolName": "read", "isError": False}
        return about | {"content": [text], "timestamp": moment}
    content: list[dict[str, Any]] = [text]
    if speech == "call":
        content.append({"type": "toolCall", "id": call, "name": "read", "arguments": speaker.arguments()})
    usage = {"input": 1200, "output": 310, "cacheRead": 48_000, "cacheWrite": 900, "totalTokens": 50_410}
    about = {"role": "assistant", "content": content, "api": "fake", "provider": "fake", "model": "fake-1"}
    return about | {"usage": usage, "stopReason": "toolUse" if speech == "call" else "stop", "timestamp": moment}


def _header(session_id: str, cwd: str) -> dict[str, Any]:
    return {"type": "session", "version": 3, "id": session_id, "timestamp": _stamp(_FIRST_DAY), "cwd": cwd}


def _id(number: int, ordinal: int) -> str:
    """The id of an entry: eight hexadecimal digits as Pi writes them, spread by an odd factor, unique in a session.

    Those of the first half a million sessions of up to 8,000 entries differ from each other, too: sessions that begin
    with the same entry would be taken for forks.
    """
    return f"{((number << 13) + ordinal) * 2_654_435_761 & 0xFFFFFFFF:08x}"


def _stamp(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def plan(entries: int) -> tuple[int, ...]:
    """How many entries each session of a corpus has."""
    full, rest = divmod(entries, SESSION_ENTRIES)
    return (SESSION_ENTRIES,) * full + ((rest,) if rest else ())
