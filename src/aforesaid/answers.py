"""Floor 1: what stands between a request and the answer to it.

The pipeline turns a request into a `Query`, rows into `Candidate`, those into `Hit`, those into `Evidence`, and hands
back a `Retrieval`. All values are frozen; sequences are tuples. Nothing here does I/O or knows a host, SQL or JSON.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aforesaid.model import Level, Role, Session, Span, StoredEntry, Withheld

Tier = Literal["identifier", "phrase", "other"]
RetrievalStatus = Literal["complete", "no-query", "disabled", "failed"]


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
            tokens in order (`matching.Term`). Guesses are none.
        guessed: those of `identifiers` that may as well be prose: `job.stop`, `/run`, `-name`. They are searched
            literally and no other way, and say nothing where they stand nowhere. Not in the JSON document.
        cut: whether the request holds more that is not looked for, because only so much of a request counts; not in
            the JSON document.
    """

    identifiers: tuple[str, ...] = ()
    phrases: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    technologies: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    terms: tuple[str, ...] = ()
    guessed: tuple[str, ...] = ()
    cut: bool = False

    @property
    def empty(self) -> bool:
        """Whether the request names no topic."""
        return not (self.identifiers or self.phrases or self.terms)

    @property
    def named(self) -> bool:
        """Whether the request names something that is no guess."""
        return bool(self.phrases) or len(self.identifiers) > len(self.guessed)


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

    @property
    def literals(self) -> tuple[str, ...]:
        """Those that stand there as they are spelled."""
        return (*self.identifiers, *self.phrases)


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
        matched: items that were verified in the entry's own text; none where it came as the other half of a call and
            its result (`pair`), or for its vector alone (`semantic`).
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
        codes += ["semantic"] if self.addends and self.addends[_SEMANTIC] else []
        codes += ["pair"] if self.addends and self.addends[_PAIR] else []
        role = self.candidate.entry.role
        codes += [role] if role in ("user", "assistant") else []
        return ";".join([*codes, "working"] if self.working else codes)


PART_NAMES = (
    *("identifier", "phrase", "fts", "extraTerms", "branch", "file", "symbol", "error", "authority", "recency"),
    "tokens",
    *("relevance", "neighbours", "speaker", "semantic", "date", "time", "figure", "names", "pair"),
)
"""Names of the addends of a score, in the order of the ranking table."""
_SEMANTIC, _PAIR = PART_NAMES.index("semantic"), PART_NAMES.index("pair")


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
        """The items of the request that were verified in the entry's own text."""
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
        coverage: whether all entries that should have vectors have them (`complete`), some (`partial`) or none. Of a
            long text only the beginning and the end should (`passages.cut`); its middle is found by words alone.
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
        eligible_count: of those, the ones with a verified match that the model does not see, and the other halves of
            calls and results that were brought for the places that are left.
        duplicate_count: eligible ones left out because an equal text ranks higher.
        in_context_count: found ones left out because the model still sees them, or sees an equal text.
        alternate_branch_candidates: rows off the branch that a generator returned although it must not (defence).
        privacy_excluded_count: ranked ones that the policy withheld.
        planner_excluded_count: ranked ones that did not fit the result or token limit, or what could be spent of it.
        silenced_count: found ones that the model does not see and that hold a single topic of the request, left out
            because that is no more than an accident (`contextual.convinces`); not in the JSON document.
        selected_tokens, max_tokens: estimated tokens of the evidence, and their limit.
        allowed_tokens: how many of `max_tokens` could be spent beside what the model sees (`retrieval.sparing`); None
            where nobody asked. Not in the JSON document.
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
    silenced_count: int = 0
    selected_tokens: int = 0
    max_tokens: int = 0
    allowed_tokens: int | None = None
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
