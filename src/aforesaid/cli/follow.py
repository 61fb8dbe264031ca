"""Floor 9: commands that go on from an answer, ready to be copied into a shell.

`recall` and `expand` show them. Options that a user gave are repeated, so that the command asks the same store.
"""

from __future__ import annotations

from shlex import join
from typing import TYPE_CHECKING, Any

from aforesaid.cli.terminal import one_line

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence

    from aforesaid.cli.arguments import Options

_COMMON = frozenset({"store", "config", "settings", "json", "verbose", "cursor"})


def command(words: Sequence[str], options: Options) -> str:
    """A command with the user's own store and configuration."""
    given = ["aforesaid", *words]
    if options.store is not None:
        given += ["--store", options.store]
    if options.config is not None:
        given += ["--config", options.config]
    for setting in options.settings:
        given += ["--set", setting]
    return one_line(join(given))


def next_page(arguments: Namespace, cursor: str, options: Options) -> str:
    """The command that was run, with a cursor."""
    values = dict(vars(arguments))
    name = "recall" if "query" in values else "expand"
    words = [name]
    words += [str(values[argument]) for argument in ("query", "ref") if values.get(argument) is not None]
    for option, value in values.items():
        if option not in _COMMON and option not in {"query", "ref"}:
            words += _option(f"--{option.replace('_', '-')}", value)
    return command([*words, f"--cursor={cursor}"], options)


def _option(name: str, value: Any) -> list[str]:
    """An option as it is typed; none where it has no value."""
    if value is None or value is False or value == []:
        return []
    if value is True:
        return [name]
    if isinstance(value, list):
        return [word for item in value for word in _option(name, item)]
    return [f"{name}={value}"]
