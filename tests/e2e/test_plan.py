"""`aforesaid plan` as a real process: what would go to a model, on good days and on bad ones."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from tests import pi
from tests.e2e.desk import TEXTS, Desk, bound, compacted, desk, posix, transcript
from tests.schemas import check

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["bound", "desk", "transcript"]  # fixtures

WINDOW = ("--context-window", "128000")


def ids(document: Any, source: str | None = None) -> list[str | None]:
    return [one.get("entryId") for one in document["messages"] if source in (None, one["source"])]


def test_evidence_stands_before_the_request_and_nothing_is_written_beside_the_session(
    desk: Desk, transcript: Path
) -> None:
    before = transcript.read_bytes()
    document = desk.json("plan", "plan", "--session", transcript, *WINDOW)
    assert (document["status"], document["reason"], document["warnings"]) == ("planned", "whole", [])
    assert ids(document) == ["c0000000", "e0000004", "e0000005", "e0000001", "f0000000"]
    evidence, request = document["messages"][-2:]
    assert evidence["content"].startswith("[AFORESAID HISTORICAL EVIDENCE")
    assert json.dumps(TEXTS[1]) in evidence["content"]
    assert request["content"] == [{"type": "text", "text": TEXTS[6]}]
    assert document["manifest"]["retrievedEventIds"] == ["e0000001"]
    assert transcript.read_bytes() == before
    assert [path.name for path in transcript.parent.glob("*.jsonl*")] == ["session.jsonl"]


def test_repeated_runs_give_the_same_bytes(desk: Desk, transcript: Path) -> None:
    once, again = (desk.run("plan", "--session", transcript, *WINDOW, "--json").out for _ in range(2))
    assert once == again


def test_manifests_on_the_disk_hold_no_text(desk: Desk, transcript: Path) -> None:
    desk.json("plan", "plan", "--session", transcript, *WINDOW, "--query", "where is the walnut_table?")
    stored = b"".join(path.read_bytes() for path in desk.store.glob("manifests.db*"))
    assert b"current-request" in stored
    for word in (b"PG_PORT", b"sequence diagram", b"walnut", b"we did things", b"session.jsonl"):
        assert word not in stored


@pytest.mark.parametrize("window", [300, 1000, 3000, 100_000])
def test_the_limits_hold_and_calls_stay_with_their_results_whatever_the_window(window: int, desk: Desk) -> None:
    rows: list[pi.Row] = []
    for turn in range(30):
        parent = rows[-1]["id"] if rows else None
        ask = pi.message(f"q{turn:07}", parent, f"Look at module_{turn}.py " + "please " * turn, minute=turn)
        call = pi.message(f"c{turn:07}", ask["id"], f"I read module_{turn}.py", "assistant", turn)
        call["message"]["content"].append(
            {"type": "toolCall", "id": "reused", "name": "read", "arguments": {"path": f"module_{turn}.py"}}
        )
        result = pi.message(f"r{turn:07}", call["id"], f"value_{turn} = {turn}", "toolResult", turn)
        result["message"]["toolCallId"] = "reused"
        rows += [ask, call, result]
    rows.append(pi.message("f0000000", rows[-1]["id"], "What is value_3 in module_3.py?", minute=40))
    file = pi.write(desk.folder / "long.jsonl", [pi.header("long"), *rows])
    document = desk.json("plan", "plan", "--session", file, "--context-window", str(window))
    limits = document["manifest"]["limits"]
    assert document["status"] == "planned"
    assert sum(item["tokens"] for item in document["manifest"]["included"]) <= limits["hard"]
    native = set(ids(document, "native"))
    for turn in range(30):
        members = {f"{kind}{turn:07}" for kind in "qcr"}
        assert members <= native or not members & native
    assert ids(document)[-1] == "f0000000"
    # What was said is there in one way or the other, but for a window in which nothing has room.
    wanted = {f"{kind}0000003" for kind in "qcr"}
    assert wanted & set(ids(document)) or window == 300
    if document["reason"] == "over-soft-limit" and window > 300:
        assert wanted & set(ids(document, "evidence"))
        assert document["messages"][-2]["source"] == "evidence"


def test_another_branch_never_speaks(desk: Desk) -> None:
    rows = pi.conversation(["the beginning", "yes"])
    side = pi.message("s0000000", "e0000001", "the walnut_table is in room 7")
    rows += [side, *pi.conversation(["Where is the walnut_table?"], 5, "f", "e0000001")]
    file = pi.write(desk.folder / "tree.jsonl", [pi.header("tree"), *rows])
    assert "room 7" not in desk.run("plan", "--session", file, *WINDOW, "--json").out
    there = desk.json("plan", "plan", "--session", file, *WINDOW, "--leaf", "s0000000")
    assert ids(there) == ["e0000000", "e0000001", "s0000000"]
    assert desk.refused("plan", "--session", file, *WINDOW, "--leaf", "nothing") == ("leaf-unknown", 2)


@pytest.mark.parametrize("given", [["--context-window", "0"], ["--context-window", "x"], []])
def test_a_window_that_no_model_has_is_a_wrong_argument(given: list[str], desk: Desk, transcript: Path) -> None:
    assert desk.refused("plan", "--session", transcript, *given) == ("bad-argument", 2)


def test_a_failed_search_sends_the_native_messages(desk: Desk, transcript: Path) -> None:
    code = (
        "import sys; from aforesaid.cli import main\n"
        "from aforesaid import retrieval\n"
        "from aforesaid.errors import ExactSearchFailed\n"
        "def fails(*_, **__): raise ExactSearchFailed('made to fail', 'x')\n"
        "retrieval.search = fails\n"
        "sys.exit(main(sys.argv[1:]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "plan", "--session", transcript, *WINDOW, "--json"],
        capture_output=True, env=desk.environment, check=False,
    )  # fmt: skip
    document = check("plan", done.stdout)
    assert (done.returncode, document["status"], document["reason"]) == (1, "native", "exact-search-failed")
    assert document["warnings"] == ["exact-search-failed"]
    assert ids(document) == ["c0000000", "e0000004", "e0000005", "f0000000"]
    assert not list(desk.store.glob("manifests.db*"))


@posix
def test_a_read_only_store_plans_from_what_is_there_and_says_that_it_is_stale(
    desk: Desk, transcript: Path, bound: dict[str, Any]
) -> None:
    assert desk.run("index", transcript, **bound).status == 0
    paths = [desk.store, *desk.store.rglob("*")]
    for path in paths:
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        document = desk.json("plan", "plan", "--session", transcript, *WINDOW, **bound)
        assert (ids(document, "evidence"), document["warnings"]) == (["e0000001"], [])
        with transcript.open("ab") as file:
            file.write(json.dumps(pi.message("g0000000", "f0000000", "more")).encode() + b"\n")
        stale = desk.json("plan", "plan", "--session", transcript, *WINDOW, **bound)
        assert stale["warnings"] == ["stale"]
        assert ids(stale) == ids(document)
        assert not list(desk.store.glob("manifests.db*"))
    finally:
        for path in paths:
            path.chmod(0o755)


def test_a_damaged_file_of_manifests_is_begun_anew(desk: Desk, transcript: Path) -> None:
    first = desk.json("plan", "plan", "--session", transcript, *WINDOW)
    (desk.store / "manifests.db").write_bytes(b"no database" * 1000)
    assert desk.json("plan", "plan", "--session", transcript, *WINDOW) == first
    assert b"current-request" in b"".join(path.read_bytes() for path in desk.store.glob("manifests.db*"))


def test_compacted_sessions_begin_with_the_summary(desk: Desk) -> None:
    file = pi.write(desk.folder / "again.jsonl", compacted())
    document = desk.json("plan", "plan", "--session", file, *WINDOW, "--query", "And the diagram?")
    assert "<summary>\nwe did things\n</summary>" in document["messages"][0]["content"][0]["text"]
    assert document["messages"][-1] == {"role": "user", "content": "And the diagram?", "source": "native"}
