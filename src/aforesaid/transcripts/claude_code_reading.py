"""Floor 6: one pass over a session file of Claude Code, or over one sidechain in it.

`claude_code` begins a pass. Every row with a uuid becomes one entry, so that parent chains stay whole; rows without one
are the host's notes. Where an entry belongs is settled by `claude_code_tree`, what it says by `claude_code_entries`.
Old versions write what subagents do into their caller's file, between its rows: such a sidechain is a session of its
own, which a pass of its own picks out of the same lines.
"""

from __future__ import annotations

import json
import os
from hashlib import sha256
from typing import TYPE_CHECKING, Final

import msgspec

from aforesaid.model import Checkpoint, Compaction, Edit, Entry, Flaw, Header, Source
from aforesaid.sidechains import chain_of, file_of
from aforesaid.transcripts import claude_code_entries, claude_code_rows, damaged
from aforesaid.transcripts.claude_code import ClaudeCodeTranscripts
from aforesaid.transcripts.claude_code_tree import Tree
from aforesaid.transcripts.lines import HEAD
from aforesaid.transcripts.objects import text_or_none
from aforesaid.transcripts.passes import Pass, content_of
from aforesaid.transcripts.times import canonical

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

    from aforesaid.transcripts.claude_code_rows import Row
    from aforesaid.transcripts.lines import Line

_SAVED: Final = frozenset({"uuid", "parentUuid"})
_LONGEST_NAME: Final = 64
MOST_LINKS: Final = 5000
"""Rows of sidechains that are remembered, so that what hangs on them is known; the oldest are forgotten first."""


class _State(msgspec.Struct, kw_only=True):
    """What has to be known of the part that was read before; kept as JSON in the checkpoint.

    Attributes:
        header: what is known of the session so far.
        tree: the end of its tree.
        begun: whether a row was read.
        named: whether a row carries the session id that the file is named after.
        chains: ids of the sidechains in the file, in the order in which they begin.
        links: the sidechains of their latest rows, by the ids of the rows.
        started: time of the first row of the sidechain that is read.
        foreign: whether it was noted that the file holds rows of another session.
    """

    header: Header
    tree: Tree
    begun: bool = False
    named: bool = False
    chains: list[str] = []
    links: dict[str, str] = {}
    started: str | None = None
    foreign: bool = False


