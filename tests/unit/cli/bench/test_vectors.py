"""`aforesaid bench vectors` on a corpus that is too small to say anything about speed."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from typing import TYPE_CHECKING, Any

from aforesaid.cli import bench
from aforesaid.cli.arguments import Options
from aforesaid.cli.bench import vectors
from aforesaid.embedders import MODELS, MULTILINGUAL, STATIC, TRANSFORMER

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    parser = ArgumentParser()
    bench.add_arguments(parser)
    arguments = parser.parse_args(["vectors", "--entries", "200", "--rounds", "1", "--work", str(tmp_path)])
    bench.run(arguments, Options(json=True))
    rows: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["rows"]
    return rows


def test_the_rows_of_vectors(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectors, "_TEXTS", 100)
    monkeypatch.setattr(bench, "LEAST_VECTORS", 300)
    monkeypatch.setattr(vectors, "_LATEST", {STATIC: 9, TRANSFORMER: 2, MULTILINGUAL: 1})
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    search, load, sync, *others, whole = run(tmp_path, capsys)
    assert [row["name"].partition("(")[2][:-1] for row in (sync, *others)] == [local.model for local in MODELS]
    assert {row["bound"] for row in others} == {1.2}
    assert [(row["met"], row["note"]) for row in others if row["name"].endswith("-int8)")] == [
        (None, "needs the extra semantic")
    ]
    assert sum(row["figure"] is not None for row in others) >= 1
    assert search["bound"] == 1.3
    assert load["bound"] == 0.05
    assert sync["bound"] == 1.6
    assert "300 vectors of 256 numbers" in search["note"]
    assert "100 vectors" in load["note"]
    assert "passages, " in sync["note"]
    assert "bound: 1 x floor + 2 ms" in whole["note"]
    for row in (search, load, sync, whole):
        assert row["figure"] > 0
        assert row["floor"] > 0
    assert list(tmp_path.iterdir()) == []


def test_without_numpy_the_search_is_not_measured(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectors, "_TEXTS", 100)
    monkeypatch.setattr(vectors, "MODELS", [local for local in MODELS if not local.extra])
    monkeypatch.setitem(sys.modules, "numpy", None)
    search, *others = run(tmp_path, capsys)
    assert search["met"] is None
    assert search["note"] == "numpy is not installed"
    assert all(row["figure"] > 0 for row in others)
