from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace
from tests.schemas import check

from aforesaid.cli.forget import UNTOUCHED
from aforesaid.reports import Erased, ForgetReport, Leftover, Verification

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.unit.cli.conftest import Done, FakeEngine

    Command = Callable[..., Done]

WHAT_WAS_CHECKED = (
    "Checked: 7 files (450.8 kB), every byte; 4 databases with 56 values; 14 terms of full-text indexes; 0 free pages;"
    " 3 forgotten texts searched for."
)
CHECKED = Verification(files=7, bytes=450_832, databases=4, values=56, terms=14, texts=3, free_pages=0)
REPORT = ForgetReport(
    dry_run=False,
    resumed=False,
    sessions=(
        Erased(file="/s/a\x1b.jsonl", session_id="one", whole=True, entries=8),
        Erased(file="/s/b.jsonl", session_id=None, whole=False, entries=1),
    ),
)


@pytest.fixture
def person(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Somebody at a terminal who answers."""

    def answer(said: str) -> None:
        monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
        monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
        monkeypatch.setattr("builtins.input", lambda _: said)

    return answer


def asked(fake: FakeEngine) -> list[dict[str, object]]:
    return [named for name, _, named in fake.calls if name == "forget"]


def test_what_was_forgotten_is_told_without_its_words(command: Command, fake: FakeEngine) -> None:
    fake.answer = REPORT
    done = command("forget", "--session", "one", "--yes")
    assert done.status == 0
    assert done.out.splitlines() == [
        "1 session and 9 entries forgotten.",
        "  /s/a␛.jsonl: all of it",
        "  /s/b.jsonl: 1 entry",
        "",
        UNTOUCHED,
    ]
    (call,) = asked(fake)
    assert call == {
        "session": "one", "project": None, "entries": [], "text": None, "after": None, "before": None,
        "dry_run": False, "verify": False, "progress": None,
    }  # fmt: skip


def test_every_argument_reaches_the_engine(command: Command, fake: FakeEngine) -> None:
    fake.answer = REPORT
    command("forget", "--session", "s", "--entry", "e1", "e2", "--yes", "--verify")
    command("forget", "--project", "p", "--after", "2026-01-01", "--before", "2026-02-01", "--dry-run")
    first, second = asked(fake)
    assert (first["session"], first["entries"], first["verify"]) == ("s", ["e1", "e2"], True)
    assert (second["project"], second["after"], second["before"]) == ("p", "2026-01-01", "2026-02-01")
    assert (second["dry_run"], second["verify"]) == (True, False)


@pytest.mark.parametrize(("given", "text"), [(b"a secret\n", "a secret"), (b"two\nlines\r\n", "two\nlines"), (b"", "")])
def test_a_text_is_read_from_standard_input(
    command: Command, fake: FakeEngine, monkeypatch: pytest.MonkeyPatch, given: bytes, text: str
) -> None:
    fake.answer = REPORT
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given)))
    command("forget", "--text", "-", "--yes")
    assert asked(fake)[0]["text"] == text


def test_the_document_is_that_of_the_contract(command: Command, fake: FakeEngine) -> None:
    fake.answer = replace(REPORT, verification=CHECKED)
    document = check("forget", command("forget", "--text", "x", "--yes", "--json").out)
    assert document["totals"] == {"sessions": 1, "entries": 9, "discarded": 0}
    assert document["verification"]["clean"] is True
    fake.answer = replace(REPORT, dry_run=True)
    assert check("forget", command("forget", "--text", "x", "--dry-run", "--json").out)["verification"] is None


def test_what_was_checked_is_told(command: Command, fake: FakeEngine) -> None:
    fake.answer = replace(REPORT, sessions=(), resumed=True, discarded=2, verification=CHECKED)
    done = command("forget", "--verify")
    assert done.out.splitlines() == [
        "An erasure that had been interrupted was finished.",
        "0 sessions and 0 entries forgotten.",
        "2 damaged sessions removed from the store; indexing derives them again.",
        "",
        WHAT_WAS_CHECKED,
        "Nothing of it was found.",
        "",
        UNTOUCHED,
    ]


def test_what_was_found_is_a_failure_unless_nothing_was_to_be_done(command: Command, fake: FakeEngine) -> None:
    left = (Leftover(file="a.db", where="bytes", count=2), Leftover(file="b", where="index", count=1))
    fake.answer = replace(REPORT, verification=replace(CHECKED, leftovers=left))
    done = command("forget", "--text", "x", "--yes", "--verify")
    assert done.status == 1
    assert "  a.db: bytes, 2 times\n  b: index, 1 time" in done.out
    assert done.err == (
        "error[forget-incomplete]: what was forgotten still stands in a.db, b; run it again, or see --json\n"
    )
    done = command("forget", "--text", "x", "--yes", "--json")
    assert done.status == 1
    assert check("forget", done.out)["verification"]["clean"] is False
    fake.answer = replace(REPORT, dry_run=True, verification=replace(CHECKED, leftovers=left))
    assert command("forget", "--text", "x", "--dry-run", "--verify").status == 0


def test_long_lists_are_cut_unless_all_is_wanted(command: Command, fake: FakeEngine) -> None:
    many = tuple(Erased(file=f"/s/{n}", session_id="s", whole=False, entries=1) for n in range(25))
    fake.answer = replace(REPORT, sessions=many)
    assert "  and 5 more (-v lists all)" in command("forget", "--text", "x", "--yes").out
    shown = command("forget", "--text", "x", "--yes", "-v").out
    assert "more" not in shown
    assert "  /s/24: 1 entry" in shown


@pytest.mark.parametrize("said", ["y", "YES ", "n", ""])
def test_a_person_confirms_what_would_go(
    command: Command, fake: FakeEngine, person: Callable[[str], None], said: str
) -> None:
    fake.answer = replace(REPORT, dry_run=True)
    person(said)
    done = command("forget", "--session", "one")
    assert done.status == 0
    assert "1 session and 9 entries would be forgotten." in done.out
    agreed = said.strip().lower() in {"y", "yes"}
    assert [call["dry_run"] for call in asked(fake)] == ([True, False] if agreed else [True])
    assert ("Nothing was forgotten." in done.out) is not agreed


def test_nobody_there_to_ask_is_refused(command: Command, fake: FakeEngine, person: Callable[[str], None]) -> None:
    fake.answer = REPORT
    assert command("forget", "--session", "one").status == 2
    person("y")
    done = command("forget", "--session", "one", "--json")
    assert done.status == 2
    assert check("error", done.out)["error"]["code"] == "bad-argument"
    assert asked(fake) == []
