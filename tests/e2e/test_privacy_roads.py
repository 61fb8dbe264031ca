"""Planted words on every road to a model: none of them reaches a provider that may not see it.

Each road that exists is driven over generated sessions with random policies. Roads that come later join here.
"""

from __future__ import annotations

import json
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from tests import pi
from tests.canaries import LEVELS, REQUEST, TOPIC, World, leaked, make_world
from tests.fakes.embedding import Recorder
from tests.fakes.embedding import settings as embedding

from aforesaid import Caller, Engine
from aforesaid.config import Config
from aforesaid.errors import AforesaidError, PrivacyWithheld
from aforesaid.extractive.survey import Asked
from aforesaid.hosts import wire
from aforesaid.hosts.jsonrpc import Call
from aforesaid.hosts.places import Place
from aforesaid.hosts.sessions import Sessions
from aforesaid.hosts.tools import HistoryTools, refusal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from aforesaid import Retrieval
    from aforesaid.hosts.jsonrpc import Method

SESSIONS = 1000
SHARE = 150
"""Of the sessions, for broken rules."""


def worlds(count: int) -> Iterator[World]:
    random = Random(20261130)
    for number in range(count):
        yield make_world(random, number)


def retrieve(folder: Path, world: World, name: str, **more: object) -> Retrieval:
    with Engine.open(folder / "store", settings={**world.settings, **more}) as engine:
        return engine.retrieve(session=world.write(folder, name), query=REQUEST, provider=world.provider)


def handed_out(found: Retrieval) -> set[str]:
    return {hit.ranked.candidate.entry.id for hit in found.hits}


def ask(methods: Mapping[str, Method], method: str, **params: Any) -> Any:
    """What a method of the service answers."""
    return methods[method](json.loads(json.dumps(params)), Call(1, method, {}, wanted=True, arrived=0.0))


def something_leaks(folder: Path) -> bool:
    """Whether a word leaves that must not, or a part of an entry with such a word, in one of some sessions."""
    for number, world in enumerate(worlds(SHARE)):
        found = retrieve(folder, world, f"w{number}")
        if leaked(world, wire.retrieval(found)) or not handed_out(found) <= world.permitted:
            return True
    return False


# --- the roads ------------------------------------------------------------------------------------------------------
# Each drives one road for one session, asserts what is particular to it, and returns all that it handed out.


def evidence(engine: Engine, world: World, file: Path) -> object:
    """Automatic evidence: nothing prohibited comes back, and all that is permitted does."""
    found = engine.retrieve(session=file, query=REQUEST, provider=world.provider)
    assert found.status == "complete"
    assert handed_out(found) == world.permitted
    assert {left.entry_id for left in found.withheld} == set(world.levels) - world.permitted
    assert found.diagnostics.privacy_excluded_count == len(world.levels) - len(world.permitted)
    return wire.retrieval(found), repr(found)


def plan(engine: Engine, world: World, file: Path) -> object:
    """The messages of a call, and its manifest, which keeps id, class and reason of what was withheld."""
    model = None if world.provider is None else f"{world.provider}/some/model"
    made = engine.plan(session=file, context_window=1_000_000, model=model)
    document = wire.plan(made)
    assert made.status == "planned"
    assert set(made.manifest.retrieved_event_ids) == world.permitted
    items = [item for item in document["manifest"]["excluded"] if item["kind"] == "retrieval"]
    assert {item["entryId"] for item in items} == set(world.levels) - world.permitted
    for item in items:
        assert item["reason"].startswith("privacy-")
        assert (item["score"], item["tokens"]) == (None, 0)
    return document


def recall(engine: Engine, world: World, file: Path) -> object:
    """Explicit search, page by page; an empty query lists everything."""
    told = []
    for query in (TOPIC, "canary", ""):
        seen: set[str] = set()
        cursor = None
        while True:
            page = engine.recall(query, session=file, limit=5, cursor=cursor, provider=world.provider)
            told.append(wire.recall(page))
            seen |= {hit.entry_id for hit in page.hits}
            cursor = page.next
            if cursor is None:
                break
        assert seen & set(world.levels) == world.permitted
    return told


