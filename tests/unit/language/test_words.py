"""Which words are topics, and that the lists are what lookups expect."""

from __future__ import annotations

import re

import pytest

from aforesaid import language, text
from aforesaid.language import english, files, italian, others, shapes, technologies


@pytest.mark.parametrize(
    "listed", [english.listed, italian.listed, others.listed, english.weak, italian.weak, others.weak]
)
def test_lists_are_written_folded(listed: object) -> None:
    assert callable(listed)
    words = listed()
    assert words
    assert [word for word in words if text.fold(word) != word] == []


def test_no_weak_topic_is_also_none() -> None:
    weak = english.weak() | italian.weak() | others.weak()
    assert [word for word in weak if language.is_no_topic(word)] == []


@pytest.mark.parametrize(
    "words",
    [
        "fix fixes fixed fixing stop stopped stopping make makes making made try tries tried trying",
        "bigger biggest nicer nicest easily simply truly happily latter",
        "don doesn couldn yourselves whose whichever",
        "posso puoi puo possiamo potete possono potrei vorrei volevo devo deve dobbiamo fai fare facciamo fatto",
        "procedi procedere procediamo procedete continua continuare continuiamo vai finisci sistemalo correggi riprova",
        "cercheresti cominciamo finirebbe finirebbero mostramelo facendoglielo pochissimo attimino fallo dimmelo",
        "prima dopo adesso subito cosa come quando dove perche quale solo senza problema volta tutte rimanenti ultimo",
        "weiter danke bitte nachste prufen merci vraiment recommence gracias siguiente intentalo obrigado",
        "спасибо продолжай дальше исправь 继续 谢谢 続けて 계속 ขอบคุณ شكرا תודה धन्यवाद",
    ],
)
def test_grammar_and_workflow_are_no_topic(words: str) -> None:
    assert [word for word in words.split() if not language.is_no_topic(text.fold(word))] == []


@pytest.mark.parametrize(
    "words",
    [
        "schermate premere input server database login pagamento fattura carrello",
        "heap stack seed user handler terminale portale segnali immagine fairy rudder string process",
        "react invoice queue thumbnail uber legal car",
    ],
)
def test_content_is_a_topic(words: str) -> None:
    assert [word for word in words.split() if language.is_no_topic(word)] == []


@pytest.mark.parametrize(
    "word", ["test", "tests", "testing", "committed", "errore", "porta", "fehler", "ошибку", "错误"]
)
def test_words_of_every_session_are_weak(word: str) -> None:
    assert language.is_weak(word)
    assert not language.is_no_topic(word)


@pytest.mark.parametrize("word", ["", "s", "ing", "ed", "er", "lo", "glielo", "issimo", "ly"])
def test_endings_alone_are_not_taken_for_forms(word: str) -> None:
    assert not english.is_form(word)
    assert not italian.is_form(word)


def test_a_technology_that_is_a_word_as_well_has_to_be_known() -> None:
    assert {name for name in technologies.NAMES if language.is_no_topic(name)} == {"prettier", "fastly"}


def test_names_with_signs_are_recognised_by_one_of_them() -> None:
    for name in technologies.SPELLED:
        assert any(sign in name.lower() for sign in technologies.SPELLED_SIGNS), name
        assert re.fullmatch(shapes.SPELLED, name), name


def test_a_brand_stands_in_the_list_only_where_its_spelling_looks_like_code() -> None:
    assert [brand for brand in technologies.BRANDS if not re.search(shapes.HUMPS, brand)] == []


def test_file_names_are_looked_up_folded_and_folders_in_small_letters() -> None:
    assert all(text.fold(extension) == extension for extension in files.EXTENSIONS)
    assert all(folder.casefold() == folder for folder in files.FOLDERS | files.ROLES)
