"""Floor 5: from a host's messages to the messages of one model call, and the manifest of it.

    messages -> groups -> first pass: what of them goes out -> retrieval -> second pass: what is added -> validation

`engine` calls `plan_context` with messages of any host, a function that retrieves, and the options. It never looks into
a message and never changes one: its own are kept, left out in whole groups, or supplemented. Whatever fails, the host's
own messages come back unchanged, with the reason. No I/O, no clock. `docs/planning.md` gives the rules.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from aforesaid.errors import AforesaidError, UsageError
from aforesaid.planning.budget import WHOLE, fit_native, fit_summaries, fit_supplements, set_limits
from aforesaid.planning.groups import Group, make_groups
from aforesaid.planning.manifest import PRIVACY, Decided, write_manifest
from aforesaid.planning.messages import make_supplement, supplement_message
from aforesaid.planning.validation import find_fault
from aforesaid.planning.values import Call, NativeContext, Plan, Supplement, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aforesaid.answers import Retrieval
    from aforesaid.model import Withheld
    from aforesaid.planning.budget import Native
    from aforesaid.planning.values import (
        Judge,
        MakeView,
        Manifest,
        Message,
        Placement,
        Retrieve,
    )

__all__ = ["Call", "NativeContext", "find_request", "give_up", "plan_context"]

NO_REQUEST = "no-request"
OVER_SOFT_LIMIT = "over-soft-limit"
OVER_HARD_LIMIT = "over-hard-limit"
OBSERVER = "observer"
PRIVACY_FAILED = "privacy-failed"
INTERNAL = "internal"


def plan_context(
    native: NativeContext,
    call: Call,
    *,
    retrieve: Retrieve | None = None,
    supplements: Sequence[Supplement] = (),
    judge: Judge | None = None,
    view: MakeView | None = None,
) -> Plan:
    """Plans one model call.

    Args:
        native: what the host would send.
        call: the model and what steers the plan.
        retrieve: finds evidence for the request once it is known what the plan leaves out; called at most once.
        supplements: what else may be added (views, project passages), best first within each kind.
        judge: says of each supplement whether it may go to the provider; None lets all of them.
        view: makes a view of the history once it is known which evidence goes out; called at most once.

    Returns:
        The plan. Failures are told in it, never raised.

    Raises:
        UsageError: `retrieve` was given wrong arguments.
    """
    planner = _Planner(native, call)
    try:
        return planner.make(retrieve, supplements, judge, view)
    except UsageError:
        raise
    except AforesaidError as error:
        return planner.give_up(error.code, failed=True)
    except Exception:  # noqa: BLE001 - an agent's call must go out whatever happens here
        return planner.give_up(INTERNAL, failed=True)


def give_up(native: NativeContext, call: Call, reason: str) -> Plan:
    """The host's own messages, where an operation failed with `reason` before anything could be planned."""
    return _Planner(native, call).give_up(reason, failed=True)


