"""A model and a user of Pi with the extension installed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.realpi import Home, Model

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def model() -> Iterator[Model]:
    made = Model()
    yield made
    made.close()


@pytest.fixture
def home(tmp_path: Path, model: Model) -> Home:
    made = Home(tmp_path, model)
    made.aforesaid("install", "pi")
    return made
