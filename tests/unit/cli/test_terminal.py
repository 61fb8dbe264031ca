from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from tests.words import any_text

from aforesaid.cli import terminal

if TYPE_CHECKING:
    from collections.abc import Iterator


def dangerous(text: str) -> Iterator[str]:
    for character in text:
        point = ord(character)
        if point < 0x20 or 0x7F <= point < 0xA0 or 0x202A <= point <= 0x202E or 0x2066 <= point <= 0x2069:
            yield character


@given(text=any_text)
def test_nothing_that_a_terminal_acts_on_is_left(text: str) -> None:
    assert not set(dangerous(terminal.safe(text))) - {"\n", "\t"}
    line = terminal.one_line(text)
    assert not set(dangerous(line))
    assert "\u2028" not in line
    line.encode("utf-8")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[2J\x1b]0;title\x07", "␛[2J␛]0;title␇"),
        ("a\rb\x08c\x7f", "a␍b␈c␡"),
        ("\x9b31m", "\\x9b31m"),
        ("\u202eevil\u2066", "\\u202eevil\\u2066"),
        ("\ud800", "\\ud800"),
        ("perché 数据库 👩\u200d👩\u200d👧 שלום", "perché 数据库 👩\u200d👩\u200d👧 שלום"),
        ("a\n\tb", "a\n\tb"),
    ],
)
def test_what_is_harmful_is_shown_and_the_rest_stays(text: str, shown: str) -> None:
    assert terminal.safe(text) == shown


def test_lines_are_never_wrapped_where_there_is_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    long = "word " * 400
    terminal.show([long, "[bold]no markup[/bold] :smile: 1.5"])
    assert capsys.readouterr().out == f"{long}\n[bold]no markup[/bold] :smile: 1.5\n"


def test_tables_are_never_wrapped_and_have_no_blanks_at_the_end(capsys: pytest.CaptureFixture[str]) -> None:
    terminal.show_table(("n", "file"), [("1", "x" * 300), ("22", "数据\x1b库")], right=("n",))
    assert capsys.readouterr().out == f" n  file\n 1  {'x' * 300}\n22  数据␛库\n"


def test_a_table_on_a_terminal_is_folded_and_not_cut(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "40")
    terminal.show_table(("n", "file"), [("1", "x" * 100)])
    shown = capsys.readouterr().out
    assert shown.count("x") == 100
    assert max(map(len, shown.splitlines()[1:])) <= 40


def test_a_reader_that_has_gone_is_told_to_the_caller(monkeypatch: pytest.MonkeyPatch) -> None:
    class Gone(io.StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError(32, "Broken pipe")

    monkeypatch.setattr(sys, "stdout", Gone())
    with pytest.raises(BrokenPipeError):
        terminal.show(["line"])


def test_colour_is_forced_and_forbidden_by_the_environment(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from rich.text import Text

    line = Text("red", style="red")
    terminal.show([line])
    assert capsys.readouterr().out == "red\n"
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("FORCE_COLOR", "1")
    terminal.show([line])
    assert "\x1b[31m" in capsys.readouterr().out
    monkeypatch.setenv("NO_COLOR", "1")
    terminal.show([line])
    assert capsys.readouterr().out == "red\n"


@pytest.mark.parametrize(
    ("number", "words"),
    [(0, "0 bytes"), (999, "999 bytes"), (1000, "1.0 kB"), (1_250_000, "1.2 MB"), (3 * 10**15, "3,000.0 TB")],
)
def test_sizes_in_words(number: int, words: str) -> None:
    assert terminal.bytes_in_words(number) == words


def test_counts_in_words() -> None:
    assert terminal.count(1, "entry", "entries") == "1 entry"
    assert terminal.count(2000, "entry", "entries") == "2,000 entries"
    assert terminal.count(0, "hit") == "0 hits"


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_bar_appears_on_a_terminal_and_only_for_long_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    screen = Screen()
    monkeypatch.setattr(sys, "stderr", screen)
    with terminal.Progress("Indexing") as report:
        assert report is not None
        report(1, 10)
        assert screen.getvalue() == ""
        report._started -= 1
        report(5, 10)
        report(10, 10)
    assert "Indexing" in screen.getvalue()


def test_there_is_no_bar_where_there_is_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with terminal.Progress("Indexing") as report:
        assert report is None
    assert capsys.readouterr() == ("", "")
