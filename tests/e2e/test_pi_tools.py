"""The history tools in the real Pi: a model calls them, and nothing of what they bring back is ever searched."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

from tests.e2e.test_pi_commands import choose, pick
from tests.realpi import FACT, OFF_TOPIC, Home, Model, Pi, evidence, fill, lose_the_fact, needs_pi, text_of

from aforesaid.hosts.tools import WARNING, read_tools

if TYPE_CHECKING:
    from collections.abc import Sequence

pytestmark = needs_pi

NAMES = ["history_recall", "history_expand", "history_status"]


def declared(body: dict[str, Any]) -> list[str]:
    """The history tools that a request declares."""
    return [tool["function"]["name"] for tool in body["tools"] if tool["function"]["name"].startswith("history_")]


def answers(messages: Sequence[dict[str, Any]]) -> list[Any]:
    """What the tools answered, in order."""
    return [json.loads(text_of(message)) for message in messages if message["role"] == "tool"]


class Plot:
    """A model that calls tools one after another in the run of one prompt, then says that it is done."""

    def __init__(self, prompt: str, *calls: Any) -> None:
        self.prompt = prompt
        self.calls = calls
        self.seen: list[Any] = []

    def __call__(self, body: dict[str, Any]) -> Any:
        messages = body["messages"]
        begun = [at for at, message in enumerate(messages) if text_of(message) == self.prompt]
        if not begun:
            return "fine"
        self.seen = answers(messages[begun[-1] :])
        if len(self.seen) == len(self.calls):
            return "done"
        call = self.calls[len(self.seen)]
        name, arguments = call(self.seen) if callable(call) else call
        return {"tool": name, "arguments": arguments, "id": f"call_{len(self.seen)}"}


def recalled(query: str) -> tuple[str, dict[str, Any]]:
    return "history_recall", {"query": query}


def expanded(seen: list[Any]) -> tuple[str, dict[str, Any]]:
    """Opens the best hit of the last answer."""
    return "history_expand", {"ref": seen[-1]["hits"][0]["ref"]}


def known(home: Home, query: str) -> list[str]:
    """The entries that the user finds on all branches."""
    (file,) = home.session_files()
    told = home.aforesaid(
        "recall", query, "--session", str(file), "--scope", "current-session", "--limit=200", "--json"
    )
    return [hit["entryId"] for hit in json.loads(told.stdout)["hits"]]


def test_a_model_recalls_and_expands_what_was_compacted_away_and_the_index_does_not_grow_by_it(
    home: Home, model: Model
) -> None:
    with Pi(home) as pi:
        lose_the_fact(pi)
        before = known(home, "5433")
        plot = model.script = Plot(OFF_TOPIC, recalled("PG_PORT"), expanded, ("history_status", {}))
        pi.prompt(OFF_TOPIC)
        found, opened, status = plot.seen
        (request,) = [call for call in model.calls if len(answers(call)) == 3]
        assert not any(FACT in text_of(message) for message in request if message["role"] != "tool")
        (hit,) = found["hits"]
        assert (found["warning"], found["status"], hit["inContext"]) == (WARNING, "complete", False)
        assert FACT in hit["snippet"]
        (passage,) = opened["entries"]
        assert (passage["text"], passage["complete"], passage["verified"]) == (FACT, True, True)
        assert (status["coverage"]["complete"], status["session"]["host"]) == (True, "pi")
        assert status["scopes"] == ["current-branch", "current-session", "current-lineage"]
        assert before == known(home, "5433") == [hit["entryId"]]
        # Once more, now that the answers stand in the session: the same is found, and once.
        again = model.script = Plot("once more", recalled("5433"), recalled("history_recall"))
        pi.prompt("once more")
        assert [hit["entryId"] for hit in again.seen[0]["hits"]] == before
        assert again.seen[1]["hits"] == []
        assert (pi.faults, pi.notices) == ([], [])


def test_the_tools_are_declared_from_the_first_request_on_as_the_mcp_server_offers_them(
    home: Home, model: Model
) -> None:
    with Pi(home) as pi:
        pi.prompt("hello")
        told = {tool["function"]["name"]: tool["function"] for tool in model.requests[0]["tools"]}
        for tool in read_tools():
            assert told[tool.name]["description"] == tool.description
            assert told[tool.name]["parameters"] == tool.arguments
        pi.prompt("and again")
        assert model.requests[0]["tools"] == model.requests[1]["tools"]
        assert model.calls[1][: len(model.calls[0])] == model.calls[0]


def test_a_model_pages_to_the_end_and_results_are_as_long_as_they_may_be(home: Home, model: Model) -> None:
    home.aforesaid("config", "set", "historyTools.maxOutputTokens", "700")
    with Pi(home) as pi:
        fill(pi, 8)

        def on(seen: list[Any]) -> tuple[str, dict[str, Any]]:
            cursor = seen[-1].get("next")
            return (
                ("history_status", {}) if cursor is None else ("history_recall", {"query": "apples", "cursor": cursor})
            )

        plot = model.script = Plot(OFF_TOPIC, recalled("apples"), *[on] * 9)
        pi.prompt(OFF_TOPIC)
        pages = [page for page in plot.seen if "hits" in page]
        assert pages[-1]["next"] is None
        found = [hit["entryId"] for page in pages for hit in page["hits"]]
        assert len(found) == len(set(found)) == 8
        assert all(len(page["hits"]) < 8 for page in pages)


def test_errors_are_answers_that_a_model_can_read_and_name_no_folder(home: Home, model: Model) -> None:
    (home.work / "other").mkdir()
    with Pi(home) as pi:
        plot = model.script = Plot(
            OFF_TOPIC,
            ("history_recall", {"query": "(", "mode": "regex"}),
            ("history_recall", {"scope": "project"}),
            ("history_recall", {"session": "somebody-else"}),
            ("history_expand", {"ref": "nonsense"}),
            ("history_expand", {"entry": ["zz"]}),
        )
        pi.prompt(OFF_TOPIC)
        codes = [answer["error"]["code"] for answer in plot.seen]
        assert codes == ["bad-argument", "scope-not-allowed", "session-not-found", "ref-invalid", "entry-unknown"]
        assert str(home.folder) not in json.dumps(plot.seen)
        ends = [event for event in pi.events if event.get("type") == "tool_execution_end"]
        assert [event["isError"] for event in ends] == [True] * 5
        assert pi.faults == []


def test_who_switched_them_off_has_none_and_may_switch_them_on_again(home: Home, model: Model) -> None:
    home.aforesaid("config", "set", "historyTools.enabled", "false")
    with Pi(home) as pi:
        # On a busy machine the service may be up later than the first request is held back.
        assert "service" in pi.say("/context health")
        pi.prompt("hello")
        assert declared(model.requests[-1]) == []
    (session,) = home.session_files()
    home.aforesaid("config", "set", "historyTools.enabled", "true")
    with Pi(home, "--session", str(session)) as pi:
        pi.prompt("hello again")
        assert declared(model.requests[-1]) == NAMES
        assert pi.faults == []


def test_a_change_of_the_setting_counts_at_once(home: Home, model: Model) -> None:
    with Pi(home) as pi:
        pi.prompt("hello")
        assert declared(model.requests[-1]) == NAMES
        for value, expected in (("false", []), ("true", NAMES)):
            choose(pi, pick("historyTools.enabled"), pick(value))
            pi.prompt(f"hello, with {value}")
            assert declared(model.requests[-1]) == expected
        assert pi.faults == []


def test_a_service_that_does_not_run_is_an_answer_too(home: Home, model: Model) -> None:
    home.launch(str(home.folder / "no-python"), "-m", "aforesaid", "serve")

    def script(body: dict[str, Any]) -> Any:
        last = body["messages"][-1]
        return text_of(last) if last["role"] == "tool" else {"tool": "history_status", "arguments": {}}

    model.script = script
    with Pi(home) as pi:
        pi.prompt("hello")
        told = text_of(model.calls[-1][-1])
        assert told.startswith("the history does not answer (service-down)")
        assert str(home.folder) not in told
        assert pi.faults == []


SILENT = """
import json, sys
native = {"status": "native", "reason": "x", "failed": False, "messages": [], "omitted": []}
for line in sys.stdin:
    asked = json.loads(line)
    if "id" in asked and asked["method"] != "session/tool":
        result = native if asked["method"] == "session/context" else {}
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
"""


def test_a_call_ends_when_its_user_stops_the_run(home: Home, model: Model) -> None:
    program = home.folder / "silent.py"
    program.write_text(SILENT)
    home.launch(sys.executable, str(program))
    model.script = lambda _: {"tool": "history_status", "arguments": {}}
    with Pi(home) as pi:
        pi.ask("prompt", message="hello")
        pi.wait(lambda event: event.get("type") == "tool_execution_start")
        began = time.monotonic()
        pi.send({"type": "abort"})
        pi.wait(lambda event: event.get("type") == "agent_settled")
        (ended,) = [event for event in pi.events if event.get("type") == "tool_execution_end"]
        assert "(cancelled)" in json.dumps(ended["result"])
        assert time.monotonic() - began < 30, "a call may take a minute"
        assert pi.faults == []


def test_the_policy_decides_for_the_provider_of_the_called_model(home: Home, model: Model) -> None:
    with Pi(home) as pi:
        lose_the_fact(pi)
    settings = {"privacy.enabled": "true", "privacy.defaultClassification": "sensitive"}
    for key, value in settings.items():
        home.aforesaid("config", "set", key, value)
    (session,) = home.session_files()

    def ask() -> Any:
        with Pi(home, "--session", str(session)) as pi:
            plot = model.script = Plot(OFF_TOPIC, recalled("PG_PORT"))
            pi.prompt(OFF_TOPIC)
            return plot.seen[-1]

    withheld = ask()
    assert withheld["hits"] == []
    assert withheld["coverage"]["reasons"] == ["privacy-policy"]
    home.aforesaid("config", "set", "privacy.localProviders", '["fake"]')
    assert [FACT in hit["snippet"] for hit in ask()["hits"]] == [True]


def test_a_session_without_a_file_is_searched_too(home: Home, model: Model) -> None:
    with Pi(home, "--no-session") as pi:
        lose_the_fact(pi)
        plot = model.script = Plot(OFF_TOPIC, recalled("PG_PORT"), expanded)
        pi.prompt(OFF_TOPIC)
        assert FACT in plot.seen[0]["hits"][0]["snippet"]
        (passage,) = plot.seen[1]["entries"]
        assert (passage["text"], passage["verified"]) == (FACT, True)
        assert evidence(model.calls[-1]) == []
        assert (pi.faults, pi.notices) == ([], [])


def test_another_session_of_a_trusted_project_is_searched_where_its_user_allows_it(home: Home, model: Model) -> None:
    with Pi(home) as pi:
        pi.prompt(FACT)
    home.aforesaid("index", str(home.session_files()[0]))
    first = json.loads(home.session_files()[0].read_text().splitlines()[0])["id"]

    def ask(*arguments: str) -> list[Any]:
        with Pi(home, *arguments) as pi:
            plot = model.script = Plot(
                OFF_TOPIC,
                ("history_recall", {"query": "PG_PORT", "scope": "project"}),
                ("history_recall", {"query": "PG_PORT", "session": first}),
            )
            pi.prompt(OFF_TOPIC)
            return plot.seen

    refused = [answer["error"]["code"] for answer in ask()]
    assert refused == ["scope-not-allowed", "scope-not-allowed"]
    home.aforesaid("config", "set", "historyTools.allowProjectScope", "true")
    trusted = ask("--approve")
    assert [len(answer.get("hits", ())) for answer in trusted] == [1, 1], trusted


def test_pi_connects_the_server_that_was_registered_with_it_and_calls_it(home: Home, model: Model) -> None:
    settings = home.agent / "mcp.json"
    written = '{"mcpServers": {}, "autoEnableCodemode": false}'
    settings.write_text(written)
    home.aforesaid("install", "mcp", "--client", "pi")
    listed = subprocess.run(
        home.command("mcp", "list", "--json"), env=home.environment, cwd=home.work, capture_output=True, timeout=60,
        check=True,
    )  # fmt: skip
    (server,) = json.loads(listed.stdout)["servers"]
    assert server["name"] == "aforesaid"
    assert server["state"] == "connected"
    assert sorted(server["tools"]) == sorted(NAMES), server
    with Pi(home) as pi:
        lose_the_fact(pi)
        session = json.loads(home.session_files()[0].read_text().splitlines()[0])["id"]
        given = {"query": "PG_PORT", "session": session}
        plot = model.script = Plot(OFF_TOPIC, ("mcp__aforesaid__history_recall", given))
        pi.prompt(OFF_TOPIC)
        assert [FACT in hit["snippet"] for hit in plot.seen[0]["hits"]] == [True]
        assert len(known(home, "5433")) == 1
    home.aforesaid("uninstall", "mcp", "--client", "pi")
    assert settings.read_text() == written


SCRIPT = """
const found = await tools.mcp__aforesaid__history_recall({ query: "PG_PORT", session: "SESSION" });
let direct = "refused";
try { await tools.history_recall({ query: "PG_PORT" }); direct = "called"; } catch {}
text({ snippets: found.structuredContent.hits.map((hit) => hit.snippet), direct });
"""


def test_a_script_reaches_the_registered_server_only_and_what_it_prints_is_not_indexed(
    home: Home, model: Model
) -> None:
    home.aforesaid("install", "mcp", "--client", "pi")
    with Pi(home, "--tools", "+codemode") as pi:
        lose_the_fact(pi)
        before = known(home, "5433")
        offered = [tool["function"] for tool in model.requests[0]["tools"]]
        (codemode,) = [tool for tool in offered if tool["name"] == "codemode"]
        (argument,) = codemode["parameters"]["properties"]
        session = json.loads(home.session_files()[0].read_text().splitlines()[0])["id"]
        script = SCRIPT.replace("SESSION", session)

        def run(body: dict[str, Any]) -> Any:
            last = body["messages"][-1]
            return "done" if last["role"] == "tool" else {"tool": "codemode", "arguments": {argument: script}}

        model.script = run
        pi.prompt(OFF_TOPIC)
        printed = text_of(model.calls[-1][-1])
        assert FACT in printed
        assert '"direct":"refused"' in printed
        assert known(home, "5433") == before
        assert pi.faults == []
