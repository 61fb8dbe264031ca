"""Floor 5: whether a finished plan may go out.

`plan_context` asks `find_fault` last, and sends the host's own list if there is one. It knows nothing of how the plan
was made and counts everything again from the messages. Pure, linear.
"""

from __future__ import annotations

from operator import is_
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aforesaid.planning.values import Limits, Message


def find_fault(
    messages: Sequence[Message], final: Sequence[Message], *, request: int, overhead: int, limits: Limits
) -> str | None:
    """The code of what is wrong with a plan, or None.

    Args:
        messages: the host's own list.
        final: what is to be sent instead.
        request: place of the current request in `messages`.
        overhead: tokens that go out besides.
        limits: the budget.
    """
    native = [message for message in final if message.source == "native"]
    # Most plans send all of the host's messages, and then there is nothing to compare but identities.
    if len(native) != len(messages) or not all(map(is_, native, messages)):
        kept = _match(messages, native)
        if kept is None:
            return "invalid-order"
        if not all(kept[request:]):
            return "invalid-request"
        if _splits_call(messages, kept) or _splits_turn(messages, kept, request):
            return "invalid-group"
    if _misplaces(final, messages[request]):
        return "invalid-place"
    if overhead + sum([message.tokens for message in final]) > limits.hard:
        return "over-hard-limit"
    return None


def _match(messages: Sequence[Message], native: Sequence[Message]) -> list[bool] | None:
    """Which of the host's messages go out; None if others do, or in another order."""
    kept = [False] * len(messages)
    place = 0
    for message in native:
        while place < len(messages) and messages[place] is not message:
            place += 1
        if place == len(messages):
            return None
        kept[place] = True
        place += 1
    return kept


def _splits_call(messages: Sequence[Message], kept: Sequence[bool]) -> bool:
    """Whether a call goes out without its result, or a result without its call."""
    latest: dict[str, int] = {}
    for place, message in enumerate(messages):
        if message.kind == "result" and message.answers:
            caller = latest.get(message.answers)
            if caller is not None and kept[caller] != kept[place]:
                return True
        for call in message.calls:
            latest[call] = place
    return False


def _splits_turn(messages: Sequence[Message], kept: Sequence[bool], request: int) -> bool:
    """Whether messages of one turn, results apart, have different fates."""
    before: bool | None = None
    for message, goes in zip(messages[:request], kept, strict=False):
        if message.kind == "summary":
            before = None
        elif message.kind == "request":
            before = goes
        elif message.kind == "message":
            if before is not None and goes != before:
                return True
            before = goes
    return False


def _misplaces(final: Sequence[Message], request: Message) -> bool:
    """Whether a supplement stands elsewhere than before the request or before the first message of the conversation."""
    added = [place for place, message in enumerate(final) if message.source != "native"]
    allowed = None
    for place in added:
        after = next((message for message in final[place : place + len(added) + 1] if message.source == "native"), None)
        if after is None:
            return True
        if after is not request:
            if allowed is None:
                allowed = next(message for message in final if message.source == "native" and message.kind != "summary")
            if after is not allowed:
                return True
    return False
