"""Floor 9: command lines in full: what `arguments` does not read at a glance, what is wrong with one, and all help.

`cli` asks here for what is not plain. One parser a command; global options may stand before or after its name.
"""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from typing import Any, NoReturn

from aforesaid.cli import COMMANDS
from aforesaid.cli.arguments import declare_common
from aforesaid.errors import BadArgument


class Parser(ArgumentParser):
    """Raises for wrong arguments, in the words of every other error; with `--json` its help is a document too."""

    as_json = False

    def print_help(self, file: Any = None) -> None:
        """What argparse calls for `--help`."""
        if not self.as_json:
            super().print_help(file)
            return
        from aforesaid.cli.terminal import emit  # late: for help only
        from aforesaid.hosts import wire

        emit(wire.help_text(self.format_help()))

    def error(self, message: str) -> NoReturn:
        """What argparse calls when it does not understand."""
        hint = f"see `{self.prog} --help`"
        if message.endswith("expected one argument"):
            hint += "; a value that begins with a dash is written as --option=VALUE"
        elif near := self._nearest(message):
            hint = f"did you mean {near}? {hint}"
        raise BadArgument(message, hint)

    def _nearest(self, message: str) -> str | None:
        """The option that the first unknown one is most like, if that is what the message is about."""
        from difflib import get_close_matches  # late: for wrong arguments only

        _, told, unknown = message.partition("unrecognized arguments: --")
        options = [option for option in self._option_string_actions if option.startswith("--")]
        near = get_close_matches("--" + unknown.split(" ")[0].partition("=")[0], options, 1) if told else []
        return near[0] if near else None


class Help(RawDescriptionHelpFormatter):
    """Finds the terminal's width itself: argparse imports shutil for it, even when no help is shown."""

    def __init__(self, prog: str, **named: Any) -> None:
        """Takes what argparse passes."""
        columns = os.environ.get("COLUMNS", "")
        try:
            width = int(columns) if columns.isdecimal() else os.get_terminal_size(sys.__stdout__.fileno()).columns  # type: ignore[union-attr]
        except (AttributeError, OSError, ValueError):
            width = 80
        super().__init__(prog, **{"width": max(40, width) - 2, **named})


def make_parser(command: str | None) -> Parser:
    """A parser with the global options, for a command or, with None, for what stands before any."""
    if command is None:
        listed = "\n".join(f"  {name:10} {meaning}" for name, meaning in COMMANDS.items())
        parser = Parser(
            prog="aforesaid",
            usage="aforesaid COMMAND [options]",
            description="Brings back the exact words that compaction removed from a coding agent's context.",
            epilog=f"commands:\n{listed}\n\n`aforesaid COMMAND --help` tells more.",
            formatter_class=Help,
            allow_abbrev=False,
        )
    else:
        meaning = COMMANDS[command]
        parser = Parser(
            prog=f"aforesaid {command}",
            description=f"{meaning[0].upper()}{meaning[1:]}.",
            formatter_class=Help,
            allow_abbrev=False,
        )
    declare_common(parser.add_argument_group("options of every command"))
    return parser
