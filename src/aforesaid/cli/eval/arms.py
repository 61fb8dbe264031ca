"""Floor 9: the ways of answering that an evaluation compares: the product's own, and plain ones beside them.

`run` asks every arm every question. The product is asked through `Engine.retrieve`, as a host would, with nothing of
the conversation visible; the baselines see the same texts.
"""

from __future__ import annotations

import re
from time import perf_counter
from typing import TYPE_CHECKING, Final, Protocol

from msgspec import Struct
from msgspec.structs import replace

from aforesaid.cli.eval import transcripts
from aforesaid.cli.eval.measures import Answer
from aforesaid.embedders import MODELS, make
from aforesaid.embedding import LOCAL_PROVIDER, Profile
from aforesaid.engine import Engine
from aforesaid.errors import BadArgument, OperationError
from aforesaid.evidence import frame
from aforesaid.model import Source, StoredEntry
from aforesaid.tokens import estimate
from aforesaid.windows import LIMIT

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from aforesaid.cli.eval.questions import Conversation, EvalSet, Question, Turn
    from aforesaid.config import Config
    from aforesaid.embedders import Local
    from aforesaid.retrieval.options import RetrievalOptions

    Progress = Callable[[int, int], None]

DEPTH: Final = 12
"""Results of each answer: what automatic retrieval brings back by default."""


class Arm(Protocol):
    """One way of answering."""

    def ask(self, question: Question) -> tuple[Sequence[str], Sequence[int]]:
        """Ids of turns, best first, at most `DEPTH`, and the tokens that each costs."""
        ...

    def close(self) -> None:
        """Gives back what it holds."""
        ...


class Recency:
    """The latest turns, whatever was asked."""

    def __init__(self, conversations: Sequence[Conversation]) -> None:
        """Takes the conversations that will be asked about."""
        self._latest = {one.name: one.lost()[: -DEPTH - 1 : -1] for one in conversations}

    def ask(self, question: Question) -> tuple[Sequence[str], Sequence[int]]:
        """See `Arm`."""
        turns = self._latest[question.conversation]
        return [turn.id for turn in turns], [_cost(turn) for turn in turns]

    def close(self) -> None:
        """See `Arm`."""


class Fts5:
    """SQLite's full-text search as it comes: default tokenizer, all words of the question, OR, bm25."""

    def __init__(self, conversations: Sequence[Conversation]) -> None:
        """Takes the conversations that will be asked about."""
        import apsw  # late: the other arms bring it themselves

        self._tables: dict[str, apsw.Connection] = {}
        self._turns = {one.name: one.lost() for one in conversations}
        for one in conversations:
            table = self._tables[one.name] = apsw.Connection(":memory:")
            table.execute("CREATE VIRTUAL TABLE turn USING fts5(text)")
            table.executemany(
                "INSERT INTO turn(rowid, text) VALUES (?, ?)",
                (
                    (place, turn.text.encode("utf-8", "replace").decode())
                    for place, turn in enumerate(self._turns[one.name])
                ),
            )

    def ask(self, question: Question) -> tuple[Sequence[str], Sequence[int]]:
        """See `Arm`."""
        words = dict.fromkeys(re.findall(r"\w+", question.text.lower()))
        if not words:
            return (), ()
        either = " OR ".join(f'"{word}"' for word in words)
        statement = "SELECT rowid FROM turn WHERE turn MATCH ? ORDER BY bm25(turn), rowid LIMIT ?"
        turns = self._turns[question.conversation]
        found = [turns[row] for (row,) in self._tables[question.conversation].execute(statement, (either, DEPTH))]
        return [turn.id for turn in found], [_cost(turn) for turn in found]

    def close(self) -> None:
        """See `Arm`."""
        for table in self._tables.values():
            table.close()


class Way(Struct, frozen=True, kw_only=True):
    """How an arm asks the product.

    Attributes:
        settings: on top of the configuration's defaults.
        measured: of `RetrievalOptions`, what no configuration can say: `admitting` (neighbours bring up rows without a
            match of their own), `answering` (nothing keeps silence), `bare` (speakers, dates, times and authority are
            worth nothing).
        beside: the arm that keeps the rules which this one leaves out.
    """

    settings: dict[str, object]
    measured: tuple[str, ...] = ()
    beside: str | None = None


