"""Floor 8: the history view of a host's open sessions: prepared ahead of a run, with the host's classifier if wanted.

`sessions` imports this when a view is wanted first. A host says what a run is about to be asked; the bundles that
matter are looked for, and the host is asked back to classify them (`classify`), once for each request of the user at
most. The answer only ever adds to what is known of bundles; the view itself is made with the plan. What comes late, or
after something has changed, is dropped.
"""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from aforesaid.classification import TIMEOUT, Batch, Classifier
from aforesaid.engine.classifying import CLASSIFIED, DETERMINISTIC, Classifying, Salience
from aforesaid.extractive.salience import Asker
from aforesaid.extractive.survey import Asked
from aforesaid.text import digest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from aforesaid.engine import Engine

    AskHost = Callable[[str, dict[str, Any], Callable[[object], None]], None]

ASKING: Final = "asking"


class Prepared(Struct, kw_only=True):
    """What is known of the view of one open session.

    Attributes:
        turn: what the latest run is about; one batch is asked for it at most.
        asker: whose annotations count.
        selection: how bundles are selected now, or why the classifier does not help.
        batch: what the host was asked and has not answered.
        usage: what the latest answer cost, as the host reported it.
    """

    turn: tuple[object, ...] = ()
    asker: Asker | None = None
    selection: str = DETERMINISTIC
    batch: Batch | None = None
    usage: object = None


class HostClassifier:
    """The `ClassifierPort` over the bridge: the host's native API, which the host alone can call.

    It answers before its next `session/context`, or what it says is stale; so nobody waits here.
    """

    def __init__(self, ask_host: AskHost, asker: Asker, api: str | None) -> None:
        """Takes what asks the host, whose session and classifier it is, and how the host talks to that."""
        self._ask_host = ask_host
        self._asker = asker
        self._api = api

    @property
    def classifier(self) -> Classifier:
        """Which one it asks."""
        return Classifier(provider=self._asker.provider, model=self._asker.model, api=self._api)

    def classify(self, batch: Batch, seconds: float, answer: Callable[[object], None]) -> None:
        """Asks the host; it keeps its own time, which began when it said what a run is about."""
        del seconds
        params = {
            "session": self._asker.session,
            "provider": self._asker.provider,
            "model": self._asker.model,
            "rubric": batch.rubric,
            "state": batch.state,
            "questions": batch.questions,
        }
        self._ask_host("classify", params, answer)


class Views:
    """The views of the open sessions of a service."""

    def __init__(self, ask_host: AskHost, now: Callable[[], float] = monotonic) -> None:
        """Takes what asks the host, and a clock in seconds."""
        self._ask_host = ask_host
        self._classifying = Classifying(now)
        self._prepared: dict[str, Prepared] = {}

    def prepare(
        self,
        engine: Engine,
        handle: str,
        *,
        prompt: str,
        leaf: str | None,
        context: Sequence[str],
        api: str | None,
        time_ms: int,
    ) -> str:
        """Gets ready for a run, and asks the host to classify what is not known yet.

        Args:
            engine: of the session.
            handle: the session.
            prompt: what the run is about to be asked.
            leaf: id of the entry that the prompt will hang on.
            context: ids of the entries that the model sees.
            api: how the configured classifier is talked to; None if the host does not know it.
            time_ms: milliseconds that the host waits in all.

        Returns:
            `asking` if the host was asked; else how bundles are selected.
        """
        config = engine.config
        state = self._prepared.setdefault(handle, Prepared())
        asker = Asker(
            session=handle,
            provider=config.text("memory.extractive.provider"),
            model=config.text("memory.extractive.model"),
        )
        turn = (leaf, digest(prompt))
        again = turn == state.turn and asker == state.asker and state.selection != "config-changed"
        state.batch, state.asker, state.turn = None, asker, turn
        if not again:
            state.usage = None
        asked = Asked(leaf=leaf, request=prompt, context_entries=tuple(context))
        classifying = config.integer("memory.extractive.maxEvaluationsPerTurn") > 0
        if not classifying:
            state.asker, state.selection = None, DETERMINISTIC
            engine.warm_view(session=handle, asked=asked)
            return DETERMINISTIC
        if again:
            return state.selection
        told = self._ask(engine, state, asker, asked, api=api, time_ms=time_ms)
        state.selection = TIMEOUT if told == ASKING else told
        return told

    def _ask(
        self, engine: Engine, state: Prepared, asker: Asker, asked: Asked, *, api: str | None, time_ms: int
    ) -> str:
        """Asks the host, if there is anything to ask."""
        choice = self._classifying.choose(engine, asker, asked, api=api, time_ms=time_ms)
        if choice.batch is None:
            return choice.told
        state.batch = batch = choice.batch
        port = HostClassifier(self._ask_host, asker, api)
        port.classify(batch, time_ms / 1000, lambda answer: self._take(state, batch, asker, answer))
        return ASKING

    def _take(self, state: Prepared, batch: Batch, asker: Asker, answer: object) -> None:
        """What the host says; dropped if somebody asks about something else by now."""
        if state.batch is not batch or state.asker != asker:
            return
        said = self._classifying.take(asker, batch, answer)
        state.batch, state.selection, state.usage = None, said.selection, said.usage

    def salience(self, engine: Engine, handle: str) -> Salience:
        """What counts for the view of a call that is planned now."""
        config = engine.config
        state = self._prepared.get(handle)
        if state is None or config.integer("memory.extractive.maxEvaluationsPerTurn") < 1:
            return Salience()
        if state.batch is not None:
            # The host goes on without the answer; whatever still comes is stale.
            state.batch, state.selection = None, TIMEOUT
        if state.asker is None:
            return Salience()
        if state.selection != CLASSIFIED:
            return Salience(selection=state.selection)
        return Salience(probabilities=self._classifying.of(state.asker), selection=CLASSIFIED)

    def usage(self, handle: str) -> object:
        """What the answer cost that counts for a session now, as the host reported it."""
        state = self._prepared.get(handle)
        return state.usage if state is not None and state.selection == CLASSIFIED else None

    def change(self) -> None:
        """The configuration is another one: whatever was asked under the old one is stale."""
        for state in self._prepared.values():
            if state.batch is not None or state.asker is not None:
                state.batch, state.selection, state.usage = None, "config-changed", None

    def close(self, handle: str) -> None:
        """Forgets a session."""
        self._prepared.pop(handle, None)
