from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING, Any

import pytest
from tests.schemas import check
from tests.values import TEXT, make_found, make_page, make_passage

from aforesaid.cli.terminal import show
from aforesaid.inquiry import Expansion, Reach

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.unit.cli.conftest import Done, FakeEngine

    Command = Callable[..., Done]

DEFAULTS: dict[str, Any] = {
    "session": "s", "leaf": None, "scope": "current-branch", "mode": "literal", "match": "all", "roles": [],
    "types": (), "tool": None, "file": None, "after": None, "before": None, "summaries": False, "limit": None,
    "cursor": None, "folders": (), "provider": None,
}  # fmt: skip


def test_arguments_of_recall_go_to_the_engine(command: Command, fake: FakeEngine) -> None:
    fake.answer = make_page()
    assert command("recall", "the port", "--session", "s").status == 0
    command(
        "recall", "--session=s", "--leaf=l", "--scope=current-session", "--role=user", "--role=shell", "--tool=bash",
        "--file=a.py", "--type=message", "--after=2026", "--before=2027", "--mode=regex", "--match=any", "--summaries",
        "--limit=7", "--cursor=c", "--provider=p",
    )  # fmt: skip
    assert [(name, given, named) for name, given, named in fake.calls] == [
        ("recall", ("the port",), DEFAULTS),
        (
            "recall",
            ("",),
            {
                "session": "s", "leaf": "l", "scope": "current-session", "mode": "regex", "match": "any",
                "roles": ["user", "shell"], "types": ("message",), "tool": "bash", "file": "a.py", "after": "2026",
                "before": "2027", "summaries": True, "limit": 7, "cursor": "c", "folders": (),
                "provider": "p",
            },
        ),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "arguments",
    [
        ("recall", "x", "--session=s", "--scope=world"),
        ("recall", "x", "--session=s", "--limit=many"),
        ("recall", "x", "y", "--session=s"), ("recall", "x", "--session=s", "--mode=glob"),
        ("recall", "x", "--session=s", "--role=system"), ("expand", "r", "--before=few"), ("expand", "r", "--range=a"),
        ("expand", "r", "--range=..b"), ("expand", "r", "q"),
    ],
)  # fmt: skip
def test_wrong_arguments(command: Command, fake: FakeEngine, arguments: tuple[str, ...]) -> None:
    done = command(*arguments)
    assert done.status == 2
    assert done.err.startswith("error[bad-argument]: ")
    assert not fake.calls


@pytest.mark.parametrize("given", ["branch-summary", "branch_summary"])
def test_a_type_may_be_named_as_an_answer_names_it(command: Command, fake: FakeEngine, given: str) -> None:
    fake.answer = make_page()
    assert command("recall", "x", "--session=s", f"--type={given}").status == 0
    assert fake.calls[0][2]["types"] == ("branch-summary",)


def test_the_way_on_asks_for_the_same_provider_and_project(command: Command, fake: FakeEngine, tmp_path: Path) -> None:
    fake.answer = make_page(make_found(), next="c2")
    given = ("--session=s", "--provider=o", f"--trust={tmp_path}", "--mode=regex")
    out = command("recall", *given, "--", "-x").out
    follow = next(line.split("→ ")[1] for line in out.splitlines() if "→" in line)
    more = next(line.removeprefix("more: ") for line in out.splitlines() if line.startswith("more: "))
    assert shlex.split(follow) == ["aforesaid", "expand", "lsQQref", "--provider=o", "--trust", str(tmp_path)]
    assert shlex.split(more)[-2:] == ["--", "-x"]
    assert {"--provider=o", "--trust", "--mode=regex", "--cursor=c2"} <= set(shlex.split(more))


