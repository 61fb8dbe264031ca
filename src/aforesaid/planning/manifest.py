"""Floor 5: the record of one planned call: metadata only, bounded, honest about what it leaves out. Pure.

`plan_context` calls `write_manifest` with what it decided; stores keep the result.
"""

from __future__ import annotations

from hashlib import sha256
from json import dumps, loads
from re import compile as regex
from typing import TYPE_CHECKING

from msgspec import Struct, convert, to_builtins
from msgspec.structs import replace

from aforesaid.planning.values import Manifest, ManifestItem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aforesaid.model import Withheld
    from aforesaid.planning.groups import Group
    from aforesaid.planning.values import Limits, Message, Plan, Supplement

PACKED_BYTES = 65_536
"""Of a record that is kept."""
MOST_ITEMS = 1000
"""Items of each list. Supplements come first, then the latest of the host's own messages."""

WITHDRAWN = "undelivered"
"""What the reason of a plan and of its items begins with that was made and did not go out."""
_CODE = regex(r"[a-z][a-z0-9-]{0,39}")

PRIVACY = "privacy"
"""What the reason of an item begins with that the privacy policy withheld: of that only id, class and reason remain."""


class Decided(Struct, frozen=True, kw_only=True):
    """What a plan decided.

    Attributes:
        messages: the host's own list.
        groups: its groups, and parallel to them
        kept: which go out, and
        reasons: why or why not.
        supplements: best first within each kind, and parallel to them
        refused: why they are left out; empty for those that go in.
        final: the messages that go out.
        withheld: what the privacy policy kept from being found.
    """

    messages: tuple[Message, ...]
    groups: tuple[Group, ...]
    kept: tuple[bool, ...]
    reasons: tuple[str, ...]
    supplements: tuple[Supplement, ...]
    refused: tuple[str, ...]
    final: tuple[Message, ...]
    withheld: tuple[Withheld, ...] = ()


def write_manifest(decided: Decided, *, model: str | None, limits: Limits, classification: str) -> Manifest:
    """The manifest of a plan.

    Args:
        decided: what goes out and what not.
        model: `provider/model`, if known.
        limits: the budget.
        classification: of the host's own messages.
    """
    owner = [0] * len(decided.messages)
    for number, group in enumerate(decided.groups):
        for place in group.members:
            owner[place] = number
    inside = [place for place, number in enumerate(owner) if decided.kept[number]]
    outside = [place for place, number in enumerate(owner) if not decided.kept[number]]
    added = [number for number, reason in enumerate(decided.refused) if not reason]
    refused = [number for number, reason in enumerate(decided.refused) if reason]

    def native(place: int) -> ManifestItem:
        message, number = decided.messages[place], owner[place]
        return ManifestItem(
            kind="summary" if message.kind == "summary" else "recent",
            entry_id=message.entry_id,
            classification=classification,
            score=None,
            tokens=message.tokens,
            group_id=f"g{number}",
            reason=decided.reasons[number],
        )

    def supplement(number: int) -> ManifestItem:
        found, refused = decided.supplements[number], decided.refused[number]
        secret = refused.startswith(PRIVACY)
        return ManifestItem(
            kind=found.kind,
            entry_id=found.entry_id,
            classification=found.classification,
            score=None if secret else found.score,
            tokens=0 if secret else found.tokens,
            group_id=f"s{number}",
            reason=refused or found.reason,
        )

    def private(found: Withheld) -> ManifestItem:
        return ManifestItem(
            kind="retrieval",
            entry_id=found.entry_id,
            classification=found.classification,
            score=None,
            tokens=0,
            group_id="",
            reason=found.reason,
        )

    places = _latest(inside, MOST_ITEMS - min(len(added), MOST_ITEMS))
    secret = decided.withheld[: MOST_ITEMS - min(len(refused), MOST_ITEMS)]
    gone = _latest(outside, MOST_ITEMS - min(len(refused) + len(secret), MOST_ITEMS))
    return Manifest(
        model=model,
        limits=limits,
        included=(*map(native, places), *map(supplement, added[:MOST_ITEMS])),
        excluded=(*map(native, gone), *map(supplement, refused[:MOST_ITEMS]), *map(private, secret)),
        retrieved_event_ids=tuple(
            id_
            for number in added[:MOST_ITEMS]
            if decided.supplements[number].kind == "retrieval" and (id_ := decided.supplements[number].entry_id)
        ),
        messages_sha256=digest_messages(decided.final),
        sampled=len(places) < len(inside)
        or len(gone) < len(outside)
        or len(secret) < len(decided.withheld)
        or max(len(added), len(refused)) > MOST_ITEMS,
    )


