"""Floor 5: what steers a retrieval. `engine` makes the options out of a configuration."""

from __future__ import annotations

from msgspec import Struct


class RetrievalOptions(Struct, frozen=True, kw_only=True):
    """What steers a retrieval.

    Attributes:
        exact: search identifiers and phrases literally (`retrieval.exact`).
        fts: search terms in the full-text index (`retrieval.fts`).
        contextual: order what holds no name or phrase by its place among relevant neighbours (`retrieval.ranking`).
        admitting: let relevant neighbours bring up rows in which nothing was verified. For measurement only: no
            configuration says so, for it breaks the match rule.
        answering: leave out the rules that keep silence: a request without a topic is asked by its other words, and
            words that stand by accident, or beside a name that stands nowhere, count; the pool of contextual ranking
            is wide. For measurement only, too.
        bare: leave out what contextual ranking knows of speakers, dates, times and authority. For measurement only.
        working: ask beside the request for what the agent is working on (`retrieval.query`).
        sparing: spend less of the tokens the more the model sees (`retrieval.sparing`).
        max_results: at most so many hits (`retrieval.maxResults`, 1 to 100).
        max_tokens: at most so many estimated tokens of evidence (`context.maxRetrievedHistoryTokens`).
        redacting: replace secrets in what is quoted, where the store holds any (`privacy.redactSecrets`).
    """

    exact: bool = True
    fts: bool = True
    contextual: bool = False
    admitting: bool = False
    answering: bool = False
    bare: bool = False
    working: bool = False
    sparing: bool = True
    max_results: int = 12
    max_tokens: int = 16_000
    redacting: bool = True
