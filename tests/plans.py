"""Made-up messages and retrievals for tests of planning, and by brute force which messages belong together."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from hypothesis import strategies as st
from msgspec.structs import replace

from aforesaid.planning.values import Call, Message, NativeContext, PlanOptions, Supplement
from tests.values import make_evidence, make_retrieval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aforesaid.answers import Evidence, Retrieval
    from aforesaid.planning.values import MessageKind

NO_CAPS = PlanOptions(recent_tail_tokens=10**9, max_retrieved_tokens=10**9, max_summary_tokens=10**9)


def message(
    kind: MessageKind, tokens: int, id_: str | None = None, *, calls: tuple[str, ...] = (), answers: str | None = None
) -> Message:
    role = {"request": "user", "message": "assistant", "result": "toolResult", "summary": "user"}[kind]
    return Message(
        role=role, kind=kind, tokens=tokens, sha256=sha256(str(id_).encode()).digest(), content=f"text of {id_}",
        entry_id=id_, calls=calls, answers=answers,
    )  # fmt: skip


def turn(number: int, question: int, answer: int) -> tuple[Message, Message]:
    """A question and its answer, `q1` and `a1`."""
    return message("request", question, f"q{number}"), message("message", answer, f"a{number}")


def native(*messages: Message, overhead: int = 0) -> NativeContext:
    return NativeContext(messages=messages, overhead=overhead)


def found(*tokens: int, **more: object) -> Retrieval:
    """A retrieval whose hits `h0`, `h1`, … cost so many tokens."""
    return make_retrieval(*(hit(f"h{place}", cost) for place, cost in enumerate(tokens)), **more)  # type: ignore[arg-type]


def hit(id_: str, tokens: int) -> Evidence:
    return replace(make_evidence(f"secret words of {id_}", id=id_), tokens=tokens)


def passage(id_: str, tokens: int) -> Supplement:
    return Supplement(kind="project", text=f"passage {id_}", tokens=tokens, entry_id=id_, reason="file:1")


def view(tokens: int) -> Supplement:
    return Supplement(kind="view", text="the view", tokens=tokens, reason="view")


def call(window: int, *, reserve: int = 0, **options: object) -> Call:
    return Call(window=window, reserve=reserve, model="faux/m", options=PlanOptions(**options))  # type: ignore[arg-type]


# --- what belongs together, by definition -------------------------------------------------------------------------


def partition(messages: Sequence[Message]) -> list[frozenset[int]]:
    """The places that go in or out together, in the order of their first: each found by looking back, one by one."""
    owner = [_owner(messages, place) for place in range(len(messages))]
    groups: dict[int, set[int]] = {}
    for place, first in enumerate(owner):
        groups.setdefault(first, set()).add(place)
    return [frozenset(members) for _, members in sorted(groups.items())]


def _owner(messages: Sequence[Message], place: int) -> int:
    """The place of the message that opens the group of a message."""
    own = messages[place]
    if own.kind in {"request", "summary"}:
        return place
    if own.kind == "result":
        for before in range(place - 1, -1, -1):
            if own.answers and own.answers in messages[before].calls:
                return _owner(messages, before)
        return place
    # The turn that is open: back to what opened it, or to the first message since a summary or the beginning.
    opener = place
    for before in range(place - 1, -1, -1):
        if messages[before].kind == "summary":
            break
        if messages[before].kind != "result":
            opener = before
        if messages[before].kind == "request":
            break
    return opener


# --- any context ----------------------------------------------------------------------------------------------------


class Case(NamedTuple):
    """A context with its limits and what retrieval finds."""

    native: NativeContext
    call: Call
    hits: tuple[int, ...]


CALL_IDS = ("c1", "c2", "c3", "", "toolu_1")


@st.composite
def contexts(draw: st.DrawFn, *, most: int = 24, asked: bool = False) -> NativeContext:
    """Messages in any order: also results without calls, reused call ids, results after a steering message."""
    messages: list[Message] = []
    for place in range(draw(st.integers(0, most))):
        kind: MessageKind = draw(st.sampled_from(("request", "message", "message", "result", "result", "summary")))
        id_ = draw(st.sampled_from((f"e{place}", f"e{place}", None)))
        made = message(kind, draw(st.integers(0, 60)), id_)
        if kind == "message":
            made = replace(made, calls=tuple(draw(st.lists(st.sampled_from(CALL_IDS), max_size=2))))
        elif kind == "result":
            made = replace(made, answers=draw(st.sampled_from((*CALL_IDS, None))))
        messages.append(made)
    if asked and not any(made.kind == "request" for made in messages[-6:]):
        messages.append(message("request", draw(st.integers(0, 60)), "last"))
    return NativeContext(messages=tuple(messages), overhead=draw(st.integers(0, 40)))


@st.composite
def cases(draw: st.DrawFn) -> Case:
    ratios = sorted(draw(st.lists(st.floats(0.3, 1), min_size=3, max_size=3)))
    options = PlanOptions(
        target_ratio=ratios[0],
        soft_ratio=ratios[1],
        hard_ratio=ratios[2],
        recent_tail_tokens=draw(st.integers(0, 600)),
        max_retrieved_tokens=draw(st.integers(0, 300)),
        max_summary_tokens=draw(st.integers(0, 100)),
        placement=draw(st.sampled_from(("latest-user", "stable-prefix", "hybrid"))),
    )
    window = draw(st.integers(100, 1200))
    made = Call(window=window, reserve=draw(st.none() | st.integers(0, 60)), options=options)
    return Case(
        draw(contexts(asked=draw(st.integers(0, 9)) > 0)), made, tuple(draw(st.lists(st.integers(1, 80), max_size=6)))
    )
