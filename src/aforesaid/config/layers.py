"""Floor 7: from files and `--set` to one value an option.

`Config.load` applies one layer after another. A wrong value in a file costs that value and a warning; the layer below
counts then. A wrong value of `--set` is an error. Nothing here knows where the files are.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from msgspec import Struct

from aforesaid.config.table import ASCENDING, BY_KEY, SECTIONS, Value, nearest
from aforesaid.errors import ConfigInvalid, ConfigUnreadable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

UNKNOWN = "?"
"""Stands for an option of a section that no option is like."""
COMMAND_LINE = "--set"
"""Source of the values that a caller gave one by one."""

_SHOWN = 80
"""Characters of a value that a message shows."""


class Setting(Struct, frozen=True, kw_only=True):
    """One option's value and where it comes from: `default`, the path of a file, or `--set`."""

    key: str
    value: Value
    source: str


def look(files: Iterable[str]) -> tuple[str, ...]:
    """What tells one state of files from another: time and size, or `-` for what is not there."""
    found: list[str] = []
    for file in files:
        try:
            status = os.stat(file)
        except OSError:
            found.append("-")
        else:
            found.append(f"{status.st_mtime_ns}:{status.st_size}")
    return tuple(found)


def read_file(path: str) -> dict[str, object]:
    """The object that a configuration file holds.

    Raises:
        ConfigUnreadable: it is missing, cannot be read, or holds no JSON object.
    """
    from msgspec import DecodeError, json  # late: without files nothing is parsed

    if os.path.exists(path) and not os.path.isfile(path):
        raise ConfigUnreadable(f"{path} is no file", "name a file with one JSON object")  # a pipe would be waited for
    try:
        with open(path, "rb") as source:
            # A byte order mark is what some editors put before UTF-8.
            data = source.read().removeprefix(b"\xef\xbb\xbf")
        document = json.decode(data)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise ConfigUnreadable(f"{path} cannot be read: {reason}", "check the path and its permissions") from error
    except (DecodeError, UnicodeError, RecursionError) as error:
        raise ConfigUnreadable(f"{path} is not valid JSON: {error}", "correct it, or leave the file out") from error
    if not isinstance(document, dict):
        raise ConfigUnreadable(f"{path} holds no JSON object", "write the options as one JSON object")
    if twice := _doubled(data):
        # Which of the two is meant nobody knows, and one of them may be the privacy that somebody relies on.
        raise ConfigUnreadable(f"{path} has {twice} twice in one object", "leave one of them out")
    return document


def _doubled(data: bytes) -> str | None:
    """A key that stands twice in one object of a JSON text, or None."""
    from json import loads  # late: see above; msgspec takes the last of two

    found: list[str] = []

    def note(pairs: list[tuple[str, object]]) -> None:
        keys = [key for key, _ in pairs]
        found.extend(key for key in keys if keys.count(key) > 1)

    loads(data.decode("utf-8"), object_pairs_hook=note)
    return found[0] if found else None


def apply_file(
    below: Mapping[str, Setting],
    document: Mapping[str, object],
    source: str,
    *,
    permit: Callable[[str, Value, Value], tuple[Value | None, str]] | None = None,
) -> tuple[dict[str, Setting], tuple[str, ...]]:
    """Lays a file's values over the layer below.

    Args:
        below: the layer below.
        document: what the file holds.
        source: its path.
        permit: takes a key, the value below and the file's; gives the value that counts, None if the file may not say
            this, and what it may. None for a file that may say everything.

    Returns:
        The new values, and a warning for each member of the file that could not be used.
    """
    values = dict(below)
    warnings: list[str] = []
    for key, found in _flatten(document):
        option = BY_KEY.get(key)
        if option is None:
            warnings.append(f"{source}: {_unknown(key, found)}")
            continue
        value = option.accept(found)
        allowed = f"allowed: {option.allowed}"
        if value is not None and permit is not None:
            value, allowed = permit(key, below[key].value, value)
        if value is None:
            warnings.append(f"{source}: {key} is {show(found)}; {allowed}; {_falls_back(below[key])}")
        elif permit is None or value != below[key].value:
            values[key] = Setting(key=key, value=value, source=source)
    if fault := _out_of_order(values):
        for key in ASCENDING:
            if values[key] != below[key]:
                warnings.append(f"{source}: {_wrong(key, values[key].value, fault)}; {_falls_back(below[key])}")
                values[key] = below[key]
    return values, tuple(warnings)


