"""Floor 5: how many tokens a call may have, and which groups and supplements fit. `plan_context` calls it; pure.

First `fit_native` decides which of the host's own turns go out, then, when retrieval has answered, `fit_supplements`
and `fit_summaries` fill what is left. Nothing that was kept is taken out again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from aforesaid.planning.values import Limits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aforesaid.planning.groups import Group
    from aforesaid.planning.values import PlanOptions, Supplement, SupplementKind

MOST_RESERVED = 16_384
RESERVED_PART = 10
"""Where a host does not say how long an answer may be, a tenth of the window is kept free for it, at most so much."""
SUPPLEMENTS_PART = 8
SUPPLEMENTS_TOKENS = 2000
SUPPLEMENTS_MOST_PART = 3
"""An eighth of the target is kept free for supplements where turns are left out, and in small windows 2,000 tokens or a
third: else the turns that remain would take all of it, and what was left out could not come back."""

STEPS_PART = 8
"""The tail begins where it began before until so much of the target has been said since: a beginning that moves with
every request would leave the provider's prompt cache nothing to keep."""

ORDER: tuple[SupplementKind, ...] = ("retrieval", "view", "project")
"""In which order supplements get their room."""


def set_limits(window: int, reserve: int | None, options: PlanOptions) -> Limits:
    """The budget of a call.

    Args:
        window: the model's context window.
        reserve: tokens of the longest answer; None takes a tenth of the window, at most 16,384.
        options: the ratios.
    """
    if reserve is None:
        reserve = min(MOST_RESERVED, window // RESERVED_PART)
    hard = max(0, min(int(window * options.hard_ratio), window - reserve))
    soft = min(int(window * options.soft_ratio), hard)
    target = min(int(window * options.target_ratio), soft)
    return Limits(window=window, reserve=reserve, target=target, soft=soft, hard=hard)


class Native(Struct, frozen=True, kw_only=True):
    """What is decided of the host's own groups in the first pass.

    Attributes:
        whole: whether the host's list goes out as it is.
        reasons: a code a group: why it is kept or left out. Summaries are still open (`SUMMARY`) unless all goes out.
        kept: whether it is kept, a group.
        tokens: of what is kept, overhead included.
        room: tokens that kept groups and supplements may have together.
    """

    whole: bool
    reasons: tuple[str, ...]
    kept: tuple[bool, ...]
    tokens: int
    room: int


CURRENT = "current-request"
WHOLE = "whole"
TAIL = "recent-tail"
PREDECESSOR = "predecessor"
OUTSIDE = "outside-recent-tail"
OVERSIZED = "oversized"
SUMMARY = "summary"
NO_ROOM = "no-room"
CAP = "over-limit-of-kind"


def fit_native(groups: Sequence[Group], request: int, overhead: int, limits: Limits, options: PlanOptions) -> Native:
    """Decides which of the host's own groups go out.

    Args:
        groups: in order.
        request: place of the current request's message.
        overhead: tokens that go out in any case.
        limits: the budget.
        options: caps.
    """
    # A group that reaches behind the request belongs to it: a call before a steering message, its result after it.
    current = [group.members[-1] >= request for group in groups]
    native = overhead + sum(group.tokens for group in groups)
    share = max(limits.target // SUPPLEMENTS_PART, min(SUPPLEMENTS_TOKENS, limits.target // SUPPLEMENTS_MOST_PART))
    reserved = min(share, options.max_retrieved_tokens + options.max_project_tokens)
    if native <= limits.soft:
        return Native(
            whole=True,
            reasons=tuple(CURRENT if own else SUMMARY if group.kind == "summary" else WHOLE
                          for own, group in zip(current, groups, strict=True)),
            kept=(True,) * len(groups),
            tokens=native,
            room=max(limits.target, min(limits.soft, native + reserved)),
        )  # fmt: skip
    reasons = [CURRENT if own else SUMMARY if group.kind == "summary" else OUTSIDE
               for own, group in zip(current, groups, strict=True)]  # fmt: skip
    base = overhead + sum(group.tokens for own, group in zip(current, groups, strict=True) if own)
    earlier = [place for place, group in enumerate(groups) if not current[place] and group.kind != "summary"]
    room = max(0, min(options.recent_tail_tokens, limits.target - base - reserved))
    _keep_tail(groups, earlier[::-1], reasons, room, limits.target - base)
    _steady_tail(groups, earlier, reasons, limits.target // STEPS_PART)
    kept = tuple(reason in {CURRENT, TAIL, PREDECESSOR} for reason in reasons)
    return Native(
        whole=False,
        reasons=tuple(reasons),
        kept=kept,
        tokens=overhead + sum(group.tokens for keep, group in zip(kept, groups, strict=True) if keep),
        room=limits.target,
    )


def _keep_tail(groups: Sequence[Group], backwards: Sequence[int], reasons: list[str], room: int, most: int) -> None:
    """Keeps recent turns, latest first, up to the first that does not fit.

    The turn before the request is kept even if it is larger than the tail may be, as long as it fits the target. A turn
    that is too large for any tail is passed over: it must not take all that stands before it with it.

    Args:
        groups: all of them.
        backwards: places of the earlier turns, latest first.
        reasons: of all groups; changed here.
        room: tokens of the tail.
        most: tokens up to the target.
    """
    left = room
    first = True
    for place in backwards:
        group = groups[place]
        if group.tokens <= left:
            reasons[place] = TAIL
            left -= group.tokens
        elif group.kind == "orphan":
            continue
        elif first and room - left + group.tokens <= most:
            reasons[place] = PREDECESSOR
            left = 0
        elif group.tokens > room:
            reasons[place] = OVERSIZED
        else:
            return
        first = first and group.kind == "orphan"


def _steady_tail(groups: Sequence[Group], earlier: Sequence[int], reasons: list[str], step: int) -> None:
    """Lets the tail begin later, so that its beginning moves in steps while the conversation grows.

    It begins with the last of its turns before which no more tokens stand than the next multiple of `step`, so it gives
    up no more than a step.

    Args:
        groups: all of them.
        earlier: places of the earlier turns, in order.
        reasons: of all groups; changed here.
        step: tokens; 0 for none.
    """
    first = next((at for at, place in enumerate(earlier) if reasons[place] == TAIL), 0)
    if not first or not step:
        return  # nothing was left out before it
    before = sum(groups[place].tokens for place in earlier[:first])
    goal = -(-before // step) * step
    start = first
    for at in range(first, len(earlier)):
        if before > goal:
            break
        if reasons[earlier[at]] == TAIL:
            start = at
        before += groups[earlier[at]].tokens
    for place in earlier[first:start]:
        if reasons[place] == TAIL:
            reasons[place] = OUTSIDE


def fit_supplements(
    supplements: Sequence[Supplement], spent: int, room: int, options: PlanOptions
) -> tuple[tuple[str, ...], int]:
    """Chooses the supplements that fit, in the order of `ORDER` and of the given list; one that does not is skipped.

    Args:
        supplements: best first within each kind.
        spent: tokens that are taken already.
        room: tokens that all together may have.
        options: caps of the kinds.

    Returns:
        For each why it is left out, empty for those that go in; and the tokens that are taken now.
    """
    caps = {"retrieval": options.max_retrieved_tokens, "project": options.max_project_tokens}
    reasons = [""] * len(supplements)
    for kind in ORDER:
        left = caps.get(kind, room)
        for place, supplement in enumerate(supplements):
            if supplement.kind != kind:
                continue
            if supplement.tokens > left:
                reasons[place] = CAP
            elif spent + supplement.tokens > room:
                reasons[place] = NO_ROOM
            else:
                left -= supplement.tokens
                spent += supplement.tokens
    return tuple(reasons), spent


def fit_summaries(
    groups: Sequence[Group], native: Native, spent: int, options: PlanOptions
) -> tuple[tuple[bool, ...], tuple[str, ...], int]:
    """Adds the host's summaries to what is kept, latest first, as far as they fit; one that does not is skipped.

    Returns:
        For each group whether it is kept now, and why or why not; and the tokens that are taken now.
    """
    kept, reasons = list(native.kept), list(native.reasons)
    left = options.max_summary_tokens
    for place in range(len(groups) - 1, -1, -1):
        group = groups[place]
        if group.kind != "summary" or kept[place]:
            continue
        if group.tokens > left:
            reasons[place] = CAP
        elif spent + group.tokens > native.room:
            reasons[place] = NO_ROOM
        else:
            kept[place] = True
            left -= group.tokens
            spent += group.tokens
    return tuple(kept), tuple(reasons), spent
