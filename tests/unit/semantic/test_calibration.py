"""The floors of similarities: what texts that have nothing in common reach, and how an unknown model gets its own."""

from __future__ import annotations

from operator import mul
from typing import TYPE_CHECKING, Any

import pytest
from tests.fakes.store import FakeVectors

from aforesaid.embedders import MODELS, MULTILINGUAL, make, multilingual
from aforesaid.embedders.calls import Calls
from aforesaid.embedders.feature_hash import FeatureHash
from aforesaid.embedding import LOCAL_PROVIDER, Profile, Vectors
from aforesaid.semantic.calibration import PASSAGES, REQUESTS, UNMEASURED, measure, scale_of
from aforesaid.semantic.matrix import to_floats
from aforesaid.testing import cleared

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aforesaid.embedding import Purpose
    from aforesaid.model import Cleared


HERE = [local for local in MODELS if local.model != MULTILINGUAL or multilingual.can_run()]


@pytest.mark.parametrize("local", HERE, ids=lambda local: local.model)
def test_unrelated_texts_stay_below_the_floors(local: Any) -> None:
    profile = Profile(provider=LOCAL_PROVIDER, model=local.model, dimensions=local.dimensions or 256)
    calls = Calls(lambda: make(profile), profile, seconds=120)
    requests = calls.embed(cleared(*REQUESTS), "query").values
    passages = calls.embed(cleared(*PASSAGES), "source").values
    assert len(requests) == len(REQUESTS)
    products = [sum(map(mul, one, other)) for one in map(to_floats, requests) for other in map(to_floats, passages)]
    assert sum(product >= local.scale.plain for product in products) <= 0.01 * len(products)
    assert max(products) < local.scale.strict
    # What the product would take for the floors of a model that it does not know is no lower than what is known.
    assert scale_of(requests, passages).strict <= local.scale.strict


def test_an_unknown_model_is_asked_once() -> None:
    hashed, vectors = FeatureHash(64), FakeVectors()
    asked: list[str] = []

    def embed(texts: Cleared[str], purpose: Purpose) -> Vectors:
        asked.extend(texts.values)
        return Vectors(values=tuple(hashed.vector(text).tobytes() for text in texts.values))

    def seal(texts: Sequence[str]) -> Cleared[str]:
        return cleared(*texts)

    first = measure(vectors, hashed.profile, embed, seal, 7)
    assert first is not None
    assert 0 < first.plain < first.strict < 1
    assert first.weight == UNMEASURED.weight
    assert sorted(asked) == sorted((*REQUESTS, *PASSAGES))
    assert measure(vectors, hashed.profile, embed, seal, 7) == first
    assert len(asked) == len(REQUESTS) + len(PASSAGES)


def test_a_model_that_fails_or_may_not_see_the_texts_stays_unmeasured() -> None:
    hashed = FeatureHash(16)

    def fail(texts: Cleared[str], purpose: Purpose) -> Vectors:
        return Vectors(reason="embedding-failed")

    assert measure(FakeVectors(), hashed.profile, fail, lambda texts: cleared(*texts), 9) is None
    assert measure(FakeVectors(), hashed.profile, fail, lambda texts: None, 9) is None
