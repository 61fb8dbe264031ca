"""Floor 9: `aforesaid view`: the extractive history view of one request, without any classifier."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aforesaid.cli.retrieve import read_query
from aforesaid.cli.terminal import count, emit, fail, one_line, show
from aforesaid.hosts import wire

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterator

    from aforesaid.cli.arguments import Options
    from aforesaid.extractive.values import Candidate, HistoryView

_EMPTY = {
    "no-query": "The request names no topic, so there is no view.",
    "nothing-lost": "The model still sees everything that was said on this branch.",
    "nothing-relevant": "Nothing that was lost has to do with the request.",
    "private": "The privacy policy withholds what has to do with the request.",
    "too-small": "No view fits into memory.extractive.maxViewBytes.",
}
_SHOWN = 400
"""Characters of a quote that are shown without `-v`."""


def add_arguments(parser: ArgumentParser) -> None:
    """The arguments of `view`."""
    parser.add_argument("--session", metavar="FILE|ID", required=True, help="a transcript, or a session of the store")
    parser.add_argument("--leaf", metavar="ID", help="entry whose branch counts (default: the session's last)")
    parser.add_argument(
        "--query", metavar="TEXT|-", help="the request, or - to read it (default: the branch's latest user message)"
    )
    parser.add_argument("--explain", action="store_true", help="what became of each bundle that was compared, and why")
    parser.add_argument(
        "--provider", metavar="NAME", help="whose model gets the view, for privacy.* (default: some remote one)"
    )


def run(arguments: Namespace, options: Options) -> int:
    """Makes the view; exit status 1 if the operation failed."""
    query = read_query(arguments.query)
    with options.open_engine() as engine:
        made = engine.view(session=arguments.session, leaf=arguments.leaf, query=query, provider=arguments.provider)
    failed = made.diagnostics.status == "failed"
    if options.json:
        emit(wire.view(made, explain=arguments.explain))
    elif failed:
        for code in made.diagnostics.warnings or ("operation-failed",):
            fail(code, "no view was made; `aforesaid status` tells more")
    else:
        show(_lines(made, explain=arguments.explain, most=None if options.verbose else _SHOWN), paged=options.verbose)
    return int(failed)


def _lines(made: HistoryView, *, explain: bool, most: int | None) -> Iterator[str]:
    counts, view = made.diagnostics, wire.view(made)["view"]
    if view:
        yield (
            f"{count(counts.selected, 'bundle')} of {counts.total:,}, "
            f"{count(len(made.entry_ids), 'entry', 'entries')}, {made.bytes:,} bytes, {counts.selection}"
        )
        for source in view["evidence"]:
            yield from _source(source, most)
        if not view["evidence"]:
            yield "What has to do with the request does not fit; the view only says how to find it."
    else:
        yield _EMPTY.get(counts.reason, f"There is no view: {counts.reason}.")
    if not counts.coverage.complete:
        yield f"not everything could be looked at: {', '.join(counts.coverage.reasons)}"
    elif counts.coverage.reasons:
        yield f"everything was looked at; to note: {', '.join(counts.coverage.reasons)}"
    if explain:
        yield ""
        for candidate in made.candidates:
            yield _candidate(candidate)


def _source(source: dict[str, Any], most: int | None) -> Iterator[str]:
    yield ""
    yield f"{one_line(source['entryId'])}  {source['role']}"
    for part in source["quotes"]:
        shown = part if most is None or len(part) <= most else f"{part[:most]}…"
        yield from (f"  {one_line(line)}" for line in shown.split("\n"))


def _candidate(candidate: Candidate) -> str:
    ids = f"{candidate.own[0].entry.id}..{candidate.own[-1].entry.id}" if candidate.own else "-"
    parts = " ".join(f"{part.name} {part.value:+.2f}" for part in candidate.score_parts)
    return f"  {candidate.score:7.2f}  {candidate.fate:10}  {one_line(ids)}  {parts}"
