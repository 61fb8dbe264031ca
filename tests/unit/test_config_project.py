"""The configuration of a project: who may say what, and that nothing there makes privacy looser."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conftest import ROOT

from aforesaid import Engine
from aforesaid.config import OPTIONS, Config
from aforesaid.config.project import CONDITIONS, LIMITS
from aforesaid.config.table import BY_KEY, CLASSIFICATIONS, SCOPES
from aforesaid.errors import BadArgument, ConfigUnreadable

if TYPE_CHECKING:
    from pathlib import Path


class Desk:
    """The user's own file and a project."""

    def __init__(self, folder: Path) -> None:
        self.own = folder / "own" / "config.json"
        self.project = folder / "project"
        self.file = self.project / ".aforesaid" / "config.json"
        self.own.parent.mkdir(parents=True)
        self.file.parent.mkdir(parents=True)

    def load(self, own: object = None, theirs: object = None, **more: Any) -> Config:
        for file, document in ((self.own, own), (self.file, theirs)):
            file.unlink(missing_ok=True)
            if document is not None:
                file.write_text(document if isinstance(document, str) else json.dumps(document), encoding="utf-8")
        return Config.load(project=self.project, **more)


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    made = Desk(tmp_path)
    monkeypatch.setattr("aforesaid.config.user_file", lambda: str(made.own))
    return made


def nest(key: str, value: object) -> dict[str, Any]:
    for name in reversed(key.split(".")):
        value = {name: value}
    return value  # type: ignore[return-value]


def merge(*documents: dict[str, Any]) -> dict[str, Any]:
    merged: dict[str, Any] = {}
    for document in documents:
        for name, value in document.items():
            both = isinstance(value, dict) and isinstance(merged.get(name), dict)
            merged[name] = merge(merged[name], value) if both else value
    return merged


def test_the_file_of_a_project_stands_between_the_users_own_and_the_named_one(desk: Desk, tmp_path: Path) -> None:
    named = tmp_path / "named.json"
    named.write_text(json.dumps({"retrieval": {"sparing": False}}))
    own = {"retrieval": {"maxResults": 3, "exact": False, "fts": False, "sparing": True}}
    theirs = {"retrieval": {"maxResults": 4, "exact": True, "sparing": True, "query": "working"}}
    config = desk.load(own, theirs, file=named, settings=["retrieval.query=latest"])
    found = {key: config.setting(f"retrieval.{key}") for key in ("maxResults", "exact", "fts", "sparing", "query")}
    assert {key: (setting.value, setting.source) for key, setting in found.items()} == {
        "maxResults": (4, str(desk.file)),
        "exact": (True, str(desk.file)),
        "fts": (False, str(desk.own)),
        "sparing": (False, str(named)),
        "query": ("latest", "--set"),
    }
    assert config.warnings == ()
    assert config.files == (str(desk.own), str(desk.file), str(named))


@pytest.mark.parametrize("empty", ["", "  "])
def test_an_empty_name_trusts_nothing(desk: Desk, monkeypatch: pytest.MonkeyPatch, empty: str) -> None:
    monkeypatch.chdir(desk.project)
    with pytest.raises(BadArgument, match="the folder of the project is empty"):
        Config.load(project=empty)
    with pytest.raises(BadArgument, match="the folder of the project is empty"):
        Engine.open(desk.project / "store", project=empty)


def test_a_project_without_a_file_changes_nothing(desk: Desk) -> None:
    assert desk.load({"retrieval": {"fts": False}}).settings == Config.load().settings


def test_of_a_project_that_is_not_trusted_nothing_is_read_and_that_is_said(desk: Desk) -> None:
    for theirs in ({"retrieval": {"maxResults": 4}, "privacy": {"enabled": True}}, "{", None):
        config = desk.load(None, theirs, trusted=False)
        assert config.settings == Config.load().settings
        assert not config.privacy_unknown
        assert len(config.warnings) == (theirs is not None)
        assert all(str(desk.file) in line and "not trusted" in line for line in config.warnings)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with names")
def test_nothing_that_lies_in_a_project_is_waited_for(desk: Desk) -> None:
    os.mkfifo(desk.file)
    assert not Config.load(project=desk.project, trusted=False).privacy_unknown
    assert Config.load(project=desk.project).privacy_unknown


