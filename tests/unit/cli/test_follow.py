"""Commands that go on from an answer, quoted for the shells that they are pasted into."""

from __future__ import annotations

import shlex
from argparse import Namespace
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from aforesaid.cli import expand, follow, recall
from aforesaid.cli.arguments import Options, read_options
from aforesaid.cli.parser import make_parser

if TYPE_CHECKING:
    from argparse import ArgumentParser
    from types import ModuleType


def parse(line: str) -> list[str]:
    """The words of a command line as programs of Windows read it (UCRT, "Parsing C command-line arguments")."""
    words: list[str] = []
    word, inside, begun, at = "", False, False, 0
    while at < len(line):
        backslashes = 0
        while at < len(line) and line[at] == "\\":
            backslashes, at = backslashes + 1, at + 1
        if at < len(line) and line[at] == '"':
            word += "\\" * (backslashes // 2)
            begun = True
            if backslashes % 2:
                word += '"'
            elif inside and line[at + 1 : at + 2] == '"':
                word += '"'
                at += 1
            else:
                inside = not inside
            at += 1
            continue
        word += "\\" * backslashes
        begun = begun or backslashes > 0
        if at == len(line):
            break
        if line[at] in " \t" and not inside:
            if begun:
                words.append(word)
            word, begun = "", False
        else:
            word, begun = word + line[at], True
        at += 1
    return [*words, word] if begun else words


def options(**changed: object) -> Options:
    values = {"store": None, "config": None, "settings": (), "trust": None, "json": False, "verbose": False}
    return Options(**{**values, **changed})  # type: ignore[arg-type]


@given(st.lists(st.text(st.characters(blacklist_categories=("Cs", "Cc"))), min_size=1))
@example(["a b", "", '"', 'x\\"y', "c:\\dir with\\", "c:\\dir\\", "it's", "a&b", "--tool=a.b", "@x", "a,b", "数据 库"])
def test_programs_of_windows_get_the_words_back(words: list[str]) -> None:
    assert parse(" ".join(map(follow.quote_for_windows, words))) == words


@pytest.mark.parametrize(
    ("word", "quoted"),
    [
        ("expand", "expand"), ("--limit=3", "--limit=3"), (r"C:\Users\dev", r"C:\Users\dev"), ("", '""'),
        ("two words", '"two words"'), ("it's", '"it\'s"'), ("a&b", '"a&b"'), ("a|b>c", '"a|b>c"'), ("a;b", '"a;b"'),
        ("a,b", '"a,b"'), ("@x", '"@x"'), ("(x)", '"(x)"'), ("#x", '"#x"'), ("{x}", '"{x}"'), ("a^b", '"a^b"'),
        ("--tool=a.b", '"--tool=a.b"'), ('say "so"', '"say ""so"""'), ("a b\\", '"a b\\\\"'), ("数据库", '"数据库"'),
    ],
)  # fmt: skip
def test_whatever_a_shell_of_windows_could_read_stands_in_double_quotes(word: str, quoted: str) -> None:
    assert follow.quote_for_windows(word) == quoted


def test_a_command_is_quoted_for_the_system_that_it_is_shown_on(monkeypatch: pytest.MonkeyPatch) -> None:
    given_ = options(store="my store", settings=("a.b=it's",))
    monkeypatch.setattr(follow, "WINDOWS", False)
    posix = follow.command(["recall", "two words"], given_)
    assert shlex.split(posix) == ["aforesaid", "recall", "two words", "--store", "my store", "--set", "a.b=it's"]
    trusting = follow.command(["expand", "r"], options(trust="/my project"))
    assert shlex.split(trusting) == ["aforesaid", "expand", "r", "--trust", "/my project"]
    monkeypatch.setattr(follow, "WINDOWS", True)
    assert follow.command(["recall", "two words"], given_) == (
        'aforesaid recall "two words" --store "my store" --set "a.b=it\'s"'
    )


SHOWN_ONLY = {"json", "verbose"}
"""Options that change how an answer is shown, and not what it is."""


def values_for(parser: ArgumentParser, *, without: set[str]) -> dict[str, object]:
    """A value for everything that a command takes, none of them the default."""
    found: dict[str, object] = {}
    for action in parser._actions:
        if action.dest in {"help", "version", *without}:
            continue
        value: object = {int: 7}.get(action.type, "some value")  # type: ignore[call-overload]
        if action.choices:
            value = [choice for choice in action.choices if choice != action.default][-1]
        if action.dest == "range":
            value = "a..b"
        if action.nargs == 0:
            value = True
        several = isinstance(action.default, list)
        found[action.dest] = [value] if several else value
    return found


@pytest.mark.parametrize(
    ("name", "module", "without"),
    [("recall", recall, set[str]()), ("expand", expand, {"ref"}), ("expand", expand, {"session", "entry", "range"})],
)
@pytest.mark.parametrize("query", ["two words", "-x", "--json", ""])
def test_the_next_page_repeats_everything_that_changes_what_is_answered(
    monkeypatch: pytest.MonkeyPatch, name: str, module: ModuleType, without: set[str], query: str
) -> None:
    monkeypatch.setattr(follow, "WINDOWS", False)
    parser = make_parser(name)
    module.add_arguments(parser)
    given_ = Namespace(**{**vars(parser.parse_args([])), **values_for(parser, without=without)})
    if name == "recall":
        given_.query = query
    line = follow.next_page(given_, "c2", read_options(given_))
    again = parser.parse_args(shlex.split(line)[2:])
    expected = {**vars(given_), "cursor": "c2"}
    assert {key: value for key, value in vars(again).items() if key not in SHOWN_ONLY} == {
        key: value for key, value in expected.items() if key not in SHOWN_ONLY
    }
