from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest
from msgspec.structs import replace
from tests.conftest import ROOT

from aforesaid.config import OPTIONS, Config, store_folder, user_file
from aforesaid.config.schema import schema
from aforesaid.config.table import nearest
from aforesaid.config.writing import write_setting
from aforesaid.errors import ConfigInvalid, ConfigUnreadable, OperationError


@pytest.fixture(autouse=True)
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's own file, which does not exist yet."""
    monkeypatch.setattr("aforesaid.config.user_file", lambda: str(tmp_path / "own" / "config.json"))
    monkeypatch.setattr("aforesaid.config.writing.user_file", lambda: str(tmp_path / "own" / "config.json"))
    (tmp_path / "own").mkdir()
    return tmp_path / "own" / "config.json"


def write(file: Path, document: object) -> Path:
    file.write_text(document if isinstance(document, str) else json.dumps(document), encoding="utf-8")
    return file


# --- the table ------------------------------------------------------------------------------------------------------


def test_every_default_is_an_allowed_value_of_its_option() -> None:
    for option in OPTIONS:
        assert option.accept(option.default) == option.default, option.key


def test_the_defaults_of_the_contract() -> None:
    config = Config.load()
    expected = {
        "retrieval.exact": True,
        "retrieval.fts": True,
        "retrieval.semantic": False,
        "retrieval.ranking": "contextual",
        "retrieval.query": "latest",
        "retrieval.maxResults": 12,
        "retrieval.embedding.dimensions": 256,
        "context.mode": "managed",
        "context.maxRetrievedHistoryTokens": 16_000,
        "context.targetFillRatio": 0.7,
        "context.softLimitRatio": 0.8,
        "context.hardLimitRatio": 0.9,
        "context.recentTailTokens": 64_000,
        "historyTools.maxResults": 6,
        "historyTools.maxOutputTokens": 3000,
        "project.maxFileBytes": 512_000,
        "privacy.enabled": False,
        "privacy.localProviders": ("faux", "ollama", "llama-cpp", "lmstudio"),
        "privacy.remoteDefaultAllowed": ("normal", "internal"),
        "privacy.redactSecrets": True,
        "privacy.redactIndex": True,
        "memory.extractive.maxViewBytes": 8192,
        "host.timeoutMs": 250,
        "host.firstCallTimeoutMs": 1500,
        "storage.busyTimeoutMs": 5000,
        "storage.maxBytes": 0,
        "diagnostics.logLevel": "info",
        "diagnostics.storeManifests": 128,
    }
    assert {key: config.get(key) for key in expected} == expected
    assert {setting.source for setting in config.settings} == {"default"}
    assert config.warnings == ()


