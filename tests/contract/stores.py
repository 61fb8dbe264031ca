"""A store of each kind, and sessions in it: what the contract tests of the store share."""

from __future__ import annotations

import shutil
import tempfile
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from tests.fakes.entries import batches, described
from tests.fakes.store import FakeStore

from aforesaid.storage.sqlite import open_store
from aforesaid.storage.sqlite.memory import MemoryStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from aforesaid.model import Entry, Session
    from aforesaid.ports import Snapshot, StorePort

FILE = "/home/dev/sessions/a.jsonl"
EVERYTHING = ((1, 1_000_000),)


@pytest.fixture(params=["fake", "memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[StorePort]:
    makers: dict[str, Callable[[], StorePort]] = {
        "fake": FakeStore, "memory": MemoryStore, "sqlite": lambda: open_store(str(tmp_path / "store"))
    }  # fmt: skip
    opened = makers[request.param]()
    yield opened
    opened.close()


def put(store: StorePort, entries: Sequence[Entry], file: str = FILE, *, size: int = 1000, **more: object) -> Session:
    """Stores a session in one transaction, `size` entries at a time."""
    with store.write(file) as writer:
        for batch in batches(entries, size):
            writer.append(batch)
        return writer.commit(described(file, **more))  # type: ignore[arg-type]


@contextmanager
def both(entries: Sequence[Entry], size: int = 1000) -> Iterator[tuple[Snapshot, Snapshot]]:
    """The same session in memory and in SQLite."""
    folder = tempfile.mkdtemp()
    fake, real = FakeStore(), open_store(folder)
    try:
        with fake.read(put(fake, entries, size=size).key) as one, real.read(put(real, entries, size=size).key) as two:
            yield one, two
    finally:
        real.close()
        shutil.rmtree(folder)
