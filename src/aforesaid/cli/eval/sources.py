"""Floor 9: reading what evaluation sets are written in: JSON files and dates in words."""

from __future__ import annotations

import json
import re
from datetime import datetime
from typing import Any

from aforesaid.errors import BadArgument


def read_json(file: str) -> Any:
    """What a JSON file holds.

    Raises:
        BadArgument: it is missing or no JSON.
    """
    try:
        with open(file, encoding="utf-8") as source:
            return json.load(source)
    except (OSError, ValueError) as error:
        raise BadArgument(f"{file} cannot be read: {error}", "check the path that --data names") from error


_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)


def parse_day(text: str) -> str | None:
    """`March-15-2024` as a timestamp at noon, or None."""
    found = re.fullmatch(r"([A-Za-z]+)-(\d{1,2})-(\d{4})", text.strip())
    if found is None or found[1].lower() not in _MONTHS:
        return None
    return _stamp(int(found[3]), found[1], int(found[2]), 12, 0)


def parse_moment(text: str) -> str | None:
    """`1:56 pm on 8 May, 2023` as a timestamp, or None."""
    found = re.fullmatch(r"(\d{1,2}):(\d{2}) ([ap]m) on (\d{1,2}) ([A-Za-z]+), (\d{4})", text.strip())
    if found is None or found[5].lower() not in _MONTHS:
        return None
    hour = int(found[1]) % 12 + (12 if found[3] == "pm" else 0)
    return _stamp(int(found[6]), found[5], int(found[4]), hour, int(found[2]))


def _stamp(year: int, month: str, day: int, hour: int, minute: int) -> str | None:
    try:
        moment = datetime(year, _MONTHS.index(month.lower()) + 1, day, hour, minute)  # noqa: DTZ001 - sets name no zone
    except ValueError:
        return None
    return moment.strftime("%Y-%m-%dT%H:%M:00.000Z")
