"""A remote model: what it needs before it is asked, and that nothing prohibited ever reaches it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import settings as profile
from hypothesis import strategies as st
from tests.fakes.embedding import Recorder, settings
from tests.fakes.endpoint import Endpoint
from tests.pi import conversation, header, write

from aforesaid.config import Config
from aforesaid.embedders.feature_hash import FeatureHash
from aforesaid.embedders.remote import RemoteEmbeddings
from aforesaid.engine import Engine

if TYPE_CHECKING:
    from pathlib import Path

    from aforesaid.answers import Retrieval, Semantic

TEXTS = [
    "We bought a vehicle last week.",
    "[aforesaid:local-only]The funds are under the bed.[/aforesaid:local-only] Do not tell.",
    "[aforesaid:sensitive]My physician is nearby.[/aforesaid:sensitive]",
    "[aforesaid:internal]The vessel leaves at noon.[/aforesaid:internal]",
    "The password=hunter2hunter2 opens the garden.",
]
SECRETS = (
    "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8",
    "sk_live_" + "4eC39HqLyjWDarjtT1zdP7dc",
    "github_pat_" + "11ABCDEFG0abcdefghijkl_" + "mNoPqRsTuVwXyZ0123456789abcdefghijklmnopqrstuvwxyz0123456789",
)
"""Put together here, so that nobody takes them for real ones."""
CONSENT: dict[str, object] = {
    "retrieval.embedding.remoteProfiles": ["embedding.example/semantic-v2"],
    "privacy.enabled": True,
    "privacy.remoteProviders": {"embedding.example": ["normal", "internal"]},
}


def remote(**more: Any) -> Recorder:
    return Recorder("embedding.example", "semantic-v2", destination="remote", **more)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write(tmp_path / "s.jsonl", [header(), *conversation(TEXTS)])


def ask(engine: Engine, file: Path, query: str) -> Retrieval:
    return engine.retrieve(session=file, query=query, context_entries=())


def told(found: Retrieval) -> Semantic:
    assert found.diagnostics.semantic is not None
    return found.diagnostics.semantic


def test_with_everything_in_place_a_remote_model_is_asked(tmp_path: Path, file: Path) -> None:
    port = remote()
    with Engine.open(tmp_path / "store", settings=settings(port) | CONSENT, embedding=port) as engine:
        found = ask(engine, file, "automobile")
        assert told(found).reason is None
        assert told(found).destination == "remote"
        assert told(found).excluded == 2
        assert told(found).sources == 3
        assert [hit.entry_id for hit in found.hits] == ["e0000000"]
    assert {provider for _, _, provider in port.calls} == {"embedding.example"}
    everything = "\n".join(port.texts)
    for secret in ("funds", "physician", "hunter2"):
        assert secret not in everything
    assert "vessel leaves" in everything
    assert "opens the garden" in everything


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"privacy.enabled": False}, "privacy-disabled"),
        ({"retrieval.embedding.remoteProfiles": []}, "consent-missing"),
        ({"retrieval.embedding.remoteProfiles": ["embedding.example/semantic-v3"]}, "consent-missing"),
        ({"retrieval.embedding.remoteProfiles": ["Embedding.example/semantic-v2"]}, "consent-missing"),
        ({"privacy.remoteProviders": {}}, "provider-rules-missing"),
        ({"privacy.remoteProviders": {"another.example": ["normal"]}}, "provider-rules-missing"),
    ],
)
def test_without_each_of_the_conditions_nothing_is_sent(
    tmp_path: Path, file: Path, changed: dict[str, object], reason: str
) -> None:
    port = remote()
    chosen = settings(port) | CONSENT | changed
    with Engine.open(tmp_path / "store", settings=chosen, embedding=port) as engine:
        found = ask(engine, file, "the vehicle")
        engine.index(file)
        assert told(found).reason == reason
        assert [hit.entry_id for hit in found.hits] == ["e0000000"]
    assert port.calls == []


@pytest.mark.parametrize(
    "other",
    [
        Recorder("embedding.example", "semantic-v2", destination="local"),
        Recorder("embedding.example", "semantic-v2", dimensions=32, destination="remote"),
        Recorder("embedding.example", "semantic-v3", destination="remote"),
        Recorder("elsewhere.example", "semantic-v2", destination="remote"),
    ],
    ids=["destination", "dimensions", "model", "provider"],
)
def test_a_port_that_is_not_exactly_what_was_consented_to_gets_nothing(
    tmp_path: Path, file: Path, other: Recorder
) -> None:
    with Engine.open(tmp_path / "store", settings=settings(remote()) | CONSENT, embedding=other) as engine:
        assert told(ask(engine, file, "the vehicle")).reason == "port-mismatch"
    assert other.calls == []


def test_a_remote_port_is_never_taken_for_a_local_one(tmp_path: Path, file: Path) -> None:
    port = remote()
    chosen = settings(port) | CONSENT | {"retrieval.embedding.mode": "local"}
    with Engine.open(tmp_path / "store", settings=chosen, embedding=port) as engine:
        assert told(ask(engine, file, "the vehicle")).reason == "port-mismatch"
    assert port.calls == []


def test_configuration_alone_makes_no_remote_client(tmp_path: Path, file: Path) -> None:
    with Engine.open(tmp_path / "store", settings=settings(remote()) | CONSENT) as engine:
        found = ask(engine, file, "the vehicle")
        assert told(found).reason == "port-missing"
        assert [hit.entry_id for hit in found.hits] == ["e0000000"]


@pytest.mark.parametrize("name", ["*/semantic-v2", "embedding.example/*", "embedding.example/semantic-?", "*", "x", ""])
def test_wildcards_and_half_names_are_refused(tmp_path: Path, name: str) -> None:
    import json

    own = tmp_path / "config.json"
    own.write_text(json.dumps({"retrieval": {"embedding": {"remoteProfiles": [name]}}}), encoding="utf-8")
    loaded = Config.load(own)
    assert loaded.get("retrieval.embedding.remoteProfiles") == ()
    assert any("remoteProfiles" in warning for warning in loaded.warnings)


def test_a_prohibited_request_is_not_sent(tmp_path: Path, file: Path) -> None:
    port = remote()
    with Engine.open(tmp_path / "store", settings=settings(port) | CONSENT, embedding=port) as engine:
        found = ask(engine, file, "[aforesaid:local-only]where is the vehicle[/aforesaid:local-only]")
        assert told(found).reason == "privacy-excluded"
        assert port.queries == []
        assert "e0000000" in [hit.entry_id for hit in found.hits]


def test_secrets_of_a_request_are_replaced(tmp_path: Path, file: Path) -> None:
    port = remote()
    with Engine.open(tmp_path / "store", settings=settings(port) | CONSENT, embedding=port) as engine:
        ask(engine, file, "the vehicle with password=hunter2hunter2")
    assert len(port.queries) == 1
    assert "hunter2" not in port.queries[0]
    assert "vehicle" in port.queries[0]


def test_a_repeated_request_and_a_restart_send_nothing_twice(tmp_path: Path, file: Path) -> None:
    chosen = settings(remote()) | CONSENT
    first, second = remote(), remote()
    with Engine.open(tmp_path / "store", settings=chosen, embedding=first) as engine:
        for _ in range(3):
            ask(engine, file, "the vehicle")
    assert first.queries == ["the vehicle"]
    with Engine.open(tmp_path / "store", settings=chosen, embedding=second) as engine:
        ask(engine, file, "the vehicle")
    assert second.texts == ["the vehicle"]


def test_secrets_that_a_store_keeps_never_leave_it(tmp_path: Path) -> None:
    texts = [f"note {number}: {secret} and so on" for number, secret in enumerate(SECRETS)]
    long = "line of filler text\n" * 45
    texts += [long + f"key {secret}\n" + long for secret in SECRETS]
    file = write(tmp_path / "s.jsonl", [header(), *conversation(texts)])
    port = remote()
    chosen = settings(port) | CONSENT | {"privacy.redactIndex": False}
    with Engine.open(tmp_path / "store", settings=chosen, embedding=port) as engine:
        assert told(ask(engine, file, "filler")).reason is None
    sent = "\n".join(port.texts)
    assert "filler" in sent
    for secret in SECRETS:
        assert secret not in sent


def test_rules_on_paths_hold_for_results_of_tools(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [header(), *conversation(["Read it.", "Reading."])]
    call = {
        "type": "message", "id": "call0001", "parentId": "e0000001", "timestamp": "2026-11-30T00:05:00.000Z",
        "message": {"role": "assistant", "content": [
            {"type": "toolCall", "id": "t1", "name": "read", "arguments": {"path": "secrets/plan.md"}}]},
    }  # fmt: skip
    result = {
        "type": "message", "id": "res00001", "parentId": "call0001", "timestamp": "2026-11-30T00:06:00.000Z",
        "message": {"role": "toolResult", "toolCallId": "t1", "toolName": "read", "isError": False,
                    "content": [{"type": "text", "text": "the residence of the spy"}]},
    }  # fmt: skip
    file = write(tmp_path / "s.jsonl", [*rows, call, result])
    port = remote()
    rule = {"path": "secrets/**", "classification": "local-only"}
    chosen = settings(port) | CONSENT | {"privacy.rules": [rule]}
    with Engine.open(tmp_path / "store", settings=chosen, embedding=port) as engine:
        found = ask(engine, file, "which dwelling")
        assert told(found).excluded >= 1
        assert found.hits == ()
    assert "spy" not in "\n".join(port.texts)


def test_a_marker_that_only_the_transcript_has_keeps_an_entry_back(tmp_path: Path) -> None:
    rows = [header(), *conversation(["The residence is empty.", "Fine."])]
    rows[1]["message"]["hidden"] = "[aforesaid:local-only]"
    file = write(tmp_path / "s.jsonl", rows)
    port = remote()
    with Engine.open(tmp_path / "store", settings=settings(port) | CONSENT, embedding=port) as engine:
        ask(engine, file, "which dwelling")
    assert "residence" not in "\n".join(port.texts)


PIECES = st.sampled_from(
    ["[aforesaid:local-only]", "[/aforesaid:local-only]", "[aforesaid:sensitive]", "[/aforesaid:sensitive]",
     "CANARY", " plain words ", "\n", "x" * 600, "[aforesaid:internal]", "[/aforesaid:internal]"]
)  # fmt: skip


@profile(max_examples=40)
@given(st.lists(st.lists(PIECES, min_size=1, max_size=8).map("".join), min_size=1, max_size=6))
def test_nothing_of_an_entry_with_anything_prohibited_is_ever_sent(texts: list[str]) -> None:
    import tempfile
    from pathlib import Path

    from aforesaid.privacy.judge import Judge
    from aforesaid.privacy.policy import Policy, Providers

    providers = Providers(remote=(("embedding.example", ("normal", "internal")),))
    judge = Judge(Policy(enabled=True, providers=providers), provider="embedding.example")
    port = remote()
    named = [f"entry{number} {text} end{number}" for number, text in enumerate(texts)]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        file = write(Path(folder) / "s.jsonl", [header(), *conversation(named)])
        with Engine.open(Path(folder) / "store", settings=settings(port) | CONSENT, embedding=port) as engine:
            assert told(ask(engine, file, "plain words")).reason is None
    sent = "\n".join(port.texts)
    for number, text in enumerate(named):
        assert (f"entry{number} " in sent) is judge.judge(text).allowed


def test_the_shipped_client_works_against_a_server(tmp_path: Path, file: Path) -> None:
    with Endpoint(FeatureHash(64)) as endpoint:
        client = RemoteEmbeddings(
            endpoint.address, "k", provider="embedding.example", model="semantic-v2", dimensions=64
        )
        chosen = settings(remote()) | CONSENT | {"retrieval.embedding.timeoutMs": 20_000}
        with Engine.open(tmp_path / "store", settings=chosen, embedding=client) as engine:
            found = ask(engine, file, "the vehicle that was bought")
            assert told(found).reason is None
            assert told(found).used
            assert found.hits[0].entry_id == "e0000000"
            count = len(endpoint.requests)
            ask(engine, file, "the vehicle that was bought")
            assert len(endpoint.requests) == count
        client.close()
    sent = str(endpoint.requests)
    for secret in ("funds", "physician", "hunter2"):
        assert secret not in sent


def test_a_server_that_is_gone_costs_the_vectors(tmp_path: Path, file: Path) -> None:
    with Endpoint(FeatureHash(64)) as endpoint:
        address = endpoint.address
    client = RemoteEmbeddings(address, "k", provider="embedding.example", model="semantic-v2", dimensions=64)
    chosen = settings(remote()) | CONSENT | {"retrieval.embedding.timeoutMs": 20_000}
    with Engine.open(tmp_path / "store", settings=chosen, embedding=client) as engine:
        found = ask(engine, file, "the vehicle")
        assert told(found).reason == "embedding-failed"
        assert [hit.entry_id for hit in found.hits] == ["e0000000"]
    client.close()
