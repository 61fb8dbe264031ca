"""The command in this process, on corpora that are too small to say anything about speed."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import TYPE_CHECKING, Any

import pytest
from tests import pi
from tests.conftest import ROOT

from aforesaid.cli import bench
from aforesaid.cli.arguments import Options
from aforesaid.cli.bench import build, retrieve, setting, start
from aforesaid.cli.bench.requests import Request, mix
from aforesaid.cli.bench.rows import Attempt, Row, Target, judge, unmeasured
from aforesaid.engine import Engine
from aforesaid.errors import BadArgument, OperationError
from aforesaid.storage.sqlite import open_store

if TYPE_CHECKING:
    from pathlib import Path


def run(*arguments: str, json: bool = False, verbose: bool = False) -> int:
    parser = ArgumentParser()
    bench.add_arguments(parser)
    return bench.run(parser.parse_args(arguments), Options(json=json, verbose=verbose))


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sessions and files count as large when they are not."""
    monkeypatch.setattr("aforesaid.cli.bench.corpus.SESSION_ENTRIES", 200)
    monkeypatch.setattr(build, "_LARGE_FROM", 400)
    monkeypatch.setattr(build, "_LARGE_ENTRIES", 600)
    monkeypatch.setattr(build, "_LARGE_FILE", 400_000)


@pytest.fixture
def no_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(start, "measure", lambda *_: [])


@pytest.mark.usefixtures("small", "no_starts")
def test_a_large_corpus_brings_the_rows_that_a_small_one_has_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status = run("retrieve", "--entries", "450", "--rounds", "1", "--work", str(tmp_path), json=True)
    printed = capsys.readouterr()
    rows = {row["name"]: row for row in json.loads(printed.out)["rows"]}
    assert rows["p95, all sessions stored / one stored"]["ratio"] > 0
    assert rows["results that differ between run filter and join"]["met"] is True
    if rows["peak memory, whole build"]["met"] is not None:
        assert 0 < rows["peak memory, small file"]["figure"] <= rows["peak memory, whole build"]["figure"] < 300
        assert rows["peak memory, large file / its size"]["figure"] > 0
    assert status == int(any(row["met"] is False for row in rows.values()))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("no_starts")
def test_a_system_that_tells_no_memory_leaves_those_rows_without_a_verdict(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(setting.Worker, "receive", _receive_without_memory)
    run("build", "--entries", "100", "--rounds", "1", "--work", str(tmp_path))
    line = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("peak memory, small file"))
    assert "does not tell" in line
    assert "met" not in line.split()


def _receive_without_memory(worker: setting.Worker) -> None:
    assert worker._process.stdout is not None
    worker._process.stdout.readline()


@pytest.mark.parametrize(("met", "status"), [(True, 0), (False, 1), (None, 0)])
def test_the_exit_status_is_about_missed_bounds_only(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], met: bool | None, status: int
) -> None:
    target = Target(name="a row", unit="ms", times=2)
    row = unmeasured(target, "why") if met is None else judge(target, lambda: Attempt(1.0 if met else 3.0, 1.0))

    def measure(subject: str, entries: int, rounds: int, work: str | None) -> list[Row]:
        assert (subject, entries, rounds, work) == ("retrieve", 8_000, 5, None)
        return [row]

    monkeypatch.setattr(bench, "measure", measure)
    assert run("retrieve") == status
    printed = capsys.readouterr()
    assert "a row" in printed.out
    assert printed.err.startswith("error[gate-missed]: 1 of 1 bounds missed: a row") == (met is False)


@pytest.mark.parametrize("arguments", [("--entries", "99"), ("--entries", "-5"), ("--rounds", "0")])
def test_numbers_out_of_range_are_refused(arguments: tuple[str, str]) -> None:
    with pytest.raises(BadArgument):
        run("retrieve", *arguments)


