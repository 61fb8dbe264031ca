"""Floor 2: what the inner floors need from the outside, as small protocols.

`indexing` and `retrieval` know only these. `storage/sqlite` and `transcripts/*` implement them, tests bring fakes, and
`tests/contract/` holds one test file a port that runs over every implementation. Nothing here knows SQL or a host.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from aforesaid.answers import Semantic, TermRow, Weights
    from aforesaid.classification import Batch, Classifier
    from aforesaid.embedding import Covered, Held, Passage, Profile, Purpose, Scale, Similar
    from aforesaid.inquiry import Alternatives, Filter, Outline, Standing
    from aforesaid.model import Checkpoint, Cleared, Entry, Flaw, Header, Session, Span, StoredEntry, Tally, Tree
    from aforesaid.reports import Erased, StoreStatus, Verification
    from aforesaid.tombstones import Burial, Marker


class Reading(Protocol):
    """One pass over the new part of a transcript.

    Iterating yields entries and flaws in file order and never raises for what the lines hold: any bytes are readable.
    After the iteration `header` and `checkpoint` describe what was read. An `OSError` of the file passes through.
    """

    @property
    def header(self) -> Header:
        """The session's header; complete only after the iteration."""
        ...

    @property
    def checkpoint(self) -> Checkpoint:
        """Offset, line and reader state after the last consumed line (the digests and stat fields are not set)."""
        ...

    def __iter__(self) -> Iterator[Entry | Flaw]:
        """Entries and flaws in file order."""
        ...


class TranscriptPort(Protocol):
    """Reads one host's transcripts.

    Attributes:
        host: the host's name in the contract.
        parser: version of this reader; a change makes stored sessions stale and rebuilds them.
    """

    host: str
    parser: int

    def detect(self, head: bytes) -> bool:
        """Whether a file that begins with `head` (its first 64 KiB or all of it) is one of this host's transcripts."""
        ...

    def read(self, source: BinaryIO, file: str, since: Checkpoint | None) -> Reading:
        """Reads from the beginning, or from where `since` ended.

        Args:
            source: the file, opened for reading bytes; it is only ever read.
            file: its path, for the session id where the file names none.
            since: what an earlier `Reading.checkpoint` said; None reads everything.
        """
        ...


class EntryPort(Protocol):
    """The entries of one session, as they were when the snapshot was taken."""

    @property
    def session(self) -> Session:
        """The session of this snapshot."""
        ...

    def tree(self) -> Tree:
        """The shape of the session: runs, marks and the last row."""
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
        """The rows within the spans that have a text and pass the filter, in row order; with `rows` only those."""
        ...

    def standings(
        self, spans: Sequence[Span], wanted: Filter, rows: Sequence[int] | None = None
    ) -> tuple[Standing, ...]:
        """The same rows in the same order, with what is cheap to read."""
        ...

    def propose(self, alternatives: Alternatives, spans: Sequence[Span]) -> tuple[int, ...] | None:
        """The rows within the spans whose texts may hold one of the alternatives, in order; None: any of them may.

        A row is left out only if its text does not hold one.
        """
        ...

    def texts(self, rows: Sequence[int]) -> tuple[str, ...]:
        """The texts of these rows, in the given order; empty for rows that do not exist or have none."""
        ...


class Snapshot(EntryPort, SearchPort, BrowsePort, Protocol):
    """One session at one moment: entries and search agree with each other until the snapshot is closed."""


class SessionWriter(Protocol):
    """One transaction on one session. Nothing is visible before `commit`; leaving without it changes nothing."""

    @property
    def session(self) -> Session | None:
        """The session as it was when the transaction began, or None if it is new."""
        ...

    def clear(self) -> int:
        """Removes all rows, for a rebuild. Returns how many there were."""
        ...

    def known(self, ids: Sequence[str]) -> frozenset[str]:
        """Those of the ids that the session already has, entries appended in this transaction included."""
        ...

    def lines(self, ids: Sequence[str]) -> tuple[bytes | None, ...]:
        """The SHA-256 of each entry's line (`Source.sha256`), None where the session has no such entry.

        Parallel to `ids`; entries appended in this transaction are included.
        """
        ...

    def append(self, entries: Sequence[Entry]) -> None:
        """Adds entries in file order.

        Ids are new, and every parent is None, known, or the id of an entry that is added before `commit`.
        """
        ...

    def preview(self) -> AbstractContextManager[Snapshot]:
        """The session as a reader would see it if all of this were committed now; there was one before.

        Nobody else sees it, and it ends before the transaction does.
        """
        ...

    def commit(self, session: Session, *, tail: str | None = None) -> Session:
        """Makes all of it visible at once.

        Args:
            session: header, flaws, checkpoint, `shared`; the counts, name, `updated` and `generation` are the store's
                to fill.
            tail: id of the entry that the session ends with, where that is not the last row: then the transcript's last
                line repeats an earlier entry. None: the last row that was added, or what it was before.

        Returns:
            The session as it is stored now.
        """
        ...


