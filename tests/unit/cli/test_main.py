from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from tests.conftest import ROOT
from tests.schemas import check
from tests.values import STATUS

from aforesaid import __version__
from aforesaid.cli import COMMANDS, find_command, main
from aforesaid.cli.arguments import Options
from aforesaid.errors import SessionNotFound, StoreFull

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.unit.cli.conftest import Done, FakeEngine

    Command = Callable[..., Done]


@pytest.mark.parametrize(
    ("given", "place"),
    [
        (["status"], 0),
        (["--json", "status"], 1),
        (["--store", "status", "status"], 2),
        (["--store=status", "status"], 1),
        (["--set", "a=b", "--config", "c", "-v", "index", "retrieve"], 5),
        (["--set", "a=b"], None),
        (["--", "status"], None),
        ([], None),
    ],
)
def test_the_command_is_the_first_that_is_no_option_and_no_value(given: list[str], place: int | None) -> None:
    assert find_command(given) == place


def test_global_options_may_stand_before_or_after_the_command(command: Command, fake: FakeEngine) -> None:
    fake.answer = STATUS
    before = command("--store", "s", "--set", "retrieval.fts=false", "-v", "status", "--json")
    after = command("status", "--json", "-v", "--store", "s", "--set", "retrieval.fts=false")
    both = command(
        "--set", "retrieval.fts=true", "status", "--set", "retrieval.fts=false", "--json", "--store", "s", "-v"
    )
    assert before == after == both
    first, second, third = fake.opened
    assert first == second
    assert (first.store, first.settings, first.json, first.verbose) == ("s", ("retrieval.fts=false",), True, True)
    assert third.settings == ("retrieval.fts=true", "retrieval.fts=false")
    assert fake.closed == 3


@pytest.mark.parametrize("arguments", [("--help", "--json"), ("--json", "status", "-h")])
def test_with_json_help_is_one_document_too(command: Command, arguments: tuple[str, ...]) -> None:
    done = command(*arguments)
    document = json.loads(done.out)
    assert (done.status, done.err, document["schema"]) == (0, "", "aforesaid.help/1")
    assert document["text"].startswith("usage: aforesaid")


def test_the_version_is_shown(command: Command) -> None:
    assert command("--version") == (0, f"aforesaid {__version__}\n", "")
    assert command("status", "--version") == (0, f"aforesaid {__version__}\n", "")
    done = command("--version", "--json")
    assert json.loads(done.out) == {"schema": "aforesaid.version/1", "version": __version__}


def test_help_lists_every_command_and_each_has_its_own(command: Command) -> None:
    done = command("--help")
    assert done.status == 0
    for name, meaning in COMMANDS.items():
        assert f"  {name:10} {meaning}" in done.out
    assert "--session FILE|ID" in command("retrieve", "--help").out


@pytest.mark.parametrize(
    "given",
    [
        [],
        ["--json"],
        ["nothing"],
        ["retrieve"],
        ["retrieve", "--session"],
        ["retrieve", "--session", "a", "--wrong"],
        ["retrieve", "--session", "a", "--sess", "b"],
        ["sessions", "--host", "emacs"],
        ["index"],
        ["index", "a", "--all"],
        ["config", "get"],
        ["config", "show", "x"],
        ["config", "set", "retrieval.fts"],
        ["config", "nothing"],
        ["config", "set", "--config", "x", "retrieval.fts", "true"],
        ["status", "extra\nline"],
        ["--", "status"],
    ],
)
def test_a_wrong_argument_is_one_line_and_status_2(given: list[str], command: Command) -> None:
    done = command(*given)
    assert done.status == 2
    assert done.err.startswith("error[bad-argument]: ")
    assert done.err.count("\n") == 1
    assert "; " in done.err
    if "--json" not in given:
        assert done.out == ""
        done = command(*given[: given.index("--")] if "--" in given else given, "--json")
    document = check("error", done.out)
    assert document["error"]["code"] == "bad-argument"