RULE = {"path": "*.pem", "classification": "sensitive"}
OTHER = {"path": "*.key", "classification": "local-only"}
CASES: tuple[tuple[str, object, object, object], ...] = (
    # key, the user's own value, the project's, what counts
    ("retrieval.maxResults", 5, 50, 50),
    ("context.mode", "managed", "observer", "observer"),
    ("context.maxRetrievedHistoryTokens", 100, 16_000, 16_000),
    ("historyTools.includeSummaries", False, True, True),
    ("retrieval.embedding.mode", "remote", "local", "local"),
    ("retrieval.embedding.mode", "local", "remote", "local"),
    ("retrieval.embedding.remoteProfiles", ["a/b", "c/d"], ["c/d"], ("c/d",)),
    ("retrieval.embedding.remoteProfiles", ["a/b"], ["a/b", "c/d"], ("a/b",)),
    ("historyTools.enabled", True, False, False),
    ("historyTools.enabled", False, True, False),
    ("historyTools.allowProjectScope", True, False, False),
    ("historyTools.allowProjectScope", False, True, False),
    ("historyTools.defaultScope", "project", "current-session", "current-session"),
    ("historyTools.defaultScope", "current-session", "project", "current-session"),
    ("privacy.enabled", False, True, True),
    ("privacy.enabled", True, False, True),
    ("privacy.defaultClassification", "internal", "sensitive", "sensitive"),
    ("privacy.defaultClassification", "sensitive", "normal", "sensitive"),
    ("privacy.localProviders", ["a", "b"], ["b"], ("b",)),
    ("privacy.localProviders", ["a"], ["a", "evil"], ("a",)),
    ("privacy.remoteDefaultAllowed", ["normal", "internal"], ["normal"], ("normal",)),
    ("privacy.remoteDefaultAllowed", ["normal"], ["normal", "sensitive"], ("normal",)),
    ("privacy.remoteProviders", {"a": ["normal"]}, {"a": []}, {"a": ("normal",)}),
    ("privacy.remoteProviders", {}, {"a": ["normal"]}, {}),
    ("privacy.redactSecrets", False, True, True),
    ("privacy.redactSecrets", True, False, True),
    ("privacy.redactIndex", True, False, True),
    ("privacy.shortenPaths", True, False, True),
    ("privacy.rules", [RULE], [OTHER], (RULE, OTHER)),
    ("privacy.rules", [RULE, OTHER], [RULE], (RULE, OTHER)),
    ("privacy.rules", [RULE], [], (RULE,)),
    ("memory.enabled", True, False, False),
    ("memory.enabled", False, True, False),
    ("memory.extractive.provider", "mine", "theirs", "mine"),
    ("memory.extractive.model", "mine", "theirs", "mine"),
    ("memory.extractive.maxEvaluationsPerTurn", 0, 1, 0),
    ("memory.extractive.maxEvaluationsPerTurn", 1, 0, 0),
    ("memory.extractive.maxSourceChars", 1000, 500, 500),
    ("memory.extractive.maxSourceChars", 1000, 2000, 1000),
    ("memory.extractive.maxCandidates", 10, 20, 10),
    ("memory.extractive.timeoutMs", 1000, 2000, 1000),
    ("memory.extractive.maxViewBytes", 2000, 4000, 4000),
    ("host.timeoutMs", 200, 100, 200),
    ("storage.maxBytes", 5, 0, 5),
    ("diagnostics.storeManifests", 5, 0, 5),
)


@pytest.mark.parametrize(("key", "own", "theirs", "counts"), CASES)
def test_a_project_may_make_it_stricter_and_never_looser(
    desk: Desk, key: str, own: object, theirs: object, counts: object
) -> None:
    config = desk.load(nest(key, own), nest(key, theirs))
    assert json.loads(json.dumps(config.get(key), default=dict)) == json.loads(json.dumps(counts, default=dict))
    accepted = BY_KEY[key].accept(own) != config.get(key)
    assert config.setting(key).source == str(desk.file if accepted else desk.own)
    said = [line for line in config.warnings if not line.startswith("not-in-this-version")]
    if accepted or key == "privacy.rules":
        assert said == []
    else:
        (warning,) = said
        assert warning.startswith(f"{desk.file}: {key} is ")
        assert "a project may say" in warning
        assert str(desk.own) in warning


