from __future__ import annotations

from math import fsum
from typing import TYPE_CHECKING, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.fakes.entries import spans_within

from aforesaid import ranking
from aforesaid.inquiry import ROLES, Filter, Outline, Question
from aforesaid.lineage import Places
from aforesaid.model import Header, Session
from aforesaid.patterns import read_pattern
from aforesaid.recall.candidates import AT_ONCE, Candidates, ask_latest, ask_named, ask_weighed
from aforesaid.recall.order import Order
from aforesaid.recall.reading import Budget, search
from aforesaid.recall.views import View

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aforesaid.inquiry import Standing
    from aforesaid.model import Role, Span
    from aforesaid.ports import BrowsePort, Snapshot

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
        first = order.first_row(view, matched, least)
        assert all(row >= first for score, (row, _, _) in expected if score >= least)
    browsing = Order(Question(), None)
    assert browsing.first_row(view, (), 5.0) == 1
    assert browsing.rank(standings, view, ()) == [(0.0, standing) for standing in standings]


def test_only_the_last_rows_may_come_before_a_high_score() -> None:
    view = View(spans=((1, 401),), branch=Places(((1, 401),)), context=Places(()), leaf=None, last=401)
    pattern = read_pattern("the", "literal", "all")
    order = Order(Question(text="the"), pattern)
    ((best, _),) = order.rank([(401, "user", 0)], view, ("the",))
    assert order.first_row(view, ("the",), best) == 401
    assert order.first_row(view, ("the",), best - ranking.RECENCY / 4) == 301
    assert order.first_row(view, ("the",), best - ranking.RECENCY) == 1
    aside = View(spans=((1, 401),), branch=Places(()), context=Places(()), leaf=None, last=401)
    assert order.first_row(aside, ("the",), best - ranking.BRANCH) == 401
    turned = View(spans=((1, 401),), branch=Places(((301, 401), (1, 300))), context=Places(()), leaf=None, last=401)
    assert order.first_row(turned, ("the",), best) == 300, "the branch ends there"


class Watched:
    """A session of which the index says that only some rows may match, and what was asked of it."""

    def __init__(self, proposed: tuple[int, ...]) -> None:
        self.proposed = proposed
        self.asked: list[str] = []

    def propose(self, spans: Sequence[Span] = ()) -> Sequence[int]:
        self.asked.append(f"propose {spans}")
        return [row for row in self.proposed if not spans or any(first <= row <= last for first, last in spans)]

    def outlines(self, spans: Sequence[Span], wanted: Filter, rows: Sequence[int] | None = None) -> tuple[Outline, ...]:
        self.asked.append(f"outlines {rows}")
        return tuple(
            Outline(row=row, id=f"{row:03}", kind="message", role="user", timestamp=None, tokens=10, digest=b"")
            for row in (rows or ())
        )

    def standings(
        self, spans: Sequence[Span], wanted: Filter, rows: Sequence[int] | None = None
    ) -> tuple[Standing, ...]:
        self.asked.append(f"standings {spans} {rows}")
        found = range(1, 401) if rows is None else rows
        return tuple((row, "user", 10) for row in found if any(first <= row <= last for first, last in spans))


WHOLE = ((1, 400),)


def test_of_the_documented_order_the_last_rows_are_looked_at_before_the_index_is_asked() -> None:
    session = Watched((7, 390, 399))
    candidates = ask_latest(cast("BrowsePort", session), WHOLE, Filter(), session.propose)
    assert candidates.since is not None
    assert candidates.narrow is not None
    assert candidates.since(100) is None, "they are too many"
    assert session.asked == []
    assert [row for row, _, _ in candidates.since(399) or ()] == [399, 400]
    assert candidates.since(401) == ()
    assert [row for row, _, _ in candidates.narrow(380).standings] == [390, 399]
    assert session.asked[-2:] == ["propose ((380, 400),)", "outlines [390, 399]"]
    assert [row for row, _, _ in candidates.narrow(1).standings] == [7, 390, 399]
    many = Watched(tuple(range(350, 401, 2)))
    candidates = ask_latest(cast("BrowsePort", many), WHOLE, Filter(), many.propose)
    assert candidates.proposed is not None
    assert candidates.narrow is not None
    assert candidates.proposed(390) == [390, 392, 394, 396, 398, 400]
    assert [row for row, _, _ in candidates.narrow(380).standings] == list(range(380, 401, 2))
    assert many.asked[-1].startswith("standings ((380, 400),)"), "texts of those that come behind the end are not read"


