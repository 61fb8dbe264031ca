"""One conversation as each version of Claude Code writes it: the same comes back, and the same stays in view."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests import claude_code as cc

from aforesaid import Engine
from aforesaid.branches import find_branch

if TYPE_CHECKING:
    from pathlib import Path

ASKED = "which port does `gateway.toml` name?"
SEGMENT = {"headUuid": "k", "anchorUuid": "S", "tailUuid": "l"}
MESSAGES = {"anchorUuid": "S", "uuids": ["k", "l"], "allUuids": ["k", "l"]}


def before(*, blocks: bool) -> list[Any]:
    """What is said until the compaction; old versions write all blocks of a message in one row."""
    call = {"type": "tool_use", "id": "toolu_c", "name": "Read", "input": {"file_path": "gateway.toml"}}
    said = [{"type": "text", "text": "I look it up."}]
    looked = [cc.reply("c", "p", [*said, call])] if blocks else [
        cc.reply("s", "p", said, "m"), cc.reply("c", "s", [call], "m"),
    ]  # fmt: skip
    return [
        cc.message("p", None, "what does the gateway listen on?"), *looked,
        cc.result("r", "c", "listen = 58213"), cc.reply("a", "r", "It is set there."),
        cc.message("k", "a", "then the walnut table"), cc.reply("l", "k", "which is made of oak"),
    ]  # fmt: skip


def session(version: str) -> tuple[list[Any], set[str]]:
    """The rows as a version writes them, and those that the model sees at the end."""
    kept: set[str] = set()
    rows = before(blocks=version.startswith("1."))
    if version.startswith("1."):
        rows += [cc.summary("S", None)]
    else:
        metadata: dict[str, Any] = {}
        if version == "2.1.42":
            metadata, kept = {"preservedSegment": SEGMENT}, {"k", "l"}
        elif version == "2.1.332":
            metadata, kept = {"preservedSegment": SEGMENT, "preservedMessages": MESSAGES}, {"k", "l"}
        rows += [cc.boundary("B", "gone" if version == "2.1.7" else "l", metadata), cc.summary("S", "B")]
    # Where something was kept, the next row may hang on its end instead of the summary.
    rows.append(cc.message("q", "l" if kept else "S", "go on"))
    return [row | {"version": version} for row in rows], {*kept, "S", "q"}


@pytest.mark.parametrize("version", ["1.0.3", "1.0.128", "2.0.14", "2.1.7", "2.1.42", "2.1.332"])
def test_each_version_gives_the_same_lost_part_and_the_view_that_it_keeps(tmp_path: Path, version: str) -> None:
    rows, seen = session(version)
    file = cc.write(tmp_path / f"{cc.SESSION}.jsonl", rows)
    with Engine.open(tmp_path / "store") as engine:
        found = engine.retrieve(session=file, query=ASKED)
        assert [hit.entry_id for hit in found.hits] == ["c", "r"]
        assert found.hits[1].excerpt == "listen = 58213"
        reasons = ("unknown-parent",) if version == "2.1.7" else ()
        assert found.diagnostics.coverage.reasons == reasons
        with engine._store.read(engine._find(str(file)).key) as snapshot:
            branch = find_branch(snapshot, None)
            entries = snapshot.entries(range(1, snapshot.session.entries + 1))
        visible = {e.id for e in entries if any(first <= e.row <= last for first, last in branch.context) and e.text}
        lost = {e.id for e in entries if any(first <= e.row <= last for first, last in branch.eligible) and e.text}
        assert visible == seen
        assert lost == {row["uuid"] for row in rows} - seen - {"B"}
        page = engine.recall("", session=file, file="gateway.toml", limit=12)
        assert {hit.entry_id for hit in page.hits} == {"c", "r"}
