"""Floor 9: `aforesaid config`: the configuration with its sources, its schema, and the user's own file."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from aforesaid.cli.terminal import emit, one_line, show, show_table
from aforesaid.config import user_file
from aforesaid.config.layers import parse, unknown
from aforesaid.config.layers import show as shown
from aforesaid.config.table import BY_KEY
from aforesaid.errors import BadArgument
from aforesaid.hosts import wire, wire_upkeep
from aforesaid.hosts.standing import describe

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Sequence

    from aforesaid.cli.arguments import Options
    from aforesaid.config import Config, Setting

_ARGUMENTS = {"show": 0, "get": 1, "set": 2, "schema": 0, "path": 0}
"""What can be done, and how many of KEY and VALUE it takes."""


def add_arguments(parser: ArgumentParser) -> None:
    """The arguments of `config`."""
    parser.add_argument(
        "action", nargs="?", default="show", choices=tuple(_ARGUMENTS),
        help="show all values with their sources (default), get or set one, print the JSON Schema, or your file's path",
    )  # fmt: skip
    parser.add_argument("key", nargs="?", metavar="KEY", help="dotted name, for get and set")
    parser.add_argument("value", nargs="?", metavar="VALUE", help="JSON if it parses, else text; for set")


def run(arguments: Namespace, options: Options) -> int:
    """Does one of the five."""
    action = arguments.action
    given = [argument for argument in (arguments.key, arguments.value) if argument is not None]
    if len(given) != _ARGUMENTS[action]:
        wanted = " ".join(("KEY", "VALUE")[: _ARGUMENTS[action]]) or "no argument"
        raise BadArgument(f"config {action} takes {wanted}", "see `aforesaid config --help`")
    if arguments.key is not None and arguments.key not in BY_KEY:
        raise unknown(arguments.key)
    if action == "schema":
        from aforesaid.config.schema import schema  # late: for this action only

        emit(schema(), indent=None if options.json else 2)
    elif action == "path":
        _show_path(options)
    elif action == "set":
        _set(arguments.key, arguments.value, options)
    else:
        _tell(action, arguments.key, options)
    return 0


def _tell(action: str, key: str, options: Options) -> None:
    """Shows all values, and what they mean for privacy, or the value of one."""
    if action == "get":
        loaded = options.load_config()
        chosen = loaded.setting(key)
        if options.json:
            emit(wire_upkeep.config(user_file(), (chosen,), loaded))
        else:
            show([_plain(chosen.value)])
        return
    with options.open_engine() as engine:
        loaded, withheld = engine.config, engine.withheld()
    if options.json:
        emit(wire_upkeep.config(user_file(), loaded.settings, loaded, withheld=withheld))
    else:
        _show_all(loaded.settings, loaded)
        show(["", *map(one_line, describe(wire_upkeep.privacy(loaded, withheld)))])


def _show_all(settings: Sequence[Setting], loaded: Config) -> None:
    later = loaded.not_in_this_version
    show_table(
        ("key", "value", "source", ""),
        [
            (setting.key, shown(setting.value), setting.source, "not in this version" if setting.key in later else "")
            for setting in settings
        ],
    )


def _show_path(options: Options) -> None:
    file = user_file()
    if options.json:
        emit(wire_upkeep.config_path(file, exists=os.path.exists(file)))
    else:
        show([one_line(file)])


def _set(key: str, value: str, options: Options) -> None:
    if options.config is not None:
        raise BadArgument("config set writes your own file only", "leave --config out")
    from aforesaid.config.writing import write_setting  # late: for this action only

    file = write_setting(key, parse(value))
    loaded = options.load_config()
    setting = loaded.setting(key)
    if options.json:
        emit(wire_upkeep.config(file, (setting,), loaded))
    else:
        show([f"{key} is {shown(setting.value)} ({one_line(setting.source)})"])


def _plain(value: object) -> str:
    """A value as a script wants it: texts bare, everything else as JSON."""
    return one_line(value) if isinstance(value, str) else wire.encode(value).decode()
