"""Floor 4: the last word on what goes out: the messages of one model call, for the provider that is really called.

A host's adapter makes `Outgoing` of its messages, the host's own and ours, and sends what comes back. A supplement of
ours with anything prohibited in it is left out whole. The host's own messages all stay, since a call without one of
them may be refused or mean something else; of their texts the prohibited stretches are replaced. What cannot be judged
is treated as prohibited. Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from aforesaid.model import Withheld
from aforesaid.privacy.judge import Verdict
from aforesaid.privacy.markers import HIGHEST

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aforesaid.model import Cleared, Level
    from aforesaid.privacy.judge import Judge

FAILED: Final = "privacy-failed"
"""Why something is withheld that could not be judged."""


class Outgoing(Struct, frozen=True, kw_only=True):
    """One message as it is about to leave.

    Attributes:
        texts: all texts in it that a model reads, in their order. They are judged as one.
        supplement: whether it is ours; else it is the host's own.
        entry_id: the entry that it comes from, if it comes from one.
        classification: class that it has already, for example by the verdict on its source.
    """

    texts: tuple[str, ...]
    supplement: bool = False
    entry_id: str | None = None
    classification: Level = "normal"


class Payload(Struct, frozen=True, kw_only=True):
    """What may go out.

    Attributes:
        cleared: the messages in their order; those of the host with as many texts as before.
        kept: places of those messages in what was handed in, ascending.
        withheld: the supplements that were left out.
        concealed: the host's own messages in which something was replaced.
    """

    cleared: Cleared[Outgoing]
    kept: tuple[int, ...]
    withheld: tuple[Withheld, ...] = ()
    concealed: int = 0


def conceal(level: Level) -> str:
    """What stands for a prohibited stretch of a host's own message."""
    return f"[withheld by aforesaid: {level}]"


def clear_payload(messages: Sequence[Outgoing], judge: Judge) -> Payload:
    """The messages of a call as the judge's provider may see them."""
    if judge.open:
        return Payload(cleared=judge.clear_all(messages), kept=tuple(range(len(messages))))
    out: list[Outgoing] = []
    verdicts: list[Verdict] = []
    withheld: list[Withheld] = []
    concealed = 0
    for message in messages:
        verdict = _judge(message, judge)
        if verdict.allowed:
            out.append(message)
            verdicts.append(verdict)
            continue
        if message.supplement:
            withheld.append(
                Withheld(entry_id=message.entry_id or "", classification=verdict.classification, reason=verdict.reason)
            )
            out.append(message)
            verdicts.append(verdict)
            continue
        concealed += 1
        out.append(replace(message, texts=_conceal(message, judge)))
        verdicts.append(replace(verdict, allowed=True))
    return Payload(
        cleared=judge.clear(out, verdicts),
        kept=tuple(place for place, verdict in enumerate(verdicts) if verdict.allowed),
        withheld=tuple(withheld),
        concealed=concealed,
    )


def refuse_supplements(messages: Sequence[Outgoing], judge: Judge, reason: str) -> Payload:
    """The host's own messages as they are, and none of ours."""
    verdicts = [
        Verdict(allowed=not message.supplement, classification=message.classification, reason=reason)
        for message in messages
    ]
    refused = [message for message in messages if message.supplement]
    return Payload(
        cleared=judge.clear(messages, verdicts),
        kept=tuple(place for place, verdict in enumerate(verdicts) if verdict.allowed),
        withheld=tuple(
            Withheld(entry_id=message.entry_id or "", classification=message.classification, reason=reason)
            for message in refused
        ),
    )


def _judge(message: Outgoing, judge: Judge) -> Verdict:
    texts = message.texts
    try:
        return judge.judge(texts[0] if len(texts) == 1 else "\n".join(texts), named=message.classification)
    except Exception:  # noqa: BLE001 - what cannot be judged is prohibited; the call still goes out
        return Verdict(allowed=False, classification=HIGHEST, reason=FAILED)


def _conceal(message: Outgoing, judge: Judge) -> tuple[str, ...]:
    """The texts of a message without their prohibited stretches, which may reach from one text into the next."""
    whole = "\n".join(message.texts)
    try:
        stretches = judge.prohibited(whole, named=message.classification)
    except Exception:  # noqa: BLE001 - as above
        stretches = ((0, len(whole), HIGHEST),)
    texts: list[str] = []
    first = 0
    for text in message.texts:
        pieces: list[str] = []
        done = 0
        for start, end, level in stretches:
            begin, stop = max(start - first, 0), min(end - first, len(text))
            if begin < stop:
                pieces += (text[done:begin], conceal(level) if text[begin:stop].strip() else text[begin:stop])
                done = stop
        texts.append("".join([*pieces, text[done:]]))
        first += len(text) + 1
    return tuple(texts)
