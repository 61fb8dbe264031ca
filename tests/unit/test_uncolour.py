"""Text that was coloured for a terminal: what colours it belongs to no word, in no place where words are looked for."""

from __future__ import annotations

from time import process_time
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests import pi

from aforesaid.engine import Engine
from aforesaid.matching import Folded, Literal, Probe, Term
from aforesaid.query.items import read_items
from aforesaid.text import digest, feed, feed_and_digest, tokens, uncolour, words

if TYPE_CHECKING:
    from pathlib import Path

COLOURED = {
    "\x1b[31mERR_TOKEN_9\x1b[0m": "ERR_TOKEN_9",
    "\x1b[1m\x1b[35msrc/mod_x.py\x1b[K: oops": "src/mod_x.py",
    "\x9b31mlogin_step\x9b0m": "login_step",
    "\x1b[38;2;255;0;10mpgPort\x1b[m=5433": "pgPort",
    "\x1b[38:5:196mpgPort\x1b[m": "pgPort",
    "\x1b(Btempo_reale\x1b7": "tempo_reale",
    "\x1bMrückgabe_wert\x1bc": "rückgabe_wert",
    "\x1b[?25hпорт_базы\x1b[?25l": "порт_базы",
    "\x1b[31m数据库端口\x1b[0m": "数据库端口",
    "\x1b]8;;https://ci.example/run\x1b\\job_71\x1b]8;;\x1b\\": "job_71",
    "\x1b]0;title_of_it\x07": "title_of_it",
    "\x1b[2Jx_ray": "x_ray",
}


@pytest.mark.parametrize("text", COLOURED)
def test_a_name_in_colour_is_the_name(text: str) -> None:
    name = COLOURED[text]
    start = text.index(name)
    assert Literal(name).found_in(text)
    assert list(Literal(name).places(text)) == [(start, start + len(name))]
    assert list(Term(name).places(Folded(text))) == [(start, start + len(name))]
    assert Term(name).found_in(Folded(text))
    assert Probe((name,), (), (name,)).matched(text) == ((name,), (), (name,))
    assert " ".join(tokens(name)) in " ".join(tokens(text))
    assert set(words(name)) <= set(words(text))
    assert set(words(feed(name)[0])) <= set(words(feed(text)[0]))


@pytest.mark.parametrize("text", COLOURED)
def test_what_colours_is_no_word(text: str) -> None:
    assert len(uncolour(text)) == len(text)
    assert not {"1m", "31m", "35m", "0m", "31merr", "k", "b", "2j", "25h", "m"} & set(words(text))


def test_the_index_takes_what_verification_accepts_and_the_digest_stays_that_of_the_text() -> None:
    for text in COLOURED:
        assert feed_and_digest(text) == (*feed(text), digest(text))


@pytest.mark.parametrize(
    "text", ["", "plain", "a[31mb", "[0m", "31m", "\x1b", "\x1b[", "\x1b[31", "x\x1b\ud800", "ESC[1m"]
)
def test_what_is_no_sequence_stays(text: str) -> None:
    assert uncolour(text) == text


def test_who_searches_on_purpose_finds_any_piece(tmp_path: Path) -> None:
    rows = [pi.header(), *pi.conversation(["a \x1b[1m\x1b[31mERR_TOKEN_9\x1b[0m", "\x9b31m数据库 b"])]
    file = pi.write(tmp_path / "s.jsonl", rows)
    with Engine.open(tmp_path / "store") as engine:
        engine.index(file)
        counts = {"31mERR": 1, "31m": 2, "m数据": 1, "\x1b[31mERR_TOKEN": 1, "ERR_TOKEN": 1, "err_token": 0, "32m": 0}
        for query, count in counts.items():
            found = engine.recall(query, session=file, scope="host-wide")
            assert (query, len(found.hits)) == (query, count)
            assert found.coverage.complete


def test_a_needle_with_an_escape_in_it_is_looked_for_as_it_is() -> None:
    assert Literal("\x1b[31m").found_in("a \x1b[31m b")
    assert Literal("31m").found_in("a 31m")
    assert not Literal("31m").found_in("\x1b[31mred")


@given(st.text(alphabet="\x1b\x9b[]()0123;?mKhBM\\ aZ_é中\ud800", max_size=60))
def test_any_text_keeps_its_length_and_its_digest(text: str) -> None:
    plain = uncolour(text)
    assert len(plain) == len(text)
    assert all(new in (old, " ") for old, new in zip(text, plain, strict=True))
    assert feed_and_digest(text) == (*feed(text), digest(text))


@pytest.mark.parametrize("unit", ["\x1b[", "\x1b[0", "\x9b;", "\x1b ", "\x1b[31m", "\x1b]8;;"])
def test_time_grows_with_the_text_and_not_faster(unit: str) -> None:
    def seconds(count: int) -> float:
        started = process_time()
        uncolour(unit * count)
        return process_time() - started

    small, large = min(seconds(20_000) for _ in range(3)), min(seconds(160_000) for _ in range(3))
    assert large < 8 * small * 3 + 0.05


def test_items_of_a_text_are_without_its_colours() -> None:
    assert list(read_items("\x1b[31mERR_TOKEN_9\x1b[0m in \x1b[35msrc/mod_x.py\x1b[K")) == [
        "ERR_TOKEN_9",
        "src/mod_x.py",
    ]


def test_what_was_coloured_comes_back_as_it_stands(tmp_path: Path) -> None:
    said = "\x1b[1m\x1b[31mERR_TOKEN_9\x1b[0m \x1b[35msrc/mod_x.py\x1b[K"
    rows = pi.conversation([said, "something else"])
    rows = [pi.header(), *rows, pi.compaction("c", str(rows[-1]["id"]), str(rows[-1]["id"]))]
    file = pi.write(tmp_path / "s.jsonl", rows)
    with Engine.open(tmp_path / "store") as engine:
        for request in ("`ERR_TOKEN_9`", "src/mod_x.py", "what about ERR_TOKEN_9?", "why \x1b[31mERR_TOKEN_9\x1b[0m?"):
            (hit,) = engine.retrieve(session=file, query=request).hits
            assert "\x1b[31mERR_TOKEN_9" in hit.windows[0].text
