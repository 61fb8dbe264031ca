from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.unit.cli.bench.test_run import run

from aforesaid.cli.bench import many

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_searches_of_many_sessions_stand_beside_the_same_shards_opened_bare(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(many, "ENTRIES", 60)
    status = run("recall", "--entries", "1200", "--rounds", "1", "--work", str(tmp_path), json=True)
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)["rows"]}
    rare = rows["recall of a rare name in 20 sessions / the same shards bare"]
    common = rows["recall of a common word in 20 sessions / the same shards bare"]
    assert rare["note"].startswith("1 shards; p95 ")
    assert common["note"].startswith("20 shards; p95 ")
    assert rare["figure"] > 0 < common["floor"]
    assert 0 < rows["peak memory, searches of all sessions"]["figure"] < 200
    assert status == int(any(row["met"] is False for row in rows.values()))
    assert list(tmp_path.iterdir()) == []
