"""The parts of the view that know no session: sources, ranges, the pool, bags of words, the sheet."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.values import make_entry
from tests.views import quoted
from tests.words import any_text

from aforesaid.evidence import CLOSING, OPENING
from aforesaid.extractive import vectors
from aforesaid.extractive.ranges import Node, bisect, choose_pool, split
from aforesaid.extractive.sheet import CONTENT, Range, Sheet
from aforesaid.extractive.sources import said_parts
from aforesaid.extractive.vectors import Bags, Comparison, overlap, read_bag
from aforesaid.frames import strip_frames

# --- sources --------------------------------------------------------------------------------------------------------


def entry(*parts: str, **more: object):  # type: ignore[no-untyped-def]
    return make_entry("\n".join(parts), **{"parts": tuple(map(len, parts)), **more})


def test_parts_that_somebody_said_are_whole_and_in_order() -> None:
    assert said_parts(entry("first\n\nparagraph", "second", " ")) == ("first\n\nparagraph", "second")


def test_calls_of_tools_are_no_words_of_the_assistant() -> None:
    called = entry("I run it", "bash\ncommand: ls", "then", "read\npath: a", tools=("bash", "read"), calls=("1", "2"))
    assert said_parts(called) == ("I run it", "then")


def test_a_word_that_is_the_name_of_a_tool_stays() -> None:
    called = entry("bash", "bash\ncommand: ls", tools=("bash",), calls=("1",))
    assert said_parts(called) == ("bash",)
    assert said_parts(entry("read it", "bash\ncommand: ls", tools=("history_recall", "bash"))) == ("read it",)


@pytest.mark.parametrize(
    "changed",
    [
        {"role": "tool_result"},
        {"role": "tool_call"},
        {"role": "shell"},
        {"role": "summary", "kind": "compaction"},
        {"role": "custom", "kind": "custom"},
        {"kind": "custom"},
        {"automatic": False},
        {"role": "user", "calls": ("1",)},
    ],
)
def test_what_nobody_said_is_no_source(changed: dict[str, object]) -> None:
    assert said_parts(entry("words", **changed)) == ()


# --- ranges and pool ------------------------------------------------------------------------------------------------


@given(start=st.integers(0, 50), length=st.integers(0, 300))
def test_bisecting_meets_every_place_once_the_ends_first(start: int, length: int) -> None:
    places = list(bisect(Node(start=start, end=start + length)))
    assert sorted(places) == list(range(start, start + length))
    assert places[:2] == [start + length - 1, start][:length]


@given(length=st.integers(0, 300), depth=st.integers(0, 9))
def test_the_nodes_of_a_level_cover_their_parent_in_order(length: int, depth: int) -> None:
    nodes = split(Node(start=7, end=7 + length), depth)
    assert [place for node in nodes for place in range(node.start, node.end)] == list(range(7, 7 + length))
    assert all(node.end > node.start for node in nodes)
    assert len(nodes) <= 2**depth


@given(
    length=st.integers(1, 400),
    most=st.integers(1, 64),
    some=st.dictionaries(st.integers(0, 399), st.floats(0, 9), max_size=80),
)
def test_the_most_relevant_are_always_in_the_pool(length: int, most: int, some: dict[int, float]) -> None:
    relevance = [some.get(place, 0.0) for place in range(length)]
    pool = choose_pool(Node(start=0, end=length), relevance, most)
    inside = sorted(((score, place) for place, score in enumerate(relevance) if score > 0), reverse=True)
    assert {place for _, place in inside[: most - most // 8]} <= set(pool)
    assert list(pool) == sorted(set(pool))
    assert len(pool) == min(length, most)


def test_a_pool_of_one_is_the_most_relevant_one() -> None:
    assert choose_pool(Node(start=0, end=100), [0.0] * 20 + [2.0] + [0.0] * 19 + [1.0] + [0.0] * 59, 1) == (20,)
    assert choose_pool(Node(start=0, end=100), (), 1) == (99,)
    assert choose_pool(Node(start=0, end=100), [0.0] * 100, 2) == (0, 99)


def test_of_equal_ones_the_latest_are_in_the_pool() -> None:
    assert choose_pool(Node(start=0, end=6), [1.0, 2.0, 1.0, 1.0, 0.0, 1.0], 3) == (1, 3, 5)


def test_a_node_looks_at_its_own_places_only() -> None:
    pool = choose_pool(Node(start=10, end=20), [0.0] * 5 + [9.0] + [0.0] * 6 + [1.0] + [0.0] * 30, 3)
    assert pool == (10, 12, 19)


# --- bags -----------------------------------------------------------------------------------------------------------


def test_words_of_grammar_do_not_count_and_forms_are_one() -> None:
    bag = read_bag(["The ports were opened", "perché la porta, PORTS"])
    assert bag.weights["port"] > 1
    assert "the" not in bag.weights


@pytest.mark.parametrize(
    "text", ["数据库端口", "서버 포트", "ทดสอบระบบ", "сервер порт", "שלום עולם", "parse_port(x)", "🎉"]
)
def test_every_script_has_words_that_meet_themselves(text: str) -> None:
    bag = read_bag([text])
    comparison = Comparison(bag, [bag, read_bag(["something else"])])
    assert comparison.cosine(bag) == pytest.approx(1.0 if bag.weights else 0.0)


@given(texts=st.lists(any_text, min_size=1, max_size=6), asked=any_text)
def test_a_cosine_is_between_0_and_1_and_0_without_a_shared_word(texts: list[str], asked: str) -> None:
    bags = [read_bag([text]) for text in texts]
    request = read_bag([asked])
    comparison = Comparison(request, bags)
    for bag in bags:
        cosine = comparison.cosine(bag)
        assert 0 <= cosine <= 1
        assert (cosine > 0) == bool(set(request.weights) & set(bag.weights))
        assert 0 <= comparison.covered(bag) <= 1 + 1e-9
        assert 0 <= overlap(bag, request) <= 1 + 1e-9


def test_a_rare_word_weighs_more_than_one_that_stands_everywhere() -> None:
    bags = [read_bag([text]) for text in ("walnut table", "common table", "common chair", "common lamp")]
    comparison = Comparison(read_bag(["common walnut"]), bags)
    assert comparison.cosine(bags[0]) > comparison.cosine(bags[1])
    assert comparison.covered(bags[0]) > comparison.covered(bags[1])


def test_what_is_remembered_of_words_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    text = " ".join(f"word{at}x " * (at + 1) for at in range(12))
    whole = read_bag([text])
    monkeypatch.setattr(vectors, "_MOST_ROOTS", 5)
    for name, kind in (("_ROOTS", vectors._Roots), ("_BITS", vectors._Bits), ("_LOGS", vectors._Logs)):
        monkeypatch.setattr(vectors, name, kind())
    assert read_bag([text]) == whole
    assert max(len(vectors._ROOTS), len(vectors._BITS), len(vectors._LOGS)) <= 5


def test_bags_are_kept_within_their_bound_and_read_once() -> None:
    bags = Bags(most=40)
    for number in range(50):
        bags.get((bytes([number]),), [f"alpha{number} beta{number} gamma{number}"])
        assert bags.words <= 40
    kept = bags.get((b"k",), ["walnut"])
    assert bags.get((b"k",), ["something else"]) is kept
    huge = bags.get((b"h",), [" ".join(f"word{number}x" for number in range(100))])
    assert len(huge.weights) == 100
    assert bags.words <= 40


# --- the sheet ------------------------------------------------------------------------------------------------------

SMALL, LARGE = 1_024, 32_768
RANGES = ((Range("e1", "e2", 4), Range("e3", "e4", 9)), (Range("e1", "e4", 13),))
sources = st.lists(
    st.lists(any_text.filter(lambda text: bool(text) and not text.isspace()), min_size=1, max_size=3), max_size=12
)


def make_sheet(most: int, total: int = 12, ranges: tuple[tuple[Range, ...], ...] = RANGES) -> Sheet:
    return Sheet("11111111-2222-7333-8444-555555555555", total, ranges, "deterministic", most)


@given(given=sources, most=st.integers(SMALL, LARGE), scale=st.integers(1, 400))
def test_the_account_of_bytes_is_exact_and_never_exceeded(given: list[list[str]], most: int, scale: int) -> None:
    sheet = make_sheet(most)
    kept = []
    for row, parts in enumerate(given):
        source = quoted(row, *(part * scale for part in parts), id_=f"e{row}", role="assistant" if row % 2 else "user")
        fits = sheet.fits([source])
        if fits:
            sheet.add([source])
            kept.append(source)
        written = sheet.write(int)
        length = len(written.encode("utf-8", "backslashreplace"))
        assert length <= sheet.size <= most
        assert sheet.size - length == _escaped_more(written, sheet)
    view = json.loads(sheet.write(int))
    assert [source["entryId"] for source in view["evidence"]] == [source.entry.id for source in kept]
    assert [tuple(source["quotes"]) for source in view["evidence"]] == [_as_json(source.parts) for source in kept]
    assert view["counts"] == {"total": 12, "selected": len(kept), "omitted": 12 - len(kept)}


def _escaped_more(written: str, sheet: Sheet) -> int:
    """How many bytes longer the message's own way of writing is, counted source by source."""
    body = sheet.frame(int).split("\n")[2].removeprefix(CONTENT)
    assert json.loads(body) == json.loads(written)
    longer = [
        max(len(theirs.encode("utf-8", "backslashreplace")) - len(ours.encode("utf-8", "backslashreplace")), 0)
        for ours, theirs in zip(written.split('{"entryId"'), body.split('{"entryId"'), strict=True)
    ]
    return sum(longer)


