from __future__ import annotations

import json
from typing import TYPE_CHECKING

import jsonschema  # type: ignore[import-untyped]
import pytest
from tests.schemas import check

from aforesaid.model import Tally

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.unit.cli.conftest import Done, FakeEngine

    Command = Callable[..., Done]


def test_show_lists_every_value_with_its_source(command: Command, own: Path) -> None:
    own.parent.mkdir()
    own.write_text('{"retrieval": {"maxResults": 20}}')
    done = command("config", "--set", "retrieval.fts=false")
    table, told = done.out.split("\n\n")
    rows = {line.split()[0]: line.split()[1:] for line in table.splitlines()}
    assert told.splitlines() == [
        "privacy: the policy is off; every provider gets everything",
        "  secrets are replaced: in the store and on the way out",
        "  paths in quoted text are as they are",
        "  left out of evidence so far: nothing",
    ]
    assert rows["retrieval.maxResults"] == ["20", str(own)]
    assert rows["retrieval.fts"] == ["false", "--set"]
    assert rows["retrieval.exact"] == ["true", "default"]
    assert rows["project.enabled"] == ["true", "default", "not", "in", "this", "version"]
    assert command("config", "show", "--set", "retrieval.fts=false") == done
    document = check("config", command("config", "show", "--json").out)
    assert document["file"] == str(own)
    assert len(document["values"]) == len(rows) - 1


def test_show_says_what_holds_of_privacy(command: Command, fake: FakeEngine) -> None:
    fake.answer = (
        Tally(reason="privacy-marker", classification="sensitive", count=1200),
        Tally(reason="privacy-path", classification="local-only", count=3),
    )
    settings = (
        "privacy.enabled=true", 'privacy.localProviders=["ollama", "both"]', "privacy.shortenPaths=true",
        'privacy.remoteProviders={"both": ["normal", "local-only"], "none": []}',
        'privacy.rules=[{"path": "*.pem", "classification": "sensitive"}]', "privacy.redactIndex=false",
    )  # fmt: skip
    given = [part for setting in settings for part in ("--set", setting)]
    reasons = "1,200 privacy-marker, 3 privacy-path"
    told = command("config", *given).out.split("\n\n")[1].splitlines()
    assert [line for line in told if "secrets" not in line] == [
        "privacy: the policy is on; text is normal unless it is raised",
        "  local providers, which get everything: ollama",
        "  both gets: normal",
        "  none gets: nothing",
        "  any other provider gets: normal, internal",
        "  rules by project and path: 1",
        "  paths in quoted text are shortened",
        f"  left out of evidence so far: 1,203 entries ({reasons}; 1,200 sensitive, 3 local-only)",
    ]
    document = check("config", command("config", *given, "--json").out)["privacy"]
    assert document["remoteProviders"] == {"both": ["normal"], "none": []}
    assert document["withheld"] == {
        "total": 1203,
        "byReason": {"privacy-marker": 1200, "privacy-path": 3},
        "byClassification": {"sensitive": 1200, "local-only": 3},
    }
    assert (document["rules"], document["redactIndex"], document["shortenPaths"]) == (1, False, True)


def test_show_says_that_the_settings_could_not_be_read(command: Command, own: Path) -> None:
    own.parent.mkdir()
    own.write_text('{"privacy": {"enabled": "yes"}}')
    assert "privacy: the settings could not be read, so nothing is handed out" in command("config").out.splitlines()
    assert check("config", command("config", "--json").out)["privacy"]["readable"] is False


def test_show_makes_no_store(command: Command, tmp_path: Path) -> None:
    assert command("config", "--store", str(tmp_path / "store")).status == 0
    assert not (tmp_path / "store").exists()


@pytest.mark.parametrize(
    ("key", "plain", "value"),
    [
        ("retrieval.maxResults", "12", 12),
        ("retrieval.exact", "true", True),
        ("retrieval.ranking", "contextual", "contextual"),
        ("privacy.remoteDefaultAllowed", '["normal","internal"]', ["normal", "internal"]),
        ("privacy.remoteProviders", "{}", {}),
    ],
)  # fmt: skip
def test_get_prints_one_value(key: str, plain: str, value: object, command: Command) -> None:
    assert command("config", "get", key) == (0, f"{plain}\n", "")
    (shown,) = check("config", command("config", "get", key, "--json").out)["values"]
    assert shown["value"] == value


def test_a_wrong_key_gets_the_nearest(command: Command) -> None:
    for given in (["get", "retrieval.maxResult"], ["set", "retrieval.maxResult", "5"]):
        done = command("config", *given)
        assert done.status == 2
        assert done.err.startswith("error[config-invalid]: ")
        assert "did you mean retrieval.maxResults?" in done.err


def test_set_changes_the_users_file_and_shows_what_counts_now(command: Command, own: Path) -> None:
    assert command("config", "set", "retrieval.maxResults", "5").out == f"retrieval.maxResults is 5 ({own})\n"
    assert json.loads(own.read_text()) == {"retrieval": {"maxResults": 5}}
    done = command("config", "set", "project.enabled", "false", "--json")
    (value,) = check("config", done.out)["values"]
    assert value == {"key": "project.enabled", "value": False, "source": str(own), "inThisVersion": False}
    assert done.err == "warning: not-in-this-version project.enabled\n"


def test_set_refuses_a_wrong_value(command: Command, own: Path) -> None:
    done = command("config", "set", "retrieval.maxResults", "101", "--json")
    assert done.status == 2
    assert check("error", done.out)["error"]["code"] == "config-invalid"
    assert not own.exists()


def test_set_does_not_overwrite_a_broken_file(command: Command, own: Path) -> None:
    own.parent.mkdir()
    own.write_text("{ half")
    done = command("config", "set", "retrieval.maxResults", "5")
    assert done.status == 2
    assert done.err.startswith("error[config-unreadable]: ")
    assert own.read_text() == "{ half"


def test_a_broken_file_of_the_user_is_a_warning(command: Command, own: Path) -> None:
    own.parent.mkdir()
    own.write_text("{ half")
    done = command("config", "get", "retrieval.maxResults")
    assert (done.status, done.out) == (0, "12\n")
    assert done.err.startswith(f"warning: {own} is not valid JSON")


def test_the_schema_is_printed_for_editors(command: Command) -> None:
    done = command("config", "schema")
    schema = json.loads(done.out)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["properties"]["retrieval"]["properties"]["maxResults"]["maximum"] == 100
    assert done.out.startswith('{\n  "')
    on_one_line = command("config", "schema", "--json")
    assert json.loads(on_one_line.out) == schema
    assert on_one_line.out.count("\n") == 1


def test_the_path_is_printed_for_scripts(command: Command, own: Path) -> None:
    assert command("config", "path") == (0, f"{own}\n", "")
    assert check("config-path", command("config", "path", "--json").out) == {
        "schema": "aforesaid.config-path/1",
        "file": str(own),
        "exists": False,
    }