@pytest.mark.parametrize(
    ("key", "allowed", "refused"),
    [
        ("retrieval.maxResults", [1, 100, 12.0], [0, 101, -1, 1.5, True, "12", None, [], 1e300, float("inf")]),
        ("context.maxRetrievedHistoryTokens", [0, 200_000], [-1, 200_001]),
        ("context.hardLimitRatio", [0.8, 1, 1.0], [0, 1.01, -0.5, True, "0.9", float("nan"), float("inf")]),
        ("retrieval.embedding.dimensions", [16, 4096], [15, 4097]),
        ("retrieval.embedding.maxSources", [1, 1_000_000], [0, 1_000_001]),
        ("retrieval.embedding.candidatePool", [1, 500], [0, 501]),
        ("retrieval.embedding.batchSize", [1, 512], [0, 513]),
        ("retrieval.embedding.queryCacheSize", [1, 1000], [0, 1001]),
        ("retrieval.embedding.timeoutMs", [1, 120_000], [0, 120_001]),
        ("historyTools.maxResults", [1, 12], [0, 13]),
        ("historyTools.maxOutputTokens", [256, 6000], [255, 6001]),
        ("host.timeoutMs", [10, 10_000], [9, 10_001]),
        ("memory.extractive.maxViewBytes", [1024, 32_768], [1023, 32_769]),
        ("memory.extractive.maxCandidates", [1, 256], [0, 257]),
        ("memory.extractive.maxSourceChars", [256, 100_000], [255, 100_001]),
        ("memory.extractive.maxEvaluationsPerTurn", [0, 1], [-1, 2]),
        ("memory.extractive.timeoutMs", [100, 10_000], [99, 10_001]),
        ("retrieval.exact", [True, False], [0, 1, "true", None]),
        ("retrieval.ranking", ["documented", "contextual"], ["Documented", "", 1, ["documented"]]),
        ("context.supplementalPlacement", ["latest-user", "stable-prefix", "hybrid"], ["first"]),
        ("privacy.remoteDefaultAllowed", [[], ["normal", "local-only"]], ["normal", ["secret"], [1], {}]),
        ("privacy.remoteProviders", [{}, {"embedding.example": ["normal"]}], [[], {"a": "normal"}, {"a": ["x"]}]),
        (
            "privacy.rules",
            [[], [{"path": "*.pem", "classification": "sensitive"}]],
            [{}, ["*.pem"], "x", [{"path": "*.pem"}], [{"path": "*.pem", "classification": "sensitive"}, {}]],
        ),
    ],
)
def test_values_are_allowed_or_refused_as_the_contract_says(
    key: str, allowed: list[object], refused: list[object]
) -> None:
    for value in allowed:
        # Both are raised so that no ratio is out of order.
        found = Config.load(settings={"context.hardLimitRatio": 1, key: value} if "Ratio" in key else {key: value})
        assert json.loads(json.dumps(found.get(key), default=dict)) == value
        assert found.setting(key).source == "--set"
    for value in refused:
        with pytest.raises(ConfigInvalid, match="allowed: "):
            Config.load(settings={key: value})


def test_the_predecessors_name_of_the_local_embedder_means_ours() -> None:
    assert Config.load(settings=["retrieval.embedding.provider=ds4-local"]).warnings == ()
    config = Config.load(settings=["retrieval.embedding.provider=ds4-local"])
    assert config.text("retrieval.embedding.provider") == "aforesaid-local"


@pytest.mark.parametrize(
    ("wrong", "near"),
    [
        ("retrieval.maxResult", "retrieval.maxResults"),
        ("retrieval.maxresults", "retrieval.maxResults"),
        ("maxRetrievedHistoryTokens", "context.maxRetrievedHistoryTokens"),
        ("retreival", "retrieval"),
        ("zzzz", None),
        ("", None),
        ("検索", None),
    ],
)
def test_a_wrong_name_gets_the_nearest_right_one(wrong: str, near: str | None) -> None:
    assert nearest(wrong) == near


# --- layers ---------------------------------------------------------------------------------------------------------


def test_each_layer_overrides_the_one_below_and_every_value_knows_its_source(own: Path, tmp_path: Path) -> None:
    write(own, {"retrieval": {"maxResults": 20, "exact": False}, "storage": {"busyTimeoutMs": 1}})
    extra = write(tmp_path / "extra.json", {"retrieval": {"maxResults": 30}, "storage": {"busyTimeoutMs": 2}})
    config = Config.load(extra, settings=["retrieval.maxResults=40"])
    assert (config.integer("retrieval.maxResults"), config.setting("retrieval.maxResults").source) == (40, "--set")
    assert config.setting("storage.busyTimeoutMs").source == str(extra)
    assert config.integer("storage.busyTimeoutMs") == 2
    assert (config.boolean("retrieval.exact"), config.setting("retrieval.exact").source) == (False, str(own))
    assert config.setting("retrieval.fts").source == "default"
    assert config.warnings == ()


def test_a_wrong_value_in_a_file_names_file_key_found_and_allowed_and_the_layer_below_counts(
    own: Path, tmp_path: Path
) -> None:
    write(own, {"retrieval": {"maxResults": 20}})
    extra = write(tmp_path / "extra.json", {"retrieval": {"maxResults": 101, "fts": False}})
    config = Config.load(extra)
    assert config.integer("retrieval.maxResults") == 20
    assert config.boolean("retrieval.fts") is False, "the rest of the file counts"
    (warning,) = config.warnings
    for part in (str(extra), "retrieval.maxResults", "101", "from 1 to 100", "using 20", str(own)):
        assert part in warning


