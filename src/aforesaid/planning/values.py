"""Floor 5: the values of planning: what a host hands in, and what it gets back.

A host's reader makes `Message` values, `engine` makes `Call` and `Supplement` values, `plan_context` answers with a
`Plan`. The planner never looks into `Message.content`: it hands back what it was given. A `Manifest` holds metadata
only, never any text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO, Literal, Protocol, TypeAlias

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from aforesaid.answers import Retrieval
    from aforesaid.model import StoredEntry

MessageKind = Literal["request", "message", "result", "summary"]
"""What a message is for the planner: a real message of the user, which opens a turn; any other message; the result of a
tool call; the summary of a compaction or of a branch."""
MessageSource = Literal["native", "evidence", "view"]
SupplementKind = Literal["retrieval", "project", "view"]
ItemKind = Literal["recent", "retrieval", "project", "summary", "view"]
Placement = Literal["latest-user", "stable-prefix", "hybrid"]
PlanMode = Literal["managed", "observer"]
PlanStatus = Literal["planned", "observer", "native"]


class Message(Struct, frozen=True, kw_only=True, gc=False):
    """One message of a model call.

    Attributes:
        role: the role as the host sends it (`user`, `assistant`, `toolResult`, …).
        kind: what the message is for the planner.
        tokens: estimated tokens.
        sha256: digest of its compact JSON `{"role":…,"content":…}`.
        content: what the host sends, untouched.
        entry_id: the entry that it comes from, if it comes from one.
        calls: ids of the tool calls that it makes.
        answers: for a result, the id of the call that it answers.
        source: who wrote it: the host, or this product.
    """

    role: str
    kind: MessageKind
    tokens: int
    sha256: bytes
    content: object = None
    entry_id: str | None = None
    calls: tuple[str, ...] = ()
    answers: str | None = None
    source: MessageSource = "native"


class NativeContext(Struct, frozen=True, kw_only=True):
    """What a host would send by itself.

    Attributes:
        messages: in the host's order, without the system prompt.
        overhead: estimated tokens of what goes out with them and is no message: system prompt, definitions of tools.
    """

    messages: tuple[Message, ...]
    overhead: int = 0


class ContextPort(Protocol):
    """Makes of a session's file what its host would send to a model."""

    def context(
        self, source: BinaryIO, entries: Sequence[StoredEntry], edits: Mapping[int, StoredEntry], compaction: int | None
    ) -> NativeContext | None:
        """The messages of a context, or None if the file does not hold the lines of the entries any more.

        Args:
            source: the file, opened for reading bytes.
            entries: what the host shows, in branch order (`model.Projection`).
            edits: for rows that are shown otherwise than they were said, the entry that says how.
            compaction: row of the compaction that counts, or None.
        """
        ...


class Supplement(Struct, frozen=True, kw_only=True):
    """A text that may be added to a model call; it goes in whole or not at all.

    Attributes:
        kind: where it comes from.
        text: the exact text of the message.
        tokens: its estimated tokens.
        entry_id: the source's id; the source itself is never named in a manifest.
        score: of the ranking, if it was ranked.
        reason: codes of why it was found; never any text.
        classification: of the source.
    """

    kind: SupplementKind
    text: str
    tokens: int
    entry_id: str | None = None
    score: float | None = None
    reason: str = ""
    classification: str = "normal"


class Verdict(Struct, frozen=True, kw_only=True):
    """What a privacy policy says of a supplement: whether it may go to the provider that is called, and why not."""

    allowed: bool
    classification: str = "normal"
    reason: str = ""


Judge: TypeAlias = "Callable[[Supplement], Verdict]"
MakeView: TypeAlias = "Callable[[tuple[str, ...], frozenset[str], int], Supplement | None]"
"""Makes a view of the history. Takes the ids of the entries that the plan left out, those of the evidence that goes
out, which the view must not repeat, and the tokens that are left."""
Retrieve: TypeAlias = "Callable[[tuple[str, ...]], Retrieval]"
"""Retrieves for the current request. Takes the ids of the entries that the plan left out of the host's messages: they
count as not in the context."""


