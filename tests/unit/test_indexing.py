"""`indexing`: what becomes of a transcript that grows, is rewritten, moved, copied or damaged."""

from __future__ import annotations

import hashlib
import os
import shutil
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.fakes.entries import trees
from tests.fakes.reader import PlainReading, PlainTranscripts
from tests.fakes.store import FakeStore

from aforesaid.errors import PathMissing, SourceUnreadable, StoreCorrupt, StoreFull
from aforesaid.hosts import wire_upkeep
from aforesaid.indexing import intake, sync, sync_all
from aforesaid.indexing.stored import clear_stored
from aforesaid.language.secret_formats import VERSION
from aforesaid.lineage import trace
from aforesaid.model import Checkpoint, Entry, Header, Session, Source
from aforesaid.storage.sqlite import open_store

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import BinaryIO

    from aforesaid.model import Flaw
    from aforesaid.ports import StorePort
    from aforesaid.reports import SyncReport

READER = PlainTranscripts()


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[StorePort]:
    opened: StorePort = FakeStore() if request.param == "memory" else open_store(str(tmp_path / "store"))
    yield opened
    opened.close()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "session.txt"


def write(file: Path, *lines: str, end: str = "\n") -> Path:
    file.write_bytes("\n".join(lines).encode("utf-8", "surrogateescape") + end.encode())
    return file


def append(file: Path, *lines: str, end: str = "\n") -> None:
    with file.open("ab") as target:
        target.write("\n".join(lines).encode() + end.encode())


def run(store: StorePort, file: Path, **more: bool) -> SyncReport:
    return sync(store, READER, str(file), **more)  # type: ignore[arg-type]


def ids(store: StorePort, file: Path) -> list[str]:
    session = store.by_file(str(file))
    assert session is not None
    with store.read(session.key) as snapshot:
        return [entry.id for entry in snapshot.entries(range(1, session.entries + 1))]


def path_to(store: StorePort, file: Path, leaf: str | None = None) -> list[str]:
    """The ids from the root to a leaf, or to the session's last entry."""
    session = store.by_file(str(file))
    assert session is not None
    with store.read(session.key) as snapshot:
        tree = snapshot.tree()
        row = tree.tail if leaf is None else snapshot.rows([leaf])[0]
        rows = [at for first, last in trace(tree.runs, row) for at in range(first, last + 1)]
        return [entry.id for entry in snapshot.entries(rows)]


LINES = ("#s\t", "a\t-\tone", "b\ta\ttwo", "c\tb\tthree")


# --- growing --------------------------------------------------------------------------------------------------------


def test_a_new_file_is_added_and_an_unchanged_one_is_left_alone(store: StorePort, file: Path) -> None:
    write(file, *LINES)
    report = run(store, file)
    assert (report.status, report.added, report.removed) == ("added", 3, 0)
    assert report.session == store.by_file(str(file))
    again = run(store, file)
    assert (again.status, again.added) == ("unchanged", 0)
    assert again.session == report.session


def test_an_append_reads_only_what_was_appended(store: StorePort, file: Path) -> None:
    write(file, *LINES)
    run(store, file)
    size = file.stat().st_size
    append(file, "d\tc\tfour")
    reader = PlainTranscripts()
    report = sync(store, reader, str(file))
    assert (report.status, report.added, report.removed) == ("updated", 1, 0)
    assert reader.reads == [size]
    assert path_to(store, file) == ["a", "b", "c", "d"]


def test_the_last_line_is_read_again_until_it_is_complete(store: StorePort, file: Path) -> None:
    write(file, *LINES, "d\tc\tfo", end="")
    report = run(store, file)
    assert [flaw.reason for flaw in report.flaws] == ["truncated-tail"]
    assert ids(store, file) == ["a", "b", "c"]
    assert run(store, file).status == "unchanged"
    append(file, "ur")
    report = run(store, file)
    assert (report.status, report.added, report.flaws) == ("updated", 1, ())
    assert report.session is not None
    assert (report.session.flaws, report.session.flaw_count) == ((), 0)
    assert path_to(store, file) == ["a", "b", "c", "d"]


def test_a_half_written_line_that_stays_half_written_counts_once(store: StorePort, file: Path) -> None:
    write(file, *LINES, "d\tc", end="")
    run(store, file)
    append(file, "\tfo", end="")
    report = run(store, file)
    assert report.session is not None
    assert (len(report.session.flaws), report.session.flaw_count) == (1, 1)
    assert report.session.entries == 3


