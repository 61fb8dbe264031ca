"""Names as they are told apart from other words: fast, roughly, the same whatever stands around them."""

from __future__ import annotations

import re
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.words import any_text

from aforesaid.novelty import LONGEST, SHORTEST, find_names, names_of


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("see src/app/main.py, and parse_port(x)", {"src/app/main.py", "parse_port"}),
        ("getUserById and HTTPServer2000", {"getUserById", "HTTPServer2000"}),
        ("port 58213, pid 123", {"58213"}),
        ("https://example.org/a?b=1", {"https://example.org/a"}),
        ("C:\\work\\x.txt", {"C:\\work\\x.txt"}),
        ("a well-known word", {"well-known"}),
        ("plain words, Capitals too. The end.", set()),
        ("a.b e.g. /tmp", set()),
        ("modulo città_vecchia/più.py 数据/文件.txt", {"città_vecchia/più.py", "数据/文件.txt"}),
        ("./src/one.py: ../two_x", {"src/one.py", "two_x"}),
        ("x" * 300 + "_y", set()),
        ("", set()),
    ],
)
def test_what_counts_as_a_name(text: str, names: set[str]) -> None:
    assert names_of(text) == names


@given(any_text)
def test_names_are_verbatim_bounded_and_in_order(text: str) -> None:
    found = list(find_names(text))
    assert [place for place, _ in found] == sorted(place for place, _ in found)
    for place, name in found:
        assert SHORTEST <= len(name) <= LONGEST
        assert text.find(name, place) >= place


@given(any_text | st.text(alphabet="aBz0_./:\\-@ é", max_size=60))
def test_both_ways_find_every_run_that_is_more_than_a_word(text: str) -> None:
    runs = [(run.start(), run.group().strip("./:\\-@")) for run in re.finditer(r"[\w@./:\\-]{5,}", text)]
    telling = re.compile(r"\w[/_.:\\-]+\w|[a-z0-9][A-Z]|[0-9]{4}")
    names = [(at, run) for at, run in runs if SHORTEST <= len(run) <= LONGEST and telling.search(run)]
    assert list(find_names(text)) == names
    assert names_of(text) == {name for _, name in names}


def test_time_grows_linearly_with_the_text() -> None:
    def seconds(text: str) -> float:
        started = process_time()
        names_of(text)
        return process_time() - started

    for piece in ("a-", "./", "aB", "x", "_", "word ", "word.", "a"):
        assert seconds(piece * 400_000) < 2, piece
