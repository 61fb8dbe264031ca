"""Floor 9: what all commands take, and plain command lines read at a glance.

argparse is a tenth of the start of a command that answers in milliseconds: it brings translations and locales and
compiles patterns. Commands declare on `Arguments` what they would declare on its parser. `cli` reads a command line
here first, and by `parser` whatever this does not understand for certain. A test holds that both give the same.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from aforesaid import __version__

if TYPE_CHECKING:
    from argparse import Namespace, _ActionsContainer
    from collections.abc import Container, Iterator, Sequence

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

        folder, trusted = place or (_current_folder() if self.trust is None else self.trust, self.trust is not None)
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


class Declared(Struct, frozen=True, kw_only=True):
    """An option with a value, or a switch, as a command declares it to argparse.

    Attributes:
        name: of the attribute that holds its value.
        switch: whether it takes no value and is true where it stands.
        repeatable: whether its values are listed.
        number: whether its value is an integer.
        choices: the values that it may have; None for any.
        required: whether a command line without it is wrong.
    """

    name: str
    switch: bool = False
    repeatable: bool = False
    number: bool = False
    choices: Container[object] | None = None
    required: bool = False

    def read(self, text: str) -> str | int | None:
        """The value that a text stands for, or None if that is for argparse to say."""
        if text[:1] == "-" and text != "-":
            return None
        value: str | int = text
        if self.number:
            if not (text.isascii() and text.isdecimal() and len(text) <= _LONGEST_NUMBER):
                return None
            value = int(text)
        return value if self.choices is None or value in self.choices else None


_LONGEST_NUMBER: Final = 18
"""Digits; nothing that an option counts has more."""
_GLANCED: Final = frozenset({"metavar", "help", "dest", "action", "default", "type", "choices", "required"})
"""What is understood of a declaration; options with anything else are left to argparse."""


class Arguments:
    """Takes the declarations of a command, and reads command lines that can be read in one way only."""

    def __init__(self) -> None:
        """Knows the options of every command."""
        self._defaults: dict[str, Any] = {}
        self._options: dict[str, Declared] = {}
        self._word: str | None = None
        self._plain = True
        declare_common(self)

    def add_argument(self, *names: str, **declared: Any) -> None:
        """Declares an argument as on argparse's parser. Defaults have the type of what is given."""
        if not names[0].startswith("-"):
            self._add_word(names[0], declared)
            return
        action, kind = declared.get("action", "store"), declared.get("type")
        if action == "version":
            return  # it leaves no value
        name = declared.get("dest") or next(name for name in names if name.startswith("--"))[2:].replace("-", "_")
        self._defaults[name] = declared.get("default", False if action == "store_true" else None)
        if (
            not declared.keys() <= _GLANCED
            or action not in ("store", "store_true", "append")
            or kind not in (None, int)
        ):
            self._plain = self._plain and not declared.get("required", False)
            return
        option = Declared(
            name=name,
            switch=action == "store_true",
            repeatable=action == "append",
            number=kind is int,
            choices=declared.get("choices"),
            required=declared.get("required", False),
        )
        self._options.update(dict.fromkeys(names, option))

    def _add_word(self, name: str, declared: dict[str, Any]) -> None:
        """Declares what stands alone: at most one word, which may be missing; argparse sees to all others."""
        self._defaults[name] = declared.get("default")
        self._plain = self._plain and self._word is None and declared.keys() <= {"nargs", "default", "metavar", "help"}
        self._plain = self._plain and declared.get("nargs") == "?"
        self._word = name

    def read(self, given: Sequence[str]) -> SimpleNamespace | None:
        """The values as argparse would give them, in the order of their declarations; None if it has to be asked."""
        if not self._plain:
            return None
        values, missing = dict(self._defaults), {option.name for option in self._options.values() if option.required}
        words = 0
        rest = iter(given)
        for token in rest:
            if token[:1] != "-":
                if self._word is None or words:
                    return None
                values[self._word], words = token, 1
                continue
            spelled, joined, text = token.partition("=")
            option = self._options.get(spelled)
            if option is None or (joined and (option.switch or not text)):
                return None
            if option.switch:
                values[option.name] = True
                continue
            value = option.read(text if joined else next(rest, "--"))
            if value is None:
                return None
            values[option.name] = [*values[option.name], value] if option.repeatable else value
            missing.discard(option.name)
        return None if missing else SimpleNamespace(**values)


def declare_common(common: Arguments | _ActionsContainer) -> None:
    """Declares the options of every command."""
    common.add_argument("--store", metavar="DIR", help="folder of the store (default: AFORESAID_STORE, else per user)")
    common.add_argument("--config", metavar="FILE", help="a configuration file on top of your own")
    common.add_argument(
        "--set", metavar="KEY=VALUE", dest="settings", action="append", default=[], help="one option; repeatable"
    )
    common.add_argument("--trust", metavar="DIR", help="a project that you trust: its .aforesaid/config.json counts")
    common.add_argument("--json", action="store_true", help="write one JSON document")
    common.add_argument("-v", dest="verbose", action="store_true", help="show more")
    common.add_argument("--version", action="version", version=f"aforesaid {__version__}", help="show the version")


def read_options(arguments: Namespace | SimpleNamespace) -> Options:
    """The global options of parsed arguments."""
    return Options(
        store=arguments.store,
        config=arguments.config,
        settings=tuple(arguments.settings),
        trust=arguments.trust,
        json=arguments.json,
        verbose=arguments.verbose,
    )
