"""Floor 9: what an evaluation set consists of: conversations and labelled questions about them.

`beam` and `locomo` read public sets into these values; `arms` asks the questions. Nothing here knows how they are
answered.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Role = Literal["user", "assistant"]


class Turn(Struct, frozen=True, kw_only=True):
    """One message of a conversation.

    Attributes:
        id: unique in the conversation.
        role: who says it; of two people who talk to each other, the first counts as the user.
        text: with the speaker's name before it where the set has names.
        timestamp: ISO 8601, or None.
        session: name of the stretch of the conversation that it belongs to; empty where a set has none.
    """

    id: str
    role: Role
    text: str
    timestamp: str | None = None
    session: str = ""


class Conversation(Struct, frozen=True, kw_only=True):
    """A conversation, which becomes one transcript of which the model sees nothing any more."""

    name: str
    turns: tuple[Turn, ...]


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
