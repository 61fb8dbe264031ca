"""Any text whatever is a request: what holds of every query."""

from __future__ import annotations

from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.words import any_text

from aforesaid import text
from aforesaid.language import quotation
from aforesaid.matching import Literal
from aforesaid.query import LONGEST, MOST, read_query

_MARKS = (
    "`",
    "``",
    "```",
    '"',
    "'",
    "“",
    "”",
    "«",
    "»",
    "「",
    "」",
    "’",
    "‚",
    "»",
    "״",
    "\n",
    " ",
    "-",
    "--",
    ".",
    "/",
    "\\",
    ":",
    "::",
    "#",
    "@",
)
_NAMES = (
    *(
        "app.py",
        "src",
        "C:",
        "~",
        "http",
        "://",
        "www.",
        "localhost",
        "E0308",
        "ECONNREFUSED",
        "Error",
        "exit code 137",
    ),
    *(
        "getUserById",
        "A",
        "a",
        "_",
        "1",
        "8443",
        "0x",
        "port",
        "端口",
        "修复",
        "サーバー",
        "서버",
        "ระบบ",
        "डेटा",
        "é",
        "é",
        "İ",
    ),
    *("job.stop", "response.status.", " -name ", " /run", "test/run", "do/it/now", " it "),
    *("l'", "don't", "solo", "ok", "grazieee", "React", "C++", "\ud800", "\x00", "\u200b", "👍"),
)
hostile_text = st.lists(st.sampled_from(_MARKS + _NAMES), max_size=30).map("".join)
request_text = any_text | hostile_text


@given(request_text)
def test_items_stand_in_the_request_as_they_are(request: str) -> None:
    query = read_query(request)
    for item in (*query.identifiers, *query.phrases, *query.technologies, *query.keywords):
        assert item
        assert item in request
    for item in (*query.identifiers, *query.phrases):
        Literal(item).found_in(request)


@given(request_text)
def test_terms_are_the_searchable_items_once_each(request: str) -> None:
    query = read_query(request)
    searched = [item for item in query.identifiers if item not in query.guessed]
    items = {*searched, *query.phrases, *query.technologies, *query.keywords}
    tokens = [text.tokens(term) for term in query.terms]
    assert set(query.terms) <= items
    assert all(tokens)
    assert len(set(tokens)) == len(tokens)
    assert len(query.terms) == MOST["terms"] or {text.tokens(item) for item in items} - {()} == set(tokens)
    assert query.empty == (not items and not query.guessed)


@given(request_text)
def test_a_guess_changes_nothing_else(request: str) -> None:
    query, without = read_query(request), read_query(request, guessing=False)
    assert set(query.guessed) <= set(query.identifiers)
    assert tuple(item for item in query.identifiers if item not in query.guessed) == without.identifiers
    assert (query.phrases, query.technologies, query.keywords) == (
        without.phrases,
        without.technologies,
        without.keywords,
    )
    assert query.terms == without.terms
    assert query.named == (without.identifiers != () or without.phrases != ())


@given(request_text)
def test_categories_are_identifiers_and_nothing_is_repeated(request: str) -> None:
    query = read_query(request)
    assert {*query.files, *query.symbols, *query.errors} <= set(query.identifiers)
    for kind in set(query.__struct_fields__) - {"cut"}:
        items = getattr(query, kind)
        assert len(set(items)) == len(items)
        assert len(items) <= MOST.get(kind, MOST["identifiers"])
    folded = [text.fold(keyword) for keyword in query.keywords]
    assert len(set(folded)) == len(folded)


@given(request_text)
def test_acknowledgements_before_and_after_change_nothing(request: str) -> None:
    plain, wrapped = read_query(request), read_query(f"ok, grazie\n{request}\nplease go on")
    if "`" not in request and quotation.SIGNS.isdisjoint(request):
        assert wrapped == plain


# Pieces that a careless pattern would read again and again.
@pytest.mark.parametrize(
    "piece",
    [
        *(
            "a",
            "A",
            "1",
            "aA",
            "Ab",
            "a1",
            "a.",
            "1.",
            "a-",
            "A1-",
            "a_",
            "_",
            ".",
            "-",
            "--a",
            "a+",
            "a@",
            "@",
            "a/",
            "\\",
            "a::",
        ),
        *(
            "a->",
            "a#",
            "a:1",
            ":1",
            "`",
            "``",
            "```",
            "``` ",
            '"',
            '" ',
            "'",
            "a'",
            "‘a ",
            "«a",
            "„",
            "「",
            "’",
            "’a ",
            "a’",
            "”a ",
            "‚",
            "»",
            "״",
            "א״א",
            "in English ",
            "job.stop ",
            "job.",
            " -name",
            "(-run ",
            "/run ",
            "do/it/",
            "http://",
            "www.",
            "C:\\",
        ),
        *(
            "127.",
            "port ",
            "port: ",
            "status ",
            "exit  ",
            "exit code ",
            "#1",
            "0x",
            "E0",
            "Error",
            "aError",
            "A" * 40 + "é",
            " ",
            "\n",
        ),
        *(
            "设",
            "设置 ",
            "サ",
            "ระบบ",
            "서버",
            "서버 ",
            "डे",
            "\u0301",
            "a\u0301",
            "\u3099",
            "\ud800",
            "👍",
            "\u200d",
            "İ",
            "ß",
            "()",
            "a()",
        ),
    ],
)
def test_time_is_bounded_whatever_the_request_repeats(piece: str) -> None:
    broken = " ".join([piece * (250 // len(piece))] * (2 * LONGEST // 251))
    started = process_time()
    read_query(piece * (1_000_000 // len(piece)))
    read_query(broken)
    assert process_time() - started < 1
