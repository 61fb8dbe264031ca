"""Floor 5: keeps the vectors of a session equal to its entries: what was added gets some, what is gone loses them.

`engine` calls `make_vectors` after a sync. Entries are read in short transactions, newest first, vectors are added with
a note of what has been looked at, so that an interrupted run goes on where it was, and a repeated one asks for nothing.
What a port does wrong ends the run with a reason; what is there stays.
"""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from aforesaid.embedding import HASH_BYTES, Covered, Passage
from aforesaid.passages import cut, hash_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from aforesaid.embedding import Profile, Purpose, Vectors
    from aforesaid.model import Cleared, StoredEntry
    from aforesaid.ports import Snapshot, VectorPort

    Progress = Callable[[int, int], None]

CHANGED: Final = "session-changed"
"""Reason of a run that was overtaken: the session was begun anew meanwhile. The next run sees to it."""
ROWS_AT_ONCE: Final = 64
"""Entries between two commits."""


class Made(Struct, frozen=True, kw_only=True):
    """What one run did.

    Attributes:
        vectors: made.
        excluded: sources that the privacy policy keeps from the model.
        complete: whether all entries that should have vectors have them now.
        reason: why not, if the port failed, or `CHANGED`.
    """

    vectors: int = 0
    excluded: int = 0
    complete: bool = True
    reason: str | None = None


class Source(Struct, frozen=True, kw_only=True):
    """An entry with the texts of its passages as the model may see them.

    Attributes:
        passages: of the entry's stored text.
        texts: parallel to them: what is sent, without secrets where the model is remote.
    """

    passages: tuple[Passage, ...]
    texts: tuple[str, ...]


class Clearing:
    """Says what of an entry a model may see; this one is for a model on this machine, and `engine` has another."""

    def __init__(self, seal: Callable[[Sequence[str]], Cleared[str]]) -> None:
        """Takes what makes texts `Cleared`."""
        self.seal = seal

    def see(self, snapshot: Snapshot, entries: Sequence[StoredEntry]) -> tuple[Source | None, ...]:
        """Each entry with its passages, or None for one that the model may not see."""
        del snapshot
        return tuple(cut_source(entry) for entry in entries)


class Maker(Struct, frozen=True, kw_only=True):
    """What makes the vectors of one session.

    Attributes:
        read: opens a snapshot of the session.
        vectors: where they are kept.
        profile: of the model.
        embed: calls the model.
        clear: the entries as the model may see them, None for one that it may not see at all; and the values to send
            as the privacy policy cleared them.
        most: entries that get vectors at most (`retrieval.embedding.maxSources`), the latest ones.
        batch: texts of one call.
    """

    read: Callable[[], AbstractContextManager[Snapshot]]
    vectors: VectorPort
    profile: Profile
    embed: Callable[[Cleared[str], Purpose], Vectors]
    clear: Clearing
    most: int
    batch: int


def cut_source(entry: StoredEntry) -> Source:
    """An entry with its passages as they stand."""
    texts = [(start, end, entry.text[start:end]) for start, end in cut(entry.text)]
    return Source(
        passages=tuple(Passage(row=entry.row, start=start, end=end, hash=hash_of(text)) for start, end, text in texts),
        texts=tuple(text for _, _, text in texts),
    )


def make_vectors(
    maker: Maker,
    *,
    seconds: float | None = None,
    thorough: bool = False,
    stopped: Callable[[], bool] = lambda: False,
    progress: Progress | None = None,
) -> Made:
    """Brings the vectors of a session up to date.

    Args:
        maker: whose, and with what.
        seconds: how long it may take, about; None for no limit.
        thorough: look at every entry, for changes in what was looked at before. Without it they are noticed only where
            the last such entry is another one now; a vector of another text is never used, though.
        stopped: asked now and then whether to end.
        progress: called with entries looked at and entries in all.

    Raises:
        StoreError: the store failed.
    """
    end = None if seconds is None else monotonic() + seconds
    run = _Run(maker, progress)
    run.begin(thorough=thorough)
    for first, last in run.stretches():
        if stopped() or (end is not None and monotonic() >= end):
            return run.made(complete=False)
        reason = run.look(first, last)
        if reason is not None:
            return run.made(complete=False, reason=reason)
    run.trim()
    return run.made(complete=True)


