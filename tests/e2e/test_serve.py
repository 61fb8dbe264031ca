"""The service as a real process: handshake, sessions, hostile input, and how it ends."""

from __future__ import annotations

import json
import os
import signal
from typing import TYPE_CHECKING, Any

import pytest
from tests import pi
from tests.e2e.desk import Desk, make_desk
from tests.serving import Service

from aforesaid import Engine, __version__

if TYPE_CHECKING:
    from pathlib import Path

FRAME = "[AFORESAID HISTORICAL EVIDENCE"


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return make_desk(tmp_path)


def write(desk: Desk, *more: pi.Row, name: str = "s.jsonl") -> Path:
    """A session whose first message was compacted away."""
    rows = pi.conversation(["the walnut table costs 412 crowns", "noted"])
    end = pi.compaction("cccccccc", rows[-1]["id"], "cccccccc", minute=9)
    return pi.write(desk.folder / name, [pi.header("one"), *rows, end, *more])


def ask_walnut(id_: str = "q0000001", parent: str = "cccccccc", minute: int = 10) -> pi.Row:
    return pi.message(id_, parent, "what does the walnut table cost?", minute=minute)


def opened(service: Service, file: Path) -> str:
    return str(service.call("session/open", host="pi", sessionId="one", file=str(file))["session"])


def test_the_handshake_names_version_methods_and_limits(desk: Desk) -> None:
    with Service(desk.environment, desk.folder, "--set", "project.enabled=false") as service:
        told = service.call("initialize", protocol=1, client={"name": "a host", "version": "9"})
        assert (told["schema"], told["protocol"]) == ("aforesaid.serve/1", 1)
        assert told["server"] == {"name": "aforesaid", "version": __version__}
        assert {"retrieve", "index", "status", "session/open", "session/context", "shutdown"} <= set(told["methods"])
        assert told["host"] == {"timeoutMs": 250, "firstCallTimeoutMs": 1500}
        assert told["warnings"] == ["not-in-this-version project.enabled"]
        assert told["maxLineBytes"] == 32 * 1024 * 1024
        for method in set(told["methods"]) - {"initialize"}:
            assert service.ask(method, nonsense=1)["error"]["data"]["code"] == "bad-argument", method
        assert service.refused("initialize", protocol=2) == "bad-argument"
        assert service.refused("initialize") == "bad-argument"


def test_a_model_call_gets_its_evidence_before_its_request_and_the_best_last(desk: Desk) -> None:
    file = write(desk)
    with Service(desk.environment, desk.folder) as service:
        session = opened(service, file)
        write(desk, ask_walnut())
        told = service.call(
            "session/context", session=session, leaf="q0000001", request="q0000001",
            entries={"keep": 0, "add": ["cccccccc", "q0000001"]},
        )  # fmt: skip
        assert (told["schema"], told["status"]) == ("aforesaid.context/1", "planned")
        (message,) = told["messages"]
        assert message["content"].startswith(FRAME)
        assert "412 crowns" in message["content"]
        assert (message["role"], message["source"], message["before"]) == ("user", "evidence", "q0000001")
        report = service.call("session/report", session=session)
        assert [hit["evidence"] for hit in report["retrieval"]["hits"]] == [message["content"]]
        assert report["contextEntries"] == 2


def test_several_hits_stand_in_reverse_order(desk: Desk) -> None:
    rows = pi.conversation(["a walnut", "noted", "the walnut table costs 412 crowns", "yes"])
    end = pi.compaction("cccccccc", rows[-1]["id"], "cccccccc", minute=9)
    file = pi.write(desk.folder / "s.jsonl", [pi.header("one"), *rows, end, ask_walnut()])
    with Service(desk.environment, desk.folder) as service:
        session = opened(service, file)
        entries = {"add": ["cccccccc", "q0000001"]}
        told = service.call("session/context", session=session, leaf="q0000001", request="q0000001", entries=entries)
        hits = service.call("session/report", session=session)["retrieval"]["hits"]
        assert len(hits) == 2
        assert [message["entryId"] for message in told["messages"]] == [hit["entryId"] for hit in reversed(hits)]


