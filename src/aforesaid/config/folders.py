"""Floor 7: where the store and the user's own configuration are.

`platformdirs` decides. On Linux its answer is computed here: importing it costs as much as starting the interpreter,
and every retrieval needs the folder of the configuration. A test keeps both answers equal.
"""

from __future__ import annotations

import os
import sys

from aforesaid.errors import BadArgument

NAME = "aforesaid"
STORE_VARIABLE = "AFORESAID_STORE"


def user_file() -> str:
    """Path of the user's own configuration file, which need not exist."""
    return os.path.join(_folder("XDG_CONFIG_HOME", "~/.config", "user_config_dir"), "config.json")


def store_folder(folder: str | os.PathLike[str] | None = None) -> str:
    """The folder of the store: the given one, else `AFORESAID_STORE`, else the platform's user data folder.

    Where the platform has one folder for data and configuration, the store is `store` within it, so that deleting a
    store never deletes a configuration.

    Raises:
        BadArgument: the given one is empty, as a variable that is not set leaves it in a script.
    """
    if folder is not None and not os.fspath(folder):
        raise BadArgument("the folder of the store is empty", "name a folder, or leave --store out for the default")
    given = os.fspath(folder) if folder is not None else os.environ.get(STORE_VARIABLE)
    if given:
        return os.path.abspath(os.path.expanduser(given))
    data = _folder("XDG_DATA_HOME", "~/.local/share", "user_data_dir")
    return os.path.join(data, "store") if data == os.path.dirname(user_file()) else data


def _folder(variable: str, fallback: str, function: str) -> str:
    if sys.platform == "linux" and "ANDROID_DATA" not in os.environ:
        return os.path.join(os.environ.get(variable, "").strip() or os.path.expanduser(fallback), NAME)
    import platformdirs  # late: see above

    return str(getattr(platformdirs, function)(NAME))
