"""Floor 9: `aforesaid expand`: the original text of entries, with what stands around them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aforesaid.cli.terminal import emit
from aforesaid.expansion import read_range
from aforesaid.hosts import wire

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterator

    from rich.text import Text

    from aforesaid.cli.arguments import Options
    from aforesaid.inquiry import Expansion


def add_arguments(parser: ArgumentParser) -> None:
    """The arguments of `expand`."""
    parser.add_argument("ref", metavar="REF", nargs="?", help="the ref of a hit of `recall`")
    parser.add_argument("--session", metavar="FILE|ID", help="instead of a ref: a session of the store, with")
    parser.add_argument("--entry", metavar="ID", nargs="+", action="extend", default=[], help="ids of entries, or")
    parser.add_argument("--range", metavar="FIRST..LAST", help="the entries from one to another on a branch")
    parser.add_argument("--leaf", metavar="ID", help="entry whose branch counts (default: the session's last)")
    parser.add_argument("--before", metavar="N", type=int, default=0, help="entries before each, 0 to 50")
    parser.add_argument("--after", metavar="N", type=int, default=0, help="entries after each, 0 to 50")
    parser.add_argument("--start-line", metavar="N", type=int, default=1, help="first line of the entry (default 1)")
    parser.add_argument("--max-lines", metavar="N", type=int, help="lines in all (default 200)")
    parser.add_argument("--cursor", metavar="C", help="the rest of the same answer")
    parser.add_argument("--mark", metavar="TEXT", action="append", default=[], help="mark this text; repeatable")
    parser.add_argument(
        "--provider", metavar="NAME", help="whose model gets the answer, for privacy.* (default: some remote one)"
    )


def run(arguments: Namespace, options: Options) -> int:
    """Shows originals."""
    first, last = (None, None) if arguments.range is None else read_range(arguments.range)
    with options.open_engine() as engine, options.telling_of_missing_store(engine):
        answer = engine.expand(
            arguments.ref,
            session=arguments.session,
            entries=arguments.entry,
            first=first,
            last=last,
            leaf=arguments.leaf,
            before=arguments.before,
            after=arguments.after,
            start_line=arguments.start_line,
            max_lines=arguments.max_lines,
            cursor=arguments.cursor,
            provider=arguments.provider,
        )
    if options.json:
        emit(wire.expand(answer))
        return 0
    from aforesaid.cli.terminal import show  # late: brings rich

    show(_lines(answer, arguments, options), paged=True)
    return 0


def _lines(answer: Expansion, arguments: Namespace, options: Options) -> Iterator[Text | str]:
    from rich.text import Text  # late: see `run`

    from aforesaid.answers import Window
    from aforesaid.cli.excerpts import excerpt, joined
    from aforesaid.cli.follow import next_page
    from aforesaid.cli.sessions import when
    from aforesaid.cli.terminal import count, one_line
    from aforesaid.patterns import read_pattern

    marks = [pattern for text in arguments.mark if (pattern := read_pattern(text, "phrase", "all")) is not None]
    for passage in answer.entries:
        end = passage.start_line + passage.lines - 1
        part = "" if passage.complete else f", lines {passage.start_line:,} to {end:,}"
        yield Text.assemble(
            (passage.role, "bold"), f"  {when(passage.timestamp)}  entry {one_line(passage.entry_id)}{part}"
        )
        checked = "the line in the transcript is unchanged" if passage.verified else "there is no line to compare with"
        replaced = f"; {count(passage.redacted, 'secret')} replaced" if passage.redacted else ""
        yield Text(f"   {checked}{replaced}", style="dim")
        places = joined([(start, end) for pattern in marks for start, end, _ in pattern.places(passage.text)])
        yield from excerpt(Window(start=0, end=len(passage.text), text=passage.text), places, None)
        yield ""
    for left in answer.withheld:
        kept = count(left.count, "entry", "entries")
        yield Text(f"the privacy policy withholds {kept} ({left.classification}, {left.reason})", style="yellow")
    if answer.next is not None:
        yield Text.assemble(("more: ", "dim"), next_page(arguments, answer.next, options))
