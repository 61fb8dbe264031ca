"""Floor 6: timestamps as hosts write them, brought to one form."""

from __future__ import annotations

from datetime import UTC, datetime


def canonical(value: object) -> str | None:
    """ISO 8601 in UTC with milliseconds and `Z`.

    Takes ISO 8601 texts (without a zone: UTC) and milliseconds since 1970; everything else is None.
    """
    if isinstance(value, str):
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            return None
        if _has_the_form(value):
            return value
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


def _has_the_form(value: str) -> bool:
    """Whether a valid ISO 8601 text is `YYYY-MM-DDTHH:MM:SS.mmmZ`: most are, and need not be written anew."""
    return (
        len(value) == 24
        and value[23] == "Z"
        and value[19] == "."
        and value[10] == "T"
        and value[4] == value[7] == "-"
        and value[13] == ":"
    )
