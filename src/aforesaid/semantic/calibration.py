"""Floor 5: how similarities of a model count that nobody has measured, by texts that have nothing in common.

The texts are ours and always the same; `engine` has vectors of them made once a model and keeps them in the store. Of
the pairs of a request and a passage one in a hundred reaches the plain floor. The strict floor lies farther from their
middle by what it does for the models that were measured with thousands of pairs (`docs/semantic.md`).
"""

from __future__ import annotations

from math import inf
from operator import mul
from typing import TYPE_CHECKING, Final

from aforesaid.embedding import Covered, Passage, Scale
from aforesaid.passages import hash_of
from aforesaid.semantic.matrix import to_floats

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from aforesaid.embedding import Profile, Purpose, Vectors
    from aforesaid.model import Cleared
    from aforesaid.ports import VectorPort

KEY: Final = "calibration"
"""Name of these vectors in a store, beside the keys of sessions."""
UNMEASURED: Final = Scale(plain=0.4, strict=0.7, weight=0.4)
"""Of a model that could not even be asked about these texts."""
BLIND: Final = Scale(plain=inf, strict=inf, weight=0.0)
"""Of a model to which everything is alike: nothing reaches it."""
_STRICT: Final = 1.9
_ROOM: Final = 0.01
"""What must be left between the plain floor and 1: a text is no more similar to anything than to itself."""
_SPREAD: Final = 0.001
"""What must lie between the middle and the plain floor."""
_RATE: Final = 100

REQUESTS: Final = (
    "why does the login page redirect twice",
    "where is the retry limit configured",
    "which port did the database use",
    "what was the name of the failing test",
    "how do we rotate the signing keys",
    "who approved the new pricing model",
    "what did the profiler say about startup",
    "when is the release planned",
    "what is the limit for uploads",
    "which library parses the dates",
    "why was the migration rolled back",
    "how is the cache invalidated",
    "dove si trova il file di configurazione",
    "perché il server non risponde",
    "quale versione abbiamo installato",
    "what colour did we choose for the buttons",
    "which branch has the hotfix",
    "how large is the index on disk",
    "what does error 137 mean here",
    "which environment variable sets the region",
    "where are the translations kept",
    "how many workers does the queue have",
    "what was wrong with the certificate",
    "which endpoint returns the invoices",
)
PASSAGES: Final = (
    "Knead the dough for ten minutes, let it rise under a damp cloth, and bake it until the crust is brown.",
    "The river rose during the night and carried the old wooden bridge away.",
    "Penguins breed on the ice shelf, and the males keep the eggs warm on their feet.",
    "The violins enter after eight bars, softly, while the cellos hold a long note.",
    "Tomatoes want a sunny place, deep soil, and water at the roots rather than on the leaves.",
    "In 1492 three ships left Palos de la Frontera and sailed towards the Canary Islands.",
    "The goalkeeper caught the ball at the near post and threw it out to the left wing.",
    "Granite forms when magma cools slowly, deep within the crust of the earth.",
    "She painted the harbour in the evening light, with long shadows and almost no blue.",
    "Take the second road after the church, cross the railway, and turn right at the mill.",
    "The patient should rest, drink plenty of water and come back if the fever does not fall.",
    "Jupiter has dozens of moons, four of which can be seen through an ordinary telescope.",
    "Il gatto dormiva sul davanzale mentre fuori cadeva la neve.",
    "La nonna prepara il sugo con basilico fresco e poco aglio.",
    "The choir rehearses on Thursdays, and newcomers are welcome in all voices.",
    "Wool shrinks in hot water, so wash the jumper by hand and dry it flat.",
    "The train to the coast leaves at seven and stops in every village.",
    "Bees dance to tell each other how far away the flowers are.",
    "The castle was besieged for two years before hunger opened its gates.",
    "Mix the plaster quickly, for it hardens within a few minutes.",
    "Our neighbours have adopted a dog that is afraid of thunder.",
    "The glacier has lost a third of its length since the first maps were drawn.",
    "He plays the accordion at weddings and repairs clocks during the week.",
    "The soup needs more pepper, and perhaps a little lemon at the end.",
    "Swallows return in April and build their nests of mud under the eaves.",
    "The novel follows three sisters through the war and the years after it.",
    "A hectare of this forest holds four hundred kinds of trees.",
    "The museum shows coins, glass and jewellery from Roman graves.",
    "Oil the hinges, sand the frame, and the door will close again.",
    "The marathon begins at the town hall and ends in the stadium.",
)
"""Nothing in a passage answers a request, and none is about software."""


def measure(
    vectors: VectorPort,
    profile: Profile,
    embed: Callable[[Cleared[str], Purpose], Vectors],
    seal: Callable[[Sequence[str]], Cleared[str] | None],
    batch: int,
) -> Scale | None:
    """How similarities of a model count; None if it could not be asked, `BLIND` if it tells nothing apart.

    Args:
        vectors: where the vectors of these texts are kept.
        profile: of the model.
        embed: calls it.
        seal: makes the texts `Cleared`, or says that the model may not see them.
        batch: texts of one call.

    Raises:
        StoreError: the store failed.
    """
    held = vectors.load(profile)
    texts = (*REQUESTS, *PASSAGES)
    size = profile.dimensions * 4
    places = range(len(held.rows))
    known = {held.passage(place).hash: held.vectors[place * size : (place + 1) * size] for place in places}
    if all(hash_of(text) in known for text in texts):
        scale = scale_of(*([known[hash_of(text)] for text in group] for group in (REQUESTS, PASSAGES)))
        if scale is not BLIND:
            return scale
    made: list[bytes] = []
    for some, purpose in _calls(batch):
        sealed = seal(some)
        outcome = None if sealed is None else embed(sealed, purpose)
        if outcome is None or outcome.reason is not None:
            return None
        made += outcome.values
    scale = scale_of(made[: len(REQUESTS)], made[len(REQUESTS) :])
    if scale is not BLIND:  # else it is asked again later, when it may be mended
        passages = [Passage(row=row, start=0, end=len(text), hash=hash_of(text)) for row, text in enumerate(texts, 1)]
        covered = Covered(low=1, high=len(texts), generation=0, tail=b"")
        vectors.keep(profile, (), covered)
        vectors.add(profile, passages, made, covered)
    return scale


def scale_of(requests: Sequence[bytes], passages: Sequence[bytes]) -> Scale:
    """What vectors of requests and of passages that have nothing to do with them say; `BLIND` if nothing."""
    wide = [to_floats(vector) for vector in passages]
    products = sorted(sum(map(mul, one, other)) for one in map(to_floats, requests) for other in wide)
    middle, plain = products[len(products) // 2], products[-1 - len(products) // _RATE]
    if plain > 1 - _ROOM or plain - middle < _SPREAD:
        return BLIND
    plain = round(plain, 4)
    strict = round(min(middle + _STRICT * (plain - middle), 0.99), 4)
    return Scale(plain=plain, strict=max(plain, strict), weight=UNMEASURED.weight)


def _calls(batch: int) -> list[tuple[tuple[str, ...], Purpose]]:
    groups: tuple[tuple[tuple[str, ...], Purpose], ...] = ((REQUESTS, "query"), (PASSAGES, "source"))
    return [(texts[at : at + batch], purpose) for texts, purpose in groups for at in range(0, len(texts), batch)]
