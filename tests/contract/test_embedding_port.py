"""`ports.EmbeddingPort` over every implementation, with the tests that are shipped for those of others."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

import pytest
from tests.fakes.endpoint import Endpoint

from aforesaid.embedders import FEATURE_HASH, STATIC, TRANSFORMER, make
from aforesaid.embedders.feature_hash import FeatureHash
from aforesaid.embedders.remote import RemoteEmbeddings
from aforesaid.embedding import LOCAL_PROVIDER, Profile
from aforesaid.testing import EmbeddingPortContract, check_embedding_port

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aforesaid.embedding import Purpose
    from aforesaid.model import Cleared
    from aforesaid.ports import EmbeddingPort

_LOADED: dict[Profile, EmbeddingPort] = {}


def load(model: str, dimensions: int) -> EmbeddingPort:
    profile = Profile(provider=LOCAL_PROVIDER, model=model, dimensions=dimensions)
    if profile not in _LOADED:
        _LOADED[profile] = make(profile)
    return _LOADED[profile]


class TestFeatureHash(EmbeddingPortContract):
    def make(self) -> EmbeddingPort:
        return load(FEATURE_HASH, 256)


class TestFeatureHashInFewDimensions(EmbeddingPortContract):
    def make(self) -> EmbeddingPort:
        return load(FEATURE_HASH, 16)


class TestStaticModel(EmbeddingPortContract):
    def make(self) -> EmbeddingPort:
        return load(STATIC, 256)


class TestStaticModelCut(EmbeddingPortContract):
    def make(self) -> EmbeddingPort:
        return load(STATIC, 64)


class TestTransformer(EmbeddingPortContract):
    # Weights of eight bits depend a little on what stands beside a text.
    closeness = 0.1

    def make(self) -> EmbeddingPort:
        return load(TRANSFORMER, 384)


class TestRemote(EmbeddingPortContract):
    @pytest.fixture(autouse=True)
    def _endpoint(self) -> Iterator[None]:
        with Endpoint(FeatureHash(32)) as endpoint:
            self.client = RemoteEmbeddings(
                endpoint.address, "key", provider="embedding.example", model="semantic-v2", dimensions=32
            )
            yield
            self.client.close()

    def make(self) -> EmbeddingPort:
        return self.client


class Wrong(FeatureHash):
    """Breaks one rule at a time."""

    def __init__(self, fault: str) -> None:
        super().__init__(32)
        self.fault = fault
        self.calls = 0

    def embed(self, texts: Cleared[str], purpose: Purpose) -> Sequence[array[float]]:
        self.calls += 1
        vectors = list(super().embed(texts, purpose))
        if self.fault == "count":
            return vectors[:-1]
        if self.fault == "order" and len(vectors) > 1:
            return vectors[::-1]
        if self.fault == "length":
            return [vector[:-1] for vector in vectors]
        if self.fault == "nan":
            return [array("f", [float("nan"), *vector[1:]]) for vector in vectors]
        if self.fault == "zero":
            return [array("f", bytes(4 * 32)) for _ in vectors]
        if self.fault == "same":
            return [vectors[0]] * len(vectors)
        if self.fault == "profile":
            self.profile = Profile(provider="", model="m", dimensions=32)
        return vectors


@pytest.mark.parametrize("fault", ["count", "order", "length", "nan", "zero", "same", "profile"])
def test_the_contract_notices_each_fault(fault: str) -> None:
    port = Wrong(fault)
    if fault == "profile":
        port.profile = Profile(provider="", model="m", dimensions=32)
    with pytest.raises(AssertionError):
        check_embedding_port(port)


def test_the_contract_passes_without_pytest() -> None:
    check_embedding_port(FeatureHash(64))


def test_the_contract_wants_a_port() -> None:
    with pytest.raises(NotImplementedError):
        EmbeddingPortContract().test_it_says_who_it_is()
