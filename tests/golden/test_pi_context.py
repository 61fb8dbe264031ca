"""What Pi sends for a session, as the real Pi 1.6.0 said it.

`pi_context/project.mjs` printed the JSON files: `node project.mjs DIST FILE`, with the folder `dist` of Pi's package.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from tests.conftest import ROOT

from aforesaid import Engine
from aforesaid.planning.messages import count_content

if TYPE_CHECKING:
    from pathlib import Path

    from aforesaid.planning.values import NativeContext

HERE = ROOT / "tests" / "golden" / "pi_context"
NAMES = sorted(file.stem for file in HERE.glob("*.json"))


def session(name: str) -> Path:
    own = HERE / f"{name}.jsonl"
    return own if own.exists() else ROOT / "tests" / "fixtures" / "pi" / f"{name}.jsonl"


def sent(name: str, store: Path) -> NativeContext:
    with Engine.open(store) as engine:
        engine.index(session(name))
        return engine._contexts.read(engine._find(str(session(name))), None)


def test_there_are_cases() -> None:
    assert len(NAMES) == 11


@pytest.mark.parametrize("name", NAMES)
def test_the_messages_are_those_that_pi_sends(name: str, tmp_path: Path) -> None:
    expected: list[dict[str, Any]] = json.loads((HERE / f"{name}.json").read_text(encoding="utf-8"))
    made = sent(name, tmp_path)
    assert [(message.role, message.content) for message in made.messages] == [
        (message["role"], message["content"]) for message in expected
    ]


def test_every_shape_is_known_to_the_planner_and_names_its_entry(tmp_path: Path) -> None:
    made = sent("all-shapes", tmp_path)
    kinds = [(message.kind, message.calls, message.answers) for message in made.messages]
    assert kinds[:4] == [
        ("summary", (), None),
        ("request", (), None),
        ("message", ("call-1",), None),
        ("result", (), "call-1"),
    ]
    assert [message.kind for message in made.messages].count("summary") == 3
    assert made.messages[-1].kind == "request"
    expected = json.loads((HERE / "all-shapes.json").read_text(encoding="utf-8"))
    lines = session("all-shapes").read_text(encoding="utf-8").splitlines()
    assert [message.entry_id for message in made.messages] == [json.loads(lines[of["index"]])["id"] for of in expected]


def test_system_messages_count_as_overhead_unless_a_compaction_dropped_them(tmp_path: Path) -> None:
    # The one that the compaction keeps; the others stand before it.
    assert sent("all-shapes", tmp_path).overhead == count_content("Be brief.")
