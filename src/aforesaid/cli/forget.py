"""Floor 9: `aforesaid forget`: something leaves the store for good. A person confirms, a script says `--yes`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from aforesaid.cli.terminal import Progress, bytes_in_words, count, emit, fail, one_line, show
from aforesaid.errors import BadArgument, ForgetIncomplete
from aforesaid.hosts import wire_upkeep

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterator

    from aforesaid.cli.arguments import Options
    from aforesaid.engine import Engine
    from aforesaid.reports import ForgetReport, Verification

_SHOWN = 20
"""Sessions that are listed one by one without `-v`."""
UNTOUCHED = "The hosts' transcripts were not touched: what stands in them stays in them until you delete it there."


def add_arguments(parser: ArgumentParser) -> None:
    """The arguments of `forget`."""
    parser.add_argument("--session", metavar="FILE|ID", help="a session, or the one that --entry or a date is about")
    parser.add_argument("--project", metavar="DIR", help="all sessions that worked in this folder")
    parser.add_argument("--entry", metavar="ID", dest="entries", nargs="+", default=[], help="entries of the session")
    parser.add_argument("--text", metavar="TEXT|-", help="every entry that says this; `-` reads it from standard input")
    parser.add_argument("--after", metavar="DATE", help="entries from this date on")
    parser.add_argument("--before", metavar="DATE", help="entries before this date")
    parser.add_argument("--dry-run", action="store_true", help="change nothing, say what would go")
    parser.add_argument("--verify", action="store_true", help="look for it in every file of the store afterwards")
    parser.add_argument("--yes", action="store_true", help="do not ask")


def run(arguments: Namespace, options: Options) -> int:
    """Forgets; exit status 1 if a check found something that should be gone."""
    chosen = _chosen(arguments)
    with options.open_engine() as engine:
        asks = any(chosen.values()) and not arguments.dry_run and not arguments.yes
        if asks and not _confirmed(engine, chosen, options):
            show(["Nothing was forgotten."])
            return 0
        with Progress("Forgetting") as progress:
            report = engine.forget(**chosen, dry_run=arguments.dry_run, verify=arguments.verify, progress=progress)
    if options.json:
        emit(wire_upkeep.forgotten(report))
    else:
        show([*_lines(report, verbose=options.verbose), *_checked(report), "", UNTOUCHED])
    found = () if report.verification is None else report.verification.leftovers
    if found and not report.dry_run:
        places = ", ".join(sorted({left.file for left in found}))
        fail(ForgetIncomplete.code, f"what was forgotten still stands in {places}; run it again, or see --json")
        return ForgetIncomplete.exit_status
    return 0


def _chosen(arguments: Namespace) -> dict[str, Any]:
    text = arguments.text
    if text == "-":
        text = sys.stdin.buffer.read().decode("utf-8", "surrogateescape").removesuffix("\n").removesuffix("\r")
    return {
        "session": arguments.session,
        "project": arguments.project,
        "entries": arguments.entries,
        "text": text,
        "after": arguments.after,
        "before": arguments.before,
    }


def _confirmed(engine: Engine, chosen: dict[str, Any], options: Options) -> bool:
    """Asks a person, after showing what would go."""
    if options.json or not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise BadArgument("this needs a confirmation", "add --yes, or see first what would go with --dry-run")
    show(_lines(engine.forget(**chosen, dry_run=True), verbose=options.verbose))
    return input("Forget this for good? [y/N] ").strip().lower() in {"y", "yes"}


def _lines(report: ForgetReport, *, verbose: bool) -> Iterator[str]:
    if report.resumed:
        yield "An erasure that had been interrupted was finished."
    words = sum(one.entries for one in report.sessions)
    verb = "would be forgotten" if report.dry_run else "forgotten"
    whole = sum(one.whole for one in report.sessions)
    yield f"{count(whole, 'session')} and {count(words, 'entry', 'entries')} {verb}."
    listed = report.sessions if verbose else report.sessions[:_SHOWN]
    for one in listed:
        what = "all of it" if one.whole else count(one.entries, "entry", "entries")
        yield f"  {one_line(one.file)}: {what}"
    if more := len(report.sessions) - len(listed):
        yield f"  and {more:,} more (-v lists all)"
    if report.discarded:
        yield f"{count(report.discarded, 'damaged session')} removed from the store; indexing derives them again."


def _checked(report: ForgetReport) -> Iterator[str]:
    checked = report.verification
    if checked is None:
        return
    yield ""
    yield (
        f"Checked: {count(checked.files, 'file')} ({bytes_in_words(checked.bytes)}), every byte;"
        f" {count(checked.databases, 'database')} with {count(checked.values, 'value')};"
        f" {count(checked.terms, 'term')} of full-text indexes; {count(checked.free_pages, 'free page')};"
        f" {count(checked.texts, 'forgotten text')} searched for."
    )
    yield from _found(checked)


def _found(checked: Verification) -> Iterator[str]:
    if not checked.leftovers:
        yield "Nothing of it was found."
    for left in checked.leftovers:
        yield f"  {one_line(left.file)}: {left.where}, {count(left.count, 'time')}"
