"""Bad input and bad places, each with its stable code and one line. `docs/errors.md` points to these tests."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from tests import pi
from tests.e2e.desk import SESSION, Desk, bound, compacted, desk, posix, transcript
from tests.schemas import check

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["bound", "desk", "transcript"]


def test_path_missing(desk: Desk) -> None:
    assert desk.refused("index", desk.folder / "none.jsonl") == ("path-missing", 2)
    assert desk.refused("retrieve", "--session", desk.folder / "none.jsonl") == ("path-missing", 2)


def test_no_sessions(desk: Desk) -> None:
    (desk.folder / "empty").mkdir()
    assert desk.refused("index", desk.folder / "empty") == ("no-sessions", 2)
    assert desk.refused("index", "--all") == ("no-sessions", 2)


@pytest.mark.parametrize("content", [b"just text\n", b"\x00\xff\xfe", b'{"type": "other"}\n', b"[]\n"])
def test_not_a_transcript(desk: Desk, content: bytes) -> None:
    file = desk.folder / "other.jsonl"
    file.write_bytes(content)
    assert desk.refused("index", file) == ("not-a-transcript", 2)
    assert desk.refused("retrieve", "--session", file) == ("not-a-transcript", 2)


def test_session_not_found(desk: Desk) -> None:
    assert desk.refused("retrieve", "--session", "0000") == ("session-not-found", 2)
    assert desk.refused("rebuild", "--session", "0000") == ("session-not-found", 2)


def test_session_ambiguous(desk: Desk) -> None:
    for name in ("a.jsonl", "b.jsonl"):
        desk.run("index", pi.write(desk.folder / name, [pi.header(), *pi.conversation([name])]))
    assert desk.refused("retrieve", "--session", SESSION) == ("session-ambiguous", 2)


def test_leaf_unknown(desk: Desk, transcript: Path) -> None:
    assert desk.refused("retrieve", "--session", transcript, "--leaf", "nothing") == ("leaf-unknown", 2)


def test_an_unknown_context_entry_is_a_wrong_argument(desk: Desk, transcript: Path) -> None:
    refused = desk.refused("retrieve", "--session", transcript, "--context-entries", "nothing")
    assert refused == ("entry-unknown", 2)


def test_config_unreadable(desk: Desk) -> None:
    assert desk.refused("status", "--config", desk.folder / "none.json") == ("config-unreadable", 2)
    (desk.folder / "broken.json").write_text("{ half")
    assert desk.refused("sessions", "--config", desk.folder / "broken.json") == ("config-unreadable", 2)


@pytest.mark.parametrize("setting", ["retrieval.maxResults=0", "retrieval.maxResults=101", "retrieval.none=1", "x"])
def test_config_invalid(desk: Desk, transcript: Path, setting: str) -> None:
    assert desk.refused("retrieve", "--session", transcript, "--set", setting) == ("config-invalid", 2)


def test_bad_argument(desk: Desk) -> None:
    for given in (["retrieve"], ["nothing"], [], ["index"], ["index", "--host", "zed", desk.folder]):
        assert desk.refused(*given) == ("bad-argument", 2)


def test_internal_is_told_without_a_traceback() -> None:
    code = (
        "import sys; import aforesaid.cli.status as s; from aforesaid.cli import main\n"
        "s.run = lambda *_: 1 / 0\n"
        "sys.exit(main(['status', '--json']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert check("error", done.stdout)["error"]["code"] == "internal"


@pytest.mark.parametrize(
    ("search", "ranking", "raised", "status", "hits"),
    [
        ("find_literals", "contextual", "exact-search-failed", "failed", []),
        ("rank", "documented", "fts-failed", "complete", ["e0000001"]),
        ("weigh", "contextual", "fts-failed", "complete", ["e0000001"]),
    ],
)
def test_a_failed_search(
    desk: Desk, transcript: Path, search: str, ranking: str, raised: str, status: str, hits: list[str]
) -> None:
    code = (
        "import sys; from aforesaid.cli import main\n"
        "from aforesaid.storage.sqlite import search\n"
        "import apsw\n"
        "def fails(*_, **__): raise apsw.IOError('made to fail')\n"
        f"search.{search} = fails\n"
        "sys.exit(main(sys.argv[1:]))"
    )
    done = subprocess.run(
        [
            *(sys.executable, "-c", code, "retrieve", "--session", transcript, "--json"),
            *("--set", f"retrieval.ranking={ranking}"),
        ],
        capture_output=True, env=desk.environment, check=False,
    )  # fmt: skip
    found = check("retrieval", done.stdout)
    assert done.returncode == (1 if status == "failed" else 0)
    assert (found["status"], found["diagnostics"]["warnings"]) == (status, [raised])
    assert [hit["entryId"] for hit in found["hits"]] == hits


def test_operation_failed(desk: Desk) -> None:
    (desk.folder / "config").write_text("a file where the folder of the configuration should be")
    assert desk.refused("config", "set", "retrieval.fts", "false") == ("operation-failed", 1)


@posix
def test_source_unreadable(desk: Desk, bound: dict[str, Any]) -> None:
    closed = pi.write(desk.folder / "closed.jsonl", compacted())
    closed.chmod(0)
    opened = pi.write(desk.folder / "open.jsonl", [pi.header("open"), *pi.conversation(["one"])])
    done = desk.run("index", closed, opened, "--json", **bound)
    document = check("index", done.out)
    assert done.status == 1
    assert [session["status"] for session in document["sessions"]] == ["failed", "added"]
    assert document["sessions"][0]["error"]["code"] == "source-unreadable"
    done = desk.run("retrieve", "--session", closed, "--json", **bound)
    document = check("retrieval", done.out)
    assert (done.status, document["status"]) == (1, "failed")
    assert document["diagnostics"]["warnings"] == ["source-unreadable"]


@posix
def test_a_folder_that_cannot_be_searched_is_a_failure_and_not_passed_over(desk: Desk, bound: dict[str, Any]) -> None:
    closed = desk.folder / "all" / "closed"
    closed.mkdir(parents=True)
    pi.write(desk.folder / "all" / "open.jsonl", [pi.header("open"), *pi.conversation(["one"])])
    pi.write(closed / "hidden.jsonl", compacted())
    closed.chmod(0)
    try:
        for given in (desk.folder / "all", closed):
            done = desk.run("index", given, "--json", **bound)
            first, *rest = check("index", done.out)["sessions"]
            assert (done.status, first["file"], first["status"]) == (1, str(closed), "failed")
            assert first["error"]["code"] == "source-unreadable"
            assert [one["status"] for one in rest] == ([] if given == closed else ["added"])
    finally:
        closed.chmod(0o700)
    assert desk.run("index", desk.folder / "all").status == 0
    assert len(desk.json("sessions", "sessions")["sessions"]) == 2


@posix
def test_store_read_only(desk: Desk, transcript: Path, bound: dict[str, Any]) -> None:
    assert desk.run("index", transcript, **bound).status == 0
    paths = [desk.store, *desk.store.rglob("*")]
    for path in paths:
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        found = desk.json("retrieval", "retrieve", "--session", transcript, **bound)
        assert [hit["entryId"] for hit in found["hits"]] == ["e0000001"]
        assert found["diagnostics"]["coverage"]["complete"] is True
        with transcript.open("ab") as file:
            file.write(json.dumps(pi.message("g0000000", "f0000000", "more")).encode() + b"\n")
        stale = desk.json("retrieval", "retrieve", "--session", transcript, "--query", "`PG_PORT`", **bound)
        assert stale["diagnostics"]["coverage"] == {"complete": False, "reasons": ["stale"]}
        assert desk.json("status", "status", **bound)["store"]["writable"] is False
        done = desk.run("index", transcript, "--json", **bound)
        assert done.status == 1
        assert "store-read-only" in done.out
    finally:
        for path in paths:
            path.chmod(0o755)


@pytest.mark.parametrize("size", [1, 50_000])
def test_store_full(desk: Desk, size: int) -> None:
    rows = pi.conversation([f"{number} " + "word " * 500 for number in range(200)])
    transcript = pi.write(desk.folder / "long.jsonl", [pi.header(), *rows])
    done = desk.run("index", transcript, "--json", "--set", f"storage.maxBytes={size}")
    assert done.status == 1
    assert "store-full" in done.out
    assert desk.run("index", transcript).status == 0, "with room again, all is well"


def test_store_busy(desk: Desk, transcript: Path) -> None:
    import apsw

    assert desk.run("index", transcript).status == 0
    with transcript.open("ab") as file:
        file.write(json.dumps(pi.message("g0000000", "f0000000", "more")).encode() + b"\n")
    databases = [apsw.Connection(str(path)) for path in desk.store.rglob("*") if is_database(path)]
    for database in databases:
        database.execute("BEGIN IMMEDIATE")
    done = desk.run("index", transcript, "--json", "--set", "storage.busyTimeoutMs=10")
    assert done.status == 1
    assert "store-busy" in done.out
    for database in databases:
        database.execute("ROLLBACK")
        database.close()
    assert desk.run("index", transcript).status == 0


def is_database(path: Path) -> bool:
    return path.is_file() and path.read_bytes()[:15] == b"SQLite format 3"


def test_store_corrupt(desk: Desk, transcript: Path) -> None:
    def damage() -> None:
        for path in desk.store.rglob("*"):
            if is_database(path) and "catalog" not in path.name:
                path.write_bytes(b"no database at all" * 1000)

    assert desk.run("index", transcript).status == 0
    damage()
    moved = transcript.rename(desk.folder / "moved.jsonl")
    done = desk.run("retrieve", "--session", SESSION, "--json")
    document = check("retrieval", done.out)
    assert (done.status, document["status"]) == (1, "failed")
    assert document["diagnostics"]["warnings"] == ["store-corrupt"]
    assert desk.json("status", "status")["store"]["damaged"]
    moved.rename(transcript)
    found = desk.json("retrieval", "retrieve", "--session", transcript)
    assert [hit["entryId"] for hit in found["hits"]] == ["e0000001"], "with its transcript it is derived again"
    assert found["diagnostics"]["coverage"] == {"complete": True, "reasons": ["store-rebuilt"]}, "and this is said"
    assert desk.json("status", "status")["store"]["damaged"] == []
    again = desk.json("retrieval", "retrieve", "--session", transcript)
    assert again["diagnostics"]["coverage"]["reasons"] == [], "once"
    told = {"retrieve": "was damaged, and has been derived again", "view": "store-rebuilt", "recall": "store-rebuilt"}
    for command, words in told.items():
        damage()
        query = ("PG_PORT",) if command == "recall" else ()
        done = desk.run(command, *query, "--session", transcript)
        assert (done.status, words in done.out) == (0, True), command
        assert "ot everything" not in done.out
    damage()
    page = desk.json("recall", "recall", "PG_PORT", "--session", transcript)
    assert (page["coverage"]["complete"], page["coverage"]["reasons"]) == (True, ["store-rebuilt"])


def test_store_too_new(desk: Desk, transcript: Path) -> None:
    import apsw

    assert desk.run("index", transcript).status == 0
    for path in [path for path in desk.store.rglob("*") if is_database(path)]:
        with apsw.Connection(str(path)) as database:
            database.pragma("user_version", 9999)
    assert desk.refused("status") == ("store-too-new", 1)
    done = desk.run("retrieve", "--session", transcript, "--json")
    assert (done.status, check("retrieval", done.out)["diagnostics"]["warnings"]) == (1, ["store-too-new"])


def test_store_failed(desk: Desk, transcript: Path) -> None:
    desk.store.write_text("a file where the store should be")
    assert desk.refused("status") == ("store-failed", 1)
    done = desk.run("retrieve", "--session", transcript, "--json")
    assert (done.status, check("retrieval", done.out)["diagnostics"]["warnings"]) == (1, ["store-failed"])


@posix
def test_a_store_whose_path_is_no_utf8_is_called_that(desk: Desk, transcript: Path) -> None:
    store = os.fsdecode(os.fsencode(desk.folder / "st") + b"\xff")
    done = desk.run("index", transcript, "--store", store)
    assert (done.status, done.err.splitlines()[-1].startswith("error[store-failed]: ")) == (1, True)
    assert "is no UTF-8" in done.err
    assert desk.refused("status", "--store", store) == ("store-failed", 1)
    assert not os.path.lexists(store)


def test_an_empty_store_is_refused(desk: Desk) -> None:
    done = desk.run("status", "--store", "")
    assert (done.status, done.err.startswith("error[bad-argument]: ")) == (2, True)
