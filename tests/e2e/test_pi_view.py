"""The extractive history view in the real Pi, with a classifier on the loopback."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import pytest
from tests.classifiers import Classifier, configure, offer
from tests.conftest import ROOT
from tests.realpi import FACT, QUESTION, Home, Model, Pi, evidence, fill, lose_the_fact, needs_pi, text_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = needs_pi

FIXTURE = ROOT / "tests" / "fixtures" / "pi" / "classifier.ts"
BEGINS = "View JSON: "
FILLED = "walnut table of the office costs 412 crowns"


@pytest.fixture
def classifier() -> Iterator[Classifier]:
    made = Classifier()
    yield made
    made.close()


@pytest.fixture
def viewed(home: Home) -> Home:
    """A user with views and without evidence, so that the view is all that comes back."""
    file = home.folder / "config" / "aforesaid" / "config.json"
    document = json.loads(file.read_text())
    document["context"] = {"maxRetrievedHistoryTokens": 0}
    file.write_text(json.dumps(document))
    configure(home, enabled=True, maxEvaluationsPerTurn=0)
    return home


def views(request: list[dict[str, Any]]) -> list[tuple[int, dict[str, Any]]]:
    """Places and objects of the views in a request."""
    found = []
    for place in evidence(request):
        lines = text_of(request[place]).split("\n")
        if lines[2].startswith(BEGINS):
            found.append((place, json.loads(lines[2].removeprefix(BEGINS))))
    return found


def the_view(request: list[dict[str, Any]], question: str = QUESTION) -> dict[str, Any]:
    """The one view of a request, which stands just before its question."""
    ((place, view),) = views(request)
    assert request[place]["role"] == "user"
    assert text_of(request[place + 1]) == question
    return view


def diagnostic(model: Model) -> str:
    return str(the_view(model.calls[-1])["diagnostic"])


def quotes(view: dict[str, Any]) -> str:
    return "\n".join(quote for source in view["evidence"] for quote in source["quotes"])


# --- without a classifier ---------------------------------------------------------------------------------------------


def test_a_run_carries_one_view_which_stays_the_same_for_all_its_calls(viewed: Home, model: Model) -> None:
    def script(body: dict[str, Any]) -> Any:
        last = body["messages"][-1]
        return {"tool": "bash", "arguments": {"command": "true"}} if text_of(last) == QUESTION else "done"

    with Pi(viewed) as pi:
        lose_the_fact(pi)
        model.script = script
        pi.prompt(QUESTION)
        first, second = model.calls[-2:]
        assert "5433" in quotes(the_view(first))
        assert views(first) == views(second)
        assert first == second[: len(first)]
        (file,) = viewed.session_files()
        assert BEGINS not in file.read_text()
        assert all(BEGINS not in text_of(message) for messages in model.summaries for message in messages)
        told = pi.say("/context view")
        assert told.startswith("selected: 1 bundle of")
        assert "deterministic" in told
        pi.prompt("which value has PG_PORT again?")
        assert len(views(model.calls[-1])) == 1, "a view is never a source of the next one"
        assert (pi.faults, viewed.session_files()) == ([], [file])
        report = json.loads(viewed.aforesaid("view", "--session", str(file), "--query", QUESTION, "--json").stdout)
        assert report["view"]["follow"] == the_view(first)["follow"]


def test_evidence_and_view_share_an_entry_never(home: Home, model: Model) -> None:
    configure(home, enabled=True, maxEvaluationsPerTurn=0)
    with Pi(home) as pi:
        model.script = lambda body: "it is written down" if text_of(body["messages"][-1]) == FACT else "fine"
        lose_the_fact(pi)
        pi.prompt(QUESTION)
        request = model.calls[-1]
        ((place, view),) = views(request)
        (other,) = [at for at in evidence(request) if at != place]
        assert place < other, "the view comes before the evidence"
        assert "5433" in text_of(request[other])
        assert "5433" not in text_of(request[place])
        assert quotes(view) == "it is written down"


def test_a_compaction_in_a_run_makes_the_view_anew_and_asks_no_classifier_again(
    viewed: Home, model: Model, classifier: Classifier
) -> None:
    failed: list[Any] = []
    batches: list[int] = []

    def script(body: dict[str, Any]) -> Any:
        if text_of(body["messages"][-1]) == QUESTION and not failed:
            failed.append(body)
            batches.append(len(classifier.requests))
            return {"status": 400, "error": {"code": "context_length_exceeded", "message": "prompt is too long"}}
        return "fine"

    choose(viewed, "org/one", timeoutMs=10_000)
    with run(viewed, classifier, "org/one") as pi:
        lose_the_fact(pi)
        pi.prompt("PG_PORT is one of the ports, mind the gateway")
        fill(pi)
        summaries = len(model.summaries)
        model.script = script
        pi.prompt(QUESTION)
        assert (len(failed), len(model.summaries)) == (1, summaries + 1)
        before, after = the_view(failed[0]["messages"]), the_view(model.calls[-1])
        assert "mind the gateway" not in quotes(before), "it was still in the context"
        assert "mind the gateway" in quotes(after)
        assert [len(classifier.requests)] == batches
        assert batches[0] > 0
        assert pi.faults == []


def test_a_changed_file_counts_at_once_also_in_the_middle_of_a_run(viewed: Home, model: Model) -> None:
    configure(viewed, enabled=False)

    def script(body: dict[str, Any]) -> Any:
        if text_of(body["messages"][-1]) == QUESTION:
            return {"tool": "bash", "arguments": {"command": "sleep 1"}}
        return "done"

    with Pi(viewed) as pi:
        lose_the_fact(pi)
        pi.prompt(QUESTION)
        assert views(model.calls[-1]) == []
        configure(viewed, enabled=True)
        pi.prompt(QUESTION)
        assert "5433" in quotes(the_view(model.calls[-1])), "a file that switches it on counts for the next call"
        model.script = script
        pi.ask("prompt", message=QUESTION)
        pi.wait(lambda event: event.get("type") == "tool_execution_start")
        configure(viewed, enabled=False)
        pi.wait(lambda event: event.get("type") == "agent_settled")
        assert len(views(model.calls[-2])) == 1
        assert views(model.calls[-1]) == [], "dropped in the middle of the run"
        configure(viewed, enabled=True)
        pi.prompt("which value has PG_PORT now?")
        assert len(views(model.calls[-1])) == 1
        file = viewed.folder / "config" / "aforesaid" / "config.json"
        document = json.loads(file.read_text())
        document["memory"]["enabled"] = False
        file.write_text(json.dumps(document))
        pi.prompt("which value has PG_PORT at last?")
        assert views(model.calls[-1]) == []
        assert "no history view was wanted" in pi.say("/context view")
        assert pi.faults == []


# --- with a classifier ------------------------------------------------------------------------------------------------

ODD: dict[str, tuple[Any, str]] = {
    # What the classifier returns, made of a sound result, and what the view says of it.
    "sound": (lambda result: result, "classified"),
    "malformed": (lambda result: {**result, "answers": [1, 2]}, "classifier-malformed"),
    "missing": (
        lambda result: {**result, "answers": dict(list(result["answers"].items())[1:])},
        "classifier-malformed",
    ),
    "extra": (
        lambda result: {**result, "answers": {**result["answers"], "b99": {"type": "bool", "probability": 0.5}}},
        "classifier-malformed",
    ),
    "nan": (lambda result: _every(result, {"type": "bool", "probability": "NaN"}), "classifier-malformed"),
    "above": (lambda result: _every(result, {"type": "bool", "probability": 1.2}), "classifier-malformed"),
    "true": (lambda result: _every(result, {"type": "bool", "probability": True}), "classifier-malformed"),
    "score": (lambda result: _every(result, {"type": "score", "score": 1, "confidence": 0.9}), "classifier-malformed"),
    "choice": (
        lambda result: _every(result, {"type": "choice", "choice": "a", "probabilities": {"a": 1}, "confidence": 1}),
        "classifier-malformed",
    ),
    "refused": (lambda result: {**result, "answers": {}, "stopReason": "error"}, "classifier-error"),
    "aborted": (lambda result: {**result, "stopReason": "aborted"}, "classifier-error"),
    "500": (lambda _: 500, "classifier-error"),
}


def _every(result: dict[str, Any], answer: dict[str, Any]) -> dict[str, Any]:
    return {**result, "answers": dict.fromkeys(result["answers"], answer)}


def run(home: Home, classifier: Classifier, *models: str) -> Pi:
    """Pi with classifiers whose answers are the test's."""
    return Pi(home, "-e", str(FIXTURE), CLASSIFIER_URL=classifier.url, CLASSIFIER_MODELS=",".join(models))


