from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING, Any

import pytest
from tests.schemas import check
from tests.values import TEXT, make_evidence, make_retrieval

from aforesaid.answers import Coverage, Matched, Query, Window
from aforesaid.cli.hits import reason_in_words, sum_in_words

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.unit.cli.conftest import Done, FakeEngine

    from aforesaid.model import Role

    Command = Callable[..., Done]

RETRIEVE = ("retrieve", "--session", "s")


def test_arguments_go_to_the_engine(command: Command, fake: FakeEngine) -> None:
    fake.answer = make_retrieval()
    command(*RETRIEVE)
    command(*RETRIEVE, "--leaf", "e1", "--query", "the port", "--context-entries", "a, b,,c", "--provider", "a")
    command(*RETRIEVE, "--query", "", "--context-entries", "")
    assert [call[2] for call in fake.calls] == [
        {"session": "s", "leaf": None, "query": None, "context_entries": None, "provider": None},
        {"session": "s", "leaf": "e1", "query": "the port", "context_entries": ("a", "b", "c"), "provider": "a"},
        {"session": "s", "leaf": None, "query": "", "context_entries": (), "provider": None},
    ]


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ("perché 数据库".encode(), "perché 数据库"),
        ("\ufeffport\n".encode(), "port\n"),
        (b"caf\xe9", "caf\ufffd"),
        (b"", ""),
    ],
)
def test_a_dash_reads_the_request_from_standard_input_as_utf8(
    given: bytes, read: str, command: Command, fake: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given), encoding="ascii"))
    fake.answer = make_retrieval()
    command(*RETRIEVE, "--query", "-")
    assert fake.calls[0][2]["query"] == read


def test_json_is_the_document_of_the_contract(command: Command, fake: FakeEngine) -> None:
    fake.answer = make_retrieval(make_evidence())
    done = command(*RETRIEVE, "--json")
    assert (done.status, done.err) == (0, "")
    assert check("retrieval", done.out)["hits"][0]["excerpt"] == TEXT


def test_a_hit_is_shown_with_provenance_score_reason_and_text(command: Command, fake: FakeEngine) -> None:
    fake.answer = make_retrieval(make_evidence())
    because = "1 literal name, 2 topics of the request, 1 file that the request names, said by the assistant"
    left_out = (
        "3 still in the model's context, 2 duplicates of what is shown, 1 over the limit of 12 hits or 16,000 tokens"
    )
    assert command(*RETRIEVE).out.splitlines() == [
        "asked for names        src/db.py",
        "asked for words        port",
        "",
        "1  assistant  2026-11-30 02:14:36 UTC  entry e0000003",
        "   score 159.25 = 100 identifier + 40 extraTerms + 15 branch + 5 authority − 0.75 tokens",
        f"   found because: {because}",
        f"   │ {TEXT}",
        "",
        f"1 hit, 120 of 16,000 tokens. Not shown: {left_out}.",
    ]


def test_the_score_is_never_called_a_confidence_or_shown_as_a_percentage(command: Command, fake: FakeEngine) -> None:
    fake.answer = make_retrieval(make_evidence(), make_evidence())
    for given in ([], ["-v"], ["--json"]):
        shown = command(*RETRIEVE, *given).out.lower()
        for word in ("confidence", "confident", "probability", "likel", "%", "percent"):
            assert word not in shown


def test_verbose_adds_counts_and_time(command: Command, fake: FakeEngine) -> None:
    fake.answer = make_retrieval(make_evidence())
    assert "9 candidates, 1 eligible, 0 off the branch; 1.2 ms" in command(*RETRIEVE, "-v").out


