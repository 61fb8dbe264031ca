"""What a word is, in every script, and that the index's view and verification's view agree."""

from __future__ import annotations

import re
from hashlib import blake2b

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.words import any_text

from aforesaid import text


@pytest.mark.parametrize(
    ("given_text", "folded"),
    [
        ("Perché", "perche"),
        ("Größe", "grosse"),
        ("ＦＵＬＬ ｗｉｄｔｈ ﬁle", "full width file"),
        ("cafe\u0301", "cafe"),
        ("Ёлка йод", "елка йод"),
        ("\u0438\u0306од", "йод"),
        ("ΆΛΦΑ", "αλφα"),
        ("か\u3099 ｶﾞ", "が ガ"),
        ("\u1112\u1161\u11ab", "한"),
        ("soft\u00adhyphen zero\u200bwidth", "softhyphen zerowidth"),
        ("İstanbul", "istanbul"),
        ("❤️", "❤"),
        ("हिन्दी שָׁלוֹם", "हिन्दी שָׁלוֹם"),
    ],
)
def test_folding_lowers_case_drops_accents_and_takes_compatibility_forms_apart(given_text: str, folded: str) -> None:
    assert text.fold(given_text) == folded


@pytest.mark.parametrize(
    ("given_text", "found"),
    [
        ("parse_port(--dry-run)", ("parse", "port", "dry", "run")),
        ("src/app.py:12", ("src", "app", "py", "12")),
        ("DEC-0054 «Città»", ("dec", "0054", "citta")),
        ("gen-itgc后", ("gen", "itgc", "后")),
        ("后端itgc", ("后端", "端", "itgc")),
        ("数据库", ("数据", "据库")),
        ("서버에서 재시작", ("서버", "버에", "에서", "서", "재시", "시작")),
        ("エラーコード", ("エラ", "ラー", "ーコ", "コー", "ード")),
        ("ทดสอบ", ("ทด", "ดส", "สอ", "อบ")),
        ("naïve — “quoted”…", ("naive", "quoted")),
        ("🎉🎉", ()),
        ("\ud800\x00", ()),
        ("", ()),
    ],
)
def test_tokens_are_folded_words_and_pairs_of_unspaced_scripts(given_text: str, found: tuple[str, ...]) -> None:
    assert text.tokens(given_text) == found


def test_the_body_of_an_ascii_text_is_the_text_itself() -> None:
    assert text.feed("GET /health HTTP/1.1")[0] == "GET /health HTTP/1.1"


def test_camel_case_names_are_indexed_whole_and_in_parts() -> None:
    body, parts = text.feed("getUserById HTTPServer utf8Decoder größeBerechnen Plain SHOUT")
    assert "getuserbyid" in body.lower()  # the tokenizer of the index folds ASCII
    assert parts.split() == [
        "get",
        "user",
        "by",
        "id",
        "http",
        "server",
        "utf8",
        "decoder",
        "grosse",
        "berechnen",
    ]


def test_encoded_data_has_no_camel_parts() -> None:
    assert text.feed("aGVsbG8gd29ybGQgaGVsbG8gd29ybGQgaGVsbG8gd29ybGQgaGVsbG8gd29ybGQgaGVs")[1] == ""


@given(any_text)
def test_any_text_can_be_fed_folded_and_digested(given_text: str) -> None:
    body, parts = text.feed(given_text)
    (body + parts).encode()
    text.digest(given_text)
    folded, offsets = text.fold_with_offsets(given_text)
    assert folded == text.fold(given_text)
    origins = list(range(len(given_text) + 1)) if offsets is None else offsets
    assert len(origins) == len(folded) + 1
    assert origins == sorted(origins)
    assert origins[-1] == len(given_text)


@given(any_text, any_text)
def test_the_tokens_of_a_text_stand_in_the_index_in_this_order(before: str, wanted: str) -> None:
    """Between blanks, where nothing melts, the tokens of a piece are a stretch of the tokens of the whole."""
    body = text.feed(f"{before} {wanted} x")[0].lower()
    indexed = re.findall(text._FOLDED_WORD, body)
    tokens = list(text.tokens(f"{wanted} x"))
    assert any(indexed[at : at + len(tokens)] == tokens for at in range(len(indexed)))


@given(st.text(alphabet="abcXYZ é\u0301\n\t ", max_size=20))
def test_texts_that_differ_in_case_accents_and_blanks_only_have_one_digest(given_text: str) -> None:
    assert text.digest(given_text) == text.digest(f"  {text.fold(given_text)}\n".replace(" ", "\n\t"))


BLANKS = "".join(chr(point) for point in range(0x3001) if chr(point).isspace())


@given(st.text(alphabet=f"abcXYZ éñßİǅΣΩЁя日が\u0301ｶﾞ\ud800😀{BLANKS}", max_size=20))
def test_a_digest_is_that_of_the_normalised_text(given_text: str) -> None:
    data = text.normalise(given_text).encode("utf-8", "surrogatepass")
    assert text.digest(given_text) == blake2b(data, digest_size=16).digest()


@given(any_text)
def test_both_forms_at_once_are_what_they_are_one_by_one(given_text: str) -> None:
    assert text.feed_and_digest(given_text) == (*text.feed(given_text), text.digest(given_text))


def test_only_ascii_is_lowered_where_the_table_has_seen_to_the_rest() -> None:
    # Cherokee folds to capitals, which a second lowering would undo.
    assert text.fold("\uab70 A\u00e9") == "\u13a0 ae"


def test_texts_that_differ_in_a_letter_have_two_digests() -> None:
    assert text.digest("port 8443") != text.digest("port 8444")
