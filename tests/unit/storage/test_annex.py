"""A small database beside the sessions: what is the same for all of them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.rights import bound_by_modes

from aforesaid.errors import StoreBusy, StoreCorrupt, StoreReadOnly, StoreTooNew
from aforesaid.storage.sqlite import annex, migrations
from aforesaid.storage.sqlite.annex import Annex, MemoryAnnex

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

    from aforesaid.storage.sqlite.connection import Database

NOT_A_DATABASE = b"no database at all" * 1000


def _first(database: apsw.Connection) -> None:
    migrations.drop_everything(database)
    database.execute("CREATE TABLE word(word TEXT)")


def _second(database: apsw.Connection) -> None:
    database.execute("ALTER TABLE word ADD COLUMN count INTEGER NOT NULL DEFAULT 1")


def make(folder: Path, *, steps: Sequence[migrations.Step] = (_first,), **more: object) -> Annex:
    fields: dict[str, object] = {"writable": True, "timeout_ms": 100}
    return Annex(str(folder / "inner" / "a.db"), str(folder / "lock"), steps, **(fields | more))  # type: ignore[arg-type]


def add(to: Annex, word: str) -> str | None:
    def write(connection: apsw.Connection) -> str:
        connection.execute("INSERT INTO word(word) VALUES (?)", (word,))
        return word

    return to.write(write)


def words(of: Annex) -> object:
    return of.read(lambda connection: [word for (word,) in connection.execute("SELECT word FROM word ORDER BY word")])


def path(of: Annex) -> Path:
    return Path(of.path)


def test_a_file_is_made_when_it_is_needed_and_holds_what_was_written(tmp_path: Path) -> None:
    one, other = make(tmp_path), make(tmp_path)
    assert not one.exists
    assert words(one) is None
    assert not list(tmp_path.iterdir())
    assert add(one, "oak") == "oak"
    assert one.exists
    assert other.exists
    assert words(other) == ["oak"]
    one.close()
    other.close()
    assert words(make(tmp_path)) == ["oak"]
    if os.name == "posix":
        assert path(one).stat().st_mode & 0o077 == 0


def test_what_fails_half_way_leaves_nothing(tmp_path: Path) -> None:
    one = make(tmp_path)
    add(one, "oak")

    def fail(connection: apsw.Connection) -> None:
        connection.execute("INSERT INTO word(word) VALUES ('elm')")
        raise KeyboardInterrupt

    for action in (one.write, one.read):
        with pytest.raises(KeyboardInterrupt):
            action(fail)
        assert words(one) == ["oak"]
    assert add(one, "ash")


def test_a_reader_sees_one_moment(tmp_path: Path) -> None:
    one, other = make(tmp_path), make(tmp_path)
    add(one, "oak")

    def read(connection: apsw.Connection) -> list[object]:
        counts = [connection.execute("SELECT count(*) FROM word").get]
        add(other, "elm")
        return [*counts, connection.execute("SELECT count(*) FROM word").get]

    assert one.read(read) == [1, 1]
    assert words(one) == ["elm", "oak"]


@pytest.mark.parametrize("writing", [True, False])
def test_a_damaged_file_is_begun_anew(tmp_path: Path, writing: bool) -> None:
    one = make(tmp_path)
    add(one, "oak")
    before = one.openings
    one.close()
    assert one.openings > before
    path(one).write_bytes(NOT_A_DATABASE)
    if writing:
        assert add(one, "elm") == "elm"
    assert words(one) == (["elm"] if writing else [])


def test_who_is_told_of_damage_reads_an_empty_file_the_next_time(tmp_path: Path) -> None:
    one = make(tmp_path, told=True)
    add(one, "oak")
    one.close()
    path(one).write_bytes(NOT_A_DATABASE)
    with pytest.raises(StoreCorrupt):
        words(one)
    assert words(one) is None
    add(one, "ash")
    assert words(one) == ["ash"]
    one.close()
    path(one).write_bytes(NOT_A_DATABASE)
    assert add(one, "elm") == "elm"


def test_who_holds_the_lock_leaves_a_damaged_file_to_others(tmp_path: Path) -> None:
    one = make(tmp_path)
    add(one, "oak")
    one.close()
    path(one).write_bytes(NOT_A_DATABASE)
    with pytest.raises(StoreCorrupt):
        one.write(lambda _: None, mending=False)
    assert path(one).read_bytes() == NOT_A_DATABASE
    one.discard()
    assert words(one) is None
    add(one, "ash")
    assert words(one) == ["ash"]


@pytest.mark.parametrize("told", [True, False])
def test_a_store_that_cannot_be_written_is_read_as_it_is(tmp_path: Path, told: bool) -> None:
    frozen = make(tmp_path, writable=False, told=told)
    assert words(frozen) is None
    assert not frozen.exists
    one = make(tmp_path)
    add(one, "oak")
    one.close()
    assert add(frozen, "elm") is None
    assert words(frozen) == ["oak"]
    frozen.discard()
    assert path(frozen).exists()
    path(frozen).write_bytes(NOT_A_DATABASE)
    frozen.close()
    if told:
        with pytest.raises(StoreCorrupt):
            words(frozen)
    else:
        assert words(frozen) is None
    assert path(frozen).read_bytes() == NOT_A_DATABASE


def test_older_tables_are_brought_up_to_date_by_who_may_and_say_nothing_to_others(tmp_path: Path) -> None:
    old = make(tmp_path)
    add(old, "oak")
    old.close()
    frozen = make(tmp_path, steps=(_first, _second), writable=False)
    assert words(frozen) is None
    new = make(tmp_path, steps=(_first, _second))
    assert new.read(lambda connection: connection.execute("SELECT word, count FROM word").fetchall()) == [("oak", 1)]
    new.close()
    assert words(frozen) == ["oak"]
    for writable in (True, False):
        with pytest.raises(StoreTooNew):
            words(make(tmp_path, writable=writable))


def test_an_upgrade_that_fails_leaves_the_old_tables(tmp_path: Path) -> None:
    old = make(tmp_path)
    add(old, "oak")
    old.close()

    def fail(database: apsw.Connection) -> None:
        database.execute("DROP TABLE word")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        words(make(tmp_path, steps=(_first, fail)))
    assert words(make(tmp_path)) == ["oak"]


def test_settings_hold_for_each_connection(tmp_path: Path) -> None:
    one = make(tmp_path, settings=(("secure_delete", "ON"),))
    for _ in range(2):
        assert one.use(lambda database: database.connection.pragma("secure_delete"), writing=True) == 1
        one.close()


def test_who_cannot_write_in_time_is_told_so(tmp_path: Path) -> None:
    one, other = make(tmp_path), make(tmp_path)

    def hold(database: Database) -> None:
        database.connection.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreBusy):
            add(other, "elm")
        database.connection.execute("ROLLBACK")

    add(other, "oak")
    one.use(hold)
    assert words(other) == ["oak"]


def test_a_file_that_was_replaced_is_opened_again(tmp_path: Path) -> None:
    one, other = make(tmp_path), make(tmp_path)
    add(one, "oak")
    other.discard()
    add(other, "elm")
    assert words(one) == ["elm"]


def test_what_was_deleted_leaves_no_trace_once_it_is_scrubbed(tmp_path: Path) -> None:
    one = make(tmp_path)
    add(one, "unforgettable")
    one.write(lambda connection: connection.execute("DELETE FROM word").close())
    one.scrub()
    assert b"unforgettable" not in b"".join(file.read_bytes() for file in path(one).parent.iterdir())


def test_a_file_that_the_system_does_not_let_go_is_emptied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = make(tmp_path), make(tmp_path)
    add(one, "unforgettable")
    assert words(other) == ["unforgettable"]

    def refuse(_: str) -> None:
        raise PermissionError

    with monkeypatch.context() as held:
        held.setattr(annex, "remove_database", refuse)
        one.discard()
    assert b"unforgettable" not in b"".join(file.read_bytes() for file in path(one).parent.iterdir())
    assert words(one) == []


def test_a_file_that_may_not_be_read_is_no_damage(tmp_path: Path) -> None:
    one = make(tmp_path)
    add(one, "oak")
    one.close()
    path(one).chmod(0)
    with pytest.raises(StoreReadOnly):
        bound_by_modes(lambda: words(one))
    path(one).chmod(0o600)
    assert words(one) == ["oak"]


def test_in_memory_it_is_the_same_without_a_file() -> None:
    one = MemoryAnnex((_first,))
    assert add(one, "oak") == "oak"
    one.scrub()
    one.discard()
    one.close()
    assert words(one) == ["oak"]
