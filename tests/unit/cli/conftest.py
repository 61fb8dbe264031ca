"""A command line whose engine is made up: it returns what a test puts in and remembers what it was asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Self

import pytest

from aforesaid.cli import main
from aforesaid.cli.arguments import Options

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from aforesaid.config import Config


class FakeEngine:
    """Answers every call with `answer`, or raises it."""

    def __init__(self) -> None:
        self.answer: Any = None
        self.calls: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = []
        self.opened: list[Options] = []
        self.closed = 0
        self.stored = True
        self.config: Config

    def open(self, options: Options) -> FakeEngine:
        self.opened.append(options)
        self.config = options.load_config()
        return self

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.closed += 1

    def has_store(self) -> bool:
        return self.stored

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def call(*given: Any, **named: Any) -> Any:
            self.calls.append((name, given, named))
            if isinstance(self.answer, BaseException):
                raise self.answer
            return self.answer

        return call


class Done(NamedTuple):
    """What a command left behind."""

    status: int
    out: str
    err: str


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> FakeEngine:
    engine = FakeEngine()

    def open_engine(options: Options) -> FakeEngine:
        return engine.open(options)

    monkeypatch.setattr(Options, "open_engine", open_engine)
    return engine


@pytest.fixture(autouse=True)
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's own configuration file, which does not exist; and no colours of whoever runs the tests."""
    file = tmp_path / "own" / "config.json"
    monkeypatch.setattr("aforesaid.config.folders._folder", lambda *_: str(file.parent))
    for variable in ("FORCE_COLOR", "NO_COLOR", "COLUMNS", "TERM", "AFORESAID_STORE"):
        monkeypatch.delenv(variable, raising=False)
    return file


@pytest.fixture
def command(capfd: pytest.CaptureFixture[str]) -> Callable[..., Done]:
    """Runs one command in this process."""

    def run(*arguments: str) -> Done:
        status = main(arguments)
        out, err = capfd.readouterr()
        return Done(status, out, err)

    return run
