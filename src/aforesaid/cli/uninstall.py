"""Floor 9: `aforesaid uninstall`: takes the registration with a host back, and with `--purge` everything else."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from aforesaid.cli.install import add_target, check_target, describe
from aforesaid.cli.terminal import emit, show
from aforesaid.config import store_folder, user_file
from aforesaid.engine import store_files
from aforesaid.hosts import wire
from aforesaid.hosts.changes import Change, carry_out
from aforesaid.hosts.mcp.registration import plan_unregister

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from aforesaid.cli.arguments import Options


def add_arguments(parser: ArgumentParser) -> None:
    """The arguments of `uninstall`."""
    add_target(parser)
    parser.add_argument("--purge", action="store_true", help="delete the store and your configuration as well")


def run(arguments: Namespace, options: Options) -> int:
    """Takes back; a second time changes nothing."""
    check_target(arguments)
    changes = _plan(arguments)
    if arguments.purge:
        changes += _purge(options)
    if not arguments.dry_run:
        carry_out(changes)
    if options.json:
        told = wire.installation(
            "uninstall", arguments.host, changes, client=arguments.client, dry_run=arguments.dry_run
        )
        emit(told)
    else:
        show(describe(changes, dry_run=arguments.dry_run, whole=arguments.dry_run))
    return 0


def _plan(arguments: Namespace) -> tuple[Change, ...]:
    if arguments.host == "pi":
        from aforesaid.hosts.pi.installation import plan_uninstall  # late: one of the two

        return plan_uninstall()
    return plan_unregister(arguments.client)


def _purge(options: Options) -> tuple[Change, ...]:
    """The store's files, your configuration, and the folders that are empty without them."""
    paths = list(store_files(store_folder(options.store)))
    configuration = user_file()
    if os.path.lexists(configuration):
        paths.append(configuration)
        folder = os.path.dirname(configuration)
        if {os.path.join(folder, name) for name in os.listdir(folder)} <= set(paths):
            paths.append(folder)
    return tuple(
        Change(path=path, action="remove-folder" if os.path.isdir(path) else "delete") for path in dict.fromkeys(paths)
    )
