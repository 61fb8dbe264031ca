"""The first lines of a file are those that cutting all of it would give."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from aforesaid.transcripts.objects import BOM, first_lines

heads = st.lists(st.sampled_from([b"\n", b"\r\n", b"{}", b"x", BOM, b"\xff"]), max_size=9).map(b"".join)


@given(heads, st.integers(min_value=1, max_value=5))
def test_the_first_lines_are_those_of_the_whole(head: bytes, most: int) -> None:
    assert list(first_lines(head, most)) == head.removeprefix(BOM).split(b"\n")[:most]
