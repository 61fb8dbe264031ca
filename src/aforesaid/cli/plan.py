"""Floor 9: `aforesaid plan`: the messages and the manifest of one model call, as a host would send them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aforesaid.cli.retrieve import read_query
from aforesaid.cli.terminal import count, emit, fail, one_line, show
from aforesaid.errors import SessionForgotten
from aforesaid.hosts import wire

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterator

    from aforesaid.cli.arguments import Options
    from aforesaid.planning.values import ManifestItem, Plan

_SHOWN = 20
"""Items of each list that are shown without `-v`."""


def add_arguments(parser: ArgumentParser) -> None:
    """The arguments of `plan`."""
    parser.add_argument("--session", metavar="FILE|ID", required=True, help="a transcript, or a session of the store")
    parser.add_argument("--context-window", metavar="N", type=int, required=True, help="tokens that the model can read")
    parser.add_argument("--leaf", metavar="ID", help="entry whose branch counts (default: the session's last)")
    parser.add_argument(
        "--query", metavar="TEXT|-", help="the next request, or - to read it (default: the branch's latest one)"
    )
    parser.add_argument("--model", metavar="PROVIDER/MODEL", help="the model that is called")
    parser.add_argument(
        "--output-reserve",
        metavar="N",
        type=int,
        help="tokens for the answer (default: a tenth, 16384 at most)",
    )


def run(arguments: Namespace, options: Options) -> int:
    """Plans; exit status 1 if an operation failed."""
    with options.open_engine() as engine:
        made = engine.plan(
            session=arguments.session,
            context_window=arguments.context_window,
            query=read_query(arguments.query),
            leaf=arguments.leaf,
            model=arguments.model,
            output_reserve=arguments.output_reserve,
        )
    if options.json:
        emit(wire.plan(made))
    elif made.failed:
        forgotten = made.reason == SessionForgotten.code
        advice = "the session was forgotten on purpose" if forgotten else "`aforesaid status` tells more"
        fail(made.reason, f"nothing was planned: the host's own messages would go out; {advice}")
    else:
        show(_lines(made, most=None if options.verbose else _SHOWN))
    return int(made.failed)


def _lines(made: Plan, *, most: int | None) -> Iterator[str]:
    limits = made.manifest.limits
    yield f"{made.status} ({one_line(made.reason)}): {count(len(made.messages), 'message')}, {made.tokens:,} tokens"
    yield (
        f"window {limits.window:,}, of that {limits.reserve:,} for the answer; "
        f"target {limits.target:,}, soft limit {limits.soft:,}, hard limit {limits.hard:,}"
    )
    for label, items in (("included", made.manifest.included), ("left out", made.manifest.excluded)):
        if items:
            yield ""
            yield f"{label}: {count(len(items), 'item')}, {sum(item.tokens for item in items):,} tokens"
            yield from map(_item, items if most is None else items[-most:])
            if most is not None and len(items) > most:
                yield f"  and {len(items) - most:,} earlier ones; -v shows them"
    for warning in made.warnings:
        yield f"Warning: {one_line(warning)}"


def _item(item: ManifestItem) -> str:
    score = "" if item.score is None else f"  score {item.score:.2f}"
    return (
        f"  {item.kind:9} {one_line(item.entry_id or '-'):12} {item.tokens:>7,} tokens  {item.group_id:5}"
        f"  {one_line(item.reason)}{score}"
    )
