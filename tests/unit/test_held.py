"""Sessions of which there is no file: the same entries as if there were one."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests import pi

from aforesaid.engine import Engine
from aforesaid.errors import BadArgument, StoreError
from aforesaid.indexing.held import take_lines
from aforesaid.storage.sqlite.memory import MemoryManifests, MemoryStore
from aforesaid.transcripts import readers

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

READER = next(reader for reader in readers() if reader.host == "pi")


def lines(rows: Sequence[pi.Row]) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def test_it_is_retrieved_from_as_a_file_is(tmp_path: Path) -> None:
    rows = [pi.header("one"), *pi.conversation(["the walnut table", "noted"])]
    rows += [pi.compaction("cccccccc", rows[-1]["id"], "cccccccc", minute=9)]
    file = pi.write(tmp_path / "s.jsonl", rows)
    with Engine.open(tmp_path / "store") as stored, Engine.in_memory() as memory:
        memory.hold("memory:one", lines(rows))
        by_file = stored.retrieve(session=file, query="walnut")
        by_lines = memory.retrieve(session="memory:one", query="walnut")
        assert [hit.message for hit in by_lines.hits] == [hit.message for hit in by_file.hits]
        assert by_lines.diagnostics.coverage.complete
        assert memory.status().sessions == 1
        memory.drop("memory:one")
        memory.drop("memory:one")
        assert memory.status().sessions == 0


@given(cuts=st.lists(st.integers(0, 12), max_size=4))
def test_the_parts_in_which_lines_come_do_not_matter(cuts: list[int]) -> None:
    rows = [pi.header("one"), *pi.conversation([f"text {number}" for number in range(10)])]
    rows += [{**pi.message("late", "comes-later", "x")}, pi.message("comes-later", None, "y")]
    store, whole = MemoryStore(), MemoryStore()
    bounds = sorted({0, len(rows), *(min(cut, len(rows)) for cut in cuts)})
    for end in bounds[1:]:
        session = take_lines(store, READER, "n", lines(rows[:end]))
    expected = take_lines(whole, READER, "n", lines(rows))
    assert (session.entries, session.requests, session.header) == (expected.entries, expected.requests, expected.header)
    with store.read(session.key) as one, whole.read(expected.key) as other:
        assert [entry.text for entry in one.entries(range(1, 20))] == [
            entry.text for entry in other.entries(range(1, 20))
        ]


def test_many_lines_go_in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aforesaid.indexing.intake.BATCH_ENTRIES", 3)
    store = MemoryStore()
    rows = [pi.header("one"), *pi.conversation([f"text {number}" for number in range(10)])]
    rows += [pi.message("late", "comes-later", "x"), *pi.conversation(["a", "b", "c", "d"], prefix="f")]
    rows += [pi.message("comes-later", None, "y")]
    session = take_lines(store, READER, "n", lines(rows))
    assert session.entries == 16
    assert session.flaws == ()


def test_secrets_are_replaced_as_everywhere() -> None:
    secret = "ghp_" + "a1B2" * 9
    with Engine.in_memory() as memory:
        memory.hold("memory:one", lines([pi.header("one"), *pi.conversation([f"token {secret}", "ok"])]))
        with memory._store.read(memory.sessions()[0].key) as snapshot:
            assert secret not in snapshot.entries([1])[0].text


def test_an_unknown_host_is_a_wrong_argument() -> None:
    with Engine.in_memory() as memory, pytest.raises(BadArgument):
        memory.hold("memory:one", b"", host="emacs")


def test_a_store_in_memory_forgets_with_its_process() -> None:
    store = MemoryStore()
    with pytest.raises(StoreError):
        _ = store.forgetting
    assert len(store.secret()) == 32
    assert store.secret() == store.secret()
    assert store.by_key("nothing") is None
    session = take_lines(store, READER, "n", lines([pi.header("one"), *pi.conversation(["x"])]))
    assert store.by_key(session.key) == session
    assert store.by_id("one") == store.sessions() == (session,)
    store.close()
    assert store.sessions() == ()


def test_manifests_in_memory_are_bounded_in_number_and_size() -> None:
    kept = MemoryManifests()
    for number in range(5):
        assert kept.keep("k", f"r{number}", at=float(number), most=3)
    kept.keep("other", "x", at=9.0, most=3)
    assert kept.latest("k", 10) == ((4.0, "r4"), (3.0, "r3"))
    assert kept.latest(None, 1) == ((9.0, "x"),)
    assert not kept.keep("k", "y", at=10.0, most=0)
    assert kept.latest(None, 10) == ()
    for number in range(6):
        kept.keep("k", "z" * 1_000_000, at=float(number), most=100)
    assert len(kept.latest("k", 10)) == 4
