"""Semantic retrieval through the engine: how it fails."""

from __future__ import annotations

import itertools
import sys
import threading
from time import monotonic
from typing import TYPE_CHECKING, Any

import pytest
from tests.fakes.embedding import Recorder, settings

from aforesaid.engine import Engine
from aforesaid.storage.sqlite.connection import open_writable
from aforesaid.storage.sqlite.store import SqliteStore

if TYPE_CHECKING:
    from pathlib import Path

from tests.unit.likenesses import ask, file, ids, opened, told, vectors_of_the_session

__all__ = ["file"]


ONE = [1.0] + [0.0] * 63


def hang(texts: Any) -> Any:
    threading.Event().wait(60)
    return [ONE] * len(texts)


def explode(error: BaseException) -> Any:
    def fault(texts: Any) -> Any:
        raise error

    return fault


FAULTS: dict[str, tuple[Any, str]] = {
    "raises": (explode(RuntimeError("boom")), "embedding-failed"),
    "raises a timeout": (explode(TimeoutError()), "embedding-failed"),
    "raises an OS error": (explode(OSError(5, "io")), "embedding-failed"),
    "exits": (explode(SystemExit(1)), "embedding-failed"),
    "interrupts": (explode(KeyboardInterrupt()), "embedding-failed"),
    "runs out of memory": (explode(MemoryError()), "embedding-failed"),
    "raises Unicode errors": (explode(UnicodeEncodeError("utf-8", "\ud800", 0, 1, "no")), "embedding-failed"),
    "hangs": (hang, "embedding-timeout"),
    "nothing": (lambda texts: None, "embedding-failed"),
    "a number": (lambda texts: 7, "embedding-failed"),
    "too few": (lambda texts: [ONE] * (len(texts) - 1), "embedding-count"),
    "too many": (lambda texts: [ONE] * (len(texts) + 1), "embedding-count"),
    "endlessly many": (lambda texts: itertools.repeat(ONE), "embedding-count"),
    "endless vectors": (lambda texts: [itertools.count(1.0)] * len(texts), "invalid-dimensions"),
    "short vectors": (lambda texts: [ONE[:-1]] * len(texts), "invalid-dimensions"),
    "long vectors": (lambda texts: [[*ONE, 0.0]] * len(texts), "invalid-dimensions"),
    "empty vectors": (lambda texts: [[]] * len(texts), "invalid-dimensions"),
    "not a number": (lambda texts: [[float("nan")] * 64] * len(texts), "embedding-invalid"),
    "infinite": (lambda texts: [[float("-inf"), *ONE[1:]]] * len(texts), "embedding-invalid"),
    "zero": (lambda texts: [[0.0] * 64] * len(texts), "embedding-invalid"),
    "beyond float32": (lambda texts: [[1e200] * 64] * len(texts), "embedding-invalid"),
    "texts for numbers": (lambda texts: [["x"] * 64] * len(texts), "embedding-failed"),
    "nested lists": (lambda texts: [[[1.0]] * 64] * len(texts), "embedding-failed"),
}


@pytest.mark.parametrize("when", ["sources", "request"])
@pytest.mark.parametrize("fault", FAULTS)
def test_a_port_that_fails_costs_nothing_but_its_vectors(tmp_path: Path, file: Path, fault: str, when: str) -> None:
    answer, reason = FAULTS[fault]
    good = Recorder()
    if when == "request":
        with opened(tmp_path, good) as engine:
            engine.index(file)
    with Engine.open(tmp_path / "plain") as engine:
        lexical = ask(engine, file, "the blue box of the vehicle")
    port = Recorder(fault=answer)
    timeout = 30 if fault == "hangs" else 20_000
    with opened(tmp_path, port, retrieval__embedding__timeoutMs=timeout) as engine:
        found = ask(engine, file, "the blue box of the vehicle")
        assert found.status == "complete"
        assert [hit.message for hit in found.hits] == [hit.message for hit in lexical.hits]
        assert told(found).used is False
        assert told(found).reason == reason
        plan = engine.plan(session=file, context_window=100_000, query="the blue box of the vehicle")
        assert plan.status == "planned"
        assert len(port.calls) == 1


def test_a_port_that_is_not_what_was_configured_is_not_asked(tmp_path: Path, file: Path) -> None:
    port = Recorder()
    named = settings(Recorder(model="another"))
    with Engine.open(tmp_path / "store", settings=named, embedding=port) as engine:
        found = ask(engine, file, "the blue box")
        assert told(found).reason == "port-mismatch"
        assert ids(found) == ["e0000002"]
        assert port.calls == []