def expand(engine: Engine, world: World, file: Path) -> object:
    """The originals of entries and of their neighbours."""
    told: list[object] = []
    for id_ in list(world.levels)[:4]:
        asked: dict[str, Any] = {"session": file, "entries": [id_], "before": 2, "after": 2, "provider": world.provider}
        if id_ in world.permitted:
            told.append(wire.expand(engine.expand(**asked)))
        else:
            with pytest.raises(PrivacyWithheld) as refused:
                engine.expand(**asked)
            told.append(str(refused.value))
    return told


def lost(engine: Engine, world: World, file: Path) -> object:
    """The exact items that the compaction took."""
    report = engine.lost(session=file, provider=world.provider)
    (part,) = report.compactions
    assert {one.last_entry_id for one in part.items} & set(world.levels) <= world.permitted
    assert part.lost_entries >= len(world.permitted)
    return wire.lost(report)


def tools(engine: Engine, world: World, file: Path) -> object:
    """What the MCP server and the tools of a host answer, errors and status included."""
    place = Place(session=str(file))
    history = HistoryTools(engine, Caller(name="tool", model=True, refs_last=60), world.provider)
    told: list[Any] = [history.recall({"query": TOPIC, "limit": 12}, place), history.status({}, place)]
    for id_ in list(world.levels)[:3]:
        try:
            told.append(history.expand({"entry": [id_], "before": 1, "after": 1}, place))
        except AforesaidError as error:
            told.append(refusal(error))
    return told


def service(engine: Engine, world: World, file: Path) -> object:
    """What the service tells a host to add to a call, and what it shows of that."""
    methods = Sessions(engine, lambda: None).table({})
    session = ask(methods, "session/open", host="pi", sessionId="x", file=str(file))["session"]
    request = world.rows[-1]["id"]
    call: dict[str, Any] = {"session": session, "request": request}
    call["entries"] = {"add": [world.rows[-2]["id"], request]}
    if world.provider is not None:
        call["model"] = {"provider": world.provider, "id": "m", "contextWindow": 1_000_000}
    answer = ask(methods, "session/context", **call)
    assert {message["entryId"] for message in answer["messages"]} == world.permitted
    report = ask(methods, "session/report", session=session)
    tool: dict[str, Any] = {"session": session, "name": "history_recall", "provider": world.provider}
    page = ask(methods, "session/tool", **tool, arguments={"query": TOPIC, "limit": 12})
    found = [hit["entryId"] for hit in json.loads(page["text"])["hits"]]
    assert found or not world.permitted
    assert set(found) & set(world.levels) <= world.permitted
    tool["name"] = "history_expand"
    pages = [
        page,
        *(ask(methods, "session/tool", **tool, arguments={"entry": [id_]}) for id_ in list(world.levels)[:4]),
    ]
    topics = ("manifest", "excluded all", "privacy")
    return answer, report, pages, [ask(methods, "session/show", session=session, topic=topic) for topic in topics]


def view(engine: Engine, world: World, file: Path) -> object:
    """The extractive view, whose bundles are of several entries."""
    found = engine.view(session=file, provider=world.provider)
    shown = {source["entryId"] for source in json.loads(found.text).get("evidence", [])}
    assert shown & set(world.levels) <= world.permitted
    return wire.view(found, explain=True), found.message


def classifier(engine: Engine, world: World, file: Path) -> object:
    """What a host's classifier is asked about."""
    asked = Asked(leaf=None, request=REQUEST, context_entries=None)
    found = engine.look_for_classifier(session=file, asked=asked, provider=world.provider or "nowhere", known=())
    return repr(found)


