from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from aforesaid.cli.bench.floors import POOL, Question, Reference, Text, parse

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SPANS = ((0, 2), (5, 9))


@pytest.fixture
def reference(tmp_path: Path) -> Iterator[Reference]:
    opened = Reference(str(tmp_path / "reference.db"), SPANS)
    texts = [Text(row, f"id{row}", "user", None, f"the port of number{row} " + "port " * row) for row in range(12)]
    opened.fill(texts, commits=3)
    yield opened
    opened.close()


def test_the_or_query_finds_rows_of_the_branch_only_best_first(reference: Reference) -> None:
    found = reference.best(Question((), '"port"'))
    assert sorted(found) == [0, 1, 2, 5, 6, 7, 8, 9]
    assert found[0] == 9


def test_the_join_gives_what_the_filter_by_runs_gives(reference: Reference) -> None:
    for either in ('"port"', '"number3" OR "number6"', '"nothing"'):
        assert reference.best(Question((), either)) == reference.best_joined(Question((), either))


def test_an_answer_is_the_texts_of_what_the_queries_found_each_once(reference: Reference) -> None:
    answer = reference.answer(Question(('"number7"',), '"number7" OR "number2" OR "number3"'))
    assert [row[0] for row in answer if isinstance(row, tuple)] == ["id7", "id2"]
    assert reference.answer(Question((), "")) == []


def test_ids_are_all_rows_of_the_branch_that_hold_a_word(reference: Reference) -> None:
    assert sorted(reference.ids(Question((), '"port"'))) == [(0,), (1,), (2,), (5,), (6,), (7,), (8,), (9,)]


def test_a_scan_finds_a_text_inside_words_too(reference: Reference) -> None:
    assert reference.scan("umber7") == [(7,)]
    assert reference.scan("umber3") == []


def test_the_pool_is_the_products(reference: Reference) -> None:
    from aforesaid.retrieval.candidates import LITERAL_POOL, TERM_POOL

    assert TERM_POOL == POOL
    assert LITERAL_POOL == 200


def test_rows_are_added_in_as_many_transactions_as_were_asked_for(tmp_path: Path) -> None:
    opened = Reference(str(tmp_path / "counted.db"), SPANS)
    commits: list[int] = []

    def note() -> bool:
        commits.append(1)
        return False

    opened.connection.set_commit_hook(note)
    opened.fill([Text(row, str(row), "user", None, "x") for row in range(10)], commits=2)
    opened.close()
    assert len(commits) == 2


def test_parsing_reads_every_line(tmp_path: Path) -> None:
    file = tmp_path / "lines.jsonl"
    file.write_bytes(b'{"a":1}\n{"b":[2]}\n')
    assert parse(str(file)) == 2