@pytest.mark.parametrize(
    ("own", "theirs", "key", "counts"),
    [
        ({}, {"memory.extractive.enabled": True}, "memory.extractive.enabled", False),
        (
            {},
            {"memory.extractive.enabled": True, "memory.extractive.maxEvaluationsPerTurn": 0},
            "memory.extractive.enabled",
            True,
        ),
        ({"memory.extractive.maxEvaluationsPerTurn": 0}, {"memory.extractive.enabled": True},
         "memory.extractive.enabled", True),
        ({"memory.extractive.enabled": True}, {"memory.extractive.enabled": False}, "memory.extractive.enabled", False),
        ({}, {"retrieval.semantic": True}, "retrieval.semantic", True),
        ({"retrieval.embedding.mode": "remote"}, {"retrieval.semantic": True}, "retrieval.semantic", False),
        ({"retrieval.embedding.mode": "remote"}, {"retrieval.semantic": True, "retrieval.embedding.mode": "local"},
         "retrieval.semantic", True),
        ({"retrieval.embedding.mode": "remote", "retrieval.semantic": True}, {"retrieval.semantic": False},
         "retrieval.semantic", False),
        ({"retrieval.embedding.mode": "remote", "retrieval.embedding.model": "a"}, {"retrieval.embedding.model": "b"},
         "retrieval.embedding.model", "a"),
        ({}, {"retrieval.embedding.model": "b"}, "retrieval.embedding.model", "b"),
    ],
)  # fmt: skip
def test_what_may_send_text_elsewhere_takes_the_users_own_file(
    desk: Desk, own: dict[str, object], theirs: dict[str, object], key: str, counts: object
) -> None:
    config = desk.load(merge(*(nest(*one) for one in own.items())), merge(*(nest(*one) for one in theirs.items())))
    assert config.get(key) == counts
    assert len([line for line in config.warnings if "only while" in line]) == (counts != theirs[key])


def test_what_is_said_above_a_project_counts_for_its_conditions_too(desk: Desk) -> None:
    theirs = merge(nest("retrieval.semantic", True), nest("memory.extractive.enabled", True))
    theirs = merge(theirs, nest("memory.extractive.maxEvaluationsPerTurn", 0))
    above = ["retrieval.embedding.mode=remote", "memory.extractive.maxEvaluationsPerTurn=1"]
    config = desk.load(None, theirs, settings=above)
    assert (config.get("retrieval.semantic"), config.get("memory.extractive.enabled")) == (False, False)
    assert desk.load(None, theirs).get("retrieval.semantic") is True


@pytest.mark.parametrize("theirs", ["{", "[]", '{"privacy": {"enabled": true}, "privacy": {}}'])
def test_a_projects_file_that_cannot_be_read_fails_closed(desk: Desk, theirs: str) -> None:
    config = desk.load(None, theirs)
    assert config.privacy_unknown
    assert str(desk.file) in config.warnings[0]
    assert not desk.load(None, theirs, settings=["privacy.enabled=false"]).privacy_unknown


def test_a_section_privacy_that_cannot_be_understood_fails_closed(desk: Desk) -> None:
    assert desk.load(None, {"privacy": {"enabled": "perhaps"}}).privacy_unknown
    assert desk.load({"privacy": {"enabled": True}}, {"privacy": {"rule": []}}).privacy_unknown
    # What a project does say is no answer to what the user's own file may have wanted.
    assert desk.load({"privacy": {"enabled": "perhaps"}}, {"privacy": {"enabled": True}}).privacy_unknown
    own = {"privacy": {"enabled": True, "localProviders": "ollama"}}
    assert desk.load(own, {"privacy": {"localProviders": ["faux"]}}).privacy_unknown


def test_wrong_values_unknown_keys_and_ratios_out_of_order_are_warnings_as_in_every_file(desk: Desk) -> None:
    theirs = {"retrieval": {"maxResults": 0, "maxResult": 5, "fts": False}, "context": {"targetFillRatio": 0.99}}
    config = desk.load(None, theirs)
    assert (config.get("retrieval.maxResults"), config.get("retrieval.fts")) == (12, False)
    assert config.get("context.targetFillRatio") == 0.7
    assert len(config.warnings) == 3
    assert all(line.startswith(f"{desk.file}: ") for line in config.warnings)


