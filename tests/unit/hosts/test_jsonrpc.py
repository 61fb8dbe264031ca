"""The protocol of the service, without a process: whatever a line holds, it is answered, and the next one too."""

from __future__ import annotations

import gc
import json
import os
import threading
from io import BytesIO
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aforesaid.errors import BadArgument, StoreBusy
from aforesaid.hosts import jsonrpc
from aforesaid.hosts.jsonrpc import Call, Connection

if TYPE_CHECKING:
    from collections.abc import Callable


def echo(params: dict[str, Any], call: Call) -> object:
    return params


def usage(params: dict[str, Any], call: Call) -> object:
    raise BadArgument("wrong", "do it right")


def busy(params: dict[str, Any], call: Call) -> object:
    raise StoreBusy("another process writes", "run it again")


def full(params: dict[str, Any], call: Call) -> object:
    raise OSError(28, "No space left on device", "/home/dev/store")


def bug(params: dict[str, Any], call: Call) -> object:
    return 1 // 0


METHODS: dict[str, Callable[[dict[str, Any], Call], object]] = {
    "echo": echo,
    "usage": usage,
    "busy": busy,
    "full": full,
    "bug": bug,
}


def ask(*lines: bytes, ending: bytes = b"\n") -> list[Any]:
    """The answers to lines that are followed by the end of the input."""
    sink = BytesIO()
    Connection(BytesIO(b"".join(line + ending for line in lines)), sink, METHODS).run()
    return [json.loads(line) for line in sink.getvalue().split(b"\n") if line]


def request(method: str, id_: object = 1, **params: object) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": id_, "method": method, "params": params}).encode()


def code_of(line: bytes) -> int:
    refused, answered = ask(line, request("echo", "next"))
    assert answered == {"jsonrpc": "2.0", "id": "next", "result": {}}
    assert set(refused) == {"jsonrpc", "id", "error"}
    return int(refused["error"]["code"])


def test_a_request_is_answered_under_its_id() -> None:
    ids = [7, 0, -1, 1.5, "a", "", "привет 🎉", None]
    answers = ask(*(request("echo", id_, text="perché") for id_ in ids))
    assert [answer["id"] for answer in answers] == ids
    assert all(answer["result"] == {"text": "perché"} for answer in answers)


def test_parameters_may_be_left_out() -> None:
    assert ask(b'{"jsonrpc":"2.0","id":1,"method":"echo"}') == [{"jsonrpc": "2.0", "id": 1, "result": {}}]


