"""A transcript of plain lines in a store of each kind: what the tests of `indexing` share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.fakes.reader import PlainTranscripts
from tests.fakes.store import FakeStore

from aforesaid.indexing import sync
from aforesaid.lineage import trace
from aforesaid.storage.sqlite import open_store

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

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
