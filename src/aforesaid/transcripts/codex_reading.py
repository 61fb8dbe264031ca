"""Floor 6: one pass over a rollout of Codex.

`codex` begins a pass. A rollout is a line of items; entries are those of the model's history (`response_item`), the
compactions, and the places where turns were taken back. Events repeat items and are none. The history of a fork may
stand in another rollout, which is then read first. What an item says is settled by `codex_entries`.
"""

from __future__ import annotations

import json
import os
from hashlib import blake2b, sha256
from typing import TYPE_CHECKING, Final, TypeGuard

import msgspec

from aforesaid.model import Checkpoint, Compaction, Entry, Flaw, Header, Source
from aforesaid.sidechains import opener
from aforesaid.transcripts import codex_entries, codex_origins, codex_rows
from aforesaid.transcripts.codex import CodexTranscripts
from aforesaid.transcripts.objects import text_or_none
from aforesaid.transcripts.passes import Pass, content_of
from aforesaid.transcripts.said import Said
from aforesaid.transcripts.times import canonical

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

    from aforesaid.transcripts.codex_rows import Base, Item, Payload, Row
    from aforesaid.transcripts.lines import Line

_SHORTEST_ID: Final = 20
"""Characters; some servers count their items anew for each request (`msg_2`), and such an id names nothing."""
_MOST_OPEN: Final = 1000
"""Calls without an output that are remembered; the oldest are forgotten first."""
_BEGINS_TURN: Final = frozenset({"task_started", "turn_started"})
MOST_ORIGINS: Final = 32
"""Forks of forks that are followed."""


class _State(msgspec.Struct, kw_only=True):
    """What has to be known of the part that was read before; kept as JSON in the checkpoint.

    Attributes:
        header: what is known of the session so far.
        begun: whether an object was read (the first one should be the header).
        previous: id of the last entry.
        calls: calls without an output, and their tools.
        users: digest and id of each message of the user's that was not taken back.
        turns: for each turn the entry before it, and how many of `users` are before it.
        fresh: whether a turn has begun of which no message was read; None where the file does not say.
        guessed: whether a message was taken for a turn because the file does not say where turns begin.
        foreign: whether it was noted that the file holds the header of another thread.
    """

    header: Header
    begun: bool = False
    previous: str | None = None
    calls: dict[str, str] = {}
    users: list[tuple[str, str]] = []
    turns: list[tuple[str | None, int]] = []
    fresh: bool | None = None
    guessed: bool = False
    foreign: bool = False


