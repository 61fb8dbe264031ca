"""What a request says of time: days, months, and the question for a time."""

from __future__ import annotations

import pytest

from aforesaid.moments import MOST_DAYS, Day, Time, falls_on, read_time, tells_time


def read(request: str) -> Time:
    return read_time(request) or Time()


@pytest.mark.parametrize(
    ("request_", "day"),
    [
        ("what happened on 3 May 2023?", (2023, 5, 3)),
        ("on May 3rd, 2023", (2023, 5, 3)),
        ("on the 3rd of May", (None, 5, 3)),
        ("in May", (None, 5, None)),
        ("in December 2022 we moved", (2022, 12, None)),
        ("il 3 marzo 2026", (2026, 3, 3)),
        ("a Maggio", (None, 5, None)),
        ("since 2026-03-02", (2026, 3, 2)),
    ],
)
def test_days_and_months_are_read_in_english_and_italian(
    request_: str, day: tuple[int | None, int, int | None]
) -> None:
    (found,) = read(request_).days
    assert (found.year, found.month, found.day) == day


@pytest.mark.parametrize(
    "request_",
    ["it may fail", "march on", "2026-13-40", "40 May 2023", "the year 2023", "Maya", "", "5 Junes", "\ud800"],
)
def test_what_is_no_day_names_none(request_: str) -> None:
    assert read(request_).days == ()


@pytest.mark.parametrize(
    ("request_", "when"),
    [
        ("When did we move?", True),
        ("quando abbiamo cambiato?", True),
        ("since when is it so?", True),
        ("And what day was it?", True),
        ("in che mese è scaduto?", True),
        ("what happens when it fails?", False),
        ("whenever", False),
        ("which day-trip", True),
    ],
)
def test_only_a_request_that_begins_so_asks_for_a_time(request_: str, when: bool) -> None:
    assert read(request_).when is when


def test_a_request_without_any_time_says_nothing() -> None:
    assert read_time("which port?") is None


def test_no_more_days_than_the_bound_are_kept_and_each_once() -> None:
    assert len(read(" ".join(f"{day} May" for day in range(1, 29))).days) == MOST_DAYS
    assert len(read("in May and in May").days) == 1


@pytest.mark.parametrize(
    ("timestamp", "day", "falls"),
    [
        ("2023-05-03T23:59:00.000Z", Day(year=2023, month=5, day=3), True),
        ("2023-05-04T00:30:00.000Z", Day(year=2023, month=5, day=3), True),
        ("2023-05-02T00:30:00.000Z", Day(year=None, month=5, day=3), True),
        ("2023-05-05T00:30:00.000Z", Day(year=2023, month=5, day=3), False),
        ("2023-05-20T00:30:00.000Z", Day(year=None, month=5, day=None), True),
        ("2024-05-03T00:30:00.000Z", Day(year=2023, month=5, day=3), False),
        ("2023-06-03T00:30:00.000Z", Day(year=2023, month=5, day=None), False),
        (None, Day(year=2023, month=5, day=None), False),
    ],
)
def test_a_timestamp_falls_on_a_day_the_one_beside_it_or_in_a_month(
    timestamp: str | None, day: Day, falls: bool
) -> None:
    assert falls_on(timestamp, (day,)) is falls
    assert not falls_on(timestamp, ())


@pytest.mark.parametrize(
    ("text", "tells"),
    [
        ("we met LAST week", True),
        ("l'abbiamo cambiato due settimane fa", True),
        ("lunedì prossimo", True),
        ("in 1998", True),
        ("nothing here", False),
        ("lastly, sincerely", False),
        ("", False),
        ("\ud800", False),
    ],
)
def test_a_text_tells_a_time_by_its_words(text: str, tells: bool) -> None:
    assert tells_time(text) is tells
