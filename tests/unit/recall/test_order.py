from __future__ import annotations

from math import fsum
from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.fakes.entries import spans_within

from aforesaid import ranking
from aforesaid.inquiry import ROLES, Question
from aforesaid.lineage import Places
from aforesaid.patterns import read_pattern
from aforesaid.recall.order import Order
from aforesaid.recall.views import View

if TYPE_CHECKING:
    from aforesaid.model import Role

SPEAKERS = st.sampled_from(ROLES)


@settings(max_examples=300)
@given(st.data(), st.integers(1, 40))
def test_the_fast_way_gives_the_scores_of_ranking_and_leaves_out_only_lower_ones(
    data: st.DataObject, entries: int
) -> None:
    branch = Places(data.draw(spans_within(entries)))
    view = View(spans=((1, entries),), branch=branch, context=Places(()), leaf=None, last=entries)
    rows = sorted(data.draw(st.lists(st.integers(1, entries), unique=True)))
    standings: list[tuple[int, Role, int]] = [
        (row, data.draw(SPEAKERS), data.draw(st.integers(0, 6000))) for row in rows
    ]
    pattern = read_pattern("src/app.py other", "literal", "all")
    order = Order(Question(text="src/app.py other"), pattern)
    matched = pattern.items if pattern is not None else ()
    expected: list[tuple[float, tuple[int, Role, int]]] = []
    for row, role, tokens in standings:
        place = branch.of(row)
        on = place is not None
        recency = ranking.recency(place if place is not None else row - 1, branch.length if on else entries)
        addends = (*order.worth(matched), ranking.BRANCH * on, ranking.AUTHORITY.get(role, 0.0), recency)
        expected.append((round(fsum((*addends, ranking.cost(tokens))), 4), (row, role, tokens)))
    assert order.rank(standings, view, matched) == expected
    if expected:
        least = data.draw(st.sampled_from([score for score, _ in expected]))
        kept = order.rank(standings, view, matched, least=least)
        assert [pair for pair in kept if pair[0] >= least] == [pair for pair in expected if pair[0] >= least]
        assert set(kept) <= set(expected)
    browsing = Order(Question(), None)
    assert browsing.rank(standings, view, ()) == [(0.0, standing) for standing in standings]
