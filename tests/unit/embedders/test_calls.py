"""Ports that fail in every way: a reason, in time, and nothing else."""

from __future__ import annotations

import itertools
import sys
import threading
from array import array
from time import perf_counter, sleep
from typing import TYPE_CHECKING, Any

import pytest

from aforesaid.embedders import calls
from aforesaid.embedders.calls import Calls
from aforesaid.embedders.feature_hash import FeatureHash
from aforesaid.embedding import REASONS, Profile, Purpose, Vectors
from aforesaid.testing import cleared

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from aforesaid.model import Cleared

PROFILE = Profile(provider="p", model="m", dimensions=4)
ONE = [1.0, 0.0, 0.0, 0.0]


class Port:
    """A port that answers what it is told to."""

    def __init__(self, answer: Callable[[Sequence[str]], Any], profile: Any = PROFILE) -> None:
        self.profile = profile
        self.answer = answer
        self.calls: list[tuple[tuple[str, ...], Purpose]] = []

    def embed(self, texts: Cleared[str], purpose: Purpose) -> Any:
        self.calls.append((texts.values, purpose))
        return self.answer(texts.values)


def fail(error: BaseException) -> Callable[[Sequence[str]], Any]:
    def answer(texts: Sequence[str]) -> Any:
        raise error

    return answer


def endless(texts: Sequence[str]) -> Any:
    while True:
        yield ONE


def lazy(texts: Sequence[str]) -> Any:
    yield ONE
    raise RuntimeError("half way")


def broken_make(error: BaseException) -> Callable[[], Any]:
    def make() -> Any:
        raise error

    return make


class Unwilling:
    """A port whose very profile cannot be read."""

    @property
    def profile(self) -> Profile:
        raise RuntimeError("no")


class Fatal:
    """A profile that cannot be compared."""

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        raise SystemExit(3)


def ask(make: Callable[[], Any], *, seconds: float = 5.0, count: int = 2) -> Vectors:
    return Calls(make, PROFILE, seconds=seconds).embed(cleared(*["text"] * count, provider="p"), "source")


def given(answer: Callable[[Sequence[str]], Any], profile: Any = PROFILE) -> Callable[[], Any]:
    return lambda: Port(answer, profile)


