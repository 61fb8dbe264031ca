"""Floor 6: wordllama: a table of 32,000 word pieces whose vectors are averaged. Fast, English above all.

The weights and the tokenizer ship in the wheel. The package is told to take its own folder as its cache and to download
nothing, so that it never looks at a network.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from aforesaid.embedding import LOCAL_PROVIDER, Profile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aforesaid.embedding import Purpose
    from aforesaid.model import Cleared


class StaticModel:
    """An `EmbeddingPort` on the package `wordllama`."""

    def __init__(self, dimensions: int = 256) -> None:
        """Loads the model.

        Raises:
            ImportError: the package is not installed.
        """
        from pathlib import Path  # late, both: they cost more than a whole command

        import wordllama  # type: ignore[import-untyped]

        folder = Path(os.path.dirname(wordllama.__file__))
        self.profile: Profile = Profile(provider=LOCAL_PROVIDER, model="wordllama-l2-supercat", dimensions=dimensions)
        loaded: Any = wordllama.WordLlama.load(
            dim=256, cache_dir=folder, disable_download=True, trunc_dim=None if dimensions == 256 else dimensions
        )
        self._model = loaded

    def embed(self, texts: Cleared[str], purpose: Purpose) -> Sequence[Sequence[float]]:
        """See `EmbeddingPort`."""
        del purpose
        vectors: Any = self._model.embed([_readable(text) for text in texts.values], norm=True)
        # A text without any known piece is all zero, which is no direction: it gets one of its own.
        for row in (vectors == 0).all(axis=1).nonzero()[0]:
            vectors[row] = 1.0
        return list(vectors.astype("<f4"))


def _readable(text: str) -> str:
    """The text as UTF-8 can hold it; the tokenizer takes no empty one."""
    return text.encode("utf-8", "replace").decode("utf-8").replace("\0", " ") or " "
