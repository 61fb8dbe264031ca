from __future__ import annotations

import os
from typing import TYPE_CHECKING

from aforesaid.model import Checkpoint, Header, Session
from aforesaid.recall.survey import Survey, Surveyor

if TYPE_CHECKING:
    from pathlib import Path


def known(file: Path) -> Session:
    status = file.stat()
    checkpoint = Checkpoint(size=status.st_size, mtime_ns=status.st_mtime_ns)
    header = Header(host="pi", session_id=file.stem)
    return Session(key=file.stem, file=str(file), header=header, checkpoint=checkpoint)


def look(surveyor: Surveyor, sessions: tuple[Session, ...], every: tuple[Session, ...], *folders: str) -> Survey:
    return surveyor.survey(sessions, every, folders, lambda file: not file.endswith("notes.jsonl"))


def test_what_changes_between_two_looks_is_seen(tmp_path: Path) -> None:
    files = [tmp_path / "a" / f"{name}.jsonl" for name in "pq"] + [tmp_path / "b" / "r.jsonl"]
    for file in files:
        file.parent.mkdir(exist_ok=True)
        file.write_text("x")
    every = tuple(known(file) for file in files)
    scope, surveyor = every[:2], Surveyor()
    assert look(surveyor, scope, every) == look(surveyor, scope, every) == Survey()
    files[0].write_text("longer")
    assert look(surveyor, scope, every) == Survey(stale=1)
    os.utime(files[1], ns=(1, 1))
    assert look(surveyor, scope, every) == Survey(stale=2)
    for name in ("new", "notes", "other"):
        (tmp_path / "a" / f"{name}.jsonl").write_text("x")
        (tmp_path / "b" / f"{name}.jsonl").write_text("x")
    assert look(surveyor, scope, every) == Survey(stale=2, unknown=2)
    assert look(surveyor, scope, every, str(tmp_path)) == Survey(stale=2, unknown=4)
    assert look(surveyor, every, every) == Survey(stale=2, unknown=4)
    more = (*every, known(tmp_path / "a" / "new.jsonl"))
    assert look(surveyor, scope, more) == Survey(stale=2, unknown=1)
    files[1].unlink()
    assert look(surveyor, scope, more) == Survey(stale=1, gone=1, unknown=1)
    assert surveyor.survey(scope) == Survey(stale=1, gone=1)
    for file in (tmp_path / "a").iterdir():
        file.unlink()
    (tmp_path / "a").rmdir()
    assert look(surveyor, scope, more) == Survey(gone=2)
    assert Survey(stale=1, gone=2).reasons == ("stale", "source-missing")