def choose(home: Home, model: str, provider: str = "local-cls", **more: object) -> None:
    configure(home, enabled=True, maxEvaluationsPerTurn=1, provider=provider, model=model, **more)


def test_an_answer_that_is_not_exactly_right_is_none_and_costs_one_request(
    viewed: Home, model: Model, classifier: Classifier
) -> None:
    models = [f"org/{name}" for name in ODD]
    with run(viewed, classifier, *models) as pi:
        lose_the_fact(pi)
        assert classifier.requests == []
        for number, (name, (make, expected)) in enumerate(ODD.items(), 1):
            choose(viewed, f"org/{name}", timeoutMs=10_000)
            classifier.script = lambda body, make=make: make(classifier.result(body))
            # A first prompt tells the extension that there is a classifier now; it is no new batch for the next one.
            pi.prompt("how tall is the tower?" if number == 1 else QUESTION)
            pi.prompt(QUESTION)
            assert (name, diagnostic(model)) == (name, expected)
            assert (name, len(classifier.requests)) == (name, number)
            assert "5433" in quotes(the_view(model.calls[-1]))
        (body, *_) = classifier.requests
        assert (body["model"], body["maxRetries"]) == ("org/sound", 0)
        assert 0 < body["timeoutMs"] <= 10_000
        said = json.dumps(body)
        assert "5433" in said
        assert "a summary of what was said" not in said
        pi.prompt(QUESTION)
        assert len(classifier.requests) == len(ODD), "a failure is remembered"
        assert pi.faults == []


