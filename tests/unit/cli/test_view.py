"""`aforesaid view` as people see it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.schemas import check
from tests.views import quoted

from aforesaid.answers import Coverage
from aforesaid.extractive.sheet import Range, Sheet
from aforesaid.extractive.values import Candidate, HistoryView, ViewDiagnostics

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.unit.cli.conftest import Done, FakeEngine


def made(*parts: str, **more: object) -> HistoryView:
    sheet = Sheet("s", 7, ((Range("e1", "e9", 5),),), "deterministic", 30_000)
    if parts:
        sheet.add([quoted(1, *parts)])
    text = sheet.write(int)
    own = (quoted(1, "x"), quoted(3, "y"))
    candidates = (
        Candidate(place=1, own=own, addends=(40, 60, 0, 1, 2, 0, 0), relevant=True, key=b"", fate="selected"),
        Candidate(place=0, own=(), addends=(0, 1.5, 0, 0, 0, 0, 0), relevant=False, key=b"", fate="in-context"),
    )
    counts = ViewDiagnostics(total=7, selected=1, omitted=6)
    return HistoryView(
        text=text, bytes=len(text), entry_ids=("e0000001",), diagnostics=counts, candidates=candidates, **more  # type: ignore[arg-type]
    )  # fmt: skip


def test_quotes_stand_with_their_sources_and_long_ones_are_cut(fake: FakeEngine, command: Callable[..., Done]) -> None:
    fake.answer = made("first\nline \x1b[31m", "z" * 500)
    done = command("view", "--session=s.jsonl")
    lines = done.out.splitlines()
    assert lines[0] == f"1 bundle of 7, 1 entry, {fake.answer.bytes:,} bytes, deterministic"
    assert lines[1:5] == ["", "e0000001  user", "  first", "  line \u241b[31m"]
    assert lines[5] == "  " + "z" * 400 + "…"
    assert "z" * 500 in command("view", "--session=s.jsonl", "-v").out
    assert fake.calls[0] == ("view", (), {"session": "s.jsonl", "leaf": None, "query": None, "provider": None})


def test_each_bundle_is_explained(fake: FakeEngine, command: Callable[..., Done]) -> None:
    fake.answer = made("words")
    lines = command("view", "--session=s.jsonl", "--explain", "--query=port").out.splitlines()
    assert lines[-2] == (
        "   103.00  selected    e0000001..e0000003  relevance +40.00 index +60.00 recency +1.00 roles +2.00"
    )
    assert lines[-1] == "     1.50  in-context  -  index +1.50"
    document = check("view", command("view", "--session=s.jsonl", "--explain", "--json").out)
    assert [bundle["fate"] for bundle in document["diagnostics"]["bundles"]] == ["selected", "in-context"]


@pytest.mark.parametrize(
    ("reason", "told"),
    [
        ("no-query", "The request names no topic, so there is no view."),
        ("nothing-lost", "The model still sees everything that was said on this branch."),
        ("nothing-relevant", "Nothing that was lost has to do with the request."),
        ("privacy-unreadable", "There is no view: privacy-unreadable."),
    ],
)
def test_an_empty_view_says_why(fake: FakeEngine, command: Callable[..., Done], reason: str, told: str) -> None:
    fake.answer = HistoryView(diagnostics=ViewDiagnostics(reason=reason))
    assert command("view", "--session=s.jsonl").out == f"{told}\n"


def test_a_view_without_evidence_and_gaps_are_told(fake: FakeEngine, command: Callable[..., Done]) -> None:
    counts = ViewDiagnostics(total=7, omitted=7, coverage=Coverage(complete=False, reasons=("stale",)))
    fake.answer = HistoryView(text=made().text, bytes=900, diagnostics=counts)
    lines = command("view", "--session=s.jsonl").out.splitlines()
    assert lines[1:] == [
        "What has to do with the request does not fit; the view only says how to find it.",
        "not everything could be looked at: stale",
    ]


def test_a_failure_is_exit_status_1(fake: FakeEngine, command: Callable[..., Done]) -> None:
    counts = ViewDiagnostics(status="failed", reason="store-busy", warnings=("store-busy",))
    fake.answer = HistoryView(diagnostics=counts)
    done = command("view", "--session=s.jsonl")
    assert (done.status, done.out) == (1, "")
    assert done.err.startswith("error[store-busy]: no view was made")
    done = command("view", "--session=s.jsonl", "--json")
    assert done.status == 1
    assert check("view", done.out)["diagnostics"]["status"] == "failed"
