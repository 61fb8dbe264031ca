"""Entries for tests of stores: small ones by hand, random trees by hypothesis."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from hypothesis import strategies as st

from aforesaid.model import Checkpoint, Compaction, Edit, Entry, Header, Session, Source
from tests.words import any_text

if TYPE_CHECKING:
    from collections.abc import Sequence

ROLES = ("user", "assistant", "tool_call", "tool_result", "shell", "summary", "custom")


def entry(id_: str, parent: str | None = None, *texts: str, line: int = 1, **more: object) -> Entry:
    """An entry; whatever is not given is what an ordinary message of the user has."""
    fields: dict[str, object] = {
        "kind": "message",
        "role": "user",
        "timestamp": None,
        "source": Source(
            line=line, offset=100 * line, length=90, sha256=sha256(id_.encode("utf-8", "replace")).digest()
        ),
    }
    return Entry(id=id_, parent=parent, parts=texts, **(fields | more))  # type: ignore[arg-type]


def chain(*texts: str, prefix: str = "e") -> list[Entry]:
    """Messages in a line, numbered from 1."""
    return [
        entry(f"{prefix}{number}", f"{prefix}{number - 1}" if number > 1 else None, text, line=number)
        for number, text in enumerate(texts, 1)
    ]


def described(file: str, *, session_id: str = "s", host: str = "pi", **more: object) -> Session:
    """A session as indexing hands it to `commit`."""
    header = Header(host=host, session_id=session_id, cwd="/home/dev", parent=None)
    fields: dict[str, object] = {"header": header, "checkpoint": Checkpoint(offset=10, parser=1)}
    return Session(key="", file=file, **(fields | more))  # type: ignore[arg-type]


_IDS = st.sampled_from(["", "é", "\ud800", "id with blanks", 'quo"te', "nul\x00", "日本"])
_TIMES = st.none() | st.integers(0, 5).map(lambda minute: f"2026-11-30T00:0{minute}:00.000Z")
_WORDS = st.lists(st.sampled_from(["alpha", "beta", "Beta", "gamma_ray", "parsePort", "->", "数据库", "perché"])).map(
    " ".join
)


@st.composite
def trees(draw: st.DrawFn) -> tuple[Entry, ...]:
    """A session of any shape: forks, several roots, forward parents, circles, ties in text and time, odd ids."""
    count = draw(st.integers(0, 14))
    ids = [f"e{number}" for number in range(count)]
    for odd in draw(st.lists(_IDS, unique=True, max_size=min(3, count))):
        ids[draw(st.integers(0, count - 1))] = odd
    ids = list(dict.fromkeys(ids))
    made: list[Entry] = []
    for number, id_ in enumerate(ids):
        before = ids[number - 1] if number else None
        parent = draw(st.one_of(st.just(before), st.just(before), st.none(), st.sampled_from(ids)))
        texts = draw(st.lists(_WORDS | any_text, max_size=3))
        made.append(
            entry(
                id_,
                parent,
                *texts,
                line=number + 2,
                role=draw(st.sampled_from(ROLES)),
                timestamp=draw(_TIMES),
                automatic=draw(st.sampled_from([True, True, True, False])),
                request=draw(st.booleans()),
                tools=tuple(draw(st.lists(any_text, max_size=1))),
                files=tuple(draw(st.lists(any_text, max_size=1))),
                calls=tuple(draw(st.lists(st.sampled_from(["c1", "c2", "c3", ""]), max_size=2))),
                compaction=draw(st.none() | st.builds(Compaction, kept_from=st.sampled_from(ids) | st.none())),
                edit=draw(st.none() | st.builds(Edit, target=st.sampled_from(ids), replaced=st.booleans())),
            )
        )
    return tuple(made)


@st.composite
def spans_within(draw: st.DrawFn, last: int) -> tuple[tuple[int, int], ...]:
    """Disjoint spans of the rows 1 to `last`, in any order, some beyond the end."""
    cuts = sorted(draw(st.lists(st.integers(1, last + 3), max_size=6, unique=True)))
    spans = [(first, second) for first, second in zip(cuts[::2], cuts[1::2], strict=False)]
    return tuple(draw(st.permutations(spans)))


def batches(entries: Sequence[Entry], size: int) -> list[Sequence[Entry]]:
    """The entries in pieces, as indexing appends them."""
    return [entries[start : start + size] for start in range(0, len(entries), size)]