def test_blank_lines_line_ends_of_windows_and_a_missing_last_line_end_do_not_matter() -> None:
    assert len(ask(b"", b"  ", request("echo"), ending=b"\r\n")) == 1
    assert len(ask(request("echo", 1) + b"\n" + request("echo", 2), ending=b"")) == 2


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"garbage", jsonrpc.PARSE_ERROR),
        (b"\x00", jsonrpc.PARSE_ERROR),
        (request("echo").replace(b"echo", b"ec\x00ho"), jsonrpc.PARSE_ERROR),
        (b'{"jsonrpc":"2.0","id":1,"method":"echo"', jsonrpc.PARSE_ERROR),
        (b'{"jsonrpc":"2.0","id":1,"method":"\xff"}', jsonrpc.PARSE_ERROR),
        ('{"jsonrpc":"2.0","id":1,"method":"echo"}'.encode("utf-16"), jsonrpc.PARSE_ERROR),
        (b"[" * 200_000, jsonrpc.PARSE_ERROR),
        (b'{"jsonrpc":"2.0","id":' + b"9" * 5000 + b',"method":"echo"}', jsonrpc.PARSE_ERROR),
        (b"[" + request("echo") + b"]", jsonrpc.INVALID_REQUEST),
        (b"[]", jsonrpc.INVALID_REQUEST),
        (b"7", jsonrpc.INVALID_REQUEST),
        (b"null", jsonrpc.INVALID_REQUEST),
        (b'{"id":1,"method":"echo"}', jsonrpc.INVALID_REQUEST),
        (b'{"jsonrpc":"1.0","id":1,"method":"echo"}', jsonrpc.INVALID_REQUEST),
        (b'{"jsonrpc":"2.0","id":1}', jsonrpc.INVALID_REQUEST),
        (b'{"jsonrpc":"2.0","id":1,"method":["echo"]}', jsonrpc.INVALID_REQUEST),
        (b'{"jsonrpc":"2.0","id":{},"method":"echo"}', jsonrpc.INVALID_REQUEST),
        (b'{"jsonrpc":"2.0","id":true,"method":"echo"}', jsonrpc.INVALID_REQUEST),
        (b'{"jsonrpc":"2.0","id":NaN,"method":"echo"}', jsonrpc.INVALID_REQUEST),
        (b'{"jsonrpc":"2.0","id":1e999,"method":"echo"}', jsonrpc.INVALID_REQUEST),
        (b'{"jsonrpc":"2.0","id":1,"method":"echo","params":[1]}', jsonrpc.INVALID_PARAMS),
        (b'{"jsonrpc":"2.0","id":1,"method":"echo","params":null}', jsonrpc.INVALID_PARAMS),
        (request("echo", deadlineMs="soon"), jsonrpc.INVALID_PARAMS),
        (request("echo", deadlineMs=True), jsonrpc.INVALID_PARAMS),
        (request("echo", deadlineMs=-1), jsonrpc.INVALID_PARAMS),
        (request("echo", deadlineMs=float("nan")), jsonrpc.INVALID_PARAMS),
        (request("nothing"), jsonrpc.NO_SUCH_METHOD),
        (request("__class__"), jsonrpc.NO_SUCH_METHOD),
        (request("usage"), jsonrpc.INVALID_PARAMS),
        (request("busy"), jsonrpc.FAILED),
        (request("full"), jsonrpc.FAILED),
        (request("bug"), jsonrpc.INTERNAL),
    ],
)
def test_what_cannot_be_done_is_told_and_the_next_request_is_answered(line: bytes, code: int) -> None:
    assert code_of(line) == code


def test_errors_carry_the_error_document_of_the_command_line() -> None:
    wrong, failed, system, bug_ = (answer["error"]["data"] for answer in ask(*map(request, list(METHODS)[1:])))
    assert wrong == {"code": "bad-argument", "message": "wrong", "hint": "do it right"}
    assert (failed["code"], system["code"], bug_["code"]) == ("store-busy", "operation-failed", "internal")
    assert system["message"] == "/home/dev/store: No space left on device"
    assert bug_["message"].startswith("ZeroDivisionError in ")
    assert "by zero" not in bug_["message"]


def test_an_error_names_the_request_if_that_can_be_known() -> None:
    known, unknown = ask(request("nothing", "mine"), b"[1]")
    assert (known["id"], unknown["id"]) == ("mine", None)


def test_a_notification_is_done_and_never_answered() -> None:
    done: list[object] = []
    methods = {"note": lambda params, call: done.append(params), "bug": bug}
    source = b'{"jsonrpc":"2.0","method":"note","params":{"a":1}}\n{"jsonrpc":"2.0","method":"bug"}\n'
    sink = BytesIO()
    Connection(BytesIO(source), sink, methods).run()
    assert done == [{"a": 1}]
    assert sink.getvalue() == b""


def test_what_fails_after_an_answer_is_nobodys_concern() -> None:
    def leave(params: dict[str, Any], call: Call) -> str:
        def fail() -> None:
            bug(params, call)

        call.afterwards = fail
        return "done"

    sink = BytesIO()
    Connection(BytesIO(request("leave", 1) + b"\n" + request("leave", 2) + b"\n"), sink, {"leave": leave}).run()
    assert [json.loads(line)["result"] for line in sink.getvalue().splitlines()] == ["done", "done"]


