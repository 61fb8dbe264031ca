from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.words import any_text

from aforesaid.clues import find_clues
from aforesaid.inquiry import Clue
from aforesaid.patterns import read_pattern
from aforesaid.text import feed

if TYPE_CHECKING:
    from collections.abc import Callable

TOKEN = re.compile("[0-9a-z\u0080-\U0010ffff]+")
UPPER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}
TESTS: dict[str, Callable[[str, str], bool]] = {
    "is": lambda word, token: word == token,
    "begins": lambda word, token: word.startswith(token),
    "ends": lambda word, token: word.endswith(token),
    "holds": lambda word, token: token in word,
}


def words_of(text: str) -> set[str]:
    return {word for column in feed(text) for word in TOKEN.findall(column.translate(UPPER))}


def allows(text: str, query: str, mode: str, match: str) -> bool:
    words = words_of(text)
    return any(
        all(any(TESTS[clue.kind](word, clue.token) for word in words) for clue in clues)
        for clues in find_clues(read_pattern(query, mode, match))  # type: ignore[arg-type]
    )


@settings(max_examples=1500)
@given(st.data(), any_text)
def test_no_text_that_holds_a_needle_is_ruled_out(data: st.DataObject, text: str) -> None:
    if not text:
        return
    start = data.draw(st.integers(0, len(text) - 1))
    needle = text[start : data.draw(st.integers(start + 1, len(text)))]
    if needle.strip():
        assert allows(text, needle, "phrase", "all")
        assert allows(text, needle, "literal", "all")
        assert allows(text, f"{needle} elsewhere", "literal", "any")


@pytest.mark.parametrize(
    ("text", "needle"),
    [
        ("cafe\u0301s", "cafe"), ("и\u0306од", "и"), ("か\u3099ぎ", "か"), ("ｶﾞｷﾞ", "ｶ"),
        ("\u1112\u1161\u11ab글", "\u1112"),
        ("\u1112\u1161\u11ab글", "\u1161"), ("가\u11a8", "가"), ("数据库", "据"), ("数据库 x", "库 x"),
        ("gen-itgc后", "gc后"),
        ("后itgc", "后it"), ("a\u00adb", "a"), ("a\u00adb", "\u00adb"), ("foo\u200dbar", "o\u200db"), ("Größe", "öß"),
        ("ﬁx", "ﬁ"), ("İstanbul", "İst"), ("getUserById", "erBy"), ("PG_PORT_5433x", "ORT_543"[:5]), ("שָׁלוֹם", "לו"),
    ],
)  # fmt: skip
def test_edges_that_melt(text: str, needle: str) -> None:
    if needle in text:
        assert allows(text, needle, "phrase", "all")


@pytest.mark.parametrize(
    ("needle", "expected"),
    [
        ("PG_PORT", {("ends", "pg"), ("begins", "port")}),
        ("port", {("holds", "port")}),
        (" port ", {("is", "port")}),
        ("a.port.b", {("ends", "a"), ("is", "port"), ("begins", "b")}),
        ("-port", {("begins", "port")}),
        ("数据库", {("is", "数据"), ("is", "据库")}),
        ("...", set()),
    ],
)
def test_clues_are_as_narrow_as_they_can_be(needle: str, expected: set[tuple[str, str]]) -> None:
    (clues,) = find_clues(read_pattern(needle, "phrase", "all"))
    assert {(clue.kind, clue.token) for clue in clues} == expected


def test_all_terms_are_clues_of_one_alternative_and_any_term_is_one_of_its_own() -> None:
    one, two = Clue(kind="holds", token="one"), Clue(kind="holds", token="two")
    assert find_clues(read_pattern("one two", "literal", "all")) == ((one, two),)
    assert find_clues(read_pattern("one two", "literal", "any")) == ((one,), (two,))
    assert find_clues(read_pattern("one ...", "literal", "any")) == ((one,), ())
    assert find_clues(read_pattern("one", "regex", "all")) == ((),)
    assert find_clues(None) == ((),)
    assert len(find_clues(read_pattern(" ".join(f"w{number}" for number in range(90)), "literal", "all"))[0]) == 12
