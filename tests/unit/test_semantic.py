"""Semantic retrieval through the engine: what it finds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.fakes.embedding import Recorder
from tests.pi import compaction, conversation, header, message, write

if TYPE_CHECKING:
    from pathlib import Path

from tests.unit.likenesses import RANKINGS, TEXTS, ask, file, ids, opened, told

__all__ = ["file"]


@RANKINGS
def test_a_request_in_other_words_finds_what_was_said(tmp_path: Path, file: Path, ranking: str) -> None:
    with opened(tmp_path, retrieval__ranking=ranking) as engine:
        found = ask(engine, file, "which automobile")
        assert ids(found)[:2] == ["e0000008", "e0000000"]
        hit = found.hits[1]
        assert hit.matched.terms == ()
        assert hit.reason == "semantic;user"
        assert hit.score_parts["semantic"] > 0
        assert told(found).used
        assert told(found).admitted == 1
        assert told(found).sources == len(TEXTS)
        assert told(found).coverage == "complete"


@RANKINGS
def test_vectors_serve_a_request_whose_words_stand_nowhere(tmp_path: Path, file: Path, ranking: str) -> None:
    with opened(tmp_path, retrieval__ranking=ranking) as engine:
        assert ids(ask(engine, file, "funds?")) == ["e0000002"]
        assert ids(ask(engine, file, "zeppelins?")) == []


def test_a_request_without_a_topic_asks_no_model(tmp_path: Path, file: Path) -> None:
    port = Recorder()
    with opened(tmp_path, port) as engine:
        found = ask(engine, file, "ok, go on")
        assert found.status == "no-query"
        assert port.queries == []
        assert told(found).used is False


@RANKINGS
def test_a_literal_name_stays_above_whatever_is_similar(tmp_path: Path, file: Path, ranking: str) -> None:
    with opened(tmp_path, retrieval__ranking=ranking) as engine:
        found = ask(engine, file, "the vehicle in src/app/auth.py")
        assert [hit.tier for hit in found.hits[:2]] == ["identifier", "identifier"]
        assert all(hit.tier == "other" for hit in found.hits[2:])
        assert "semantic" not in found.hits[0].score_parts


@RANKINGS
def test_a_name_that_stands_nowhere_is_not_replaced_by_what_is_similar(
    tmp_path: Path, file: Path, ranking: str
) -> None:
    with opened(tmp_path, retrieval__ranking=ranking) as engine:
        assert ids(ask(engine, file, "the funds in src/app/other.py")) == []
        assert ids(ask(engine, file, "the funds in src/app/auth.py"))[:2] == ["e0000008", "e0000006"]


def test_what_resembles_a_request_by_an_accident_of_one_word_stays_away(tmp_path: Path, file: Path) -> None:
    with opened(tmp_path, retrieval__ranking="contextual") as engine:
        assert ids(ask(engine, file, "the harbour zeppelins of funds and cathedrals")) == []


def test_vectors_alone_will_do(tmp_path: Path, file: Path) -> None:
    with opened(tmp_path, retrieval__exact=False, retrieval__fts=False) as engine:
        found = ask(engine, file, "a doctor")
        assert found.status == "complete"
        assert ids(found) == ["e0000004"]


@RANKINGS
def test_scores_are_the_sum_of_their_parts_and_repeat(tmp_path: Path, file: Path, ranking: str) -> None:
    with opened(tmp_path, retrieval__ranking=ranking) as engine:
        first, second = (ask(engine, file, "the automobile, the funds, the doctor and the blue box") for _ in range(2))
        assert len(first.hits) >= 3
        for hit in first.hits:
            assert sum(hit.score_parts.values()) == pytest.approx(hit.score, abs=1e-6)
        assert [hit.message for hit in first.hits] == [hit.message for hit in second.hits]


def test_the_excerpt_of_a_long_entry_follows_its_most_similar_passage(tmp_path: Path) -> None:
    filler = "nothing of interest stands in this line\n" * 200
    file = write(
        tmp_path / "s.jsonl", [header(), *conversation([filler + "The residence burned.\n" + filler, "Noted."])]
    )
    with opened(tmp_path) as engine:
        found = ask(engine, file, "which dwelling")
        assert ids(found) == ["e0000000"]
        assert "The residence burned." in found.hits[0].excerpt


def test_what_the_model_sees_does_not_come_back(tmp_path: Path, file: Path) -> None:
    with opened(tmp_path) as engine:
        assert ids(ask(engine, file, "funds", context_entries=["e0000002"])) == []


def test_the_work_around_a_request_is_searched_by_vectors_too(tmp_path: Path) -> None:
    rows = [header(), *conversation([*TEXTS, "Look after the funds.", "I look after the funds now.", "continue"])]
    file = write(tmp_path / "s.jsonl", rows)
    port = Recorder()
    with opened(tmp_path, port, retrieval__query="working") as engine:
        found = engine.retrieve(session=file, context_entries=["e0000010", "e0000011", "e0000012"])
        assert "e0000002" in ids(found)
        assert len(port.queries) == 1


def test_a_model_to_which_everything_is_alike_brings_nothing_up(tmp_path: Path, file: Path) -> None:
    port = Recorder(fault=lambda texts: [[1.0] * 64] * len(texts))
    with opened(tmp_path, port) as engine:
        found = ask(engine, file, "zeppelins quarrel")
        assert ids(found) == []
        assert (told(found).used, told(found).reason) == (False, "embedding-invalid")


def test_the_other_half_of_a_call_is_not_counted_as_admitted_by_its_vector(tmp_path: Path) -> None:
    call = message("b", "a", "", "assistant")
    call["message"]["content"] = [
        {"type": "toolCall", "id": "b-0", "name": "bash", "arguments": {"command": "dist/build.sh"}}
    ]
    printed = message("c", "b", "twelve tables", "toolResult")
    printed["message"] |= {"toolCallId": "b-0", "toolName": "bash"}
    rows = [header(), message("a", None, "run it"), call, printed, compaction("cut00000", "c", "nothing")]
    with opened(tmp_path) as engine:
        found = ask(engine, write(tmp_path / "pair.jsonl", rows), "what did `dist/build.sh` print?")
    assert [hit.reason for hit in found.hits][-1] == "pair"
    assert told(found).admitted == 0
