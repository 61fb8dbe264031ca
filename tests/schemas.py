"""Checks documents against the JSON Schemas in `tests/contract/schemas`."""

from __future__ import annotations

import json
from typing import Any

import jsonschema  # type: ignore[import-untyped]

from tests.conftest import ROOT


def check(name: str, document: bytes | str) -> Any:
    """Parses a JSON document and returns it if it is as the named schema says."""
    text = document.decode("utf-8") if isinstance(document, bytes) else document
    parsed = json.loads(text)
    schema = json.loads((ROOT / "tests" / "contract" / "schemas" / f"{name}.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(schema).validate(parsed)
    return parsed
