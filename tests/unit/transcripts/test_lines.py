"""A byte stream cut into lines, and how much of it is held."""

from __future__ import annotations

import io
import tracemalloc
from itertools import chain, repeat

import pytest

from aforesaid.transcripts import lines


class Vast(io.BytesIO):
    """A file with a line of `size` bytes between two short ones, which is never in memory."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self._blocks = chain([b"first\n"], repeat(b"x" * 65_536, size // 65_536), [b"\nlast"])

    def read(self, size: int | None = -1) -> bytes:
        return next(self._blocks, b"")


def test_of_a_line_beyond_the_limit_only_the_beginning_is_held() -> None:
    size, longest = 400 * 1024 * 1024, 1024 * 1024
    tracemalloc.start()
    found = list(lines.split(Vast(size), longest=longest))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert [(line.number, line.too_long, line.ended) for line in found] == [
        (1, False, True),
        (2, True, True),
        (3, False, False),
    ]
    assert found[1].data == b"x" * lines.HEAD
    assert (found[1].offset, found[2].offset) == (6, 6 + size + 1)
    assert found[2].data == b"last"
    assert peak < 3 * longest + 2 * lines.BLOCK


@pytest.mark.parametrize("block", [1, 2, 3, 4, 7, 1024])
@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", []),
        (b"\n", [b""]),
        (b"a", [b"a"]),
        (b"a\n", [b"a"]),
        (b"a\nb", [b"a", b"b"]),
        (b"a\r\nb\r", [b"a", b"b"]),
        (b"\r\n\n\r\n", [b"", b"", b""]),
        (b"a\rb\n", [b"a\rb"]),
        (b"a\r\r\n", [b"a\r"]),
        ("è\u2028ß\n數據".encode(), ["è\u2028ß".encode(), "數據".encode()]),
    ],
)
def test_lines_end_with_lf_or_cr_lf_and_with_nothing_else(content: bytes, expected: list[bytes], block: int) -> None:
    found = list(lines.split(io.BytesIO(content), block=block))
    assert [line.data for line in found] == expected
    assert [line.number for line in found] == list(range(1, len(expected) + 1))
    for line in found:
        assert content[line.offset : line.offset + len(line.data)] == line.data
        assert line.ended == (content[line.after - 1 : line.after] == b"\n")
    assert (found[-1].after if found else 0) == len(content)


def test_a_line_as_long_as_the_limit_is_held() -> None:
    found = list(lines.split(io.BytesIO(b"12345\n123456\n"), longest=5))
    assert [(line.data, line.too_long) for line in found] == [(b"12345", False), (b"123456", True)]


def test_reading_can_begin_anywhere() -> None:
    (line,) = lines.split(io.BytesIO(b"ab\ncd\n"), offset=3, number=2)
    assert (line.number, line.offset, line.data, line.after) == (2, 3, b"cd", 6)
