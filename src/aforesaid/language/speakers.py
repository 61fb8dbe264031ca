"""Floor 3: whose words or doings a request asks for, in English and Italian: "did I say", "hai consigliato".

`contextual` reads requests with this. Who commands, offers or plans ("can you", "should I", "I have a bug") asks for
nothing that was said, nor does "we" tell who said it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Speaker = Literal["user", "assistant"]

_PRONOUNS: Final[dict[str, Speaker]] = {
    "i": "user",
    "you": "assistant",
    "ho": "user",
    "avevo": "user",
    "hai": "assistant",
    "avevi": "assistant",
}
"""In Italian the verb says who."""
_ASKING: Final = {"i": frozenset("did do have had was am".split()), "you": frozenset("did have had were".split())}
"""Before the pronoun they make a question about what was, or is."""
_BETWEEN: Final = frozenset("ve have had already gia mai anche sempre".split())
_SAID: Final = frozenset(
    (
        "said told mentioned asked wrote written described explained reported named gave given set wanted brought chose"
        " chosen decided suggested recommended proposed advised showed shown"
    ).split()
)
_DONE: Final = frozenset("detto chiesto scritto fatto scelto deciso proposto messo descritto visto letto".split())
_SHORT: Final = 4
"""Letters of an Italian word up to which it is no participle."""
_PARTICIPLES: Final = ("ato", "uto", "ito")
_LOOK: Final = 3
"""Words behind the pronoun that are looked at."""


def speakers_in(said: Sequence[str]) -> Iterator[Speaker]:
    """Who is asked about in the folded words of a request, the user being who makes it; the same one maybe often."""
    for place, word in enumerate(said):
        speaker = _PRONOUNS.get(word)
        if speaker is None:
            continue
        asking = _ASKING.get(word)
        inverted = asking is not None and place > 0 and said[place - 1] in asking
        if inverted or _tells(said[place + 1 : place + 1 + _LOOK], italian=asking is None):
            yield speaker


def _tells(following: Sequence[str], *, italian: bool) -> bool:
    """Whether the words behind a pronoun say that something was said or done."""
    verb = next((word for word in following if word not in _BETWEEN), "")
    if italian:
        return verb in _DONE or (len(verb) > _SHORT and verb.endswith(_PARTICIPLES))
    return verb in _SAID
