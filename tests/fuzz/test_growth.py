"""Lists that grow with their session say what SQLite says to the last bit, whatever was added, tried and taken back."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.fakes.entries import chain, described
from tests.words import any_text

from aforesaid.storage.sqlite import open_store, postings, search
from aforesaid.storage.sqlite.growth import RowWords, parse
from aforesaid.text import feed

if TYPE_CHECKING:
    from aforesaid.storage.sqlite.snapshot import ShardSnapshot

FILE = "/f"
WORDS = ("port", "ports", "portion", "proxy", "staging", "Gateway", "getPort", "парк", "Порт", "数据库", "café", "x1")
texts = st.one_of(st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join), any_text)
roots = st.sampled_from(("port", "prox", "stag", "gate", "пор", "数", "caf", "x"))
questions = st.tuples(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=4, unique=True),
    st.lists(roots, max_size=3, unique=True),
    st.lists(st.tuples(roots, roots).filter(lambda pair: pair[0] != pair[1]), max_size=2, unique=True),
)
steps = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.lists(texts, min_size=1, max_size=3), questions),
        st.tuples(st.just("try"), st.lists(texts, min_size=1, max_size=2), questions),
        st.tuples(st.just("ask"), st.just(()), questions),
        st.tuples(st.just("tend"), st.just(()), questions),
    ),
    min_size=1,
    max_size=6,
)


def asked(snapshot: ShardSnapshot, question: Any) -> object:
    """All that the lists are used for."""
    terms, beginnings, near = question
    spans = ((1, snapshot.session.entries),)
    weights = snapshot.weigh_terms(terms, beginnings, spans, near)
    return (
        weights.rows.tolist(),
        weights.scores.tolist(),
        weights.roles,
        snapshot.find_terms(terms, spans, 5),
        snapshot.count_terms(terms, spans),
    )


def entries(number: int, said: list[str]) -> Any:
    """Entries that follow `number` others."""
    made = chain(*([""] * number), *said)[number:]
    return [replace(entry, automatic=bool(entry.text)) for entry in made]


def compare(snapshot: Any, question: Any) -> None:
    """Asks, and asks SQLite, which is what somebody does who has asked nothing before."""
    shard = snapshot._shard
    found = [asked(snapshot, question) for _ in range(2)]
    grown, shard.postings = shard.postings, postings.Postings()
    try:
        assert found == [asked(snapshot, question)] * 2
    finally:
        shard.postings = grown


@pytest.mark.parametrize("fresh", [0, 32])
@settings(max_examples=12, deadline=None)
@given(first=st.lists(texts, min_size=1, max_size=12), taken=steps)
def test_a_session_that_is_asked_while_it_grows_answers_like_one_that_is_opened_anew(
    tmp_path_factory: pytest.TempPathFactory, fresh: int, first: list[str], taken: Any
) -> None:
    folder = str(tmp_path_factory.mktemp("grown"))
    with pytest.MonkeyPatch.context() as patched, closing(open_store(folder)) as store:
        patched.setattr(postings, "FRESH", fresh)
        number = len(first)
        with store.write(FILE) as writer:
            writer.append(entries(0, first))
            key = writer.commit(described(FILE)).key
        for what, said, question in taken:
            if what == "tend":
                store.tend(FILE)
            elif what != "ask":
                with store.write(FILE) as writer:
                    writer.append(entries(number, said))
                    if what == "add":
                        writer.commit(described(FILE))
                        number += len(said)
                    else:
                        with writer.preview() as ahead:
                            compare(ahead, question)
            with store.read(key) as snapshot:
                compare(snapshot, question)
        with store.read(key) as snapshot:
            assert all(held.grows for held in snapshot._shard.postings._lists.values()), "nothing was carried"


@settings(max_examples=80, deadline=None)
@given(
    text=texts,
    words=st.lists(st.sampled_from(WORDS), min_size=1, max_size=3),
    open_ended=st.booleans(),
    pair=st.tuples(roots, roots).filter(lambda pair: pair[0] != pair[1]),
)
def test_the_words_of_a_row_are_those_of_sqlite(
    text: str, words: list[str], open_ended: bool, pair: tuple[str, str]
) -> None:
    with closing(apsw.Connection(":memory:")) as connection:
        connection.execute("CREATE VIRTUAL TABLE t USING fts5(body, parts, content='', tokenize='ascii')")
        connection.execute("CREATE VIRTUAL TABLE v USING fts5vocab('t', 'instance')")
        connection.execute("INSERT INTO t(rowid, body, parts) VALUES (1, ?, ?)", feed(text))
        row = RowWords(text)
        written = search.phrase(search.disjunction([" ".join(words)])[0].strip('"*').split(" "), open_ended=open_ended)
        (phrase,) = parse(written)
        found = connection.execute("SELECT 1 FROM t WHERE t MATCH ?", (written,)).get
        assert bool(row.count(phrase)) == (found == 1)
        if len(phrase[0]) == 1:
            stands = (
                "SELECT count(*) FROM v WHERE term GLOB ?" if open_ended else "SELECT count(*) FROM v WHERE term = ?"
            )
            bound = phrase[0][0].decode() + ("*" if open_ended else "")
            assert row.count(phrase) == connection.execute(stands, (bound,)).get
        beside = search.beside(*pair)
        near = connection.execute("SELECT 1 FROM t WHERE t MATCH ?", (beside,)).get
        one, other = parse(beside)
        assert row.holds_near(one, other, postings.DISTANCE) == (near == 1)
