from __future__ import annotations

import re
from time import perf_counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.words import any_text

from aforesaid.errors import BadArgument
from aforesaid.patterns import LARGEST_PATTERN, LONGEST_PATTERN, MOST_TERMS, TEXT_SECONDS, Expression, read_pattern


def found(query: str, text: str, mode: str = "literal", match: str = "all") -> tuple[str, ...] | None:
    pattern = read_pattern(query, mode, match)  # type: ignore[arg-type]
    assert pattern is not None
    return pattern.matched(text)


@pytest.mark.parametrize("mode", ["literal", "phrase", "regex"])
@pytest.mark.parametrize("query", ["", "  ", "\n\t\u00a0"])
def test_a_blank_query_has_no_pattern(query: str, mode: str) -> None:
    assert read_pattern(query, mode, "all") is None  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("query", "text", "mode", "match", "expected"),
    [
        ("port the", "the export", "literal", "all", ("port", "the")),
        ("port Port", "the export", "literal", "all", ()),
        ("port Port", "the export", "literal", "any", ("port",)),
        ("a a b", "b a", "literal", "all", ("a", "b")),
        ("数据 库", "数据库", "literal", "all", ("数据", "库")),
        ("perche\u0301", "perché", "literal", "all", ()),
        ("\ud800", "a\ud800b", "literal", "all", ("\ud800",)),
        ("\x00", "a\x00", "literal", "all", ("\x00",)),
        (" the port", "of the port", "phrase", "all", (" the port",)),
        (" the port", "the port", "phrase", "all", ()),
        ("the  port", "the port", "phrase", "any", ()),
        (r"po\w+", "port, pork, port", "regex", "all", ("port", "pork")),
        ("^b", "a\nb", "regex", "all", ()),
        ("(?m)^b", "a\nb", "regex", "all", ("b",)),
        ("a*", "b", "regex", "all", ("",)),
        ("B", "b", "regex", "all", ()),
    ],
)
def test_what_matches(query: str, text: str, mode: str, match: str, expected: tuple[str, ...]) -> None:
    assert found(query, text, mode, match) == expected


@settings(max_examples=300)
@given(any_text, any_text)
def test_literal_terms_and_phrases_are_plain_substrings(query: str, text: str) -> None:
    if not query.strip():
        return
    terms = set(query.split())
    assert bool(found(query, text)) == all(term in text for term in terms)
    assert set(found(query, text, match="any") or ()) == {term for term in terms if term in text}
    assert bool(found(query, text, "phrase")) == (query in text)


@settings(max_examples=300)
@given(st.text(alphabet="ab(|)*+?.[]^$ \n", min_size=1, max_size=8), st.text(alphabet="ab \n", max_size=12))
def test_plain_patterns_mean_what_they_mean_to_python(pattern: str, text: str) -> None:
    try:
        expected = re.search(pattern, text)
        said = found(pattern, text, "regex") if pattern.strip() else None
    except (re.error, BadArgument, FutureWarning):
        return
    if said is not None:
        assert bool(said) == (expected is not None)


def test_places_are_those_of_the_items_in_order() -> None:
    pattern = read_pattern("b a", "literal", "all")
    assert pattern is not None
    assert pattern.places("abab") == ((0, 1, 1), (1, 2, 0), (2, 3, 1), (3, 4, 0))
    expression = Expression("a*")
    assert expression.places("baab") == ((1, 3, 0),)


def test_places_are_counted_to_a_bound() -> None:
    pattern = read_pattern("a", "literal", "all")
    assert pattern is not None
    assert len(pattern.places("a" * 100_000)) == 500
    assert len(Expression("a").places("a" * 100_000)) == 500


def test_of_very_many_alternatives_the_first_are_looked_for_and_the_rest_is_counted() -> None:
    pattern = read_pattern(" ".join(f"t{number}" for number in range(150)), "literal", "any")
    assert pattern is not None
    assert len(pattern.items) == MOST_TERMS
    assert pattern.dropped == 50
    assert not pattern.ordered


CATASTROPHES = (
    "(a+)+$", "(a|aa)+$", r"(\w+\s?)+$x", "(?:x+x+)+y", "((a{1,20}){1,20}){1,20}b", "(?=(a+)+b)", r"(.+)\1{5,}z",
    "(?R)?x", "(?b)(?:quick brown){e<=10}", "(a?){200}a{200}", r"^(([a-z])+.)+[A-Z]([a-z])+$", "(.*)*=", r"(a+){e<=3}b",
)  # fmt: skip
TEXTS = ("a" * 40 + "!", "a" * 20_000, "x" * 50_000, "the quick brown fox " * 2000, "a b" * 5000, " " * 100_000)


@pytest.mark.parametrize("pattern", CATASTROPHES)
def test_no_pattern_takes_longer_than_its_time(pattern: str) -> None:
    started = perf_counter()
    expression = Expression(pattern)
    for text in TEXTS:
        expression.matched(text)
    assert perf_counter() - started < len(TEXTS) * (TEXT_SECONDS + 0.3) + 1


def test_a_text_that_takes_too_long_is_undecided_and_not_without_a_match() -> None:
    text = "x" * 100_000
    assert found("(?:x+x+)+y", text, "regex") is None
    assert Expression("(?:x+x+)+y").places(text) == ()


@pytest.mark.parametrize(
    "pattern",
    [
        "(", "[", "*", "a{2,1}", "(?P<a>x)(?P<a", r"\p{Nothing}", "(?<!", "\\", "(?'", r"\N{nothing}",
        "(" * 2000 + ")" * 2000,        "(?<=a", "(?P>x)", "(?(1)a|b", "[[:x:]", r"\L<names>", "(?#",
    ],
)  # fmt: skip
def test_what_is_no_pattern_is_a_wrong_argument(pattern: str) -> None:
    with pytest.raises(BadArgument):
        Expression(pattern)


@pytest.mark.parametrize(
    "pattern",
    [
        "(a{65535}){65535}", "((a{100}){100}){100}", f"a{{{LARGEST_PATTERN + 1}}}", "(?:a{1000}){0,1000}",
        "a" * (LONGEST_PATTERN + 1), "(?:(?:ab){200}c){200}", "a{99999999999999999999}", "(a{,5000}){,5000}",
    ],
)  # fmt: skip
def test_patterns_that_would_take_long_to_compile_are_refused_at_once(pattern: str) -> None:
    started = perf_counter()
    with pytest.raises(BadArgument):
        Expression(pattern)
    assert perf_counter() - started < 0.5


@pytest.mark.parametrize(
    "pattern",
    ["[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", r"\d{4}-\d{2}-\d{2}T", "a{1000}", r"\{5000\}x"],
)
def test_usual_counts_are_allowed(pattern: str) -> None:
    assert Expression(pattern).matched("nothing") == ()


@settings(max_examples=300)
@given(any_text)
def test_any_text_is_a_pattern_or_a_wrong_argument(text: str) -> None:
    try:
        pattern = read_pattern(text, "regex", "all")
    except BadArgument as error:
        assert "\n" not in error.message  # noqa: PT017 - it may also be a pattern
        return
    if pattern is not None:
        pattern.matched(text)
        pattern.places(text)
