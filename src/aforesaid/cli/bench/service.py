"""Floor 9: what a call of the service costs on top of its query.

The same requests are asked of a real `aforesaid serve` and, in the same rounds, of an engine in this process; beside
that a child that does nothing but answer as many bytes to as many. The floor is the sum of the two.
"""

from __future__ import annotations

import json
import os
from contextlib import contextmanager
from functools import partial
from statistics import median
from typing import TYPE_CHECKING, Final

from aforesaid.cli.bench import children
from aforesaid.cli.bench.requests import mix
from aforesaid.cli.bench.rows import Attempt, Target, interleave, judge
from aforesaid.cli.bench.setting import default_config
from aforesaid.engine import Engine
from aforesaid.errors import OperationError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from aforesaid.cli.bench.rows import Row
    from aforesaid.cli.bench.setting import Prepared

_CALL: Final = Target(name="stdio call / echo + the same query in process", unit="ms", times=1.2)
_ECHO: Final = (
    "import sys\n"
    "source, sink = sys.stdin.buffer, sys.stdout.buffer\n"
    "while line := source.readline():\n"
    "    sink.write(b'x' * (int(line.split(b' ', 1)[0]) - 1) + b'\\n')\n"
    "    sink.flush()\n"
)
"""Answers a line that begins with a number by a line of so many bytes."""


def measure(prepared: Prepared, rounds: int) -> list[Row]:
    """The row.

    Args:
        prepared: transcripts and stores.
        rounds: how often each request is asked in one attempt.
    """
    return [judge(_CALL, lambda: _compare(prepared, rounds))]


def _compare(prepared: Prepared, rounds: int) -> Attempt:
    file, texts = prepared.transcript.file, [request.text for request in mix(prepared.transcript.project)]
    with (
        Engine.open(prepared.built.folder, default_config()) as engine,
        _child(["-m", "aforesaid", "serve", "--store", prepared.built.folder], prepared.path("home")) as ask,
        _child(["-c", _ECHO], prepared.path("home")) as echo,
    ):
        lines = [_request(number, file, text) for number, text in enumerate(texts)]
        sizes = [len(_check(ask(line))) for line in lines]
        echoes = [f"{size} ".encode() + line for size, line in zip(sizes, lines, strict=True)]
        queries = [partial(engine.retrieve, session=file, query=text) for text in texts]
        for query in queries:
            query()
        asked = [partial(ask, line) for line in lines]
        floor = [partial(_after, echo, line, query) for line, query in zip(echoes, queries, strict=True)]
        figures, floors = interleave(asked, floor, rounds)
    return Attempt(median(figures), median(floors), f"{sum(sizes) / len(sizes) / 1000:,.0f} kB an answer")


def _after(echo: Callable[[bytes], bytes], line: bytes, query: Callable[[], object]) -> None:
    echo(line)
    query()


def _request(number: int, file: str, text: str) -> bytes:
    params = {"session": file, "query": text}
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": "retrieve", "params": params}).encode() + b"\n"


def _check(answer: bytes) -> bytes:
    """The answer, if it is one: a failure must not pass for a fast answer.

    Raises:
        OperationError: it is not.
    """
    if json.loads(answer).get("result", {}).get("status") not in ("complete", "no-query"):
        raise OperationError(f"the service answered {answer[:200]!r}", "report this as a fault of aforesaid")
    return answer


@contextmanager
def _child(arguments: list[str], home: str) -> Iterator[Callable[[bytes], bytes]]:
    """A child process without the user's own configuration; a function that gives its answer to a line."""
    os.makedirs(home, exist_ok=True)
    child = children.start(arguments, environment={**os.environ, "XDG_CONFIG_HOME": home})
    given, answers = child.stdin, child.stdout
    if given is None or answers is None:
        raise AssertionError  # both are pipes

    def ask(line: bytes) -> bytes:
        given.write(line)
        given.flush()
        answer: bytes = answers.readline()
        return answer

    done = False
    try:
        yield ask
        done = True
    finally:
        children.end(child, at_once=not done)
