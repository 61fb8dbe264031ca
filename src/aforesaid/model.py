"""Floor 1: every value that the floors hand to each other.

Readers of transcripts make `Entry`; stores keep them and hand back `StoredEntry`; the pipeline turns a request into a
`Query`, rows into `Candidate`, those into `Hit`, those into `Evidence`. Nothing here does I/O or knows a host, SQL or
JSON. All values are frozen; sequences are tuples. `docs/decisions/0003-canonical-model.md` checks the shapes of Pi,
Claude Code and Codex against them.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Generic, Literal, TypeVar

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Iterator

Role = Literal["user", "assistant", "tool_call", "tool_result", "shell", "summary", "custom"]
TOOL_ROLES: frozenset[Role] = frozenset({"tool_call", "tool_result", "shell"})
"""Roles of entries that hold what was run or printed, not what was said."""
Kind = Literal["message", "compaction", "branch-summary", "custom", "context-edit", "label", "other", "gap"]
Tier = Literal["identifier", "phrase", "other"]
SyncStatus = Literal["added", "updated", "unchanged", "rebuilt", "failed"]
RetrievalStatus = Literal["complete", "no-query", "disabled", "failed"]
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
            `opaque-summary`.
        id: the entry id that could be saved from the damaged line; its children then stay attached.
        parent: its parent's id, if that could be saved too.
        lost: whether the line's content is lost (else only noted: `missing-header`, `unknown-version`,
            `unknown-parent`, `unknown-view`, `opaque-summary`).
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


# --- retrieval ------------------------------------------------------------------------------------------------------


class Query(Struct, frozen=True, kw_only=True):
    """What a request asks for. All items are verbatim, in order of appearance, without repetition.

    Attributes:
        identifiers: everything that is searched literally as a name: backticked text, files, symbols, flags, errors.
        phrases: quoted phrases, searched literally.
        files: paths and well-known file names (also in `identifiers`).
        symbols: qualified, camelCase, PascalCase and snake_case names (also in `identifiers`).
        errors: error codes and names (also in `identifiers`).
        technologies: names of technologies.
        keywords: other words with meaning.
        terms: what the full-text search asks for, one item a topic: identifiers, phrases, technologies and keywords
            that have at least one searchable token, no two with the same tokens. A match of a term is a match of its
            tokens in order (`matching.Term`).
    """

    identifiers: tuple[str, ...] = ()
    phrases: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    technologies: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    terms: tuple[str, ...] = ()

    @property
    def empty(self) -> bool:
        """Whether the request names no topic."""
        return not (self.identifiers or self.phrases or self.terms)


class TermRow(Struct, frozen=True, kw_only=True, gc=False):
    """A row that the full-text search found: lower `score` (SQLite's sign convention) is better."""

    row: int
    score: float


class Weight(Struct, frozen=True, kw_only=True, gc=False):
    """How much of a query a row holds by itself: bm25, higher is better, above 0; and who speaks there."""

    row: int
    score: float
    role: Role


class Weights(Struct, frozen=True, kw_only=True):
    """The weights of many rows, as buffers, so that whoever has numpy need not touch each.

    Attributes:
        rows: ascending.
        scores: of each.
        roles: of each, a number of `names`.
        names: of the roles.
    """

    rows: array[int]
    scores: array[float]
    roles: bytes
    names: tuple[Role, ...]

    def __len__(self) -> int:
        """How many rows there are."""
        return len(self.rows)

    def __iter__(self) -> Iterator[Weight]:
        """Each row by itself."""
        for row, score, role in zip(self.rows, self.scores, self.roles, strict=True):
            yield Weight(row=row, score=score, role=self.names[role])


NO_WEIGHTS = Weights(rows=array("q"), scores=array("d"), roles=b"", names=("assistant",))


class Relevance(Struct, frozen=True, kw_only=True, gc=False):
    """The relevance of a row in its place: of its words, of its neighbours on the branch, and of its vector."""

    own: float
    neighbours: float
    semantic: float = 0.0


class Candidate(Struct, frozen=True, kw_only=True):
    """An eligible row before ranking.

    Attributes:
        entry: the row with its text.
        position: place of the row on the branch, 0 for the root.
        order: place in the full-text result, 0 for the best; None if the full-text search did not find it.
        relevance: of contextual ranking; None with the documented one, or if no search of the third tier found it.
        semantic: what its vector is worth in documented ranking, 0 for nothing.
        passage: code points of the passage whose vector is most similar to the request; None without one.
        admitted: whether its vector alone is reason enough to bring it back.
    """

    entry: StoredEntry
    position: int
    order: int | None
    relevance: Relevance | None = None
    semantic: float = 0.0
    passage: Span | None = None
    admitted: bool = False


class Matched(Struct, frozen=True, kw_only=True):
    """The query items that were verified in a text, in the query's order."""

    identifiers: tuple[str, ...] = ()
    phrases: tuple[str, ...] = ()
    terms: tuple[str, ...] = ()


class ScorePart(Struct, frozen=True, kw_only=True, gc=False):
    """One named addend of a score, rounded to four decimals."""

    name: str
    value: float


class Ranked(Struct, frozen=True, kw_only=True):
    """A candidate with its place in the order and the reasons for it.

    Attributes:
        candidate: what was ranked.
        tier: literal identifiers precede literal phrases, which precede everything else.
        score: sum of the addends; diagnostic only, no probability and no confidence.
        addends: one for each of `PART_NAMES`, rounded to four decimals.
        matched: verified items.
        same: how many of the matched identifiers are files, symbols and errors.
        working: whether the work around the request asked for it, and not the request.
    """

    candidate: Candidate
    tier: Tier
    score: float
    addends: tuple[float, ...]
    matched: Matched
    same: tuple[int, int, int] = (0, 0, 0)
    working: bool = False

    @property
    def parts(self) -> tuple[ScorePart, ...]:
        """The addends that are not zero, with their names, in the order of the ranking table."""
        return tuple(
            ScorePart(name=name, value=value) for name, value in zip(PART_NAMES, self.addends, strict=True) if value
        )

    @property
    def reason(self) -> str:
        """What counted, as `;`-joined codes with counts; never matched text."""
        files, symbols, errors = self.same
        counts = {
            "identifier": len(self.matched.identifiers),
            "phrase": len(self.matched.phrases),
            "terms": len(self.matched.terms),
            "same-file": files,
            "same-symbol": symbols,
            "same-error": errors,
        }
        codes = [f"{code}:{count}" for code, count in counts.items() if count]
        codes += ["semantic"] if self.addends and self.addends[PART_NAMES.index("semantic")] else []
        role = self.candidate.entry.role
        codes += [role] if role in ("user", "assistant") else []
        return ";".join([*codes, "working"] if self.working else codes)


PART_NAMES = (
    *("identifier", "phrase", "fts", "extraTerms", "branch", "file", "symbol", "error", "authority", "recency"),
    "tokens",
    *("relevance", "neighbours", "speaker", "semantic", "date", "time", "figure", "names"),
)
"""Names of the addends of a score, in the order of the ranking table."""


class Window(Struct, frozen=True, kw_only=True, gc=False):
    """A verbatim piece of an entry's text: code points `start` to `end` (exclusive)."""

    start: int
    end: int
    text: str


class Evidence(Struct, frozen=True, kw_only=True):
    """A ranked entry with its excerpt, framed as quoted data; each member of a hit's document by its name.

    Attributes:
        windows: in source order, without overlap.
        excerpt: their texts joined by a line `[…]`.
        message: the exact text of the message for the model.
        tokens: estimated tokens of `message`.
        classification: what the privacy policy takes the entry for; `normal` where there is no policy.
        session_id: the session that the entry is of.
    """

    ranked: Ranked
    windows: tuple[Window, ...]
    excerpt: str
    message: str
    tokens: int
    classification: Level = "normal"
    session_id: str | None = None

    @property
    def entry_id(self) -> str:
        """Id of the entry."""
        return self.ranked.candidate.entry.id

    @property
    def role(self) -> Role:
        """Who said it."""
        return self.ranked.candidate.entry.role

    @property
    def timestamp(self) -> str | None:
        """When, as the transcript says."""
        return self.ranked.candidate.entry.timestamp

    @property
    def tier(self) -> Tier:
        """What the entry was found by."""
        return self.ranked.tier

    @property
    def score(self) -> float:
        """Sum of `score_parts`; diagnostic only."""
        return self.ranked.score

    @property
    def score_parts(self) -> dict[str, float]:
        """The addends that are not zero, by name."""
        return {part.name: part.value for part in self.ranked.parts}

    @property
    def matched(self) -> Matched:
        """The verified items of the request."""
        return self.ranked.matched

    @property
    def reason(self) -> str:
        """What counted, as codes."""
        return self.ranked.reason

    @property
    def excerpt_start(self) -> int:
        """Code point of the stored text at which the first window begins."""
        return self.windows[0].start

    @property
    def excerpt_end(self) -> int:
        """Code point of the stored text at which the last window ends."""
        return self.windows[-1].end

    @property
    def redacted(self) -> int:
        """How many secrets were replaced in the entry."""
        return self.ranked.candidate.entry.redacted

    @property
    def sha256(self) -> str:
        """Digest of the raw source line, in hexadecimal digits."""
        return self.ranked.candidate.entry.source.sha256.hex()

    @property
    def evidence(self) -> str:
        """The exact text of the message for the model: `message`."""
        return self.message


class Coverage(Struct, frozen=True, kw_only=True):
    """Whether all that should have been searched was searched, and if not, why (codes)."""

    complete: bool = True
    reasons: tuple[str, ...] = ()


class Semantic(Struct, frozen=True, kw_only=True):
    """What the vector search of one retrieval did: counts, identity and timings; never text, vectors or handles.

    Attributes:
        provider, model, dimensions, destination: of the model.
        used: whether its vectors took part.
        reason: why not, a code of `embedding.REASONS`; None if they did.
        candidates: rows that it found from the model's floor on, and may hand out.
        admitted: of the ranked rows those that hold nothing of the request itself.
        stale: rows left out because their text has changed.
        sources: passages that have vectors.
        coverage: whether all entries that should have vectors have them (`complete`), some (`partial`) or none.
        excluded: sources that the privacy policy keeps from a remote model.
        cache: whether the request's vector was in memory (`hit`), had to be made (`miss`), or neither (`none`).
        embedding_ms, loading_ms, search_ms: time spent.
    """

    provider: str
    model: str
    dimensions: int
    destination: Literal["local", "remote"]
    used: bool = False
    reason: str | None = None
    candidates: int = 0
    admitted: int = 0
    stale: int = 0
    sources: int = 0
    coverage: Literal["complete", "partial", "none"] = "none"
    excluded: int = 0
    cache: Literal["hit", "miss", "none"] = "none"
    embedding_ms: float = 0.0
    loading_ms: float = 0.0
    search_ms: float = 0.0


class Diagnostics(Struct, frozen=True, kw_only=True):
    """Counts and timings of one retrieval; never any text.

    Attributes:
        candidate_count: distinct rows that any generator found, visible ones included.
        eligible_count: of those, the ones with a verified match that the model does not see.
        duplicate_count: eligible ones left out because an equal text ranks higher.
        in_context_count: found ones left out because the model still sees them, or sees an equal text.
        alternate_branch_candidates: rows off the branch that a generator returned although it must not (defence).
        privacy_excluded_count: ranked ones that the policy withheld.
        planner_excluded_count: ranked ones that did not fit the result or token limit.
        selected_tokens, max_tokens: estimated tokens of the evidence, and their limit.
        max_results: limit of hits.
        duration_ms: time from request text to framed evidence.
        semantic: what the vector search did; None while `retrieval.semantic` is off.
        coverage: what was searched.
        warnings: stable codes.
    """

    candidate_count: int = 0
    eligible_count: int = 0
    duplicate_count: int = 0
    in_context_count: int = 0
    alternate_branch_candidates: int = 0
    privacy_excluded_count: int = 0
    planner_excluded_count: int = 0
    selected_tokens: int = 0
    max_tokens: int = 0
    max_results: int = 0
    duration_ms: float = 0.0
    semantic: Semantic | None = None
    coverage: Coverage = Coverage()
    warnings: tuple[str, ...] = ()


class Retrieval(Struct, frozen=True, kw_only=True):
    """The answer to one request: evidence best first, and what the privacy policy withheld of it."""

    session: Session | None
    status: RetrievalStatus
    query: Query
    hits: tuple[Evidence, ...]
    diagnostics: Diagnostics
    withheld: tuple[Withheld, ...] = ()


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


class IndexReport(Struct, frozen=True, kw_only=True):
    """What one indexing run did, a report a session in path order."""

    sessions: tuple[SyncReport, ...]
    duration_ms: float = 0.0


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
        damaged: keys of sessions whose data cannot be read.
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