class ClaudeCodeReading(Pass):
    """One pass over the new part of a file; see `ports.Reading`."""

    def __init__(self, source: BinaryIO, file: str, since: Checkpoint) -> None:
        """Takes the open file, its path or the name of a sidechain in it, and where an earlier pass ended."""
        super().__init__(source, since)
        self._stem = os.path.splitext(os.path.basename(file_of(file)))[0]
        self._chain = chain_of(file)
        if since.state:
            self._state = msgspec.convert(json.loads(since.state), type=_State)
        else:
            header = Header(host=ClaudeCodeTranscripts.host, session_id=self._stem)
            self._state = _State(header=header, tree=Tree())
        self._tree = self._state.tree

    @property
    def header(self) -> Header:
        """What the rows say of the session; complete only after the iteration."""
        header = self._state.header
        if self._chain is None:
            return header
        return msgspec.structs.replace(
            header,
            session_id=f"sidechain-{self._chain}",
            started=self._state.started,
            parent=header.session_id,
            relation="subagent",
        )

    @property
    def checkpoint(self) -> Checkpoint:
        """Where this pass ended."""
        # Ids and paths may hold lone surrogates, which msgspec does not write.
        state = json.dumps(msgspec.to_builtins(self._state), separators=(",", ":"))
        return Checkpoint(
            offset=self.offset,
            line=self.line,
            parser=ClaudeCodeTranscripts.parser,
            state=state,
            leaf=self._tree.tail,
        )

    def read_line(self, line: Line) -> Iterator[Entry | Flaw]:
        """The entry or flaw of one line; nothing for the host's notes."""
        row = "too-long" if line.too_long else claude_code_rows.decode(content_of(line))
        if isinstance(row, str):
            saved = damaged.top_level(line.data[:HEAD], _SAVED)
            id_, parent = saved.get("uuid"), saved.get("parentUuid")
            chain = None if parent is None else self._state.links.get(parent)
            if line.ended and id_ is not None and chain is not None:
                self._link(id_, chain)
            if line.ended and chain != self._chain:
                return  # a line that is still being written is nobody's yet, and everybody waits for it
            if id_ is not None and line.ended:
                parent = self._tree.lose(id_, parent)
            yield Flaw(line=line.number, byte=line.offset, reason=row, id=id_, parent=parent)
            return
        source = Source(line=line.number, offset=line.offset, length=len(line.data), sha256=sha256(line.data).digest())
        if isinstance(row.uuid, str) and row.uuid:
            foreign = self._learn(row)
            if foreign and self._chain is None:
                yield Flaw(line=line.number, byte=line.offset, reason="unknown-origin", lost=False)
            if self._place(row, row.uuid) != self._chain:
                return
            found = self._entry(row, row.uuid, source)
        else:
            found = self._note(row, source) if self._chain is None else None
        if found is not None:
            yield found

    def _place(self, row: Row, id_: str) -> str | None:
        """The sidechain that a row belongs to, which it may begin; None: none."""
        if row.is_sidechain is not True or self._state.header.relation == "subagent":
            return None
        parent = text_or_none(row.parent_uuid)
        chain = None if parent is None else self._state.links.get(parent)
        if chain is None:
            plain = id_.isascii() and id_.replace("-", "").replace("_", "").isalnum() and len(id_) <= _LONGEST_NAME
            chain = id_ if plain else sha256(id_.encode("utf-8", "surrogatepass")).hexdigest()[:32]
            if chain not in self._state.chains:
                self._state.chains.append(chain)
        if chain == self._chain and self._state.started is None:
            self._state.started = canonical(row.timestamp)
        self._link(id_, chain)
        return chain

    def _link(self, id_: str, chain: str) -> None:
        links = self._state.links
        links[id_] = chain
        while len(links) > MOST_LINKS:
            del links[next(iter(links))]

    def _note(self, row: Row, source: Source) -> Entry | None:
        """The session's name, if that is what a row without a uuid gives."""
        tree = self._tree
        name = None
        if row.type == "custom-title":
            name = text_or_none(row.custom_title)
        elif row.type == "summary" and (leaf := text_or_none(row.leaf_uuid)) is not None:
            name = text_or_none(row.summary) if leaf == tree.leaf or leaf in tree.members else None
        if not name or tree.leaf is None:
            return None
        stamp = canonical(row.timestamp)
        return Entry(
            id=f"L{source.line}", parent=tree.leaf, kind="label", role="custom", timestamp=stamp, parts=(),
            source=source, automatic=False, label=name,
        )  # fmt: skip

    def _entry(self, row: Row, id_: str, source: Source) -> Entry | None:
        tree = self._tree
        if id_ in tree.preserved:
            return None  # what a compaction kept is written once more; the first one counts
        leaf = tree.leaf
        kind = claude_code_entries.kind_of(row)
        said = claude_code_entries.say(row, tree.tool)
        parent = text_or_none(row.parent_uuid)
        compaction: Compaction | None = None
        if kind == "boundary":
            parent = parent or text_or_none(row.logical_parent_uuid)
            compaction = claude_code_entries.compaction_of(row)
        elif kind == "summary" and not tree.compacting:
            # Old versions write a summary without a boundary before it.
            parent = parent or text_or_none(row.logical_parent_uuid)
            compaction = Compaction()
        message = row.message.id if row.message is not None else None
        parent = tree.place(id_, parent, kind, message=message, calls=said.calls)
        if row.type == "assistant" and row.message is not None:
            tree.open(claude_code_entries.called(row.message))
        elif kind == "result":
            tree.close(said.calls, id_)
        elif kind == "boundary":
            tree.keep((*claude_code_entries.kept(row.compact_metadata)[2], *((parent,) if parent else ())))
        return Entry(
            id=id_,
            parent=parent,
            kind=said.kind,
            role=said.role,
            timestamp=canonical(row.timestamp),
            parts=said.parts,
            source=source,
            tools=said.tools,
            calls=said.calls,
            files=said.files,
            automatic=said.automatic,
            request=said.request,
            compaction=compaction,
            edit=self._edit(row) if said.kind == "context-edit" else None,
            fallback=None if parent is None else leaf,
        )

    def _edit(self, row: Row) -> Edit | None:
        """What a host that makes room without a summary takes from the view: the words of results."""
        answers = self._tree.answers
        rows = dict.fromkeys(answers[call] for call in claude_code_entries.cleared(row) if call in answers)
        if not rows:
            return None
        first, *others = rows
        return Edit(target=first, replaced=True, others=tuple(others))

    def _learn(self, row: Row) -> bool:
        """Takes from a row what it tells of the session; whether it is the first that names another, without a link."""
        state = self._state
        header, id_ = state.header, text_or_none(row.session_id)
        other = state.begun and id_ not in {None, header.session_id}
        if not state.begun:
            state.begun = True
            version = text_or_none(row.version) or ""
            major = version.partition(".")[0]
            header = msgspec.structs.replace(
                header,
                version=int(major) if major.isascii() and major.isdecimal() and len(major) < 4 else 0,
                cwd=text_or_none(row.cwd),
                started=canonical(row.timestamp),
            )
            if row.is_sidechain is True and (isinstance(row.agent_id, str) or self._stem.startswith("agent-")):
                # The rows of a subagent carry the id of the session that called it.
                header = msgspec.structs.replace(header, parent=id_, relation="subagent")
        if header.relation != "subagent" and id_ and not state.named:
            state.named = id_ == self._stem
            header = msgspec.structs.replace(header, session_id=id_)
        if header.parent is None:
            origin = row.forked_from.get("sessionId") if isinstance(row.forked_from, dict) else row.request_session_id
            if isinstance(origin, str) and origin != header.session_id:
                header = msgspec.structs.replace(header, parent=origin)
        state.header = header
        foreign = other and header.parent is None and not state.foreign
        state.foreign = state.foreign or foreign
        return foreign
