"""Floor 4: the last word on what goes out: the messages of one model call, for the provider that is really called.

A host's adapter makes `Outgoing` of its messages, the host's own and ours, and sends what comes back. A supplement of
ours with anything prohibited in it is left out whole; an answer of our tools is replaced whole, since its call wants
one. The host's own messages all stay: only what somebody named in them, by markers or by a rule for the path that a
tool read, is replaced. What cannot be judged is treated as prohibited. Pure. `docs/decisions/0022-final-messages.md`
has the reasons.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from aforesaid.model import Withheld
from aforesaid.privacy.judge import Verdict
from aforesaid.privacy.markers import HIGHEST, highest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aforesaid.model import Cleared, Level
    from aforesaid.privacy.judge import Judge

FAILED: Final = "privacy-failed"
"""Why something is withheld that could not be judged."""
MARKED: Final = "privacy-marker"
NAMED: Final = "privacy-path"
STALE: Final = "privacy-stale"
"""Why something of ours is withheld that was cleared for another provider, or by rules that changed since."""


class Outgoing(Struct, frozen=True, kw_only=True):
    """One message as it is about to leave.

    Attributes:
        texts: all texts in it that a model reads, in their order. They are judged as one.
        supplement: whether it is ours; else it is the host's own.
        stays: of ours: whether it must be there, as the answer that a call waits for; then it is replaced whole.
        fresh: of ours: whether its sources were judged for this provider, by the policy as it is now. Their classes
            need not show in what is left of them, so that what was made for another provider is prohibited.
        entry_id: the entry that it comes from, if it comes from one.
        classification: class that it has already, for example by the verdict on its source.
        result: of the host's own: whether it is what a tool or a command gave back, so that rules by path count.
        call: of a result, the arguments of its call; None if that is not known.
    """

    texts: tuple[str, ...]
    supplement: bool = False
    stays: bool = False
    fresh: bool = True
    entry_id: str | None = None
    classification: Level = "normal"
    result: bool = False
    call: tuple[str, ...] | None = None


class Payload(Struct, frozen=True, kw_only=True):
    """What may go out.

    Attributes:
        cleared: the messages in their order; those that stay with as many texts as before.
        kept: places of those messages in what was handed in, ascending.
        withheld: the supplements that were left out or replaced.
        concealed: the host's own messages in which something was replaced.
    """

    cleared: Cleared[Outgoing]
    kept: tuple[int, ...]
    withheld: tuple[Withheld, ...] = ()
    concealed: int = 0


def conceal(level: Level) -> str:
    """What stands for a prohibited stretch of a message that stays."""
    return f"[withheld by aforesaid: {level}]"


def clear_payload(messages: Sequence[Outgoing], judge: Judge) -> Payload:
    """The messages of a call as the judge's provider may see them."""
    if judge.open:
        return Payload(cleared=judge.clear_all(messages), kept=tuple(range(len(messages))))
    return _sort_out(messages, judge, "")


def refuse_supplements(messages: Sequence[Outgoing], judge: Judge, reason: str) -> Payload:
    """The host's own messages as they are, and none of ours."""
    return _sort_out(messages, judge, reason)


def _sort_out(messages: Sequence[Outgoing], judge: Judge, refused: str) -> Payload:
    """Judges message by message; with a reason to refuse, all of ours are prohibited and the others are not judged."""
    out: list[Outgoing] = []
    verdicts: list[Verdict] = []
    withheld: list[Withheld] = []
    concealed = 0
    for message in messages:
        if not message.supplement:
            shown = message if refused else _conceal(message, judge)
            concealed += shown is not message
            out.append(shown)
            verdicts.append(_MAY_GO)
            continue
        verdict = _judge(message, judge)
        if refused:
            verdict = Verdict(allowed=False, classification=message.classification, reason=refused)
        if not verdict.allowed:
            withheld.append(
                Withheld(entry_id=message.entry_id or "", classification=verdict.classification, reason=verdict.reason)
            )
            if message.stays:
                message = replace(message, texts=_replace_all(message.texts, verdict.classification))  # noqa: PLW2901
                verdict = _MAY_GO
        out.append(message)
        verdicts.append(verdict)
    return Payload(
        cleared=judge.clear(out, verdicts),
        kept=tuple(place for place, verdict in enumerate(verdicts) if verdict.allowed),
        withheld=tuple(withheld),
        concealed=concealed,
    )


_MAY_GO: Final = Verdict(allowed=True, classification="normal", reason="")


def _judge(message: Outgoing, judge: Judge) -> Verdict:
    """The verdict on one of ours.

    An answer that stays is a document about entries that were judged one by one; what the default says of a text of the
    session is not said of it.
    """
    whole = "\n".join(message.texts)
    try:
        if message.stays and message.fresh:
            named = highest(message.classification, judge.name_result(whole, ()))
            levels = [level for _, _, level in judge.find_prohibited(whole, named=named)]
            reason = MARKED if named == "normal" else NAMED
            return Verdict(allowed=not levels, classification=highest(named, *levels), reason=reason if levels else "")
        verdict = judge.judge(whole, named=message.classification)
    except Exception:  # noqa: BLE001 - what cannot be judged is prohibited; the call still goes out
        return Verdict(allowed=False, classification=HIGHEST, reason=FAILED)
    return verdict if message.fresh or not verdict.allowed else replace(verdict, allowed=False, reason=STALE)


def _conceal(message: Outgoing, judge: Judge) -> Outgoing:
    """A message of the host's own without what it may not hold; the message itself if that is nothing."""
    texts = message.texts
    whole = texts[0] if len(texts) == 1 else "\n".join(texts)
    try:
        named = message.classification
        if message.result:
            named = highest(named, judge.name_result(whole, message.call))
        stretches = judge.find_prohibited(whole, named=named)
    except Exception:  # noqa: BLE001 - as above
        return replace(message, texts=_replace_all(texts, HIGHEST))
    return replace(message, texts=_cut(texts, stretches)) if stretches else message


def _replace_all(texts: Sequence[str], level: Level) -> tuple[str, ...]:
    return tuple(conceal(level) if text.strip() else text for text in texts)


def _cut(texts: Sequence[str], stretches: Sequence[tuple[int, int, Level]]) -> tuple[str, ...]:
    """Texts without the stretches of their whole, which may reach from one text into the next."""
    cut: list[str] = []
    first = 0
    for text in texts:
        pieces: list[str] = []
        done = 0
        for start, end, level in stretches:
            begin, stop = max(start - first, 0), min(end - first, len(text))
            if begin < stop:
                pieces += (text[done:begin], conceal(level) if text[begin:stop].strip() else text[begin:stop])
                done = stop
        cut.append("".join([*pieces, text[done:]]))
        first += len(text) + 1
    return tuple(cut)