FAULTS: dict[str, tuple[Callable[[], Any], str]] = {
    "raises": (given(fail(RuntimeError("text"))), "embedding-failed"),
    "raises a system exit": (given(fail(SystemExit(3))), "embedding-failed"),
    "raises an interrupt": (given(fail(KeyboardInterrupt())), "embedding-failed"),
    "runs out of memory": (given(fail(MemoryError())), "embedding-failed"),
    "recurses": (given(fail(RecursionError())), "embedding-failed"),
    "answers nothing": (given(lambda texts: None), "embedding-failed"),
    "answers a text": (given(lambda texts: "ve"), "embedding-failed"),
    "answers texts": (given(lambda texts: [["a", "b", "c", "d"]] * 2), "embedding-failed"),
    "fails half way": (given(lazy), "embedding-failed"),
    "too few": (given(lambda texts: [ONE]), "embedding-count"),
    "too many": (given(lambda texts: [ONE] * 3), "embedding-count"),
    "none at all": (given(lambda texts: []), "embedding-count"),
    "endlessly many": (given(lambda texts: itertools.repeat(ONE)), "embedding-count"),
    "endlessly long": (given(lambda texts: [ONE, itertools.count()]), "invalid-dimensions"),
    "a profile that ends the program": (given(lambda texts: [ONE] * 2, Fatal()), "port-mismatch"),
    "too short": (given(lambda texts: [ONE, ONE[:3]]), "invalid-dimensions"),
    "too long": (given(lambda texts: [ONE, [*ONE, 1.0]]), "invalid-dimensions"),
    "empty": (given(lambda texts: [ONE, []]), "invalid-dimensions"),
    "not a number": (given(lambda texts: [ONE, [float("nan"), 0.0, 0.0, 1.0]]), "embedding-invalid"),
    "infinite": (given(lambda texts: [ONE, [float("inf"), 0.0, 0.0, 1.0]]), "embedding-invalid"),
    "beyond float32": (given(lambda texts: [ONE, [1e300, 0.0, 0.0, 0.0]]), "embedding-invalid"),
    "all zero": (given(lambda texts: [ONE, [0.0] * 4]), "embedding-invalid"),
    "another model": (
        given(lambda texts: [ONE] * 2, Profile(provider="p", model="other", dimensions=4)),
        "port-mismatch",
    ),
    "another provider": (
        given(lambda texts: [ONE] * 2, Profile(provider="q", model="m", dimensions=4)),
        "port-mismatch",
    ),
    "other dimensions": (
        given(lambda texts: [ONE] * 2, Profile(provider="p", model="m", dimensions=8)),
        "port-mismatch",
    ),
    "another destination": (
        given(lambda texts: [ONE] * 2, Profile(provider="p", model="m", dimensions=4, destination="remote")),
        "port-mismatch",
    ),
    "no profile": (Unwilling, "port-mismatch"),
    "no port": (lambda: None, "port-mismatch"),
    "its packages are missing": (broken_make(ImportError("numpy")), "model-unavailable"),
    "it cannot be made": (broken_make(RuntimeError("weights")), "embedding-failed"),
    "its model is unknown": (broken_make(KeyError("m")), "model-unknown"),
    "it refuses the dimensions": (broken_make(ValueError("d")), "invalid-dimensions"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_every_fault_is_a_reason(fault: str) -> None:
    make, reason = FAULTS[fault]
    assert ask(make) == Vectors(reason=reason)
    assert reason in REASONS


@pytest.mark.parametrize("where", ["while it answers", "while it is made", "while its answer is read"])
def test_a_port_that_hangs_is_left_behind(where: str) -> None:
    free = threading.Event()

    def make() -> Any:
        if where == "while it is made":
            free.wait(60)
        return Port(answer)

    def answer(texts: Sequence[str]) -> Any:
        if where == "while it answers":
            free.wait(60)
        return read() if where == "while its answer is read" else [ONE] * len(texts)

    def read() -> Any:
        yield ONE
        free.wait(60)
        yield ONE

    made: list[int] = []
    clock = [0.0]

    def counted() -> Any:
        made.append(1)
        return make()

    caller = Calls(counted, PROFILE, seconds=0.05, clock=lambda: clock[0])
    texts = cleared("a", "b", provider="p")
    started = perf_counter()
    assert caller.embed(texts, "query").reason == "embedding-timeout"
    assert perf_counter() - started < 20
    # It is not asked again while it still hangs, however much time has passed.
    clock[0] = 1000.0
    before = threading.active_count()
    assert caller.embed(texts, "query").reason == "embedding-timeout"
    assert threading.active_count() == before
    assert len(made) == 1
    free.set()
    for _ in range(1000):
        if caller.embed(texts, "query").reason is None:
            break
        clock[0] += 1000.0
        sleep(0.01)
    else:
        pytest.fail("a port that came back was not asked again")


def test_a_port_that_failed_is_left_alone_for_a_while() -> None:
    clock = [0.0]
    port = Port(fail(RuntimeError()))
    caller = Calls(lambda: port, PROFILE, seconds=5, clock=lambda: clock[0])
    texts = cleared("a", provider="p")
    for moment, asked in ((0.0, 1), (1.0, 1), (calls.PAUSE - 0.1, 1), (calls.PAUSE + 0.1, 2)):
        clock[0] = moment
        assert caller.embed(texts, "query").reason == "embedding-failed"
        assert len(port.calls) == asked


def test_a_trusted_port_needs_no_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threading.Thread, "start", lambda self: pytest.fail("a thread"))
    hashed = FeatureHash(16)
    caller = Calls(lambda: hashed, hashed.profile, seconds=0.001, trusted=True)
    assert caller.embed(cleared("port"), "query").values == (hashed.vector("port").tobytes(),)


def test_a_system_without_threads_gives_no_vectors(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    assert ask(given(lambda texts: [ONE] * 2)).reason == "embedding-failed"


@pytest.mark.parametrize("kind", ["list", "array", "double", "tuple", "memoryview", "numpy", "numpy16", "integers"])
def test_any_row_of_numbers_will_do(kind: str) -> None:
    import numpy

    row: Any = {
        "list": [3.0, 0.0, 4.0, 0.0],
        "array": array("f", [3.0, 0.0, 4.0, 0.0]),
        "double": array("d", [3.0, 0.0, 4.0, 0.0]),
        "tuple": (3.0, 0.0, 4.0, 0.0),
        "memoryview": memoryview(array("f", [3.0, 0.0, 4.0, 0.0])),
        "numpy": numpy.array([3, 0, 4, 0], dtype="f4"),
        "numpy16": numpy.array([3, 0, 4, 0], dtype="f2"),
        "integers": [3, 0, 4, 0],
    }[kind]
    found = ask(given(lambda texts: [row] * len(texts)))
    assert found.reason is None
    values = array("f")
    values.frombytes(found.values[0])
    assert list(values) == pytest.approx([0.6, 0.0, 0.8, 0.0])


def test_a_unit_vector_is_taken_as_it_is() -> None:
    vector = FeatureHash(4).vector("some words")
    assert ask(given(lambda texts: [vector] * len(texts))).values == (vector.tobytes(),) * 2


def test_nothing_is_asked_for_no_text() -> None:
    assert ask(lambda: pytest.fail("asked"), count=0) == Vectors()


def test_bytes_are_little_endian_on_every_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    little = calls._as_bytes(array("f", [1.0, 2.0]))
    assert little.hex() == "0000803f00000040"
    monkeypatch.setattr(calls, "byteorder", "big")
    assert calls._as_bytes(array("f", [1.0, 2.0])).hex() == "3f80000040000000"
    assert sys.byteorder == "little"
