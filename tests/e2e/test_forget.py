"""Forgetting as users do it: real processes, planted canaries, and every byte that is left on the disk.

`remains` is the tests' own search, written without the program's: it knows nothing but SQLite, zlib and the files.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
import zlib
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import apsw
import pytest
from tests import claude_code, codex, pi
from tests.conftest import ROOT
from tests.e2e.desk import Desk, make_desk

from aforesaid import Engine
from aforesaid.errors import StoreBusy, StoreError
from aforesaid.indexing import sync
from aforesaid.storage.sqlite import annex, connection, erasure, open_store
from aforesaid.storage.sqlite.records import squeeze
from aforesaid.storage.sqlite.store import key_of
from aforesaid.text import digest
from aforesaid.transcripts import readers

if TYPE_CHECKING:
    from pathlib import Path

    from tests.pi import Row

posix = pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
CANARIES = (
    "zq7canary",
    "Größenwahn-zq8",
    "perché zq9 così",
    "параллелепипедзк",
    "机密数据库口令",
    "秘密のパスワード",
    "비밀번호입니다",
    "รหัสผ่านลับ",
    "סודכלב גדול",
    "🦊🔑 zqfox",
    "nai\u0308ve zqcombi\u0301ning",
    "lone\ud800surrogate",
    'quo"te\\zq',
)
FILLER = " ".join(f"filler{number}" for number in range(120))


def texts(canary: str) -> list[str]:
    """A session with a canary in short and in long texts, beside harmless ones."""
    return [
        "the barometer stands on the shelf",
        f"use {canary} here",
        "noted",
        f"{FILLER} {canary} {FILLER[::-1]}",
        f"so the answer is\n{canary}\nas said",
        "walnut table",
    ]


def rows(canary: str, prefix: str = "e") -> list[Row]:
    talk = pi.conversation(texts(canary), prefix=prefix)
    name = {"type": "session_info", "id": f"{prefix}aaaa", "parentId": talk[-1]["id"], "name": f"plan {canary}"}
    summary = pi.compaction(f"{prefix}cccc", name["id"], talk[-1]["id"], f"we chose {canary} and more", 8)
    return [*talk, name, summary]


def remains(store: Path, canary: str, also: tuple[bytes, ...] = ()) -> list[str]:
    """Where in a store's files a text is: as bytes, packed, escaped, as a digest, or as words of an index."""
    pieces = {canary.encode("utf-8", "surrogatepass"), json.dumps(canary)[1:-1].encode(), *also}
    for text in (*texts(canary), f"plan {canary}", f"we chose {canary} and more"):
        data = text.encode("utf-8", "surrogatepass")
        if canary in text:
            pieces |= {digest(text), squeeze(data)[-40:-8] if len(data) > 500 else data}
    found: list[str] = []
    for path in sorted(store.rglob("*")):
        if not path.is_file():
            continue
        data = path.read_bytes()
        found += [f"{path.name} {piece[:12]!r}" for piece in pieces if piece in data]
        if data.startswith(b"SQLite format 3\0"):
            found += [f"{path.name} {where}" for where in _in_tables(path, canary)]
    return found


