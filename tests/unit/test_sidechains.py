"""Opening a transcript."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from aforesaid.model import Source
from aforesaid.sidechains import NotRegular, opener
from aforesaid.transcripts.originals import read_line

if TYPE_CHECKING:
    from pathlib import Path


def test_a_file_is_read_and_what_is_missing_is_missing(tmp_path: Path) -> None:
    file = tmp_path / "s.jsonl"
    file.write_bytes(b"one\r\ntwo\x1a\n")
    with open(file, "rb", opener=opener) as source:
        assert source.read() == b"one\r\ntwo\x1a\n"
        assert not os.get_inheritable(source.fileno())
    with pytest.raises(FileNotFoundError):
        opener(str(tmp_path / "gone"), os.O_RDONLY)
    # Windows refuses to open a folder at all.
    with pytest.raises((IsADirectoryError, PermissionError)):
        opener(str(tmp_path), os.O_RDONLY)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with names")
def test_a_pipe_is_no_transcript_and_is_not_kept_open(tmp_path: Path) -> None:
    pipe = tmp_path / "s.jsonl"
    os.mkfifo(pipe)
    with pytest.raises(NotRegular) as refused:
        opener(str(pipe), os.O_RDONLY)
    assert refused.value.filename == str(pipe)
    with pytest.raises(OSError, match=r"[Nn]o such device|not configured"):
        os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)  # only refused if nobody reads
    source = Source(line=1, offset=0, length=3, sha256=b"")
    assert read_line(str(pipe), source) is None