def test_names_that_stand_somewhere_are_read_there_before_the_index_is_asked_where_else_they_may_stand() -> None:
    session = Watched((5, 20, 90))
    candidates = ask_named(cast("BrowsePort", session), WHOLE, Filter(), {90: 1.0, 20: 2.0}.keys(), session.propose)
    assert [row for row, _, _ in candidates.standings] == [20, 90]
    assert session.asked == ["outlines [20, 90]"]
    assert [row for row, _, _ in candidates.others()] == [5]
    assert [one.row for one in candidates.outlines([90, 5, 20])] == [90, 5, 20]
    assert session.asked[-1] == "outlines [5]", "what is known is not read again"
    nowhere = Watched(())
    candidates = ask_named(cast("BrowsePort", nowhere), WHOLE, Filter(), (), nowhere.propose)
    assert (candidates.standings, candidates.others()) == ([], ())
    assert nowhere.asked == ["propose ()"]


def test_of_rows_with_a_weight_a_few_are_read_at_once_and_of_many_it_is_asked_who_speaks() -> None:
    session = Watched((5, 20, 90))
    weighed = dict.fromkeys(range(10, 30), 1.0)
    candidates = ask_weighed(cast("BrowsePort", session), WHOLE, Filter(), weighed.keys(), session.propose)
    assert candidates.ask is not None
    assert session.asked == []
    assert not candidates.ask([])
    assert session.asked == [], "nothing is asked of no row"
    few = list(range(10, 10 + AT_ONCE))
    assert [row for row, _, _ in candidates.ask(few)] == few
    assert session.asked == [f"outlines {few}"]
    assert [one.row for one in candidates.outlines(few[:2])] == few[:2]
    assert [one.row for one in candidates.outlines([*few[:2], 29])] == [*few[:2], 29]
    assert session.asked[1:] == ["outlines [29]"], "what is known is not read again"
    many = list(range(10, 11 + AT_ONCE))
    assert [row for row, _, _ in candidates.ask(many)] == many
    assert session.asked[2:] == [f"standings {WHOLE} {many}"]
    assert [row for row, _, _ in candidates.others()] == [5, 90]


class Reading(Watched):
    """The same with texts."""

    session = Session(key="s", file="/s", header=Header(host="pi", session_id="s"), entries=400)

    def texts(self, rows: Sequence[int]) -> tuple[str, ...]:
        self.asked.append(f"texts {rows}")
        return tuple("the text" if row % 2 else "nothing" for row in rows)


def test_of_a_text_that_does_not_match_nothing_else_is_read() -> None:
    session = Reading((395, 396, 397, 398))
    view = View(spans=WHOLE, branch=Places(WHOLE), context=Places(()), leaf=None, last=400)
    order = Order(Question(text="the"), read_pattern("the", "literal", "all"))
    candidates = ask_latest(cast("BrowsePort", session), WHOLE, Filter(), session.propose)

    def found(limit: int, *, limited: bool) -> list[int]:
        hits, stopped = search(
            cast("Snapshot", session), view, candidates, order, after=None, limit=limit,
            budget=Budget(limited=limited), admits=lambda one: one.row != 395,
        )  # fmt: skip
        assert stopped is None
        assert all(hit.matched == ("the",) for hit in hits)
        return [hit.outline.row for hit in hits]

    narrowed = ask_latest(cast("BrowsePort", session), WHOLE, Filter(), session.propose)
    assert narrowed.narrow is not None
    candidates = narrowed.narrow(395)
    session.asked.clear()
    assert found(6, limited=False) == [397]
    assert session.asked == ["texts [398, 397, 396, 395]"], "the few outlines are known"
    assert found(6, limited=True) == [397]
    wide = Reading(tuple(range(300, 401)))
    session = wide
    candidates = Candidates(
        standings=wide.standings(((300, 400),), Filter()),
        outlines=lambda rows: wide.outlines(WHOLE, Filter(), rows),
    )
    wide.asked.clear()
    assert found(1, limited=False) == [399, 397], "one more than the limit"
    rows = list(range(400, 384, -1))
    assert wide.asked == [f"texts {rows}", f"outlines {[row for row in rows if row % 2]}"]
    wide.asked.clear()
    assert found(1, limited=True) == [399, 397]
    assert wide.asked == [f"outlines {rows}", f"texts {rows}"], "the place that was reached has to be known"


