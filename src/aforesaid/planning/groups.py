"""Floor 5: which messages belong together. `plan_context` calls `make_groups` on the host's own messages; pure, linear.

A turn goes in or out as a whole, so that no call loses its result and no answer its question.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aforesaid.planning.values import Message

GroupKind = Literal["turn", "summary", "orphan"]


class Group(Struct, frozen=True, kw_only=True, gc=False):
    """Messages that go in or out together.

    Attributes:
        kind: a turn (also one whose first message is gone), a summary, or a result whose call is not there.
        members: places of its messages, ascending; they need not follow each other.
        tokens: of all of them.
    """

    kind: GroupKind
    members: tuple[int, ...]
    tokens: int


def make_groups(messages: Sequence[Message]) -> tuple[Group, ...]:
    """The groups of a list of messages, in the order of their first messages; each message is in exactly one.

    A message of the user opens a turn, which lasts to the next one. A result belongs to the group of the latest call of
    its id before it, wherever it stands; a result without one is alone, and so is each summary, which also ends a turn.
    """
    kinds: list[GroupKind] = []
    members: list[list[int]] = []
    tokens: list[int] = []
    callers: dict[str, int] = {}
    turn: int | None = None
    for place, message in enumerate(messages):
        kind = message.kind
        group = turn
        if kind == "result":
            group = callers.get(message.answers) if message.answers else None
        elif kind != "message":
            group = None
        if group is None:
            group = len(kinds)
            kinds.append("summary" if kind == "summary" else "orphan" if kind == "result" else "turn")
            members.append([])
            tokens.append(0)
            if kind != "result":
                turn = None if kind == "summary" else group
        members[group].append(place)
        tokens[group] += message.tokens
        if message.calls:
            callers.update(dict.fromkeys(message.calls, group))
    return tuple(
        Group(kind=kind, members=tuple(places), tokens=cost)
        for kind, places, cost in zip(kinds, members, tokens, strict=True)
    )