def _in_tables(path: Path, canary: str) -> list[str]:
    found: list[str] = []
    database = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    needle = canary.encode("utf-8", "surrogatepass")
    tables = [name for (name,) in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    for table in tables:
        if table == "search":
            database.execute("CREATE VIRTUAL TABLE temp.v USING fts5vocab('main', 'search', 'row')")
            terms = {str(term) for (term,) in database.execute("SELECT term FROM temp.v")}
            spoken = {word for word in ("zq7canary", "zq8", "zq9", "zqfox") if word in canary}
            found += [f"term {word}" for word in spoken & terms]
            continue
        for row in database.execute(f'SELECT * FROM "{table}"'):
            for value in row:
                data = value.encode() if isinstance(value, str) else value
                if isinstance(data, bytes) and (needle in data or needle in _inflated(data)):
                    found.append(f"table {table}")
    database.close()
    return found


def _inflated(data: bytes) -> bytes:
    try:
        return zlib.decompress(data, -15)
    except zlib.error:
        return b""


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return make_desk(tmp_path)


def plant(desk: Desk, canary: str = CANARIES[0]) -> tuple[Path, Path, Path]:
    """A session with a canary, a fork that copies it, and one that says it in its own words; all indexed."""
    one = rows(canary)
    own = pi.conversation(["unrelated", f"I heard of {canary.upper()} too"], prefix="o")
    a = pi.write(desk.folder / "a.jsonl", [pi.header("one"), *one])
    b = pi.write(desk.folder / "b.jsonl", [pi.header("two", parentSession=str(a)), *one[:5], *own[:1]])
    c = pi.write(desk.folder / "c.jsonl", [pi.header("three", cwd=str(desk.folder)), *own])
    desk.json("index", "index", a, b, c)
    return a, b, c


def forget(desk: Desk, *arguments: str | Path, **more: Any) -> Any:
    return desk.json("forget", "forget", *arguments, "--yes", "--verify", **more)


def state_of(*files: Path) -> list[tuple[bytes, int]]:
    return [(file.read_bytes(), file.stat().st_mtime_ns) for file in files]


# --- nothing is left, and nothing returns ---------------------------------------------------------------------------


@pytest.mark.parametrize("canary", CANARIES)
def test_a_forgotten_text_is_in_no_byte_of_the_store_and_does_not_come_back(desk: Desk, canary: str) -> None:
    files = plant(desk, canary)
    lines = tuple(sha256(line).digest() for line in files[0].read_bytes().splitlines() if _holds(line, canary))
    assert remains(desk.store, canary), "the search itself finds it before"
    before = state_of(*files)
    given = canary.encode("utf-8", "surrogateescape") if "\ud800" not in canary else None
    if given is None:  # no command line and no pipe can carry it
        with Engine.open(desk.store) as engine:
            report = engine.forget(text=canary, verify=True)
            assert report.verification is not None
            assert report.verification.leftovers == ()
            assert len(report.sessions) == 3
    else:
        done = forget(desk, "--text", "-", given=given)
        assert done["verification"]["clean"]
        assert done["totals"] == {"sessions": 0, "entries": 5 + 3 + 1, "discarded": 0}
        assert [one["entries"] for one in done["sessions"]] == [5, 3, 1]
    assert remains(desk.store, canary, lines) == []
    desk.json("index", "index", *files)
    desk.json("rebuild", "rebuild")
    desk.json("retrieval", "retrieve", "--session", files[0], "--query", "walnut")
    assert remains(desk.store, canary, lines) == []
    with files[2].open("ab") as target:
        later = pi.message("later001", "o0000001", f"once more: {canary}, right?", minute=50)
        target.write(json.dumps(later).encode() + b"\n")
    desk.json("index", "index", files[2])
    assert remains(desk.store, canary) == []
    assert state_of(*files[:2]) == before[:2], "transcripts are never touched"


def _holds(line: bytes, canary: str) -> bool:
    return canary.casefold() in json.dumps(json.loads(line), ensure_ascii=False).casefold()


def test_a_forgotten_session_does_not_come_back(desk: Desk) -> None:
    a, b, c = plant(desk)
    done = forget(desk, "--session", a)
    assert [(one["file"], one["whole"], one["entries"]) for one in done["sessions"]] == [
        (str(a), True, 8),
        (str(b), False, 5),
    ]
    assert done["verification"]["clean"]
    assert done["verification"]["texts"] > 4
    left = remains(desk.store, CANARIES[0].upper())  # the third session said it in its own words
    assert left
    assert all(key_of(str(c)) in found for found in left)
    indexed = desk.json("index", "index", a, b, c)
    assert [session["status"] for session in indexed["sessions"]] == ["unchanged"] * 3
    assert indexed["sessions"][0]["error"]["code"] == "session-forgotten"
    assert "forgotten" in desk.run("index", a).out
    asked = desk.json("retrieval", "retrieve", "--session", a)
    assert (asked["status"], asked["diagnostics"]["warnings"]) == ("disabled", ["session-forgotten"])
    assert desk.run("retrieve", "--session", a).status == 0
    assert desk.refused("rebuild", "--session", a) == ("session-forgotten", 1)
    assert desk.refused("expand", "--session", a, "--entry", "x") == ("session-forgotten", 1)
    assert desk.refused("lost", "--session", a) == ("session-forgotten", 1)
    assert "forgotten on purpose" in desk.run("plan", "--session", a, "--context-window", "9000").err
    assert [session["sessionId"] for session in desk.json("sessions", "sessions")["sessions"]] == ["two", "three"]
    moved = a.rename(desk.folder / "moved.jsonl")
    for _ in range(2):
        assert desk.json("index", "index", moved)["sessions"][0]["error"]["code"] == "session-forgotten"
    assert len(list((desk.store / "sessions").glob("*.db"))) == 2
    assert forget(desk, "--session", a)["sessions"] == []
    assert forget(desk, "--session", "one")["sessions"] == []
    assert desk.refused("forget", "--session", "four", "--yes") == ("session-not-found", 2)


def test_a_forgotten_entry_leaves_a_whole_branch(desk: Desk) -> None:
    a, b, _ = plant(desk)
    done = forget(desk, "--session", "one", "--entry", "e0000001", "e0000003")
    assert [(one["file"], one["entries"]) for one in done["sessions"]] == [(str(a), 2), (str(b), 2)]
    asked: list[str | Path] = ["retrieve", "--session", a, "--context-entries", "e0000005", "--query"]
    assert desk.json("retrieval", *asked, "barometer")["hits"][0]["entryId"] == "e0000000"
    hits = desk.json("retrieval", *asked, "`zq7canary`")["hits"]
    assert {hit["entryId"] for hit in hits} == {"e0000004"}
    assert desk.refused("forget", "--session", a, "--entry", "e9", "--yes") == ("entry-unknown", 2)


def test_a_plan_does_not_bring_it_back_from_the_file(desk: Desk) -> None:
    talk = pi.conversation(texts(CANARIES[0]))
    file = pi.write(desk.folder / "p.jsonl", [pi.header("p"), *talk])
    asked: list[str | Path] = ["plan", "--session", file, "--context-window", "100000"]
    before = desk.run(*asked, "--json").out
    assert CANARIES[0] in before
    forget(desk, "--text", CANARIES[0])
    generation = Engine.open(desk.store).sessions()[0].generation
    after = json.loads(desk.run(*asked, "--json").out)
    assert CANARIES[0] not in json.dumps(after)
    assert [message["entryId"] for message in after["messages"]] == ["e0000000", "e0000002", "e0000005"]
    assert Engine.open(desk.store).sessions()[0].generation == generation, "it was not read anew for that"


def test_recall_and_expand_pass_over_it(desk: Desk) -> None:
    a, *_ = plant(desk)
    forget(desk, "--session", a, "--entry", "e0000001", "e0000003")
    found = desk.json("recall", "recall", CANARIES[0], "--session", a)
    assert [hit["entryId"] for hit in found["hits"]] == ["e0000004"]
    told = desk.json("expand", "expand", "--session", a, "--range", "e0000000..e0000004")
    assert [entry["verified"] for entry in told["entries"] if entry["text"]] == [True] * 3
    assert [(e["entryId"], e["verified"]) for e in told["entries"] if not e["text"]] == [
        ("e0000001", False),
        ("e0000003", False),
    ]


def test_a_project_and_dates(desk: Desk) -> None:
    _, b, c = plant(desk)
    done = forget(desk, "--project", desk.folder)
    assert [(one["file"], one["whole"]) for one in done["sessions"]] == [(str(b), False), (str(c), True)]
    other = pi.write(desk.folder / "d.jsonl", [pi.header("four", cwd=str(desk.folder)), *rows("x", "d")])
    assert desk.json("index", "index", other)["sessions"][0]["entries"] == 0
    done = forget(desk, "--after", "2026-11-30T00:01Z", "--before", "2026-11-30 00:04")
    assert [one["entries"] for one in done["sessions"]] == [3, 3]
    assert desk.refused("forget", "--before", "yesterday", "--yes") == ("bad-argument", 2)
    assert desk.refused("forget", "--yes") == ("bad-argument", 2)
    assert desk.refused("forget", "--text", "x") == ("bad-argument", 2)
    assert desk.run("forget", "--verify", "--json").status == 0


def test_a_dry_run_changes_nothing_and_needs_no_confirmation(desk: Desk) -> None:
    plant(desk)
    before = {path.name: path.read_bytes() for path in desk.store.rglob("*.db")}
    told = desk.json("forget", "forget", "--text", CANARIES[0], "--dry-run", "--verify")
    assert told["dryRun"]
    assert told["totals"]["entries"] == 9
    assert not told["verification"]["clean"]
    assert {path.name: path.read_bytes() for path in desk.store.rglob("*.db")} == before
    shown = desk.run("forget", "--text", CANARIES[0], "--dry-run")
    assert "would be forgotten" in shown.out
    assert "transcripts were not touched" in shown.out
    assert CANARIES[0] not in shown.out + shown.err


def test_no_log_no_marker_and_no_foreign_file_is_passed_by(desk: Desk) -> None:
    plant(desk)
    forget(desk, "--text", CANARIES[0])
    (desk.store / "logs").mkdir()
    (desk.store / "logs" / "a.log").write_text(f"said {CANARIES[0]}")
    done = desk.run("forget", "--text", CANARIES[0], "--verify", "--yes", "--json")
    leftovers = json.loads(done.out)["verification"]["leftovers"]
    assert leftovers == [{"file": "logs/a.log", "where": "bytes", "count": 1}]
    assert done.status == 1


def test_a_leftover_is_found_and_named(desk: Desk) -> None:
    plant(desk)
    (desk.store / "manifest.json").write_text(json.dumps({"text": CANARIES[3]}))
    done = desk.run("forget", "--text", CANARIES[3], "--verify", "--yes")
    assert done.status == 1
    assert "manifest.json: bytes, 1 time" in done.out
    assert done.err.startswith("error[forget-incomplete]: what was forgotten still stands in manifest.json")


def test_the_service_forgets_as_the_command_does(desk: Desk) -> None:
    from tests.serving import Service

    plant(desk)
    with Service(desk.environment, desk.folder) as service:
        assert service.ask("forget", text=CANARIES[0])["error"]["data"]["code"] == "bad-argument"
        told = service.call("forget", text=CANARIES[0], dryRun=True)
        assert told == desk.json("forget", "forget", "--text", CANARIES[0], "--dry-run")
        done = service.call("forget", text=CANARIES[0], yes=True, verify=True)
        assert done["verification"]["clean"]
        assert done["sessions"] == told["sessions"]
        assert service.call("forget", session="two", entry=["o0000000"], yes=True)["totals"]["entries"] == 2
    assert remains(desk.store, CANARIES[0]) == []


# --- other hosts ----------------------------------------------------------------------------------------------------


def test_a_copy_of_claude_code_in_another_session_goes_although_its_line_was_written_anew(desk: Desk) -> None:
    talk = [
        claude_code.message("u1", None, "the barometer", 1),
        claude_code.reply("a1", "u1", f"told {CANARIES[0]} once", minute=2),
        claude_code.call("a2", "a1", "msg", "Bash", 3, command=f"echo {CANARIES[0]}"),
        claude_code.result("r1", "a2", "done", 4),
    ]
    other = claude_code.SESSION.replace("1", "2")
    a = claude_code.write(desk.folder / f"{claude_code.SESSION}.jsonl", talk)
    b = claude_code.write(desk.folder / f"{other}.jsonl", [{**row, "sessionId": other} for row in talk])
    desk.json("index", "index", a, b)
    done = forget(desk, "--session", a, "--entry", "a1", "a2")
    assert [(one["file"], one["entries"]) for one in done["sessions"]] == [(str(a), 2), (str(b), 2)]
    assert remains(desk.store, CANARIES[0]) == []
    third = claude_code.SESSION.replace("1", "3")
    c = claude_code.write(desk.folder / f"{third}.jsonl", [{**row, "sessionId": third} for row in talk])
    with a.open("ab") as target:
        target.write(json.dumps(claude_code.message("u2", "r1", "the walnut", 5)).encode() + b"\n")
    desk.json("index", "index", a, b, c)
    assert remains(desk.store, CANARIES[0]) == []
    found = desk.json("recall", "recall", "barometer", "--session", c)
    assert [hit["entryId"] for hit in found["hits"]] == ["u1"]


def test_a_rollout_of_codex_is_forgotten_by_its_lines(desk: Desk) -> None:
    talk = [
        codex.meta(),
        codex.user("the barometer", 1),
        codex.assistant(f"told {CANARIES[0]} once", 2),
        codex.user("the walnut", 3),
    ]
    a = codex.write(desk.folder / f"rollout-2026-11-30T00-00-00-{codex.THREAD}.jsonl", talk)
    desk.json("index", "index", a)
    (found,) = desk.json("recall", "recall", CANARIES[0], "--session", a)["hits"]
    assert found["entryId"].startswith("L")
    done = forget(desk, "--session", a, "--entry", found["entryId"])
    assert done["totals"]["entries"] == 1
    codex.write(a, [talk[0], codex.user("put before", 0), *talk[1:]])  # the line has another number now
    desk.json("index", "index", a)
    assert remains(desk.store, CANARIES[0]) == []
    assert len(desk.json("recall", "recall", "barometer", "--session", a)["hits"]) == 1
    assert len(desk.json("recall", "recall", "walnut", "--session", a)["hits"]) == 1


def codex_fork(desk: Desk, canary: str) -> tuple[Path, Path]:
    """A rollout of Codex, and a fork whose history stands in it and nowhere else."""

    def write(thread: str, rows: list[Row], ordinal: int) -> Path:
        numbered = [{**row, "ordinal": ordinal + at} for at, row in enumerate(rows)]
        return codex.write(desk.folder / f"rollout-2026-11-30T02-16-38-{thread}.jsonl", numbered)

    talk = [codex.user("the barometer", 1), codex.assistant(f"told {canary} once", 2), codex.user("the walnut", 3)]
    origin = write("origin", [codex.meta("origin"), *talk], 0)
    base = {"history_base": {"thread_id": "origin", "end_ordinal_exclusive": 4, "end_byte_offset": 1}}
    return origin, write("fork", [codex.meta("fork", **base), codex.user("the gateway", 5)], 4)


@pytest.mark.parametrize(
    ("first", "selector", "then"),
    [
        (("origin",), ("--session", "origin"), ("fork",)),
        (("fork",), ("--text", CANARIES[0]), ("origin",)),
        (("fork",), ("--session", "fork", "--entry", "L3@origin"), ("origin",)),
        ((), ("--session", "origin"), ("origin", "fork")),
        (("fork",), ("--session", "origin"), ("origin",)),
    ],
)
def test_what_a_fork_of_codex_reads_in_its_origin_is_forgotten_with_it(
    desk: Desk, first: tuple[str, ...], selector: tuple[str, ...], then: tuple[str, ...]
) -> None:
    """A fork reads its history in another file, which nobody changes; what is forgotten there stays out of the fork."""
    files = dict(zip(("origin", "fork"), codex_fork(desk, CANARIES[0]), strict=True))
    for name in first:
        desk.json("index", "index", files[name])
    forget(desk, *(str(files.get(part, part)) for part in selector))
    assert remains(desk.store, CANARIES[0]) == []
    for name in then:
        desk.json("index", "index", files[name])
    desk.json("rebuild", "rebuild")
    assert remains(desk.store, CANARIES[0]) == []
    if "fork" in (*first, *then):
        asked = ("recall", "gateway", "--session", str(files["fork"]))
        assert len(desk.json("recall", *asked)["hits"]) == 1


# --- what the tests and the verification would miss -----------------------------------------------------------------


def _nothing(*_: object, **__: object) -> None:
    return None


@pytest.mark.parametrize("fault", ["nothing but the rows", "no vacuum, no overwriting", "the old index", "log kept"])
def test_each_step_of_an_erasure_is_needed(desk: Desk, monkeypatch: pytest.MonkeyPatch, fault: str) -> None:
    plant(desk)
    if fault == "nothing but the rows":
        monkeypatch.setattr(erasure, "scrub", _nothing)
        monkeypatch.setattr(annex, "scrub", _nothing)
    elif fault == "no vacuum, no overwriting":

        def only_the_log(database: connection.Database, timeout_ms: int, *, always: bool) -> None:
            database.connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)

        monkeypatch.setattr(erasure, "scrub", only_the_log)
        monkeypatch.setattr(annex, "scrub", only_the_log)
        monkeypatch.setattr(connection, "OVERWRITE_IN_PAGES", "OFF")
        monkeypatch.setattr(erasure, "OVERWRITE_EVERYWHERE", "OFF")
    elif fault == "the old index":
        monkeypatch.setattr(erasure, "_UNFEED", "SELECT 1")
        monkeypatch.setattr(erasure, "_FEED", "SELECT ?, ?, ?")
    else:

        def only_vacuum(database: connection.Database, timeout_ms: int, *, always: bool) -> None:
            database.connection.execute("VACUUM")

        monkeypatch.setattr(erasure, "scrub", only_vacuum)
    # Another connection keeps the logs alive, as a service would.
    with Engine.open(desk.store) as other, Engine.open(desk.store) as engine:
        other.sessions()
        for name in "abc":
            other.retrieve(session=desk.folder / f"{name}.jsonl", query="walnut")
        report = engine.forget(text=CANARIES[0], verify=True)
        assert report.verification is not None
        assert report.verification.leftovers, "the verification notices"
        assert remains(desk.store, CANARIES[0]), "and so does the search of these tests"


