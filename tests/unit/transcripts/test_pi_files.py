"""Which files are Pi's, and what is made of one without its header."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING

import pytest
from tests import pi

from aforesaid.model import Compaction, Entry, Flaw
from aforesaid.transcripts import detect
from aforesaid.transcripts.pi import PiTranscripts

if TYPE_CHECKING:
    from pathlib import Path

READER = PiTranscripts()


def as_line(row: pi.Row) -> bytes:
    return json.dumps(row).encode() + b"\n"


@pytest.mark.parametrize(
    "head",
    [
        b'{"type":"session","id":"x","version":3}',
        b'{"type":"session","id":"x","timestamp":"2026-11-30T00:00:00.000Z","cwd":"/","provider":"p"}',
        b"\xef\xbb\xbf\r\n" + as_line(pi.header()),
        b'{"type":"session","vers\xff\n' + as_line(pi.message("a", None, "x")),
        # The header itself is damaged, or has what a parser refuses.
        b'{"type":"session","version":3,"id":"x","timestamp":"t","cwd":"/a\xff"}\n',
        b'{"type":"session","id":"x","timestamp":"t","cwd":"\\ud800"}\n',
        # No header, and a first message that is longer than what is looked at.
        as_line(pi.message("a", None, "x" * 100_000))[:65_536],
        b'{"type":"message","timestamp":"t","message":{"role":"user","content":"/mode"}}',
        b'{"type":"model_change","id":"a","parentId":null,"provider":"p","modelId":"m"}',
        b'{"type":"custom","customType":"x","data":{"sessionId":"of something else"},"id":"a","parentId":null}',
        b'{"type":"session_info","id":"a","parentId":null,"name":"n"}',
        b'{"type":"something_new","id":"a","parentId":null}\n' + as_line(pi.message("b", "a", "x")),
        as_line(pi.message("a", None, 'about "payload" and "sessionId"')),
    ],
)
def test_a_file_of_pi_is_recognised(head: bytes) -> None:
    assert READER.detect(head)


@pytest.mark.parametrize(
    "head",
    [
        b'{"type":"session","name":"x"}',
        b'{"type":"session","id":"x"}',
        b'{"type":"session","id":7,"version":3}',
        b'{"type":"session_meta","timestamp":"t","payload":{"id":"x"}}',
        b'{"type":"message","timestamp":"t","payload":{}}',
        # The first rollouts of Codex had messages without an envelope.
        b'{"type":"message","role":"user","timestamp":"t","content":[]}',
        b'{"type":"user","uuid":"u","parentUuid":null,"sessionId":"s","timestamp":"t"}',
        b'{"type":"summary","summary":"s","leafUuid":"l"}\n{"type":"message","sessionId":"s","timestamp":"t"}\n',
        b'{"type":"message","timestamp":"t","message":"text"}',
        b'{"type":"message","text":"hello"}\n{"type":"message","text":"again"}',
        b'{"type":"label","timestamp":"t","label":"without target"}',
        b'{"type":["session"]}\n[1]\n"text"\n5\nnull\n',
        b"{" * 70_000,
        b"# Notes\n\n- a list\n",
        bytes(range(256)) * 4,
    ],
)
def test_nobody_elses_file_is_taken_for_one(head: bytes) -> None:
    found = detect(head)
    assert found is None or found.host != "pi"


@pytest.mark.data
@pytest.mark.parametrize(("host", "found"), [("pi", True), ("claude-code", False), ("codex", False)])
def test_the_samples_are_told_apart(data: Path, host: str, found: bool) -> None:
    files = sorted((data / "transcripts" / host).glob("*.jsonl"))
    assert files
    for file in files:
        with file.open("rb") as source:
            assert READER.detect(source.read(65_536)) == found, file.name


MESSAGES = [
    b'{"type":"message","message":{"role":"user","content":"one"}}',
    b'{"type":"message","message":{"role":"user","content":"two"}}',
    b'{"type":"compaction","summary":"s","firstKeptEntryIndex":2}',
]


@pytest.mark.parametrize(
    ("lines", "kept"),
    [
        # Object 0 is the header: 2 is the second message wherever it stands.
        ([b'{"type":"session","id":"x","cwd":"/"}', *MESSAGES], "L3"),
        ([b"", b'{"type":"session","id":"x","cwd":"/"}', MESSAGES[0], b"", b" ", *MESSAGES[1:]], "L6"),
        (MESSAGES, "L2"),
        ([b'{"type":"session","id"', *MESSAGES], "L3"),
        ([b'{"type":"session","id"', b"", MESSAGES[0], b"lost", b"[]", *MESSAGES[1:]], "L6"),
    ],
)
def test_format_1_counts_objects_also_where_the_header_is_lost_or_missing(lines: list[bytes], kept: str) -> None:
    found = list(READER.read(io.BytesIO(b"\n".join(lines)), "stem.jsonl", None))
    last = found[-1]
    assert isinstance(last, Entry)
    assert last.compaction == Compaction(kept_from=kept)
    parents = [item.parent for item in found if isinstance(item, Entry)]
    assert parents == [None, *[item.id for item in found if isinstance(item, Entry)][:-1]]


def test_the_same_is_so_when_the_file_grows(tmp_path: Path) -> None:
    content = b"\n".join([b'{"type":"session","id"', b"", MESSAGES[0], b"lost", b"[]", *MESSAGES[1:]])
    point = None
    found = []
    for end in range(1, len(content) + 1):
        if content[end - 1 : end] != b"\n" and end < len(content):
            continue
        reading = READER.read(io.BytesIO(content[:end]), "stem.jsonl", point)
        found += list(reading)
        point = reading.checkpoint
    assert found == list(READER.read(io.BytesIO(content), "stem.jsonl", None))


def test_ids_and_paths_with_lone_surrogates_survive_the_checkpoint() -> None:
    content = b'{"type":"session","id":"x","cwd":"\\ud800"}\n{"type":"custom","id":"\\udfff","customType":"c"}\n'
    first = READER.read(io.BytesIO(content), "stem.jsonl", None)
    list(first)
    more = READER.read(io.BytesIO(content + b'{"type":"new"}\n'), "stem.jsonl", first.checkpoint)
    assert [item.parent for item in more if isinstance(item, Entry)] == ["\udfff"]
    assert more.header.cwd == "\ud800"


def test_a_header_of_a_later_format_is_read_like_the_latest_known_one() -> None:
    reading = READER.read(io.BytesIO(as_line(pi.header(version=9)) + as_line(pi.message("a", None, "x"))), "s", None)
    noted, entry = reading
    assert noted == Flaw(line=1, byte=0, reason="unknown-version", lost=False)
    assert isinstance(entry, Entry)
    assert (entry.id, entry.parts, reading.header.version) == ("a", ("x",), 9)