def test_a_wrong_command_gets_the_nearest_one(command: Command) -> None:
    assert "did you mean retrieve?" in command("retreive").err
    assert "did you mean" not in command("zzz").err


def test_a_wrong_option_gets_the_nearest_one(command: Command) -> None:
    for given in ("--qurey", "--qurey=x", "--querry"):
        assert "did you mean --query? see `aforesaid retrieve --help`" in command("retrieve", "--session=s", given).err
    assert "did you mean --store?" in command("status", "--stor", "x").err
    for given in ("--zzz", "-q", "word"):
        assert "did you mean" not in command("status", given).err


@pytest.mark.skipif(os.name != "posix", reason="Windows keeps a folder in which a process runs")
def test_a_current_folder_that_has_gone_is_named(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    done = command("index", "x.jsonl", "--store", "s")
    assert (done.status, done.err.count("\n")) == (1, 1)
    assert "error[operation-failed]: the current folder: No such file or directory" in done.err


def test_a_value_that_begins_with_a_dash_is_explained(command: Command) -> None:
    assert "--option=VALUE" in command("retrieve", "--session", "s", "--query", "--dry-run").err


@pytest.mark.parametrize(
    ("setting", "code"),
    [("retrieval.maxResults=101", "config-invalid"), ("nothing=1", "config-invalid"), ("x", "config-invalid")],
)
def test_a_wrong_set_is_status_2_for_every_command(setting: str, code: str, command: Command, fake: FakeEngine) -> None:
    for given in (["status"], ["sessions"], ["retrieve", "--session", "s"], ["index", "p"], ["rebuild"], ["config"]):
        done = command(*given, "--set", setting)
        assert done.status == 2
        assert done.err.startswith(f"error[{code}]: ")
        assert done.out == ""
    assert fake.calls == []


def test_an_unreadable_config_is_status_2(command: Command, fake: FakeEngine, tmp_path: Path) -> None:
    done = command("status", "--json", "--config", str(tmp_path / "none.json"))
    assert done.status == 2
    assert check("error", done.out)["error"]["code"] == "config-unreadable"


def test_warnings_of_the_configuration_stand_on_standard_error(command: Command, fake: FakeEngine) -> None:
    fake.answer = STATUS
    done = command("status", "--json", "--set", "project.enabled=false")
    assert done.err == "warning: not-in-this-version project.enabled\n"
    assert check("status", done.out)["config"]["warnings"] == ["not-in-this-version project.enabled"]


@pytest.mark.parametrize(("error", "status"), [(SessionNotFound("no such", "look"), 2), (StoreFull("full", "free"), 1)])
def test_errors_of_the_tree_are_one_line_and_one_document(
    error: SessionNotFound | StoreFull, status: int, command: Command, fake: FakeEngine
) -> None:
    fake.answer = error
    done = command("status", "--json")
    assert done.status == status
    assert done.err == f"error[{error.code}]: {error.message}; {error.hint}\n"
    assert check("error", done.out) == {"error": {"code": error.code, "message": error.message, "hint": error.hint}}
    assert command("status") == (status, "", done.err)


def test_text_of_an_error_never_reaches_the_terminal_raw(command: Command, fake: FakeEngine) -> None:
    fake.answer = SessionNotFound("no \x1b[31msession\r\n\ud800", "look\u202e")
    done = command("status")
    assert done.err == "error[session-not-found]: no ␛[31msession␍␊\\ud800; look\\u202e\n"


def test_what_nobody_expected_is_one_line_without_its_words_and_shows_its_traceback_only_with_v(
    command: Command, fake: FakeEngine
) -> None:
    fake.answer = ZeroDivisionError("a text\nof the user")
    done = command("status", "--json")
    assert done.status == 1
    assert done.err.startswith("error[internal]: ZeroDivisionError in tests.unit.cli.conftest.")
    assert "Traceback" not in done.err
    assert check("error", done.out)["error"]["code"] == "internal"
    verbose = command("status", "-v").err
    assert "Traceback" in verbose
    assert "of the user" not in done.err + done.out + verbose


def test_a_failure_of_the_system_is_no_bug(command: Command, fake: FakeEngine) -> None:
    fake.answer = PermissionError(13, "Permission denied", "/x")
    done = command("status")
    assert done.status == 1
    assert done.err.startswith("error[operation-failed]: /x: Permission denied; ")


def test_an_interruption_is_status_130(command: Command, fake: FakeEngine) -> None:
    fake.answer = KeyboardInterrupt()
    done = command("status", "--json")
    assert done.status == 130
    assert done.err.startswith("error[interrupted]: ")
    assert check("error", done.out)["error"]["code"] == "interrupted"


def test_a_reader_that_has_gone_is_quiet(command: Command, fake: FakeEngine) -> None:
    fake.answer = BrokenPipeError(32, "Broken pipe")
    assert command("status") == (0, "", "")


def modules_after(code: str) -> set[str]:
    script = f"import sys\n{code}\nprint(*sorted(sys.modules), sep='\\n')"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT)
    return set(done.stdout.splitlines())


