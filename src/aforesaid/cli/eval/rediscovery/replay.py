"""Floor 9: the arms of the rediscovery set, asked at each prompt with what the model saw then.

The product is asked through `Engine.retrieve`, as a host that knows the context would. The baselines look at the same
eligible entries, cut the same windows out of what they find, frame them the same way and keep to the same budget.
"""

from __future__ import annotations

import os
import re
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Final, Protocol

from msgspec import Struct

from aforesaid.branches import find_branch
from aforesaid.cli.eval.arms import DEPTH, HYBRID, PRODUCT, defaults
from aforesaid.engine import Engine
from aforesaid.errors import OperationError
from aforesaid.evidence import frame
from aforesaid.matching import Probe
from aforesaid.query import read_query
from aforesaid.query.working import read_work
from aforesaid.storage.sqlite import open_store
from aforesaid.tokens import estimate
from aforesaid.windows import choose_windows, join_windows
from aforesaid.working import collect_work

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import apsw

    from aforesaid.cli.eval.rediscovery.labels import Labels, Prompt
    from aforesaid.model import StoredEntry
    from aforesaid.ports import StorePort

    Progress = Callable[[int, int], None]

BUDGET: Final = 16_000
"""Tokens of an answer: what automatic retrieval adds at most by default."""


class Excerpt(Struct, frozen=True, kw_only=True):
    """One thing that an arm brought back: names of its entry, the text, and the tokens of the whole message."""

    names: frozenset[str]
    text: str
    tokens: int


class Answer(Struct, frozen=True, kw_only=True):
    """What an arm brought back at a prompt, best first, and the milliseconds that it took."""

    prompt: Prompt
    excerpts: tuple[Excerpt, ...]
    ms: float


class Moment(Struct, frozen=True, kw_only=True):
    """A prompt as the arms get it.

    Attributes:
        prompt: the label.
        context: ids of the entries that the model saw.
        eligible: what may come back: lost entries with a text, in branch order.
        lost: equal for prompts with the same eligible entries.
        work: what the agent was working on (`aforesaid.working`).
    """

    prompt: Prompt
    context: tuple[str, ...]
    eligible: tuple[StoredEntry, ...]
    lost: tuple[object, ...]
    work: str


class Arm(Protocol):
    """One way of answering."""

    def ask(self, moment: Moment) -> Sequence[Excerpt]:
        """The answer, best first, at most `DEPTH` excerpts."""
        ...

    def close(self) -> None:
        """Gives back what it holds."""
        ...


class Recency:
    """The latest lost entries, whatever was asked."""

    def ask(self, moment: Moment) -> Sequence[Excerpt]:
        """See `Arm`."""
        return _cut(moment.eligible[: -DEPTH - 1 : -1], moment.prompt.query)

    def close(self) -> None:
        """See `Arm`."""


class Fts5:
    """SQLite's full-text search as it comes, over the lost entries: all words of the request, OR, bm25."""

    _tokenizer = "unicode61"

    def __init__(self, *, working: bool = False) -> None:
        """Takes whether the words of the work count too."""
        self._working = working
        self._lost: tuple[object, ...] = ()
        self._table: apsw.Connection | None = None

    def ask(self, moment: Moment) -> Sequence[Excerpt]:
        """See `Arm`."""
        query = self._query(moment)
        words = _words(query)
        if not words:
            return ()
        if self._table is None or self._lost != moment.lost:
            self._fill(moment)
        assert self._table is not None  # noqa: S101 - for the type checker
        either = " OR ".join(f'"{word}"' for word in words)
        statement = "SELECT rowid FROM lost WHERE lost MATCH ? ORDER BY bm25(lost), rowid LIMIT ?"
        rows = self._table.execute(statement, (either, DEPTH))
        return _cut([moment.eligible[row] for (row,) in rows], query)

    def _query(self, moment: Moment) -> str:
        return f"{moment.prompt.query}\n{moment.work}" if self._working else moment.prompt.query

    def _fill(self, moment: Moment) -> None:
        import apsw  # late: the other arms bring it themselves

        self.close()
        self._table, self._lost = apsw.Connection(":memory:"), moment.lost
        self._table.execute(f"CREATE VIRTUAL TABLE lost USING fts5(text, tokenize='{self._tokenizer}')")
        self._table.executemany(
            "INSERT INTO lost(rowid, text) VALUES (?, ?)",
            ((place, entry.text.encode("utf-8", "replace").decode()) for place, entry in enumerate(moment.eligible)),
        )

    def close(self) -> None:
        """See `Arm`."""
        if self._table is not None:
            self._table.close()
            self._table = None


class Bm25(Fts5):
    """The same with stems and the product's own query: the topics of the request, and those of the work if it counts.

    A plain ranking that knows what the product knows of a request: the strongest one without names and neighbours.
    """

    _tokenizer = "porter unicode61"

    def _query(self, moment: Moment) -> str:
        work = read_work(moment.work).terms if self._working else ()
        return "\n".join((*read_query(moment.prompt.query).terms, *work))


