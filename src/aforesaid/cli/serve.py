"""Floor 9: `aforesaid serve`: the service that host adapters talk to, on standard input and output."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aforesaid.engine import VECTOR_SECONDS
from aforesaid.hosts.jsonrpc import Connection, serve
from aforesaid.hosts.methods import Commands
from aforesaid.hosts.sessions import Sessions
from aforesaid.hosts.watching import Watch

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from aforesaid.cli.arguments import Options
    from aforesaid.hosts.jsonrpc import Call, Method, Params


def add_arguments(parser: ArgumentParser) -> None:
    """`serve` has no arguments of its own."""


def run(arguments: Namespace, options: Options) -> int:
    """Serves until the input ends or `shutdown` is called."""
    del arguments
    with options.open_engine() as engine:
        engine.vector_seconds = VECTOR_SECONDS
        methods: dict[str, Method] = {}

        def prepare(connection: Connection) -> None:
            def end() -> None:
                connection.ended = True

            watch = Watch(engine, options.load_for)
            sessions = Sessions(engine, end, ask=connection.ask)
            table = sessions.table(Commands(engine, watch.reload).table())
            methods.update({name: _watched(method, watch, sessions) for name, method in table.items()})

        serve(methods, prepare)
    return 0


def _watched(method: Method, watch: Watch, sessions: Sessions) -> Method:
    """The method, with the configuration of the session that it is about, as it is when it is called."""

    def answer(params: Params, call: Call) -> object:
        watch.renew(sessions.place_of(params))
        return method(params, call)

    return answer
