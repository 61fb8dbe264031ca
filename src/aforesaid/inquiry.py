"""Floor 1, beside `model`: the values of explicit search, `recall`, and of reading on in the originals, `expand`.

A host, a tool or the command line asks with these, `recall` and `expansion` answer with them, `hosts/wire` writes them.
All are frozen; sequences are tuples.
"""

from __future__ import annotations

from typing import Literal, get_args

from msgspec import Struct

from aforesaid.model import Kind, Role, Tally

Scope = Literal["current-branch", "current-session", "current-lineage", "project", "host-wide"]
Mode = Literal["literal", "phrase", "regex"]
Match = Literal["all", "any"]
RecallStatus = Literal["complete", "partial", "failed"]

SCOPES: tuple[Scope, ...] = get_args(Scope)
MODES: tuple[Mode, ...] = get_args(Mode)
MATCHES: tuple[Match, ...] = get_args(Match)
ROLES: tuple[Role, ...] = get_args(Role)
KINDS: tuple[Kind, ...] = get_args(Kind)

MOST_HITS = 200
"""Hits of one page."""
DERIVED: dict[str, Literal["compaction", "branch_summary"]] = {
    "compaction": "compaction",
    "branch-summary": "branch_summary",
}
"""Kinds of entries that a model wrote about others, with their names in the contract."""
NAMED_KINDS: dict[str, Kind] = {"branch_summary": "branch-summary"}
"""Other names of kinds that whoever filters by them has read in an answer (`Found.derived`)."""


class Filter(Struct, frozen=True, kw_only=True):
    """Which entries are looked at. All conditions must hold; an empty one holds for every entry.

    Attributes:
        roles: one of these.
        kinds: one of these.
        tool: an entry that calls or answers this tool.
        file: an entry whose calls, or those that it answers, name this path, or one that ends with it after a
            separator.
        after: timestamp at or after this one; an entry without a timestamp does not pass.
        before: timestamp before this one.
        summaries: derived entries too; without it there are none of them.
        withheld: entries that the user kept from the model too (a question of the user, never of a model).
    """

    roles: tuple[Role, ...] = ()
    kinds: tuple[Kind, ...] = ()
    tool: str | None = None
    file: str | None = None
    after: str | None = None
    before: str | None = None
    summaries: bool = False
    withheld: bool = True


class Question(Struct, frozen=True, kw_only=True):
    """What is searched for, and where.

    Attributes:
        text: the query; blank: everything is listed, newest first.
        mode: `literal`: each blank-separated term anywhere in the text, case-sensitive; `phrase`: the whole text as it
            is; `regex`: a pattern.
        match: whether all literal terms must stand in an entry, or any.
        scope: where.
        filter: which entries.
    """

    text: str = ""
    mode: Mode = "literal"
    match: Match = "all"
    scope: Scope = "current-branch"
    filter: Filter = Filter()


class Outline(Struct, frozen=True, kw_only=True, gc=False):
    """What of an entry is known without its text; fields as in `StoredEntry`."""

    row: int
    id: str
    kind: Kind
    role: Role
    timestamp: str | None
    tokens: int
    digest: bytes


Standing = tuple[int, Role, int]
"""What the order of entries depends on whatever was asked: the row, its role and its tokens, as in `Outline`."""


class Clue(Struct, frozen=True, kw_only=True):
    """A word that stands in the index form of a text.

    Attributes:
        kind: whether the word is the token, begins with it, ends with it, or holds it.
        token: folded.
    """

    kind: Literal["is", "begins", "ends", "holds"]
    token: str


Alternatives = tuple[tuple[Clue, ...], ...]
"""What may be looked for: one of the inner ones, of each of them every clue. An empty one says nothing."""


class Found(Struct, frozen=True, kw_only=True):
    """One hit of an explicit search.

    Attributes:
        ref: opaque name of the entry for `expand`.
        entry_id, session_id, host, role, timestamp: of the entry.
        branch: whether it stands on the active branch of its session.
        in_context: whether the model still sees its words.
        derived: what made it, if a model did.
        score: as automatic retrieval ranks; 0 where everything is listed. Diagnostic only.
        snippet: a verbatim piece of the text around what matched, or its beginning.
        matched: the terms, the phrase, or what the pattern matched.
        pairs: ids of the other halves: of a call whose arguments match its results, of a result its call. None where
            nothing is looked for, and where a privacy policy is in force.
    """

    ref: str
    entry_id: str
    session_id: str
    host: str
    role: Role
    timestamp: str | None
    branch: Literal["active", "other"]
    in_context: bool
    derived: Literal["compaction", "branch_summary"] | None
    score: float
    snippet: str
    matched: tuple[str, ...]
    pairs: tuple[str, ...] = ()


class Reach(Struct, frozen=True, kw_only=True):
    """What of the scope was searched.

    Attributes:
        complete: whether no entry of the scope can be missing from the pages up to this one, and from those that
            `next` leads to. No hits and `complete` means that there are none.
        indexed_sessions: sessions of the scope that the store can read.
        eligible_sessions: sessions of the scope that are known to exist.
        stale_sessions: those of the indexed ones whose transcript has changed since.
        reasons: stable codes that say why it is not complete.
    """

    complete: bool = True
    indexed_sessions: int = 1
    eligible_sessions: int = 1
    stale_sessions: int = 0
    reasons: tuple[str, ...] = ()


class RecallPage(Struct, frozen=True, kw_only=True):
    """One page of an explicit search: hits best first, where to go on, and what was searched."""

    status: RecallStatus
    hits: tuple[Found, ...]
    next: str | None
    coverage: Reach


class Passage(Struct, frozen=True, kw_only=True):
    """A piece of the original text of one entry.

    Attributes:
        entry_id, session_id, role, timestamp: of the entry.
        text: the lines.
        start_line: 1-based number of the first of them in the entry's text.
        lines: how many.
        complete: whether it is the whole text.
        redacted: replacements in the stored text.
        sha256: of the raw source line.
        verified: whether that line was read again and is what it was; False where an entry has no line,
            or was forgotten.
    """

    entry_id: str
    session_id: str
    role: Role
    timestamp: str | None
    text: str
    start_line: int
    lines: int
    complete: bool
    redacted: int
    sha256: bytes
    verified: bool


class Expansion(Struct, frozen=True, kw_only=True):
    """The originals of some entries, in the order of their branch, and where to go on.

    Attributes:
        entries: the pieces.
        next: cursor of what follows, or None.
        withheld: how many entries between them, before and behind them the privacy policy kept back, and why.
    """

    entries: tuple[Passage, ...]
    next: str | None
    withheld: tuple[Tally, ...] = ()
