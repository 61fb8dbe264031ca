"""Floor 7: the configuration: defaults, files and single values, checked and laid over each other.

`engine` takes what the floors below need from it, `cli/config` shows it. Every value knows its source. Layers, each
above the one before: defaults, the user's own `config.json`, the file of a trusted project, the file that a caller
names, single values. Of a project that nobody trusts nothing is read.

The options stand in `table`, layering in `layers`, a project's part in `project`, the folders in `folders`, the schema
in `schema`.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from msgspec import Struct

from aforesaid.config.folders import store_folder, user_file
from aforesaid.config.layers import (
    COMMAND_LINE,
    UNKNOWN,
    Setting,
    apply_file,
    apply_settings,
    look,
    read_file,
    read_section,
    split,
)
from aforesaid.config.table import BY_KEY, OPTIONS, Option, Value
from aforesaid.errors import BadArgument, ConfigUnreadable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["COMMAND_LINE", "OPTIONS", "Config", "Option", "Setting", "Value", "store_folder", "user_file"]

NOT_IN_THIS_VERSION = "not-in-this-version"
"""A value is set that changes nothing, because its feature is not built yet."""
PRIVACY = "privacy.enabled"
PRIVACY_UNREADABLE = "privacy-unreadable"
"""A configuration asks, or may ask, for a privacy policy that could not be read: nothing is handed out."""
_SECTION = "privacy"
_PLACES = {option.key: place for place, option in enumerate(OPTIONS)}


class Config(Struct, frozen=True, kw_only=True):
    """All options with their values and sources.

    Attributes:
        settings: one an option, in the order of the table.
        warnings: what was wrong with files, and what was set without effect; a line each. Settings of features that
            are not built give `not-in-this-version KEY`.
        files: paths of the files that count, whether they are there or not; a change of one is a change of the
            configuration.
        seen: their state just before they were read (`layers.look`).
        privacy_misread: what of the section `privacy` could not be read in a file and was not set by a layer above it:
            keys, or `privacy` itself if it may be all of it.
    """

    settings: tuple[Setting, ...]
    warnings: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    seen: tuple[str, ...] = ()
    privacy_misread: tuple[str, ...] = ()

    @classmethod
    def load(
        cls,
        file: str | os.PathLike[str] | None = None,
        *,
        settings: Mapping[str, object] | Sequence[str] = (),
        project: str | os.PathLike[str] | None = None,
        trusted: bool = True,
    ) -> Config:
        """Reads the layers.

        Args:
            file: a file on top of the user's own; None for none.
            settings: single values above all files, as a mapping by dotted key or as texts `key=value`.
            project: folder of a project, whose file stands between the user's own and `file`; None for none.
            trusted: whether the user trusts the project; if not, its file is not read, and a warning says so.

        Raises:
            ConfigUnreadable: `file` cannot be read or holds no JSON object.
            ConfigInvalid: `settings` name an unknown key or a value that is not allowed.
            BadArgument: `project` is empty.
        """
        if project is not None and not os.fspath(project).strip():
            raise BadArgument("the folder of the project is empty", "name a folder, or trust none")
        values = {option.key: Setting(key=option.key, value=option.default, source="default") for option in OPTIONS}
        warnings: tuple[str, ...] = ()
        misread: frozenset[str] = frozenset()
        own = user_file()
        named: tuple[str, ...] = () if file is None else (os.path.abspath(os.fspath(file)),)
        theirs: tuple[str, ...] = () if project is None else (_project_file(project),)
        files = (own, *theirs, *named)
        seen = look(files)
        if os.path.lexists(own):
            try:
                document = read_file(own)
            except ConfigUnreadable as error:
                misread = frozenset({_SECTION})
                warnings = (f"{error.message}; the file is left out, and nothing is retrieved until it is mended",)
            else:
                values, warnings = apply_file(values, document, own)
                misread = _lay_over(misread, *read_section(document, _SECTION))
        beneath = values
        for path in theirs:
            values, more, missed = _read_project(values, path, trusted=trusted)
            warnings += more
            misread |= missed
        laid = values is not beneath
        for path in named:
            document = read_file(path)
            values, more = apply_file(values, document, path)
            warnings += more
            misread = _lay_over(misread, *read_section(document, _SECTION))
        given = split(settings)
        values = apply_settings(values, given)
        misread = _lay_over(misread, frozenset(key for key, _ in given), frozenset())
        if laid:
            from aforesaid.config.project import hold_back  # late: few projects have a file

            values, more = hold_back(values, beneath, "".join(theirs))
            warnings += more
        return cls(
            settings=tuple(values.values()),
            warnings=warnings + _without_effect(values),
            files=files,
            seen=seen,
            privacy_misread=tuple(sorted(misread)),
        )

    @property
    def privacy_stamp(self) -> str:
        """Names the privacy policy: two configurations with one stamp let the same through."""
        from aforesaid.digests import blake2b  # late: for hosts that keep what was cleared

        said = [(setting.key, setting.value) for setting in self.settings if setting.key.startswith(f"{_SECTION}.")]
        told = repr((said, self.privacy_misread)).encode("utf-8", "surrogatepass")
        return blake2b(told, digest_size=12).hexdigest()

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
        place = _PLACES.get(key, 0)
        if place < len(self.settings) and self.settings[place].key == key:
            return self.settings[place]
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
    def privacy_unknown(self) -> bool:
        """Whether nothing may be handed out: a privacy policy is, or may be, asked for, and not all of it is known."""
        if not self.boolean(PRIVACY):
            return PRIVACY in self.privacy_misread or _SECTION in self.privacy_misread
        return bool(self.privacy_misread)


def _project_file(folder: str | os.PathLike[str]) -> str:
    """Path of a project's file, which need not exist."""
    return os.path.join(os.path.abspath(os.fspath(folder)), ".aforesaid", "config.json")


