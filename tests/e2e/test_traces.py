"""What a run of every command leaves on the disk, in logs and in messages: no text of a transcript or of a request.

The words of a session stand in its own file of the store, and nowhere else.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import apsw
import pytest
from tests import pi
from tests.e2e.desk import Desk, make_desk
from tests.serving import Service

if TYPE_CHECKING:
    from pathlib import Path

SAID, ANSWERED, CALLED, PRINTED = "xylographuser", "xylographassistant", "xylographargument", "xylographoutput"
THOUGHT, LABELLED, DAMAGED, ASKED = "xylographthought", "xylographlabel", "xylographdamaged", "xylographasked"
STEM = "xylograph"
QUERY = f"which port has the walnut gateway, {ASKED}?"


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    made = make_desk(tmp_path)
    (tmp_path / "tmp").mkdir()
    return Desk(made.folder, made.environment | {"TMPDIR": str(tmp_path / "tmp"), "TEMP": str(tmp_path / "tmp")})


@pytest.fixture
def transcript(desk: Desk) -> Path:
    rows: list[pi.Row | bytes] = [pi.header("one")]
    rows.append(pi.message("e0000000", None, f"the walnut gateway listens on 8443 {SAID}"))
    called = pi.message("e0000001", "e0000000", f"walnut {ANSWERED}", "assistant", 1)
    called["message"]["content"] += [
        {"type": "thinking", "thinking": f"walnut {THOUGHT}"},
        {"type": "toolCall", "id": "call-1", "name": "bash", "arguments": {"command": f"grep walnut {CALLED}"}},
    ]
    result = pi.message("e0000002", "e0000001", f"walnut {PRINTED}", "toolResult", 2)
    result["message"]["toolCallId"] = "call-1"
    label = {"type": "label", "id": "e0000003", "parentId": "e0000002", "targetId": "e0000000", "label": LABELLED}
    rows += [called, result, label, f'{{"type": "message", "id": "e9", "{DAMAGED}'.encode()]
    rows.append(pi.compaction("c0000000", "e0000003", "c0000000", f"summary {SAID}", 4))
    rows.append(pi.message("f0000000", "c0000000", f"what of the walnut gateway {SAID}?", minute=5))
    (desk.folder / "transcripts").mkdir()
    return pi.write(desk.folder / "transcripts" / "one.jsonl", rows)


def values_in(database: Path) -> str:
    """Every value of a database."""
    connection = apsw.Connection(str(database))
    tables = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
    values = [connection.execute(f'SELECT * FROM "{table}"').fetchall() for (table,) in tables]
    connection.close()
    return repr(values)


def is_own_file(desk: Desk, path: Path) -> bool:
    """Whether a file is where the words of a session may stand."""
    return path.parent == desk.store / "sessions" or path.parent == desk.folder / "transcripts"


def traces(desk: Desk) -> list[str]:
    files = [path for path in desk.folder.rglob("*") if path.is_file() and not is_own_file(desk, path)]
    assert any(path.name == "catalogue.db" for path in files)
    contents = {path: path.read_bytes() for path in files}  # before anything opens a database, which removes files
    found = [path for path, data in contents.items() if STEM.encode() in data or STEM.encode("utf-16-le") in data]
    found += [path for path in files if path.suffix == ".db" and STEM in values_in(path)]
    return [str(path) for path in found]


def test_a_run_of_every_command_leaves_words_in_the_sessions_own_file_only(desk: Desk, transcript: Path) -> None:
    silent: list[tuple[str | Path, ...]] = [
        ("index", transcript, "--json"),
        ("index", transcript.parent, "-v"),
        ("sessions", "--json"),
        ("status", "-v"),
        ("rebuild", "--json"),
        ("config", "set", "retrieval.maxResults", "7"),
        ("config", "--json"),
    ]
    speaking: list[tuple[str | Path, ...]] = [
        ("retrieve", "--session", transcript, "--query", QUERY, "--json"),
        ("retrieve", "--session", "one", "-v"),
        ("plan", "--session", transcript, "--context-window", "100000", "--query", QUERY, "--json"),
        ("recall", "walnut", "--session", transcript, "--json"),
        ("expand", "--session", transcript, "--entry", "e0000001", "--json"),
        ("retrieve", "--session", transcript, "--query", QUERY, "--json", "--set", "privacy.enabled=true"),
    ]
    for command in (*silent, *speaking):
        done = desk.run(*command)
        assert done.status == 0, (command, done.err)
        assert STEM not in done.err, command
        if command in silent:
            assert STEM not in done.out, command
    assert traces(desk) == []
    shards = b"".join(path.read_bytes() for path in (desk.store / "sessions").iterdir())
    assert SAID.encode() in shards  # the test looks where there is something to see


def test_diagnostics_and_manifests_hold_no_words(desk: Desk, transcript: Path) -> None:
    found = desk.json("retrieval", "retrieve", "--session", transcript, "--query", QUERY)
    assert found["hits"]
    assert STEM not in json.dumps(found["diagnostics"])
    for hit in found["hits"]:
        assert STEM not in json.dumps([hit["reason"], hit["scoreParts"], hit["tier"]])
        assert THOUGHT not in hit["evidence"]
    made = desk.json("plan", "plan", "--session", transcript, "--context-window", "100000", "--query", QUERY)
    assert made["manifest"]["retrievedEventIds"]
    assert STEM not in json.dumps({**made, "messages": []})


def test_the_service_leaves_no_words(desk: Desk, transcript: Path) -> None:
    with Service(desk.environment, desk.folder) as service:
        service.call("initialize", protocol=1)
        session = service.call("session/open", host="pi", sessionId="one", file=str(transcript))["session"]
        answer: Any = service.call(
            "session/context", session=session, request="f0000000", entries={"keep": 0, "add": ["c0000000", "f0000000"]}
        )
        assert SAID in json.dumps(answer["messages"])
        assert STEM not in json.dumps({**answer, "messages": []})
        service.refused("retrieve", session="one", leaf="nowhere")
    assert traces(desk) == []


def test_what_fails_says_no_words(desk: Desk, transcript: Path) -> None:
    query = ("--session", transcript, "--query", QUERY)
    assert desk.run("index", transcript).status == 0
    for command in (
        ("retrieve", *query, "--leaf", "nowhere"),
        ("retrieve", *query, "--context-entries", "nowhere"),
        ("expand", "--session", transcript, "--entry", "nowhere"),
        ("recall", f"walnut {ASKED} [", "--session", transcript, "--mode", "regex", "--cursor", "x"),
        ("index", desk.folder / "nothing"),
    ):
        done = desk.run(*command)
        assert done.status == 2, command
        assert STEM not in done.err + done.out, command
    (shard,) = (desk.store / "sessions").glob("*.db")
    shard.write_bytes(shard.read_bytes()[:9000] + b"\xff" * 4000)
    moved = transcript.rename(transcript.with_suffix(".gone"))
    done = desk.run("retrieve", *query, "--json")
    assert STEM not in done.err
    moved.rename(transcript)
    desk.run("rebuild")
    assert traces(desk) == []


def test_a_bug_says_no_words(desk: Desk, transcript: Path) -> None:
    import subprocess
    import sys

    code = (
        "import sys; from aforesaid.cli import main\n"
        "import aforesaid.ranking as ranking\n"
        "def fail(candidates, *_, **__): raise ValueError(repr(candidates))\n"
        "ranking.rank = fail\n"
        f"sys.exit(main(['retrieve', '--session', {str(transcript)!r}, '--query', {QUERY!r}, '-v', '--json']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=desk.environment, cwd=desk.folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "error[internal]: ValueError in __main__.fail" in done.stderr
    assert STEM not in done.stderr.replace(QUERY, "") + done.stdout
    assert traces(desk) == []