def read_section(document: Mapping[str, object], section: str) -> tuple[frozenset[str], frozenset[str]]:
    """What a file says of a section of options.

    Returns:
        The keys that it sets to something allowed, and those of which it is not known what it wanted: options with a
        value that is not allowed, options of the section whose name is most like a wrong one, and the section's own
        name for whatever else cannot be understood.
    """
    known: set[str] = set()
    missed: set[str] = set()
    for key, found in _flatten(document):
        option = BY_KEY.get(key)
        if option is not None:
            if key.startswith(f"{section}."):
                (missed if option.accept(found) is None else known).add(key)
            continue
        near = key if key in SECTIONS else nearest(key.replace("'", "")) or ""
        if near == section or near.startswith(f"{section}."):
            missed.add(near)
        elif key.partition(".")[0].strip("'").lower() == section:
            missed.add(f"{section}.{UNKNOWN}")
    return frozenset(known), frozenset(missed)


def apply_settings(below: Mapping[str, Setting], settings: Iterable[tuple[str, object]]) -> dict[str, Setting]:
    """Lays single values over all files.

    Raises:
        ConfigInvalid: there is no such option, or it cannot have this value.
    """
    values = dict(below)
    for key, found in settings:
        values[key] = Setting(key=key, value=accept(key, found), source=COMMAND_LINE)
    if fault := _out_of_order(values):
        wrong = " ".join(f"{key}={values[key].value}" for key in ASCENDING)
        raise ConfigInvalid(f"the ratios {wrong} are out of order", f"allowed: {fault}")
    return values


def accept(key: str, found: object) -> Value:
    """The value of an option as it will count.

    Raises:
        ConfigInvalid: there is no such option, or it cannot have this value.
    """
    option = BY_KEY.get(key)
    if option is None:
        raise unknown(key)
    value = option.accept(found)
    if value is None:
        raise ConfigInvalid(f"{key} cannot be {show(found)}", f"allowed: {option.allowed}")
    return value


def unknown(key: str) -> ConfigInvalid:
    """The error for a key that no option has."""
    if key in SECTIONS:
        first = next(name for name in BY_KEY if name.startswith(f"{key}."))
        return ConfigInvalid(f"{key} is no option but a section", f"name one of its options, as {first}")
    near = nearest(key)
    hint = f"did you mean {near}?" if near else "`aforesaid config show` lists all options"
    return ConfigInvalid(f"there is no option {key}", hint)


def split(settings: Mapping[str, object] | Sequence[str]) -> list[tuple[str, object]]:
    """Keys and values of what a caller gave: a mapping, or texts `key=value` whose value is JSON if it parses.

    Raises:
        ConfigInvalid: a text has no `=`.
    """
    if not isinstance(settings, (list, tuple)):
        return list(dict(settings).items())  # type: ignore[arg-type]
    pairs: list[tuple[str, object]] = []
    for setting in settings:
        key, equals, text = setting.partition("=")
        if not equals or not key.strip():
            lacks = "value" if key.strip() else "key"
            raise ConfigInvalid(f"--set {setting} has no {lacks}", "write it as --set KEY=VALUE")
        pairs.append((key.strip(), parse(text)))
    return pairs


def parse(text: str) -> object:
    """What a value on the command line means: JSON if it parses, else the text itself."""
    from msgspec import DecodeError, json  # late: without settings nothing is parsed

    try:
        return json.decode(text)
    except (DecodeError, UnicodeError, RecursionError):
        return text


def show(value: object) -> str:
    """A value for a message: JSON, cut to one short line."""
    from json import dumps  # late: for messages only

    text = dumps(value, ensure_ascii=False, default=_plain)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


def _plain(value: object) -> object:
    return dict(value) if hasattr(value, "keys") else str(value)  # type: ignore[call-overload]


def _flatten(document: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, object]]:
    """Dotted key and value of each member; sections are entered, everything else is a value."""
    for name, value in document.items():
        if not prefix and name == "$schema":
            continue
        key = prefix + name
        if "." in name:
            # Written flat it would look like an option and be none: the members of a file are nested.
            yield f"{prefix}{name!r}", value
        elif key in SECTIONS and isinstance(value, dict):
            yield from _flatten(value, f"{key}.")
        else:
            yield key, value


def _unknown(key: str, found: object) -> str:
    if key in SECTIONS:
        return _wrong(key, found, "an object")
    nested = key.replace("'", "")
    if nested in BY_KEY and nested != key:
        return f"{key} is no option: a file nests them, as in {_nest(nested, show(found))}"
    near = nearest(key)
    return f"there is no option {key}" + (f"; did you mean {near}?" if near else "")


def _nest(key: str, value: str) -> str:
    """An option and its value, as a configuration file holds it."""
    for name in reversed(key.split(".")):
        value = f'{{"{name}": {value}}}'
    return value


def _wrong(key: str, found: object, allowed: str) -> str:
    return f"{key} is {show(found)}; allowed: {allowed}"


def _falls_back(setting: Setting) -> str:
    return f"using {show(setting.value)} ({setting.source})"


def _out_of_order(values: Mapping[str, Setting]) -> str | None:
    """The rule that the ratios break, or None."""
    ratios = [values[key].value for key in ASCENDING]
    return None if ratios == sorted(ratios, key=float) else " <= ".join(ASCENDING)  # type: ignore[arg-type]
