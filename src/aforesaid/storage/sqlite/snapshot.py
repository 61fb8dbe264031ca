"""Reading one session: the entries, the tree and the searches, all of one moment.

`store.read` begins a read transaction on a shard and lends a `ShardSnapshot` out until it ends. What costs time to
derive from the tables stays with the shard for the next snapshot of the same generation.
"""

from __future__ import annotations

from bisect import bisect_left
from contextlib import contextmanager
from operator import itemgetter
from typing import TYPE_CHECKING

from aforesaid.errors import ExactSearchFailed, TextSearchFailed
from aforesaid.lineage import trace
from aforesaid.model import Mark, Run, Source, StoredEntry, Tree
from aforesaid.storage.sqlite import id_blocks, search
from aforesaid.storage.sqlite.failures import UNREADABLE, is_damage, store_error
from aforesaid.storage.sqlite.records import (
    AUTOMATIC,
    FED,
    KINDS,
    PACKED,
    REQUEST,
    ROLES,
    Extra,
    from_id,
    from_stamp,
    to_text,
    unpack_change,
    unpack_extra,
    unpack_lengths,
    unsqueeze,
)
from aforesaid.storage.sqlite.shard import CHARACTERS_KEPT
from aforesaid.storage.sqlite.spans import MANY, select_rows
from aforesaid.text import digest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any

    from aforesaid.answers import TermRow, Weights
    from aforesaid.inquiry import Alternatives, Filter, Outline, Standing
    from aforesaid.model import Session, Span
    from aforesaid.storage.sqlite.picking import Hint
    from aforesaid.storage.sqlite.shard import Shard

_RUNS = "SELECT first, last, parent FROM run ORDER BY first"
_MARKS = "SELECT row, change FROM mark ORDER BY row"
_ENTRY = (
    "SELECT entry.row, id, kind, role, flags, timestamp, line, offset, length, sha256, digest, tokens, redacted, extra,"
    " parts, text FROM entry LEFT JOIN digest ON digest.row = entry.row WHERE entry.row {which}"
)
_ENTRIES = _ENTRY.format(which=MANY)
_ONE_ENTRY = _ENTRY.format(which="= ?")
_REQUEST = f"SELECT max(row) FROM entry WHERE flags & {REQUEST} AND row BETWEEN ? AND ?"
_DIGESTS = "SELECT digest FROM digest WHERE row BETWEEN ? AND ?"
_TOKENS = "SELECT total(tokens) FROM entry WHERE row BETWEEN ? AND ?"
_SEARCHED = f"SELECT row FROM entry WHERE row < ? AND flags & {FED} ORDER BY row DESC LIMIT ?"
_NOTHING = Extra()
AHEAD = 200
"""Entries that are read ahead at once, which takes some milliseconds."""
CHARACTERS_AHEAD = CHARACTERS_KEPT * 3 // 4
"""Of texts in memory, after which nothing more is read ahead: it would only drive out what was."""


def _know_nothing() -> None:
    """What there is to know of a session in memory, or of a shard that is opened by itself."""


