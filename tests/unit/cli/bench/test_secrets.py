"""`aforesaid bench secrets` on a corpus that is too small to say anything about speed."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import TYPE_CHECKING

from aforesaid.cli import bench
from aforesaid.cli.arguments import Options
from aforesaid.cli.bench import secrets

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_the_rows_of_secrets(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    parser = ArgumentParser()
    bench.add_arguments(parser)
    arguments = parser.parse_args(["secrets", "--entries", "200", "--rounds", "1", "--work", str(tmp_path)])
    bench.run(arguments, Options(json=True))
    missed, alarms, scan, build = json.loads(capsys.readouterr().out)["rows"]
    assert missed["met"] is True
    assert missed["figure"] <= missed["bound"] == 2
    assert "89 kinds" in missed["note"]
    assert alarms["met"] is True
    assert alarms["figure"] <= alarms["bound"] == 0.5
    assert scan["ratio"] > 1
    assert scan["bound"] == 50
    assert "MB/s" in scan["note"]
    assert build["met"] is None
    assert build["figure"] > 0
    assert build["floor"] > 0
    assert list(tmp_path.iterdir()) == []


def test_long_sessions_are_searched_in_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(secrets, "_MOST", 1000)
    attempt = secrets._scan(["word " * 100] * 9, 1)
    assert attempt.note.endswith("0.0 million characters")