@settings(max_examples=40)
@given(st.lists(st.integers(0, 200), max_size=6))
def test_any_way_of_growing_leads_to_the_same_session(cuts: list[int]) -> None:
    import tempfile
    from pathlib import Path

    whole = b"#s\t\na\t-\tone\n!\nb\tgone\ttwo\n!x\ta\nc\tx\tthree\na\tc\tagain\nd\ta\tfour\ne\tlate\tfive\n"
    with tempfile.TemporaryDirectory() as folder:
        grown, straight, file = FakeStore(), FakeStore(), Path(folder) / "f"
        for cut in sorted(cut for cut in cuts if cut < len(whole)):
            file.write_bytes(whole[:cut])
            run(grown, file)
        file.write_bytes(whole)
        run(grown, file)
        run(straight, file)
        assert ids(grown, file) == ids(straight, file)
        assert path_to(grown, file) == path_to(straight, file)
        one, two = grown.by_file(str(file)), straight.by_file(str(file))
        assert one is not None
        assert two is not None
        assert (one.flaws, one.flaw_count, one.checkpoint) == (two.flaws, two.flaw_count, two.checkpoint)


def test_progress_is_told_in_bytes(store: StorePort, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intake, "BATCH_ENTRIES", 1)
    write(file, *LINES)
    told: list[tuple[int, int]] = []
    sync_all(store, [(READER, str(file))], progress=lambda done, total: told.append((done, total)))
    size = file.stat().st_size
    assert told[-1] == (size, size)
    assert [done for done, _ in told] == sorted(done for done, _ in told)


# --- rewriting ------------------------------------------------------------------------------------------------------


def long_lines(count: int = 400) -> list[str]:
    """Enough text for a middle that no sample at either end covers."""
    return ["#s\t", *(f"e{n}\t{f'e{n - 1}' if n else '-'}\tword{n:05} and some more of it" for n in range(count))]


def later(file: Path, seconds: int = 5) -> None:
    """Moves the modification time."""
    now = file.stat().st_mtime_ns + seconds * 10**9
    os.utime(file, ns=(now, now))


def test_a_truncated_file_is_rebuilt(store: StorePort, file: Path) -> None:
    write(file, *LINES)
    run(store, file)
    write(file, *LINES[:3])
    report = run(store, file)
    assert (report.status, report.added, report.removed) == ("rebuilt", 2, 3)
    assert ids(store, file) == ["a", "b"]


def test_a_replaced_file_is_rebuilt_even_if_it_is_longer(store: StorePort, file: Path) -> None:
    write(file, *LINES)
    run(store, file)
    write(file.with_name("other"), "#s\t", *(f"z{n}\t-\tother {n}" for n in range(50))).replace(file)
    assert run(store, file).status == "rebuilt"
    assert ids(store, file)[0] == "z0"


def test_an_edit_in_the_middle_of_the_same_size_is_noticed(store: StorePort, file: Path) -> None:
    lines = long_lines()
    write(file, *lines)
    run(store, file)
    lines[200] = lines[200].replace("word00199", "wort00199")
    write(file, *lines)
    later(file)
    report = run(store, file)
    assert (report.status, report.added, report.removed) == ("rebuilt", 400, 400)
    session = report.session
    assert session is not None
    with store.read(session.key) as snapshot:
        assert snapshot.count_terms(["wort00199"], ((1, 400),)) == 1
        assert snapshot.count_terms(["word00199"], ((1, 400),)) == 0


def test_a_touch_or_an_identical_copy_is_no_rewrite(store: StorePort, file: Path) -> None:
    write(file, *long_lines())
    first = run(store, file).session
    assert first is not None
    later(file)
    report = run(store, file)
    assert (report.status, report.added, report.removed) == ("unchanged", 0, 0)
    assert report.session is not None
    assert report.session.generation == first.generation
    assert report.session.checkpoint.mtime_ns == file.stat().st_mtime_ns
    shutil.copy(file, file.with_name("copy"))
    file.with_name("copy").replace(file)
    assert run(store, file).status == "unchanged"
    reader = PlainTranscripts()
    assert sync(store, reader, str(file)).status == "unchanged"
    assert reader.reads == []


