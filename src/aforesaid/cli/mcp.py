"""Floor 9: `aforesaid mcp`: the history tools for hosts that speak the Model Context Protocol."""

from __future__ import annotations

import os
from importlib.util import find_spec
from typing import TYPE_CHECKING

from msgspec.structs import replace

from aforesaid.errors import OperationError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from aforesaid.cli.arguments import Options


def add_arguments(parser: ArgumentParser) -> None:
    """The arguments of `mcp`."""
    parser.add_argument("--session", metavar="FILE|ID", help="the session that calls, where the host does not say it")
    parser.add_argument("--provider", metavar="NAME", help="whose model gets the answers (default: some remote one)")
    parser.add_argument(
        "--trust-project", action="store_true", help="the project is trusted: its sessions, if you allow that scope"
    )
    parser.add_argument("--codex-home", metavar="DIR", help="where Codex keeps its sessions; it tells its servers not")


def run(arguments: Namespace, options: Options) -> int:
    """Serves until the input ends."""
    need_sdk()
    if arguments.codex_home is not None:
        os.environ["CODEX_HOME"] = arguments.codex_home
    from aforesaid.engine import VECTOR_SECONDS  # late, all: after the arguments are known to be right
    from aforesaid.hosts.mcp.callers import look_around
    from aforesaid.hosts.mcp.server import run as serve
    from aforesaid.hosts.tools import HistoryTools, tool_caller
    from aforesaid.hosts.watching import Watch

    if arguments.trust_project and options.trust is None:
        options = replace(options, trust=os.getcwd())  # hosts start their servers in the project
    with options.open_engine() as engine:
        engine.vector_seconds = VECTOR_SECONDS
        caller = tool_caller(trusted=arguments.trust_project)
        allowed = arguments.trust_project and engine.config.boolean("historyTools.allowProjectScope")
        around = look_around(arguments.session, project=allowed)
        watch = Watch(engine, options.load_for)
        serve(engine, HistoryTools(engine, caller, arguments.provider), around, watch.renew)
    return 0


def need_sdk() -> None:
    """Refuses what could not run.

    Raises:
        OperationError: the SDK is not installed.
    """
    if find_spec("mcp") is None:
        raise OperationError("the MCP SDK is not installed", "install it with `pip install 'aforesaid[mcp]'`")
