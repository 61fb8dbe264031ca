"""Floor 9: a retrieval as a person reads it: what was asked, each hit with its reasons, and what was left out.

`retrieve` calls it. The score orders hits and is shown with its addends, for diagnosis; it says nothing of how likely a
hit is right, and no word here says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from aforesaid.branches import REBUILT, TERMS_DROPPED
from aforesaid.cli.excerpts import excerpt, joined
from aforesaid.cli.sessions import when
from aforesaid.cli.terminal import count, one_line, show
from aforesaid.matching import Probe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aforesaid.answers import Diagnostics, Evidence, Query, Retrieval
    from aforesaid.model import Role

    Span = tuple[int, int]

_LINES = 12
"""Lines of an excerpt that are shown without `-v`."""

_PAIRS: dict[Role | None, tuple[str, str]] = {
    "tool_result": ("the result of the call that matches", ""),
    "tool_call": ("the call of the result that matches", ""),
    "assistant": ("the call of the result that matches", ""),
}
_WORDS = {
    "identifier": ("literal name", "literal names"),
    "phrase": ("quoted phrase", "quoted phrases"),
    "terms": ("topic of the request", "topics of the request"),
    "same-file": ("file that the request names", "files that the request names"),
    "same-symbol": ("symbol that the request names", "symbols that the request names"),
    "same-error": ("error that the request names", "errors that the request names"),
    "semantic": ("of like meaning", ""),
    "pair": ("the other half of a call and its result, of which one matches", ""),
    "user": ("said by the user", ""),
    "assistant": ("said by the assistant", ""),
}


def show_retrieval(found: Retrieval, *, verbose: bool) -> None:
    """Prints a retrieval that did not fail.

    Args:
        found: what the engine returned.
        verbose: show whole excerpts and all counts.
    """
    show(_lines(found, verbose=verbose))


def _lines(found: Retrieval, *, verbose: bool) -> Iterator[Text | str]:
    yield from _asked(found.query)
    for rank, evidence in enumerate(found.hits, 1):
        yield ""
        yield from _hit(rank, evidence, verbose=verbose)
    if not found.query.empty:
        yield ""
    yield Text(_outcome(found), style="bold")
    yield from _remarks(found.diagnostics)
    if verbose:
        counts = found.diagnostics
        yield (
            f"{count(counts.candidate_count, 'candidate')}, {counts.eligible_count:,} eligible, "
            f"{counts.alternate_branch_candidates:,} off the branch; {counts.duration_ms:.1f} ms"
        )


def _asked(query: Query) -> Iterator[Text]:
    names = {
        "names": query.identifiers,
        "phrases": query.phrases,
        "technologies": query.technologies,
        "words": query.keywords,
    }
    for label, items in names.items():
        if items:
            yield Text.assemble((f"asked for {label:12} ", "dim"), ("  ".join(map(one_line, items)), "cyan"))


def _hit(rank: int, evidence: Evidence, *, verbose: bool) -> Iterator[Text]:
    ranked = evidence.ranked
    entry = ranked.candidate.entry
    yield Text.assemble((f"{rank}  {entry.role}", "bold"), f"  {when(entry.timestamp)}  entry {one_line(entry.id)}")
    yield Text(f"   score {sum_in_words(evidence)}", style="dim")
    yield Text(f"   found because: {reason_in_words(ranked.reason, entry.role)}", style="dim")
    matched = ranked.matched
    places = Probe(matched.identifiers, matched.phrases, matched.terms).places(entry.text)
    spans = joined([(start, end) for start, end, _ in places])
    for number, window in enumerate(evidence.windows):
        if number:
            yield Text("   […]", style="dim")
        yield from excerpt(window, spans, None if verbose else max(3, _LINES // len(evidence.windows)))


def sum_in_words(evidence: Evidence) -> str:
    """A score with its addends: `159.25 = 100 identifier + 60 branch − 0.75 tokens`."""
    words = ""
    for part in evidence.ranked.parts:
        sign = ("−" if part.value < 0 else "") if not words else (" − " if part.value < 0 else " + ")
        words += f"{sign}{abs(part.value):g} {part.name}"
    return f"{evidence.ranked.score:.2f} = {words}"


def reason_in_words(reason: str, role: Role | None = None) -> str:
    """The codes of a reason as words; codes that are not known here stay as they are.

    Args:
        reason: codes with counts, joined by `;`.
        role: of the entry, which says whether the other half of a pair is the call or the result; None: neither.
    """
    words: list[str] = []
    for code in reason.split(";"):
        name, _, number = code.partition(":")
        known = _PAIRS.get(role) if name == "pair" and role is not None else None
        known = known or _WORDS.get(name)
        if known is None:
            words.append(code)
        else:
            words.append(count(int(number), *known) if number.isdecimal() else known[0])
    return ", ".join(words)


# --- what came of it ------------------------------------------------------------------------------------------------


def _outcome(found: Retrieval) -> str:
    counts = found.diagnostics
    if found.status == "no-query":
        return "Nothing was searched: the request names no topic (no name, file, quoted phrase or word with meaning)."
    if found.status == "disabled":
        if "privacy-unreadable" in counts.warnings:
            return "Nothing was searched: the privacy settings could not be read; `aforesaid config` says which."
        if "session-forgotten" in counts.warnings:
            return "Nothing was searched: the session was forgotten."
        return "Nothing was searched: retrieval.exact and retrieval.fts are both off."
    if found.hits:
        said = f"{count(len(found.hits), 'hit')}, {counts.selected_tokens:,} of {counts.max_tokens:,} tokens."
    elif counts.eligible_count:
        verb = "matches" if counts.eligible_count == 1 else "match"
        matching = count(counts.eligible_count, "entry", "entries")
        said = f"Nothing shown, though {matching} that the model does not see any more {verb} the request."
    elif counts.silenced_count:
        verb = "shares" if counts.silenced_count == 1 else "share"
        sharing = count(counts.silenced_count, "entry", "entries")
        said = (
            f"Nothing found: {sharing} that the model does not see any more {verb} a word with the request, too little "
            f"to count; `aforesaid recall` with that word, or a narrower request, shows more."
        )
    else:
        said = "Nothing found: no entry that the model does not see any more matches the request."
    if left_out := _left_out(found):
        said += f" Not shown: {', '.join(left_out)}."
    return said


def _why_not_kept(hits: int, counts: Diagnostics) -> str:
    """What kept rows back that match: the limit of hits if it is reached, else the one of tokens."""
    if hits < counts.max_results and counts.allowed_tokens is not None and counts.allowed_tokens < counts.max_tokens:
        spent = f"{counts.allowed_tokens:,} of {counts.max_tokens:,} tokens may be spent"
        return f"kept back by retrieval.sparing ({spent} beside what the model sees)"
    return f"over the limit of {count(counts.max_results, 'hit')} or {counts.max_tokens:,} tokens"


def _left_out(found: Retrieval) -> list[str]:
    counts = found.diagnostics
    words = []
    if counts.in_context_count:
        words.append(f"{counts.in_context_count:,} still in the model's context")
    if counts.duplicate_count:
        words.append(f"{count(counts.duplicate_count, 'duplicate')} of what is shown")
    if counts.planner_excluded_count:
        words.append(f"{counts.planner_excluded_count:,} {_why_not_kept(len(found.hits), counts)}")
    if counts.privacy_excluded_count:
        words.append(f"{counts.privacy_excluded_count:,} withheld by the privacy policy")
    return words


def _remarks(counts: Diagnostics) -> Iterator[Text]:
    if not counts.coverage.complete:
        reasons = ", ".join(counts.coverage.reasons)
        yield Text(f"Not everything could be searched: {one_line(reasons)}.", style="yellow")
    if TERMS_DROPPED in counts.coverage.reasons:
        yield Text("The request is so long that not all that it names was looked for.", style="yellow")
    if REBUILT in counts.coverage.reasons:
        yield Text("What was stored of the session was damaged, and has been derived again.", style="yellow")
    if counts.semantic is not None and counts.semantic.reason is not None:
        yield Text(f"Vectors were not used: {one_line(counts.semantic.reason)}.", style="yellow")
    elif counts.semantic is not None and counts.semantic.coverage == "partial":
        yield Text("Not all entries have vectors yet.", style="yellow")
    for code in counts.warnings:
        if code == "fts-failed":
            yield Text("The full-text search failed; only literal hits are shown.", style="yellow")
        elif code not in counts.coverage.reasons:
            yield Text(f"Warning: {one_line(code)}", style="yellow")
