"""Floor 1: sessions, entries and branches, the values that all floors hand to each other.

Readers of transcripts make `Entry`; stores keep them and hand back `StoredEntry`; `answers` holds what a request turns
into, `reports` what indexing and forgetting tell. Nothing here does I/O or knows a host, SQL or JSON. All values are
frozen; sequences are tuples. `docs/decisions/0003-canonical-model.md` checks the shapes of Pi,
Claude Code and Codex against them.
"""

# Annotations are not postponed: msgspec would compile each text of them anew at every start of a command.

from typing import Generic, Literal, TypeVar

from msgspec import Struct

Role = Literal["user", "assistant", "tool_call", "tool_result", "shell", "summary", "custom"]
TOOL_ROLES: frozenset[Role] = frozenset({"tool_call", "tool_result", "shell"})
"""Roles of entries that hold what was run or printed, not what was said."""
Kind = Literal["message", "compaction", "branch-summary", "custom", "context-edit", "label", "other", "gap"]
Level = Literal["normal", "internal", "sensitive", "local-only"]
LEVELS: tuple[Level, ...] = ("normal", "internal", "sensitive", "local-only")
"""How confidential a text may be, the least first."""

Span = tuple[int, int]
"""First and last row of a stretch of rows, both inclusive."""


# --- sessions and entries -------------------------------------------------------------------------------------------


class Source(Struct, frozen=True, kw_only=True, gc=False):
    """Where an entry's raw line stands in its transcript.

    Attributes:
        line: 1-based number of the line.
        offset: bytes before the line.
        length: bytes of the line without its line end.
        sha256: digest of those bytes (32 bytes).
        file: absolute path of the file that they stand in, where that is not the session's own (the history of some
            forks stays in the file that they were forked from).
    """

    line: int
    offset: int
    length: int
    sha256: bytes
    file: str | None = None


NO_DIGEST = bytes(32)
"""Stands for the digest of a line where an entry has none: a gap, or an entry that was forgotten."""


class Compaction(Struct, frozen=True, kw_only=True):
    """What a compaction left in the model's view of what stood before it on the branch.

    Attributes:
        kept_from: id of the first entry that stays visible, with all that follow it on the branch; None or an id that
            is not on the branch before the compaction: no such stretch.
        kept: ids of single entries that stay visible as well (hosts that keep a list instead of a stretch).
    """

    kept_from: str | None = None
    kept: tuple[str, ...] = ()


class Edit(Struct, frozen=True, kw_only=True):
    """A host's change to what the model sees of an earlier entry; the entry's own words leave the view.

    Attributes:
        target: id of the edited entry.
        replaced: whether other content stands in its place (else it was left out).
        others: ids of further entries that the same change was made to.
    """

    target: str
    replaced: bool
    others: tuple[str, ...] = ()

    @property
    def targets(self) -> tuple[str, ...]:
        """The ids of all entries that were edited."""
        return (self.target, *self.others)


class Entry(Struct, frozen=True, kw_only=True):
    """One canonical record of a session, as a reader makes it from one line of a transcript.

    Attributes:
        id: the host's own id, or `L<n>` with the 1-based line number where the host gives none.
        parent: id of the entry before it on its branch; None for a root. May name an id that is not in the file.
        kind: what the record is.
        role: who speaks, in the words of the contract; records without a speaker are `custom`.
        timestamp: UTC, ISO 8601 with milliseconds and `Z`; None where the host wrote none or an unreadable one.
        parts: the searchable text parts in source order (no thinking, images, base64, system prompts or opaque state).
        source: where the line stands.
        tools: names of the tools that the entry calls or answers.
        calls: ids of those calls, parallel to `tools`.
        files: paths named in the arguments of the calls.
        automatic: whether the entry may come back without being asked for (not: summaries, what a user kept from the
            model, our own evidence).
        request: whether this is a real message of the user that opens a request.
        label: a name that the host gave; kept as metadata, never searched. Session names are labels of kind `label`
            with `target` None.
        target: id of the entry that `label` names.
        compaction: set on compactions.
        edit: set on context edits.
        fallback: id of the entry to hang on where `parent` is not in the session; None leaves it to indexing.
        redacted: replacements that were made in `parts` on the way to the store.
    """

    id: str
    parent: str | None
    kind: Kind
    role: Role
    timestamp: str | None
    parts: tuple[str, ...]
    source: Source
    tools: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    automatic: bool = True
    request: bool = False
    label: str | None = None
    target: str | None = None
    compaction: Compaction | None = None
    edit: Edit | None = None
    fallback: str | None = None
    redacted: int = 0

    @property
    def text(self) -> str:
        """The searchable text: the parts joined by newlines. Offsets of hits count its code points."""
        return "\n".join(self.parts)


