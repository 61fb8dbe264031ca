"""Floor 9: rows of a benchmark as a table for people and as a document for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aforesaid.cli.bench.rows import Row

SCHEMA: Final = "aforesaid.bench/1"
_WHOLE: Final = 100
"""Numbers from here on are shown without decimals."""
_FIELDS: Final = ("name", "figure", "floor", "ratio", "bound", "met", "unit", "note")


def document(entries: int, rows: Sequence[Row]) -> dict[str, Any]:
    """The JSON document. `bound` limits `ratio`, but `figure` where the note gives a sum or there is no floor."""
    return {
        "schema": SCHEMA,
        "entries": entries,
        "rows": [{field: _rounded(getattr(row, field)) for field in _FIELDS} for row in rows],
    }


def show(entries: int, rows: Sequence[Row], *, attempts: bool) -> None:
    """Prints the table; with `attempts` each measurement that was made as well."""
    from aforesaid.cli.terminal import show, show_table  # late: only for people

    cells: list[tuple[str, ...]] = []
    for row in rows:
        verdict = "-" if row.met is None else "met" if row.met else "missed"
        figures = (_with_unit(row.figure, row.unit), _with_unit(row.floor, row.unit), _number(row.ratio))
        cells.append((row.name, *figures, f"<= {_bound(row)}", verdict, row.note))
        if attempts:
            cells += (
                (f"  attempt {number}", _number(attempt.figure), _number(attempt.floor), "", "", "", attempt.note)
                for number, attempt in enumerate(row.attempts, 1)
            )
    show([f"{entries:,} entries; medians of interleaved rounds", ""])
    show_table(
        ("target", "figure", "floor", "ratio", "bound", "", "note"), cells, right=("figure", "floor", "ratio", "bound")
    )


def _bound(row: Row) -> str:
    """A bare number limits the ratio, one with a unit the figure."""
    return _number(row.bound) if row.limits_ratio else _with_unit(row.bound, row.unit)


def _with_unit(value: float | None, unit: str) -> str:
    return "" if value is None else f"{_number(value)} {unit}"


def _number(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:,.0f}" if abs(value) >= _WHOLE or value == int(value) else f"{value:.3g}"


def _rounded(value: object) -> object:
    return round(value, 4) if isinstance(value, float) else value