def test_an_answer_is_remembered_and_its_usage_passed_on(viewed: Home, model: Model, classifier: Classifier) -> None:
    probe = ROOT / "tests" / "fixtures" / "pi" / "messages.ts"
    log = viewed.folder / "messages.jsonl"
    choose(viewed, "org/one", timeoutMs=10_000)
    with Pi(
        viewed, "-e", str(FIXTURE), "-e", str(probe), CLASSIFIER_URL=classifier.url, CLASSIFIER_MODELS="org/one",
        MESSAGES_LOG=str(log),
    ) as pi:  # fmt: skip
        lose_the_fact(pi)
        pi.prompt(QUESTION)
        pi.prompt(QUESTION)
        assert diagnostic(model) == "classified"
        assert len(classifier.requests) == 1
        noted = [json.loads(line) for line in log.read_text().splitlines()]
        assert {"input": 30, "output": 2} in [usage for call in noted for usage in call["usages"]]
        assert (viewed.session_files()[0].read_text()).count("classifierUsage") == 0


def test_pis_own_classifiers_are_asked_over_their_own_wire(viewed: Home, model: Model, classifier: Classifier) -> None:
    offer(viewed, classifier)
    choose(viewed, "jev-latest", "typesafe", timeoutMs=10_000)
    with Pi(viewed) as pi:
        lose_the_fact(pi)
        pi.prompt(QUESTION)
        assert diagnostic(model) == "classified"
        assert classifier.paths == ["/v1/systemone"]
        choose(viewed, "gpt-6-luna", "openai", timeoutMs=10_000)
        classifier.script = lambda body: {
            "answers": [{"name": one["name"], "type": "refusal", "reason": "no"} for one in body["questions"]]
        }
        pi.prompt("how tall is the tower?")
        pi.prompt(QUESTION)
        assert diagnostic(model) == "classifier-error"
        assert classifier.paths == ["/v1/systemone", "/v1/decisions"]
        choose(viewed, "no-such-model", "typesafe")
        pi.prompt("how tall is the tower?")
        pi.prompt(QUESTION)
        assert diagnostic(model) == "classifier-missing-model"
        file = viewed.agent / "models.json"
        document = json.loads(file.read_text())
        del document["providers"]["typesafe"]
        file.write_text(json.dumps(document))
    with Pi(viewed, "-c") as pi:
        pi.say("/context status")  # a busy machine may need longer for the service than a first call waits
        choose(viewed, "jev-latest", "typesafe", timeoutMs=10_000)
        pi.prompt("how tall is the tower?")
        pi.prompt(QUESTION)
        assert diagnostic(model) == "classifier-missing-auth"
        assert len(classifier.requests) == 2
        assert pi.faults == []