def test_the_context_is_told_by_deltas(desk: Desk) -> None:
    file = write(desk, ask_walnut())
    with Service(desk.environment, desk.folder) as service:
        session = opened(service, file)

        def context(keep: int, *add: str) -> Any:
            return service.call(
                "session/context", session=session, leaf="q0000001", request="q0000001",
                entries={"keep": keep, "add": list(add)},
            )["messages"]  # fmt: skip

        assert len(context(0, "cccccccc", "q0000001")) == 1
        assert len(context(2)) == 1
        assert context(0, "e0000000", "e0000001", "cccccccc", "q0000001") == []
        assert len(context(0, "cccccccc", "q0000001")) == 1
        assert len(context(1, "q0000001")) == 1
        assert service.refused("session/context", session=session, entries={"keep": 3}) == "bad-argument"
        assert service.refused("session/context", session=session, entries={"keep": -1}) == "bad-argument"


def test_a_session_whose_file_comes_later_is_served_once_it_is_there(desk: Desk) -> None:
    with Service(desk.environment, desk.folder) as service:
        told = service.call("session/open", host="pi", sessionId="one", file="later.jsonl")
        assert told == {"session": str(desk.folder / "later.jsonl"), "entries": 0}
        session = told["session"]
        ask = {
            "session": session,
            "leaf": "q0000001",
            "request": "q0000001",
            "entries": {"add": ["cccccccc", "q0000001"]},
        }
        assert service.call("session/context", **ask)["reason"] == "no-transcript"
        assert service.call("session/append", session=session) == {"entries": 0}
        write(desk, ask_walnut(), name="later.jsonl")
        assert service.call("session/append", session=session) == {"entries": 4}
        assert len(service.call("session/context", **ask)["messages"]) == 1


def test_nothing_is_carried_where_nothing_is_asked(desk: Desk) -> None:
    off_topic = pi.message("q0000001", "cccccccc", "ok, go on", minute=10)
    file = write(desk, off_topic)
    with Service(desk.environment, desk.folder) as service:
        session = opened(service, file)
        entries = {"add": ["cccccccc", "q0000001"]}
        told = service.call("session/context", session=session, leaf="q0000001", request="q0000001", entries=entries)
        assert (told["status"], told["reason"], told["messages"]) == ("planned", "no-query", [])
        told = service.call("session/context", session=session, leaf="q0000001")
        assert (told["status"], told["reason"], told["messages"]) == ("native", "no-request", [])
        assert service.call("session/report", session=session)["retrieval"] is None


def test_a_window_that_is_too_small_leaves_turns_out_and_brings_back_what_was_in_them(desk: Desk) -> None:
    rows = pi.conversation(["the walnut table costs 412 crowns", *["fruit and vegetables " * 150] * 21])
    ask = ask_walnut(parent=rows[-1]["id"])
    file = pi.write(desk.folder / "s.jsonl", [pi.header("one"), *rows, ask])
    with Service(desk.environment, desk.folder) as service:
        session = opened(service, file)
        model = {"provider": "fake", "id": "m", "contextWindow": 12_000, "maxTokens": 1000}
        asked = {"session": session, "leaf": "q0000001", "request": "q0000001", "model": model}
        told = service.call("session/context", **asked, entries={"add": [*(row["id"] for row in rows), "q0000001"]})
        assert (told["status"], told["reason"]) == ("planned", "over-soft-limit")
        assert told["omitted"][0] == "e0000000"
        assert len(told["omitted"]) < len(rows)
        (message,) = told["messages"]
        assert (message["entryId"], message["before"]) == ("e0000000", "q0000001")
        manifest = service.call("session/report", session=session)["manifest"]
        assert manifest["model"] == "fake/m"
        assert manifest["retrievedEventIds"] == ["e0000000"]
        kept = service.call("session/show", session=session, topic="excluded all")["text"]
        assert all(id_ in kept for id_ in told["omitted"])
        service.end()
    with Engine.open(desk.store) as engine:
        (manifest,) = engine.manifests(session=file)
        assert manifest.manifest.retrieved_event_ids == ("e0000000",)


def test_what_holds_of_privacy_is_told(desk: Desk) -> None:
    file = write(desk, ask_walnut())
    settings = ("--set", "privacy.enabled=true", "--set", "privacy.defaultClassification=sensitive")
    with Service(desk.environment, desk.folder, *settings) as service:
        session = opened(service, file)
        service.call("session/context", session=session, request="q0000001", entries={"add": ["cccccccc", "q0000001"]})
        service.call("session/report", session=session)
        told = service.call("session/show", session=session, topic="privacy")["text"].splitlines()
        assert told[0] == "privacy: the policy is on; text is sensitive unless it is raised"
        assert told[-1] == "left out of evidence so far: 1 entry (1 privacy-default; 1 sensitive)"
        assert service.call("config")["privacy"]["withheld"]["byReason"] == {"privacy-default": 1}


