"""Windows of what a tool printed, by lines: which lines they take, and that they are verbatim within the limit."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import pi
from tests.words import any_text

from aforesaid import Engine, windows
from aforesaid.matching import Probe
from aforesaid.windows import choose_lines, choose_windows, join_windows

if TYPE_CHECKING:
    from pathlib import Path

PORT = Probe(("GATEWAY_PORT",), (), ("GATEWAY_PORT", "walnut"))
DULL = "nothing to see here\n"


def shown(text: str, limit: int, probe: Probe = PORT) -> str:
    return join_windows(choose_lines(text, probe, literals=probe.literals, limit=limit))


def test_a_text_within_the_limit_is_one_window() -> None:
    (window,) = choose_lines("short\nwalnut", PORT, limit=12)
    assert (window.start, window.end, window.text) == (0, 12, "short\nwalnut")


def test_lines_that_stand_far_apart_are_shown_each_by_itself() -> None:
    text = f"{DULL * 50}GATEWAY_PORT = 58213\n{DULL * 200}the walnut table\n{DULL * 50}"
    found = shown(text, 400)
    assert "GATEWAY_PORT = 58213" in found
    assert "the walnut table" in found
    assert windows.JOINT in found


def test_lines_around_a_match_come_with_it_the_nearer_the_sooner() -> None:
    lines = [f"line {number:03} {'-' * 20}" for number in range(100)]
    lines[50] = lines[50].replace("line", "walnut")
    assert shown("\n".join(lines), 95).split("\n") == lines[49:52]
    assert shown("\n".join(lines), 215).split("\n") == lines[47:54]


def test_of_lines_without_a_match_those_with_names_come_first() -> None:
    text = f"{DULL * 20}see src/app/main_window.py\n{DULL * 20}walnut\n{DULL * 20}"
    found = shown(text, 200)
    assert "walnut" in found
    assert "see src/app/main_window.py" in found


def test_a_name_counts_more_than_a_topic_and_a_repeated_item_less_each_time() -> None:
    topic, name = "walnut wood\n", "GATEWAY_PORT\n"
    apart = DULL * 30
    assert shown(f"{apart}{topic}{apart}{name}{apart}", 24).strip() == "GATEWAY_PORT"
    other = Probe((), (), ("walnut", "lamp"))
    text = f"{apart}{(topic + apart) * 3}one lamp\n{apart}"
    assert "one lamp" in shown(text, 60, other), "a new item is worth more than the second place of another"


def test_without_any_match_names_decide_and_without_both_the_beginning() -> None:
    nothing = Probe((), (), ("absent",))
    assert "a/b_c.d" in shown(f"{DULL * 50}a/b_c.d\n{DULL * 50}", 100, nothing)
    assert shown(DULL * 50, 100, nothing).startswith("nothing to see here\nnothing")


def test_names_that_are_known_or_were_quoted_before_are_worth_nothing() -> None:
    nothing = Probe((), (), ("absent",))
    text = f"{DULL * 30}see src/app/old.py\n{DULL * 30}see src/app/new.py\n{DULL * 30}"
    assert "old.py" in join_windows(choose_lines(text, nothing, limit=20))
    found = join_windows(choose_lines(text, nothing, limit=20, known={"src/app/old.py"}))
    assert ("old.py" in found, "new.py" in found) == (False, True)


def test_a_name_counts_less_in_a_later_line_and_a_long_line_has_to_hold_more() -> None:
    nothing = Probe((), (), ("absent",))
    again = f"src/a/one.py\n{DULL * 30}src/a/one.py\n{DULL * 30}src/a/two.py\n{DULL * 30}"
    found = choose_lines(again, nothing, limit=40)
    assert [window.text for window in found] == ["src/a/one.py", "src/a/two.py"], "not the second line"
    long = f"{DULL * 30}src/a/one.py {'word ' * 60}\n{DULL * 30}src/a/two.py\n{DULL * 30}"
    assert "two.py" in join_windows(choose_lines(long, nothing, limit=330))


def test_line_ends_of_windows_are_not_quoted_at_the_edges() -> None:
    text = ("dull dull dull\r\n" * 40) + "walnut\r\n" + ("dull dull dull\r\n" * 40)
    for window in choose_lines(text, PORT, limit=60):
        assert window.text == window.text.strip("\r\n")


def test_very_long_texts_are_cut_around_matches() -> None:
    text = f"{'word ' * 50_000}walnut{' word' * 50_000}"
    assert choose_lines(text, PORT, limit=1_000) == choose_windows(text, PORT, limit=1_000)


def test_a_limit_below_any_line_is_cut_around_a_match() -> None:
    text = f"{'x' * 300}\n{'walnut ' * 30}\n"
    assert choose_lines(text, PORT, limit=100) == choose_windows(text, PORT, limit=100)


def test_a_name_that_a_piece_of_a_long_line_would_cut_is_shown_whole() -> None:
    text = "12345 " * 197 + "xxxx NEEDLE_QUANTUM " + "12345 " * 400
    probe = Probe(("NEEDLE_QUANTUM",), (), ("NEEDLE_QUANTUM",))
    for limit in (400, 800, 1200, 2400):
        found = choose_lines(text, probe, literals=1, limit=limit)
        assert "NEEDLE_QUANTUM" in join_windows(found), limit
        assert min(len(window.text) for window in found) >= 20, "a piece of a line that says nothing"


def test_the_end_of_a_long_line_is_no_piece_of_its_own_if_it_is_short() -> None:
    text = f"{'abcd ' * 160}tail\n{DULL * 50}"
    for cut in range(400, 430):
        (_, end), *_ = windows._lines(text[:cut] + "\n" + DULL)
        assert end == (cut if cut < 424 else 400)


def test_a_phrase_over_two_lines_and_a_topic_at_a_cut_are_shown_whole() -> None:
    phrase = Probe((), ("red\nlamp",), ())
    assert "red\nlamp" in shown(f"{DULL * 40}{'w ' * 150}red\nlamp{' w' * 150}\n{DULL * 40}", 340, phrase)
    topic = Probe((), (), ("walnut",))
    assert "walnut" in shown("y" * 397 + " walnut " + "y " * 400, 420, topic)


def test_names_come_before_topics_also_where_a_text_is_cut_around_matches() -> None:
    topics = tuple(f"topic{chr(97 + at)}" for at in range(26))
    text = "".join(f"{topic} {'dull ' * 100}" for topic in topics) + f"GATEWAY_PORT {'dull ' * 100}"
    probe = Probe(("GATEWAY_PORT",), (), ("GATEWAY_PORT", *topics))
    assert "GATEWAY_PORT" in join_windows(choose_windows(text, probe, literals=1, limit=400))


literals = ("GATEWAY_PORT", "src/app/main.py", "two words\nmore", "--dry-run")
filling = st.sampled_from(
    ["12345 " * 70, "x" * 390, "dull\n" * 30, " ", "\n", "word " * 20, "a/b_c.d ", "walnut ", "\r\n", "ok "]
)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.one_of(filling, st.sampled_from(literals)), min_size=3, max_size=30), st.integers(60, 900))
def test_every_name_or_phrase_of_a_text_is_shown_whole_where_the_limit_can_hold_it(
    parts: list[str], limit: int
) -> None:
    text = " ".join(parts)
    probe = Probe(literals, (), ("walnut", "word"))
    held = [needle for needle in probe.matched(text)[0] if len(needle) <= limit]
    room = sum(len(needle) + 120 for needle in held)
    for choose in (choose_lines, choose_windows):
        found = choose(text, probe, literals=len(literals), limit=limit)
        assert sum(len(window.text) for window in found) <= limit
        shown_names = [needle for needle in held if any(needle in window.text for window in found)]
        assert shown_names == held if room <= limit else shown_names or not held
        for window in found:
            whole = (
                text[window.start - 1 : window.start] in ("", "\n")
                and (text[window.end : window.end + 1] or "\n") in "\r\n"
            )
            says = whole or any(needle in window.text for needle in (*literals, "walnut", "word"))
            assert says or len(window.text) >= 20, "a piece of a line that says nothing"


pieces = st.one_of(
    any_text,
    st.sampled_from(
        ["walnut", "GATEWAY_PORT", "\n", "\r\n", " ", "a/b_c.d", "👩‍👩‍👧‍👦", "e\u0301", "กำ", "각", "\ud800", "x" * 450]
    ),
)


@settings(max_examples=200, deadline=None)
@given(st.lists(pieces, max_size=40), st.integers(1, 600))
def test_windows_are_verbatim_ordered_apart_and_within_the_limit(parts: list[str], limit: int) -> None:
    text = "".join(parts)
    found = choose_lines(text, PORT, literals=1, limit=limit)
    assert found
    assert found == choose_lines(text, PORT, literals=1, limit=limit)
    assert sum(len(window.text) for window in found) <= limit
    assert all(text[window.start : window.end] == window.text for window in found)
    assert all(before.end < after.start for before, after in pairwise(found))
    borders = {0, *(match.end() for match in regex.finditer(r"\X", text))}
    assert all({window.start, window.end} <= borders for window in found if window.text)


@pytest.mark.parametrize(("query", "by_lines"), [("latest", False), ("working", True)])
def test_results_are_cut_by_lines_where_the_work_is_asked_for(tmp_path: Path, query: str, by_lines: bool) -> None:
    printed = f"walnut 1\n{DULL * 200}walnut 2, GATEWAY_PORT\n{DULL * 300}see src/app/main_window.py\n{DULL * 200}"
    rows = [
        pi.header(),
        pi.message("a0000000", None, "look at the walnut"),
        pi.message("b0000000", "a0000000", printed, "toolResult"),
        pi.message("d0000000", "b0000000", printed.replace("see ", "so: "), "assistant"),
        pi.compaction("c0000000", "d0000000", "nothing"),
        pi.message("e0000000", "c0000000", "what of the walnut and the GATEWAY_PORT?"),
    ]
    file = pi.write(tmp_path / "s.jsonl", rows)
    with Engine.open(tmp_path / "store", settings={"retrieval.query": query}) as engine:
        hits = {hit.role: hit.excerpt for hit in engine.retrieve(session=file).hits}
    assert ("see src/app/main_window.py" in hits["tool_result"]) is by_lines
    assert "src/app" not in hits["assistant"], "what is said is cut around its matches"