def test_a_line_beyond_the_limit_is_skipped_and_the_next_one_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonrpc, "MAX_LINE", 100)
    monkeypatch.setattr(jsonrpc, "_SKIP", 30)
    fits = request("echo", 1, text="")
    fits = request("echo", 1, text="x" * (99 - len(fits)))
    assert len(fits) == 99
    just, exactly, beyond, after = ask(fits, fits[:-3] + b"xx" + fits[-3:-1], b"x" * 1000, request("echo", 2))
    assert "result" in just
    assert exactly["error"]["code"] in (jsonrpc.PARSE_ERROR, jsonrpc.INVALID_REQUEST)
    assert beyond["error"] == {"code": jsonrpc.INVALID_REQUEST, "message": "the line is longer than 100 bytes"}
    assert after["id"] == 2
    (unended,) = ask(b"x" * 1000, ending=b"")
    assert unended["error"]["code"] == jsonrpc.INVALID_REQUEST


def test_an_expired_request_is_not_begun() -> None:
    begun: list[str] = []

    def slow(params: dict[str, Any], call: Call) -> object:
        begun.append(call.method)
        threading.Event().wait(0.05)
        return None

    sink = BytesIO()
    lines = request("slow", 1) + b"\n" + request("slow", 2, deadlineMs=10) + b"\n" + request("slow", 3, deadlineMs=9e9)
    Connection(BytesIO(lines), sink, {"slow": slow}).run()
    first, second, third = (json.loads(line) for line in sink.getvalue().splitlines())
    assert "result" in first
    assert second["error"]["code"] == jsonrpc.EXPIRED
    assert second["error"]["data"]["code"] == "deadline-exceeded"
    assert "result" in third
    assert len(begun) == 2


def test_the_deadline_is_no_parameter_of_the_method_and_ends_long_work() -> None:
    def long(params: dict[str, Any], call: Call) -> object:
        assert params == {}
        while True:
            call.progress(1, 2)

    sink = BytesIO()
    Connection(BytesIO(request("long", 1, deadlineMs=20) + b"\n"), sink, {"long": long}).run()
    assert json.loads(sink.getvalue())["error"]["code"] == jsonrpc.EXPIRED


def test_a_cancelled_request_ends_whether_it_runs_or_waits_and_others_do_not() -> None:
    running, go_on = threading.Event(), threading.Event()

    def long(params: dict[str, Any], call: Call) -> object:
        running.set()
        go_on.wait(10)
        call.progress(1, 2)
        return None

    def cancel(id_: object) -> bytes:
        return json.dumps({"jsonrpc": "2.0", "method": jsonrpc.CANCEL, "params": {"id": id_}}).encode() + b"\n"

    out, into = os.pipe()
    sink = BytesIO()
    with os.fdopen(out, "rb") as source, os.fdopen(into, "wb", buffering=0) as lines:
        connection = Connection(source, sink, {"long": long, "echo": echo})
        worker = threading.Thread(target=connection.run)
        worker.start()
        lines.write(request("long", 1) + b"\n" + request("echo", 2) + b"\n" + request("echo", "1") + b"\n")
        assert running.wait(10)
        lines.write(cancel(1) + cancel(2) + cancel("nobody") + cancel(None) + cancel([]) + b"\n")
        lines.write(request("echo", 3) + b"\n")
        lines.close()
        while not connection._lines.qsize() > 3:
            threading.Event().wait(0.005)
        go_on.set()
        worker.join(10)
    answers = {json.dumps(answer["id"]): answer for answer in map(json.loads, sink.getvalue().splitlines())}
    assert answers["1"]["error"]["code"] == answers["2"]["error"]["code"] == jsonrpc.CANCELLED
    assert "result" in answers['"1"']
    assert "result" in answers["3"]


def test_a_method_can_end_the_service_after_its_answer() -> None:
    sink = BytesIO()

    def end(params: dict[str, Any], call: Call) -> object:
        connection.ended = True
        return None

    connection = Connection(BytesIO(request("end") + b"\n" + request("echo", 2)), sink, {"end": end, "echo": echo})
    connection.run()
    assert [json.loads(line) for line in sink.getvalue().splitlines()] == [{"jsonrpc": "2.0", "id": 1, "result": None}]


def test_a_reader_that_has_gone_ends_the_service() -> None:
    class Gone(BytesIO):
        def write(self, _: object) -> int:
            raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        Connection(BytesIO(request("echo")), Gone(), METHODS).run()