def test_starts_are_compared_with_a_bare_interpreter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(start, "_PAIRS", 1)
    monkeypatch.setattr(start, "clock", lambda action: float(len(started)) if action() is None else 0.0)
    started: list[list[str]] = []
    real = start._start

    def note(arguments: list[str], *rest: Any) -> None:
        started.append(arguments)
        real(arguments, *rest)

    monkeypatch.setattr(start, "_start", note)
    prepared = setting.prepare(100, str(tmp_path))
    version, first_sql = start.measure(prepared.single, prepared.transcript.file, str(tmp_path))
    # Each command once beforehand, then in turns with the bare interpreter; all of them are real processes.
    bare = ["-c", ""]
    (shown, one, measured, two), (found, three, again, four) = started[:4], started[4:]
    assert one == two == three == four == bare
    assert shown == measured == ["-m", "aforesaid", "--version"]
    assert found == again
    assert "retrieve" in found
    assert [(row.figure, row.floor) for row in (version, first_sql)] == [(3.0, 4.0), (7.0, 8.0)]


def test_a_failure_does_not_pass_for_a_fast_answer(tmp_path: Path) -> None:
    prepared = setting.prepare(400, str(tmp_path))
    requests = mix(prepared.transcript.project)
    with Engine.open(prepared.single, setting.default_config()) as engine:
        retrieve._check(engine, prepared, requests)
        with pytest.raises(OperationError, match="gave complete with 0 hits"):
            retrieve._check(engine, prepared, [Request(name="x", kind="english", text="zyxomorph")])
        with pytest.raises(OperationError, match="x of the mix gave complete"):
            retrieve._check(engine, prepared, [Request(name="x", kind="no-topic", text="server")])


def test_a_sync_that_misses_entries_is_no_measurement(tmp_path: Path) -> None:
    prepared = setting.prepare(100, str(tmp_path))
    plain = prepared.path("plain")
    setting.index(plain, prepared.transcript.file, redacting=False)
    with build._counting_commits() as commits:
        store = open_store(plain)
        with pytest.raises(OperationError, match="added 0 entries"):
            build._synchronise(store, prepared.transcript.file)
        store.close()
    assert commits == []


def test_a_store_can_be_built_with_and_without_redaction(tmp_path: Path) -> None:
    file = tmp_path / "s.jsonl"
    rows = pi.conversation(
        ["the password is `hunter2-Xk9`: GITHUB_TOKEN=ghp_0123456789abcdefghijABCDEFGHIJ012345", "ok"]
    )
    pi.write(file, [pi.header(), *rows])
    for redacting in (True, False):
        folder = str(tmp_path / f"store-{redacting}")
        setting.index(folder, str(file), redacting=redacting)
        store = open_store(folder)
        (known,) = store.sessions()
        with store.read(known.key) as snapshot:
            (entry,) = snapshot.entries((1,))
        assert ("ghp_0123456789" in entry.text) is not redacting
        store.close()


def test_real_transcripts_are_measured_host_by_host(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status = run("transcripts", "--data", str(ROOT / "examples"), "--rounds", "1", "--work", str(tmp_path), json=True)
    document = json.loads(capsys.readouterr().out)
    rows = {row["name"]: row for row in document["rows"]}
    assert set(rows) == {
        *(f"reading {host} / parsing" for host in ("pi", "claude-code", "codex")),
        *(f"peak memory, {host}" for host in ("pi", "claude-code", "codex")),
    }
    # Every row with a uuid, every item with the history of the fork, every line but the headers.
    assert "143 entries" in rows["peak memory, claude-code"]["note"]
    assert "42 entries" in rows["peak memory, codex"]["note"]
    assert document["entries"] > 143 + 42
    assert all(row["ratio"] > 0 for name, row in rows.items() if name.startswith("reading"))
    assert all(row["met"] is not False for name, row in rows.items() if name.startswith("peak"))
    assert status == int(any(row["met"] is False for row in rows.values()))
    assert list(tmp_path.iterdir()) == []
