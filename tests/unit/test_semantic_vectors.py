"""Semantic retrieval through the engine: which vectors there are, and what is remembered of requests."""

from __future__ import annotations

from array import array
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any

from tests.fakes.embedding import Recorder, settings
from tests.pi import conversation, header, write

from aforesaid.engine import Engine
from aforesaid.storage.sqlite.connection import open_writable

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

from tests.unit.likenesses import TEXTS, ask, file, ids, opened, told, vectors_of_the_session

__all__ = ["file"]


# --- which vectors there are ----------------------------------------------------------------------------------------


def test_unchanged_sources_are_never_embedded_again(tmp_path: Path, file: Path) -> None:
    first = Recorder()
    with opened(tmp_path, first) as engine:
        ask(engine, file, "funds")
    assert sorted(first.texts) == sorted([*TEXTS, "funds"])
    second = Recorder()
    with opened(tmp_path, second) as engine:
        assert ids(ask(engine, file, "funds")) == ["e0000002"]
        engine.index(file)
        engine.rebuild(session=file)
        ask(engine, file, "funds")
    assert second.texts == ["funds"]


def test_an_append_is_embedded_before_the_next_answer(tmp_path: Path, file: Path) -> None:
    port = Recorder()
    with opened(tmp_path, port) as engine:
        ask(engine, file, "a garden")
        write(file, [header(), *conversation([*TEXTS, "The yard is wet."])])
        port.calls.clear()
        found = ask(engine, file, "a garden")
        assert ids(found) == ["e0000010"]
        assert port.texts == ["The yard is wet."]


def test_indexing_makes_vectors(tmp_path: Path, file: Path) -> None:
    port = Recorder()
    steps: list[tuple[int, int]] = []
    with opened(tmp_path, port) as engine:
        engine.index(file, progress=lambda done, total: steps.append((done, total)))
        assert sorted(port.texts) == sorted(TEXTS)
        assert steps[-1] == (len(TEXTS), len(TEXTS))
        assert [(one.model, one.vectors) for one in engine.status().vectors] == [("meanings", len(TEXTS))]


def test_a_model_switch_leaves_the_old_profile_whole(tmp_path: Path, file: Path) -> None:
    with opened(tmp_path) as engine:
        ask(engine, file, "funds")
    other = Recorder(dimensions=32)
    with opened(tmp_path, other) as engine:
        ask(engine, file, "funds")
        assert [(one.dimensions, one.vectors) for one in engine.status().vectors] == [(32, 10), (64, 10)]
    back = Recorder()
    with opened(tmp_path, back) as engine:
        ask(engine, file, "funds")
    assert back.texts == ["funds"]


def test_a_deleted_store_is_made_again_with_its_vectors(tmp_path: Path, file: Path) -> None:
    import shutil

    with opened(tmp_path) as engine:
        before = ask(engine, file, "funds")
    shutil.rmtree(tmp_path / "store")
    with opened(tmp_path) as engine:
        after = ask(engine, file, "funds")
        assert [hit.message for hit in after.hits] == [hit.message for hit in before.hits]


def test_forgetting_takes_the_vectors_too(tmp_path: Path, file: Path) -> None:
    port = Recorder()
    with opened(tmp_path, port) as engine:
        assert ids(ask(engine, file, "funds")) == ["e0000002"]
        vector = array("f", port.vector(TEXTS[2])).tobytes()
        folder = tmp_path / "store" / "vectors"
        assert any(vector in path.read_bytes() for path in folder.iterdir())
        report = engine.forget(text="The cash is in the blue box", verify=True)
        assert report.verification is not None
        assert report.verification.leftovers == ()
        assert not any(vector in path.read_bytes() for path in folder.iterdir())
        port.calls.clear()
        assert ids(ask(engine, file, "funds")) == []
        assert port.texts == []  # what was left has its vectors still
        engine.rebuild(session=file)
        assert ids(ask(engine, file, "funds")) == []
        engine.forget(session=file)
        assert [path.name for path in folder.glob("*.db")] == ["calibration.db"]


