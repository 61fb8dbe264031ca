"""What the processes of `test_store_processes` do: `python -m tests.e2e.store_child ACTION STORE FILE…`."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from tests.fakes.reader import PlainReading, PlainTranscripts

from aforesaid.errors import AforesaidError
from aforesaid.indexing import intake, sync
from aforesaid.model import Checkpoint
from aforesaid.storage.sqlite import open_store
from aforesaid.storage.sqlite.catalogue import Catalogue

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

    from aforesaid.model import Entry, Flaw

READER = PlainTranscripts()


class _Dying(PlainReading):
    """Kills its own process in the middle of the reading."""

    def __iter__(self) -> Iterator[Entry | Flaw]:
        for count, item in enumerate(super().__iter__()):
            if count == int(os.environ["DIE_AT"]):
                os.kill(os.getpid(), signal.SIGKILL)
            yield item


class _DyingTranscripts(PlainTranscripts):
    def read(self, source: BinaryIO, file: str, since: Checkpoint | None) -> PlainReading:
        return _Dying(self.host, source, since or Checkpoint(state="?\t"))


def grow(store: str, file: str, prefix: str, rounds: int) -> None:
    """Appends to a transcript that others append to as well, and syncs after each line."""
    opened = open_store(store)
    for number in range(rounds):
        with Path(file).open("ab") as target:
            target.write(f"{prefix}{number}\t-\talpha {prefix} {number}\n".encode())
        sync(opened, READER, file)
    opened.close()


def watch(store: str, file: str, seconds: float) -> None:
    """Reads again and again and checks that each snapshot is whole: line n of the transcript says `total N n`."""
    opened = open_store(store)
    seen: set[int] = set()
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        session = opened.by_file(file)
        if session is None:
            continue
        with opened.read(session.key) as snapshot:
            entries = snapshot.entries(range(1, snapshot.session.entries + 1))
            totals = {entry.text.split()[1] for entry in entries}
            counted = snapshot.count_terms(["total"], ((1, 10**9),))
            runs = snapshot.tree().runs
        if len(totals) > 1 or counted != len(entries) or (runs and runs[-1].last != len(entries)):
            raise SystemExit(f"half a sync: {totals} {counted} {len(entries)}")
        seen.add(int(totals.pop()) if totals else 0)
    print(len(seen))
    opened.close()


def main(action: str, store: str, *rest: str) -> None:
    if action == "grow":
        grow(store, rest[0], rest[1], int(rest[2]))
        return
    if action == "watch":
        watch(store, rest[0], float(rest[1]))
        return
    intake.BATCH_ENTRIES = 50
    reader = READER
    if action == "die-reading":
        reader = _DyingTranscripts()
    if action == "die-before-catalogue":
        Catalogue.put = lambda *_: os.kill(os.getpid(), signal.SIGKILL)  # type: ignore[method-assign]
    if action == "small-disk":
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (int(os.environ["LIMIT"]), resource.RLIM_INFINITY))
    if "GO" in os.environ:
        while time.time() < float(os.environ["GO"]):
            pass
    opened = open_store(store)
    try:
        for file in rest:
            report = sync(opened, reader, file, rebuild=action == "rebuild")
            print(report.status, report.added, flush=True)
    except AforesaidError as error:
        print(error.code, flush=True)
    finally:
        opened.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