def test_a_search_of_everything_knows_where_the_hosts_keep_their_sessions(
    command: Command, fake: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("aforesaid.cli.recall.session_folders", lambda: ("/home/dev/.pi",))
    fake.answer = make_page()
    command("recall", "x", "--scope=host-wide")
    assert (fake.calls[0][2]["session"], fake.calls[0][2]["folders"]) == (None, ("/home/dev/.pi",))


def test_a_hit_is_shown_with_its_labels_the_match_and_the_way_on(command: Command, fake: FakeEngine) -> None:
    hit = make_found(branch="other", in_context=True, derived="compaction")
    fake.answer = make_page(hit, next="m2", status="partial", coverage=Reach(complete=False, reasons=("stale",)))
    asked = ("recall", "the port", "--session", "my file", "--role", "user", "--summaries", "--limit", "3")
    again = (
        "aforesaid recall 'the port' '--session=my file' --scope=current-branch --role=user --mode=literal --match=all"
        " --summaries --limit=3 --cursor=m2 --store 'a store' --set storage.maxBytes=0"
    )
    assert command(*asked, "--store", "a store", "--set", "storage.maxBytes=0").out.splitlines() == [
        "1  assistant  2026-11-30 02:14:36 UTC  entry e0000003  [other branch]  [still in context]  [summary]",
        f"   │ {TEXT}",
        "   → aforesaid expand lsQQref --mark=the --mark=port --store 'a store' --set storage.maxBytes=0",
        "",
        "1 hit, and there are more.",
        "Not everything was searched: stale.",
        f"more: {again}",
    ]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({}, "Nothing found: no entry of this scope matches."),
        ({"coverage": Reach(complete=False, reasons=("stale",))}, "Nothing found in what was searched."),
        ({"next": "c"}, "Nothing found so far; the search goes on with the next page."),
    ],
)
def test_nothing_found_says_what_that_means(
    command: Command, fake: FakeEngine, changed: dict[str, Any], said: str
) -> None:
    fake.answer = make_page(**changed)
    assert command("recall", "x", "--session=s").out.splitlines()[0] == said


@pytest.mark.parametrize(("query", "mode"), [("port", "literal"), ("the port", "phrase"), ("p[o]rt", "regex")])
def test_matches_are_marked_on_a_terminal_only(
    command: Command, fake: FakeEngine, monkeypatch: pytest.MonkeyPatch, query: str, mode: str
) -> None:
    fake.answer = make_page(make_found())
    asked = ("recall", query, "--session=s", f"--mode={mode}")
    assert "\x1b" not in command(*asked).out
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert f"\x1b[1;33m{query.replace('[o]', 'o')}\x1b[0m" in command(*asked).out


def test_quoted_text_cannot_act_on_the_terminal(command: Command, fake: FakeEngine) -> None:
    evil = "port \x1b[2J\x9b\u202eK"
    fake.answer = make_page(make_found(snippet=evil, entry_id="e\x1b[1m"))
    out = command("recall", "port \x1b", "--session=s").out
    assert not {"\x1b", "\x9b", "\u202e"} & set(out)
    fake.answer = Expansion(entries=(make_passage(evil, entry_id="\x1b"),), next=None)
    assert not {"\x1b", "\x9b", "\u202e"} & set(command("expand", "r").out)


def test_json_is_the_document_of_the_contract(command: Command, fake: FakeEngine) -> None:
    fake.answer = make_page(make_found())
    assert check("recall", command("recall", "port", "--session=s", "--json").out)["hits"][0]["snippet"] == TEXT
    fake.answer = Expansion(entries=(make_passage(),), next="c")
    assert check("expand", command("expand", "r", "--json").out)["next"] == "c"


