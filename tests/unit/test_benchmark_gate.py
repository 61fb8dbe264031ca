"""The page on performance names every ceiling of the benchmark's gate, and the gate holds to them."""

from __future__ import annotations

import json
import re
from importlib.util import module_from_spec, spec_from_file_location
from typing import TYPE_CHECKING, Any

import pytest
from tests.conftest import ROOT

if TYPE_CHECKING:
    from types import ModuleType

KNOWN: dict[str, dict[str, Any]] = json.loads((ROOT / "benchmarks" / "known-misses.json").read_text("utf-8"))
PAGE = (ROOT / "docs" / "performance.md").read_text("utf-8")


@pytest.fixture(scope="module")
def gate() -> ModuleType:
    spec = spec_from_file_location("gate", ROOT / "benchmarks" / "gate.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_names_every_row_that_has_a_ceiling_with_that_ceiling() -> None:
    table = PAGE.split("## What `make test` holds", 1)[1].split("\n## ", 1)[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines() if line[:2] == "| "]
    named = [(row[0].replace("`", ""), float(row[2])) for row in rows if re.fullmatch(r"[\d.]+", row[2])]
    models = {"MiniLM": "(all-minilm-l6-v2-int8)", "wordllama": "(wordllama-l2-supercat)"}
    for name, ceiling in named:
        short, _, model = name.partition(", ") if name.startswith("vectors") else (name, "", "")
        (found,) = [row for row in KNOWN if row.startswith(short) and models.get(model, "") in row]
        assert KNOWN[found]["ceiling"] == ceiling, name
    assert len(named) == len(KNOWN)


@pytest.mark.parametrize(
    ("name", "ratio", "met", "verdict"),
    [
        ("full build / parsing and bare FTS5 build", 2.9, True, "met"),
        ("full build / parsing and bare FTS5 build", 3.4, False, "known miss"),
        ("full build / parsing and bare FTS5 build", 3.6, False, "MISSED"),
        ("literal search / scan", 0.21, False, "MISSED"),
        ("literal search / scan", None, None, "not measured"),
    ],
)
def test_a_miss_is_known_up_to_its_ceiling_only(
    gate: ModuleType, name: str, ratio: float | None, met: bool | None, verdict: str
) -> None:
    assert gate.verdict({"name": name, "ratio": ratio, "figure": 9.0, "met": met}) == verdict