def _as_json(parts: tuple[str, ...]) -> tuple[str, ...]:
    # A high and a low surrogate that stand side by side are one character in JSON and in nothing else.
    return tuple(json.loads(json.dumps(part)) for part in parts)


def test_a_source_costs_nothing_the_second_time_and_stands_once() -> None:
    sheet = make_sheet(LARGE)
    one, two, three = quoted(1, "one"), quoted(2, "two"), quoted(3, "three")
    sheet.add([one, two])
    size = sheet.size
    sheet.add([two, three])
    view = json.loads(sheet.write(lambda row: -row))
    assert [source["quotes"] for source in view["evidence"]] == [["three"], ["two"], ["one"]]
    assert sheet.selected == 2
    assert sheet.size - size == len(',{"entryId":"e0000003","role":"user","quotes":["three"]}')


def test_a_bundle_fits_to_the_byte_or_not_at_all() -> None:
    sheet = make_sheet(SMALL)
    room = SMALL - sheet.size
    framing = len('{"entryId":"e0000001","role":"user","quotes":[""]}')
    most = room - framing
    assert sheet.fits([quoted(1, "x" * most)])
    assert not sheet.fits([quoted(2, "x" * (most + 1))])
    assert not sheet.fits_alone([quoted(2, "x" * (most + 1))])
    sheet.add([quoted(1, "x" * most)])
    assert len(sheet.write(int)) == SMALL
    assert not sheet.fits([quoted(3, "y")])
    assert sheet.fits_alone([quoted(3, "y")])


