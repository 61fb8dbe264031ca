"""Floor 6: timestamps as hosts write them, brought to one form."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Final

# All days but the 29th of February, for which one has to know the calendar.
_CANONICAL: Final = re.compile(
    r"(?!0000)\d{4}-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)"
    r"T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z",
    re.ASCII,
)


def canonical(value: object) -> str | None:
    """ISO 8601 in UTC with milliseconds and `Z`.

    Takes ISO 8601 texts (without a zone: UTC) and milliseconds since 1970; everything else is None.
    """
    if isinstance(value, str):
        if _CANONICAL.fullmatch(value):
            return value
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            return None
        moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment
    elif isinstance(value, int | float) and not isinstance(value, bool):
        try:
            moment = datetime.fromtimestamp(value / 1000, UTC)
        except (ValueError, OverflowError, OSError):
            return None
    else:
        return None
    try:
        return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    except OverflowError:
        return None