def leave_out(plan: Plan, withheld: Sequence[Withheld]) -> Plan:
    """The plan without supplements that were withheld once it was made; of those remain id, class and reason."""
    gone = {one.entry_id: one for one in withheld if one.entry_id}
    messages = tuple(one for one in plan.messages if one.source == "native" or one.entry_id not in gone)
    kept: list[ManifestItem] = []
    left: list[ManifestItem] = []
    for item in plan.manifest.included:
        found = gone.get(item.entry_id or "") if item.kind not in {"recent", "summary"} else None
        if found is None:
            kept.append(item)
        else:
            reason, level = found.reason, found.classification
            left.append(replace(item, score=None, tokens=0, classification=level, reason=reason))
    manifest = replace(
        plan.manifest,
        included=tuple(kept),
        excluded=(*plan.manifest.excluded, *left),
        retrieved_event_ids=tuple(id_ for id_ in plan.manifest.retrieved_event_ids if id_ not in gone),
        messages_sha256=digest_messages(messages),
    )
    return replace(plan, messages=messages, manifest=manifest)


def withdraw(plan: Plan, reason: str) -> Plan:
    """The plan as it is once nothing of it went out: the host's own messages did, all of them.

    Args:
        plan: what was planned.
        reason: a code of the host; anything else counts as none.
    """
    code = f"{WITHDRAWN}:{reason}" if _CODE.fullmatch(reason) else WITHDRAWN
    manifest = plan.manifest
    of_host = ("recent", "summary")
    back = [replace(item, reason=code) for item in manifest.excluded if item.kind in of_host]
    own = sorted([*(item for item in manifest.included if item.kind in of_host), *back], key=_group)
    left = [replace(item, reason=code) for item in manifest.included if item.kind not in of_host]
    changed = replace(
        manifest,
        included=tuple(own[-MOST_ITEMS:]),
        excluded=(*(item for item in manifest.excluded if item.kind not in of_host), *left)[:MOST_ITEMS],
        retrieved_event_ids=(),
        messages_sha256=digest_messages(plan.own),
        sampled=manifest.sampled or len(own) > MOST_ITEMS,
    )
    return replace(plan, reason=code, messages=plan.own, manifest=changed, tokens=plan.native_tokens, omitted=())


def _group(item: ManifestItem) -> int:
    """The place of an item's group among the host's; groups hardly ever cross."""
    return int(item.group_id[1:])


def digest_messages(messages: Sequence[Message]) -> str:
    """SHA-256, in hexadecimal, of the digests of messages in their order."""
    return sha256(b"".join([message.sha256 for message in messages])).hexdigest()


def _latest(places: list[int], most: int) -> list[int]:
    return places[len(places) - most :] if len(places) > most else places


def pack_manifest(manifest: Manifest) -> str:
    """A manifest as a record of bounded length: ASCII, JSON. What does not fit is left out, which it then says."""
    most = max(len(manifest.included), len(manifest.excluded))
    while True:
        packed = dumps(to_builtins(manifest), separators=(",", ":"))
        if len(packed) <= PACKED_BYTES or not most:
            return packed
        most //= 2
        manifest = replace(
            manifest,
            included=_sample(manifest.included, most),
            excluded=_sample(manifest.excluded, most),
            retrieved_event_ids=manifest.retrieved_event_ids[:most],
            sampled=True,
        )


def unpack_manifest(packed: str) -> Manifest:
    """What `pack_manifest` was given, as far as it was kept.

    Raises:
        ValueError: the record is no manifest.
    """
    return convert(loads(packed), Manifest)


def _sample(items: tuple[ManifestItem, ...], most: int) -> tuple[ManifestItem, ...]:
    """The last items: supplements stand behind the host's own messages, and those are in order of time."""
    return items[len(items) - most :] if len(items) > most else items