def engine_of(measured: tuple[str, ...]) -> type[Engine]:
    """The engine, asked for a measurement; itself if there is none."""

    class Measured(Engine):
        def _retrieval_options(self) -> RetrievalOptions:
            return replace(super()._retrieval_options(), **dict.fromkeys(measured, True))

    return Measured if measured else Engine


class Product:
    """The engine, with settings of the arm on top of the configuration's defaults."""

    def __init__(self, store: str, files: Mapping[str, str], questions: EvalSet, way: Way) -> None:
        """Takes a store that holds the conversations of a set, their transcripts by name, and how to ask."""
        config = defaults(way.settings)
        self._engine = engine_of(way.measured).open(store, config)
        self._files = files
        if way.settings.get("retrieval.semantic"):
            self._engine.index(*files.values())  # so that no question waits for vectors
        self._compacted = {one.name for one in questions.conversations if one.compacted}

    def ask(self, question: Question) -> tuple[Sequence[str], Sequence[int]]:
        """See `Arm`.

        Raises:
            OperationError: the retrieval failed; that is no answer.
        """
        file = self._files[question.conversation]
        seen = None if question.conversation in self._compacted else ()
        found = self._engine.retrieve(session=file, query=question.text, context_entries=seen)
        if found.status == "failed":
            raise OperationError(f"a retrieval failed: {found.diagnostics.warnings}", "report this as a fault")
        vectors = found.diagnostics.semantic
        if vectors is not None and vectors.reason is not None:
            raise OperationError(f"vectors were not used: {vectors.reason}", "see docs/semantic.md")
        return [hit.ranked.candidate.entry.id for hit in found.hits], [hit.tokens for hit in found.hits]

    def close(self) -> None:
        """See `Arm`."""
        self._engine.close()


BASELINES: Final[dict[str, Callable[[Sequence[Conversation]], Arm]]] = {"fts5": Fts5, "recency": Recency}
OPENED: Final = {
    "neighbours": ("admitting",),
    "answering": ("answering",),
    "open": ("admitting", "answering"),
}
"""What arms leave out to measure it, by the end of their names: the match rule, the rules that keep silence, both."""
_WIDE: Final[dict[str, object]] = {"retrieval.embedding.candidatePool": 300}
"""Where nothing keeps silence, vectors bring up as many rows as words do (`retrieval.candidates.WIDE_POOL`)."""


def _leave_out(stem: str, settings: dict[str, object], model: str = "") -> dict[str, Way]:
    """The arms beside `stem` (with the vectors of a model) that leave out rules."""
    return {
        f"{stem}-{end}{model}": Way(
            settings={**settings, **(_WIDE if model and "answering" in measured else {})},
            measured=measured,
            beside=f"{stem}{model}",
        )
        for end, measured in OPENED.items()
    }


_CONTEXTUAL: Final[dict[str, object]] = {"retrieval.ranking": "contextual"}
PRODUCT: Final = {
    "documented": Way(settings={"retrieval.ranking": "documented"}),
    "contextual": Way(settings=_CONTEXTUAL),
    **_leave_out("contextual", _CONTEXTUAL),
}
"""Arms of the product, with the settings that make each."""
ARMS: Final = (*BASELINES, *PRODUCT)
"""What is asked by default: everything that needs no extra."""
_VECTORS: Final[dict[str, dict[str, object]]] = {
    f":{local.model}": {
        **_CONTEXTUAL,
        "retrieval.semantic": True,
        "retrieval.embedding.model": local.model,
        # What is measured must not depend on how busy the machine is.
        "retrieval.embedding.timeoutMs": 120_000,
    }
    for local in MODELS
}
HYBRID: Final = {
    **{f"hybrid{model}": Way(settings=settings) for model, settings in _VECTORS.items()},
    **{
        name: way for model, settings in _VECTORS.items() for name, way in _leave_out("hybrid", settings, model).items()
    },
}
"""The same with vectors of each model, under the rules and without; some need an extra, and take long to make."""
NAMED: Final = {"contextual-bare": Way(settings=_CONTEXTUAL, measured=("bare",), beside="contextual"), **HYBRID}
"""What is asked only if it is named."""
_ANY: Final = 256
"""Dimensions of a model that makes any number of them."""
ALL: Final = "all"
"""In the place of an arm: all of them, those with vectors as far as their models are installed."""


