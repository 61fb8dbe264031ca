"""The worked case of `docs/ranking.md`: what a vector is worth, and which rows it brings back."""

from __future__ import annotations

from array import array

import pytest
from msgspec.structs import replace
from tests.values import make_entry

from aforesaid import contextual, lineage, ranking
from aforesaid.answers import Candidate, Matched, Query, Relevance, Weight, Weights
from aforesaid.embedding import Scale, Similar
from aforesaid.fusion import DOCUMENTED, fuse, still_says, without_vector
from aforesaid.passages import hash_of

SCALE = Scale(plain=0.2, strict=0.5, weight=0.8)
BRANCH = lineage.Places(((1, 5),))
VEHICLE = "We bought a vehicle."


def similar(row: int, similarity: float, text: str = VEHICLE) -> Similar:
    return Similar(row=row, similarity=similarity, start=0, end=len(text), hash=hash_of(text))


def test_the_worked_case_of_the_documentation() -> None:
    fused = fuse([similar(2, 0.9), similar(3, 0.6)], SCALE, BRANCH)
    assert fused.admitted == {2, 3}
    rows = []
    for row, role, order in ((2, "user", 0), (3, "assistant", None)):
        candidate = Candidate(
            entry=make_entry(VEHICLE, row=row, id=f"e{row}", role=role, tokens=8),
            position=row - 1,
            order=order,
            semantic=DOCUMENTED * fused.worth[row],
            passage=(0, 20),
            admitted=row in fused.admitted,
        )
        rows.append((candidate, Matched(terms=("vehicle",) if order == 0 else ())))
    first, second = ranking.rank(rows, Query(keywords=("vehicle",), terms=("vehicle",)), 5)
    assert {part.name: part.value for part in first.parts} == {
        "fts": 71.0,
        "branch": 15.0,
        "authority": 8.0,
        "recency": 2.0,
        "tokens": -0.024,
        "semantic": 15.0,
    }
    assert first.score == 110.976
    assert first.reason == "terms:1;semantic;user"
    assert {part.name: part.value for part in second.parts} == {
        "branch": 15.0,
        "authority": 5.0,
        "recency": 4.0,
        "tokens": -0.024,
        "semantic": 71.5,
    }
    assert second.score == 95.476
    assert second.reason == "semantic;assistant"


def test_contextual_ranking_adds_a_vector_before_neighbours_take_their_share() -> None:
    fused = fuse([similar(2, 0.9), similar(4, 0.3)], SCALE, lineage.Places(((1, 3),)))
    assert fused.worth == pytest.approx({2: 0.75, 4: 0.8 * (0.5 * 15 / 16 + 0.5 * 0.125)})
    assert set(fused.passages) == {2}
    weights = Weights(rows=array("q", [1]), scores=array("d", [4.0]), roles=b"\0", names=("user", "assistant"))
    others = [Weight(row=2, score=0.0, role="assistant")]
    semantic = {row: 4.0 * worth for row, worth in fused.worth.items()}
    found = contextual.order(weights, BRANCH, lineage.Places(((1, 3),)), 9, semantic=semantic, others=others)
    assert found[2].semantic == pytest.approx(3.0)
    assert found[1].neighbours == pytest.approx(contextual.NEXT * 3.0)
    assert found[2].neighbours == pytest.approx(contextual.FAR * 4.0 * fused.worth[4])
    candidate = Candidate(
        entry=make_entry(VEHICLE, row=2, role="user"), position=1, order=None, relevance=found[2], admitted=True
    )
    (ranked,) = ranking.rank([(candidate, Matched())], Query(terms=("vehicle",)), 5)
    parts = {part.name: part.value for part in ranked.parts}
    assert parts["semantic"] == 30.0
    assert parts["authority"] == pytest.approx(ranking.USER * (30.0 + parts["neighbours"]), abs=1e-3)


def test_only_the_strict_floor_brings_back_what_holds_nothing() -> None:
    fused = fuse([similar(1, 0.5), similar(2, 0.4999), similar(9, 0.99)], SCALE, BRANCH)
    assert fused.admitted == {1}


@pytest.mark.parametrize(
    ("likeness", "standing", "admitted"),
    [(0.4, 3.5, True), (0.4, 3.49, False), (0.3999, 9.0, False), (0.5, 0.0, True)],
)
def test_what_is_likely_and_stands_out_comes_back_too(likeness: float, standing: float, admitted: bool) -> None:
    one = replace(similar(1, likeness), standing=standing)
    assert bool(fuse([one], replace(SCALE, likely=0.4, standing=3.5), BRANCH).admitted) is admitted
    assert bool(fuse([one], SCALE, BRANCH).admitted) is (likeness >= SCALE.strict)


def test_no_vector_displaces_a_literal() -> None:
    candidates = [
        (Candidate(entry=make_entry(row=1, id="a"), position=0, order=None), Matched(identifiers=("src/db.py",))),
        (Candidate(entry=make_entry(row=2, id="b"), position=1, order=None), Matched(phrases=("port",))),
        (Candidate(entry=make_entry(row=3, id="c"), position=4, order=0, semantic=20.0, admitted=True), Matched()),
        (
            Candidate(entry=make_entry(row=4, id="d"), position=4, order=0, semantic=20.0, admitted=True),
            Matched(terms=("port", "db", "src")),
        ),
    ]
    ranked = ranking.rank(candidates, Query(identifiers=("src/db.py",), phrases=("port",), terms=("port",)), 5)
    assert [row.candidate.entry.id for row in ranked] == ["a", "b", "d", "c"]


def test_a_vector_of_another_text_leaves_what_the_words_say() -> None:
    assert still_says(make_entry(VEHICLE), similar(1, 0.9))
    assert not still_says(make_entry(VEHICLE.upper()), similar(1, 0.9))
    assert without_vector(Relevance(own=2.0, neighbours=1.0, semantic=3.0)) == Relevance(own=2.0, neighbours=1.0)
    assert without_vector(Relevance(own=0.0, neighbours=1.0, semantic=3.0)) is None