class Silent(Recorder):
    """Says anything but who it is."""

    instead: BaseException | float = 0.0

    @property
    def profile(self) -> Any:
        if isinstance(self.instead, BaseException):
            raise self.instead
        threading.Event().wait(self.instead)
        return None

    @profile.setter
    def profile(self, value: object) -> None:
        pass


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"retrieval.embedding.provider": "somebody"}, "port-missing"),
        ({"retrieval.embedding.model": "no-such-model"}, "model-unknown"),
        ({"retrieval.embedding.model": "all-minilm-l6-v2-int8", "retrieval.embedding.dimensions": 100},
         "invalid-dimensions"),
        ({"retrieval.embedding.model": "wordllama-l2-supercat", "retrieval.embedding.dimensions": 512},
         "invalid-dimensions"),
    ],
)  # fmt: skip
def test_a_model_that_is_not_there_is_named(
    tmp_path: Path, file: Path, changed: dict[str, object], reason: str
) -> None:
    with Engine.open(tmp_path / "store", settings={"retrieval.semantic": True} | changed) as engine:
        found = ask(engine, file, "the blue box")
        assert told(found).reason == reason
        assert ids(found) == ["e0000002"]


@pytest.mark.parametrize(
    ("instead", "reason"),
    [
        (RuntimeError("who?"), "port-mismatch"),
        (SystemExit(3), "port-mismatch"),
        (KeyboardInterrupt(), "port-mismatch"),
        (60.0, "embedding-timeout"),
    ],
)
def test_a_model_that_does_not_say_who_it_is_is_not_asked(
    tmp_path: Path, file: Path, instead: BaseException | float, reason: str
) -> None:
    port = Silent()
    port.instead = instead
    named = settings(Recorder()) | {"retrieval.embedding.timeoutMs": 200}
    started = monotonic()
    with Engine.open(tmp_path / "store", settings=named, embedding=port) as engine:
        found = ask(engine, file, "the blue box")
        assert told(found).reason == reason
        assert ids(found) == ["e0000002"]
        assert port.calls == []
    assert monotonic() - started < 30


def test_a_missing_extra_is_named(tmp_path: Path, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "wordllama", None)
    given_settings = {
        "retrieval.semantic": True,
        "retrieval.embedding.model": "wordllama-l2-supercat",
        "retrieval.embedding.timeoutMs": 20_000,
    }
    with Engine.open(tmp_path / "store", settings=given_settings) as engine:
        found = ask(engine, file, "the blue box")
        assert told(found).reason == "model-unavailable"
        assert ids(found) == ["e0000002"]


def test_damaged_vectors_cost_one_answer_its_vectors(tmp_path: Path, file: Path) -> None:
    with opened(tmp_path) as engine:
        ask(engine, file, "funds")
    path = vectors_of_the_session(tmp_path)
    path.write_bytes(b"SQLite format 3\0" + b"\xff" * 5000)
    with opened(tmp_path) as engine:
        found = ask(engine, file, "the blue box")
        assert told(found).reason == "vector-store-failed"
        assert ids(found) == ["e0000002"]
        assert ids(ask(engine, file, "funds")) == ["e0000002"]


def test_vectors_that_are_no_numbers_cost_the_vectors(tmp_path: Path, file: Path) -> None:
    with opened(tmp_path) as engine:
        ask(engine, file, "funds")
        path = vectors_of_the_session(tmp_path)
        database = open_writable(str(path), 50)
        database.connection.execute("UPDATE block SET vectors = x'00'")
        database.connection.execute("UPDATE profile SET version = version + 1")
        database.close()
        found = ask(engine, file, "the blue box")
        assert told(found).reason == "vector-store-failed"
        assert ids(found) == ["e0000002"]


def test_a_search_that_breaks_costs_the_vectors(tmp_path: Path, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from aforesaid.semantic import channel

    def broken(*_: object) -> Any:
        raise ZeroDivisionError

    with opened(tmp_path) as engine:
        ask(engine, file, "funds")
        monkeypatch.setattr(channel.Memory, "matrix", broken)
        found = ask(engine, file, "the blue box")
        assert told(found).reason == "vector-search-failed"
        assert ids(found) == ["e0000002"]


def test_a_run_that_breaks_costs_the_vectors(tmp_path: Path, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from aforesaid.engine import similarity

    def broken(*_: object, **__: object) -> Any:
        raise ZeroDivisionError

    monkeypatch.setattr(similarity, "make_vectors", broken)
    with opened(tmp_path) as engine:
        found = ask(engine, file, "the blue box")
        assert told(found).reason == "embedding-failed"
        assert ids(found) == ["e0000002"]


def test_a_store_that_cannot_be_written_is_searched_by_the_vectors_that_it_has(
    tmp_path: Path, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(tmp_path) as engine:
        ask(engine, file, "funds")
    port = Recorder()
    with opened(tmp_path, port) as engine:
        monkeypatch.setattr(SqliteStore, "writable", property(lambda _: False, lambda *_: None), raising=False)
        found = ask(engine, file, "funds")
        assert ids(found) == ["e0000002"]
        assert port.texts == ["funds"]
        assert told(found).coverage == "none"


def test_a_changed_configuration_counts_at_once(tmp_path: Path, file: Path) -> None:
    port = Recorder()
    with opened(tmp_path, port) as engine:
        assert ids(ask(engine, file, "funds")) == ["e0000002"]
        engine.config = type(engine.config).load(settings={"retrieval.semantic": False})
        found = ask(engine, file, "funds")
        assert ids(found) == []
        assert found.diagnostics.semantic is None
