"""Floor 9: `aforesaid install`: registers with a host. `uninstall` shows its changes in the same way."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from aforesaid.cli.terminal import emit, one_line, show
from aforesaid.hosts import wire
from aforesaid.hosts.pi.installation import carry_out, plan_install

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterator, Sequence

    from aforesaid.cli.arguments import Options
    from aforesaid.hosts.pi.installation import Change

TARGETS = ("pi",)
"""What this version can register with."""


def add_arguments(parser: ArgumentParser) -> None:
    """The arguments of `install`."""
    parser.add_argument("host", metavar="HOST", choices=TARGETS, help="pi")
    parser.add_argument("--dry-run", action="store_true", help="show the exact changes and make none")


def run(arguments: Namespace, options: Options) -> int:
    """Registers; a second time changes nothing."""
    options.load_config()  # what the service could not start with is told now
    changes = plan_install(_kept(options))
    if not arguments.dry_run:
        carry_out(changes)
    if options.json:
        emit(wire.installation("install", arguments.host, changes, dry_run=arguments.dry_run))
    else:
        show(describe(changes, dry_run=arguments.dry_run, whole=arguments.dry_run))
        if not arguments.dry_run:
            show(["Pi asks aforesaid from its next start on; `/context` there shows what was added and why."])
    return 0


def _kept(options: Options) -> tuple[str, ...]:
    """The global options that were given: the service is started with them."""
    kept: list[str] = []
    if options.store is not None:
        kept += ["--store", os.path.abspath(os.path.expanduser(options.store))]
    if options.config is not None:
        kept += ["--config", os.path.abspath(options.config)]
    for setting in options.settings:
        kept += ["--set", setting]
    return tuple(kept)


_WORDS = {
    "create": ("would write", "wrote"),
    "replace": ("would replace", "replaced"),
    "delete": ("would delete", "deleted"),
    "make-folder": ("would make the folder", "made the folder"),
    "remove-folder": ("would remove the folder", "removed the folder"),
}


def describe(changes: Sequence[Change], *, dry_run: bool, whole: bool = False) -> Iterator[str]:
    """A line a change, and with `whole` what the files will hold."""
    if not changes:
        yield "Nothing to change."
    for change in changes:
        yield f"{_WORDS[change.action][not dry_run]} {one_line(change.path)}"
        if whole and change.content:
            yield from (f"  | {one_line(line)}" for line in change.content.splitlines())
