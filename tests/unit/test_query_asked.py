"""Ordinary nouns that are grammar or workflow elsewhere are topics where a question asks about them."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.words import any_text

from aforesaid import language, text
from aforesaid.language import others, questions
from aforesaid.query import read_query

NOUNS = Path(__file__).parent.parent / "fixtures" / "requests" / "noun.txt"


def asked_about() -> list[tuple[str, str]]:
    lines = NOUNS.read_text("utf-8").splitlines()
    return [(request, noun) for request, _, noun in (line.partition("\t") for line in lines)]


def test_there_are_enough_questions() -> None:
    assert len(set(asked_about())) >= 90


@pytest.mark.parametrize(("request_text", "noun"), asked_about())
def test_the_noun_that_a_question_asks_about_is_a_topic(request_text: str, noun: str) -> None:
    query = read_query(request_text)
    assert noun in query.keywords
    assert noun in query.terms


@pytest.mark.parametrize(
    ("asks", "orders"),
    [
        ("which version?", "continue with the next version"),
        ("which release?", "release it"),
        ("when is the release?", "when you are done, release it"),
        ("what about the release?", "go on with the release"),
        ("which test?", "run the tests"),
        ("what tests do we have?", "do what tests ask"),
        ("how many retries?", "retry"),
        ("in which order?", "the order in which tests run"),
        ("quale porta?", "porta avanti"),
        ("che porta abbiamo scelto?", "che porta avanti il lavoro"),
        ("ok, su che porta?", "il comando che porta a questo"),
        ("quale test?", "il modo con il quale testa"),
        ("che ordine!?", "che ordine!"),
        ("qual è la porta?", "qual è l'errore?"),
        ("che modifica avevamo deciso?", "quello che modifica tutto"),
        ("which branch was it?", "the branch which releases"),
        ("tell me which version", "add which version you like"),
        ("which version?", "which? version"),
        ("and which version?", "decide which version to use"),
        ("do you remember which order?", "you decide which order"),
        ("how many tests?", "run as many tests as you like"),
        ("how many tests did we have?", "no matter how many tests"),
        ("combien de tests?", "continue avec combien de tests tu veux"),
        ("sai che porta abbiamo scelto?", "sai che modifica tutto"),
        ("e che modifica abbiamo fatto?", "vedi tu che modifica fare"),
        ("sai in che ordine?", "vedi tu in che ordine"),
        ("which change?", "which changed?"),
        ("which testing?", "what breaks?"),
        ("welche Datei?", "teste die Datei"),
        ("combien de tests?", "corrige les tests"),
        ("the car", "car c'est bon"),
        ("what did legal say?", "legal, continue"),
        ("which van?", "van a continuar"),
    ],
)
def test_the_same_word_is_no_topic_in_an_order(asks: str, orders: str) -> None:
    assert read_query(asks).keywords
    assert read_query(orders).empty


def test_what_was_settled_is_asked_for_by_its_value_and_what_is_always_new_is_not() -> None:
    assert read_query("what is the version?").keywords == ("version",)
    assert read_query("what's our deploy target?").keywords == ("deploy", "target")
    for request in (
        "what is the error?",
        "the version",
        "is the version ok?",
        "what is version",
        "where are the files?",
    ):
        assert read_query(request).empty, request


def test_a_request_with_a_topic_is_read_as_before() -> None:
    assert read_query("which die did the gateway use?").keywords == ("gateway",)


def test_accents_that_stand_by_themselves_are_read() -> None:
    assert read_query(unicodedata.normalize("NFD", "qual è la porta?")).keywords == ("porta",)


def test_other_scripts_are_read() -> None:
    assert read_query("какая версия?").keywords == ("версия",)
    assert read_query("测试").empty


def test_lists_are_folded_and_name_topics() -> None:
    for name in (
        "DETERMINERS",
        "COUNTED",
        "EXCLAIMING",
        "PREPOSITIONS",
        "ASKING",
        "IS",
        "ARTICLES",
        "SETTINGS",
        "PREDICATES",
    ):
        words = getattr(questions, name)
        assert [word for word in words if text.fold(word) != word] == [], name
    assert [word for word in questions.SETTINGS if not language.is_weak(word)] == []
    assert [word for word in questions.DETERMINERS if not language.is_no_topic(word)] == []
    assert others.homographs() <= others.weak()


def test_what_is_foreign_is_no_word_of_english_or_italian() -> None:
    assert language.is_foreign("van")
    assert language.is_foreign("car")
    assert not any(map(language.is_foreign, ("the", "next", "fixing", "porta", "faremo", "gateway")))


_WORDS = (
    *questions.OPENING_HOMOGRAPHS,
    *questions.DETERMINERS,
    *questions.JOINING,
    "version",
    "porta",
    "car",
    "e",
    "la",
    "tests",
)


@given(st.lists(st.sampled_from(_WORDS), max_size=12).map(" ".join), any_text)
def test_whatever_is_asked_about_stands_in_the_request(asked: str, anything: str) -> None:
    for request in (asked, asked + anything):
        assert all(keyword in request for keyword in read_query(request).keywords)
