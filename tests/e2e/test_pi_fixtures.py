"""Sessions with what the samples lack: damage is named, costs a line at most, and the view is rebuilt as Pi does it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.fixtures.pi.make import EARLY, FIXTURES, FOLDER, KEPT, NEVER

from aforesaid import Engine

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with Engine.open(tmp_path_factory.mktemp("store")) as opened:
        yield opened


cases = pytest.mark.parametrize("name", FIXTURES)


@cases
def test_the_files_are_what_their_script_writes(name: str) -> None:
    assert (FOLDER / f"{name}.jsonl").read_bytes() == FIXTURES[name].content


@cases
def test_indexing_names_what_it_skipped(engine: Engine, name: str) -> None:
    (report,) = engine.index(FOLDER / f"{name}.jsonl", rebuild=True).sessions
    assert tuple((flaw.line, flaw.reason, flaw.id) for flaw in report.flaws) == FIXTURES[name].flaws
    lines = FIXTURES[name].content.split(b"\n")
    for flaw in report.flaws:
        assert flaw.byte == sum(len(line) + 1 for line in lines[: flaw.line - 1])


@cases
def test_a_name_that_left_the_view_brings_its_entry_back_first(engine: Engine, name: str) -> None:
    found = engine.retrieve(session=FOLDER / f"{name}.jsonl", query=f"what about `{EARLY}`?")
    assert [hit.ranked.candidate.entry.id for hit in found.hits] == [FIXTURES[name].early]


@cases
def test_a_name_in_the_view_brings_nothing_back(engine: Engine, name: str) -> None:
    found = engine.retrieve(session=FOLDER / f"{name}.jsonl", query=f"what about `{KEPT}`?")
    # Where nothing was kept only the summary and the request are in view, and the entry itself comes back.
    assert [hit.ranked.candidate.entry.id for hit in found.hits] == (["e0000005"] if name == "retain-none" else [])


@cases
def test_other_branches_and_lost_lines_never_come_back(engine: Engine, name: str) -> None:
    assert engine.retrieve(session=FOLDER / f"{name}.jsonl", query=f"what about `{NEVER}`?").hits == ()
