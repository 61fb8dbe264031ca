"""Floor 9: `aforesaid rebuild`: the stored data once more from the transcripts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aforesaid.cli.index import show_report, status_of
from aforesaid.cli.terminal import Progress, emit
from aforesaid.hosts import wire_upkeep

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from aforesaid.cli.arguments import Options


def add_arguments(parser: ArgumentParser) -> None:
    """The arguments of `rebuild`."""
    parser.add_argument("--session", metavar="FILE|ID", help="only this session (default: all)")


def run(arguments: Namespace, options: Options) -> int:
    """Rebuilds; exit status 1 if a session failed."""
    with options.open_engine() as engine, Progress("Rebuilding") as progress:
        report = engine.rebuild(session=arguments.session, progress=progress)
    if options.json:
        emit(wire_upkeep.rebuild(report))
    else:
        show_report(report, verbose=options.verbose)
    return status_of(report)