def choose(chosen: Sequence[str], default: Sequence[str], named: Sequence[str]) -> tuple[str, ...]:
    """The names of the arms that are to be asked.

    Args:
        chosen: names that were given; none: `default`.
        default: what is asked if none is given.
        named: what else there is.

    Raises:
        BadArgument: there is no such arm.
    """
    if not chosen:
        return tuple(default)
    known = (*default, *named)
    unknown = [name for name in chosen if name not in (*known, ALL)]
    if unknown:
        raise BadArgument(f"there is no arm {unknown[0]}", f"choose from {', '.join(known)}, or {ALL}")
    if ALL not in chosen:
        return tuple(dict.fromkeys(chosen))
    missing = {local.model for local in MODELS if not _is_installed(local)}
    return tuple(name for name in known if not missing.intersection(name.split(":")))


def _is_installed(local: Local) -> bool:
    """Whether a model can be loaded here."""
    try:
        make(Profile(provider=LOCAL_PROVIDER, model=local.model, dimensions=local.dimensions or _ANY))
    except ImportError:
        return False
    return True


def run(
    chosen: Sequence[str], questions: EvalSet, folder: str, progress: Progress | None = None
) -> dict[str, tuple[Answer, ...]]:
    """Asks each arm every question.

    Args:
        chosen: names out of `ARMS` and `NAMED`.
        questions: the set.
        folder: existing, empty working folder.
        progress: called with questions answered and in all.

    Raises:
        OperationError: a conversation could not be indexed, or a retrieval failed.
    """
    files = _index(questions, folder)
    sessions = {(one.name, turn.id): turn.session for one in questions.conversations for turn in one.turns}
    answers: dict[str, tuple[Answer, ...]] = {}
    total, done = len(chosen) * len(questions.questions), 0
    for name in chosen:
        arm = _open(name, questions, f"{folder}/store", files)
        try:
            collected: list[Answer] = []
            for question in questions.questions:
                started = perf_counter()
                ids, tokens = arm.ask(question)
                ms = (perf_counter() - started) * 1000
                found = tuple(sessions.get((question.conversation, id_), "") for id_ in ids)
                collected.append(Answer(question=question, ids=tuple(ids), sessions=found, tokens=tuple(tokens), ms=ms))
                done += 1
                if progress is not None:
                    progress(done, total)
            answers[name] = tuple(collected)
        finally:
            arm.close()
    return answers


def _open(name: str, questions: EvalSet, store: str, files: Mapping[str, str]) -> Arm:
    if name in BASELINES:
        return BASELINES[name](questions.conversations)
    return Product(store, files, questions, (PRODUCT | NAMED)[name])


def _index(questions: EvalSet, folder: str) -> dict[str, str]:
    """Writes the conversations as transcripts and indexes them. Returns the file of each."""
    files = {one.name: transcripts.write(one, folder) for one in questions.conversations}
    with Engine.open(f"{folder}/store", defaults({})) as engine:
        for report in engine.index(*files.values()).sessions:
            if report.error is not None:
                raise OperationError(report.error, "report this as a fault of aforesaid")
    return files


def defaults(settings: Mapping[str, object]) -> Config:
    """The configuration without anything of the user's own, with single settings on top."""
    from aforesaid.config import OPTIONS, Config, Setting
    from aforesaid.config.layers import apply_settings

    values = {option.key: Setting(key=option.key, value=option.default, source="default") for option in OPTIONS}
    return Config(settings=tuple(apply_settings(values, settings.items()).values()))


def _cost(turn: Turn) -> int:
    """Tokens of a turn as evidence, with the frame around it, as the product's answers are counted."""
    text = turn.text[:LIMIT]
    entry = StoredEntry(
        row=0,
        id=turn.id,
        kind="message",
        role=turn.role,
        timestamp=turn.timestamp,
        text=text,
        parts=(len(text),),
        source=_NOWHERE,
        digest=b"",
        tokens=0,
    )
    return estimate(frame(entry, session_id=None, score=0.0, reason="baseline", excerpt=text))


_NOWHERE: Final = Source(line=0, offset=0, length=0, sha256=b"")
