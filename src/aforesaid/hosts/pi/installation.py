"""Floor 8: the one file that `aforesaid install pi` adds to Pi's folder, and how it is taken back.

`cli/install` and `cli/uninstall` ask for the changes, show them, and carry them out. Nothing else of Pi's is read or
written. What was made for the file (folders) is noted in its first line, so that uninstalling restores what was there.
"""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Final, Literal

from msgspec import Struct

from aforesaid.errors import OperationError

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


class Change(Struct, frozen=True, kw_only=True):
    """One change to the disk.

    Attributes:
        path: what is changed.
        action: what happens to it.
        content: of the file as it will be; empty for folders and for what goes.
    """

    path: str
    action: Literal["create", "replace", "delete", "make-folder", "remove-folder"]
    content: str = ""


def agent_folder() -> str:
    """Pi's own folder: `PI_CODING_AGENT_DIR`, else `.pi/agent` in the home folder."""
    folder = os.environ.get("PI_CODING_AGENT_DIR") or os.path.join("~", ".pi", "agent")
    return os.path.abspath(os.path.expanduser(folder))


def extension_file() -> str:
    """The extension in this package."""
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "extension", "index.ts")


def plan_install(options: Sequence[str] = ()) -> tuple[Change, ...]:
    """What installing changes; nothing if everything is as it should be.

    Args:
        options: global options that the service is to be started with.

    Raises:
        OperationError: a file of the same name is somebody else's, or cannot be read.
    """
    file = os.path.join(agent_folder(), FILE)
    found = _read(file)
    made = _missing_folders(os.path.dirname(file)) if found is None else _made(found, file)
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
    file = os.path.join(agent_folder(), FILE)
    found = _read(file)
    if found is None:
        return ()
    gone, changes = {file}, [Change(path=file, action="delete")]
    for folder in reversed(_made(found, file)):
        if not os.path.isdir(folder) or not {entry.path for entry in os.scandir(folder)} <= gone:
            break
        changes.append(Change(path=folder, action="remove-folder"))
        gone.add(folder)
    return tuple(changes)


def carry_out(changes: Sequence[Change]) -> None:
    """Does what was planned.

    Raises:
        OperationError: the system refuses.
    """
    for change in changes:
        try:
            _carry_out(change)
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise OperationError(f"{change.path} cannot be changed: {reason}", "check its permissions") from error


def _carry_out(change: Change) -> None:
    if change.action == "make-folder":
        os.mkdir(change.path)
    elif change.action == "remove-folder":
        os.rmdir(change.path)
    elif change.action == "delete":
        os.unlink(change.path)
    else:
        draft = f"{change.path}.{os.getpid()}"
        try:
            with open(draft, "w", encoding="utf-8", newline="\n") as target:
                target.write(change.content)
            os.replace(draft, change.path)
        except OSError:
            if os.path.exists(draft):
                os.unlink(draft)
            raise


def _loader(made: Sequence[str], options: Sequence[str]) -> str:
    folder = agent_folder()
    notes = {"made": [os.path.relpath(path, folder).replace(os.sep, "/") for path in made]}
    # -P: the folder that Pi works in must not be where Python looks for modules.
    launch = {
        "python": os.path.abspath(sys.executable),
        "arguments": ["-P", "-m", "aforesaid", "serve", *options],
    }
    return f"{MARK}{json.dumps(notes)}\n" + _LOADER.format(
        launch=json.dumps(launch), extension=json.dumps(extension_file())
    )


def _read(file: str) -> str | None:
    """What our file holds; None if there is none."""
    try:
        with open(file, encoding="utf-8", newline="") as source:
            return source.read()
    except FileNotFoundError:
        return None
    except (OSError, UnicodeError) as error:
        raise OperationError(f"{file} cannot be read: {error}", "move it away, or check its permissions") from error


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
    parents = _folders(os.path.dirname(file))
    named = {os.path.normpath(os.path.join(agent_folder(), name)) for name in made}
    # A line that was edited must not lead anywhere else.
    return tuple(folder for folder in parents if folder in named)


def _missing_folders(folder: str) -> tuple[str, ...]:
    return tuple(parent for parent in _folders(folder) if not os.path.isdir(parent))


def _folders(folder: str) -> tuple[str, ...]:
    """A folder and those that it stands in, outermost first."""
    found = [folder]
    while (parent := os.path.dirname(found[-1])) != found[-1]:
        found.append(parent)
    return tuple(reversed(found))
