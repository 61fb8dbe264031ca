"""Requests with a clear topic ask for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from aforesaid import text
from aforesaid.query import read_query

REQUESTS = Path(__file__).parent.parent / "fixtures" / "requests" / "topic.txt"


def topic_requests() -> list[list[str]]:
    return [line.split("\t") for line in REQUESTS.read_text("utf-8").splitlines()]


@pytest.mark.parametrize(("request_text", "words"), topic_requests())
def test_a_request_with_a_topic_asks_for_it(request_text: str, words: str) -> None:
    terms = {text.tokens(term) for term in read_query(request_text).terms}
    assert {text.tokens(word) for word in words.split(",")} <= terms


@pytest.mark.parametrize("word", ["mostramelo", "finirlo", "facendoglielo", "dimmelo", "rifarebbe", "pochissimo"])
def test_verbs_with_pronouns_and_degrees_are_no_topic(word: str) -> None:
    assert read_query(word).empty


@pytest.mark.parametrize("word", ["terminale", "portale", "segnali", "seed", "user", "handler", "immagine"])
def test_nouns_that_look_like_forms_of_verbs_are_topics(word: str) -> None:
    assert read_query(word).keywords == (word,)
