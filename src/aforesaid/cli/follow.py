"""Floor 9: commands that go on from an answer, ready to be copied into a shell.

`recall`, `expand` and `sessions` show them. Options that a user gave are repeated where they change what is answered:
store, configuration, trust, and of the next page everything but its cursor.
"""

from __future__ import annotations

import os
import re
import shlex
from typing import TYPE_CHECKING, Any, Final

from aforesaid.cli.terminal import one_line

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence

    from aforesaid.cli.arguments import Options

WINDOWS: Final = os.name == "nt"
"""Whether shells are those of Windows, which do not know single quotes as POSIX does."""
_BARE: Final = r"[\w:./\\][\w:./\\=+-]*|-[\w=-]*"
"""Words that neither cmd.exe nor PowerShell reads as more than one, or as anything else."""
_COMMON = frozenset({"store", "config", "settings", "trust", "json", "verbose", "cursor"})
"""Options that `command` repeats, that change how an answer is shown, or that the next page has instead."""


def command(words: Sequence[str], options: Options, query: str | None = None) -> str:
    """A command with the user's own store and configuration, and what is searched, which may begin with a dash."""
    given = ["aforesaid", *words]
    if options.store is not None:
        given += ["--store", options.store]
    if options.config is not None:
        given += ["--config", options.config]
    for setting in options.settings:
        given += ["--set", setting]
    if options.trust is not None:
        given += ["--trust", options.trust]
    if query is not None:
        given += ["--", query]
    return one_line(" ".join(map(quote_for_windows, given)) if WINDOWS else shlex.join(given))


def quote_for_windows(word: str) -> str:
    """A word as cmd.exe and PowerShell both hand it on: in double quotes, with quotes in it doubled.

    In double quotes nothing is special to both but these. What only one of them reads there cannot be escaped for both,
    and stays as it is: the name of a variable between percent signs (cmd.exe), a dollar sign and a backtick
    (PowerShell). Backslashes before the closing quote are doubled, as programs of Windows expect.
    """
    if re.fullmatch(_BARE, word, re.ASCII):
        return word
    backslashes = len(word) - len(word.rstrip("\\"))
    doubled = re.sub(r'(\\*)"', r'\1\1""', word)
    return f'"{doubled}{chr(92) * backslashes}"'


def next_page(arguments: Namespace, cursor: str, options: Options) -> str:
    """The command that was run, with a cursor."""
    values = dict(vars(arguments))
    name = "recall" if "query" in values else "expand"
    words = [name]
    query = values.get("query")
    dashed = query is not None and query.startswith("-")
    words += [] if query is None or dashed else [query]
    words += [] if values.get("ref") is None else [values["ref"]]
    for option, value in values.items():
        if option not in _COMMON and option not in {"query", "ref"}:
            words += _option(f"--{option.replace('_', '-')}", value)
    return command([*words, f"--cursor={cursor}"], options, query if dashed else None)


def _option(name: str, value: Any) -> list[str]:
    """An option as it is typed; none where it has no value."""
    if value is None or value is False or value == []:
        return []
    if value is True:
        return [name]
    if isinstance(value, list):
        return [word for item in value for word in _option(name, item)]
    return [f"{name}={value}"]
