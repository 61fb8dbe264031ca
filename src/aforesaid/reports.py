"""Floor 1: what indexing, forgetting and a look at the store report. Values only: made there, shown by hosts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from msgspec import Struct

if TYPE_CHECKING:
    from aforesaid.model import Flaw, Session

SyncStatus = Literal["added", "updated", "unchanged", "rebuilt", "failed"]


# --- indexing -------------------------------------------------------------------------------------------------------


class SyncReport(Struct, frozen=True, kw_only=True):
    """What one sync did to one session.

    Attributes:
        file: the transcript.
        status: what happened.
        session: the session afterwards; None if it failed before it was known.
        added, removed: rows.
        flaws: lines of this sync that could not be used, or not in full.
        host: whose file it was taken for, if it failed before its session was known.
        error_code, error: set when `status` is `failed`, when it is `rebuilt` because the stored data were damaged, and
            when it is `unchanged` because the session was forgotten.
    """

    file: str
    status: SyncStatus
    session: Session | None = None
    added: int = 0
    removed: int = 0
    flaws: tuple[Flaw, ...] = ()
    host: str | None = None
    error_code: str | None = None
    error: str | None = None

    @property
    def known_flaws(self) -> tuple[Flaw, ...]:
        """The flaws of the session whenever they were found, as far as the store keeps them, and all of this sync."""
        kept = self.session.flaws if self.session is not None else ()
        return tuple(dict.fromkeys((*kept, *self.flaws)))


class IndexReport(Struct, frozen=True, kw_only=True):
    """What one indexing run did.

    Attributes:
        sessions: a report a session, in path order.
        duration_ms: milliseconds.
        vectors_missing: why vectors that are wanted were not made (reasons as in `answers.Semantic`), if so.
    """

    sessions: tuple[SyncReport, ...]
    duration_ms: float = 0.0
    vectors_missing: str | None = None


class VectorCount(Struct, frozen=True, kw_only=True):
    """How many vectors of one model a store holds, and of how many sessions; the rest as in `Semantic`."""

    provider: str
    model: str
    dimensions: int
    destination: Literal["local", "remote"]
    sessions: int
    vectors: int


class StoreStatus(Struct, frozen=True, kw_only=True):
    """Health of a store.

    Attributes:
        location: where it is.
        writable: whether this process may write it.
        schema: version of its tables.
        projection: version of what is derived from the entries (tokens, estimates, digests).
        sessions, entries: how many.
        bytes: space that it takes.
        damaged: keys of sessions whose data cannot be read, or are gone.
        erasing: whether something is forgotten but was not erased everywhere, because that was interrupted.
        vectors: by model.
    """

    location: str
    writable: bool
    schema: int
    projection: int
    sessions: int
    entries: int
    bytes: int
    damaged: tuple[str, ...] = ()
    erasing: bool = False
    vectors: tuple[VectorCount, ...] = ()


class Unreadable(Struct, frozen=True, kw_only=True):
    """A session that a store held and cannot read: its file is damaged, empty or gone.

    Attributes:
        key: the session.
        session: what the store's list says of it; None where that is lost as well.
    """

    key: str
    session: Session | None = None


# --- forgetting -----------------------------------------------------------------------------------------------------


class Erased(Struct, frozen=True, kw_only=True):
    """What was erased of one session, or would be.

    Attributes:
        file: path of its transcript; empty where the damaged file of the store did not say.
        session_id: its id; None where it is not known.
        whole: whether all of the session goes.
        entries: entries that lose their words.
    """

    file: str
    session_id: str | None
    whole: bool
    entries: int


class Leftover(Struct, frozen=True, kw_only=True):
    """A place where forgotten words were found; never the words.

    Attributes:
        file: path within the store.
        where: `bytes`, `index`, `entry`, or the table and column.
        count: how often.
    """

    file: str
    where: str
    count: int


class Verification(Struct, frozen=True, kw_only=True):
    """What was checked, and what was found.

    Attributes:
        files, bytes: read in full.
        databases: of those, how many are databases whose tables were read as well.
        values: values of tables that were unpacked and searched.
        terms: terms of full-text indexes that were compared with the texts that are left.
        texts: forgotten texts that were searched for in the bytes, as they are and as the store packs them.
        free_pages: pages of databases that hold nothing but what may stand in them from before.
        leftovers: where something was found.
    """

    files: int
    bytes: int
    databases: int
    values: int
    terms: int
    texts: int
    free_pages: int
    leftovers: tuple[Leftover, ...] = ()


class ForgetReport(Struct, frozen=True, kw_only=True):
    """What was forgotten, or would be.

    Attributes:
        dry_run: whether nothing was changed.
        resumed: whether an erasure that was interrupted before has been finished as well.
        sessions: what was erased, copies in other sessions included, in file order.
        discarded: damaged files of the store that could not be read and so were removed; they are derived again.
        verification: what a check afterwards found; None where none was asked for.
    """

    dry_run: bool
    resumed: bool
    sessions: tuple[Erased, ...]
    discarded: int = 0
    verification: Verification | None = None