def test_an_identical_copy_that_grew_is_an_append(store: StorePort, file: Path) -> None:
    write(file, *long_lines())
    run(store, file)
    copy = write(file.with_name("copy"), *long_lines(), "new\te399\tlast")
    copy.replace(file)
    report = run(store, file)
    assert (report.status, report.added, report.removed) == ("updated", 1, 0)


def test_a_touched_file_with_a_lost_line_is_no_rewrite_either(store: StorePort, file: Path) -> None:
    lines = long_lines()
    lines[200] = "!"
    write(file, *lines)
    run(store, file)
    later(file)
    assert run(store, file).status == "unchanged"
    lines[200] = "\t"
    write(file, *lines)
    later(file)
    assert run(store, file).status == "rebuilt"


def test_a_thorough_sync_notices_an_edit_of_the_same_length_in_a_file_that_also_grew(
    store: StorePort, file: Path
) -> None:
    lines = long_lines()
    write(file, *lines)
    run(store, file)
    append(file, "x\te399\tone more")
    assert run(store, file).status == "updated"  # so that the proof goes on over several syncs
    lines[200] = lines[200].replace("word00199", "wort00199")
    write(file, *lines, "x\te399\tone more", "y\tx\tanother")
    (report,) = sync_all(store, [(READER, str(file))]).sessions
    assert (report.status, report.added, report.removed) == ("rebuilt", 402, 401)
    session = report.session
    assert session is not None
    with store.read(session.key) as snapshot:
        assert snapshot.count_terms(["wort00199"], ((1, 402),)) == 1


def test_a_file_that_another_process_has_read_already_is_unchanged(file: Path, tmp_path: Path) -> None:
    ours, theirs = open_store(str(tmp_path / "store")), open_store(str(tmp_path / "store"))
    write(file, *LINES)
    run(ours, file)
    append(file, "d\tc\tfour")
    assert run(theirs, file).status == "updated"
    report = run(ours, file)
    assert (report.status, report.added) == ("unchanged", 0)
    assert report.session is not None
    assert report.session.entries == 4
    ours.close()
    theirs.close()


def test_an_unchanged_file_takes_no_write_lock(file: Path, tmp_path: Path) -> None:
    store, other = open_store(str(tmp_path / "store"), busy_timeout_ms=0), open_store(str(tmp_path / "store"))
    write(file, *LINES)
    run(store, file)
    append(file, "d\tc\tfour")
    run(store, file)
    with other.write(str(file)):
        assert run(store, file).status == "unchanged"
    store.close()
    other.close()


def test_a_thorough_sync_of_a_file_that_only_grew_reads_only_what_is_new(store: StorePort, file: Path) -> None:
    write(file, *long_lines())
    run(store, file)
    for number in range(3):
        append(file, f"x{number}\te399\tone more")
        (report,) = sync_all(store, [(READER, str(file))]).sessions
        assert (report.status, report.added, report.removed) == ("updated", 1, 0)


def test_a_checkpoint_without_a_checksum_proves_nothing(store: StorePort, file: Path) -> None:
    write(file, *long_lines())
    known = run(store, file).session
    assert known is not None
    with store.write(str(file)) as writer:
        writer.commit(replace(known, checkpoint=replace(known.checkpoint, crc=-1)))
    later(file)
    assert run(store, file).status == "rebuilt"


def test_another_version_of_the_reader_reads_everything_again(store: StorePort, file: Path) -> None:
    write(file, *LINES)
    run(store, file)
    report = sync(store, PlainTranscripts(parser=2), str(file))
    assert (report.status, report.added, report.removed) == ("rebuilt", 3, 3)
    assert run(store, file).status == "rebuilt"


def test_a_rebuild_can_be_asked_for(store: StorePort, file: Path) -> None:
    write(file, *LINES)
    assert run(store, file, rebuild=True).status == "added"
    assert run(store, file, rebuild=True).status == "rebuilt"
    report = sync_all(store, [(READER, str(file))], rebuild=True)
    assert [one.status for one in report.sessions] == ["rebuilt"]


def test_an_empty_file_is_a_session_without_entries(store: StorePort, file: Path) -> None:
    file.write_bytes(b"")
    assert run(store, file).status == "added"
    assert run(store, file).status == "unchanged"
    append(file, *LINES)
    assert run(store, file).added == 3


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


# --- failures -------------------------------------------------------------------------------------------------------


def test_what_cannot_be_read_is_named(store: StorePort, file: Path) -> None:
    with pytest.raises(PathMissing):
        run(store, file)
    file.mkdir()
    with pytest.raises(SourceUnreadable):
        run(store, file)
    assert store.sessions() == ()


