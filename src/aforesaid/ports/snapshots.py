"""Floor 2: one session at one moment: its entries, the automatic search and the explicit one.

`StorePort.read` hands out a `Snapshot`; whoever needs less of it says so by a smaller port.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from aforesaid.answers import TermRow, Weights
    from aforesaid.inquiry import Alternatives, Filter, Outline, Standing
    from aforesaid.model import Session, Span, StoredEntry, Tree


class EntryPort(Protocol):
    """The entries of one session, as they were when the snapshot was taken."""

    @property
    def session(self) -> Session:
        """The session of this snapshot."""
        ...

    def tree(self) -> Tree:
        """The shape of the session: runs, marks and the last row."""
        ...

    def trunk(self) -> tuple[Span, ...]:
        """The rows of the branch that the session ends with, root first, as `lineage.trace` gives them."""
        ...

    def rows(self, ids: Sequence[str]) -> tuple[int | None, ...]:
        """The row of each id, None where the session has no such entry; parallel to `ids`."""
        ...

    def entries(self, rows: Sequence[int]) -> tuple[StoredEntry, ...]:
        """The entries of these rows, in the given order; rows that do not exist are left out."""
        ...

    def latest_request(self, spans: Sequence[Span]) -> StoredEntry | None:
        """The last real user message in branch order, whatever it holds, or None."""
        ...

    def digests(self, wanted: Sequence[bytes], spans: Sequence[Span]) -> frozenset[bytes]:
        """Those of the wanted text digests that some row within the spans carries."""
        ...

    def count_tokens(self, spans: Sequence[Span]) -> int:
        """The estimated tokens of all texts within the spans."""
        ...


class SearchPort(Protocol):
    """Search within one session's snapshot.

    Both searches look only at rows that may be evidence automatically (`Entry.automatic`) and stand within the given
    spans; the filter holds before any limit, so rows outside can never displace rows inside. Spans are in branch order,
    disjoint, and may be empty (nothing is found then).
    """

    def find_literals(self, needles: Sequence[str], spans: Sequence[Span], limit: int) -> tuple[tuple[int, ...], ...]:
        """For each needle the rows that hold it literally (`matching.Literal`), latest on the branch first.

        At most `limit` rows a needle. Every row that holds one is found, whatever characters the needle is made of.

        Raises:
            ExactSearchFailed: the search could not be done.
        """
        ...

    def find_terms(self, terms: Sequence[str], spans: Sequence[Span], limit: int) -> tuple[TermRow, ...]:
        """Rows that hold at least one of the terms (`matching.Term`), best bm25 first, at most `limit`.

        The order is total and independent of row numbers: score rounded to nine decimals, then timestamp descending
        (None last), then entry id ascending. Terms without any token find nothing. bm25 counts over the whole session
        (k1 1.2, b 0.75, as FTS5).

        Raises:
            TextSearchFailed: the search could not be done.
        """
        ...

    def weigh_terms(
        self,
        terms: Sequence[str],
        roots: Sequence[str],
        spans: Sequence[Span],
        near: Sequence[tuple[str, str]] = (),
    ) -> Weights:
        """Every row that holds at least one of the terms, or a word that begins with one of the roots.

        Rows come in ascending order. Their scores are bm25 over the whole session, higher is better (k1 1.2, b 0.75,
        idf ln(1 + (N - n + 0.5) / (n + 0.5))), a root counting like a term that all words with it share; for each pair
        whose words stand near each other, with three words between them at most, in any order, 0.3 times the idf of
        that is added. Rounded to nine decimals.

        Args:
            terms: as in `find_terms`.
            roots: folded beginnings of single words, of letters and digits only.
            spans: rows that count.
            near: pairs of beginnings of words, as in `roots`, neither of which begins the other.

        Raises:
            TextSearchFailed: the search could not be done.
        """
        ...

    def count_terms(self, terms: Sequence[str], spans: Sequence[Span]) -> int:
        """How many rows within the spans hold at least one of the terms.

        Raises:
            TextSearchFailed: the search could not be done.
        """
        ...


class BrowsePort(Protocol):
    """Listing one session's entries for explicit search. There is no limit, and nothing is decided here.

    Spans are disjoint, in any order, and may be empty.
    """

    def outlines(self, spans: Sequence[Span], wanted: Filter, rows: Sequence[int] | None = None) -> tuple[Outline, ...]:
        """The rows within the spans that have a text and pass the filter, in row order; with `rows` only those.

        A row answers the nearest call before it in the session that has the id.
        """
        ...

    def standings(
        self, spans: Sequence[Span], wanted: Filter, rows: Sequence[int] | None = None
    ) -> tuple[Standing, ...]:
        """The same rows in the same order, with what is cheap to read."""
        ...

    def propose(
        self, alternatives: Alternatives, spans: Sequence[Span], *, derived: bool = True
    ) -> tuple[int, ...] | None:
        """The rows within the spans whose texts may hold one of the alternatives, in order; None: any of them may.

        A row is left out only if its text does not hold one, or, without `derived`, if it is of a summary or of another
        kind that a model wrote about others.
        """
        ...

    def weigh_all(
        self, terms: Sequence[str], roots: Sequence[str], near: Sequence[tuple[str, str]] = (), *, last: int
    ) -> Mapping[int, float]:
        """What `SearchPort.weigh_terms` gives for every row up to one, by row, as if the session ended there.

        So rows that come later change nothing. The answer is there to be read, not to be changed.
        """
        ...

    def unindexed(self, *, derived: bool = True) -> tuple[int, ...]:
        """The rows with a text that the full-text search does not know, in order; `derived` as above."""
        ...

    def texts(self, rows: Sequence[int]) -> tuple[str, ...]:
        """The texts of these rows, in the given order; empty for rows that do not exist or have none."""
        ...


class Snapshot(EntryPort, SearchPort, BrowsePort, Protocol):
    """One session at one moment: entries and search agree with each other until the snapshot is closed."""
