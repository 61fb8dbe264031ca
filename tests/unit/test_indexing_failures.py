"""`indexing`: transcripts that cannot be read, and stores that fail."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.fakes.reader import PlainReading, PlainTranscripts
from tests.fakes.store import FakeStore

from aforesaid.errors import PathMissing, SourceUnreadable, StoreCorrupt, StoreFull, Unexpected
from aforesaid.hosts import wire_upkeep
from aforesaid.indexing import intake, sync, sync_all
from aforesaid.model import Checkpoint, Entry

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import BinaryIO

    from aforesaid.model import Flaw
    from aforesaid.ports import StorePort
from tests.unit.syncing import LINES, READER, file, ids, run, store, write

__all__ = ["file", "store"]


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


class _Odd(PlainTranscripts):
    """Of a host that writes what nobody has thought of; files without that word are read as ever."""

    def __init__(self, error: Exception, place: str) -> None:
        super().__init__()
        self.error, self.place = error, place

    def read(self, source: BinaryIO, file: str, since: Checkpoint | None) -> PlainReading:
        if self.place in file:
            raise self.error
        return super().read(source, file, since)


@pytest.mark.parametrize("error", [OverflowError("secret words"), TypeError("secret words"), RecursionError()])
def test_a_bug_that_one_session_meets_is_its_own_failure_and_the_others_go_on(
    store: StorePort, tmp_path: Path, error: Exception
) -> None:
    reader = _Odd(error, "mm")
    files = [write(tmp_path / name, *LINES) for name in ("aa.txt", "mm.txt", "zz.txt")]
    report = sync_all(store, [(reader, str(file)) for file in files])
    assert [(one.status, one.error_code) for one in report.sessions] == [
        ("added", None),
        ("failed", "internal"),
        ("added", None),
    ]
    failed = report.sessions[1]
    assert failed.file == str(files[1]) in str(failed.error)
    assert type(error).__name__ in str(failed.error)
    assert "secret words" not in str(failed.error)
    assert store.by_file(str(files[1])) is None
    with pytest.raises(Unexpected):
        sync(store, reader, str(files[1]))
    reader.place = "nowhere"
    assert [one.status for one in sync_all(store, [(reader, str(files[1]))]).sessions] == ["added"]
