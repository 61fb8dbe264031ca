"""`indexing`: where entries hang if lines are damaged, missing or copied, and transcripts that are forked or moved."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from aforesaid.errors import PathMissing
from aforesaid.indexing import intake

if TYPE_CHECKING:
    from pathlib import Path

    from aforesaid.ports import StorePort
from tests.unit.syncing import LINES, append, file, ids, path_to, run, store, write

__all__ = ["file", "store"]


# --- damaged lines --------------------------------------------------------------------------------------------------


def test_of_a_double_id_the_first_counts_and_the_last_line_is_still_the_leaf(store: StorePort, file: Path) -> None:
    write(file, *LINES, "b\ta\tanother text")
    report = run(store, file)
    assert [(flaw.reason, flaw.line, flaw.byte, flaw.lost) for flaw in report.flaws] == [
        ("duplicate-id", 5, sum(len(line) + 1 for line in LINES), True)
    ]
    assert ids(store, file) == ["a", "b", "c"]
    assert path_to(store, file) == ["a", "b"]
    append(file, "a\t-\tone")
    assert run(store, file).status == "updated"
    assert path_to(store, file) == ["a"]


@pytest.mark.parametrize("batch", [1000, 2])
def test_a_double_id_loses_something_only_if_its_line_says_something_else(
    store: StorePort, file: Path, batch: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(intake, "BATCH_ENTRIES", batch)
    write(file, "#s\t", "a\t-\tone", "b\ta\ttwo", "a\t-\tone", "b\ta\tsomething else")
    first = run(store, file).flaws
    assert [(flaw.line, flaw.reason, flaw.lost) for flaw in first] == [
        (4, "duplicate-id", False),
        (5, "duplicate-id", True),
    ]
    append(file, "b\ta\ttwo", "a\t-\tnew")
    assert [(flaw.line, flaw.lost) for flaw in run(store, file).flaws] == [(6, False), (7, True)]


def test_a_lost_line_with_a_saved_id_keeps_its_place_in_the_chain(store: StorePort, file: Path) -> None:
    write(file, "#s\t", "a\t-\tone", "!x\ta", "b\tx\ttwo", "c\ta\tthree")
    report = run(store, file)
    assert report.added == 4
    assert path_to(store, file, "b") == ["a", "x", "b"]
    assert path_to(store, file) == ["a", "c"]
    session = report.session
    assert session is not None
    with store.read(session.key) as snapshot:
        (gap,) = snapshot.entries([2])
    assert (gap.kind, gap.role, gap.text, gap.parts, gap.automatic) == ("gap", "custom", "", (), False)
    assert (gap.source.line, gap.source.offset, gap.source.length, gap.source.sha256) == (3, 12, 0, bytes(32))


def test_a_lost_line_at_the_end_is_not_the_leaf(store: StorePort, file: Path) -> None:
    write(file, *LINES, "!x\ta")
    run(store, file)
    assert path_to(store, file) == ["a", "b", "c"]
    append(file, "!y\tx")
    run(store, file)
    assert path_to(store, file) == ["a", "b", "c"]
    append(file, "d\ty\tfour")
    run(store, file)
    assert path_to(store, file) == ["a", "x", "y", "d"]


def test_a_lost_line_without_a_saved_parent_hangs_on_the_line_before_it(store: StorePort, file: Path) -> None:
    write(file, *LINES, "!x\t-", "d\tx\tfour")
    run(store, file)
    assert path_to(store, file) == ["a", "b", "c", "x", "d"]


@pytest.mark.parametrize("separately", [False, True])
def test_a_child_of_a_line_that_is_lost_altogether_hangs_on_what_stood_before_it(
    store: StorePort, file: Path, separately: bool
) -> None:
    write(file, *LINES, "!")
    if separately:
        run(store, file)
    append(file, "d\tgone\tfour", "e\td\tfive")
    report = run(store, file)
    assert path_to(store, file) == ["a", "b", "c", "d", "e"]
    noted = [(flaw.reason, flaw.id, flaw.parent, flaw.lost) for flaw in report.flaws if flaw.reason != "invalid-json"]
    assert noted == [("unknown-parent", "d", "gone", False)]


def test_the_latest_lost_line_before_an_entry_decides_where_it_hangs(store: StorePort, file: Path) -> None:
    write(file, "#s\t", "!", "a\tgone\tone", "!", "b\tgone too\ttwo", "c\tb\tthree", "!")
    run(store, file)
    assert path_to(store, file) == ["a", "b", "c"]


def test_an_unknown_parent_without_damage_makes_a_root(store: StorePort, file: Path) -> None:
    write(file, *LINES, "d\tgone\tfour")
    report = run(store, file)
    assert [(flaw.reason, flaw.line, flaw.lost) for flaw in report.flaws] == [("unknown-parent", 5, False)]
    assert path_to(store, file) == ["d"]


@pytest.mark.parametrize("batch", [1, 1000])
def test_an_entry_whose_parent_is_missing_hangs_on_what_its_reader_says(
    store: StorePort, file: Path, monkeypatch: pytest.MonkeyPatch, batch: int
) -> None:
    monkeypatch.setattr(intake, "BATCH_ENTRIES", batch)
    write(file, *LINES, "d\tgone|b\tfour", "!", "e\tgone|nowhere\tfive", "f\tb|a\tsix")
    report = run(store, file)
    assert path_to(store, file, "d") == ["a", "b", "d"]
    assert path_to(store, file, "e") == ["a", "b", "d", "e"]
    assert path_to(store, file, "f") == ["a", "b", "f"]
    assert [flaw.id for flaw in report.flaws if flaw.reason == "unknown-parent"] == ["d", "e"]


def test_a_session_ends_where_its_reader_says(store: StorePort, file: Path) -> None:
    write(file, *LINES, "side*\ta\tfour")
    run(store, file)
    assert path_to(store, file) == ["a", "b", "c"]
    append(file, "more*\tside\tfive")
    run(store, file)
    assert path_to(store, file) == ["a", "b", "c"]
    append(file, "d\tc\tsix", "last*\tmore\tseven")
    run(store, file)
    assert path_to(store, file) == ["a", "b", "c", "d"]


@pytest.mark.parametrize("batch", [1, 2, 1000])
def test_a_parent_that_comes_later_in_the_file_is_found(
    store: StorePort, file: Path, monkeypatch: pytest.MonkeyPatch, batch: int
) -> None:
    monkeypatch.setattr(intake, "BATCH_ENTRIES", batch)
    write(file, "#s\t", "a\tc\tone", "b\ta\ttwo", "c\t-\tthree", "d\tnever\tfour")
    report = run(store, file)
    assert path_to(store, file, "b") == ["c", "a", "b"]
    assert [flaw.reason for flaw in report.flaws] == ["unknown-parent"]


def test_circles_of_parents_hang_nothing(store: StorePort, file: Path) -> None:
    write(file, "#s\t", "a\tb\tone", "b\ta\ttwo", "c\tc\tthree")
    run(store, file)
    assert set(path_to(store, file, "b")) == {"a", "b"}
    assert path_to(store, file, "c") == ["c"]


def test_no_more_than_a_thousand_flaws_are_kept_but_all_are_counted(store: StorePort, file: Path) -> None:
    write(file, *LINES, *["!"] * 1_500)
    session = run(store, file).session
    assert session is not None
    assert (len(session.flaws), session.flaw_count) == (1_000, 1_500)
    append(file, "!", "!")
    session = run(store, file).session
    assert session is not None
    assert (len(session.flaws), session.flaw_count) == (1_000, 1_502)


# --- forks and moves ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("named_by", ["path", "id"])
def test_copied_rows_of_a_fork_are_counted(store: StorePort, file: Path, named_by: str) -> None:
    write(file, *LINES)
    run(store, file)
    origin = str(file) if named_by == "path" else "s"
    fork = write(file.with_name("fork.txt"), f"#fork\t{origin}", *LINES[1:3], "c\tb\tchanged", "d\tc\tfour")
    session = run(store, fork).session
    assert session is not None
    assert session.shared == 2
    append(fork, "e\td\tfive")
    session = run(store, fork).session
    assert session is not None
    assert session.shared == 2


def test_a_copied_row_whose_line_was_written_anew_is_a_copy_as_long_as_it_says_the_same(
    store: StorePort, file: Path
) -> None:
    write(file, *LINES)
    run(store, file)
    fork = write(file.with_name("fork.txt"), f"#fork\t{file}", LINES[1], "b\ta|a\ttwo", "c\tb\tnot three")
    assert LINES[2].endswith("\ttwo")
    session = run(store, fork).session
    assert session is not None
    assert session.shared == 2


def test_a_fork_of_an_unknown_session_shares_nothing(store: StorePort, file: Path) -> None:
    write(file, f"#s\t{file}", *LINES[1:])
    session = run(store, file).session
    assert session is not None
    assert session.shared == 0


def test_a_moved_transcript_is_one_session(store: StorePort, file: Path) -> None:
    write(file, *LINES)
    run(store, file)
    moved = file.rename(file.with_name("moved.txt"))
    append(moved, "d\tc\tfour")
    assert run(store, moved).status == "added"
    assert [session.file for session in store.sessions()] == [str(moved)]


def test_a_copied_transcript_is_two_sessions(store: StorePort, file: Path) -> None:
    write(file, *LINES)
    run(store, file)
    copy = file.with_name("copy.txt")
    shutil.copy(file, copy)
    run(store, copy)
    assert [session.file for session in store.sessions()] == [str(copy), str(file)]


def test_what_is_stored_of_a_deleted_transcript_stays(store: StorePort, file: Path) -> None:
    write(file, *LINES)
    run(store, file)
    file.unlink()
    with pytest.raises(PathMissing):
        run(store, file)
    assert ids(store, file) == ["a", "b", "c"]
    other = write(file.with_name("other.txt"), "#s\t", "z\t-\tsomething else with the same session id")
    run(store, other)
    assert len(store.sessions()) == 2
