"""Floor 9: `aforesaid install`: registers with a host. `uninstall` shows its changes in the same way."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from aforesaid.cli.terminal import emit, one_line, show
from aforesaid.errors import BadArgument
from aforesaid.hosts import wire
from aforesaid.hosts.changes import carry_out, show_edit
from aforesaid.hosts.mcp.registration import CLIENTS, plan_register

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterator, Sequence

    from aforesaid.cli.arguments import Options
    from aforesaid.hosts.changes import Change

TARGETS = ("pi", "mcp")
"""What this version can register with."""
_NEXT = {
    "pi": "Pi asks aforesaid from its next start on; `/context` there shows what was added and why.",
    "mcp": "The history tools are there from the client's next start on.",
}


def add_target(parser: ArgumentParser) -> None:
    """The arguments that say what is registered, or taken back."""
    parser.add_argument("host", metavar="HOST", help="pi, or mcp for the MCP server")
    parser.add_argument("--client", metavar="NAME", choices=CLIENTS, help="with mcp: pi, claude-code or codex")
    parser.add_argument("--dry-run", action="store_true", help="show the exact changes and make none")


def check_target(arguments: Namespace) -> None:
    """Refuses a client where none is meant, and the lack of one where one is.

    Raises:
        BadArgument: there is no such host, or host and client do not fit.
    """
    if arguments.host not in TARGETS:
        what = f"mcp --client {arguments.host}" if arguments.host in CLIENTS else " or ".join(TARGETS)
        raise BadArgument(f"there is no host {arguments.host} to register with", f"name {what}")
    if arguments.host == "mcp" and arguments.client is None:
        raise BadArgument("mcp needs a client", f"add --client with one of {', '.join(CLIENTS)}")
    if arguments.host != "mcp" and arguments.client is not None:
        raise BadArgument(f"{arguments.host} has no clients", "leave --client out, or name mcp")


def add_arguments(parser: ArgumentParser) -> None:
    """The arguments of `install`."""
    add_target(parser)
    parser.add_argument(
        "--provider", metavar="NAME", help="with mcp: whose model gets the answers (default: a remote one)"
    )
    parser.add_argument(
        "--trust-project", action="store_true", help="with mcp: projects are trusted: their sessions, if you allow that"
    )


def run(arguments: Namespace, options: Options) -> int:
    """Registers; a second time changes nothing."""
    check_target(arguments)
    options.load_config()  # what the service could not start with is told now
    changes = _plan(arguments, kept(options))
    if not arguments.dry_run:
        carry_out(changes)
    if options.json:
        told = wire.installation("install", arguments.host, changes, client=arguments.client, dry_run=arguments.dry_run)
        emit(told)
    else:
        show(describe(changes, dry_run=arguments.dry_run, whole=arguments.dry_run))
        if not arguments.dry_run:
            show([_NEXT[arguments.host]])
    return 0


def _plan(arguments: Namespace, options: tuple[str, ...]) -> tuple[Change, ...]:
    own = [] if arguments.provider is None else ["--provider", arguments.provider]
    own += ["--trust-project"] if arguments.trust_project else []
    if arguments.host == "pi":
        from aforesaid.hosts.pi.installation import plan_install  # late: one of the two

        if own:
            raise BadArgument(f"pi takes no {own[0]}: it says itself which model it calls", "leave it out, or name mcp")
        if "--trust" in options:
            raise BadArgument("pi takes no --trust: it says itself which projects are trusted", "leave it out")
        return plan_install(options)
    from aforesaid.cli.mcp import need_sdk  # late: one of the two

    need_sdk()
    return plan_register(arguments.client, (*own, *options))


def kept(options: Options) -> tuple[str, ...]:
    """The global options that were given: the service is started with them."""
    given: list[str] = []
    if options.store is not None:
        given += ["--store", os.path.abspath(os.path.expanduser(options.store))]
    if options.config is not None:
        given += ["--config", os.path.abspath(options.config)]
    if options.trust is not None:
        given += ["--trust", os.path.abspath(os.path.expanduser(options.trust))]
    for setting in options.settings:
        given += ["--set", setting]
    return tuple(given)


_WORDS = {
    "create": ("would write", "wrote"),
    "replace": ("would replace", "replaced"),
    "edit": ("would edit", "edited"),
    "delete": ("would delete", "deleted"),
    "make-folder": ("would make the folder", "made the folder"),
    "remove-folder": ("would remove the folder", "removed the folder"),
}


def describe(changes: Sequence[Change], *, dry_run: bool, whole: bool = False) -> Iterator[str]:
    """A line a change, and with `whole` what the files will hold, or how they are edited."""
    if not changes:
        yield "Nothing to change."
    for change in changes:
        yield f"{_WORDS[change.action][not dry_run]} {one_line(change.path)}"
        shown = show_edit(change) if change.action == "edit" else change.content
        if whole and shown:
            yield from (f"  | {one_line(line)}" for line in shown.splitlines())
