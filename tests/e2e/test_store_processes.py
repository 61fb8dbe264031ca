"""The store under several real processes: opened and filled at once, killed, read meanwhile, full, or read-only."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.conftest import ROOT
from tests.fakes.reader import PlainTranscripts

from aforesaid.errors import AforesaidError, StoreForeign, StoreReadOnly
from aforesaid.indexing import sync
from aforesaid.storage.sqlite import open_store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

READER = PlainTranscripts()
EVERYTHING = ((1, 10**9),)
posix = pytest.mark.skipif(os.name == "nt", reason="needs signals, limits and users of POSIX")


def start(action: str, *arguments: Path | str, **environment: str) -> subprocess.Popen[str]:
    """A process of `store_child`."""
    return subprocess.Popen(
        [sys.executable, "-m", "tests.e2e.store_child", action, *map(str, arguments)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src")]), **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process: subprocess.Popen[str]) -> list[str]:
    """What a process said; it must end well."""
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    return out.split("\n")[:-1]


def transcript(file: Path, entries: int, *, words: int = 30, seed: int = 1) -> Path:
    dice = random.Random(seed)
    lines: list[str] = []
    for n in range(entries):
        text = " ".join(f"w{dice.randrange(500)}" for _ in range(words))
        lines.append(f"e{n}\t{f'e{n - 1}' if n else '-'}\ttotal {entries} {n} {text}")
    beside = file.with_name(file.name + ".new")
    beside.write_text("\n".join([f"#{file.stem}\t", *lines]) + "\n")
    beside.replace(file)
    return file


def check(store: Path, file: Path, entries: int) -> None:
    """The session is whole: entries, index and tree agree."""
    opened = open_store(str(store))
    session = opened.by_file(str(file))
    assert session is not None
    assert session.entries == entries
    with opened.read(session.key) as snapshot:
        assert len(snapshot.entries(range(1, entries + 2))) == entries
        assert snapshot.count_terms(["total"], EVERYTHING) == entries
        assert [(run.first, run.last) for run in snapshot.tree().runs] == [(1, entries)]
    assert session in opened.sessions()
    opened.close()


def test_many_processes_create_and_fill_a_store_at_once(tmp_path: Path) -> None:
    common = transcript(tmp_path / "common.txt", 200)
    own = [[transcript(tmp_path / f"own{n}-{m}.txt", 20, seed=n * 10 + m) for m in range(5)] for n in range(4)]
    go = str(time.time() + 1.5)
    processes = [start("sync", tmp_path / "store", common, *files, GO=go) for files in own]
    said = [finish(process) for process in processes]
    first = [lines[0] for lines in said]
    assert sorted(first) == ["added 200"] + ["unchanged 0"] * 3
    assert [line for lines in said for line in lines[1:]] == ["added 20"] * 20
    store = open_store(str(tmp_path / "store"))
    assert len(store.sessions()) == 21
    assert store.status().entries == 600
    store.close()
    check(tmp_path / "store", common, 200)


def test_no_line_is_lost_when_two_processes_follow_one_growing_file(tmp_path: Path) -> None:
    file = tmp_path / "session.txt"
    file.write_text("#s\t\n")
    for process in [start("grow", tmp_path / "store", file, prefix, "60") for prefix in ("a", "b")]:
        finish(process)
    store = open_store(str(tmp_path / "store"))
    sync(store, READER, str(file))
    session = store.by_file(str(file))
    assert session is not None
    with store.read(session.key) as snapshot:
        found = [entry.id for entry in snapshot.entries(range(1, 200))]
    store.close()
    assert found == [line.split("\t")[0] for line in file.read_text().splitlines()[1:]]
    assert sorted(found) == sorted(f"{prefix}{n}" for prefix in "ab" for n in range(60))


@posix
@pytest.mark.parametrize("at", [0, 60, 499])
def test_a_process_killed_while_it_reads_leaves_the_old_state(tmp_path: Path, at: int) -> None:
    file = transcript(tmp_path / "session.txt", 100)
    finish(start("sync", tmp_path / "store", file))
    transcript(file, 500)
    process = start("die-reading", tmp_path / "store", file, DIE_AT=str(at))
    process.communicate(timeout=60)
    assert process.returncode == -9
    check(tmp_path / "store", file, 100)
    assert finish(start("sync", tmp_path / "store", file)) == ["rebuilt 500"]
    check(tmp_path / "store", file, 500)


@posix
def test_a_process_killed_in_its_first_sync_leaves_nothing(tmp_path: Path) -> None:
    file = transcript(tmp_path / "session.txt", 100)
    process = start("die-reading", tmp_path / "store", file, DIE_AT="80")
    process.communicate(timeout=60)
    store = open_store(str(tmp_path / "store"))
    assert store.by_file(str(file)) is None
    assert store.sessions() == ()
    store.close()
    assert finish(start("sync", tmp_path / "store", file)) == ["added 100"]
    check(tmp_path / "store", file, 100)


@posix
@pytest.mark.parametrize("known", [False, True])
def test_a_process_killed_between_session_and_catalogue_loses_nothing(tmp_path: Path, known: bool) -> None:
    file = transcript(tmp_path / "session.txt", 50)
    if known:
        finish(start("sync", tmp_path / "store", file))
        transcript(file, 100)
    process = start("die-before-catalogue", tmp_path / "store", file)
    process.communicate(timeout=60)
    assert process.returncode == -9
    store = open_store(str(tmp_path / "store"))
    assert [session.entries for session in store.sessions()] == [100 if known else 50]
    assert [session.entries for session in store.by_id("session")] == [100 if known else 50]
    store.close()
    assert finish(start("sync", tmp_path / "store", file)) == ["unchanged 0"]


@posix
def test_a_process_killed_at_any_moment_leaves_the_old_state_or_the_new_one(tmp_path: Path) -> None:
    file = transcript(tmp_path / "session.txt", 100)
    finish(start("sync", tmp_path / "store", file))
    transcript(file, 3_000)
    dice = random.Random(7)
    states: list[int] = []
    for _ in range(12):
        process = start("rebuild", tmp_path / "store", file)
        time.sleep(0.15 + dice.random() * 0.6)
        process.kill()
        process.communicate(timeout=60)
        store = open_store(str(tmp_path / "store"))
        session = store.by_file(str(file))
        store.close()
        assert session is not None
        states.append(session.entries)
        check(tmp_path / "store", file, session.entries)
    assert set(states) <= {100, 3_000}


def test_readers_never_see_half_a_sync(tmp_path: Path) -> None:
    file = transcript(tmp_path / "session.txt", 10)
    finish(start("sync", tmp_path / "store", file))
    watcher = start("watch", tmp_path / "store", file, "4")
    for number in range(12):
        transcript(file, 100 + number * 50, seed=number)
        finish(start("sync", tmp_path / "store", file))
        if watcher.poll() is not None:
            break
    (states,) = finish(watcher)
    assert int(states) > 3


@posix
def test_a_full_disk_stops_a_sync_and_nothing_else(tmp_path: Path) -> None:
    file = transcript(tmp_path / "session.txt", 100)
    finish(start("sync", tmp_path / "store", file))
    transcript(file, 3_000)
    assert finish(start("small-disk", tmp_path / "store", file, LIMIT="300000")) == ["store-full"]
    check(tmp_path / "store", file, 100)
    assert finish(start("small-disk", tmp_path / "new", file, LIMIT="100000")) == ["store-full"]
    assert finish(start("sync", tmp_path / "store", file)) == ["rebuilt 3000"]
    check(tmp_path / "store", file, 3_000)


# --- a user who may read but not write ------------------------------------------------------------------------------


@pytest.fixture
def public() -> Iterator[Path]:
    """A folder that any user can reach; those of pytest are the owner's."""
    folder = Path(tempfile.mkdtemp(prefix="aforesaid-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def as_nobody(action: Callable[[], object]) -> str:
    """What an action says in a child process of an unprivileged user."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        with contextlib.suppress(BaseException):
            os.close(reading)
            if os.geteuid() == 0:
                os.setgroups([])
                os.setgid(65534)
                os.setuid(65534)
            try:
                said = repr(action())
            except AforesaidError as error:
                said = f"{type(error).__name__}: {error}"
            os.write(writing, said.encode())
            status = 0
        os._exit(status)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        said = pipe.read()
    assert os.waitpid(child, 0)[1] == 0
    return said


def open_up(folder: Path, *, files: int, folders: int) -> None:
    """Changes modes, and gives everything to the unprivileged user if this one is not."""
    folder.chmod(folders)
    for path in folder.rglob("*"):
        path.chmod(folders if path.is_dir() else files)
    if os.geteuid() == 0:
        for path in (folder, *folder.rglob("*")):
            os.chown(path, 65534, 65534)


def read_only_use(folder: Path, file: Path) -> object:
    store = open_store(str(folder))
    session = store.by_file(str(file))
    assert session is not None
    with store.read(session.key) as snapshot:
        hits = len(snapshot.find_literals(["total 100"], EVERYTHING, 500)[0])
    found = store.writable, session.entries, hits, len(store.sessions()), store.status().writable
    try:
        sync(store, READER, str(file), rebuild=True)
    except StoreReadOnly as error:
        return (*found, error.code)
    finally:
        store.close()
    return found


@posix
@pytest.mark.parametrize("live", [False, True])
def test_a_store_that_may_only_be_read_is_read(public: Path, live: bool) -> None:
    file = transcript(public / "session.txt", 100)
    store = open_store(str(public / "store"))
    sync(store, READER, str(file))
    if not live:
        store.close()
    open_up(public / "store", files=0o444, folders=0o555)
    try:
        said = as_nobody(lambda: read_only_use(public / "store", file))
    finally:
        open_up(public / "store", files=0o600, folders=0o700)
        store.close()
    assert said == "(False, 100, 100, 1, False, 'store-read-only')"


@posix
def test_a_store_that_may_not_even_be_read_is_named(public: Path) -> None:
    file = transcript(public / "session.txt", 10)
    store = open_store(str(public / "store"))
    sync(store, READER, str(file))
    store.close()
    open_up(public / "store", files=0o600, folders=0)
    said = as_nobody(lambda: open_store(str(public / "store")).sessions())
    assert said.startswith("StoreReadOnly: ")
    open_up(public / "store", files=0, folders=0o755)
    said = as_nobody(lambda: open_store(str(public / "store")).by_file(str(file)))
    assert said.startswith("StoreReadOnly: ")


@posix
@pytest.mark.skipif(os.name == "posix" and os.geteuid() != 0, reason="only root can be somebody else")
def test_a_store_of_somebody_else_is_refused_even_if_it_may_be_written(public: Path) -> None:
    file = transcript(public / "session.txt", 10)
    store = open_store(str(public / "store"))
    sync(store, READER, str(file))
    store.close()
    for path in (public / "store", *(public / "store").rglob("*")):
        path.chmod(0o777)
    said = as_nobody(lambda: open_store(str(public / "store")).by_file(str(file)))
    assert said.startswith("StoreForeign: ")
    open_up(public / "store", files=0o600, folders=0o700)
    with pytest.raises(StoreForeign):
        open_store(str(public / "store"))


@posix
def test_a_store_that_may_not_be_made_is_named(public: Path) -> None:
    assert as_nobody(lambda: open_store(str(public / "store"))).startswith("StoreReadOnly: ")


@posix
def test_a_transcript_that_may_not_be_read_is_named(public: Path) -> None:
    file = transcript(public / "session.txt", 10)
    file.chmod(0)
    (public / "store").mkdir()
    open_up(public / "store", files=0o600, folders=0o700)
    said = as_nobody(lambda: sync(open_store(str(public / "store")), READER, str(file)))
    assert said.startswith("SourceUnreadable: ")
