"""The command as users run it: real processes, real transcripts, a real store."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests import pi
from tests.e2e.desk import COMMAND, SESSION, TEXTS, Desk, bound, compacted, desk, posix, transcript
from tests.schemas import check

if TYPE_CHECKING:
    from tests.pi import Row

__all__ = ["bound", "desk", "transcript"]


def test_a_request_brings_back_what_the_compaction_removed(desk: Desk, transcript: Path) -> None:
    found = desk.json("retrieval", "retrieve", "--session", transcript)
    assert found["status"] == "complete"
    assert [hit["entryId"] for hit in found["hits"]] == ["e0000001"]
    (hit,) = found["hits"]
    assert hit["excerpt"] == TEXTS[1]
    assert hit["sessionId"] == SESSION
    assert sum(hit["scoreParts"].values()) == pytest.approx(hit["score"], abs=1e-6)
    shown = desk.run("retrieve", "--session", transcript)
    assert shown.status == 0
    assert f"   │ {TEXTS[1]}" in shown.out.splitlines()
    assert "\x1b" not in shown.out


def test_what_the_model_still_sees_is_not_brought_back(desk: Desk, transcript: Path) -> None:
    found = desk.json("retrieval", "retrieve", "--session", transcript, "--query", "the sequence diagram")
    assert (found["status"], found["hits"]) == ("complete", [])
    shown = desk.run("retrieve", "--session", transcript, "--query", "the sequence diagram")
    assert shown.out.splitlines()[-1].startswith("Nothing found: ")


def test_a_host_may_say_what_the_model_sees(desk: Desk, transcript: Path) -> None:
    arguments = ("retrieve", "--session", transcript, "--query", "the sequence diagram", "--context-entries")
    found = desk.json("retrieval", *arguments, "e0000000,e0000001")
    assert {hit["entryId"] for hit in found["hits"]} == {"e0000004", "e0000005"}


def test_a_request_without_a_topic_is_no_query(desk: Desk, transcript: Path) -> None:
    done = desk.run(
        "retrieve", "--session", transcript, "--query", "ok, procedi pure con tutto il resto, grazie", "--json"
    )
    assert done.status == 0
    assert check("retrieval", done.out)["status"] == "no-query"


def test_the_request_may_come_from_standard_input_in_any_script(desk: Desk) -> None:
    rows = pi.conversation(["数据库的端口是五四三三", "好"])
    cut = pi.compaction("c0000000", rows[-1]["id"], "none", "", 3)
    transcript = pi.write(desk.folder / "chinese.jsonl", [pi.header(), *rows, cut])
    found = desk.json("retrieval", "retrieve", "--session", transcript, "--query", "-", given="数据库端口".encode())
    assert [hit["entryId"] for hit in found["hits"]] == ["e0000000"]


def test_two_runs_give_the_same_bytes(desk: Desk, transcript: Path) -> None:
    documents = []
    for _ in range(2):
        document = json.loads(desk.run("retrieve", "--session", transcript, "--json").out)
        del document["diagnostics"]["durationMs"]
        documents.append(json.dumps(document))
    assert documents[0] == documents[1]


def test_sessions_are_indexed_listed_and_rebuilt(desk: Desk, transcript: Path) -> None:
    folder = desk.folder / "more"
    folder.mkdir()
    pi.write(folder / "b.jsonl", [pi.header("b"), *pi.conversation(["about frogs", "yes"])])
    report = desk.json("index", "index", transcript, folder)
    assert [session["status"] for session in report["sessions"]] == ["added", "added"]
    assert report["totals"]["entries"] == 10
    again = desk.json("index", "index", transcript, folder)
    assert {session["status"] for session in again["sessions"]} == {"unchanged"}
    known = desk.json("sessions", "sessions", "--project", "/home/dev/project")
    assert {session["sessionId"] for session in known["sessions"]} == {SESSION, "b"}
    assert desk.json("sessions", "sessions", "--project", desk.folder)["sessions"] == []
    status = desk.json("status", "status")
    assert (status["store"]["sessions"], status["store"]["entries"]) == (2, 10)
    assert Path(status["store"]["location"]) == desk.store
    rebuilt = desk.json("rebuild", "rebuild", "--session", "b")
    assert [(session["sessionId"], session["status"]) for session in rebuilt["sessions"]] == [("b", "rebuilt")]
    assert desk.json("retrieval", "retrieve", "--session", SESSION)["hits"]


def test_flawed_lines_are_named_and_cost_nothing_else(desk: Desk) -> None:
    rows: list[Row | bytes] = [pi.header(), *pi.conversation(["one", "two"])]
    rows.insert(2, b'{"half": ')
    transcript = pi.write(desk.folder / "flawed.jsonl", rows)
    report = desk.json("index", "index", transcript)
    byte = sum(len(line) + 1 for line in transcript.read_bytes().split(b"\n")[:2])
    (session,) = report["sessions"]
    assert session["invalidLines"] == [{"line": 3, "byte": byte, "reason": "invalid-json"}]
    again = desk.json("index", "index", transcript)
    (unchanged,) = again["sessions"]
    assert (unchanged["status"], unchanged["invalidLines"]) == ("unchanged", session["invalidLines"]), "told every time"
    assert again["totals"]["invalidLines"] == 1
    with transcript.open("ab") as file:
        file.write(b"[]\n")
    (grown,) = desk.json("index", "index", transcript)["sessions"]
    assert [flaw["reason"] for flaw in grown["invalidLines"]] == ["invalid-json", "not-an-object"]
    assert f"line 3, byte {byte:,}: invalid-json" in desk.run("index", transcript).out
    assert f"line 3, byte {byte:,}: invalid-json" in desk.run("rebuild").out


def test_the_sessions_of_pi_are_found(desk: Desk) -> None:
    folder = desk.folder / ".pi" / "agent" / "sessions" / "--home-dev--"
    folder.mkdir(parents=True)
    pi.write(folder / "a.jsonl", compacted())
    assert desk.json("index", "index", "--all")["totals"]["sessions"] == 1


@pytest.mark.data
def test_every_sample_session_is_read_and_answers(desk: Desk, data: Path) -> None:
    report = desk.json("index", "index", data / "transcripts" / "pi")
    assert {session["status"] for session in report["sessions"]} == {"added"}
    for session in report["sessions"]:
        found = desk.json("retrieval", "retrieve", "--session", session["file"])
        assert found["status"] in {"complete", "no-query"}
        assert desk.run("retrieve", "--session", session["file"]).status == 0


def test_a_look_at_a_store_that_is_not_there_makes_nothing_and_says_so(desk: Desk) -> None:
    there = set(desk.folder.rglob("*"))
    place = ("--store", "mistyped/store")
    assert desk.json("status", "status", *place)["store"]["entries"] == 0
    assert "not there" in desk.run("status", *place).out
    assert desk.json("sessions", "sessions", *place)["sessions"] == []
    told = f"warning: there is no store in {desk.folder / 'mistyped' / 'store'}; `aforesaid index PATH` makes one"
    for asked in (["sessions"], ["recall", "PG_PORT", "--scope", "host-wide"], ["recall", "", "--scope", "host-wide"]):
        done = desk.run(*asked, *place)
        assert (done.status, done.err.splitlines()) == (0, [told])
    assert desk.refused("recall", "PG_PORT", "--session", SESSION, *place) == ("session-not-found", 2)
    assert desk.refused("retrieve", "--session", SESSION, *place) == ("session-not-found", 2)
    assert desk.refused("expand", "--session", SESSION, "--entry", "a", *place) == ("session-not-found", 2)
    assert desk.refused("expand", "a.b.c", *place) == ("ref-invalid", 2)
    assert told in desk.run("expand", "a.b.c", *place).err.splitlines()
    assert desk.refused("lost", "--session", SESSION, *place) == ("session-not-found", 2)
    assert desk.refused("forget", "--session", SESSION, "--dry-run", *place) == ("session-not-found", 2)
    assert desk.json("rebuild", "rebuild", *place)["sessions"] == []
    assert "there is none in" in desk.run("doctor", *place).out
    assert set(desk.folder.rglob("*")) == there


def test_no_transcript_is_changed_and_nothing_is_written_beside_it(desk: Desk, transcript: Path) -> None:
    before = (transcript.read_bytes(), transcript.stat().st_mtime_ns)
    desk.run("index", transcript)
    desk.run("retrieve", "--session", transcript)
    desk.run("rebuild")
    assert (transcript.read_bytes(), transcript.stat().st_mtime_ns) == before
    assert sorted(path.name for path in desk.folder.iterdir()) == ["session.jsonl", "store"]


# --- configuration --------------------------------------------------------------------------------------------------


def test_the_users_file_counts_and_is_changed_by_the_command(desk: Desk, transcript: Path) -> None:
    file = Path(desk.run("config", "path").out.rstrip("\n"))
    assert desk.folder in file.parents
    assert desk.run("config", "set", "retrieval.exact", "false").status == 0
    found = desk.json("retrieval", "retrieve", "--session", transcript)
    assert [hit["tier"] for hit in found["hits"]] == ["other"]
    assert json.loads(file.read_text()) == {"retrieval": {"exact": False}}


def test_limits_of_the_command_line_count(desk: Desk, transcript: Path) -> None:
    query = ("retrieve", "--session", transcript, "--query", "PG_PORT apply_schema port migration")
    assert len(desk.json("retrieval", *query)["hits"]) > 1
    found = desk.json("retrieval", *query, "--set", "retrieval.maxResults=1")
    assert (len(found["hits"]), found["diagnostics"]["maxResults"]) == (1, 1)
    none = desk.json("retrieval", *query, "--set", "context.maxRetrievedHistoryTokens=0")
    assert (none["hits"], none["diagnostics"]["maxTokens"]) == ([], 0)


def test_a_privacy_policy_that_cannot_be_read_withholds_everything(desk: Desk, transcript: Path) -> None:
    file = desk.folder / "config" / "aforesaid" / "config.json"
    file.parent.mkdir(parents=True)
    file.write_text('{"privacy": {"enabled": "yes"}}')
    done = desk.run("retrieve", "--session", transcript, "--json")
    document = check("retrieval", done.out)
    assert (done.status, document["status"], document["hits"]) == (0, "disabled", [])
    assert document["diagnostics"]["warnings"] == ["privacy-unreadable"]
    assert TEXTS[1] not in done.out


def test_evidence_is_for_the_provider_that_is_named(desk: Desk, transcript: Path) -> None:
    query = ("retrieve", "--session", transcript, "--set", "privacy.enabled=true")
    raised = (*query, "--set", "privacy.defaultClassification=sensitive")
    assert len(desk.json("retrieval", *query)["hits"]) == 1
    assert len(desk.json("retrieval", *raised, "--provider", "ollama")["hits"]) == 1
    for provider in ((), ("--provider", "anywhere")):
        found = desk.json("retrieval", *raised, *provider)
        assert (found["status"], found["hits"], found["diagnostics"]["privacyExcludedCount"]) == ("complete", [], 1)
    shown = desk.run(*raised)
    assert shown.out.splitlines()[-1].endswith("1 withheld by the privacy policy.")
    assert "PG_PORT` to 5433" not in shown.out


@posix
def test_on_a_terminal_matches_are_coloured(desk: Desk, transcript: Path) -> None:
    import pty

    def shown(**more: str) -> bytes:
        master, slave = pty.openpty()
        process = subprocess.Popen(
            [*COMMAND, "retrieve", "--session", str(transcript)], stdout=slave, stderr=subprocess.PIPE,
            env={**desk.environment, "TERM": "xterm", "COLUMNS": "60", **more},
        )  # fmt: skip
        os.close(slave)
        output = b""
        while True:
            try:
                piece = os.read(master, 65536)
            except OSError:  # Linux says so when the other end is closed
                break
            if not piece:
                break
            output += piece
        os.close(master)
        assert process.communicate(timeout=30)[1] == b""
        assert process.returncode == 0
        return output

    assert b"\x1b[1;33mPG_PORT\x1b[0m" in shown()
    assert b"\x1b[1;33m" not in shown(NO_COLOR="1")


def test_the_configuration_of_a_project_counts_if_it_is_named_as_trusted(desk: Desk, transcript: Path) -> None:
    file = desk.folder / "project" / ".aforesaid" / "config.json"
    file.parent.mkdir(parents=True)
    file.write_text('{"context": {"maxRetrievedHistoryTokens": 0}, "privacy": {"enabled": true}, "host": {}}')
    asked = ("retrieve", "--session", transcript)
    assert desk.json("retrieval", *asked)["diagnostics"]["maxTokens"] == 16_000
    assert desk.json("retrieval", *asked, "--trust", "project")["diagnostics"]["maxTokens"] == 0
    shown = {one["key"]: one for one in desk.json("config", "config", "show", "--trust", "project")["values"]}
    assert shown["privacy.enabled"]["source"] == str(file)
    assert desk.run("--trust", "project", "config", "get", "privacy.enabled").out == "true\n"
    # In the folder itself it is said that the file is left out, and nothing of it counts.
    inside = desk._replace(folder=desk.folder / "project")
    done = inside.run("config", "get", "privacy.enabled")
    assert done.out == "false\n"
    assert f"{file} is left out: the project is not trusted" in done.err
    assert inside.run("config", "get", "privacy.enabled", "--trust", ".").err == ""