class _Run:
    """One run over a session."""

    def __init__(self, maker: Maker, progress: Progress | None) -> None:
        self._maker = maker
        self._progress = progress
        self._count = self._looked = 0
        self._outdated = False
        self._rows = self._lowest = 0
        self._covered = Covered(low=1, high=0, generation=0, tail=b"")
        self._known: frozenset[tuple[int, int, bytes]] = frozenset()

    def begin(self, *, thorough: bool) -> None:
        """Finds out what has been looked at, and takes away what is not there any more."""
        maker = self._maker
        covered = maker.vectors.covered(maker.profile)
        with maker.read() as snapshot:
            self._rows = snapshot.session.entries
            self._lowest = max(1, self._rows - maker.most + 1)
            generation = snapshot.session.generation
            if covered is None:
                self._covered = self._nothing(generation)
                return
            same = covered.generation == generation or (
                covered.high <= self._rows and covered.tail == _tail(snapshot, covered.high)
            )
            if same and not thorough:
                self._covered = replace(covered, generation=generation)
                if covered.low > self._lowest:
                    self._know()  # an earlier run was interrupted, perhaps after it had kept some
                return
            kept = self._all_passages(snapshot)
        self._covered = self._nothing(generation)
        maker.vectors.keep(maker.profile, kept, self._covered)
        self._know()

    def _nothing(self, generation: int) -> Covered:
        return Covered(low=self._rows + 1, high=self._rows, generation=generation, tail=b"")

    def _all_passages(self, snapshot: Snapshot) -> list[Passage]:
        """The passages of all entries that should have vectors, as they are now."""
        found: list[Passage] = []
        for first in range(self._lowest, self._rows + 1, ROWS_AT_ONCE):
            last = min(first + ROWS_AT_ONCE, self._rows + 1)
            entries = [entry for entry in snapshot.entries(range(first, last)) if _counts(entry)]
            for source in self._maker.clear.see(snapshot, entries):
                found += () if source is None else source.passages
        return found

    def _know(self) -> None:
        held = self._maker.vectors.load(self._maker.profile, vectors=False)
        self._known = frozenset(
            (row, start, held.hashes[place * HASH_BYTES : (place + 1) * HASH_BYTES])
            for place, (row, start) in enumerate(zip(held.rows, held.starts, strict=True))
        )

    def stretches(self) -> list[tuple[int, int]]:
        """First and last row of what has to be looked at: what was added since, then the rest, newest first."""
        covered = self._covered
        found = [
            (first, min(first + ROWS_AT_ONCE - 1, self._rows))
            for first in range(max(covered.high + 1, self._lowest), self._rows + 1, ROWS_AT_ONCE)
        ]
        if covered.high < self._lowest - 1:
            # So much was added that nothing of the old counts: from the end on, like a new one.
            self._covered = self._nothing(covered.generation)
            self._outdated = True
            found = []
        low = self._covered.low
        while low > self._lowest:
            first = max(self._lowest, low - ROWS_AT_ONCE)
            found.append((first, low - 1))
            low = first
        return found

    def look(self, first: int, last: int) -> str | None:
        """Makes the vectors of some rows. A reason if that failed."""
        maker = self._maker
        with maker.read() as snapshot:
            if snapshot.session.entries < self._rows:
                return CHANGED
            entries = [entry for entry in snapshot.entries(range(first, last + 1)) if _counts(entry)]
            seen = maker.clear.see(snapshot, entries)
            grows = last > self._covered.high
            tail = _tail(snapshot, last) if grows or not self._covered.tail else self._covered.tail
        excluded = sum(source is None for source in seen)
        wanted = [
            (passage, text)
            for source in seen
            if source is not None
            for passage, text in zip(source.passages, source.texts, strict=True)
            if (passage.row, passage.start, passage.hash) not in self._known
        ]
        vectors: list[bytes] = []
        for at in range(0, len(wanted), maker.batch):
            texts = maker.clear.seal([text for _, text in wanted[at : at + maker.batch]])
            outcome = maker.embed(texts, "source")
            if outcome.reason is not None:
                return outcome.reason
            vectors += outcome.values
        covered = self._covered
        high = max(last, covered.high)
        self._covered = replace(
            covered,
            low=min(first, covered.low),
            high=high,
            tail=tail,
            excluded=covered.excluded + excluded,
        )
        maker.vectors.add(maker.profile, [passage for passage, _ in wanted], vectors, self._covered)
        self._count += len(vectors)
        self._looked += last - first + 1
        if self._progress is not None:
            self._progress(min(self._looked, self._rows), self._rows)
        return None

    def trim(self) -> None:
        """Takes away what is older than the latest sources."""
        if self._covered.low < self._lowest or self._outdated:
            self._covered = replace(self._covered, low=max(self._covered.low, self._lowest))
            self._maker.vectors.trim(self._maker.profile, self._lowest)
            self._maker.vectors.add(self._maker.profile, (), (), self._covered)
        elif self._looked == 0:
            before = self._maker.vectors.covered(self._maker.profile)
            if before != self._covered:
                self._maker.vectors.add(self._maker.profile, (), (), self._covered)

    def made(self, *, complete: bool, reason: str | None = None) -> Made:
        """What the run did."""
        return Made(vectors=self._count, excluded=self._covered.excluded, complete=complete, reason=reason)


def _counts(entry: StoredEntry) -> bool:
    """Whether an entry gets vectors: one that may come back by itself."""
    return entry.automatic and bool(entry.text)


def _tail(snapshot: Snapshot, row: int) -> bytes:
    """What tells the entry in a row from any other."""
    found = snapshot.entries((row,))
    return found[0].id.encode("utf-8", "surrogatepass") + b"\0" + found[0].digest if found else b""
