"""Floor 8: JSON-RPC 2.0 over two byte streams, one JSON object a line.

`cli/serve` hands over the streams and a table of methods. A reader thread takes lines in, so that a cancellation is
seen while something runs; the calling thread does the work, one call after another, in the order in which they came.
Whatever a line holds, it is answered, never raised. Knows no method, no engine and no host.

Source of the protocol: the JSON-RPC 2.0 specification. Batches are refused: the contract says one object a line.
"""

from __future__ import annotations

import gc
import json
import os
import sys
from contextlib import suppress
from queue import SimpleQueue
from threading import Lock, Thread
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from aforesaid.errors import AforesaidError, BadArgument, OperationError, UsageError, locate
from aforesaid.hosts import wire

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import BinaryIO

    Params = dict[str, Any]
    Method = Callable[[Params, "Call"], object]
    Id = str | int | float | None

MAX_LINE: Final = 32 * 1024 * 1024
"""Bytes of the longest line that is read; a longer one is skipped and answered with an error."""
CANCEL: Final = "$/cancelRequest"
"""Notification with the `id` of a request that nobody waits for any more."""
DEADLINE: Final = "deadlineMs"
"""Parameter of every method: milliseconds from the arrival of the line after which nobody waits for the answer."""

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
NO_SUCH_METHOD: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL: Final = -32603
FAILED: Final = -32000
EXPIRED: Final = -32001
CANCELLED: Final = -32800

_OVERDUE: Final = 256
"""Calls in a row without a pause after which garbage is collected all the same."""
_THOROUGH: Final = 128
"""Calls from one collection of everything to the next."""
_SKIP: Final = 1024 * 1024