def test_only_the_latest_entries_get_vectors(tmp_path: Path, file: Path) -> None:
    with opened(tmp_path, retrieval__embedding__maxSources=4) as engine:
        found = ask(engine, file, "the automobile of mine")
        assert told(found).sources == 4
        assert ids(found) == ["e0000008"]


def test_a_vector_of_another_text_is_not_used(tmp_path: Path, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(tmp_path) as engine:
        ask(engine, file, "funds")
        path = vectors_of_the_session(tmp_path)
        database = open_writable(str(path), 50)
        database.connection.execute("UPDATE block SET hashes = zeroblob(length(hashes))")
        database.connection.execute("UPDATE profile SET version = version + 1")
        database.close()
        for ranking in ("documented", "contextual"):
            engine.config = type(engine.config).load(settings=settings(Recorder(), retrieval__ranking=ranking))
            found = ask(engine, file, "funds and the blue box")
            assert ids(found) == ["e0000002"]
            assert found.hits[0].matched.terms
            assert "semantic" not in found.hits[0].score_parts
            assert told(found).stale >= 1
            assert ids(ask(engine, file, "funds")) == []


def test_the_rest_is_made_beside_the_requests(tmp_path: Path) -> None:
    texts = [f"A line about subject{number}." for number in range(300)]
    file = write(tmp_path / "s.jsonl", [header(), *conversation([TEXTS[2], *texts])])
    port = Recorder()
    with opened(tmp_path, port) as engine:
        engine.vector_seconds = 0.0
        found = ask(engine, file, "funds")
        assert told(found).coverage == "partial"
        assert found.status == "complete"
        end = monotonic() + 60
        while told(ask(engine, file, "funds")).coverage != "complete" and monotonic() < end:
            sleep(0.02)
        assert ids(ask(engine, file, "funds")) == ["e0000000"]
        assert len(port.texts) == 302
        assert engine.status().vectors[0].vectors == 301


def test_an_engine_that_closes_does_not_wait_for_all_vectors(tmp_path: Path) -> None:
    texts = [f"A line about subject{number}." for number in range(2000)]
    file = write(tmp_path / "s.jsonl", [header(), *conversation(texts)])

    class Slow(Recorder):
        def embed(self, texts: Any, purpose: Any) -> Any:
            sleep(0.05)
            return super().embed(texts, purpose)

    port = Slow()
    with opened(tmp_path, port) as engine:
        engine.vector_seconds = 0.0
        ask(engine, file, "funds")
        started = monotonic()
    assert monotonic() - started < 10
    assert len(port.texts) < 2000


def test_a_session_without_a_file_has_vectors_in_memory() -> None:
    import json

    port = Recorder()
    with Engine.in_memory(type(Engine.in_memory().config).load(settings=settings(port)), embedding=port) as engine:
        rows = [header(), *conversation(TEXTS)]
        engine.hold("held", b"".join(json.dumps(row).encode() + b"\n" for row in rows))
        assert ids(engine.retrieve(session="held", query="funds", context_entries=())) == ["e0000002"]
        assert sorted(port.texts) == sorted([*TEXTS, "funds"])
        engine.drop("held")


# --- the memory of requests -----------------------------------------------------------------------------------------


def test_a_repeated_request_asks_no_model(tmp_path: Path, file: Path) -> None:
    port = Recorder()
    with opened(tmp_path, port, retrieval__embedding__queryCacheSize=2) as engine:
        caches = [
            told(ask(engine, file, query)).cache for query in ("funds", "funds", "automobile", "dwelling", "funds")
        ]
        assert caches == ["miss", "hit", "miss", "miss", "miss"]
        assert port.queries == ["funds", "automobile", "dwelling", "funds"]
        similarity = engine._vectors()
        assert similarity is not None
        assert similarity._memory.queries == 2


def test_no_request_and_no_text_is_written_with_the_vectors(tmp_path: Path, file: Path) -> None:
    with opened(tmp_path) as engine:
        ask(engine, file, "funds zeppelin")
    for path in (tmp_path / "store" / "vectors").iterdir():
        data = path.read_bytes()
        assert b"zeppelin" not in data
        assert b"blue box" not in data
