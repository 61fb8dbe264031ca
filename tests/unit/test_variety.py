"""What follows the best rows: rows with names of their own where work is asked for, none where a question is."""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests import pi
from tests.values import make_evidence
from tests.words import any_text

from aforesaid import Engine, ranking, variety
from aforesaid.answers import Relevance, Tier
from aforesaid.variety import is_question, vary

if TYPE_CHECKING:
    from pathlib import Path

    from aforesaid import Retrieval
    from aforesaid.answers import Ranked
    from aforesaid.model import Role


@pytest.mark.parametrize(
    ("request_", "question"),
    [
        ("which port?", True), ("which port? ", True), ("which port??", True), ("which port ?!", True),
        ("so, which port? 😅", True), ('he asked "which port?"', True), ("which port?\n```\n", True),
        ("quale porta?", True), ("какой порт?", True), ("哪个端口？", True), ("どのポート？", True),
        ("أي منفذ؟", True), ("which port\u203d", True), ("?", True), ("what?\u0301", True),
        ("why? then fix it", False), ("fix the port", False), ("ports?\n- 80\n- 443", False), ("", False),
        ("continue", False), ("\ud800", False), ("see a?b", False), ("修好端口", False), ("พอร์ตไหน", False),
    ],
)  # fmt: skip
def test_a_question_ends_as_one(request_: str, question: bool) -> None:
    assert is_question(request_) is question


def row(
    number: int,
    text: str,
    *,
    role: Role = "tool_result",
    own: float | None = 1.0,
    tier: Tier = "other",
    score: float = 0,
) -> Ranked:
    ranked = make_evidence().ranked
    entry = replace(ranked.candidate.entry, row=number, id=f"e{number}", role=role, text=text, digest=b"%d" % number)
    relevance = None if own is None else Relevance(own=own, neighbours=0.0)
    candidate = replace(ranked.candidate, entry=entry, relevance=relevance)
    return replace(ranked, candidate=candidate, tier=tier, score=score or 10 * (own or 0.0))


def order(rows: list[Ranked], places: int = 3) -> list[int]:
    return [one.candidate.entry.row for one in vary(rows, places)]


def test_rows_with_names_of_their_own_come_forward_behind_the_first_third() -> None:
    rows = [row(1, "said", own=4.0), row(2, "plain words"), row(3, "src/one.py"), row(4, "src/two.py src/three.py")]
    assert order(rows) == [1, 4, 3, 2]
    assert order(rows, 4) == [1, 2, 4, 3], "a third of four places are two, for no place is cut in half"
    assert order(rows, 9) == [1, 2, 3, 4], "one row behind the head has nothing to pass"
    assert order(rows[:1]) == [1]
    assert order([]) == []


def test_a_name_that_stands_everywhere_brings_nobody_forward() -> None:
    shared = "src/every.py src/where.py"
    rows = [row(1, shared, own=4.0), *(row(number, shared) for number in (2, 3, 4)), row(5, "src/own.py")]
    assert order(rows) == [1, 5, 2, 3, 4], "two names of four holders count a half, one of one counts one"


def test_what_names_add_is_the_formula() -> None:
    first, low = row(1, "x", own=9.0), row(3, "src/a.py src/b.py", own=1.0)
    worth = 10 + variety.NAMES * 10 * log(3)
    assert order([first, row(2, "x", score=worth + 0.01), low]) == [1, 2, 3]
    assert order([first, row(2, "x", score=worth - 0.01), low]) == [1, 3, 2]
    assert variety.RELEVANCE == ranking.RELEVANCE


def test_only_calls_and_results_have_names_and_only_their_beginning() -> None:
    far = "x" * variety.READ + " src/far.py"
    rows = [
        row(1, "x"),
        row(2, "x"),
        row(3, "src/said.py", role="user"),
        row(4, far),
        row(5, "a_b_c", role="tool_call"),
    ]
    assert order(rows) == [1, 5, 2, 3, 4]


def test_tiers_and_rows_that_no_search_of_words_found_keep_their_places() -> None:
    literal = [row(number, "x", tier="identifier") for number in (1, 2, 3)]
    rows = [*literal, row(4, "x", tier="phrase"), row(5, "x"), row(6, "src/a.py", own=None), row(7, "src/b.py")]
    assert order(rows) == [1, 2, 3, 4, 7, 6, 5]


TEXTS = st.sampled_from(["x", "src/a.py", "src/a.py src/b.py", "get_lamp src/c.py 58213", ""])


@given(st.lists(st.tuples(TEXTS, st.floats(0.1, 9.0)), max_size=12), st.integers(1, 20))
def test_no_row_is_added_or_left_out_and_the_head_stays(made: list[tuple[str, float]], places: int) -> None:
    rows = sorted((row(at, text, own=own) for at, (text, own) in enumerate(made)), key=lambda one: -one.score)
    varied = vary(rows, places)
    assert sorted(map(id, varied)) == sorted(map(id, rows))
    head = -(-places // variety.HEAD)
    assert list(map(id, varied[:head])) == list(map(id, rows[:head]))
    assert varied == vary(rows, places)


@given(any_text)
def test_any_text_is_a_question_or_none(text: str) -> None:
    assert is_question(text + "?") is True
    assert is_question(text + "x") is False


LISTING = "\n".join(f"the gateway logged line {number}" for number in range(400))
NAMED = f"{LISTING[:3000]}\nsrc/gateway/ports.py src/gateway/names.py\n{LISTING[3000:]}"


def ask(folder: Path, request: str, **settings: object) -> Retrieval:
    said = pi.message("e0000000", None, "look at the gateway", minute=1)
    lost = [said]
    for number in range(1, 9):
        text = NAMED if number == 8 else f"the gateway, the gateway: {'restarts ' * number}"
        lost.append(pi.message(f"e{number:07}", lost[-1]["id"], text, "toolResult", number + 1))
    after = pi.message("f0000000", "c0000000", "thanks", minute=31)
    cut = pi.compaction("c0000000", lost[-1]["id"], "f0000000", "a summary", 30)
    file = pi.write(folder / "one.jsonl", [pi.header(), *lost, cut, after])
    with Engine.open(folder / "store", settings={"retrieval.maxResults": 4, **settings}) as engine:
        return engine.retrieve(session=file, query=request)


def ids(found: Retrieval) -> list[str]:
    return [hit.ranked.candidate.entry.id for hit in found.hits]


def test_work_brings_back_what_a_question_does_not(tmp_path: Path) -> None:
    asked, told = ask(tmp_path, "and the gateway?"), ask(tmp_path, "repair the gateway")
    assert ids(asked)[:2] == ids(told)[:2], "the first third is the same"
    assert "e0000008" not in ids(asked)
    assert ids(told)[2] == "e0000008"
    (long,) = [hit for hit in told.hits if hit.ranked.candidate.entry.id == "e0000008"]
    assert "src/gateway/ports.py" in long.excerpt, "cut by lines, with the names"
    assert sum(len(window.text) for window in long.windows) <= variety.NARROWER * 6000


@pytest.mark.parametrize("settings", [{"retrieval.ranking": "documented"}, {"retrieval.query": "working"}])
def test_other_rankings_and_the_work_have_an_order_of_their_own(
    tmp_path: Path, settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def vary_nothing(ranked: object, places: int) -> None:
        raise AssertionError

    monkeypatch.setattr(variety, "vary", vary_nothing)
    assert ask(tmp_path, "repair the gateway", **settings).status == "complete"