def test_an_unknown_key_is_a_warning_with_the_nearest_name(own: Path) -> None:
    write(own, {"retrieval": {"maxResult": 3, "fts": False}, "$schema": "x", "retrievel": {"fts": True}})
    config = Config.load()
    assert config.boolean("retrieval.fts") is False
    assert config.warnings == (
        f"{own}: there is no option retrieval.maxResult; did you mean retrieval.maxResults?",
        f"{own}: there is no option retrievel; did you mean retrieval?",
    )


def test_a_dotted_key_in_a_file_is_unknown_because_files_are_nested(own: Path) -> None:
    write(own, {"retrieval.maxResults": 3})
    config = Config.load()
    assert config.integer("retrieval.maxResults") == 12
    nested = '{"retrieval": {"maxResults": 3}}'
    assert config.warnings == (f"{own}: 'retrieval.maxResults' is no option: a file nests them, as in {nested}",)


@pytest.mark.parametrize("document", [{"retrieval": {"embedding.model": "m"}}, {"retrieval.embedding": {"model": "m"}}])
def test_a_partly_dotted_key_is_unknown_too(own: Path, document: dict[str, object]) -> None:
    write(own, document)
    assert len(Config.load().warnings) == 1


@pytest.mark.parametrize("section", [5, None, "x", [1]])
def test_a_section_that_is_no_object_is_a_warning(own: Path, section: object) -> None:
    write(own, {"retrieval": section, "storage": {"maxBytes": 7}})
    config = Config.load()
    assert config.integer("storage.maxBytes") == 7
    assert len(config.warnings) == 1
    assert "allowed: an object" in config.warnings[0]


@pytest.mark.parametrize("content", ["", "{", "[]", "5", "null", '{"a": NaN}', "[" * 100_000])
def test_a_file_without_a_json_object_is_skipped_with_a_warning_if_it_is_the_users_own(own: Path, content: str) -> None:
    write(own, content)
    config = Config.load()
    assert config.settings == Config.load(settings={}).settings
    assert len(config.warnings) == 1
    assert str(own) in config.warnings[0]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with names")
def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(own: Path) -> None:
    own.parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(own)
    config = Config.load()
    assert config.privacy_unknown
    assert "is no file" in config.warnings[0]


@pytest.mark.parametrize(
    "content",
    [
        '{"privacy": {"enabled": true}, "privacy": {"enabled": false}}',
        '{"privacy": {"enabled": true, "enabled": false}}',
        '{"context": {"mode": "observer", "mode": "managed"}}',
    ],
)
def test_a_key_that_stands_twice_fails_closed(own: Path, tmp_path: Path, content: str) -> None:
    own.parent.mkdir(parents=True, exist_ok=True)
    own.write_text(content)
    config = Config.load()
    assert config.privacy_unknown
    assert " twice " in config.warnings[0]
    named = tmp_path / "named.json"
    named.write_text(content)
    with pytest.raises(ConfigUnreadable, match="twice"):
        Config.load(named)


@pytest.mark.parametrize("content", ["", "{", "[]", "null"])
def test_a_file_without_a_json_object_is_an_error_if_it_was_named(tmp_path: Path, content: str) -> None:
    with pytest.raises(ConfigUnreadable):
        Config.load(write(tmp_path / "named.json", content))


def test_a_named_file_that_is_missing_or_a_folder_or_not_utf8_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "latin.json").write_bytes(b'{"diagnostics": {"logLevel": "\xe9"}}')
    for path in (tmp_path / "none.json", tmp_path, tmp_path / "latin.json"):
        with pytest.raises(ConfigUnreadable, match=r".+; .+"):
            Config.load(path)