HEAVY = {
    *("rich", "rich.console", "platformdirs", "numpy", "regex", "jsonschema", "difflib", "traceback", "tempfile"),
    *("pathlib", "subprocess", "asyncio", "socket", "logging", "sqlite3", "dataclasses", "concurrent", "shutil"),
}


def test_the_version_imports_next_to_nothing() -> None:
    bare = modules_after("")
    loaded = modules_after("from aforesaid.cli import main; main(['--version'])") - bare
    assert not loaded & {*HEAVY, "argparse", "msgspec", "json", "apsw", "inspect"}
    assert not {name for name in loaded if name.startswith("aforesaid.")} - {"aforesaid.cli", "aforesaid.errors"}


def test_a_retrieval_imports_nothing_that_it_does_not_need() -> None:
    bare = modules_after("import msgspec, apsw")
    loaded = modules_after(
        "from aforesaid.cli.arguments import Arguments, read_options\n"
        "import aforesaid.cli.retrieve, aforesaid.cli.terminal, aforesaid.config\n"
        "from aforesaid.hosts import wire\n"
        "aforesaid.config.Config.load(); aforesaid.config.store_folder()\n"
        "arguments = Arguments(); aforesaid.cli.retrieve.add_arguments(arguments)\n"
        "read_options(arguments.read(['--session', 'x', '--json']))\n"
    )
    assert not loaded - bare & {*HEAVY, "argparse", "gettext", "locale"}
    assert not {name for name in loaded if name.startswith("aforesaid.cli.")} - {
        *("aforesaid.cli.arguments", "aforesaid.cli.retrieve", "aforesaid.cli.terminal"),
    }


def test_the_module_runs_as_the_command_does() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "aforesaid", "--version"], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, f"aforesaid {__version__}\n", "")


def test_a_program_without_standard_output_runs_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    assert main(["--version"]) == 0
    assert sys.stdout is not None
    sys.stdout.close()


class Full(io.StringIO):
    def flush(self) -> None:
        raise OSError(28, "No space left on device")


def test_an_output_that_takes_nothing_is_an_error_and_not_two(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdout", Full())
    assert main(["--version"]) == 1
    assert capsys.readouterr().err == (
        "error[operation-failed]: No space left on device; check permissions, free space and the path\n"
    )
    monkeypatch.setattr(sys, "stderr", Full())
    assert main(["--version"]) == 1


def test_the_engine_gets_store_and_configuration(tmp_path: Path) -> None:
    options = Options(store=str(tmp_path / "store"), settings=("retrieval.maxResults=3",))
    with options.open_engine() as engine:
        assert engine.config.integer("retrieval.maxResults") == 3
        assert engine.status().location == str(tmp_path / "store")
