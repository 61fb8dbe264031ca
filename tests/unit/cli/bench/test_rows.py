from __future__ import annotations

import gc

import pytest

from aforesaid.cli.bench import report
from aforesaid.cli.bench.rows import ATTEMPTS, Attempt, Target, interleave, judge, percentile, steady, unmeasured

RATIO = Target(name="ratio", unit="ms", times=2)
SUM = Target(name="sum", unit="ms", times=1.4, plus=2)
FIGURE = Target(name="figure", unit="MB", plus=80)
NONE = Target(name="none", unit="requests")


def test_a_bound_that_is_met_at_once_is_measured_once() -> None:
    row = judge(RATIO, lambda: Attempt(1.9, 1.0))
    assert (row.met, row.ratio, row.bound, len(row.attempts)) == (True, 1.9, 2, 1)


def test_a_bound_is_missed_only_after_all_attempts_and_the_best_counts() -> None:
    attempts = iter([Attempt(9.0, 1.0), Attempt(5.0, 2.0), Attempt(4.0, 1.0), Attempt(0.0, 1.0)])
    row = judge(RATIO, lambda: next(attempts))
    assert row.met is False
    assert (row.figure, row.floor, row.ratio) == (5.0, 2.0, 2.5)
    assert len(row.attempts) == ATTEMPTS == 3
    assert "best of 3 attempts" in row.note


def test_what_cannot_vary_is_measured_once() -> None:
    row = judge(RATIO, lambda: Attempt(9.0, 1.0), tries=1)
    assert (row.met, len(row.attempts), row.note) == (False, 1, "")


def test_an_attempt_that_meets_the_bound_ends_the_trying() -> None:
    attempts = iter([Attempt(9.0, 1.0), Attempt(2.0, 1.0), Attempt(9.0, 1.0)])
    row = judge(RATIO, lambda: next(attempts))
    assert row.met is True
    assert len(row.attempts) == 2


@pytest.mark.parametrize(("figure", "met"), [(3.4, True), (3.41, False)])
def test_a_sum_of_floor_and_constant_limits_the_figure(figure: float, met: bool) -> None:
    row = judge(SUM, lambda: Attempt(figure, 1.0))
    assert row.met is met
    assert row.bound == pytest.approx(3.4)
    assert not row.limits_ratio
    assert "1.4 x floor + 2 ms" in row.note


@pytest.mark.parametrize(("figure", "met"), [(80.0, True), (80.1, False)])
def test_a_bound_without_a_floor_limits_the_figure(figure: float, met: bool) -> None:
    row = judge(FIGURE, lambda: Attempt(figure))
    assert (row.met, row.ratio, row.floor, row.bound) == (met, None, None, 80)


def test_a_bound_of_nothing_allows_nothing() -> None:
    assert judge(NONE, lambda: Attempt(0.0)).met is True
    assert judge(NONE, lambda: Attempt(1.0)).met is False


def test_a_row_that_could_not_be_measured_has_no_verdict() -> None:
    row = unmeasured(RATIO, "not here")
    assert (row.met, row.figure, row.bound, row.note) == (None, None, 2, "not here")


def test_pairs_are_measured_in_turns_and_change_who_goes_first() -> None:
    order: list[str] = []
    figures, floors = interleave(
        [lambda: order.append("a"), lambda: order.append("b")],
        [lambda: order.append("A"), lambda: order.append("B")],
        2,
    )
    assert len(figures) == len(floors) == 2
    assert order == ["A", "a", "b", "B", "a", "A", "B", "b"]


def test_collections_go_on_while_the_own_objects_are_frozen() -> None:
    with steady():
        assert gc.get_freeze_count() > 0
        assert gc.isenabled()
    assert gc.get_freeze_count() == 0


@pytest.mark.parametrize(("share", "expected"), [(0.95, 95), (0.5, 50), (1.0, 100), (0.001, 1)])
def test_a_percentile_is_one_of_the_values(share: float, expected: float) -> None:
    assert percentile([float(value) for value in range(100, 0, -1)], share) == expected


def test_the_document_has_the_fields_of_the_contract() -> None:
    found = report.document(8000, [judge(RATIO, lambda: Attempt(1 / 3, 1.0))])
    assert found["schema"] == "aforesaid.bench/1"
    assert found["entries"] == 8000
    (row,) = found["rows"]
    assert list(row) == ["name", "figure", "floor", "ratio", "bound", "met", "unit", "note"]
    assert row["figure"] == 0.3333


def test_the_table_names_target_bound_and_verdict(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [
        judge(RATIO, lambda: Attempt(9.0, 1.0)),
        judge(FIGURE, lambda: Attempt(12.5, note="a small file")),
        unmeasured(SUM, "not in this version"),
    ]
    report.show(8000, rows, attempts=False)
    shown = capsys.readouterr().out
    for part in (
        "8,000 entries",
        "ratio",
        "9 ms",
        "<= 2",
        "missed",
        "12.5 MB",
        "<= 80 MB",
        "met",
        "not in this version",
    ):
        assert part in shown
    assert "attempt 1" not in shown
    report.show(8000, rows, attempts=True)
    assert capsys.readouterr().out.count("  attempt ") == 4
