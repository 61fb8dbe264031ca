"""Streams, encodings and signals of the command: readers that leave, full outputs, interruptions."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests import pi
from tests.e2e.desk import COMMAND, Desk, bound, desk, posix, transcript
from tests.schemas import check

__all__ = ["bound", "desk", "transcript"]


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