def test_a_byte_order_mark_is_no_fault(own: Path) -> None:
    own.write_bytes(b'\xef\xbb\xbf{"retrieval": {"fts": false}}')
    assert Config.load().boolean("retrieval.fts") is False


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("retrieval.ranking=documented", "documented"),
        ('retrieval.ranking="documented"', "documented"),
        ("memory.extractive.model=vendor/jev=2", "vendor/jev=2"),
        ("memory.extractive.model=日本語", "日本語"),
        ("memory.extractive.model=\udcff", "\udcff"),
        ("memory.extractive.model=", ""),
        ('privacy.localProviders=["a"]', ("a",)),
        (" retrieval.maxResults = 5 ", 5),
    ],
)
def test_a_set_value_is_json_if_it_parses_and_text_otherwise(setting: str, value: object) -> None:
    config = Config.load(settings=[setting])
    assert config.get(setting.partition("=")[0].strip()) == value


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("retrieval.maxResults", "KEY=VALUE"),
        ("", "has no key; write it as --set KEY=VALUE"),
        (" =5", "has no key; write it as --set KEY=VALUE"),
        ("retrieval.maxResults=0", "from 1 to 100"),
        ("retrieval.maxResults=many", "from 1 to 100"),
        ("retrieval.maxResult=5", "did you mean retrieval.maxResults"),
        ("maxFiles=5", "did you mean project.maxFiles?"),
        ("maxResults=5", "retrieval.maxResults or "),
        ("retrieval=5", "name one of its options, as retrieval.exact"),
        ("retrieval.embedding=5", "name one of its options, as retrieval.embedding.mode"),
        ("qqqq=5", "config show"),
    ],
)
def test_a_wrong_set_is_an_error(setting: str, said: str) -> None:
    with pytest.raises(ConfigInvalid, match=said):
        Config.load(settings=[setting])


def test_ratios_out_of_order_fall_back_together(own: Path) -> None:
    write(own, {"context": {"targetFillRatio": 0.95, "softLimitRatio": 0.85}, "retrieval": {"fts": False}})
    config = Config.load()
    assert [config.get(f"context.{name}") for name in ("targetFillRatio", "softLimitRatio")] == [0.7, 0.8]
    assert config.boolean("retrieval.fts") is False
    assert [line for line in config.warnings if "context.targetFillRatio <= context.softLimitRatio" in line]
    assert len(config.warnings) == 2


def test_ratios_of_set_are_checked_when_all_are_known() -> None:
    settings = ["context.targetFillRatio=0.92", "context.softLimitRatio=0.95", "context.hardLimitRatio=0.97"]
    assert Config.load(settings=settings).get("context.targetFillRatio") == 0.92
    with pytest.raises(ConfigInvalid, match="out of order"):
        Config.load(settings=settings[:1])


# --- what is not built ----------------------------------------------------------------------------------------------


def test_a_setting_without_effect_is_never_silent(own: Path) -> None:
    write(own, {"project": {"enabled": False, "maxFiles": 10_000}})
    config = Config.load(settings=["project.maxResults=9"])
    assert config.warnings == (
        "not-in-this-version project.enabled",
        "not-in-this-version project.maxResults",
    )
    assert "project.maxFiles" in config.not_in_this_version
    assert "retrieval.query" not in config.not_in_this_version


def test_a_setting_without_effect_at_its_default_is_no_warning() -> None:
    assert Config.load(settings=["project.enabled=true", "retrieval.ranking=documented"]).warnings == ()


def test_local_only_in_a_list_of_remote_providers_is_a_warning() -> None:
    for setting in ('privacy.remoteDefaultAllowed=["local-only"]', 'privacy.remoteProviders={"a": ["local-only"]}'):
        (warning,) = Config.load(settings=[setting]).warnings
        assert warning == f"{setting.partition('=')[0]} names local-only, which no remote provider gets"
    assert Config.load(settings=['privacy.remoteProviders={"local-only": ["normal"]}']).warnings == ()


