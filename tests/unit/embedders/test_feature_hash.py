"""`feature-hash-v1`: the same everywhere, every script, words of one meaning."""

from __future__ import annotations

from hashlib import sha256
from math import fsum

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aforesaid.embedders.feature_hash import FeatureHash
from aforesaid.language.concepts import _CONCEPTS, concept_of

HASHED = FeatureHash(256)


def similarity(one: str, other: str) -> float:
    return fsum(a * b for a, b in zip(HASHED.vector(one), HASHED.vector(other), strict=True))


def test_vectors_never_change() -> None:
    # A change of these bytes is a new model: feature-hash-v2.
    texts = (
        "The build fails in src/main.rs",
        "数据库连接失败",
        "Ошибка подключения",
        "getUserById",
        "?!",
        "\ud800",
        "",
    )
    joined = b"".join(HASHED.vector(text).tobytes() for text in texts)
    assert sha256(joined).hexdigest() == "35ade04b75c89b233001576eec1a365dda170fd40a31b7909a5fecc3d255d2ef"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("the migration failed", "migrations that fail"),
        ("delete the old rows", "we removed legacy records"),
        ("the database connection timed out", "la connessione al database è scaduta"),
        ("why is it so slow", "the latency is high"),
        ("getUserById", "user by id"),
        ("数据库连接失败了", "为什么数据库连接不上"),
        ("ошибка подключения к базе", "ошибки подключений"),
        ("데이터베이스 연결", "데이터베이스"),
    ],
)
def test_texts_of_one_meaning_are_near(one: str, other: str) -> None:
    assert similarity(one, other) > 0.3


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("the migration failed", "the colour of the button"),
        ("数据库连接失败", "按钮颜色不对"),
        ("ошибка подключения", "цвет кнопки"),
    ],
)
def test_texts_that_share_nothing_are_far_apart(one: str, other: str) -> None:
    assert similarity(one, other) < 0.2


@settings(max_examples=200)
@given(st.text(alphabet=st.characters(codec=None)))
def test_any_text_has_a_vector_of_length_one(text: str) -> None:
    vector = HASHED.vector(text)
    assert len(vector) == 256
    assert fsum(value * value for value in vector) == pytest.approx(1.0, abs=1e-5)


def test_grammar_alone_says_nothing() -> None:
    assert abs(similarity("what is it that you have", "database migration")) < 0.3
    assert similarity("what is it", "what is it") == pytest.approx(1.0, abs=1e-5)


def test_a_concept_is_found_by_any_form_of_its_words() -> None:
    assert {concept_of(word) for word in ("delete", "deleted", "removing", "eliminato", "cancellare")} == {"remove"}
    assert concept_of("zebra") is None


def test_a_word_of_two_lines_belongs_to_the_first() -> None:
    lines = [line.split() for line in _CONCEPTS.strip().split("\n")]
    assert all(len(line) > 0 for line in lines)
    heads = [line[0] for line in lines]
    assert len(set(heads)) == len(heads)
