"""`indexing`: what becomes of a transcript that grows or is rewritten."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.fakes.reader import PlainTranscripts
from tests.fakes.store import FakeStore

from aforesaid.indexing import intake, sync, sync_all
from aforesaid.storage.sqlite import open_store

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from aforesaid.ports import StorePort
from tests.unit.syncing import LINES, READER, append, file, ids, path_to, run, store, write

__all__ = ["file", "store"]


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
