"""Floor 9: what stands between the episodes of a coding session: small tasks with their calls and results.

`sessions` asks for tasks in the words of a story. They look like work of the same project, with names that are close to
those that matter, and hold nothing that any request asks for. Nothing here knows requests.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from aforesaid.cli.eval.questions import Said, called

if TYPE_CHECKING:
    from collections.abc import Sequence

_LARGEST: Final = 97
"""Numbers of filler stay below; those that requests ask for have three digits at least."""


class Words(Struct, frozen=True, kw_only=True):
    """What a story's project is made of.

    Attributes:
        language: `en` or `it`: what user and agent speak.
        files, symbols, nouns: as they are written there.
    """

    language: str
    files: tuple[str, ...]
    symbols: tuple[str, ...]
    nouns: tuple[str, ...]


_ASKED: Final = {
    "en": (
        "The {noun} shows the wrong {other}, have a look at {file}.",
        "Rename {symbol} to something clearer and keep the old name for one release.",
        "Add a test for a {noun} without a {other}.",
        "Move {symbol} out of {file}, it has nothing to do with the {noun}.",
        "Show me how the {noun} and the {other} hang together.",
        "Write down in the docs what a {noun} is and who owns the {other}.",
        "The {noun} list is hard to read with more than {number} entries.",
        "Can {symbol} take the {noun} as an argument instead of looking it up?",
        "Sort the {noun} column by {other}, and keep the order when one goes back.",
    ),
    "it": (
        "Il campo {noun} mostra il dato sbagliato per {other}, guarda {file}.",
        "Rinomina {symbol} con un nome più chiaro e tieni il vecchio per una versione.",
        "Aggiungi un test per {noun} senza {other}.",
        "Sposta {symbol} fuori da {file}, non c'entra con {noun}.",
        "Mostrami come stanno insieme {noun} e {other}.",
        "Scrivi nella documentazione che cos'è {noun} e a chi appartiene {other}.",
        "L'elenco {noun} si legge male con più di {number} voci.",
        "{symbol} può ricevere {noun} come argomento invece di cercarlo?",
        "Ordina la colonna {noun} per {other} e mantieni l'ordine quando si torna indietro.",
    ),
}
_BEGUN: Final = {
    "en": (
        "I start with {file}.",
        "Let me see who uses {symbol}.",
        "First the places where the {noun} is written.",
        "Looking at {symbol} and its tests.",
    ),
    "it": (
        "Comincio da {file}.",
        "Vedo chi usa {symbol}.",
        "Prima i punti in cui si scrive {noun}.",
        "Guardo {symbol} e i suoi test.",
    ),
}
_ENDED: Final = {
    "en": (
        "Done: {symbol} gets the {noun} from its caller now, {number} tests pass.",
        "The {noun} and the {other} were mixed up in {file}; they are separate now.",
        "I left {symbol} as it is and wrote a test for the {noun} instead.",
        "{file} is shorter by {number} lines, and the {other} has a type of its own.",
        "It was only the {noun} label; the {other} below it was right all along.",
    ),
    "it": (
        "Fatto: {symbol} riceve {noun} da chi lo chiama, {number} test passano.",
        "{noun} e {other} erano confusi in {file}; ora sono separati.",
        "Ho lasciato {symbol} com'è e ho scritto un test per {noun}.",
        "{file} è più corto di {number} righe e {other} ha un tipo suo.",
        "Era solo l'etichetta di {noun}; {other} sotto era giusto.",
    ),
}
_CODE: Final = (
    "def {symbol}({noun}, {other}=None):",
    "    if {noun} is None:",
    "        return {other}",
    "    {noun}.{other} = {symbol}({number})",
    "    return [{noun} for {noun} in {other} if {noun}.ready]",
    "# {noun}: see {file}",
    "const {noun} = await {symbol}({other}, {number});",
    "assert {symbol}({other}) == {number}",
)
_FOUND: Final = ("{file}:{number}:    {symbol}({noun})", "{file}:{number}: // {noun}, {other}")
_LOGGED: Final = (
    "10:{number}:02 INFO {noun} {number} ready, {other} {number}",
    "10:{number}:17 DEBUG {symbol} took {number} ms",
    "10:{number}:41 INFO {other} unchanged",
)
_COMMITTED: Final = ("{hash} {noun}: clearer {other}", "{hash} move {symbol} to {file}", "{hash} tests for {noun}")


class Filler:
    """Makes tasks, each different, the same ones for the same story and seed."""

    def __init__(self, words: Words, seed: int) -> None:
        """Takes the words of the story; nothing but `Random.random` is drawn, which is the same everywhere."""
        self._words = words
        self._draw = Random(seed).random  # noqa: S311 - a set has to be repeatable, not secret

    def task(self) -> list[Said]:
        """A request of the user, one to three calls with what they gave, and the agent's last word."""
        language = self._words.language
        said = [Said(role="user", text=self._fill(self._one(_ASKED[language])))]
        if self._draw() < 0.5:
            said.append(Said(role="assistant", text=self._fill(self._one(_BEGUN[language]))))
        for _ in range(1 + int(self._draw() * 3)):
            said += self._call()
        said.append(Said(role="assistant", text=self._fill(self._one(_ENDED[language]))))
        return said

    def summary(self, done: Sequence[str]) -> str:
        """What a compaction says of what it removed: topics, no details."""
        nouns = ", ".join(self._one(self._words.nouns) for _ in range(4))
        return f"## Progress\n- worked on {nouns}\n- {', '.join(done) or 'small fixes'}\n## Next Steps\n- go on"

    def _call(self) -> list[Said]:
        kind = int(self._draw() * 4)
        if kind == 0:
            return [called("read", path=self._one(self._words.files)), self._result(_CODE, 14)]
        if kind == 1:
            return [called("bash", command=self._fill("rg -n {symbol} .")), self._result(_FOUND, 6)]
        if kind == 2:
            return [called("bash", command=self._fill("tail -n {number} run.log")), self._result(_LOGGED, 12)]
        return [called("bash", command=self._fill("git log --oneline -n {number}")), self._result(_COMMITTED, 8)]

    def _result(self, forms: Sequence[str], lines: int) -> Said:
        return Said(role="tool_result", text="\n".join(self._fill(self._one(forms)) for _ in range(lines)))

    def _fill(self, form: str) -> str:
        words = self._words
        return form.format(
            noun=self._one(words.nouns),
            other=self._one(words.nouns),
            symbol=self._one(words.symbols),
            file=self._one(words.files),
            number=2 + int(self._draw() * (_LARGEST - 2)),
            hash=f"{int(self._draw() * 16**7):07x}",
        )

    def _one(self, items: Sequence[str]) -> str:
        return items[int(self._draw() * len(items))]
