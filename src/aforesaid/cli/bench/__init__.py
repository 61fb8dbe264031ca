"""Floor 9: `aforesaid bench`: performance, each figure beside the floor that was measured in the same rounds.

`docs/performance.md` says what the rows mean. The modules: `corpus` makes transcripts, `requests` is the mix that is
asked, `floors` the bare SQLite to compare with, `setting` prepares stores, `retrieve`, `build`, `service`, `secrets`,
`start`, `vectors` and `transcripts` measure, `rows` holds the rules for bounds and noise,
`children` starts processes, `report` prints.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from aforesaid.cli.terminal import Progress, emit, fail
from aforesaid.errors import BadArgument, GateMissed

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from aforesaid.cli.arguments import Options
    from aforesaid.cli.bench.rows import Row

SUBJECTS: Final = ("retrieve", "build", "recall", "secrets", "vectors", "transcripts")
LEAST_VECTORS: Final = 50_000
"""Vectors that are searched at least: with few of them numpy's own calls take longer than what they do."""
FEWEST: Final = 100
"""Entries: below this there is nothing to measure."""


def add_arguments(parser: ArgumentParser) -> None:
    """The arguments of `bench`."""
    meanings = (
        "retrieve: every target; build: those of building only; recall: searches of many sessions;"
        " secrets: how they are found; vectors: what they take; transcripts: reading those in --data"
    )
    parser.add_argument("subject", choices=SUBJECTS, help=meanings)
    parser.add_argument("--data", metavar="DIR", help="transcripts: a folder of real ones")
    parser.add_argument("--entries", type=int, default=8_000, metavar="N", help="entries of the corpus (default 8000)")
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="interleaved rounds a row (default 5)")
    parser.add_argument("--work", metavar="DIR", help="folder for temporary files (default: the system's)")


def run(arguments: Namespace, options: Options) -> int:
    """Measures and prints; exit status 1 if a bound was missed.

    Raises:
        BadArgument: a number is out of range.
        StoreFull: the disk has not enough room.
    """
    if arguments.entries < FEWEST:
        raise BadArgument(f"--entries {arguments.entries} is too small", f"use at least {FEWEST}")
    if arguments.rounds < 1:
        raise BadArgument(f"--rounds {arguments.rounds} is too small", "use at least 1")
    if (arguments.data is None) == (arguments.subject == "transcripts"):
        raise BadArgument("--data goes with `bench transcripts`, and the other way round", "name both or neither")
    entries = arguments.entries
    if arguments.data is None:
        rows = measure(arguments.subject, entries, arguments.rounds, arguments.work)
    else:
        entries, rows = measure_transcripts(arguments.data, arguments.rounds, arguments.work)
    from aforesaid.cli.bench import report  # late: the parser needs none of it

    if options.json:
        emit(report.document(entries, rows))
    else:
        report.show(entries, rows, attempts=options.verbose)
    missed = [row.name for row in rows if row.met is False]
    if missed:
        # The figures stand on standard output already, so the miss is told as a line and not raised.
        hint = "run it again on a quiet machine, with -v for every attempt"
        fail(GateMissed.code, f"{len(missed)} of {len(rows)} bounds missed: {', '.join(missed)}; {hint}")
        return GateMissed.exit_status
    return 0


def measure_transcripts(data: str, rounds: int, work: str | None = None) -> tuple[int, list[Row]]:
    """Measures what is in a folder of real transcripts; returns the number of their entries, too."""
    from aforesaid.cli.bench import setting, transcripts  # late: they bring the whole product

    with setting.working_folder(work) as folder, Progress("Reading") as progress:
        return transcripts.measure(data, folder, rounds, progress)


def measure(subject: str, entries: int, rounds: int, work: str | None = None) -> list[Row]:
    """Makes the corpus, measures, and removes everything again.

    Args:
        subject: one of `SUBJECTS`.
        entries: of the corpus.
        rounds: interleaved rounds of figure and floor in each attempt.
        work: folder for the temporary files; None takes the system's.
    """
    # Late: they bring the whole product.
    from aforesaid.cli.bench import build, many, retrieve, secrets, service, setting, start

    with setting.working_folder(work) as folder:
        if subject == "recall":
            with Progress("Building the store") as progress:
                return many.measure(entries, rounds, folder, progress)
        with Progress("Building the store") as progress:
            prepared = setting.prepare(entries, folder, progress)
        if subject == "build":
            return build.measure(prepared, rounds)
        if subject == "vectors":
            from aforesaid.cli.bench import vectors  # late: brings the models

            return vectors.measure(prepared, max(entries, LEAST_VECTORS), rounds)
        if subject == "secrets":
            return secrets.measure(prepared, rounds)
        rows = retrieve.measure(prepared, rounds)
        rows += build.measure(prepared, rounds)
        rows += service.measure(prepared, rounds)
        rows += start.measure(prepared.single, prepared.transcript.file, folder)
        return rows
