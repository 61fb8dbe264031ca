"""Timestamps in one form."""

from __future__ import annotations

import pytest

from aforesaid.transcripts.times import canonical


@pytest.mark.parametrize("stamp", ["2026-11-30T02:14:36.419Z", "2024-02-29T23:59:59.999Z", "0001-01-01T00:00:00.000Z"])
def test_what_has_the_form_stays_as_it_is(stamp: str) -> None:
    assert canonical(stamp) == stamp


@pytest.mark.parametrize(
    ("value", "stamp"),
    [
        ("2026-11-30T02:14:36Z", "2026-11-30T02:14:36.000Z"),
        ("2026-11-30 02:14:36.4", "2026-11-30T02:14:36.400Z"),
        ("2026-11-30T03:14:36.4199+01:00", "2026-11-30T02:14:36.419Z"),
        ("2026-11-30T02:14:36,419Z", "2026-11-30T02:14:36.419Z"),
        ("2026-11-30t02:14:36.419Z", "2026-11-30T02:14:36.419Z"),
        # As long as the form, and valid, but another one: the first day of a week.
        ("2026-W48-1T02:14:36.419Z", "2026-11-23T02:14:36.419Z"),
        ("2026-11-30", "2026-11-30T00:00:00.000Z"),
        (0, "1970-01-01T00:00:00.000Z"),
        (1796004876419, "2026-11-30T02:14:36.419Z"),
        (1796004876419.7, "2026-11-30T02:14:36.419Z"),
        (-1, "1969-12-31T23:59:59.999Z"),
    ],
)
def test_other_forms_become_it(value: object, stamp: str) -> None:
    assert canonical(value) == stamp


@pytest.mark.parametrize(
    "value",
    [
        "", "yesterday", "2026-02-29T00:00:00.000Z", "2026-13-01T00:00:00.000Z", "2026-11-30T24:30:00.000Z",
        "0000-01-01T00:00:00.000Z", "２０２６-11-30T02:14:36.419Z", "\ud800", "0001-01-01T00:00:00+23:00",
        None, True, [], {}, 10**30, -(10**30), float("nan"), float("inf"), 9e18,
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_no_time(value: object) -> None:
    assert canonical(value) is None
