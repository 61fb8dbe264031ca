"""Where rows of Claude Code stand: parallel calls, progress, rewinds, sidechains, and both shapes after compaction."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import claude_code as cc

from aforesaid.model import Compaction, Edit, Entry, Flaw
from aforesaid.transcripts import claude_code_tree
from aforesaid.transcripts.claude_code import ClaudeCodeTranscripts

if TYPE_CHECKING:
    from aforesaid.model import Checkpoint

READER = ClaudeCodeTranscripts()


def read(rows: list[cc.Row], *, pieces: bool = False) -> tuple[dict[str, Entry], str | None]:
    """The entries by id, and the leaf; row by row if in pieces."""
    content = [json.dumps(row).encode() + b"\n" for row in rows]
    found: dict[str, Entry] = {}
    point: Checkpoint | None = None
    for end in range(1, len(content) + 1) if pieces else (len(content),):
        pass_ = READER.read(io.BytesIO(b"".join(content[:end])), "stem.jsonl", point)
        found |= {item.id: item for item in pass_ if isinstance(item, Entry)}
        point = pass_.checkpoint
    assert point is not None
    return found, point.leaf


def branch(rows: list[cc.Row], leaf: str | None = None) -> list[str]:
    """The ids from the root to the leaf, whether the file is read at once or as it grows."""
    found, end = read(rows)
    assert read(rows, pieces=True) == (found, end)
    path: list[str] = []
    here = leaf or end
    while here is not None:
        path.append(here)
        entry = found[here]
        here = entry.parent if entry.parent in found or entry.parent is None else entry.fallback
    return path[::-1]


PROMPT = cc.message("p", None, "go")
CALLS = [cc.call("c1", "p", "m"), cc.call("c2", "c1", "m"), cc.call("c3", "c2", "m")]


@pytest.mark.parametrize("order", [("c1", "c2", "c3"), ("c3", "c1", "c2"), ("c2", "c3", "c1")])
@pytest.mark.parametrize("hangs_on", ["c1", "c2", "c3"])
def test_results_of_parallel_calls_are_all_on_the_branch(order: tuple[str, ...], hangs_on: str) -> None:
    results = [cc.result(f"r-{caller}", caller, "out") for caller in order]
    rows = [PROMPT, *CALLS, *results, cc.reply("a", f"r-{hangs_on}", "done")]
    assert branch(rows) == ["p", "c1", "c2", "c3", *(f"r-{caller}" for caller in order), "a"]


def test_results_that_come_before_the_next_block_are_too() -> None:
    rows = [
        PROMPT,
        CALLS[0],
        cc.result("r1", "c1", "out"),
        cc.call("c2", "c1", "m"),
        cc.result("r2", "c2", "out"),
        cc.reply("a", "r2", "done"),
    ]
    assert branch(rows) == ["p", "c1", "r1", "c2", "r2", "a"]


def test_a_result_that_comes_after_the_next_message_is_on_the_branch_too() -> None:
    rows = [PROMPT, *CALLS[:2], cc.result("r2", "c2", "out"), cc.reply("a", "r2", "x"), cc.result("r1", "c1", "out")]
    rows.append(cc.message("q", "a", "next"))
    # The prompt hangs on the answer, and the late result stands between them.
    assert branch(rows) == ["p", "c1", "c2", "r2", "a", "r1", "q"]


def test_a_result_that_comes_after_the_next_prompt_is_on_the_branch_too() -> None:
    rows = [PROMPT, *CALLS[:2], cc.result("r2", "c2", "out"), cc.message("q", "r2", "wait"), cc.result("r1", "c1", "")]
    rows.append(cc.reply("a", "q", "yes"))
    assert branch(rows) == ["p", "c1", "c2", "r2", "q", "r1", "a"]


def test_progress_is_on_the_branch_whatever_it_hangs_on() -> None:
    rows = [
        PROMPT,
        *CALLS[:2],
        cc.progress("x1", "c1"),
        cc.progress("y1", "c2"),
        cc.progress("x2", "x1"),
        cc.progress("y2", "y1"),
        cc.result("r1", "c1", "out"),
        cc.progress("y3", "y2"),
        cc.result("r2", "c2", "out"),
        cc.progress("h", "r2"),
        cc.reply("a", "h", "done"),
    ]
    assert branch(rows) == ["p", "c1", "c2", "x1", "y1", "x2", "y2", "r1", "y3", "r2", "h", "a"]


def test_progress_of_an_earlier_step_never_moves_the_leaf() -> None:
    rows = [PROMPT, CALLS[0], cc.progress("x1", "c1"), cc.result("r1", "c1", "started"), cc.reply("a", "r1", "x")]
    rows += [cc.progress("x2", "x1"), cc.message("q", "a", "next"), cc.progress("x3", "x2"), cc.reply("b", "q", "y")]
    rows.append(cc.progress("x4", "x3"))
    assert branch(rows) == ["p", "c1", "x1", "r1", "a", "q", "b"]
    assert branch(rows, "x4") == ["p", "c1", "x1", "x2", "x3", "x4"]


def test_attachments_and_system_rows_go_on_behind_parallel_results() -> None:
    rows = [PROMPT, *CALLS[:2], cc.result("r1", "c1", "out"), cc.result("r2", "c2", "out")]
    rows += [cc.row("t", "r1", "attachment", attachment={"type": "date"}), cc.row("s", "r1", "system", subtype="x")]
    rows.append(cc.reply("a", "s", "done"))
    assert branch(rows) == ["p", "c1", "c2", "r1", "r2", "t", "s", "a"]


def test_a_rewind_is_a_branch() -> None:
    rows = [PROMPT, cc.reply("a", "p", "one"), cc.message("q", "a", "bananas"), cc.reply("b", "q", "two")]
    rows += [cc.message("r", "a", "cherries"), cc.reply("c", "r", "three")]
    assert branch(rows) == ["p", "a", "r", "c"]
    assert branch(rows, "b") == ["p", "a", "q", "b"]


def test_a_rewind_into_the_current_step_is_one_too() -> None:
    said = cc.reply("t", "p", "I look.", "m")
    rows = [PROMPT, said, cc.call("c1", "t", "m"), cc.result("r1", "c1", "out"), cc.message("q", "t", "stop, rather")]
    assert branch(rows) == ["p", "t", "q"]


def test_after_a_rewind_late_results_stay_on_the_branch_that_was_left() -> None:
    rows = [PROMPT, cc.reply("a", "p", "one"), cc.message("q", "a", "x"), cc.call("c1", "q", "m")]
    rows += [cc.message("r", "a", "y"), cc.result("r1", "c1", "late"), cc.reply("b", "r", "z")]
    assert branch(rows) == ["p", "a", "r", "b"]
    assert branch(rows, "r1") == ["p", "a", "q", "c1", "r1"]


def test_a_prompt_after_an_interruption_goes_on() -> None:
    rows = [PROMPT, *CALLS[:2], cc.result("r1", "c1", "out"), cc.result("r2", "c2", "out")]
    rows += [cc.message("i", "r1", "[Request interrupted by user]"), cc.message("q", "i", "next")]
    assert branch(rows) == ["p", "c1", "c2", "r1", "r2", "i", "q"]


def test_a_second_root_is_a_branch_of_its_own() -> None:
    rows = [PROMPT, cc.reply("a", "p", "x"), cc.message("q", None, "anew"), cc.reply("b", "q", "y")]
    assert branch(rows) == ["q", "b"]


def test_a_missing_parent_is_replaced_by_the_row_before() -> None:
    found, _ = read([PROMPT, cc.reply("a", "gone", "x"), cc.reply("b", "a", "y")])
    assert (found["a"].parent, found["a"].fallback) == ("gone", "p")
    assert found["b"].parent == "a"


@pytest.mark.parametrize(
    ("lost", "place"),
    [
        (b'{"uuid":"x","parentUuid":"p"', "x"),
        (b'{"uuid":"x","type":"user"', "x"),
        (b'{"uuid":"x","parentUuid":"elsewhere"', "p"),
    ],
)
def test_what_a_lost_row_hung_on_tells_whether_the_session_goes_on_behind_it(lost: bytes, place: str) -> None:
    content = b"\n".join([json.dumps(PROMPT).encode(), lost, json.dumps(cc.boundary("B", None)).encode(), b""])
    reading = READER.read(io.BytesIO(content), "stem.jsonl", None)
    found = {item.id: item for item in reading if isinstance(item, Entry)}
    assert found["B"].parent == place
    assert reading.checkpoint.leaf == "B"
    short = READER.read(io.BytesIO(content[: content.index(b'{"parentUuid": null', 5)]), "stem.jsonl", None)
    assert len(list(short)) == 2
    assert short.checkpoint.leaf == "p"  # a session does not end with a row that is lost


def read_damaged(rows: list[cc.Row], lost: int, line: bytes) -> tuple[list[Entry | Flaw], str | None]:
    """What is read of rows of which one was damaged."""
    lines = [json.dumps(row).encode() for row in rows]
    lines[lost] = line
    reading = READER.read(io.BytesIO(b"\n".join(lines) + b"\n"), "stem.jsonl", None)
    return list(reading), reading.checkpoint.leaf


def test_a_lost_result_stands_where_it_stood_in_the_line() -> None:
    rows = [PROMPT, *CALLS[:2], cc.result("r1", "c1", "out"), cc.result("r2", "c2", "out"), cc.reply("a", "r2", "done")]
    found, _ = read_damaged(rows, 3, b'{"parentUuid":"c1","uuid":"r1","type":"us')
    flaw = found[3]
    assert isinstance(flaw, Flaw)
    # Not the call that the file gives: the other call stands between.
    assert (flaw.id, flaw.parent) == ("r1", "c2")
    assert [(item.id, item.parent) for item in found[4:] if isinstance(item, Entry)] == [("r2", "r1"), ("a", "r2")]


def test_the_result_of_a_lost_call_goes_on() -> None:
    rows = [PROMPT, CALLS[0], CALLS[1], cc.result("r2", "c2", "two"), cc.result("r1", "c1", "one")]
    rows.append(cc.reply("a", "r1", "done"))
    found, leaf = read_damaged(rows, 2, b"lost")
    assert leaf == "a"
    assert [(item.id, item.parent) for item in found if isinstance(item, Entry)] == [
        ("p", None),
        ("c1", "p"),
        ("r2", "c1"),
        ("r1", "r2"),
        ("a", "r1"),
    ]


def test_a_sidechain_in_the_file_is_no_part_of_the_conversation_around_it() -> None:
    side: cc.Row = {"isSidechain": True}
    rows = [
        PROMPT,
        CALLS[0],
        cc.message("s1", None, "task", **side),
        cc.call("s2", "s1", "n") | side,
        cc.result("r1", "c1", "out"),
        cc.result("s3", "s2", "printed", **side),
        cc.reply("a", "r1", "done"),
        cc.reply("s4", "s3", "side", **side),
    ]
    assert branch(rows) == ["p", "c1", "r1", "a"]
    found, _ = read(rows)
    assert set(found) == {"p", "c1", "r1", "a"}


# --- compaction -----------------------------------------------------------------------------------------------------

KEPT = {
    "preservedSegment": {"headUuid": "a", "anchorUuid": "S", "tailUuid": "h"},
    "preservedMessages": {"anchorUuid": "S", "uuids": ["a", "h"], "allUuids": ["a", "h"]},
}
BEFORE = [PROMPT, cc.reply("a", "p", "one"), cc.row("h", "a", "system", subtype="stop_hook_summary")]


def test_a_boundary_hangs_on_its_logical_parent_and_carries_what_was_kept() -> None:
    rows = [*BEFORE, cc.boundary("B", "h", KEPT), cc.summary("S", "B"), cc.message("q", "S", "next")]
    assert branch(rows) == ["p", "a", "h", "B", "S", "q"]
    found, _ = read(rows)
    assert found["B"].compaction == Compaction(kept=("a", "h"))
    assert (found["B"].kind, found["B"].parts, found["B"].automatic) == ("compaction", (), False)
    assert (found["S"].kind, found["S"].role, found["S"].parts) == ("compaction", "summary", ("a summary",))
    assert (found["S"].automatic, found["S"].request, found["S"].compaction) == (False, False, None)


@pytest.mark.parametrize("tail", ["h", "a"])
def test_a_row_that_hangs_on_the_preserved_tail_meets_the_boundary(tail: str) -> None:
    rows = [*BEFORE, cc.boundary("B", "h", KEPT), cc.summary("S", "B")]
    rows += [cc.message("e", "S", "<command-name>/compact</command-name>"), cc.message("q", tail, "next")]
    rows += [cc.reply("b", "q", "two")]
    assert branch(rows) == ["p", "a", "h", "B", "S", "e", "q", "b"]


def test_a_rewind_behind_the_compaction_is_a_branch_once_the_conversation_went_on() -> None:
    rows = [*BEFORE, cc.boundary("B", "h", KEPT), cc.summary("S", "B"), cc.message("q", "S", "next")]
    rows += [cc.message("r", "h", "as it was before")]
    assert branch(rows) == ["p", "a", "h", "r"]


def test_rows_that_are_written_once_more_after_a_compaction_count_once() -> None:
    rows = [*BEFORE, cc.boundary("B", "h", KEPT), cc.summary("S", "B"), BEFORE[1] | {"parentUuid": "S"}]
    rows += [BEFORE[2], cc.message("q", "h", "next")]
    assert branch(rows) == ["p", "a", "h", "B", "S", "q"]


def test_a_segment_without_a_list_keeps_a_stretch() -> None:
    segment = {"preservedSegment": KEPT["preservedSegment"]}
    found, _ = read([*BEFORE, cc.boundary("B", "h", segment), cc.summary("S", "B")])
    assert found["B"].compaction == Compaction(kept_from="a")


def test_versions_that_name_nothing_keep_nothing() -> None:
    found, _ = read([*BEFORE, cc.boundary("B", "h"), cc.summary("S", "B")])
    assert found["B"].compaction == Compaction()


@pytest.mark.parametrize("logical", [None, "gone"])
def test_a_boundary_without_a_known_parent_hangs_on_the_row_before(logical: str | None) -> None:
    rows = [*BEFORE, cc.boundary("B", logical), cc.summary("S", "B"), cc.message("q", "S", "next")]
    assert branch(rows) == ["p", "a", "h", "B", "S", "q"]
    found, _ = read(rows)
    assert found["B"].parent == (logical or "h")


def test_a_boundary_whose_parent_is_one_of_several_results_hangs_on_the_last() -> None:
    rows = [PROMPT, *CALLS[:2], cc.result("r2", "c2", "out"), cc.result("r1", "c1", "out")]
    rows += [cc.boundary("B", "r2"), cc.summary("S", "B")]
    assert branch(rows) == ["p", "c1", "c2", "r2", "r1", "B", "S"]


def test_results_that_were_emptied_to_make_room_are_edited() -> None:
    rows = [PROMPT, *CALLS, cc.result("r1", "c1", "one"), cc.result("r2", "c2", "two"), cc.result("r3", "c3", "three")]
    rows += [cc.cleared("M", "r3", ["c1", "c3", "gone"]), cc.reply("a", "M", "done")]
    found, _ = read(rows)
    assert found["M"].edit == Edit(target="r1", replaced=True, others=("r3",))
    assert (found["M"].kind, found["M"].parts, found["M"].automatic) == ("context-edit", (), False)
    assert branch(rows) == ["p", "c1", "c2", "c3", "r1", "r2", "r3", "M", "a"]


def test_results_from_before_a_compaction_are_not() -> None:
    rows = [PROMPT, CALLS[0], cc.result("r1", "c1", "one"), cc.boundary("B", "r1"), cc.summary("S", "B")]
    found, _ = read([*rows, cc.cleared("M", "S", ["c1"])])
    assert found["M"].edit is None
    odd = cc.row("M", "S", "system", subtype="microcompact_boundary", microcompactMetadata={"compactedToolIds": 5})
    assert read([*rows, odd])[0]["M"].edit is None


def test_remembered_results_do_not_pile_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claude_code_tree, "MOST_ANSWERS", 2)
    rows = [PROMPT, *CALLS, *(cc.result(f"r{n}", f"c{n}", "x") for n in (1, 2, 3)), cc.cleared("M", "r3", ["c1", "c2"])]
    assert read(rows)[0]["M"].edit == Edit(target="r2", replaced=True)


@pytest.mark.parametrize("logical", [{}, {"logicalParentUuid": "h"}])
def test_a_summary_of_an_old_version_is_the_compaction_itself(logical: cc.Row) -> None:
    rows = [*BEFORE, cc.summary("S", None) | logical, cc.message("q", "S", "next")]
    assert branch(rows) == ["p", "a", "h", "S", "q"]
    found, _ = read(rows)
    assert found["S"].compaction == Compaction()


def test_a_file_that_begins_with_a_summary_has_it_as_its_root() -> None:
    found, leaf = read([cc.summary("S", None), cc.message("q", "S", "next")])
    assert (found["S"].parent, found["q"].parent, leaf) == (None, "S", "q")


# --- any conversation -----------------------------------------------------------------------------------------------


@st.composite
def conversations(draw: st.DrawFn) -> tuple[list[cc.Row], list[str]]:
    """Turns of parallel calls with progress between, and rewinds to the end of an earlier turn; and the branch."""
    rows: list[cc.Row] = []
    ends: list[list[str]] = [[]]  # the branch up to the end of each turn
    for turn in range(draw(st.integers(1, 5))):
        path = list(ends[draw(st.integers(0, len(ends) - 1))] if draw(st.booleans()) else ends[-1])

        def add(row: cc.Row, path: list[str] = path) -> str:
            rows.append(row)
            path.append(row["uuid"])
            return str(row["uuid"])

        last = add(cc.message(f"{turn}p", path[-1] if path else None, "x"))
        for step in range(draw(st.integers(0, 2))):
            callers = []
            for number in range(draw(st.integers(1, 3))):
                last = add(cc.call(f"{turn}.{step}.{number}c", last, f"m{turn}.{step}"))
                callers.append(last)
            results = []
            for caller in draw(st.permutations(callers)):
                tip = caller
                for tick in range(draw(st.integers(0, 2))):
                    tip = add(cc.progress(f"{caller}{tick}x", tip))
                results.append(add(cc.result(f"{caller}r", caller, "out")))
            last = draw(st.sampled_from(results))
        add(cc.reply(f"{turn}a", last, "done"))
        ends.append(path)
    return rows, ends[-1]


@settings(max_examples=200)
@given(conversations())
def test_a_branch_holds_all_of_its_turns_and_nothing_of_others(made: tuple[list[cc.Row], list[str]]) -> None:
    rows, expected = made
    assert branch(rows) == expected
