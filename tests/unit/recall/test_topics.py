from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from aforesaid import contextual, ranking
from aforesaid.inquiry import Outline, Question
from aforesaid.lineage import Places
from aforesaid.recall.topics import OTHER, PART, TIERS, Weighed, read_topics
from aforesaid.recall.views import View

if TYPE_CHECKING:
    from aforesaid.model import Role

VIEW = View(spans=((1, 40),), branch=Places(((1, 20), (31, 40))), context=Places(()), leaf=None, last=40)


def weighed(text: str, own: dict[int, float], beside: frozenset[int] = frozenset()) -> Weighed:
    topics = read_topics(Question(text=text))
    assert topics is not None
    return Weighed(topics, own, beside, VIEW)


def come_to(session: Weighed, row: int, text: str, role: Role) -> tuple[float, float]:
    """What is promised of an entry, and what it comes to."""
    outline = Outline(row=row, id="e", kind="message", role=role, timestamp=None, tokens=7, digest=b"")
    (((tier, most), promised),), parts = session.promise([(row, role, 7)])
    assert (promised, parts) == (row, [])
    found = session.score(outline, text)
    assert found is not None
    assert found[0] == tier
    return most, sum(found[1])


@pytest.mark.parametrize(
    "asked", ["parse_port", "src/db/pool.py", "E_CONN_4711", "parse_port src/db/pool.py E_CONN_4711"]
)
@pytest.mark.parametrize("role", ["user", "assistant"])
@pytest.mark.parametrize("row", [3, 31, 40])
def test_an_entry_with_all_that_is_asked_for_comes_to_what_was_promised(asked: str, role: Role, row: int) -> None:
    most, comes_to = come_to(weighed(asked, {row: 2.5}), row, f"see {asked} there", role)
    assert comes_to <= most < comes_to + 0.01


def test_names_phrases_topics_and_parts_of_words_stand_behind_each_other() -> None:
    assert sorted([*TIERS.values(), PART]) == [TIERS["identifier"], TIERS["phrase"], OTHER, PART]
    assert len({*TIERS.values(), PART}) == 4


@pytest.mark.parametrize("role", ["user", "assistant", "tool_result"])
def test_a_topic_takes_from_the_rows_beside_it_on_the_branch_and_no_row_exceeds_the_highest(role: Role) -> None:
    own = {18: 0.5, 20: 1.0, 25: 9.0, 31: 2.0, 32: 0.25, 40: 0.1}
    session = weighed("gateway", own)
    most, comes_to = come_to(session, 20, "the gateway", role)
    # Row 25 stands on no branch: behind row 20 comes row 31.
    near = contextual.beside({17: 0.5, 19: 1.0, 20: 2.0, 21: 0.25}, 19, role)
    assert near == (contextual.ANSWER_NEXT * 2.0 if role == "assistant" else contextual.NEXT * 2.0) + 0.15
    alone, comes_to_alone = come_to(weighed("gateway", {20: 1.0}), 20, "the gateway", role)
    assert comes_to == pytest.approx(comes_to_alone * (1.0 + near))
    assert comes_to <= most
    assert most - alone == pytest.approx(comes_to - comes_to_alone, rel=0.6)
    whole = {row: most for (_, most), row in session.promise_all()}
    assert session.highest == pytest.approx(max(whole.values()), abs=0.01)
    assert whole.keys() == own.keys()
    assert whole[25] == max(whole.values()), "a row beside the branch has no neighbours"
    assert [row for _, row in session.promise_all(whole[31])] == [25, 31]
    assert session.promise_all(1e6) == []
    assert weighed("gateway", {}).highest == 0.0


def test_an_entry_beside_the_branch_comes_to_less_by_what_the_branch_is_worth() -> None:
    most, comes_to = come_to(weighed("parse_port", {25: 2.5}), 25, "see parse_port there", "user")
    assert comes_to + ranking.BRANCH <= most < comes_to + ranking.BRANCH + 0.01


def test_a_name_in_a_row_without_a_weight_counts_only_where_the_index_does_not_hold_the_row() -> None:
    session = weighed("parse_port", {3: 1.0}, frozenset({5}))
    assert not session.tells
    found, parts = session.promise([(3, "user", 7), (5, "user", 7), (6, "user", 7)])
    assert ([row for _, row in found], [row for row, _, _ in parts]) == ([3, 5], [6])
    text = "see parse_port there"
    outlines = [
        Outline(row=row, id="e", kind="message", role="user", timestamp=None, tokens=7, digest=b"") for row in (5, 6)
    ]
    beside, inside = [session.score(outline, text) for outline in outlines]
    assert beside is not None
    assert beside[0] == TIERS["identifier"]
    assert inside is None
    assert weighed("parse_port", {3: 1.0}).tells
    assert not weighed("gateway", {3: 1.0}).tells, "a topic may be a part of other words"
