"""The floors of similarities: what texts that have nothing in common reach, and how an unknown model gets its own."""

from __future__ import annotations

from array import array
from math import sqrt
from operator import mul
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from tests.fakes.store import FakeVectors

from aforesaid.embedders import MODELS, MULTILINGUAL, make, multilingual
from aforesaid.embedders.calls import Calls
from aforesaid.embedders.feature_hash import FeatureHash
from aforesaid.embedding import LOCAL_PROVIDER, Covered, Passage, Profile, Vectors
from aforesaid.passages import hash_of
from aforesaid.semantic.calibration import BLIND, PASSAGES, REQUESTS, UNMEASURED, measure, scale_of
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


def noisy(text: str, noise: float) -> tuple[float, ...]:
    """A vector of ones, with noise that depends on the text."""
    drawn = Random(text)
    return tuple(1.0 + noise * drawn.uniform(-1, 1) for _ in range(64))


@pytest.mark.parametrize("noise", [0.0, 0.001, 0.05])
def test_a_model_to_which_everything_is_alike_is_no_model_until_it_is_mended(noise: float) -> None:
    vectors, profile, asked = FakeVectors(), Profile(provider="p", model="m", dimensions=64), 0
    hashed = FeatureHash(64)
    mended = False

    def make_one(text: str) -> bytes:
        return hashed.vector(text).tobytes() if mended else to_bytes(noisy(text, noise))

    def embed(texts: Cleared[str], purpose: Purpose) -> Vectors:
        nonlocal asked
        asked += 1
        return Vectors(values=tuple(make_one(text) for text in texts.values))

    for times in (2, 4):
        assert measure(vectors, profile, embed, lambda texts: cleared(*texts), 30) is BLIND
        assert asked == times, "what it said is not kept"
    mended = True
    scale = measure(vectors, profile, embed, lambda texts: cleared(*texts), 30)
    assert scale is not None
    assert scale.plain < scale.strict < 1


def test_vectors_of_an_older_version_that_are_all_alike_do_not_last() -> None:
    vectors, hashed = FakeVectors(), FeatureHash(64)
    texts = (*REQUESTS, *PASSAGES)
    covered = Covered(low=1, high=len(texts), generation=0, tail=b"")
    held = [Passage(row=row, start=0, end=len(text), hash=hash_of(text)) for row, text in enumerate(texts, 1)]
    vectors.add(hashed.profile, held, [to_bytes(noisy(text, 0.0)) for text in texts], covered)

    def embed(texts: Cleared[str], purpose: Purpose) -> Vectors:
        return Vectors(values=tuple(hashed.vector(text).tobytes() for text in texts.values))

    assert measure(vectors, hashed.profile, embed, lambda texts: cleared(*texts), 9) is not BLIND


def test_nothing_that_is_unrelated_to_everything_is_a_floor_either() -> None:
    apart = [to_bytes(tuple(float(place == number) for place in range(64))) for number in range(54)]
    assert scale_of(apart[:24], apart[24:]) is BLIND, "else a similarity of 0 would bring everything up"


def test_a_strict_floor_lies_above_what_one_unrelated_pair_in_a_hundred_reaches() -> None:
    near = [to_bytes(noisy(text, 0.3)) for text in (*REQUESTS, *PASSAGES)]
    scale = scale_of(near[:24], near[24:])
    products = sorted(
        sum(map(mul, one, other)) for one in map(to_floats, near[:24]) for other in map(to_floats, near[24:])
    )
    assert 0.95 < products[-8] < scale.strict <= 0.99
    assert scale.plain >= round(products[-8], 4)


def to_bytes(vector: Sequence[float]) -> bytes:
    length = sqrt(sum(map(mul, vector, vector)))
    return array("f", [number / length for number in vector]).tobytes()
