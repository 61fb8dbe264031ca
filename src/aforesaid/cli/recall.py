"""Floor 9: `aforesaid recall`: explicit search. `follow` writes the commands that go on from what it shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aforesaid.cli.terminal import count, emit
from aforesaid.hosts import session_folders, wire
from aforesaid.inquiry import KINDS, MATCHES, MODES, NAMED_KINDS, ROLES, SCOPES

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable, Iterator

    from rich.text import Text

    from aforesaid.cli.arguments import Options
    from aforesaid.inquiry import Found, RecallPage
    from aforesaid.patterns import Pattern


def add_arguments(parser: ArgumentParser) -> None:
    """The arguments of `recall`."""
    parser.add_argument("query", metavar="QUERY", nargs="?", default="", help="what to search; empty lists everything")
    parser.add_argument("--session", metavar="FILE|ID", help="a transcript, or a session of the store")
    parser.add_argument("--leaf", metavar="ID", help="entry whose branch counts (default: the session's last)")
    parser.add_argument("--scope", choices=SCOPES, default="current-branch", help="where (default: current-branch)")
    parser.add_argument("--role", choices=ROLES, action="append", default=[], help="only this role; repeatable")
    parser.add_argument("--tool", metavar="NAME", help="only calls and results of this tool")
    parser.add_argument("--file", metavar="PATH", help="only calls that name this file, and their results")
    parser.add_argument(
        "--type",
        metavar="T",
        choices=KINDS,
        type=lambda given: NAMED_KINDS.get(given, given),
        help=f"only entries of this type: {', '.join(KINDS)}",
    )
    parser.add_argument("--after", metavar="T", help="only entries at or after this time")
    parser.add_argument("--before", metavar="T", help="only entries before this time")
    parser.add_argument("--mode", choices=MODES, default="literal", help="how to read QUERY (default: literal)")
    parser.add_argument("--match", choices=MATCHES, default="all", help="all literal terms, or any (default: all)")
    parser.add_argument("--summaries", action="store_true", help="search summaries too")
    parser.add_argument("--limit", metavar="N", type=int, help="hits of a page, 1 to 200")
    parser.add_argument("--cursor", metavar="C", help="the next page of the same search")
    parser.add_argument(
        "--provider", metavar="NAME", help="whose model gets the answer, for privacy.* (default: some remote one)"
    )


def run(arguments: Namespace, options: Options) -> int:
    """Searches."""
    with options.open_engine() as engine, options.telling_of_missing_store(engine):
        page = engine.recall(
            arguments.query,
            session=arguments.session,
            leaf=arguments.leaf,
            scope=arguments.scope,
            mode=arguments.mode,
            match=arguments.match,
            roles=arguments.role,
            types=() if arguments.type is None else (arguments.type,),
            tool=arguments.tool,
            file=arguments.file,
            after=arguments.after,
            before=arguments.before,
            summaries=arguments.summaries,
            limit=arguments.limit,
            cursor=arguments.cursor,
            folders=session_folders() if arguments.scope == "host-wide" else (),
            provider=arguments.provider,
        )
    if options.json:
        emit(wire.recall(page))
        return 0
    from aforesaid.cli.terminal import show  # late: brings rich
    from aforesaid.patterns import read_pattern

    pattern = read_pattern(arguments.query, arguments.mode, arguments.match)
    show(_lines(page, pattern, arguments, options), paged=True)
    return 0


def _lines(page: RecallPage, pattern: Pattern | None, arguments: Namespace, options: Options) -> Iterator[Text | str]:
    from rich.text import Text  # late: see `run`

    from aforesaid.cli.follow import next_page

    for rank, hit in enumerate(page.hits, 1):
        yield from _hit(rank, hit, pattern, _way_on(arguments), options)
        yield ""
    yield Text(_outcome(page), style="bold")
    if page.coverage.reasons:
        opening = "Everything was searched; to note" if page.coverage.complete else "Not everything was searched"
        yield Text(f"{opening}: {', '.join(page.coverage.reasons)}.", style="yellow")
    if page.next is not None:
        yield Text.assemble(("more: ", "dim"), next_page(arguments, page.next, options))


def _way_on(arguments: Namespace) -> list[str]:
    """What `expand` is told of a question: who the answer is for, and what to mark.

    That is its terms, or the phrase; nothing of a pattern. Where it was searched stands in the ref.
    """
    provider = [] if arguments.provider is None else [f"--provider={arguments.provider}"]
    if arguments.mode == "regex":
        return provider
    texts = arguments.query.split()[:_MARKED] if arguments.mode == "literal" else [arguments.query]
    return [*provider, *(f"--mark={text}" for text in texts if text.strip())]


def _hit(rank: int, hit: Found, pattern: Pattern | None, way_on: list[str], options: Options) -> Iterator[Text]:
    from rich.text import Text  # late: see `run`

    from aforesaid.answers import Window
    from aforesaid.cli.excerpts import excerpt, joined
    from aforesaid.cli.follow import command
    from aforesaid.cli.sessions import when
    from aforesaid.cli.terminal import one_line

    labels = [label for label, holds in _LABELS.items() if holds(hit)]
    yield Text.assemble(
        (f"{rank}  {hit.role}", "bold"),
        f"  {when(hit.timestamp)}  entry {one_line(hit.entry_id)}",
        ("".join(f"  [{label}]" for label in labels), "magenta"),
    )
    window = Window(start=0, end=len(hit.snippet), text=hit.snippet)
    places = pattern.places(hit.snippet) if pattern is not None else ()
    yield from excerpt(window, joined([(start, end) for start, end, _ in places]), None if options.verbose else _MOST)
    if hit.pairs:
        half = "result" if hit.role in ("tool_call", "assistant") else "call"
        yield Text.assemble(("   ", "dim"), f"{half}: {', '.join(map(one_line, hit.pairs))}")
    yield Text.assemble(("   → ", "dim"), command(["expand", hit.ref, *way_on], options))


_MOST = 6
"""Lines of a snippet that are shown without `-v`."""
_MARKED = 4
"""Terms that the command that opens a hit is told to mark."""
_LABELS: dict[str, Callable[[Found], bool]] = {
    "other branch": lambda hit: hit.branch == "other",
    "still in context": lambda hit: hit.in_context,
    "summary": lambda hit: hit.derived is not None,
}


def _outcome(page: RecallPage) -> str:
    if page.hits:
        return f"{count(len(page.hits), 'hit')}{', and there are more' if page.next else ''}."
    if page.next is not None:
        return "Nothing found so far; the search goes on with the next page."
    if page.coverage.complete:
        return "Nothing found: no entry of this scope matches."
    return "Nothing found in what was searched."
