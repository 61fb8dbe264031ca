"""Framing inverts, nothing gets out of the frame, and windows are verbatim, bounded and cut between clusters."""

from __future__ import annotations

import sys
import unicodedata
from collections import defaultdict
from functools import cache
from unittest.mock import patch

import regex
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.words import any_text

from aforesaid import evidence
from aforesaid.answers import PART_NAMES, Candidate, Evidence, Matched, Ranked
from aforesaid.frames import strip_frames
from aforesaid.matching import Probe
from aforesaid.model import Source, StoredEntry
from aforesaid.windows import choose_windows, join_windows

ENTRY = StoredEntry(
    row=1, id="a1b2c3d4", kind="message", role="user", timestamp="2026-11-30T02:14:36.818Z", text="", parts=(),
    source=Source(line=1, offset=0, length=1, sha256=bytes(32)), digest=b"", tokens=1,
)  # fmt: skip
TITLE = "aforesaid historical evidence"
INVISIBLE = ("", "", "", "\u00ad", "\u200b", "\u200d", "\ufe0f", "\u034f", "\u061c", "\U000e0041", "\u180b", "\ufeff")
BLANKS = (" ", "  ", "\n", "\t", "\r\n", "\u00a0", "\u3000", "\u2028", "\x85", " \u200b ", "\x1c")


@cache
def forms() -> dict[str, list[str]]:
    """All characters that read as a letter, or as some letters, of the title."""
    found: dict[str, list[str]] = defaultdict(list)
    for character in map(chr, range(sys.maxunicode + 1)):
        plain = unicodedata.normalize("NFKC", character).casefold()
        if plain.isascii() and plain.isalpha() and plain in TITLE:
            found[plain].append(character)
    return found


@st.composite
def disguises(draw: st.DrawFn) -> str:
    """The title, or nearly: each letter in one of its forms, invisible characters between, any blanks."""
    pieces: list[str] = [draw(st.sampled_from(["", "[", "[end ", "\x1a", "\x8a", "\udcaa", "\ud8af", "a", "\\u00"]))]
    at = draw(st.sampled_from([0, 0, 0, 1, 2]))
    while at < len(TITLE):
        if TITLE[at] == " ":
            pieces.append(draw(st.sampled_from(BLANKS)))
            at += 1
            continue
        width = draw(st.sampled_from([n for n in (1, 2, 3) if TITLE[at : at + n] in forms()]))
        pieces += (draw(st.sampled_from(forms()[TITLE[at : at + width]])), draw(st.sampled_from(INVISIBLE)))
        at += width
    return "".join(pieces)


hostile = st.lists(any_text | disguises(), max_size=3).map("".join)