def _over_the_wire(kind: str) -> Callable[[dict[str, Any]], Any]:
    """What one of Pi's own providers answers, as `ODD` has it for the whole result."""

    def make(body: dict[str, Any]) -> Any:
        names = list(body["questions"])
        if body["path"].endswith("/decisions"):
            names = [one["name"] for one in body["questions"]]
        said: dict[str, object] = dict.fromkeys(
            names, 1.2 if kind == "above" else float("nan") if kind == "nan" else 0.5
        )
        if kind == "missing":
            del said[names[0]]
        elif kind == "extra":
            said["b99"] = 0.5
        if body["path"].endswith("/decisions"):
            return {
                "answers": [{"name": one, "type": "predicate", "probability": share} for one, share in said.items()]
            }
        return {"answers": {one: {"type": "noul", "noul": share} for one, share in said.items()}}

    return make


WIRE: list[tuple[str, str, Any, str]] = [
    ("typesafe", "jev-latest", lambda _: 500, "classifier-error"),
    ("typesafe", "jev-latest", lambda _: 429, "classifier-error"),
    ("typesafe", "jev-latest", _over_the_wire("missing"), "classifier-error"),
    ("typesafe", "jev-latest", _over_the_wire("nan"), "classifier-error"),
    ("typesafe", "jev-latest", _over_the_wire("above"), "classifier-malformed"),
    ("openai", "gpt-6-luna", lambda _: 500, "classifier-error"),
    ("openai", "gpt-6-luna", _over_the_wire("above"), "classifier-malformed"),
    # Pi's adapters drop what they did not ask for, so there is nothing wrong with it.
    ("openai", "gpt-6-luna", _over_the_wire("extra"), "classified"),
]


def test_pis_own_providers_send_one_request_whatever_comes_back(
    viewed: Home, model: Model, classifier: Classifier
) -> None:
    """They would ask three times by default (lesson 46). A failure is remembered in its session: each has its own."""
    offer(viewed, classifier)
    choose(viewed, WIRE[0][1], WIRE[0][0], timeoutMs=10_000)
    with Pi(viewed) as pi:
        pi.say("/context status")  # see above
        for number, (provider, name, script, expected) in enumerate(WIRE, 1):
            choose(viewed, name, provider, timeoutMs=10_000)
            classifier.script = script
            pi.prompt(FACT)
            fill(pi, 2)
            pi.ask("compact")
            pi.prompt(QUESTION)
            assert (number, diagnostic(model)) == (number, expected)
            assert (number, len(classifier.requests)) == (number, number)
            assert "5433" in quotes(the_view(model.calls[-1])), "the request goes out with its view"
            pi.ask("new_session")
        assert pi.faults == []