def _read_project(
    below: dict[str, Setting], path: str, *, trusted: bool
) -> tuple[dict[str, Setting], tuple[str, ...], frozenset[str]]:
    """The layer of a project: the values with it, warnings, and what of its privacy could not be understood.

    What it understands of privacy never makes up for what a file below could not say: that may have been stricter.
    """
    if not os.path.lexists(path):
        return below, (), frozenset()
    if not trusted:
        warning = f"{path} is left out: the project is not trusted; trust it in the host, or name it with --trust"
        return below, (warning,), frozenset()
    from aforesaid.config.project import lay_project  # late: few projects have a file

    try:
        document = read_file(path)
    except ConfigUnreadable as error:
        warning = f"{error.message}; the file is left out, and nothing is retrieved until it is mended"
        return below, (warning,), frozenset({_SECTION})
    values, warnings = lay_project(below, document, path)
    return values, warnings, read_section(document, _SECTION)[1]


def _lay_over(misread: frozenset[str], known: frozenset[str], missed: frozenset[str]) -> frozenset[str]:
    """What is still misread once a layer was laid over those below."""
    left = misread - known
    if PRIVACY in known and _SECTION in left:
        # Whether there is a policy is known now; what it says is not.
        left = left - {_SECTION} | {f"{_SECTION}.{UNKNOWN}"}
    return left | missed


def _without_effect(values: Mapping[str, Setting]) -> tuple[str, ...]:
    """A warning for each value that asks for what this version does not have."""
    warnings: list[str] = []
    for key, setting in values.items():
        option = BY_KEY[key]
        if (option.later and setting.value != option.default) or setting.value in option.later_choices:
            warnings.append(f"{NOT_IN_THIS_VERSION} {key}")
    remote = ("privacy.remoteDefaultAllowed", "privacy.remoteProviders")
    never = [f"{key} names local-only, which no remote provider gets" for key in remote if _names(values[key].value)]
    return (*warnings, *never)


def _names(value: Value) -> bool:
    """Whether a list, or a list in an object, has `local-only`."""
    lists = (value,) if isinstance(value, tuple) else value.values()  # type: ignore[attr-defined]
    return any("local-only" in names for names in lists)
