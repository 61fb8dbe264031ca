"""Markers: what is marked, and what raises a whole text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aforesaid.model import LEVELS, Level
from aforesaid.privacy.markers import _LOOK_ALIKE, RANK, UNMARKED, Marks, find_markers, highest, read_marks, to_level

SENSITIVE, INTERNAL, LOCAL = "[aforesaid:sensitive]", "[aforesaid:internal]", "[aforesaid:local-only]"


def end(marker: str) -> str:
    return f"[/{marker[1:]}"


@pytest.mark.parametrize(
    "text",
    ["", "no marker", "aforesaid", "[aforesaid]", "[after:sensitive]", "AFORESAID HISTORICAL EVIDENCE", "[b:internal]"],
)
def test_a_text_without_a_marker_is_unmarked(text: str) -> None:
    assert read_marks(text) is UNMARKED


def test_a_closed_marker_covers_what_stands_between() -> None:
    text = f"a {SENSITIVE}b{end(SENSITIVE)} c"
    assert read_marks(text) == Marks(spans=((2, len(text) - 2, "sensitive"),), outside=True)


def test_blanks_alone_are_nothing_outside() -> None:
    assert read_marks(f" \n{SENSITIVE}b{end(SENSITIVE)}\t").outside is False
    assert read_marks(f"{SENSITIVE}b{end(SENSITIVE)} {INTERNAL}c{end(INTERNAL)} d").outside is True
    assert read_marks(f"{SENSITIVE}b{end(SENSITIVE)} . {INTERNAL}c").outside is True


def test_an_open_marker_covers_the_rest() -> None:
    text = f"a {INTERNAL}b{end(INTERNAL)} c {LOCAL} d\n\ne"
    assert read_marks(text).spans == ((2, 44, "internal"), (47, len(text), "local-only"))


@pytest.mark.parametrize(
    ("text", "level"),
    [
        (f"a {INTERNAL}b{SENSITIVE}c{end(SENSITIVE)}d{end(INTERNAL)} e", "sensitive"),
        (f"a {SENSITIVE}b{INTERNAL}c{end(INTERNAL)}d{end(SENSITIVE)} e", "sensitive"),
        (f"a {SENSITIVE}b{SENSITIVE}c{end(SENSITIVE)}d{end(SENSITIVE)} e", "sensitive"),
        (f"a {INTERNAL}b{SENSITIVE}c{end(INTERNAL)}d{end(SENSITIVE)} e", "sensitive"),
        (f"a {INTERNAL}b{SENSITIVE}c", "sensitive"),
        (f"a {end(LOCAL)} b", "local-only"),
        (f"a {INTERNAL}b{end(INTERNAL)} c {end(INTERNAL)}", "internal"),
        (f"a {INTERNAL}b{end(SENSITIVE)} c", "sensitive"),
        ("a [aforesaid:secret]b[/aforesaid:secret]", "local-only"),
        ("a [aforesaid:]b", "local-only"),
        ("a [aforesaid:sensitive b", "local-only"),
        ("a [aforesaid:sensitive\n] b", "local-only"),
        ("a [/aforesaid:nothing] b", "local-only"),
    ],
)
def test_markers_that_do_not_match_raise_the_whole_text(text: str, level: Level) -> None:
    marks = read_marks(text)
    assert marks.spans == ((0, len(text), level),)
    assert (marks.outside, highest(*marks.broken)) == (False, level)


@pytest.mark.parametrize(
    "marker",
    [
        "[Aforesaid:Sensitive]",
        "[ aforesaid : sensitive ]",
        "[AFORESAID:SENSITIVE]",
        "［ａｆｏｒｅｓａｉｄ：ｓｅｎｓｉｔｉｖｅ］",
        "［Ａforesaid：sensitive］",
        "［aforesaid：sensitive］",
        "[aforesaid：sensitive]",
    ],
)
def test_other_spellings_of_a_marker_count(marker: str) -> None:
    assert read_marks(f"看{marker}秘密").spans == ((1, 3 + len(marker), "sensitive"),)


@pytest.mark.parametrize(
    "text",
    [
        "[a\u00adforesaid:sensitive]x",
        "[afore\u200bsaid:sen\u200bsitive]x",
        "[\u2060aforesaid\ufeff:sensitive\u200d]x",
        "[afore\u017faid:sensitive]x",
        "[\u200b/\u200baforesaid:sensitive]x",
    ],
)
def test_characters_that_nobody_sees_do_not_unmake_a_marker(text: str) -> None:
    marks = read_marks(text)
    assert [level for _, _, level in marks.spans] == ["sensitive"]
    assert not marks.outside


@pytest.mark.parametrize(
    ("text", "level"),
    [
        ("[aforesaid:ѕensitive]a", "sensitive"),  # the Cyrillic s
        ("[аfоrеѕаіd:sensitive]a[/aforesaid:sensitive]", "sensitive"),
        ("[ΑFΟRΕSΑΙD:INTERNAL]a[/aforesaid:internal]", "internal"),
        ("[𝐚𝐟𝐨𝐫𝐞𝐬𝐚𝐢𝐝:internal]a[/𝘢𝘧𝘰𝘳𝘦𝘴𝘢𝘪𝘥:internal]", "internal"),
        ("【aforesaid：local‑only】a", "local-only"),
        ("[aforesaid∶internal]a[⁄aforesaid:internal]", "internal"),
        ("[áfore\u0301said:internal]a", "internal"),
        ("[AFORESA\u0130D:internal]a", "internal"),
        ("[" + "\u200b" * 300 + "\naforesaid:internal]a", "internal"),
        ("[aforesaid:sensitivе]a", "sensitive"),
        ("[aforesaid:sеkret]a", "local-only"),
        ("[aforesaid:секрет]a", "local-only"),
        ("[aforesaid:机密]a", "local-only"),
        ("[афоресаид:internal]a", None),
        ("[é afterwards:internal]a", None),
        ("é aforesaid:internal", None),
    ],
)
def test_letters_of_other_alphabets_that_look_alike_do_not_unmake_a_marker(text: str, level: Level | None) -> None:
    assert read_marks(text).spans == (((0, len(text), level),) if level else ())


@given(st.data())
def test_whatever_a_marker_is_spelled_with_it_marks(data: st.DataObject) -> None:
    """Any letters that look alike, any characters between that nobody sees."""
    level = data.draw(st.sampled_from(LEVELS))
    hidden = st.sampled_from(["", "", "", "\u200d", "\u00ad", "\u0301", "\ufe0f"])

    def spelled(letter: str) -> str:
        choices = [letter, letter.upper(), *_LOOK_ALIKE.get(letter, "")]
        return str(data.draw(st.sampled_from(choices))) + str(data.draw(hidden))

    text = "".join(map(spelled, f"[aforesaid:{level}]")) + "é"
    assert [span[2] for span in read_marks(text).spans] == [level]
    assert len(find_markers(text)) == 1


def test_the_same_level_may_come_again_after_its_end() -> None:
    text = f"{INTERNAL}a{end(INTERNAL)}b{INTERNAL}c{end(INTERNAL)}"
    assert [level for _, _, level in read_marks(text).spans] == ["internal", "internal"]


def test_markers_are_found_with_their_places_and_whether_they_open() -> None:
    text = f"a {INTERNAL}b{end(INTERNAL)} ［aforesaid：x］c"
    assert [(text[start:stop], opens) for start, stop, opens in find_markers(text)] == [
        (INTERNAL, True),
        (end(INTERNAL), False),
        ("［aforesaid：x］", True),
    ]
    assert find_markers("aforesaid") == find_markers("none") == ()


def test_a_name_that_is_no_level_counts_as_the_highest() -> None:
    assert [to_level(name) for name in ("normal", "internal", "secret", "")] == [
        "normal",
        "internal",
        "local-only",
        "local-only",
    ]


PIECES = [*(f"[aforesaid:{level}]" for level in LEVELS), *(f"[/aforesaid:{level}]" for level in LEVELS)]


@given(st.lists(st.sampled_from([*PIECES, "x", " ", "日本", "\ud800"]), max_size=9))
def test_marks_are_what_a_stack_says(pieces: list[str]) -> None:
    stack: list[str] = []
    broken = False
    met: list[str] = []
    shown: list[str] = []  # what holds for each piece of text
    for piece in pieces:
        if piece not in PIECES:
            if piece.strip():
                shown.append(stack[-1] if stack else "outside")
            continue
        level = piece.strip("[]/").partition(":")[2]
        met.append(level)
        if not piece.startswith("[/"):
            broken = broken or bool(stack)
            stack.append(level)
        elif stack and stack[-1] == level:
            stack.pop()
        else:
            broken = True
    text = "".join(pieces)
    marks = read_marks(text)
    if not met:
        assert marks is UNMARKED
    elif broken:
        assert marks.spans == ((0, len(text), max(met, key=RANK.__getitem__)),)
    else:
        assert marks.broken == ()
        assert marks.outside is ("outside" in shown)
        for found, level in ((text.find("x", start), level) for start, _, level in marks.spans):
            assert found == -1 or level in LEVELS
        covered = [any(start <= at < stop for start, stop, _ in marks.spans) for at in range(len(text))]
        assert [covered[at] for at in range(len(text)) if text[at] == "x"] == [
            bool(held != "outside") for held in _holds(pieces)
        ]


def _holds(pieces: list[str]) -> list[str]:
    held = "outside"
    holding: list[str] = []
    for piece in pieces:
        if piece == "x":
            holding.append(held)
        elif piece in PIECES:
            held = "outside" if piece.startswith("[/") else piece
    return holding


@given(st.text(st.characters(codec=None), max_size=60))
def test_any_text_has_marks(text: str) -> None:
    for start, stop, level in read_marks(f"[aforesaid:{text}").spans:
        assert 0 <= start < stop
        assert level in LEVELS
