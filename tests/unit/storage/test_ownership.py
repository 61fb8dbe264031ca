"""Folders and files that only their user can open, and stores of somebody else."""

from __future__ import annotations

import os
import stat
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from tests import pi
from tests.fakes.entries import chain, described

from aforesaid import Engine
from aforesaid.config.writing import write_setting
from aforesaid.errors import StoreForeign
from aforesaid.storage.ownership import close_to_others, make_private, refuse_foreign
from aforesaid.storage.sqlite import open_store

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

modes = pytest.mark.skipif(os.name == "nt", reason="Windows has no modes")


@pytest.fixture
def careless() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@modes
@pytest.mark.usefixtures("careless")
def test_every_folder_that_is_made_is_the_users_own(tmp_path: Path) -> None:
    make_private(str(tmp_path / "a" / "b" / "c"))
    assert [mode(tmp_path / part) for part in ("a", "a/b", "a/b/c")] == [0o700] * 3
    (tmp_path / "open").mkdir(mode=0o777)
    make_private(str(tmp_path / "open" / "d"))
    assert [mode(tmp_path / part) for part in ("open", "open/d")] == [0o777, 0o700]


def test_a_file_in_the_way_is_the_systems_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="file"):
        make_private(str(tmp_path / "file"))
    with pytest.raises(OSError, match="file"):
        make_private(str(tmp_path / "file" / "below"))


def test_a_folder_that_another_process_makes_first_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mkdir = os.mkdir

    def late(path: str, mode: int) -> None:
        mkdir(path, mode)
        mkdir(path, mode)

    monkeypatch.setattr(os, "mkdir", late)
    make_private(str(tmp_path / "a"))
    assert (tmp_path / "a").is_dir()


@modes
def test_others_lose_what_they_may_do_and_the_owner_does_not(tmp_path: Path) -> None:
    for before, after in ((0o666, 0o600), (0o755, 0o700), (0o555, 0o500), (0o444, 0o400), (0o600, 0o600)):
        file = tmp_path / f"{before:o}"
        file.write_text("")
        file.chmod(before)
        close_to_others(str(file))
        assert mode(file) == after
    close_to_others(str(tmp_path / "none"))


@modes
@pytest.mark.usefixtures("careless")
def test_a_store_and_a_configuration_are_closed_under_any_umask(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home" / "config"))
    monkeypatch.setattr("aforesaid.config.folders.sys.platform", "linux")
    write_setting("retrieval.maxResults", 3)
    file = pi.write(tmp_path / "s.jsonl", [pi.header(), *pi.conversation(["the walnut table", "noted"])])
    with Engine.open(tmp_path / "data" / "deep" / "store") as engine:
        engine.index(file)
        made = [*(tmp_path / "data").rglob("*"), tmp_path / "data", *(tmp_path / "home").rglob("*"), tmp_path / "home"]
        found = {path: mode(path) for path in made}
    assert {found[path] for path in made if path.is_dir()} == {0o700}
    assert {found[path] for path in made if path.is_file()} == {0o600}
    assert any(path.name == "config.json" for path in made)
    assert any(path.suffix == ".db" for path in made)


@modes
def test_a_store_that_was_left_open_is_closed(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    store = open_store(str(folder))
    with store.write("/f") as writer:
        writer.append(chain("alpha"))
        writer.commit(described("/f"))
    store.close()
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o777 if path.is_dir() else 0o666)
    store = open_store(str(folder))
    assert store.by_file("/f") is not None
    store.close()
    assert {mode(path) for path in (folder, *folder.rglob("*")) if path.is_dir()} == {0o700}
    assert {mode(path) for path in folder.rglob("*.db")} == {0o600}


@modes
def test_a_folder_with_other_things_in_it_stays_as_its_user_wants_it(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("")
    tmp_path.chmod(0o755)
    with closing(open_store(str(tmp_path))) as store, store.write("/f") as writer:
        writer.commit(described("/f"))
    assert mode(tmp_path) == 0o755
    assert mode(tmp_path / "sessions") == 0o700


@modes
def test_the_folder_of_a_linked_configuration_stays_as_its_user_wants_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setattr("aforesaid.config.folders.sys.platform", "linux")
    dotfiles = tmp_path / "dotfiles"
    dotfiles.mkdir(mode=0o755)
    (dotfiles / "a.json").write_text("{}")
    own = tmp_path / "config" / "aforesaid"
    own.mkdir(parents=True)
    (own / "config.json").symlink_to(dotfiles / "a.json")
    write_setting("retrieval.maxResults", 3)
    assert mode(dotfiles) == 0o755
    assert mode(dotfiles / "a.json") == 0o600


def test_a_store_of_somebody_else_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = pi.write(tmp_path / "s.jsonl", [pi.header(), *pi.conversation(["the walnut table", "noted"])])
    with Engine.open(tmp_path / "store") as engine:
        engine.index(file)
    monkeypatch.setattr(os, "geteuid", lambda: (tmp_path / "store").stat().st_uid + 1, raising=False)
    with pytest.raises(StoreForeign, match="another user"):
        open_store(str(tmp_path / "store"))
    with Engine.open(tmp_path / "store") as engine:
        found = engine.retrieve(session=file, query="walnut")
        assert (found.status, found.hits, found.diagnostics.warnings) == ("failed", (), ("store-foreign",))


def test_a_file_of_somebody_else_in_a_store_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = open_store(str(tmp_path / "store"))
    monkeypatch.setattr(os, "geteuid", lambda: (tmp_path / "store").stat().st_uid + 1, raising=False)
    with pytest.raises(StoreForeign), store.write("/f"):
        pass
    store.close()


def test_where_there_are_no_users_nothing_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "geteuid", raising=False)
    refuse_foreign(str(tmp_path))
    open_store(str(tmp_path / "store")).close()
    monkeypatch.undo()
    refuse_foreign(str(tmp_path / "none"))


@modes
def test_a_lock_that_others_may_open_is_closed_to_them(tmp_path: Path) -> None:
    with Engine.open(tmp_path / "store") as engine:
        engine.index(pi.write(tmp_path / "s.jsonl", [pi.header(), *pi.conversation(["a", "b"])]))
    lock = tmp_path / "store" / "lock"
    lock.chmod(0o644)
    with Engine.open(tmp_path / "store") as engine:
        engine.index(pi.write(tmp_path / "t.jsonl", [pi.header("other"), *pi.conversation(["c", "d"])]))
    assert mode(lock) == 0o600
