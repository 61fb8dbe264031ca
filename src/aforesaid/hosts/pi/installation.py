"""Floor 8: the one file that `aforesaid install pi` adds to Pi's folder, and how it is taken back.

`cli/install` and `cli/uninstall` ask for the changes, show them, and carry them out. Nothing else of Pi's is read or
written. What was made for the file (folders) is noted in its first line, so that uninstalling restores what was there.
"""

from __future__ import annotations

import json
import os
import sys
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from aforesaid.config import user_file
from aforesaid.config.layers import split
from aforesaid.errors import OperationError
from aforesaid.hosts.changes import Change, folders_above, missing_folders, read_text, remove_folders

if TYPE_CHECKING:
    from collections.abc import Sequence

MARK: Final = "// aforesaid: written by `aforesaid install pi`, taken back by `aforesaid uninstall pi`. "
FILE: Final = os.path.join("extensions", "aforesaid.ts")

_LOADER: Final = """\
import {{ pathToFileURL }} from "node:url";

const launch = {launch};
const extension = {extension};

export default async function (pi) {{
  const began = performance.now();
  try {{
    const {{ default: start }} = await import(pathToFileURL(extension).href);
    start(pi, launch, performance.now() - began);
  }} catch (error) {{
    pi.on("session_start", (_event, ctx) => {{
      const advice = "run `aforesaid install pi` again, or remove its file from Pi's folder for extensions";
      const text = `aforesaid: its extension could not be loaded: ${{error.message}}; ${{advice}}`;
      if (ctx.hasUI) ctx.ui.notify(text, "warning");
      else process.stderr.write(`${{text}}\\n`);
    }});
  }}
}}
"""


def agent_folder() -> str:
    """Pi's own folder: `PI_CODING_AGENT_DIR`, else `.pi/agent` in the home folder."""
    folder = os.environ.get("PI_CODING_AGENT_DIR") or os.path.join("~", ".pi", "agent")
    return os.path.abspath(os.path.expanduser(folder))


def extension_file() -> str:
    """The extension in this package."""
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "extension", "index.ts")


def loader_file() -> str:
    """The file that installing adds, which need not exist."""
    return os.path.join(agent_folder(), FILE)


class Installed(Struct, frozen=True, kw_only=True):
    """What an installed file says.

    Attributes:
        command: how the service is started.
        extension: path of the extension that is loaded.
    """

    command: tuple[str, ...]
    extension: str


def installed() -> Installed | None:
    """What is installed; None if nothing is.

    Raises:
        OperationError: a file of the same name is somebody else's, cannot be read, or was changed.
    """
    file = loader_file()
    found = read_text(file)
    if found is None:
        return None
    _made(found, file)
    try:
        launch, extension = (_constant(found, name) for name in ("launch", "extension"))
        return Installed(command=(launch["python"], *launch["arguments"]), extension=str(extension))
    except (ValueError, KeyError, TypeError) as error:
        raise OperationError(f"{file} was changed", "run `aforesaid install pi` again") from error


def _constant(found: str, name: str) -> Any:
    """The value of a constant of the file.

    Raises:
        ValueError: there is none.
    """
    value = found.partition(f"\nconst {name} = ")[2].partition(";\n")[0]
    return json.loads(value)


def plan_install(options: Sequence[str] = ()) -> tuple[Change, ...]:
    """What installing changes; nothing if everything is as it should be.

    Args:
        options: global options that the service is to be started with.

    Raises:
        OperationError: a file of the same name is somebody else's, or cannot be read.
    """
    file = loader_file()
    found = read_text(file)
    made = missing_folders(file) if found is None else _made(found, file)
    content = _loader(made, options)
    if content == found:
        return ()
    folders = [Change(path=folder, action="make-folder") for folder in made if not os.path.isdir(folder)]
    return (*folders, Change(path=file, action="create" if found is None else "replace", content=content))


def plan_uninstall() -> tuple[Change, ...]:
    """What uninstalling changes; nothing if nothing is installed.

    Raises:
        OperationError: a file of the same name is somebody else's, or cannot be read.
    """
    file = loader_file()
    found = read_text(file)
    if found is None:
        return ()
    return (Change(path=file, action="delete"), *remove_folders(file, _made(found, file)))


def _loader(made: Sequence[str], options: Sequence[str]) -> str:
    folder = agent_folder()
    notes = {"made": [os.path.relpath(path, folder).replace(os.sep, "/") for path in made]}
    # -P: the folder that Pi works in must not be where Python looks for modules.
    launch = {
        "python": os.path.abspath(sys.executable),
        "arguments": ["-P", "-m", "aforesaid", "serve", *options],
        # How long Pi may wait for the service must be known before the service can say it.
        "files": [user_file(), *_given(options, "--config")],
        "host": _host(options),
    }
    return f"{MARK}{json.dumps(notes)}\n" + _LOADER.format(
        launch=json.dumps(launch), extension=json.dumps(extension_file())
    )


def _given(options: Sequence[str], name: str) -> list[str]:
    """The values of an option."""
    return [value for option, value in pairwise(options) if option == name]


def _host(options: Sequence[str]) -> dict[str, object]:
    """The options of the section `host` that were given one by one."""
    said = split(_given(options, "--set"))
    return {key.removeprefix("host."): value for key, value in said if key.startswith("host.")}


def _made(found: str, file: str) -> tuple[str, ...]:
    """The folders that were made for the file, outermost first.

    Raises:
        OperationError: the file is not ours.
    """
    first = found.partition("\n")[0]
    if not first.startswith(MARK):
        raise OperationError(f"{file} was not written by aforesaid", "move it away, and run this again")
    try:
        notes = json.loads(first.removeprefix(MARK))
        made = [str(name) for name in notes["made"]]
    except (ValueError, KeyError, TypeError):
        made = []
    parents = folders_above(file)
    named = {os.path.normpath(os.path.join(agent_folder(), name)) for name in made}
    # A line that was edited must not lead anywhere else.
    return tuple(folder for folder in parents if folder in named)
