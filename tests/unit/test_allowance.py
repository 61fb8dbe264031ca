"""How much evidence may cost beside what the model sees: the rule in figures, and what it does to a retrieval."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests import pi

from aforesaid import Engine, allowance
from aforesaid.allowance import FULL, LEAST, NARROWEST, SHARE, SHARE_WORKING, Allowance, allow
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
    assert (Allowance(share=0.3).tokens(1_000), Allowance(share=0.3).characters) == (300, 1_800)
    assert Allowance(share=LEAST).characters == NARROWEST
    assert (Allowance(share=0.3).tokens(0), SHARE < SHARE_WORKING) == (0, True)


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
    assert grown.diagnostics.planner_excluded_count == 12 - len(grown.hits)


def test_who_wants_all_of_it_gets_it(tmp_path: Path) -> None:
    whole = ask(tmp_path, 20_000, retrieval_sparing=False)
    assert whole.diagnostics.selected_tokens > 8_000


def test_an_entry_of_the_view_that_a_plan_drops_is_not_seen(tmp_path: Path) -> None:
    with Engine.open(tmp_path / "store") as engine:
        file = session(tmp_path, 20_000)
        seen = engine.retrieve(session=file, context_entries=["f0000000"])
        assert engine.retrieve(session=file, context_entries=[]).diagnostics.selected_tokens > 8_000
    assert seen.diagnostics.selected_tokens < 8_000