class Flaw(Struct, frozen=True, kw_only=True):
    """A line that could not be used, or not in full.

    Attributes:
        line: 1-based number of the line.
        byte: offset of the line in the file.
        reason: stable code: `invalid-json`, `invalid-utf8`, `not-an-object`, `too-long`, `truncated-tail`,
            `missing-header`, `unknown-version`, `duplicate-id`, `unknown-parent`, `origin-missing`, `unknown-view`,
            `opaque-summary`, `unknown-origin`, `unknown-turns`.
        id: the entry id that could be saved from the damaged line; its children then stay attached.
        parent: its parent's id, if that could be saved too.
        lost: whether the line's content is lost (else only noted: `missing-header`, `unknown-version`,
            `unknown-parent`, `unknown-view`, `opaque-summary`, `unknown-origin`, `unknown-turns`).
    """

    line: int
    byte: int
    reason: str
    id: str | None = None
    parent: str | None = None
    lost: bool = True


class Header(Struct, frozen=True, kw_only=True):
    """What a transcript says of itself.

    Attributes:
        host: `pi`, `claude-code` or `codex`.
        session_id: the id in the file's header; the file's stem where there is none.
        version: the host's format version; 0 where unknown.
        cwd: folder that the session worked in.
        started: timestamp of the header (as `Entry.timestamp`).
        parent: session (path or id, as the host wrote it) that this one comes from.
        relation: how it comes from there: copied and continued, or begun as the work of a subagent.
    """

    host: str
    session_id: str
    version: int = 0
    cwd: str | None = None
    started: str | None = None
    parent: str | None = None
    relation: Literal["fork", "subagent"] = "fork"


class Checkpoint(Struct, frozen=True, kw_only=True):
    """How far a transcript was read, and how to tell that what was read is still what stands there.

    Attributes:
        offset: bytes consumed (complete lines, or a complete last object without its newline).
        line: number of lines consumed.
        head: digest of the first bytes of the file (at most 4,096, never beyond `offset`).
        tail: digest of the last bytes before `offset` (at most 4,096).
        crc: CRC-32 of all bytes before `offset`; -1 where it is not known.
        size: size of the file when it was read.
        mtime_ns: its modification time then.
        inode: its inode number; 0 where the system has none.
        parser: version of the reader that made the entries.
        state: the reader's own state, opaque to everyone else (JSON text).
        leaf: id of the entry that the session ends with, where that need not be the last one in the file (hosts that
            write subagents and side results between); None: the last one.
        redaction: version of the rules by which secrets were replaced in what is stored; 0 where none were.
    """

    offset: int = 0
    line: int = 0
    head: bytes = b""
    tail: bytes = b""
    crc: int = -1
    size: int = 0
    mtime_ns: int = 0
    inode: int = 0
    parser: int = 0
    state: str = ""
    leaf: str | None = None
    redaction: int = 0


class Session(Struct, frozen=True, kw_only=True):
    """One session as the store knows it.

    Attributes:
        key: the store's own name of the session, opaque.
        file: absolute path of its transcript.
        header: what the transcript says of itself.
        name: latest session name that the host recorded, or None.
        entries: number of rows.
        requests: number of real user messages.
        updated: timestamp of the newest entry, or None.
        shared: rows that are verified copies (same id, and same line or text) of rows of the session it was forked
            from.
        flaws: what was wrong with lines that were read so far (at most 1,000 are kept).
        flaw_count: how many there were in all.
        checkpoint: how far it was read.
        generation: grows with every sync that changed something.
        family: a name that it shares with sessions that begin with the same entry, as forks and clones do; empty in
            sessions without entries, and in those that were stored before there were families.
    """

    key: str
    file: str
    header: Header
    name: str | None = None
    entries: int = 0
    requests: int = 0
    updated: str | None = None
    shared: int = 0
    flaws: tuple[Flaw, ...] = ()
    flaw_count: int = 0
    checkpoint: Checkpoint = Checkpoint()
    generation: int = 0
    family: str = ""