def test_one_failing_file_does_not_keep_the_others_from_the_store(store: StorePort, file: Path) -> None:
    write(file, *LINES)
    report = sync_all(store, [(READER, str(file)), (READER, str(file.with_name("gone.txt")))])
    assert [(one.file, one.status, one.error_code) for one in report.sessions] == [
        (str(file.with_name("gone.txt")), "failed", "path-missing"),
        (str(file), "added", None),
    ]
    document = wire_upkeep.index(report)
    assert [one["host"] for one in document["sessions"]] == [READER.host, READER.host]


def test_a_sync_that_fails_in_the_middle_leaves_the_old_state(
    store: StorePort, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(file, *LINES)
    before = run(store, file).session
    monkeypatch.setattr(intake, "BATCH_ENTRIES", 1)
    write(file, "#s\t", "x\t-\tone", "y\tx\ttwo")

    class Failing(PlainReading):
        def __iter__(self) -> Iterator[Entry | Flaw]:
            for count, item in enumerate(super().__iter__()):
                if count:
                    raise OSError(5, "Input/output error")
                yield item

    class FailingTranscripts(PlainTranscripts):
        def read(self, source: BinaryIO, file: str, since: Checkpoint | None) -> PlainReading:
            return Failing(self.host, source, since or Checkpoint(state="?\t"))

    with pytest.raises(SourceUnreadable):
        sync(store, FailingTranscripts(), str(file))
    assert store.by_file(str(file)) == before
    assert ids(store, file) == ["a", "b", "c"]


class _Breaking(FakeStore):
    """A store that finds a session damaged until it has been told to write it."""

    def __init__(self, *, forever: bool = False) -> None:
        super().__init__()
        self.forever = forever
        self.attempts = 0

    def by_file(self, file: str):  # type: ignore[no-untyped-def]
        if self.attempts == 0 or self.forever:
            raise StoreCorrupt("damaged", "index it again")
        return super().by_file(file)

    def write(self, file: str, *, searched: bool = False):  # type: ignore[no-untyped-def]
        self.attempts += 1
        if self.forever:
            raise StoreCorrupt("damaged", "index it again")
        return super().write(file, searched=searched)


def test_a_damaged_session_is_rebuilt_and_the_report_says_so(file: Path) -> None:
    write(file, *LINES)
    report = run(_Breaking(), file)
    assert (report.status, report.error_code, report.added) == ("rebuilt", "store-corrupt", 3)


def test_damage_that_does_not_go_away_is_an_error(file: Path) -> None:
    write(file, *LINES)
    store = _Breaking(forever=True)
    with pytest.raises(StoreCorrupt):
        run(store, file)
    assert store.attempts == 1


def test_failures_of_the_store_pass_through(file: Path) -> None:
    class Full(FakeStore):
        def write(self, file: str, *, searched: bool = False):  # type: ignore[no-untyped-def]
            raise StoreFull("full", "free some space")

    write(file, *LINES)
    with pytest.raises(StoreFull):
        run(Full(), file)


# --- secrets --------------------------------------------------------------------------------------------------------

SECRET = "hunt" + "er2-and&9-More"


def texts(store: StorePort, file: Path) -> list[str]:
    session = store.by_file(str(file))
    assert session is not None
    with store.read(session.key) as snapshot:
        return [entry.text for entry in snapshot.entries(range(1, session.entries + 1))]


def test_secrets_are_replaced_before_anything_is_stored(store: StorePort, file: Path) -> None:
    write(file, "#s\t", f"a\t-\tpassword={SECRET}\tsecond part", "b\ta\tnothing to hide")
    run(store, file)
    assert texts(store, file) == ["password=[redacted:password:16+]\nsecond part", "nothing to hide"]
    session = store.by_file(str(file))
    assert session is not None
    with store.read(session.key) as snapshot:
        first, second = snapshot.entries([1, 2])
    assert (first.redacted, second.redacted) == (1, 0)
    assert first.parts == (len("password=[redacted:password:16+]"), len("second part"))
    line = file.read_bytes().split(b"\n")[1]
    assert first.source.sha256 == hashlib.sha256(line).digest()


def test_what_is_kept_beside_the_text_is_redacted_too() -> None:
    entry = Entry(
        id="a",
        parent=None,
        kind="label",
        role="custom",
        timestamp=None,
        parts=(),
        source=Source(line=1, offset=0, length=1, sha256=bytes(32)),
        tools=("bash",),
        calls=("call_" + "0123456789abcdefABCDEF",),
        files=(f"/tmp/token={SECRET}",),
        label=f"the password is {SECRET}",
    )
    done = intake.clear(entry)
    assert done.label == "the password is [redacted:password:16+]"
    assert done.files == ("/tmp/token=[redacted:token:16+]",)
    assert (done.tools, done.calls, done.redacted) == (entry.tools, entry.calls, 0)
    clean = replace(entry, files=(), label="a name")
    assert intake.clear(clean) is clean


@pytest.mark.parametrize("first", [True, False])
def test_a_change_of_the_option_reads_the_session_anew(store: StorePort, file: Path, first: bool) -> None:
    write(file, "#s\t", f"a\t-\tpassword={SECRET}")
    run(store, file, redacting=first)
    assert (SECRET in texts(store, file)[0]) is not first
    assert run(store, file, redacting=first).status == "unchanged"
    assert run(store, file, redacting=not first).status == "rebuilt"
    assert (SECRET in texts(store, file)[0]) is first


def test_a_change_of_the_rules_reads_the_session_anew(
    store: StorePort, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(file, "#s\t", f"a\t-\tpassword={SECRET}")
    run(store, file)
    monkeypatch.setattr("aforesaid.indexing.VERSION", VERSION + 1)
    assert run(store, file).status == "rebuilt"
    assert run(store, file).status == "unchanged"


def test_what_is_appended_later_is_redacted_as_well(store: StorePort, file: Path) -> None:
    write(file, *LINES)
    run(store, file)
    append(file, f"d\tc\tsecret: {SECRET}x7Q")
    assert run(store, file).status == "updated"
    assert texts(store, file)[-1] == "secret: [redacted:secret:16+]"


def test_what_is_stored_of_a_vanished_transcript_is_searched_where_it_stands(store: StorePort, file: Path) -> None:
    lines = ("#s\t", "a\t-\tone\tpart two", f"b\ta\tpassword={SECRET}\tand more", "c\ta\tside", f"d\tb\t{SECRET[:3]}")
    write(file, *lines)
    run(store, file, redacting=False)
    before = store.by_file(str(file))
    assert before is not None
    with store.read(before.key) as snapshot:
        tree, raw = snapshot.tree(), snapshot.entries(range(1, 5))
    file.unlink()
    assert sync_all(store, [(READER, str(file))], redacting=False).sessions[0].error_code == PathMissing.code
    assert store.by_file(str(file)) == before
    assert sync_all(store, [(READER, str(file))]).sessions[0].error_code == PathMissing.code
    after = store.by_file(str(file))
    assert after is not None
    assert after.checkpoint.redaction == VERSION
    assert after.generation == before.generation + 1
    with store.read(after.key) as snapshot:
        assert snapshot.tree() == tree
        cleared = snapshot.entries(range(1, 5))
    assert [entry.text for entry in cleared] == [
        *("one\npart two", "password=[redacted:password:16+]\nand more", "side", SECRET[:3]),
    ]
    assert [entry.redacted for entry in cleared] == [0, 1, 0, 0]
    kept = {"text": "", "parts": (), "digest": b"", "tokens": 0, "redacted": 0}
    assert [replace(entry, **kept) for entry in cleared] == [replace(entry, **kept) for entry in raw]
    assert clear_stored(store, after, redacting=True) is after


@settings(max_examples=40, deadline=None)
@given(made=trees())
def test_clearing_what_is_stored_changes_nothing_else(made: tuple[Entry, ...]) -> None:
    store = FakeStore()
    with store.write("/f") as writer:
        writer.append(made)
        before = writer.commit(Session(key="", file="/f", header=Header(host="plain", session_id="s")))
    with store.read(before.key) as snapshot:
        tree = snapshot.tree()
        raw = snapshot.entries(range(1, before.entries + 1))
    after = clear_stored(store, before, redacting=True)
    with store.read(after.key) as snapshot:
        assert snapshot.tree() == tree
        cleared = snapshot.entries(range(1, after.entries + 1))
    assert [(entry.id, entry.kind, entry.source, entry.label) for entry in cleared] == [
        (entry.id, entry.kind, entry.source, entry.label) for entry in raw
    ]
    assert (after.name, after.requests, after.updated) == (before.name, before.requests, before.updated)
