"""The benchmark as a gate: every bound of `aforesaid bench` holds, but for known misses, which may not get worse.

`aforesaid bench` itself exits with 1 whenever a bound is missed. This script runs it for `make test`: a miss that
`known-misses.json` lists (with the reason, and a ceiling of its own) is printed as such and does not fail the build;
every other miss does. Since other work on a machine shows as a miss now and then, the whole run is repeated once before
it counts.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

KNOWN: dict[str, dict[str, Any]] = json.loads((Path(__file__).parent / "known-misses.json").read_text("utf-8"))

SMALL = 8_000
"""Entries up to which the rows of secrets and of vectors are measured too: they say the same at every size."""
LARGE = 2_000_000
"""Entries from which on searches of as many sessions of 400 entries are measured."""
MANY = 80_000
"""Entries of the sessions that are searched together in small runs: 200 sessions."""


def measure(entries: str, subject: str = "retrieve") -> list[dict[str, Any]]:
    """The rows of one run of the benchmark."""
    command = [sys.executable, "-m", "aforesaid", "bench", subject, "--entries", entries, "--json"]
    ran = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    document: dict[str, Any] = json.loads(ran.stdout)
    if "rows" not in document:
        raise SystemExit(f"the benchmark failed: {document}")
    return list(document["rows"])


def measure_all(entries: str) -> list[dict[str, Any]]:
    """The rows of every subject that is measured at a size."""
    rows = measure(entries)
    if int(entries) <= SMALL:
        return rows + measure(entries, "secrets") + measure(entries, "vectors") + measure(str(MANY), "recall")
    # Sizes between the smallest and the largest say nothing more about searches of many sessions.
    return rows + (measure(entries, "recall") if int(entries) >= LARGE else [])


def verdict(row: dict[str, Any]) -> str:
    """`met`, `not measured`, `known miss`, or `MISSED`."""
    if row["met"] is None:
        return "not measured"
    if row["met"]:
        return "met"
    known = KNOWN.get(row["name"])
    reached = row["ratio"] if row["ratio"] is not None else row["figure"]
    return "known miss" if known is not None and reached <= known["ceiling"] else "MISSED"


def show(rows: list[dict[str, Any]]) -> None:
    """Prints the rows with their verdicts."""
    for row in rows:
        figures = [
            f"{row[name]:.4g}" if row[name] is not None else "-" for name in ("figure", "floor", "ratio", "bound")
        ]
        print(
            f"{row['name']:<48} {verdict(row):<13}"
            + "".join(f"{figure:>11}" for figure in figures)
            + f"  {row['unit']}"
        )
        if verdict(row) == "known miss":
            known = KNOWN[row["name"]]
            print(f"    {known['why']} (ceiling {known['ceiling']})")


def main(entries: str) -> int:
    """Measures, at most twice; 1 if something is missed that is not a known miss."""
    for attempt in (1, 2):
        rows = measure_all(entries)
        print(f"\n{entries} entries, run {attempt}: figure, floor, ratio, bound")
        show(rows)
        if all(verdict(row) != "MISSED" for row in rows):
            return 0
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
