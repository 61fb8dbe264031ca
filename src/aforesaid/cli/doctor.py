"""Floor 9: `aforesaid doctor`: what works and what does not, with what helps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aforesaid.cli.install import kept
from aforesaid.cli.terminal import emit, one_line, show
from aforesaid.errors import OperationError
from aforesaid.hosts import wire
from aforesaid.hosts.checkup import examine

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterator, Sequence

    from aforesaid.cli.arguments import Options
    from aforesaid.hosts.checkup import Check


def add_arguments(parser: ArgumentParser) -> None:
    """`doctor` has no arguments of its own."""


def run(arguments: Namespace, options: Options) -> int:
    """Checks everything; exit status 1 if something failed."""
    del arguments
    with options.open_engine() as engine:
        checks = tuple(examine(engine, kept(options)))
    if options.json:
        emit(wire.doctor(checks))
    else:
        show(_lines(checks))
    return OperationError.exit_status if any(check.standing == "failed" for check in checks) else 0


def _lines(checks: Sequence[Check]) -> Iterator[str]:
    width = max(len(check.name) for check in checks)
    for check in checks:
        remedy = f"; {check.remedy}" if check.remedy else ""
        yield f"{check.standing:8}{check.name:{width}}  {one_line(check.detail)}{one_line(remedy)}"