def test_what_a_view_prints_works_in_the_tools_of_pi(viewed: Home, model: Model) -> None:
    told: list[str] = []

    def script(body: dict[str, Any]) -> Any:
        last = body["messages"][-1]
        if text_of(last) == QUESTION:
            follow = the_view(body["messages"])["follow"]
            return {"tool": follow["tool"], "arguments": follow["arguments"]}
        told.append(text_of(last))
        return "done"

    with Pi(viewed) as pi:
        pi.prompt("the walnut table costs 412 crowns")
        lose_the_fact(pi)
        model.script = script
        pi.prompt(QUESTION)
        (listed,) = told
        assert "apples and pears" in listed, "the branch is browsed, newest first, also what the view left out"
        assert "follow" in listed
        assert pi.faults == []


def test_a_request_goes_out_in_time_whatever_the_classifier_does(
    viewed: Home, model: Model, classifier: Classifier
) -> None:
    names = ("org/slow", "org/stopped", "org/changed", "org/moved", "org/last")
    choose(viewed, "org/slow", timeoutMs=600)
    with run(viewed, classifier, *names) as pi:
        lose_the_fact(pi)
        classifier.seconds = 30

        began = time.monotonic()
        pi.prompt(QUESTION)
        assert time.monotonic() - began < 15, "it waits for its time and not for the answer"
        assert diagnostic(model) == "classifier-timeout"
        assert len(classifier.requests) == 1

        # Esc: nothing goes out, and nobody failed.
        choose(viewed, "org/stopped", timeoutMs=10_000)
        pi.prompt("how tall is the tower?")
        calls = len(model.calls)
        pi.ask("prompt", message=QUESTION)
        classifier.wait(2)
        began = time.monotonic()
        pi.ask("abort")
        assert time.monotonic() - began < 8
        assert len(model.calls) == calls
        classifier.seconds = 0
        pi.prompt(QUESTION)
        assert diagnostic(model) == "classified"
        assert len(classifier.requests) == 3

        # The file of the configuration.
        choose(viewed, "org/changed", timeoutMs=10_000)
        pi.prompt("how tall is the tower?")
        classifier.seconds = 30
        began = time.monotonic()
        pi.ask("prompt", message=QUESTION)
        classifier.wait(4)
        configure(viewed, maxViewBytes=4096)
        pi.wait(lambda event: event.get("type") == "agent_settled")
        assert time.monotonic() - began < 8
        assert diagnostic(model) == "config-changed"
        assert len(classifier.requests) == 4
        assert pi.faults == []


def test_a_session_that_is_left_while_a_classifier_works_gets_nothing_of_it(
    viewed: Home, model: Model, classifier: Classifier
) -> None:
    choose(viewed, "org/one", timeoutMs=10_000)
    with run(viewed, classifier, "org/one") as pi:
        pi.prompt("a beginning")
        lose_the_fact(pi)
        rows = [json.loads(line) for line in viewed.session_files()[0].read_text().splitlines()]
        there = next(
            row["id"] for row in rows if row.get("type") == "message" and row["message"]["role"] == "assistant"
        )
        classifier.seconds = 30
        pi.ask("prompt", message=QUESTION)
        classifier.wait(1)
        # Pi itself lets nobody move along the tree while a run is under way.
        pi.send({"id": "jump", "type": "prompt", "message": f"/jump {there}"})
        told = pi.wait(lambda event: event.get("method") == "notify")["message"]
        assert "Wait for the current response" in told
        began, calls = time.monotonic(), len(model.calls)
        pi.ask("new_session")
        assert time.monotonic() - began < 8, "nobody waits for a classifier of another session"
        classifier.seconds = 0
        pi.prompt(QUESTION)
        assert len(model.calls) == calls + 1
        assert views(model.calls[-1]) == []
        assert "5433" not in json.dumps(model.calls[-1])
        assert len(classifier.requests) == 1
        assert pi.faults == []