def shown(text: str) -> str:
    """As the contract folds it, written another way than the product does it."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(regex.sub(r"[\p{Cf}\p{DI}]+", "", folded).split())


def joined(text: str) -> str:
    """Two surrogates that make a pair are one character in every JSON text."""
    return text.encode("utf-16-be", "surrogatepass").decode("utf-16-be", "surrogatepass")


@given(hostile)
def test_framing_gives_back_every_code_point(text: str) -> None:
    message = evidence.frame(ENTRY, session_id=None, score=1.0, reason="terms:1", excerpt=text)
    assert evidence.unframe(message) == joined(text)


@given(hostile)
def test_quoting_is_one_line_of_valid_unicode_and_escapes_no_more_than_it_must(text: str) -> None:
    quoted = evidence.quote(text)
    quoted.encode()
    assert quoted.splitlines() == [quoted]
    assert not any(unicodedata.category(c) in ("Cc", "Zl", "Zp") for c in quoted)
    if "resaid" not in shown(text).replace(" ", ""):
        assert [c for c in quoted if c >= "\xa0"] == [
            c for c in text if c >= "\xa0" and unicodedata.category(c) not in ("Cs", "Zl", "Zp")
        ]


def carefully(text: str) -> str:
    """The quoted text as it is where nothing is seen to be plain."""
    with patch.object(evidence, "_are_plain", lambda _: False):
        return evidence.quote(text)


@given(hostile)
def test_plain_text_is_quoted_as_any_other_is(text: str) -> None:
    assert evidence.quote(text) == carefully(text)


def test_each_character_is_quoted_alike_in_plain_text() -> None:
    points = {
        *range(0x80, 0x3000, 5),
        *range(0x3000, sys.maxunicode + 1, 499),
        *range(0x80, 0xA0),
        *range(0xFE00, 0xFF00),
    }
    for text in (f'"à {chr(point)}\n\x7f' for point in points):
        assert evidence.quote(text) == carefully(text)


@given(hostile, hostile, hostile)
def test_the_frame_has_its_lines_and_no_others(text: str, session: str, reason: str) -> None:
    message = evidence.frame(ENTRY, session_id=session, score=-0.001, reason=reason, excerpt=text)
    lines = message.splitlines()
    assert len(lines) == 10
    assert [line.partition(":")[0] for line in lines[1:7]] == [
        "Source entry", "Session", "Date", "Original role", "Retrieval score", "Reason",
    ]  # fmt: skip
    message.encode()
    assert TITLE not in shown("\n".join(lines[1:-1]))
    assert strip_frames(f"before\n{message}\nafter") == "before\nafter"


@settings(max_examples=400)
@given(hostile)
def test_the_title_of_the_frame_cannot_be_read_in_quoted_text(text: str) -> None:
    assert TITLE not in shown(evidence.quote(text))


@given(hostile, hostile)
def test_what_is_cut_out_is_gone_and_cutting_twice_changes_nothing(before: str, after: str) -> None:
    message = evidence.frame(ENTRY, session_id=None, score=1.0, reason="", excerpt=before)
    once = strip_frames(f"{before}\n{message}\n{after}")
    assert once == f"{before}\n{after}"
    assert strip_frames(once) == once


WIDE = st.sampled_from(
    "👍👩🏽\u200d\ufe0f❤🇮🇹🇯🇵e\u0301\u0302 \r\n\tก่ำเที่"
    "हिन्दक्ष\u1112\u1161\u11ab한가각数か\u3099שָ\u0600\u0d4eA1_-。\u00ad\ud800"
)
clusters = st.sampled_from(
    [
        "word ",
        "naïve ",
        "e\u0301\u0302",
        "👩‍👩‍👧‍👦",
        "🇮🇹🇯🇵",
        "👍🏽",
        "ทดสอบที่",
        "हिन्दी",
        "क्षत्रिय",
        "\u1112\u1161\u11ab",
        "한글",
        "数据库",
        "\r\n",
        "\n",
        "\u0600٣",
        "x" * 30,
    ]
)


def check_windows(text: str, probe: Probe, limit: int) -> None:
    chosen = choose_windows(text, probe, limit=limit)
    borders = {0, *(cluster.end() for cluster in regex.finditer(r"\X", text))}
    assert chosen
    end = -1
    for window in chosen:
        assert end < window.start
        assert text[window.start : window.end] == window.text
        assert window.text or len(chosen) == 1
        assert {window.start, window.end} <= borders
        end = window.end
    assert sum(len(window.text) for window in chosen) <= limit
    if len(text) <= limit:
        assert join_windows(chosen) == text


@given(st.lists(clusters, min_size=5, max_size=120), st.lists(st.integers(0, 119), max_size=6), st.integers(10, 400))
def test_windows_are_verbatim_bounded_and_cut_between_clusters(
    pieces: list[str], places: list[int], limit: int
) -> None:
    words = ("needle", "pin", "nail", "screw", "bolt", "rivet")
    for place, word in zip(places, words, strict=False):
        pieces[place % len(pieces)] += f" {word} "
    check_windows("".join(pieces), Probe(("needle",), ("pin",), words), limit)


@settings(max_examples=400)
@given(st.lists(WIDE, max_size=120).map("".join), st.text(WIDE, min_size=1, max_size=2), st.integers(1, 60))
def test_edges_between_any_characters_are_borders_of_clusters(text: str, needle: str, limit: int) -> None:
    check_windows(text, Probe((needle,), (), (needle, "A")), limit)


@given(st.permutations(["alfa", "bravo", "charlie", "delta", "echo"]), st.lists(st.integers(0, 900), min_size=5))
def test_five_items_are_all_shown_wherever_they_stand(words: list[str], gaps: list[int]) -> None:
    text = "".join(f"{'filler ' * gap} {word} " for word, gap in zip(words, gaps, strict=False))
    shown_text = join_windows(choose_windows(text, Probe((), (), words), limit=2000))
    assert all(word in shown_text for word in words)


def make_row(id_: str, text: str) -> Ranked:
    entry = StoredEntry(
        row=1, id=id_, kind="message", role="user", timestamp=None, text=text, parts=(len(text),),
        source=Source(line=1, offset=0, length=1, sha256=bytes(32)), digest=b"", tokens=1,
    )  # fmt: skip
    return Ranked(
        candidate=Candidate(entry=entry, position=0, order=None),
        tier="other",
        score=1.0,
        addends=(0.0,) * len(PART_NAMES),
        matched=Matched(terms=("port",)),
    )


def simply_select(rows: list[Ranked], probe: Probe, results: int, budget: int) -> tuple[Evidence, ...]:
    kept: list[Evidence] = []
    for row in rows:
        built = evidence.build_evidence(row, probe, session_id=None)
        if len(kept) < results and sum(item.tokens for item in kept) + built.tokens <= budget:
            kept.append(built)
    return tuple(kept)


@given(
    st.lists(any_text | st.builds(lambda word, n: word * n, any_text, st.integers(1, 800)), max_size=12),
    st.integers(0, 6),
    st.integers(0, 3000),
)
def test_selection_keeps_what_the_plain_rule_keeps(texts: list[str], results: int, budget: int) -> None:
    rows = [make_row(str(number), text) for number, text in enumerate(texts)]
    probe = Probe((), (), ("port", "数据"))
    kept, left_out = evidence.select(rows, probe, max_results=results, max_tokens=budget, session_id=None)
    assert kept == simply_select(rows, probe, results, budget)
    assert left_out == len(rows) - len(kept)
    assert sum(row.tokens for row in kept) <= budget
