"""The two forms of the branch filter give the same rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.fakes.entries import chain, described

from aforesaid.storage.sqlite import open_store, spans
from aforesaid.storage.sqlite.spans import within

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aforesaid.model import Span
    from aforesaid.storage.sqlite.snapshot import ShardSnapshot

ROWS = 400
TEXTS = ("alpha beta -> x", "alpha", "beta alpha gamma", "gamma -> alpha-beta")


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ShardSnapshot]:
    store = open_store(str(tmp_path_factory.mktemp("spans")))
    with store.write("/f") as writer:
        writer.append(chain(*(TEXTS[number * 7 % len(TEXTS)] for number in range(ROWS))))
        key = writer.commit(described("/f")).key
    with store.read(key) as found:
        yield found
    store.close()


@st.composite
def many_spans(draw: st.DrawFn) -> tuple[Span, ...]:
    """Up to 100 disjoint spans, in any order."""
    cuts = sorted(draw(st.lists(st.integers(1, ROWS + 5), min_size=2, max_size=200, unique=True)))
    pairs = list(zip(cuts[::2], cuts[1::2], strict=False))
    return tuple(draw(st.permutations(pairs)))


@settings(max_examples=100)
@given(many_spans(), st.integers(1, 450))
def test_spans_in_the_statement_and_in_a_table_give_identical_lists(
    snapshot: ShardSnapshot, drawn: tuple[Span, ...], limit: int
) -> None:
    def search() -> list[object]:
        return [
            snapshot.find_terms(["alpha", "beta"], drawn, limit),
            snapshot.find_terms(["gamma"], drawn, limit),
            snapshot.count_terms(["beta", "gamma"], drawn),
            snapshot.find_literals(["alpha-beta"], drawn, limit)[0],
            snapshot.find_literals(["->"], drawn, limit)[0],
        ]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spans, "INLINE", 1)
        joined = search()
        patch.setattr(spans, "INLINE", 1000)
        assert search() == joined
    rows = [row for first, last in drawn for row in range(first, min(last, ROWS) + 1)]
    assert joined[2] == sum("beta" in TEXTS[(row - 1) * 7 % 4] or "gamma" in TEXTS[(row - 1) * 7 % 4] for row in rows)


def test_more_spans_than_the_statement_takes_go_into_a_table(snapshot: ShardSnapshot) -> None:
    shard = snapshot._shard
    few, many = ((1, 2), (4, 5)), tuple((row, row) for row in range(1, 2 * spans.INLINE + 3, 2))
    assert "temp.span" not in within(shard, "search.rowid", few)[0]
    assert "temp.span" in within(shard, "search.rowid", many)[0]
    assert snapshot.count_terms(["alpha"], many) == len(many)