def test_a_named_file_that_cannot_be_read_is_an_error_all_the_same(desk: Desk, tmp_path: Path) -> None:
    with pytest.raises(ConfigUnreadable):
        desk.load(None, {}, file=tmp_path / "none.json")


def test_the_python_api_takes_a_trusted_project(desk: Desk, tmp_path: Path) -> None:
    desk.file.write_text('{"retrieval": {"maxResults": 7}}')
    with Engine.open(tmp_path / "store", project=desk.project) as engine:
        assert engine.config.integer("retrieval.maxResults") == 7


def test_every_limit_is_about_an_option_and_is_documented() -> None:
    page = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
    table = page.partition("## Projects")[2].partition("## ")[0]
    for key in {*LIMITS, *CONDITIONS}:
        assert key in BY_KEY
        section = "retrieval.embedding" if ".embedding." in key else key.partition(".")[0]
        assert f"`{key}`" in table or f"`{section}`" in table, key
    assert {key for key in BY_KEY if key.startswith("privacy.")} <= set(LIMITS)


LISTS = st.lists(st.sampled_from(CLASSIFICATIONS), unique=True, max_size=4)
PRIVACY = st.fixed_dictionaries(
    {},
    optional={
        "enabled": st.booleans(),
        "defaultClassification": st.sampled_from(CLASSIFICATIONS),
        "localProviders": st.lists(st.sampled_from(["ollama", "faux", "x"]), unique=True),
        "remoteDefaultAllowed": LISTS,
        "remoteProviders": st.dictionaries(st.sampled_from(["x", "y"]), LISTS, max_size=2),
        "redactSecrets": st.booleans(),
        "redactIndex": st.booleans(),
        "shortenPaths": st.booleans(),
        "rules": st.lists(st.sampled_from([RULE, OTHER]), max_size=2),
    },
)
HISTORY = st.fixed_dictionaries(
    {},
    optional={"allowProjectScope": st.booleans(), "enabled": st.booleans(), "defaultScope": st.sampled_from(SCOPES)},
)


@settings(max_examples=150, deadline=None)
@given(own=PRIVACY, theirs=PRIVACY, history=HISTORY, other=HISTORY)
def test_whatever_a_project_says_privacy_and_consent_are_as_strict_as_without_it(
    tmp_path_factory: pytest.TempPathFactory, own: Any, theirs: Any, history: Any, other: Any
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        desk = Desk(tmp_path_factory.mktemp("desk"))
        patch.setattr("aforesaid.config.user_file", lambda: str(desk.own))
        before = desk.load({"privacy": own, "historyTools": history})
        after = desk.load({"privacy": own, "historyTools": history}, {"privacy": theirs, "historyTools": other})
    was, now = ({option.key: config.get(option.key) for option in OPTIONS} for config in (before, after))
    stricter: Any
    for key in ("privacy.enabled", "privacy.redactSecrets", "privacy.redactIndex", "privacy.shortenPaths"):
        stricter = now[key], was[key]
        assert stricter[0] >= stricter[1]
    for key in ("privacy.localProviders", "privacy.remoteDefaultAllowed"):
        stricter = now[key], was[key]
        assert set(stricter[0]) <= set(stricter[1])
    assert now["privacy.remoteProviders"] == was["privacy.remoteProviders"]
    rank = CLASSIFICATIONS.index
    stricter = now["privacy.defaultClassification"], was["privacy.defaultClassification"]
    assert rank(stricter[0]) >= rank(stricter[1])
    stricter = now["privacy.rules"], was["privacy.rules"]
    assert stricter[0][: len(stricter[1])] == stricter[1]
    for key in ("historyTools.enabled", "historyTools.allowProjectScope"):
        stricter = now[key], was[key]
        assert stricter[0] <= stricter[1]
    stricter = now["historyTools.defaultScope"], was["historyTools.defaultScope"]
    assert SCOPES.index(stricter[0]) <= SCOPES.index(stricter[1])