class Product:
    """The engine, with settings of the arm on top of the configuration's defaults."""

    def __init__(self, store: str, settings: Mapping[str, object], files: Sequence[str]) -> None:
        """Takes a store that holds the transcripts, and their paths."""
        self._engine = Engine.open(store, defaults(settings))
        if settings.get("retrieval.semantic"):
            self._engine.index(*files)  # so that no prompt waits for vectors

    def ask(self, moment: Moment) -> Sequence[Excerpt]:
        """See `Arm`.

        Raises:
            OperationError: the retrieval failed; that is no answer.
        """
        prompt = moment.prompt
        found = self._engine.retrieve(
            session=prompt.file, leaf=prompt.leaf, query=prompt.query, context_entries=moment.context
        )
        if found.status == "failed":
            raise OperationError(f"a retrieval failed: {found.diagnostics.warnings}", "report this as a fault")
        vectors = found.diagnostics.semantic
        if vectors is not None and vectors.reason is not None:
            raise OperationError(f"vectors were not used: {vectors.reason}", "see docs/semantic.md")
        return [
            Excerpt(names=_names(hit.ranked.candidate.entry), text=hit.excerpt, tokens=hit.tokens) for hit in found.hits
        ]

    def close(self) -> None:
        """See `Arm`."""
        self._engine.close()


BASELINES: Final[dict[str, Callable[[], Arm]]] = {
    "fts5": Fts5,
    "recency": Recency,
    "fts5:working": partial(Fts5, working=True),
    "bm25": Bm25,
    "bm25:working": partial(Bm25, working=True),
}
_SHIPPED: Final = {name: way.settings for name, way in PRODUCT.items() if not way.measured}
ASKING: Final = {
    **_SHIPPED,
    **{f"{name}:working": {**settings, "retrieval.query": "working"} for name, settings in _SHIPPED.items()},
}
"""Arms of the product: each ranking with the latest request alone, and with the work around it."""
ARMS: Final = (*BASELINES, *ASKING)
"""What is asked by default: everything that needs no extra."""
_HYBRID: Final = {name: way.settings for name, way in HYBRID.items() if not way.measured}
NAMED: Final = {
    **_HYBRID,
    **{f"{name}:working": {**settings, "retrieval.query": "working"} for name, settings in _HYBRID.items()},
}
"""The same with vectors of each model, which take long to make; asked if named."""


def run(
    chosen: Sequence[str], labels: Labels, folder: str, progress: Progress | None = None
) -> dict[str, tuple[Answer, ...]]:
    """Asks each arm at each prompt, first those with needs, then those without.

    Args:
        chosen: names out of `ARMS` and `NAMED`, each once.
        labels: the set.
        folder: existing, empty working folder.
        progress: called with questions answered and in all.

    Raises:
        OperationError: a transcript could not be indexed, or a retrieval failed.
    """
    prompts = (*labels.prompts, *labels.silent)
    store = os.path.join(folder, "store")
    files = sorted({prompt.file for prompt in prompts})
    with Engine.open(store, defaults({})) as engine:
        for report in engine.index(*files).sessions:
            if report.error is not None:
                raise OperationError(report.error, "report this as a fault of aforesaid")
    arms: dict[str, Arm] = {
        name: BASELINES[name]() if name in BASELINES else Product(store, (ASKING | NAMED)[name], files)
        for name in chosen
    }
    answers: dict[str, list[Answer]] = {name: [] for name in chosen}
    opened = open_store(store)
    try:
        for done, prompt in enumerate(prompts, 1):
            moment = make_moment(opened, prompt)
            for name, arm in arms.items():
                started = perf_counter()
                excerpts = tuple(arm.ask(moment))
                ms = (perf_counter() - started) * 1000
                answers[name].append(Answer(prompt=prompt, excerpts=excerpts, ms=ms))
            if progress is not None:
                progress(done, len(prompts))
    finally:
        opened.close()
        for arm in arms.values():
            arm.close()
    return {name: tuple(found) for name, found in answers.items()}


def make_moment(store: StorePort, prompt: Prompt) -> Moment:
    """What the model saw at a prompt, by the label, and what it had lost.

    Raises:
        LeafUnknown, EntryUnknown: the transcript does not hold what the label names.
    """
    session = store.by_file(os.path.abspath(prompt.file))
    if session is None:
        raise OperationError(f"{prompt.file} is not in the store", "report this as a fault of aforesaid")
    first, last = prompt.lines
    with store.read(session.key) as snapshot:
        entries = snapshot.entries(range(1, session.entries + 1))
        within = [entry.id for entry in entries if first <= entry.source.line <= last]
        context = tuple(dict.fromkeys((*prompt.ids, *within)))
        branch = find_branch(snapshot, prompt.leaf, context)
        work = collect_work(snapshot, branch)
    by_row = {entry.row: entry for entry in entries}
    rows = [row for start, end in branch.eligible for row in range(start, end + 1)]
    eligible = tuple(by_row[row] for row in rows if by_row[row].automatic and by_row[row].text)
    return Moment(prompt=prompt, context=context, eligible=eligible, lost=(prompt.file, branch.eligible), work=work)


def _cut(found: Sequence[StoredEntry], query: str) -> list[Excerpt]:
    """The windows of what a baseline found, framed as evidence, as far as the budget goes."""
    probe = Probe((), (), _words(query))
    excerpts: list[Excerpt] = []
    left = BUDGET
    for entry in found:
        text = join_windows(choose_windows(entry.text, probe))
        tokens = estimate(frame(entry, session_id=None, score=0.0, reason="baseline", excerpt=text))
        left -= tokens
        if left < 0:
            break
        excerpts.append(Excerpt(names=_names(entry), text=text, tokens=tokens))
    return excerpts


def _names(entry: StoredEntry) -> frozenset[str]:
    return frozenset((entry.id, f"L{entry.source.line}"))


def _words(query: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(re.findall(r"\w+", query.lower())))
