"""Floor 9: `aforesaid retrieve`: the automatic pipeline for one request. `hits` shows to people what it found."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from aforesaid.cli.terminal import emit, fail
from aforesaid.errors import BadArgument

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from aforesaid.cli.arguments import Options


def add_arguments(parser: ArgumentParser) -> None:
    """The arguments of `retrieve`."""
    parser.add_argument("--session", metavar="FILE|ID", required=True, help="a transcript, or a session of the store")
    parser.add_argument("--leaf", metavar="ID", help="entry whose branch counts (default: the session's last)")
    parser.add_argument(
        "--query", metavar="TEXT|-", help="the request, or - to read it (default: the branch's latest user message)"
    )
    parser.add_argument(
        "--context-entries", metavar="ID,…", help="entries that the model sees (default: as the host derives them)"
    )
    parser.add_argument(
        "--provider", metavar="NAME", help="whose model gets the evidence, for privacy.* (default: some remote one)"
    )


def run(arguments: Namespace, options: Options) -> int:
    """Retrieves; exit status 1 if the operation failed."""
    query = read_query(arguments.query)
    entries = None
    if arguments.context_entries is not None:
        entries = tuple(id_ for part in arguments.context_entries.split(",") if (id_ := part.strip()))
    with options.open_engine() as engine:
        found = engine.retrieve(
            session=arguments.session,
            leaf=arguments.leaf,
            query=query,
            context_entries=entries,
            provider=arguments.provider,
        )
    failed = found.status == "failed"
    if options.json:
        from aforesaid.hosts import wire  # late: the store is asked before anything is written

        emit(wire.retrieval(found))
    elif failed:
        for code in found.diagnostics.warnings or ("operation-failed",):
            fail(code, "nothing was retrieved; `aforesaid status` tells more")
    else:
        from aforesaid.cli.hits import show_retrieval  # late: brings rich

        show_retrieval(found, verbose=options.verbose)
    return int(failed)


def read_query(given: str | None) -> str | None:
    """The request that `--query` names: the text itself, or with `-` what standard input holds.

    Standard input is UTF-8, whatever the locale says, with or without a byte order mark.
    """
    if given != "-":
        return given
    if sys.stdin is None:
        raise BadArgument("there is no standard input to read the request from", "give the text behind --query")
    return sys.stdin.buffer.read().decode("utf-8-sig", "replace")