# --- access ---------------------------------------------------------------------------------------------------------


def test_typed_access_refuses_the_wrong_type_and_the_wrong_key() -> None:
    config = Config.load()
    with pytest.raises(TypeError):
        config.integer("retrieval.exact")
    with pytest.raises(TypeError):
        config.boolean("retrieval.maxResults")
    with pytest.raises(TypeError):
        config.text("retrieval.maxResults")
    with pytest.raises(KeyError):
        config.get("retrieval.nothing")


def test_a_configuration_cannot_be_changed() -> None:
    config = Config.load(
        settings=[
            'privacy.remoteProviders={"a": ["normal"]}',
            'privacy.rules=[{"path": "a", "classification": "internal"}]',
        ]
    )
    with pytest.raises(AttributeError):
        config.warnings = ()  # type: ignore[misc]
    providers: Any = config.get("privacy.remoteProviders")
    with pytest.raises(TypeError):
        providers["a"] = ()
    rules: Any = config.get("privacy.rules")
    assert rules[0]["path"] == "a"
    with pytest.raises(TypeError):
        rules[0]["path"] = "b"


# --- schema and documentation ---------------------------------------------------------------------------------------


def test_the_schema_is_valid_and_accepts_exactly_what_loading_accepts(own: Path) -> None:
    published = json.loads(json.dumps(schema(), default=dict))
    jsonschema.Draft202012Validator.check_schema(published)
    validator = jsonschema.Draft202012Validator(published)
    values: list[object] = [0, 1, 5, 12.0, 101, 0.5, 3000, True, "x", "documented", [], ["normal"], {}, {"a": ["x"]}]
    for option in OPTIONS:
        for value in values:
            *sections, name = option.key.split(".")
            document: dict[str, object] = {name: value}
            for section in reversed(sections):
                document = {section: document}
            assert validator.is_valid(document) == (option.accept(value) is not None), (option.key, value)
    assert not validator.is_valid({"nothing": 1})
    assert not validator.is_valid({"retrieval": {"nothing": 1}})
    assert validator.is_valid({"$schema": "x"})


def test_the_documentation_lists_every_option_with_its_default_and_range() -> None:
    page = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if line.startswith("| `")]
    expected = []
    for option in OPTIONS:
        later = "no" if option.later else f"not `{option.later_choices[0]}`" if option.later_choices else "yes"
        default = json.dumps(option.default, default=dict)
        expected.append(f"| `{option.key}` | `{default}` | {option.allowed} | {option.meaning} | {later} |")
    assert rows == expected


