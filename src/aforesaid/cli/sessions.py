"""Floor 9: `aforesaid sessions`: what the store knows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aforesaid.cli.terminal import count, emit, one_line, show
from aforesaid.hosts import HOSTS, wire_upkeep

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterator

    from rich.text import Text

    from aforesaid.cli.arguments import Options
    from aforesaid.model import Session


def add_arguments(parser: ArgumentParser) -> None:
    """The arguments of `sessions`."""
    parser.add_argument("--project", metavar="DIR", help="only sessions that worked in this folder")
    parser.add_argument("--host", choices=HOSTS, help="only sessions of this host")


def run(arguments: Namespace, options: Options) -> int:
    """Lists the sessions."""
    with options.open_engine() as engine, options.telling_of_missing_store(engine):
        known = engine.sessions(project=arguments.project, host=arguments.host)
    if options.json:
        emit(wire_upkeep.sessions(known))
    elif known:
        show((line for session in known for line in _lines(session, options)), paged=True)
    else:
        chosen = arguments.project is not None or arguments.host is not None
        what = "no such session" if chosen else "no session yet"
        show([f"The store knows {what}. `aforesaid index PATH` brings sessions in."])
    return 0


def _lines(session: Session, options: Options) -> Iterator[Text]:
    from rich.text import Text  # late: documents need none

    from aforesaid.cli.follow import command

    name = f"  {one_line(session.name)}" if session.name else ""
    yield Text.assemble(f"{when(session.updated)}  ", (one_line(session.header.session_id), "bold cyan"), name)
    entries, requests = count(session.entries, "entry", "entries"), count(session.requests, "request")
    yield Text(f"    {session.header.host}, {entries}, {requests}, {one_line(session.file)}")
    yield Text.assemble(("    → ", "dim"), command(["recall", "", f"--session={session.file}"], options))


def when(timestamp: str | None) -> str:
    """A timestamp of the model as people read it; always UTC, so that it reads the same everywhere."""
    return f"{timestamp[:10]} {timestamp[11:19]} UTC" if timestamp else "unknown date"
