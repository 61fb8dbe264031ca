"""Cutting texts into passages."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aforesaid.passages import FIRST, LAST, LENGTH, cut, hash_of

PIECES = st.sampled_from(
    ["word ", "a line\n", "x" * 90, "日本語", "e\u0301", "👩‍👩‍👧", "ก็", "\ud800", "\u200f", " " * 40, "\n" * 700, "é"]
)


@settings(max_examples=200)
@given(st.lists(PIECES, max_size=120).map("".join))
def test_passages_are_in_order_bounded_and_lose_nothing_but_blanks(text: str) -> None:
    spans = cut(text)
    assert all(0 <= start < end <= len(text) and end - start <= LENGTH for start, end in spans)
    assert all(before[1] <= after[0] for before, after in pairwise(spans))
    assert all(text[start:end].strip() for start, end in spans)
    if len(spans) < FIRST + LAST:
        covered = "".join(text[start:end] for start, end in spans)
        assert covered.split() == text.split() or "".join(covered.split()) == "".join(text.split())


def test_a_short_text_is_one_passage() -> None:
    assert cut("one line") == ((0, 8),)
    assert cut("x" * LENGTH) == ((0, LENGTH),)


@pytest.mark.parametrize("text", ["", " \n\t", "\n" * 5000])
def test_a_blank_text_has_none(text: str) -> None:
    assert cut(text) == ()


def test_passages_end_with_lines_and_else_with_words() -> None:
    lines = "a line of forty characters, about so long\n" * 60
    assert all(lines[end - 1] == "\n" for _, end in cut(lines))
    words = "word " * 500
    assert all(words[end - 1] == " " for _, end in cut(words)[:-1])


def test_no_mark_is_torn_from_its_letter() -> None:
    text = "x" * (LENGTH - 1) + "e\u0301" + "y" * 50
    assert cut(text)[0] == (0, LENGTH - 1 + 1) or cut(text)[0] == (0, LENGTH - 1)
    (_, end), *_ = cut(text)
    assert not text[end : end + 1].startswith("\u0301")


def test_of_a_long_text_the_middle_has_no_vectors() -> None:
    text = "".join(f"{number:9}\n" for number in range(10_000))
    spans = cut(text)
    assert len(spans) == FIRST + LAST
    assert spans[0][0] == 0
    assert spans[-1][1] == len(text)


def test_a_hash_tells_texts_apart_exactly() -> None:
    assert hash_of("a") != hash_of("A")
    assert len(hash_of("\ud800")) == 16
