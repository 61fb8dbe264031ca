"""Rollouts of Codex: compactions, and turns taken back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.codex import assistant, call, compacted, event, message, meta, rolled_back, user
from tests.unit.transcripts.rollouts import LONG, entries, one, path, reading, text

from aforesaid.model import Compaction, Entry, Flaw

if TYPE_CHECKING:
    from tests import codex

# --- compactions ----------------------------------------------------------------------------------------------------


def test_messages_that_a_compaction_kept_are_found_by_their_ids() -> None:
    first = user("one", id=LONG)
    rows = [first, assistant("two"), compacted([first, user("a summary", id="msg_" + "f" * 30)], "a summary")]
    found = entries(*rows, assistant("three"))
    assert found[2].compaction == Compaction(kept=(LONG, "msg_" + "f" * 30))
    assert (found[2].kind, found[2].role, found[2].parts) == ("compaction", "summary", ("a summary",))
    assert (found[2].id, found[2].parent, found[2].automatic) == ("L4", "L3", False)
    assert found[3].parent == "L4"


def test_messages_without_ids_are_found_by_their_text_and_the_latest_of_equal_ones_counts() -> None:
    rows = [user("go on"), user("walnut"), assistant("x"), user("go on"), user("other"), user("go on")]
    kept = [user("go on"), user("walnut"), user("never said"), message("developer", "walnut"), user("go on")]
    found = entries(*rows, compacted(kept))
    assert found[-1].compaction == Compaction(kept=("L5", "L3", "L7"))


def test_a_second_compaction_knows_what_the_first_one_kept() -> None:
    rows = [user("one"), compacted([user("one")]), user("two"), compacted([user("one"), user("two")])]
    assert entries(*rows)[-1].compaction == Compaction(kept=("L2", "L4"))


def test_a_summary_that_stands_only_in_the_history_is_read() -> None:
    item_ = user("a summary", kinds=["compaction.summary"])
    assert entries(user("x"), compacted([item_]))[1].parts == ("a summary",)


HANDED_ON = "Another language model started to solve this problem and produced a summary of its thinking process. It"


@pytest.mark.parametrize(
    "row",
    [
        {**assistant("words"), "metadata": {"client_authored": False, "compaction_output": True}},
        {**user("words"), "metadata": {"compaction_output": True}},
        # Read in the forgiving way, for the number is none.
        {**assistant("words"), "metadata": {"compaction_output": True}, "ordinal": "x"},
        assistant("words", kinds=["compaction.summary"]),
        user("words", kinds=["compaction.summary"]),
        user(HANDED_ON),
        user(HANDED_ON, kinds=["unknown"]),
    ],
)
def test_a_summary_among_the_items_is_never_automatic_evidence(row: codex.Row) -> None:
    entry = one(row)
    assert (entry.kind, entry.role, entry.automatic, entry.request) == ("compaction", "summary", False, False)
    assert entry.parts == (row["payload"]["content"][0]["text"],)
    assert entry.compaction is None  # what it left in view is said by the row `compacted`


@pytest.mark.parametrize(
    "row",
    [
        {**assistant("words"), "metadata": {"compaction_output": False}},
        {**assistant("words"), "metadata": {"compaction_output": "true"}},
        {**assistant("words"), "metadata": 5},
        {**assistant("words"), "metadata": None},
        {**assistant("words"), "metadata": [{"compaction_output": True}]},
        assistant("words", kinds=["unknown"]),
        assistant([]),
        assistant("words", kinds=[]),
        # Whoever quotes such words is no summary.
        assistant(HANDED_ON),
        user(f"what is this? {HANDED_ON}"),
        user([text("mine"), text("words")], kinds=["user.text", "compaction.summary"]),
    ],
)
def test_other_messages_are_no_summaries(row: codex.Row) -> None:
    entry = one(row)
    assert (entry.kind, entry.automatic) == ("message", True)
    assert entry.role in {"user", "assistant"}
    assert "words" not in entry.parts or entry.role == "assistant"


def test_a_call_in_a_turn_that_compacts_stays_a_call() -> None:
    made = one({**call("c", "x", {"a": "b"}), "metadata": {"compaction_output": True}})
    assert (made.role, made.tools) == ("tool_call", ("x",))


@pytest.mark.parametrize("type_", ["compaction", "compaction_summary"])
def test_a_summary_that_only_the_provider_can_read_is_noted(type_: str) -> None:
    sealed = {"type": type_, "encrypted_content": "gAAA"}
    _, found = reading(meta(), user("one"), compacted([user("one"), sealed]))
    entry, flaw = found[1:]
    assert isinstance(entry, Entry)
    assert (entry.parts, entry.compaction) == ((), Compaction(kept=("L2",)))
    assert flaw == Flaw(line=3, byte=entry.source.offset, reason="opaque-summary", lost=False)
    readable = reading(meta(), user("one"), compacted([sealed], "plain"))[1]
    assert all(isinstance(found, Entry) for found in readable)


@pytest.mark.parametrize(
    "item_",
    [{"type": "compaction"}, {"type": "reasoning", "encrypted_content": "gAAA"}, {"type": "compaction_summary"}],
)
def test_other_items_are_no_sealed_summaries(item_: codex.Row) -> None:
    assert all(isinstance(found, Entry) for found in reading(meta(), compacted([item_]))[1])


def test_a_compaction_that_does_not_say_what_it_kept_is_noted() -> None:
    _, found = reading(meta(), user("one"), compacted(None, "a summary"))
    entry, flaw = found[1:]
    assert isinstance(entry, Entry)
    assert (entry.compaction, entry.parts) == (Compaction(), ("a summary",))
    assert isinstance(flaw, Flaw)
    assert (flaw.reason, flaw.line, flaw.lost) == ("unknown-view", 3, False)


# --- turns taken back -----------------------------------------------------------------------------------------------


TWICE = ("unknown-turns", "unknown-turns")
TURNS = [user("one"), assistant("1"), user("two"), assistant("2"), user("three"), assistant("3")]


@pytest.mark.parametrize(
    ("number", "left"), [(1, ["L2", "L3", "L4", "L5"]), (2, ["L2", "L3"]), (3, []), (9, []), (0, None), ("x", None)]
)
def test_turns_that_were_taken_back_are_a_branch(number: Any, left: list[str] | None) -> None:
    found = entries(*TURNS, rolled_back(number), user("four"), noted=("unknown-turns",))
    whole = ["L2", "L3", "L4", "L5", "L6", "L7"]
    assert path(found) == [*(whole if left is None else left), "L8", "L9"]
    assert (found[-2].kind, found[-2].parts) == ("other", ())


def test_turns_are_counted_anew_after_some_were_taken_back() -> None:
    found = entries(*TURNS, rolled_back(1), user("four"), assistant("4"), rolled_back(2), user("five"), noted=TWICE)
    assert path(found) == ["L2", "L3", "L11", "L12"]


def test_two_messages_in_one_turn_are_one_turn_where_the_program_tells_of_turns() -> None:
    begin = event("task_started", turn_id="t")
    rows = [begin, user("one"), assistant("1"), begin, user("two"), assistant("2"), user("and also"), assistant("3")]
    assert path(entries(*rows, rolled_back(1), user("four"))) == ["L3", "L4", "L10", "L11"]


def test_a_compaction_that_was_taken_back_counts_no_more() -> None:
    rows = [user("one"), assistant("1"), user("two"), compacted([user("one"), user("two")]), rolled_back(1)]
    assert path(entries(*rows, user("three"), noted=TWICE[:1])) == ["L2", "L3", "L6", "L7"]


def test_messages_that_were_taken_back_are_not_taken_for_kept_ones() -> None:
    rows = [user("go on"), user("x"), user("go on"), rolled_back(1), compacted([user("go on")])]
    assert entries(*rows, noted=TWICE[:1])[-1].compaction == Compaction(kept=("L2",))


def test_turns_that_the_program_tells_of_are_no_guess_and_an_odd_number_of_them_is() -> None:
    begin = event("task_started", turn_id="t")
    rows = [begin, user("one"), begin, user("two")]
    assert path(entries(*rows, rolled_back(1), begin, user("three"))) == ["L3", "L6", "L8"]
    for odd in ("x", None, True, -1):
        assert len(entries(*rows, rolled_back(odd), noted=TWICE[:1])) == 3