class CodexReading(Pass):
    """One pass over the new part of a file; see `ports.Reading`."""

    def __init__(self, source: BinaryIO, file: str, since: Checkpoint, *, forks: tuple[str, ...] = ()) -> None:
        """Takes the open file and where an earlier pass ended.

        Args:
            source: the rollout.
            file: its path.
            since: where to go on.
            forks: the paths of the rollouts for which this one is read as the origin, the latest first.
        """
        super().__init__(source, since)
        self._file, self._forks = file, forks
        self._end: int | None = None
        if since.state:
            self._state = msgspec.convert(json.loads(since.state), type=_State)
        else:
            stem = os.path.splitext(os.path.basename(file))[0]
            self._state = _State(header=Header(host=CodexTranscripts.host, session_id=stem))

    @property
    def header(self) -> Header:
        """What the rollout says of itself; complete only after the iteration."""
        return self._state.header

    @property
    def checkpoint(self) -> Checkpoint:
        """Where this pass ended."""
        # Ids and paths may hold lone surrogates, which msgspec does not write.
        state = json.dumps(msgspec.to_builtins(self._state), separators=(",", ":"))
        return Checkpoint(offset=self.offset, line=self.line, parser=CodexTranscripts.parser, state=state)

    def read_line(self, line: Line) -> Iterator[Entry | Flaw]:
        """The entries and flaws of one line."""
        if self._end == 0:
            return
        row = "too-long" if line.too_long else codex_rows.decode(content_of(line))
        if isinstance(row, str):
            yield Flaw(line=line.number, byte=line.offset, reason=row)
            return
        if self._end is not None and (line.number - 1 if row.ordinal is None else row.ordinal) >= self._end:
            self._end = 0  # all that follows is behind it
            return
        if not self._state.begun:
            self._state.begun = True
            yield from self._begin(row, line)
        if row.payload is not None:
            yield from self._row(row, row.payload, line)

    def _begin(self, row: Row, line: Line) -> Iterator[Entry | Flaw]:
        """Takes the header from the first object, and what the session goes on from."""
        if row.type != "session_meta":
            yield Flaw(line=1, byte=0, reason="missing-header", lost=False)
        elif row.payload is not None:
            self._state.header = _header(row.payload, self._state.header.session_id)
            if row.payload.history_base is not None:
                yield from self._origin(row.payload.history_base, line)

    def _row(self, row: Row, payload: Payload, line: Line) -> Iterator[Entry | Flaw]:
        if row.type == "response_item":
            yield self._item(row, payload, line)
        elif row.type == "compacted":
            yield from self._compacted(row, payload, line)
        elif row.type == "event_msg" and payload.type in _BEGINS_TURN:
            self._state.fresh = True
        elif row.type == "event_msg" and payload.type == "thread_rolled_back":
            if self._state.guessed or not _is_count(payload.num_turns):
                yield Flaw(line=line.number, byte=line.offset, reason="unknown-turns", lost=False)
            yield self._rolled_back(row, payload.num_turns, line)
        elif row.type == "session_meta" and self._is_anothers(payload):
            yield Flaw(line=line.number, byte=line.offset, reason="unknown-origin", lost=False)

    def _item(self, row: Row, item: Payload, line: Line) -> Entry:
        state = self._state
        written = codex_rows.ends_compaction(row)
        said = codex_entries.say(item, lambda call: state.calls.get(call, ""), summary=written)
        id_ = item.id if item.id is not None and len(item.id) >= _SHORTEST_ID else self._line_id(line)
        if said.role == "tool_result":
            state.calls.pop(said.calls[0], None)
        elif said.role == "tool_call":
            state.calls[said.calls[0]] = said.tools[0]
            if len(state.calls) > _MOST_OPEN:
                del state.calls[next(iter(state.calls))]
        elif said.request:
            if state.fresh is not False:
                state.guessed = state.guessed or state.fresh is None
                state.turns.append((state.previous, len(state.users)))
            if state.fresh:
                state.fresh = False
            state.users.append((_digest(item), id_))
        return self._entry(row, line, id_, said)

    def _compacted(self, row: Row, payload: Payload, line: Line) -> Iterator[Entry | Flaw]:
        parts, sealed = codex_entries.summary(payload)
        said = Said(kind="compaction", role="summary", parts=parts, automatic=False)
        compaction = Compaction(kept=self._kept(payload.replacement_history or []))
        yield self._entry(row, line, self._line_id(line), said, compaction=compaction)
        if payload.replacement_history is None:
            yield Flaw(line=line.number, byte=line.offset, reason="unknown-view", lost=False)
        elif sealed:
            yield Flaw(line=line.number, byte=line.offset, reason="opaque-summary", lost=False)

    def _is_anothers(self, payload: Payload) -> bool:
        """Whether a header behind the first one is of another thread, as in a copy that does not say of which."""
        state = self._state
        if state.foreign or state.header.parent is not None or payload.id in {None, state.header.session_id}:
            return False
        state.foreign = True
        return True

    def _kept(self, history: list[Item]) -> tuple[str, ...]:
        """The entries that a compaction kept: by their ids, and messages of the user's without one by their text."""
        by_text: dict[str, list[str]] = {}
        for text, id_ in self._state.users:
            by_text.setdefault(text, []).append(id_)
        kept: list[str] = []
        # The newest messages are kept first; of equal ones the latest count.
        for item in reversed(history):
            if item.id is not None and len(item.id) >= _SHORTEST_ID:
                kept.append(item.id)
            elif item.role == "user" and (ids := by_text.get(_digest(item))):
                kept.append(ids.pop())
        return tuple(reversed(kept))

    def _rolled_back(self, row: Row, number: object, line: Line) -> Entry:
        """The entry that the session goes on from after turns were taken back."""
        state = self._state
        turns = number if _is_count(number) else 0
        if turns > 0 and state.turns:
            before, users = state.turns[-min(turns, len(state.turns))]
            del state.turns[-turns:], state.users[users:]
            state.previous = before
        return self._entry(row, line, self._line_id(line), Said(kind="other", automatic=False))

    def _entry(self, row: Row, line: Line, id_: str, said: Said, *, compaction: Compaction | None = None) -> Entry:
        parent, self._state.previous = self._state.previous, id_
        return Entry(
            id=id_,
            parent=parent,
            kind=said.kind,
            role=said.role,
            timestamp=canonical(row.timestamp),
            parts=said.parts,
            source=Source(
                line=line.number,
                offset=line.offset,
                length=len(line.data),
                sha256=sha256(line.data).digest(),
                file=os.path.abspath(self._file) if self._forks else None,
            ),
            tools=said.tools,
            calls=said.calls,
            files=said.files,
            automatic=said.automatic,
            request=said.request,
            compaction=compaction,
        )

    def _line_id(self, line: Line) -> str:
        """The id of an entry that has none; lines of an origin carry its session's id."""
        return f"L{line.number}@{self.header.session_id}" if self._forks else f"L{line.number}"

    def _origin(self, base: Base, line: Line) -> Iterator[Entry | Flaw]:
        """The history of a fork, from the rollout in which it stands."""
        missing = Flaw(line=line.number, byte=line.offset, reason="origin-missing")
        file = codex_origins.find(self._file, base.thread_id)
        forks = (self._file, *self._forks)
        if file is None or len(forks) > MOST_ORIGINS or any(os.path.samefile(file, fork) for fork in forks):
            yield missing
            return
        try:
            with open(file, "rb", opener=opener) as source:
                reading = CodexReading(source, file, Checkpoint(), forks=forks)
                for item in reading.until(base.end_ordinal_exclusive):
                    if isinstance(item, Entry):
                        yield item
                    elif item.reason != "truncated-tail":
                        yield msgspec.structs.replace(item, line=line.number, byte=line.offset)
        except OSError:
            yield missing
            return
        mine, theirs = self._state, reading._state
        mine.previous, mine.calls, mine.fresh = theirs.previous, theirs.calls, None
        mine.users, mine.turns, mine.guessed = theirs.users, theirs.turns, theirs.guessed

    def until(self, ordinal: int) -> Iterator[Entry | Flaw]:
        """The entries and flaws of the rows before an ordinal; rows without one count from 0."""
        self._end = ordinal
        yield from self