def final_messages(engine: Engine, world: World, file: Path) -> object:
    """The host's own messages and ours, as an adapter has them judged for the provider that is really called."""
    methods = Sessions(engine, lambda: None).table({})
    session = ask(methods, "session/open", host="pi", sessionId="x", file=str(file))["session"]
    stamp = ask(methods, "session/clear", session=session)["policy"]["stamp"]
    texts = {row["id"]: pi.text_of(row) for row in world.rows if row.get("id") in world.levels}
    own = [
        {"texts": [text], "kind": "result", "call": [world.calls[id_]]} if id_ in world.calls else {"texts": [text]}
        for id_, text in texts.items()
    ]
    # Rules by path raise a text for the file that its call names, which the text itself does not tell.
    spoken = [id_ for id_ in texts if id_ not in world.calls]
    ours = [
        {"texts": [texts[id_]], "kind": kind, "fresh": True, "entryId": id_}
        for kind in ("added", "answer")
        for id_ in spoken
    ]
    asked = {"session": session, "provider": world.provider, "stamp": stamp, "messages": [*own, *ours]}
    told = ask(methods, "session/clear", **asked)
    assert told["policy"]["restricts"] == (world.allowed != set(LEVELS))
    for id_, verdict in zip(texts, told["messages"], strict=False):
        shown = texts[id_] if verdict is True else verdict[0]
        for word in world.words[id_]:
            assert (word in shown) != world.stays_here(word, world.calls.get(id_, "")), (word, texts[id_], shown)
    added, answers = (told["messages"][start : start + len(spoken)] for start in (len(own), len(own) + len(spoken)))
    permitted = [id_ in world.permitted for id_ in spoken]
    assert added == permitted
    # An answer is about entries that were judged; of itself it only is what its markers and paths say.
    assert [verdict is True for verdict in answers] == [
        not (world.may_not_name(texts[id_]) or any(world.stays_here(word, texts[id_]) for word in world.words[id_]))
        for id_ in spoken
    ]
    stale = ask(methods, "session/clear", **{**asked, "stamp": "another", "messages": ours})["messages"]
    assert any(verdict is True for verdict in stale) <= (world.allowed == set(LEVELS))
    return [text for text, verdict in zip(spoken, added, strict=True) if verdict], stale


ROADS: tuple[Callable[[Engine, World, Path], object], ...] = (
    *(evidence, plan, recall, expand, lost, tools, service, final_messages),
)
SLOW: tuple[Callable[[Engine, World, Path], object], ...] = (view, classifier)
"""Roads that are driven for every fifth session."""


def test_no_road_leads_what_the_provider_may_not_see_to_it(tmp_path: Path) -> None:
    """1,000 sessions, each with a policy and a provider of its own, on every road that exists."""
    came_back = 0
    with Engine.open(tmp_path / "store") as engine:
        for number, world in enumerate(worlds(SESSIONS)):
            engine.config = Config.load(settings=world.settings)
            file = world.write(tmp_path, f"w{number}")
            for road in ROADS if number % 5 else (*ROADS, *SLOW):
                assert leaked(world, road(engine, world, file)) == [], (number, road.__name__)
            came_back += len(world.permitted)
    assert came_back > SESSIONS


def test_no_word_reaches_a_remote_model_of_vectors_that_may_not_see_it(tmp_path: Path) -> None:
    sent = 0
    for number, world in enumerate(worlds(60)):
        world.provider = "there"
        world.settings["privacy.remoteProviders"] = {"there": [], **world.settings["privacy.remoteProviders"]}
        port = Recorder("there", "m", destination="remote")
        asked = {**world.settings, **embedding(port), "retrieval.embedding.remoteProfiles": ["there/m"]}
        with Engine.open(tmp_path / f"store{number}", settings=asked, embedding=port) as engine:
            file = world.write(tmp_path, f"w{number}")
            found = engine.retrieve(session=file, query=REQUEST, provider=world.provider)
            assert handed_out(found) == world.permitted
            engine.index(file)
        assert leaked(world, port.texts) == [], number
        sent += len(port.texts)
    assert sent > 60


def test_without_the_policy_all_of_it_would_leave(tmp_path: Path) -> None:
    for number, world in enumerate(worlds(40)):
        found = retrieve(tmp_path, world, f"w{number}", **{"privacy.enabled": False})
        assert handed_out(found) == set(world.levels)
        assert TOPIC in found.query.keywords


def _forget_open_markers(monkeypatch: pytest.MonkeyPatch) -> None:
    from aforesaid.privacy import judge, markers

    def read(text: str) -> markers.Marks:
        marks = markers.read_marks(text)
        kept = tuple(span for span in marks.spans if "]" in text[span[1] - 1 : span[1]] or span[0] == 0)
        return markers.Marks(spans=kept, outside=True, broken=marks.broken) if kept != marks.spans else marks

    monkeypatch.setattr(judge, "read_marks", read)


