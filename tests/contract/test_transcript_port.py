"""What `ports.TranscriptPort` promises, over every reader; a new host adds its sample."""

from __future__ import annotations

import io
import re
from hashlib import sha256
from typing import TYPE_CHECKING

import pytest
from tests.conftest import ROOT

from aforesaid.model import Entry, Flaw
from aforesaid.transcripts import detect, readers

if TYPE_CHECKING:
    from pathlib import Path

    from aforesaid.ports import TranscriptPort

SAMPLES = {
    "pi": ROOT / "examples" / "pi" / "payments-service.jsonl",
    "claude-code": ROOT / "examples" / "claude-code" / "made-compacted.jsonl",
    "codex": next((ROOT / "examples" / "codex").glob("made-rollout-*T02-16-*.jsonl")),
}

READERS = tuple(readers())
each_reader = pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.host)


def sample(reader: TranscriptPort) -> bytes:
    return SAMPLES[reader.host].read_bytes()


def read(reader: TranscriptPort, content: bytes) -> list[Entry | Flaw]:
    return list(reader.read(io.BytesIO(content), "/sessions/stem.jsonl", None))


class Refusing(io.BytesIO):
    """A file that the system stops giving out."""

    def read(self, size: int | None = -1) -> bytes:
        raise OSError(5, "Input/output error")


def test_every_reader_has_a_sample_and_a_name_of_its_own() -> None:
    assert [reader.host for reader in READERS] == list(SAMPLES)
    assert all(reader.parser > 0 for reader in READERS)


@each_reader
def test_a_reader_recognises_its_own_files_and_nobody_elses(reader: TranscriptPort) -> None:
    for host, path in SAMPLES.items():
        head = path.read_bytes()[:65_536]
        assert reader.detect(head) == (host == reader.host)
        found = detect(head)
        assert found is not None
        assert found.host == host
    assert not reader.detect(b"")
    assert not reader.detect(b'{"a":1}\n{"type":"note","text":"x"}\n')


@each_reader
def test_entries_come_in_file_order_and_their_lines_can_be_found_again(reader: TranscriptPort) -> None:
    content = sample(reader)
    found = [item for item in read(reader, content) if isinstance(item, Entry)]
    assert len({entry.id for entry in found}) == len(found)
    end = 0
    for entry in found:
        where = entry.source
        assert where.offset >= end
        assert content.count(b"\n", 0, where.offset) == where.line - 1
        end = where.offset + where.length
        assert sha256(content[where.offset : end]).digest() == where.sha256
        assert content[end : end + 1] in {b"\r", b"\n", b""}


@each_reader
def test_the_header_names_host_and_session(reader: TranscriptPort) -> None:
    reading = reader.read(io.BytesIO(sample(reader)), "/sessions/stem.jsonl", None)
    list(reading)
    assert reading.header.host == reader.host
    assert reading.header.session_id not in {"", "stem"}


@each_reader
def test_where_the_file_names_no_session_its_own_name_does(reader: TranscriptPort) -> None:
    reading = reader.read(io.BytesIO(b""), "/sessions/stem.jsonl", None)
    assert list(reading) == []
    assert reading.header.session_id == "stem"
    assert (reading.checkpoint.offset, reading.checkpoint.line) == (0, 0)


@each_reader
def test_the_checkpoint_says_how_far_it_was_read_and_leaves_the_file_to_indexing(reader: TranscriptPort) -> None:
    content = sample(reader)
    reading = reader.read(io.BytesIO(content), "stem", None)
    list(reading)
    point = reading.checkpoint
    assert (point.offset, point.line, point.parser) == (len(content), content.count(b"\n"), reader.parser)
    assert (point.head, point.tail, point.size, point.mtime_ns, point.inode) == (b"", b"", 0, 0, 0)
    assert list(reader.read(io.BytesIO(content), "stem", point)) == []


@each_reader
def test_a_file_that_grows_gives_what_the_whole_file_gives(reader: TranscriptPort) -> None:
    content = sample(reader)
    whole = reader.read(io.BytesIO(content), "stem", None)
    expected = list(whole)
    for step in (997, 5003):
        pieces: list[Entry | Flaw] = []
        point = None
        for end in [*range(step, len(content), step), len(content)]:
            part = reader.read(io.BytesIO(content[:end]), "stem", point)
            pieces += [item for item in part if not (isinstance(item, Flaw) and item.reason == "truncated-tail")]
            point = part.checkpoint
            assert point.offset <= end
        assert pieces == expected
        assert (part.header, part.checkpoint) == (whole.header, whole.checkpoint)


@each_reader
def test_a_half_written_last_line_is_named_and_left_for_later(reader: TranscriptPort) -> None:
    content = sample(reader)
    start = content.rindex(b"\n", 0, -1) + 1
    reading = reader.read(io.BytesIO(content[:-3]), "stem", None)
    last = list(reading)[-1]
    assert isinstance(last, Flaw)
    assert (last.reason, last.byte, last.line) == ("truncated-tail", start, content.count(b"\n"))
    assert reading.checkpoint.offset == start


@each_reader
def test_a_line_that_is_lost_costs_nothing_else(reader: TranscriptPort) -> None:
    content = sample(reader)
    expected = read(reader, content)
    at = content.index(b"\n", len(content) // 2) + 1
    found = read(reader, content[:at] + b"\xff\x00 lost\n" + content[at:])
    (flaw,) = [item for item in found if isinstance(item, Flaw)]
    assert (flaw.byte, flaw.lost) == (at, True)
    assert [(item.role, item.parts) for item in found if isinstance(item, Entry)] == [
        (item.role, item.parts) for item in expected if isinstance(item, Entry)
    ]
    # Only those that are called after their line have other names now.
    names = [{item.id for item in some if isinstance(item, Entry)} for some in (found, expected)]
    assert all(re.fullmatch(r"L\d+", id_) for id_ in names[0] ^ names[1])


@each_reader
def test_failures_of_the_system_pass_through(reader: TranscriptPort) -> None:
    with pytest.raises(OSError, match="Input/output error"):
        list(reader.read(Refusing(sample(reader)), "stem", None))


@each_reader
def test_a_file_is_only_read(reader: TranscriptPort, tmp_path: Path) -> None:
    file = tmp_path / "session.jsonl"
    file.write_bytes(sample(reader).rstrip(b"\n"))
    before = file.stat()
    with file.open("rb") as source:
        list(reader.read(source, str(file), None))
    after = file.stat()
    assert (after.st_size, after.st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    assert file.read_bytes() == sample(reader).rstrip(b"\n")