def test_another_branch_has_a_view_of_its_own(viewed: Home, model: Model, classifier: Classifier) -> None:
    choose(viewed, "org/one", timeoutMs=10_000)
    with run(viewed, classifier, "org/one") as pi:
        pi.prompt("PG_PORT is written on the wall, quince7")
        rows = [json.loads(line) for line in viewed.session_files()[0].read_text().splitlines()]
        there = next(
            row["id"] for row in rows if row.get("type") == "message" and row["message"]["role"] == "assistant"
        )
        lose_the_fact(pi)
        pi.prompt(QUESTION)
        assert "5433" in quotes(the_view(model.calls[-1]))
        assert "jumped" in pi.say(f"/jump {there}")
        fill(pi)
        pi.ask("compact")
        pi.prompt(QUESTION)
        assert "quince7" in quotes(the_view(model.calls[-1]))
        assert "5433" not in json.dumps(model.calls[-1])
        assert diagnostic(model) == "classified"
        assert pi.faults == []


def test_settings_ask_for_consent_and_offer_classifiers(viewed: Home, model: Model, classifier: Classifier) -> None:
    configure(viewed, enabled=False, maxEvaluationsPerTurn=1)
    offer(viewed, classifier)
    with Pi(viewed) as pi:
        dialog(pi, ("Extractive history …", "Consent / mode", "Enable classifier"), confirmed=False)
        assert options(viewed)["enabled"] is False, "no consent, no change"
        told = dialog(pi, ("Extractive history …", "Consent / mode", "Deterministic only"))
        assert "Deterministic only" in told
        assert (options(viewed)["enabled"], options(viewed)["maxEvaluationsPerTurn"]) == (True, 0)
        dialog(pi, ("Extractive history …", "Consent / mode", "Enable classifier"), confirmed=True)
        assert (options(viewed)["enabled"], options(viewed)["maxEvaluationsPerTurn"]) == (True, 1)
        asked = [event for event in pi.events if event.get("method") == "confirm"]
        assert "charge" in asked[-1]["message"]
        dialog(pi, ("Extractive history …", "Native classifier", "openai/gpt-6-luna (available)"))
        assert (options(viewed)["provider"], options(viewed)["model"]) == ("openai", "gpt-6-luna")
        dialog(pi, ("Extractive history …", "Presets", "Large"))
        assert (options(viewed)["maxViewBytes"], options(viewed)["maxCandidates"]) == (32_768, 256)
        dialog(pi, ("Extractive history …", "timeoutMs", "9876"))
        assert options(viewed)["timeoutMs"] == 9876
        lose_the_fact(pi)
        pi.prompt(QUESTION)
        assert diagnostic(model) == "classified", "what is set counts at once"
        dialog(pi, ("Extractive history …", "Consent / mode", "Off"))
        pi.prompt(QUESTION)
        assert views(model.calls[-1]) == []
        assert pi.faults == []


def options(home: Home) -> dict[str, Any]:
    file = home.folder / "config" / "aforesaid" / "config.json"
    return dict(json.loads(file.read_text())["memory"]["extractive"])


def dialog(pi: Pi, answers: tuple[str, ...], *, confirmed: bool | None = None) -> str:
    """Answers dialogs one after another, each by what the chosen line begins with; what is said at the end."""
    before = len(pi.events)
    pi.send({"id": "dialog", "type": "prompt", "message": "/context settings"})
    for answer in answers:
        event = pi.wait(lambda event: event.get("method") in {"select", "input"})
        value = answer
        if event["method"] == "select":
            value = next(line for line in event["options"] if line.startswith(answer))
        pi.send({"type": "extension_ui_response", "id": event["id"], "value": value})
    if confirmed is not None:
        event = pi.wait(lambda event: event.get("method") == "confirm")
        pi.send({"type": "extension_ui_response", "id": event["id"], "confirmed": confirmed})
    pi.wait(lambda event: event.get("type") == "response" and event.get("id") == "dialog")
    return "\n".join(event["message"] for event in pi.events[before:] if event.get("method") == "notify")


