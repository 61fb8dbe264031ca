"""Floor 6: models that make vectors, and the one way to call them.

`engine` asks `make` for the port that a configuration names and calls it through `calls`. `feature_hash` is pure and
needs nothing; `static` and `transformer` load models that ship inside wheels and touch no network; `remote` is a client
that only a host which brings its address and key can make. Nothing here decides what may leave the machine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct

from aforesaid.embedding import LOCAL_PROVIDER, Profile, Scale, Usual

if TYPE_CHECKING:
    from aforesaid.ports import EmbeddingPort


class Local(Struct, frozen=True, kw_only=True):
    """A model that this package can run.

    Attributes:
        model: its name in `retrieval.embedding.model`.
        dimensions: of its vectors; None where any number will do.
        shorter: whether vectors may be cut to fewer dimensions.
        extra: what to install for it, as in `aforesaid[EXTRA]`; empty for nothing.
        batch: texts of one call at most, so that a slow one keeps its deadline.
        scale: how its similarities count, measured with requests and passages of different public conversations.
    """

    model: str
    dimensions: int | None
    scale: Scale
    shorter: bool = False
    batch: int = 512
    extra: str = ""

    def accepts(self, dimensions: int) -> bool:
        """Whether the model can make vectors of so many numbers."""
        return (
            self.dimensions is None or dimensions == self.dimensions or (self.shorter and dimensions < self.dimensions)
        )


FEATURE_HASH: Final = "feature-hash-v1"
STATIC: Final = "wordllama-l2-supercat"
MULTILINGUAL: Final = "multilingual-e5-small-q4"
TRANSFORMER: Final = "all-minilm-l6-v2-int8"
MODELS: Final = (
    Local(model=FEATURE_HASH, dimensions=None, scale=Scale(plain=0.40, strict=0.50, weight=0.2)),
    Local(
        model=TRANSFORMER,
        dimensions=384,
        batch=4,
        extra="semantic",
        scale=Scale(
            plain=0.23, strict=0.60, weight=0.8, likely=0.40, standing=4.0, usual=Usual(middle=0.05, spread=0.10)
        ),
    ),
    Local(
        model=STATIC,
        dimensions=256,
        shorter=True,
        extra="semantic-fast",
        scale=Scale(
            plain=0.24, strict=0.50, weight=0.4, likely=0.37, standing=4.0, usual=Usual(middle=0.02, spread=0.09)
        ),
    ),
    Local(
        model=MULTILINGUAL,
        dimensions=384,
        batch=2,
        extra="semantic-multilingual",
        scale=Scale(
            plain=0.83, strict=0.90, weight=1.0, likely=0.83, standing=4.0, usual=Usual(middle=0.78, spread=0.022)
        ),
    ),
)
BY_NAME: Final = {local.model: local for local in MODELS}


def make(profile: Profile) -> EmbeddingPort:
    """The port of a local model.

    Raises:
        ImportError: its extra is not installed.
        KeyError: there is no such model.
        ValueError: it cannot make vectors of so many dimensions.
    """
    local = BY_NAME[profile.model]
    if profile.provider != LOCAL_PROVIDER or not local.accepts(profile.dimensions):
        raise ValueError(f"{profile.name} makes no vectors of {profile.dimensions} dimensions")
    if profile.model == FEATURE_HASH:
        from aforesaid.embedders.feature_hash import FeatureHash  # late, each: one of them is used

        return FeatureHash(profile.dimensions)
    if profile.model == STATIC:
        from aforesaid.embedders.static import StaticModel

        return StaticModel(profile.dimensions)
    if profile.model == MULTILINGUAL:
        from aforesaid.embedders.multilingual import Multilingual

        return Multilingual()
    from aforesaid.embedders.transformer import Transformer

    return Transformer()