def test_a_source_that_breaks_has_ended() -> None:
    class Broken(BytesIO):
        def readline(self, *_: object) -> bytes:
            raise OSError

    sink = BytesIO()
    Connection(Broken(), sink, METHODS).run()
    assert sink.getvalue() == b""


@given(lines=st.lists(st.binary(max_size=60) | st.text(max_size=30).map(lambda text: json.dumps(text).encode())))
def test_any_bytes_are_answered_line_by_line(lines: list[bytes]) -> None:
    asked = [line for line in b"\n".join(lines).split(b"\n") if line.strip(b" \t\r\x0b\x0c")]
    answers = ask(*lines, request("echo", "last"))
    assert len(answers) == len(asked) + 1
    assert answers[-1]["id"] == "last"


@given(
    request_=st.fixed_dictionaries(
        {"jsonrpc": st.just("2.0"), "method": st.sampled_from(["echo", "bug", "x"]), "id": st.integers()},
        optional={
            "params": st.recursive(st.none() | st.text() | st.integers(), lambda x: st.dictionaries(st.text(), x))
        },
    )
)
def test_any_request_gets_exactly_one_answer_of_its_own(request_: dict[str, Any]) -> None:
    (answer,) = ask(json.dumps(request_).encode())
    assert answer["id"] == request_["id"]
    assert ("result" in answer) != ("error" in answer)


def test_a_method_may_ask_the_host_and_goes_on_when_it_answers() -> None:
    heard: list[object] = []
    sink = BytesIO()

    def fail(result: object) -> None:
        raise ZeroDivisionError

    def wonder(params: dict[str, Any], call: Call) -> object:
        for number in range(2):
            connection.ask("classify", {"number": number}, heard.append)
        connection.ask("classify", {"number": 2}, fail)
        return "asked"

    lines = (
        request("wonder"),
        b'{"jsonrpc":"2.0","id":"ask-2","result":{"outcome":"answered"}}',
        b'{"jsonrpc":"2.0","id":"ask-3","result":1}',
        b'{"jsonrpc":"2.0","id":"ask-1","error":{"code":-1,"message":"no"}}',
        request("echo", 2),
    )
    read, write = os.pipe()
    with os.fdopen(read, "rb") as source, os.fdopen(write, "wb", buffering=0) as feed:
        connection = Connection(source, sink, {**METHODS, "wonder": wonder})
        worker = threading.Thread(target=connection.run)
        worker.start()
        feed.write(lines[0] + b"\n")
        for _ in range(500):
            if sink.getvalue().count(b"\n") == 4:
                break
            threading.Event().wait(0.01)
        feed.write(b"".join(line + b"\n" for line in lines[1:]))
        feed.close()
        worker.join(20)
    asked = [json.loads(line) for line in sink.getvalue().splitlines()]
    assert [(one["id"], one.get("method")) for one in asked] == [
        ("ask-1", "classify"), ("ask-2", "classify"), ("ask-3", "classify"), (1, None), (2, None),
    ]  # fmt: skip
    assert [one["params"]["number"] for one in asked[:3]] == [0, 1, 2]
    assert heard == [{"outcome": "answered"}, None]


def test_an_answer_to_what_nobody_asked_is_no_request() -> None:
    (answer,) = ask(b'{"jsonrpc":"2.0","id":"ask-1","result":1}')
    assert answer["error"]["code"] == jsonrpc.INVALID_REQUEST


@pytest.mark.parametrize("collecting", [True, False])
def test_the_collector_is_left_as_it_was_found(collecting: bool) -> None:
    seen: list[bool] = []

    def look(params: dict[str, Any], call: Call) -> object:
        seen.append(gc.isenabled())
        return None

    before = gc.isenabled()
    try:
        (gc.enable if collecting else gc.disable)()
        Connection(BytesIO(request("look") + b"\n"), BytesIO(), {"look": look}).run()
        assert seen == [False]
        assert gc.isenabled() is collecting
    finally:
        (gc.enable if before else gc.disable)()
