"""Host parity: the Python API, the command line and the service give equal values for equal questions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from tests import pi
from tests.e2e.desk import Desk, make_desk
from tests.e2e.test_mcp import ask, connected
from tests.serving import Service

from aforesaid import Engine, __version__
from aforesaid.config import user_file
from aforesaid.config.schema import schema
from aforesaid.errors import BadArgument
from aforesaid.hosts import wire, wire_upkeep
from aforesaid.hosts.places import Place
from aforesaid.hosts.tools import HistoryTools, tool_caller

if TYPE_CHECKING:
    from collections.abc import Callable

    from aforesaid.inquiry import Scope

TEXTS = (
    "Use pg_port 5433, the gateway listens on `PG_PORT`; perché la porta 5432 è occupata",
    "noted: PG_PORT=5433 in src/db.py",
    "数据库端口 and the walnut table",
    "ok",
    "what was the port of PG_PORT?",
    "it is in the file",
)


def plain(document: Any) -> Any:
    """A document as it arrives, without what differs from run to run."""
    if isinstance(document, dict):
        return {name: plain(value) for name, value in document.items() if name != "durationMs"}
    return [plain(item) for item in document] if isinstance(document, list) else document


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    made = make_desk(tmp_path)
    for name, value in made.environment.items():
        monkeypatch.setenv(name, value)
    rows = pi.conversation(TEXTS)
    end = pi.compaction("cccccccc", rows[-1]["id"], rows[-2]["id"], minute=9)
    side = pi.message("side0001", rows[1]["id"], "PG_PORT on another branch", minute=10)
    pi.write(tmp_path / "one.jsonl", [pi.header("one"), *rows, side, {**end, "id": "dddddddd"}])
    pi.write(tmp_path / "two.jsonl", [pi.header("two", cwd=str(tmp_path)), *rows[:2], b"{broken"])
    return made


RETRIEVALS: tuple[dict[str, Any], ...] = (
    {},
    {"query": "which PG_PORT did we choose?"},
    {"query": "perché 数据库", "leaf": "e0000003"},
    {"query": "PG_PORT", "contextEntries": ["e0000000", "e0000001"]},
    {"query": "PG_PORT", "contextEntries": []},
    {"query": "ok, go on"},
    {"query": ""},
)


def flags(params: dict[str, Any]) -> list[str]:
    names = {"query": "--query", "leaf": "--leaf", "contextEntries": "--context-entries", "session": "--session"}
    return [f"{names[name]}={','.join(value) if isinstance(value, list) else value}" for name, value in params.items()]


def test_retrieve(desk: Desk) -> None:
    found = 0
    with Service(desk.environment, desk.folder) as service, Engine.open(desk.store) as engine:
        for given in RETRIEVALS:
            asked = {"session": "one.jsonl", **given}
            told = wire.retrieval(
                engine.retrieve(
                    session=desk.folder / "one.jsonl", query=given.get("query"), leaf=given.get("leaf"),
                    context_entries=given.get("contextEntries"),
                )
            )  # fmt: skip
            by_engine = json.loads(wire.encode(told))
            by_command = desk.json("retrieval", "retrieve", *flags(asked))
            by_service = service.call("retrieve", **asked)
            assert plain(by_engine) == plain(by_command) == plain(by_service)
            assert list(by_service) == list(by_command)
            found += len(by_service["hits"])
    assert found > 5


def test_plan(desk: Desk) -> None:
    with Service(desk.environment, desk.folder) as service, Engine.open(desk.store) as engine:
        for query in (None, "which PG_PORT did we choose?"):
            given = {} if query is None else {"query": query}
            by_engine = json.loads(
                wire.encode(
                    wire.plan(
                        engine.plan(session=desk.folder / "one.jsonl", context_window=9000, query=query, model="a/b")
                    )
                )
            )
            options = ["--session=one.jsonl", "--context-window=9000", "--model=a/b", *flags(given)]
            by_command = desk.json("plan", "plan", *options)
            by_service = service.call("plan", session="one.jsonl", contextWindow=9000, model="a/b", **given)
            assert plain(by_engine) == plain(by_command) == plain(by_service)
            assert by_service["status"] == "planned"


VIEWS: tuple[dict[str, Any], ...] = (
    {},
    {"query": "which PG_PORT did we choose?"},
    {"query": "perché 数据库", "leaf": "e0000003"},
    {"query": "PG_PORT", "explain": True},
    {"query": "ok, go on"},
)


def test_view(desk: Desk) -> None:
    found = 0
    with Service(desk.environment, desk.folder) as service, Engine.open(desk.store) as engine:
        for given in VIEWS:
            asked = {"session": "one.jsonl", **given}
            made = engine.view(session=desk.folder / "one.jsonl", query=given.get("query"), leaf=given.get("leaf"))
            by_engine = json.loads(wire.encode(wire.view(made, explain="explain" in given)))
            explain = ["--explain"] if asked.pop("explain", False) else []
            by_command = desk.json("view", "view", *flags(asked), *explain)
            by_service = service.call("view", **{"session": "one.jsonl", **given})
            assert plain(by_engine) == plain(by_command) == plain(by_service)
            assert list(by_service["view"]) == list(by_command["view"])
            found += len(by_service["view"].get("evidence", ()))
        everything = service.call("view", session="one.jsonl", query="PG_PORT", contextEntries=["e0000000", "e0000001"])
        assert "e0000001" not in str(everything["view"])
    assert found > 4


@pytest.mark.parametrize(
    ("method", "params", "command", "in_python"),
    [
        ("index", {"paths": ["."]}, ["index", "."], lambda e: wire_upkeep.index(e.index("."))),
        ("rebuild", {}, ["rebuild"], lambda e: wire_upkeep.rebuild(e.rebuild())),
        (
            "rebuild",
            {"session": "two"},
            ["rebuild", "--session=two"],
            lambda e: wire_upkeep.rebuild(e.rebuild(session="two")),
        ),
        ("sessions", {}, ["sessions"], lambda e: wire_upkeep.sessions(e.sessions())),
        (
            "sessions",
            {"project": "."},
            ["sessions", "--project=."],
            lambda e: wire_upkeep.sessions(e.sessions(project=".")),
        ),
        (
            "sessions",
            {"host": "codex"},
            ["sessions", "--host=codex"],
            lambda e: wire_upkeep.sessions(e.sessions(host="codex")),
        ),
        (
            "forget",
            {"text": "walnut", "dryRun": True},
            ["forget", "--text=walnut", "--dry-run"],
            lambda e: wire_upkeep.forgotten(e.forget(text="walnut", dry_run=True)),
        ),
        (
            "forget",
            {"session": "two", "dryRun": True},
            ["forget", "--session=two", "--dry-run"],
            lambda e: wire_upkeep.forgotten(e.forget(session="two", dry_run=True)),
        ),
        ("lost", {"session": "one"}, ["lost", "--session=one"], lambda e: wire.lost(e.lost(session="one"))),
        (
            "lost",
            {"session": "one", "leaf": "dddddddd", "compaction": 1, "provider": "x"},
            ["lost", "--session=one", "--leaf=dddddddd", "--compaction=1", "--provider=x"],
            lambda e: wire.lost(e.lost(session="one", leaf="dddddddd", compaction=1, provider="x")),
        ),
        ("status", {}, ["status"], lambda e: wire_upkeep.status(e.status(), e.config, __version__)),
        (
            "config",
            {},
            ["config"],
            lambda e: wire_upkeep.config(user_file(), e.config.settings, e.config, withheld=e.withheld()),
        ),
        ("config", {"action": "schema"}, ["config", "schema"], lambda _: schema()),
        (
            "config",
            {"action": "path"},
            ["config", "path"],
            lambda _: wire_upkeep.config_path(user_file(), exists=False),
        ),
        (
            "config",
            {"action": "get", "key": "retrieval.maxResults"},
            ["config", "get", "retrieval.maxResults"],
            lambda e: wire_upkeep.config(user_file(), (e.config.setting("retrieval.maxResults"),), e.config),
        ),
    ],
)
def test_every_other_command(
    desk: Desk,
    method: str,
    params: dict[str, Any],
    command: list[str],
    in_python: Callable[[Engine], Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(desk.folder)
    with Service(desk.environment, desk.folder) as service, Engine.open(desk.store) as engine:
        engine.index(desk.folder)
        by_service = service.call(method, **params)
        by_command = json.loads(desk.run(*command, "--json").out)
        by_engine = json.loads(wire.encode(in_python(engine)))
        assert plain(by_service) == plain(by_command) == plain(by_engine)
        assert list(by_service) == list(by_command)


def test_index_of_all_folders(desk: Desk) -> None:
    environment = {**desk.environment, "PI_CODING_AGENT_SESSION_DIR": str(desk.folder)}
    with Service(environment, desk.folder) as service:
        by_service = service.call("index", all=True, host="pi")
    by_command = desk.json("index", "index", "--all", "--host=pi", environment=environment)
    assert [session["file"] for session in by_service["sessions"]] == [
        session["file"] for session in by_command["sessions"]
    ]
    assert by_service["totals"]["sessions"] == 2


@pytest.mark.parametrize(
    ("method", "params", "command"),
    [
        ("retrieve", {"session": "nothing.jsonl"}, ["retrieve", "--session=nothing.jsonl"]),
        ("retrieve", {"session": "nothing"}, ["retrieve", "--session=nothing"]),
        ("retrieve", {"session": "one.jsonl", "leaf": "e9"}, ["retrieve", "--session=one.jsonl", "--leaf=e9"]),
        (
            "retrieve",
            {"session": "one.jsonl", "contextEntries": ["e9"]},
            ["retrieve", "--session=one.jsonl", "--context-entries=e9"],
        ),
        ("lost", {"session": "one.jsonl", "compaction": 9}, ["lost", "--session=one.jsonl", "--compaction=9"]),
        ("lost", {"session": "nothing"}, ["lost", "--session=nothing"]),
        ("index", {"paths": ["nothing"]}, ["index", "nothing"]),
        ("index", {"paths": ["config"], "all": True}, ["index", "config", "--all"]),
        ("index", {}, ["index"]),
        ("index", {"all": True}, ["index", "--all"]),
        ("index", {"paths": ["one.jsonl"], "host": "emacs"}, ["index", "one.jsonl", "--host=emacs"]),
        ("sessions", {"host": "emacs"}, ["sessions", "--host=emacs"]),
        ("rebuild", {"session": "nothing"}, ["rebuild", "--session=nothing"]),
        ("forget", {}, ["forget"]),
        ("forget", {"text": "x"}, ["forget", "--text=x"]),
        ("forget", {"session": "nothing", "yes": True}, ["forget", "--session=nothing", "--yes"]),
        ("forget", {"before": "soon", "yes": True}, ["forget", "--before=soon", "--yes"]),
        ("config", {"action": "get", "key": "retrieval.maxResult"}, ["config", "get", "retrieval.maxResult"]),
        ("config", {"action": "get"}, ["config", "get"]),
        ("config", {"action": "sing"}, ["config", "sing"]),
        (
            "config",
            {"action": "set", "key": "retrieval.maxResults", "value": 0},
            ["config", "set", "retrieval.maxResults", "0"],
        ),
    ],
)
def test_wrong_arguments_have_the_same_code(
    desk: Desk, method: str, params: dict[str, Any], command: list[str]
) -> None:
    with Service(desk.environment, desk.folder) as service:
        answer = service.ask(method, **params)
    assert (answer["error"]["data"]["code"], 2) == desk.refused(*command)
    assert answer["error"]["code"] == -32602


def test_a_setting_counts_at_once_and_for_everyone(desk: Desk) -> None:
    with Service(desk.environment, desk.folder) as service:
        asked = {"session": "one.jsonl", "query": "PG_PORT", "contextEntries": []}
        assert len(service.call("retrieve", **asked)["hits"]) > 1
        told = service.call("config", action="set", key="retrieval.maxResults", value=1)
        assert told["values"] == [
            {"key": "retrieval.maxResults", "value": 1, "source": told["file"], "inThisVersion": True}
        ]
        assert len(service.call("retrieve", **asked)["hits"]) == 1
        assert desk.run("config", "get", "retrieval.maxResults").out == "1\n"
        assert service.call("config", action="set", key="retrieval.maxResults", value="3")["values"][0]["value"] == 3


RECALLS: tuple[dict[str, Any], ...] = (
    {"query": "PG_PORT"},
    {"query": "", "limit": 2},
    {"query": "perché 数据库", "match": "any", "scope": "current-session"},
    {"query": "p.rt", "mode": "regex", "leaf": "e0000003"},
    {"query": "walnut table", "mode": "phrase", "role": ["user"]},
    {"query": "", "summaries": True, "type": "compaction"},
    {"query": "port", "after": "2026-11-30T00:02:00Z", "before": "2026-11-30T00:05:00Z"},
    {"query": "port", "tool": "bash", "file": "src/db.py"},
)


def unsealed(document: Any) -> Any:
    """A document without refs and cursors: those of the service are its own, and expire."""
    if isinstance(document, dict):
        return {name: bool(value) if name in {"ref", "next"} else unsealed(value) for name, value in document.items()}
    return [unsealed(item) for item in document] if isinstance(document, list) else document


def test_recall_and_expand(desk: Desk) -> None:
    found = 0
    with Service(desk.environment, desk.folder) as service, Engine.open(desk.store) as engine:
        for given in RECALLS:
            named = {"role": "roles", "type": "types"}
            told: dict[str, Any] = {
                named.get(name, name): [value] if name == "type" else value for name, value in given.items()
            }
            page = engine.recall(session=desk.folder / "one.jsonl", **told)
            by_engine = json.loads(wire.encode(wire.recall(page)))
            options = [
                f"--{name}" if value is True else f"--{name}={value[0] if isinstance(value, list) else value}"
                for name, value in given.items()
                if name != "query"
            ]
            by_command = desk.json("recall", "recall", given["query"], "--session=one.jsonl", *options)
            by_service = service.call("recall", session="one.jsonl", **given)
            assert by_engine == by_command
            assert unsealed(by_command) == unsealed(by_service)
            assert list(by_service) == list(by_command)
            for mine, its in zip(page.hits, by_service["hits"], strict=True):
                shown = json.loads(wire.encode(wire.expand(engine.expand(mine.ref, before=1, after=1))))
                assert shown == service.call("expand", ref=its["ref"], before=1, after=1)
                assert shown == desk.json("expand", "expand", mine.ref, "--before=1", "--after=1")
                found += 1
        assert service.call("expand", session="one", range="e0000000..e0000002") == desk.json(
            "expand", "expand", "--session=one", "--range=e0000000..e0000002"
        )
    assert found > 8


REFUSED: tuple[tuple[str, dict[str, Any]], ...] = (
    ("recall", {"query": "x", "session": "one.jsonl", "tool": ""}),
    ("recall", {"query": "x", "session": "one.jsonl", "file": " "}),
    ("recall", {"query": "x", "session": "one.jsonl", "after": ""}),
    ("recall", {"query": "x", "session": "one.jsonl", "type": ""}),
    ("recall", {"query": "x", "session": "one.jsonl", "scope": ""}),
    ("recall", {"query": "x", "leaf": "e0000001", "scope": "host-wide"}),
    ("expand", {"ref": "lsQQ", "leaf": "e0000001"}),
    ("expand", {"ref": "lsQQ", "leaf": ""}),
    ("expand", {"ref": "lsQQ", "entry": ["e0000001"]}),
)


def test_what_no_road_understands_is_refused_on_each(desk: Desk) -> None:
    with Service(desk.environment, desk.folder) as service, Engine.open(desk.store) as engine:
        engine.index(desk.folder / "one.jsonl")
        tools = HistoryTools(engine, tool_caller(trusted=False))
        place = Place(session=str(desk.folder / "one.jsonl"))
        for method, given in REFUSED:
            named = {"type": "types", "entry": "entries"}
            told = {named.get(name, name): [value] if name == "type" else value for name, value in given.items()}
            with pytest.raises(BadArgument) as raised:
                getattr(engine, method)(**told)
            assert service.ask(method, **given)["error"]["data"]["code"] == "bad-argument"
            options = [f"--{name}={''.join(value)}" for name, value in given.items() if name not in {"query", "ref"}]
            asked = [str(given[name]) for name in ("query", "ref") if name in given]
            assert desk.refused(method, *asked, *options) == ("bad-argument", 2)
            offered = {name: value for name, value in given.items() if name not in {"session", "leaf"}}
            if offered.keys() & {"tool", "file", "after", "type", "entry"} or given.get("scope") == "":
                with pytest.raises(BadArgument) as by_tool:
                    getattr(tools, method)(offered, place)
                assert str(by_tool.value) == str(raised.value)


def test_an_empty_name_of_a_folder_is_refused_on_each_road_and_forgets_nothing(desk: Desk) -> None:
    desk.run("index", "two.jsonl")  # it worked in the folder that the commands run in
    with Service(desk.environment, desk.folder) as service:
        for method, given in (("forget", {"project": ""}), ("sessions", {"project": ""}), ("index", {"paths": [""]})):
            assert service.ask(method, **given)["error"]["data"]["code"] == "bad-argument"
        for words in (
            ("forget", "--project="), ("forget", "--project=", "--yes"), ("sessions", "--project="), ("index", ""),
            ("status", "--trust="), ("sessions", "--store="),
        ):  # fmt: skip
            assert desk.refused(*words) == ("bad-argument", 2)
        listed = service.call("sessions", project=str(desk.folder))["sessions"]
        assert [one["sessionId"] for one in listed] == ["two"]


WIDE: tuple[Scope, ...] = ("current-branch", "current-session", "current-lineage", "project", "host-wide")
USERS_OWN = {"project", "host-wide"}
"""Who asks over the protocol may be a model: of projects that nobody trusts, and of all sessions, it sees nothing."""


@pytest.fixture
def family(desk: Desk) -> Desk:
    """Beside the two sessions a fork of the first one, and the setting that lets searches be wide."""
    rows = pi.conversation(TEXTS)
    more = [
        pi.message(f"f000000{at}", rows[3]["id"], f"PG_PORT in the fork, take {at}", minute=20 + at) for at in range(3)
    ]
    header = pi.header("fork", parentSession=str(desk.folder / "one.jsonl"))
    pi.write(desk.folder / "fork.jsonl", [header, *rows[:4], *more])
    assert desk.run("config", "set", "historyTools.allowProjectScope", "true").status == 0
    assert desk.run("index", desk.folder).status == 0
    return desk


@pytest.mark.parametrize("scope", WIDE)
def test_every_scope_is_paged_alike_to_its_end(family: Desk, scope: Scope) -> None:
    told: dict[str, list[Any]] = {"engine": [], "command": [], "service": []}
    with Service(family.environment, family.folder) as service, Engine.open(family.store) as engine:
        page = engine.recall("PG_PORT", session=family.folder / "fork.jsonl", scope=scope, limit=2)
        told["engine"].append(json.loads(wire.encode(wire.recall(page))))
        while page.next is not None:
            page = engine.recall(
                "PG_PORT", session=family.folder / "fork.jsonl", scope=scope, limit=2, cursor=page.next
            )
            told["engine"].append(json.loads(wire.encode(wire.recall(page))))
        cursor: str | None = ""
        while cursor is not None:
            more = [f"--cursor={cursor}"] if cursor else []
            options = ["--session=fork.jsonl", f"--scope={scope}", "--limit=2"]
            told["command"].append(family.json("recall", "recall", "PG_PORT", *options, *more))
            cursor = told["command"][-1]["next"]
        cursor = None if scope in USERS_OWN else ""
        while cursor is not None:
            given = {"cursor": cursor} if cursor else {}
            asked = {"session": "fork.jsonl", "scope": scope, "limit": 2}
            told["service"].append(service.call("recall", query="PG_PORT", **asked, **given))
            cursor = told["service"][-1]["next"]
        refused = service.ask("recall", query="PG_PORT", session="fork.jsonl", scope=scope)
    assert told["engine"] == told["command"]
    if scope in USERS_OWN:
        assert refused["error"]["data"]["code"] == "scope-not-allowed"
    else:
        assert unsealed(told["command"]) == unsealed(told["service"])
    hits = [(hit["sessionId"], hit["entryId"]) for part in told["engine"] for hit in part["hits"]]
    assert len(hits) == len(set(hits)) > 2, (scope, len(hits))


def test_the_order_of_recall_is_that_of_the_users_ranking_in_every_host(desk: Desk) -> None:
    scores: dict[str, list[float]] = {}
    for ranking in ("contextual", "documented"):
        file = Path(user_file())
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps({"retrieval": {"ranking": ranking}}))
        told: list[Any] = []

        async def over_mcp(told: list[Any] = told) -> None:
            async with connected(desk, "--session", "one.jsonl") as client:
                told.append(await ask(client, "history_recall", query="PG_PORT", scope="current-session"))

        with Service(desk.environment, desk.folder) as service, Engine.open(desk.store) as engine:
            page = engine.recall("PG_PORT", session=desk.folder / "one.jsonl", scope="current-session")
            told.append(json.loads(wire.encode(wire.recall(page))))
            told.append(service.call("recall", session="one.jsonl", query="PG_PORT", scope="current-session"))
            told.append(desk.json("recall", "recall", "PG_PORT", "--session=one.jsonl", "--scope=current-session"))
            anyio.run(over_mcp)
        listed = [[(hit["entryId"], hit["score"]) for hit in document["hits"]] for document in told]
        assert all(hits == listed[0] for hits in listed)
        scores[ranking] = [score for _, score in listed[0]]
    assert all(one > other for one, other in zip(scores["contextual"], scores["documented"], strict=True))


def test_the_history_tools_answer_the_same_over_mcp_and_from_a_host(desk: Desk) -> None:
    # Clients of MCP and hosts get the warning in front; refs and cursors are each one's own.
    def bare(document: Any) -> Any:
        assert list(document)[:2] == ["schema", "warning"]
        return unsealed({name: value for name, value in document.items() if name != "warning"})

    # A host says the leaf itself.
    asked: list[dict[str, Any]] = [given for given in RECALLS if "leaf" not in given]
    told: list[Any] = []
    shown: list[Any] = []

    async def over_mcp() -> None:
        async with connected(desk, "--session", "one.jsonl") as client:
            for given in asked:
                page = await ask(client, "history_recall", **given)
                told.append(bare(page))
                shown.extend([bare(await ask(client, "history_expand", ref=hit["ref"])) for hit in page["hits"][:1]])

    with Service(desk.environment, desk.folder) as service, Engine.open(desk.store) as engine:
        engine.index(desk.folder)
        anyio.run(over_mcp)
        file = str(desk.folder / "one.jsonl")
        session = service.call("session/open", host="pi", sessionId="one", file=file)["session"]

        def from_host(name: str, arguments: Any) -> Any:
            answer = service.call("session/tool", session=session, name=name, arguments=arguments)
            assert not answer["failed"]
            return json.loads(answer["text"])

        expanded = iter(shown)
        for given, by_mcp in zip(asked, told, strict=True):
            named = {"role": "roles", "type": "types"}
            more: dict[str, Any] = {
                named.get(name, name): [value] if name == "type" else value for name, value in given.items()
            }
            page = engine.recall(session=file, **more)
            assert by_mcp == unsealed(json.loads(wire.encode(wire.recall(page))))
            by_host = from_host("history_recall", given)
            assert bare(by_host) == by_mcp
            for mine, its in zip(page.hits[:1], by_host["hits"], strict=False):
                by_engine = unsealed(json.loads(wire.encode(wire.expand(engine.expand(mine.ref)))))
                assert by_engine == bare(from_host("history_expand", {"ref": its["ref"]})) == next(expanded)
    assert len(shown) > 4
