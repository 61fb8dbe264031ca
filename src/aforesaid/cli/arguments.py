"""Floor 9: what all commands take. A parser a command; global options may stand before or after its name."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

from msgspec import Struct

from aforesaid import __version__
from aforesaid.cli import COMMANDS
from aforesaid.errors import BadArgument

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aforesaid.config import Config
    from aforesaid.engine import Engine
    from aforesaid.hosts.watching import Place


class Options(Struct, frozen=True, kw_only=True):
    """The global options.

    Attributes:
        store: folder of the store, or None for the default.
        config: a configuration file on top of the user's own, or None.
        settings: `KEY=VALUE` texts in their order.
        trust: folder of a project whose configuration counts, or None.
        json: whether standard output carries one JSON document.
        verbose: whether to show more.
    """

    store: str | None = None
    config: str | None = None
    settings: tuple[str, ...] = ()
    trust: str | None = None
    json: bool = False
    verbose: bool = False

    def load_config(self) -> Config:
        """The configuration; what is wrong with it is said on standard error.

        Of the current folder it is said that its file is left out, unless it is the project that is trusted.

        Raises:
            ConfigUnreadable, ConfigInvalid: see `Config.load`.
        """
        return self.load_for(None)

    def load_for(self, place: Place | None) -> Config:
        """The configuration for a session that works in a folder; None: for a command.

        Raises:
            ConfigUnreadable, ConfigInvalid: see `Config.load`.
        """
        from aforesaid.cli.terminal import warn  # late: after the arguments are known to be right
        from aforesaid.config import Config

        folder, trusted = place or (self.trust or _current_folder(), self.trust is not None)
        loaded = Config.load(self.config, settings=self.settings, project=folder, trusted=trusted)
        for warning in loaded.warnings:
            warn(warning)
        return loaded

    def open_engine(self) -> Engine:
        """The engine on the store that the options name."""
        from aforesaid.engine import Engine  # late: not every command needs it

        return Engine.open(self.store, self.load_config())

    @contextmanager
    def telling_of_missing_store(self, engine: Engine) -> Iterator[None]:
        """Says on standard error, if nobody has made it until the end, that there is no store where the options say."""
        try:
            yield
        finally:
            self._tell_of_missing_store(engine)

    def _tell_of_missing_store(self, engine: Engine) -> None:
        if not engine.has_store():
            from aforesaid.cli.terminal import warn  # late: seldom needed
            from aforesaid.config import store_folder

            warn(f"there is no store in {store_folder(self.store)}; `aforesaid index PATH` makes one")


def _current_folder() -> str | None:
    try:
        return os.getcwd()
    except OSError:
        return None  # it was removed


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
    common = parser.add_argument_group("options of every command")
    common.add_argument("--store", metavar="DIR", help="folder of the store (default: AFORESAID_STORE, else per user)")
    common.add_argument("--config", metavar="FILE", help="a configuration file on top of your own")
    common.add_argument(
        "--set", metavar="KEY=VALUE", dest="settings", action="append", default=[], help="one option; repeatable"
    )
    common.add_argument("--trust", metavar="DIR", help="a project that you trust: its .aforesaid/config.json counts")
    common.add_argument("--json", action="store_true", help="write one JSON document")
    common.add_argument("-v", dest="verbose", action="store_true", help="show more")
    common.add_argument("--version", action="version", version=f"aforesaid {__version__}", help="show the version")
    return parser


def read_options(arguments: Namespace) -> Options:
    """The global options of parsed arguments."""
    return Options(
        store=arguments.store,
        config=arguments.config,
        settings=tuple(arguments.settings),
        trust=arguments.trust,
        json=arguments.json,
        verbose=arguments.verbose,
    )
