"""Sidechains in a file of Claude Code: sessions of their own with a parent, from the reader to what a user asks."""

from __future__ import annotations

import io
import json
from hashlib import sha256
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import claude_code as cc

from aforesaid import Engine, sidechains
from aforesaid.errors import SessionForgotten
from aforesaid.model import Checkpoint, Entry
from aforesaid.transcripts import claude_code_reading
from aforesaid.transcripts.claude_code import ClaudeCodeTranscripts

if TYPE_CHECKING:
    from pathlib import Path

READER = ClaudeCodeTranscripts()
FILE = f"/projects/-home-dev/{cc.SESSION}.jsonl"
SIDE: cc.Row = {"isSidechain": True}
ROWS = [
    cc.message("p", None, "the walnut table"),
    cc.call("c1", "p", "m", "Task", prompt="measure the oak"),
    cc.message("s1", None, "measure the oak board", minute=2, **SIDE),
    cc.call("s2", "s1", "n", command="ruler --board oak_17") | SIDE,
    cc.message("t1", None, "count the maple screws", minute=3, **SIDE),
    cc.result("s3", "s2", "oak_17 is 1843 mm", **SIDE),
    cc.reply("t2", "t1", "there are 58213 screws", **SIDE),
    cc.reply("s4", "s3", "it is 1843 mm", **SIDE),
    cc.result("r1", "c1", "measured"),
    cc.reply("a", "r1", "done with it"),
]


def content(rows: list[cc.Row]) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def read(
    lines: bytes, chain: str | None = None, since: Checkpoint | None = None
) -> tuple[claude_code_reading.ClaudeCodeReading, list[Entry]]:
    name = FILE if chain is None else sidechains.name_of(FILE, chain)
    pass_ = READER.read(io.BytesIO(lines), name, since)
    return pass_, [item for item in pass_ if isinstance(item, Entry)]


def test_a_name_says_the_file_and_the_sidechain_in_it() -> None:
    name = sidechains.name_of("/a/b.jsonl", "s1")
    assert (sidechains.file_of(name), sidechains.chain_of(name)) == ("/a/b.jsonl", "s1")
    assert (sidechains.file_of("/a/b.jsonl"), sidechains.chain_of("/a/b.jsonl")) == ("/a/b.jsonl", None)
    assert sidechains.file_of(sidechains.name_of(name, "t1")) == name


def test_each_sidechain_is_a_session_of_its_own_with_a_parent() -> None:
    pass_, found = read(content(ROWS))
    assert [entry.id for entry in found] == ["p", "c1", "r1", "a"]
    assert READER.parts(FILE, pass_.checkpoint) == tuple(sidechains.name_of(FILE, chain) for chain in ("s1", "t1"))
    pass_, found = read(content(ROWS), "s1")
    assert [(entry.id, entry.parent) for entry in found] == [("s1", None), ("s2", "s1"), ("s3", "s2"), ("s4", "s3")]
    assert (found[0].request, found[2].tools, pass_.checkpoint.leaf) == (True, ("Bash",), "s4")
    header = pass_.header
    assert (header.session_id, header.parent, header.relation) == ("sidechain-s1", cc.SESSION, "subagent")
    assert (header.started, header.cwd) == ("2026-11-30T00:02:00.000Z", "/home/dev/project")
    assert READER.parts(sidechains.name_of(FILE, "s1"), pass_.checkpoint) == ()
    assert [entry.id for entry in read(content(ROWS), "t1")[1]] == ["t1", "t2"]


def test_lines_are_those_of_the_file_and_no_row_is_lost_between_the_sessions() -> None:
    lines = content(ROWS)
    found = [entry for chain in (None, "s1", "t1") for entry in read(lines, chain)[1]]
    assert sorted(entry.source.line for entry in found) == list(range(1, len(ROWS) + 1))
    for entry in found:
        source = entry.source
        assert sha256(lines[source.offset : source.offset + source.length]).digest() == source.sha256


@given(st.integers(0, len(content(ROWS))), st.sampled_from((None, "s1", "t1")))
@settings(max_examples=60, deadline=None)
def test_reading_on_gives_what_reading_at_once_gives(cut: int, chain: str | None) -> None:
    lines = content(ROWS)
    first, begun = read(lines[:cut], chain)
    second, rest = read(lines, chain, first.checkpoint)
    whole, found = read(lines, chain)
    assert [*begun, *rest] == found
    assert (second.header, second.checkpoint) == (whole.header, whole.checkpoint)


