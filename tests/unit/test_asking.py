"""Arguments of an explicit search as a question: what is refused, and what counts as the same."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aforesaid.asking import read_question
from aforesaid.errors import BadArgument
from aforesaid.inquiry import DERIVED, KINDS, NAMED_KINDS, Question

DEFAULTS: dict[str, Any] = {
    "mode": "literal", "match": "all", "scope": "current-branch", "roles": (), "types": (), "tool": None, "file": None,
    "after": None, "before": None, "summaries": False, "withheld": False,
}  # fmt: skip


def ask(text: str = "x", **changed: Any) -> Question:
    return read_question(text, **{**DEFAULTS, **changed})


@pytest.mark.parametrize("name", ["tool", "file"])
@pytest.mark.parametrize("value", ["", " ", "\t\n", "\u3000"])
def test_a_filter_that_names_nothing_is_refused(name: str, value: str) -> None:
    with pytest.raises(BadArgument, match=f"the {name} to filter by is empty"):
        ask(**{name: value})


@pytest.mark.parametrize("value", ["./", ".\\", "./ "])
def test_a_path_of_which_nothing_is_left_is_refused(value: str) -> None:
    with pytest.raises(BadArgument, match="the file to filter by is empty"):
        ask(file=value)
    assert ask(tool=value).filter.tool == value


@given(st.text(min_size=1).filter(lambda text: bool(text.strip())))
def test_any_other_name_of_a_tool_is_taken_as_it_is(name: str) -> None:
    assert ask(tool=name).filter.tool == name


@pytest.mark.parametrize("name", ["after", "before"])
def test_an_empty_time_is_refused(name: str) -> None:
    with pytest.raises(BadArgument, match="is no time"):
        ask(**{name: ""})


@pytest.mark.parametrize(("name", "value"), [("roles", ("",)), ("types", ("",)), ("mode", ""), ("scope", "")])
def test_an_empty_choice_is_refused(name: str, value: Any) -> None:
    with pytest.raises(BadArgument, match="there is no"):
        ask(**{name: value})


def test_whoever_asks_for_summaries_by_kind_or_role_gets_them() -> None:
    assert not ask().filter.summaries
    assert not ask(types=("message",)).filter.summaries
    assert ask(types=("compaction",)).filter.summaries
    assert ask(types=("branch-summary",)).filter.summaries
    assert ask(roles=("user", "summary")).filter.summaries


def test_a_kind_may_be_named_as_an_answer_says_what_is_derived() -> None:
    assert ask(types=("branch_summary",)) == ask(types=("branch-summary",))
    said = {*DERIVED.values()}
    assert {NAMED_KINDS.get(name, name) for name in said} == set(DERIVED)
    assert not set(NAMED_KINDS) & set(KINDS)
    with pytest.raises(BadArgument, match="there is no type 'context_edits'"):
        ask(types=("context_edits",))
