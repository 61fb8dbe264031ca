"""Contextual ranking: the order in which candidates arrive from the store changes nothing."""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import pi

from aforesaid import Engine, lineage, ranking, retrieval
from aforesaid.answers import Candidate, Matched, Query, Relevance, Weight, Weights
from aforesaid.contextual import order, order_singly
from aforesaid.hosts import wire
from aforesaid.model import Source, StoredEntry

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from random import Random

    from aforesaid.model import Role

ROLES: tuple[Role, ...] = ("user", "assistant", "tool_call", "tool_result")
QUERY = Query(
    identifiers=("parse_port",), symbols=("parse_port",), phrases=("the old gate",), keywords=("walnut", "gate"),
    terms=("parse_port", "the old gate", "walnut", "gate"),
)  # fmt: skip
MATCHES = (
    Matched(terms=("walnut",)), Matched(terms=("gate",)), Matched(terms=("walnut", "gate")),
    Matched(identifiers=("parse_port",), terms=("parse_port",)), Matched(phrases=("the old gate",), terms=("gate",)),
)  # fmt: skip
CHANCE = st.randoms(use_true_random=False)


@st.composite
def candidates(draw: st.DrawFn) -> list[tuple[Candidate, Matched]]:
    """Rows of which many are worth the same: few roles, times, texts, places of relevance."""
    found: list[tuple[Candidate, Matched]] = []
    for row in range(1, draw(st.integers(2, 14)) + 1):
        text = draw(st.sampled_from(["a walnut gate", "parse_port in the old gate", "another"]))
        entry = StoredEntry(
            row=row, id=f"e{row:03}", kind="message", role=draw(st.sampled_from(ROLES)), text=text, parts=(len(text),),
            timestamp=draw(st.sampled_from([None, "2026-11-30T02:00:00.000Z", "2026-11-30T03:00:00.000Z"])),
            source=Source(line=row, offset=0, length=1, sha256=bytes(32)), tokens=draw(st.sampled_from([0, 40])),
            digest=sha256(text.encode()).digest()[:16],
        )  # fmt: skip
        worth = draw(st.sampled_from([None, (2.0, 0.0), (2.0, 1.5), (0.5, 0.0)]))
        relevance = None if worth is None else Relevance(own=worth[0], neighbours=worth[1])
        candidate = Candidate(
            entry=entry, position=draw(st.integers(0, 3)), order=draw(st.sampled_from([0, 3])), relevance=relevance
        )
        found.append((candidate, draw(st.sampled_from(MATCHES))))
    return found


@settings(max_examples=150)
@given(candidates(), CHANCE, st.sampled_from([frozenset[Any](), frozenset({"user"})]))
def test_candidates_that_are_worth_the_same_come_in_one_order(
    rows: list[tuple[Candidate, Matched]], chance: Random, asked: frozenset[Role]
) -> None:
    expected = ranking.rank(rows, QUERY, 20, asked=asked)
    distinct = ranking.deduplicate(expected)
    for _ in range(3):
        chance.shuffle(rows)
        again = ranking.rank(rows, QUERY, 20, asked=asked)
        assert again == expected
        assert ranking.deduplicate(again) == distinct


@settings(max_examples=150)
@given(
    st.dictionaries(st.integers(1, 16), st.tuples(st.sampled_from([0.5, 1.0]), st.sampled_from(ROLES)), min_size=2),
    st.dictionaries(st.integers(1, 16), st.sampled_from([0.25, 0.5]), max_size=4),
    st.sets(st.integers(1, 16), max_size=4),
    st.integers(1, 6),
    CHANCE,
)
def test_relevant_rows_are_chosen_alike_in_whatever_order_they_are_found(
    held: dict[int, tuple[float, Role]], semantic: dict[int, float], literal: set[int], limit: int, chance: Random
) -> None:
    branch = lineage.Places(((1, 16),))
    found = [Weight(row=row, score=score, role=role) for row, (score, role) in sorted(held.items())]
    expected = order_singly(found, branch, branch, limit, semantic=semantic, literal=literal)
    weights = Weights(
        rows=array("q", [one.row for one in found]), scores=array("d", [one.score for one in found]),
        roles=bytes([ROLES.index(one.role) for one in found]), names=ROLES,
    )  # fmt: skip
    for _ in range(3):
        chance.shuffle(found)
        others = list(semantic.items())
        chance.shuffle(others)
        named = list(literal)
        chance.shuffle(named)
        again = order_singly(found, branch, branch, limit, semantic=dict(others), literal=named)
        assert again == expected
        assert list(again)[:limit] == list(expected)[:limit]
        assert order(weights, branch, branch, limit, semantic=dict(others), literal=named) == expected


# --- the whole pipeline ---------------------------------------------------------------------------------------------


@dataclass
class Shuffle:
    """Hands on what the searches of the store found in an order of its own."""

    chance: Random | None = None
    most: int = 0

    def __call__(self, *given_: Any, **named: Any) -> Any:
        from msgspec.structs import replace

        from aforesaid.retrieval.candidates import search

        found = search(*given_, **named)
        rows = list(found.candidates)
        self.most = max(self.most, len(rows))
        if self.chance is not None:
            self.chance.shuffle(rows)
        return replace(found, candidates=tuple(rows))


REQUESTS = (
    "what about the walnut gate?", "why does `parse_port` fail?", 'who said "the old gate"?',
    "fix parse_port and the walnut gate in src/db.py", "perché il cancello di noce?", "数据库 walnut",
)  # fmt: skip


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Engine, Path]]:
    """A session of texts that are worth the same: said again in the same minute, by the same role."""
    folder = tmp_path_factory.mktemp("arrival")
    said = ["a walnut gate", "parse_port fails in src/db.py", "it was the old gate, 数据库", "il cancello di noce"]
    rows = pi.conversation([f"{said[number % 4]} {'x' * (number % 3)}{number // 12}" for number in range(60)])
    for row in rows:
        row["timestamp"] = pi.stamp(1)
    rows.append(pi.compaction("cccccccc", rows[-1]["id"], "cccccccc", minute=9))
    file = pi.write(folder / "s.jsonl", [pi.header("s"), *rows])
    with Engine.open(folder / "store", settings={"retrieval.ranking": "contextual"}) as engine:
        engine.index(file)
        yield engine, file


def told(engine: Engine, file: Path, request: str) -> bytes:
    document = wire.retrieval(engine.retrieve(session=file, query=request))
    del document["diagnostics"]["durationMs"]
    return wire.encode(document)


@settings(max_examples=25)
@given(request=st.sampled_from(REQUESTS), chance=CHANCE)
def test_the_answer_is_the_same_to_the_byte(session: tuple[Engine, Path], request: str, chance: Random) -> None:
    engine, file = session
    shuffle = Shuffle()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(retrieval, "search", shuffle)
        expected = told(engine, file, request)
        assert shuffle.most > 5
        shuffle.chance = chance
        for _ in range(2):
            assert told(engine, file, request) == expected