class _Planner:
    """Plans one call, from the host's messages on."""

    def __init__(self, native: NativeContext, call: Call) -> None:
        self._messages = native.messages
        self._overhead = native.overhead
        self._options = call.options
        self._limits = set_limits(call.window, call.reserve, call.options)
        self._model = call.model
        self._groups: tuple[Group, ...] = ()
        self._retrieval: Retrieval | None = None
        self._supplements: tuple[Supplement, ...] = ()

    def make(
        self,
        retrieve: Retrieve | None,
        supplements: Sequence[Supplement],
        judge: Judge | None,
        view: MakeView | None = None,
    ) -> Plan:
        """The plan, with the steps in their order."""
        request = find_request(self._messages)
        if request is None:
            return self.give_up(NO_REQUEST)
        self._groups = make_groups(self._messages)
        first = fit_native(self._groups, request, self._overhead, self._limits, self._options)
        observer = self._options.mode == "observer"
        if first.tokens > self._limits.hard and not observer:
            return self.give_up(OVER_HARD_LIMIT)
        if retrieve is not None:
            self._retrieval = retrieve(() if observer else self._left_out(first))
            if self._retrieval.status == "failed":
                return self.give_up(next(iter(self._retrieval.diagnostics.warnings), "failed"), failed=True)
            found = (make_supplement(hit, self._options.classification) for hit in self._retrieval.hits)
            supplements = (*found, *supplements)
        withheld = self._judge(supplements, judge)
        if observer:
            return self._observe(withheld)
        if view is not None:
            withheld = self._add_view(first, withheld, judge, view)
        refused, kept, reasons, spent = self._second_pass(first, withheld)
        chosen = [found for found, reason in zip(self._supplements, refused, strict=True) if not reason]
        keep = self._spread(kept)
        final = _place(self._messages, keep, request, chosen, self._options.placement)
        fault = find_fault(self._messages, final, request=request, overhead=self._overhead, limits=self._limits)
        if fault is not None:
            return self.give_up(fault, failed=True)
        decided = Decided(
            messages=self._messages, groups=self._groups, kept=kept, reasons=reasons,
            supplements=self._supplements, refused=refused, final=final, withheld=self._withheld,
        )  # fmt: skip
        return Plan(
            status="planned",
            reason=WHOLE if first.whole else OVER_SOFT_LIMIT,
            messages=final,
            manifest=self._write(decided),
            tokens=spent,
            native_tokens=self._native_tokens,
            omitted=tuple(
                [
                    message.entry_id
                    for message, goes in zip(self._messages, keep, strict=True)
                    if not goes and message.entry_id
                ]
            ),
            retrieval=self._counted(refused, withheld),
            warnings=self._warnings,
            own=self._messages,
        )

    def give_up(self, reason: str, *, failed: bool = False) -> Plan:
        """The host's own messages, because something failed or does not fit."""
        warnings = self._warnings
        if failed and reason not in warnings:
            warnings = (*warnings, reason)
        return replace(self._unchanged(reason, reason, [reason] * len(self._supplements)), status="native",
                       warnings=warnings, failed=failed)  # fmt: skip

    def _observe(self, withheld: Sequence[str]) -> Plan:
        return self._unchanged(OBSERVER, WHOLE, [reason or OBSERVER for reason in withheld])

    def _unchanged(self, reason: str, of_each: str, refused: Sequence[str]) -> Plan:
        groups = tuple(Group(kind="turn", members=(place,), tokens=0) for place in range(len(self._messages)))
        decided = Decided(
            messages=self._messages,
            groups=self._groups or groups,
            kept=(True,) * len(self._groups or groups),
            reasons=(of_each,) * len(self._groups or groups),
            supplements=self._supplements,
            refused=tuple(refused),
            final=self._messages,
            withheld=self._withheld,
        )
        return Plan(
            status="observer",
            reason=reason,
            messages=self._messages,
            manifest=self._write(decided),
            tokens=self._native_tokens,
            native_tokens=self._native_tokens,
            retrieval=self._retrieval,
            warnings=self._warnings,
            own=self._messages,
        )

    def _left_out(self, first: Native) -> tuple[str, ...]:
        """Ids of entries that the first pass left out; summaries are not decided yet, and are never evidence."""
        gone = [
            group.members
            for group, kept in zip(self._groups, first.kept, strict=True)
            if not kept and group.kind != "summary"
        ]
        return tuple(id_ for members in gone for place in members if (id_ := self._messages[place].entry_id))

    def _judge(self, supplements: Sequence[Supplement], judge: Judge | None) -> tuple[str, ...]:
        """Classifies the supplements; for each why it is withheld, empty for those that may go out."""
        judged: list[Supplement] = []
        reasons: list[str] = []
        for supplement in supplements:
            verdict = Verdict(allowed=True, classification=supplement.classification)
            if judge is not None:
                try:
                    verdict = judge(supplement)
                except Exception:  # noqa: BLE001 - what cannot be judged is withheld; the call still goes out
                    verdict = Verdict(allowed=False, classification=supplement.classification, reason=PRIVACY_FAILED)
            judged.append(replace(supplement, classification=verdict.classification))
            reasons.append("" if verdict.allowed else verdict.reason or PRIVACY)
        self._supplements = tuple(judged)
        return tuple(reasons)

    def _add_view(
        self, first: Native, withheld: tuple[str, ...], judge: Judge | None, view: MakeView
    ) -> tuple[str, ...]:
        """Asks for a view of what the evidence leaves over, and puts it beside the supplements, classified.

        Returns:
            For each supplement why it is withheld, the view's last.
        """
        judged = self._supplements
        evidence = [one for one, reason in zip(judged, withheld, strict=True) if one.kind == "retrieval" and not reason]
        fitted, spent = fit_supplements(evidence, first.tokens, first.room, self._options)
        carried = frozenset(
            one.entry_id for one, reason in zip(evidence, fitted, strict=True) if one.entry_id and not reason
        )
        made = view(self._left_out(first), carried, max(0, first.room - spent))
        if made is None:
            return withheld
        reasons = self._judge((made,), judge)
        self._supplements = (*judged, *self._supplements)
        return (*withheld, *reasons)

    def _second_pass(
        self, first: Native, withheld: Sequence[str]
    ) -> tuple[tuple[str, ...], tuple[bool, ...], tuple[str, ...], int]:
        """What is added to what the first pass kept: supplements, then summaries."""
        allowed = [found for found, reason in zip(self._supplements, withheld, strict=True) if not reason]
        fitted, spent = fit_supplements(allowed, first.tokens, first.room, self._options)
        left = iter(fitted)
        refused = tuple(reason or next(left) for reason in withheld)
        kept, reasons, spent = fit_summaries(self._groups, first, spent, self._options)
        return refused, kept, reasons, spent

    def _spread(self, kept: Sequence[bool]) -> list[bool]:
        """For each message whether its group is kept."""
        keep = [True] * len(self._messages)
        for group, goes in zip(self._groups, kept, strict=True):
            if not goes:
                for place in group.members:
                    keep[place] = False
        return keep

    def _write(self, decided: Decided) -> Manifest:
        return write_manifest(
            decided, model=self._model, limits=self._limits, classification=self._options.classification
        )

    def _counted(self, refused: Sequence[str], withheld: Sequence[str]) -> Retrieval | None:
        """The retrieval, its counts with what the plan refused."""
        if self._retrieval is None:
            return None
        counts = self._retrieval.diagnostics
        private = excluded = tokens = 0
        for found, reason, secret in zip(self._supplements, refused, withheld, strict=True):
            if found.kind == "retrieval":
                private += bool(secret)
                excluded += bool(reason and not secret)
                tokens += 0 if reason else found.tokens
        counts = replace(
            counts,
            planner_excluded_count=counts.planner_excluded_count + excluded,
            privacy_excluded_count=counts.privacy_excluded_count + private,
            selected_tokens=tokens,
        )
        return replace(self._retrieval, diagnostics=counts)

    @property
    def _withheld(self) -> tuple[Withheld, ...]:
        """What the privacy policy kept from being found."""
        return self._retrieval.withheld if self._retrieval is not None else ()

    @property
    def _native_tokens(self) -> int:
        return self._overhead + sum([message.tokens for message in self._messages])

    @property
    def _warnings(self) -> tuple[str, ...]:
        return self._retrieval.diagnostics.warnings if self._retrieval is not None else ()


def find_request(messages: Sequence[Message]) -> int | None:
    """The place of the current request: the latest real message of the user; None if there is none."""
    for place in range(len(messages) - 1, -1, -1):
        if messages[place].kind == "request":
            return place
    return None


def _place(
    messages: Sequence[Message],
    keep: Sequence[bool],
    request: int,
    chosen: Sequence[Supplement],
    placement: Placement,
) -> tuple[Message, ...]:
    """The messages that go out: views first, then project passages, then evidence with the best one last."""
    before = [message for message, goes in zip(messages[:request], keep, strict=False) if goes]
    after = messages[request:]
    views = [supplement_message(found) for found in chosen if found.kind == "view"]
    passages = [supplement_message(found) for found in chosen if found.kind == "project"][::-1]
    evidence = [supplement_message(found) for found in chosen if found.kind == "retrieval"][::-1]
    steady = [*views, *passages]
    if placement == "latest-user":
        return (*before, *steady, *evidence, *after)
    start = next((place for place, message in enumerate(before) if message.kind != "summary"), len(before))
    head, tail = before[:start], before[start:]
    if placement == "hybrid":
        return (*head, *steady, *tail, *evidence, *after)
    return (*head, *steady, *evidence, *tail, *after)