class StoredEntry(Struct, frozen=True, kw_only=True):
    """One entry as a store hands it back.

    Attributes:
        row: number of the entry in its session; grows in file order. Meaningless outside its session.
        digest: digest of the normalised text; equal texts have equal digests.
        tokens: estimated tokens of the text.
        text: the searchable text.
        parts: lengths in code points of the parts of the text, which are joined by one newline each.
        redacted: replacements that were made in the text before it was stored.
        The rest is as in `Entry`.
    """

    row: int
    id: str
    kind: Kind
    role: Role
    timestamp: str | None
    text: str
    parts: tuple[int, ...]
    source: Source
    digest: bytes
    tokens: int
    tools: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    automatic: bool = True
    request: bool = False
    redacted: int = 0
    label: str | None = None
    target: str | None = None

    @property
    def forgotten(self) -> bool:
        """Whether its words were forgotten on purpose: nothing is left but its place, its role and its time."""
        return self.source.sha256 == NO_DIGEST and self.kind != "gap"


# --- lineage --------------------------------------------------------------------------------------------------------


class Run(Struct, frozen=True, kw_only=True, gc=False):
    """A longest stretch of rows in which each row's parent is the row before it.

    Attributes:
        first: first row.
        last: last row.
        parent: row that `first` hangs on, or None for a root.
    """

    first: int
    last: int
    parent: int | None


class Mark(Struct, frozen=True, kw_only=True):
    """A row that changes what the model sees: exactly one of `compaction` and `edit` is set."""

    row: int
    compaction: Compaction | None = None
    edit: Edit | None = None


class Tree(Struct, frozen=True, kw_only=True):
    """The shape of one session: its runs in row order, its marks in row order, and the row of its last entry."""

    runs: tuple[Run, ...]
    marks: tuple[Mark, ...]
    tail: int | None


class Branch(Struct, frozen=True, kw_only=True):
    """The ancestors of a leaf and the part of them that the model still sees.

    Attributes:
        leaf: row of the leaf, or None in an empty session.
        spans: the rows of the branch, root first; neighbouring spans are merged where the rows follow each other.
        context: the rows of the branch that the model still sees, as spans in ascending row order.
        eligible: the rows of the branch that it does not see any more, as spans in branch order.
    """

    leaf: int | None
    spans: tuple[Span, ...]
    context: tuple[Span, ...]
    eligible: tuple[Span, ...]


class Projection(Struct, frozen=True, kw_only=True):
    """What a host makes the model's context of.

    Attributes:
        spans: the rows of a branch that it shows, in branch order, those with a context edit included.
        compaction: row of the compaction that counts, or None.
        edits: rows that are shown otherwise than they were said, ascending, each with the row of its latest edit.
    """

    spans: tuple[Span, ...]
    compaction: int | None = None
    edits: tuple[tuple[int, int], ...] = ()


# --- privacy --------------------------------------------------------------------------------------------------------

Value = TypeVar("Value")
SEAL = object()
"""What `privacy` makes `Cleared` with. No other module names it; a test looks."""


class Cleared(Struct, Generic[Value], frozen=True, kw_only=True):
    """What the privacy policy lets one provider see. Whatever leads to a model takes this and nothing else.

    Attributes:
        values: what was cleared, in the order in which it was judged.
        provider: for whom; empty for one that nobody named, which counts as remote.
        seal: proof that `privacy` made this.

    Raises:
        TypeError: somebody else tried.
    """

    values: tuple[Value, ...]
    provider: str
    seal: object

    def __post_init__(self) -> None:
        if self.seal is not SEAL:
            raise TypeError("only the privacy policy clears text for a provider")


class Withheld(Struct, frozen=True, kw_only=True):
    """All that remains of an entry that the policy withheld: which it was, its class, and why. Never its text.

    Attributes:
        entry_id: the source.
        classification: the highest level of what stands in it.
        reason: stable code (`privacy.judge.REASONS`).
    """

    entry_id: str
    classification: Level
    reason: str


class Tally(Struct, frozen=True, kw_only=True):
    """How often something of a class was withheld for a reason; fields as in `Withheld`."""

    reason: str
    classification: Level
    count: int
