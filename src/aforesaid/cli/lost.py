"""Floor 9: `aforesaid lost`: what each compaction took from the model's view."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aforesaid.branches import REBUILT
from aforesaid.cli.terminal import count, emit, one_line, show, warn
from aforesaid.hosts import wire

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterator

    from aforesaid.cli.arguments import Options
    from aforesaid.lost import LostPart, LostReport

_SHOWN = 20
"""Items of each compaction that are shown without `-v`."""


def add_arguments(parser: ArgumentParser) -> None:
    """The arguments of `lost`."""
    parser.add_argument("--session", metavar="FILE|ID", required=True, help="a transcript, or a session of the store")
    parser.add_argument("--leaf", metavar="ID", help="entry whose branch counts (default: the session's last)")
    parser.add_argument(
        "--compaction", metavar="N", type=int, help="only this one of the branch; 1 is the oldest (default: all)"
    )
    parser.add_argument(
        "--provider", metavar="NAME", help="whose model gets the answer, for privacy.* (default: some remote one)"
    )


def run(arguments: Namespace, options: Options) -> int:
    """Looks for lost items."""
    with options.open_engine() as engine:
        report = engine.lost(
            session=arguments.session,
            leaf=arguments.leaf,
            compaction=arguments.compaction,
            provider=arguments.provider,
        )
    for reason in report.reasons:
        if reason == REBUILT:
            warn("what was stored of the session was damaged, and has been derived again")
        else:
            warn(f"the answer may not be complete: {reason}")
    if options.json:
        emit(wire.lost(report))
    else:
        show(
            _lines(report, first=arguments.compaction or 1, most=None if options.verbose else _SHOWN),
            paged=options.verbose,
        )
    return 0


def _lines(report: LostReport, *, first: int, most: int | None) -> Iterator[str]:
    from aforesaid.cli.sessions import when  # late: for people only

    if not report.compactions:
        yield "Nothing was compacted on this branch."
    for number, part in enumerate(report.compactions, first):
        if number > first:
            yield ""
        went = count(part.lost_entries, "entry", "entries")
        yield f"{number}  compaction {one_line(part.entry_id)}  {when(part.timestamp)}: {went} left the view"
        yield from _table(part)
        yield from _items(part, most)


def _table(part: LostPart) -> Iterator[str]:
    yield f"   {'kind':10} {'before':>8} {'visible':>8}"
    for of in part.survival:
        share = f"  {100 * of.visible / of.before:.0f} %" if of.before else ""
        yield f"   {of.kind:10} {of.before:>8,} {of.visible:>8,}{share}"


def _items(part: LostPart, most: int | None) -> Iterator[str]:
    shown = part.items[:most]
    for one in shown:
        entries = count(one.count, "entry", "entries")
        yield f"   {one.kind:10} {one_line(one.item)}  ({entries}, last {one_line(one.last_entry_id)})"
    if len(shown) < len(part.items):
        yield f"   and {len(part.items) - len(shown):,} older ones; -v shows them"