class ShardSnapshot:
    """The `Snapshot` of the SQLite store; lives within one read transaction that the store begins and ends."""

    def __init__(
        self,
        shard: Shard,
        session: Session,
        damaged: Callable[[], None],
        hint: Callable[[], Hint | None] = _know_nothing,
    ) -> None:
        """Takes a shard in a read transaction.

        Args:
            shard: where to read.
            session: what the shard said of itself in this transaction.
            damaged: called when the file turns out not to hold what was written.
            hint: tells what the index of words knows of the session.
        """
        self._shard = shard
        self._connection = shard.database.connection
        self._session = session
        self._damaged = damaged
        self._hint = hint

    @property
    def session(self) -> Session:
        """The session of this snapshot."""
        return self._session

    def tree(self) -> Tree:
        """The shape of the session."""
        generation = self._session.generation
        if self._shard.tree is None or self._shard.tree[0] != generation:
            with self._reading():
                tree = Tree(
                    runs=self._runs(),
                    marks=tuple(_mark(row, change) for row, change in self._connection.execute(_MARKS)),
                    tail=self._shard.tail,
                )
            self._shard.tree = (generation, tree)
        return self._shard.tree[1]

    def trunk(self) -> tuple[Span, ...]:
        """The rows of the branch that the session ends with, root first."""
        generation = self._session.generation
        if self._shard.tree is not None and self._shard.tree[0] == generation:
            tree = self._shard.tree[1]
            return trace(tree.runs, tree.tail)
        if self._shard.trunk is None or self._shard.trunk[0] != generation:
            with self._reading():
                self._shard.trunk = (generation, trace(self._runs(), self._shard.tail))
        return self._shard.trunk[1]

    def _runs(self) -> tuple[Run, ...]:
        runs: list[Any] = self._connection.execute(_RUNS).fetchall()
        ends = [last for _, last, _ in runs[:-1]] + [self._session.entries]  # see `writer`
        return tuple([Run(first=run[0], last=last, parent=run[2]) for run, last in zip(runs, ends, strict=False)])

    def rows(self, ids: Sequence[str]) -> tuple[int | None, ...]:
        """The row of each id."""
        with self._reading():
            blocks = self._shard.id_blocks(self._session.generation)
            return tuple([id_blocks.find(self._connection, blocks, id_) for id_ in ids])

    def entries(self, rows: Sequence[int]) -> tuple[StoredEntry, ...]:
        """The entries of these rows, in the given order."""
        recent = self._shard.recent
        known = recent.entries(self._session.generation)
        try:
            return tuple([known[row] for row in rows])  # mostly all
        except KeyError:
            found = {row: known[row] for row in rows if row in known}
        missing = [row for row in rows if row not in found]
        if missing:
            with self._reading():
                for columns in select_rows(self._connection, _ONE_ENTRY, _ENTRIES, missing):
                    entry = found[columns[0]] = _stored(columns)
                    recent.keep(entry.row, entry.text, entry)
        return tuple([found[row] for row in rows if row in found])

    def read_ahead(self) -> bool:
        """Reads some entries into memory that a search may need, the latest ones first; whether there are more.

        Raises:
            apsw.Error, ValueError: the file cannot be read.
        """
        generation, recent = self._session.generation, self._shard.recent
        self._shard.postings.learn(self._connection, generation)
        recent.entries(generation)
        before = self._session.entries + 1 if recent.reached is None else recent.reached
        rows = [row for (row,) in self._connection.execute(_SEARCHED, (before, AHEAD))]
        recent.reached = rows[-1] if rows else 0
        self.entries(rows)
        return len(rows) == AHEAD and recent.characters < CHARACTERS_AHEAD

    def latest_request(self, spans: Sequence[Span]) -> StoredEntry | None:
        """The last real user message in branch order."""
        for span in reversed(spans):
            with self._reading():
                row = self._connection.execute(_REQUEST, span).get
            if row is not None:
                return self.entries((row,))[0]
        return None

    def digests(self, wanted: Sequence[bytes], spans: Sequence[Span]) -> frozenset[bytes]:
        """Those of the wanted text digests that some row within the spans carries."""
        left = set(wanted)
        carried: set[bytes] = set()
        with self._reading():
            for span in spans:
                if left:
                    here = left.intersection([held for (held,) in self._connection.execute(_DIGESTS, span)])
                    carried |= here
                    left -= here
        return frozenset(carried)

    def count_tokens(self, spans: Sequence[Span]) -> int:
        """The estimated tokens of all texts within the spans."""
        with self._reading():
            return sum(int(self._connection.execute(_TOKENS, span).get) for span in spans)

    def find_literals(self, needles: Sequence[str], spans: Sequence[Span], limit: int) -> tuple[tuple[int, ...], ...]:
        """For each needle the rows that hold it literally, latest on the branch first."""
        with self._searching(ExactSearchFailed):
            return search.find_literals(self._shard, needles, spans, limit, generation=self._session.generation)

    def find_terms(self, terms: Sequence[str], spans: Sequence[Span], limit: int) -> tuple[TermRow, ...]:
        """Rows that hold at least one of the terms, best first."""
        with self._searching(TextSearchFailed):
            return search.rank(
                self._shard, search.disjunction(terms), spans, limit, generation=self._session.generation
            )

    def weigh_terms(
        self,
        terms: Sequence[str],
        roots: Sequence[str],
        spans: Sequence[Span],
        near: Sequence[tuple[str, str]] = (),
    ) -> Weights:
        """Every row that holds one of the terms or a word with one of the roots, with its bm25."""
        with self._searching(TextSearchFailed):
            phrases, pairs = search.phrases_of(tuple(terms), tuple(roots)), search.pairs_of(tuple(near))
            return search.weigh(self._shard, phrases, spans, pairs, generation=self._session.generation)

    def weigh_all(
        self, terms: Sequence[str], roots: Sequence[str], near: Sequence[tuple[str, str]] = (), *, last: int
    ) -> Mapping[int, float]:
        """What `weigh_terms` gives for every row up to one, as if the session ended there."""
        from aforesaid.storage.sqlite import weighing  # late: automatic retrieval has no use for it

        generation = self._session.generation
        phrases, pairs = search.phrases_of(tuple(terms), tuple(roots)), search.pairs_of(tuple(near))
        asked = (generation, phrases, pairs, last)
        if self._shard.weighed is not None and self._shard.weighed[0] == asked:
            return self._shard.weighed[1]
        with self._reading():
            if last < self._session.entries:
                found = weighing.weigh_until(self._shard, phrases, pairs, last, generation=generation)
            else:
                found = weighing.weigh_all(self._shard, phrases, pairs)
        self._shard.weighed = (asked, found) if len(found) <= weighing.KEPT else None
        return found

    def unindexed(self, *, derived: bool = True) -> tuple[int, ...]:
        """The rows with a text that is not in the full-text index."""
        hint = self._hint()
        if hint is not None and hint.fed(derived=derived):
            return ()
        with self._reading():
            return self._shard.unfed(self._session.generation)

    def count_terms(self, terms: Sequence[str], spans: Sequence[Span]) -> int:
        """How many rows within the spans hold at least one of the terms."""
        with self._searching(TextSearchFailed):
            return search.count(self._shard, search.disjunction(terms), spans, generation=self._session.generation)

    @property
    def incarnation(self) -> bytes:
        """What tells the session's file from any other that has stood at its path."""
        return self._shard.incarnation

    @property
    def fed(self) -> int:
        """Which texts of the session are in its full-text index, as the index of words has it."""
        from aforesaid.inquiry import DERIVED  # late: automatic retrieval has no use for it
        from aforesaid.storage.sqlite.words import ALL, SAID, SOME

        with self._reading():
            others = self._shard.unfed(self._session.generation)
        if not others:
            return ALL
        derived = all(
            one.kind in DERIVED or one.role == "summary"
            for start in range(0, len(others), AHEAD)
            for one in self.entries(others[start : start + AHEAD])
        )
        return SAID if derived else SOME

    def words(self) -> tuple[str, ...] | None:
        """Every word of the session's texts once, in the form of the index; None if that was made by other rules."""
        if not self._shard.current:
            return None
        from aforesaid.storage.sqlite import browse  # late: automatic retrieval has no use for it

        with self._reading():
            return browse.words(self._shard)

    def outlines(self, spans: Sequence[Span], wanted: Filter, rows: Sequence[int] | None = None) -> tuple[Outline, ...]:
        """The rows within the spans that have a text and pass the filter, in row order."""
        if rows is not None:
            from aforesaid.storage.sqlite import browse  # late: automatic retrieval has no use for it

            self._shard.recent.texts(self._session.generation)
            with self._reading():
                return browse.outlines(self._shard, spans, wanted, rows)
        asked = (self._session.generation, tuple(spans), wanted)
        if self._shard.listed is not None and self._shard.listed[0] == asked:
            return self._shard.listed[1]
        from aforesaid.storage.sqlite import browse  # late: automatic retrieval has no use for it

        with self._reading():
            found = browse.outlines(self._shard, spans, wanted)
        self._shard.listed = (asked, found) if len(found) <= browse.KEPT else None
        return found

    def standings(
        self, spans: Sequence[Span], wanted: Filter, rows: Sequence[int] | None = None
    ) -> tuple[Standing, ...]:
        """The same rows in the same order, with what is cheap to read."""
        if rows is None and len(spans) == 1 and spans[0][1] == self._session.entries:
            return self._latest_standings(spans[0][0], wanted)
        asked = (self._session.generation, tuple(spans), wanted, None if rows is None else tuple(rows))
        if self._shard.stood is not None and self._shard.stood[0] == asked:
            return self._shard.stood[1]
        from aforesaid.storage.sqlite import browse  # late: automatic retrieval has no use for it

        with self._reading():
            found = browse.standings(self._shard, spans, wanted, rows)
        self._shard.stood = (asked, found) if len(found) <= browse.KEPT >= len(asked[3] or ()) else None
        return found

    def _latest_standings(self, first: int, wanted: Filter) -> tuple[Standing, ...]:
        """Those from a row on; the last ones stay, for nearly every search of many sessions begins with them."""
        from aforesaid.storage.sqlite import browse  # late: automatic retrieval has no use for it

        asked, kept = (self._session.generation, wanted), self._shard.latest
        if kept is None or kept[0] != asked or kept[1] > first:
            last = self._session.entries
            start = max(1, min(first, last - browse.LAST + 1))
            with self._reading():
                kept = asked, start, browse.standings(self._shard, ((start, last),), wanted)
            self._shard.latest = kept if len(kept[2]) <= browse.KEPT else None
        _, start, found = kept
        return found if start == first else found[bisect_left(found, first, key=itemgetter(0)) :]

    def propose(
        self, alternatives: Alternatives, spans: Sequence[Span], *, derived: bool = True
    ) -> tuple[int, ...] | None:
        """The rows within the spans whose texts may hold one of the alternatives; None: any of them may."""
        asked = (self._session.generation, tuple(spans), alternatives, derived)
        if self._shard.proposed is not None and self._shard.proposed[0] == asked:
            return self._shard.proposed[1]
        from aforesaid.storage.sqlite import proposals  # late: automatic retrieval has no use for it

        with self._reading():
            found = proposals.propose(
                self._shard,
                alternatives,
                spans,
                generation=self._session.generation,
                hint=self._hint(),
                derived=derived,
            )
        self._shard.proposed = (asked, found) if found is not None and len(found) <= proposals.KEPT else None
        return found

    def texts(self, rows: Sequence[int]) -> tuple[str, ...]:
        """The texts of these rows."""
        from aforesaid.storage.sqlite import browse  # late: automatic retrieval has no use for it

        if len(rows) > browse.KEPT_TEXTS:
            with self._reading():
                return browse.texts(self._shard, rows)
        recent = self._shard.recent
        known = recent.texts(self._session.generation)
        missing = [row for row in rows if row not in known]
        found = {row: known[row] for row in rows if row in known}
        if missing:
            with self._reading():
                read = browse.texts(self._shard, missing)
            for row, text in zip(missing, read, strict=True):
                found[row] = text
                if text:
                    recent.keep(row, text)
        return tuple([found[row] for row in rows])

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Turns failures of the file into the store's errors."""
        try:
            yield
        except UNREADABLE as error:
            self._suspect(error)
            raise store_error(error, self._shard.database.path) from error

    @contextmanager
    def _searching(self, failure: type[ExactSearchFailed | TextSearchFailed]) -> Iterator[None]:
        """Turns failures of the file into the failure of a search."""
        try:
            yield
        except UNREADABLE as error:
            self._suspect(error)
            raise failure(f"{self._shard.database.path}: {error}", "index the session again") from error

    def _suspect(self, error: Exception) -> None:
        if is_damage(error):
            self._damaged()


def _mark(row: int, data: bytes) -> Mark:
    change = unpack_change(data)
    return Mark(row=row, compaction=change.compaction, edit=change.edit)


def _stored(columns: Any) -> StoredEntry:
    row, id_, kind, role, flags, timestamp, *rest = columns
    line, offset, length, sha256, digested, tokens, redacted, extra, parts, text = rest
    words = "" if text is None else to_text(unsqueeze(text) if flags & PACKED else text)
    more = _NOTHING if extra is None else unpack_extra(extra)
    whole = () if text is None else (len(words),)
    return StoredEntry(
        row=row,
        id=from_id(id_),
        kind=KINDS[kind],
        role=ROLES[role],
        timestamp=from_stamp(timestamp),
        text=words,
        parts=whole if parts is None else unpack_lengths(parts),
        source=Source(line=line, offset=offset, length=length, sha256=sha256, file=more.file),
        digest=digested if digested is not None else digest(words),  # who inspects a file does not change it
        tokens=tokens,
        tools=more.tools,
        calls=more.calls,
        files=more.files,
        automatic=bool(flags & AUTOMATIC),
        request=bool(flags & REQUEST),
        redacted=redacted,
        label=more.label,
        target=more.target,
    )
