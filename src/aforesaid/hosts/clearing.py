"""Floor 8: `session/clear`: the final messages of a call, judged for the provider that is really called.

An adapter hands over what it has not handed over before under the same policy, and gets for each message whether it
goes out, or what goes out instead. It keeps the answers as long as the policy's stamp stays. `sessions` puts the method
beside the others; `privacy.payload` decides.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal

from msgspec import Struct

from aforesaid.config import PRIVACY
from aforesaid.privacy.payload import Outgoing

if TYPE_CHECKING:
    from aforesaid.engine import Engine
    from aforesaid.model import Withheld

SCHEMA: Final = "aforesaid.clear/1"


class Text(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """One message.

    Attributes:
        texts: its texts, in order.
        kind: `said`: the host's own; `result`: the host's own, what a tool or a command gave back; `added`: ours;
            `answer`: ours, what one of our tools answered, which must stay.
        call: of a result, the arguments of its call; None if that is not known.
        fresh: of ours, whether it was made for this provider under the stamp that is told here.
        entry_id: of ours, the entry that it comes from.
    """

    texts: tuple[str, ...]
    kind: Literal["said", "result", "added", "answer"] = "said"
    call: tuple[str, ...] | None = None
    fresh: bool = False
    entry_id: str | None = None


class Clear(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """Parameters of `session/clear`.

    Attributes:
        session: an open session.
        provider: who is called; None counts as a remote one.
        stamp: of the policy that was told last. With another one nothing of ours counts as fresh.
        messages: what is judged; with none, only the policy is told.
    """

    session: str
    provider: str | None = None
    stamp: str | None = None
    messages: tuple[Text, ...] = ()


def tell_policy(engine: Engine, provider: str | None) -> dict[str, Any]:
    """What an adapter needs to know of the policy: its name, and whether it keeps anything from a provider."""
    config = engine.config
    return {
        "stamp": config.privacy_stamp,
        "enabled": config.boolean(PRIVACY) or config.privacy_unknown,
        "restricts": engine.restricts(provider),
        "files": list(config.seen),
    }


def clear(engine: Engine, asked: Clear) -> tuple[dict[str, Any], tuple[Withheld, ...]]:
    """The answer: for each message `true` if it goes out as it is, `false` if not, or its texts as they may go out.

    Returns:
        The answer, and what of ours was withheld.
    """
    policy = tell_policy(engine, asked.provider)
    same = asked.stamp == policy["stamp"]
    messages = [
        Outgoing(
            texts=one.texts,
            supplement=one.kind in {"added", "answer"},
            stays=one.kind == "answer",
            fresh=one.fresh and same,
            entry_id=one.entry_id,
            result=one.kind == "result",
            call=one.call,
        )
        for one in asked.messages
    ]
    payload = engine.clear(messages, session=asked.session, provider=asked.provider)
    told: list[object] = [False] * len(messages)
    for place, cleared in zip(payload.kept, payload.cleared.values, strict=True):
        told[place] = True if cleared.texts == messages[place].texts else list(cleared.texts)
    return {"schema": SCHEMA, "policy": policy, "messages": told}, payload.withheld