def test_the_number_of_digits_counts() -> None:
    sheet = make_sheet(SMALL, total=10)
    assert json.loads(sheet.write(int))["counts"] == {"total": 10, "selected": 0, "omitted": 10}
    before = sheet.size
    sheet.add([quoted(1, "x")])
    assert sheet.size == len(sheet.write(int))
    assert sheet.size - before == len('{"entryId":"e0000001","role":"user","quotes":["x"]}') - 1, "10 became 9"


def test_the_smallest_view_has_all_fields_in_their_order() -> None:
    sheet = make_sheet(SMALL, ranges=(*RANGES, ()))
    assert not sheet.hopeless
    view = json.loads(sheet.write(int))
    assert list(view) == [
        *("kind", "advisory", "scope", "session", "follow", "navigation", "evidence", "counts", "ranges"),
        "diagnostic",
    ]
    assert view["follow"] == {
        "tool": "history_recall",
        "arguments": {"session": view["session"], "scope": "current-branch", "query": ""},
    }
    assert view["ranges"] == [
        {"firstEntryId": "e1", "lastEntryId": "e2", "entries": 4},
        {"firstEntryId": "e3", "lastEntryId": "e4", "entries": 9},
    ]


def test_ranges_become_coarser_and_vanish_rather_than_take_too_much() -> None:
    long = "e" * 60
    fine, coarse = (Range(long, long, 1),) * 3, (Range("a", "b", 3),)
    assert json.loads(make_sheet(SMALL, ranges=(fine, coarse)).write(int))["ranges"][0]["firstEntryId"] == "a"
    assert len(json.loads(make_sheet(LARGE, ranges=(fine, coarse)).write(int))["ranges"]) == 3
    assert json.loads(make_sheet(SMALL, ranges=(fine,)).write(int))["ranges"] == []


def test_a_name_that_is_too_long_leaves_no_view() -> None:
    assert Sheet("ж" * 500, 1, ((),), "deterministic", SMALL).hopeless


@given(text=any_text)
def test_a_frame_is_recognised_whatever_it_quotes(text: str) -> None:
    sheet = make_sheet(LARGE)
    sheet.add([quoted(1, f"{text}{CLOSING}\n{OPENING}{text}", id_=f"{CLOSING}\n{text}")])
    framed = sheet.frame(int)
    assert framed.count("\n") == 3
    assert framed.count(OPENING) == framed.count(CLOSING) == 1
    assert strip_frames(f"before\n{framed}\nafter") == "before\nafter"
