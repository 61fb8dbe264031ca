"""Floor 9: what an evaluation set consists of: conversations and labelled questions about them.

`beam` and `locomo` read public sets into these values; `arms` asks the questions. Nothing here knows how they are
answered.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from aforesaid.transcripts import calls

Role = Literal["user", "assistant", "tool_call", "tool_result", "summary"]


class Said(Struct, frozen=True, kw_only=True):
    """What a turn says.

    Attributes:
        role: who says it; of two people who talk to each other, the first counts as the user.
        text: as it is searched: with the speaker's name before it where a set has names, of a call the tool and its
            arguments.
        tool: of a call, its name.
        arguments: of a call, name and value of each.
        kept_from: of a summary, id of the first turn before it that the model still sees.
    """

    role: Role
    text: str
    tool: str = ""
    arguments: tuple[tuple[str, str], ...] = ()
    kept_from: str = ""


def called(tool: str, **arguments: str) -> Said:
    """A call of a tool."""
    text = calls.render(tool, arguments)
    return Said(role="tool_call", text=text, tool=tool, arguments=tuple(arguments.items()))


class Turn(Said, frozen=True, kw_only=True):
    """One message of a conversation.

    Attributes:
        id: unique in the conversation.
        parent: the turn that it follows; empty: the one before it.
        timestamp: ISO 8601, or None.
        session: name of the stretch of the conversation that it belongs to; empty where a set has none.
    """

    id: str
    parent: str = ""
    timestamp: str | None = None
    session: str = ""

    @classmethod
    def of(cls, said: Said, *, id: str, parent: str | None, timestamp: str) -> Turn:  # noqa: A002 - the field's name
        """What was said, in its place; without a parent it is the first one."""
        fields = {name: getattr(said, name) for name in Said.__struct_fields__}
        return cls(**fields, id=id, parent=parent or "", timestamp=timestamp)


class Conversation(Struct, frozen=True, kw_only=True):
    """A conversation, which becomes one transcript.

    Attributes:
        name: unique in the set.
        turns: in the order of the file; the last one is the leaf.
        compacted: the last summary says what the model still sees; otherwise it sees nothing any more.
    """

    name: str
    turns: tuple[Turn, ...]
    compacted: bool = False

    def lost(self) -> tuple[Turn, ...]:
        """The turns of the leaf's branch that the model does not see any more, root first."""
        branch: list[Turn] = []
        known = {turn.id: place for place, turn in enumerate(self.turns)}
        place = len(self.turns) - 1
        while place >= 0:
            turn = self.turns[place]
            branch.append(turn)
            place = known[turn.parent] if turn.parent else place - 1
        branch.reverse()
        if not self.compacted:
            return tuple(branch)
        kept = next(turn.kept_from for turn in reversed(branch) if turn.role == "summary")
        seen = next(place for place, turn in enumerate(branch) if turn.id == kept)
        return tuple(turn for turn in branch[:seen] if turn.role != "summary")


class Question(Struct, frozen=True, kw_only=True):
    """A question with its evidence.

    Attributes:
        conversation: name of the conversation that it is about.
        text: as it is asked.
        kind: the set's own category.
        evidence: ids of the turns that answer it; empty where nothing does.
    """

    conversation: str
    text: str
    kind: str
    evidence: tuple[str, ...] = ()


class EvalSet(Struct, frozen=True, kw_only=True):
    """A named set; questions in a fixed order.

    Attributes:
        name: as on the command line.
        data: where it was read from, as given.
        conversations: each named once.
        questions: all of them, those without evidence too.
    """

    name: str
    data: str
    conversations: tuple[Conversation, ...]
    questions: tuple[Question, ...]
