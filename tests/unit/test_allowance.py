"""How much evidence may cost beside what the model sees: the rule in figures, and what it does to a retrieval."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests import pi

from aforesaid import Engine, allowance
from aforesaid.allowance import FULL, LEAST, NARROWEST, SHARE, SHARE_WORKING, SMALLEST, Allowance, allow
from aforesaid.config import Config
from aforesaid.windows import LIMIT

if TYPE_CHECKING:
    from pathlib import Path

    from aforesaid import Retrieval


@pytest.mark.parametrize(
    ("seen", "latest", "working"),
    [
        pytest.param(0, 1.0, 1.0, id="nothing is seen"),
        pytest.param(4_000, 1.0, 1.0, id="right after a compaction"),
        pytest.param(5_000, 0.64, 0.64, id="less by the square of what is seen"),
        pytest.param(8_000, 0.3, 0.44, id="the plateau"),
        pytest.param(32_000, 0.3, 0.44, id="the end of the plateau"),
        pytest.param(64_000, 0.15, 0.22, id="half of it at twice as much"),
        pytest.param(10_000_000, 0.1, 0.1, id="what is left at the least"),
    ],
)
def test_the_share_is_this(seen: int, latest: float, working: float) -> None:
    assert allow(seen).share == pytest.approx(latest)
    assert allow(seen, working=True).share == pytest.approx(working)


@given(st.integers(0, 10**9), st.integers(0, 10**6))
def test_who_sees_more_gets_no_more_and_who_asks_for_the_work_no_less(seen: int, more: int) -> None:
    assert LEAST <= allow(seen + more).share <= allow(seen).share <= allow(seen, working=True).share <= 1


def test_a_share_is_of_the_tokens_that_are_configured_and_of_a_whole_excerpt() -> None:
    assert (FULL.tokens(16_000), FULL.characters) == (16_000, LIMIT)
    assert (Allowance(share=0.3).tokens(10_000), Allowance(share=0.3).characters) == (3_000, 1_800)
    assert Allowance(share=LEAST).characters == NARROWEST
    assert (Allowance(share=0.3).tokens(0), SHARE < SHARE_WORKING) == (0, True)


@pytest.mark.parametrize(
    ("configured", "spent"),
    [(0, 0), (1_000, 1_000), (1_600, 1_600), (2_000, 1_600), (16_000, 1_600), (20_000, 2_000)],
)
def test_a_small_limit_is_not_made_smaller_than_the_least_of_the_default(configured: int, spent: int) -> None:
    assert Allowance(share=LEAST).tokens(configured) == spent


def test_what_the_least_leaves_of_the_default_is_never_taken_away() -> None:
    assert int(Config.load().integer("context.maxRetrievedHistoryTokens") * LEAST) == SMALLEST


def session(folder: Path, seen: int) -> str:
    """Twelve lost entries of about 5,000 characters each, and a view of so many words (a token each, about)."""
    lost = pi.conversation([f"walnut {number} {'plank ' * 800}" for number in range(12)])
    rows: list[Any] = [pi.header(), *lost, pi.compaction("c0000000", lost[-1]["id"], "nothing", "x", 20)]
    rows += pi.conversation(["view " * seen, "ok", "where is the walnut?"], 21, "f", "c0000000")
    return str(pi.write(folder / "one.jsonl", rows))


def ask(folder: Path, seen: int, **settings: object) -> Retrieval:
    folder.mkdir(exist_ok=True)
    changed = {key.replace("_", "."): value for key, value in settings.items()}
    with Engine.open(folder / "store", settings=changed) as engine:
        return engine.retrieve(session=session(folder, seen))


def test_a_view_that_has_grown_gets_less_of_the_same_sources(tmp_path: Path) -> None:
    fresh, grown = ask(tmp_path / "a", 10), ask(tmp_path / "b", 20_000)
    assert fresh.diagnostics.selected_tokens > 8_000
    assert grown.diagnostics.selected_tokens <= allowance.SHARE * 16_000
    assert all(len(hit.excerpt) > 4_000 for hit in fresh.hits)
    assert all(len(hit.excerpt) <= 2_000 and "walnut" in hit.excerpt for hit in grown.hits)
    assert len(grown.hits) >= 6
    assert (grown.diagnostics.max_tokens, grown.diagnostics.eligible_count) == (16_000, 12)
    assert (fresh.diagnostics.allowed_tokens, grown.diagnostics.allowed_tokens) == (16_000, 4_800)
    assert grown.diagnostics.planner_excluded_count == 12 - len(grown.hits)


def test_a_small_limit_still_shows_what_fits_into_it(tmp_path: Path) -> None:
    small = ask(tmp_path, 200_000, context_maxRetrievedHistoryTokens=1_000)
    assert (small.diagnostics.allowed_tokens, len(small.hits)) == (1_000, 3)


def test_who_wants_all_of_it_gets_it(tmp_path: Path) -> None:
    whole = ask(tmp_path, 20_000, retrieval_sparing=False)
    assert whole.diagnostics.selected_tokens > 8_000


def test_an_entry_of_the_view_that_a_plan_drops_is_not_seen(tmp_path: Path) -> None:
    with Engine.open(tmp_path / "store") as engine:
        file = session(tmp_path, 20_000)
        seen = engine.retrieve(session=file, context_entries=["f0000000"])
        assert engine.retrieve(session=file, context_entries=[]).diagnostics.selected_tokens > 8_000
    assert seen.diagnostics.selected_tokens < 8_000


@pytest.mark.parametrize("query", ["latest", "working"])
def test_what_matches_by_accident_is_counted_as_far_as_the_model_does_not_see_it(tmp_path: Path, query: str) -> None:
    texts = ["We use CockroachDB for the ledger.", "Noted.", "The ledger is closed.", "The ledger is closed.", "End."]
    lost = pi.conversation(texts)
    rows: list[Any] = [pi.header(), *lost, pi.compaction("c0000000", lost[-1]["id"], "nothing", "x", 20)]
    rows += pi.conversation(["The ledger is closed."], 21, "f", "c0000000")
    file = pi.write(tmp_path / "one.jsonl", rows)
    with Engine.open(tmp_path / "store", settings={"retrieval.query": query}) as engine:
        asked = "which storage did we pick for the ledger, with durability and replication?"
        silent = engine.retrieve(session=file, query=asked)
        found = engine.retrieve(session=file, query="which storage for the ledger?")
    assert (silent.hits, silent.diagnostics.eligible_count, silent.diagnostics.silenced_count) == ((), 0, 1)
    assert ([hit.entry_id for hit in found.hits], found.diagnostics.silenced_count) == (["e0000000"], 0)
