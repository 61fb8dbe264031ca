"""Floor 2: transcripts and stores: what is read from a host, and where what is derived from it is kept.

`indexing` reads with a `TranscriptPort` and writes with a `SessionWriter`; everyone else asks a `StorePort`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from aforesaid.inquiry import Alternatives
    from aforesaid.model import Checkpoint, Entry, Flaw, Header, Session, Tally
    from aforesaid.ports.snapshots import Snapshot
    from aforesaid.ports.vectors import VectorPort
    from aforesaid.reports import Erased, StoreStatus, Unreadable, Verification
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

    def parts(self, file: str, read: Checkpoint) -> tuple[str, ...]:
        """The names of further sessions that stand in a file (`sidechains`), as far as it was read.

        Args:
            file: its path; of a session that is a part of another's file, its name: it has no parts.
            read: what `Reading.checkpoint` said after the file itself was read.
        """
        ...

    def read(self, source: BinaryIO, file: str, since: Checkpoint | None) -> Reading:
        """Reads from the beginning, or from where `since` ended.

        Args:
            source: the file, opened for reading bytes; it is only ever read.
            file: its path, for the session id where the file names none; or the name of a part of it.
            since: what an earlier `Reading.checkpoint` said; None reads everything.
        """
        ...


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

    def amend(self, session: str, old: str, new: str) -> bool:
        """Puts a record, which is ASCII, in the place of the latest one of a session if that is `old`; its time stays.

        Returns:
            Whether it was, and could be written.
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

    def sessions(self, *, host: str | None = None) -> tuple[Session, ...]:
        """The known sessions, newest first (`updated` descending, then file)."""
        ...

    def unreadable(self) -> tuple[Unreadable, ...]:
        """The sessions that the last `sessions` left out as it could not read them; by key, none that were forgotten.

        One whose damage nobody has come upon yet may be among `sessions` instead; reading it says `StoreCorrupt`.
        """
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

    def count_refs(self, issuer: str, more: int = 0) -> int:
        """How many refs an issuer has given out, before it gives out some more.

        A store that cannot be written counts none.

        Raises:
            StoreError: the count cannot be read.
        """
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

    def write(self, file: str, *, searched: bool = False) -> AbstractContextManager[SessionWriter]:
        """A transaction on the session of this absolute path, made if it does not exist.

        Args:
            file: the transcript.
            searched: whether the session is read right after. If not, a store may put off until then what only readers
                need; what they find is the same.

        Raises:
            SessionForgotten: the session was forgotten; known by its path at once, by its header at the commit.
        """
        ...

    def tend(self, file: str) -> bool:
        """Does for the session of this absolute path what would otherwise hold up somebody's next reading or writing.

        For the moments in which nobody waits. What fails stays undone.

        Returns:
            Whether more can be done: each time takes some milliseconds.
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
