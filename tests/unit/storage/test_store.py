"""The SQLite store as files: what lies where, which stay open, and the list of sessions."""

from __future__ import annotations

import os
import shutil
import stat
from typing import TYPE_CHECKING

import pytest
from tests.fakes.entries import chain, described, entry

from aforesaid.errors import (
    StoreError,
    StoreFull,
)
from aforesaid.storage.sqlite import SqliteStore, files, open_store
from aforesaid.storage.sqlite.catalogue import Catalogue
from aforesaid.storage.sqlite.store import KEPT_OPEN, key_of

if TYPE_CHECKING:
    from pathlib import Path

from tests.unit.storage.filled import EVERYTHING, folder, names, put, store

__all__ = ["folder", "store"]


# --- files ----------------------------------------------------------------------------------------------------------


def test_a_session_is_one_file_named_after_the_path_of_its_transcript(store: SqliteStore, folder: Path) -> None:
    saved = put(store)
    assert saved.key == key_of("/f")
    store.close()
    assert names(folder) == {"lock", "catalogue.db", f"{saved.key}.db"}


@pytest.mark.skipif(os.name == "nt", reason="paths look different there")
def test_keys_are_the_same_in_every_process_and_version() -> None:
    assert key_of("/home/dev/é.jsonl") == "0c9a2002b053b8ad884dc52a16742ce6"
    assert key_of("/home/dev/\udc80.jsonl") != key_of("/home/dev/?.jsonl")


@pytest.mark.skipif(os.name == "nt", reason="Windows has no modes")
def test_folders_and_files_are_the_users_own_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        store = open_store(str(tmp_path / "a" / "store"))
        with store.write("/f") as writer:
            writer.append(chain("alpha"))
            writer.commit(described("/f"))
            modes = {path: stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "a" / "store").rglob("*")}
        store.close()
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a" / "store").stat().st_mode) == 0o700
    assert {mode for path, mode in modes.items() if path.is_dir()} == {0o700}
    assert {mode for path, mode in modes.items() if path.is_file()} == {0o600}
    assert len(modes) > 4


def test_removing_a_session_unlinks_all_its_files(store: SqliteStore, folder: Path) -> None:
    saved = put(store)
    store.remove(saved.key)
    assert not list((folder / "sessions").iterdir())


def test_few_files_stay_open(store: SqliteStore, folder: Path) -> None:
    for number in range(KEPT_OPEN + 5):
        put(store, f"/f{number}")
    logs = [path for path in (folder / "sessions").iterdir() if path.name.endswith("-wal")]
    assert len(logs) == KEPT_OPEN
    store.close()
    assert not [path for path in (folder / "sessions").iterdir() if not path.name.endswith(".db")]


def test_a_closed_store_says_so(store: SqliteStore) -> None:
    saved = put(store)
    with store.read(saved.key) as snapshot:
        store.close()
        assert snapshot.count_terms(["alpha"], EVERYTHING) == 1
    with pytest.raises(StoreError, match="closed"):
        store.by_file("/f")
    with pytest.raises(StoreError, match="closed"), store.write("/f"):
        pass


def test_a_store_whose_folder_was_deleted_begins_anew(store: SqliteStore, folder: Path) -> None:
    put(store)
    shutil.rmtree(folder)
    assert store.by_file("/f") is None
    assert store.sessions() == ()
    put(store)
    assert len(store.sessions()) == 1


def test_a_session_removed_by_another_process_is_not_written_into_a_lost_file(folder: Path) -> None:
    first, second = open_store(str(folder)), open_store(str(folder))
    saved = put(first)
    second.remove(saved.key)
    assert first.by_file("/f") is None
    put(second, "/f", "beta")
    put(first, "/f", "gamma")
    with second.read(saved.key) as snapshot:
        assert [found.text for found in snapshot.entries([1, 2, 3])] == ["beta", "gamma"]
    first.close()
    second.close()
    third = open_store(str(folder))
    with third.read(saved.key) as snapshot:
        assert [found.text for found in snapshot.entries([1, 2, 3])] == ["beta", "gamma"]
    third.close()


def test_a_snapshot_outlives_the_removal_of_its_session(folder: Path) -> None:
    first, second = open_store(str(folder)), open_store(str(folder))
    saved = put(first)
    with first.read(saved.key) as snapshot:
        second.remove(saved.key)
        put(second, "/f", "beta")
        assert [found.text for found in snapshot.entries([1])] == ["alpha"]
    with first.read(saved.key) as snapshot:
        assert [found.text for found in snapshot.entries([1])] == ["beta"]
    first.close()
    second.close()