def test_a_lost_line_is_told_where_its_parent_stands() -> None:
    lost = b'{"parentUuid":"s2","type":"user","uuid":"s3","mess\n'
    lines = content(ROWS[:4]) + lost + content(ROWS[7:])
    flaws = [item for item in READER.read(io.BytesIO(lines), FILE, None) if not isinstance(item, Entry)]
    assert flaws == []
    chain = list(READER.read(io.BytesIO(lines), sidechains.name_of(FILE, "s1"), None))
    assert [(item.id, item.parent) for item in chain] == [("s1", None), ("s2", "s1"), ("s3", "s2"), ("s4", "s3")]


def test_ids_that_no_name_could_hold_are_shortened_and_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    pass_, _ = read(content([cc.message("a/b #\ud800", None, "odd", **SIDE), cc.message("p", None, "plain")]))
    (name,) = READER.parts(FILE, pass_.checkpoint)
    chain = sidechains.chain_of(name)
    assert chain is not None
    assert len(chain) == 32
    assert [entry.parts for entry in read(content([cc.message("a/b #\ud800", None, "odd", **SIDE)]), chain)[1]] == [
        ("odd",)
    ]
    monkeypatch.setattr(claude_code_reading, "MOST_LINKS", 2)
    rows = [cc.message("s0", None, "x", **SIDE), *(cc.reply(f"s{n}", f"s{n - 1}", "y", **SIDE) for n in range(1, 9))]
    assert len(read(content(rows), "s0")[1]) == 9
    assert len(json.loads(read(content(rows))[0].checkpoint.state)["links"]) == 2


@pytest.fixture
def file(tmp_path: Path) -> Path:
    place = tmp_path / "projects" / f"{cc.SESSION}.jsonl"
    place.parent.mkdir()
    place.write_bytes(content(ROWS))
    return place


def test_the_product_finds_searches_and_updates_sidechains(file: Path, tmp_path: Path) -> None:
    with Engine.open(tmp_path / "store") as engine:
        reports = engine.index(file.parent).sessions
        assert [(sidechains.chain_of(one.file), one.status, one.added) for one in reports] == [
            (None, "added", 4),
            ("s1", "added", 4),
            ("t1", "added", 2),
        ]
        assert {one.status for one in engine.index(file).sessions} == {"unchanged"}
        found = engine.retrieve(session="sidechain-s1", query="how long is `oak_17`?", context_entries=())
        assert {hit.ranked.candidate.entry.id for hit in found.hits} == {"s2", "s3"}
        assert found.diagnostics.coverage.complete
        assert not engine.retrieve(session=file, query="how long is `oak_17`?", context_entries=()).hits
        page = engine.recall("screws", scope="host-wide")
        assert [(hit.session_id, hit.entry_id) for hit in page.hits] == [("sidechain-t1", "t2"), ("sidechain-t1", "t1")]
        assert page.coverage.complete
        (entry,) = engine.expand(page.hits[0].ref).entries
        assert (entry.text, entry.verified) == ("there are 58213 screws", True)
        with file.open("ab") as more:
            more.write(content([cc.reply("t3", "t2", "and 7 of `maple_nut`", **SIDE), cc.reply("z", "a", "more")]))
        engine.retrieve(session=file, query="anything about `maple_nut`?")
        found = engine.retrieve(session="sidechain-t1", query="how many `maple_nut`?", context_entries=())
        assert [hit.ranked.candidate.entry.id for hit in found.hits] == ["t3"]
        assert {one.status for one in engine.rebuild().sessions} == {"rebuilt"}


def test_forgetting_a_session_forgets_the_sidechains_in_its_file(file: Path, tmp_path: Path) -> None:
    with Engine.open(tmp_path / "store") as engine:
        engine.index(file)
        report = engine.forget(session=file, verify=True)
        assert len(report.sessions) == 3
        assert report.verification is not None
        assert not report.verification.leftovers
        assert [one.error_code for one in engine.index(file).sessions] == [SessionForgotten.code]
        assert engine.recall("screws", scope="host-wide").hits == ()


def test_what_was_indexed_stays_when_the_file_is_gone(file: Path, tmp_path: Path) -> None:
    with Engine.open(tmp_path / "store") as engine:
        engine.index(file)
        file.unlink()
        found = engine.retrieve(session="sidechain-s1", query="how long is `oak_17`?", context_entries=())
        assert len(found.hits) == 2
        assert found.diagnostics.coverage.reasons == ("source-missing",)
        assert [one.status for one in engine.rebuild(session="sidechain-s1").sessions] == ["failed"]