def test_matches_are_highlighted_on_a_terminal_only(
    command: Command, fake: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake.answer = make_retrieval(make_evidence())
    assert "\x1b" not in command(*RETRIEVE).out
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("FORCE_COLOR", "1")
    coloured = command(*RETRIEVE).out
    assert "\x1b[1;33mport\x1b[0m" in coloured
    assert "\x1b[1;33msrc/db.py\x1b[0m" in coloured
    monkeypatch.setenv("NO_COLOR", "1")
    assert "33m" not in command(*RETRIEVE).out


def test_quoted_text_cannot_act_on_the_terminal(
    command: Command, fake: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "port \x1b[2J\x1b]52;c;ZXZpbA==\x07\r\x9bK \u202eport"
    fake.answer = make_retrieval(
        make_evidence(text, matched=Matched(terms=("port",)), id="e\x1b1"), query=Query(keywords=("po\x1brt",))
    )
    shown = command(*RETRIEVE).out
    assert "   │ port ␛[2J␛]52;c;ZXZpbA==␇␍\\x9bK \\u202eport" in shown.splitlines()
    assert not set(shown) & set("\x1b\x07\r\x9b\u202e")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("FORCE_COLOR", "1")
    coloured = command(*RETRIEVE).out
    assert "\x1b[2J" not in coloured
    assert "\x1b]" not in coloured


def test_long_excerpts_are_shown_around_their_matches_and_whole_with_v(command: Command, fake: FakeEngine) -> None:
    lines = [f"line {number}" for number in range(60)]
    lines[30] = "the port is 5433"
    fake.answer = make_retrieval(make_evidence("\n".join(lines), matched=Matched(terms=("port",))))
    shown = command(*RETRIEVE).out.splitlines()
    assert shown[6:11] == ["   ⋮ 29 lines", "   │ line 29", "   │ the port is 5433", "   │ line 31", "   ⋮ 28 lines"]
    whole = command(*RETRIEVE, "-v").out.splitlines()
    assert [line[5:] for line in whole if line.startswith("   │ ")] == lines


def test_a_long_line_is_cut_around_its_first_match(command: Command, fake: FakeEngine) -> None:
    text = "数" * 1000 + " port 5433 " + "x" * 1000
    fake.answer = make_retrieval(make_evidence(text, matched=Matched(terms=("port",))))
    (line,) = [line for line in command(*RETRIEVE).out.splitlines() if "│" in line]
    assert line.startswith("   │ …数")
    assert " port 5433 x" in line
    assert line.endswith("x…")
    assert len(line) < 300
    assert any(text in line for line in command(*RETRIEVE, "-v").out.splitlines())


def test_windows_are_divided_as_in_the_excerpt(command: Command, fake: FakeEngine) -> None:
    windows = (Window(start=7, end=15, text=TEXT[7:15]), Window(start=26, end=35, text=TEXT[26:35]))
    fake.answer = make_retrieval(make_evidence(windows=windows))
    shown = command(*RETRIEVE).out.splitlines()
    assert shown[6:9] == [f"   │ {TEXT[7:15]}", "   […]", f"   │ {TEXT[26:35]}"]


def test_no_topic_is_said_in_one_sentence(command: Command, fake: FakeEngine) -> None:
    fake.answer = make_retrieval(status="no-query", query=Query(), in_context_count=0, duplicate_count=0)
    done = command(*RETRIEVE)
    assert done.status == 0
    assert done.out.count("\n") == 1
    assert "names no topic" in done.out


def test_nothing_found_is_said_with_the_reason(command: Command, fake: FakeEngine) -> None:
    fake.answer = make_retrieval(duplicate_count=0, planner_excluded_count=0)
    done = command(*RETRIEVE)
    assert done.status == 0
    assert done.out.splitlines()[-1] == (
        "Nothing found: no entry that the model does not see any more matches the request. "
        "Not shown: 3 still in the model's context."
    )


def test_what_matches_and_is_not_shown_is_never_said_not_to_match(command: Command, fake: FakeEngine) -> None:
    counts: dict[str, Any] = {"in_context_count": 0, "duplicate_count": 0}
    fake.answer = make_retrieval(**counts, eligible_count=4, planner_excluded_count=4, max_tokens=90)
    assert command(*RETRIEVE).out.splitlines()[-1] == (
        "Nothing shown, though 4 entries that the model does not see any more match the request. "
        "Not shown: 4 over the limit of 12 hits or 90 tokens."
    )
    fake.answer = make_retrieval(**counts, eligible_count=1, planner_excluded_count=0, privacy_excluded_count=1)
    assert command(*RETRIEVE).out.splitlines()[-1] == (
        "Nothing shown, though 1 entry that the model does not see any more matches the request. "
        "Not shown: 1 withheld by the privacy policy."
    )


def test_the_limit_that_kept_entries_back_is_named(command: Command, fake: FakeEngine) -> None:
    counts: dict[str, Any] = {"in_context_count": 0, "duplicate_count": 0, "planner_excluded_count": 58}
    fake.answer = make_retrieval(make_evidence(), **counts, allowed_tokens=1_600)
    spared = "58 kept back by retrieval.sparing (1,600 of 16,000 tokens may be spent beside what the model sees)."
    assert command(*RETRIEVE).out.splitlines()[-1] == f"1 hit, 120 of 16,000 tokens. Not shown: {spared}"
    fake.answer = make_retrieval(make_evidence(), **counts, allowed_tokens=1_600, max_results=1)
    limit = "58 over the limit of 1 hit or 16,000 tokens."
    assert command(*RETRIEVE).out.splitlines()[-1] == f"1 hit, 120 of 16,000 tokens. Not shown: {limit}"
    fake.answer = make_retrieval(make_evidence(), **counts, allowed_tokens=16_000)
    assert "sparing" not in command(*RETRIEVE).out


@pytest.mark.parametrize(("silenced", "said"), [(1, "1 entry that {} shares"), (2, "2 entries that {} share")])
def test_what_matches_by_accident_is_told(silenced: int, said: str, command: Command, fake: FakeEngine) -> None:
    fake.answer = make_retrieval(
        in_context_count=0, duplicate_count=0, planner_excluded_count=0, silenced_count=silenced
    )
    assert command(*RETRIEVE).out.splitlines()[-1] == (
        f"Nothing found: {said.format('the model does not see any more')} a word with the request, too little to "
        "count; `aforesaid recall` with that word, or a narrower request, shows more."
    )


@pytest.mark.parametrize(
    ("warnings", "said"),
    [
        (("privacy-unreadable",), "the privacy settings could not be read"),
        (("session-forgotten",), "the session was forgotten"),
        ((), "retrieval.exact and retrieval.fts"),
    ],
)
def test_a_disabled_retrieval_says_by_what(
    warnings: tuple[str, ...], said: str, command: Command, fake: FakeEngine
) -> None:
    fake.answer = make_retrieval(status="disabled", warnings=warnings)
    done = command(*RETRIEVE)
    assert done.status == 0
    assert said in done.out
    assert done.out.count("Nothing was searched: ") == 1


def test_a_failed_retrieval_is_status_1_with_the_usual_document(command: Command, fake: FakeEngine) -> None:
    fake.answer = make_retrieval(status="failed", session=False, warnings=("exact-search-failed",))
    done = command(*RETRIEVE, "--json")
    assert done.status == 1
    document = check("retrieval", done.out)
    assert (document["status"], document["diagnostics"]["warnings"]) == ("failed", ["exact-search-failed"])
    done = command(*RETRIEVE)
    assert (done.status, done.out) == (1, "")
    assert done.err.startswith("error[exact-search-failed]: ")


def test_what_could_not_be_searched_is_said(command: Command, fake: FakeEngine) -> None:
    fake.answer = make_retrieval(
        make_evidence(),
        coverage=Coverage(complete=False, reasons=("invalid-json", "stale")),
        warnings=("fts-failed", "x"),
    )
    shown = command(*RETRIEVE).out.splitlines()
    assert shown[-3:] == [
        "Not everything could be searched: invalid-json, stale.",
        "The full-text search failed; only literal hits are shown.",
        "Warning: x",
    ]


def test_a_request_that_was_not_read_whole_is_said(command: Command, fake: FakeEngine) -> None:
    fake.answer = make_retrieval(coverage=Coverage(complete=False, reasons=("terms-dropped",)))
    assert command(*RETRIEVE).out.splitlines()[-2:] == [
        "Not everything could be searched: terms-dropped.",
        "The request is so long that not all that it names was looked for.",
    ]


def test_a_reason_in_words_keeps_codes_that_are_not_known() -> None:
    assert reason_in_words("identifier:2;phrase:1;user;new-code:3") == (
        "2 literal names, 1 quoted phrase, said by the user, new-code:3"
    )


@pytest.mark.parametrize(
    ("role", "said"),
    [
        ("tool_result", "the result of the call that matches"),
        ("tool_call", "the call of the result that matches"),
        ("assistant", "the call of the result that matches"),
        ("user", "the other half of a call and its result, of which one matches"),
        (None, "the other half of a call and its result, of which one matches"),
    ],
)
def test_the_other_half_of_a_hit_is_told_as_what_it_is(role: Role | None, said: str) -> None:
    assert reason_in_words("pair", role) == said


def test_a_score_is_shown_as_a_sum() -> None:
    assert sum_in_words(make_evidence()) == (
        "159.25 = 100 identifier + 40 extraTerms + 15 branch + 5 authority − 0.75 tokens"
    )


def test_a_cut_line_ends_where_it_is_cut_even_if_matches_follow(command: Command, fake: FakeEngine) -> None:
    text = "port " + "x" * 1000 + " port"
    fake.answer = make_retrieval(make_evidence(text, matched=Matched(terms=("port",))))
    (line,) = [line for line in command(*RETRIEVE).out.splitlines() if "│" in line]
    assert line == f"   │ port {'x' * 235}…"


def test_an_excerpt_without_a_match_is_shown_from_its_beginning(command: Command, fake: FakeEngine) -> None:
    text = "\n".join(f"line {number}" for number in range(40))
    fake.answer = make_retrieval(make_evidence(text, matched=Matched(terms=("nowhere",))))
    shown = [line for line in command(*RETRIEVE).out.splitlines() if "│" in line or "⋮" in line]
    assert shown[0] == "   │ line 0"
    assert shown[-1] == "   ⋮ 28 lines"


def test_what_the_policy_withheld_is_counted(command: Command, fake: FakeEngine) -> None:
    fake.answer = make_retrieval(
        in_context_count=0, duplicate_count=0, planner_excluded_count=0, privacy_excluded_count=2
    )
    assert command(*RETRIEVE).out.splitlines()[-1].endswith(" Not shown: 2 withheld by the privacy policy.")


def test_overlapping_matches_are_marked_once(
    command: Command, fake: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake.answer = make_retrieval(make_evidence(matched=Matched(identifiers=("src/db.py",), terms=("db", "src/db.py"))))
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert command(*RETRIEVE).out.count("\x1b[1;33m") == 1
