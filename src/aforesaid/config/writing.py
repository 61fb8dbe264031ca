"""Floor 7: changes one value in the user's own configuration file. `aforesaid config set` calls it; nobody else."""

from __future__ import annotations

import os
from json import dumps

from aforesaid.config.folders import user_file
from aforesaid.config.layers import Setting, accept, apply_file, read_file
from aforesaid.config.table import OPTIONS
from aforesaid.errors import ConfigInvalid, OperationError
from aforesaid.storage.ownership import close_to_others, make_private


def write_setting(key: str, value: object) -> str:
    """Sets an option in the user's file, which is made if there is none; everything else in it stays.

    The file is replaced at once, so that readers see the old or the new one and never a part.

    Returns:
        The path of the file.

    Raises:
        ConfigInvalid: there is no such option, it cannot have this value, or not beside the others of the file.
        ConfigUnreadable: the file that is there holds no JSON object; it is left as it is.
        OperationError: the file cannot be written.
    """
    accept(key, value)
    file = user_file()
    document = read_file(file) if os.path.exists(file) else {}
    *sections, name = key.split(".")
    node = document
    for section in sections:
        inner = node.get(section)
        if not isinstance(inner, dict):
            inner = node[section] = {}
        node = inner
    node[name] = value
    defaults = {option.key: Setting(key=option.key, value=option.default, source="default") for option in OPTIONS}
    values, warnings = apply_file(defaults, document, file)
    if values[key].source != file:
        raise ConfigInvalid(
            next((warning for warning in warnings if key in warning), f"{key} cannot be set"),
            "set the others of them first",
        )
    try:
        _replace(os.path.realpath(file), dumps(document, ensure_ascii=False, indent=2) + "\n")
    except OSError as error:
        raise OperationError(
            f"{file} cannot be written: {error.strerror or error}", "check the folder's permissions and free space"
        ) from error
    return file


def _replace(file: str, text: str) -> None:
    make_private(os.path.dirname(file))
    if file == user_file():
        close_to_others(os.path.dirname(file))  # a linked file stands among others of the user's
    draft = f"{file}.{os.getpid()}"
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        with open(descriptor, "w", encoding="utf-8", errors="backslashreplace", newline="\n") as target:
            target.write(text)
            target.flush()
            os.fsync(target.fileno())
        os.replace(draft, file)
    except OSError:
        os.unlink(draft)
        raise
