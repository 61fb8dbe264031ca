"""Floor 4: what a request says of time: days and months that it names, and whether it asks when something was.

`contextual` ranking alone reads it, `retrieval` hands it from the request to `ranking`. A time orders rows that a topic
has brought up and brings up none. Pure: there is no today here, so "last week" in a request means nothing.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from aforesaid import text as _text
from aforesaid.language import times

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_DAYS: Final = 8
"""Days and months of a request that count."""
_READ: Final = 4_000
"""Characters of a request, and of a text, that are read for times."""


class Day(Struct, frozen=True, kw_only=True):
    """A day, or a whole month: what was not said is None."""

    year: int | None
    month: int
    day: int | None


class Time(Struct, frozen=True, kw_only=True):
    """What a request says of time.

    Attributes:
        days: that it names, in its order.
        when: whether it asks for a time.
    """

    days: tuple[Day, ...] = ()
    when: bool = False


def read_time(request: str) -> Time | None:
    """Days, months and the question for a time in a request; None if it says nothing of time."""
    request = request[:_READ]
    days = tuple(dict.fromkeys(_days(request)))[:MOST_DAYS]
    when = re.match(times.ASKS_WHEN, request, re.IGNORECASE) is not None
    return Time(days=days, when=when) if days or when else None


def _days(request: str) -> Iterator[Day]:
    for found in re.finditer(times.DATE, request):
        if found["name"] is not None:
            day = found["before"] or found["after"]
            month, year = times.MONTHS[found["name"]], found["of"]
        else:
            year, month, day = found["year"], int(found["month"]), found["day"]
        if 1 <= month <= 12 and (day is None or 1 <= int(day) <= 31):
            yield Day(year=int(year) if year else None, month=month, day=int(day) if day else None)


def falls_on(timestamp: str | None, days: tuple[Day, ...]) -> bool:
    """Whether a timestamp (ISO 8601, UTC) lies on one of the days or in one of the months.

    A day beside the named one counts: the user's clock and UTC may differ by one.
    """
    if timestamp is None or not days:
        return False
    year, month, day = int(timestamp[:4]), int(timestamp[5:7]), int(timestamp[8:10])
    return any(
        one.month == month and one.year in (None, year) and (one.day is None or abs(one.day - day) <= 1) for one in days
    )


@lru_cache(maxsize=1024)
def tells_time(text: str) -> bool:
    """Whether a text says when something was or will be."""
    return re.search(times.TELLS_TIME, _text.fold(text[:_READ])) is not None
