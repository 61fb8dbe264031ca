"""The history tools as a host's extension calls them through the service, without a process."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, get_args

import pytest
from tests import pi
from tests.unit.hosts.test_sessions import Desk

from aforesaid import Engine, model
from aforesaid.errors import ToolsDisabled
from aforesaid.expansion import LARGEST, MOST_AROUND
from aforesaid.hosts.places import Place
from aforesaid.hosts.tools import MOST_HITS, SCOPES, Expand, HistoryTools, Recall, Status, read_tools, tool_caller
from aforesaid.inquiry import KINDS, MATCHES, MODES, ROLES, Scope

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FACT = "the walnut table costs 412 crowns"
ALLOWED = {"historyTools.allowProjectScope": True}


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with Engine.open(tmp_path / "store", settings=ALLOWED) as engine:
        yield Desk(engine)


def rows(session: str = "one", cwd: str | None = "/p", *, more: int = 0) -> list[pi.Row]:
    talk = pi.conversation([FACT, "noted", *(f"walnut number {number}" for number in range(more))])
    return [pi.header(session, cwd=cwd), *talk, pi.compaction("cccccccc", talk[-1]["id"], "cccccccc", minute=9)]


def open_one(desk: Desk, folder: Path, **told: Any) -> str:
    file = pi.write(folder / "one.jsonl", rows())
    return str(desk.call("session/open", host="pi", sessionId="one", file=str(file), cwd="/p", **told)["session"])


def call(desk: Desk, session: str, name: str, /, leaf: str | None = None, **arguments: Any) -> Any:
    """The document of a call that went well."""
    told = desk.call("session/tool", session=session, name=name, arguments=arguments, leaf=leaf)
    document = json.loads(told["text"])
    assert not told["failed"], document
    return document


def refused(desk: Desk, session: str, name: str, /, **arguments: Any) -> str:
    told = desk.call("session/tool", session=session, name=name, arguments=arguments)
    assert told["failed"]
    return str(json.loads(told["text"])["error"]["code"])


def test_a_compacted_fact_is_recalled_and_expanded(desk: Desk, tmp_path: Path) -> None:
    session = open_one(desk, tmp_path)
    (hit,) = call(desk, session, "history_recall", query="walnut")["hits"]
    assert (hit["snippet"], hit["inContext"]) == (FACT, False)
    (passage,) = call(desk, session, "history_expand", ref=hit["ref"])["entries"]
    assert (passage["text"], passage["verified"]) == (FACT, True)
    status = call(desk, session, "history_status")
    assert (status["session"]["sessionId"], status["coverage"]["complete"]) == ("one", True)


def test_a_line_that_is_longer_than_any_answer_is_read_to_its_end(desk: Desk, tmp_path: Path) -> None:
    text = "walnut " * 3000
    file = pi.write(tmp_path / "long.jsonl", [pi.header("long"), *pi.conversation([text])])
    session = desk.call("session/open", host="pi", sessionId="long", file=str(file), cwd="/p")["session"]
    found, cursor, pieces = "", None, 0
    while pieces == 0 or cursor is not None:
        shown = call(desk, session, "history_expand", entry=["e0000000"], cursor=cursor)
        found += shown["entries"][0]["text"]
        cursor, pieces = shown["next"], pieces + 1
    assert found == text
    assert pieces > 1


def test_the_arguments_of_a_view_lead_to_the_whole_branch(desk: Desk, tmp_path: Path) -> None:
    session = open_one(desk, tmp_path)
    page = call(desk, session, "history_recall", session="one", scope="current-branch", query="")
    assert [hit["entryId"] for hit in page["hits"]] == ["e0000001", "e0000000"]


def test_the_branch_is_that_of_the_call(desk: Desk, tmp_path: Path) -> None:
    talk = rows()
    side = [pi.message("side0001", "e0000000", "walnut aside", minute=11)]
    file = pi.write(tmp_path / "one.jsonl", [*talk, *side])
    session = desk.call("session/open", host="pi", sessionId="one", file=str(file))["session"]

    def found(leaf: str | None) -> set[str]:
        page = call(desk, session, "history_recall", leaf, query="walnut")
        return {hit["entryId"] for hit in page["hits"]}

    assert found("cccccccc") == {"e0000000"}
    assert found("side0001") == found(None) == {"e0000000", "side0001"}
    (named,) = call(desk, session, "history_recall", "cccccccc", query="walnut", session="one")["hits"]
    assert named["entryId"] == "e0000000"


def test_pages_go_on_while_the_calls_themselves_make_the_branch_grow(desk: Desk, tmp_path: Path) -> None:
    lines = rows(more=6)
    file = pi.write(tmp_path / "one.jsonl", lines)
    session = desk.call("session/open", host="pi", sessionId="one", file=str(file))["session"]
    seen: list[str] = []
    cursor, leaf = None, "cccccccc"
    for turn in range(9):
        page = call(desk, session, "history_recall", leaf, query="walnut", limit=2, cursor=cursor)
        seen += [hit["entryId"] for hit in page["hits"]]
        cursor = page["next"]
        if cursor is None:
            break
        lines.append(pi.message(f"grow000{turn}", leaf, "a walnut that was not there", minute=20 + turn))
        leaf = f"grow000{turn}"
        pi.write(file, lines)
    assert len(seen) == len(set(seen)) == 7
    first = call(desk, session, "history_recall", leaf, query="walnut", limit=2)
    told = desk.call(
        "session/tool", session=session, name="history_recall", leaf="e0000000",
        arguments={"query": "walnut", "limit": 2, "cursor": first["next"]},
    )  # fmt: skip
    assert json.loads(told["text"])["error"]["code"] == "stale-cursor"


def test_a_session_without_a_file_is_searched_alone(desk: Desk) -> None:
    session = desk.call("session/open", host="pi", sessionId="held", cwd="/p", trusted=True)["session"]
    desk.call("session/append", session=session, add=rows("held"))
    (hit,) = call(desk, session, "history_recall", query="walnut", session="held")["hits"]
    (passage,) = call(desk, session, "history_expand", ref=hit["ref"])["entries"]
    assert (passage["text"], passage["verified"]) == (FACT, True)
    assert call(desk, session, "history_status")["scopes"] == list(SCOPES[:-1])
    assert refused(desk, session, "history_recall", scope="project") == "scope-not-allowed"
    assert refused(desk, session, "history_recall", session="other") == "session-not-found"


def test_lines_that_a_host_hands_over_anew_are_no_longer_what_was_found(desk: Desk) -> None:
    session = desk.call("session/open", host="pi", sessionId="held")["session"]
    desk.call("session/append", session=session, add=rows("held"))
    (hit,) = call(desk, session, "history_recall", query="walnut")["hits"]
    (engine,) = [engine for engine in (desk.sessions._memory,) if engine is not None]
    held = engine._held[session]
    held[:] = bytes(held).replace(b"412", b"413")
    assert refused(desk, session, "history_expand", ref=hit["ref"]) == "stale-source"


def test_the_policy_judges_the_lines_of_a_session_without_a_file(tmp_path: Path) -> None:
    settings = {"privacy.enabled": True, "privacy.defaultClassification": "sensitive"}
    with Engine.open(tmp_path / "store", settings=settings) as engine:
        desk = Desk(engine)
        session = desk.call("session/open", host="pi", sessionId="held")["session"]
        desk.call("session/append", session=session, add=rows("held"))

        def found(provider: str) -> int:
            told = desk.call(
                "session/tool", session=session, name="history_recall", arguments={"query": "walnut"}, provider=provider
            )
            return len(json.loads(told["text"])["hits"])

        assert (found("anthropic"), found("ollama")) == (0, 1)


def test_another_session_is_for_trusted_projects_only(desk: Desk, tmp_path: Path) -> None:
    for name, cwd in (("two", "/p"), ("three", "/q")):
        desk.engine.index(pi.write(tmp_path / f"{name}.jsonl", rows(name, cwd)))
    session = open_one(desk, tmp_path)
    assert refused(desk, session, "history_recall", session="two") == "scope-not-allowed"
    assert refused(desk, session, "history_recall", scope="project") == "scope-not-allowed"
    session = open_one(desk, tmp_path, trusted=True)
    assert len(call(desk, session, "history_recall", session="two", query="walnut")["hits"]) == 1
    assert refused(desk, session, "history_recall", session="three") == "scope-not-allowed"
    page = call(desk, session, "history_recall", scope="project", query="walnut")
    assert {hit["sessionId"] for hit in page["hits"]} == {"one"}, "copies of one entry are one hit"
    assert call(desk, session, "history_status")["scopes"] == list(SCOPES)


def test_the_calling_session_is_up_to_date_in_a_search_of_the_project(desk: Desk, tmp_path: Path) -> None:
    session = open_one(desk, tmp_path, trusted=True)
    file = pi.write(tmp_path / "one.jsonl", [*rows(), pi.message("new00000", "cccccccc", "fresh walnut", minute=12)])
    page = call(desk, session, "history_recall", "new00000", scope="project", query="fresh")
    assert [hit["entryId"] for hit in page["hits"]] == ["new00000"]
    assert page["coverage"]["staleSessions"] == 0
    assert file.exists()


def test_a_default_scope_that_a_model_may_not_search_is_the_branch(desk: Desk, tmp_path: Path) -> None:
    session = open_one(desk, tmp_path)
    for scope in ("host-wide", "project"):
        with Engine.open(tmp_path / "store", settings={"historyTools.defaultScope": scope}) as engine:
            tools = HistoryTools(engine, tool_caller(trusted=False))
            assert len(tools.recall({"query": "walnut"}, Place(session=session))["hits"]) == 1
            assert tools.status({}, Place(session=session))["defaultScope"] == "current-branch"


def test_errors_are_documents_and_name_no_folder(desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    session = open_one(desk, tmp_path)
    for name, arguments, code in (
        ("history_recall", {"query": "(", "mode": "regex"}, "bad-argument"),
        ("history_recall", {"nonsense": 1}, "bad-argument"),
        ("history_recall", {"session": 7}, "bad-argument"),
        ("history_recall", {"limit": MOST_HITS + 1}, "bad-argument"),
        ("history_expand", {"ref": "nonsense"}, "ref-invalid"),
        ("history_expand", {}, "bad-argument"),
        ("history_nothing", {}, "bad-argument"),
    ):
        assert refused(desk, session, name, **arguments) == code
    (tmp_path / "one.jsonl").unlink()
    told = desk.call("session/tool", session=session, name="history_expand", arguments={"entry": ["e0000000"]})
    assert json.loads(told["text"])["error"]["code"] == "source-missing"
    assert str(tmp_path) not in told["text"]


def test_what_is_switched_off_is_neither_offered_nor_answered(tmp_path: Path) -> None:
    with Engine.open(tmp_path / "store", settings={"historyTools.enabled": False}) as engine:
        desk = Desk(engine)
        assert desk.call("initialize", protocol=1)["historyTools"] == {"enabled": False}
        session = open_one(desk, tmp_path)
        for tool in read_tools():
            assert refused(desk, session, tool.name) == "tools-disabled"
        tools = HistoryTools(engine, tool_caller(trusted=False))
        assert tools.offered == ()
        with pytest.raises(ToolsDisabled):
            tools.call("history_status", {}, lambda _: Place())


def test_the_definitions_say_what_is_taken(desk: Desk) -> None:
    assert desk.call("initialize", protocol=1)["historyTools"] == {"enabled": True}
    recall, expand, status = read_tools()
    for tool, form in ((recall, Recall), (expand, Expand), (status, Status)):
        assert set(tool.arguments["properties"]) == set(form.__struct_encode_fields__)
    told = recall.arguments["properties"]
    assert told["scope"]["enum"] == list(SCOPES) == [scope for scope in get_args(Scope) if scope != "host-wide"]
    assert (told["mode"]["enum"], told["match"]["enum"]) == (list(MODES), list(MATCHES))
    assert told["role"]["items"]["enum"] == list(ROLES) == list(get_args(model.Role))
    assert told["type"]["enum"] == list(KINDS)
    assert told["limit"]["maximum"] == MOST_HITS
    told = expand.arguments["properties"]
    assert told["before"]["maximum"] == told["after"]["maximum"] == MOST_AROUND
    assert told["maxLines"]["maximum"] == LARGEST
    for tool in (recall, expand, status):
        assert "Use it" in tool.description, "a model is told when to use it"
        assert "Do not use it" in tool.description
