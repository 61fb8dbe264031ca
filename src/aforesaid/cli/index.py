"""Floor 9: `aforesaid index`: transcripts into the store. `rebuild` shows its report in the same way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aforesaid.cli.terminal import Progress, count, emit, fail, one_line, show, show_table, warn
from aforesaid.errors import BadArgument, SessionForgotten
from aforesaid.hosts import HOSTS, folders_with_sessions, wire_upkeep

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterator

    from aforesaid.cli.arguments import Options
    from aforesaid.reports import IndexReport, SyncReport

_FLAWS_SHOWN = 20
"""Flaws a session that are listed without `-v`."""


def add_arguments(parser: ArgumentParser) -> None:
    """The arguments of `index`."""
    parser.add_argument("paths", nargs="*", metavar="PATH", help="transcripts, or folders that are searched for them")
    parser.add_argument("--all", action="store_true", help="the folders in which the hosts keep their sessions")
    parser.add_argument("--host", choices=HOSTS, help="only transcripts of this host")


def run(arguments: Namespace, options: Options) -> int:
    """Indexes; exit status 1 if a session failed."""
    if arguments.all and arguments.paths:
        raise BadArgument("both paths and --all were given", "name paths, or say --all")
    paths = folders_with_sessions(arguments.host) if arguments.all else arguments.paths
    if not paths:
        raise BadArgument("nothing to index was named", "name files or folders, or say --all")
    with options.open_engine() as engine, Progress("Indexing") as progress:
        report = engine.index(*paths, host=arguments.host, progress=progress, lenient=arguments.all)
    if options.json:
        emit(wire_upkeep.index(report))
    else:
        show_report(report, verbose=options.verbose)
    return status_of(report)


def status_of(report: IndexReport) -> int:
    """The exit status that a report stands for."""
    return int(any(session.status == "failed" for session in report.sessions))


def show_report(report: IndexReport, *, verbose: bool) -> None:
    """A row a session, then each flaw with its place, then the totals."""
    show_table(
        ("status", "entries", "added", "removed", "flaws", "file"),
        [_row(session) for session in report.sessions],
        right=("entries", "added", "removed", "flaws"),
    )
    for session in report.sessions:
        if session.error_code not in {None, SessionForgotten.code}:
            fail(session.error_code, session.error or session.file)
    show([*_flaws(report, verbose=verbose), "", _totals(report)])
    if report.vectors_missing is not None:
        warn(f"vectors are missing ({report.vectors_missing}); requests go by words until they can be made")


def _row(report: SyncReport) -> tuple[str, ...]:
    session = report.session
    return (
        "forgotten" if report.error_code == SessionForgotten.code else report.status,
        f"{session.entries:,}" if session is not None else "-",
        f"{report.added:,}",
        f"{report.removed:,}",
        f"{len(report.known_flaws):,}",
        report.file,
    )


def _flaws(report: IndexReport, *, verbose: bool) -> Iterator[str]:
    for session in report.sessions:
        flaws = session.known_flaws
        if not flaws:
            continue
        shown = flaws if verbose else flaws[:_FLAWS_SHOWN]
        yield ""
        yield one_line(session.file)
        for flaw in shown:
            yield f"  line {flaw.line:,}, byte {flaw.byte:,}: {flaw.reason}" + ("" if flaw.lost else " (content kept)")
        if more := len(flaws) - len(shown):
            yield f"  and {more:,} more (-v lists all)"


def _totals(report: IndexReport) -> str:
    totals = wire_upkeep.index(report)["totals"]
    statuses = ", ".join(f"{number:,} {status}" for status, number in totals["statuses"].items() if number)
    entries = count(totals["entries"], "entry", "entries")
    words = [
        f"{count(totals['sessions'], 'session')} ({statuses or 'none'})",
        f"{entries} ({totals['added']:,} added, {totals['removed']:,} removed)",
    ]
    if totals["invalidLines"]:
        words.append(count(totals["invalidLines"], "flawed line"))
    return f"{'; '.join(words)}; {report.duration_ms / 1000:,.2f} s"