# --- folders --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [None, "", "  ", "/somewhere/else"])
def test_folders_are_those_of_platformdirs(value: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    import platformdirs

    monkeypatch.delenv("AFORESAID_STORE", raising=False)
    for variable in ("XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        if value is None:
            monkeypatch.delenv(variable, raising=False)
        else:
            monkeypatch.setenv(variable, value)
    assert Path(user_file()) == Path(platformdirs.user_config_dir("aforesaid"), "config.json")
    data, settings = platformdirs.user_data_dir("aforesaid"), platformdirs.user_config_dir("aforesaid")
    assert Path(store_folder()) == (Path(data, "store") if data == settings else Path(data))


def test_other_platforms_ask_platformdirs_and_keep_the_store_apart_from_the_configuration(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import platformdirs

    monkeypatch.delenv("AFORESAID_STORE", raising=False)
    monkeypatch.setattr("aforesaid.config.folders.sys.platform", "darwin")
    monkeypatch.setattr(platformdirs, "user_config_dir", lambda name: f"/Library/{name}")
    monkeypatch.setattr(platformdirs, "user_data_dir", lambda name: f"/Library/{name}")
    assert Path(user_file()) == Path("/Library/aforesaid/config.json")
    assert Path(store_folder()) == Path("/Library/aforesaid/store")


def test_the_given_store_folder_counts_then_the_environment_then_the_platform(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AFORESAID_STORE", str(tmp_path / "environment"))
    assert store_folder(tmp_path / "given") == str(tmp_path / "given")
    assert store_folder() == str(tmp_path / "environment")
    monkeypatch.setenv("AFORESAID_STORE", "")
    assert store_folder() == store_folder(None)
    assert Path(store_folder()).name in {"aforesaid", "store"}


# --- writing --------------------------------------------------------------------------------------------------------


def test_setting_a_value_keeps_the_rest_of_the_file(own: Path) -> None:
    write(own, {"$schema": "x", "unknown": {"kept": "é"}, "retrieval": {"fts": False}})
    assert write_setting("retrieval.maxResults", 5) == str(own)
    assert json.loads(own.read_text(encoding="utf-8")) == {
        "$schema": "x",
        "unknown": {"kept": "é"},
        "retrieval": {"fts": False, "maxResults": 5},
    }
    assert Config.load().integer("retrieval.maxResults") == 5
    assert sorted(path.name for path in own.parent.iterdir()) == ["config.json"]


def test_the_file_and_its_folder_are_made_for_the_user_alone(own: Path) -> None:
    own.parent.rmdir()
    write_setting("memory.extractive.model", "jev-2")
    assert json.loads(own.read_text(encoding="utf-8")) == {"memory": {"extractive": {"model": "jev-2"}}}
    if os.name == "posix":
        assert stat.S_IMODE(own.stat().st_mode) == 0o600
        assert stat.S_IMODE(own.parent.stat().st_mode) == 0o700


@pytest.mark.parametrize(
    ("key", "value"), [("retrieval.maxResults", 101), ("retrieval.nothing", 1), ("context.targetFillRatio", 0.99)]
)
def test_setting_a_wrong_value_changes_nothing(own: Path, key: str, value: object) -> None:
    write(own, {"retrieval": {"fts": False}})
    before = own.read_bytes()
    with pytest.raises(ConfigInvalid):
        write_setting(key, value)
    assert own.read_bytes() == before


def test_a_broken_file_is_not_overwritten(own: Path) -> None:
    write(own, "{ half")
    with pytest.raises(ConfigUnreadable):
        write_setting("retrieval.fts", False)
    assert own.read_text(encoding="utf-8") == "{ half"


def test_a_failed_write_leaves_the_old_file_and_no_draft(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(own, {"retrieval": {"fts": False}})
    before = own.read_bytes()

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("aforesaid.config.writing.os.fsync", full)
    with pytest.raises(OperationError, match="No space left on device"):
        write_setting("retrieval.fts", True)
    assert own.read_bytes() == before
    assert sorted(path.name for path in own.parent.iterdir()) == ["config.json"]


def test_a_linked_file_is_written_where_it_is(own: Path, tmp_path: Path) -> None:
    real = write(tmp_path / "dotfiles.json", {})
    own.symlink_to(real)
    write_setting("retrieval.fts", False)
    assert own.is_symlink()
    assert json.loads(real.read_text(encoding="utf-8")) == {"retrieval": {"fts": False}}


ON = '{"privacy": {"enabled": true'


@pytest.mark.parametrize(
    ("content", "unknown"),
    [
        ('{"privacy": {"enabled": true', True),
        ('{"privacy": {"enabled": "true"}}', True),
        ('{"privacy": {"enable": true}}', True),
        ('{"privacy.enabled": true}', True),
        ('{"Privacy": {"enabled": true}}', True),
        ('{"privacy": "on"}', True),
        ('{"privacy": {"enabled": false}}', False),
        ('{"privacy": {"enabled": true}}', False),
        ('{"retrieval": {"maxResults": 0}}', False),
        ('{"retrieval": {"enabled": true}}', False),
        ('{"privacy": {"defaultClassification": "secret"}}', False),
        (ON + ', "defaultClassification": "secret"}}', True),
        (ON + ', "defaultClasification": "sensitive"}}', True),
        (ON + ', "rules": [{"path": "*.pem"}]}}', True),
        (ON + ', "rules": {"path": "*.pem", "classification": "sensitive"}}}', True),
        (ON + ', "remoteProviders": {"a": "normal"}}}', True),
        (ON + ', "xyzzy": 1}}', True),
        (ON + ', "rules": []}, "retrieval": {"maxResult": 3}}', False),
    ],
)
def test_a_policy_that_may_have_been_asked_for_and_is_not_known(content: str, unknown: bool, own: Path) -> None:
    own.write_text(content)
    assert Config.load().privacy_unknown is unknown
    own.unlink()
    named = own.parent / "named.json"
    named.write_text(content)
    if content != ON:
        assert Config.load(named).privacy_unknown is unknown


@pytest.mark.parametrize(
    ("content", "settings", "unknown"),
    [
        ("{", ["privacy.enabled=false"], False),
        ("{", ["privacy.enabled=true"], True),
        ("{", ["privacy.rules=[]"], True),
        ('{"privacy": {"enabled": 1}}', ["privacy.enabled=true"], False),
        ('{"privacy": "on"}', ["privacy.enabled=true"], True),
        ('{"privacy": {"rules": 1}}', ["privacy.enabled=true"], True),
        ('{"privacy": {"rules": 1}}', ["privacy.enabled=true", "privacy.rules=[]"], False),
    ],
)
def test_a_layer_above_may_say_what_could_not_be_read(
    content: str, settings: list[str], unknown: bool, own: Path
) -> None:
    own.write_text(content)
    assert Config.load(settings=settings).privacy_unknown is unknown


def test_the_policy_is_what_the_options_say() -> None:
    from aforesaid.config.privacy import read_policy
    from aforesaid.privacy.policy import Policy, Providers
    from aforesaid.privacy.rules import Rule

    assert read_policy(Config.load()) == Policy(
        providers=Providers(local=("faux", "ollama", "llama-cpp", "lmstudio")), home=str(Path.home())
    )
    config = Config.load(
        settings=[
            "privacy.enabled=true",
            "privacy.defaultClassification=internal",
            'privacy.localProviders=["x"]',
            'privacy.remoteDefaultAllowed=["sensitive"]',
            'privacy.remoteProviders={"a": ["normal"], "b": []}',
            'privacy.rules=[{"path": "~/a", "project": "b", "classification": "local-only"}]',
        ]
    )
    assert read_policy(config) == Policy(
        enabled=True,
        default="internal",
        providers=Providers(local=("x",), remote_default=("sensitive",), remote=(("a", ("normal",)), ("b", ()))),
        rules=(Rule(path="~/a", project="b", classification="local-only"),),
        home=str(Path.home()),
    )


def test_rules_are_compiled_once_for_a_project() -> None:
    from aforesaid.config.privacy import Bench

    bench = Bench(Config.load(settings=["privacy.enabled=true"]))
    first = bench.judge("a", "/p")
    assert bench.judge("b", "/p").rules is first.rules
    for number in range(100):
        assert bench.judge("a", f"/{number}").rules is not first.rules
    assert bench.judge("b", "/p").rules is not first.rules


def test_what_history_tools_answer_is_described_as_it_is() -> None:
    """`history_status` is not counted, and `includeSummaries` is only the default of an argument."""
    said = {option.key: option.meaning for option in OPTIONS}
    assert "`history_recall` and `history_expand`" in said["historyTools.maxOutputTokens"]
    assert "where a call does not say it" in said["historyTools.includeSummaries"]


def test_an_option_is_found_wherever_its_setting_stands() -> None:
    config = Config.load(settings=["retrieval.maxResults=7"])
    turned = replace(config, settings=tuple(reversed(config.settings)))
    for setting in config.settings:
        assert config.setting(setting.key) is setting
        assert turned.setting(setting.key) is setting
    few = replace(config, settings=config.settings[-1:])
    assert few.setting(config.settings[-1].key) is config.settings[-1]
    with pytest.raises(KeyError):
        few.setting(config.settings[0].key)
    with pytest.raises(KeyError):
        config.setting("no.such")
