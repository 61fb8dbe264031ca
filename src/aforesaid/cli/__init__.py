"""Floor 9: the command line: arguments in, text out.

`main` finds the command, imports its module (one a command, with `add_arguments` and `run`) and turns whatever happens
into an exit status: 0 done, 1 failed, 2 a wrong argument, 130 interrupted. It is the only place that catches what
nobody expected. Modules here read no files and know no SQL: they ask the engine and show what it says. This module is
imported by `aforesaid --version`, so it imports next to nothing itself.
"""

from __future__ import annotations

import gc
import os
import sys
from typing import TYPE_CHECKING

from aforesaid import __version__
from aforesaid.errors import AforesaidError, BadArgument, OperationError, Unexpected, locate

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence
    from types import SimpleNamespace

COMMANDS = {
    "index": "bring sessions into the store, or up to date",
    "retrieve": "bring back what a request needs and the model no longer sees",
    "plan": "show the messages of one model call: which go out, and which evidence with them",
    "recall": "search a history on purpose, page by page",
    "expand": "show the original text of entries that were found",
    "view": "show a verbatim view of the lost exchanges that matter for a request",
    "lost": "show the exact items that each compaction took from the model's view",
    "sessions": "list the sessions in the store, newest first",
    "status": "show where the store is and how it fares",
    "doctor": "check what works and what does not, with what helps",
    "forget": "take something out of the store for good, provably",
    "rebuild": "derive the stored data again from the transcripts",
    "config": "show, check or change the configuration",
    "serve": "answer host adapters: JSON-RPC 2.0, one JSON object a line, on standard input and output",
    "eval": "measure retrieval quality on labelled conversations, beside plain baselines",
    "install": "register with a host, so that it asks before each model call",
    "uninstall": "take the registration back exactly",
    "mcp": "offer the history tools to a model: an MCP server on standard input and output",
    "bench": "measure against the targets, with floors from the same run",
}
"""Every command with what it does. `docs/commands.md` describes each; a test compares."""

INTERRUPTED = 130
_COLLECT_AFTER = 20_000
"""New objects after which Python looks for cycles. With its own 700 it looks dozens of times through the modules that a
command imports, and there is nothing to find."""
_WITH_VALUE = frozenset({"--store", "--config", "--set", "--trust"})


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command.

    Args:
        arguments: without the program's name; None takes the process's own.

    Returns:
        The exit status.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    before = gc.get_threshold()
    try:
        gc.set_threshold(_COLLECT_AFTER, *before[1:])
        return _main(given)
    except KeyboardInterrupt:
        return INTERRUPTED  # once more, while the first one was being told
    finally:
        gc.set_threshold(*before)


def _main(given: list[str]) -> int:
    try:
        _prepare_streams()
        status = _run(given)
        sys.stdout.flush()
    except SystemExit as done:
        status = done.code if isinstance(done.code, int) else 0
    except KeyboardInterrupt:
        status = _report(given, INTERRUPTED, "interrupted", "stopped before it was done", "run it again")
    except AforesaidError as error:
        if error.code == Unexpected.code and error.__cause__ is not None:
            _trace(given, error.__cause__)
        status = _report(given, error.exit_status, error.code, error.message, error.hint)
    except OSError as error:
        status = 0 if _reader_left(error) else _report_system(given, error)
    except Exception as error:  # noqa: BLE001 - a traceback is never what a user gets
        status = _report_unexpected(given, error)
    _settle()
    return status


def find_command(given: Sequence[str]) -> int | None:
    """The place of the command among the arguments: the first that is neither an option nor an option's value."""
    value = False
    for place, argument in enumerate(given):
        if value:
            value = False
        elif argument == "--":
            return None
        elif argument in _WITH_VALUE:
            value = True
        elif not argument.startswith("-"):
            return place
    return None


