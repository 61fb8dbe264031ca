"""Rows whose words and digests are stored later than they are."""

from __future__ import annotations

import threading
import time
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

import apsw
import pytest
from tests.fakes.entries import described, entry
from tests.fakes.reader import PlainTranscripts

from aforesaid.errors import StoreCorrupt, StoreError
from aforesaid.indexing import sync
from aforesaid.inquiry import Clue, Filter
from aforesaid.storage.sqlite import feeding, open_store, words
from aforesaid.storage.sqlite.connection import folder_lock
from aforesaid.storage.sqlite.store import SqliteStore, key_of
from aforesaid.text import digest
from aforesaid.tombstones import Burial

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from aforesaid.answers import TermRow
    from aforesaid.storage.sqlite.snapshot import ShardSnapshot

READER = PlainTranscripts()
WORDS = "il porto è 8443, 端口是八四四三, порт, Füße und setPortNumber 🚢"
FIRST = 60


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "session.txt"
    lines = [f"e{n}\t{f'e{n - 1}' if n > 1 else '-'}\tzero {n} {WORDS[: n % 40]}\n" for n in range(1, FIRST + 1)]
    file.write_text("".join(lines), encoding="utf-8")
    return file


@pytest.fixture
def store(tmp_path: Path, file: Path) -> Iterator[SqliteStore]:
    store = open_store(str(tmp_path / "store"), busy_timeout_ms=200)
    sync(store, READER, str(file), redacting=False)
    yield store
    store.close()


def append(store: SqliteStore, file: Path, first: int, count: int = 2, *, searched: bool = False) -> None:
    with file.open("a", encoding="utf-8") as target:
        for number in range(first, first + count):
            target.write(f"e{number}\te{number - 1}\tlatest{number} {WORDS}\n")
    assert sync(store, READER, str(file), redacting=False, searched=searched).added == count


@contextmanager
def inside(tmp_path: Path, file: Path) -> Iterator[apsw.Connection]:
    connection = apsw.Connection(str(tmp_path / "store" / "sessions" / f"{key_of(str(file))}.db"))
    try:
        yield connection
    finally:
        connection.close()


def waiting(tmp_path: Path, file: Path) -> tuple[int, int | None]:
    """How many rows are in the index, and the first one that waits."""
    with inside(tmp_path, file) as connection:
        indexed: list[tuple[int]] = connection.execute("SELECT count(*) FROM search_docsize").fetchall()  # type: ignore[assignment]
        first = connection.execute("SELECT unindexed FROM shard").get
        assert first is None or isinstance(first, int)
        return indexed[0][0], first


def ask(snapshot: ShardSnapshot, last: int) -> list[object]:
    """What all ways into the index say of a session; it holds what was fed and nothing else."""
    spans = [(1, last)]
    return [
        snapshot.find_terms(["latest61", "zero", "porto"], spans, 200),
        snapshot.weigh_terms(["端口", "portnumber"], ["lates"], spans, [("lates", "port")]).scores,
        snapshot.find_literals(["latest62", "порт, F", "🚢"], spans, 200),
        snapshot.count_terms(["füße"], spans),
        sorted(snapshot.words() or ()),
        snapshot.fed,
        [found.digest for found in snapshot.entries(range(1, last + 1))],
        snapshot.digests([digest(f"latest61 {WORDS}")], spans),
        snapshot.outlines(spans, Filter()),
    ]


def at_once(tmp_path: Path, file: Path, last: int) -> list[object]:
    """The same of a session that was read at once."""
    store = open_store(str(tmp_path / "other"))
    sync(store, READER, str(file), redacting=False)
    with store.read(key_of(str(file))) as snapshot:
        told = ask(snapshot, last)
    store.close()
    return told