def test_what_an_older_sync_left_in_free_pages_and_logs_goes_too(desk: Desk) -> None:
    a, *_ = plant(desk)
    many = pi.conversation([f"{texts(CANARIES[0])[1]} {n}" for n in range(400)], prefix="m")
    pi.write(a, [pi.header("one"), *many])
    store = open_store(str(desk.store))
    sync(store, next(readers()), str(a))
    pi.write(a, [pi.header("one"), *pi.conversation(["harmless"] * 3)])
    sync(store, next(readers()), str(a))
    assert store._idle[-1].database.connection.pragma("freelist_count")
    store.close()
    assert any(key_of(str(a)) in found for found in remains(desk.store, CANARIES[0]))
    assert forget(desk, "--text", CANARIES[0])["verification"]["clean"]
    assert remains(desk.store, CANARIES[0]) == []


# --- interruptions, readers, writers --------------------------------------------------------------------------------


def child(*arguments: str | Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.e2e.forget_child", *map(str, arguments)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'src'}"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@posix
@pytest.mark.parametrize("where", ["marked", "refilling", "committed", "scrubbed", "second", "catalogue", "unsettled"])
def test_a_killed_erasure_is_finished_by_the_next_run(desk: Desk, where: str) -> None:
    files = plant(desk)
    process = child("die", desk.store, where, CANARIES[0])
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL
    desk.json("index", "index", *files)  # between the two, nothing comes back in
    again = ("--text", CANARIES[0]) if where != "committed" else ()
    done = desk.json("forget", "forget", *again, "--yes", "--verify")
    assert done["resumed"]
    assert done["verification"]["clean"]
    assert remains(desk.store, CANARIES[0]) == []
    assert not desk.json("forget", "forget", "--verify")["resumed"]


@posix
def test_an_erasure_killed_at_any_moment_is_finished_by_the_next_run(desk: Desk) -> None:
    dice = random.Random(3)
    files = plant(desk)
    for _ in range(6):
        process = child("die", desk.store, "nowhere", CANARIES[0])
        time.sleep(0.1 + dice.random() * 0.4)
        process.kill()
        process.communicate(timeout=60)
        desk.json("index", "index", *files)
    assert forget(desk, "--text", CANARIES[0])["verification"]["clean"]
    assert remains(desk.store, CANARIES[0]) == []


@posix
def test_readers_see_a_session_before_or_after(desk: Desk) -> None:
    big = rows("canary zq7canary")
    filler = pi.conversation([f"canary number {n}" for n in range(400)], prefix="f")
    file = pi.write(desk.folder / "big.jsonl", [pi.header("big"), *big, *filler])
    desk.json("index", "index", file)
    watcher = child("watch", desk.store, file)
    assert watcher.stdout is not None
    first = watcher.stdout.readline().strip()
    forget(desk, "--session", "big", "--entry", "e0000001", "f0000007")
    forget(desk, "--session", "big")
    out, err = watcher.communicate(timeout=60)
    assert watcher.returncode == 0, err
    assert [first, *out.split()] == [first, str(int(first) - 2), "gone"]


def test_a_reader_is_waited_for_and_then_the_erasure_is_finished_by_the_next_call(desk: Desk) -> None:
    a, *_ = plant(desk)
    store = open_store(str(desk.store))
    settings = {"storage.busyTimeoutMs": 100}
    with Engine.open(desk.store, settings=settings) as engine:
        with store.read(key_of(str(a))) as snapshot:
            assert snapshot.entries([2])[0].text == texts(CANARIES[0])[1]
            with pytest.raises(StoreBusy):
                engine.forget(text=CANARIES[0])
            assert snapshot.entries([4])[0].text == texts(CANARIES[0])[3], "before"
        with store.read(key_of(str(a))) as snapshot:
            assert snapshot.entries([2, 4])[0].text == "", "after"
        report = engine.forget(text=CANARIES[0], verify=True)
        assert report.resumed
        assert report.verification is not None
        assert report.verification.leftovers == ()
    store.close()
    assert remains(desk.store, CANARIES[0]) == []


def test_a_sync_that_is_under_way_cannot_bring_it_in(desk: Desk) -> None:
    plant(desk)
    late = desk.folder / "late.jsonl"
    pi.write(late, [pi.header("late"), *rows(CANARIES[0], "l")])
    writing, errors = open_store(str(desk.store)), []
    from tests.fakes.entries import chain, described

    def forget_meanwhile() -> None:
        try:
            with Engine.open(desk.store) as engine:
                engine.forget(text=CANARIES[0])
        except StoreError as error:
            errors.append(error)

    thread = threading.Thread(target=forget_meanwhile)
    with writing.write(str(late)) as writer:
        thread.start()
        time.sleep(0.5)  # the eraser has written its marks and waits for this session
        writer.append(chain(*texts(CANARIES[0]), prefix="l"))
        writer.commit(described(str(late)))
    thread.join(30)
    writing.close()
    assert errors == []
    assert remains(desk.store, CANARIES[0]) == []


def test_damaged_files_are_removed_and_derived_again_without_what_was_forgotten(desk: Desk) -> None:
    files = plant(desk)
    path = desk.store / "sessions" / f"{key_of(str(files[0]))}.db"
    data = bytearray(path.read_bytes())
    data[100:4000] = b"\xff" * 3900
    path.write_bytes(data)
    done = forget(desk, "--text", CANARIES[0])
    assert done["totals"]["discarded"] == 1
    assert done["verification"]["clean"]
    desk.json("index", "index", *files)
    assert remains(desk.store, CANARIES[0]) == []
    assert len(desk.json("sessions", "sessions")["sessions"]) == 3


def test_a_damaged_list_of_what_was_forgotten_lets_nothing_in(desk: Desk) -> None:
    files = plant(desk)
    forget(desk, "--text", CANARIES[0])
    for suffix in ("-wal", "-shm"):
        (desk.store / f"forgotten.db{suffix}").unlink(missing_ok=True)
    (desk.store / "forgotten.db").write_bytes(b"nonsense" * 1000)
    done = desk.run("rebuild", "--json")
    assert done.status == 1
    assert {session["error"]["code"] for session in json.loads(done.out)["sessions"]} == {"store-failed"}
    assert "forgotten.db" in done.out
    assert remains(desk.store, CANARIES[0]) == []
    assert desk.json("retrieval", "retrieve", "--session", files[0], "--query", "walnut")["status"] == "complete"
    assert not list((desk.store / "sessions").glob("*.damaged"))