def _is_count(number: object) -> TypeGuard[int]:
    return isinstance(number, int) and not isinstance(number, bool) and number >= 0


def _digest(item: Item) -> str:
    return blake2b(codex_entries.user_text(item).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _header(payload: Payload, stem: str) -> Header:
    source = payload.source.get("subagent") if isinstance(payload.source, dict) else None
    spawn = source.get("thread_spawn") if isinstance(source, dict) else None
    caller = text_or_none(spawn.get("parent_thread_id")) if isinstance(spawn, dict) else None
    base = payload.history_base
    origin = base.thread_id if base is not None else text_or_none(payload.forked_from_id)
    caller = caller or text_or_none(payload.parent_thread_id)
    return Header(
        host=CodexTranscripts.host,
        session_id=payload.id or stem,
        version=_version(text_or_none(payload.cli_version) or ""),
        cwd=text_or_none(payload.cwd),
        started=canonical(payload.timestamp),
        parent=origin or caller,
        relation="subagent" if caller and not origin else "fork",
    )


def _version(text: str) -> int:
    """The program's version as one number: its second part, 1,000 more for each first."""
    numbers = [part if part.isascii() and part.isdecimal() and len(part) < 5 else "" for part in text.split(".")[:2]]
    return int(numbers[0]) * 1000 + int(numbers[1]) if len(numbers) == 2 and all(numbers) else 0