def _run(given: list[str]) -> int:
    place = find_command(given)
    if place is None and "--version" in given:
        return _show_version(given)
    if place is None:
        from aforesaid.cli.parser import make_parser  # late: most command lines are read without it

        # For `--help`; any other option without a command gets here too.
        parser = make_parser(None)
        parser.as_json = _wants_json(given)
        parser.parse_args(given)
        raise BadArgument("no command was given", "`aforesaid --help` lists the commands")
    name = given.pop(place)
    if name not in COMMANDS:
        raise _no_such_command(name)
    from aforesaid.cli.arguments import Arguments, read_options  # late: `--version` has no arguments

    command = __import__(f"aforesaid.cli.{name}", fromlist=("run",))  # `importlib` is not there yet, and not needed
    arguments = Arguments()
    command.add_arguments(arguments)
    parsed: Namespace | SimpleNamespace | None = arguments.read(given)
    if parsed is None:
        from aforesaid.cli.parser import make_parser  # late: see above

        parser = make_parser(name)
        parser.as_json = _wants_json(given)
        command.add_arguments(parser)
        parsed = parser.parse_args(given)
    return int(command.run(parsed, read_options(parsed)))


def _show_version(given: Sequence[str]) -> int:
    if _wants_json(given):
        from aforesaid.cli.terminal import emit  # late: see above
        from aforesaid.hosts import wire

        emit(wire.version(__version__))
    else:
        sys.stdout.write(f"aforesaid {__version__}\n")
    return 0


def _no_such_command(name: str) -> BadArgument:
    from difflib import get_close_matches  # late: for wrong names only

    near = get_close_matches(name, COMMANDS, 1)
    hint = f"did you mean {near[0]}?" if near else "`aforesaid --help` lists the commands"
    return BadArgument(f"there is no command {name}", hint)


def _wants_json(given: Sequence[str]) -> bool:
    """Whether `--json` stands among arguments that may not even parse."""
    options = given[: given.index("--")] if "--" in given else given
    return "--json" in options


# --- what went wrong ------------------------------------------------------------------------------------------------


def _report(given: Sequence[str], status: int, code: str, message: str, hint: str) -> int:
    """Says what happened in one line on standard error and, with `--json`, in one document on standard output."""
    from aforesaid.cli.terminal import emit, one_line  # late: for errors only

    message, hint = one_line(message), one_line(hint)
    try:
        sys.stderr.write(f"error[{code}]: {message}; {hint}\n")
        sys.stderr.flush()
        if _wants_json(given):
            from aforesaid.hosts import wire  # late: for errors only

            emit(wire.error(code, message, hint))
            sys.stdout.flush()
    except OSError:
        # Nobody can be told; the exit status still says it.
        return status
    return status


def _report_system(given: Sequence[str], error: OSError) -> int:
    where = f"{error.filename}: " if error.filename else ""
    if isinstance(error, FileNotFoundError) and not where:  # of all calls, only asking for the folder names nothing
        where = "the current folder: "
    failed = OperationError(f"{where}{error.strerror or error}", "check permissions, free space and the path")
    return _report(given, failed.exit_status, failed.code, failed.message, failed.hint)


def _report_unexpected(given: Sequence[str], error: Exception) -> int:
    _trace(given, error)
    hint = "this is a bug: run it again with -v and report what it prints"
    return _report(given, Unexpected.exit_status, Unexpected.code, locate(error), hint)


def _trace(given: Sequence[str], error: BaseException) -> None:
    """Shows where a bug is, if `-v` asks for it."""
    if "-v" in given:
        import traceback  # late: for bugs only

        # Without the error's own words: what is reported must not hold a text.
        sys.stderr.write("Traceback (most recent call last):\n")
        traceback.print_tb(error.__traceback__)


# --- streams --------------------------------------------------------------------------------------------------------


def _prepare_streams() -> None:
    """UTF-8 whatever the locale says, and no failure on what UTF-8 cannot hold."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            # Closed by the caller, or a Windows program without a console.
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 - lives as long as the process
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def _reader_left(error: OSError) -> bool:
    """Whether whoever read our output has gone (`| head`), which is no fault of ours. Windows calls it EINVAL."""
    from errno import EINVAL, EPIPE  # late: for errors only

    return error.errno == EPIPE or (os.name == "nt" and error.errno == EINVAL and error.filename is None)


def _settle() -> None:
    """Flushes what is left; an output that cannot take it must not make the interpreter complain at its end."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            try:
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
            except (OSError, ValueError):
                continue