class ForgettingPort(Protocol):
    """What a store keeps of what was forgotten, and how it erases. All methods raise subclasses of `StoreError`.

    The marks that were buried hold at once and for good: what they cover (`tombstones.Tombstones`) enters the store
    without its words, and a session that they name does not enter at all.
    """

    @property
    def pending(self) -> bool:
        """Whether something was buried and the erasure that is due after it has not ended."""
        ...

    def marker(self, *, lasting: bool) -> Marker:
        """Makes marks.

        Args:
            lasting: with the store's own key. Else the marks may be good for nothing but a preview.
        """
        ...

    def refuses(self, file: str, header: Header | None = None) -> bool:
        """Whether a session was forgotten as a whole, by its path or by what its header says."""
        ...

    def bury(self, burial: Burial) -> None:
        """Keeps marks from now on, and an erasure is due."""
        ...

    def erase(self, progress: Callable[[int, int], None] | None = None) -> tuple[tuple[Erased, ...], int]:
        """Erases whatever the marks cover, so that no file of the store holds it.

        An erased entry keeps its row, place, id, kind, role and time; it has no text and is never automatic. Readers
        see each session before or after. May be repeated at any time; ends what an interrupted one has left.

        Returns:
            What was erased, in file order, and how many unreadable sessions were removed instead.
        """
        ...

    def verify(self, text: str | None, samples: Sequence[str]) -> Verification:
        """Looks for forgotten words in every file of the store.

        Args:
            text: what must stand nowhere.
            samples: texts of entries that were erased; those that another entry says as well are left out.
        """
        ...


class ManifestPort(Protocol):
    """Keeps records of planned calls, which are opaque to it and hold no text. The latest ones stay, within bounds.

    All methods raise subclasses of `StoreError`.
    """

    def keep(self, session: str, record: str, *, at: float, most: int) -> bool:
        """Adds a record.

        Args:
            session: key of the session that the call was about.
            record: ASCII.
            at: when, in seconds since 1970, UTC.
            most: so many records are kept in all; the bytes of all together are bounded too.

        Returns:
            Whether it was kept: a store that cannot be written keeps none.
        """
        ...

    def latest(self, session: str | None, limit: int) -> tuple[tuple[float, str], ...]:
        """Time and record of the latest ones, newest first, of one session or, with None, of all."""
        ...


class StorePort(Protocol):
    """Holds what is derived from transcripts. Several processes may use one store at the same time.

    All methods raise subclasses of `StoreError`.
    """

    @property
    def writable(self) -> bool:
        """Whether this process may write the store."""
        ...

    @property
    def forgetting(self) -> ForgettingPort:
        """How something is forgotten here."""
        ...

    @property
    def manifests(self) -> ManifestPort:
        """The records of planned calls."""
        ...

    def sessions(self, *, host: str | None = None, cwd: str | None = None) -> tuple[Session, ...]:
        """The known sessions, newest first (`updated` descending, then file)."""
        ...

    def count_withheld(self, tallies: Iterable[Tally]) -> None:
        """Adds to the counts of what the privacy policy withheld. A store that is damaged may lose them."""
        ...

    def withheld(self) -> tuple[Tally, ...]:
        """The counts of what the privacy policy withheld, by reason and class in their order."""
        ...

    def learn_words(self, sessions: Sequence[Session], seconds: float | None = None) -> int:
        """Prepares `may_hold` for sessions that have changed, as far as the time allows; how many it was."""
        ...

    def may_hold(self, sessions: Sequence[Session], alternatives: Alternatives) -> frozenset[str]:
        """The keys of those sessions that may hold a text with one of the alternatives.

        A session is left out only if none of its texts does. Summaries and withheld entries count as texts.
        """
        ...

    def secret(self) -> bytes:
        """32 bytes that belong to this store and stay the same: what refs and cursors are sealed with."""
        ...

    def by_key(self, key: str) -> Session | None:
        """The session with this key, or None. Reads the session's own record, which is never behind."""
        ...

    def by_file(self, file: str) -> Session | None:
        """The session of this absolute path, or None. Reads the session's own record, which is never behind."""
        ...

    def recent(self, file: str) -> Session | None:
        """What this process last saw of the session of this absolute path, without looking; may be behind, or None."""
        ...

    def by_id(self, session_id: str) -> tuple[Session, ...]:
        """The sessions whose header carries this id, in file order."""
        ...

    def vectors(self, key: str) -> VectorPort:
        """The vectors of a session; nothing is made on the disk before the first one is added."""
        ...

    def read(self, key: str) -> AbstractContextManager[Snapshot]:
        """A snapshot of a session; concurrent syncs do not change it."""
        ...

    def write(self, file: str) -> AbstractContextManager[SessionWriter]:
        """A transaction on the session of this absolute path, made if it does not exist.

        Raises:
            SessionForgotten: the session was forgotten; known by its path at once, by its header at the commit.
        """
        ...

    def tend(self, file: str) -> None:
        """Does for the session of this absolute path what would otherwise hold up somebody's next reading or writing.

        For the moments in which nobody waits. What fails stays undone.
        """
        ...

    def remove(self, key: str) -> None:
        """Removes a session and all that was derived from it."""
        ...

    def status(self) -> StoreStatus:
        """Health and size."""
        ...

    def close(self) -> None:
        """Gives back all files. The store cannot be used afterwards."""
        ...


