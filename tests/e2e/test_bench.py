"""The mechanism of `aforesaid bench` on a small corpus; whether a bound is met says nothing at this size."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

RETRIEVAL = (
    "retrieval, median of 50 requests",
    "asked for the first time, contextual / documented",
    "eight common words, cold / ids only",
    "eight common words, warm / ids only",
    "p95, all sessions stored / one stored",
    "literal search / scan",
    "results that differ between run filter and join",
)
BUILDING = (
    "sync of 10 new entries / bare inserts",
    "full build / parsing and bare FTS5 build",
    "peak memory, small file",
    "store / transcript text",
)
SERVING = ("stdio call / echo + the same query in process",)
STARTING = ("start: aforesaid --version", "start: aforesaid retrieve, up to its first SQL")


def bench(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "aforesaid", "bench", *arguments]
    return subprocess.run(command, capture_output=True, encoding="utf-8", check=False, timeout=300)


def rows_of(output: str) -> dict[str, dict[str, Any]]:
    document = json.loads(output)
    assert document["schema"] == "aforesaid.bench/1"
    return {row["name"]: row for row in document["rows"]}


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> tuple[subprocess.CompletedProcess[str], Path]:
    work = tmp_path_factory.mktemp("bench")
    done = bench("retrieve", "--entries", "400", "--rounds", "1", "--json", "--work", str(work))
    return done, work


def test_every_target_is_measured_beside_its_floor(
    measured: tuple[subprocess.CompletedProcess[str], Path],
) -> None:
    rows = rows_of(measured[0].stdout)
    assert tuple(rows) == (*RETRIEVAL, *BUILDING, *SERVING, *STARTING)
    for name, row in rows.items():
        assert list(row) == ["name", "figure", "floor", "ratio", "bound", "met", "unit", "note"]
        if row["met"] is None:
            assert row["note"], name
        elif row["floor"] is not None:
            assert row["floor"] > 0, name
            assert row["ratio"] == pytest.approx(row["figure"] / row["floor"], rel=0.01)
            limited = row["figure"] if "x floor" in row["note"] else row["ratio"]
            assert row["met"] == (limited <= row["bound"]), name
    assert rows["p95, all sessions stored / one stored"]["met"] is None


def test_the_filter_by_runs_and_the_join_agree(measured: tuple[subprocess.CompletedProcess[str], Path]) -> None:
    row = rows_of(measured[0].stdout)["results that differ between run filter and join"]
    assert (row["figure"], row["met"]) == (0, True)


def test_the_exit_status_says_whether_a_bound_was_missed(
    measured: tuple[subprocess.CompletedProcess[str], Path],
) -> None:
    done, _ = measured
    missed = [row["name"] for row in rows_of(done.stdout).values() if row["met"] is False]
    assert done.returncode == (1 if missed else 0)
    assert ("error[gate-missed]" in done.stderr) == bool(missed)
    assert all(name in done.stderr for name in missed)


def test_nothing_is_left_behind(measured: tuple[subprocess.CompletedProcess[str], Path]) -> None:
    assert list(measured[1].iterdir()) == []


def test_building_alone_prints_its_own_rows_as_a_table(tmp_path: Path) -> None:
    done = bench("build", "--entries", "200", "--rounds", "1", "-v", "--work", str(tmp_path / "made"))
    assert done.returncode in (0, 1), done.stderr
    for name in BUILDING:
        assert name in done.stdout
    assert RETRIEVAL[0] not in done.stdout
    assert "attempt 1" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("retrieve", "--entries", "99"), "bad-argument"),
        (("build", "--rounds", "0"), "bad-argument"),
        (("nothing",), "bad-argument"),
        (("transcripts",), "bad-argument"),
        (("build", "--data", "."), "bad-argument"),
        (("transcripts", "--data", "/nowhere/at/all"), "path-missing"),
    ],
)
def test_a_wrong_number_or_subject_is_one_line(arguments: tuple[str, ...], code: str) -> None:
    done = bench(*arguments)
    assert done.returncode == 2
    assert done.stderr.startswith(f"error[{code}]: ")
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""


def test_a_disk_that_is_too_small_is_one_line(tmp_path: Path) -> None:
    done = bench("build", "--entries", "900000000000", "--work", str(tmp_path))
    assert done.returncode == 1
    assert done.stderr.startswith("error[store-full]: ")
    assert "--work" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.skipif(os.name == "nt", reason="Windows has no groups of processes to interrupt")
def test_an_interruption_is_one_line_of_the_program_and_none_of_its_children(tmp_path: Path) -> None:
    work = tmp_path / "work"
    command = [sys.executable, "-m", "aforesaid", "bench", "retrieve", "--entries", "20000", "--work", str(work)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, process_group=0) as process:
        end = monotonic() + 60
        while not list(work.glob("*/all/sessions/*")):  # the child is at work
            assert monotonic() < end
            assert process.poll() is None
            sleep(0.02)
        os.killpg(process.pid, signal.SIGINT)
        _, told = process.communicate(timeout=60)
    assert process.returncode == 130
    assert told.decode().splitlines()[-1].startswith("error[interrupted]: ")
    assert b"Traceback" not in told
    assert list(work.iterdir()) == []
