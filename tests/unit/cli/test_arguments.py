"""A command line that is read at a glance gives what argparse gives; whatever is not plain is left to argparse."""

from __future__ import annotations

from argparse import ArgumentParser
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aforesaid.cli import COMMANDS
from aforesaid.cli.arguments import Arguments
from aforesaid.cli.parser import make_parser

if TYPE_CHECKING:
    from types import SimpleNamespace

    from aforesaid.cli.parser import Parser

VALUES = (
    "",
    "-",
    "--",
    "-1",
    "-x",
    "--json",
    "x",
    "=",
    "a=b",
    "a b",
    "-a b",
    "7",
    "+7",
    "٣",
    "007",
    "0x1",
    "1_0",
    "9" * 19,
)
SPELLINGS = (
    "--session",
    "--query",
    "--nothing",
    "--sess",
    "-v",
    "-vv",
    "-h",
    "--help",
    "--version",
    "--json=",
    "--",
    "-",
)


def both(name: str) -> tuple[Arguments, Parser]:
    command = import_module(f"aforesaid.cli.{name}")
    quick, full = Arguments(), make_parser(name)
    command.add_arguments(quick)
    command.add_arguments(full)
    return quick, full


@cache
def words_of(name: str) -> tuple[str, ...]:
    """What a command line of this command may be made of: its options, the values that they allow, and traps."""
    actions = both(name)[1]._actions
    options = [option for action in actions for option in action.option_strings]
    allowed = [str(choice) for action in actions for choice in action.choices or ()]
    joined = [f"{option}={value}" for option in options for value in (*VALUES[:8], *allowed[:3])]
    return (*options, *options, *allowed, *VALUES, *SPELLINGS, *joined)


def lines_of(name: str) -> st.SearchStrategy[tuple[str, list[str]]]:
    word = st.sampled_from(words_of(name)) | st.text(max_size=4)
    return st.tuples(st.just(name), st.lists(word, max_size=8))


def compared(name: str, line: list[str]) -> SimpleNamespace | None:
    quick, full = both(name)
    glanced = quick.read(line)
    if glanced is not None:
        # Values, their types, and the order in which they are told.
        assert repr(list(vars(glanced).items())) == repr(list(vars(full.parse_args(line)).items()))
    return glanced


@given(drawn=st.sampled_from(sorted(COMMANDS)).flatmap(lines_of))
def test_whatever_is_read_at_a_glance_is_what_argparse_reads(drawn: tuple[str, list[str]]) -> None:
    compared(*drawn)


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("retrieve", "--session s.jsonl"),
        ("retrieve", "--session s.jsonl --query - --json -v --store x --config y --set a=1 --set b=2 --trust z"),
        ("retrieve", "--session=s.jsonl --query=- --leaf a --leaf b --context-entries a,b --provider local"),
        ("recall", "words --session s --scope host-wide --role user --role shell --limit 7 --summaries"),
        ("recall", "--session s words"),
        ("recall", "--session s"),
        ("expand", "a-ref --mark one --mark two --before 0 --after 3"),
        ("plan", "--session s --context-window 200000"),
        ("status", ""),
        ("sessions", "--host pi"),
    ],
)
def test_plain_command_lines_are_read_at_a_glance(name: str, line: str) -> None:
    assert compared(name, line.split()) is not None


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("retrieve", ""),  # --session is required
        ("retrieve", "--session"),
        ("retrieve", "--session --json"),
        ("retrieve", "--session s --query -1"),
        ("retrieve", "--session s --query="),
        ("retrieve", "--session s --json=yes"),
        ("retrieve", "--session s word"),
        ("retrieve", "--sess s"),
        ("retrieve", "--session s -- x"),
        ("retrieve", "--session s -vv"),
        ("retrieve", "--session s --help"),
        ("retrieve", "--version"),
        ("recall", "two words"),
        ("recall", "--role nobody"),
        ("recall", "--limit seven"),
        ("recall", "--limit 1_0"),
        ("expand", "--session s --entry a b"),
        ("index", "a b"),
        ("install", "pi"),
        ("config", "get key"),
    ],
)
def test_anything_else_is_left_to_argparse(name: str, line: str) -> None:
    assert both(name)[0].read(line.split()) is None


def test_a_repeatable_option_leaves_its_default_alone() -> None:
    quick, _ = both("recall")
    assert [getattr(quick.read(["--role", role]), "role", None) for role in ("user", "shell")] == [["user"], ["shell"]]
    assert getattr(quick.read([]), "role", None) == []


@pytest.mark.parametrize(
    "declared",
    [
        {"nargs": "+", "required": True},
        {"action": "count", "required": True},
        {"type": float, "required": True},
        {"unheard": 1, "required": True},
    ],
)
def test_a_command_that_requires_what_is_not_understood_is_left_to_argparse(declared: dict[str, Any]) -> None:
    quick = Arguments()
    quick.add_argument("--odd", **declared)
    assert quick.read([]) is None


def test_an_option_that_is_not_understood_is_left_to_argparse_only_where_it_stands() -> None:
    quick, full = Arguments(), ArgumentParser()
    for parser in (quick, full):
        parser.add_argument("--many", nargs="+", default=["x"])
    found = quick.read(["--json"])
    assert found is not None
    assert (found.many, found.json) == (["x"], True)
    assert quick.read(["--many", "y"]) is None
    assert full.parse_args(["--many", "y"]).many == ["y"]
