from __future__ import annotations

from collections import Counter

import pytest

from aforesaid.cli.bench.corpus import Corpus, Project
from aforesaid.cli.bench.floors import ask
from aforesaid.cli.bench.requests import COMMON_WORDS, Request, mix, needles
from aforesaid.cli.bench.words import ENGLISH_TOPICS
from aforesaid.query import read_query
from aforesaid.text import words


@pytest.fixture(scope="module")
def project() -> Project:
    return Corpus().projects[0]


@pytest.fixture(scope="module")
def requests(project: Project) -> tuple[Request, ...]:
    return mix(project)


def test_the_mix_has_fifty_requests_of_every_kind(requests: tuple[Request, ...]) -> None:
    assert len(requests) == len({request.name for request in requests}) == 50
    assert Counter(request.kind for request in requests) == {
        "english": 10,
        "italian": 7,
        "identifier": 7,
        "path": 5,
        "error": 5,
        "phrase": 5,
        "common": 4,
        "no-hit": 3,
        "no-topic": 2,
        "east-asian": 2,
    }


def test_what_a_request_asks_for_stands_in_it(requests: tuple[Request, ...]) -> None:
    for request in requests:
        assert all(literal in request.text for literal in request.literals), request.name
        assert set(words(" ".join(request.words))) <= set(words(request.text)), request.name


def test_the_reference_is_asked_for_no_more_literals_than_the_product_finds(requests: tuple[Request, ...]) -> None:
    for request in requests:
        query = read_query(request.text)
        assert set(request.literals) <= {*query.identifiers, *query.phrases}, request.name
        assert query.empty == (request.kind == "no-topic"), request.name


def test_the_common_words_are_the_most_frequent_topic_words() -> None:
    assert ENGLISH_TOPICS[:8] == COMMON_WORDS


def test_needles_are_listed_once() -> None:
    twice = Request(name="a", kind="phrase", text="x y", literals=("x y", "x y"))
    assert needles([twice, twice]) == ("x y",)


def test_a_question_is_quoted_for_the_full_text_search() -> None:
    question = ask(Request(name="a", kind="path", text='a"b.py C', literals=('a"b.py',), words=("C",)))
    assert question.literals == ('"a""b.py"',)
    assert question.either == '"a""b.py" OR "C"'
    assert ask(Request(name="b", kind="no-topic", text="ok")).either == ""