def test_a_few_rows_wait_until_somebody_reads(store: SqliteStore, tmp_path: Path, file: Path) -> None:
    append(store, file, 61)
    append(store, file, 63)
    assert waiting(tmp_path, file) == (60, 61)
    generation = store.by_file(str(file)).generation  # type: ignore[union-attr]
    assert waiting(tmp_path, file) == (60, 61), "what a session says of itself needs no index"
    with store.read(key_of(str(file))) as snapshot:
        assert ask(snapshot, 64) == at_once(tmp_path, file, 64)
    assert waiting(tmp_path, file) == (64, None)
    assert store.by_file(str(file)).generation == generation  # type: ignore[union-attr]


def test_rows_of_a_session_that_is_searched_next_do_not_wait_nor_do_those_before(
    store: SqliteStore, tmp_path: Path, file: Path
) -> None:
    append(store, file, 61)
    append(store, file, 63, searched=True)
    assert waiting(tmp_path, file) == (64, None)
    append(store, file, 65)
    assert waiting(tmp_path, file) == (64, 65)
    append(store, file, 67, count=80)
    assert waiting(tmp_path, file) == (146, None), "many rows take them along"
    with store.read(key_of(str(file))) as snapshot:
        assert ask(snapshot, 146) == at_once(tmp_path, file, 146)


@pytest.mark.parametrize("end", ["tend", "close"])
def test_an_idle_moment_and_the_end_of_a_process_put_them_in(
    store: SqliteStore, tmp_path: Path, file: Path, end: str
) -> None:
    append(store, file, 61)
    if end == "tend":
        store.tend(str(file))
    else:
        store.close()
    assert waiting(tmp_path, file) == (62, None)


def test_where_nobody_ever_reads_many_are_put_in_by_an_append(
    store: SqliteStore, tmp_path: Path, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feeding, "WAITING", 5)
    append(store, file, 61, 3)
    append(store, file, 64, 2)
    assert waiting(tmp_path, file) == (60, 61)
    append(store, file, 66, 1)
    assert waiting(tmp_path, file) == (66, None)