def test_arguments_of_expand_go_to_the_engine(command: Command, fake: FakeEngine) -> None:
    fake.answer = Expansion(entries=(), next=None)
    command("expand", "r")
    command(
        "expand", "--session=s", "--entry", "a", "b", "--entry", "c", "--leaf=l", "--before=1", "--after=2",
        "--start-line=3", "--max-lines=4", "--cursor=d", "--provider=p",
    )  # fmt: skip
    command("expand", "--session=s", "--range", "a..b..c")
    blank: dict[str, Any] = {
        "session": None, "entries": [], "first": None, "last": None, "leaf": None, "before": 0, "after": 0,
        "start_line": 1, "max_lines": None, "cursor": None, "provider": None,
    }  # fmt: skip
    given = {
        "session": "s", "entries": ["a", "b", "c"], "leaf": "l", "before": 1, "after": 2, "start_line": 3,
        "max_lines": 4, "cursor": "d", "provider": "p",
    }  # fmt: skip
    assert [call[1:] for call in fake.calls] == [
        (("r",), blank),
        ((None,), {**blank, **given}),
        ((None,), {**blank, "session": "s", "first": "a", "last": "b..c"}),
    ]


def test_an_original_is_shown_with_its_provenance(command: Command, fake: FakeEngine) -> None:
    fake.answer = Expansion(
        entries=(
            make_passage("one\ntwo", start_line=3, complete=False, redacted=2),
            make_passage("", verified=False, role="custom", timestamp=None),
        ),
        next="m9",
    )
    assert command("expand", "--session=s", "--entry", "e 1", "e2", "--before", "2").out.splitlines() == [
        "assistant  2026-11-30 02:14:36 UTC  entry e0000003, lines 3 to 4",
        "   the line in the transcript is unchanged; 2 secrets replaced",
        "   │ one",
        "   │ two",
        "",
        "custom  unknown date  entry e0000003",
        "   there is no line to compare with",
        "   │ ",
        "",
        "more: aforesaid expand --session=s '--entry=e 1' --entry=e2 --before=2 --after=0 --start-line=1 --cursor=m9",
    ]


def test_what_was_searched_is_marked_in_the_original_on_a_terminal_only(
    command: Command, fake: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake.answer = Expansion(entries=(make_passage("the port\nof the gateway\x1b"),), next=None)
    asked = ("expand", "r", "--mark=the", "--mark=e g", "--mark= ", "--mark=nowhere")
    plain = command(*asked).out
    assert "\x1b" not in plain
    assert "│ of the gateway\u241b" in plain
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("FORCE_COLOR", "1")
    out = command(*asked).out
    assert "\x1b[1;33mthe\x1b[0m port" in out
    assert "of \x1b[1;33mthe g\x1b[0mateway" in out


@pytest.mark.parametrize(
    ("query", "mode", "marks"),
    [
        ("a b c d e", "literal", " --mark=a --mark=b --mark=c --mark=d"),
        ("two words", "phrase", " '--mark=two words'"),
        ("w.*s", "regex", ""),
        (" ", "literal", ""),
        ("", "phrase", ""),
    ],
)
def test_the_way_on_marks_what_was_searched(
    command: Command, fake: FakeEngine, query: str, mode: str, marks: str
) -> None:
    fake.answer = make_page(make_found())
    out = command("recall", query, "--session=s", f"--mode={mode}").out
    assert f"   → aforesaid expand lsQQref{marks}\n" in out


class _Terminal:
    """A screen of a few lines."""

    def __init__(self, real: Any) -> None:
        self._real = real

    def isatty(self) -> bool:
        return True

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)


@pytest.mark.parametrize(("lines", "paged"), [(3, False), (40, True)])
def test_what_does_not_fit_on_the_screen_goes_through_the_pager(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], lines: int, paged: bool
) -> None:
    shown: list[str] = []
    monkeypatch.setattr("pydoc.pager", shown.append)
    monkeypatch.setattr(sys, "stdout", _Terminal(sys.stdout))
    monkeypatch.setattr(sys, "stdin", _Terminal(sys.stdin))
    monkeypatch.setenv("LINES", "20")
    monkeypatch.delenv("LESS", raising=False)
    show([f"line {number}" for number in range(lines)], paged=True)
    assert bool(shown) == paged
    out = "".join(shown) + capsys.readouterr().out
    assert [line for line in out.splitlines() if line] == [f"line {number}" for number in range(lines)]
