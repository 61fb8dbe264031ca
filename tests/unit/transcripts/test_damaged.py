"""Ids that are saved from lines that are no JSON, and those that must not be."""

from __future__ import annotations

import time

import pytest

from aforesaid.transcripts.damaged import top_level

IDS = frozenset({"id", "parentId"})


@pytest.mark.parametrize(
    ("line", "saved"),
    [
        (b'{"type":"message","id":"b","parentId":"a","message":{"role"', {"id": "b", "parentId": "a"}),
        (b'{"id":"b","parentId":null,"x":', {"id": "b", "parentId": None}),
        (b'{ "id" : "b" ,\t"parentId" : "a"', {"id": "b", "parentId": "a"}),
        # The text is damaged, the structure is not: what stands behind it still counts.
        (b'{"data":{"id":"no","t":"\xff\xfe"},"id":"b","parentId":"a"}', {"id": "b", "parentId": "a"}),
        (b'\x00\x00{"id":"b","parentId":"a"}', {"id": "b", "parentId": "a"}),
        # Only the entry's own names, and the first of them.
        (b'{"message":{"id":"no","parentId":"no"}', {}),
        (b'{"content":[{"id":"no"}],"id":"b","id":"c"', {"id": "b"}),
        (b'{"text":"\\"id\\":\\"no\\"","id":"b"', {"id": "b"}),
        (b'{"x":"id","y":"no"', {}),
        # Behind the damage nothing can be trusted: inside and outside of texts may have changed places.
        (b'{"id":"b","text":"say "id":"no"", "parentId":"no"', {"id": "b"}),
        (b'{"id":"b" oops "parentId":"a"', {"id": "b"}),
        (b'{"id":"b"}{"parentId":"a"}', {"id": "b"}),
        # What is no plain text is no id.
        (b'{"id":5,"parentId":true,"x":1', {}),
        (b'{"id":"unfinish', {}),
        (b'{"id":"","parentId":"a"', {"parentId": "a"}),
        (b'{"id":"a\\nb","parentId":"\xff"', {}),
        (b'{"id":"' + b"a" * 201 + b'","parentId":"' + b"a" * 200 + b'"', {"parentId": "a" * 200}),
        (b'{"id":"perch\xc3\xa9"', {"id": "perché"}),
        (b"", {}),
        (b"no object", {}),
        (b"}{", {}),
    ],
)
def test_ids_are_saved_as_far_as_the_line_can_be_followed(line: bytes, saved: dict[str, str | None]) -> None:
    assert top_level(line, IDS) == saved


@pytest.mark.parametrize(
    "line", [b'{"x":"' + b'\\"' * 100_000, b"{" * 200_000, b'{"x":' + b"1" * 200_000 + b"!", b'{"' * 100_000]
)
def test_the_work_grows_with_the_line_only(line: bytes) -> None:
    started = time.perf_counter()
    top_level(line, IDS)
    # Quadratic work would take minutes.
    assert time.perf_counter() - started < 5