def test_where_nobody_ever_reads_long_texts_are_put_in_by_an_append(
    store: SqliteStore, tmp_path: Path, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = len(f"latest61 {WORDS}")
    monkeypatch.setattr(feeding, "LENGTH", 5 * text)
    append(store, file, 61, 3)
    append(store, file, 64, 1)
    assert waiting(tmp_path, file) == (60, 61)
    append(store, file, 65, 1)
    assert waiting(tmp_path, file) == (65, None), "all appends since the first count"
    append(store, file, 66, 4)
    assert waiting(tmp_path, file) == (65, 66), "and none before it"
    append(store, file, 70, 60)
    assert waiting(tmp_path, file) == (129, None), "one append may be too long by itself"


def test_what_other_processes_left_waiting_counts_by_its_length_too(
    store: SqliteStore, tmp_path: Path, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feeding, "LENGTH", 5 * len(f"latest61 {WORDS}".encode()))
    append(store, file, 61, 2)
    other = open_store(str(tmp_path / "store"))
    append(other, file, 63, 2)
    assert waiting(tmp_path, file) == (60, 61)
    append(store, file, 65, 3)  # three of these in characters are more than one in bytes
    assert waiting(tmp_path, file) == (67, None)
    other.close()


def test_a_rewritten_session_has_nothing_waiting(store: SqliteStore, tmp_path: Path, file: Path) -> None:
    append(store, file, 61)
    sync(store, READER, str(file), rebuild=True, redacting=False)
    assert waiting(tmp_path, file) == (62, None)


def test_another_process_puts_in_what_one_has_left(store: SqliteStore, tmp_path: Path, file: Path) -> None:
    append(store, file, 61)
    other = open_store(str(tmp_path / "store"))
    append(other, file, 63)
    assert waiting(tmp_path, file) == (60, 61)
    with other.read(key_of(str(file))) as snapshot:
        told = ask(snapshot, 64)
    assert waiting(tmp_path, file) == (64, None)
    append(store, file, 65)
    assert waiting(tmp_path, file) == (64, 65)
    with store.read(key_of(str(file))) as snapshot:
        assert ask(snapshot, 64)[:1] != told[:1], "two rows more change the scores"
        assert ask(snapshot, 66) == at_once(tmp_path, file, 66)
    other.close()


def test_lists_in_memory_learn_rows_that_waited(store: SqliteStore, tmp_path: Path, file: Path) -> None:
    for _ in range(3):
        with store.read(key_of(str(file))) as snapshot:
            ask(snapshot, 60)
    append(store, file, 61)
    append(store, file, 63)
    store.tend(str(file))
    append(store, file, 65)
    with store.read(key_of(str(file))) as snapshot:
        assert ask(snapshot, 66) == at_once(tmp_path, file, 66)


def test_looking_ahead_sees_what_waits_and_leaves_it_waiting(store: SqliteStore, tmp_path: Path, file: Path) -> None:
    append(store, file, 61)
    with store.write(str(file)) as writer, writer.preview() as snapshot:
        assert [term.row for term in snapshot.find_terms(["latest62"], [(1, 62)], 9)] == [62]
    assert waiting(tmp_path, file) == (60, 61)
    with store.read(key_of(str(file))) as snapshot:
        assert ask(snapshot, 62) == at_once(tmp_path, file, 62)


@contextmanager
def read_only(tmp_path: Path) -> Iterator[SqliteStore]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("aforesaid.storage.sqlite.store._may_write", lambda _: False)
        store = open_store(str(tmp_path / "store"))
    yield store
    store.close()


def test_a_store_that_cannot_be_written_is_searched_in_full(store: SqliteStore, tmp_path: Path, file: Path) -> None:
    append(store, file, 61)
    with read_only(tmp_path) as other:
        for _ in range(2):
            with other.read(key_of(str(file))) as snapshot:
                assert ask(snapshot, 62) == at_once(tmp_path, file, 62)
        assert waiting(tmp_path, file) == (60, 61)
        append(store, file, 63, searched=True)
        with other.read(key_of(str(file))) as snapshot:
            assert ask(snapshot, 64) == at_once(tmp_path, file, 64)


def test_nobody_waits_for_long_for_who_is_writing(store: SqliteStore, tmp_path: Path, file: Path) -> None:
    append(store, file, 61)
    with inside(tmp_path, file) as connection:
        connection.execute("BEGIN IMMEDIATE")
        with store.read(key_of(str(file))) as snapshot:
            assert ask(snapshot, 62) == at_once(tmp_path, file, 62)
        connection.execute("ROLLBACK")
    assert waiting(tmp_path, file) == (60, 61)
    with store.read(key_of(str(file))) as snapshot:
        assert ask(snapshot, 62) == at_once(tmp_path, file, 62)
    assert waiting(tmp_path, file) == (62, None)


def failing(error: Exception) -> Callable[[apsw.Connection, int], None]:
    def fail(connection: apsw.Connection, first: int) -> None:
        connection.execute("DELETE FROM entry WHERE row = ?", (first,))
        raise error

    return fail


def test_a_full_disk_keeps_nobody_from_searching(
    store: SqliteStore, tmp_path: Path, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    append(store, file, 61)
    with monkeypatch.context() as patch:
        patch.setattr(feeding, "catch_up", failing(apsw.FullError("full")))
        with store.read(key_of(str(file))) as snapshot:
            assert ask(snapshot, 62) == at_once(tmp_path, file, 62)
        store.tend(str(file))
    assert waiting(tmp_path, file) == (60, 61)
    with store.read(key_of(str(file))) as snapshot:
        assert ask(snapshot, 62) == at_once(tmp_path, file, 62)


def test_a_damaged_index_is_told(store: SqliteStore, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    append(store, file, 61)
    with monkeypatch.context() as patch:
        patch.setattr(feeding, "catch_up", failing(apsw.CorruptError("damaged")))
        with pytest.raises(StoreCorrupt), store.read(key_of(str(file))):
            pass
    assert sync(store, READER, str(file), redacting=False).error_code == "store-corrupt"
    with store.read(key_of(str(file))) as snapshot:
        assert rows(snapshot.find_terms(["latest62"], [(1, 62)], 9)) == [62]


def rows(found: tuple[TermRow, ...]) -> list[int]:
    return [term.row for term in found]


def test_what_is_forgotten_while_it_waits_never_gets_into_the_index(
    store: SqliteStore, tmp_path: Path, file: Path
) -> None:
    append(store, file, 61)
    marker = store.forgetting.marker(lasting=True)
    store.forgetting.bury(Burial(marks=frozenset({marker.words(entry("x", None, f"latest61 {WORDS}"))})))
    assert len(store.forgetting.erase()[0]) == 1
    assert waiting(tmp_path, file) == (61, None)
    with store.read(key_of(str(file))) as snapshot:
        assert rows(snapshot.find_terms(["latest61", "latest62"], [(1, 62)], 9)) == [62]
        assert "latest61" not in (snapshot.words() or ())
        assert [found.row for found in snapshot.outlines([(60, 62)], Filter())] == [60, 62]
        assert snapshot.digests([digest("")], [(61, 61)]) == {digest("")}


def test_who_inspects_a_file_sees_what_waits_and_changes_nothing(
    store: SqliteStore, tmp_path: Path, file: Path
) -> None:
    append(store, file, 61)
    marker = store.forgetting.marker(lasting=True)
    store.forgetting.bury(Burial(marks=frozenset({marker.words(entry("x", None, f"latest61 {WORDS}"))})))
    left = store.forgetting.verify(None, ()).leftovers
    assert [(one.where, one.count) for one in left] == [("entry", 1)]
    assert waiting(tmp_path, file) == (60, 61)


def test_rows_without_words_and_rows_that_are_no_evidence_wait_too(store: SqliteStore) -> None:
    told = []
    for file in ("/waits", "/at-once"):
        with store.write(file, searched=True) as writer:
            writer.append([entry("a", None, "alpha")])
            writer.commit(described(file))
        with store.write(file, searched=file == "/at-once") as writer:
            more = [entry("b", "a", ""), entry("c", "b", "a summary", automatic=False), entry("d", "c", "Straße\udc80")]
            writer.append(more)
            writer.commit(described(file))
        with store.read(key_of(file)) as snapshot:
            told.append(
                (snapshot.entries(range(1, 5)), snapshot.fed, snapshot.words(), snapshot.outlines([(1, 4)], Filter()))
            )
    assert told[0] == told[1]
    assert [found.digest for found in told[0][0]] == [
        digest(text) for text in ("alpha", "", "a summary", "Straße\udc80")
    ]


def test_an_open_file_that_listed_its_words_before_lists_those_of_an_index_in_memory(
    store: SqliteStore, tmp_path: Path, file: Path
) -> None:
    for _ in range(2):
        with store.read(key_of(str(file))) as snapshot:
            assert "latest61" not in (snapshot.words() or ())
    append(store, file, 61)
    with inside(tmp_path, file) as connection:
        connection.execute("BEGIN IMMEDIATE")
        assert store.learn_words(store.sessions()) == 1
        connection.execute("ROLLBACK")
    asked = ((Clue(kind="is", token="latest61"),),)
    assert store.may_hold(store.sessions(), asked) == {key_of(str(file))}, "else a search of all leaves it out"


def test_half_of_an_index_in_memory_does_not_outlive_its_reading(
    store: SqliteStore, tmp_path: Path, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with read_only(tmp_path) as other:
        for _ in range(2):
            with other.read(key_of(str(file))) as snapshot:
                ask(snapshot, 60)
        append(store, file, 61)

        def interrupted(connection: apsw.Connection) -> Iterator[tuple[int, str, str]]:
            yield from [fed for fed, _ in zip(read_fed(connection), range(5), strict=False)]
            raise apsw.IOError("unplugged")

        read_fed = feeding.read_fed
        with monkeypatch.context() as patch:
            patch.setattr(feeding, "read_fed", interrupted)
            with pytest.raises(StoreError), other.read(key_of(str(file))):
                pass
        store.tend(str(file))
        with other.read(key_of(str(file))) as snapshot:
            assert ask(snapshot, 62) == at_once(tmp_path, file, 62)


def test_who_learns_words_waits_for_nobody_who_holds_the_file_and_waits_for_the_lock(
    tmp_path: Path, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_store(str(tmp_path / "store"), busy_timeout_ms=60_000)
    sync(store, READER, str(file), redacting=False)
    append(store, file, 61)
    busy = []

    @contextmanager
    def lock(path: str, *, exclusive: bool, timeout_ms: int) -> Iterator[None]:
        with folder_lock(path, exclusive=exclusive, timeout_ms=timeout_ms), inside(tmp_path, file) as other:
            assert waiting(tmp_path, file) == (62, None), "nothing is left to be written behind the lock"
            with closing(open_store(str(tmp_path / "store"))) as writer:
                append(writer, file, 63)
                monkeypatch.setattr(writer, "_fill_index", lambda _: None)
            assert waiting(tmp_path, file) == (62, 63)
            other.execute("BEGIN IMMEDIATE")  # as who removes the session
            busy.append(True)
            yield
            other.execute("ROLLBACK")

    monkeypatch.setattr(words, "folder_lock", lock)
    started = time.monotonic()
    assert store.learn_words(store.sessions()) == 1
    assert time.monotonic() - started < 30
    assert busy == [True]
    assert store.may_hold(store.sessions(), ((Clue(kind="is", token="latest64"),),)) == {key_of(str(file))}
    assert waiting(tmp_path, file) == (62, 63)
    monkeypatch.setattr(words, "folder_lock", folder_lock)
    store.close()


def test_words_are_learned_while_sessions_are_removed(tmp_path: Path) -> None:
    files = [tmp_path / f"{number}.txt" for number in range(12)]
    for one in files:
        one.write_text("e1\t-\tzero\n", "utf-8")
    with closing(open_store(str(tmp_path / "store"))) as store:
        for one in files:
            sync(store, READER, str(one), redacting=False)
            one.write_text("e1\t-\tzero\ne2\te1\tone\n", "utf-8")
            sync(store, READER, str(one), redacting=False)
        sessions, failed = store.sessions(), []

        def remove() -> None:
            with closing(open_store(str(tmp_path / "store"))) as other:
                for session in sessions[::2]:
                    try:
                        other.remove(session.key)
                    except StoreError as error:
                        failed.append(error)

        remover = threading.Thread(target=remove)
        remover.start()
        for session in sessions[1::2]:
            store.learn_words([session])
        remover.join()
        assert not failed
        assert {session.key for session in store.sessions()} == {session.key for session in sessions[1::2]}


@pytest.mark.parametrize("way", ["read", "tend", "close"])
def test_what_waited_does_not_make_a_store_larger_than_it_may_be(
    store: SqliteStore, tmp_path: Path, file: Path, way: str
) -> None:
    append(store, file, 61, 400)
    key, other = key_of(str(file)), open_store(str(tmp_path / "store"), max_bytes=1 << 40)
    for _ in range(2):
        with other.read(key) as snapshot:  # so the file stays open
            ask(snapshot, 460)
    for first in range(461, 821, 60):
        append(store, file, first, 60)
    assert waiting(tmp_path, file) == (460, 461)
    path = tmp_path / "store" / "sessions" / f"{key}.db"
    with inside(tmp_path, file) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    before = path.stat().st_size
    other._max_bytes = before
    assert other.by_file(str(file)).entries == 820  # type: ignore[union-attr]
    if way == "tend":
        other.tend(str(file))
    elif way == "read":
        with other.read(key) as snapshot:
            assert ask(snapshot, 820) == at_once(tmp_path, file, 820)
    other.close()
    with inside(tmp_path, file) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    assert path.stat().st_size == before
    assert waiting(tmp_path, file) == (460, 461)
