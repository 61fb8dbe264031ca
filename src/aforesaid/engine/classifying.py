"""Floor 7: asking a classifier which bundles are salient, and what of its answers counts.

`viewing` asks the port of a program, `hosts/views` that of a host. Here stand the rules that both share: who may be
asked and about what, what is remembered, who failed a moment ago. Nothing is sent from here; a `ClassifierPort` does.
"""

from __future__ import annotations

import threading
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from aforesaid.classification import ANSWERED, FAILED, MISSING_MODEL, OUTCOMES, TIMEOUT
from aforesaid.errors import AforesaidError
from aforesaid.extractive.salience import Annotations, Asker, make_batch, read_answers

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from aforesaid.classification import Batch
    from aforesaid.engine.planning import Planning
    from aforesaid.extractive.survey import Asked
    from aforesaid.ports import ClassifierPort

DETERMINISTIC: Final = "deterministic"
CLASSIFIED: Final = "classified"
NO_ROOM: Final = "classifier-no-room"
PRIVATE: Final = "classifier-private"
STALE: Final = frozenset({"classifier-aborted", "config-changed", "branch-changed"})
"""Outcomes of which nothing is remembered: nobody failed."""
MOST_TURNS: Final = 64
"""Sessions and classifiers of which the latest request is remembered."""


class Salience(Struct, frozen=True, kw_only=True):
    """What a classifier said of bundles.

    Attributes:
        probabilities: by the keys of bundles, 0 to 1.
        selection: `classified`, or why there is nothing.
        usage: what the answer cost, as it was reported.
    """

    probabilities: Mapping[bytes, float] = {}
    selection: str = DETERMINISTIC
    usage: object = None


class Choice(Struct, frozen=True, kw_only=True):
    """What a classifier is to be asked now, or why it is not.

    Attributes:
        told: how bundles are selected if nobody is asked.
        turn: names the request and the branch.
        batch: the questions; None if nobody is asked.
    """

    told: str
    turn: bytes = b""
    batch: Batch | None = None


class Classifying:
    """What is known of classifiers and of what they said, for one engine or one service."""

    def __init__(self, now: Callable[[], float] = monotonic) -> None:
        """Takes a clock in seconds."""
        self._now = now
        self._annotations = Annotations()
        self._turns: dict[Asker, tuple[bytes, Salience]] = {}

    def of(self, asker: Asker) -> Mapping[bytes, float]:
        """What a classifier has said of bundles."""
        return self._annotations.of(asker)

    def choose(self, engine: Planning, asker: Asker, asked: Asked, *, api: str | None, time_ms: int) -> Choice:
        """What to ask, unless what can be asked is known already, or was in vain a moment ago.

        Args:
            engine: of the session.
            asker: whose annotations count.
            asked: for what.
            api: how the classifier is talked to; None if there is none.
            time_ms: milliseconds that are left.
        """
        failure = self._annotations.failure(asker, self._now())
        if failure is not None:
            return Choice(told=failure)
        known = self._annotations.of(asker)
        try:
            found = engine.look_for_classifier(session=asker.session, asked=asked, provider=asker.provider, known=known)
        except AforesaidError as error:
            return Choice(told=error.code)
        if not found.relevant:
            return Choice(told=DETERMINISTIC, turn=found.turn)
        if found.known == found.relevant:
            return Choice(told=CLASSIFIED, turn=found.turn)
        if not found.bundles.values or not found.request.values:
            return Choice(told=CLASSIFIED if found.known else PRIVATE, turn=found.turn)
        if api is None:
            self._annotations.fail(asker, MISSING_MODEL, self._now())
            return Choice(told=MISSING_MODEL)
        most = engine.config.integer("memory.extractive.maxSourceChars")
        batch = make_batch(found.bundles, found.request, max_bytes=most, api=api, time_ms=time_ms)
        return Choice(told=NO_ROOM, turn=found.turn, batch=batch)

    def take(self, asker: Asker, batch: Batch, told: object) -> Salience:
        """What counts of what a port handed over, and whether to ask it again soon."""
        answer: dict[str, Any] = told if isinstance(told, dict) else {}
        outcome = answer.get("outcome")
        if outcome != ANSWERED:
            code = outcome if isinstance(outcome, str) and outcome in OUTCOMES else FAILED
            if code not in STALE:
                self._annotations.fail(asker, code, self._now())
            return Salience(selection=code)
        result = answer.get("result")
        usage = result.get("usage") if isinstance(result, dict) else None
        found = read_answers(result, batch)
        if isinstance(found, str):
            self._annotations.fail(asker, found, self._now())
            return Salience(selection=found, usage=usage)
        self._annotations.succeed(asker, found)
        return Salience(probabilities=self.of(asker), selection=CLASSIFIED, usage=usage)

    def ask(self, engine: Planning, session: str, asked: Asked, port: ClassifierPort) -> Salience:
        """Asks the port of a program and waits, as long as `memory.extractive.timeoutMs` says and no longer.

        Without consent (views are off, or `maxEvaluationsPerTurn` is 0) the port is not even looked at.
        """
        config = engine.config
        if not engine.views_wanted or config.integer("memory.extractive.maxEvaluationsPerTurn") < 1:
            return Salience()
        began, time_ms = self._now(), config.integer("memory.extractive.timeoutMs")
        asker = Asker(
            session=session,
            provider=config.text("memory.extractive.provider"),
            model=config.text("memory.extractive.model"),
        )
        try:
            mine = port.classifier
            api = mine.api if (mine.provider, mine.model) == (asker.provider, asker.model) else None
        except Exception:  # noqa: BLE001 - nobody vouches for a port
            return Salience(selection=FAILED)
        choice = self.choose(engine, asker, asked, api=api, time_ms=time_ms)
        if choice.batch is None:
            return Salience(probabilities=self.of(asker) if choice.told == CLASSIFIED else {}, selection=choice.told)
        turn, before = self._turns.get(asker, (b"", Salience()))
        if turn == choice.turn:
            return before  # one batch for a request, whatever came of it
        left = time_ms / 1000 - (self._now() - began)
        said = self.take(asker, choice.batch, _wait(port, choice.batch, left))
        self._turns[asker] = (choice.turn, said)
        if len(self._turns) > MOST_TURNS:
            del self._turns[next(iter(self._turns))]
        return said


def _wait(port: ClassifierPort, batch: Batch, seconds: float) -> object:
    """What a port hands over in time."""
    came = threading.Event()
    answers: list[object] = []

    def take(answer: object) -> None:
        answers.append(answer)
        came.set()

    def run() -> None:
        try:
            port.classify(batch, seconds, take)
        except Exception:  # noqa: BLE001 - nobody vouches for a port
            take({"outcome": FAILED})

    try:
        # A thread of its own: a port that hangs is left behind and not waited for.
        threading.Thread(target=run, name="aforesaid-classifier", daemon=True).start()
    except RuntimeError:
        return {"outcome": FAILED}  # the system, or a process that is ending, gives no thread
    came.wait(max(0.0, seconds))
    return answers[0] if answers else {"outcome": TIMEOUT}