def test_a_plan_may_put_messages_elsewhere(desk: Desk) -> None:
    rows = pi.conversation(["the walnut table costs 412 crowns", "noted", "an apple", "a pear"])
    end = pi.compaction("cccccccc", rows[-1]["id"], rows[2]["id"], minute=9)
    file = pi.write(desk.folder / "s.jsonl", [pi.header("one"), *rows, end, ask_walnut()])
    with Service(desk.environment, desk.folder, "--set", "context.supplementalPlacement=stable-prefix") as service:
        session = opened(service, file)
        entries = {"add": ["cccccccc", rows[2]["id"], rows[3]["id"], "q0000001"]}
        told = service.call("session/context", session=session, leaf="q0000001", request="q0000001", entries=entries)
        assert [message["before"] for message in told["messages"]] == [rows[2]["id"]]


def test_an_observer_changes_nothing(desk: Desk) -> None:
    file = write(desk, ask_walnut())
    with Service(desk.environment, desk.folder, "--set", "context.mode=observer") as service:
        session = opened(service, file)
        entries = {"add": ["cccccccc", "q0000001"]}
        told = service.call("session/context", session=session, leaf="q0000001", request="q0000001", entries=entries)
        assert (told["status"], told["messages"], told["omitted"]) == ("observer", [], [])
        assert "observer" in service.call("session/show", session=session, topic="explain")["text"]


def test_sessions_are_kept_apart_and_can_be_closed(desk: Desk) -> None:
    first, second = write(desk, ask_walnut(), name="a.jsonl"), write(desk, name="b.jsonl")
    with Service(desk.environment, desk.folder) as service:
        one, two = opened(service, first), opened(service, second)
        service.call("session/context", session=one, leaf="q0000001", request="q0000001", entries={"add": ["cccccccc"]})
        assert service.call("session/report", session=two)["retrieval"] is None
        assert service.call("session/close", session=one) == {"session": one}
        assert service.refused("session/report", session=one) == "session-not-found"
        assert service.refused("session/close", session=one) == "session-not-found"
        assert service.call("session/report", session=two)["session"] == two
        assert service.refused("session/open", host="emacs", sessionId="x", file="x") == "bad-argument"


def lines_of(*rows: pi.Row) -> list[pi.Row]:
    first = pi.conversation(["the walnut table costs 412 crowns", "noted"])
    end = pi.compaction("cccccccc", first[-1]["id"], "cccccccc", minute=9)
    return [pi.header("one"), *first, end, *rows]


def test_a_session_without_a_file_is_told_in_lines_and_leaves_nothing_on_the_disk(desk: Desk) -> None:
    with Service(desk.environment, desk.folder) as service:
        session = service.call("session/open", host="pi", sessionId="one")["session"]
        ask = {
            "session": session, "leaf": "q0000001", "request": "q0000001",
            "entries": {"add": ["cccccccc", "q0000001"]},
        }  # fmt: skip
        assert service.call("session/context", **ask)["reason"] == "no-transcript"
        lines = lines_of(ask_walnut())
        assert service.call("session/append", session=session, keep=0, add=lines[:4]) == {"entries": 3}
        assert service.call("session/append", session=session, keep=4, add=lines[4:]) == {"entries": 4}
        (message,) = service.call("session/context", **ask)["messages"]
        assert "412 crowns" in message["content"]
        assert service.call("session/report", session=session)["retrieval"]["diagnostics"]["coverage"]["complete"]
        assert service.refused("session/append", session=session, keep=4, add=[]) == "bad-argument"
        assert service.call("session/append", session=session, keep=0, add=lines[:3]) == {"entries": 2}
        assert service.refused("session/context", **ask) in ("leaf-unknown", "entry-unknown")
        service.call("session/close", session=session)
        assert service.call("session/open", host="pi", sessionId="one")["session"] == session
        assert service.call("session/context", **ask)["reason"] == "no-transcript"
    assert not desk.store.exists()


