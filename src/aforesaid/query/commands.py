"""Floor 4: what looks like a shell command: the simple commands of calls, of blocks and of backticks.

`items` asks for them; a request's own commands are backticked and reach `read_query` through `quotes`. Nothing is run,
and nothing is guessed: where nobody ran it, only a known program makes a command.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from aforesaid.language import shapes
from aforesaid.language.programs import PLAIN, PROGRAMS

if TYPE_CHECKING:
    from collections.abc import Iterator

SHORTEST: Final = 10
LONGEST: Final = 160
"""Characters of a command; a longer one is a script."""
_MOST: Final = 20_000
"""Characters that are read of one script."""


def read_commands(text: str) -> tuple[str, ...]:
    """The simple commands in a text, each once, in order: blanks as one, without redirections and leading assignments.

    Time grows linearly with the text.
    """
    found: dict[str, None] = {}
    for script, was_run in _scripts(text):
        for piece in _split(script[:_MOST]):
            command = _command(piece, was_run=was_run)
            if command is not None:
                found[command] = None
    return tuple(found)


def _scripts(text: str) -> Iterator[tuple[str, bool]]:
    """What may be shell text, and whether it was run: arguments of calls; blocks, backticks and lines with a prompt."""
    if "command: " in text or "cmd: " in text:
        for match in re.finditer(shapes.CALLED_COMMAND, text):
            yield match.group(1), True
    if "$ " in text:
        for match in re.finditer(shapes.PROMPTED, text):
            yield match.group(1), True
    if "`" in text:
        for match in re.finditer(shapes.SHELL_BLOCK, text):
            yield match.group(1) or match.group(2), False


def _split(script: str) -> Iterator[str]:
    """The simple commands of a script: cut at operators and line ends outside of quotes, without here-documents."""
    script = _without_documents(script.replace("\\\n", " "))
    piece: list[str] = []
    for match in re.finditer(shapes.SHELL_PIECE, script):
        token = match.group()
        if token[0] in ";|&\n":
            yield "".join(piece)
            piece.clear()
        else:
            piece.append(token)
    yield "".join(piece)


def _without_documents(script: str) -> str:
    """The script without what is fed to its commands."""
    kept: list[str] = []
    done = 0
    for match in re.finditer(shapes.HERE_DOCUMENT, script):
        if match.start() < done:
            continue
        kept.append(script[done : match.start()])
        line_end = script.find("\n", match.end())
        end = -1 if line_end < 0 else script.find(f"\n{match.group(1)}", line_end)
        if end < 0:
            return "".join(kept)
        kept.append(script[match.end() : line_end])
        done = end + 1 + len(match.group(1))
    return "".join((*kept, script[done:]))


def _command(piece: str, *, was_run: bool) -> str | None:
    """A simple command in its plain form; None if it is none, or says too little."""
    if not piece.strip():
        return None
    piece = re.sub(shapes.REDIRECTION, " ", piece)
    command = " ".join(re.sub(shapes.BEFORE_A_COMMAND, "", piece).split()).partition(" # ")[0].rstrip(" )")
    if not SHORTEST <= len(command) <= LONGEST:
        return None
    program, _, rest = command.partition(" ")
    if not rest or program in PLAIN or not re.fullmatch(shapes.PROGRAM, program):
        return None
    if program == "git" and rest.startswith(("commit", "add ")):
        return None  # a message or names of files; the names are items of their own
    return command if was_run or program in PROGRAMS or program.startswith("./") else None
