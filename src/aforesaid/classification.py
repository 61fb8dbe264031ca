"""Floor 1, beside `embedding`: the values that lead to a classifier and back.

`extractive/salience` makes a `Batch`, a `ClassifierPort` answers it, `engine/classifying` says what of the answer
counts. Without a classifier nothing imports this. All are frozen.
"""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - msgspec resolves the annotations of its structs
from typing import Any, Final

from msgspec import Struct

ANSWERED: Final = "answered"
FAILED: Final = "classifier-error"
TIMEOUT: Final = "classifier-timeout"
MISSING_MODEL: Final = "classifier-missing-model"
OUTCOMES: Final = frozenset(
    {
        *("classifier-missing-api", MISSING_MODEL, "classifier-missing-auth", TIMEOUT, "classifier-aborted", FAILED),
        *("config-changed", "branch-changed"),
    }
)
"""What a port may say instead of an answer."""


class Classifier(Struct, frozen=True, kw_only=True):
    """Which classifier it is.

    Attributes:
        provider: who runs it; `privacy.remoteProviders` gives rules for it.
        model: its name there; may hold slashes.
        api: how it is talked to, by the names of Pi's APIs; None if there is no such classifier.
    """

    provider: str
    model: str
    api: str | None = None


class Batch(Struct, frozen=True, kw_only=True):
    """One question for each of some bundles. Only `extractive.salience.make_batch` makes it, of what was cleared.

    Attributes:
        keys: of the bundles, by the names of their questions.
        state, questions: what the classifier is given, as JSON objects; each question is of the type `bool`.
        bytes: of both as they are accounted for; never less than what any known API sends.
        rubric: name of what is asked.
    """

    keys: Mapping[str, bytes]
    state: dict[str, Any]
    questions: dict[str, Any]
    bytes: int
    rubric: str
