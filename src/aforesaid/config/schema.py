"""Floor 7: the JSON Schema of a configuration file, made from the table of options.

`aforesaid config schema` prints it; nothing else needs it, so nothing else imports it.
"""

from __future__ import annotations

from typing import Any

from aforesaid.config.table import ASCENDING, OPTIONS, Option


def schema() -> dict[str, Any]:
    """The schema (JSON Schema 2020-12): every option with its meaning, bounds and default, and nothing else."""
    root = _section()
    # Editors find the schema by this member of the file.
    root["properties"]["$schema"] = {"type": "string"}
    for option in OPTIONS:
        *sections, name = option.key.split(".")
        node = root
        for section in sections:
            node = node["properties"].setdefault(section, _section())
        node["properties"][name] = _describe(option)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "aforesaid configuration",
        "description": f"In addition, none of {', '.join(ASCENDING)} may be greater than the next.",
        **root,
    }


def _rule(level: dict[str, Any]) -> dict[str, Any]:
    glob = {"type": "string", "pattern": r"[^/\\ .]"}
    return {
        **_section(),
        "properties": {"path": glob, "project": glob, "classification": level},
        "required": ["classification"],
        "anyOf": [{"required": ["path"]}, {"required": ["project"]}],
    }


def _section() -> dict[str, Any]:
    return {"type": "object", "additionalProperties": False, "properties": {}}


def _describe(option: Option) -> dict[str, Any]:
    spellings = [*option.choices, *(alias for alias, _ in option.aliases if option.choices)]
    text: dict[str, Any] = {"type": "string", "enum": spellings} if spellings else {"type": "string"}
    if option.shape:
        text["pattern"] = f"^{option.shape}$"
    texts = {"type": "array", "items": text}
    shapes: dict[str, dict[str, Any]] = {
        "boolean": {"type": "boolean"},
        "integer": {"type": "integer"},
        "number": {"type": "number"},
        "text": text,
        "texts": texts,
        "texts-by-name": {"type": "object", "additionalProperties": texts},
        "rules": {"type": "array", "items": _rule(text)},
    }
    bounds = {"minimum": option.low, "maximum": option.high, "exclusiveMinimum": option.above}
    return {
        "description": option.meaning + (" (not in this version)" if option.later else ""),
        **shapes[option.kind],
        **{name: bound for name, bound in bounds.items() if bound is not None},
        "default": option.default,
    }