def _take_the_first_marker_only(monkeypatch: pytest.MonkeyPatch) -> None:
    from aforesaid.privacy import judge, markers

    def read(text: str) -> markers.Marks:
        marks = markers.read_marks(text)
        return markers.Marks(spans=marks.spans[:1], outside=marks.outside, broken=marks.broken)

    monkeypatch.setattr(judge, "read_marks", read)


def _judge_the_beginning_only(monkeypatch: pytest.MonkeyPatch) -> None:
    from aforesaid.privacy import judge, markers

    monkeypatch.setattr(judge, "read_marks", lambda text: markers.read_marks(text[:6000]))


def _match_broken_markers(monkeypatch: pytest.MonkeyPatch) -> None:
    from aforesaid.privacy import judge, markers

    def read(text: str) -> markers.Marks:
        marks = markers.read_marks(text)
        return markers.UNMARKED if marks.broken else marks

    monkeypatch.setattr(judge, "read_marks", read)


def _let_local_only_out(monkeypatch: pytest.MonkeyPatch) -> None:
    from aforesaid.privacy.policy import Providers

    allowed = Providers.allowed

    def wider(self: Providers, provider: str) -> frozenset[str]:
        named = dict(self.remote).get(provider, self.remote_default)
        return allowed(self, provider) | ({"local-only"} & set(named))

    monkeypatch.setattr(Providers, "allowed", wider)


def _take_thresholds_for_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    from aforesaid.model import LEVELS
    from aforesaid.privacy.policy import Providers

    allowed = Providers.allowed

    def wider(self: Providers, provider: str) -> frozenset[str]:
        most = max((LEVELS.index(level) for level in allowed(self, provider)), default=-1)
        return frozenset(LEVELS[: most + 1])

    monkeypatch.setattr(Providers, "allowed", wider)


def _compare_providers_without_case(monkeypatch: pytest.MonkeyPatch) -> None:
    from aforesaid.privacy.policy import Providers

    local = Providers.is_local
    monkeypatch.setattr(Providers, "is_local", lambda self, provider: local(self, provider.lower()))


def _trust_local_names_that_are_remote(monkeypatch: pytest.MonkeyPatch) -> None:
    from aforesaid.privacy.policy import Providers

    monkeypatch.setattr(Providers, "is_local", lambda self, provider: provider in self.local)


def _forget_results(monkeypatch: pytest.MonkeyPatch) -> None:
    from aforesaid.privacy.judge import Judge

    monkeypatch.setattr(Judge, "judge_entry", lambda self, entry, answered=None: self.judge(entry.text))


def _forget_paths(monkeypatch: pytest.MonkeyPatch) -> None:
    from aforesaid.privacy.rules import Rules

    monkeypatch.setattr(Rules, "of", lambda self, texts: "normal")


def _forget_projects(monkeypatch: pytest.MonkeyPatch) -> None:
    from aforesaid.privacy import rules

    monkeypatch.setattr(rules, "_within", lambda *_: False)


@pytest.mark.parametrize(
    "breakage",
    [
        _forget_open_markers,
        _take_the_first_marker_only,
        _judge_the_beginning_only,
        _match_broken_markers,
        _let_local_only_out,
        _take_thresholds_for_lists,
        _compare_providers_without_case,
        _trust_local_names_that_are_remote,
        _forget_results,
        _forget_paths,
        _forget_projects,
    ],
)
def test_a_broken_rule_is_noticed(
    breakage: Callable[[pytest.MonkeyPatch], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    breakage(monkeypatch)
    # The line in the transcript would catch broken markers a second time.
    monkeypatch.setattr("aforesaid.withholding.withhold_lines", lambda answer, lines, judge: answer)
    assert something_leaks(tmp_path)


def test_nothing_is_noticed_where_nothing_is_broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aforesaid.withholding.withhold_lines", lambda answer, lines, judge: answer)
    assert not something_leaks(tmp_path)