def test_two_snapshots_of_one_session_can_be_open_at_once(store: SqliteStore) -> None:
    saved = put(store)
    with store.read(saved.key) as older:
        put(store, "/f", "beta")
        with store.read(saved.key) as newer:
            assert older.count_terms(["beta"], EVERYTHING) == 0
            assert newer.count_terms(["beta"], EVERYTHING) == 1


# --- the catalogue --------------------------------------------------------------------------------------------------


def test_what_the_catalogue_missed_is_put_right(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = open_store(str(folder))
    put(store, "/old")
    with monkeypatch.context() as patch:
        patch.setattr(Catalogue, "put", lambda *_: None)
        grown = put(store, "/old")
        new = put(store, "/new")
    assert store.sessions() == (new, grown)
    # The write-ahead logs are still there, as after a crash between the two commits.
    other = open_store(str(folder))
    assert other.sessions() == (new, grown)
    other.close()
    store.close()
    store = open_store(str(folder))
    assert store.sessions() == (new, grown)
    assert Catalogue.by_id(store._catalogue, "s") == {grown.key: grown, new.key: new}
    store.close()


@pytest.mark.parametrize("damage", ["gone", "garbage", "zeroed tables"])
def test_a_lost_catalogue_is_filled_again_from_the_sessions(folder: Path, damage: str) -> None:
    store = open_store(str(folder))
    saved = {put(store, "/a"), put(store, "/b")}
    store.close()
    path = folder / "catalogue.db"
    if damage == "gone":
        path.unlink()
    elif damage == "garbage":
        path.write_bytes(b"no database at all" * 1000)
    else:
        path.write_bytes(path.read_bytes()[:4096] + bytes(path.stat().st_size - 4096))
    store = open_store(str(folder))
    assert set(store.sessions()) == saved
    assert set(store.by_id("s")) == saved
    store.remove(key_of("/a"))
    assert [session.file for session in store.sessions()] == ["/b"]
    put(store, "/c")
    assert len(store.sessions()) == 2
    store.close()


def test_a_session_whose_file_was_deleted_is_not_listed(store: SqliteStore, folder: Path) -> None:
    saved = put(store)
    store.close()
    (folder / "sessions" / f"{saved.key}.db").unlink()
    again = open_store(str(folder))
    assert again.sessions() == again.by_id("s") == ()
    again.close()


def test_a_catalogue_that_cannot_be_written_fails_no_sync(
    store: SqliteStore, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise StoreFull("no space", "free some")

    with monkeypatch.context() as patch:
        patch.setattr(Catalogue, "put", full)
        saved = put(store)
        assert store.sessions() == (saved,)
    store.close()
    again = open_store(str(folder))
    assert Catalogue.everything(again._catalogue) == {saved.key: saved}
    again.close()


def test_the_list_of_sessions_is_made_anew_only_when_something_changed(store: SqliteStore, folder: Path) -> None:
    first, second = put(store, "/a"), put(store, "/b")
    listed = store.sessions()
    assert listed == (first, second)
    assert store.sessions() is listed
    with store.read(first.key):
        assert store.sessions() is listed, "an open file changes nothing"
    other = open_store(str(folder))
    third = put(other, "/c")
    assert store.sessions() == (first, second, third)
    with other.write("/a") as writer:
        writer.append([entry("more", None, "text")])
        grown = writer.commit(described("/a"))
    assert store.sessions() == (grown, second, third)
    assert store.sessions(host="other") == ()
    other.remove(second.key)
    assert store.sessions() == (grown, third)
    (folder / "sessions" / f"{grown.key}.db").unlink()
    assert store.sessions() == (third,)
    listed = store.sessions()
    assert store.sessions() is listed
    other.close()


def test_the_list_says_what_the_files_say_where_the_catalogue_is_behind(
    store: SqliteStore, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = put(store, "/a")
    assert store.sessions() == (first,)
    other = open_store(str(folder))
    with monkeypatch.context() as patch:
        patch.setattr(Catalogue, "put", lambda *_: None)
        with other.write("/a") as writer:
            writer.append([entry("more", None, "text")])
            grown = writer.commit(described("/a"))
        second = put(other, "/b")
        assert store.sessions() == (grown, second)
        listed = store.sessions()
        assert store.sessions() is listed
    other.close()


def test_many_files_stay_open_only_while_they_hold_little(
    store: SqliteStore, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "KEPT_ANYWAY", 2)
    monkeypatch.setattr(files, "KEPT_BYTES", 1)
    for number in range(6):
        put(store, f"/f{number}")
    logs = [path for path in (folder / "sessions").iterdir() if path.name.endswith("-wal")]
    assert len(logs) == 2
