"""Floor 7: the layer of a trusted project: what its file may say, and what only the user's own files may.

`Config.load` asks it for one layer. A project may change how its own history is searched, and may make privacy and
consent stricter, never looser. What it may not do is a warning, and the layer below counts. `docs/configuration.md`
has the list for people.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from aforesaid.config.layers import Setting, apply_file, show
from aforesaid.config.table import BY_KEY, CLASSIFICATIONS, SCOPES, Value, freeze

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


class Limit(Struct, frozen=True, kw_only=True):
    """What a project may say of an option that is not free.

    Attributes:
        allowed: in words.
        lay: takes the value of the layer below and the project's, which is an allowed one; gives the one that counts,
            None if the project may not say this.
    """

    allowed: str
    lay: Callable[[Value, Value], Value | None]


def _items(value: Value) -> tuple[Value, ...]:
    return tuple(value)  # type: ignore[arg-type]  # the table checked it


def _only(wanted: bool) -> Limit:
    return Limit(allowed="true" if wanted else "false", lay=lambda _, found: found if found is wanted else None)


def _at_most_below(below: Value, found: Value) -> Value | None:
    return found if found <= below else None  # type: ignore[operator]  # the table checked it


def _one_of(order: tuple[str, ...], *, later: bool) -> Callable[[Value, Value], Value | None]:
    def lay(below: Value, found: Value) -> Value | None:
        step = order.index(str(found)) - order.index(str(below))
        return found if (step >= 0 if later else step <= 0) else None

    return lay


def _fewer(below: Value, found: Value) -> Value | None:
    return found if set(_items(found)) <= set(_items(below)) else None


def _more(below: Value, found: Value) -> Value | None:
    old = _items(below)
    return freeze([*old, *(item for item in _items(found) if item not in old)])


_ON, _OFF = _only(True), _only(False)
_LESS = Limit(allowed="no more than without it", lay=_at_most_below)
_FEWER = Limit(allowed="items of the list below only", lay=_fewer)
_NEVER = Limit(allowed="nothing: it is for your own file", lay=lambda *_: None)

LIMITS: Mapping[str, Limit] = {
    "retrieval.embedding.mode": Limit(allowed="local", lay=lambda _, found: found if found == "local" else None),
    "retrieval.embedding.remoteProfiles": _FEWER,
    "historyTools.enabled": _OFF,
    "historyTools.defaultScope": Limit(allowed="a nearer scope only", lay=_one_of(SCOPES, later=False)),
    "historyTools.allowProjectScope": _OFF,
    "privacy.enabled": _ON,
    "privacy.defaultClassification": Limit(allowed="a higher class only", lay=_one_of(CLASSIFICATIONS, later=True)),
    "privacy.localProviders": _FEWER,
    "privacy.remoteDefaultAllowed": _FEWER,
    "privacy.remoteProviders": _NEVER,
    "privacy.redactSecrets": _ON,
    "privacy.redactIndex": _ON,
    "privacy.rules": Limit(allowed="further rules", lay=_more),
    "privacy.shortenPaths": _ON,
    "memory.enabled": _OFF,
    "memory.extractive.provider": _NEVER,
    "memory.extractive.model": _NEVER,
    "memory.extractive.maxCandidates": _LESS,
    "memory.extractive.maxSourceChars": _LESS,
    "memory.extractive.maxEvaluationsPerTurn": _LESS,
    "memory.extractive.timeoutMs": _LESS,
    **dict.fromkeys((key for key in BY_KEY if key.startswith(("host.", "storage.", "diagnostics."))), _NEVER),
}
"""What a project may say of an option; of those that are not named here anything that is allowed."""


class Condition(Struct, frozen=True, kw_only=True):
    """A project's value counts only while another option has a value, whoever set that."""

    key: str
    value: Value


_LOCAL = Condition(key="retrieval.embedding.mode", value="local")
CONDITIONS: Mapping[str, Condition] = {
    "retrieval.semantic": _LOCAL,
    **dict.fromkeys((key for key in BY_KEY if key.startswith("retrieval.embedding.") and key not in LIMITS), _LOCAL),
    "memory.extractive.enabled": Condition(key="memory.extractive.maxEvaluationsPerTurn", value=0),
}
"""Switching on what may send text elsewhere takes the user's own file."""
_HARMLESS: Mapping[str, Value] = {"retrieval.semantic": False, "memory.extractive.enabled": False}
"""Values that no condition holds for: they send nothing."""


def lay_project(
    below: Mapping[str, Setting], document: Mapping[str, object], source: str
) -> tuple[dict[str, Setting], tuple[str, ...]]:
    """Lays a project's values over the layer below, as far as a project may say them.

    Returns:
        The new values, and a warning for each member of the file that does not count.
    """
    return apply_file(below, document, source, permit=_permit)


def _permit(key: str, below: Value, found: Value) -> tuple[Value | None, str]:
    limit = LIMITS.get(key)
    if limit is None or found == below:
        return found, ""
    return limit.lay(below, found), f"a project may say {limit.allowed}"


def hold_back(
    values: Mapping[str, Setting], beneath: Mapping[str, Setting], source: str
) -> tuple[dict[str, Setting], tuple[str, ...]]:
    """Takes back what a project said under a condition that does not hold once all layers are known.

    Args:
        values: after all layers.
        beneath: before the project's.
        source: the project's file.

    Returns:
        The values that count, and a warning for each that was taken back.
    """
    kept, warnings = dict(values), []
    for key, condition in CONDITIONS.items():
        setting = values[key]
        if setting.source != source or values[condition.key].value == condition.value:
            continue
        if key in _HARMLESS and setting.value == _HARMLESS[key]:
            continue
        kept[key] = beneath[key]
        warnings.append(
            f"{source}: {key} is {show(setting.value)}; a project may say this only while {condition.key} is "
            f"{show(condition.value)}; using {show(beneath[key].value)} ({beneath[key].source})"
        )
    return kept, tuple(warnings)
