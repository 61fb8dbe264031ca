"""What a live host's model sees, followed from call to call: always what reading the whole file again would say."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace
from tests import pi

from aforesaid import Engine
from aforesaid.errors import EntryUnknown
from aforesaid.planning.context import recall_native

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from tests.pi import Row

    from aforesaid.planning.values import Message


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with Engine.open(tmp_path / "store") as opened:
        yield opened


def shown(rows: Sequence[Row], leaf: str) -> list[str]:
    """The ids of the entries that Pi makes a context of, in its order (`buildContextEntries`)."""
    path = [row["id"] for row in pi.path_of(rows, leaf)]
    compactions = [row for row in pi.path_of(rows, leaf) if row["type"] == "compaction"]
    if not compactions:
        return path
    latest = compactions[-1]
    at = path.index(latest["id"])
    kept = path.index(latest["firstKeptEntryId"]) if latest["firstKeptEntryId"] in path[:at] else at
    return [latest["id"], *path[kept:at], *path[at + 1 :]]


def followed(engine: Engine, file: Path, ids: Sequence[str]) -> tuple[Message, ...]:
    """What the engine remembers, after it was told."""
    plan = engine.plan(session=file, context_window=10**9, context_entries=ids)
    assert plan.failed is False
    return tuple(message for message in plan.messages if message.source == "native")


def read(engine: Engine, file: Path, leaf: str) -> tuple[Message, ...]:
    native = engine._contexts.read(engine._find(str(file)), leaf)
    return tuple(replace(message, content=None) for message in native.messages)


@pytest.mark.parametrize("seed", range(12))
def test_following_says_what_reading_everything_says(seed: int, engine: Engine, tmp_path: Path) -> None:
    chance = random.Random(seed)
    file = tmp_path / "one.jsonl"
    rows: list[Row] = [pi.message("e0000000", None, "the beginning")]
    leaf = "e0000000"
    pi.write(file, [pi.header("one"), *rows])
    for step in range(1, 40):
        id_, path = f"e{step:07}", pi.path_of(rows, leaf)
        earlier = chance.choice(path)["id"]
        match chance.randrange(10):
            case 0:
                row = pi.compaction(id_, leaf, earlier, f"summary {step}", step)
            case 1:
                row = pi.context_edit(id_, leaf, earlier, chance.choice([None, f"instead {step}"]), step)
            case 2:  # back to an earlier entry
                leaf = earlier
                row = pi.message(id_, leaf, f"another way {step}", "user", step)
            case 3:
                row = {"type": "label", "id": id_, "parentId": leaf, "timestamp": pi.stamp(step),
                       "targetId": earlier, "label": "here"}  # fmt: skip
            case kind:
                row = pi.message(id_, leaf, f"text {step}", ("user", "assistant", "toolResult")[kind % 3], step)
        rows.append(row)
        leaf = id_
        with file.open("a", encoding="utf-8") as end:
            end.write(json.dumps(row) + "\n")
        if chance.random() < 0.7:
            assert followed(engine, file, shown(rows, leaf)) == read(engine, file, leaf), f"step {step}"


def talk(folder: Path, *texts: str) -> Path:
    return pi.write(folder / "one.jsonl", [pi.header("one"), *pi.conversation(texts)])


def test_a_session_that_was_read_again_from_another_file_is_looked_at_again(engine: Engine, tmp_path: Path) -> None:
    file = talk(tmp_path, "one", "two", "three")
    ids = ["e0000000", "e0000001", "e0000002"]
    before = followed(engine, file, ids)
    rows = [
        pi.message("f0000000", None, "a new beginning"),
        *pi.conversation(["one", "two!", "three"], parent="f0000000"),
    ]
    pi.write(file, [pi.header("one"), *rows])
    assert followed(engine, file, ids) != before
    assert followed(engine, file, ids) == read(engine, file, "e0000002")[1:]


def test_without_its_file_a_session_is_followed_by_its_stored_texts(engine: Engine, tmp_path: Path) -> None:
    file = talk(tmp_path, "one", "two", "three")
    engine.index(file)
    with engine._store.read(engine._find(str(file)).key) as snapshot:
        stored = recall_native(snapshot, ((1, 3),)).messages
    file.unlink()
    assert followed(engine, file, ["e0000000", "e0000001", "e0000002"]) == tuple(
        replace(message, content=None) for message in stored
    )


def test_an_entry_that_does_not_exist_is_a_wrong_argument(engine: Engine, tmp_path: Path) -> None:
    file = talk(tmp_path, "one", "two", "three")
    with pytest.raises(EntryUnknown):
        engine.plan(session=file, context_window=1000, context_entries=["e0000000", "nothing"])
    assert len(followed(engine, file, ["e0000000", "e0000001", "e0000002"])) == 3


def test_what_a_host_does_not_name_is_not_in_its_context(engine: Engine, tmp_path: Path) -> None:
    file = talk(tmp_path, "the walnut table", "noted", "Where is the walnut table?")
    plan = engine.plan(session=file, context_window=1000, context_entries=["e0000001", "e0000002"])
    assert [message.entry_id for message in plan.messages] == ["e0000001", "e0000000", "e0000002"]
    assert engine.plan(session=file, context_window=1000, context_entries=[]).reason == "no-request"


def test_what_the_plan_leaves_out_of_named_entries_comes_back(engine: Engine, tmp_path: Path) -> None:
    texts = ["the walnut table is in room 7", "noted"]
    for number in range(12):
        texts += [f"subject {number} " + "lorem ipsum dolor " * 40, "answered"]
    file = talk(tmp_path, *texts, "Where is the walnut table?")
    ids = [f"e{number:07}" for number in range(len(texts) + 1)]
    for _ in range(2):
        plan = engine.plan(session=file, context_window=1500, context_entries=ids)
        assert plan.omitted[:2] == ("e0000000", "e0000001")
        assert plan.manifest.retrieved_event_ids == ("e0000000",)
    assert set(plan.omitted) | {message.entry_id for message in plan.messages} == set(ids)


def test_the_words_of_an_edited_entry_come_back(engine: Engine, tmp_path: Path) -> None:
    rows = pi.conversation(["the walnut table is in room 7", "noted"])
    edit = pi.context_edit("dddddddd", "e0000001", "e0000000", "something else")
    ask = pi.message("f0000000", "dddddddd", "Where is the walnut table?")
    file = pi.write(tmp_path / "one.jsonl", [pi.header("one"), *rows, edit, ask])
    ids = ["e0000000", "e0000001", "dddddddd", "f0000000"]
    plan = engine.plan(session=file, context_window=10_000, context_entries=ids)
    assert [message.entry_id for message in plan.messages] == ["e0000000", "e0000001", "e0000000", "f0000000"]
    assert plan.manifest.retrieved_event_ids == ("e0000000",)


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("target", ["command", "summary"])
@pytest.mark.parametrize("earlier", [None, "left out", "something else"])
def test_what_no_replacement_changes_is_sent_once_and_does_not_come_back(
    engine: Engine, tmp_path: Path, target: str, named: bool, earlier: str | None
) -> None:
    """Pi puts the content of a replacement into messages that have one; a command and a summary stay as they are."""
    words = "grep walnut table: room 7"
    summary = {"type": "branch_summary", "id": "cccccccc", "parentId": "e0000000", "timestamp": pi.stamp(1),
               "fromId": "e0000000", "summary": words}  # fmt: skip
    said = pi.ran("cccccccc", "e0000000", words, 1) if target == "command" else summary
    edits = [pi.context_edit("dddddddd", "cccccccc", "cccccccc", "something else", 2)]
    if earlier is not None:
        first = None if earlier == "left out" else earlier
        edits = [pi.context_edit("bbbbbbbb", "cccccccc", "cccccccc", first, 2), edits[0] | {"parentId": "bbbbbbbb"}]
    ask = pi.message("f0000000", "dddddddd", "Where is the walnut table?", minute=4)
    rows = [*pi.conversation(["hello"]), said, *edits, ask]
    file = pi.write(tmp_path / "one.jsonl", [pi.header("one"), *rows])
    ids = [row["id"] for row in rows] if named else None
    plan = engine.plan(session=file, context_window=10_000, context_entries=ids)
    assert [message.entry_id for message in plan.messages] == ["e0000000", "cccccccc", "f0000000"]
    assert words in str(plan.messages[1].content) or named
    assert engine.retrieve(session=file).hits == ()
    out = pi.context_edit("eeeeeeee", "f0000000", "cccccccc", None, 5)
    pi.write(file, [pi.header("one"), *rows, out])
    plan = engine.plan(session=file, context_window=10_000, context_entries=None if ids is None else [*ids, "eeeeeeee"])
    came = ["cccccccc"] if target == "command" else []
    assert [message.entry_id for message in plan.messages] == ["e0000000", *came, "f0000000"]
    assert [hit.ranked.candidate.entry.id for hit in engine.retrieve(session=file).hits] == came


def test_few_sessions_stay_in_memory(engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aforesaid.contexts.TRACKS", 2)
    for number in range(4):
        file = pi.write(tmp_path / f"{number}.jsonl", [pi.header(f"s{number}"), *pi.conversation(["one"])])
        followed(engine, file, ["e0000000"])
        followed(engine, tmp_path / "0.jsonl", ["e0000000"])
    assert len(engine._contexts._tracks) == 2
    assert list(engine._contexts._tracks)[-1] == engine._find("s0").key


def test_overhead_is_what_the_host_says_or_else_the_session(engine: Engine, tmp_path: Path) -> None:
    system = {"type": "message", "id": "s0000000", "parentId": None, "timestamp": pi.stamp(0),
              "message": {"role": "system", "content": "Be brief and kind."}}  # fmt: skip
    file = pi.write(tmp_path / "one.jsonl", [pi.header("one"), system, *pi.conversation(["one"], parent="s0000000")])
    ids = ["s0000000", "e0000000"]
    own = engine.plan(session=file, context_window=1000, context_entries=ids)
    said = engine.plan(session=file, context_window=1000, context_entries=ids, overhead=100)
    assert own.tokens - own.messages[0].tokens > 0
    assert said.tokens - said.messages[0].tokens == 100
    assert engine.plan(session=file, context_window=1000).tokens == own.tokens
