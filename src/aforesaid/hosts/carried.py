"""Floor 8: `aforesaid.context/1`, what a host is told to put into a model call.

`sessions` calls `carry` with a plan of the engine; a host's extension reads the result. Decides nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from aforesaid.hosts import wire

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aforesaid.planning.values import Message, Plan

_CONTEXT: Final = "aforesaid.context/1"


def carry(made: Plan | str) -> dict[str, Any]:
    """`aforesaid.context/1`: what to insert before which entries, in order, and which entries to leave out.

    Args:
        made: the plan, or why there is none.
    """
    if isinstance(made, str):
        return {
            "schema": _CONTEXT, "status": "native", "reason": made, "failed": False, "messages": [], "omitted": [],
            "diagnostics": None,
        }  # fmt: skip
    found = made.retrieval
    idle = found is not None and found.status != "complete" and not made.failed
    return {
        "schema": _CONTEXT,
        "status": made.status,
        "reason": found.status if found is not None and idle else made.reason,
        "failed": made.failed,
        "messages": list(_added(made.messages)) if made.status == "planned" else [],
        "omitted": list(made.omitted),
        "diagnostics": None if found is None else wire.diagnostics(found.diagnostics),
    }


def _added(messages: Sequence[Message]) -> Iterator[dict[str, Any]]:
    """What is not the host's own, each with the host's entry that it stands before."""
    waiting: list[Message] = []
    for message in messages:
        if message.source != "native":
            waiting.append(message)
            continue
        for added in waiting:
            yield {
                "role": added.role,
                "content": added.content,
                "source": added.source,
                "entryId": added.entry_id,
                "before": message.entry_id,
            }
        waiting = []
