"""The command as users run it: real processes, real transcripts, a real store."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from tests import pi
from tests.conftest import ROOT
from tests.schemas import check

if TYPE_CHECKING:
    from tests.pi import Row

posix = pytest.mark.skipif(os.name != "posix", reason="modes, signals and users of POSIX")
SESSION = "11111111-2222-7333-8444-555555555555"
COMMAND = [sys.executable, "-m", "aforesaid"]


class Done(NamedTuple):
    status: int
    out: str
    err: str


class Desk(NamedTuple):
    """A home, a store and a folder of transcripts of one made-up user."""

    folder: Path
    environment: dict[str, str]

    @property
    def store(self) -> Path:
        return self.folder / "store"

    def run(self, *arguments: str | Path, given: bytes | None = None, **more: Any) -> Done:
        environment = {**self.environment, **more.pop("environment", {})}
        done = subprocess.run(
            [*COMMAND, *map(str, arguments)], input=given, capture_output=True, env=environment, cwd=self.folder,
            timeout=120, check=False, **more,
        )  # fmt: skip
        assert b"Traceback" not in done.stderr
        return Done(done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8"))

    def json(self, name: str, *arguments: str | Path, **more: Any) -> Any:
        return check(name, self.run(*arguments, "--json", **more).out)

    def refused(self, *arguments: str | Path, **more: Any) -> tuple[str, int]:
        """Code and exit status of a command that ends with the error document and one line."""
        done = self.run(*arguments, "--json", **more)
        error = check("error", done.out)["error"]
        assert done.err.splitlines()[-1] == f"error[{error['code']}]: {error['message']}; {error['hint']}"
        return error["code"], done.status


def make_desk(folder: Path) -> Desk:
    environment = {
        name: value for name, value in os.environ.items() if name not in {"FORCE_COLOR", "NO_COLOR", "COLUMNS"}
    }
    environment |= {
        "HOME": str(folder),
        "USERPROFILE": str(folder),
        "XDG_CONFIG_HOME": str(folder / "config"),
        "XDG_DATA_HOME": str(folder / "data"),
        "AFORESAID_STORE": str(folder / "store"),
        "PYTHONPATH": str(ROOT / "src"),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    return Desk(folder, environment)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return make_desk(tmp_path)


TEXTS = (
    "Use port 5433 for the database, please.",
    "I set `PG_PORT` to 5433 in src/db.py.",
    "The migration failed with E0042 in `apply_schema`.",
    "Fixed: apply_schema now waits for the lock.",
    "Now draw the sequence diagram.",
    "The sequence diagram is in docs/flow.svg.",
    "Which value has `PG_PORT`?",
)


def compacted() -> list[Row]:
    """A session whose first four messages a compaction removed; its last message asks for one of them."""
    rows = pi.conversation(TEXTS[:6])
    cut = pi.compaction("c0000000", rows[-1]["id"], rows[4]["id"], "we did things", 6)
    return [pi.header(), *rows, cut, *pi.conversation(TEXTS[6:], 7, "f", "c0000000")]


@pytest.fixture
def transcript(desk: Desk) -> Path:
    return pi.write(desk.folder / "session.jsonl", compacted())


# --- what a user gets -----------------------------------------------------------------------------------------------


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


# --- errors: docs/errors.md points here -----------------------------------------------------------------------------


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


@pytest.fixture
def bound() -> dict[str, Any]:
    """Arguments of `Desk.run` that make the modes of files count for the process, even if tests run as root."""
    if os.geteuid() != 0:
        return {}
    if sys.platform != "linux":
        pytest.skip("root cannot give up its rights here")
    import ctypes

    prctl = ctypes.CDLL(None, use_errno=True).prctl
    drop, dac_override, dac_read_search = 24, 1, 2

    def give_up() -> None:
        for capability in (dac_override, dac_read_search):
            if prctl(drop, capability, 0, 0, 0) != 0:
                raise OSError(ctypes.get_errno(), "a capability cannot be dropped")

    return {"preexec_fn": give_up}


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
    assert desk.run("index", transcript).status == 0
    for path in desk.store.rglob("*"):
        if is_database(path) and "catalog" not in path.name:
            path.write_bytes(b"no database at all" * 1000)
    moved = transcript.rename(desk.folder / "moved.jsonl")
    done = desk.run("retrieve", "--session", SESSION, "--json")
    document = check("retrieval", done.out)
    assert (done.status, document["status"]) == (1, "failed")
    assert document["diagnostics"]["warnings"] == ["store-corrupt"]
    assert desk.json("status", "status")["store"]["damaged"]
    moved.rename(transcript)
    found = desk.json("retrieval", "retrieve", "--session", transcript)
    assert [hit["entryId"] for hit in found["hits"]] == ["e0000001"], "with its transcript it is derived again"
    assert desk.json("status", "status")["store"]["damaged"] == []


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


# --- streams and signals --------------------------------------------------------------------------------------------


@posix
def test_a_reader_that_leaves_early_is_no_error(desk: Desk, transcript: Path) -> None:
    desk.run("index", transcript)
    for arguments in (["config", "schema"], ["retrieve", "--session", str(transcript)]):
        reading, writing = os.pipe()
        os.close(reading)
        done = subprocess.run(
            [*COMMAND, *arguments], stdout=writing, stderr=subprocess.PIPE, env=desk.environment, check=False
        )
        os.close(writing)
        assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_behind_standard_output_is_one_line(desk: Desk) -> None:
    with open("/dev/full", "wb") as full:  # noqa: PTH123 - a device
        done = subprocess.run(
            [*COMMAND, "config", "schema"], stdout=full, stderr=subprocess.PIPE, env=desk.environment, check=False
        )
    assert done.returncode == 1
    assert done.stderr.startswith(b"error[operation-failed]: ")
    assert done.stderr.count(b"\n") == 1


@posix
def test_an_empty_store_is_refused(desk: Desk) -> None:
    done = desk.run("status", "--store", "")
    assert (done.status, done.err.startswith("error[bad-argument]: ")) == (2, True)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no signals and no limits")
@pytest.mark.parametrize("moment", ["aforesaid.cli", "aforesaid.errors"])
def test_an_interruption_before_the_command_begins_is_status_130(moment: str) -> None:
    code = (
        "import os, runpy, signal, sys\n"
        "class Finder:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name == {moment!r}: os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Finder())\n"
        "sys.argv = ['aforesaid', 'status', '--json']\n"
        "runpy.run_module('aforesaid', run_name='__main__')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.startswith("error[interrupted]: ")) == (130, True)
    assert "Traceback" not in done.stderr
    assert check("error", done.stdout)["error"]["code"] == "interrupted"


@pytest.mark.skipif(os.name == "nt", reason="Windows has no signals and no limits")
def test_a_limit_on_the_size_of_files_is_told_as_what_it_is(desk: Desk, transcript: Path) -> None:
    assert desk.run("index", transcript).status == 0
    for arguments in (["status"], ["rebuild"]):
        code = (
            "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))\n"
            "from aforesaid.cli import main; sys.exit(main(sys.argv[1:]))"
        )
        done = subprocess.run(
            [sys.executable, "-c", code, *arguments, "--store", desk.store],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert (done.returncode, done.stderr.startswith("error[store-full]: ")) == (1, True), done.stderr
        assert "ulimit -f" in done.stderr


def test_an_interruption_is_status_130(desk: Desk) -> None:
    # `--query -` waits for its input until it is interrupted.
    process = subprocess.Popen(
        [*COMMAND, "retrieve", "--session", "x", "--query", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, env=desk.environment,
    )  # fmt: skip
    assert process.stdin is not None
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(1.5)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert err.startswith(b"error[interrupted]: ")
    assert b"Traceback" not in err


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "utf-8"])
def test_output_is_utf8_whatever_the_locale_says(desk: Desk, encoding: str) -> None:
    rows = pi.conversation(["perché `数据` 🎉 \ud800", "ok"])
    transcript = pi.write(desk.folder / "s.jsonl", [pi.header(), *rows, pi.compaction("c", rows[-1]["id"], "x")])
    arguments = ("retrieve", "--session", transcript, "--query", "`数据`")
    environment = {"PYTHONIOENCODING": encoding}
    assert "   │ perché `数据` 🎉" in desk.run(*arguments, environment=environment).out
    (hit,) = desk.json("retrieval", *arguments, environment=environment)["hits"]
    assert hit["excerpt"].startswith("perché `数据` 🎉")


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
