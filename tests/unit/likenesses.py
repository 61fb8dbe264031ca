"""A session and an engine that compares meanings: what the tests of semantic retrieval share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.fakes.embedding import Recorder, settings
from tests.pi import conversation, header, write

from aforesaid.engine import Engine

if TYPE_CHECKING:
    from pathlib import Path

    from aforesaid.answers import Retrieval, Semantic

TEXTS = [
    "We bought a vehicle last week.",
    "Noted.",
    "The cash is in the blue box.",
    "Understood, I will remember it.",
    "My physician lives near the harbour.",
    "Fine.",
    "The token lives in src/app/auth.py and nowhere else.",
    "Good.",
    "The automobile of my sister is in src/app/auth.py by mistake.",
    "Strange.",
]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write(tmp_path / "s.jsonl", [header(), *conversation(TEXTS)])


def opened(tmp_path: Path, port: Recorder | None = None, **more: object) -> Engine:
    port = port or Recorder()
    return Engine.open(tmp_path / "store", settings=settings(port, **more), embedding=port)


def ask(engine: Engine, file: Path, query: str, **more: Any) -> Retrieval:
    return engine.retrieve(session=file, query=query, context_entries=more.pop("context_entries", ()), **more)


def ids(found: Retrieval) -> list[str]:
    return [hit.entry_id for hit in found.hits]


def told(found: Retrieval) -> Semantic:
    assert found.diagnostics.semantic is not None
    return found.diagnostics.semantic


def vectors_of_the_session(tmp_path: Path) -> Path:
    (path,) = [path for path in (tmp_path / "store" / "vectors").glob("*.db") if path.stem != "calibration"]
    return path


RANKINGS = pytest.mark.parametrize("ranking", ["documented", "contextual"])
