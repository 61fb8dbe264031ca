"""Views of a host's sessions without a host: what it is asked, what counts of its answers, and what is stale."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from tests import pi
from tests.conftest import ROOT
from tests.views import PORT, lost_session, talk

from aforesaid.config import Config
from aforesaid.engine import Engine
from aforesaid.errors import BadArgument
from aforesaid.hosts.jsonrpc import Call
from aforesaid.hosts.sessions import Sessions

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

TALK = talk(
    ("which port for the gateway?", "we chose port 5433 for the gateway"),
    ("tell me of apples", "apples are round"),
    ("is the gateway up?", "yes, on its port"),
)
ON: dict[str, object] = {
    "memory.extractive.enabled": True, "context.maxRetrievedHistoryTokens": 0, "memory.extractive.model": "org/one",
}  # fmt: skip


class Host:
    """A host with one open session, which answers what it is asked when a test says so."""

    def __init__(self, folder: Path, rows: list[Any] | None = None, /, **settings: Any) -> None:
        self.engine = Engine.open(folder / "store", settings={**ON, **settings})
        self.file = pi.write(folder / "s.jsonl", (rows or lost_session(TALK))[:-1])
        self.question = (rows or lost_session(TALK))[-1]
        self.asked: list[tuple[dict[str, Any], Callable[[object], None]]] = []
        self.now = 0.0
        self.sessions = Sessions(self.engine, lambda: None, ask=self._ask)
        self.methods = self.sessions.table({})
        self.handle = self.call("session/open", host="pi", sessionId="one", file=str(self.file))["session"]

    def _ask(self, method: str, params: dict[str, Any], then: Callable[[object], None]) -> None:
        assert method == "classify"
        json.dumps(params)
        self.asked.append((params, then))

    def call(self, method: str, **params: Any) -> Any:
        call = Call(1, method, dict(params), wanted=True, arrived=0.0)
        return self.methods[method](call.params, call)

    def prepare(self, prompt: str = PORT, api: str | None = "any", **more: Any) -> str:
        told = self.call(
            "session/prepare", session=self.handle, prompt=prompt, leaf="cccccccc", api=api,
            entries={"add": ["cccccccc"]}, **more,
        )  # fmt: skip
        self.sessions._views._classifying._now = lambda: self.now
        return str(told["status"])

    def context(self) -> dict[str, Any]:
        lines = self.file.read_text().splitlines()
        if json.loads(lines[-1])["id"] != self.question["id"]:
            self.file.write_text("\n".join([*lines, json.dumps(self.question)]) + "\n")
        id_ = self.question["id"]
        return dict(
            self.call("session/context", session=self.handle, leaf=id_, request=id_, entries={"add": ["cccccccc", id_]})
        )

    def diagnostic(self) -> str:
        told = self.context()
        (view,) = [message for message in told["messages"] if message["source"] == "view"]
        return str(json.loads(view["content"].split("\n")[2].removeprefix("View JSON: "))["diagnostic"])

    def answer(self, number: int = -1, probability: object = 0.5, **changed: Any) -> None:
        params, then = self.asked[number]
        said = {name: {"type": "bool", "probability": probability} for name in params["questions"]}
        then(
            {"outcome": "answered", "result": {"stopReason": "stop", "answers": said, "usage": {"input": 3}, **changed}}
        )


@pytest.fixture
def host(tmp_path: Path) -> Host:
    return Host(tmp_path)


def test_a_host_is_asked_once_for_a_request_and_its_answer_counts(host: Host) -> None:
    assert host.prepare() == "asking"
    (params, _) = host.asked[0]
    assert (params["provider"], params["model"], params["rubric"]) == ("typesafe", "org/one", "salience-1")
    assert params["state"]["request"] == PORT
    texts = [part for one in params["state"]["bundles"].values() for source in one for part in source["text"]]
    assert TALK[1] in texts
    host.answer()
    assert host.diagnostic() == "classified"
    assert host.context()["view"]["usage"] == {"input": 3}
    assert host.prepare() == "classified", "the same request again"
    assert host.prepare("the gateway port again?") == "classified", "everything is known"
    assert len(host.asked) == 1


def test_an_answer_that_comes_after_the_call_went_out_is_dropped(host: Host) -> None:
    assert host.prepare() == "asking"
    assert host.diagnostic() == "classifier-timeout"
    host.answer()
    assert host.diagnostic() == "classifier-timeout"
    assert host.context()["view"]["usage"] is None
    assert host.sessions._views._classifying._annotations.of(host.sessions._views._prepared[host.handle].asker) == {}  # type: ignore[arg-type]


def test_an_answer_to_an_earlier_request_is_dropped(host: Host) -> None:
    assert host.prepare() == "asking"
    assert host.prepare("which gateway port is it?") == "asking"
    host.answer(0, probability=0.9)
    assert host.sessions._views._prepared[host.handle].batch is not None
    host.answer(1, probability=0.1)
    assert host.diagnostic() == "classified"


@pytest.mark.parametrize(
    "outcome", ["classifier-timeout", "classifier-error", "classifier-missing-auth", "classifier-missing-api"]
)
def test_a_failure_is_answered_from_memory_until_it_is_worth_trying_again(host: Host, outcome: str) -> None:
    assert host.prepare() == "asking"
    host.asked[-1][1]({"outcome": outcome})
    assert host.diagnostic() == outcome
    assert host.prepare("another gateway port?") == outcome
    host.now = 29.9
    assert host.prepare("a further gateway port?") == outcome
    assert len(host.asked) == 1
    host.now = 30.0
    assert host.prepare("the last gateway port?") == "asking"


@pytest.mark.parametrize("outcome", ["classifier-aborted", "branch-changed", "config-changed"])
def test_what_was_given_up_is_no_failure(host: Host, outcome: str) -> None:
    assert host.prepare() == "asking"
    host.asked[-1][1]({"outcome": outcome})
    assert host.diagnostic() == outcome
    assert host.prepare("another gateway port?") == "asking"


@pytest.mark.parametrize(
    "answer", [None, 7, {}, {"outcome": "nobody knows"}, {"outcome": ["x"]}, {"outcome": "answered"}]
)
def test_an_answer_that_is_none_is_a_failure(host: Host, answer: object) -> None:
    assert host.prepare() == "asking"
    host.asked[-1][1](answer)
    assert host.diagnostic() == "classifier-error"


def test_a_malformed_answer_counts_for_nothing(host: Host) -> None:
    assert host.prepare() == "asking"
    host.answer(probability=1.5)
    assert host.diagnostic() == "classifier-malformed"


def test_a_change_of_the_configuration_makes_stale_what_runs(host: Host) -> None:
    assert host.prepare() == "asking"
    host.engine.config = Config.load(settings={**ON, "memory.extractive.maxViewBytes": 4096})
    assert host.diagnostic() == "config-changed"
    host.answer()
    assert host.diagnostic() == "config-changed"
    assert host.prepare() == "asking", "with the new configuration it may be asked again"
    host.answer()
    assert host.diagnostic() == "classified"


def test_a_file_that_switches_views_on_or_off_counts_for_the_next_call(host: Host) -> None:
    host.engine.config = Config.load(settings={**ON, "memory.enabled": False})
    told = host.context()
    assert "view" not in told
    assert [message["source"] for message in told["messages"]] == []
    assert host.prepare() == "off"
    assert host.asked == []
    host.engine.config = Config.load(settings=ON)
    assert host.context()["view"]["settings"]["classifier"] == {"provider": "typesafe", "model": "org/one"}


def test_without_consent_nobody_is_asked(tmp_path: Path) -> None:
    host = Host(tmp_path, None, **{"memory.extractive.maxEvaluationsPerTurn": 0})
    assert host.call("initialize", protocol=1)["view"]["classifier"] is None
    assert host.prepare() == "deterministic"
    assert host.diagnostic() == "deterministic"
    assert host.asked == []
    off = Host(tmp_path, None, **{"memory.extractive.enabled": False})
    assert off.call("initialize", protocol=1)["view"] is None
    assert off.prepare() == "off"


def test_nothing_lost_nothing_relevant_and_no_room_ask_nobody(tmp_path: Path) -> None:
    host = Host(tmp_path)
    assert host.prepare("how tall is the tower?") == "deterministic"
    assert host.prepare("ok, go on") == "deterministic"
    assert host.prepare(PORT, api=None) == "classifier-missing-model"
    assert Host(tmp_path, None, **{"memory.extractive.maxSourceChars": 256}).prepare() == "classifier-no-room"
    (tmp_path / "s.jsonl").unlink()
    assert host.prepare() == "no-transcript"
    assert host.asked == []
    with pytest.raises(BadArgument):
        host.call("session/prepare", session=host.handle, prompt="x", entries={"keep": 99})


POLICY = {"privacy.enabled": True, "privacy.localProviders": ["here"]}


def test_a_classifier_gets_what_its_own_provider_may_see(tmp_path: Path) -> None:
    rows = lost_session(
        talk(
            ("[aforesaid:sensitive]the gateway port is secret[/aforesaid:sensitive]", "noted"),
            ("tell me of apples", "apples are round"),
            ("which gateway port?", "gateway port 5433"),
        )
    )
    host = Host(tmp_path, rows, **POLICY)
    assert host.prepare() == "asking"
    said = json.dumps(host.asked[0][0])
    assert "secret" not in said
    assert "5433" in said
    local = Host(tmp_path, rows, **POLICY, **{"memory.extractive.provider": "here"})
    assert local.prepare() == "asking"
    assert "secret" in json.dumps(local.asked[0][0])
    closed = Host(tmp_path, rows, **POLICY, **{"privacy.defaultClassification": "sensitive"})
    assert closed.prepare() == "classifier-private"
    marked = host.prepare("[aforesaid:sensitive]gateway port[/aforesaid:sensitive] of mine?")
    assert marked == "classifier-private"


def test_secrets_do_not_reach_a_classifier(tmp_path: Path) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    rows = lost_session([f"which gateway port? {secret}", "gateway port 5433"])
    host = Host(tmp_path, rows, **{"privacy.redactIndex": False})
    assert host.prepare(f"{PORT} {secret}") == "asking"
    assert secret not in json.dumps(host.asked[0][0])


def test_what_a_view_prints_leads_through_the_history_tools(tmp_path: Path) -> None:
    host = Host(tmp_path, None, **{"memory.extractive.maxEvaluationsPerTurn": 0})
    told = host.context()
    (message,) = [message for message in told["messages"] if message["source"] == "view"]
    view = json.loads(message["content"].split("\n")[2].removeprefix("View JSON: "))

    def consult(name: str, arguments: dict[str, Any]) -> Any:
        answer = host.call(
            "session/tool", session=host.handle, name=name, arguments=arguments, leaf=host.question["id"]
        )
        assert not answer["failed"], answer
        return json.loads(answer["text"])

    follow = view["follow"]
    listed: list[str] = []
    cursor: str | None = None
    while True:
        page = consult(follow["tool"], {**follow["arguments"], **({"cursor": cursor} if cursor else {})})
        assert page["coverage"]["complete"] is True
        listed += [hit["entryId"] for hit in page["hits"]]
        cursor = page["next"]
        if cursor is None:
            break
    assert {f"e{at:07}" for at in range(len(TALK))} <= set(listed), "omitted bundles too"
    for source in view["evidence"]:
        asked = {"session": view["session"], "entry": [source["entryId"]]}
        (entry,) = consult("history_expand", asked)["entries"]
        assert (entry["text"], entry["verified"]) == ("\n".join(source["quotes"]), True)


def test_a_session_that_is_closed_is_forgotten(host: Host) -> None:
    assert host.prepare() == "asking"
    host.call("session/close", session=host.handle)
    host.answer()
    assert host.sessions._views._prepared == {}


def test_nothing_of_it_is_imported_while_it_is_off(tmp_path: Path) -> None:
    file = pi.write(tmp_path / "s.jsonl", lost_session(TALK))
    script = f"""
import sys
from aforesaid.engine import Engine
from aforesaid.hosts.jsonrpc import Call
from aforesaid.hosts.sessions import Sessions
with Engine.open({str(tmp_path / "store")!r}) as engine:
    methods = Sessions(engine, lambda: None).table({{}})
    def call(method, **params):
        one = Call(1, method, dict(params), wanted=True, arrived=0.0)
        return methods[method](one.params, one)
    call("initialize", protocol=1)
    session = call("session/open", host="pi", sessionId="one", file={str(file)!r})["session"]
    asked = {{"leaf": "q0000000", "request": "q0000000", "entries": {{"add": ["cccccccc", "q0000000"]}}}}
    told = call("session/context", session=session, **asked)
    assert told["messages"], told
    off = ("extractive", "classif", ".viewing", "hosts.views")
    print([name for name in sys.modules if any(part in name for part in off)])
"""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "XDG_CONFIG_HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == "[]"
