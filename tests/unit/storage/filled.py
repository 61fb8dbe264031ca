"""A store in a folder, and transcripts that fill it: what the tests of its files share."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest
from tests.fakes.entries import chain, described
from tests.fakes.reader import PlainTranscripts

from aforesaid.storage.sqlite import SqliteStore, open_store

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from aforesaid.model import Session

READER = PlainTranscripts()
EVERYTHING = ((1, 10_000),)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "store"


@pytest.fixture
def store(folder: Path) -> Iterator[SqliteStore]:
    opened = open_store(str(folder), busy_timeout_ms=200)
    yield opened
    opened.close()


def put(store: SqliteStore, file: str = "/f", *texts: str) -> Session:
    with store.write(file) as writer:
        known = writer.session.entries if writer.session else 0
        writer.append(chain(*(texts or ("alpha",)), prefix=f"{known}-"))
        return writer.commit(described(file))


def transcript(folder: Path, entries: int = 300) -> Path:
    words = random.Random(1)
    lines = [
        f"e{n}\t{f'e{n - 1}' if n else '-'}\t{' '.join(f'word{words.randrange(200)}' for _ in range(40))}"
        for n in range(entries)
    ]
    file = folder / "session.txt"
    file.write_text("\n".join(["#s\t", *lines]) + "\n")
    return file


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.rglob("*") if path.is_file()}