# --- off means off ----------------------------------------------------------------------------------------------------


def test_nothing_of_it_is_loaded_while_it_is_off(home: Home, model: Model, classifier: Classifier) -> None:
    offer(home, classifier)
    trace = ROOT / "tests" / "fixtures" / "pi" / "loads.mjs"
    log = home.folder / "loads.txt"
    options = f"--import={trace.as_uri()}"
    with Pi(home, NODE_OPTIONS=options, LOADS_LOG=str(log)) as pi:
        lose_the_fact(pi)
        pi.prompt(QUESTION)
        fill(pi, 1)
        assert views(model.calls[-1]) == []
        assert classifier.requests == []
    loaded = log.read_text()
    assert "run.ts" in loaded
    assert "view.ts" not in loaded
    assert "view-settings.ts" not in loaded


def test_a_session_without_a_file_has_views_too(viewed: Home, model: Model, classifier: Classifier) -> None:
    choose(viewed, "org/one", timeoutMs=10_000)
    arguments = ("-e", str(FIXTURE), "--no-session")
    with Pi(viewed, *arguments, CLASSIFIER_URL=classifier.url, CLASSIFIER_MODELS="org/one") as pi:
        lose_the_fact(pi)
        pi.prompt(QUESTION)
        view = the_view(model.calls[-1])
        assert "5433" in quotes(view)
        assert view["diagnostic"] == "classified;unsaved-session"
        assert viewed.session_files() == []
        assert pi.faults == []


def test_a_policy_that_is_turned_on_in_a_run_keeps_the_view_from_a_remote_model(viewed: Home, model: Model) -> None:
    def script(body: dict[str, Any]) -> Any:
        if text_of(body["messages"][-1]) == QUESTION:
            return {"tool": "bash", "arguments": {"command": "sleep 1"}}
        return "done"

    with Pi(viewed) as pi:
        lose_the_fact(pi)
        model.script = script
        pi.ask("prompt", message=QUESTION)
        pi.wait(lambda event: event.get("type") == "tool_execution_start")
        file = viewed.folder / "config" / "aforesaid" / "config.json"
        document = json.loads(file.read_text())
        document["privacy"] = {"enabled": True, "defaultClassification": "sensitive"}
        file.write_text(json.dumps(document))
        pi.wait(lambda event: event.get("type") == "agent_settled")
        assert "5433" in json.dumps(model.calls[-2])
        assert "5433" not in json.dumps(model.calls[-1])
        pi.prompt("which value has PG_PORT now?")
        assert views(model.calls[-1]) == []
        assert "private" in pi.say("/context view")
        assert pi.faults == []


def test_print_mode_ends_when_its_answer_is_there(viewed: Home, model: Model, classifier: Classifier) -> None:
    choose(viewed, "org/one", timeoutMs=10_000)
    with run(viewed, classifier, "org/one") as pi:
        lose_the_fact(pi)

    def ask() -> float:
        """Seconds of a run. On a busy machine the service may come too late for its only call; then another is made."""
        for wait in (0, 1, 3, 7, 15):
            began = time.monotonic() + wait
            environment = {
                "CLASSIFIER_URL": classifier.url,
                "CLASSIFIER_MODELS": "org/one",
                "CLASSIFIER_WAIT_MS": str(wait * 1000),
            }
            done = viewed.print("-c", "-e", str(FIXTURE), QUESTION, **environment)
            assert (done.returncode, done.stdout.strip()) == (0, b"fine")
            if views(model.calls[-1]):
                break
        return time.monotonic() - began

    ask()
    assert diagnostic(model) == "classified"
    choose(viewed, "org/one", timeoutMs=500, maxCandidates=64)
    classifier.seconds = 30
    assert ask() < 20, "nothing keeps the process"
    assert diagnostic(model) == "classifier-timeout"
