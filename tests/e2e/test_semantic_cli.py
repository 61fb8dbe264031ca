"""Semantic retrieval from the command line and from the service, in real processes."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from tests.pi import conversation, header, write
from tests.schemas import check

if TYPE_CHECKING:
    from pathlib import Path

TEXTS = ["The migration of the invoices table failed at night.", "I see.", "Tea at five.", "Fine."]
SETTINGS = ("--set", "retrieval.semantic=true", "--set", "retrieval.ranking=contextual")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write(tmp_path / "s.jsonl", [header(), *conversation(TEXTS)])


def run(tmp_path: Path, *arguments: str, text: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "aforesaid", "--store", str(tmp_path / "store"), *SETTINGS, *arguments]
    return subprocess.run(command, capture_output=True, encoding="utf-8", check=False, input=text, timeout=120)


def ask(tmp_path: Path, file: Path) -> tuple[dict[str, Any], str]:
    done = run(
        tmp_path, "--json", "retrieve", "--session", str(file), "--query", "migrating invoices", "--context-entries", ""
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return check("retrieval", done.stdout), re.sub(r'"durationMs":\s*(\{[^}]*\}|[0-9.]+)', "", done.stdout)


def test_the_command_line_finds_by_words_and_vectors_and_repeats_itself(tmp_path: Path, file: Path) -> None:
    first, _ = ask(tmp_path, file)
    assert first["hits"][0]["entryId"] == "e0000000"
    assert first["diagnostics"]["semantic"]["used"] is True
    assert first["diagnostics"]["semantic"]["model"] == "feature-hash-v1"
    assert first["diagnostics"]["semantic"]["sources"] == len(TEXTS)
    assert ask(tmp_path, file)[1] == ask(tmp_path, file)[1]


def test_status_and_index_tell_of_vectors(tmp_path: Path, file: Path) -> None:
    assert run(tmp_path, "--json", "index", str(file)).returncode == 0
    (count,) = check("status", run(tmp_path, "--json", "status").stdout)["store"]["vectors"]
    assert (count["model"], count["vectors"], count["sessions"]) == ("feature-hash-v1", len(TEXTS), 1)
    assert "feature-hash-v1" in run(tmp_path, "status").stdout


def test_a_model_that_is_not_there_is_said_to_people(tmp_path: Path, file: Path) -> None:
    done = run(
        tmp_path, "--set", "retrieval.embedding.model=none", "retrieve", "--session", str(file),
        "--query", "invoices table", "--context-entries", "",
    )  # fmt: skip
    assert done.returncode == 0
    assert "Vectors were not used: model-unknown." in done.stdout
    indexed = run(tmp_path, "--set", "retrieval.embedding.model=none", "index", str(file))
    assert indexed.returncode == 0
    assert "vectors are missing (model-unknown)" in indexed.stderr
    assert "vectors" not in run(tmp_path, "index", str(file)).stderr


def test_the_service_answers_with_vectors(tmp_path: Path, file: Path) -> None:
    calls: list[tuple[str, dict[str, Any]]] = [
        ("initialize", {"protocol": 1, "client": {"name": "t", "version": "1"}}),
        ("retrieve", {"session": str(file), "query": "migrating invoices", "contextEntries": []}),
        ("shutdown", {}),
    ]
    lines = "".join(
        json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}) + "\n"
        for number, (method, params) in enumerate(calls)
    )
    done = run(tmp_path, "serve", text=lines)
    answers = {answer["id"]: answer for answer in map(json.loads, done.stdout.splitlines()) if "id" in answer}
    found = answers[1]["result"]
    assert found["diagnostics"]["semantic"]["used"] is True
    assert found["hits"][0]["entryId"] == "e0000000"
