"""`make demo`: what its script prints is what the README promises."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from time import monotonic

from tests.conftest import ROOT


def entries(shown: str) -> list[str]:
    """The entries of the hits that a step shows, in their order."""
    return re.findall(r"^\d+  .*  entry (\w+)$", shown, flags=re.MULTILINE)


def test_the_demo_shows_three_requests_and_what_comes_back() -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "COLUMNS": "100"}
    begun = monotonic()
    done = subprocess.run(
        [sys.executable, ROOT / "examples" / "demo.py"], capture_output=True, env=environment, timeout=110, check=False
    )
    shown = done.stdout.decode("utf-8")
    assert (done.returncode, done.stderr) == (0, b"")
    assert monotonic() - begun < 110
    indexed, own, italian, nothing = re.split(r"^\$ aforesaid ", shown, flags=re.MULTILINE)[1:]
    assert indexed.startswith("index examples/pi")
    assert "6 sessions (6 added); 213 entries" in indexed
    assert entries(own) == ["5eed001b", "5eed000c", "5eed000b"]
    assert "exits with code 78" in own
    assert entries(italian) == ["5eed0024", "5eed0028", "5eed0027"]
    assert "db-staging:5433" in italian
    assert "6432" not in italian.split("\n", 1)[1]
    assert entries(nothing) == []
    assert "the request names no topic" in nothing
