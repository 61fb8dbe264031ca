"""Floor 9: `aforesaid status`: where the store is and how it fares."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aforesaid import __version__
from aforesaid.cli.terminal import bytes_in_words, count, emit, one_line, show
from aforesaid.hosts import wire_upkeep

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterator

    from aforesaid.cli.arguments import Options
    from aforesaid.config import Config
    from aforesaid.reports import StoreStatus


def add_arguments(parser: ArgumentParser) -> None:
    """`status` has no arguments of its own."""


def run(arguments: Namespace, options: Options) -> int:
    """Shows the state of the store and of the configuration."""
    del arguments
    with options.open_engine() as engine:
        store, config, there = engine.status(), engine.config, engine.has_store()
    if options.json:
        emit(wire_upkeep.status(store, config, __version__))
    else:
        show(_lines(store, config, there=there, verbose=options.verbose))
    return 0


def _lines(store: StoreStatus, config: Config, *, there: bool, verbose: bool) -> Iterator[str]:
    access = "" if store.writable else " (read-only)"
    if not there:
        access = " (not there; `aforesaid index PATH` makes it)"
    yield f"version     {__version__}"
    yield f"store       {one_line(store.location)}{access}"
    yield f"size        {bytes_in_words(store.bytes)}"
    yield f"content     {count(store.sessions, 'session')}, {count(store.entries, 'entry', 'entries')}"
    yield f"schema      {store.schema}, projection {store.projection}"
    for one in store.vectors:
        yield (
            f"vectors     {one.vectors:,} of {one_line(one.provider)}/{one_line(one.model)} ({one.dimensions} numbers, "
            f"{one.destination}) in {count(one.sessions, 'session')}"
        )
    if store.damaged:
        yield f"damaged     {count(len(store.damaged), 'session')}; `aforesaid rebuild` derives them again:"
        for key in store.damaged:
            yield f"            {one_line(key)}"
    else:
        yield "damaged     none"
    if store.erasing:
        yield "forgetting  was interrupted; `aforesaid forget --verify` finishes it"
    if config.warnings:
        yield f"config      {count(len(config.warnings), 'warning')}:"
        for warning in config.warnings:
            yield f"            {one_line(warning)}"
    else:
        yield "config      no warnings"
    later = config.not_in_this_version
    yield f"            {count(len(later), 'option')} not in this version" + (":" if verbose else " (-v lists them)")
    if verbose:
        for key in later:
            yield f"            {key}"