class PlanOptions(Struct, frozen=True, kw_only=True):
    """What steers a plan; `docs/planning.md` says how.

    Attributes:
        mode: `observer` passes everything through and only measures (`context.mode`).
        target_ratio, soft_ratio, hard_ratio: parts of the window (`context.targetFillRatio`, …).
        recent_tail_tokens: most tokens of earlier turns, where turns are left out (`context.recentTailTokens`).
        max_retrieved_tokens, max_project_tokens, max_summary_tokens: most tokens of each kind.
        placement: where supplements stand (`context.supplementalPlacement`).
        classification: of text that nothing else classifies (`privacy.defaultClassification`).
    """

    mode: PlanMode = "managed"
    target_ratio: float = 0.7
    soft_ratio: float = 0.8
    hard_ratio: float = 0.9
    recent_tail_tokens: int = 64_000
    max_retrieved_tokens: int = 16_000
    max_project_tokens: int = 20_000
    max_summary_tokens: int = 12_000
    placement: Placement = "latest-user"
    classification: str = "normal"


class Call(Struct, frozen=True, kw_only=True):
    """The model call that is planned.

    Attributes:
        window: the model's context window, in tokens.
        reserve: tokens kept free for the answer; None takes a tenth of the window, at most 16,384.
        model: `provider/model`, for the manifest.
        options: mode, limits, caps, placement.
    """

    window: int
    reserve: int | None = None
    model: str | None = None
    options: PlanOptions = PlanOptions()


class Limits(Struct, frozen=True, kw_only=True):
    """The budget of one call, in estimated tokens: `target` <= `soft` <= `hard` <= `window` - `reserve`.

    Attributes:
        window: the model's context window.
        reserve: kept free for the model's answer.
        target: what a plan that leaves turns out fills at most.
        soft: where turns begin to be left out, and what supplements never exceed.
        hard: what a plan never exceeds.
    """

    window: int
    reserve: int
    target: int
    soft: int
    hard: int


class ManifestItem(Struct, frozen=True, kw_only=True, gc=False):
    """One message that was included or left out.

    Attributes:
        kind: `recent` for the host's own messages, `summary` for its summaries, else the supplement's kind.
        entry_id: the source's id, if it has one.
        classification: of the privacy policy.
        score: of the ranking, for retrieved entries.
        tokens: estimated.
        group_id: messages with the same id go in or out together.
        reason: a code, or the `;`-joined codes of the ranking.
    """

    kind: ItemKind
    entry_id: str | None
    classification: str
    score: float | None
    tokens: int
    group_id: str
    reason: str


class Manifest(Struct, frozen=True, kw_only=True):
    """What one planned model call holds and what not, and why; never any text.

    Attributes:
        model: `provider/model`, or None where nobody said.
        limits: the budget.
        included: items that go out, in the order of the messages.
        excluded: items that do not.
        retrieved_event_ids: source entries of the retrieved evidence that goes out, best first.
        messages_sha256: digest of the digests (32 bytes each) of the final messages, in order.
        sampled: whether items are missing because there were too many.
    """

    model: str | None
    limits: Limits
    included: tuple[ManifestItem, ...] = ()
    excluded: tuple[ManifestItem, ...] = ()
    retrieved_event_ids: tuple[str, ...] = ()
    messages_sha256: str = ""
    sampled: bool = False


class KeptManifest(Struct, frozen=True, kw_only=True):
    """A manifest that a store kept, and when (seconds since 1970, UTC)."""

    at: float
    manifest: Manifest


class Plan(Struct, frozen=True, kw_only=True):
    """The messages of one model call.

    Attributes:
        status: `planned`; `observer`: only measured; `native`: the host's own messages, because something failed.
        reason: a code: `whole` or `over-soft-limit` of a plan, `observer`, else what failed.
        messages: what is to be sent. With `observer` and `native` exactly the host's list.
        manifest: what went in and what not.
        tokens: estimated tokens of all of it, overhead included.
        native_tokens: the same of the host's own list.
        omitted: ids of the entries whose messages the plan leaves out of the host's list.
        retrieval: what was found between the two passes; None if it was not asked for. Its diagnostics count what the
            plan left out.
        warnings: stable codes.
        failed: whether an operation failed (and not only a limit was met).
        own: the host's own list.
    """

    status: PlanStatus
    reason: str
    messages: tuple[Message, ...]
    manifest: Manifest
    tokens: int = 0
    native_tokens: int = 0
    omitted: tuple[str, ...] = ()
    retrieval: Retrieval | None = None
    warnings: tuple[str, ...] = ()
    failed: bool = False
    own: tuple[Message, ...] = ()
