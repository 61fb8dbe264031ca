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

from aforesaid.engine.viewing import Salience
from aforesaid.errors import AforesaidError
from aforesaid.extractive.salience import Annotations, Asker, Batch, make_batch, read_answers
from aforesaid.extractive.survey import Asked
from aforesaid.text import digest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from aforesaid.engine import Engine

    AskHost = Callable[[str, dict[str, Any], Callable[[object], None]], None]

DETERMINISTIC: Final = "deterministic"
CLASSIFIED: Final = "classified"
ASKING: Final = "asking"
PENDING: Final = "classifier-timeout"
"""What counts while no answer has come: a host waits for it before the call that needs it."""
NO_ROOM: Final = "classifier-no-room"
PRIVATE: Final = "classifier-private"
MISSING: Final = "classifier-missing-model"
OUTCOMES: Final = frozenset(
    {
        *("classifier-missing-api", "classifier-missing-model", "classifier-missing-auth", "classifier-timeout"),
        *("classifier-aborted", "classifier-error", "config-changed", "branch-changed"),
    }
)
"""What a host may say instead of an answer."""
STALE: Final = frozenset({"classifier-aborted", "config-changed", "branch-changed"})
"""Of these nothing is remembered: nobody failed."""


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


class Views:
    """The views of the open sessions of a service."""

    def __init__(self, ask_host: AskHost, now: Callable[[], float] = monotonic) -> None:
        """Takes what asks the host, and a clock in seconds."""
        self._ask_host = ask_host
        self._now = now
        self._annotations = Annotations()
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
        state.selection = PENDING if told == ASKING else told
        return told

    def _ask(
        self, engine: Engine, state: Prepared, asker: Asker, asked: Asked, *, api: str | None, time_ms: int
    ) -> str:
        """Asks the host, unless what can be asked is known already, or was in vain a moment ago."""
        failure = self._annotations.failure(asker, self._now())
        if failure is not None:
            return failure
        known = self._annotations.of(asker)
        try:
            found = engine.look_for_classifier(session=asker.session, asked=asked, provider=asker.provider, known=known)
        except AforesaidError as error:
            return error.code
        if not found.relevant:
            return DETERMINISTIC
        if found.known == found.relevant:
            return CLASSIFIED
        if not found.bundles.values or not found.request.values:
            return CLASSIFIED if found.known else PRIVATE
        if api is None:
            self._annotations.fail(asker, MISSING, self._now())
            return MISSING
        batch = make_batch(
            found.bundles, found.request,
            max_bytes=engine.config.integer("memory.extractive.maxSourceChars"), api=api, time_ms=time_ms,
        )  # fmt: skip
        if batch is None:
            return NO_ROOM
        state.batch = batch
        params = {
            "session": asker.session,
            "provider": asker.provider,
            "model": asker.model,
            "rubric": asker.rubric,
            "state": batch.state,
            "questions": batch.questions,
        }
        self._ask_host("classify", params, lambda answer: self._take(state, batch, asker, answer))
        return ASKING

    def _take(self, state: Prepared, batch: Batch, asker: Asker, answer: object) -> None:
        """What the host says; dropped if somebody asks about something else by now."""
        if state.batch is not batch or state.asker != asker:
            return
        state.batch = None
        told = answer if isinstance(answer, dict) else {}
        outcome = told.get("outcome")
        if outcome != "answered":
            state.selection = outcome if isinstance(outcome, str) and outcome in OUTCOMES else "classifier-error"
            if state.selection not in STALE:
                self._annotations.fail(asker, state.selection, self._now())
            return
        result = told.get("result")
        if isinstance(result, dict):
            state.usage = result.get("usage")
        found = read_answers(result, batch)
        if isinstance(found, str):
            state.selection = found
            self._annotations.fail(asker, found, self._now())
        else:
            state.selection = CLASSIFIED
            self._annotations.succeed(asker, found)

    def salience(self, engine: Engine, handle: str) -> Salience:
        """What counts for the view of a call that is planned now."""
        config = engine.config
        state = self._prepared.get(handle)
        if state is None or config.integer("memory.extractive.maxEvaluationsPerTurn") < 1:
            return Salience()
        if state.batch is not None:
            # The host goes on without the answer; whatever still comes is stale.
            state.batch, state.selection = None, PENDING
        if state.asker is None:
            return Salience()
        if state.selection != CLASSIFIED:
            return Salience(selection=state.selection)
        return Salience(probabilities=self._annotations.of(state.asker), selection=CLASSIFIED)

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