class Refused(Exception):
    """A line that is answered with an error of the protocol.

    Attributes:
        code: JSON-RPC's number.
        message: one line.
        data: more about it, or None.
    """

    def __init__(self, code: int, message: str, data: object = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


class Call:
    """One request on its way.

    Attributes:
        id: what the host calls it; `wanted` is false for a notification.
        method: its name.
        params: by name, without the deadline.
        wanted: whether it is answered.
        deadline: of `monotonic()`, or None.
        cancelled: whether the host has lost interest.
        quiet: says whether nothing else has been asked meanwhile.
        afterwards: what is still to be done once the answer is on its way; what it raises is nobody's concern.
    """

    __slots__ = ("afterwards", "cancelled", "deadline", "id", "method", "params", "quiet", "wanted")

    def __init__(self, id_: Id, method: str, params: Params, *, wanted: bool, arrived: float) -> None:
        self.id = id_
        self.method = method
        self.wanted = wanted
        self.cancelled = False
        self.afterwards: Callable[[], None] | None = None
        self.deadline: float | None = None
        self.params = params
        self.quiet: Callable[[], bool] = lambda: False
        limit = params.pop(DEADLINE, None)
        if limit is not None:
            if isinstance(limit, bool) or not isinstance(limit, int | float) or not limit >= 0:
                raise Refused(INVALID_PARAMS, f"{DEADLINE} is a number of milliseconds, 0 or more")
            self.deadline = arrived + limit / 1000

    def check(self) -> None:
        """Ends the work on a call that nobody waits for; long work asks now and then.

        Raises:
            Refused: it was cancelled, or its deadline has passed.
        """
        if self.cancelled:
            raise Refused(CANCELLED, "the request was cancelled", _data("cancelled", "the request was cancelled", ""))
        if self.deadline is not None and monotonic() > self.deadline:
            told = "the deadline of the request has passed"
            raise Refused(EXPIRED, told, _data("deadline-exceeded", told, "ask again with more time"))

    def progress(self, done: int, total: int) -> None:
        """For work that reports how far it is."""
        del done, total
        self.check()


class Answer:
    """What the host says to a request of ours: its result, or None if it refused."""

    __slots__ = ("id", "result")

    def __init__(self, id_: str, result: object) -> None:
        self.id = id_
        self.result = result


class Connection:
    """The two streams and what is under way between them."""

    def __init__(self, source: BinaryIO, sink: BinaryIO, methods: Mapping[str, Method]) -> None:
        """Takes binary streams and a function a method; `run` does the rest."""
        self._source = source
        self._sink = sink
        self._methods = methods
        self._lines: SimpleQueue[Call | Answer | bytes | None] = SimpleQueue()
        self._open: dict[tuple[type, Id], Call] = {}
        self._guard = Lock()
        self._asked = 0
        self._waiting: dict[str, Callable[[object], None]] = {}
        self._served = 0
        self.ended = False
        """Set by a method after whose answer nothing is to be done any more."""

    def ask(self, method: str, params: Params, then: Callable[[object], None]) -> None:
        """Asks the host for something. Only methods may ask, while they answer.

        Args:
            method: what the host is asked for.
            params: by name.
            then: gets the result in the order of the lines, None if the host refuses; what it raises is dropped.

        Raises:
            OSError: the sink cannot be written.
        """
        self._asked += 1
        id_ = f"ask-{self._asked}"
        self._waiting[id_] = then
        self._send(wire.encode_quickly({"jsonrpc": "2.0", "id": id_, "method": method, "params": params}))

    def run(self) -> None:
        """Answers until the source ends or `ended` is set. What was asked before the end is still answered.

        Raises:
            OSError: the sink cannot be written: whoever asked has gone.
        """
        Thread(target=self._read, name="lines", daemon=True).start()
        collecting = gc.isenabled()
        gc.disable()
        try:
            self._serve()
        finally:
            if collecting:
                gc.enable()

    def _serve(self) -> None:
        while not self.ended:
            self._tidy()
            item = self._lines.get()
            if item is None:
                return
            if isinstance(item, bytes):
                self._send(item)
            elif isinstance(item, Answer):
                self._take_answer(item)
            else:
                item.quiet = self._lines.empty
                answer = self._answer(item)
                with self._guard:
                    self._open.pop((type(item.id), item.id), None)
                if item.wanted:
                    self._send(answer)
                if item.afterwards is not None:
                    with suppress(Exception):  # the service outlives every call, and nobody waits for this one
                        item.afterwards()

    def _tidy(self) -> None:
        """Collects garbage between two calls rather than in the middle of one, and not while somebody waits."""
        self._served += 1
        if self._served % _OVERDUE == 0 or self._lines.empty():
            gc.collect(2 if self._served % _THOROUGH == 0 else 1)

    def _take_answer(self, answer: Answer) -> None:
        """Hands an answer of the host to whoever waits for it; a second one to the same request is dropped."""
        then = self._waiting.pop(answer.id, None)
        if then is not None:
            with suppress(Exception):  # the service outlives every answer
                then(answer.result)

    def _read(self) -> None:
        try:
            while line := self._source.readline(MAX_LINE + 1):
                self._take(line, monotonic())
        except (OSError, ValueError):
            pass  # a source that breaks has ended
        finally:
            self._lines.put(None)

    def _take(self, line: bytes, arrived: float) -> None:
        """Queues the call of a line, or the answer to a line that is none."""
        id_: Id = None
        try:
            if line.isspace():
                return
            self._skip_too_long(line)
            request = _parse(line)
            id_ = _read_id(request)
            if "method" not in request and isinstance(id_, str) and id_ in self._waiting:
                self._lines.put(Answer(id_, request.get("result")))
                return
            call = _read_call(request, id_, arrived)
        except Refused as refused:
            self._lines.put(wire.encode(_failure(id_, refused)))
            return
        if call.method == CANCEL:
            self._cancel(call.params.get("id"))
            return
        if call.wanted:
            with self._guard:
                self._open[type(call.id), call.id] = call
        self._lines.put(call)

    def _skip_too_long(self, line: bytes) -> None:
        """Reads on to the end of a line that is longer than it may be."""
        if len(line) <= MAX_LINE or line.endswith(b"\n"):
            return
        while line and not line.endswith(b"\n"):
            line = self._source.readline(_SKIP)
        raise Refused(INVALID_REQUEST, f"the line is longer than {MAX_LINE} bytes")

    def _cancel(self, id_: object) -> None:
        if isinstance(id_, str | int | float):
            with self._guard:
                call = self._open.get((type(id_), id_))
            if call is not None:
                call.cancelled = True

    def _answer(self, call: Call) -> bytes:
        """Does what was asked and encodes what came of it."""
        try:
            call.check()
            result = self._find(call.method)(call.params, call)
            call.check()
            return wire.encode_quickly({"jsonrpc": "2.0", "id": call.id, "result": result})
        except Refused as refused:
            return wire.encode(_failure(call.id, refused))
        except AforesaidError as error:
            code = INVALID_PARAMS if isinstance(error, UsageError) else FAILED
            return wire.encode(_failure(call.id, _refuse(code, error)))
        except OSError as error:
            where = f"{error.filename}: " if error.filename else ""
            failed = OperationError(f"{where}{error.strerror or error}", "check permissions, free space and the path")
            return wire.encode(_failure(call.id, _refuse(FAILED, failed)))
        except Exception as error:  # noqa: BLE001 - the service outlives every call
            message = locate(error)
            data = _data("internal", message, "this is a bug: report it")
            return wire.encode(_failure(call.id, Refused(INTERNAL, message, data)))

    def _find(self, name: str) -> Method:
        method = self._methods.get(name)
        if method is None:
            raise Refused(NO_SUCH_METHOD, f"there is no method {name}")
        return method

    def _send(self, encoded: bytes) -> None:
        self._sink.write(encoded + b"\n")
        self._sink.flush()


def serve(methods: Mapping[str, Method], prepare: Callable[[Connection], None]) -> None:
    """Answers on standard input and output until the input ends.

    Args:
        methods: what can be asked.
        prepare: gets the connection before the first line is read.

    Raises:
        BadArgument: there is no standard input.
        OSError: standard output cannot be written.
    """
    if sys.stdin is None:
        raise BadArgument("there is no standard input to read requests from", "start the service from a host")
    # A file of its own: the interpreter could not end while a thread waits in the one that it closes itself.
    source, sink = os.fdopen(os.dup(sys.stdin.fileno()), "rb"), sys.stdout.buffer
    # Whatever prints from now on must not stand between two answers.
    sys.stdout = sys.stderr
    connection = Connection(source, sink, methods)
    prepare(connection)
    connection.run()


def _parse(line: bytes) -> Params:
    """The object of a line.

    Raises:
        Refused: it is none.
    """
    try:
        request = json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise Refused(PARSE_ERROR, f"the line is not JSON: {reason}") from error
    if isinstance(request, list):
        raise Refused(INVALID_REQUEST, "batches are not answered: send one object a line")
    if not isinstance(request, dict):
        raise Refused(INVALID_REQUEST, "the line holds no object")
    return request


def _read_id(request: Params) -> Id:
    id_ = request.get("id")
    if isinstance(id_, bool) or not isinstance(id_, str | int | float | None):
        raise Refused(INVALID_REQUEST, "the id is neither a text nor a number")
    if isinstance(id_, float) and id_ - id_ != 0:
        raise Refused(INVALID_REQUEST, "the id is not a finite number")
    return id_


def _read_call(request: Params, id_: Id, arrived: float) -> Call:
    method, params = request.get("method"), request.get("params", {})
    if request.get("jsonrpc") != "2.0":
        raise Refused(INVALID_REQUEST, 'the request does not say "jsonrpc": "2.0"')
    if not isinstance(method, str):
        raise Refused(INVALID_REQUEST, "the request names no method")
    if not isinstance(params, dict):
        raise Refused(INVALID_PARAMS, "parameters are given by name, as an object")
    return Call(id_, method, params, wanted="id" in request, arrived=arrived)


def _refuse(code: int, error: AforesaidError) -> Refused:
    return Refused(code, error.message, _data(error.code, error.message, error.hint))


def _data(code: str, message: str, hint: str) -> object:
    """The inside of the error document of the command line."""
    return wire.error(code, message, hint)["error"]


def _failure(id_: Id, refused: Refused) -> Params:
    error: Params = {"code": refused.code, "message": refused.message}
    if refused.data is not None:
        error["data"] = refused.data
    return {"jsonrpc": "2.0", "id": id_, "error": error}