class EmbeddingPort(Protocol):
    """Makes vectors of texts: a local model, or a client of a remote one. Bring your own in any runtime.

    `aforesaid.testing.EmbeddingPortContract` checks an implementation. Whatever a port does wrong (it raises, hangs,
    answers with too few vectors, or with numbers that are none) costs the vectors of that call and nothing else.
    """

    @property
    def profile(self) -> Profile:
        """Which model this is; the same throughout, and exactly what the configuration names."""
        ...

    def embed(self, texts: Cleared[str], purpose: Purpose) -> Sequence[Sequence[float]]:
        """One vector of `profile.dimensions` finite numbers a text, in the order of the texts, none of them all zero.

        The same text gives the same vector, whatever stands beside it. Texts are never empty and may hold anything that
        a `str` can, lone surrogates included. Rows that have the buffer protocol (float32) are taken without copying.

        Args:
            texts: what the privacy policy lets the port's provider see (`texts.values`).
            purpose: whether they are sources, or a request that sources are searched for.
        """
        ...


class ClassifierPort(Protocol):
    """Asks a classifier how salient bundles are: a host's own one over the bridge to it, or one that a program brings.

    This is the only road on which words of a session lead to a classifier. `aforesaid.testing.ClassifierPortContract`
    checks an implementation. Whatever a port does wrong (it raises, hangs, answers something else than it was asked)
    costs the answer of that call and nothing else.
    """

    @property
    def classifier(self) -> Classifier:
        """Which one it asks: the same throughout, and exactly what the configuration names; never a substitute."""
        ...

    def classify(self, batch: Batch, seconds: float, answer: Callable[[object], None]) -> None:
        """Asks once, without retries, and hands what comes to `answer`: at once or later, from any thread, only once.

        Args:
            batch: the questions; nothing else may be sent.
            seconds: after so many nobody waits any more, and what runs should end.
            answer: takes `{"outcome": "answered", "result": {"stopReason", "answers", "usage"}}`, the result as Pi's
                classifiers give it, or `{"outcome": code}` with a code of `classification.OUTCOMES`.
        """
        ...


class VectorPort(Protocol):
    """The vectors of one session, of any number of profiles. All methods raise subclasses of `StoreError`.

    Whatever changes does so at once or not at all. A store that cannot be written, or whose vectors are damaged, has
    none: damaged ones are begun anew by the next change.
    """

    def version(self, profile: Profile) -> bytes:
        """What changes whenever a profile's vectors do; empty while there are none."""
        ...

    def load(self, profile: Profile, *, vectors: bool = True) -> Held:
        """Everything that is held of a profile, or all but the vectors themselves, mostly in row order."""
        ...

    def covered(self, profile: Profile) -> Covered | None:
        """Which rows have been looked at, as `add` and `keep` were told; None for none."""
        ...

    def add(self, profile: Profile, passages: Sequence[Passage], vectors: Sequence[bytes], covered: Covered) -> None:
        """Adds vectors, parallel to passages that come in row order, and says which rows have been looked at."""
        ...

    def keep(self, profile: Profile, passages: Sequence[Passage], covered: Covered) -> int:
        """Leaves of a profile's vectors only those of these passages, told by their hashes, in the places given here.

        Returns how many went. Other profiles stay as they are.
        """
        ...

    def trim(self, profile: Profile, low: int) -> None:
        """Removes a profile's vectors of rows before `low`."""
        ...

    def profiles(self) -> tuple[tuple[Profile, int], ...]:
        """All profiles that have vectors here, with their numbers, by name and dimensions."""
        ...

    def forget(self, rows: Sequence[int]) -> None:
        """Removes the vectors of rows, of all profiles, so that nothing on the disk holds them."""
        ...

    def discard(self) -> None:
        """Removes all vectors of the session, so that nothing on the disk holds them."""
        ...


class SimilarityPort(Protocol):
    """The vector search of one request in one session."""

    @property
    def scale(self) -> Scale:
        """How similarities of the model count."""
        ...

    def find(
        self, request: str, spans: Sequence[Span], beside: Sequence[Span], admits: Callable[[int], bool] | None = None
    ) -> tuple[Similar, ...]:
        """Rows similar to a request, most similar first, from the plain floor of the model on; nothing if that fails.

        The filters hold before any limit.

        Args:
            request: what is asked for.
            spans: rows that may come back: only they count towards the limit.
            beside: rows of the branch that may not, but may raise their neighbours; with a limit of their own.
            admits: whether a row of `spans` may be handed out; None: all may.
        """
        ...

    def report(self, *, admitted: int, stale: int) -> Semantic:
        """What was done since the port was made: counts, identity, timings; never text.

        Args:
            admitted: rows that came up by their vector alone.
            stale: rows whose text is not any more what their vector was made of.
        """
        ...