@pytest.mark.parametrize("asks", [False, True])
def test_the_index_is_asked_only_where_more_texts_than_a_few_may_come_before_the_end(asks: bool) -> None:
    session = Reading(tuple(range(1, 401)))
    view = View(spans=WHOLE, branch=Places(WHOLE), context=Places(()), leaf=None, last=400)
    order = Order(Question(text="the"), read_pattern("the", "literal", "all"))
    scores = [score for score, _ in order.rank(session.standings(WHOLE, Filter()), view, ("the",))]
    may = {len(order.rank(session.standings(WHOLE, Filter()), view, ("the",), least=one)): one for one in scores}
    least = may[AT_ONCE + asks]
    session.asked.clear()
    hits, _ = search(
        cast("Snapshot", session), view, ask_latest(cast("BrowsePort", session), WHOLE, Filter(), session.propose),
        order, after=None, bound=(0, -least, "\x7f", "zzz", "s"), limit=9, budget=Budget(limited=False),
        admits=lambda _: True,
    )  # fmt: skip
    assert [hit.score for hit in hits] == [one for one in scores[::-1][1::2] if one >= least]
    assert session.asked[0].startswith("standings"), "what may come before the end is seen first"
    assert any(asked.startswith("propose") for asked in session.asked) is asks


def outline(row: int, timestamp: str | None = None) -> Outline:
    return Outline(row=row, id=f"{row:03}", kind="message", role="user", timestamp=timestamp, tokens=10, digest=b"")


def test_the_time_of_a_pattern_is_over_only_where_it_is_limited() -> None:
    for budget, over in ((Budget(limited=False, seconds=-1.0), False), (Budget(limited=True, seconds=-1.0), True)):
        assert (budget.undecided, budget.spent) == (0, False)
        assert budget.over() is budget.spent is over
    assert not Budget(limited=True, seconds=3600.0).over()


def test_a_list_begins_with_the_newest_and_of_one_time_with_the_last_row() -> None:
    browsing = Order(Question(), None)
    early, late = "2026-11-30T02:14:36.000Z", "2026-11-30T02:14:36.001Z"
    expected = [outline(3, late), outline(1200, early), outline(13, early), outline(2, early), outline(7), outline(1)]
    assert sorted(expected, key=lambda one: browsing.key(one, 0, 0.0, "s")) == expected
    assert browsing.key(outline(7), 5, 9.0, "s")[:2] == (0, 0.0), "neither tier nor score orders a list"


def test_hits_are_ordered_by_tier_then_score_then_time_then_id() -> None:
    order = Order(Question(text="the"), read_pattern("the", "literal", "all"))
    late = "2026-11-30T02:14:36Z"
    expected = [(1, 0, 9.0, None), (9, 1, 20.0, None), (8, 1, 10.0, late), (2, 1, 10.0, None), (3, 1, 10.0, None)]
    keys = [order.key(outline(row, time), tier, score, "s") for row, tier, score, time in expected]
    assert keys == sorted(keys)


def test_literal_terms_are_worth_what_they_name_and_a_phrase_is_worth_a_phrase() -> None:
    asked = "src/app.py other"
    literal = Order(Question(text=asked), read_pattern(asked, "literal", "all"))
    assert fsum(literal.worth(("src/app.py",))) == ranking.IDENTIFIER + ranking.extra_terms(1) + ranking.SAME_FILE
    assert fsum(literal.worth(("other",))) == ranking.IDENTIFIER + ranking.extra_terms(1)
    assert fsum(literal.worth(("src/app.py",), part=True)) == ranking.extra_terms(1) + ranking.SAME_FILE
    phrase = Order(Question(text=asked), read_pattern(asked, "phrase", "all"))
    assert fsum(phrase.worth((asked,))) == fsum(phrase.worth(("src/app.py", "other"))) == ranking.PHRASE
    assert Order(Question(), None).worth(("other",)) == ()