def test_lines_of_a_session_with_a_file_are_refused(desk: Desk) -> None:
    with Service(desk.environment, desk.folder) as service:
        session = opened(service, write(desk))
        assert service.refused("session/append", session=session, add=[{}]) == "bad-argument"


def test_a_session_without_a_file_takes_any_objects(desk: Desk) -> None:
    with Service(desk.environment, desk.folder) as service:
        session = service.call("session/open", host="pi", sessionId="one")["session"]
        odd: list[pi.Row] = [{}, {"type": "message"}, {"type": 7, "id": "\ud800"}, {"id": "x", "parentId": "later"}]
        told = service.call("session/append", session=session, add=odd)
        assert told["entries"] >= 1
        more = [pi.message("later", None, "the walnut table"), ask_walnut("q0000001", "x")]
        assert service.call("session/append", session=session, keep=4, add=more)["entries"] == told["entries"] + 2


HOSTILE = (
    b"garbage",
    b"\x00\x00\x00",
    b"\xff\xfe\xfd",
    b"{}",
    b"[]",
    b'[{"jsonrpc":"2.0","id":1,"method":"status"}]',
    b'{"jsonrpc":"2.0","id":1,"method":"no/such"}',
    b'{"jsonrpc":"2.0","id":1,"method":"retrieve"}',
    b'{"jsonrpc":"2.0","id":1,"method":"retrieve","params":{"session":"\\u0000"}}',
    b'{"jsonrpc":"2.0","id":1,"method":"retrieve","params":{"session":"\\ud800","query":"\\udfff"}}',
    b'{"jsonrpc":"2.0","id":1,"method":"retrieve","params":{"session":"/","query":"x"}}',
    b'{"jsonrpc":"2.0","id":1,"method":"retrieve","params":{"session":"x","colour":"red"}}',
    b'{"jsonrpc":"2.0","id":1,"method":"index","params":{"paths":["\\u0000"]}}',
    b'{"jsonrpc":"2.0","id":1,"method":"sessions","params":{"project":"\\u0000"}}',
    b'{"jsonrpc":"2.0","id":1,"method":"session/open","params":{"host":"pi","sessionId":"","file":"\\u0000"}}',
    b'{"jsonrpc":"2.0","id":1,"method":"session/context","params":{"session":"x","entries":[1]}}',
    b"[" * 100_000,
    b'{"jsonrpc":"2.0","id":1,"method":"' + b"x" * 1_000_000 + b'"}',
)


def test_hostile_lines_are_answered_and_the_service_goes_on(desk: Desk) -> None:
    with Service(desk.environment, desk.folder) as service:
        for line in HOSTILE:
            service.send(line)
            answer = service.receive()
            assert answer["jsonrpc"] == "2.0"
            assert "error" in answer, line[:80]
            assert answer["error"]["code"] != -32603, answer
        assert service.call("status")["schema"] == "aforesaid.status/1"
        status, err = service.end()
    assert status == 0
    assert b"Traceback" not in err


def test_a_line_of_64_megabytes_is_answered_with_an_error(desk: Desk) -> None:
    with Service(desk.environment, desk.folder) as service:
        service.send(b'{"jsonrpc":"2.0","id":1,"method":"' + b"x" * (64 * 1024 * 1024) + b'"}')
        answer = service.receive()
        assert (answer["id"], answer["error"]["code"]) == (None, -32600)
        assert service.call("status")["schema"] == "aforesaid.status/1"


def test_the_end_of_the_input_ends_the_service_after_the_last_answer(desk: Desk) -> None:
    with Service(desk.environment, desk.folder) as service:
        assert service.process.stdin is not None
        service.send(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "status"}).encode())
        service.process.stdin.close()
        assert service.receive()["result"]["schema"] == "aforesaid.status/1"
        assert service.process.wait(20) == 0


def test_shutdown_answers_and_ends(desk: Desk) -> None:
    with Service(desk.environment, desk.folder) as service:
        assert service.ask("shutdown") == {"jsonrpc": "2.0", "id": 1, "result": None}
        assert service.process.wait(20) == 0


