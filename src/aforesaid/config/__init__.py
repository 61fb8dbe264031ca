"""Floor 7: the configuration: defaults, files and single values, checked and laid over each other.

`engine` takes what the floors below need from it, `cli/config` shows it. Every value knows its source. Layers, each
above the one before: defaults, the user's own `config.json`, the file that a caller names, single values. The layer of
a trusted project comes with project search; nothing in a project's folder is read before that.

The options stand in `table`, layering in `layers`, the folders in `folders`, the schema in `schema`.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from msgspec import Struct

from aforesaid.config.folders import store_folder, user_file
from aforesaid.config.layers import COMMAND_LINE, Setting, apply_file, apply_settings, misses, read_file, split
from aforesaid.config.table import BY_KEY, OPTIONS, Option, Value
from aforesaid.errors import ConfigUnreadable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["COMMAND_LINE", "OPTIONS", "Config", "Option", "Setting", "Value", "store_folder", "user_file"]

NOT_IN_THIS_VERSION = "not-in-this-version"
"""A value is set that changes nothing, because its feature is not built yet."""
PRIVACY = "privacy.enabled"
PRIVACY_UNAVAILABLE = "privacy-unavailable"
"""`privacy.enabled` is set, and this version has no policy engine: nothing is retrieved."""


class Config(Struct, frozen=True, kw_only=True):
    """All options with their values and sources.

    Attributes:
        settings: one an option, in the order of the table.
        warnings: what was wrong with files, and what was set without effect; a line each. Settings of features that
            are not built give `not-in-this-version KEY`.
        privacy_unknown: whether a file may have asked for privacy in a way that could not be read.
    """

    settings: tuple[Setting, ...]
    warnings: tuple[str, ...] = ()
    privacy_unknown: bool = False

    @classmethod
    def load(
        cls, file: str | os.PathLike[str] | None = None, *, settings: Mapping[str, object] | Sequence[str] = ()
    ) -> Config:
        """Reads the layers.

        Args:
            file: a file on top of the user's own; None for none.
            settings: single values above all files, as a mapping by dotted key or as texts `key=value`.

        Raises:
            ConfigUnreadable: `file` cannot be read or holds no JSON object.
            ConfigInvalid: `settings` name an unknown key or a value that is not allowed.
        """
        values = {option.key: Setting(key=option.key, value=option.default, source="default") for option in OPTIONS}
        warnings: tuple[str, ...] = ()
        unknown = False
        own = user_file()
        if os.path.lexists(own):
            try:
                document = read_file(own)
            except ConfigUnreadable as error:
                unknown = True
                warnings = (f"{error.message}; the file is left out, and nothing is retrieved until it is mended",)
            else:
                values, warnings = apply_file(values, document, own)
                unknown = misses(document, PRIVACY)
        if file is not None:
            path = os.path.abspath(os.fspath(file))
            document = read_file(path)
            values, more = apply_file(values, document, path)
            warnings += more
            unknown = unknown or misses(document, PRIVACY)
        values = apply_settings(values, split(settings))
        return cls(
            settings=tuple(values.values()), warnings=warnings + _without_effect(values), privacy_unknown=unknown
        )

    def get(self, key: str) -> Value:
        """The value of an option.

        Raises:
            KeyError: there is no such option.
        """
        return self.setting(key).value

    def setting(self, key: str) -> Setting:
        """The value of an option with its source.

        Raises:
            KeyError: there is no such option.
        """
        for setting in self.settings:
            if setting.key == key:
                return setting
        raise KeyError(key)

    def boolean(self, key: str) -> bool:
        """The value of a switch."""
        value = self.get(key)
        if not isinstance(value, bool):
            raise TypeError(f"{key} is no switch")
        return value

    def integer(self, key: str) -> int:
        """The value of a count."""
        value = self.get(key)
        if isinstance(value, bool) or not isinstance(value, int):
            raise TypeError(f"{key} is no whole number")
        return value

    def number(self, key: str) -> float:
        """The value of a ratio."""
        value = self.get(key)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise TypeError(f"{key} is no number")
        return value

    def text(self, key: str) -> str:
        """The value of a choice or a text."""
        value = self.get(key)
        if not isinstance(value, str):
            raise TypeError(f"{key} is no text")
        return value

    @property
    def not_in_this_version(self) -> tuple[str, ...]:
        """Keys whose feature, or whose chosen value, this version does not have."""
        return tuple(
            setting.key
            for setting in self.settings
            if BY_KEY[setting.key].later or setting.value in BY_KEY[setting.key].later_choices
        )

    @property
    def privacy_withholds(self) -> bool:
        """Whether nothing may be handed out: a privacy policy is, or may be, asked for, and there is none yet."""
        return self.privacy_unknown or self.boolean(PRIVACY)


def _without_effect(values: Mapping[str, Setting]) -> tuple[str, ...]:
    """A warning for each value that asks for what this version does not have."""
    warnings: list[str] = []
    for key, setting in values.items():
        option = BY_KEY[key]
        if key == "privacy.enabled":
            if setting.value:
                warnings.append(f"{PRIVACY_UNAVAILABLE} {key}")
        elif (option.later and setting.value != option.default) or setting.value in option.later_choices:
            warnings.append(f"{NOT_IN_THIS_VERSION} {key}")
    return tuple(warnings)
