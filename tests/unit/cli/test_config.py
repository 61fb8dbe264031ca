from __future__ import annotations

import json
from typing import TYPE_CHECKING

import jsonschema  # type: ignore[import-untyped]
import pytest
from tests.schemas import check

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.unit.cli.conftest import Done

    Command = Callable[..., Done]


def test_show_lists_every_value_with_its_source(command: Command, own: Path) -> None:
    own.parent.mkdir()
    own.write_text('{"retrieval": {"maxResults": 20}}')
    done = command("config", "--set", "retrieval.fts=false")
    rows = {line.split()[0]: line.split()[1:] for line in done.out.splitlines()}
    assert rows["retrieval.maxResults"] == ["20", str(own)]
    assert rows["retrieval.fts"] == ["false", "--set"]
    assert rows["retrieval.exact"] == ["true", "default"]
    assert rows["retrieval.semantic"] == ["false", "default", "not", "in", "this", "version"]
    assert command("config", "show", "--set", "retrieval.fts=false") == done
    document = check("config", command("config", "show", "--json").out)
    assert document["file"] == str(own)
    assert len(document["values"]) == len(rows) - 1


@pytest.mark.parametrize(
    ("key", "plain", "value"),
    [
        ("retrieval.maxResults", "12", 12),
        ("retrieval.exact", "true", True),
        ("retrieval.ranking", "documented", "documented"),
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
    done = command("config", "set", "retrieval.semantic", "true", "--json")
    (value,) = check("config", done.out)["values"]
    assert value == {"key": "retrieval.semantic", "value": True, "source": str(own), "inThisVersion": False}
    assert done.err == "warning: not-in-this-version retrieval.semantic\n"


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
    assert command("config", "schema", "--json") == done


def test_the_path_is_printed_for_scripts(command: Command, own: Path) -> None:
    assert command("config", "path") == (0, f"{own}\n", "")
    assert check("config-path", command("config", "path", "--json").out) == {
        "schema": "aforesaid.config-path/1",
        "file": str(own),
        "exists": False,
    }
