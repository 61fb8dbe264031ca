"""Floor 0: the error tree. Every layer raises from it; the command line and the wire turn it into one line.

    AforesaidError
    ├── UsageError                      wrong argument: exit status 2
    │   ├── PathMissing                 path-missing
    │   ├── NoSessions                  no-sessions
    │   ├── NotATranscript              not-a-transcript
    │   ├── SessionNotFound             session-not-found
    │   ├── SessionAmbiguous            session-ambiguous
    │   ├── LeafUnknown                 leaf-unknown
    │   ├── EntryUnknown                entry-unknown
    │   ├── RefInvalid                  ref-invalid
    │   ├── StaleCursor                 stale-cursor
    │   ├── ScopeNotAllowed             scope-not-allowed
    │   ├── ToolsDisabled               tools-disabled
    │   ├── ConfigUnreadable            config-unreadable
    │   ├── ConfigInvalid               config-invalid
    │   └── BadArgument                 bad-argument
    └── OperationError                  the operation failed: exit status 1
        ├── SourceUnreadable            source-unreadable
        ├── SourceMissing               source-missing
        ├── StaleSource                 stale-source
        ├── PrivacyUnreadable           privacy-unreadable
        ├── PrivacyWithheld             privacy-withheld
        ├── ExactSearchFailed           exact-search-failed
        ├── TextSearchFailed            fts-failed
        ├── GateMissed                  gate-missed
        ├── PrivacyFailed               privacy-failed
        ├── SessionForgotten            session-forgotten
        ├── ForgetIncomplete            forget-incomplete
        ├── Unexpected                  internal
        └── StoreError                  store-failed
            ├── StoreReadOnly           store-read-only
            ├── StoreForeign            store-foreign
            ├── StoreFull               store-full
            ├── StoreBusy               store-busy
            ├── StoreCorrupt            store-corrupt
            └── StoreTooNew             store-too-new

`docs/errors.md` lists each code with a remedy; a test keeps both lists equal.
"""

from __future__ import annotations

from typing import ClassVar


class AforesaidError(Exception):
    """Anything that aforesaid tells its caller instead of doing what was asked.

    Attributes:
        code: stable name for machines, unique in the tree.
        exit_status: what a command ends with.
        message: what happened, one line.
        hint: what to do about it, one line.
    """

    code: ClassVar[str] = "failed"
    exit_status: ClassVar[int] = 1

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}; {self.hint}"


class UsageError(AforesaidError):
    """A wrong argument: nothing was tried."""

    code = "usage"
    exit_status = 2


class PathMissing(UsageError):
    """A path that was named does not exist."""

    code = "path-missing"


class NoSessions(UsageError):
    """A folder holds no transcript of a known host."""

    code = "no-sessions"


class NotATranscript(UsageError):
    """A file is no transcript of a known host."""

    code = "not-a-transcript"


class SessionNotFound(UsageError):
    """Neither a file nor a session id of the store."""

    code = "session-not-found"


class SessionAmbiguous(UsageError):
    """More than one session of the store carries this id."""

    code = "session-ambiguous"


class LeafUnknown(UsageError):
    """The session has no entry with the id that was given as its leaf."""

    code = "leaf-unknown"


class EntryUnknown(UsageError):
    """The session has no entry with an id that was given."""

    code = "entry-unknown"


class RefInvalid(UsageError):
    """A ref or cursor that this store did not give out to this caller, or that is too old."""

    code = "ref-invalid"


class StaleCursor(UsageError):
    """What a cursor leads through has changed, so that the rest of the pages would miss or repeat entries."""

    code = "stale-cursor"


class ScopeNotAllowed(UsageError):
    """The configuration does not allow this scope to this caller."""

    code = "scope-not-allowed"


class ToolsDisabled(UsageError):
    """A model called a history tool that its user has switched off."""

    code = "tools-disabled"


class ConfigUnreadable(UsageError):
    """The configuration file that was named cannot be read."""

    code = "config-unreadable"


class ConfigInvalid(UsageError):
    """A key or value that was given on the command line is not allowed."""

    code = "config-invalid"


class BadArgument(UsageError):
    """An argument that is out of range or does not fit another one."""

    code = "bad-argument"


class OperationError(AforesaidError):
    """The operation was tried and failed."""

    code = "operation-failed"


class SourceUnreadable(OperationError):
    """The system refuses to open or read a transcript."""

    code = "source-unreadable"


class SourceMissing(OperationError):
    """The transcript that an original should be read from is gone."""

    code = "source-missing"


class StaleSource(OperationError):
    """The line that an original should be read from is not what it was when it was indexed."""

    code = "stale-source"


class PrivacyUnreadable(OperationError):
    """A privacy policy is, or may be, asked for that cannot be read, so nothing is handed out."""

    code = "privacy-unreadable"


class PrivacyWithheld(OperationError):
    """The privacy policy withholds an entry that was asked for."""

    code = "privacy-withheld"


class ExactSearchFailed(OperationError):
    """The literal search failed: the retrieval ends without hits (spec 1)."""

    code = "exact-search-failed"


class TextSearchFailed(OperationError):
    """The full-text search failed: exact hits stay, with a warning (spec 1)."""

    code = "fts-failed"


class GateMissed(OperationError):
    """A benchmark or evaluation ran and missed one of its bounds."""

    code = "gate-missed"


class PrivacyFailed(OperationError):
    """The privacy policy could not be applied, so no text was handed out."""

    code = "privacy-failed"


class SessionForgotten(OperationError):
    """The session was forgotten on purpose: it is neither kept nor searched."""

    code = "session-forgotten"


class ForgetIncomplete(OperationError):
    """Something was forgotten, and a check found its words in the store nevertheless."""

    code = "forget-incomplete"


class Unexpected(OperationError):
    """A bug met one session: nobody expected what was raised while its transcript was brought into the store."""

    code = "internal"


class StoreError(OperationError):
    """The store failed in a way that has no better name."""

    code = "store-failed"


class StoreReadOnly(StoreError):
    """The store can be read but not written."""

    code = "store-read-only"


class StoreForeign(StoreError):
    """The store, or a file of it, belongs to another user of the system."""

    code = "store-foreign"


class StoreFull(StoreError):
    """The disk, or the store's configured limit, is full."""

    code = "store-full"


class StoreBusy(StoreError):
    """Another process held the store for longer than `storage.busyTimeoutMs`."""

    code = "store-busy"


class StoreCorrupt(StoreError):
    """A file of the store is damaged and could not be rebuilt from its transcript."""

    code = "store-corrupt"


class StoreTooNew(StoreError):
    """The store was written by a newer aforesaid."""

    code = "store-too-new"


def locate(error: BaseException) -> str:
    """What an unexpected error is and where it was raised; never its own words, which may quote a text."""
    place, trace = "", error.__traceback__
    while trace is not None:
        frame = trace.tb_frame
        place = f" in {frame.f_globals.get('__name__', '?')}.{frame.f_code.co_name}, line {trace.tb_lineno}"
        trace = trace.tb_next
    return type(error).__name__ + place