def test_a_host_that_reads_no_more_ends_the_service(desk: Desk) -> None:
    with Service(desk.environment, desk.folder) as service:
        assert service.process.stdout is not None
        service.call("status")
        service.process.stdout.close()
        service.send(b'{"jsonrpc":"2.0","id":1,"method":"status"}')
        assert service.process.wait(20) == 0
        assert service.process.stderr is not None
        assert b"Traceback" not in service.process.stderr.read()


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_a_killed_service_leaves_a_store_that_the_next_one_uses(desk: Desk) -> None:
    file = write(desk, ask_walnut())
    for _ in range(2):
        with Service(desk.environment, desk.folder) as service:
            session = opened(service, file)
            entries = {"add": ["cccccccc", "q0000001"]}
            told = service.call(
                "session/context", session=session, leaf="q0000001", request="q0000001", entries=entries
            )
            assert len(told["messages"]) == 1
            os.kill(service.process.pid, signal.SIGKILL)
            service.process.wait(20)


def test_a_store_that_fails_is_an_answer(desk: Desk) -> None:
    desk.store.write_text("no folder")
    file = write(desk)
    with Service(desk.environment, desk.folder) as service:
        told = service.call("retrieve", session=str(file), query="walnut")
        assert (told["status"], told["diagnostics"]["warnings"]) == ("failed", ["store-failed"])
        assert service.refused("session/open", host="pi", sessionId="one", file=str(file)) == "store-failed"
        assert service.refused("status") == "store-failed"


def test_each_session_has_the_configuration_of_its_own_project(desk: Desk) -> None:
    places = {}
    for name, most in (("one", 1), ("two", 2)):
        file = desk.folder / name / ".aforesaid" / "config.json"
        file.parent.mkdir(parents=True)
        settings = {"retrieval": {"maxResults": most}, "historyTools": {"enabled": False}, "host": {"timeoutMs": 9000}}
        file.write_text(json.dumps(settings))
        places[name] = file
    with Service(desk.environment, desk.folder) as service:
        told = service.call("initialize", protocol=1, cwd=str(desk.folder / "one"), trusted=True)
        assert (told["historyTools"], told["host"]["timeoutMs"]) == ({"enabled": False}, 250)
        assert str(places["one"]) in told["files"]
        assert [line for line in told["warnings"] if "host.timeoutMs" in line] == told["warnings"]
        said = {}
        for id_, (folder, trusted) in enumerate([("one", True), ("two", True), ("one", False), (".", True)]):
            file = write(desk, name=f"{id_}.jsonl")
            session = service.call(
                "session/open", host="pi", sessionId=str(id_), file=str(file), cwd=str(desk.folder / folder),
                trusted=trusted,
            )["session"]  # fmt: skip
            said[session] = (folder, trusted)
        for session, (folder, trusted) in [*said.items(), *said.items()]:
            (value,) = service.call("config", action="get", key="retrieval.maxResults", session=session)["values"]
            expected = {"one": (1, str(places["one"])), "two": (2, str(places["two"]))}.get(folder, (12, "default"))
            assert (value["value"], value["source"]) == (expected if trusted else (12, "default"))
            text = service.call("session/show", session=session, topic="config")["text"]
            assert (str(places.get(folder, "-")) in text) == (trusted and folder != ".")
            health = service.call("session/show", session=session, topic="health")["text"]
            assert ("not trusted" in health) == (not trusted)
        (value,) = service.call("config", action="get", key="retrieval.maxResults")["values"]
        assert value["value"] == 12
        first = next(iter(said))
        set_ = service.call("config", action="set", key="retrieval.maxResults", value="5", session=first)
        assert (set_["values"][0]["value"], set_["values"][0]["source"]) == (1, str(places["one"]))
        (option,) = [
            option
            for option in service.call("host/settings", session=first)["options"]
            if option["key"] == "retrieval.maxResults"
        ]
        assert option["value"] == 1
        places["one"].unlink()
        (value,) = service.call("config", action="get", key="retrieval.maxResults", session=first)["values"]
        assert value["value"] == 5


def test_nothing_but_answers_is_on_the_output(desk: Desk) -> None:
    configuration = desk.folder / "config" / "aforesaid" / "config.json"
    configuration.parent.mkdir(parents=True)
    configuration.write_text('{"retrieval": {"maxResults": 0}}')
    with Service(desk.environment, desk.folder) as service:
        assert "retrieval.maxResults" in service.call("initialize", protocol=1)["warnings"][0]
        status, err = service.end()
    assert (status, err.count(b"warning:")) == (0, 1)
