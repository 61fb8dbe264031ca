"""What a search cannot find because secrets were replaced: it is told, and a query for a secret is never complete."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests import pi

from aforesaid import Engine
from aforesaid.engine import recalling
from aforesaid.recall import replaced
from aforesaid.recall.replaced import may_be_secret

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
SECRET = f"deploy with {TOKEN} and DB_PASSWORD=correcthorse-77 to the gateway"


def write(folder: Path, texts: Sequence[str], number: int = 1) -> Path:
    rows = pi.conversation(texts, prefix=f"{number % 16:x}")
    return pi.write(folder / f"s{number}.jsonl", [pi.header(f"{number:08}-2222-7333-8444-555555555555"), *rows])


@pytest.mark.parametrize(
    ("query", "mode"),
    [
        (TOKEN, "literal"), ("correcthorse-77", "literal"), ("DB_PASSWORD=correcthorse-77", "phrase"),
        (f"deploy {TOKEN}", "literal"), (TOKEN, "regex"), ("hunter2", "literal"), ("the correcthorse-77", "phrase"),
    ],
)  # fmt: skip
def test_who_looks_for_a_secret_is_never_told_that_it_was_not_there(tmp_path: Path, query: str, mode: str) -> None:
    with Engine.open(tmp_path / "store") as engine:
        page = engine.recall(query, session=write(tmp_path, [SECRET, "ok"]), mode=mode)  # type: ignore[arg-type]
        assert (page.hits, page.status) == ((), "partial")
        assert (page.coverage.complete, page.coverage.reasons) == (False, ("redacted", "redacted-query"))


@pytest.mark.parametrize(
    "query", ["walnut", "DEC-0054", "src/app.py", "parse_port", "58213", "DB_PASSWORD", "2026-11-30", ""]
)
def test_no_match_stays_authoritative_for_what_was_not_replaced(tmp_path: Path, query: str) -> None:
    with Engine.open(tmp_path / "store") as engine:
        page = engine.recall(query, session=write(tmp_path, [SECRET, "ok"]))
        assert (page.status, page.coverage.complete, page.coverage.reasons) == ("complete", True, ("redacted",))


def test_where_nothing_was_replaced_nothing_is_said(tmp_path: Path) -> None:
    quoted = "a marker looks like [redacted:github-token:32+], and is redacted: text"
    with Engine.open(tmp_path / "store") as engine:
        file = write(tmp_path, [quoted, "ok"])
        page = engine.recall(TOKEN, session=file)
        assert (page.hits, page.coverage.complete, page.coverage.reasons) == ((), True, ())
        # The session grows, and now there is one.
        write(tmp_path, [quoted, "ok", SECRET])
        assert engine.recall(TOKEN, session=file).coverage.reasons == ("redacted", "redacted-query")
        assert engine.recall("ok", session=file).coverage.reasons == ("redacted",)


def test_raw_text_is_found_by_its_secrets(tmp_path: Path) -> None:
    with Engine.open(tmp_path / "store", settings={"privacy.redactIndex": False}) as engine:
        page = engine.recall(TOKEN, session=write(tmp_path, [SECRET, "ok"]))
        assert (len(page.hits), page.coverage.complete, page.coverage.reasons) == (1, True, ())
        assert TOKEN not in page.hits[0].snippet


@pytest.mark.parametrize("few", [0, 16])
def test_of_many_sessions_those_count_that_are_not_even_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    monkeypatch.setattr(replaced, "_FEW", few)
    monkeypatch.setattr("aforesaid.engine.recalling.FEW", 0)
    with Engine.open(tmp_path / "store") as engine:
        for number in range(1, 5):
            write(tmp_path, [f"the walnut lamp {number}", "ok"], number)
        engine.index(tmp_path)
        assert engine.recall(TOKEN, scope="host-wide").coverage.reasons == ()
        write(tmp_path, ["words", SECRET], 3)
        engine.index(tmp_path)
        page = engine.recall(TOKEN, scope="host-wide")
        assert (page.hits, page.coverage.complete) == ((), False)
        assert page.coverage.reasons == ("redacted", "redacted-query")
        assert engine.recall("walnut", scope="host-wide").coverage.complete


def test_among_many_that_only_write_of_one_the_marker_is_found(tmp_path: Path) -> None:
    quoted = [f"a marker looks like [redacted:github-token:32+] {number}" for number in range(70)]
    with Engine.open(tmp_path / "store") as engine:
        assert engine.recall("walnut", session=write(tmp_path, quoted)).coverage.reasons == ()
        assert engine.recall("walnut", session=write(tmp_path, [*quoted, SECRET])).coverage.reasons == ("redacted",)


def test_what_need_not_be_looked_at_is_taken_for_granted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    quoted = "a marker looks like [redacted:github-token:32+]"
    with Engine.open(tmp_path / "store") as engine:
        file = write(tmp_path, [f"{quoted} {number}" for number in range(3)])
        assert engine.recall("walnut", session=file).coverage.reasons == ()
        monkeypatch.setattr(replaced, "_MOST_ROWS", 2)
        write(tmp_path, [f"{quoted} {number}" for number in range(4)])
        assert engine.recall("walnut", session=file).coverage.reasons == ("redacted",)


def test_a_pattern_is_judged_as_it_is_written() -> None:
    assert not may_be_secret(r"ghp_\w+", "regex")
    assert not may_be_secret(r"hunter\d", "regex")
    assert may_be_secret("hunter2", "literal")
    assert not may_be_secret("", "literal")
    assert not may_be_secret("\ud800 数据库", "phrase")


def test_what_is_only_taken_for_granted_is_looked_at_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of sessions whose words nobody knows yet any may hold a marker; once they are known, none does."""
    with Engine.open(tmp_path / "store") as engine:
        for number in range(20):
            engine.index(write(tmp_path, [f"one gateway of {number}", "ok"], number))
        monkeypatch.setattr(replaced, "_MOST_OPENED", 4)
        monkeypatch.setattr(recalling, "LEARNING", 0.0)
        guessed = engine.recall("gateway", scope="host-wide")
        assert guessed.coverage.reasons == ("redacted",)
        monkeypatch.setattr(recalling, "LEARNING", 60.0)
        known = engine.recall("gateway", scope="host-wide")
        assert (known.coverage.complete, known.coverage.reasons) == (True, ())
